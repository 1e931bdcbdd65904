"""The search for grids: where do records that share ranges of two or three columns share their residuals too?

Trees ask one question at a time, so they see an interaction only once a first question has gained something; on a board
of fields none does. Here the fields of all grids are looked at, which a few matrix products do.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import combinations
from math import comb

import numpy as np
from scipy.special import ndtri

from tacit.learn.arrays import Codes, Flags, Floats, Singles

# Into how many parts each column of a grid is cut: coarse grids see faint interactions, fine ones crooked ones.
PARTS = {2: (3, 4, 6, 9), 3: (2, 3, 4, 6)}
# Levels of a category that are told apart even in a coarse grid: an interaction may be there in one of them only.
TOLD_APART = 6
# The chance that something is found where there is nothing, and the curvature of a field that counts by half.
CHANCE, PENALTY = 0.05, 1.0
# What is added where nothing varies.
TINY = 1e-9
# The most records for grids of few parts, and for those of more. More columns would take long: by threes, and by twos.
COARSE, MOST_RECORDS, MOST_FOR_FINE = 4, 20_000, 4_000
MOST_BY_THREES, MOST_BY_TWOS, FEW_SECRETS = 20, 50, 2


def cuts_of(column: Floats, coded: bool, parts: int, shift: float = 0.0) -> Floats:
    """Cuts between ``parts`` ranges of a number with about equally many records, or between its values if they are few.

    A ``shift`` above zero moves all cuts up by this share of a range. Of a category, whose codes are ordered by
    frequency, the commonest are told apart.
    """
    values = np.unique(column[~np.isnan(column)])
    if len(values) <= parts or coded:
        return values[:-1][: max(parts, TOLD_APART) if coded else parts]
    shares = (np.arange(0 if shift else 1, parts) + shift) / parts
    return np.unique(np.quantile(column[~np.isnan(column)], shares, method="lower"))


def place_of_each(column: Floats, cuts: Floats) -> Codes:
    """0 if missing; else one more than the number of cuts below the cell."""
    return np.where(np.isnan(column), 0, np.searchsorted(cuts, column) + 1)


@dataclass(frozen=True)
class Grid:
    """Columns, into how many parts each is cut, and how many standard errors its fields stand out by."""

    columns: tuple[int, ...]
    parts: int
    strength: float


class GridSearch:
    """The grids of some records; ``best`` says which shows most of the residuals."""

    def __init__(
        self, ordinal: Floats, categorical: Flags, *, most: int = MOST_RECORDS, chance: float = CHANCE
    ) -> None:
        self._chance = chance
        self._tried = _tried(ordinal.shape[1])
        self._rows, self._boards = {}, {}
        for parts in sorted({parts for _, parts in self._tried}):
            shown = min(len(ordinal), most if parts <= COARSE else MOST_FOR_FINE)
            self._rows[parts] = np.linspace(0, len(ordinal) - 1, shown).astype(np.int64)
            self._boards[parts] = _Cutting.of(ordinal[self._rows[parts]], categorical, parts)

    def best(self, slopes: Floats, curvatures: Floats) -> Grid | None:
        """The grid that shows most of the ``slopes`` (records x secrets: met, minus expected), if more than chance.

        Guarantees
        ----------
        If secrets are drawn from the posteriors behind the slopes, independently, there is one with a probability of
        about ``chance`` or less: the number of grids that are looked at is accounted for.
        """
        strengths, grids = [], []
        for order, parts in self._tried:
            rows = self._rows[parts]
            strengths.append(self._boards[parts].strengths(slopes[rows], curvatures[rows], order))
            grids += [(columns, parts) for columns in combinations(range(self._boards[parts].columns), order)]
        every = np.concatenate([np.zeros(0), *strengths])
        if not len(every) or every.max() < -ndtri(self._chance / len(every)):
            return None
        columns, parts = grids[int(every.argmax())]
        return Grid(columns, parts, float(every.max()))


def most_searched(secrets: int) -> int:
    """How many records are searched: every secret takes its own time."""
    return MOST_RECORDS * FEW_SECRETS // max(FEW_SECRETS, secrets)


def overlooked(*, records: int, columns: int) -> float:
    """How much of a secret's variance an interaction may explain and still be overlooked about once in eight times.

    Of an interaction that is spread over the fields of a grid of three parts. One of more columns (with more than
    twenty, of more than two), or of many small fields, may explain more.
    """
    order, tests = min(columns, 3), sum(comb(columns, order) for order, _ in _tried(columns))
    if not tests:
        return 0.0
    fields = float(3**order)
    clear, power = -ndtri(CHANCE / tests) * np.sqrt(2 * fields), -ndtri(0.05)
    # The root of: what is there exceeds what must be found by ``power`` standard errors of a noncentral chi-squared.
    there = clear + 2 * power**2 + power * np.sqrt(2 * fields + 4 * clear + 4 * power**2)
    return float(there / records)


def _tried(columns: int) -> list[tuple[int, int]]:
    """Of how many columns, and how many parts, the grids are."""
    orders = [order for order, most in ((2, MOST_BY_TWOS), (3, MOST_BY_THREES)) if order <= columns <= most]
    return [(order, parts) for order in orders for parts in PARTS[order]]


@dataclass(frozen=True)
class _Cutting:
    """Records with all columns cut into as many parts: for each the place of every record, and the flags of places."""

    cuts: list[Floats]
    places: list[Codes]
    flags: Singles
    starts: Codes

    @classmethod
    def of(cls, ordinal: Floats, categorical: Flags, parts: int) -> _Cutting:
        cuts = [cuts_of(column, coded, parts) for column, coded in zip(ordinal.T, categorical, strict=True)]
        places = [place_of_each(column, own) for column, own in zip(ordinal.T, cuts, strict=True)]
        starts = np.cumsum([0] + [len(own) + 2 for own in cuts])
        flags = np.zeros((len(ordinal), int(starts[-1])), dtype=np.float32)
        for place, start in zip(places, starts[:-1], strict=True):
            flags[np.arange(len(ordinal)), start + place] = 1.0
        return cls(cuts, places, flags, starts[:-1])

    @property
    def columns(self) -> int:
        return len(self.cuts)

    def strengths(self, slopes: Floats, curvatures: Floats, order: int) -> Floats:
        """For every grid of ``order`` columns, how many standard errors its fields differ by more than chance.

        Of the number ``n`` of fields that count, the sum of squares is about chi-squared; Wilson and Hilferty's cube
        root makes it normal.
        """
        weights = np.hstack([slopes, curvatures]).T.astype(np.float32)
        if order == 2:
            above = np.triu_indices(self.columns, 1)
            sums = self._summed(slice(None), 0, weights)[:, *above]
        else:
            sums = np.hstack([self._beside(c, weights) for c in range(self.columns - 2)])
        total, mean, variance = sums
        # With several secrets the slopes of a record add up to zero.
        secrets = slopes.shape[1]
        share = 1.0 if secrets == 1 else 1 - 1 / secrets
        total, mean, variance = share * total, share * mean + TINY, share * variance + TINY
        of_freedom = 2 * mean**2 / variance
        return np.asarray(
            (np.cbrt(total / mean) - (1 - 2 / (9 * of_freedom))) / np.sqrt(2 / (9 * of_freedom)), dtype=np.float64
        )

    def _beside(self, column: int, weights: Singles) -> Floats:
        """The sums of the grids of a column and any two after it."""
        after = self.columns - column - 1
        sums = np.zeros((3, after, after))
        for place in np.unique(self.places[column]):
            rows = np.flatnonzero(self.places[column] == place)
            sums += self._summed(rows, column + 1, weights[:, rows])
        return sums[:, *np.triu_indices(after, 1)]

    def _summed(self, rows: Codes | slice, first: int, weights: Singles) -> Floats:
        """For every two columns from ``first`` on: the sum of squares over their fields, its mean and its variance."""
        begin = self.starts[first]
        flags, starts = self.flags[rows, begin:], self.starts[first:] - begin
        secrets = len(weights) // 2
        tables = np.stack([flags.T @ (flags * weight[:, None]) for weight in weights])
        slopes, curvatures = tables[:secrets], tables[secrets:].clip(min=0)
        inverse = 1 / (curvatures + PENALTY)
        # The fourth moment of a sum of hits that are seldom expected is that of a Poisson number.
        spread = (2 * curvatures**2 + curvatures) * inverse**2
        parts = np.stack([(each).sum(axis=0) for each in (slopes**2 * inverse, curvatures * inverse, spread)])
        return np.asarray(np.add.reduceat(np.add.reduceat(parts, starts, axis=1), starts, axis=2), dtype=np.float64)
