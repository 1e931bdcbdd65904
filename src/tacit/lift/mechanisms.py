"""Mechanisms: from a joint and an epsilon to a channel, and what the release through it attains."""

from __future__ import annotations

from typing import Literal

import numpy as np
from numpy.typing import ArrayLike

from tacit.errors import ArgumentError
from tacit.lift.joint import CompactChannel, Joint, Mask, Matrix, Vector, checked_probabilities, frozen
from tacit.lift.measures import Distribution, entropy, log_lift, p_log_p, sides
from tacit.lift.partitions.merging import Partition, within_delta
from tacit.lift.partitions.search import Method, partition
from tacit.lift.tolerances import LARGEST_EXPONENT, MARGIN, TOLERANCE

Replacement = Literal["resample", "uniform", "merge", "suppress"]


class WatchdogChannel(CompactChannel):
    """Keeps some released values and replaces all others by a draw that does not look at the value replaced.

    Attributes
    ----------
    partition : Partition
        Which values are replaced.
    replacement : array
        Probabilities of what a replaced value becomes, over the outputs; all 0 if nothing is replaced.
    outputs : sequence
        The released values; after them ``None``, if a value may be suppressed.
    attained : float
        Largest abs(log-lift) of the release, computed on the output joint.
    delta_attained : float
        Probability, under the output joint, of a pair whose abs(log-lift) exceeds the epsilon asked.
    utility : float
        I(X;Y) in nats, of the released value before and after.
    nmil : float
        Share of the information in the released values that is lost.
    """

    partition: Partition
    replacement: Vector
    attained: float
    delta_attained: float
    utility: float
    nmil: float

    def __init__(self, joint: Joint, partition: Partition, replacement: Vector) -> None:
        outputs = [*joint.released, None] if len(replacement) > joint.shape[1] else joint.released
        super().__init__(outputs, partition=partition, replacement=frozen(replacement))
        released = joint.through(self)
        values = np.abs(log_lift(released))
        replaced = float(joint.marginal[self.merged].sum())
        # A kept value is released for certain, so the only noise in Y given X is that of the replacement.
        noise = replaced * entropy(self.replacement) if replaced > 0 else 0.0
        whole = entropy(joint.marginal)
        utility = min(max(entropy(released.marginal) - noise, 0.0), whole)
        vars(self).update(
            attained=float(values.max()),
            delta_attained=float(released.matrix[values > self.epsilon + TOLERANCE].sum()),
            utility=utility,
            nmil=1 - utility / whole if whole > 0 else 0.0,
        )

    def __repr__(self) -> str:
        return (
            f"WatchdogChannel(epsilon={self.epsilon:g}, attained={self.attained:g}, attains={self.attains}, "
            f"merged={int(self.merged.sum())} of {len(self.merged)}, nmil={self.nmil:g})"
        )

    @property
    def epsilon(self) -> float:
        """The epsilon asked for; see ``attained`` for what the release has."""
        return self.partition.epsilon

    @property
    def merged(self) -> Mask:
        """The released values that are replaced."""
        return self.partition.merged

    @property
    def attains(self) -> bool:
        """Whether the release does what was asked."""
        part = self.partition
        return within_delta(self.delta_attained, part.delta) and self.attained <= part.epsilon_max + TOLERANCE

    @property
    def shape(self) -> tuple[int, int]:
        """Number of released values, number of outputs."""
        return len(self.merged), len(self.replacement)

    def _pushed(self, matrix: Matrix) -> Matrix:
        pushed = np.outer(matrix[:, self.merged].sum(axis=1), self.replacement)
        pushed[:, : matrix.shape[1]] += np.where(self.merged, 0.0, matrix)
        return pushed


def watchdog(
    joint: Distribution,
    epsilon: float,
    *,
    delta: float = 0.0,
    epsilon_max: float = np.inf,
    replacement: Replacement | ArrayLike = "resample",
    method: Method | None = None,
    time_limit: float = 10.0,
) -> WatchdogChannel:
    """Release safe values unchanged and replace risky ones by a draw that does not depend on the value.

    Parameters
    ----------
    joint : Joint or table of probabilities
    epsilon, delta, epsilon_max, time_limit
        As for `partition`.
    replacement : str or array
        ``resample`` draws from the replaced values in proportion to their frequency, so that the frequencies of
        the release are those of the data; ``uniform`` draws evenly from them; ``merge`` writes the most frequent
        of them for all; ``suppress`` writes a new value, ``None``. An array gives the probability of every
        released value, and may have one more for ``None``; it may reach values that are kept.
    method : str, optional
        How the values to replace are chosen, see `partition`. Without one it is the plain watchdog, or
        ``greedy`` where delta is more than 0. Only ``auto`` and ``exact`` look for a set that attains what was
        asked where the risky values alone do not.

    Guarantees
    ----------
    ``attained`` and ``delta_attained`` hold for the release: they are computed on the output joint, whatever the
    method and replacement. With ``auto`` or ``exact`` and a named replacement, ``attains`` is true. No
    replacement within the merged set attains less than the named ones, which all attain the same
    (Sadeghi et al. 2020, Corollary 1). ``resample`` keeps the marginal of the released values.

    Examples
    --------
    >>> joint = Joint.from_counts([[8, 2, 6, 1, 3], [2, 9, 5, 4, 5], [5, 4, 4, 10, 2]])
    >>> watchdog(joint, 0.6)
    WatchdogChannel(epsilon=0.6, attained=0.579818, attains=True, merged=3 of 5, nmil=0.441857)
    """
    joint = Joint.of(joint)
    if method is None:
        method = "watchdog" if delta == 0 else "greedy"
    chosen = partition(joint, epsilon, delta, epsilon_max, method=method, time_limit=time_limit)
    return WatchdogChannel(joint, chosen, _replacement(joint, chosen.merged, replacement))


