"""Attributes in their normal forms: most of them made in the engine, those it is not sure of asked for one by one."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence

from tacit.person.link.attributes import Attributes, lent, listed, text_table
from tacit.person.link.normal import sql_form

# The name of a normal form, and its country.
NamedForm = tuple[str, str | None]


def formed(
    held: Attributes,
    forms: Mapping[str, NamedForm | None],
    asked: Callable[[str, Sequence[str]], Iterable[str]],
) -> Attributes:
    """The attributes with the values of some labels in their normal forms.

    ``forms`` says of each label which form; None for one that SQL does not know. ``asked`` gives the forms of values of
    a label that SQL is not sure of; it is asked about each different value once. Where two values of a record become
    one, the better confidence counts.
    """
    store, wanted = held.store, [label for label in held.labels if label in forms]
    if not wanted:
        return held
    parts = [f"SELECT rid, label, value, confidence, true AS sure FROM {held.name} WHERE label NOT IN ({listed(store, wanted)})"]
    for label in wanted:
        rows = f"SELECT rid, label, value, confidence FROM {held.name} WHERE label = {store.text(label)}"
        named = forms[label]
        query = f"SELECT *, CAST(NULL AS STRING) AS form FROM ({rows})" if named is None else sql_form(store, rows, *named)
        parts.append(
            f"SELECT rid, label, coalesce(form, value) AS value, confidence, form IS NOT NULL AS sure FROM ({query}) f"
        )
    name = store.make(" UNION ALL ".join(parts))
    changes: list[tuple[str, str, str]] = []
    for label in wanted:
        unsure = store.ask(f"SELECT DISTINCT value FROM {name} WHERE NOT sure AND label = {store.text(label)}")
        values = unsure.column("value").to_pylist()
        changes += [(label, old, new) for old, new in zip(values, asked(label, values), strict=True) if old != new]
    with lent(store, text_table(changes, "label", "old", "new")) as changed:
        if changes:
            store.run(
                f"UPDATE {name} SET value = c.new FROM {changed} c WHERE NOT {name}.sure AND {name}.label = c.label "
                f"AND {name}.value = c.old"
            )
    if several := listed(store, held.several.intersection(wanted)) if held.several.intersection(wanted) else "":
        with lent(
            store,
            f"SELECT rid, label, value, max(confidence) AS confidence, true AS sure FROM {name} "
            f"WHERE label IN ({several}) GROUP BY rid, label, value",
        ) as better:
            store.run(f"DELETE FROM {name} WHERE label IN ({several})")
            store.run(f"INSERT INTO {name} FROM {better}")
    return Attributes(store, name, held.records, held.several)
