"""Choosing a code: many are made from the design part, and the finest that the other part proves is used."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from tacit.codes.vectors.codebook import Codebook, code_space, codebook, joined, means_of
from tacit.codes.vectors.mixing import Mixer, lift_rules, tolerance_rules
from tacit.document import Progress
from tacit.errors import NotCertifiedError, Setting, sentence
from tacit.learn.arrays import Codes, Flags, Floats
from tacit.lenses.coded.evidence import SHARE_OF_EPSILON, CodedEvidence, counts_of, evidence
from tacit.lenses.coded.parts import Parts, Units, chances, drawn
from tacit.lift import certify_counts, guessing_ceiling

_SIZES = (2, 4, 8, 16, 32, 64, 128, 256, 512)
# Limits of a normal distribution, in standard deviations, about as wide as those of a proof.
_SURE = 2.2
# How far a proof of epsilon may be from what is counted where no epsilon was asked, in nats.
_WIDE = 1.5
# How many samples of the others are imagined for each plan.
_IMAGINED = 8
# A tenth of epsilon weighs as much as a standard deviation of what is guessed right.
_TENTHS = 10.0
# Margins to the bound that codes are mixed for, in standard deviations; plans with less than the last are not tried.
_MARGINS = (2.0, 1.0, 0.0, -1.0, -2.0)
# Steps in the search for a strength of mixing; all margins share them.
_STEPS = 10
# Strengths closer than this count as one.
_CLOSE = 0.03
# Rules times codes: a larger program takes longer than it is worth.
_LARGEST = 6_000
# Plans that tell hardly more than the last are not worth a trial; nor are many plans, where each has a price.
_MORE, _MOST_PAID = 0.003, 8


@dataclass(frozen=True, eq=False)
class CodePlan:
    """A code and its channel, made only from a design part; ``told`` is how much of the vectors' variance it tells.

    ``channel`` is P(released code | code), or None if every code is released unchanged.
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
    """The chosen plan, the released code of every unit, and what is proved about them."""

    plan: CodePlan
    released: Codes
    evidence: CodedEvidence
    tried: int


@dataclass(frozen=True)
class CodedBound:
    """What a coded release may give away: nats, how often anybody may guess right, or both; None if not asked."""

    epsilon: float | None
    ceiling: float | None
    least: int
    beta: float

    @property
    def beta_of_epsilon(self) -> float:
        """How much of beta is for epsilon; the rest is for the ceiling."""
        return SHARE_OF_EPSILON * self.beta


