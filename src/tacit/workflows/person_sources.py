"""Sources read into records: one long table of attributes, in the engine."""

from __future__ import annotations

import hashlib
from bisect import bisect_right
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from difflib import get_close_matches
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any, Self

from tacit.errors import DataError, SourceError
from tacit.person.records import Attribute, Record
from tacit.tables.table import ROW, Table
from tacit.workflows.person_case_model import AugmentStep, Case, ResolveStep, Source
from tacit.workflows.person_case_sources import labelled
from tacit.workflows.tabulating import Progress, silent

if TYPE_CHECKING:
    import duckdb
    import pyarrow as pa

    from tacit.tables.linking import Attributes

# Attributes that travel from a source to the engine at a time.
BATCH = 100_000


@dataclass(frozen=True)
class SourceFacts:
    """A source that was read: where its records are among all, and what its file was.

    Its records are ``first`` to ``first + records - 1``.
    """

    name: str
    path: Path
    format: str
    first: int
    records: int
    sha256: str


@dataclass(frozen=True, eq=False, repr=False)
class Evidence:
    """All records of all sources; ``repr`` shows how many there are and no value.

    Attributes
    ----------
    attributes : tacit.tables.linking.Attributes
        The long table (rid, label, value, confidence) in the engine; records are numbered from 0, source after source,
        those without any attribute included.
    sources : tuple of SourceFacts
        In the order of the case.
    names : tuple of Arrow arrays or None, one for each source
        What the file calls its records; None if it does not, then they are called by the number of their row.
    notes : tuple of str
        What was left out or assumed, in sentences without values.
    """

    attributes: Attributes
    sources: tuple[SourceFacts, ...]
    names: tuple[pa.Array | None, ...]
    notes: tuple[str, ...]

    @property
    def n_records(self) -> int:
        """How many records there are."""
        return sum(source.records for source in self.sources)

    @cached_property
    def _starts(self) -> list[int]:
        return [source.first for source in self.sources]

    def source(self, rid: int) -> SourceFacts:
        """The source of a record."""
        if not 0 <= rid < self.n_records:
            raise DataError(f"no record {rid}: there are {self.n_records:,}, numbered from 0")
        return self.sources[bisect_right(self._starts, rid) - 1]

    def name(self, rid: int) -> str:
        """What a record is called: its source, and what the source calls it or the number of its row, from 1."""
        source = self.source(rid)
        names = self.names[self.sources.index(source)]
        own = None if names is None else names[rid - source.first].as_py()
        return f"{source.name} {own if own is not None else rid - source.first + 1}"

    def record(self, rid: int) -> Record:
        """One record."""
        return self.records([rid])[0]

    def records(self, rids: Iterable[int] | None = None) -> list[Record]:
        """Some records, or all, in the order asked for: these leave the engine."""
        from tacit.tables import linking

        wanted = list(range(self.n_records)) if rids is None else [int(rid) for rid in rids]
        held = linking.records(self.attributes, wanted)
        return [
            Record.trusted(
                (Attribute(*parts) for parts in held[rid]), name=self.name(rid), source=self.source(rid).name
            )
            for rid in wanted
        ]

    def __repr__(self) -> str:
        return f"Evidence({self.n_records:,} records of {len(self.sources)} sources)"


@dataclass(frozen=True)
class _Opened:
    """A source whose records have been counted and checked; ``rows`` gives its attributes in batches."""

    records: int
    names: pa.Array | None
    notes: tuple[str, ...]
    rows: Any


@dataclass(frozen=True)
class _Cell:
    """A column that becomes attributes: its label, the SQL of its text or texts, and whether it holds lists."""

    label: str
    sql: str
    several: bool


