"""``verify``: is the claim of a release true? Recomputed from the released data and the original."""

from __future__ import annotations

import json
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np

from tacit import __version__
from tacit.errors import ArgumentError, SourceError
from tacit.lift import shuffles
from tacit.lift.joint import Joint, Mask, Matrix
from tacit.lift.measures import entropy, log_lift
from tacit.tables.counting import count
from tacit.tables.cutting import Cut, cut
from tacit.tables.pairing import Codes, Pairs, paired
from tacit.tables.sources import open_table
from tacit.tables.symbols import Symbols
from tacit.tables.table import Table
from tacit.tables.writing import SUFFIXES, write_table
from tacit.workflows.bounds import TOLERANCE, Bounds
from tacit.workflows.certifying import bounds_of, certificate_from, file_sha256, further_of, mixes, salted
from tacit.workflows.claim_checks import checks_of_claim
from tacit.workflows.claims import NOTHING_POINTWISE, claim_of, claim_of_learned
from tacit.workflows.estimates import FILE as ESTIMATES
from tacit.workflows.learned_release import MODEL
from tacit.workflows.learned_verifying import checks_of_estimate, checks_of_learned_claim, checks_of_published
from tacit.workflows.mixture_checks import TOO_UNLIKELY, checks_of_mixture
from tacit.workflows.paper_checks import checks_of_report, checks_of_utility, checks_of_words, notes_on_papers
from tacit.workflows.planning import outputs_of
from tacit.workflows.question import Question, ask
from tacit.workflows.results import Certificate, Check, VerifyResult
from tacit.workflows.rules import Rules
from tacit.workflows.tabulating import Counted, Progress, counted, silent
from tacit.workflows.treatment import Mixing

# Shuffles behind the test that replacements ignore the secret.
SHUFFLES = 199
MOST_ROWS, MOST_COLUMNS = 64, 2048
# The lines that hold words against words.
IN_WORDS = ("claim in words", "assumptions", "randomness", "readings")


@dataclass(frozen=True)
class Release:
    """A release directory that was read: its certificate, its data and, for the owner, its rules and its model."""

    directory: Path
    certificate: Certificate
    data: Table
    rules: Rules | None
    salt: bytes | None
    model: Path | None = None
    estimates: Path | None = None


def open_release(directory: str | Path, *, engine: str = "duckdb") -> Release:
    """Read a release directory that ``protect`` wrote."""
    folder = Path(directory)
    paper = folder / "certificate.json"
    if not folder.is_dir():
        raise SourceError(f"no release at {folder}: it is not a directory; tacit protect -o {folder} makes one")
    refuse_images(folder)
    try:
        certificate = certificate_from(json.loads(paper.read_text("utf-8")))
    except OSError as error:
        raise SourceError(f"{folder} is no release: cannot read {paper.name} ({error.strerror})") from error
    except (ValueError, KeyError, TypeError, AttributeError, OverflowError) as error:
        raise SourceError(
            f"{paper} is damaged or not a certificate of Tacit ({type(error).__name__}: {error})"
        ) from error
    rules, model, estimates = (folder / "private" / name for name in ("rules.json", MODEL, ESTIMATES))
    learned = certificate.kind == "learned"
    return Release(
        directory=folder,
        certificate=certificate,
        data=open_table(folder / str(certificate.output["file"]), engine=engine),
        rules=Rules.load(rules) if rules.exists() else None,
        salt=_salt(folder / "private" / "salt.txt"),
        model=model if learned and model.exists() else None,
        estimates=estimates if learned and estimates.exists() else None,
    )


def refuse_images(folder: Path) -> None:
    """Whoever opens the release of a table must not be given one of images."""
    from tacit.workflows.image_verifying import is_image_release
    from tacit.workflows.text_verifying import refuse_text_release

    refuse_text_release(folder)
    if is_image_release(folder):
        raise ArgumentError(
            f"{folder} is a release of images: its adversaries were trained when it was made, see its report.html"
        )


