"""All records of all sources: one long table of attributes in the engine, and the name of each record."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterable
from dataclasses import dataclass, field
from operator import attrgetter
from typing import TYPE_CHECKING

from tacit.errors import DataError
from tacit.person.link.attributes import Attributes, IntArray, records as contents
from tacit.person.model.records import Attribute, Record
from tacit.person.sources.places import Place

if TYPE_CHECKING:
    import pyarrow as pa


@dataclass(frozen=True, eq=False)
class PoolSource:
    """A source that was read: where its records are among all, and where it is; ``sha256`` is None for no files.

    Its records are ``first`` to ``first + records - 1``; ``names`` is an Arrow array of their names in the file, or
    None if it has none: then they are named by the number of their row, from 1. If only some of its records are in the
    pool, ``rows`` are the places of these in the file, ascending, and ``of`` is how many it has.
    """

    name: str
    path: Place
    first: int
    records: int
    sha256: str | None
    names: pa.Array | None = field(repr=False)
    rows: IntArray | None = field(default=None, repr=False)
    of: int | None = None

    @property
    def counted(self) -> int:
        """How many records the file has."""
        return self.records if self.of is None else self.of

    def row(self, rid: int) -> int:
        """The number of a record's row in the file, from 1."""
        place = rid - self.first
        return 1 + (place if self.rows is None else int(self.rows[place]))


@dataclass(frozen=True, eq=False, repr=False)
class RecordPool:
    """All records of all sources; ``repr`` shows how many there are, but no value.

    Attributes
    ----------
    attributes : Attributes
        The long table (rid, label, value, confidence) in the engine; records are numbered from 0, source after source,
        those without any attribute included.
    sources : tuple of PoolSource
        In the order of the case.
    notes : tuple of str
        What was left out or assumed, in sentences without values.
    formed : Attributes, optional
        The same in normal form, if they are available.
    """

    attributes: Attributes
    sources: tuple[PoolSource, ...]
    notes: tuple[str, ...]
    formed: Attributes | None = None

    @property
    def n_records(self) -> int:
        """How many records there are."""
        return self.attributes.records

    def source(self, rid: int) -> PoolSource:
        """The source of a record."""
        if not 0 <= rid < self.n_records:
            raise DataError(f"no record {rid}: there are {self.n_records:,}, numbered from 0")
        return self.sources[bisect_right(self.sources, rid, key=attrgetter("first")) - 1]

    def name(self, rid: int) -> str:
        """The name of a record: its source, and its name there or the number of its row, from 1."""
        source = self.source(rid)
        own = None if source.names is None else source.names[rid - source.first].as_py()
        return f"{source.name} {own if own is not None else source.row(rid)}"

    def numbered(self, rids: Iterable[int]) -> list[Record]:
        """Records from the engine, in the order asked for, named by their numbers, which reveal no value."""
        wanted = [int(rid) for rid in rids]
        attributes_of = contents(self.attributes, wanted)
        return [
            Record.trusted(
                (Attribute(*parts) for parts in attributes_of[rid]), name=str(rid), source=self.source(rid).name
            )
            for rid in wanted
        ]

    def name_table(self) -> pa.Table:
        """The name of every record, as a table (rid, source, own, whole): its own, and with the source in front."""
        import numpy as np
        import pyarrow as pa
        import pyarrow.compute as pc

        parts = []
        for source in self.sources:
            rows = pa.array(np.arange(1, source.records + 1)).cast(pa.string())
            own = rows if source.names is None else pc.coalesce(source.names.cast(pa.string()), rows)
            columns = {
                "rid": pa.array(np.arange(source.first, source.first + source.records)),
                "source": pa.array([source.name] * source.records, pa.string()),
                "own": own,
                "whole": pc.binary_join_element_wise(pa.scalar(source.name), own, " "),
            }
            parts.append(pa.table(columns))
        return pa.concat_tables(parts)

    def __repr__(self) -> str:
        return f"RecordPool({self.n_records:,} records of {len(self.sources)} sources)"
