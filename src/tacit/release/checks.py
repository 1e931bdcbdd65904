"""The lines of a verification, the verdict that follows from them, and the lines that every release has."""

from __future__ import annotations

import tempfile
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

from tacit import __version__
from tacit.errors import sentence
from tacit.lift import AGREEMENT, agree
from tacit.loading import file_sha256
from tacit.release.certificate import CERTIFICATE, Certificate
from tacit.release.claims import randomness_of, worded
from tacit.release.data import why_not_certified
from tacit.release.directory import CHANNEL, PRIVATE, REPORT, strangers, text_of_certificate
from tacit.release.keys import salted
from tacit.release.levels import LEVELS
from tacit.tables.table import Table
from tacit.tables.writing import write_table

CheckVerdict = Literal["holds", "broken", "not checked"]

# The line that needs the original.
RECOMPUTED = "claim recomputed"
# The lines that compare words with words.
IN_WORDS = ("claim in words", "assumptions", "randomness", "readings")


@dataclass(frozen=True)
class Check:
    """One line of a verification. ``passed`` is None where the line could not be checked, which counts as doubt."""

    name: str
    passed: bool | None
    detail: str


def close(name: str, recomputed: float, claimed: float, *, within: float = AGREEMENT) -> Check:
    """A recomputed number compared with the one claimed."""
    detail = f"recomputed {recomputed:.9g}, the certificate says {claimed:.9g}"
    return Check(name, agree(recomputed, claimed, within=within), detail)


def same(name: str, actual: Any, claimed: Any, *, what: str) -> Check:
    """Something seen that must be what is claimed."""
    if actual == claimed:
        return Check(name, True, f"{what} {_short(actual)}")
    return Check(name, False, f"{what} is {_short(actual)}, the certificate says {_short(claimed)}")


def _short(value: Any) -> str:
    return f"{value[:12]}…" if isinstance(value, str) and len(value) > 12 else str(value)


@dataclass(frozen=True)
class CheckedRelease:
    """The lines of a verification, and what follows from them.

    ``whole_file`` is False where the claim holds only for single records, and the whole file says more.
    """

    verdict: CheckVerdict
    headline: str
    checks: tuple[Check, ...]
    notes: tuple[str, ...] = ()
    whole_file: bool = True


def checked(
    certificate: Certificate,
    checks: Iterable[Check],
    *,
    holds: str,
    broken: str,
    unsure: str,
    notes: Sequence[str] = (),
) -> CheckedRelease:
    """Run the checks of a release. Where the claim does not hold, the headline starts with ``broken`` or ``unsure``.

    Guarantees
    ----------
    The verdict is "holds" only if every line was checked and passed, and "broken" if any failed.
    """
    lines = tuple(_of_this_version(certificate, check) for check in checks)
    outcomes: tuple[tuple[CheckVerdict, str, bool | None], ...] = (
        ("broken", broken, False),
        ("not checked", unsure, None),
    )
    for verdict, start, passed in outcomes:
        first = next((check for check in lines if check.passed is passed), None)
        if first is not None:
            headline = sentence("{start}: {name} ({detail}).", start=start, name=first.name, detail=first.detail)
            return CheckedRelease(verdict, headline, lines, tuple(notes))
    return CheckedRelease("holds", holds, lines, tuple(notes))


def checks_of_papers(folder: Path, certificate: Certificate, *, drawn: bool, learned_here: bool) -> list[Check]:
    """Whether data and page are those fingerprinted, and the words are those that the numbers call for.

    ``drawn`` says whether anything in such a release is drawn, ``learned_here`` whether anything was learned for it.
    """
    output, words = certificate.output, worded(certificate)
    name, why = "released data is the data certified", why_not_certified(folder, certificate)
    if why is not None and not (folder / output.file).exists():
        return [Check(name, False, why)]
    parts = f"{len(output.parts):,} parts, " if output.parts else ""
    sources = [
        randomness_of(drawn=drawn, repeatable=repeatable, learned_here=learned_here) for repeatable in (False, True)
    ]
    return [
        Check(name, why is None, why or f"{parts}SHA-256 {_short(output.sha256)}"),
        _outcome("claim in words", words.claim == certificate.claim, "says what the numbers say", words.claim),
        _outcome(
            "assumptions",
            words.assumptions == certificate.assumptions,
            "as the claim calls for",
            "they are not those of such a claim",
        ),
        _outcome(
            "randomness",
            certificate.randomness in sources,
            "as protect says it",
            "protect does not say so of such a release",
        ),
        *_check_of_page(folder, certificate),
        *_check_of_levels(folder, certificate),
        *_checks_of_channel(folder, certificate),
        *plainly_written(folder, {CERTIFICATE: text_of_certificate(certificate)}),
        _check_of_strangers(folder, certificate),
    ]


