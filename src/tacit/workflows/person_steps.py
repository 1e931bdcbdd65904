"""The steps of an adversary, as a case names them: carried out on distinct values in the engine, or on records."""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from tacit.errors import DataError
from tacit.person import steps as person_steps
from tacit.person.labels import Labels
from tacit.person.records import Attribute, Record
from tacit.person.resolver import Link
from tacit.person.rules import Rules
from tacit.person.swoosh import Group, forest
from tacit.workflows.person_case_model import (
    AugmentStep,
    ClustersStep,
    CorrectStep,
    CostSpec,
    NormaliseStep,
    ResolveStep,
    SplinkStep,
    Step,
)
from tacit.workflows.person_sources import Evidence

if TYPE_CHECKING:
    import pyarrow as pa

    from tacit.tables.linking import Attributes

IntArray = NDArray[np.int64]
Grouping = ResolveStep | ClustersStep | SplinkStep


@dataclass(frozen=True)
class Linked(person_steps.Clusters):
    """Records joined along pairs that a model scored; which pairs count depends on which records are there.

    ``pairs`` are names of records; what was joined through a record that is gone falls apart again.
    """

    ids: Mapping[str, Hashable] | Sequence[Hashable] = field(default_factory=dict, repr=False)
    pairs: tuple[tuple[str, str], ...] = field(default=(), repr=False)

    def groups(self, records: Sequence[Record]) -> list[Group]:
        """Which records are one person's."""
        places = {record.name: place for place, record in enumerate(records)}
        links = [
            Link(min(places[a], places[b]), max(places[a], places[b]), ())
            for a, b in self.pairs
            if a in places and b in places
        ]
        return forest(len(records), links)


def cost_of(spec: CostSpec) -> person_steps.Cost:
    """A cost as the case declares it."""
    return person_steps.Cost(spec.fixed, spec.per_record, spec.per_pair)


def value_steps(step: Step) -> list[person_steps.Step]:
    """The steps on records that a step on values of the case is."""
    cost = cost_of(step.cost)
    if isinstance(step, NormaliseStep):
        return [person_steps.Normalise(step.labels, cost)]
    if isinstance(step, CorrectStep):
        return [person_steps.Correct(step.label, step.table, cost)]
    assert isinstance(step, AugmentStep)
    found: list[person_steps.Step] = []
    # A table that knows several values is several tables that know one.
    for place in range(max((len(values) for values in step.table.values()), default=0)):
        table = {value: added[place] for value, added in step.table.items() if place < len(added)}
        own = cost if place == 0 else person_steps.FREE
        found.append(person_steps.Augment(step.given, step.adds, table, step.confidence, own))
    return found


def rules_of(step: ResolveStep) -> Rules:
    """The rules of matching of a case."""
    return Rules(step.rules, step.min_confidence)


def stepped(held: Attributes, step: Step, labels: Labels) -> Attributes:
    """The attributes after a step on values; the step looks at every distinct value once.

    The very step that works on records in memory is asked, so that the engine cannot mean something else by it.
    """
    from tacit.tables import linking

    for one in value_steps(step):
        if isinstance(one, person_steps.Augment):
            held = linking.augmented(held, one.given, one.adds, _added(held, one, labels), confidence=one.confidence)
            continue
        mappings = {label: _replaced(held, one, label, labels) for label in _concerned(held, one, labels)}
        mappings = {label: mapping for label, mapping in mappings.items() if mapping.num_rows}
        if mappings:
            held = linking.recoded(held, mappings)
    return held


def _concerned(held: Attributes, step: person_steps.Step, labels: Labels) -> list[str]:
    """The labels whose values a step could change."""
    if isinstance(step, person_steps.Correct):
        return [step.label]
    assert isinstance(step, person_steps.Normalise)
    wanted = [label for label in held.labels if step.labels is None or label in step.labels]
    return [label for label in wanted if labels[label].normalise is not None or labels[label].synonyms]


def _after(held: Attributes, step: person_steps.Step, label: str, labels: Labels) -> Iterable[tuple[str, Record]]:
    from tacit.tables import linking

    values = linking.distinct_values(held, label).to_pylist()
    alone = [Record.trusted((Attribute(label, value),)) for value in values]
    return zip(values, step.apply(alone, labels), strict=True)


def _replaced(held: Attributes, step: person_steps.Step, label: str, labels: Labels) -> pa.Table:
    changed = [
        (value, record.attributes[0].value)
        for value, record in _after(held, step, label, labels)
        if record.attributes[0].value != value
    ]
    return _pairs(changed, "old", "new")


def _added(held: Attributes, step: person_steps.Augment, labels: Labels) -> pa.Table:
    found = [
        (value, attribute.value)
        for value, record in _after(held, step, step.given, labels)
        for attribute in record.attributes
        if attribute.label == step.adds
    ]
    return _pairs(found, "given", "adds")


def _pairs(found: Sequence[tuple[str, str]], one: str, other: str) -> pa.Table:
    import pyarrow as pa

    columns = {one: [first for first, _ in found], other: [second for _, second in found]}
    return pa.table({name: pa.array(column, pa.string()) for name, column in columns.items()})


