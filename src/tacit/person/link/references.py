"""What is true of many people, in the engine, and how many of them are alike."""

from __future__ import annotations

import weakref
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np

from tacit.errors import ArgumentError
from tacit.person.link.attributes import (
    Attributes,
    IntArray,
    lent,
    listed,
    one,
    text_table,
)
from tacit.person.link.wide import keyed_values
from tacit.person.model.labels import Labels
from tacit.tables.engines import Store
from tacit.tables.table import Table

# Brings attributes into the form in which they are compared.
Meaning = Callable[[Attributes], Attributes]


@dataclass(frozen=True, eq=False, repr=False)
class References:
    """What is true of many people, in the same store as the attributes of records. Made by :func:`wide_references`.

    ``persons`` is a table (person, pid): the numbers of ``count`` people from 0 in the order of their ids, and the ids.
    A person's number is the ``rid`` in the ``facts``, which also say how each value was written (``raw``).
    """

    store: Store
    persons: str
    facts: Attributes
    count: int
    _alike: list[tuple[Labels, str]] = field(default_factory=list)

    def __post_init__(self) -> None:
        weakref.finalize(self, self.store.drop, self.persons).atexit = False

    def similarities(self, labels: Labels) -> str:
        """A table (label, meant, actual, alike) in which similarities of different values are cached.

        It lives as long as the object: every adversary compares much the same values with the same facts.
        """
        for described, name in self._alike:
            if described is labels:
                return name
        name = self.store.make("SELECT '' AS label, '' AS meant, '' AS actual, CAST(0 AS DOUBLE) AS alike WHERE false")
        weakref.finalize(self, self.store.drop, name).atexit = False
        self._alike.append((labels, name))
        return name

    def lacking(self, label: str) -> int:
        """How many people have no value of a label."""
        label_is = f"label = {self.store.text(label)}"
        return self.count - int(one(self.store, f"SELECT count(DISTINCT rid) FROM {self.facts.name} WHERE {label_is}"))

    def __repr__(self) -> str:
        return f"References({self.count:,} persons)"


def wide_references(
    store: Store, table: Table, person: str, columns: Mapping[str, str], meant: Meaning = lambda attributes: attributes
) -> References:
    """References from a table: the column ``person`` says whose row it is; a person may have several rows.

    ``store`` holds the attributes against which the people will be measured. ``columns`` maps columns to labels,
    ``meant`` brings values into the form in which they are compared.
    """
    person_values = keyed_values(store, table, person, columns)
    try:
        persons = store.make(
            f"SELECT row_number() OVER (ORDER BY pid) - 1 AS person, pid FROM {person_values} GROUP BY pid ORDER BY pid"
        )
        different = meanings(store, f"SELECT label, value FROM {person_values} WHERE label IS NOT NULL", meant)
        # Of several spellings of one value of a person, the first in alphabetical order.
        true = store.make(
            "SELECT p.person AS rid, d.label, d.meant AS value, CAST(1 AS DOUBLE) AS confidence, min(d.value) AS raw "
            f"FROM {person_values} g JOIN {persons} p ON p.pid = g.pid JOIN {different} d ON d.label = g.label AND "
            "d.value = g.value GROUP BY p.person, d.label, d.meant"
        )
        store.drop(different)
    finally:
        store.drop(person_values)
    count = int(one(store, f"SELECT count(*) FROM {persons}"))
    return References(store, persons, Attributes(store, true, count), count)


def meanings(store: Store, rows: str, meant: Meaning) -> str:
    """A table (vid, label, value, meant) of the distinct values in the rows (label, value) of a query."""
    name = store.make(
        "SELECT row_number() OVER () - 1 AS rid, label, value, CAST(1 AS DOUBLE) AS confidence FROM "
        f"(SELECT DISTINCT label, value FROM ({rows}))"
    )
    distinct = Attributes(store, name, int(one(store, f"SELECT count(*) FROM {name}")), frozenset())
    formed = meant(distinct)
    return store.make(
        f"SELECT g.rid AS vid, g.label, g.value, f.value AS meant FROM {name} g JOIN {formed.name} f ON f.rid = g.rid"
    )


def alike(people: References, facts: Iterable[tuple[str, str]]) -> int:
    """How many people could be the one of whom these facts are true.

    A missing value rules nobody out, as in :func:`tacit.person.model.anonymity.anonymity_of`.
    """
    true = list(facts)
    if not true:
        return people.count
    with lent(people.store, text_table(true, "label", "value")) as wanted:
        # Somebody is ruled out who has values of a label, none of which is the person's.
        ruled_out = (
            f"SELECT DISTINCT rid FROM (SELECT f.rid, f.label FROM {people.facts.name} f LEFT JOIN {wanted} w "
            f"ON w.label = f.label AND w.value = f.value WHERE f.label IN "
            f"({listed(people.store, {label for label, _ in true})}) GROUP BY f.rid, f.label HAVING count(w.value) = 0)"
        )
        return people.count - int(one(people.store, f"SELECT count(*) FROM ({ruled_out})"))


def class_sizes(people: References, quasi_identifiers: Sequence[str]) -> IntArray:
    """For every person, how many people, themselves included, have the same values of all quasi-identifiers.

    People who lack a quasi-identifier agree with the others who lack it.
    """
    own = _classes(people, quasi_identifiers)
    rows = people.store.ask(f"SELECT person, count(*) OVER (PARTITION BY own) AS k FROM ({own}) q ORDER BY person")
    return np.asarray(rows.column("k").to_numpy(), np.int64)


def class_diversity(people: References, quasi_identifiers: Sequence[str], sensitive: Sequence[str]) -> IntArray:
    """For every person, how many different values of a sensitive label the people with the same quasi-identifiers have.

    This is the distinct l of l-diversity; with several sensitive labels, the smallest.
    """
    if not sensitive:
        raise ArgumentError("no sensitive label is named: name the labels whose values a crowd should hide")
    own, store = _classes(people, quasi_identifiers), people.store
    fewest = np.full(people.count, np.iinfo(np.int64).max)
    for label in sensitive:
        values = f"SELECT rid, value FROM {people.facts.name} WHERE label = {store.text(label)}"
        rows = store.ask(
            f"SELECT DISTINCT person, l FROM (SELECT q.person, count(DISTINCT f.value) OVER (PARTITION BY q.own) AS l "
            f"FROM ({own}) q LEFT JOIN ({values}) f ON f.rid = q.person) d ORDER BY person"
        )
        fewest = np.minimum(fewest, rows.column("l").to_numpy())
    return fewest


def _classes(people: References, quasi_identifiers: Sequence[str]) -> str:
    """A query of every person's quasi-identifiers, as one list per person."""
    if not quasi_identifiers:
        raise ArgumentError("no quasi-identifier is named: name the labels by which people are told apart")
    return (
        "SELECT p.person, list(row(f.label, f.value) ORDER BY f.label, f.value) FILTER (WHERE f.label IS NOT NULL) AS "
        f"own FROM {people.persons} p LEFT JOIN (SELECT * FROM {people.facts.name} WHERE label IN "
        f"({listed(people.store, quasi_identifiers)})) f ON f.rid = p.person GROUP BY p.person"
    )
