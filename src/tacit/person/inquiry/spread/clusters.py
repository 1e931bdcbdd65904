"""What adversaries make of all records on a cluster: their clusters, and which of them may hold most of the person."""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

from tacit.document import Progress
from tacit.errors import DataError
from tacit.lift.joint import Vector
from tacit.person.inquiry.spread.looking import READ, UNREAD_VIEWS, Looking, View
from tacit.person.inquiry.spread.reading import SpreadRows
from tacit.person.inquiry.whole import DIGITS
from tacit.person.inquiry.work import free
from tacit.person.link.attributes import IntArray, arrow_table, numbers
from tacit.person.link.distributed.resolving import resolved_on_spark
from tacit.person.link.distributed.rows import HOLDS, RECORD, RIGHT, SAID, UNREAD, as_text, holds_of
from tacit.person.link.distributed.weights import among, joined_on_spark, right_weights_on_spark, sizes_on_spark
from tacit.person.link.forms.unread import MOST_DAYS, Unread
from tacit.person.link.wide import MANY
from tacit.person.resolve.adversaries import Adversary
from tacit.person.resolve.steps import Grouping, Normalise, Resolve, Step
from tacit.tables.engines.spark.keeping import Keeper
from tacit.tables.engines.spark.lookups import from_arrow

if TYPE_CHECKING:
    import pyarrow as pa
    from pyspark.sql import DataFrame

# Beyond this many records near the person the driver would be the one machine that they are too many for.
MOST_NEAR = 240_000


@dataclass(frozen=True, eq=False)
class SpreadClusters:
    """What one adversary makes of all records: (rid, cid), or None if it joins none.

    ``cids`` are the clusters that may hold most of the person, the most promising first, with the upper bound of each
    (``right``) and its ``sizes``: all that hold anything, or the first MOST_NEAR and one more. ``entities`` is how many
    there are of all, ``seconds`` how long it took.
    """

    frame: DataFrame | None
    cids: IntArray
    right: Vector
    sizes: IntArray
    entities: int
    seconds: float

    def first(self, most: int) -> tuple[IntArray, float]:
        """The first clusters that have no more than so many records together, and a bound on all others."""
        count = int(np.searchsorted(np.cumsum(self.sizes), min(most, MOST_NEAR), side="right"))
        return self.cids[:count], float(self.right[count:].max(initial=0.0))

    def members(self, cids: IntArray) -> IntArray:
        """The records of these clusters."""
        if self.frame is None or not len(cids):
            return cids
        return numbers(among(self.frame, "cid", cids).select("rid").toArrow(), "rid")


def views_of(adversaries: Sequence[Adversary]) -> tuple[View, ...]:
    """Every view of values that these adversaries take: as read, and after each of their steps on values."""
    views = [READ]
    for spec in adversaries:
        steps: View = READ
        for step in spec.steps:
            if not isinstance(step, Grouping):
                steps = (*steps, free(step))
                if steps not in views:
                    views.append(steps)
    return tuple(views)


