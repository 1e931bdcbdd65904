"""What a release does to every released value: merge it with others into one draw, or mix it by a channel."""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array, vstack

from tacit.lift import SUM_TOLERANCE, Mask, Matrix, Vector, entropy
from tacit.release.certificate import Replacement as Replacement, Utility
from tacit.tables.channels import DrawTables, draws_by_channel, draws_by_replacement
from tacit.tables.rewriting import redraw, rewrite
from tacit.tables.symbols import Symbols

if TYPE_CHECKING:
    from tacit.tables.table import Table

Places = NDArray[np.int64]


class Treatment(ABC):
    """What becomes of each symbol of some rules; a value that is not one of the symbols is *unseen*.

    A table's values are given by ``position``: the number of each among the symbols, -1 where it is unseen. Outputs are
    numbered like the symbols, and the number after the last of them is missing.
    """

    @property
    @abstractmethod
    def changed(self) -> Mask:
        """The symbols that are not always released unchanged."""

    @property
    @abstractmethod
    def drawn(self) -> bool:
        """Whether anything is drawn at random."""

    @abstractmethod
    def push(self, matrix: Matrix, position: Places) -> Matrix:
        """P(s, y) from P(s, x)."""

    @abstractmethod
    def loss(self, marginal: Vector, position: Places, own: Symbols) -> float:
        """H(X|Y) in nats."""

    @abstractmethod
    def same(self, marginal: Vector, position: Places, symbols: Symbols, own: Symbols) -> tuple[float, list[float]]:
        """Probability that a row is unchanged, and that its cell in each column is."""

    @abstractmethod
    def applied(self, table: Table, symbols: Symbols, key: bytes, *, present: Symbols | None = None) -> Table:
        """The table with every row treated; ``present`` are values that it is known to hold."""

    @abstractmethod
    def draw_tables(self) -> DrawTables:
        """What becomes of each symbol, as an engine draws it."""

    @property
    @abstractmethod
    def size(self) -> int:
        """How many symbols it treats."""

    @abstractmethod
    def draws(self) -> tuple[Places, csr_array]:
        """The draw of each source, -1 for one that is always released unchanged; and the draws, one per row.

        Sources are the symbols and, after the last of them, an unseen value. A row holds the probability of each
        output; several sources may share one.
        """

    def touched(self, position: Places) -> Mask:
        """Which values of a table are not always released unchanged."""
        return np.asarray((position < 0) | self.changed[position])

    def kept(self, marginal: Vector, symbols: Symbols, own: Symbols) -> Utility:
        """What the honest reader keeps of a table with these symbols, treated by rules whose symbols are ``own``.

        Rows and cells unchanged are expected shares; ``column_shift`` is the largest total variation between a released
        column before and its expected distribution after.
        """
        position = symbols.positions_in(own)
        whole = entropy(marginal)
        rows, cells = self.same(marginal, position, symbols, own)
        after = self.push(marginal[None, :], position)[0]
        shifts = [_shift(_by_level(symbols, marginal, j), _by_level(own, after, j)) for j in range(len(cells))]
        information = whole - min(max(self.loss(marginal, position, own), 0.0), whole)
        return Utility(
            mutual_information=information,
            entropy=whole,
            nmil=1 - information / whole if whole > 0 else 0.0,
            rows_unchanged=rows,
            cells_unchanged=sum(cells) / len(cells),
            column_shift=max(shifts),
        )


