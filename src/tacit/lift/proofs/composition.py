"""Several releases of the same people: what they say together.

What each says alone does not bound what they say together. Let S = A xor B for two fair coins A and B. A release of A
alone has log-lift 0 everywhere, and so has one of B alone; together they are the secret. So the sum of the epsilons by
itself bounds nothing, and where only the epsilons are known the answer is inf. What is true:

1. *Exactly.* Where the joint of the secret and all released values is known or can be counted (`compose_table`), where
   each release is drawn on its own from the same X (`compose`), or on its own given the secret
   (`compose_given_secret`), the joint is computed and every measure applies to it.
2. *In sequence.* i(s; y1, y2) = i(s; y1) + i(s; y2 | y1). So epsilons add if each one bounds the log-lift for a reader
   who knows all earlier releases. A channel that draws afresh from X has such a bound against every reader: its
   epsilon of local differential privacy (`dp_epsilon`), for P(y2 | s, y1) and P(y2 | y1) are both means of P(y2 | x).
3. *Independent given the secret.* With lifts l1, l2, of mean 1 over the prior, the log-lift of the pair is
   log l1 + log l2 - log E[l1 l2], which can be *more* than the sum of the two: E[l1 l2] can be less than 1. It is least
   if the two lifts take only the ends of their ranges, one high where the other is low, and largest if they are high
   together: both are closed formulas of the epsilons, and both are attained. For equal epsilons the pair is within
   2 epsilon + O(epsilon^2), and never beyond 3 epsilon.
4. *Any dependence.* Whatever is drawn from X only says no more than X: its log-lifts are within those of X. And no
   log-lift exceeds -log P(s).
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import reduce
from itertools import compress, product
from typing import Any, Final, Literal

import numpy as np
from numpy.typing import ArrayLike

from tacit.errors import ArgumentError
from tacit.lift.joint import Channel, Joint, Matrix, check_fits
from tacit.lift.measures import Distribution, log_mean_exp
from tacit.lift.promised import f_bound, share_at_top
from tacit.lift.rounding import at_most, confident
from tacit.lift.tolerances import SUM_TOLERANCE

Relation = Literal["in sequence", "given secret", "other people", "unknown"]

_ASSUMPTIONS: Final[dict[Relation, tuple[str, ...]]] = {
    "in sequence": ("each bound holds for a reader of all earlier releases",),
    "given secret": ("the releases are independent of one another given the secret",),
    "other people": ("no person is in two releases and people are independent",),
    "unknown": (),
}
# Cells of the table that `compose` may build: about a gigabyte.
_MOST_CELLS: Final = 1 << 27
# Beyond this e^epsilon squared overflows, and the plain bounds are as good.
_LARGEST_EPSILON: Final = 300.0


@dataclass(frozen=True)
class ReleaseBound:
    """What is known about one release: every log-lift lies between -epsilon_low and epsilon_high.

    ``beta`` is the probability with which that may be false: 0 if it was computed on the population.
    """

    epsilon_low: float
    epsilon_high: float
    beta: float = 0.0

    def __post_init__(self) -> None:
        if not (self.epsilon_low >= 0 and self.epsilon_high >= 0):
            raise ArgumentError(
                f"epsilon_low is {self.epsilon_low} and epsilon_high {self.epsilon_high}; both must be 0 or more"
            )
        if not 0 <= self.beta < 1:
            raise ArgumentError(f"beta is {self.beta}; it is the probability of a wrong claim, 0 or more and below 1")

    @classmethod
    def of(cls, joint: Distribution) -> ReleaseBound:
        """The bounds that a joint attains."""
        values = Joint.of(joint).log_lift
        return cls(max(-float(values.min()), 0.0), max(float(values.max()), 0.0))

    @property
    def tight(self) -> tuple[float, float]:
        """Both bounds, 0 if either is: lifts have mean 1, so that none is above 1 unless another is below."""
        return (0.0, 0.0) if 0 in (self.epsilon_low, self.epsilon_high) else (self.epsilon_low, self.epsilon_high)


@dataclass(frozen=True)
class Composition:
    """An upper bound on what several releases say together.

    Every log-lift of all ``releases`` together lies between -``epsilon_low`` and ``epsilon_high``, inf where nothing is
    known, except for a probability ``beta``: the sum of those of the releases. ``assumptions`` are the preconditions in
    words, to be read after "if"; they follow from the ``relation`` of the releases.
    """

    epsilon_low: float
    epsilon_high: float
    beta: float
    releases: int
    relation: Relation
    assumptions: tuple[str, ...]

    @property
    def epsilon(self) -> float:
        """The bound on abs(log-lift)."""
        return max(self.epsilon_low, self.epsilon_high)

    @property
    def sentence(self) -> str:
        """The claim in plain words, with its precondition."""
        if np.isinf(self.epsilon_low) and np.isinf(self.epsilon_high):
            return (
                f"Nothing bounds what {self.releases} releases say together: two that say nothing alone can say "
                "everything together. Count their joint instead."
            )
        sure = f", with {confident(1 - self.beta)} confidence" if self.beta else ""
        condition = f", if {' and '.join(self.assumptions)}" if self.assumptions else ""
        return (
            f"The log-lifts of {self.releases} releases together lie between -{at_most(self.epsilon_low)} and "
            f"{at_most(self.epsilon_high)} nats{sure}{condition}."
        )


def compose(joint: Distribution, *channels: Channel) -> Joint:
    """The joint of the secret and all outputs, where each channel draws independently from the same released value.

    Guarantees
    ----------
    Exact: P(s, y1, ..., yk) is the sum over x of P(s, x) P(y1|x) ... P(yk|x). The precondition is that the channels
    draw independently given x, and see nothing else about the person. A channel that gives a person the same draw each
    time is one channel, released once. Outputs are tuples; those that never occur are left out.

    Examples
    --------
    >>> whole = Joint([[0.25, 0, 0, 0.25], [0, 0.25, 0.25, 0]])
    >>> first, second = Channel([[1, 0], [1, 0], [0, 1], [0, 1]]), Channel([[1, 0], [0, 1], [1, 0], [0, 1]])
    >>> [float(abs(compose(whole, *channels).log_lift).max()) for channels in ([first], [second], [first, second])]
    [0.0, 0.0, inf]
    """
    joint = Joint.of(joint)
    if not channels:
        raise ArgumentError("there is no channel to compose: give one or more")
    n_released = joint.shape[1]
    outputs: list[tuple[Any, ...]] = [()]
    table = joint.matrix[:, None, :]
    for channel in channels:
        matrix = channel.matrix
        check_fits(len(matrix), n_released)
        if table.size * matrix.shape[1] > _MOST_CELLS:
            raise ArgumentError(
                "the releases have too many outputs together; count secret and outputs in the table itself instead, "
                "and give the counts to compose_table"
            )
        table = (table[:, :, None, :] * matrix.T).reshape(len(table), -1, n_released)
        names = channel.outputs if channel.outputs is not None else range(matrix.shape[1])
        outputs = [(*before, name) for before, name in product(outputs, names)]
        occurs = np.asarray(table.any(axis=(0, 2)))
        table, outputs = table[:, occurs], list(compress(outputs, occurs))
    return Joint(table.sum(axis=2), secrets=joint.secrets, released=outputs, total=joint.total)


def compose_given_secret(*joints: Distribution) -> Joint:
    """The joint of the secret and all released values, where these are independent given the secret.

    Guarantees
    ----------
    Exact: P(s, y1, ..., yk) = P(s) P(y1|s) ... P(yk|s), under that precondition, which two releases of the same people
    rarely meet: two columns of one person depend on each other beyond the secret. All joints must have one prior.
    """
    if not joints:
        raise ArgumentError("there is no joint to compose: give one or more")
    first, *others = (Joint.of(joint) for joint in joints)
    matrix = first.matrix
    names: Iterable[tuple[Any, ...]] = [(name,) for name in first.released]
    for other in others:
        if other.shape[0] != first.shape[0] or not np.allclose(other.prior, first.prior, atol=SUM_TOLERANCE, rtol=0):
            raise ArgumentError("the joints have different secrets or shares of them: they are not of the same people")
        if matrix.size * other.shape[1] > _MOST_CELLS:
            raise ArgumentError("the releases have too many values together; use compose_bounds instead")
        belief = other.matrix / other.prior[:, None]
        matrix = (matrix[:, :, None] * belief[:, None, :]).reshape(len(matrix), -1)
        names = [(*before, name) for before, name in product(names, other.released)]
    matrix, outputs = _occurring(matrix, names)
    return Joint(matrix, secrets=first.secrets, released=outputs, total=first.total)


def compose_table(counts: ArrayLike, *, secrets: Sequence[Any] = ()) -> Joint:
    """The joint of the secret and all released values, from counts over secret, first release, second release, ...

    Guarantees
    ----------
    Exact for the people counted, whatever the dependence between the releases. The released values of the joint are
    tuples of positions; combinations that never occur are left out.
    """
    table = np.asarray(counts, dtype=np.float64)
    if table.ndim < 2:
        raise ArgumentError(f"the counts need an axis for the secret and one for each release; shape {table.shape}")
    flat, names = _occurring(table.reshape(len(table), -1), product(*map(range, table.shape[1:])))
    return Joint.from_counts(flat, secrets=secrets, released=names)


def _occurring(matrix: Matrix, names: Iterable[tuple[Any, ...]]) -> tuple[Matrix, list[tuple[Any, ...]]]:
    """The columns that occur, and their names."""
    occurs = np.asarray(matrix.any(axis=0))
    return matrix[:, occurs], list(compress(names, occurs))


def dp_epsilon(channel: Channel) -> float:
    """The epsilon of local differential privacy of a channel: the largest log P(y|x) / P(y|x'); inf if one is 0."""
    matrix = channel.matrix[:, channel.matrix.any(axis=0)]
    with np.errstate(divide="ignore"):
        return float(np.log(matrix.max(axis=0) / matrix.min(axis=0)).max())


def compose_bounds(
    releases: Sequence[ReleaseBound],
    *,
    relation: Relation,
    prior: ArrayLike | None = None,
    source: ReleaseBound | None = None,
) -> Composition:
    """Bound what several releases say together, from what each says alone and how they depend on one another.

    Parameters
    ----------
    releases : sequence of ReleaseBound
    relation : str
        ``in sequence``: each bound holds for a reader who knows all earlier releases (a `dp_epsilon` always does, for
        a channel that draws afresh). ``given secret``: the releases are independent given the secret. ``other people``:
        no person is in two of them, and people are independent. ``unknown``: none of these is known to hold.
    prior : array, optional
        Shares of the secrets: no log-lift exceeds -log of the smallest.
    source : ReleaseBound, optional
        Bounds of the data itself, if each release is drawn from it and from nothing else that knows the secret.

    Guarantees
    ----------
    Under the relation named, every log-lift of all releases together is within the bounds returned, with probability
    at least 1 - beta, the sum of the betas of all releases (their claims may fail together or apart). See the top of
    the module for the proofs. For ``unknown``, without prior and source, the bounds are inf: no others are true. The
    bounds for two releases ``given secret`` are the best that follow from their epsilons.

    Examples
    --------
    >>> both = [ReleaseBound(0.5, 0.5), ReleaseBound(0.5, 0.5)]
    >>> [round(compose_bounds(both, relation=name).epsilon, 3) for name in ("in sequence", "given secret", "unknown")]
    [1.0, 1.227, inf]
    """
    if not releases:
        raise ArgumentError("there is no release to compose: give one or more")
    if relation not in _ASSUMPTIONS:
        raise ArgumentError(f"there is no relation '{relation}'; there are: {', '.join(_ASSUMPTIONS)}")
    pairs = [release.tight for release in releases]
    low, high = _together(pairs, relation)
    beta = sum(release.beta for release in releases)
    assumptions = _ASSUMPTIONS[relation] if len(pairs) > 1 else ()
    if prior is not None:
        smallest = _smallest(prior)
        high = min(high, -np.log(smallest))
        if relation == "given secret" and smallest < 1:
            # log l(s) - log l(s') is at most the sum of all bounds, and lifts have mean 1 over the prior.
            span = sum(map(sum, pairs))
            low = min(low, float(np.logaddexp(np.log(smallest), np.log1p(-smallest) + span)))
            high = min(high, -float(np.logaddexp(np.log(smallest), np.log1p(-smallest) - span)))
    if source is not None and (source.epsilon_low < low or source.epsilon_high < high):
        beta += source.beta
        assumptions += ("every release is made from the data whose bounds are known",)
        low, high = min(low, source.epsilon_low), min(high, source.epsilon_high)
    return Composition(float(low), float(high), min(beta, 1.0), len(releases), relation, assumptions)


def _smallest(prior: ArrayLike) -> float:
    shares = np.asarray(prior, dtype=np.float64)
    if shares.ndim != 1 or not (shares > 0).all() or abs(shares.sum() - 1) > SUM_TOLERANCE:
        raise ArgumentError("prior must be positive shares that sum to 1")
    return float(shares.min())


Pair = tuple[float, float]


def _together(pairs: Sequence[Pair], relation: Relation) -> Pair:
    if len(pairs) == 1:
        return pairs[0]
    if relation == "given secret":
        return _given_secret(pairs)
    if relation == "other people":
        return max(low for low, _ in pairs), max(high for _, high in pairs)
    return _added(pairs) if relation == "in sequence" else (np.inf, np.inf)


def _added(pairs: Sequence[Pair]) -> Pair:
    return sum(low for low, _ in pairs), sum(high for _, high in pairs)


def _given_secret(pairs: Sequence[Pair]) -> Pair:
    """The bounds of releases that are independent given the secret; the smallest of three proofs on the high side.

    Plainly: all lifts but one are at least e^-low, and the one left has mean 1. By pairs: the releases so far are one
    release, independent of the next given the secret. At once: by Jensen -log E[l1 ... lk] is at most the sum of
    -E[log lj], each below its chord (`f_bound` of ``reverse_kl``).
    """
    low, high = _added(pairs)
    at_once = high + sum(f_bound("reverse_kl", top, epsilon_low=bottom, epsilon_high=top) for bottom, top in pairs)
    by_pairs = reduce(_two_given_secret, pairs)[1]
    plain = high + sum(sorted(bottom for bottom, _ in pairs)[:-1])
    return low + _largest_log_mean(pairs), min(plain, at_once, by_pairs)


def _two_given_secret(first: Pair, second: Pair) -> Pair:
    low, high = _added([first, second])
    return low + _largest_log_mean([first, second]), high - _smallest_log_mean(first, second)


def _largest_log_mean(pairs: Sequence[Pair]) -> float:
    """Largest log E[l1 ... lk] of lifts within their bounds: all at their ends, and high together."""
    highs = [high for _, high in pairs]
    # All but one are at most e^high, and the one left has mean 1.
    plain = sum(sorted(highs)[:-1])
    if max(highs) > _LARGEST_EPSILON:
        return plain
    ordered = sorted(pairs, key=lambda pair: share_at_top(*pair), reverse=True)
    edges = np.array([1.0, *(share_at_top(*pair) for pair in ordered), 0.0])
    # On the j-th stretch the j releases with the largest shares are high, the others low.
    values = [sum(h for _, h in ordered[:j]) - sum(low for low, _ in ordered[j:]) for j in range(len(pairs) + 1)]
    widths = np.maximum(-np.diff(edges), 0.0)
    return min(float(log_mean_exp(widths, np.array(values))), plain)


def _smallest_log_mean(first: Pair, second: Pair) -> float:
    """Smallest log E[l1 l2] of lifts within their bounds: both at their ends, one high where the other is low."""
    plain = -min(first[0], second[0])
    if max(*first, *second) > _LARGEST_EPSILON:
        return plain
    one, two = share_at_top(*first), share_at_top(*second)
    widths = [min(one, 1 - two), min(two, 1 - one), max(1 - one - two, 0.0), max(one + two - 1, 0.0)]
    values = [first[1] - second[0], second[1] - first[0], -first[0] - second[0], first[1] + second[1]]
    return max(float(log_mean_exp(np.array(widths), np.array(values))), plain)
