"""A question about a person among records on a cluster, answered on those near the person, exactly as on all."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING, TypeVar

import numpy as np

from tacit.document import Progress, silent
from tacit.errors import ArgumentError, DataError, Setting, sentence
from tacit.person.answers.words import listed
from tacit.person.case.model import Case
from tacit.person.inquiry.opening import CaseLike, Inquiry, narrowed, notes_on_labels
from tacit.person.inquiry.spread.clusters import MOST_NEAR, SpreadBench, SpreadClusters, views_of
from tacit.person.inquiry.spread.looking import READ, Looking, View
from tacit.person.inquiry.spread.reading import SpreadSource, read_on_spark
from tacit.person.inquiry.whole import MoreNeededError, Promising, Whole
from tacit.person.link.attributes import Attributes, IntArray, arrow_table, numbers
from tacit.person.link.brought import LikelyClusters, TrueClusters
from tacit.person.link.forms.unread import unread_notes
from tacit.person.resolve.steps import Generalise, Grouping, Resolve
from tacit.person.sources.pool import PoolSource, RecordPool
from tacit.tables.engines import store_on
from tacit.tables.engines.spark.sessions import reading

if TYPE_CHECKING:
    import pyarrow as pa

Answer = TypeVar("Answer")
# How many records near the person, of each adversary, come to the driver: few at first, which are nearly always enough.
NEAR = (2_500, 30_000, MOST_NEAR)


def answered_on_spark(
    case: CaseLike,
    answer: Callable[[Inquiry], Answer],
    *,
    adversary: Sequence[str] = (),
    remote: bool = False,
    progress: Progress | None = None,
) -> Answer:
    """The ``answer`` to a question about the person of a case, whose records are read and joined by Spark.

    Guarantees
    ----------
    It is the answer on all records. Only whole clusters come to the driver, in the order of an upper bound on what each
    may hold of the person, until no other can leak more than was found, and the records that are recognised as the
    person's. A whole cluster stays one by itself, and taking records away never joins others. Answers that need more
    than MOST_NEAR records of an adversary are refused.
    """
    tell = progress or silent
    whole, notes = _without_likely(narrowed(case, adversary=adversary, engine="spark", remote=remote))
    looking = Looking(whole.labels, whole.reference, views_of(whole.adversaries))
    with reading("the records"):
        bench = SpreadBench(read_on_spark(whole, looking, tell), looking, tell)
        spread = _Spread(whole, bench, tell, (*notes, *_no_decoys(whole)))
        try:
            for most in NEAR:
                try:
                    return answer(spread.inquiry(most))
                except MoreNeededError:
                    tell("more records", None)
        finally:
            bench.close()
    raise DataError(
        f"the answer depends on more than {MOST_NEAR:,} records that hold something about the person: ask about fewer "
        "adversaries, or say more about the person"
    )


def _without_likely(case: Case) -> tuple[Case, list[str]]:
    """The case with adversaries that Spark can carry out; those that the case names are never changed."""
    likely = [spec.name for spec in case.adversaries if any(isinstance(s, LikelyClusters) for s in spec.steps)]
    if case.assumed and likely:
        last = [spec for spec in case.adversaries if not isinstance(spec.steps[-1:] and spec.steps[-1], LikelyClusters)]
        left = [replace(spec, steps=[s for s in spec.steps if not isinstance(s, LikelyClusters)]) for spec in last]
        if left:
            others = [name for name in likely if name in {spec.name for spec in left}]
            return replace(case, adversaries=tuple(left)), [_left_out(likely, others)]
    for spec in case.adversaries:
        for step in spec.steps:
            if isinstance(step, Grouping) and not isinstance(step, Resolve | TrueClusters):
                raise _refused(spec.name, "joins records in a way that only one machine can: leave it out of the case")
            if isinstance(step, Generalise) and step.level is None:
                raise _refused(spec.name, f"makes '{step.label}' as coarse as other records have it: give it a level")
    return case, []


def _refused(adversary: str, why: str) -> ArgumentError:
    words = "adversary '{name}' {why}, ask about other adversaries ({adversary}), or leave out {engine}"
    settings = {"adversary": Setting("adversary"), "engine": Setting("engine", "spark")}
    return ArgumentError(sentence(words, name=adversary, why=why, **settings))


def _left_out(likely: Sequence[str], others: Sequence[str]) -> str:
    gone = [name for name in likely if name not in others]
    note = "Spark does not find records that are likely one person's, which are learned from all records together"
    note += f": {listed(gone)} is left out" if gone else ""
    note += f"{', and' if gone else ':'} {listed(others)} joins without it" if others else ""
    return f"{note}; the duckdb engine includes this, and the leakage may be larger"


def _no_decoys(case: Case) -> list[str]:
    if case.decoys is None or not case.decoys.budget:
        return []
    return ["decoys are not planned on Spark, because they may be joined with any record"]


@dataclass(frozen=True, eq=False)
class _Spread:
    """A case whose records were read on a cluster, and its adversaries, each carried out once."""

    case: Case
    bench: SpreadBench
    progress: Progress
    notes: tuple[str, ...]

    @cached_property
    def adversaries(self) -> dict[str, SpreadClusters]:
        return {spec.name: self.bench.clusters(spec) for spec in self.case.adversaries}

    def inquiry(self, most: int) -> Inquiry:
        """The case with so many records of each adversary, those that may hold most of the person."""
        known = [(steps, self.bench.recognised(steps)) for steps in self._recognising()]
        first = {name: clusters.first(most) for name, clusters in self.adversaries.items()}
        members = [self.adversaries[name].members(cids) for name, (cids, _) in first.items()]
        self.progress("loading records", None)
        rids: IntArray = np.unique(np.concatenate([*(rids for _, rids in known), *members]).astype(np.int64))
        whole = Whole(
            records=self.bench.rows.records,
            entities={name: clusters.entities for name, clusters in self.adversaries.items()},
            promising={name: Promising(np.searchsorted(rids, cids), over) for name, (cids, over) in first.items()},
            recognised=[(steps, np.searchsorted(rids, own)) for steps, own in known],
            seconds={name: clusters.seconds for name, clusters in self.adversaries.items()},
            unread=tuple(unread_notes(self.bench.unread)),
            notes=self.notes,
        )
        return Inquiry(self.case, self._pool(rids), self.progress, whole=whole)

    def _recognising(self) -> Sequence[View]:
        """The views in which somebody may recognise the person's records."""
        steps = [step for spec in self.case.adversaries for step in spec.steps]
        return self.bench.looking.views if any(isinstance(step, TrueClusters) for step in steps) else [READ]

    def _pool(self, rids: IntArray) -> RecordPool:
        """These records as a pool, numbered in the same order."""
        store = store_on("duckdb")
        attribute_rows = self.bench.said(rids)
        local = arrow_table({"rid": np.searchsorted(rids, numbers(attribute_rows, "rid"))})
        local_rows = attribute_rows.drop_columns(["rid"]).add_column(0, "rid", local.column("rid"))
        attributes = Attributes(store, store.load(local_rows.sort_by([("rid", "ascending")])), len(rids))
        names = self.bench.names(rids)
        sources = tuple(self._source(one, rids, names) for one in self.bench.rows.sources)
        notes = (*self.bench.rows.notes, *notes_on_labels(self.case, self.bench.labels))
        return RecordPool(attributes, sources, notes)

    def _source(self, one: SpreadSource, rids: IntArray, names: dict[int, str]) -> PoolSource:
        """What is in the pool of a source."""
        start, end = (bisect_left(rids, rid) for rid in (one.first, one.first + one.records))
        own = rids[start:end]
        called = self._names(one, own, names)
        return PoolSource(one.name, one.path, start, len(own), one.sha256, called, own - one.first, one.records)

    def _names(self, one: SpreadSource, own: IntArray, names: dict[int, str]) -> pa.Array | None:
        import pyarrow as pa

        if one.names is not None:
            return one.names.take(arrow_table({"place": own - one.first}).column("place").combine_chunks())
        if not one.named:
            return None
        called = {int(rid): names[rid] for rid in own.tolist() if rid in names}
        shared = self.bench.shared_names(list(called.values()), one.first, one.records) if called else set()
        rows = [
            f"{called[rid]} (row {rid - one.first + 1})" if called.get(rid) in shared else called.get(rid)
            for rid in own.tolist()
        ]
        return pa.array(rows, pa.string())
