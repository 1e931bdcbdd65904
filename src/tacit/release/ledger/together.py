"""What several releases of one table say together, counted: given a row, each release draws independently."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property
from math import prod

import numpy as np
from scipy.sparse import csr_array, vstack

from tacit.codes.coding import coded
from tacit.lift import Vector
from tacit.release.rules import ReleaseRules
from tacit.release.treatment import Merging, Mixing
from tacit.tables.counting import count
from tacit.tables.cutting import Cut, cut
from tacit.tables.gathering import gathered
from tacit.tables.pairing import side_by_side
from tacit.tables.symbols import Codes, Symbols, in_order
from tacit.tables.table import Table

# The most combinations that are counted, and cells of a joint that are built: about a gigabyte.
MOST_CELLS = 20_000_000


@dataclass(frozen=True)
class Secret:
    """A column or a combination of columns, as it was cut: the same columns cut differently are another secret.

    With ``values``, these values of a column are the secret, and all others count as one.
    """

    columns: tuple[str, ...]
    cuts: tuple[Cut, ...]
    values: tuple[str, ...] = ()

    @classmethod
    def of(cls, columns: Sequence[str], cuts: Iterable[Cut], values: Sequence[str] = ()) -> Secret:
        """The secret that these columns form, in whatever order they were named."""
        return cls(tuple(sorted(columns)), _cuts_of(columns, cuts), tuple(sorted(values)))


def _cuts_of(columns: Sequence[str], cuts: Iterable[Cut]) -> tuple[Cut, ...]:
    return tuple(sorted((each for each in cuts if each.column in columns), key=lambda each: each.column))


class Together:
    """The joint of some secrets and the outputs of several releases of one table.

    Guarantees
    ----------
    P(s, y1, ..., yk) is the sum over all rows' values of P(s, x1, ..., xk) P(y1 | x1) ... P(yk | xk). It is exact for
    the table if every release draws with a key of its own, and rows can be linked from release to release, which is
    the worst case.
    """

    def __init__(self, table: Table, records: int, secrets: Sequence[Secret], releases: Sequence[ReleaseRules]) -> None:
        self.secrets, self.releases = list(secrets), list(releases)
        self._views: dict[tuple[tuple[Cut, ...], tuple[str, ...]], Table] = {}
        views = [self._view(table, each.columns, each.cuts, each.values) for each in secrets]
        own = [count(view, each.columns).symbols(each.columns)[0] for view, each in zip(views, secrets, strict=True)]
        shown = [(self._shown(table, each), each.symbols) for each in releases]
        self._tables: list[tuple[Table, Symbols]] = [*zip(views, own, strict=True), *shown]
        self.fits = min(records, prod(len(symbols) + 1 for _, symbols in self._tables)) <= MOST_CELLS

    def _shown(self, table: Table, rules: ReleaseRules) -> Table:
        """The table as a release shows it: in its cells, or with its columns cut."""
        if rules.code is not None:
            return coded(table.select(rules.code.columns), rules.code)
        return self._view(table, rules.released, rules.cuts)

    def _view(self, table: Table, columns: Sequence[str], cuts: Iterable[Cut], values: tuple[str, ...] = ()) -> Table:
        """The table with these columns cut, or some values named; each view is one object, so that it is read once."""
        wanted = _cuts_of(columns, cuts)
        if (wanted, values) not in self._views:
            view = cut(table, wanted)
            self._views[wanted, values] = gathered(view, columns[0], values) if values else view
        return self._views[wanted, values]

    @cached_property
    def _counted(self) -> tuple[Codes, Vector]:
        numbers, records = side_by_side(self._tables)
        return numbers, records.astype(np.float64)

    @cached_property
    def _channels(self) -> list[tuple[Codes, csr_array]]:
        return [_grouped(outputs_by_value(rules)) for rules in self.releases]

    def ends(self, secret: Secret, which: Sequence[int] | None = None) -> tuple[float, float] | None:
        """How far below and above 0 the log-lifts of a secret lie, given all releases or some; None if too large."""
        places = range(len(self.releases)) if which is None else which
        numbers, records = self._counted
        columns, channels = [numbers[self.secrets.index(secret)]], []
        for place in places:
            classes, channel = self._channels[place]
            # A value that is not a symbol has the number -1, which indexes the last row.
            columns.append(classes[numbers[len(self.secrets) + place]])
            channels.append(channel)
        cells, mass = _summed(np.stack(columns, axis=1), records)
        # Releases that draw enlarge the joint, so they come after the others.
        for at in sorted(range(len(channels)), key=lambda at: int(np.diff(channels[at].indptr).max())):
            spread = _spread(cells, mass, at + 1, channels[at])
            if spread is None:
                return None
            cells, mass = spread
        return _ends(cells, mass)


def outputs_by_value(rules: ReleaseRules) -> csr_array:
    """P(y | x) of a release: a row for each symbol and one for unseen values; the last output is missing.

    All draws from one pool are one output: which of its values was drawn depends only on the draw, so P(s, y1, ..., yk)
    is that of the pool times the probability of the draw, and the lift is the same for each.
    """
    treatment, size = rules.treatment, len(rules.symbols)
    gone = np.append(rules.symbols.all_missing, False)
    if isinstance(treatment, Mixing):
        unseen = csr_array(([1.0], ([0], [size])), shape=(1, size + 1))
        table = vstack([treatment.channel, unseen]).tocoo()
    else:
        table = _pooled(treatment, size).tocoo()
    rows, outputs = table.coords
    # A wholly missing value and a suppressed one look the same, and are one output.
    outputs = np.where(gone[outputs], size, outputs)
    channel = csr_array((table.data, (rows, outputs)), shape=(size + 1, size + 1))
    channel.eliminate_zeros()
    return csr_array(channel / channel.sum(axis=1)[:, None])


def _pooled(treatment: Merging, size: int) -> csr_array:
    """A merging draws only merged values, so all of them are one output."""
    merged = np.append(treatment.merged, True)
    outputs = np.arange(size + 1)
    if treatment.replacement is None:
        outputs[merged] = size
    else:
        outputs[merged] = int(np.argmax(treatment.replacement))
    return csr_array((np.ones(size + 1), (np.arange(size + 1), outputs)), shape=(size + 1, size + 1))


def _grouped(channel: csr_array) -> tuple[Codes, csr_array]:
    """The class of each value, where a class is treated alike, and the channel with one row for each class."""
    lengths, starts = np.diff(channel.indptr), channel.indptr
    classes = np.zeros(len(lengths), dtype=np.int64)
    certain = lengths == 1
    different, classes[certain] = np.unique(channel.indices[starts[:-1][certain]], return_inverse=True)
    numbered: dict[bytes, int] = {}
    for row in np.flatnonzero(~certain):
        part = slice(starts[row], starts[row + 1])
        key = channel.indices[part].tobytes() + channel.data[part].tobytes()
        classes[row] = numbered.setdefault(key, len(different) + len(numbered))
    first = np.unique(classes, return_index=True)[1]
    return classes, channel[first]


def _summed(cells: Codes, mass: Vector) -> tuple[Codes, Vector]:
    """Equal cells added up."""
    different, which = in_order(cells)
    summed: Vector = np.bincount(which, weights=mass, minlength=len(different)).astype(np.float64)
    return different, summed


def _spread(cells: Codes, mass: Vector, column: int, channel: csr_array) -> tuple[Codes, Vector] | None:
    """The cells with a release's outputs in place of the values it is made from; None if there are too many."""
    starts, lengths = channel.indptr[:-1][cells[:, column]], np.diff(channel.indptr)[cells[:, column]]
    total = int(lengths.sum())
    if total > MOST_CELLS:
        return None
    which = np.repeat(np.arange(len(cells)), lengths)
    entry = np.arange(total) - np.repeat(np.cumsum(lengths) - lengths, lengths) + starts[which]
    spread = cells[which]
    spread[:, column] = channel.indices[entry]
    return _summed(spread, mass[which] * channel.data[entry])


def _ends(cells: Codes, mass: Vector) -> tuple[float, float]:
    """The smallest and the largest log-lift of a sparse joint, as distances from 0; a pair that never occurs is inf."""
    total = mass.sum()
    secrets, outputs = np.unique(cells[:, 0], return_inverse=True)[1], in_order(cells[:, 1:])[1]
    prior, marginal = np.bincount(secrets, mass) / total, np.bincount(outputs, mass)
    values = np.log(mass / prior[secrets] / marginal[outputs])
    ruled_out = bool((np.bincount(outputs) < len(prior)).any())
    return (np.inf if ruled_out else max(-float(values.min()), 0.0)), max(float(values.max()), 0.0)
