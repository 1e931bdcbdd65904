"""Mechanisms: from a joint and an epsilon to a channel, and what the release through it attains."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import FrozenInstanceError
from functools import cached_property
from typing import Any, Literal

import numpy as np
from numpy.typing import ArrayLike

from tacit.errors import ArgumentError
from tacit.lift.joint import Channel, Joint, Mask, Matrix, Vector
from tacit.lift.measures import TOLERANCE, Distribution, entropy, log_lift
from tacit.lift.partition import Method, Partition, partition, within_delta

Replacement = Literal["resample", "uniform", "merge", "suppress"]

# Above this a dense channel would take gigabytes; the short form does everything it does.
_LARGEST_DENSE = 200_000_000


class WatchdogChannel(Channel):
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
        suppresses = len(replacement) > joint.shape[1]
        released = joint.released
        outputs: Sequence[Any] = [*released, None] if suppresses else released
        replacement = replacement.copy()
        replacement.setflags(write=False)
        for name, value in (("partition", partition), ("replacement", replacement), ("outputs", outputs)):
            object.__setattr__(self, name, value)
        for name, number in self._measured(joint).items():
            object.__setattr__(self, name, number)

    def _measured(self, joint: Joint) -> dict[str, float]:
        released = joint.through(self)
        values = np.abs(log_lift(released))
        exceeds = values > self.epsilon + TOLERANCE
        replaced = float(joint.marginal[self.merged].sum())
        # What is kept says all of itself, so the only noise in Y given X is that of the replacement.
        noise = replaced * entropy(self.replacement) if replaced > 0 else 0.0
        whole = entropy(joint.marginal)
        utility = min(max(entropy(released.marginal) - noise, 0.0), whole)
        return {
            "attained": float(values.max()),
            "delta_attained": float(released.matrix[exceeds].sum()),
            "utility": utility,
            "nmil": 1 - utility / whole if whole > 0 else 0.0,
        }

    def __setattr__(self, name: str, value: object) -> None:
        raise FrozenInstanceError(f"cannot assign to {name!r}: a channel does not change")

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

    @cached_property
    def matrix(self) -> Matrix:
        """The channel as a dense table, built when first asked for; `push` does without it."""
        n_released, n_outputs = len(self.merged), len(self.replacement)
        if n_released * n_outputs > _LARGEST_DENSE:
            raise ArgumentError(
                f"the channel as a table would be {n_released} x {n_outputs}, too large to build; "
                "use joint.through(channel), or its parts: merged and replacement"
            )
        dense = np.zeros((n_released, n_outputs))
        kept = np.flatnonzero(~self.merged)
        dense[kept, kept] = 1.0
        dense[self.merged] = self.replacement
        dense.setflags(write=False)
        return dense

    def push(self, matrix: Matrix) -> Matrix:
        """The joint matrix of secret and output, in time proportional to its size."""
        if matrix.shape[1] != len(self.merged):
            raise ArgumentError(
                f"the channel takes {len(self.merged)} released values, the joint has {matrix.shape[1]}"
            )
        replaced = matrix[:, self.merged].sum(axis=1)
        pushed = np.outer(replaced, self.replacement)
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
    """Release safe values as they are and replace risky ones by a draw that does not depend on the value.

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
        return _given_replacement(n, replacement)
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


def _given_replacement(n_released: int, replacement: ArrayLike) -> Vector:
    weights = np.asarray(replacement, dtype=np.float64)
    if weights.shape not in ((n_released,), (n_released + 1,)):
        raise ArgumentError(
            f"the replacement must be {n_released} probabilities, one for each released value, or one more "
            f"for None; its shape is {weights.shape}"
        )
    if not ((weights >= 0).all() and abs(weights.sum() - 1) <= 1e-6):
        raise ArgumentError("the replacement must be probabilities that sum to 1")
    return np.asarray(weights / weights.sum())
