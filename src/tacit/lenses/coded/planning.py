"""Choosing a code: many are made from the design part, and the finest that the others prove is taken."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from tacit.codes.vectors.codebook import Codebook, CodeSpace, code_space, codebook, means_of
from tacit.document import Progress
from tacit.errors import NotCertifiedError, Setting, sentence
from tacit.learn.arrays import Codes, Flags, Floats
from tacit.lenses.coded.evidence import CodedEvidence, counts_of, evidence
from tacit.lenses.coded.parts import Units, drawn
from tacit.lift import Effort, Joint, certify_counts, guessing_ceiling, optimal

MOST_CODES = 1024
# Codes are mixed until the design part alone keeps so much of epsilon; the rest is for chance among the others.
_SHARES = (1.0, 0.75, 0.5, 0.35, 0.2)
# With more secrets than two an optimum takes longer than it is worth for so many codes.
_MOST_MIXED = 256


@dataclass(frozen=True, eq=False)
class CodePlan:
    """A code and its channel, made from a design part alone; ``told`` is how much of the vectors' variance it tells.

    ``channel`` is P(released code | code), None where every code is released as it is.
    """

    book: Codebook
    channel: Floats | None
    told: float
    slack: float

    @property
    def possible(self) -> Flags:
        """Which codes can be released at all."""
        return np.ones(len(self.book), dtype=bool) if self.channel is None else np.asarray(self.channel.any(axis=0))


@dataclass(frozen=True, eq=False)
class ProvedPlan:
    """The plan that was taken, the released code of every unit, and what is proved of them."""

    plan: CodePlan
    released: Codes
    evidence: CodedEvidence
    tried: int


@dataclass(frozen=True)
class CodedBound:
    """What a coded release may give away: ``epsilon`` in nats, and how often anybody may guess right, if asked."""

    epsilon: float
    ceiling: float | None
    least: int
    beta: float


def proved_plan(
    units: Units,
    vectors: Floats,
    design: Flags,
    bound: CodedBound,
    *,
    key: bytes,
    random_state: int,
    progress: Progress,
) -> ProvedPlan:
    """The finest code that keeps the bound, proved on the units outside the design part.

    Guarantees
    ----------
    The codes are tried in an order that the design part fixes, and the first that fails ends the trial: so the claim of
    the last that passed errs with probability at most beta, however many were tried (gatekeeping). Every released code
    has at least ``least`` people.

    Raises
    ------
    NotCertifiedError
        If not even two codes keep the bound.
    """
    progress("making codes", None)
    plans = _in_order(list(_plans(units, vectors, design, bound, random_state, progress)))
    taken: ProvedPlan | None = None
    for plan in plans:
        released = drawn(plan.book.codes(vectors), plan.channel, key)
        proved = evidence(
            units.secret,
            released,
            design,
            secrets=len(units.secrets),
            possible=plan.possible,
            beta=bound.beta,
            # With a ceiling that was asked the order of the trial pays for the choice.
            tried=1 if bound.ceiling is not None else len(plans),
        )
        if not _keeps(proved, bound):
            break
        taken = ProvedPlan(plan, released, proved, len(plans))
    if taken is None:
        raise NotCertifiedError(_why_none(units, design, bound))
    return taken


def _keeps(proved: CodedEvidence, bound: CodedBound) -> bool:
    within = proved.epsilon <= bound.epsilon and (bound.ceiling is None or proved.ceiling <= bound.ceiling)
    return within and proved.smallest >= bound.least and proved.codes > 1


def _why_none(units: Units, design: Flags, bound: CodedBound) -> str:
    settings = {"epsilon": Setting("epsilon"), "ceiling": Setting("ceiling"), "least": Setting("least")}
    which = "a larger {epsilon}" if bound.ceiling is None else "a larger {epsilon} or {ceiling}"
    return sentence(
        f"no code is proved to keep the bound: {{proving:,}} of {{all:,}} are left to prove it on, too few even for "
        f"two codes. More records, {which}, or a smaller {{least}} would help; nothing was written",
        proving=int((~design).sum()),
        all=len(units),
        **settings,
    )


def _plans(
    units: Units, vectors: Floats, design: Flags, bound: CodedBound, random_state: int, progress: Progress
) -> Iterator[CodePlan]:
    """Codebooks of every size, as they are and mixed more and more."""
    points, secret = vectors[design], units.secret[design]
    space = code_space(points, secret, None if units.use is None else units.use[design], random_state=random_state)
    sizes = [2**k for k in range(1, 11) if 2**k <= min(MOST_CODES, len(points) // max(bound.least, 2))]
    before = 0
    for at, size in enumerate(sizes):
        progress(f"trying {size} codes", at / len(sizes))
        book = codebook(space, points, codes=size, least=bound.least, random_state=random_state)
        if len(book) <= before:
            continue
        before = len(book)
        counts = counts_of(secret, book.codes(points), secrets=len(units.secrets), codes=len(book))
        yield from _mixed_plans(space, book, points, counts, int((~design).sum()), bound)


def _mixed_plans(
    space: CodeSpace, book: Codebook, points: Floats, counts: Floats, proving: int, bound: CodedBound
) -> Iterator[CodePlan]:
    joint, seen = Joint.from_counts(counts), set[bytes]()
    codes, target = book.codes(points), space(points)
    for share in _SHARES:
        channel = None
        if len(counts) == 2 or len(book) <= _MOST_MIXED:
            mixed = np.asarray(optimal(joint, share * bound.epsilon, effort=_effort(len(counts))).matrix)
            channel = None if np.allclose(mixed, np.eye(len(book)), atol=1e-12) else mixed
        fingerprint = b"" if channel is None else channel.tobytes()
        if fingerprint in seen:
            continue
        seen.add(fingerprint)
        expected = counts if channel is None else counts @ channel
        yield CodePlan(book, channel, _told(target, codes, channel, len(book)), _slack(expected, proving, bound))


def _effort(secrets: int) -> Effort:
    return "normal" if secrets == 2 else "low"


def _slack(expected: Floats, proving: int, bound: CodedBound) -> float:
    """How far within the bound the others are expected to prove it, as a share of it; below 0 they are not."""
    scaled = np.floor(expected / expected.sum() * proving)
    scaled = scaled[:, scaled.sum(axis=0) > 0]
    if not scaled.size or (scaled.sum(axis=1) == 0).any():
        return -np.inf
    slack = 1 - certify_counts(scaled, beta=bound.beta / 2).epsilon / max(bound.epsilon, 1e-12)
    if bound.ceiling is not None:
        slack = min(slack, 50 * (bound.ceiling - guessing_ceiling(scaled, beta=bound.beta / 2)))
    return float(slack)


def _told(target: Floats, codes: Codes, channel: Floats | None, count: int) -> float:
    """The share of the vectors' variance that is between the means of released codes."""
    means, sizes = means_of(target, codes, count), np.bincount(codes, minlength=count).astype(np.float64)
    if channel is not None:
        flow = sizes[:, None] * channel
        sizes = flow.sum(axis=0)
        means = (flow.T @ means) / np.where(sizes > 0, sizes, 1.0)[:, None]
    middle = target.mean(axis=0)
    between = float((sizes * ((means - middle) ** 2).sum(axis=1)).sum())
    return between / max(float(((target - middle) ** 2).sum()), np.finfo(np.float64).tiny)


def _in_order(plans: list[CodePlan]) -> list[CodePlan]:
    """The plans that are expected to pass, the safest first; one that tells less at less slack is left out."""
    best: list[CodePlan] = []
    for plan in sorted((each for each in plans if each.slack >= 0), key=lambda each: -each.slack):
        if not best or plan.told > best[-1].told:
            best.append(plan)
    return best
