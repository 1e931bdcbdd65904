"""A model of columns, and of the grids that the search names: what each field adds to the log-odds of a secret."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from tacit.learn.arrays import Codes, Flags, Floats, log_softmax, softmax
from tacit.learn.grids.search import Grid, Search, cuts_of, place_of_each

# Ranges of a column by itself; the most grids; how often all fields are fitted again, and how far one step may go.
RANGES, MOST_GRIDS, SWEEPS, FURTHEST = 10, 8, 6, 2.0
TILINGS, RATE = 8, 0.2
LEAST_PROBABILITY = 1e-6
# A model learns no more from more records than this.
MOST_RECORDS = 20_000


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
        """By how much the log-lifts of records change if what the fields add is added to them."""
        shown = np.maximum(lift, np.log(LEAST_PROBABILITY))
        return log_softmax(np.log(prior) + shown + self.added(ordinal), axis=1) - np.log(prior) - shown


def train_grids(
    ordinal: Floats, categorical: Flags, secret: Codes, *, secrets: int, random_state: np.random.Generator
) -> GridsModel:
    """What single columns say, and then, one by one, the grids that show most of what is left."""
    share = (np.bincount(secret, minlength=secrets) / len(secret)).clip(min=LEAST_PROBABILITY)
    start = np.log(share / share.sum())
    fitting = _Fitting(ordinal, secret, np.tile(start, (len(secret), 1)), random_state)
    for c, (column, coded) in enumerate(zip(ordinal.T, categorical, strict=True)):
        fitting.include((c,), (cuts_of(column, coded, RANGES),))
    fitting.sweep(0)
    fitting.search(categorical)
    return fitting.model(start)


def remaining(
    ordinal: Floats, categorical: Flags, secret: Codes, posterior: Floats, *, random_state: np.random.Generator
) -> GridsModel | None:
    """The grids in which held-out records differ from what models that did not see them said; None if there is none.

    Guarantees
    ----------
    If the posteriors are true, there is one with a probability of about 1%.
    """
    rows = np.linspace(0, len(secret) - 1, min(len(secret), MOST_RECORDS)).astype(np.int64)
    scores = np.log(posterior[rows].clip(min=LEAST_PROBABILITY))
    fitting = _Fitting(ordinal[rows], secret[rows], scores, random_state)
    fitting.search(categorical)
    return fitting.model(np.zeros(scores.shape[1])) if fitting.columns else None


class _Fitting:
    """Scores of records, to which the fields of grids are added."""

    def __init__(self, ordinal: Floats, secret: Codes, scores: Floats, rng: np.random.Generator) -> None:
        self.rng = rng
        self.ordinal, self.scores = ordinal, scores
        self.hit = np.eye(scores.shape[1])[secret]
        # With two secrets, one is the other's reverse.
        self.own = slice(1, None) if scores.shape[1] == 2 else slice(None)
        self.columns: list[tuple[int, ...]] = []
        self.cuts: list[tuple[Floats, ...]] = []
        self.fields: list[Codes] = []
        self.values: list[Floats] = []

    def search(self, categorical: Flags) -> None:
        """Include the grids that show most of what is left, until nothing is."""
        search = Search(self.ordinal, categorical)
        singles = len(self.columns)
        for _ in range(MOST_GRIDS):
            found: Grid | None = search.best(*self._slopes())
            if found is None:
                break
            for at in range(TILINGS):
                shifts = (at + self.rng.random(len(found.columns))) / TILINGS
                self.include(
                    found.columns,
                    tuple(
                        cuts_of(self.ordinal[:, c], bool(categorical[c]), found.parts, shift)
                        for c, shift in zip(found.columns, shifts, strict=True)
                    ),
                )
            self.sweep(singles, rate=RATE)

    def include(self, columns: tuple[int, ...], cuts: tuple[Floats, ...]) -> None:
        """A grid whose fields add nothing yet."""
        self.columns.append(columns)
        self.cuts.append(cuts)
        self.fields.append(_field_of_each(self.ordinal, columns, cuts))
        self.values.append(np.zeros((_size(cuts), self.scores.shape[1])))

    def sweep(self, first: int, rate: float = 1.0) -> None:
        """Fit the fields of all grids from ``first`` on, one after the other, a few times."""
        for _ in range(SWEEPS):
            for field, values in zip(self.fields[first:], self.values[first:], strict=True):
                step = np.zeros_like(values)
                for slopes, curvatures, into in zip(
                    *(each.T for each in self._slopes()), step.T[self.own], strict=True
                ):
                    sums = (
                        np.bincount(field, weights, len(values)).astype(np.float64) for weights in (slopes, curvatures)
                    )
                    into[:] = rate * _shrunk(*sums)
                values += step
                self.scores += step[field]

    def model(self, start: Floats) -> GridsModel:
        """What was fitted."""
        return GridsModel(start, tuple(self.columns), tuple(self.cuts), tuple(self.values))

    def _slopes(self) -> tuple[Floats, Floats]:
        posterior = softmax(self.scores, axis=1)[:, self.own]
        return self.hit[:, self.own] - posterior, posterior * (1 - posterior)


def _shrunk(slopes: Floats, curvatures: Floats) -> Floats:
    """Newton's step for every field, towards zero by as much as the fields themselves call for.

    The squares of the slopes exceed what chance makes of them by as much as the fields differ.
    """
    differ = ((slopes**2).sum() - curvatures.sum()) / max(float((curvatures**2).sum()), 1e-12)
    if differ <= 0:
        return np.zeros(len(slopes))
    return np.asarray((slopes / (curvatures + 1 / differ)).clip(-FURTHEST, FURTHEST))


def _size(cuts: tuple[Floats, ...]) -> int:
    return int(np.prod([len(own) + 2 for own in cuts]))


def _field_of_each(ordinal: Floats, columns: tuple[int, ...], cuts: tuple[Floats, ...]) -> Codes:
    field = np.zeros(len(ordinal), dtype=np.int64)
    for column, own in zip(columns, cuts, strict=True):
        field = field * (len(own) + 2) + place_of_each(ordinal[:, column], own)
    return field
