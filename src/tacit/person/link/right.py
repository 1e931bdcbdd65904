"""Which clusters hold something right of a person, and how much of it at most, in the engine."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from tacit.person.link.attributes import Attributes, IntArray, cluster_table, lent
from tacit.person.link.bounds import may_be_right
from tacit.person.link.forming import NamedForm
from tacit.person.link.normal import sql_form
from tacit.person.model.values import SUPPRESSED

if TYPE_CHECKING:
    import pyarrow as pa

# Values that leave the engine at a time.
VALUES = 100_000


@dataclass(frozen=True)
class Wanted:
    """What is right of one label: the true values in normal form, the form, and the similarity.

    ``form`` is None if SQL does not know the form, ``near`` if values are right or wrong; ``any`` if any value may be
    nearly right.
    """

    true: Sequence[str]
    form: NamedForm | None
    near: str | None
    plain: bool
    any: bool = False


def candidate_values(
    held: Attributes, wanted: Mapping[str, Wanted], forms: Attributes | None = None
) -> Iterator[tuple[str, list[str]]]:
    """The values that may be right, label by label, some at a time, sorted.

    Nothing that is right, nearly right or covers the truth is left out. ``forms`` are the same attributes in normal
    form, as :func:`tacit.person.link.forming.formed` makes them, if they are at hand.
    """
    store = held.store
    parts = [_candidates(held, label, own, forms) for label, own in wanted.items()]
    rows = store.ask(" UNION ALL ".join(parts) + " ORDER BY label, value")
    start = 0
    # Sorted, so that what is added up is added in one order.
    for run in rows.column("label").combine_chunks().value_counts().to_pylist():
        values = rows.column("value").slice(start, run["counts"]).to_pylist()
        start += run["counts"]
        for place in range(0, len(values), VALUES):
            yield run["values"], values[place : place + VALUES]


def _candidates(held: Attributes, label: str, own: Wanted, forms: Attributes | None) -> str:
    """A query of the values of a label that may be right."""
    store, label_is = held.store, f"label = {held.store.text(label)}"
    bound = None if own.any else may_be_right(store, own.near, own.true)
    rows = f"SELECT label, value FROM {held.name} WHERE {label_is}"
    hidden = f"regexp_matches(value, {store.text(SUPPRESSED)})"
    if bound is None or (own.form is None and not own.plain):
        return f"SELECT DISTINCT label, value FROM ({rows})"
    if own.plain:
        return f"SELECT DISTINCT label, value FROM (SELECT *, value AS form FROM ({rows})) WHERE {bound} OR {hidden}"
    if label in held.formed:
        # What is its own form is compared as it is.
        rows = f"SELECT label, value, value AS form, fixed FROM {held.name} WHERE {label_is}"
        return f"SELECT DISTINCT label, value FROM ({rows}) WHERE NOT fixed OR {bound}"
    if forms is not None and label in forms.formed and label not in forms.several:
        rows = f"SELECT label, raw AS value, value AS form, fixed FROM {forms.name} WHERE {label_is}"
        return f"SELECT DISTINCT label, value FROM ({rows}) WHERE {bound} OR (NOT fixed AND {hidden})"
    assert own.form is not None
    # Written out first: the engine would make a form again for every part of the bound.
    known = f"WITH known AS MATERIALIZED (SELECT label, value, form FROM ({sql_form(store, rows, *own.form)}))"
    return f"SELECT * FROM ({known} SELECT DISTINCT label, value FROM known WHERE form IS NULL OR {bound})"


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
