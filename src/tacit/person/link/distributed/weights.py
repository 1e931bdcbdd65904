"""On Spark: which clusters hold something right about a person, and how much at most; and which records they have."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from tacit.person.link.attributes import IntArray, arrow_table

if TYPE_CHECKING:
    from collections.abc import Sequence

    from pyspark.sql import DataFrame, SparkSession


def right_weights_on_spark(right: DataFrame, clusters: DataFrame | None) -> DataFrame:
    """The clusters that hold something right, and an upper bound on the weight of it in each: (cid, w).

    ``right`` are the attributes that are right, as several views have them: a cluster has the largest of their bounds.
    ``clusters`` (rid, cid) may be None: each record alone. The bounds are those of
    :func:`tacit.person.link.right.right_weights`.
    """
    from pyspark.sql import functions as F

    placed = right.withColumn("cid", F.col("rid")) if clusters is None else right.join(clusters, "rid")
    fact = ["view", "cid", "fact"]
    best = placed.groupBy(*fact, "credit", "label", "value").agg(F.max("confidence").alias("confidence"))
    share = F.least(F.max("credit"), F.sum(F.col("credit") * F.col("confidence")))
    weights = best.groupBy(*fact).agg(share.alias("w")).groupBy("view", "cid").agg(F.sum("w").alias("w"))
    return weights.groupBy("cid").agg(F.max("w").alias("w")).where("w > 0")


def sizes_on_spark(cids: IntArray, clusters: DataFrame) -> IntArray:
    """How many records each of these clusters has, in their order."""
    from pyspark.sql import functions as F

    counted = among(clusters, "cid", cids).groupBy("cid").agg(F.count("*").alias("n")).toArrow()
    order = np.argsort(cids)
    sizes = np.ones(len(cids), np.int64)
    counted_cids, n = (counted.column(name).to_numpy() for name in ("cid", "n"))
    sizes[order[np.searchsorted(cids, counted_cids, sorter=order)]] = n
    return sizes


def among(frame: DataFrame, column: str, wanted: IntArray | Sequence[int]) -> DataFrame:
    """The rows with one of these numbers in a column; the numbers are sent to every worker."""
    from pyspark.sql import functions as F

    few = numbers_on_spark(frame.sparkSession, column, wanted)
    return frame.join(F.broadcast(few), column, "left_semi")


def numbers_on_spark(spark: SparkSession, column: str, wanted: IntArray | Sequence[int]) -> DataFrame:
    """Numbers as a frame of one column."""
    return spark.createDataFrame(arrow_table({column: np.unique(np.asarray(wanted, np.int64))}))


def joined_on_spark(clusters: DataFrame, cids: IntArray) -> DataFrame:
    """The clusters (rid, cid) with these made one, which has the name of the smallest."""
    from pyspark.sql import functions as F

    if len(cids) < 2:
        return clusters
    spark, least = clusters.sparkSession, int(np.min(cids))
    those = numbers_on_spark(spark, "cid", cids).withColumn("new", F.lit(least).cast("bigint"))
    moved = clusters.join(F.broadcast(those), "cid", "left")
    return moved.select("rid", F.coalesce("new", "cid").alias("cid"))