def read_sources(case: Case, *, progress: Progress = silent) -> Evidence:
    """Read all sources of a case.

    The confidence of an attribute is that of its source, times that of its label, times that of its row. Empty cells
    are no attributes, and neither is what has confidence 0. Numbers are written as people write them; a list in a cell
    is several values. Of a label and value that a record says twice the better confidence counts.

    Guarantees
    ----------
    Rows of tables stay in the engine and are never all in memory. No message holds a value of a person.
    """
    from tacit.tables import linking

    opened: list[_Opened] = []
    facts: list[SourceFacts] = []
    first = 0
    for place, source in enumerate(case.sources):
        progress(f"opening {source.name}", place / len(case.sources))
        found = _opened(source, case)
        opened.append(found)
        facts.append(SourceFacts(source.name, source.path, source.format, first, found.records, _sha256(source)))
        first += found.records
    with _Stream(facts, opened, progress) as stream:
        attributes = linking.attributes(stream.reader(), records=first)
    notes = [note for found in opened for note in found.notes]
    notes += [*_undescribed(case, attributes.labels), *_joinless(case, attributes.labels)]
    return Evidence(attributes, tuple(facts), tuple(found.names for found in opened), tuple(notes))


def _undescribed(case: Case, labels: tuple[str, ...]) -> list[str]:
    if case.person is None:
        return []
    true = {label for label, _ in case.person}
    notes = []
    strange = [label for label in labels if label not in true | set(case.labels)]
    if strange:
        shown = ", ".join(strange[:20]) + (", …" if len(strange) > 20 else "")
        notes.append(
            f"labels that the person has no value of count as wrong: {shown}; to leave a column out map it to null"
        )
    others = [label for label in labels if label not in true]
    for label in sorted(true.difference(labels)):
        if near := get_close_matches(label, others, n=1, cutoff=0.75):
            notes.append(
                f"the person has '{label}', which no record has, and records have '{near[0]}', which the person has "
                "not: if they are the same, write them alike"
            )
    return notes


def _joinless(case: Case, labels: tuple[str, ...]) -> list[str]:
    """Rules that can join nothing, because no record has one of their labels."""
    notes = []
    for spec in case.adversaries:
        held = set(labels) | {step.adds for step in spec.steps if isinstance(step, AugmentStep)}
        rules = [rule for step in spec.steps if isinstance(step, ResolveStep) for rule in step.rules]
        for rule in rules:
            if missing := [label for label in rule if label not in held]:
                notes.append(
                    f"adversary '{spec.name}': the rule {' + '.join(rule)} joins nothing, as no record has "
                    f"{' and '.join(missing)}"
                )
    return notes


class _Stream:
    """The attributes of all sources, one batch after the other.

    Within it what stopped the stream is raised as it was: the engine that reads it wraps it in an error of its own.
    """

    def __init__(self, facts: list[SourceFacts], opened: list[_Opened], progress: Progress) -> None:
        self._failure: BaseException | None = None
        self._facts, self._opened, self._progress = facts, opened, progress

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: object) -> None:
        if error is not None and self._failure is not None:
            raise self._failure from None

    def reader(self) -> pa.RecordBatchReader:
        import pyarrow as pa

        return pa.RecordBatchReader.from_batches(schema(), self._batches())

    def _batches(self) -> Iterator[pa.RecordBatch]:
        try:
            for place, (facts, opened) in enumerate(zip(self._facts, self._opened, strict=True)):
                self._progress(f"reading {facts.name}", place / len(self._facts))
                yield from opened.rows(facts.first)
        except GeneratorExit:
            # The engine stopped reading, for a reason of its own.
            raise
        except BaseException as failure:
            self._failure = failure
            raise


def schema() -> pa.Schema:
    """Of the long table."""
    import pyarrow as pa

    return pa.schema(
        [("rid", pa.int64()), ("label", pa.string()), ("value", pa.string()), ("confidence", pa.float64())]
    )


def _sha256(source: Source) -> str:
    path = source.path if source.path.exists() else Path(str(source.path).rsplit("::", 1)[0])
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def _opened(source: Source, case: Case) -> _Opened:
    try:
        if source.format == "features":
            return _open_features(source)
        if source.format == "breaches":
            return _open_breaches(source, case)
        return _open_table(source)
    except OSError as error:
        raise SourceError(f"cannot read {source.path}: {error.strerror}") from error