@dataclass(frozen=True, eq=False)
class Merging(Treatment):
    """Merged symbols, and unseen values, all become a draw from one distribution over the symbols, or missing."""

    merged: Mask
    replacement: Vector | None

    def __post_init__(self) -> None:
        if self.replacement is not None and (self.replacement[~self.merged] > 0).any():
            raise ValueError("the replacement is not of the merged values")

    @classmethod
    def of(cls, marginal: Vector, merged: Mask, how: Replacement) -> Merging:
        """Merge a set and replace it as ``how`` says; if it is empty, unseen values of later batches are suppressed."""
        if how == "suppress" or not merged.any():
            return cls(merged, None)
        weights = np.where(merged, marginal, 0.0)
        if how == "uniform":
            weights = merged.astype(np.float64)
        elif how == "merge":
            weights = (np.arange(len(merged)) == int(np.argmax(weights))).astype(np.float64)
        return cls(merged, np.asarray(weights / weights.sum()))

    @property
    def changed(self) -> Mask:
        return self.merged

    @property
    def drawn(self) -> bool:
        """Whether replacements are drawn, rather than all the same."""
        return self.replacement is not None and int(np.count_nonzero(self.replacement)) > 1

    def push(self, matrix: Matrix, position: Places) -> Matrix:
        size, merged = len(self.merged), self.touched(position)
        output: Matrix = np.zeros((matrix.shape[0], size + 1))
        output[:, position[~merged]] = matrix[:, ~merged]
        pooled = matrix[:, merged].sum(axis=1)
        if self.replacement is None:
            output[:, size] += pooled
        else:
            output[:, :size] += np.outer(pooled, self.replacement)
        return output

    def loss(self, marginal: Vector, position: Places, own: Symbols) -> float:
        """H(X|Y): what is lost is which of the merged values it was."""
        merged = self.touched(position)
        pooled = float(marginal[merged].sum())
        return pooled * entropy(marginal[merged] / pooled) if pooled > 0 else 0.0

    def same(self, marginal: Vector, position: Places, symbols: Symbols, own: Symbols) -> tuple[float, list[float]]:
        """Kept values stay; a merged one stays if it happens to draw itself."""
        merged = self.touched(position)
        kept = float(marginal[~merged].sum())
        if not merged.any():
            return 1.0, [1.0] * len(symbols.columns)
        back = float(marginal[merged & symbols.all_missing].sum())
        if self.replacement is not None:
            present = merged & (position >= 0)
            back = float((marginal[present] * self.replacement[position[present]]).sum())
        weight = marginal * merged
        cells = [kept + self._agreement(symbols, own, weight, j) for j in range(len(symbols.columns))]
        return kept + back, cells

    def _agreement(self, symbols: Symbols, own: Symbols, weight: Vector, column: int) -> float:
        """Probability that a row is merged and keeps its value of one column."""
        here = _by_level(symbols, weight, column)
        if self.replacement is None:
            return here.get(None, 0.0)
        drawn = _by_level(own, self.replacement, column)
        return sum(here.get(level, 0.0) * mass for level, mass in drawn.items())

    def applied(self, table: Table, symbols: Symbols, key: bytes, *, present: Symbols | None = None) -> Table:
        merged, replacement = self.merged, self.replacement
        return rewrite(table, symbols, merged=merged, replacement=replacement, key=key, present=present)

    def draw_tables(self) -> DrawTables:
        return draws_by_replacement(self.merged, self.replacement)

    @property
    def size(self) -> int:
        return len(self.merged)

    def draws(self) -> tuple[Places, csr_array]:
        if self.replacement is None:
            table = csr_array(([1.0], ([0], [self.size])), shape=(1, self.size + 1))
        else:
            table = csr_array(np.append(self.replacement, 0.0)[None, :])
        return np.where(np.append(self.merged, True), 0, -1), table

    def stored(self) -> StoredMerging:
        """As in a rules file."""
        draw = None
        if self.replacement is not None:
            at = np.flatnonzero(self.replacement)
            draw = StoredDraw(at, self.replacement[at])
        return StoredMerging(self.size, np.flatnonzero(self.merged), draw)

    @classmethod
    def restored(cls, stored: StoredMerging) -> Merging:
        """From what :meth:`stored` gave; a ValueError if it is damaged."""
        merged = np.zeros(stored.size, dtype=bool)
        merged[_places(stored.merged, stored.size)] = True
        if stored.replacement is None:
            return cls(merged, None)
        replacement = np.zeros(stored.size)
        replacement[_places(stored.replacement.at, stored.size)] = stored.replacement.p
        if not ((replacement >= 0).all() and abs(replacement.sum() - 1) < SUM_TOLERANCE):
            raise ValueError("the replacement is not a distribution")
        return cls(merged, replacement)


