"""``check``: do tables and releases meet a policy? A gate for data pipelines."""

from __future__ import annotations

from os.path import isdir
from pathlib import Path
from typing import TYPE_CHECKING, Any

from tacit.document import Progress, silent
from tacit.errors import ArgumentError, Command, DataError, EngineError, Setting, SourceError, sentence
from tacit.loading import checked_path, without_credentials
from tacit.requests import CheckRequest, Policy, VerifyRequest, read_policy
from tacit.requests.policy import POLICY
from tacit.requests.settings import AnyPath
from tacit.tables import Table, memory_limit
from tacit.tables.sources import is_elsewhere
from tacit.verbs.lens import holds_tables
from tacit.verbs.opening import opened

if TYPE_CHECKING:
    from tacit.lenses.checking import CheckResult
    from tacit.lenses.verification import VerifyResult
    from tacit.release.policy.lines import CheckedSource, PolicyCheck


def check(
    source: Any,
    *,
    policy: AnyPath | Policy = POLICY,
    against: Any = None,
    engine: str = "duckdb",
    memory: str | None = None,
    encoding: str | None = None,
    remote: bool = False,
    progress: Progress = silent,
) -> CheckResult:
    """Check tables and releases against a policy.

    Parameters
    ----------
    source : path, frame, Table, a list of them, or CheckRequest
        The directory of a release, or its ``certificate.json``; or a table: columns that are neither secret nor left
        out then count as released unchanged.
    policy : path or Policy
        What must be met, or the path of a TOML file that says so.
    against : path or frame, optional
        The original of one release: its claim is then verified, too.
    engine, memory, encoding, remote
        As in ``audit``.

    Raises
    ------
    ArgumentError
        If the policy is not valid, or lacks what a source needs. A source that cannot be read or counted raises
        nothing: the verdict is ``error``, and its only line says why.

    Guarantees
    ----------
    It passes only if every line does. For a table: every log-lift of every secret and combination of released columns
    is within the policy's epsilon, on both sides, and at least ``least`` people share each, counted on all records; a
    secret that is a number with many values is cut into tenths first, and a note says so. For a release: the claim
    implies what the policy asks, and the files are those that were certified; without ``against`` the claim itself is
    taken on trust.
    """
    request = source
    if not isinstance(request, CheckRequest):
        request = CheckRequest(
            source,
            policy=policy,
            against=against,
            engine=engine,
            memory=memory,
            encoding=encoding,
            remote=remote,
        )
    rules = request.policy if isinstance(request.policy, Policy) else read_policy(request.policy)
    sources = list(request.source) if isinstance(request.source, (list, tuple)) else [request.source]
    if not sources or (request.against is not None and len(sources) > 1):
        raise ArgumentError(sentence("name one source, or several without {}", Setting("against")))
    from tacit.lenses.checking import CheckResult

    with memory_limit(request.memory):
        checked = tuple(_checked(each, rules, request, progress) for each in sources)
    return CheckResult.of("a policy" if isinstance(request.policy, Policy) else str(request.policy), checked)


def _checked(source: Any, policy: Policy, request: CheckRequest, progress: Progress) -> CheckedSource:
    """One source; if it cannot be read or counted, that is its only line, and the others are still checked."""
    from tacit.release.policy.lines import UNNAMED, CheckedSource, PolicyCheck

    try:
        return _judged(opened(source, request), policy, request, progress)
    except (SourceError, DataError, EngineError) as error:
        name = _name(source)
        why = PolicyCheck("source", None, error.args[0], "source")
        return CheckedSource(name or UNNAMED, "release" if name and isdir(name) else "table", (why,))


def _name(source: Any) -> str | None:
    if isinstance(source, (str, Path)):
        return without_credentials(str(source)) if is_elsewhere(source) else str(source)
    return source.name if isinstance(source, Table) else None


