"""Attributes in their normal forms: most are made in the engine, those it is not sure of in Python, one by one."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence

from tacit.person.link.attributes import Attributes, lent, listed
from tacit.person.link.forms.normal import sql_fixed, sql_form

# The name of a normal form, and its country.
NamedForm = tuple[str, str | None]


def formed(
    held: Attributes,
    forms: Mapping[str, NamedForm | None],
    asked: Callable[[str, Sequence[str]], Iterable[str]],
) -> Attributes:
    """The attributes with the values of these labels in their normal forms.

    The table also says what each value was (``raw``, null for a label of which a record may have several) and whether
    it is its own normal form (``fixed``; a value that stands for several is not).

    Parameters
    ----------
    held : Attributes
    forms : mapping from label to (name, country) or None
        The labels, and the names of their forms; None for a form that SQL cannot make.
    asked : callable
        Returns the forms of values of a label that SQL is not sure of; it gets each distinct value once.

    Guarantees
    ----------
    If two values of a record become one, the better confidence counts.
    """
    store, wanted = held.store, [label for label in held.labels if label in forms]
    if not wanted:
        return held
    others = f"label NOT IN ({listed(store, wanted)})"
    same = "rid, label, value, confidence, value AS raw, false AS fixed, true AS sure"
    parts = [f"SELECT {same} FROM {held.name} WHERE {others}"]
    for label in wanted:
        rows = f"SELECT rid, label, value, confidence FROM {held.name} WHERE label = {store.text(label)}"
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
        _ask(held, name, label, asked)
    if several := held.several.intersection(wanted):
        there = f"label IN ({listed(store, several)})"
        best = (
            "SELECT rid, label, value, max(confidence) AS confidence, CAST(NULL AS STRING) AS raw, "
            f"bool_and(fixed) AS fixed, true AS sure FROM {name} WHERE {there} GROUP BY rid, label, value"
        )
        with lent(store, best) as better:
            store.run(f"DELETE FROM {name} WHERE {there}")
            store.run(f"INSERT INTO {name} FROM {better}")
    return Attributes(store, name, held.records, held.several, frozenset(wanted))


def _ask(held: Attributes, name: str, label: str, asked: Callable[[str, Sequence[str]], Iterable[str]]) -> None:
    """Write the forms that SQL was not sure of."""
    import pyarrow as pa

    store, unsure = held.store, f"NOT sure AND label = {held.store.text(label)}"
    values = store.ask(f"SELECT DISTINCT value FROM {name} WHERE {unsure}").column("value").to_pylist()
    if not values:
        return
    new = list(asked(label, values))
    again = [one == other for one, other in zip(asked(label, new), new, strict=True)]
    with lent(store, pa.table({"old": values, "new": new, "again": again})) as changed:
        store.run(
            f"UPDATE {name} SET value = c.new, fixed = c.again AND NOT regexp_matches(c.old, '[*<>≥≤(){{}}\\[\\]]') "
            f"FROM {changed} c WHERE NOT {name}.sure AND {name}.label = {store.text(label)} AND {name}.value = c.old"
        )
