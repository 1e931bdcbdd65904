"""Rewriting on Spark: joins with small broadcast tables, which leave the big side's rows where they are."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from tacit.tables import engines
from tacit.tables.channels import BUCKET, KEPT, SHIFT_BITS, THRESHOLD, Draws, other_name, own_name
from tacit.tables.drawing import BITS, HEX_DIGITS
from tacit.tables.levels import level_text, positions_of
from tacit.tables.spark_engine import column, session
from tacit.tables.symbols import Symbols
from tacit.tables.table import ROW, Table

if TYPE_CHECKING:
    import narwhals as nw
    from pyspark.sql import Column, DataFrame

SYMBOL = "__tacit_symbol__"
PLACE = "__tacit_place__"


def _with_symbol(frame: DataFrame, symbols: Symbols) -> DataFrame:
    """The frame with the number of each row's symbol, null where it was never seen."""
    import pyarrow as pa
    from pyspark.sql import functions as F

    keys, lookup, known = [], {}, np.ones(len(symbols), bool)
    for c, (name, levels) in enumerate(zip(symbols.columns, symbols.levels, strict=True)):
        kind = frame.schema[name].dataType
        labels, position = positions_of(levels, _as_stored([level_text(level) for level in levels], kind))
        at = position[symbols.codes[:, c]]
        known &= at >= 0
        named = np.array([*labels, None, None], dtype=object)  # null's own position, then -1
        lookup[f"__tacit_k{c}__"] = pa.array(named[at], pa.string())
        keys.append(_counted(name, kind).cast("string").alias(f"__tacit_r{c}__"))
    table = pa.table(lookup | {SYMBOL: pa.array(np.arange(len(symbols)))}).filter(pa.array(known))
    small = F.broadcast(session().createDataFrame(table))
    big = frame.select("*", *keys)
    matches = [big[f"__tacit_r{c}__"].eqNullSafe(small[f"__tacit_k{c}__"]) for c in range(len(keys))]
    joined = big.join(small, matches, "left")
    return joined.select(*(column(name) for name in frame.columns), SYMBOL)


def _counted(name: str, kind: Any) -> Column:
    """A cell as it is counted: NaN is missing, -0.0 is 0.0."""
    from pyspark.sql import functions as F
    from pyspark.sql.types import DoubleType, FloatType

    value = column(name)
    if isinstance(kind, DoubleType | FloatType):
        return F.when(F.isnan(value), None).when(value == 0, F.lit(0).cast(kind)).otherwise(value)
    return value


def _as_stored(written: list[str | None], kind: Any) -> list[str | None]:
    import pyarrow as pa
    from pyspark.sql import functions as F
    from pyspark.sql.types import StringType

    if isinstance(kind, StringType) or not written:
        return written
    small = session().createDataFrame(
        pa.table({"i": pa.array(range(len(written))), "v": pa.array(written, pa.string())})
    )
    found = small.select("i", F.col("v").try_cast(kind).cast("string").alias("v")).orderBy("i").toArrow()
    return found.column("v").to_pylist()  # type: ignore[no-any-return]


def valued(
    table: Table, symbols: Symbols, values: Mapping[str, NDArray[Any]], unseen: float | None
) -> nw.LazyFrame[Any]:
    """The rows with a column for each of ``values``, looked up by symbol."""
    import narwhals as nw
    import pyarrow as pa
    from pyspark.sql import functions as F

    rows = _with_symbol(nw.to_native(table.rows), symbols)
    plain = [f"__tacit_v{at}__" for at in range(len(values))]
    small = pa.table(
        {"__tacit_s__": pa.array(np.arange(len(symbols)))}
        | {name: pa.array(array) for name, array in zip(plain, values.values(), strict=True)}
    )
    joined = rows.join(F.broadcast(session().createDataFrame(small)), F.col(SYMBOL) == F.col("__tacit_s__"), "left")
    new = []
    for name, hidden in zip(values, plain, strict=True):
        found = F.col(hidden) if unseen is None else F.coalesce(F.col(hidden), F.lit(float(unseen)))
        new.append(found.alias(name))
    kept = [column(name) for name in table.names]
    done: nw.LazyFrame[Any] = nw.from_native(joined.select(*kept, *new, column(ROW)))
    return done


def redrawn(table: Table, symbols: Symbols, draws: Draws, key: str) -> nw.LazyFrame[Any]:
    """Every released cell of a row that is not kept becomes that of a drawn output."""
    import narwhals as nw
    import pyarrow as pa
    from pyspark.sql import functions as F

    rows = _with_symbol(nw.to_native(table.rows), symbols)
    places = pa.table({"__tacit_s__": pa.array(np.arange(len(symbols))), "__tacit_p__": pa.array(draws.place)})
    small = F.broadcast(session().createDataFrame(places))
    found = rows.join(small, F.col(SYMBOL) == F.col("__tacit_s__"), "left").drop("__tacit_s__")
    placed = found.withColumn(PLACE, F.coalesce(F.col("__tacit_p__"), F.lit(draws.unseen)))
    with_outputs, outputs = _with_outputs(placed, table, symbols, draws, key)
    new = []
    for name in table.names:
        value = column(name)
        if name in symbols.columns:
            kind = with_outputs.schema[name].dataType
            # Kept cells are written as they were counted: NaN against missing, -0.0 against 0.0, would be side doors.
            kept = _counted(name, kind)
            value = F.when(F.col(PLACE) == KEPT, kept).otherwise(outputs[name].cast(kind))
        new.append(value.alias(name))
    done: nw.LazyFrame[Any] = nw.from_native(with_outputs.select(*new, column(ROW)))
    return done


def _with_outputs(
    frame: DataFrame, table: Table, symbols: Symbols, draws: Draws, key: str
) -> tuple[DataFrame, dict[str, Column]]:
    """The frame joined with the bucket of each row that is drawn, and each column's drawn value as text."""
    import narwhals as nw
    from pyspark.sql import functions as F

    index = engines.indexed(table, nw.from_native(frame.select("*", column(ROW).alias("__tacit_at__"))))
    digits = F.substring(F.sha2(F.concat(F.lit(key), column(ROW).cast("string")), 256), 1, HEX_DIGITS)
    drawn, shift = F.col(PLACE) != KEPT, F.col(PLACE).bitwiseAND(F.lit((1 << SHIFT_BITS) - 1)).cast("int")
    # A table of a single bucket has a single output, which takes no chance.
    bits = F.when(drawn & (shift < BITS), F.conv(digits, 16, 10).cast("bigint")).when(drawn, F.lit(0).cast("bigint"))
    hashed = nw.to_native(index).withColumn("__tacit_bits__", bits)
    cell = F.call_function("shiftright", F.col("__tacit_bits__"), shift)
    hashed = hashed.withColumn("__tacit_bucket__", F.when(drawn, F.shiftright(F.col(PLACE), SHIFT_BITS) + cell))
    small = F.broadcast(session().createDataFrame(draws.written(symbols)))
    joined = hashed.join(small, F.col("__tacit_bucket__") == F.col(BUCKET), "left")
    rest = F.col("__tacit_bits__") - F.call_function("shiftleft", cell, shift)
    own = rest < F.col(THRESHOLD)
    outputs = {
        name: F.when(own, F.col(own_name(c))).otherwise(F.col(other_name(c))) for c, name in enumerate(symbols.columns)
    }
    # The hidden position goes on as it came, for a later step may ask for the index again.
    return joined.withColumn(ROW, F.col("__tacit_at__")), outputs