def _replacement(joint: Joint, merged: Mask, replacement: str | ArrayLike) -> Vector:
    n = joint.shape[1]
    if not isinstance(replacement, str):
        size = np.shape(replacement)
        if size not in ((n,), (n + 1,)):
            raise ArgumentError(
                f"the replacement must be {n} probabilities, one for each released value, or one more for None; "
                f"its shape is {size}"
            )
        return checked_probabilities(replacement, "the replacement")
    if replacement == "suppress":
        weights = np.append(np.zeros(n), float(merged.any()))
    elif replacement == "resample":
        weights = np.where(merged, joint.marginal, 0.0)
    elif replacement == "uniform":
        weights = merged.astype(np.float64)
    elif replacement == "merge":
        weights = np.zeros(n)
        weights[int(np.argmax(np.where(merged, joint.marginal, -1.0)))] = float(merged.any())
    else:
        raise ArgumentError(
            f"there is no replacement '{replacement}'; there are: resample, uniform, merge, suppress, "
            "or an array of probabilities"
        )
    total = weights.sum()
    return np.asarray(weights / total if total > 0 else weights)


class ReductionChannel(CompactChannel):
    """Keeps every value with one probability and otherwise draws one from the marginal.

    Attributes
    ----------
    keep : float
        Probability with which a value is kept, whatever it is.
    marginal : array
        What is drawn from otherwise; it is also the marginal of the release.
    attained, utility, nmil : float
        Largest abs(log-lift) on the output joint, I(X;Y) in nats, and the share of information lost.
    """

    keep: float
    marginal: Vector
    attained: float
    utility: float
    nmil: float

    def __init__(self, joint: Joint, keep: float) -> None:
        super().__init__(joint.released, keep=keep, marginal=joint.marginal)
        whole = entropy(joint.marginal)
        loss = min(max(_noise(joint.marginal, keep), 0.0), whole)
        attained = float(np.abs(log_lift(joint.through(self))).max())
        vars(self).update(attained=attained, utility=whole - loss, nmil=loss / whole if whole > 0 else 0.0)

    def __repr__(self) -> str:
        return f"ReductionChannel(keep={self.keep:g}, attained={self.attained:g}, nmil={self.nmil:g})"

    @property
    def shape(self) -> tuple[int, int]:
        """Number of released values, twice."""
        return len(self.marginal), len(self.marginal)

    def _pushed(self, matrix: Matrix) -> Matrix:
        return np.asarray(np.outer((1 - self.keep) * matrix.sum(axis=1), self.marginal) + self.keep * matrix)


def _noise(p: Vector, keep: float) -> float:
    """H(Y|X), which is H(X|Y), since X and Y have one marginal: the entropy of each row of the channel, on average."""
    drawn = (1 - keep) * p
    stays = keep + drawn
    terms = p_log_p(drawn)
    # Each row has the probabilities of all draws, except for the value itself: there, the chance that it stays.
    return float(-(p @ (terms.sum() - terms + stays * np.log(stays))))


def linear_reduction(
    joint: Distribution,
    epsilon: float,
    *,
    epsilon_low: float | None = None,
    epsilon_high: float | None = None,
) -> ReductionChannel:
    """Keep each value with a probability as large as epsilon allows, and otherwise draw one from the marginal.

    Guarantees
    ----------
    The release is within the bounds, whatever the joint, and has the marginal of the data. A lift l becomes
    1 + keep (l - 1). No smaller noise of this kind is within the bounds, to `MARGIN`; other mechanisms lose less.
    """
    joint = Joint.of(joint)
    low, high = sides(epsilon, epsilon_low=epsilon_low, epsilon_high=epsilon_high)
    most, least = float(joint.lift.max()), float(joint.lift.min())
    keep = 1.0
    # Inside by a margin, so that rounding exceeds no bound; expm1, since 1 - e^-epsilon would lose digits.
    if log_lift(joint).max() > high:
        keep = min(keep, float(np.expm1(min(max(high - MARGIN, 0.0), LARGEST_EXPONENT))) / (most - 1))
    if log_lift(joint).min() < -low:
        keep = min(keep, float(-np.expm1(-max(low - MARGIN, 0.0))) / (1 - least))
    return ReductionChannel(joint, keep)
