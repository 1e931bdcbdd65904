"""A model of columns, and of the grids that the search names: what each field adds to the log-odds of a secret."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from tacit.learn.arrays import Codes, Flags, Floats, log_softmax, softmax
from tacit.learn.grids.search import Grid, GridSearch, cuts_of, most_searched, place_of_each

# Ranges of a column by itself; the most grids, and the tilings of each; how often all fields are fitted again, and how
# far one step may go.
RANGES, MOST_GRIDS, TILINGS, SWEEPS, FURTHEST = 10, 8, 8, 6, 2.0
LEAST_PROBABILITY = 1e-6
# A learner searches again and again, so among fewer records; it may find what is not there, for the blend is the judge.
MOST_SEARCHED, LEARNERS_CHANCE = 4_000, 0.2


@dataclass(frozen=True)
class GridsModel:
    """For every grid its columns, the cuts of each, and what its fields (the last column's side by side) add."""

    start: Floats
    columns: tuple[tuple[int, ...], ...]
    cuts: tuple[tuple[Floats, ...], ...]
    values: tuple[Floats, ...]

    def log_posterior(self, ordinal: Floats) -> Floats:
        """Log p(s | x)."""
        return log_softmax(self.start + self.added(ordinal), axis=1)

    def added(self, ordinal: Floats) -> Floats:
        """What all fields of a record add up to, for each secret."""
        total = np.zeros((len(ordinal), len(self.start)))
        for columns, cuts, values in zip(self.columns, self.cuts, self.values, strict=True):
            total += values[_field_of_each(ordinal, columns, cuts)]
        return total

    def moved(self, ordinal: Floats, lift: Floats, prior: Floats) -> Floats:
        """By how much the log-lifts of records change if what the fields add is added to them, twice.

        Twice, because what was seen of an interaction is blurred at its edges, and shrunk.
        """
        shown = np.maximum(lift, np.log(LEAST_PROBABILITY))
        return log_softmax(np.log(prior) + shown + 2 * self.added(ordinal), axis=1) - np.log(prior) - shown


def train_grids(
    ordinal: Floats, categorical: Flags, secret: Codes, *, secrets: int, random_state: np.random.Generator
) -> GridsModel:
    """What single columns say, and then, one by one, the grids that show most of what is left."""
    share = (np.bincount(secret, minlength=secrets) / len(secret)).clip(min=LEAST_PROBABILITY)
    start = np.log(share / share.sum())
    fitting = _GridFitting(ordinal, secret, np.tile(start, (len(secret), 1)))
    for c, (column, coded) in enumerate(zip(ordinal.T, categorical, strict=True)):
        fitting.include((c,), [(cuts_of(column, bool(coded), RANGES),)])
    fitting.sweep(0)
    fitting.search(
        GridSearch(ordinal, categorical, most=MOST_SEARCHED, chance=LEARNERS_CHANCE), categorical, random_state
    )
    return fitting.model(start)


def remaining(
    ordinal: Floats, categorical: Flags, secret: Codes, posterior: Floats, *, random_state: np.random.Generator
) -> GridsModel | None:
    """The grids in which held-out records differ from what models that did not see them said; None if there is none.

    Guarantees
    ----------
    If the posteriors are true, there is one with a probability of about 5% or less.
    """
    rows = np.linspace(0, len(secret) - 1, min(len(secret), most_searched(posterior.shape[1]))).astype(np.int64)
    scores = np.log(posterior[rows].clip(min=LEAST_PROBABILITY))
    fitting = _GridFitting(ordinal[rows], secret[rows], scores)
    fitting.search(GridSearch(ordinal[rows], categorical), categorical, random_state)
    return fitting.model(np.zeros(scores.shape[1])) if fitting.grids else None


class _GridFitting:
    """Scores of records, to which the fields of grids are added; a grid is the mean of several tilings."""

    def __init__(self, ordinal: Floats, secret: Codes, scores: Floats) -> None:
        self.ordinal, self.scores = ordinal, scores
        self.hit = np.eye(scores.shape[1])[secret]
        # With two secrets, one is the other's reverse.
        self.own = slice(1, None) if scores.shape[1] == 2 else slice(None)
        self.grids: list[list[_Tiling]] = []

    def search(self, search: GridSearch, categorical: Flags, rng: np.random.Generator) -> None:
        """Include the grids that show most of what is left, until nothing is."""
        singles = len(self.grids)
        for _ in range(MOST_GRIDS):
            strongest = search.best(*self._slopes())
            if strongest is None:
                break
            # The edges of the tilings are not the true ones, and those of the next fold are elsewhere again: so the
            # spread over folds shows how little is known there.
            shifts = (np.arange(TILINGS)[:, None] + rng.random((TILINGS, len(strongest.columns)))) / TILINGS
            self.include(strongest.columns, [self._cuts(strongest, categorical, own) for own in shifts])
            self.sweep(singles)

    def include(self, columns: tuple[int, ...], cuts: list[tuple[Floats, ...]]) -> None:
        """A grid whose fields add nothing yet."""
        self.grids.append([_Tiling.of(self.ordinal, columns, own, self.scores.shape[1]) for own in cuts])

    def sweep(self, first: int) -> None:
        """Fit the fields of all grids from ``first`` on, one grid after the other, a few times."""
        for _ in range(SWEEPS):
            for tilings in self.grids[first:]:
                slopes, curvatures = self._slopes()
                for tiling in tilings:
                    self.scores += tiling.step(slopes, curvatures, self.own, 1 / len(tilings))

    def model(self, start: Floats) -> GridsModel:
        """What was fitted."""
        every = [tiling for tilings in self.grids for tiling in tilings]
        return GridsModel(
            start, *(tuple(getattr(each, name) for each in every) for name in ("columns", "cuts", "values"))
        )

    def _cuts(self, grid: Grid, categorical: Flags, shifts: Floats) -> tuple[Floats, ...]:
        each = zip(grid.columns, shifts.tolist(), strict=True)
        return tuple(cuts_of(self.ordinal[:, c], bool(categorical[c]), grid.parts, shift) for c, shift in each)

    def _slopes(self) -> tuple[Floats, Floats]:
        posterior = softmax(self.scores, axis=1)[:, self.own]
        return self.hit[:, self.own] - posterior, posterior * (1 - posterior)


@dataclass
class _Tiling:
    """One way to cut the columns of a grid, the field of each record, and what the fields add."""

    columns: tuple[int, ...]
    cuts: tuple[Floats, ...]
    field: Codes
    values: Floats

    @classmethod
    def of(cls, ordinal: Floats, columns: tuple[int, ...], cuts: tuple[Floats, ...], secrets: int) -> _Tiling:
        size = int(np.prod([len(own) + 2 for own in cuts]))
        return cls(columns, cuts, _field_of_each(ordinal, columns, cuts), np.zeros((size, secrets)))

    def step(self, slopes: Floats, curvatures: Floats, own: slice, rate: float) -> Floats:
        """Change the values by a Newton step, and say by how much the scores of the records change."""
        size, more = len(self.values), np.zeros_like(self.values)
        for slope, curvature, into in zip(slopes.T, curvatures.T, more.T[own], strict=True):
            sums = (np.bincount(self.field, each, size).astype(np.float64) for each in (slope, curvature))
            into[:] = rate * _shrunk(*sums)
        self.values += more
        return np.asarray(more[self.field])


def _shrunk(slopes: Floats, curvatures: Floats) -> Floats:
    """Newton's step for every field, towards zero by as much as the fields themselves call for.

    The squares of the slopes exceed what chance makes of them by as much as the fields differ.
    """
    differ = ((slopes**2).sum() - curvatures.sum()) / max(float((curvatures**2).sum()), 1e-12)
    if differ <= 0:
        return np.zeros(len(slopes))
    return np.asarray((slopes / (curvatures + 1 / differ)).clip(-FURTHEST, FURTHEST))


def _field_of_each(ordinal: Floats, columns: tuple[int, ...], cuts: tuple[Floats, ...]) -> Codes:
    field = np.zeros(len(ordinal), dtype=np.int64)
    for column, own in zip(columns, cuts, strict=True):
        field = field * (len(own) + 2) + place_of_each(ordinal[:, column], own)
    return field