@dataclass(frozen=True, eq=False)
class Mixing(Treatment):
    """Symbol i becomes j with probability ``channel[i, j]``; the last column is missing, which unseen values become.

    ``channel`` is a sparse table of symbols x (symbols + 1) whose rows sum to one.
    """

    channel: csr_array

    @classmethod
    def of(cls, sparse: csr_array, labels: NDArray[Any]) -> Mixing:
        """From a channel over released values whose outputs are written as the values ``labels``."""
        flows = sparse.tocoo()
        rows, outputs = flows.coords
        size = sparse.shape[0]
        return cls(csr_array((flows.data, (rows, np.asarray(labels)[outputs])), shape=(size, size + 1)))

    @cached_property
    def changed(self) -> Mask:
        """Symbols with more than their own entry."""
        return np.asarray(self.channel.diagonal() < 1)

    @property
    def drawn(self) -> bool:
        """Whether any symbol has more than one output."""
        return bool((np.diff(self.channel.indptr) > 1).any())

    def push(self, matrix: Matrix, position: Places) -> Matrix:
        present = position >= 0
        output = np.asarray((self.channel[position[present]].T @ matrix[:, present].T).T)
        output[:, -1] += matrix[:, ~present].sum(axis=1)
        return output

    def joined(self, outputs: Places, into: int) -> Mixing:
        """The same with some outputs written as one of them."""
        target = np.arange(self.channel.shape[1])
        target[outputs] = into
        flows = self.channel.tocoo()
        row, output = flows.coords
        return Mixing(csr_array((flows.data, (row, target[output])), shape=self.channel.shape))

    def flows(self, marginal: Vector, position: Places) -> tuple[Places, Places, Vector]:
        """Each value, output and the probability of both."""
        present, unseen = np.flatnonzero(position >= 0), np.flatnonzero(position < 0)
        table = self.channel[position[present]].tocoo()
        row, output = table.coords
        values = np.concatenate([present[row], unseen])
        outputs = np.concatenate([output, np.full(len(unseen), self.channel.shape[1] - 1)])
        mass = np.concatenate([table.data * marginal[present][row], marginal[unseen]])
        occurs = mass > 0
        return values[occurs].astype(np.int64), outputs[occurs].astype(np.int64), mass[occurs]

    def loss(self, marginal: Vector, position: Places, own: Symbols) -> float:
        """H(X|Y); a wholly missing value and a suppressed one look the same."""
        values, outputs, mass = self.flows(marginal, position)
        outputs = np.append(np.where(own.all_missing, len(own), np.arange(len(own))), len(own))[outputs]
        pairs, where = np.unique(np.stack([values, outputs]), axis=1, return_inverse=True)
        both = np.bincount(where.reshape(-1), mass)
        totals = np.bincount(pairs[1], both)
        return float((both * np.log(totals[pairs[1]] / both)).sum())

    def same(self, marginal: Vector, position: Places, symbols: Symbols, own: Symbols) -> tuple[float, list[float]]:
        """Expected shares, summed over all flows."""
        values, outputs, mass = self.flows(marginal, position)
        cells, alike = [], np.ones(len(mass), dtype=np.bool_)
        for column, levels in enumerate(symbols.levels):
            place = {level: at for at, level in enumerate(own.levels[column])}
            # Suppressed rows have a missing cell, even if no symbol of the rules does.
            absent = place.setdefault(None, len(place))
            written = np.append(own.codes[:, column], absent)[outputs]
            here = np.array([place.get(level, -1) for level in levels])[symbols.codes[values, column]]
            cells.append(float(mass[here == written].sum()))
            alike &= here == written
        return float(mass[alike].sum()), cells

    def applied(self, table: Table, symbols: Symbols, key: bytes, *, present: Symbols | None = None) -> Table:
        return redraw(table, symbols, channel=self.channel, key=key, present=present)

    def draw_tables(self) -> DrawTables:
        return draws_by_channel(self.channel, self.size)

    @property
    def size(self) -> int:
        return int(self.channel.shape[0])

    def draws(self) -> tuple[Places, csr_array]:
        changed = np.flatnonzero(self.changed)
        which = np.full(self.size + 1, -1, dtype=np.int64)
        which[changed], which[self.size] = np.arange(len(changed)), len(changed)
        unseen = csr_array(([1.0], ([0], [self.size])), shape=(1, self.size + 1))
        return which, csr_array(vstack([self.channel[changed], unseen]))

    def stored(self) -> StoredMixing:
        """As in a rules file: the outputs of each symbol that is changed, and their probabilities."""
        rows = np.flatnonzero(self.changed)
        part = self.channel[rows]
        return StoredMixing(self.size, rows, part.indptr, part.indices, part.data)

    @classmethod
    def restored(cls, stored: StoredMixing) -> Mixing:
        """From what :meth:`stored` gave; a ValueError if it is damaged."""
        size, p, starts = stored.size, stored.p, stored.starts
        rows, outputs = _places(stored.mixed, size), _places(stored.outputs, size + 1)
        if len(np.unique(rows)) < len(rows):
            raise ValueError("a value is mixed twice")
        lengths = np.diff(starts)
        fits = len(p) == len(outputs) == starts[-1] and len(lengths) == len(rows)
        if starts[0] != 0 or (lengths < 1).any() or not fits:
            raise ValueError("the channel's parts do not fit together")
        sums = np.bincount(np.repeat(np.arange(len(rows)), lengths), p, len(rows))
        if not ((p > 0).all() and (abs(sums - 1) < SUM_TOLERANCE).all()):
            raise ValueError("a row of the channel is not a distribution")
        stays = np.setdiff1d(np.arange(size), rows)
        inputs = np.concatenate([np.repeat(rows, lengths), stays])
        values = np.concatenate([p, np.ones(len(stays))])
        return cls(csr_array((values, (inputs, np.concatenate([outputs, stays]))), shape=(size, size + 1)))