def proved_plan(
    units: Units,
    vectors: Floats,
    parts: Parts,
    bound: CodedBound,
    *,
    key: bytes,
    random_state: int,
    progress: Progress,
) -> ProvedPlan:
    """The code that tells most among those that keep the bound, proved on units that it was not made from.

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
    plans = in_order(list(_plans(units, vectors, parts, bound, random_state, progress)), bound)
    chance, last = chances(len(units), key), None
    for plan in plans:
        released = drawn(plan.book.codes(vectors), plan.channel, chance)
        proved = evidence(
            units.secret,
            released,
            parts,
            secrets=len(units.secrets),
            possible=plan.possible,
            beta=bound.beta,
            tried=paid(bound, len(plans)),
        )
        if not _keeps(proved, bound):
            break
        last = ProvedPlan(plan, released, proved, len(plans))
    if last is None:
        raise NotCertifiedError(_why_none(units, parts, bound))
    return last


def paid(bound: CodedBound, tried: int) -> tuple[int, int]:
    """How many codes the ceiling and epsilon each allow for: one if it was asked, as the order pays for the choice."""
    return (tried if bound.ceiling is None else 1), (tried if bound.epsilon is None else 1)


def _keeps(proved: CodedEvidence, bound: CodedBound) -> bool:
    within = bound.epsilon is None or proved.epsilon <= bound.epsilon
    within = within and (bound.ceiling is None or proved.ceiling <= bound.ceiling)
    return within and proved.smallest >= bound.least and proved.codes > 1


def _why_none(units: Units, parts: Parts, bound: CodedBound) -> str:
    settings = {"epsilon": Setting("epsilon"), "ceiling": Setting("ceiling"), "least": Setting("least")}
    bounded = [f"{{{name}}}" for name in ("epsilon", "ceiling") if getattr(bound, name) is not None]
    which = f"a larger {' or '.join(bounded)}"
    return sentence(
        f"no code is proved to keep the bound: {{proving:,}} of {{all:,}} are left to prove it on, too few even for "
        f"two codes. More records, {which}, or a smaller {{least}} would help; nothing was written. Noise on "
        "images ({noise}) and masks on posts ({mask}) need no proof, and certify nothing",
        noise=Setting("mechanism", "noise"),
        mask=Setting("mechanism", "mask"),
        proving=int(parts.proving.sum()),
        all=len(units),
        **settings,
    )


def _plans(
    units: Units, vectors: Floats, parts: Parts, bound: CodedBound, random_state: int, progress: Progress
) -> Iterator[CodePlan]:
    """Codebooks of every size, unmixed and mixed more and more."""
    design = parts.design
    points, secret, inside = vectors[design], units.secret[design], ~parts.apart
    space = code_space(points, secret, None if units.use is None else units.use[design], random_state=random_state)
    fewest = max(bound.least, _to_prove(secret, parts, bound))
    sizes = [size for size in _SIZES if size <= len(points) // 4]
    before, best = 0, 0.0
    for at, size in enumerate(sizes):
        progress(f"trying {size} codes", at / len(sizes))
        book = codebook(space, points, codes=size, least=fewest, random_state=random_state)
        if len(book) <= before:
            continue
        before = len(book)
        trial = Trial.of(space(vectors[inside]), book, book.codes(vectors), units, parts, bound, fewest, random_state)
        tried = list(trial.plans())
        yield from tried
        # Larger books need more mixing for the same bound; once they tell less, even larger ones do, too.
        most = max((plan.told for plan in tried if plan.slack >= 0), default=0.0)
        if most < best - _MORE:
            return
        best = max(best, most)


def _to_prove(secret: Codes, parts: Parts, bound: CodedBound) -> int:
    """About how many design units a code must have for half of epsilon to be proved for it on the others."""
    rarest = float(np.bincount(secret).min() / len(secret))
    share = float(parts.design.sum() / parts.different.sum())
    needed = (
        _SURE**2
        / max(_WIDE if bound.epsilon is None else bound.epsilon / 2, 1e-3) ** 2
        * (1 - rarest)
        / max(rarest, 1e-9)
    )
    return int(min(needed * share / (1 - share), len(secret)))


@dataclass(frozen=True, eq=False)
class Trial:
    """The design part in the codes of one codebook, and samples of the others as they may turn out."""

    book: Codebook
    bound: CodedBound
    counts: Floats
    people: Floats
    means: Floats
    mixer: Mixer
    spread: float
    imagined: Floats
    proving: int
    fewest: int
    random_state: int

    @classmethod
    def of(
        cls,
        points: Floats,
        book: Codebook,
        codes: Codes,
        units: Units,
        parts: Parts,
        bound: CodedBound,
        fewest: int,
        random_state: int,
    ) -> Trial:
        """The trial of a codebook; ``points`` are of the first part with copies, ``codes`` of all."""
        own = codes[~parts.apart]
        counts = counts_of(units.secret[~parts.apart], own, secrets=len(units.secrets), codes=len(book))
        people = np.bincount(codes[parts.design], minlength=len(book)).astype(np.float64)
        means = means_of(points, own, len(book))
        squares = (means**2).sum(axis=1)
        distances = np.maximum(squares[:, None] + squares - 2 * means @ means.T, 0.0)
        spread = float(((points - points.mean(axis=0)) ** 2).sum())
        imagined = _imagined(counts, np.random.default_rng([random_state, len(book)]))
        proving = int(parts.proving.sum())
        mixer = Mixer(counts.sum(axis=0), distances)
        return cls(book, bound, counts, people, means, mixer, spread, imagined, proving, fewest, random_state)

    def plans(self) -> Iterator[CodePlan]:
        """The code unmixed, and mixed just enough to leave each margin."""
        whole = self.plan(np.eye(len(self.book)))
        yield whole
        wanted = [margin for margin in _MARGINS if margin > whole.slack]
        rules = 2 * len(self.counts) * (self.bound.epsilon is not None) + len(self.counts) - 1
        if not wanted or len(self.book) * rules > _LARGEST:
            return
        # Strength 0 leaves codes unmixed, 1 makes them all one; the expected slack grows with it.
        by_strength: dict[float, CodePlan] = {0.0: whole}
        for _ in range(_STEPS):
            gaps = [self._between(by_strength, margin) for margin in wanted]
            low, high = max(gaps, key=lambda gap: gap[1] - gap[0])
            if high - low < _CLOSE:
                break
            channel = self.mixed((low + high) / 2)
            if channel is None:
                break
            by_strength[(low + high) / 2] = self.plan(channel)
        yield from (plan for strength, plan in by_strength.items() if strength > 0)

    @staticmethod
    def _between(by_strength: dict[float, CodePlan], margin: float) -> tuple[float, float]:
        """Between which strengths a margin is reached."""
        low = max(strength for strength, plan in by_strength.items() if strength == 0 or plan.slack < margin)
        return low, min((strength for strength in by_strength if strength > low), default=1.0)

    def mixed(self, strength: float) -> Floats | None:
        """The channel that changes what is shown least and keeps rules of this strength."""
        joint, rules = self.counts / self.counts.sum(), []
        if self.bound.ceiling is not None:
            top = int(joint.sum(axis=1).argmax())
            ahead = np.delete(joint - joint[top], top, axis=0)
            most, least = float((ahead / joint.sum(axis=0)).max()), float(ahead.sum(axis=1).max())
            rules.append(tolerance_rules(self.counts, most - strength * (most - least)))
        if self.bound.epsilon is not None:
            rules.append(lift_rules(self.counts, (1 - strength) * self.bound.epsilon))
        channel = self.mixer.channel(np.vstack(rules))
        return None if channel is None else _with_enough(channel, self.means, self.people, self.fewest)

    def plan(self, channel: Floats) -> CodePlan:
        """What is expected of a channel."""
        same = bool(np.allclose(channel, np.eye(len(self.book)), atol=1e-12))
        return CodePlan(self.book, None if same else channel, self._share_told(channel), self._slack(channel))

    def _share_told(self, channel: Floats) -> float:
        """The share of the points' variance that is between the means of released codes."""
        flow = self.counts.sum(axis=0)[:, None] * channel
        total = flow.sum(axis=0)
        shown = (flow.T @ self.means) / np.where(total > 0, total, 1.0)[:, None]
        middle = np.average(self.means, axis=0, weights=self.counts.sum(axis=0))
        between = float((total * ((shown - middle) ** 2).sum(axis=1)).sum())
        return between / max(self.spread, np.finfo(np.float64).tiny)

    def _slack(self, channel: Floats) -> float:
        """How far within the bound the others are expected to prove it, in standard deviations of what is counted."""
        rng = np.random.default_rng([self.random_state, 5])
        used, slack = channel.any(axis=0), np.inf
        joints = [np.asarray(each @ channel[:, used]) for each in self.imagined]
        drawn = [rng.multinomial(self.proving, (each / each.sum()).ravel()).reshape(each.shape) for each in joints]
        bound = self.bound
        if bound.ceiling is not None:
            beta = bound.beta - bound.beta_of_epsilon
            proved = float(np.mean([guessing_ceiling(each, beta=beta) for each in drawn]))
            slack = (bound.ceiling - proved) / np.sqrt(bound.ceiling * (1 - bound.ceiling) / self.proving)
        if bound.epsilon is not None:
            whole = [each for each in drawn if each.any(axis=0).all() and each.any(axis=1).all()]
            if len(whole) < len(drawn):
                return -np.inf
            nats = float(np.mean([certify_counts(each, beta=bound.beta_of_epsilon).epsilon for each in whole[:3]]))
            slack = min(slack, _TENTHS * (1 - nats / max(bound.epsilon, 1e-12)))
        return float(slack)


