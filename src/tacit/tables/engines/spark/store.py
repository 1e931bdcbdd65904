"""Temporary views of frames that Spark has computed and keeps, and the SQL about them."""

from __future__ import annotations

from itertools import count
from typing import TYPE_CHECKING, Any

from tacit.tables.engines.protocol import Store
from tacit.tables.engines.spark.lookups import from_arrow, quoted
from tacit.tables.engines.spark.sessions import reading, session

if TYPE_CHECKING:
    import pyarrow as pa
    from pyspark.sql import DataFrame

_serial = count()


class SparkStore(Store):
    """Temporary views of frames that Spark has computed and keeps."""

    engine = "spark"
    local = False

    def __init__(self, name: str = "the records") -> None:
        self._name = name
        self._spark = session()

    def run(self, query: str) -> None:
        with reading(self._name):
            self._spark.sql(query)

    def _hold(self, frame: DataFrame) -> str:
        # All views are visible in the session, so each needs its own name.
        name = f"tacit_store_{next(_serial)}"
        # A checkpoint also cuts the plan, which would otherwise grow with every round.
        frame.localCheckpoint().createOrReplaceTempView(name)
        return name

    def make(self, query: str) -> str:
        with reading(self._name):
            return self._hold(self._spark.sql(query))

    def load(self, data: Any) -> str:
        import pyarrow as pa

        with reading(self._name):
            if isinstance(data, pa.RecordBatchReader):
                data = data.read_all()
            return self._hold(from_arrow(data) if isinstance(data, pa.Table) else data)

    def ask(self, query: str) -> pa.Table:
        with reading(self._name):
            return self._spark.sql(query).toArrow()

    def drop(self, *names: str) -> None:
        for name in names:
            self._spark.catalog.dropTempView(name)

    def leave(self, size: int) -> object:
        """Nothing: the memory of Spark is set where it is started."""
        return None

    def hashed(self, *terms: str) -> str:
        return f"xxhash64({', '.join(terms)})"

    def identifier(self, name: str) -> str:
        return quoted(name)

    def text(self, value: str) -> str:
        return "'" + value.replace("\\", "\\\\").replace("'", "\\'") + "'"
