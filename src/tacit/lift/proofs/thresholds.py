"""A secret that is a number: what cells tell about every threshold of it at once.

A bound for every value of a number is impossible: most values belong to one person. So is one for every threshold: far
out in a tail a cell has nobody, and the log-lift of the event is -inf. What is possible, and means that nobody is known
to be rich or poor, is a bound for every event "at most t" and "more than t" that covers at least a share ``floor`` of
all people.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final, NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from tacit.errors import ArgumentError
from tacit.lift.joint import Labels, Matrix, Vector

_ROUNDING: Final = 1e-12


class Outlook(NamedTuple):
    """The points that matter for the events "at most t": a cell, its weight below t, and everyone's.

    Between the points the log-lift is less extreme: a cell's share below t changes only at its own values, and
    everyone's grows meanwhile. ``highest`` are the points where it may be largest, ``lowest`` where smallest.
    """

    highest: tuple[Labels, Vector, Vector]
    lowest: tuple[Labels, Vector, Vector]


def outlook_of(values: Vector, labels: Labels, weight: Vector, size: int, everyone: Everyone, start: float) -> Outlook:
    """The points that matter for thresholds below which everyone weighs at least ``start``."""
    order = np.lexsort((values, labels))
    values, labels, weight = values[order], labels[order], weight[order]
    fresh = np.ones(len(values), dtype=np.bool_)
    fresh[1:] = (values[1:] != values[:-1]) | (labels[1:] != labels[:-1])
    first = np.flatnonzero(fresh)
    own, label, value = np.add.reduceat(weight, first) if len(first) else weight[:0], labels[first], values[first]
    total = np.bincount(labels, weight, minlength=size).astype(np.float64)
    running = np.cumsum(own) - np.concatenate([[0.0], np.cumsum(total)])[label]
    at, before = everyone.at_most(value), everyone.less_than(value)
    late, some = before >= start - _ROUNDING * everyone.total, np.flatnonzero(total > 0)
    early = np.bincount(label[~late], own[~late], minlength=size).astype(np.float64)[some]
    begin = np.full(len(some), max(start, 0.0))
    highest = (np.r_[some, label[late]], np.r_[early, running[late]], np.r_[begin, at[late]])
    end = np.full(len(some), everyone.total)
    lowest = (np.r_[some, label[late]], np.r_[total[some], (running - own)[late]], np.r_[end, before[late]])
    return Outlook(highest, lowest)


@dataclass(frozen=True, eq=False)
class Everyone:
    """The distinct values of all people, and the weight up to each."""

    distinct: Vector
    upto: Vector

    @classmethod
    def of(cls, values: Vector, weight: Vector) -> Everyone:
        """All people's values and weights."""
        distinct, place = np.unique(values, return_inverse=True)
        return cls(distinct, np.cumsum(np.bincount(place, weight, minlength=len(distinct))))

    @property
    def total(self) -> float:
        """The weight of all."""
        return float(self.upto[-1])

    def at_most(self, value: Vector) -> Vector:
        """The weight of those with at most a value."""
        return np.concatenate([[0.0], self.upto])[np.searchsorted(self.distinct, value, side="right")]

    def less_than(self, value: Vector) -> Vector:
        """The weight of those with less than a value."""
        return np.concatenate([[0.0], self.upto])[np.searchsorted(self.distinct, value, side="left")]


