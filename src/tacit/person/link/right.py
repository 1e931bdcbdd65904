"""Which clusters hold something right of a person, and how much of it at most, in the engine."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING

import numpy as np

from tacit.person.link.attributes import Attributes, IntArray, cluster_table, lent, listed, one
from tacit.person.model.kinds import usual

if TYPE_CHECKING:
    import pyarrow as pa

# Values that leave the engine at a time.
VALUES = 100_000
# A value with one of these signs may cover others: 11*, >=50, [30, 40).
COVERING = "[*<>≥≤(){}\\[\\]]"


def candidate_values(held: Attributes, wanted: Mapping[str, Sequence[str] | None]) -> Iterator[tuple[str, list[str]]]:
    """The values that may be right, label by label, some at a time, sorted.

    ``wanted`` says of each label which values alone are right, besides what covers others; None if any may be.
    """
    store = held.store
    parts = []
    for label, exact in wanted.items():
        where = f"label = {store.text(label)}"
        if exact is not None:
            true = ", ".join(store.text(value) for value in exact)
            where += f" AND (value IN ({true}) OR regexp_matches(value, {store.text(COVERING)}))"
        parts.append(f"SELECT DISTINCT label, value FROM {held.name} WHERE {where}")
    rows = store.ask(" UNION ALL ".join(parts) + " ORDER BY label, value")
    start = 0
    # Sorted, so that what is added up is added in one order.
    for run in rows.column("label").combine_chunks().value_counts().to_pylist():
        values = rows.column("value").slice(start, run["counts"]).to_pylist()
        start += run["counts"]
        for place in range(0, len(values), VALUES):
            yield run["values"], values[place : place + VALUES]


def right_weights(held: Attributes, clusters: IntArray, hits: pa.Table) -> dict[int, float]:
    """For every cluster that holds something right, the largest weight that can be expected of what is right in it.

    ``hits`` is a table (label, value, fact, credit): the facts of a person that a value hits, and what it is worth.
    """
    if not hits.num_rows:
        return {}
    with lent(held.store, hits) as given, lent(held.store, cluster_table(clusters)) as place:
        rows = held.store.ask(
            # Several values that hit one fact are present independently, and credit is the best one's.
            "SELECT cid, sum(w) AS w FROM (SELECT cid, fact, least(max(credit), sum(credit * confidence)) AS w FROM ("
            f"SELECT c.cid, h.fact, h.credit, a.label, a.value, max(a.confidence) AS confidence FROM {held.name} a "
            f"JOIN {given} h ON h.label = a.label AND h.value = a.value JOIN {place} c ON c.rid = a.rid "
            "GROUP BY c.cid, h.fact, h.credit, a.label, a.value) GROUP BY cid, fact) GROUP BY cid HAVING sum(w) > 0"
        )
    return dict(zip(rows.column("cid").to_pylist(), rows.column("w").to_pylist(), strict=True))


# One of these tells a person from all others; of these, beside anything else that is right, one does.
ALONE = frozenset(
    ("email", "phone", "ssn", "national_id", "tax_id", "passport", "driving_licence", "card", "account", "username")
)
BESIDE = frozenset(("name", "dob", "address"))
# What is nearly right counts from so much credit.
NEAR_ENOUGH = 0.5


def records_of_person(held: Attributes, hits: pa.Table) -> IntArray:
    """The records that are the person's, by what is right in them; ``hits`` is as in :func:`right_weights`.

    A label whose name says nothing tells a person apart, if its value is right.
    """
    kinds = {label: usual(label) for label in hits.column("label").unique().to_pylist()}
    alone = [label for label, kind in kinds.items() if kind is None or kind in ALONE]
    beside = [label for label, kind in kinds.items() if kind in BESIDE]
    with lent(held.store, hits) as given:
        largest = f"SELECT fact, max(credit) AS whole FROM {given} GROUP BY fact"
        rows = held.store.ask(
            f"SELECT a.rid FROM {held.name} a JOIN {given} h ON h.label = a.label AND h.value = a.value "
            f"JOIN ({largest}) m ON m.fact = h.fact WHERE h.fact >= 0 AND h.credit >= {NEAR_ENOUGH} * m.whole AND "
            f"a.confidence > 0 GROUP BY a.rid HAVING bool_or(a.label IN ({listed(held.store, alone)})) OR "
            f"(count(DISTINCT h.fact) > 1 AND bool_or(a.label IN ({listed(held.store, beside)}))) ORDER BY a.rid"
        )
    return np.asarray(rows.column("rid").to_numpy(), np.int64)


def weight_together(held: Attributes, hits: pa.Table, rids: IntArray) -> float:
    """The weight of what is right in any of some records: what they would tell if all were known to be one person's."""
    import pyarrow as pa

    with lent(held.store, hits) as given, lent(held.store, pa.table({"rid": rids})) as some:
        weight = one(
            held.store,
            "SELECT coalesce(sum(w), 0.0) FROM (SELECT h.fact, max(h.credit * a.confidence) AS w FROM "
            f"{held.name} a JOIN {some} s ON s.rid = a.rid JOIN {given} h ON h.label = a.label AND h.value = a.value "
            "GROUP BY h.fact) f",
        )
    return float(weight)


def any_value_like(held: Attributes, pattern: str) -> bool:
    """Whether some value matches a regular expression."""
    some = f"SELECT 1 AS x FROM {held.name} WHERE regexp_matches(value, {held.store.text(pattern)}) LIMIT 1"
    return bool(held.store.ask(some).num_rows)