def _open_table(source: Source) -> _Opened:
    from tacit.tables.duckdb_engine import answered
    from tacit.tables.sources import open_table
    from tacit.workflows.person_sources_cells import any_text, picked, texts

    table = open_table(source.path)
    columns = labelled(source, table.names)
    wanted = _wanted(source, table.names)
    beside = [name for name in (source.identifier, source.confidence_column) if name is not None]
    table.require([*source.columns.keys() - {"*"}, *beside, *wanted])
    relation = picked(table, wanted)
    found = texts(table, wanted, relation, any_text)
    several = [str(kind).endswith("]") for kind in relation.types]
    cells = [_Cell(*parts) for parts in zip((label for _, label in columns), found, several, strict=False)]
    cells += _joined(source, wanted, found, several)
    with table.reading():
        records, notes = answered(lambda: _checked(table, source))
        names = answered(lambda: _names(table, source.identifier))

    def rows(first: int) -> Iterator[pa.RecordBatch]:
        made = _long(table, source, cells, first)
        with table.reading():
            for batch in made.to_arrow_reader(BATCH) if made is not None else ():
                yield batch.cast(schema()) if batch.schema != schema() else batch

    return _Opened(records, names, notes, rows)


def _wanted(source: Source, names: tuple[str, ...]) -> list[str]:
    """The columns to look at: those that become attributes, and then those that are parts of one."""
    own = [name for name, _ in labelled(source, names)]
    parts = dict.fromkeys(name for columns in source.joined.values() for name in columns)
    return [*own, *(name for name in parts if name not in own)]


def _joined(source: Source, wanted: list[str], texts: list[str], several: list[bool]) -> list[_Cell]:
    """Values that columns make up together, with a space between; empty cells are passed over."""
    cells = []
    for label, columns in source.joined.items():
        places = [wanted.index(name) for name in columns]
        if any(several[place] for place in places):
            raise DataError(f"source '{source.name}': 'join' of '{label}' has a column of lists: join texts alone")
        parts = ", ".join(f"trim({texts[place]})" for place in places)
        cells.append(_Cell(label, f"nullif(concat_ws(' ', {parts}), '')", several=False))
    return cells


_SHARE = "f"


def _with_share(table: Table, columns: list[str], share: str | None) -> duckdb.DuckDBPyRelation:
    """The columns as c0, c1, ..., and the row's own confidence as the text ``f``."""
    from tacit.workflows.person_sources_cells import picked

    relation = picked(table, [*columns, share] if share is not None else columns)
    kept = [f"c{at}" for at in range(len(columns))]
    own = f"trim(CAST(c{len(columns)} AS VARCHAR))" if share is not None else "'1'"
    return relation.project(", ".join([*kept, f'"{ROW}"', f"{own} AS {_SHARE}"]))


def _checked(table: Table, source: Source) -> tuple[int, tuple[str, ...]]:
    """The number of rows, and a note if some have no confidence; a DataError names the first that has a wrong one."""
    if source.confidence_column is None:
        return table.row_count(), ()
    relation = _with_share(table, [], source.confidence_column)
    wrong = f"coalesce(NOT (try_cast({_SHARE} AS DOUBLE) BETWEEN 0 AND 1), true)"
    records, missing, first = relation.query(
        "t",
        f"SELECT count(*), count(*) FILTER (coalesce({_SHARE}, '') = ''), "
        f"min(\"{ROW}\") FILTER (coalesce({_SHARE}, '') <> '' AND {wrong}) FROM t",
    ).fetchall()[0]
    if first is not None:
        raise DataError(
            f"{table.name}, row {first + 1}: '{source.confidence_column}' is no confidence: a number from 0 to 1"
        )
    if not missing:
        return records, ()
    return records, (_unsure(source, missing),)


def _unsure(source: Source, rows: int) -> str:
    said = "1 row has" if rows == 1 else f"{rows:,} rows have"
    return f"source '{source.name}': {said} no '{source.confidence_column}', which was taken to be 1"


def _names(table: Table, identifier: str | None) -> pa.Array | None:
    if identifier is None:
        return None
    from tacit.workflows.person_sources_cells import cell_text, picked, texts

    relation = picked(table, [identifier])
    (name,) = texts(table, [identifier], relation, cell_text)
    found = relation.query("t", f'SELECT {name} AS name FROM t ORDER BY "{ROW}"').to_arrow_table()
    return _distinct(found.column("name").combine_chunks())