def _salt(path: Path) -> bytes | None:
    if not path.exists():
        return None
    try:
        return bytes.fromhex(path.read_text("ascii").strip())
    except ValueError as error:
        raise SourceError(f"{path} is damaged: it should hold the salt that protect wrote") from error


def verify(
    release: str | Path,
    *,
    against: Any = None,
    labels: str | Path | None = None,
    engine: str = "duckdb",
    progress: Progress = silent,
) -> VerifyResult:
    """Check the claim of a release.

    Parameters
    ----------
    release : path
        The directory that ``protect`` wrote.
    against : path or frame, optional
        The original table. Without it only the fingerprint and the certificate's own consistency can be checked, and
        the verdict is "not checked".
    labels : path, optional
        Of a release of images: the labels of the originals, which are part of their fingerprint.

    Guarantees
    ----------
    The verdict is "holds" only if every line was checked: the data is the data that was certified, the original is
    the original, the words are those that the numbers call for, every record outside the merged values is unchanged,
    no merged record took a kept value, the replacement shows no trace of the secret (a test that errs about once in a
    million), and the bound recomputed on the joint of secret and output is what was claimed. Of a learned release that
    bound is about the merged records; what is estimated of the others is recomputed where ``private/model.tacit`` is at
    hand, and is never part of what "holds" says: a learned estimate certifies nothing pointwise.
    """
    from tacit.workflows.image_verifying import is_image_release, verify_images
    from tacit.workflows.text_verifying import is_text_release, verify_text

    if is_image_release(release):
        return verify_images(release, against=against, labels=labels, progress=progress)
    if is_text_release(release):
        return verify_text(release, against=against, engine=engine, progress=progress)
    if labels is not None:
        raise ArgumentError(f"labels are for a release of images, and {release} is none: leave them out")
    opened = open_release(release, engine=engine)
    checks = [*_checks_of_papers(opened), *checks_of_words(opened.certificate, opened.rules)]
    checks += checks_of_report(opened.certificate, opened.directory)
    if opened.estimates is not None:
        checks += checks_of_published(opened.certificate, opened.estimates, opened.salt)
    if against is not None:
        progress("counting the original", None)
        checks += _checks_against(opened, against, engine, progress)
    else:
        checks.append(Check("claim recomputed", None, "needs the original: tacit verify RELEASE --against TABLE"))
    checks = _of_other_versions(opened.certificate, checks)
    failed = [check for check in checks if check.passed is False]
    open_ = [check for check in checks if check.passed is None]
    return VerifyResult(
        release=str(release),
        against=None if against is None else getattr(against, "name", str(against)),
        verdict="broken" if failed else "not checked" if open_ else "holds",
        headline=_headline(opened.certificate, failed, open_),
        checks=tuple(checks),
        notes=_notes(opened, against),
    )


def _of_other_versions(certificate: Certificate, checks: list[Check]) -> list[Check]:
    """Another version of Tacit may have put the same numbers into other words."""
    if certificate.tacit_version == __version__:
        return checks
    unsure = f"written by Tacit {_version_of(certificate)}, whose words this one, {__version__}, does not know"
    return [
        Check(check.name, None, unsure) if check.passed is False and check.name in IN_WORDS else check
        for check in checks
    ]


def _version_of(certificate: Certificate) -> str:
    """The version that a certificate says made it, if it looks like one."""
    version = certificate.tacit_version
    return version if version.replace(".", "").isalnum() and len(version) <= 20 else "of no known version"


