"""Choosing a code: many are made from the design part, and the finest that the others prove is taken."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from tacit.codes.vectors.codebook import Codebook, code_space, codebook, joined, means_of
from tacit.document import Progress
from tacit.errors import NotCertifiedError, Setting, sentence
from tacit.learn.arrays import Codes, Flags, Floats
from tacit.lenses.coded.evidence import SHARE_OF_EPSILON, CodedEvidence, counts_of, evidence
from tacit.lenses.coded.parts import Units, drawn
from tacit.lift import Effort, Joint, certify_counts, guessing_ceiling, optimal

_SIZES = (2, 4, 8, 12, 16, 24, 32, 48, 64, 96, 128, 192, 256, 384, 512, 768)
# Codes are mixed until the design part alone keeps so much of epsilon; the rest is for chance among the others.
_SHARES = (1.0, 0.7, 0.5, 0.35, 0.25, 0.18, 0.12, 0.08)
# Limits of the normal distribution that are about those of a proof.
_SURE = 2.2
# How far a proof of epsilon may be from what is counted where no epsilon was asked, in nats.
_WIDE = 1.5
# A plan is tried if it is expected to pass by so much.
_MARGIN = 0.05
# One point of the ceiling weighs as much as so many points of epsilon's share.
_STEEP = 50.0
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
    """What a coded release may give away: in nats, or how often anybody may guess right; what was asked, or both."""

    epsilon: float | None
    ceiling: float | None
    least: int
    beta: float

    @property
    def beta_of_epsilon(self) -> float:
        """How much of beta is for epsilon; the rest is for the ceiling."""
        return SHARE_OF_EPSILON * self.beta

    @property
    def mixing(self) -> float:
        """The epsilon that codes are mixed for, the largest."""
        return 1.0 if self.epsilon is None else self.epsilon


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
            tried=paid(bound, len(plans)),
        )
        if not _keeps(proved, bound):
            break
        taken = ProvedPlan(plan, released, proved, len(plans))
    if taken is None:
        raise NotCertifiedError(_why_none(units, design, bound))
    return taken


def paid(bound: CodedBound, tried: int) -> tuple[int, int]:
    """For how many codes the ceiling and epsilon allow; for one, where it was asked: the order pays for the choice."""
    return (tried if bound.ceiling is None else 1), (tried if bound.epsilon is None else 1)


def _keeps(proved: CodedEvidence, bound: CodedBound) -> bool:
    within = bound.epsilon is None or proved.epsilon <= bound.epsilon
    within = within and (bound.ceiling is None or proved.ceiling <= bound.ceiling)
    return within and proved.smallest >= bound.least and proved.codes > 1


def _why_none(units: Units, design: Flags, bound: CodedBound) -> str:
    settings = {"epsilon": Setting("epsilon"), "ceiling": Setting("ceiling"), "least": Setting("least")}
    asked = [f"{{{name}}}" for name in ("epsilon", "ceiling") if getattr(bound, name) is not None]
    which = f"a larger {' or '.join(asked)}"
    return sentence(
        f"no code is proved to keep the bound: {{proving:,}} of {{all:,}} are left to prove it on, too few even for "
        f"two codes. More records, {which}, or a smaller {{least}} would help; nothing was written. Noise and masks "
        "({estimates}) need no proof, and certify nothing",
        estimates=Setting("mechanism", "noise, mask"),
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
    fewest = max(bound.least, _to_prove(secret, design, bound))
    sizes = [size for size in _SIZES if size <= len(points) // 4]
    before = 0
    for at, size in enumerate(sizes):
        progress(f"trying {size} codes", at / len(sizes))
        book = codebook(space, points, codes=size, least=fewest, random_state=random_state)
        if len(book) <= before:
            continue
        before = len(book)
        trial = _Trial(space(points), book.codes(points), secret, len(units.secrets), int((~design).sum()), fewest)
        yield from trial.plans(book, bound, np.random.default_rng([random_state, size]))


def _to_prove(secret: Codes, design: Flags, bound: CodedBound) -> int:
    """About how many of the design part a code must have for half of epsilon to be proved of it on the others."""
    rarest = float(np.bincount(secret).min() / len(secret))
    share = float(design.mean())
    needed = (
        _SURE**2
        / max(_WIDE if bound.epsilon is None else bound.epsilon / 2, 1e-3) ** 2
        * (1 - rarest)
        / max(rarest, 1e-9)
    )
    return int(min(needed * share / (1 - share), len(secret)))


@dataclass(frozen=True, eq=False)
class _Trial:
    """The design part in the codes of one codebook."""

    points: Floats
    codes: Codes
    secret: Codes
    secrets: int
    proving: int
    fewest: int

    def plans(self, book: Codebook, bound: CodedBound, rng: np.random.Generator) -> Iterator[CodePlan]:
        """The code as it is, and mixed more and more."""
        counts = counts_of(self.secret, self.codes, secrets=self.secrets, codes=len(book))
        means, sizes = means_of(self.points, self.codes, len(book)), counts.sum(axis=0)
        elsewhere = _elsewhere(counts, self.proving, rng)
        joint, seen = Joint.from_counts(counts), set[bytes]()
        for share in _SHARES if self.secrets == 2 or len(book) <= _MOST_MIXED else (1.0,):
            mixed = np.asarray(optimal(joint, share * bound.mixing, effort=_effort(self.secrets)).matrix)
            channel = _with_enough(mixed, means, sizes, self.fewest)
            if channel.tobytes() in seen:
                continue
            seen.add(channel.tobytes())
            same = bool(np.allclose(channel, np.eye(len(book)), atol=1e-12))
            told, slack = self._told(means, sizes, channel), _slack(elsewhere @ channel, self.proving, bound)
            yield CodePlan(book, None if same else channel, told, slack)

    def _told(self, means: Floats, sizes: Floats, channel: Floats) -> float:
        """The share of the points' variance that is between the means of released codes."""
        flow = sizes[:, None] * channel
        total = flow.sum(axis=0)
        shown = (flow.T @ means) / np.where(total > 0, total, 1.0)[:, None]
        middle = self.points.mean(axis=0)
        between = float((total * ((shown - middle) ** 2).sum(axis=1)).sum())
        return between / max(float(((self.points - middle) ** 2).sum()), np.finfo(np.float64).tiny)