@dataclass(frozen=True, eq=False)
class SpreadBench:
    """Carries out adversaries on records of which a cluster keeps the rows."""

    rows: SpreadRows
    looking: Looking
    progress: Progress

    def clusters(self, spec: Adversary) -> SpreadClusters:
        """What an adversary makes of all records."""
        from pyspark.sql import functions as F

        self.progress(f"{spec.name}: resolving", None)
        start = time.perf_counter()
        frame, steps = self._joined(spec)
        views = {self._view(steps)} | ({self._view(READ)} if spec.keep_base else set())
        some = self.rows.frame.where((F.col("kind") == RIGHT) & F.col("view").isin(*views))
        weights = right_weights_on_spark(some, frame)
        # Spark adds in any order: without rounding, it would decide between equals.
        rows_here = weights.orderBy(F.desc(F.round("w", DIGITS)), "cid").limit(MOST_NEAR + 1).toArrow()
        cids, right = numbers(rows_here, "cid"), numbers(rows_here, "w")
        sizes = np.ones(len(cids), np.int64) if frame is None else sizes_on_spark(cids, frame)
        entities = self.rows.records if frame is None else frame.select("cid").distinct().count()
        return SpreadClusters(frame, cids, right, sizes, entities, time.perf_counter() - start)

    def recognised(self, steps: View) -> IntArray:
        """The records that are the person's to somebody who knows the truth, as these steps leave them."""
        for before, rids in self._recognitions:
            if before == steps:
                return rids
        from pyspark.sql import functions as F

        rows = self._rows(HOLDS, steps)
        counted = rows.groupBy("holds").agg(F.count("*").alias("n")).collect()
        counts = {holds_of(row["holds"]): int(row["n"]) for row in counted}
        some, doubtful = self.looking.nobody.decided(counts, self._with_label(steps))
        near = F.col("holds").isin([*map(as_text, some)])
        against = F.col("holds").isin([*map(as_text, doubtful)]) & F.col("against")
        rows_here = rows.where(near & ~against).select("rid").limit(MOST_NEAR + 1).toArrow()
        if rows_here.num_rows > MOST_NEAR:
            raise DataError(
                f"more than {MOST_NEAR:,} records are recognised as the person's, too many to look at: say more about "
                "the person, or leave out sources"
            )
        self._recognitions.append((steps, np.sort(numbers(rows_here, "rid"))))
        return self._recognitions[-1][1]

    @cached_property
    def labels(self) -> tuple[str, ...]:
        """The labels that occur, sorted."""
        return tuple(sorted(self._labelled[READ]))

    @cached_property
    def unread(self) -> dict[Unread, int]:
        """How many different values of which labels could not be compared, and why."""
        from pyspark.sql import functions as F

        rows = self.rows.frame.where(F.col("kind") == UNREAD).groupBy("view", "label")
        counted = {
            (row["label"], UNREAD_VIEWS[row["view"]]): int(row["n"])
            for row in rows.agg(F.count_distinct("value").alias("n")).collect()
        }
        counts = {unread: counted.get(unread, 0) for unread in self.looking.may_be_unread}
        return {unread: min(n, MOST_DAYS) if unread[1] == "days" else n for unread, n in counts.items()}

    @cached_property
    def records(self) -> DataFrame:
        """All records (rid)."""
        return self._rows(RECORD, READ).select("rid")

    def said(self, rids: IntArray) -> pa.Table:
        """What these records say, as read: (rid, label, value, confidence)."""
        rows = self._rows(SAID, READ).select("rid", "label", "value", "confidence")
        return among(rows, "rid", rids).toArrow()

    def names(self, rids: IntArray) -> dict[int, str]:
        """The names of those of these records that have one, as the file has them."""
        rows = self._rows(RECORD, READ).where("value IS NOT NULL").select("rid", "value")
        return {row["rid"]: row["value"] for row in among(rows, "rid", rids).collect()}

    def shared_names(self, names: Sequence[str], first: int, records: int) -> set[str]:
        """Those of these names that several records of a source have."""
        from pyspark.sql import functions as F

        there = F.col("rid").between(first, first + records - 1)
        rows = self._rows(RECORD, READ).where(there).select("value")
        wanted = F.broadcast(from_arrow(arrow_table({"value": sorted(set(names))})))
        counts = rows.join(wanted, "value", "left_semi").groupBy("value").agg(F.count("*").alias("n"))
        return {row["value"] for row in counts.where(F.col("n") > 1).collect()}

    def _joined(self, spec: Adversary) -> tuple[DataFrame | None, View]:
        """The clusters after all steps, and what the steps made of the values."""
        steps, frame = READ, None
        for place, step in enumerate(spec.steps):
            if not isinstance(step, Grouping):
                steps = (*steps, free(step))
                continue
            begun = spec.steps[: place + 1]
            known = next((each for before, each in self._begun if before == begun), None)
            if known is None:
                known = self._resolved(step, steps, frame) if isinstance(step, Resolve) else self._own(steps, frame)
                self._begun.append((begun, known))
            frame = known
        return frame, steps

    def _resolved(self, step: Resolve, steps: View, before: DataFrame | None) -> DataFrame:
        """The clusters after a resolution by rules, in which each cluster before it stands for all its records say."""
        from pyspark.sql import functions as F

        rows = self._rows(SAID, steps).where(F.col("label").isin(*step.rules.labels))
        attributes = rows.select("rid", "label", "value", "confidence")
        if before is None:
            return resolved_on_spark(attributes, step.rules, closure=step.closure, among=self.records)
        merged = attributes.join(before, "rid").groupBy(F.col("cid").alias("rid"), "label", "value")
        names = before.select(F.col("cid").alias("rid")).distinct()
        best = self._keeper.keep(merged.agg(F.max("confidence").alias("confidence"))).frame
        after = resolved_on_spark(best, step.rules, closure=step.closure, among=names)
        moved = after.select(F.col("rid").alias("cid"), F.col("cid").alias("new"))
        return self._keeper.keep(before.join(moved, "cid").select("rid", F.col("new").alias("cid"))).frame

    def _own(self, steps: View, before: DataFrame | None) -> DataFrame:
        """The clusters after all records that are the person's were joined."""
        from pyspark.sql import functions as F

        clusters = self.records.select("rid", F.col("rid").alias("cid")) if before is None else before
        rows_here = among(clusters, "rid", self.recognised(steps)).select("cid").distinct().toArrow()
        return joined_on_spark(clusters, numbers(rows_here, "cid"))

    def _with_label(self, steps: View) -> dict[str, int]:
        """How many records have each label, at most; counted as on one machine, where many are held by number."""
        records = self.rows.records
        if records >= MANY and len(steps) < 2 and all(isinstance(step, Normalise) for step in steps):
            return {label: min(rows, records) for label, (rows, _) in self._labelled[READ].items()}
        return {label: different for label, (_, different) in self._labelled[steps].items()}

    @cached_property
    def _labelled(self) -> _Labelled:
        """For every view and label, how many attributes there are, and of how many records."""
        from pyspark.sql import functions as F

        rows = self.rows.frame.where(F.col("kind") == SAID).groupBy("view", "label")
        counted = rows.agg(F.count("*").alias("n"), F.count_distinct("rid").alias("m")).collect()
        counts = [
            {row["label"]: (int(row["n"]), int(row["m"])) for row in counted if row["view"] == view}
            for view in range(len(self.looking.views))
        ]
        return _Labelled(tuple(self.looking.views), tuple(counts))

    @cached_property
    def _begun(self) -> list[tuple[Sequence[Step], DataFrame]]:
        """The clusters after the first steps of adversaries, which others may share."""
        return []

    @cached_property
    def _recognitions(self) -> list[tuple[View, IntArray]]:
        return []

    @cached_property
    def _keeper(self) -> Keeper:
        return Keeper()

    def close(self) -> None:
        """Let go of what the workers keep."""
        self._keeper.close()
        self._begun.clear()
        self.rows.frame.unpersist()

    def _view(self, steps: View) -> int:
        return self.looking.views.index(steps)

    def _rows(self, kind: int, steps: View) -> DataFrame:
        from pyspark.sql import functions as F

        return self.rows.frame.where((F.col("kind") == kind) & (F.col("view") == self._view(steps)))


@dataclass(frozen=True)
class _Labelled:
    views: tuple[View, ...]
    counts: tuple[Mapping[str, tuple[int, int]], ...]

    def __getitem__(self, steps: View) -> Mapping[str, tuple[int, int]]:
        return self.counts[self.views.index(steps)]
