"""Tables of PostgreSQL by ADBC: the server counts; rows come as Arrow streams, and DuckDB works on them.

Everything is read from one snapshot of a table, whatever others write meanwhile.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, NoReturn
from urllib.parse import unquote, urlsplit
from weakref import finalize

from tacit.errors import EngineError, SourceError
from tacit.loading import without_credentials
from tacit.tables.columns import Kind
from tacit.tables.engines.duckdb.connections import answered, private_file
from tacit.tables.engines.duckdb.engine import DuckDBEngine
from tacit.tables.engines.duckdb.sql import identifier, text

if TYPE_CHECKING:
    import pyarrow as pa

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
        """SQL that reads it: text is compared byte by byte, whatever its collation; NaN of a numeric is missing."""
        column = identifier(self.name)
        if self.type in _AS_THEY_ARE or self.category == "A":
            return column
        if self.type == "numeric":
            return f"nullif({column}, 'NaN')::text COLLATE \"C\""
        return f'{column}::text COLLATE "C"'

    @property
    def kind(self) -> Kind | None:
        """What a column holds, where its type here does not tell: a number of any length comes as text."""
        return "number" if self.type == "numeric" else None

    def here(self, given: pa.DataType) -> pa.DataType:
        """The Arrow type that it has here."""
        import pyarrow as pa

        if self.decimal:
            return pa.decimal128(*self.decimal)
        return given if self.type in _AS_THEY_ARE or self.category == "A" else pa.string()


class PostgresEngine(DuckDBEngine):
    """A table on a server: its rows are streamed to DuckDB each time, or copied once where their order matters."""

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
        self._base: Rows | None = None
        self._copy: Path | None = None
        self._main: Any = None
        # What a reader would want to know about the table that was opened.
        self.notes: list[str] = []

    def tables(self) -> list[str]:
        """The tables that may be read; those of ``public`` without their schema."""
        with self._refusals():
            self._main = self._connected()
            finalize(self, self._main.close)
            self._ask("SET TRANSACTION ISOLATION LEVEL REPEATABLE READ READ ONLY")
            tables = self._ask(_TABLES).to_pylist()
        self._tables = {t["name"] if t["schema"] == "public" else f"{t['schema']}.{t['name']}": t for t in tables}
        return list(self._tables)

    def opened(self, table: str) -> tuple[Rows, list[Kind | None]]:
        """One of its tables: its rows, and what its columns hold where their types here do not tell."""
        found = self._tables[table]
        self._place = f"{identifier(found['schema'])}.{identifier(found['name'])}"
        with self._refusals():
            self._columns = [_Column(**each) for each in self._ask(_COLUMNS.format(oid=found["oid"])).to_pylist()]
            key = [identifier(each["name"]) for each in self._ask(_KEY.format(oid=found["oid"])).to_pylist()]
            self._order = f"ORDER BY {', '.join(key)}" if key else ""
            self.notes = [] if key else [_NO_KEY]
            self._snapshot = self._exported(found["kind"])
        self._base = self.of_arrow(self._streamed()) if self._snapshot else self._spooled()
        return self._base, [each.kind for each in self._columns]

    def pinned(self, rows: Rows) -> Rows:
        """The rows in a private copy, in the order of the primary key, or as stored."""
        return self._spooled() if rows is self._base and self._snapshot else rows

    def counted(self, rows: Rows, columns: Sequence[str], names: Sequence[str], most: int) -> pa.Table | None:
        """How many rows have each combination of values, counted by the server; None for rows that it does not hold."""
        if rows is not self._base or not self._snapshot:
            return None
        asked = {each.name: each for each in self._columns}
        shown = "".join(f"{asked[old].asked} AS {new}, " for old, new in zip(columns, names, strict=True))
        groups = f"GROUP BY {', '.join(str(at + 1) for at in range(len(names)))}" if names else ""
        query = f"SELECT {shown}count(*) AS n FROM {self._place} {groups} LIMIT {most}"
        with self._refusals():
            found = self._ask(query)
        return _typed(found, [asked[old] for old in columns])

    def _streamed(self) -> Any:
        """The table as a dataset from which DuckDB requests the columns it needs, each time it needs them."""
        import pyarrow.dataset as ds

        engine = self

        class Stream(ds.InMemoryDataset):  # type: ignore[misc]
            def scanner(self, columns: Sequence[str] | None = None, filter: Any = None, **_: Any) -> Any:
                if engine._copy is not None:
                    return ds.dataset(engine._copy).scanner(columns=columns, filter=filter)
                reader = engine._reader([each for each in engine._columns if columns is None or each.name in columns])
                return ds.Scanner.from_batches(reader, columns=columns, filter=filter)

        with self._refusals():
            return Stream(_typed(self._ask(self._selecting(self._columns, "LIMIT 0")), self._columns))

    def _reader(self, columns: Sequence[_Column]) -> pa.RecordBatchReader:
        """Some columns of all rows, in order, on a connection of their own that sees what the first one saw."""
        import pyarrow as pa

        with self._refusals():
            connection = self._connected()
            cursor = connection.cursor()
            cursor.execute("SET TRANSACTION ISOLATION LEVEL REPEATABLE READ READ ONLY")
            if self._snapshot:
                cursor.execute(f"SET TRANSACTION SNAPSHOT {text(self._snapshot)}")
            # Rows without a key come in the order in which they are stored, each time.
            cursor.execute("SET LOCAL synchronize_seqscans = off")
            cursor.execute("SET LOCAL max_parallel_workers_per_gather = 0")
            cursor.execute(self._selecting(columns, self._order))
            batches = cursor.fetch_record_batch()

        def rows() -> Iterator[pa.RecordBatch]:
            try:
                with self._refusals():
                    for batch in batches:
                        yield from _typed(pa.Table.from_batches([batch]), columns).to_batches()
            finally:
                cursor.close()
                connection.close()

        return pa.RecordBatchReader.from_batches(_typed(batches.schema.empty_table(), columns).schema, rows())

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
        found = re.search(r"(?:FATAL|ERROR): +(.*)|(connection to server .*)", message)
        reason = next((each for each in found.groups() if each), "") if found else message
        line = re.sub(r"\s+", " ", reason).split(" Query was:")[0].strip()[:300]
        hint = "check the address; the password is read from PGPASSWORD, a password file or a service file"
        raise SourceError(f"PostgreSQL at {self.shown} refused: {line}; {hint}") from None


def _typed(data: pa.Table, columns: Sequence[_Column]) -> pa.Table:
    """What came over, with the types that columns have here; further columns, such as counts, are unchanged."""
    import pyarrow as pa

    arrays = []
    for at, _name in enumerate(data.column_names):
        column = data.column(at)
        if isinstance(column.type, pa.BaseExtensionType):
            column = pa.chunked_array([chunk.storage for chunk in column.chunks], column.type.storage_type)
        arrays.append(column.cast(columns[at].here(column.type)) if at < len(columns) else column)
    return pa.Table.from_arrays(arrays, names=data.column_names)
