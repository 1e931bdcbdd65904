"""``verify`` for coded releases: the code is applied to the originals again, and everything is counted again."""

from __future__ import annotations

import tempfile
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from tacit.document import Progress
from tacit.errors import Command, sentence
from tacit.learn.arrays import Codes, Floats
from tacit.lenses.coded.coding import NEARLY_ONE, code_means, shares_told
from tacit.lenses.coded.evidence import evidence
from tacit.lenses.coded.parts import Units, chances, dealt, drawn, share_drawn, shuffled
from tacit.lenses.coded.saving import CODE, KeptCode
from tacit.release.certificate import CodedCertificate
from tacit.release.checks import (
    Check,
    CheckedRelease,
    check_of_original,
    checked,
    checks_of_papers,
    close,
    notes_on_files,
    same,
)
from tacit.release.directory import KEY, PRIVATE, SALT
from tacit.release.keys import committed, secret_bytes_in
from tacit.tables.drawing import KEY_BYTES

# What codes show is compared up to rounding: a mean may be summed in another order.
_ALIKE = 1e-6


@dataclass(frozen=True, eq=False)
class CodedAgain:
    """The units as they come out again: their codes before and after the draw."""

    kept: KeptCode
    own: Codes
    released: Codes

    def shown(self, values: Floats) -> Floats:
        """What each code shows; ``values`` has a row for each unit."""
        return code_means(values, self.own, self.kept.parts.design, self.kept.channel)


@dataclass(frozen=True, eq=False)
class Originals:
    """The originals of a coded release as a lens read them again, and what is in the release.

    ``contents`` is what each record holds, ``vectors`` has a row for each unit, ``released`` is the code of each
    released unit in its order, ``plain`` whether files say that and nothing more (:func:`check_of_bytes`), and
    ``shown`` checks what codes are written as.
    """

    sha256: str | None
    units: Units
    contents: Sequence[bytes]
    vectors: Floats
    released: Codes
    plain: Check
    shown: Callable[[CodedAgain], Iterator[Check]]


def verified_code(
    folder: Path,
    certificate: CodedCertificate,
    command: Command,
    read: Callable[[KeptCode], Originals] | None,
    *,
    progress: Progress,
) -> CheckedRelease:
    """Check a coded release: given the originals, read by ``read``, and the owner's folder, all is made again."""
    private, papers = folder / PRIVATE, checks_of_papers(folder, certificate, drawn=True, learned_here=False)
    if papers[0].passed is False:
        # Data that was not certified may not even be readable.
        return _checked_code(folder, certificate, papers)
    if read is None or not (private / CODE).exists():
        words = "needs the originals and the owner's {code}: {command}"
        missing = Check("codes made again", None, sentence(words, code=f"{PRIVATE}/{CODE}", command=command))
        return _checked_code(folder, certificate, [*papers, missing])
    progress("making codes again", None)
    kept = KeptCode(private)
    originals = read(kept)
    why = f"needs the file it was made from, and {PRIVATE}/{SALT}"
    checks = [check_of_original(originals.sha256, certificate, secret_bytes_in(private / SALT), why=why)]
    own, key = kept.book.codes(originals.vectors), secret_bytes_in(private / KEY) or b""
    drew = drawn(own, kept.channel, chances(len(own), key)) if len(key) == KEY_BYTES else own
    again = CodedAgain(kept, own, drew)
    checks += [
        originals.plain,
        same("records of the original", len(originals.contents), certificate.input.records, what="counted"),
        same("records of the release", len(originals.released), certificate.output.records, what="counted"),
    ]
    checks += _checks_of_code(folder, certificate, originals, again)
    if all(each.passed is not False for each in checks):
        checks += originals.shown(again)
    return _checked_code(folder, certificate, [*papers, *checks])