def _judged(source: Any, policy: Policy, request: CheckRequest, progress: Progress) -> CheckedSource:
    """One source: a release, by its directory or its certificate, or a table."""
    from tacit.release.certificate import CERTIFICATE
    from tacit.release.policy.lines import UNNAMED, CheckedSource

    name, folder = _name(source), checked_path(source) if isinstance(source, (str, Path)) else None
    if folder is not None and folder.name == CERTIFICATE:
        folder = folder.parent
    is_release = (
        folder is not None and folder.is_dir() and ((folder / CERTIFICATE).exists() or not holds_tables(folder))
    )
    release = folder if is_release else None
    own = policy.of(name if release is None else str(release))
    progress(f"checking {name or UNNAMED}", None)
    if release is not None:
        return CheckedSource(str(release), "release", *_of_release(release, own, request, progress))
    return CheckedSource(name or UNNAMED, "table", *_of_table(source, name, own, request))


def _of_table(
    source: Any, name: str | None, policy: Policy, request: CheckRequest
) -> tuple[tuple[PolicyCheck, ...], tuple[str, ...]]:
    """What the table would give away, against the policy."""
    if request.against is not None:
        words = "{against} is for a release, and {name} is a table: leave it out"
        raise ArgumentError(sentence(words, against=Setting("against"), name=name or "this"))
    from tacit.lenses.table.checks.policy import checks_of_table

    return checks_of_table(source, policy, engine=request.engine)


def _of_release(
    folder: Path, policy: Policy, request: CheckRequest, progress: Progress
) -> tuple[tuple[PolicyCheck, ...], tuple[str, ...]]:
    """What the release claims, against the policy, and whether it is the one that was certified."""
    from tacit.release.certificate import read_certificate
    from tacit.release.policy.certificates import checks_of_certificate
    from tacit.verbs.verify import verify

    lines = checks_of_certificate(read_certificate(folder), policy)
    verification = VerifyRequest(
        folder, against=request.against, engine=request.engine, memory=request.memory, **_read_so(request)
    )
    result = verify(verification, progress=progress)
    words = "the claim of {folder} was taken on trust: verify it ({command})"
    command = Command("check", str(folder), against="ORIGINAL")
    believed = () if request.against is not None else (sentence(words, folder=folder.name, command=command),)
    private, notes = _private(folder)
    return (*lines, _claim(result, verified=request.against is not None), *private), (*believed, *notes)


def _read_so(request: CheckRequest) -> dict[str, Any]:
    return {"encoding": request.encoding, "remote": request.remote}


def _private(folder: Path) -> tuple[tuple[PolicyCheck, ...], tuple[str, ...]]:
    """Whether the owner's folder would be shared along with the release; a note if it is there and would not."""
    from tacit.release.directory import PRIVATE, shared_with
    from tacit.release.policy.lines import PolicyCheck

    if not (folder / PRIVATE).is_dir():
        return (), ()
    why = shared_with(folder)
    if why is None:
        note = f"{PRIVATE}/ is next to {folder.name}, for its owner only: git ignores it; do not copy it along"
        return (PolicyCheck(f"{PRIVATE}/", True, "for the owner only, and git ignores it", "private"),), (note,)
    detail = f"{PRIVATE}/ is next to the release: do not commit it, and remove it from what is shared ({why})"
    return (PolicyCheck(f"{PRIVATE}/", False, detail, "private"),), ()


def _claim(result: VerifyResult, *, verified: bool) -> PolicyCheck:
    """Whether the release is the one certified; without the original, leaving out what needs the original."""
    from tacit.release.checks import RECOMPUTED
    from tacit.release.policy.lines import PolicyCheck

    open_lines = [each for each in result.checks if not each.passed and (verified or each.name != RECOMPUTED)]
    if not open_lines:
        detail = "verified against the original" if verified else "its files are those that were certified"
        return PolicyCheck("claim", True, detail, "claim")
    worst = next((each for each in open_lines if each.passed is False), open_lines[0])
    return PolicyCheck("claim", worst.passed, sentence("{}: {}", worst.name, worst.detail), "claim")