def _headline(certificate: Certificate, failed: list[Check], unchecked: list[Check]) -> str:
    if failed:
        return f"The claim is broken: {failed[0].name} ({failed[0].detail})."
    if unchecked:
        return f"Not all of the claim was checked: {unchecked[0].name} ({unchecked[0].detail})."
    if certificate.kind == "learned" and certificate.mechanism["records_merged"] == 0:
        return (
            "Nothing is certified, because no record was merged; the estimate of all of them was recomputed, and it is "
            "no guarantee."
        )
    if certificate.kind == "learned":
        return (
            f"What is certified holds: merged records leak {certificate.attained_epsilon:.4g} nats, "
            f"{certificate.epsilon:g} nats were claimed, recomputed from the original and the release. Of the kept "
            "records there is an estimate, and no guarantee."
        )
    what = f"{certificate.attained_epsilon:.4g} nats attained, {certificate.epsilon:g} nats claimed"
    if certificate.delta > 0:
        what = (
            f"{certificate.epsilon:g} nats but for a delta of {certificate.attained_delta:.4g}, {certificate.delta:g} "
            "claimed"
        )
    return f"The claim holds: {what}, recomputed from the original and the release."


def _notes(opened: Release, against: Any) -> tuple[str, ...]:
    certificate = opened.certificate
    notes = notes_on_papers(certificate, opened.directory, owner=opened.rules is not None, against=against is not None)
    if certificate.composition is not None:
        notes += ("what this and earlier releases say together was not checked: it takes the ledger of the owner",)
    if certificate.kind != "learned":
        return notes
    if opened.estimates is None:
        notes += (f"the measures before and after are estimates and were not checked: it takes private/{ESTIMATES}",)
    estimate = f"that kept records leak at most {certificate.estimated_epsilon:.4g} nats is an estimate"
    checked = (
        "recomputed with private/model.tacit"
        if opened.model is not None and against is not None
        else "which was not checked: it takes the original and private/model.tacit. It is no part of what is certified"
    )
    return (f"{estimate} by {certificate.mechanism['estimator']}, {checked}", *notes, NOTHING_POINTWISE)


def _checks_of_papers(opened: Release) -> list[Check]:
    certificate, data = opened.certificate, opened.data
    digest = file_sha256(opened.directory / str(certificate.output["file"]))
    outside = certificate.attained_delta
    relaxed = certificate.delta > 0 and outside is not None and outside <= certificate.delta + TOLERANCE
    within = certificate.attained_epsilon <= certificate.epsilon + TOLERANCE or relaxed
    within = within and all(each.attained_epsilon <= each.epsilon + TOLERANCE for each in certificate.also)
    hidden = {*certificate.secret, *(name for each in certificate.also for name in each.secret)}
    expected = {*certificate.released, *(hidden - set(certificate.left_out))}
    claim = _claim(certificate)
    estimated = certificate.estimated_epsilon or 0.0
    return [
        _same("released data is the data certified", digest, certificate.output["sha256"], what="SHA-256"),
        _same("number of records", data.row_count(), certificate.output["records"], what="records"),
        Check("columns", expected == set(data.names), f"the file holds {', '.join(data.names)}"),
        Check(
            "claim in words",
            claim == certificate.claim,
            "says what the numbers say" if claim == certificate.claim else claim,
        ),
        Check(
            "certificate agrees with itself",
            certificate.holds and within and estimated <= certificate.epsilon + TOLERANCE,
            f"attained {certificate.attained_epsilon:.6g} nats of {certificate.epsilon:g} nats"
            + (f", estimated {estimated:.6g} nats" if certificate.kind == "learned" else ""),
        ),
    ]


def _claim(certificate: Certificate) -> str:
    if certificate.kind == "learned":
        return claim_of_learned(
            secret=certificate.secret,
            epsilon=certificate.epsilon,
            attained=certificate.attained_epsilon,
            mechanism=certificate.mechanism,
        )
    return claim_of(secret=certificate.secret, bounds=bounds_of(certificate), also=further_of(certificate))


def _same(name: str, found: Any, claimed: Any, *, what: str) -> Check:
    if found == claimed:
        return Check(name, True, f"{what} {_short(found)}")
    return Check(name, False, f"{what} is {_short(found)}, the certificate says {_short(claimed)}")


def _short(value: Any) -> str:
    return f"{value[:12]}…" if isinstance(value, str) and len(value) > 12 else str(value)


@dataclass(frozen=True)
class Comparison:
    """A release laid beside its original, row by row; ``merged`` are the values not always released as they are."""

    question: Question
    found: Counted
    pairs: Pairs
    outputs: Symbols
    merged: Mask