def _distinct(names: pa.Array) -> pa.Array:
    """Names of records, those that several have told apart by the row."""
    import pyarrow as pa
    import pyarrow.compute as pc

    if pc.count_distinct(names).as_py() == len(names) - names.null_count:
        return names
    counts = pc.value_counts(names)
    twice = counts.field("values").filter(pc.greater(counts.field("counts"), 1))
    rows = pa.array(range(1, len(names) + 1)).cast(pa.string())
    told = pc.binary_join_element_wise(names, " (row ", rows, ")", "")
    return pc.if_else(pc.is_in(names, twice), told, names)


def _long(table: Table, source: Source, cells: list[_Cell], first: int) -> duckdb.DuckDBPyRelation | None:
    """The attributes of a table: every row becomes two lists, of labels and values, and they are laid end to end.

    Cells with lists are looked at one column after the other.
    """
    from tacit.tables.duckdb_engine import text

    if not cells:
        return None
    relation = _with_share(table, _wanted(source, table.names), source.confidence_column)
    row = f'"{ROW}" + {first} AS rid, coalesce(try_cast({_SHARE} AS DOUBLE), 1.0) AS f'
    parts = []
    single = [cell for cell in cells if not cell.several]
    if single:
        labels, values = (", ".join(each) for each in ((text(c.label) for c in single), (c.sql for c in single)))
        parts.append(f"SELECT {row}, unnest([{labels}]) AS label, unnest([{values}]) AS value FROM t")
    for cell in cells:
        if cell.several:
            parts.append(f"SELECT {row}, {text(cell.label)} AS label, unnest({cell.sql}) AS value FROM t")
    shares = {cell.label: source.confidence * source.label_confidence.get(cell.label, 1.0) for cell in cells}
    chosen = " ".join(f"WHEN {text(label)} THEN {share!r}" for label, share in shares.items())
    share = f"CAST(CASE label {chosen} END AS DOUBLE)"
    return relation.query(
        "t",
        f"WITH long AS ({' UNION ALL '.join(parts)}) SELECT CAST(rid AS BIGINT) AS rid, label, value, "
        f"f * {share} AS confidence FROM long WHERE value IS NOT NULL AND f * {share} > 0",
    )


def _packed(found: list[tuple[int, list[tuple[str, str]], float]], source: Source) -> Any:
    """Records read one by one, as batches: (position, labels and values, confidence)."""
    import pyarrow as pa

    said = [
        (rid, label, value, confidence * source.confidence * source.label_confidence.get(label, 1.0))
        for rid, facts, confidence in found
        for label, value in facts
    ]
    said = [row for row in said if row[3] > 0]
    columns: tuple[Any, ...] = tuple(zip(*said, strict=True)) if said else ((), (), (), ())

    def rows(first: int) -> Iterator[pa.RecordBatch]:
        import pyarrow.compute as pc

        held = [pa.array(column, kind.type) for column, kind in zip(columns, schema(), strict=True)]
        held[0] = pc.add(held[0], first)
        yield pa.RecordBatch.from_arrays(held, schema=schema())

    return rows


def _open_features(source: Source) -> _Opened:
    import pyarrow as pa

    from tacit.workflows.person_sources_features import read_features

    found: list[tuple[int, list[tuple[str, str]], float]] = []
    names: list[str] = []
    unknown: set[str] = set()
    unsure = 0
    for place, (name, facts, confidence, strange) in enumerate(read_features(source)):
        names.append(name)
        unknown |= strange
        unsure += confidence is None
        found.append((place, facts, 1.0 if confidence is None else confidence))
    notes = []
    if unknown:
        notes.append(f"source '{source.name}': feature attributes without a label: {', '.join(sorted(unknown))}")
    if unsure:
        notes.append(_unsure(source, unsure))
    return _Opened(len(found), _distinct(pa.array(names, pa.string())), tuple(notes), _packed(found, source))


def _open_breaches(source: Source, case: Case) -> _Opened:
    import pyarrow as pa

    from tacit.workflows.person_sources_breaches import read_breaches

    breaches = read_breaches(source, case.reference)
    found = []
    for place, (_, labels, confidence) in enumerate(breaches.records):
        facts = [(label, value) for label in labels for value in case.reference.values(label)]
        found.append((place, facts, confidence))
    names = [name for name, _, _ in breaches.records]
    return _Opened(len(found), _distinct(pa.array(names, pa.string())), breaches.notes, _packed(found, source))
