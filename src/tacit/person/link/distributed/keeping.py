"""Frames that the workers keep between the rounds of one resolution."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from pyspark.sql import DataFrame


# A frame with more partitions than this many times those of a shuffle is read in fewer.
MOST = 4


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
        size, begun = stored.count(), _begun(stored)
        # Unions add up partitions, and with the rounds these would become very many.
        usual = int(stored.sparkSession.conf.get("spark.sql.shuffle.partitions", "200"))
        many = begun._jdf.queryExecution().toRdd().getNumPartitions() > MOST * usual
        return Kept(begun.coalesce(usual) if many else begun, size)

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