def question_of(certificate: Certificate, against: Any, *, engine: str = "duckdb") -> Question:
    """The question that a release answered, asked of a table again."""
    return ask(
        against,
        secret=certificate.secret,
        released=certificate.released,
        bins={made["column"]: made["edges"] for made in certificate.cuts},
        weight=certificate.mechanism["weight"],
        keep_ids=(*certificate.secret, *(n for each in certificate.also for n in each.secret), *certificate.released),
        also=[each.secret for each in certificate.also],
        engine=engine,
    )


def compare(opened: Release, question: Question) -> Comparison:
    """Count the original, and pair its rows with those of the release."""
    released = opened.certificate.released
    found = counted(question)
    outputs = count(opened.data, released).symbols(released)[0]
    secrets = found.counts.symbols(question.secret)[0]
    pairs = paired(question.table, opened.data, secrets=secrets, values=found.symbols, outputs=outputs)
    return Comparison(question, found, pairs, outputs, _merged(opened, found, pairs))


def output_joints(opened: Release, seen: Comparison) -> list[Joint]:
    """The joint of each secret and the output; without the rules, of the first alone, as the rows show it.

    Outputs of merged records are then counted as one: they do not depend on the value, so all of them share one lift.
    The outputs of a mixture are counted as drawn, by chance a little off what the rules call for.
    """
    if opened.rules is not None:
        return outputs_of(seen.found, opened.rules)
    joint, pairs = seen.found.joint, seen.pairs
    if mixes(opened.certificate):
        return [Joint.from_counts(_crosstab(pairs.secret, pairs.output, pairs.records))]
    return [pooled(joint, seen.merged)]


def _checks_against(opened: Release, against: Any, engine: str, progress: Progress) -> list[Check]:
    certificate = opened.certificate
    question = question_of(certificate, against, engine=engine)
    original, claimed = question.original, certificate.input
    checks = []
    # A frame has no fingerprint; a file that was certified has one.
    printed = claimed["salted_sha256"] is not None or claimed["format"] in SUFFIXES
    if opened.salt is not None and printed and original.sha256() is not None:
        digest = salted(original.sha256(), opened.salt)
        checks.append(_same("original is the one certified", digest, claimed["salted_sha256"], what="salted SHA-256"))
    checks.append(_same("records of the original", original.row_count(), claimed["records"], what="records"))
    if not checks[-1].passed or opened.data.row_count() != claimed["records"]:
        return checks
    checks += _checks_of_rules(opened)
    if not checks[-1].passed:
        return checks
    progress("comparing row by row", None)
    seen = compare(opened, question)
    claims = _checks_of_claims(opened, seen)
    if opened.model is None and certificate.kind == "learned" and not seen.merged.any():
        claims.append(
            Check("anything is certified", None, "no record was merged; the estimate needs private/model.tacit")
        )
    elif opened.model is not None:
        progress("scoring with the model", None)
        claims += checks_of_estimate(certificate, seen.found, seen.merged, opened.model, opened.salt)
    return [*checks, *_written_plainly(opened), *_checks_of_rows(opened, seen), *claims]


def _checks_of_claims(opened: Release, seen: Comparison) -> list[Check]:
    """What is claimed, computed again."""
    certificate = opened.certificate
    if certificate.kind == "learned":
        claims = checks_of_learned_claim(certificate, seen.found, seen.merged)
    else:
        claims = checks_of_claim(certificate, seen.found, output_joints(opened, seen), seen.merged)
    if opened.rules is not None:
        return [*claims, *checks_of_utility(certificate, seen.found, opened.rules, seen.merged)]
    if mixes(certificate) or certificate.also:
        unsure = "the rows do not show how values were mixed; needs private/rules.json"
        return [Check(check.name, None, unsure) for check in claims]
    if int(seen.merged.sum()) != certificate.mechanism["values_merged"]:
        # A merged value that drew itself back looks kept; whatever fails for it may be our guess and not the release.
        unsure = "the rows do not show which values were merged; needs private/rules.json"
        return [check if check.passed else Check(check.name, None, unsure) for check in claims]
    return claims