def _elsewhere(counts: Floats, proving: int, rng: np.random.Generator) -> Floats:
    """Counts that the others may show, given those of the design part: codes are taken to differ as much as these do.

    The shares of each code are drawn from what its counts and those of all codes leave open (Dirichlet), then its
    people. It decides which plans are tried and in which order, and no claim rests on it.
    """
    sizes, prior = counts.sum(axis=0), counts.sum(axis=1) / counts.sum()
    spread = float((prior * (1 - prior)).sum())
    between = float((((counts / sizes - prior[:, None]) ** 2).sum(axis=0) * sizes).sum() / sizes.sum())
    by_chance = spread * len(sizes) / sizes.sum()
    # As many people as the prior weighs beside a code's own.
    weight = float(np.clip(spread / max(between - by_chance, 1e-12) - 1, 1.0, 1e6))
    people = np.rint(sizes * (proving / sizes.sum())).astype(np.int64)
    return np.stack(
        [rng.multinomial(n, rng.dirichlet(own + weight * prior)) for n, own in zip(people, counts.T, strict=True)]
    ).T.astype(np.float64)


def _with_enough(channel: Floats, means: Floats, sizes: Floats, fewest: int) -> Floats:
    """The channel with outputs joined to their neighbours until each is released of so many.

    Joining outputs keeps every bound on their log-lifts: a joined one is a mean of both.
    """
    flow = sizes[:, None] * channel
    people = flow.sum(axis=0)
    used = np.flatnonzero(people > 0)
    shown = (flow[:, used].T @ means) / people[used][:, None]
    # A joined output is written as the largest of those in it.
    group = joined(shown, people[used], fewest)
    out = np.zeros_like(channel)
    for each in range(int(group.max()) + 1):
        members = used[group == each]
        out[:, members[people[members].argmax()]] = channel[:, members].sum(axis=1)
    return out


def _effort(secrets: int) -> Effort:
    return "normal" if secrets == 2 else "low"


def _slack(expected: Floats, proving: int, bound: CodedBound) -> float:
    """How far within the bound the others are expected to prove it, as a share of it; below 0 they are not."""
    scaled = np.floor(expected[:, expected.any(axis=0)] / expected.sum() * proving)
    if (scaled.sum(axis=0) == 0).any() or (scaled.sum(axis=1) == 0).any():
        return -np.inf
    slack = np.inf
    if bound.epsilon is not None:
        slack = 1 - certify_counts(scaled, beta=bound.beta_of_epsilon).epsilon / max(bound.epsilon, 1e-12)
    if bound.ceiling is not None:
        slack = min(slack, _STEEP * (bound.ceiling - guessing_ceiling(scaled, beta=bound.beta - bound.beta_of_epsilon)))
    return float(slack)


def _in_order(plans: list[CodePlan]) -> list[CodePlan]:
    """The plans to try, from few codes to many, and those of the most codes until the edge of what may pass.

    The first that fails ends the trial. So of each codebook one is tried that is well within what it is expected to
    keep, the one that tells most; one that tells less than fewer codes is left out.
    """
    order: list[CodePlan] = []
    for size in sorted({len(plan.book) for plan in plans}):
        own = [plan for plan in plans if len(plan.book) == size and (not order or plan.told > order[-1].told)]
        enough = max(_MARGIN, max((plan.slack for plan in own), default=0.0) / 2)
        order += sorted((plan for plan in own if plan.slack >= enough), key=lambda plan: -plan.told)[:1]
    if not order:
        return []
    last = order[-1]
    finer = [plan for plan in plans if plan.book is last.book and plan.slack >= 0 and plan.told > last.told]
    for plan in sorted(finer, key=lambda plan: -plan.slack):
        if plan.told > order[-1].told:
            order.append(plan)
    return order