def _imagined(counts: Floats, rng: np.random.Generator) -> Floats:
    """Joints of secret and code that the others may have, given the design part, if codes differ as much there.

    The shares of each code are drawn from what its counts and those of all codes leave open (Dirichlet); the shares of
    the secrets stay fixed. This decides which plans are tried and in which order; no claim rests on it.
    """
    sizes, prior = counts.sum(axis=0), counts.sum(axis=1) / counts.sum()
    spread = float((prior * (1 - prior)).sum())
    between = float((((counts / sizes - prior[:, None]) ** 2).sum(axis=0) * sizes).sum() / sizes.sum())
    by_chance = spread * len(sizes) / sizes.sum()
    # How many people the prior weighs as much as, next to a code's own.
    weight = float(np.clip(spread / max(between - by_chance, 1e-12) - 1, 1.0, 1e6))
    drawn = np.maximum(rng.gamma(np.broadcast_to(counts + weight * prior[:, None], (_IMAGINED, *counts.shape))), 1e-9)
    drawn *= (sizes / sizes.sum()) / drawn.sum(axis=1, keepdims=True)
    return np.asarray(drawn * (prior[:, None] / drawn.sum(axis=2, keepdims=True)))


def _with_enough(channel: Floats, means: Floats, sizes: Floats, fewest: int) -> Floats:
    """The channel with outputs joined to their neighbours until each is released for at least ``fewest``.

    Joining outputs keeps every rule: a joined one is the sum of both.
    """
    flow = sizes[:, None] * channel
    people = flow.sum(axis=0)
    used = np.flatnonzero(people > 0)
    shown = (flow[:, used].T @ means) / people[used][:, None]
    # A joined output takes the number of its largest part.
    group = joined(shown, people[used], fewest)
    out = np.zeros_like(channel)
    for each in range(int(group.max()) + 1):
        members = used[group == each]
        out[:, members[people[members].argmax()]] = channel[:, members].sum(axis=1)
    return out


def in_order(plans: list[CodePlan], bound: CodedBound) -> list[CodePlan]:
    """The plans to try: from the surest to the one that tells most, each telling more than the last.

    All are tried on the same people, so luck helps or hurts them alike, and the first that fails is about where the
    bound is reached. If no ceiling was asked, every plan has its price, and a few of them suffice.
    """
    likely = [plan for plan in plans if plan.slack >= _MARGINS[-1] and plan.possible.sum() > 1]
    order: list[CodePlan] = []
    for plan in sorted(likely, key=lambda plan: (-plan.slack, -plan.told)):
        if plan.told > (order[-1].told + _MORE if order else 0.0):
            order.append(plan)
    if bound.ceiling is None and len(order) > _MOST_PAID:
        order = [order[round(at)] for at in np.linspace(0, len(order) - 1, _MOST_PAID)]
    return order