@dataclass(frozen=True, eq=False)
class StoredDraw:
    """A distribution: the symbols that may be drawn, and their probabilities."""

    at: Places
    p: Vector


@dataclass(frozen=True, eq=False)
class StoredMerging:
    """Merging as stored in a rules file."""

    size: int
    merged: Places
    replacement: StoredDraw | None
    kind: Literal["merging"] = "merging"


@dataclass(frozen=True, eq=False)
class StoredMixing:
    """Mixing as stored in a rules file: the outputs of each mixed symbol, from ``starts`` on, with probabilities."""

    size: int
    mixed: Places
    starts: Places
    outputs: Places
    p: Vector
    kind: Literal["mixing"] = "mixing"


def _places(places: Places, size: int) -> Places:
    if places.ndim != 1 or (len(places) and not (places.min() >= 0 and places.max() < size)):
        raise ValueError("a value that is not among the symbols")
    return places


def _by_level(symbols: Symbols, weight: Vector, column: int) -> dict[Any, float]:
    """Weight of each value of a column; weight beyond the last symbol is that of missing cells."""
    levels, size = symbols.levels[column], len(symbols.codes)
    mass = np.bincount(symbols.codes[:, column], weights=weight[:size], minlength=len(levels))
    weights: dict[Any, float] = dict(zip(levels, mass.tolist(), strict=True))
    weights[None] = weights.get(None, 0.0) + float(weight[size:].sum())
    return weights


def _shift(before: dict[Any, float], after: dict[Any, float]) -> float:
    return sum(abs(before.get(level, 0.0) - after.get(level, 0.0)) for level in {*before, *after}) / 2
