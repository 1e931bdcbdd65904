"""Joins whose keys may be held by nearly all rows."""

from __future__ import annotations

from collections.abc import Sequence
from functools import reduce
from operator import and_
from typing import TYPE_CHECKING

from tacit.tables.engines.spark.keeping import Kept

if TYPE_CHECKING:
    from pyspark.sql import Column, DataFrame

# A key that more rows have than this is joined by broadcasting, because one worker would get all of them.
CROWD = 1_000_000
# Such keys are looked for among one row in this many. To miss one costs time, but changes nothing.
SAMPLED = 256
# A table of at most so many rows of two numbers is sent to every worker, so that what it is joined with stays in place.
SMALL = 1_000_000


def crowded(rows: Kept, by: Sequence[str]) -> DataFrame | None:
    """The keys that very many rows share; None if there are none. They are few: at most one for each half a crowd."""
    if rows.size <= CROWD:
        return None
    from pyspark.sql import functions as F

    # Rows of one key differ in the rest; a sample by the key would have all of them or none.
    rest = [name for name in rows.frame.columns if name not in by]
    some = rows.frame.where(F.pmod(F.xxhash64(*rest), F.lit(SAMPLED)) == 0)
    keys = some.groupBy(*by).count().where(F.col("count") * 2 * SAMPLED > CROWD).select(*by).collect()
    return rows.frame.sparkSession.createDataFrame(keys, rows.frame.select(*by).schema) if keys else None


def looked_up(rows: DataFrame, by: Sequence[str], table: DataFrame, crowds: DataFrame | None) -> DataFrame:
    """The rows with what the table says of their key, null if nothing; the table has every key once."""
    if crowds is None:
        return rows.join(table, list(by), "left")
    from pyspark.sql import functions as F

    few = F.broadcast(table.join(F.broadcast(crowds), list(by), "left_semi"))
    apart = rows.join(F.broadcast(crowds), list(by), "left_anti").join(table, list(by), "left")
    together = rows.join(F.broadcast(crowds), list(by), "left_semi").join(few, list(by), "left")
    return even(apart.unionByName(together))


def placed(rows: Kept, by: Sequence[str], table: Kept) -> DataFrame:
    """As :func:`looked_up`; a small table goes to the rows."""
    from pyspark.sql import functions as F

    if table.size <= SMALL:
        return rows.frame.join(F.broadcast(table.frame), list(by), "left")
    return looked_up(rows.frame, by, table.frame, crowded(rows, by))


def shared(rows: DataFrame, by: Sequence[str], crowds: DataFrame | None, **aggregates: Column) -> DataFrame:
    """The rows with aggregates of all that have the same key."""
    from pyspark.sql import Window, functions as F

    apart = rows if crowds is None else rows.join(F.broadcast(crowds), list(by), "left_anti")
    window = Window.partitionBy(*by)
    both = apart.select("*", *(column.over(window).alias(name) for name, column in aggregates.items()))
    if crowds is not None:
        together = rows.join(F.broadcast(crowds), list(by), "left_semi")
        of_key = together.groupBy(*by).agg(*(column.alias(name) for name, column in aggregates.items()))
        both = even(both.unionByName(together.join(F.broadcast(of_key), list(by))))
    return both


def even(rows: DataFrame) -> DataFrame:
    """The rows spread over all workers.

    Without a shuffle here, a row of the last round would depend on all rounds before in one stage, whose tasks would
    grow with the rounds; and every round would add partitions.
    """
    return rows.repartition(*rows.columns)


def all_of(conditions: Sequence[Column]) -> Column:
    """That all conditions hold."""
    return reduce(and_, conditions)