def threshold_risk(
    values: ArrayLike, cells: ArrayLike, *, floor: float = 0.1, weight: ArrayLike | None = None
) -> tuple[Vector, Vector]:
    """The largest -log-lift and log-lift of each cell over all thresholds of a number, exactly as counted.

    Parameters
    ----------
    values : array of numbers
        The secret of each record; ranks will do.
    cells : array of int
        The cell of each record, from 0.
    floor : float
        The events are "at most t" and "more than t", for every t for which they hold at least this share of the weight.
    weight : array, optional
        The weight of each record; 1 by default.

    Guarantees
    ----------
    For each cell the largest of -log P(S <= t | cell) / P(S <= t) over all t with P(S <= t) >= floor, and of the same
    for S > t, with P(S > t) >= floor; and the largest log-lift over the same events. Never negative; inf where such an
    event holds nobody of a cell, and for a cell without records.

    Examples
    --------
    >>> low, high = threshold_risk([1, 2, 3, 4, 1, 2, 3, 3], [0, 0, 0, 0, 1, 1, 1, 1], floor=0.25)
    >>> low.round(3).tolist(), high.round(3).tolist()
    ([0.405, 0.0], [0.0, 0.0])
    """
    numbers, label, mass = checked_records(values, cells, weight)
    size = int(label.max()) + 1
    total = np.bincount(label, mass, minlength=size)
    low, high = (np.where(total > 0, 0.0, np.inf) for _ in range(2))
    for signed in (numbers, -numbers):
        everyone = Everyone.of(signed, mass)
        reached = np.flatnonzero(everyone.upto >= (checked_floor(floor) - _ROUNDING) * everyone.total)
        outlook = outlook_of(signed, label, mass, size, everyone, float(everyone.upto[reached[0]]))
        with np.errstate(divide="ignore"):
            for result, sign, (cell, own, whole) in ((high, 1, outlook.highest), (low, -1, outlook.lowest)):
                lift = np.log(np.clip(own / total[cell], 0.0, 1.0) / (whole / everyone.total))
                np.maximum.at(result, cell, sign * lift)
    return low, high


def at_both_ends(ranks: Labels, missing: int | None) -> tuple[Labels, ...]:
    """Ranks without gaps of numbers some of which are missing: those of rank ``missing`` above all others, then below.

    A missing number is above no threshold and below none. In the first order no event "at most t" holds it, in the
    second no event "more than t"; at its end of the order it is an event of its own. Bounding both orders bounds all of
    that.
    Where nothing is missing there is one order.
    """
    if missing is None:
        return (ranks,)
    absent, others = ranks == missing, ranks - (ranks > missing)
    return np.where(absent, int(ranks.max(initial=0)), others), np.where(absent, 0, others + 1)


def threshold_places(weight: ArrayLike, *, floor: float = 0.1, steps: int = 8) -> Labels:
    """A few thresholds to look at first, as places among the values: those up to a place are "at most t".

    ``weight`` is what each value weighs, values in order. The weight of everyone up to a place, and of everyone above,
    grows by equal factors, in ``steps`` from ``floor`` of all to all. There are none where there is only one value, or
    no weight.
    """
    own = np.asarray(weight, dtype=np.float64)
    if not own.any():
        return np.zeros(0, np.intp)
    targets = checked_floor(floor) ** (1 - np.arange(steps) / steps) - _ROUNDING
    below = np.cumsum(own) / own.sum()
    # The largest value that somebody has is not a threshold: nobody is above it.
    last = int(np.flatnonzero(own)[-1])
    chosen = {int(at) for at in np.searchsorted(below, targets) if at < last}
    chosen |= {int(at) for at in np.searchsorted(below - 1, -targets, side="right") - 1 if 0 <= at < last}
    return np.array(sorted(chosen), dtype=np.intp)


def checked_floor(floor: float) -> float:
    if not 0 < floor <= 0.5:
        raise ArgumentError(f"floor is {floor}; it is the smallest share of an event that is bounded, up to a half")
    return float(floor)


def checked_records(values: ArrayLike, cells: ArrayLike, weight: ArrayLike | None) -> tuple[Vector, Labels, Matrix]:
    numbers, label = np.asarray(values, dtype=np.float64), np.asarray(cells)
    mass = np.ones(len(numbers)) if weight is None else np.asarray(weight, dtype=np.float64)
    if numbers.ndim != 1 or len(numbers) == 0 or label.shape != numbers.shape or mass.shape != numbers.shape:
        raise ArgumentError("values, cells and weights must be given record by record, for at least one")
    if label.dtype.kind not in "iu" or label.min() < 0:
        raise ArgumentError("the cells of records are numbered from 0")
    if not (np.isfinite(numbers).all() and np.isfinite(mass).all() and (mass >= 0).all() and mass.sum() > 0):
        raise ArgumentError("values must be finite numbers, and weights 0 or more")
    return numbers, label.astype(np.intp), mass