def _checks_of_code(
    folder: Path, certificate: CodedCertificate, originals: Originals, again: CodedAgain
) -> Iterator[Check]:
    """The checks that need the originals and the owner's folder."""
    c, kept, units, released = certificate, again.kept, originals.units, originals.released
    salt, key = (secret_bytes_in(folder / PRIVATE / name) for name in (SALT, KEY))
    name = "key is the one committed to"
    if salt is None or key is None or c.output.key_sha256 is None:
        yield Check(name, None, f"needs {PRIVATE}/{KEY} and {PRIVATE}/{SALT}")
    else:
        yield same(name, committed(key, salt), c.output.key_sha256, what="SHA-256")
    whole = all(len(each) == len(units) for each in (kept.parts.design, kept.parts.proving, kept.parts.apart))
    whole = whole and sorted(kept.order.tolist()) == list(range(len(units)))
    yield Check("every original is released once", whole and len(released) == len(units), f"{len(released):,} released")
    if not whole or len(released) != len(units):
        return
    if key is not None and len(key) == KEY_BYTES:
        parts = dealt(units, originals.contents, key)
        same_parts = all(
            bool((getattr(parts, name) == getattr(kept.parts, name)).all()) for name in ("design", "proving", "apart")
        )
        yield Check("both parts dealt again by the key", same_parts, f"{int(parts.design.sum()):,} made the code")
        same_order = bool((shuffled(len(units), key) == kept.order).all())
        yield Check("order drawn again by the key", same_order, "as the key says" if same_order else "another order")
    wrong = int((again.released[kept.order] != released).sum())
    yield Check("codes made again", wrong == 0, f"{wrong:,} of {len(released):,} differ")
    possible = np.ones(len(kept.book), dtype=bool) if kept.channel is None else np.asarray(kept.channel.any(axis=0))
    proved = evidence(
        units.secret,
        again.released,
        kept.parts,
        secrets=len(units.secrets),
        possible=possible,
        beta=1 - c.confidence,
        tried=(1 if c.ceiling_asked else c.tried, 1 if c.epsilon_asked else c.tried),
    )
    yield close("epsilon proved", proved.epsilon, c.attained_epsilon)
    within = proved.ceiling <= c.ceiling + 1e-12 if c.ceiling_asked else abs(proved.ceiling - c.ceiling) <= 1e-9
    yield Check("ceiling proved", within, f"recomputed {proved.ceiling:.6g}, the certificate says {c.ceiling:.6g}")
    for what, recounted, certified in (
        ("guessed as counted", proved.guessed, c.guessed),
        ("share of the commonest secret", proved.prior, c.prior),
        ("codes left to chance", share_drawn(again.own, kept.channel), c.mixed),
    ):
        yield close(what, recounted, certified)
    for what, number, claimed in (
        ("number of codes", proved.codes, c.codes),
        ("people of the smallest code", proved.smallest, c.smallest),
        ("units to prove on", proved.proved_on, c.proved_on),
        ("units to make the code from", int(kept.parts.design.sum()), c.designed_on),
        ("units", len(units), c.units),
    ):
        yield same(what, number, claimed, what="counted")


def check_of_bytes(folder: Path, write: Callable[[Path], object], *, more: str | None) -> Check:
    """Whether files hold codes and what these show, and nothing else: written again, they are the same bytes.

    ``write`` writes what was read from the release to another place; ``more`` names what the lens found beyond that.
    """
    name = "files are written plainly"
    if more is not None:
        return Check(name, False, more)
    with tempfile.TemporaryDirectory() as place:
        write(Path(place))
        again = [path for path in Path(place).rglob("*") if path.is_file()]
        alike = all((folder / path.relative_to(place)).read_bytes() == path.read_bytes() for path in again)
    if alike:
        return Check(name, True, "every byte is as protect writes it")
    return Check(name, None, "other bytes than are written here: another version of a library, or something is hidden")


def checks_of_shown(again: CodedAgain, values: Floats, expected: Floats, released: Floats) -> Iterator[Check]:
    """Whether each code shows what comes out again, and none shows an original almost unchanged."""
    away = float(np.abs(expected - released).max(initial=0.0)) if expected.shape == released.shape else np.inf
    yield Check("what codes show", bool(away <= _ALIKE), f"largest difference {away:.3g}")
    bare = int((shares_told(values, again.own, again.kept.parts, again.kept.channel) < NEARLY_ONE).sum())
    yield Check("no code shows an original nearly as it is", bare == 0, f"{bare:,} codes do")


def _checked_code(folder: Path, certificate: CodedCertificate, checks: list[Check]) -> CheckedRelease:
    """The verdict about a coded release."""
    return checked(
        certificate,
        checks,
        holds=certificate.claim,
        broken="The claim is not true of this release",
        unsure="Not everything was checked",
        notes=(
            "the two parts were dealt by the key that the certificate commits to; that the code was made only from "
            "the first, what was asked before, and how many codes were tried are the owner's word: none of it was "
            "recomputed",
            "use, differences shown and the adversary's numbers were not measured again: no claim rests on them",
            *notes_on_files(folder, certificate),
        ),
    )
