"""Attributes in their normal forms: most are made in the engine, those it is not sure of in Python, one by one."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence

from tacit.person.link.attributes import Attributes, lent, listed
from tacit.person.link.forms.normal import sql_fixed, sql_form
from tacit.person.model.forms.parts import HIDDEN

# The name of a normal form, and its country.
NamedForm = tuple[str, str | None]


def formed(
    attributes: Attributes,
    forms: Mapping[str, NamedForm | None],
    form_values: Callable[[str, Sequence[str]], Iterable[str]],
) -> Attributes:
    """The attributes with the values of these labels in their normal forms.

    The table also says what each value was (``raw``, null for a label of which a record may have several) and whether
    it is its own normal form (``fixed``; a value that stands for several is not).

    Parameters
    ----------
    attributes : Attributes
    forms : mapping from label to (name, country) or None
        The labels, and the names of their forms; None for a form that SQL cannot make.
    form_values : callable
        Returns the forms of values of a label that SQL is not sure of; it gets each distinct value once.

    Guarantees
    ----------
    If two values of a record become one, the better confidence counts.
    """
    store, wanted = attributes.store, [label for label in attributes.labels if label in forms]
    if not wanted:
        return attributes
    others = f"label NOT IN ({listed(store, wanted)})"
    same = "rid, label, value, confidence, value AS raw, false AS fixed, true AS sure"
    parts = [f"SELECT {same} FROM {attributes.name} WHERE {others}"]
    for label in wanted:
        rows = f"SELECT rid, label, value, confidence FROM {attributes.name} WHERE label = {store.text(label)}"
        named = forms[label]
        query = (
            f"SELECT *, CAST(NULL AS STRING) AS form FROM ({rows})" if named is None else sql_form(store, rows, *named)
        )
        fixed = "false" if named is None else f"coalesce({sql_fixed(store, named[0])}, false)"
        parts.append(
            f"SELECT rid, label, coalesce(form, value) AS value, confidence, value AS raw, {fixed} AS fixed, "
            f"form IS NOT NULL AS sure FROM ({query}) f"
        )
    name = store.make(" UNION ALL ".join(parts))
    for label in wanted:
        _ask(attributes, name, label, form_values)
    if several := attributes.several.intersection(wanted):
        there = f"label IN ({listed(store, several)})"
        best = (
            "SELECT rid, label, value, max(confidence) AS confidence, CAST(NULL AS STRING) AS raw, "
            f"bool_and(fixed) AS fixed, true AS sure FROM {name} WHERE {there} GROUP BY rid, label, value"
        )
        with lent(store, best) as better:
            store.run(f"DELETE FROM {name} WHERE {there}")
            store.run(f"INSERT INTO {name} FROM {better}")
    return Attributes(store, name, attributes.records, attributes.several, frozenset(wanted))


def _ask(
    attributes: Attributes, name: str, label: str, form_values: Callable[[str, Sequence[str]], Iterable[str]]
) -> None:
    """Write the forms that SQL was not sure of."""
    import pyarrow as pa

    store, unsure = attributes.store, f"NOT sure AND label = {attributes.store.text(label)}"
    values = store.ask(f"SELECT DISTINCT value FROM {name} WHERE {unsure}").column("value").to_pylist()
    if not values:
        return
    new = list(form_values(label, values))
    again = [one == other for one, other in zip(form_values(label, new), new, strict=True)]
    hides = store.text(rf"[*<>≥≤(){{}}\[\]]|{HIDDEN}")
    with lent(store, pa.table({"old": values, "new": new, "again": again})) as changed:
        store.run(
            f"UPDATE {name} SET value = c.new, fixed = c.again AND NOT regexp_matches(c.old, {hides}) "
            f"FROM {changed} c WHERE NOT {name}.sure AND {name}.label = {store.text(label)} AND {name}.value = c.old"
        )