def _written_plainly(opened: Release) -> list[Check]:
    """A CSV can say things between its cells: quotes, spaces, line ends. Written again it must be the same bytes."""
    if opened.data.format != "csv":
        return []
    name = str(opened.certificate.output["file"])
    with tempfile.TemporaryDirectory() as place:
        again = Path(place) / name
        write_table(opened.data, again, like=opened.data)
        same = file_sha256(again) == file_sha256(opened.directory / name)
    return [
        Check(
            "file is written plainly",
            same,
            "every byte is as protect writes it" if same else "its bytes say more than its cells",
        )
    ]


def _checks_of_rules(opened: Release) -> list[Check]:
    rules, certificate = opened.rules, opened.certificate
    if rules is None:
        return []
    same = (rules.secret, rules.released) == (certificate.secret, certificate.released)
    same = same and (rules.bounds, rules.also) == (bounds_of(certificate), further_of(certificate))
    return [
        Check(
            "rules belong to the certificate",
            same,
            "secret, released and bounds agree" if same else "they differ",
        )
    ]


def _merged(opened: Release, found: Counted, pairs: Pairs) -> Mask:
    """Which values were merged: by the rules where the owner verifies.

    Otherwise those that changed, those they changed into (a draw may give a value back its own), and the too risky.
    """
    if opened.rules is not None:
        return opened.rules.treatment.touched(found.symbols.positions_in(opened.rules.symbols))
    moved = pairs.value != pairs.output_as_value
    changed = np.zeros(found.joint.shape[1], dtype=bool)
    changed[pairs.value[moved]] = True
    changed[pairs.output_as_value[moved & (pairs.output_as_value >= 0)]] = True
    certificate = opened.certificate
    if certificate.kind == "learned":
        # Which values were judged risky cannot be counted; the number of merged ones must then agree.
        return changed
    low, high = bounds_of(certificate).ceiling
    return changed | Bounds(low, high).beyond(log_lift(found.joint)).any(axis=0)


def _checks_of_rows(opened: Release, seen: Comparison) -> list[Check]:
    certificate, found, pairs, merged = opened.certificate, seen.found, seen.pairs, seen.merged
    if opened.rules is not None and isinstance(opened.rules.treatment, Mixing):
        rules, outputs = opened.rules, seen.outputs
        further = [
            replace(checks_of_mixture(each, found.symbols, outputs, rules, merged)[-1], name=f"draws ignore {name}")
            for name, each in _further_pairs(opened, seen)
        ]
        return [*checks_of_mixture(pairs, found.symbols, outputs, rules, merged), *further]
    if mixes(certificate):
        return [Check("draws follow the rules for every secret", None, "needs private/rules.json")]
    from_merged = merged[pairs.value]
    touched = int(pairs.records[~from_merged & (pairs.value != pairs.output_as_value)].sum())
    known = pairs.output_as_value >= 0
    strayed = np.zeros(len(pairs.records), dtype=bool)
    strayed[known] = from_merged[known] & ~merged[pairs.output_as_value[known]]
    stray = int(pairs.records[strayed].sum())
    kept = float(found.joint.marginal[~merged].sum())
    drawn = certificate.mechanism["replacement"] not in ("merge", "suppress")
    return [
        Check(
            "kept records are unchanged", touched == 0, f"{kept:.1%} of the weight is kept; {touched:,} records differ"
        ),
        Check("merged records stay apart", stray == 0, f"{stray:,} merged records carry a kept value"),
        _independence(pairs, merged, drawn=drawn),
        *(
            _independence(each, merged, drawn=drawn, name=f"replacement ignores {name}")
            for name, each in _further_pairs(opened, seen)
        ),
    ]


