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

    some = rows.frame.where(_sampled(rows.frame, by))
    keys = some.groupBy(*by).count().where(F.col("count") * 2 * SAMPLED > CROWD).select(*by).collect()
    return rows.frame.sparkSession.createDataFrame(keys, rows.frame.select(*by).schema) if keys else None


def counted(rows: DataFrame, by: Sequence[str]) -> tuple[int, bool]:
    """How many rows there are, and whether :func:`crowded` may find a key that very many of them share, in one pass."""
    from pyspark.sql import functions as F

    some = _sampled(rows, by)
    # All other rows are one group, of no key.
    groups = rows.select(*(F.when(some, F.col(name)).alias(name) for name in by)).groupBy(*by).count()
    many = F.col(by[0]).isNotNull() & (F.col("count") * 2 * SAMPLED > CROWD)
    size, crowds = groups.agg(F.coalesce(F.sum("count"), F.lit(0)), F.count_if(many)).collect()[0]
    return size, crowds > 0


def _sampled(rows: DataFrame, by: Sequence[str]) -> Column:
    """One row in :data:`SAMPLED`.

    Rows of one key differ in the rest; a sample by the key would have all of them or none.
    """
    from pyspark.sql import functions as F

    return F.pmod(F.xxhash64(*(name for name in rows.columns if name not in by)), F.lit(SAMPLED)) == 0


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
