"""Which clusters hold something right of a person, and how much of it at most, in the engine."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING

from tacit.person.link.attributes import Attributes, IntArray, cluster_table, lent

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


def any_value_like(held: Attributes, pattern: str) -> bool:
    """Whether some value matches a regular expression."""
    some = f"SELECT 1 AS x FROM {held.name} WHERE regexp_matches(value, {held.store.text(pattern)}) LIMIT 1"
    return bool(held.store.ask(some).num_rows)
