"""How well filled-in rows fit what a model is to predict, by a first model of what the release says."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from tacit.codes.additive import additive_guesses, never_sure
from tacit.codes.descent import Ints
from tacit.learn.arrays import Floats
from tacit.lenses.table.reading.columns import ReadColumn

# With at most this many atoms, each is a class to predict; otherwise it is whether one is above the middle.
_CLASSES = 10


@dataclass(frozen=True, eq=False)
class FirstFit:
    """An additive model: the ``parts`` that each column's groups add (groups x classes) to the ``start`` of all rows.

    ``wanted`` is the atom of each row in the column to be predicted, ``classes`` its class.
    """

    columns: Mapping[str, ReadColumn]
    wanted: Ints
    classes: Ints
    start: Floats
    parts: Mapping[str, Floats]

    def weight(self, atoms: Mapping[str, Ints]) -> Floats:
        """How likely each row's class is given its atoms."""
        guess = self.start[self.classes]
        for name, parts in self.parts.items():
            guess = guess + parts[self.columns[name].groups[atoms[name]], self.classes]
        return never_sure(guess)


def first_fit(
    columns: Mapping[str, ReadColumn], use: str, column: ReadColumn, cell: Ints, rng: np.random.Generator
) -> FirstFit:
    """The model of the column ``use`` by all others; it learns from cells, whose rows all read alike."""
    wanted = column.drawn(rng)
    group = _classes(column)
    classes = group[wanted]
    first = np.unique(cell, return_index=True)[1]
    counts = np.zeros((len(first), int(group.max()) + 1))
    np.add.at(counts, (cell, classes), 1.0)
    others = {name: each for name, each in columns.items() if name != use}
    learns = [
        (each.chances @ np.eye(each.groups.max() + 1)[each.groups])[each.level[first]] for each in others.values()
    ]
    width = sum(each.shape[1] for each in learns)
    if not width:
        return FirstFit(others, wanted, classes, np.full(counts.shape[1], 0.5), {})
    guesses = additive_guesses(np.hstack(learns), counts, np.vstack([np.zeros(width), np.eye(width)]))
    stops = np.cumsum([each.shape[1] for each in learns])[:-1]
    parts = np.split(guesses[1:] - guesses[0], stops)
    return FirstFit(others, wanted, classes, guesses[0], dict(zip(others, parts, strict=True)))


def _classes(column: ReadColumn) -> Ints:
    """The class of each atom: the atom itself if there are few, else whether it is above the middle."""
    if column.scale.size <= _CLASSES:
        return np.arange(column.scale.size)
    return (np.cumsum(column.shares) - column.shares / 2 > 1 / 2).astype(np.int64)
