"""Rows whose released cells are drawn anew: joins with the small tables of what is drawn, in place."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np

from tacit.tables.channels import BUCKET, KEPT, MISSING, SHIFT_BITS, THRESHOLD, DrawTables, other_name, own_name
from tacit.tables.columns import ROW
from tacit.tables.drawing import BITS, HEX_DIGITS
from tacit.tables.engines.spark.lookups import column, counted, with_symbol
from tacit.tables.engines.spark.sessions import session
from tacit.tables.symbols import Symbols

if TYPE_CHECKING:
    import pyarrow as pa
    from pyspark.sql import Column, DataFrame

_PLACE = "__tacit_place__"
# The number of the symbol that a row becomes.
NUMBER = "__tacit_number__"


def redrawn(frame: DataFrame, symbols: Symbols, draws: DrawTables, key: str, index: Callable[[], Column]) -> DataFrame:
    """The rows with every released cell of a row that is not kept replaced by that of a drawn output.

    ``index`` gives a row's index; only rows that are drawn are asked for theirs.
    """
    from pyspark.sql import functions as F

    placed = _placed(frame, symbols, draws, {})
    joined, outputs = _with_outputs(placed, draws.written(symbols), len(symbols.columns), key, index)
    drawn = dict(zip(symbols.columns, outputs, strict=True))
    new = []
    for name in frame.columns:
        value = column(name)
        if name in drawn:
            kind = joined.schema[name].dataType
            # Kept cells are written as counted: NaN versus missing, or -0.0 versus 0.0, would tell more.
            kept = counted(name, kind)
            value = F.when(F.col(_PLACE) == KEPT, kept).otherwise(drawn[name].cast(kind))
        new.append(value.alias(name))
    return joined.select(*new)


def drawn_numbers(
    frame: DataFrame, symbols: Symbols, draws: DrawTables, key: str, index: Callable[[], Column]
) -> DataFrame:
    """The number of the symbol that each row becomes, null where it becomes none, and the positions."""
    import pyarrow as pa
    from pyspark.sql import functions as F

    placed = _placed(frame, symbols, draws, {NUMBER: pa.array(np.arange(len(symbols)))})
    outputs = pa.array(draws.outputs, mask=draws.outputs == MISSING)
    numbers = {own_name(0): outputs[0::2], other_name(0): outputs[1::2]}
    buckets = {BUCKET: pa.array(np.arange(len(draws.threshold))), THRESHOLD: pa.array(draws.threshold)}
    joined, (drawn,) = _with_outputs(placed, pa.table(buckets | numbers), 1, key, index)
    number = F.when(F.col(_PLACE) == KEPT, F.col(NUMBER)).otherwise(drawn)
    return joined.select(number.cast("int").alias(NUMBER), column(ROW))


def _placed(frame: DataFrame, symbols: Symbols, draws: DrawTables, more: dict[str, Any]) -> DataFrame:
    """The frame with the place of each row's distribution, and ``more`` of its symbol."""
    import pyarrow as pa
    from pyspark.sql import functions as F

    looked_up = with_symbol(frame, symbols, {"__tacit_p__": pa.array(draws.place), **more})
    return looked_up.withColumn(_PLACE, F.coalesce(F.col("__tacit_p__"), F.lit(draws.unseen)))


def _with_outputs(
    frame: DataFrame, buckets: pa.Table, outputs: int, key: str, index: Callable[[], Column]
) -> tuple[DataFrame, list[Column]]:
    """The frame joined with the bucket of each row that is drawn, and each of the ``outputs`` that was drawn."""
    from pyspark.sql import functions as F

    digits = F.substring(F.sha2(F.concat(F.lit(key), index().cast("string")), 256), 1, HEX_DIGITS)
    drawn, shift = F.col(_PLACE) != KEPT, F.col(_PLACE).bitwiseAND(F.lit((1 << SHIFT_BITS) - 1)).cast("int")
    # A table with a single bucket has a single output, which needs no random bits.
    bits = F.when(drawn & (shift < BITS), F.conv(digits, 16, 10)).when(drawn, F.lit("0")).cast("bigint")
    hashed = frame.withColumn("__tacit_bits__", bits)
    cell = F.call_function("shiftright", F.col("__tacit_bits__"), shift)
    hashed = hashed.withColumn("__tacit_bucket__", F.when(drawn, F.shiftright(F.col(_PLACE), SHIFT_BITS) + cell))
    small = F.broadcast(session().createDataFrame(buckets))
    joined = hashed.join(small, F.col("__tacit_bucket__") == F.col(BUCKET), "left")
    rest = F.col("__tacit_bits__") - F.call_function("shiftleft", cell, shift)
    own = rest < F.col(THRESHOLD)
    chosen = [F.when(own, F.col(own_name(at))).otherwise(F.col(other_name(at))) for at in range(outputs)]
    return joined, chosen
