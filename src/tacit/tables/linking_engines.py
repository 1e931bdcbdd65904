"""SQL that DuckDB and Spark both read, and the few words of it they spell differently."""

from __future__ import annotations

from itertools import count
from typing import TYPE_CHECKING, Any, Protocol

from tacit.errors import EngineError
from tacit.tables import duckdb_engine
from tacit.tables.table import Engine

if TYPE_CHECKING:
    import pyarrow as pa

# Tables of one process have names of their own, because Spark's are seen by the whole session.
_serial = count()


class Store(Protocol):
    """Where tables of attributes are held, and the SQL spoken there."""

    engine: Engine

    def run(self, query: str) -> None:
        """Carry out a statement."""

    def make(self, query: str) -> str:
        """Hold what a query gives; gives the table's name."""

    def load(self, data: Any) -> str:
        """Hold an Arrow table, a stream of batches or a frame of this engine; gives the table's name."""

    def ask(self, query: str) -> pa.Table:
        """What a query gives, whole."""

    def drop(self, *names: str) -> None:
        """Forget tables."""

    def hashed(self, *terms: str) -> str:
        """64 bits of the terms one by one: ("ab", "c") and ("a", "bc") have nothing to do with each other."""

    def text(self, value: str) -> str:
        """A text literal."""


class DuckStore:
    """Temporary tables on a connection of their own; beyond the limit of memory they lie on disk."""

    engine: Engine = "duckdb"

    def __init__(self, name: str = "the records") -> None:
        self._name = name
        self._connection = duckdb_engine.connect()

    def run(self, query: str) -> None:
        """Carry out a statement."""
        with duckdb_engine.reading(self._name):
            duckdb_engine.answered(lambda: self._connection.execute(query))

    def make(self, query: str) -> str:
        """Hold what a query gives; gives the table's name."""
        name = f"tacit_link_{next(_serial)}"
        self.run(f"CREATE TEMP TABLE {name} AS {query}")
        return name

    def load(self, data: Any) -> str:
        """Hold an Arrow table or a stream of batches; gives the table's name."""
        name = f"tacit_link_{next(_serial)}"
        with duckdb_engine.reading(self._name):
            self._connection.register(f"{name}_given", data)
            try:
                duckdb_engine.answered(
                    lambda: self._connection.execute(f"CREATE TEMP TABLE {name} AS FROM {name}_given")
                )
            finally:
                self._connection.unregister(f"{name}_given")
        return name

    def ask(self, query: str) -> pa.Table:
        """What a query gives, whole."""
        with duckdb_engine.reading(self._name):
            return duckdb_engine.answered(lambda: self._connection.sql(query).to_arrow_table())

    def drop(self, *names: str) -> None:
        """Forget tables."""
        for name in names:
            self.run(f"DROP TABLE IF EXISTS {name}")

    def hashed(self, *terms: str) -> str:
        """64 bits of the terms one by one."""
        return f"hash({', '.join(terms)})"

    def text(self, value: str) -> str:
        """A text literal."""
        return duckdb_engine.text(value)


class SparkStore:
    """Temporary views of frames that Spark has computed and keeps."""

    engine: Engine = "spark"

    def __init__(self, name: str = "the records") -> None:
        from tacit.tables import spark_engine

        self._name = name
        self._spark = spark_engine.session()

    def run(self, query: str) -> None:
        """Carry out a statement."""
        from tacit.tables import spark_engine

        with spark_engine.reading(self._name):
            self._spark.sql(query)

    def _hold(self, frame: Any) -> str:
        name = f"tacit_link_{next(_serial)}"
        # A checkpoint also cuts the plan, which would otherwise grow with every round.
        frame.localCheckpoint().createOrReplaceTempView(name)
        return name

    def make(self, query: str) -> str:
        """Hold what a query gives; gives the table's name."""
        from tacit.tables import spark_engine

        with spark_engine.reading(self._name):
            return self._hold(self._spark.sql(query))

    def load(self, data: Any) -> str:
        """Hold an Arrow table, a stream of batches or a Spark frame; gives the table's name."""
        import pyarrow as pa

        from tacit.tables import spark_engine

        with spark_engine.reading(self._name):
            if isinstance(data, pa.RecordBatchReader):
                data = data.read_all()
            return self._hold(spark_engine.from_arrow(data) if isinstance(data, pa.Table) else data)

    def ask(self, query: str) -> pa.Table:
        """What a query gives, whole."""
        from tacit.tables import spark_engine

        with spark_engine.reading(self._name):
            return self._spark.sql(query).toArrow()

    def drop(self, *names: str) -> None:
        """Forget tables."""
        for name in names:
            self._spark.catalog.dropTempView(name)

    def hashed(self, *terms: str) -> str:
        """64 bits of the terms one by one."""
        return f"xxhash64({', '.join(terms)})"

    def text(self, value: str) -> str:
        """A text literal."""
        return "'" + value.replace("\\", "\\\\").replace("'", "\\'") + "'"


def store_on(engine: Engine) -> Store:
    """A new store on an engine."""
    if engine == "duckdb":
        return DuckStore()
    if engine == "spark":
        return SparkStore()
    raise EngineError(f"there is no engine '{engine}': use duckdb or spark")
