"""Tables of PostgreSQL by ADBC: the server counts and samples; rows come as Arrow streams, and DuckDB works on them.

Everything is read from one snapshot of a table, whatever others write meanwhile.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import closing, contextmanager
from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any, NoReturn
from urllib.parse import unquote, urlsplit
from weakref import finalize, ref

from tacit.errors import EngineError, SourceError
from tacit.loading import without_credentials
from tacit.tables.columns import Kind
from tacit.tables.engines.duckdb.connections import answered, private_file
from tacit.tables.engines.duckdb.engine import DuckDBEngine
from tacit.tables.engines.duckdb.sql import identifier, text

if TYPE_CHECKING:
    import pyarrow as pa

    from tacit.tables.engines.coarsening import Coarsening
    from tacit.tables.engines.protocol import Rows

_KINDS = "'r', 'p', 'v', 'm', 'f'"
_TABLES = f"""
SELECT n.nspname AS schema, c.relname AS name, c.relkind::text AS kind, c.oid::bigint AS oid
FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace
WHERE c.relkind IN ({_KINDS}) AND NOT c.relispartition AND n.nspname !~ '^(pg_|information_schema$)'
AND has_schema_privilege(n.oid, 'USAGE') AND has_table_privilege(c.oid, 'SELECT') ORDER BY 1, 2"""
_COLUMNS = """
SELECT a.attname AS name, t.typname AS type, t.typcategory::text AS category, a.atttypmod AS modifier
FROM pg_attribute a JOIN pg_type t ON t.oid = a.atttypid
WHERE a.attrelid = {oid} AND a.attnum > 0 AND NOT a.attisdropped ORDER BY a.attnum"""
_KEY = """
SELECT a.attname AS name FROM pg_index i, unnest(i.indkey) WITH ORDINALITY AS k(attnum, place)
JOIN pg_attribute a ON a.attrelid = {oid} AND a.attnum = k.attnum
WHERE i.indrelid = {oid} AND i.indisprimary ORDER BY k.place"""
# Types that are transferred unchanged; all others, such as uuid, enumerations and intervals, come as text.
_AS_THEY_ARE = frozenset(
    ("int2", "int4", "int8", "float4", "float8", "bool", "date", "time", "timestamp", "timestamptz", "bytea")
)
_DATES = frozenset(("date", "timestamp", "timestamptz"))
_TEXTS = frozenset(("text", "varchar", "bpchar", "name", "char", "citext"))


_NO_KEY = (
    "the table has no primary key: its rows are in the order in which they are stored, which changes when they are "
    "updated, and a release could then not be verified against it; give it a key, or keep the copy that is protected"
)


@dataclass(frozen=True)
class _Column:
    """A column of a table on the server: how it is asked for, and what it is here."""

    name: str
    type: str
    category: str
    modifier: int

    @property
    def decimal(self) -> tuple[int, int] | None:
        """The digits of a number of fixed length, and those after the decimal point."""
        if self.type != "numeric" or self.modifier < 4:
            return None
        precision, scale = (self.modifier - 4) >> 16 & 0xFFFF, (self.modifier - 4) & 0x7FF
        return (precision, scale) if precision <= 38 and scale <= precision else None

    @property
    def asked(self) -> str:
        """SQL that reads it: text is compared byte by byte, whatever its collation.

        NaN of a numeric is missing, and so is an infinite date, which Arrow has no room for.
        """
        column = identifier(self.name)
        if self.type in _DATES:
            return f"CASE WHEN isfinite({column}) THEN {column} END"
        if self.type in _AS_THEY_ARE or self.category == "A":
            return column
        if self.type == "numeric":
            return f"nullif({column}, 'NaN')::text COLLATE \"C\""
        return f'{column}::text COLLATE "C"'

    @property
    def kind(self) -> Kind | None:
        """What a column holds, where its type here does not tell: a number of any length comes as text."""
        return "number" if self.type == "numeric" else None

    def here(self, arrow_type: pa.DataType) -> pa.DataType:
        """The Arrow type that it has here."""
        import pyarrow as pa

        if self.decimal:
            return pa.decimal128(*self.decimal)
        return arrow_type if self.type in _AS_THEY_ARE or self.category == "A" else pa.string()


# Whole numbers of so many digits are exact as floats, and so are their quotients by powers of ten.
_EXACT_DIGITS = 15
_NUMBERS = frozenset(("int2", "int4", "int8", "float4", "float8"))


@dataclass(frozen=True)
class _Key:
    """What the server sends of a column, and what stands here in its place.

    Attributes
    ----------
    column : _Column
    sql : str
        What the server computes; the column as it is, or a number or text that tells enough of it.
    stands : tuple, optional
        For a number, a value that it tells enough of.
    told : tuple of callables
        What the values become, one step after the other.
    """

    column: _Column
    sql: str
    stands: tuple[Any, ...] | None = None
    told: tuple[Callable[[Sequence[Any]], Iterable[Any]], ...] = ()

    def coarser(self, way: Coarsening, utf8: bool) -> _Key | None:
        """The key of the column once it is replaced; None where the server could take a value for another one.

        Texts are compared as in DuckDB if the server keeps them in UTF-8. A number of more digits than a float holds is
        rounded differently here and there.
        """
        here, sql, steps = self.column, self.column.asked, (*self.told, way.told)
        if self.told or way.by_value:
            # Python has no dates outside the years 1 to 9999, which DuckDB compares all the same.
            return replace(self, told=steps) if self.told or here.type not in _DATES else None
        if way.edges is not None:
            if not (here.type in _NUMBERS or (here.decimal is not None and here.decimal[0] <= _EXACT_DIGITS)):
                return None
            edges = text("{" + ",".join(map(repr, way.edges)) + "}")
            number = f"nullif({identifier(here.name)}::float8, 'NaN')"
            return _Key(here, f"width_bucket({number}, {edges}::float8[])", (-math.inf, *way.edges), steps)
        if way.stretch is not None:
            if here.type not in _DATES:
                return None
            moment = f"({sql})" + (" AT TIME ZONE 'UTC'" if here.type == "timestamptz" else "::timestamp")
            first, last = (f"timestamp {text(each.isoformat(' '))}" for each in (way.stretch.first, way.stretch.last))
            unit = f"date_trunc({text(way.stretch.unit)}, least(greatest({moment}, {first}), {last}))"
            # The least of several values leaves out those that are missing.
            return _Key(here, f"CASE WHEN {moment} IS NOT NULL THEN {unit} END", None, steps)
        if way.length == 0:
            return _Key(here, f"CASE WHEN {sql} IS NOT NULL THEN 0 END", ("",), steps)
        if here.type not in _TEXTS or not utf8:
            return None
        if way.length is not None:
            return _Key(here, f"left({sql}, {way.length})", None, steps)
        starts = f"ARRAY[{', '.join(map(text, way.starts or ()))}]::text[]"
        return _Key(here, f"width_bucket({sql}, {starts})", ("", *(way.starts or ())), steps)

    def read(self, sent: pa.ChunkedArray) -> pa.ChunkedArray:
        """What stands here in place of what the server sent."""
        import pyarrow as pa

        sent = _plain(sent)
        if self.sql == self.column.asked:
            sent = sent.cast(self.column.here(sent.type))
        if not self.told:
            return sent
        numbered = sent.combine_chunks().dictionary_encode()
        values = [*numbered.dictionary.to_pylist(), None]
        if self.stands is not None:
            values = [None if each is None else self.stands[each] for each in values]
        for step in self.told:
            values = list(step(values))
        named = pa.array(values)
        if pa.types.is_null(named.type):
            named = named.cast(pa.string())
        return pa.chunked_array([named.take(numbered.indices.fill_null(len(values) - 1))])


class PostgresEngine(DuckDBEngine):
    """A table on a server: its rows are streamed to DuckDB each time, or copied once where their order matters.

    Rows whose columns are those of the table, or were replaced in a way that the server can follow, are counted there.
    """

    brings_few = False

    def __init__(self, address: str, memory: str | None = None) -> None:
        super().__init__(memory)
        parts = urlsplit(address)
        path = [unquote(each) for each in parts.path.split("/") if each]
        # The table that the address names.
        self.named = path[1] if len(path) == 2 else None
        if len(path) > 2:
            raise SourceError(
                f"{without_credentials(address)} is not an address: write postgresql://HOST/DATABASE/TABLE"
            )
        database = parts.path.split("/")[1] if path else ""
        self._uri = f"postgresql://{parts.netloc}/{database}" + (f"?{parts.query}" if parts.query else "")
        self._secret = unquote(parts.password) if parts.password else None
        self.shown = without_credentials(f"postgresql://{parts.netloc}/{database}")
        self._copy: Path | None = None
        self._main: Any = None
        # What the server is asked for in place of the columns of rows, by their id. Rows hold their engine: if it
        # held them too, both would stay, and the connection with them.
        self._keys: dict[int, tuple[ref[Rows], dict[str, _Key]]] = {}
        self._base: ref[Rows] | None = None
        # What a reader would want to know about the table that was opened.
        self.notes: list[str] = []

    def tables(self) -> list[str]:
        """The tables that may be read; those of ``public`` without their schema."""
        with self._refusals():
            self._main = self._connected()
            finalize(self, self._main.close)
            self._ask("SET TRANSACTION ISOLATION LEVEL REPEATABLE READ READ ONLY")
            self._ask("SET LOCAL standard_conforming_strings = on")
            encoding = self._ask("SELECT getdatabaseencoding()::text AS name").column("name")[0].as_py()
            self._utf8 = encoding == "UTF8"
            tables = self._ask(_TABLES).to_pylist()
        self._tables = {t["name"] if t["schema"] == "public" else f"{t['schema']}.{t['name']}": t for t in tables}
        return list(self._tables)

    def opened(self, table: str) -> tuple[Rows, list[Kind | None]]:
        """One of its tables: its rows, and what its columns hold where their types here do not tell."""
        entry = self._tables[table]
        self._place = f"{identifier(entry['schema'])}.{identifier(entry['name'])}"
        with self._refusals():
            self._columns = [_Column(**each) for each in self._ask(_COLUMNS.format(oid=entry["oid"])).to_pylist()]
            key = [identifier(each["name"]) for each in self._ask(_KEY.format(oid=entry["oid"])).to_pylist()]
            self._order = f"ORDER BY {', '.join(key)}" if key else ""
            self.notes = [] if key else [_NO_KEY]
            self._snapshot = self._exported(entry["kind"])
        rows = self.of_arrow(self._streamed()) if self._snapshot else self._spooled()
        self._base = ref(rows)
        if self._snapshot:
            self._remember(rows, {each.name: _Key(each, each.asked) for each in self._columns})
        return rows, [each.kind for each in self._columns]

    def pinned(self, rows: Rows) -> Rows:
        """The rows in a private copy, in the order of the primary key, or as stored."""
        unchanged = self._base is not None and self._base() is rows
        return self._spooled() if unchanged and self._snapshot else rows

    def renamed(self, rows: Rows, columns: Sequence[str], names: Sequence[str]) -> Rows:
        result, keys = super().renamed(rows, columns, names), self._keys_of(rows)
        if keys is not None:
            self._remember(result, {new: keys[old] for old, new in zip(columns, names, strict=True) if old in keys})
        return result

    def coarsened(self, before: Rows, after: Rows, ways: Mapping[str, Coarsening | None]) -> Rows:
        """The rows ``after``, which the server counts by the columns that it reads as DuckDB does."""
        keys = self._keys_of(before)
        if keys is not None:
            coarser = {
                name: key if name not in ways else None if (way := ways[name]) is None else key.coarser(way, self._utf8)
                for name, key in keys.items()
            }
            self._remember(after, {name: key for name, key in coarser.items() if key is not None})
        return after

    def counted(self, rows: Rows, columns: Sequence[str], names: Sequence[str], most: int) -> pa.Table | None:
        """How many rows have each combination of values, counted by the server; None for rows that it does not hold.

        If columns were replaced, different groups may have the same values.
        """
        keys = self._keys_for(rows, columns)
        if keys is None:
            return None
        shown = "".join(f"{key.sql} AS {name}, " for key, name in zip(keys, names, strict=True))
        groups = f"GROUP BY {', '.join(str(at + 1) for at in range(len(names)))}" if names else ""
        with self._refusals():
            sent = self._ask(f"SELECT {shown}count(*) AS n FROM {self._place} {groups} LIMIT {most}")
        if sent.num_rows == most and any(key.told for key in keys):
            # Fewer combinations may be left once groups of the same values are added up.
            return None
        return _read(sent, keys)

    def spaced(self, rows: Rows, columns: Sequence[str], step: int) -> pa.Table | None:
        """Every ``step``-th row by the server's own count of them, in the order in which rows are streamed."""
        keys = self._keys_for(rows, columns)
        if keys is None or not keys or self._copy is not None:
            return None
        shown = ", ".join(f"{key.sql} AS c{at}" for at, key in enumerate(keys))
        names = ", ".join(f"c{at}" for at in range(len(keys)))
        placed = f"SELECT {shown}, row_number() OVER ({self._order}) - 1 AS place FROM {self._place}"
        with self._refusals():
            cursor = self._in_order(f"SELECT {names} FROM ({placed}) s WHERE place % {step} = 0 ORDER BY place")
            with closing(cursor.connection), cursor:
                sent = cursor.fetch_arrow_table()
        return _read(sent, keys).rename_columns(list(columns))

    def _keys_for(self, rows: Rows, columns: Sequence[str]) -> list[_Key] | None:
        """What the server is asked for in place of columns; None if it cannot be, or does not hold the rows."""
        keys = self._keys_of(rows)
        return [keys[name] for name in columns] if keys is not None and keys.keys() >= set(columns) else None

    def _keys_of(self, rows: Rows) -> dict[str, _Key] | None:
        return self._keys[id(rows)][1] if id(rows) in self._keys else None

    def _remember(self, rows: Rows, keys: dict[str, _Key]) -> None:
        at, registry = id(rows), self._keys
        registry[at] = ref(rows, lambda _: registry.pop(at, None)), keys

    def _streamed(self) -> Any:
        """The table as a dataset from which DuckDB requests the columns it needs, each time it needs them."""
        with self._refusals():
            stream = _dataset()(_typed(self._ask(self._selecting(self._columns, "LIMIT 0")), self._columns))
        stream.scanned = self._scanner
        return stream

    def _scanner(self, columns: Sequence[str] | None = None, filter: Any = None, **_: Any) -> Any:
        import pyarrow.dataset as ds

        if self._copy is not None:
            return ds.dataset(self._copy).scanner(columns=columns, filter=filter)
        reader = self._reader([each for each in self._columns if columns is None or each.name in columns])
        return ds.Scanner.from_batches(reader, columns=columns, filter=filter)

    def _reader(self, columns: Sequence[_Column]) -> pa.RecordBatchReader:
        """Some columns of all rows, in order, on a connection of their own that sees what the first one saw."""
        import pyarrow as pa

        with self._refusals():
            cursor = self._in_order(self._selecting(columns, self._order))
            batches = cursor.fetch_record_batch()

        def rows() -> Iterator[pa.RecordBatch]:
            try:
                with self._refusals():
                    for batch in batches:
                        yield from _typed(pa.Table.from_batches([batch]), columns).to_batches()
            finally:
                cursor.close()
                cursor.connection.close()

        return pa.RecordBatchReader.from_batches(_typed(batches.schema.empty_table(), columns).schema, rows())

    def _in_order(self, query: str) -> Any:
        """A cursor with the answer to a query, on a connection of its own that sees what the first one saw."""
        connection = self._connected()
        cursor = connection.cursor()
        cursor.execute("SET TRANSACTION ISOLATION LEVEL REPEATABLE READ READ ONLY")
        if self._snapshot:
            cursor.execute(f"SET TRANSACTION SNAPSHOT {text(self._snapshot)}")
        # Rows without a key come in the order in which they are stored, whatever columns are asked for.
        settings = ["synchronize_seqscans = off", "max_parallel_workers_per_gather = 0"]
        settings += ["standard_conforming_strings = on"]
        if not self._order:
            settings += [f"enable_{how} = off" for how in ("indexscan", "indexonlyscan", "bitmapscan")]
        for each in settings:
            cursor.execute(f"SET LOCAL {each}")
        cursor.execute(query)
        return cursor

    def _spooled(self) -> Rows:
        """All rows, in order, in a private copy."""
        import pyarrow.parquet as pq

        def copied() -> Path:
            copy, reader = private_file(self, ".parquet"), self._reader(self._columns)
            with pq.ParquetWriter(copy, reader.schema) as writer:
                for batch in reader:
                    writer.write_batch(batch)
            return copy

        if self._copy is None:
            with self._refusals():
                self._copy = answered(copied)
        return self.of_parquet((self._copy,), [each.name for each in self._columns], {})

    def _selecting(self, columns: Sequence[_Column], rest: str) -> str:
        shown = ", ".join(f"{each.asked} AS {identifier(each.name)}" for each in columns)
        return f"SELECT {shown} FROM {self._place} {rest}"

    def _exported(self, kind: str) -> str | None:
        """The name of the snapshot, for other connections; None for a view, whose rows may differ each time."""
        if kind not in ("r", "m", "p"):
            return None
        recovering = self._ask("SELECT pg_is_in_recovery() AS standby").column("standby")[0].as_py()
        return None if recovering else str(self._ask("SELECT pg_export_snapshot() AS name").column("name")[0])

    def _ask(self, query: str) -> pa.Table:
        with self._main.cursor() as cursor:
            cursor.execute(query)
            return cursor.fetch_arrow_table()

    def _connected(self) -> Any:
        try:
            from adbc_driver_postgresql import dbapi
        except ImportError as error:
            raise EngineError("reading PostgreSQL needs its driver: pip install 'tacit[postgres]'") from error
        return dbapi.connect(self._uri)

    @contextmanager
    def _refusals(self) -> Iterator[None]:
        """Within it, an error of the server becomes one line, without credentials."""
        try:
            from adbc_driver_manager import Error
        except ImportError as error:
            raise EngineError("reading PostgreSQL needs its driver: pip install 'tacit[postgres]'") from error
        try:
            yield
        except Error as error:
            self._refuse(str(error))

    def _refuse(self, message: str) -> NoReturn:
        # Some messages contain the whole address, so the original error is not chained.
        message = message.replace(self._uri, self.shown)
        if self._secret:
            message = message.replace(self._secret, "***")
        match = re.search(r"(?:FATAL|ERROR): +(.*)|(connection to server .*)", message)
        reason = next((each for each in match.groups() if each), "") if match else message
        line = re.sub(r"\s+", " ", reason).split(" Query was:")[0].strip()[:300]
        hint = "check the address; the password is read from PGPASSWORD, a password file or a service file"
        raise SourceError(f"PostgreSQL at {self.shown} refused: {line}; {hint}") from None


@cache
def _dataset() -> Any:
    """A kind of dataset whose rows come from elsewhere; made once, because a class of its own would keep its engine."""
    import pyarrow.dataset as ds

    class Stream(ds.InMemoryDataset):  # type: ignore[misc]
        def scanner(self, *words: Any, **more: Any) -> Any:
            return self.scanned(*words, **more)

    return Stream


def _typed(data: pa.Table, columns: Sequence[_Column]) -> pa.Table:
    """What came over, with the types that columns have here."""
    return _read(data, [_Key(each, each.asked) for each in columns])


def _read(sent: pa.Table, keys: Sequence[_Key]) -> pa.Table:
    """What came over as it stands here; further columns, such as counts, are unchanged."""
    import pyarrow as pa

    read = [keys[at].read(column) if at < len(keys) else column for at, column in enumerate(sent.columns)]
    return pa.Table.from_arrays(read, names=sent.column_names)


def _plain(column: pa.ChunkedArray) -> pa.ChunkedArray:
    """A column in a type of Arrow's own, which the driver may have wrapped in one of its."""
    import pyarrow as pa

    if isinstance(column.type, pa.BaseExtensionType):
        return pa.chunked_array([chunk.storage for chunk in column.chunks], column.type.storage_type)
    return column
