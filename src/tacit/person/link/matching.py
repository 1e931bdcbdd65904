"""Matching rules carried out on arrays of hashes: the same result as in the engine, faster."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tacit.person.link.attributes import Attributes, Coded, IntArray, numbers
from tacit.person.link.components import joined
from tacit.person.resolve.grouping import Closure
from tacit.person.resolve.rules import Rules

Hashes = NDArray[np.uint64]
Numbers = NDArray[np.int32]
# Owners (records or clusters), and the number of a value of each; equal values have equal numbers.
Owned = tuple[Numbers, Numbers]
# Owners without a partner are left out again and again, as long as that leaves out at least this share of them.
WORTH = 0.1


class TooRichError(Exception):
    """A cluster has too many values to write out its keys."""


def matched(attributes: Attributes, rules: Rules, counting: str, *, closure: Closure, most: float) -> IntArray:
    """The cluster of every record, named by its smallest; ``counting`` is SQL for what takes part in matching.

    ``most`` is how many times as many keys as values a cluster may have.

    Raises
    ------
    TooRichError
        If a cluster has too many combinations of values, which cannot be known beforehand.
    """
    owned = {label: _owned(attributes, label, counting) for label in rules.labels}
    # Half as wide as what is returned: this takes most of the memory.
    cluster = np.arange(attributes.records, dtype=np.int32)
    alternatives, grown = list(rules.alternatives), None
    while alternatives:
        links = _links(owned, cluster, grown, alternatives, most)
        cluster, members = joined(cluster, *links)
        if not len(members) or closure != "swoosh":
            break
        # Alternatives with one label need no later round: merging makes no new value.
        alternatives = [labels for labels in alternatives if len(labels) > 1]
        grown = np.zeros(attributes.records, bool)
        grown[cluster[members]] = True
    return cluster.astype(np.int64)


def _owned(attributes: Attributes, label: str, counting: str) -> tuple[Numbers, Numbers, int]:
    """The records that hold a value of a label, the number of the value, and how many numbers there are."""
    store, label_is = attributes.store, f"label = {attributes.store.text(label)}"
    if attributes.coded is None:
        rows = store.ask(
            f"SELECT rid, {store.hashed('value')} AS h FROM {attributes.name} WHERE {label_is} AND {counting}"
        )
        return numbers(rows, "rid").astype(np.int32), *_numbered(numbers(rows, "h"))
    rids, places, (hashes,) = coded_numbers(attributes.coded, label, counting, store.hashed("value"))
    number, values = _numbered(hashes)
    return rids.astype(np.int32), number[places], values


def _numbered(hashes: Hashes) -> tuple[Numbers, int]:
    """A number for every hash, equal for equal hashes, and how many numbers there are."""
    order = np.argsort(hashes)
    first = np.diff(hashes[order], prepend=hashes[order[:1]] + np.uint64(1)) != 0
    number = np.empty(len(hashes), np.int32)
    number[order] = np.cumsum(first, dtype=np.int32) - 1
    return number, int(first.sum())


def coded_numbers(
    coded: Coded, label: str, counting: str, *terms: str, called: str = "value"
) -> tuple[IntArray, IntArray, list[NDArray[Any]]]:
    """The records that hold a value of a label, the place of each value, and the result of SQL on the values, by place.

    ``terms`` are SQL on a column with this name (``called``).
    """
    store = coded.store
    term_columns = ", ".join(f"{term} AS t{at}" for at, term in enumerate(terms))
    own = f"SELECT vid, value AS {called} FROM {coded.values} WHERE label = {store.text(label)}"
    values = store.ask(f"SELECT vid, {term_columns} FROM ({own})")
    vids = numbers(values, "vid")
    low, high = (int(vids.min()), int(vids.max())) if len(vids) else (0, -1)
    columns = []
    for at in range(len(terms)):
        results = numbers(values, f"t{at}")
        column = np.zeros(high - low + 1, results.dtype)
        column[vids - low] = results
        columns.append(column)
    # The values of a label have consecutive numbers.
    rows = store.ask(f"SELECT rid, vid FROM {coded.rows} WHERE vid BETWEEN {low} AND {high} AND {counting}")
    return numbers(rows, "rid"), numbers(rows, "vid") - low, columns


def _links(
    owned: dict[str, tuple[Numbers, Numbers, int]],
    name: Numbers,
    grown: NDArray[np.bool_] | None,
    alternatives: Sequence[tuple[str, ...]],
    most: float,
) -> tuple[Numbers, Numbers]:
    """Pairs of clusters that match and are enough to join all that do; ``name`` is the cluster of every record.

    ``grown`` are the clusters that grew in the last round, of which at least one is in every new match; None if all
    may match. What can match nothing any more is taken out of ``owned``.
    """
    first, second = [np.zeros(0, np.int32)], [np.zeros(0, np.int32)]
    few = grown is not None and 2 * int(np.count_nonzero(grown[name])) < len(name)
    sides: dict[str, Owned] = {}
    for at, labels in enumerate(alternatives):
        for label in labels:
            if label not in sides:
                owned[label], sides[label] = _side(owned[label], name, grown, few=few)
        some = [sides[label] for label in labels]
        later = set().union(*alternatives[at + 1 :])
        sides = {label: side for label, side in sides.items() if label in later}
        if len(some) == 1:
            # One owner of each value is linked to all the others, which takes no sorting.
            (owner, number), one = some[0], np.zeros(owned[labels[0]][2], np.int32)
            one[number] = owner
            other = one[number]
            apart = owner != other
            first.append(owner[apart])
            second.append(other[apart])
            continue
        some = _everywhere(some, [owned[label][2] for label in labels], grown, len(name))
        owner, key = _keys(some, len(name), most)
        order = np.argsort(key)
        owner, key = owner[order], key[order]
        # Owners of the same key are now neighbours, and each is linked to the next.
        same = (key[1:] == key[:-1]) & (owner[1:] != owner[:-1])
        first.append(owner[:-1][same])
        second.append(owner[1:][same])
    return np.concatenate(first), np.concatenate(second)


def _side(
    owned: tuple[Numbers, Numbers, int], name: Numbers, grown: NDArray[np.bool_] | None, *, few: bool
) -> tuple[tuple[Numbers, Numbers, int], Owned]:
    """What of a label can still match, by record, and of that what can be in a new match, by cluster (``name``).

    ``few`` says that few clusters have grown, so that these are looked for first.
    """
    rids, value, values = owned
    owner = name[rids]
    if few:
        owner, value = _with_grown(owner, value, values, grown)
        there = _shared(owner, value, values)
        return owned, (owner[there], value[there])
    there = _shared(owner, value, values)
    # Merging leaves a value fewer owners, so what one owner holds alone need not be looked at again.
    rids, owner, value = rids[there], owner[there], value[there]
    return (rids, value, values), _with_grown(owner, value, values, grown)


def _shared(owner: Numbers, value: Numbers, values: int) -> IntArray:
    """The places of the rows whose value several owners hold."""
    one, several = np.zeros(values, np.int32), np.zeros(values, bool)
    one[value] = owner
    several[value[one[value] != owner]] = True
    return np.flatnonzero(several[value])


def _with_grown(owner: Numbers, value: Numbers, values: int, grown: NDArray[np.bool_] | None) -> Owned:
    """The rows whose value an owner holds that has grown: no other can be in a new match."""
    if grown is None:
        return owner, value
    new = np.zeros(values, bool)
    new[value[grown[owner]]] = True
    there = np.flatnonzero(new[value])
    return owner[there], value[there]


def _everywhere(
    sides: Sequence[Owned], values: Sequence[int], grown: NDArray[np.bool_] | None, records: int
) -> list[Owned]:
    """The rows of owners that have a value on every side, which another such owner has too; possibly some more."""
    now = list(sides)
    while True:
        before = sum(len(owner) for owner, _ in now)
        there = np.ones(records, bool)
        for owner, _ in now:
            here = np.zeros(records, bool)
            here[owner] = True
            there &= here
        for at, ((owner, value), size) in enumerate(zip(now, values, strict=True)):
            here = np.flatnonzero(there[owner])
            owner, value = owner[here], value[here]
            here = _shared(owner, value, size)
            now[at] = _with_grown(owner[here], value[here], size, grown)
        if sum(len(owner) for owner, _ in now) >= (1 - WORTH) * before:
            return now


def _once(owner: Numbers, value: Numbers) -> Owned:
    """Owners with their values, each pair once, sorted by owner."""
    if (owner[1:] > owner[:-1]).all():
        return owner, value
    # Both in one number, which is quicker to sort than two.
    pairs = np.sort(owner.astype(np.int64) << 32 | value)
    # np.unique without an inverse uses a hash table, which takes several times as long.
    pairs = pairs[np.diff(pairs, prepend=pairs[:1] - 1) != 0]
    return (pairs >> 32).astype(np.int32), pairs.astype(np.int32)


def _keys(sides: Sequence[Owned], records: int, most: float) -> tuple[Numbers, Hashes]:
    """A hash for every choice of a value from every side, with its owner."""
    sides = [_once(*side) for side in sides]
    counts = [np.bincount(owner, minlength=records).astype(np.int32) for owner, _ in sides]
    _refuse_rich(counts, most)
    owner, value = sides[0][0], sides[0][1].astype(np.uint64)
    for (_, other), many_of in zip(sides[1:], counts[1:], strict=True):
        many, firsts = many_of[owner], np.cumsum(many_of, dtype=np.int32) - many_of
        if (many <= 1).all():
            there = many > 0
            owner, value = owner[there], value[there]
            value = mixed(value, other[firsts[owner]].astype(np.uint64))
            continue
        behind = np.cumsum(many, dtype=np.int64) - many
        at = np.arange(int(many.sum())) - np.repeat(behind - firsts[owner], many)
        owner, value = np.repeat(owner, many), mixed(np.repeat(value, many), other[at].astype(np.uint64))
    return owner, value


def _refuse_rich(counts: Sequence[Numbers], most: float) -> None:
    if sum(int(each.max(initial=0)) > 1 for each in counts) < 2:
        return
    product, values = np.ones(len(counts[0])), np.zeros(len(counts[0]))
    for each in counts:
        product *= np.maximum(each, 1)
        values += np.where(each > 1, each, 0)
    if (product > most * np.maximum(values, 1)).any():
        raise TooRichError


def mixed(one: Hashes, other: Hashes) -> Hashes:
    """A 64-bit hash of two hashes in order (splitmix64)."""
    hashed = one * np.uint64(0x9E3779B97F4A7C15) + other + np.uint64(0x632BE59BD9B4E019)
    hashed = (hashed ^ (hashed >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    hashed = (hashed ^ (hashed >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    done: Hashes = hashed ^ (hashed >> np.uint64(31))
    return done
