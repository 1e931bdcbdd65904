"""How the records of a cluster came together: enough links to join them, each with the labels that agreed."""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Iterator, Mapping

import numpy as np
from numpy.typing import NDArray

from tacit.person.rules import Rules
from tacit.tables.linking_attributes import Attributes, records

IntArray = NDArray[np.int64]
Link = tuple[int, int, tuple[str, ...]]

# Label to value to a record that holds it.
Values = dict[str, dict[str, int]]


def links(
    held: Attributes,
    clusters: IntArray,
    wanted: Iterable[int],
    rules: Rules | Iterable[Iterable[str] | str],
    *,
    min_confidence: float = 0.0,
) -> list[Link]:
    """Links that join the records of some clusters, as few as can be: (left record, right record, labels that agree).

    Parameters
    ----------
    held : Attributes
    clusters : int array
        The cluster of every record, as :func:`tacit.tables.linking.resolve` gives it.
    wanted : iterable of int
        The clusters to explain.
    rules, min_confidence
        As in :func:`tacit.tables.linking.resolve`.

    Returns
    -------
    list
        In the order in which they can be drawn: links between base records first; then those by which what was merged
        matched something else, where left and right each hold the shared value of the first of the labels, and other
        records merged with them the rest.

    Guarantees
    ----------
    A cluster of m records that the rules join with merging has m - 1 links. Clusters that come from elsewhere may
    have fewer: the rules do not explain them whole.
    """
    given = rules if isinstance(rules, Rules) else Rules(rules)
    given = Rules(given.alternatives, max(given.min_confidence, min_confidence))
    members = np.flatnonzero(np.isin(clusters, np.fromiter(wanted, np.int64)))
    together: dict[int, list[int]] = {}
    for rid in members.tolist():
        together.setdefault(int(clusters[rid]), []).append(rid)
    found = records(held, members.tolist())
    done: list[Link] = []
    for rids in together.values():
        values = {rid: _counting(found[rid], given) for rid in rids}
        done.extend(_traced(values, given))
    return done


def _counting(attributes: Iterable[tuple[str, str, float]], rules: Rules) -> dict[str, list[str]]:
    return rules.values({(label, value): confidence for label, value, confidence in attributes})


def _traced(values: Mapping[int, Mapping[str, list[str]]], rules: Rules) -> Iterator[Link]:
    parts = _Parts(values)
    owners: dict[tuple[int | str, ...], int] = {}
    for rid, own in values.items():
        for place, labels in enumerate(rules.alternatives):
            sides = [own.get(label, ()) for label in labels]
            if np.prod([float(len(side)) for side in sides]) > 16.0 * sum(map(len, sides)):
                continue  # too many combinations to write out; the second stage compares them
            for combination in itertools.product(*sides):
                owner = owners.setdefault((place, *combination), rid)
                if parts.join(owner, rid):
                    yield owner, rid, labels
    work = list(dict.fromkeys(map(parts.root, values)))
    while work:
        part = parts.root(work.pop())
        link = parts.match(part, rules)
        if link is not None:
            parts.join(link[0], link[1])
            work.append(part)
            yield link


class _Parts:
    """Parts of a cluster that are joined step by step, and the values each holds."""

    def __init__(self, values: Mapping[int, Mapping[str, list[str]]]) -> None:
        self._parent = {rid: rid for rid in values}
        self._values: dict[int, Values] = {
            rid: {label: dict.fromkeys(found, rid) for label, found in own.items()} for rid, own in values.items()
        }
        self._holders: dict[tuple[str, str], list[int]] = {}
        for rid, own in values.items():
            for label, found in own.items():
                for value in found:
                    self._holders.setdefault((label, value), []).append(rid)

    def root(self, rid: int) -> int:
        """The part a record is in."""
        while self._parent[rid] != rid:
            self._parent[rid] = self._parent[self._parent[rid]]
            rid = self._parent[rid]
        return rid

    def join(self, one: int, other: int) -> bool:
        """Join the parts of two records; whether they were two."""
        one, other = self.root(one), self.root(other)
        if one == other:
            return False
        if sum(map(len, self._values[one].values())) < sum(map(len, self._values[other].values())):
            one, other = other, one
        self._parent[other] = one
        for label, found in self._values.pop(other).items():
            own = self._values[one].setdefault(label, {})
            for value, rid in found.items():
                own.setdefault(value, rid)
        return True

    def match(self, part: int, rules: Rules) -> Link | None:
        """A link from a part to another that shares a value of every label of an alternative, if there is one."""
        own = self._values[part]
        for labels in rules.alternatives:
            first, rest = labels[0], labels[1:]
            for value, left in own.get(first, {}).items():
                holders = self._holders[first, value]
                # What has come together since need not be looked at again.
                holders[:] = dict.fromkeys(map(self.root, holders))
                for other in holders:
                    theirs = self._values[other]
                    if other != part and all(_meet(own.get(label, {}), theirs.get(label, {})) for label in rest):
                        return left, theirs[first][value], labels
        return None


def _meet(one: dict[str, int], other: dict[str, int]) -> bool:
    return (
        not one.keys().isdisjoint(other.keys()) if len(one) <= len(other) else not other.keys().isdisjoint(one.keys())
    )
