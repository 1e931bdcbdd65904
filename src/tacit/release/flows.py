"""How many records of a table a treatment sends from each value to each output: for the published channel."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.sparse import csr_array, vstack

from tacit.lift import Mask
from tacit.release.channel import ColumnChannel, DrawRows, PublishedChannel
from tacit.release.treatment import Treatment
from tacit.release.whole_file import summed, written_as
from tacit.tables.symbols import Codes, Symbols

# The channel of a column distinguishes at most this many values, the commonest.
MOST_VALUES = 50
# Counts that agree within this share of the records count as equal: the difference is rounding of sums.
KEPT = 1e-9


def channel_of(treatment: Treatment, own: Symbols, symbols: Symbols, people: Codes, *, least: int) -> PublishedChannel:
    """What is published about a treatment with the symbols ``own``, for a table whose symbols have so many ``people``.

    The last entry of ``people``, after those of the symbols, is for records that have none of them.
    """
    flows = RecordFlows.of(treatment, own, symbols, people)
    spelled = np.flatnonzero(people[:-1] >= least)
    draw, draws = flows.spelled(spelled, symbols.all_missing[spelled])
    columns = tuple(flows.column(symbols, own, at, least) for at in range(len(symbols.columns)))
    return PublishedChannel(least, symbols.picked(spelled), draw, draws, columns)


@dataclass(frozen=True, eq=False)
class RecordFlows:
    """Where the records of a table go.

    For each value, and last for records that have none of them: its ``source`` among those of the treatment, its
    ``records``, and ``which`` of the draws it has, -1 if it is unchanged. ``table`` holds the draws over the
    treatment's outputs, ``written`` the output that each output is written as.
    """

    source: Codes
    records: Codes
    which: Codes
    table: csr_array
    written: Codes

    @classmethod
    def of(cls, treatment: Treatment, own: Symbols, symbols: Symbols, people: Codes) -> RecordFlows:
        position = np.append(symbols.positions_in(own), -1)
        source = np.where(position < 0, treatment.size, position)
        which, table = treatment.draws()
        return cls(source, people, which[source], table, written_as(own))

    def between(self, inputs: Codes, outputs: Codes, shape: tuple[int, int]) -> csr_array:
        """Records that go from each group of values to each group of outputs; ``inputs`` and ``outputs`` are groups."""
        drawn = self.which >= 0
        into = (self.records[drawn].astype(np.float64), (inputs[drawn], self.which[drawn]))
        moved = csr_array(into, shape=(shape[0], self.table.shape[0])) @ (self.table @ _grouping(outputs, shape[1]))
        stays = (self.records[~drawn].astype(np.float64), (inputs[~drawn], outputs[self.source[~drawn]]))
        return csr_array(moved + csr_array(stays, shape=shape))

    def spelled(self, spelled: Codes, blank: Mask) -> tuple[Codes, DrawRows]:
        """The draw of each value that is spelled out (``blank`` if wholly missing) and of all others; and the draws."""
        n, size = len(spelled), len(self.written) - 1
        outputs = np.full(size + 1, n)
        within = self.source[spelled] < size
        outputs[self.source[spelled[within]]] = np.flatnonzero(within)
        # A suppressed row is always an output of its own, unless it looks like a wholly missing value spelled out here.
        outputs[self.written == size] = int(np.argmax(blank)) if blank.any() else n + 1
        inputs = np.ones(len(self.source), dtype=np.int64)
        inputs[spelled] = 0
        others = self.between(inputs, outputs, (2, n + 2))[[1]]
        used, draw = np.unique(np.append(self.which[spelled], -1), return_inverse=True)
        rows = [self.table[used[used >= 0]] @ _grouping(outputs, n + 2), *([others] if others.nnz else [])]
        draw = draw.reshape(-1) - 1
        draw[n] = len(used) - 1 if others.nnz else -1
        return draw, DrawRows.of(csr_array(vstack(rows)))

    def column(self, symbols: Symbols, own: Symbols, at: int, least: int) -> ColumnChannel:
        """The channel of one column."""
        levels, codes = symbols.levels[at], symbols.codes[:, at]
        people = summed(codes, self.records[:-1], len(levels))
        common = np.sort(np.argsort(-people, kind="stable")[:MOST_VALUES])
        chosen = [levels[k] for k in common.tolist() if people[k] >= least]
        # A wholly suppressed row is missing in this column, too.
        vanishes = csr_array(self.table[np.unique(self.which[(self.which >= 0) & (self.records > 0)])])
        gone = bool(np.isin(self.written[vanishes.indices], len(own)).any())
        outputs = [*chosen, *([None] if gone and None not in chosen else [])]
        place = {level: k for k, level in enumerate(outputs)}
        shape = (len(chosen) + 1, len(outputs) + 1)
        entry = {level: k for k, level in enumerate(chosen)}
        into = np.array([entry.get(level, len(chosen)) for level in levels])[codes]
        out_of = np.array([place.get(level, len(outputs)) for level in own.levels[at]])[own.codes[:, at]]
        last = place.get(None, len(outputs))
        flows = self.between(np.append(into, len(chosen)), np.append(out_of, last), shape).toarray()
        before, after = flows.sum(axis=1), flows.sum(axis=0)
        # Where nobody has another value, the row of other values still needs an entry: it maps to itself.
        flows[-1, -1] += before[-1] == 0
        same = len(chosen) == len(outputs) and bool(np.abs(before - after).max() <= KEPT * before.sum())
        values = Symbols((symbols.columns[at],), (tuple(outputs),), np.arange(len(outputs))[:, None])
        return ColumnChannel(values, len(chosen), DrawRows.of(csr_array(flows)), same)


def _grouping(groups: Codes, size: int) -> csr_array:
    """A 0/1 table with a single one in each row, in the column of its group."""
    return csr_array((np.ones(len(groups)), (np.arange(len(groups)), groups)), shape=(len(groups), size))