def _further_pairs(opened: Release, seen: Comparison) -> Iterator[tuple[str, Pairs]]:
    """The rows beside each further secret, and beside each secret and the weight of the record, light or heavy.

    Draws that ignore one secret may tell another; and draws that follow the weight move shares of weight, not counts.
    """
    question, values, outputs = seen.question, seen.found.symbols, seen.outputs
    for columns in question.also:
        secrets = seen.found.counts.symbols(columns)[0]
        beside = paired(question.table, opened.data, secrets=secrets, values=values, outputs=outputs)
        yield ", ".join(columns), beside
    if question.weight is None:
        return
    usual = float(seen.found.table.sum() / seen.found.counts.records.sum())
    table = cut(question.table, [Cut(question.weight, (usual,))])
    for columns in (question.secret, *question.also):
        both = (*columns, question.weight)
        secrets = count(table, both).symbols(both)[0]
        beside = paired(table, opened.data, secrets=secrets, values=values, outputs=outputs)
        yield f"{', '.join(columns)} and the weight", beside


def _independence(
    pairs: Pairs, merged: Mask, *, drawn: bool, name: str = "replacement ignores secret and value"
) -> Check:
    """Among merged records the new value must not depend on the secret, nor on the value it replaced."""
    from_merged = merged[pairs.value]
    if len(np.unique(pairs.output[from_merged])) < 2:
        return Check(name, True, "merged records all look the same")
    if not drawn:
        return Check(name, False, "merged records should all look the same, and do not")
    worst = 1.0
    for source in (pairs.secret, pairs.value):
        # A few groups of each show dependence as well as all values do, and keep the table small.
        rows, columns = source[from_merged] % MOST_ROWS, pairs.output[from_merged] % MOST_COLUMNS
        table = _crosstab(rows, columns, pairs.records[from_merged])
        p_value, power = _p_value(table)
        worst = min(worst, p_value)
        if p_value > TOO_UNLIKELY and not power:
            few = int(pairs.records[from_merged].sum())
            return Check(
                name,
                None,
                f"{few:,} merged records are too few to tell; --replacement merge or suppress can be checked",
            )
    return Check(
        name, worst > TOO_UNLIKELY, f"p-value {worst:.2g}; below {TOO_UNLIKELY:g} it would be called dependent"
    )


def _p_value(table: Matrix) -> tuple[float, bool]:
    """Chance of a mutual information as large if rows and columns are independent, and whether any could be too large.

    Under shuffles it is close to a multiple of a chi-squared variable; a gamma distribution with the mean and variance
    of the shuffles has its tail, far beyond what shuffles themselves could count.
    """
    from scipy.stats import gamma

    drawn = [shuffles.plug_in_information(t) for t in shuffles.iterate(table, shuffles=SHUFFLES, random_state=0)]
    mean, variance = float(np.mean(drawn)), float(np.var(drawn))
    found = shuffles.plug_in_information(table)
    if variance <= 1e-24:
        # One row or one column: there is nothing to depend on.
        return (1.0 if found <= mean + 1e-12 else 0.0), True
    law = gamma(mean**2 / variance, scale=variance / mean)
    most = min(entropy(table.sum(axis=axis) / table.sum()) for axis in (0, 1))
    return float(law.sf(found)), bool(law.sf(most) < TOO_UNLIKELY)


def _crosstab(a: Codes, b: Codes, weight: Codes) -> Matrix:
    rows, row = np.unique(a, return_inverse=True)
    columns, column = np.unique(b, return_inverse=True)
    flat = np.bincount(row * len(columns) + column, weights=weight, minlength=len(rows) * len(columns))
    return flat.astype(np.float64).reshape(len(rows), len(columns))


def pooled(joint: Joint, merged: Mask) -> Joint:
    """The joint of secret and output with all merged values as one: it has every measure of the release.

    Merged records get a value that is independent of the secret, so all their outputs share one lift, and outputs of
    equal lift may be counted as one.
    """
    if not merged.any():
        return joint
    matrix = np.column_stack([joint.matrix[:, ~merged], joint.matrix[:, merged].sum(axis=1)])
    return Joint(matrix, secrets=joint.secrets, total=joint.total)
