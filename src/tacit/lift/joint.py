"""The joint distribution of secret and released, and channels that change what is released."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import FrozenInstanceError, dataclass, field
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from tacit.errors import ArgumentError, DataError
from tacit.lift.tolerances import SUM_TOLERANCE

Matrix = NDArray[np.float64]
Vector = NDArray[np.float64]
Mask = NDArray[np.bool_]
Labels = NDArray[np.intp]

# Lifts of joints up to this many cells are cached, for the many measures that start from them.
LARGEST_KEPT = 1 << 20
# Above this a dense channel would take gigabytes; the short form does everything it does.
_LARGEST_DENSE = 200_000_000


def sums(labels: Labels, weights: Vector, n: int) -> Vector:
    """Sum of the weights with each of the labels 0 to n - 1."""
    return np.asarray(np.bincount(labels, weights, n), dtype=np.float64)


def crosstab(rows: Labels, columns: Labels, weight: Labels | Vector) -> Matrix:
    """The weight of every pair of a row and a column that occur, in the order of their codes."""
    row_codes, row = np.unique(rows, return_inverse=True)
    column_codes, column = np.unique(columns, return_inverse=True)
    shape = len(row_codes), len(column_codes)
    flat = np.bincount(row * shape[1] + column, weights=weight, minlength=shape[0] * shape[1])
    return flat.astype(np.float64).reshape(shape)


def checked_probabilities(values: ArrayLike, name: str) -> Vector:
    """``values`` as probabilities that sum to one exactly, if they do within rounding."""
    array = np.asarray(values, dtype=np.float64)
    if not (np.isfinite(array).all() and (array >= 0).all() and abs(array.sum() - 1) <= SUM_TOLERANCE):
        raise ArgumentError(f"{name} must be probabilities that sum to 1; it sums to {array.sum():g}")
    return np.asarray(array / array.sum())


def halved(inside: Any, outside: Any, holds: Callable[[Any], Any], *, times: int) -> tuple[Any, Any]:
    """Where ``holds``, true inside and false outside, ends: points on either side, after ``times`` halvings."""
    for _ in range(times):
        middle = (inside + outside) / 2
        fine = holds(middle)
        inside, outside = np.where(fine, middle, inside), np.where(fine, outside, middle)
    return inside, outside


def frozen(array: NDArray[Any]) -> NDArray[Any]:
    """A copy that cannot be written to."""
    array = np.array(array, copy=True)
    array.setflags(write=False)
    return array


def _checked(values: ArrayLike, what: str) -> Matrix:
    matrix = np.asarray(values, dtype=np.float64)
    if matrix.ndim != 2 or 0 in matrix.shape:
        raise ArgumentError(f"{what} must be a table of secrets x released values; its shape is {matrix.shape}")
    # The ends of a table that has a NaN are NaN.
    low, high = matrix.min(), matrix.max()
    if not (low > -np.inf and high < np.inf):
        raise ArgumentError(f"{what} has an entry that is not a finite number")
    if low < 0:
        s, x = np.argwhere(matrix < 0)[0]
        raise ArgumentError(f"{what} has the negative entry {matrix[s, x]:g} in row {s}, column {x}")
    return matrix


@dataclass(frozen=True, eq=False)
class Joint:
    """P(S, X): rows are secrets, columns released values.

    Parameters
    ----------
    matrix : array of shape (secrets, released)
        Probabilities; they must sum to one (within rounding; they are rescaled to sum to one exactly).
        Every secret and every released value must occur: a row or column of zeros has no lift.
    secrets, released : sequences, optional
        Names of the rows and columns; 0, 1, 2, ... if not given.
    total : float, optional
        Number of records, or their total weight, that the joint was counted from.

    Examples
    --------
    >>> joint = Joint.from_counts([[30, 10], [20, 40]])
    >>> joint.prior.round(6).tolist(), joint.marginal.tolist()
    ([0.4, 0.6], [0.5, 0.5])
    """

    matrix: Matrix
    secrets: Sequence[Any] = ()
    released: Sequence[Any] = ()
    total: float | None = None
    prior: Vector = field(init=False, repr=False)
    marginal: Vector = field(init=False, repr=False)

    def __post_init__(self) -> None:
        matrix = _checked(self.matrix, "the joint")
        mass = matrix.sum()
        if abs(mass - 1) > SUM_TOLERANCE:
            raise ArgumentError(f"the joint sums to {mass:g}, not 1; for counts use Joint.from_counts")
        matrix = matrix / mass
        n_secrets, n_released = matrix.shape
        secrets = self.secrets if len(self.secrets) else range(n_secrets)
        released = self.released if len(self.released) else range(n_released)
        if len(secrets) != n_secrets or len(released) != n_released:
            raise ArgumentError(
                f"the joint is {n_secrets} x {n_released}, but {len(secrets)} secrets "
                f"and {len(released)} released values are named"
            )
        prior, marginal = matrix.sum(axis=1), matrix.sum(axis=0)
        if (prior == 0).any():
            raise DataError(f"secret {secrets[int(np.argmin(prior))]!r} never occurs: leave its row out")
        if (marginal == 0).any():
            raise DataError(f"released value {released[int(np.argmin(marginal))]!r} never occurs: leave its column out")
        for name, value in (("matrix", matrix), ("prior", prior), ("marginal", marginal)):
            # Each was made here, and nobody else can write to it.
            value.setflags(write=False)
            object.__setattr__(self, name, value)
        object.__setattr__(self, "secrets", secrets)
        object.__setattr__(self, "released", released)

    @classmethod
    def from_counts(cls, counts: ArrayLike, *, secrets: Sequence[Any] = (), released: Sequence[Any] = ()) -> Joint:
        """The joint of a table of counts, or of sums of weights."""
        table = _checked(counts, "the table of counts")
        total = float(table.sum())
        if total == 0:
            raise DataError("the table of counts is all zero: there is nothing to measure")
        return cls(table / total, secrets=secrets, released=released, total=total)

    @classmethod
    def of(cls, values: Joint | ArrayLike) -> Joint:
        """``values`` itself if it is a joint, else the joint of a table of probabilities."""
        return values if isinstance(values, Joint) else cls(np.asarray(values, dtype=np.float64))

    @property
    def lift(self) -> Matrix:
        """P(s,x) / (P(s) P(x)), read-only; kept for the next measure unless the joint is large."""
        # Dividing twice, not by the product of the marginals, which could underflow.
        return self._kept("_lift", lambda: self.matrix / self.prior[:, None] / self.marginal)

    @property
    def log_lift(self) -> Matrix:
        """The logarithm of the lift, -inf where a pair never occurs; read-only and kept like the lift."""
        with np.errstate(divide="ignore"):
            return self._kept("_log_lift", lambda: np.log(self.lift))

    def _kept(self, name: str, make: Callable[[], Matrix]) -> Matrix:
        kept: Matrix | None = vars(self).get(name)
        if kept is None:
            kept = make()
            kept.setflags(write=False)
            if kept.size <= LARGEST_KEPT:
                vars(self)[name] = kept
        return kept

    @property
    def shape(self) -> tuple[int, int]:
        """Number of secrets, number of released values."""
        return self.matrix.shape[0], self.matrix.shape[1]

    def pooled(self, merged: Mask) -> Joint:
        """P(S, Y) with all merged values released as one, the last: every measure is that of a release merging them.

        Merged records get a value that is independent of the secret, so all their outputs share one lift, and outputs
        of equal lift may be counted as one.
        """
        if not merged.any():
            return self
        matrix = np.column_stack([self.matrix[:, ~merged], self.matrix[:, merged].sum(axis=1)])
        return Joint(matrix, secrets=self.secrets, total=self.total)

    def through(self, channel: Channel) -> Joint:
        """P(S, Y) when X is released through the channel; outputs that never occur are left out."""
        matrix = channel.push(self.matrix)
        occurs = matrix.sum(axis=0) > 0
        outputs = channel.outputs if channel.outputs is not None else range(matrix.shape[1])
        kept = outputs if occurs.all() else [outputs[int(y)] for y in np.flatnonzero(occurs)]
        return Joint(matrix[:, occurs], secrets=self.secrets, released=kept, total=self.total)


@dataclass(frozen=True, eq=False)
class Channel:
    """P(Y | X): a row for every released value, each row sums to one.

    A channel made by a mechanism keeps a short form instead of the matrix: see `CompactChannel`.
    """

    matrix: Matrix
    outputs: Sequence[Any] | None = None

    def __post_init__(self) -> None:
        matrix = _checked(self.matrix, "the channel")
        sums = matrix.sum(axis=1)
        if (abs(sums - 1) > SUM_TOLERANCE).any():
            row = int(np.argmax(abs(sums - 1)))
            raise ArgumentError(f"row {row} of the channel sums to {sums[row]:g}, not 1")
        if self.outputs is not None and len(self.outputs) != matrix.shape[1]:
            raise ArgumentError(f"the channel has {matrix.shape[1]} outputs, but {len(self.outputs)} are named")
        object.__setattr__(self, "matrix", frozen(matrix / sums[:, None]))

    def push(self, matrix: Matrix) -> Matrix:
        """The joint matrix of secret and output, given that of secret and released."""
        check_fits(self.matrix.shape[0], matrix.shape[1])
        return matrix @ self.matrix


def check_fits(inputs: int, released: int) -> None:
    """Refuse a channel that takes a different number of released values than the joint has."""
    if inputs != released:
        raise ArgumentError(f"the channel takes {inputs} released values, the joint has {released}")


class CompactChannel(Channel):
    """A channel made by a mechanism, in a short form, together with its measured properties; it never changes."""

    def __init__(self, outputs: Sequence[Any] | None, **facts: Any) -> None:
        vars(self).update(facts, outputs=outputs)

    def __setattr__(self, name: str, value: object) -> None:
        raise FrozenInstanceError(f"cannot assign to {name!r}: a channel does not change")

    @property
    def shape(self) -> tuple[int, int]:
        """Number of released values, number of outputs."""
        raise NotImplementedError

    @cached_property
    def matrix(self) -> Matrix:
        """The channel as a dense table, built when first asked for; `push` does without it."""
        if math.prod(self.shape) > _LARGEST_DENSE:
            raise ArgumentError(
                f"the channel as a table would be {self.shape[0]} x {self.shape[1]}, too large to build; "
                "use joint.through(channel), or the parts that the channel is made of"
            )
        dense = self._pushed(np.eye(self.shape[0]))
        dense.setflags(write=False)
        return dense

    def push(self, matrix: Matrix) -> Matrix:
        """The joint matrix of secret and output, in time proportional to the short form."""
        check_fits(self.shape[0], matrix.shape[1])
        return self._pushed(matrix)

    def _pushed(self, matrix: Matrix) -> Matrix:
        raise NotImplementedError
