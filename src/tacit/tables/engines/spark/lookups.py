"""Values that rows look up by their symbols: joins with small broadcast tables, which leave the rows in place."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from tacit.errors import EngineError, Setting, sentence
from tacit.tables.columns import plain_names
from tacit.tables.engines.spark.sessions import session
from tacit.tables.symbols import Symbols, level_text, positions_of

if TYPE_CHECKING:
    import pyarrow as pa
    from pyspark.sql import Column, DataFrame

_AT = "__tacit_s__"


def column(name: str) -> Column:
    """A column by its name, whatever characters it has."""
    from pyspark.sql import functions as F

    return F.col(quoted(name))


def quoted(name: str) -> str:
    return "`" + name.replace("`", "``") + "`"


def from_arrow(data: pa.Table) -> DataFrame:
    """An Arrow table on Spark; times without a zone stay without one, and a column without any value is text."""
    import pyarrow as pa

    if times := [field.name for field in data.schema if pa.types.is_time(field.type)]:
        words = "column '{column}' holds times of day, which Spark cannot read: save it as text, or use {engine}"
        raise EngineError(sentence(words, column=times[0], engine=Setting("engine", "duckdb")))
    # Spark takes an empty batch for the end of a small table.
    batches = [batch for batch in data.to_batches() if batch.num_rows]
    data = pa.Table.from_batches(batches, schema=data.schema)
    frame = session().createDataFrame(data.rename_columns(plain_names(data.schema)))
    columns = []
    for field, at in zip(data.schema, frame.columns, strict=True):
        plain = pa.types.is_timestamp(field.type) and field.type.tz is None
        kind = "timestamp_ntz" if plain else "string" if pa.types.is_null(field.type) else None
        columns.append((column(at).cast(kind) if kind else column(at)).alias(field.name))
    return frame.select(*columns)


def with_symbol(frame: DataFrame, symbols: Symbols, values: Mapping[str, pa.Array]) -> DataFrame:
    """The frame with the entry of each row's symbol in ``values``; null where it was never seen."""
    import pyarrow as pa
    from pyspark.sql import functions as F

    kinds = [frame.schema[name].dataType for name in symbols.columns]
    stored = _as_stored([[level_text(level) for level in levels] for levels in symbols.levels], kinds)
    keys, lookup, known = [], {}, np.ones(len(symbols), bool)
    for c, (name, kind, levels) in enumerate(zip(symbols.columns, kinds, symbols.levels, strict=True)):
        labels, position = positions_of(levels, stored[c])
        at = position[symbols.codes[:, c]]
        known &= at >= 0
        named = np.array([*labels, None, None], dtype=object)  # null's own position, then -1
        lookup[f"__tacit_k{c}__"] = pa.array(named[at], pa.string())
        keys.append(counted(name, kind).cast("string").alias(f"__tacit_r{c}__"))
    table = pa.table(lookup | dict(values)).filter(pa.array(known))
    small = F.broadcast(session().createDataFrame(table))
    big = frame.select("*", *keys)
    matches = [big[f"__tacit_r{c}__"].eqNullSafe(small[f"__tacit_k{c}__"]) for c in range(len(keys))]
    joined = big.join(small, matches, "left")
    return joined.select(*map(column, frame.columns), *values)


def counted(name: str, kind: Any) -> Column:
    """A cell as it is counted: NaN is missing, -0.0 is 0.0."""
    from pyspark.sql import functions as F
    from pyspark.sql.types import DoubleType, FloatType

    value = column(name)
    if isinstance(kind, DoubleType | FloatType):
        return F.when(F.isnan(value), None).when(value == 0, F.lit(0).cast(kind)).otherwise(value)
    return value


def _as_stored(written: list[list[str | None]], kinds: Sequence[Any]) -> list[list[str | None]]:
    """The texts of each column's levels as Spark writes them, all of them in one job."""
    import pyarrow as pa
    from pyspark.sql import functions as F
    from pyspark.sql.types import StringType

    places = [at for at, kind in enumerate(kinds) if written[at] and not isinstance(kind, StringType)]
    if not places:
        return written
    longest = max(len(written[at]) for at in places)
    padded = {f"v{at}": pa.array(written[at] + [None] * (longest - len(written[at])), pa.string()) for at in places}
    small = session().createDataFrame(pa.table({"i": np.arange(longest), **padded}))
    read = (F.col(f"v{at}").try_cast(kinds[at]).cast("string").alias(f"v{at}") for at in places)
    stored = small.select("i", *read).toArrow().sort_by("i")
    return [
        stored.column(f"v{at}").to_pylist()[: len(each)] if at in places else each for at, each in enumerate(written)
    ]


def at_place(frame: DataFrame, place: Column, values: Mapping[str, pa.Array]) -> DataFrame:
    """The frame with the entry in ``values`` at each row's place; null where it has none."""
    import pyarrow as pa
    from pyspark.sql import functions as F

    size = len(next(iter(values.values())))
    small = session().createDataFrame(pa.table({_AT: pa.array(np.arange(size)), **values}))
    joined = frame.join(F.broadcast(small), place == F.col(_AT), "left")
    return joined.select(*map(column, frame.columns), *values)
