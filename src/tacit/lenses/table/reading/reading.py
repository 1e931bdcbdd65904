"""``read``: use a release in cells as intended, without the original."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from tacit.codes.descent import Ints
from tacit.codes.scales.kinds.whole import WholeScale
from tacit.document import listed
from tacit.errors import ArgumentError, ColumnError, SourceError
from tacit.learn.arrays import Floats
from tacit.lenses.released import BATCH, ReleasedTable
from tacit.lenses.table.reading.columns import ReadColumn
from tacit.lenses.table.reading.filling import first_fit
from tacit.lenses.table.reading.means import GroupMean, group_means
from tacit.loading import file_sha256
from tacit.release.certificate import CountedCertificate, read_certificate
from tacit.release.data import why_not_certified
from tacit.release.levels import LEVELS, read_code
from tacit.requests.settings import AnyPath
from tacit.tables.formats.frames import in_arrow
from tacit.tables.sources import open_table
from tacit.tables.symbols import in_order

if TYPE_CHECKING:
    import pyarrow as pa


@dataclass(frozen=True)
class ValueCount:
    """How many records of the original have a value of a column, or lie in a range of it.

    ``records`` is an estimate, or None if the release supports none. ``at_least`` rows of the release state the value,
    ``at_most`` rows may mean it: that is certain.
    """

    name: str
    records: float | None
    at_least: int
    at_most: int


@dataclass(frozen=True, eq=False)
class FilledRows:
    """Rows to train a model on: each row of the release several times, filled in with values that it allows.

    Attributes
    ----------
    frame : frame
        The values, as the kind of frame that ``ProtectResult.frame`` gives.
    weight : array of float
        How much each row counts; the rows of a record together count as one.
    record : array of int
        The row of the release from which each was made: the groups for a cross-validation.
    """

    frame: Any
    weight: Floats
    record: Ints


@dataclass(frozen=True, eq=False)
class CellReading:
    """A release in cells, to be counted, averaged and trained on.

    A row that says "A or B", "30 to 39" or "any" is divided among the values that it allows, by how often they occur in
    the whole release. Each estimate comes with what is certain. Columns that are not in cells, such as a secret that
    was kept, are left unchanged.
    """

    columns: Mapping[str, ReadColumn]
    certificate: CountedCertificate
    data: pa.Table = field(repr=False)
    framed: Callable[[Any], Any] = field(default=in_arrow, repr=False)

    def __repr__(self) -> str:
        names = listed([name for name, column in self.columns.items() if len(column.parts) > 1], limit=6) or "nothing"
        return f"<CellReading: {self.data.num_rows:,} records with {names}; counts, means and filled use it>"

    @cached_property
    def cell(self) -> Ints:
        """The number of each row's cell: rows that read alike.

        Do not use cells as the groups of a cross-validation. Without a cell, the remaining records say the opposite of
        it: even a coin toss seems predictable, the wrong way round. Use ``FilledRows.record``.
        """
        return in_order(np.column_stack([column.level for column in self.columns.values()]))[1]

    def counts(self, column: str) -> tuple[ValueCount, ...]:
        """How many records have each value of a column, or lie in each of its finest ranges.

        There is no estimate if the rows that state the value are fewer than half of it: the others were generalised
        because of what they are, often because they are rare, and only the bounds say how many there are.

        Guarantees
        ----------
        The number in the original lies between ``at_least`` and ``at_most``; an estimate is at most twice ``at_least``.
        """
        read = self._column(column)
        numbers = zip(read.names, read.told.estimates.tolist(), read.told.surely, read.told.maybe, strict=True)
        return tuple(
            ValueCount(name, None if math.isnan(records) else round(records, 1), int(surely), int(maybe))
            for name, records, surely, maybe in numbers
        )

    def means(
        self, of: str, *, by: str | None = None, between: tuple[float | None, float | None] = (None, None)
    ) -> tuple[GroupMean, ...]:
        """The mean of a column of numbers for each value, or finest range, of another; without ``by``, of all records.

        How the two go together is worked out from what the release says about both; numbers are assumed to be spread
        evenly within a range, and to thin out beyond an open end. If you know how far they can go (nobody is older than
        120), say so: ``between=(0, 120)``. There is no estimate of a mean that depends on how numbers thin out, or for
        a group that less than half of its records state. Missing numbers are left out.

        Guarantees
        ----------
        The mean in the original lies between ``at_least`` and ``at_most``, if no number is beyond ``between``.
        """
        numbers, groups = self._column(of), self._everybody() if by is None else self._column(by)
        if numbers.ranges is None or numbers.scale.kind != "numbers":
            raise ArgumentError(f"column '{of}' of the release states no numbers, so it has no mean")
        least, most = between
        ranges = numbers.ranges.between(-np.inf if least is None else least, np.inf if most is None else most)
        return group_means(numbers, ranges, groups)

    def filled(self, use: str | None = None, *, times: int = 3, random_state: int | None = None) -> FilledRows:
        """Rows to train a model on, each record ``times`` over; with ``use``, rows that fit it better count more.

        For each row, values that it allows are drawn column by column, by how often they occur. A first, additive model
        says how well they fit the row's value of ``use``, the column to be predicted, and that is the row's weight.
        Dates are dates, codes stay as they are told, and what is not shown at all is missing.

        To cross-validate, fill in without ``use``, because the model behind the weights has seen all records; and keep
        the rows of a record together (``groups=rows.record``). Even so the score is a little too good, because what is
        drawn depends on the cells, and these on what is predicted. Trust the report's score, or original records.
        """
        import pyarrow as pa

        if times < 1:
            raise ArgumentError(f"rows are filled in at least once, not {times} times")
        if use is not None and len(self._column(use).parts) < 2:
            words = (
                f"column '{use}' is not shown at all in this release, so nothing can be learned about it; ask its "
                f"owner "
                "for "
            )
            raise ArgumentError(f"{words}one that keeps it, or predict another: {self!r}")
        rng, n = np.random.default_rng(random_state), self.data.num_rows
        fits = None if use is None else first_fit(self.columns, use, self._column(use), self.cell, rng)
        estimates, weights = [], []
        for _ in range(times):
            atoms = {name: column.drawn(rng) for name, column in self.columns.items()}
            if fits is not None and use is not None:
                # All rows of a record get the same value of the column to be predicted.
                atoms[use] = fits.wanted
                weights.append(fits.weight(atoms))
            drawn = {name: self.columns[name].filled_in(atoms[name], rng) for name in self.columns}
            names = self.data.column_names
            estimates.append(pa.table({name: drawn.get(name, self.data.column(name)) for name in names}))
        weight = np.array(weights) if weights else np.ones((times, n))
        filled = pa.concat_tables(estimates, promote_options="permissive")
        return FilledRows(self.framed(filled), (weight / weight.sum(axis=0)).ravel(), np.tile(np.arange(n), times))

    def _everybody(self) -> ReadColumn:
        """One group that all rows are in."""
        return ReadColumn(WholeScale(""), np.ones((1, 1), dtype=bool), np.zeros(self.data.num_rows, dtype=np.int64))

    def _column(self, name: str) -> ReadColumn:
        if name not in self.columns:
            raise ColumnError(name, tuple(self.columns))
        return self.columns[name]


def read(release: AnyPath | ReleasedTable, *, engine: str = "duckdb") -> CellReading:
    """A release in cells as its reader should use it: ``read("release").means("cost", by="ward")``.

    Do not group a release by a column of cells: the rows that say "Oncology" are not a fair sample of its patients, as
    others say "Oncology or Dermatology", or "any".

    Parameters
    ----------
    release : path or ProtectResult
        The directory that ``protect`` wrote; nothing in ``private/`` is read.
    engine : str
        As in ``audit``.

    Raises
    ------
    ArgumentError
        If the release is not in cells, or they were mixed; ``corrected_counts`` is for the latter.
    SourceError
        If the data or the levels are not what was certified.
    """
    import pyarrow as pa

    folder = Path(release)
    certificate = read_certificate(folder)
    if not isinstance(certificate, CountedCertificate) or not certificate.in_cells:
        raise ArgumentError(f"{folder} is not a release in cells: read its values as they stand")
    if certificate.mechanism.mixes:
        raise ArgumentError(f"cells were mixed in {folder}, so what a row says may be another's: see corrected_counts")
    output, levels = certificate.output, folder / LEVELS
    if why_not_certified(folder, certificate) is not None:
        raise SourceError(f"{folder / output.file} is not what was certified: get the whole release again")
    if not levels.is_file() or file_sha256(levels) != output.levels_sha256:
        raise SourceError(f"{levels} is not what was certified: get the whole release again")
    code, table = read_code(folder), open_table(folder / output.file, engine=engine)
    assert code is not None
    data = pa.concat_tables(table.batches(table.names, BATCH))
    columns = {
        name: ReadColumn.of(code.scales[at], code.meant(at), data.column(name)) for at, name in enumerate(code.columns)
    }
    return CellReading(columns, certificate, data, release.framed if isinstance(release, ReleasedTable) else in_arrow)