def brought_clusters(evidence: Evidence, step: ClustersStep, adversary: str) -> tuple[IntArray, list[str]]:
    """The cluster of every record as somebody else's resolver has it, -1 for none; and notes."""
    from tacit.tables.duckdb_engine import answered
    from tacit.tables.linking_engines import DuckStore
    from tacit.tables.sources import open_table
    from tacit.workflows.person_sources_cells import cell_text, picked, texts

    table = open_table(step.path)
    columns = [step.record, step.cluster, *([step.source] if step.source is not None else [])]
    table.require(columns)
    relation = picked(table, columns)
    written = texts(table, columns, relation, cell_text)
    parts = ", ".join(f"{sql} AS {name}" for sql, name in zip(written, ("record", "cluster", "source"), strict=False))
    with table.reading():
        said = answered(lambda: relation.query("t", f"SELECT {parts} FROM t").to_arrow_table())
    store = DuckStore(str(step.path))
    given, names = store.load(said), store.load(_named(evidence))
    same = "g.source = n.source AND g.record = n.own" if step.source is not None else "g.record IN (n.own, n.whole)"
    found = store.ask(
        f"SELECT n.rid, min(c.number) AS least, max(c.number) AS most FROM {names} n JOIN {given} g ON {same} "
        f"JOIN (SELECT cluster, row_number() OVER (ORDER BY cluster) - 1 AS number FROM {given} "
        f"WHERE cluster IS NOT NULL GROUP BY cluster) c ON c.cluster = g.cluster GROUP BY n.rid"
    )
    twice = store.ask(
        f"SELECT count(*) AS n FROM (SELECT g.record FROM {names} n JOIN (SELECT DISTINCT record"
        f"{', source' if step.source is not None else ''} FROM {given}) g ON {same} "
        f"GROUP BY ALL HAVING count(*) > 1)"
    )
    rid, least, most = (found.column(name).to_numpy().astype(np.int64) for name in ("rid", "least", "most"))
    if (least != most).any():
        raise DataError(f"{step.path} puts a record into two clusters: each record has one")
    if step.source is None and twice.column("n")[0].as_py():
        raise DataError(
            f"{step.path} names records that two sources have: add a column with the source, and name it (source: …)"
        )
    cluster = np.full(evidence.n_records, -1, dtype=np.int64)
    cluster[rid] = least
    alone = int((cluster < 0).sum())
    notes = [f"adversary '{adversary}': {alone:,} records are not in {step.path.name} and stay alone"] if alone else []
    if not len(rid):
        raise DataError(
            f"{step.path} names no record of the case: '{step.record}' is what a source's id column holds, or the "
            "number of the row"
        )
    return cluster, notes


def _named(evidence: Evidence) -> pa.Table:
    """What every record is called: by its source, and with the source before it."""
    import pyarrow as pa
    import pyarrow.compute as pc

    parts = []
    for source, names in zip(evidence.sources, evidence.names, strict=True):
        rows = pa.array(np.arange(1, source.records + 1)).cast(pa.string())
        own = rows if names is None else pc.coalesce(names.cast(pa.string()), rows)
        parts.append(
            pa.table(
                {
                    "rid": pa.array(np.arange(source.first, source.first + source.records)),
                    "source": pa.array([source.name] * source.records, pa.string()),
                    "own": own,
                    "whole": pc.binary_join_element_wise(pa.scalar(source.name), own, " "),
                }
            )
        )
    return pa.concat_tables(parts)


def splink_table(held: Attributes, evidence: Evidence, more: Sequence[Record] = ()) -> pa.Table:
    """One row a record for Splink, a column a label: the surest value, of equals the last in the alphabet."""
    import pyarrow as pa

    from tacit.workflows.person_splink import RECORD, SOURCE

    names = {f"c{place}": label for place, label in enumerate(held.labels)}
    picks = ", ".join(
        f"arg_max(value, (confidence, value)) FILTER (label = {held.store.text(label)}) AS {name}"
        for name, label in names.items()
    )
    found = held.store.ask(
        f"SELECT r.id AS rid{', ' if names else ''}{', '.join(names)} FROM range({held.records}) r(id) LEFT JOIN "
        f"(SELECT rid, {picks or 'NULL AS nothing'} FROM {held.name} GROUP BY rid) a ON a.rid = r.id ORDER BY r.id"
    )
    columns = {RECORD: found.column("rid"), **{label: found.column(name) for name, label in names.items()}}
    owner = np.repeat([source.name for source in evidence.sources], [source.records for source in evidence.sources])
    whole = pa.table(columns).append_column(SOURCE, pa.array(owner, pa.string()))
    if not more:
        return whole
    rows = []
    for place, record in enumerate(more):
        best: dict[str, tuple[float, str]] = {}
        for label, value, confidence in record:
            best[label] = max(best.get(label, (-1.0, "")), (confidence, value))
        own = {label: value for label, (_, value) in best.items() if label in held.labels}
        rows.append({RECORD: held.records + place, SOURCE: record.source or "release", **own})
    return pa.concat_tables([whole, pa.Table.from_pylist(rows, schema=whole.schema)])