def plainly_written(folder: Path, papers: Mapping[str, str]) -> list[Check]:
    """Doubt about each paper that is not written as Tacit writes it: spaces between its words can say anything."""
    return [
        Check(f"{name} is written plainly", None, "this version of Tacit writes other bytes")
        for name, text in papers.items()
        if (folder / name).read_bytes() != text.encode()
    ]


def _outcome(name: str, passed: bool, right: str, wrong: str) -> Check:
    return Check(name, passed, right if passed else wrong)


def _check_of_levels(folder: Path, certificate: Certificate) -> list[Check]:
    """A release in cells must have the levels that were written with it, and no other release has any."""
    name, claimed, path = "levels are those certified", certificate.output.levels_sha256, folder / LEVELS
    if claimed is None and not path.exists():
        return []
    if not path.exists():
        return [Check(name, False, f"there is no {LEVELS}")]
    return [_outcome(name, file_sha256(path) == claimed, "SHA-256 agrees", f"{LEVELS} was changed")]


def _check_of_page(folder: Path, certificate: Certificate) -> list[Check]:
    """The page next to the certificate must be the one that was written with it."""
    name, claimed, page = "report is the one certified", certificate.output.report_sha256, folder / REPORT
    if not page.exists():
        return []
    if claimed is None:
        return [Check(name, None, f"{REPORT} is there, but the certificate lacks its SHA-256")]
    return [_outcome(name, file_sha256(page) == claimed, "SHA-256 agrees", f"{REPORT} was changed")]


def _checks_of_channel(folder: Path, certificate: Certificate) -> list[Check]:
    """The channel next to the certificate must be the one that was written with it."""
    path, claimed = folder / CHANNEL, certificate.output.channel_sha256
    if not path.exists():
        return []
    same_file = claimed is not None and file_sha256(path) == claimed
    return [_outcome("channel is the one certified", same_file, "SHA-256 agrees", f"{CHANNEL} was changed")]


def _check_of_strangers(folder: Path, certificate: Certificate) -> Check:
    """Any other published file may reveal anything; the owner's private folder is not published, so it may hold any."""
    others = [path.as_posix() for path in strangers(folder, certificate) if path.parts[0] != PRIVATE]
    if not others:
        return Check("nothing else is in the release", True, "every file is one that Tacit writes")
    more = f" and {len(others) - 1:,} more" if len(others) > 1 else ""
    return Check(
        "nothing else is in the release",
        None,
        f"Tacit did not write {others[0]}{more}, and does not know what it reveals",
    )


def notes_on_files(folder: Path, certificate: Certificate) -> tuple[str, ...]:
    """What was not checked about the page and the channel: it is stated, though it counts against nothing."""
    names = [REPORT, *([] if certificate.output.channel_sha256 is None else [CHANNEL])]
    notes = [f"there is no {name} beside the certificate" for name in names if not (folder / name).exists()]
    if (folder / REPORT).exists():
        notes.append(
            f"{REPORT} was compared with its fingerprint in the certificate and not made again: anyone who can change "
            "both can make it say anything, so rely on the numbers here"
        )
    return tuple(notes)


def sha256_as_written(table: Table, like: Table, name: str) -> str:
    """The SHA-256 of the file that ``protect`` writes for these rows: a file can hide things between its cells."""
    with tempfile.TemporaryDirectory() as place:
        write_table(table, Path(place) / name, like=like)
        return file_sha256(Path(place) / name)


def check_of_original(sha256: str | None, certificate: Certificate, salt: bytes | None, *, why: str) -> Check:
    """Whether the original is the one that was certified; ``why`` says what it takes where that cannot be checked."""
    name, claimed = "original is the one certified", certificate.input.salted_sha256
    if salt is None or sha256 is None or claimed is None:
        return Check(name, None, why)
    return same(name, salted(sha256, salt), claimed, what="salted SHA-256")


def _of_this_version(certificate: Certificate, check: Check) -> Check:
    """Another version of Tacit may have put the same numbers into other words."""
    if certificate.tacit_version == __version__ or check.passed is not False or check.name not in IN_WORDS:
        return check
    unsure = f"written by Tacit {_version_of(certificate)}, whose words this one, {__version__}, does not know"
    return Check(check.name, None, unsure)


def _version_of(certificate: Certificate) -> str:
    """The version that a certificate says made it, if it looks like one."""
    version = certificate.tacit_version
    return version if version.replace(".", "").isalnum() and len(version) <= 20 else "of no known version"
