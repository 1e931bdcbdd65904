"""Frames that the workers keep between the rounds of one resolution."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from pyspark.sql import DataFrame


class Kept(NamedTuple):
    """A frame that has been computed, and how many rows it has."""

    frame: DataFrame
    size: int


class Keeper:
    """Keeps frames on the disks of the workers until it is closed.

    Guarantees
    ----------
    A worker that dies takes nothing with it: what it kept is computed again from what the others have. No directory is
    shared. A plan on a kept frame begins with that frame, so plans do not grow with the rounds.
    """

    def __init__(self) -> None:
        self._frames: list[DataFrame] = []

    def keep(self, frame: DataFrame) -> Kept:
        """Compute a frame."""
        from pyspark import StorageLevel

        stored = frame.persist(StorageLevel.DISK_ONLY)
        self._frames.append(stored)
        size = stored.count()
        return Kept(_begun(stored), size)

    def close(self) -> None:
        """Let go of every frame."""
        for frame in self._frames:
            frame.unpersist()
        self._frames.clear()


def _begun(stored: DataFrame) -> DataFrame:
    """The frame as the beginning of new plans.

    A checkpoint would cut the plan too, but a local one is lost with its worker, and a reliable one leaves hashes of
    persons' values in a directory. Here only the plan is cut: the rows are those of the same RDD, which knows how each
    of its partitions is computed.
    """
    spark, rows = stored.sparkSession, stored._jdf.queryExecution().toRdd()
    return type(stored)(spark._jsparkSession.internalCreateDataFrame(rows, stored._jdf.schema(), False), spark)
