"""``verify`` for coded releases: the code is applied to the originals again, and everything is counted again."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from tacit.learn.arrays import Codes, Floats
from tacit.lenses.coded.coding import code_means
from tacit.lenses.coded.evidence import evidence
from tacit.lenses.coded.parts import Units, chances, drawn, share_drawn
from tacit.lenses.coded.saving import KeptCode
from tacit.release.certificate import CodedCertificate
from tacit.release.checks import Check, CheckedRelease, checked, checks_of_papers, close, notes_on_files, same
from tacit.release.directory import KEY, PRIVATE, SALT
from tacit.release.keys import committed, secret_bytes_in

# What was shown is compared to rounding: a mean may be summed in another order.
_ALIKE = 1e-6


@dataclass(frozen=True, eq=False)
class CodedAgain:
    """The units as they come out again: their codes before and after the draw."""

    kept: KeptCode
    own: Codes
    released: Codes

    def shown(self, values: Floats) -> Floats:
        """What each code shows; ``values`` has a row for each unit."""
        return code_means(values, self.own, self.kept.design, self.kept.channel)


def coded_again(folder: Path, units: Units, vectors: Floats, kept: KeptCode) -> CodedAgain:
    """Code the originals again by what the owner kept."""
    own = kept.book.codes(vectors)
    key = secret_bytes_in(folder / PRIVATE / KEY) or b""
    return CodedAgain(kept, own, drawn(own, kept.channel, chances(len(own), key)) if len(key) == 32 else own)


def checks_of_code(
    folder: Path, certificate: CodedCertificate, units: Units, again: CodedAgain, released: Codes
) -> Iterator[Check]:
    """The lines that take originals and private part; ``released`` is the code of each released unit, in its order."""
    c, kept = certificate, again.kept
    salt, key = (secret_bytes_in(folder / PRIVATE / name) for name in (SALT, KEY))
    name = "key is the one committed to"
    if salt is None or key is None or c.output.key_sha256 is None:
        yield Check(name, None, f"needs {PRIVATE}/{KEY} and {PRIVATE}/{SALT}")
    else:
        yield same(name, committed(key, salt), c.output.key_sha256, what="SHA-256")
    whole = len(kept.design) == len(units) and sorted(kept.order.tolist()) == list(range(len(units)))
    yield Check("every original is released once", whole and len(released) == len(units), f"{len(released):,} released")
    if not whole or len(released) != len(units):
        return
    wrong = int((again.released[kept.order] != released).sum())
    yield Check("codes made again", wrong == 0, f"{wrong:,} of {len(released):,} differ")
    possible = np.ones(len(kept.book), dtype=bool) if kept.channel is None else np.asarray(kept.channel.any(axis=0))
    proved = evidence(
        units.secret,
        again.released,
        kept.design,
        secrets=len(units.secrets),
        possible=possible,
        beta=1 - c.confidence,
        tried=(1 if c.ceiling_asked else c.tried, 1 if c.epsilon_asked else c.tried),
    )
    yield close("epsilon proved", proved.epsilon, c.attained_epsilon)
    within = proved.ceiling <= c.ceiling + 1e-12 if c.ceiling_asked else abs(proved.ceiling - c.ceiling) <= 1e-9
    yield Check("ceiling proved", within, f"recomputed {proved.ceiling:.6g}, the certificate says {c.ceiling:.6g}")
    for what, seen, said in (
        ("guessed as counted", proved.guessed, c.guessed),
        ("share of the commonest secret", proved.prior, c.prior),
        ("codes left to chance", share_drawn(again.own, kept.channel), c.mixed),
    ):
        yield close(what, seen, said)
    for what, number, claimed in (
        ("number of codes", proved.codes, c.codes),
        ("people of the smallest code", proved.smallest, c.smallest),
        ("units to prove on", proved.proved_on, c.proved_on),
        ("units", len(units), c.units),
    ):
        yield same(what, number, claimed, what="counted")
    yield Check("smallest code", proved.smallest >= c.least, f"{proved.smallest:,} people, at least {c.least:,} asked")


def check_of_shown(made: Floats, released: Floats) -> Check:
    """Whether what each code shows is what comes out again."""
    away = float(np.abs(made - released).max(initial=0.0)) if made.shape == released.shape else np.inf
    return Check("what codes show", bool(away <= _ALIKE), f"largest difference {away:.3g}")


def checked_code(folder: Path, certificate: CodedCertificate, checks: list[Check]) -> CheckedRelease:
    """The verdict about a coded release."""
    return checked(
        certificate,
        [*checks_of_papers(folder, certificate, drawn=True, learned_here=False), *checks],
        holds=certificate.claim,
        broken="The claim is not true of this release",
        unsure="Not everything was checked",
        notes=(
            "that the code was made from the first part alone is the owner's word; it was not made again",
            "use, differences told and the adversary's numbers were not measured again: no claim rests on them",
            *notes_on_files(folder, certificate),
        ),
    )
