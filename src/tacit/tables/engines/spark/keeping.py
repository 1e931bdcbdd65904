"""Frames that the workers keep between the rounds of one computation."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from pyspark.sql import Column, DataFrame


class Kept(NamedTuple):
    """A frame that has been computed, how many rows it has, and for how many of them each condition holds."""

    frame: DataFrame
    size: int
    holds: tuple[int, ...] = ()


class Keeper:
    """Keeps frames on the disks of the workers until it is closed.

    Guarantees
    ----------
    A worker that dies takes nothing with it: what it kept is computed again from what the others have. No directory is
    shared. A plan on a kept frame begins with that frame, so plans do not grow with the rounds.
    """

    def __init__(self) -> None:
        self._kept: list[DataFrame] = []

    def keep(self, frame: DataFrame, *conditions: Column) -> Kept:
        """Compute a frame, and count the rows for which each of the conditions holds."""
        from pyspark import StorageLevel
        from pyspark.sql import functions as F

        stored = frame.persist(StorageLevel.DISK_ONLY)
        self._kept.append(stored)
        counts = stored.agg(F.count(F.lit(1)), *(F.count_if(condition) for condition in conditions)).collect()[0]
        return Kept(_begun(stored), counts[0], tuple(counts[1:]))

    def close(self) -> None:
        """Let go of every frame."""
        for frame in self._kept:
            frame.unpersist()
        self._kept.clear()


def _begun(stored: DataFrame) -> DataFrame:
    """The frame as the beginning of new plans.

    A checkpoint would cut the plan too, but a local one is lost with its worker, and a reliable one leaves hashes of
    persons' values in a directory. Here only the plan is cut: the rows are those of the same RDD, which knows how each
    of its partitions is computed. ``toRdd`` would return one from which Spark draws all earlier plans into the graph of
    every query.
    """
    spark, rows = stored.sparkSession, stored._jdf.queryExecution().executedPlan().execute()
    return type(stored)(spark._jsparkSession.internalCreateDataFrame(rows, stored._jdf.schema(), False), spark)
