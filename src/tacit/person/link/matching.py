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
# Owners (records or clusters), and the hash of a value of each.
Owned = tuple[IntArray, Hashes]


class TooRichError(Exception):
    """A cluster has too many values to write out its keys."""


def matched(held: Attributes, rules: Rules, counting: str, *, closure: Closure, most: float) -> IntArray:
    """The cluster of every record, named by its smallest; ``counting`` is SQL for what takes part in matching.

    ``most`` is how many times as many keys as values a cluster may have.

    Raises
    ------
    TooRichError
        If a cluster has too many combinations of values, which cannot be known beforehand.
    """
    owned = {label: _owned(held, label, counting) for label in rules.labels}
    cluster = np.arange(held.records, dtype=np.int64)
    alternatives = list(enumerate(rules.alternatives))
    ands = [(place, labels) for place, labels in alternatives if len(labels) > 1]
    known: Owned = np.zeros(0, np.int64), np.zeros(0, np.uint64)
    keys = _keys(owned, alternatives, held.records, most)
    while True:
        known, links = _shared(known, keys)
        cluster, grown = joined(cluster, *links)
        if not len(grown) or closure != "swoosh" or not ands:
            return cluster
        moved = np.full(held.records, -1, np.int64)
        moved[grown] = cluster[grown]
        now = {label: _moved(owned[label], moved) for label in {label for _, labels in ands for label in labels}}
        keys = _keys(now, ands, held.records, most)


def _owned(held: Attributes, label: str, counting: str) -> Owned:
    """The records that hold a value of a label, and its hash."""
    store, label_is = held.store, f"label = {held.store.text(label)}"
    if held.coded is None:
        rows = store.ask(f"SELECT rid, {store.hashed('value')} AS h FROM {held.name} WHERE {label_is} AND {counting}")
        return _once(numbers(rows, "rid"), numbers(rows, "h").astype(np.uint64))
    rids, places, hashes = coded_numbers(held.coded, label, counting, store.hashed("value"))
    return _once(rids, hashes[0][places].astype(np.uint64))


def coded_numbers(
    coded: Coded, label: str, counting: str, *terms: str, called: str = "value"
) -> tuple[IntArray, IntArray, list[NDArray[Any]]]:
    """The records that hold a value of a label, the place of each value, and the result of SQL on the values, by place.

    ``terms`` are SQL on a column with this name (``called``).
    """
    store = coded.store
    said = ", ".join(f"{term} AS t{at}" for at, term in enumerate(terms))
    own = f"SELECT vid, value AS {called} FROM {coded.values} WHERE label = {store.text(label)}"
    values = store.ask(f"SELECT vid, {said} FROM ({own})")
    vids = numbers(values, "vid")
    low, high = (int(vids.min()), int(vids.max())) if len(vids) else (0, -1)
    columns = []
    for at in range(len(terms)):
        found = numbers(values, f"t{at}")
        column = np.zeros(high - low + 1, found.dtype)
        column[vids - low] = found
        columns.append(column)
    # The values of a label have consecutive numbers.
    rows = store.ask(f"SELECT rid, vid FROM {coded.rows} WHERE vid BETWEEN {low} AND {high} AND {counting}")
    return numbers(rows, "rid"), numbers(rows, "vid") - low, columns


def _once(owner: IntArray, value: Hashes) -> Owned:
    """Owners with their values, each pair once, sorted by owner."""
    if (owner[1:] > owner[:-1]).all():
        return owner, value
    pair = mixed(owner.astype(np.uint64), value)
    order = np.argsort(pair)
    pair = pair[order]
    some = order[np.append(True, pair[1:] != pair[:-1])] if len(order) else order
    some = some[np.argsort(owner[some])]
    return owner[some], value[some]


def _moved(owned: Owned, moved: IntArray) -> Owned:
    """The values of clusters; records that are not ``moved`` to one (-1) are left out."""
    cluster = moved[owned[0]]
    there = cluster >= 0
    return _once(cluster[there], owned[1][there])


def _keys(
    owned: dict[str, Owned], alternatives: Sequence[tuple[int, tuple[str, ...]]], records: int, most: float
) -> list[Owned]:
    """A hash for every alternative and choice of values, with its owner."""
    counts = {label: np.bincount(owned[label][0], minlength=records) for label in owned}
    firsts = {label: np.cumsum(counts[label]) - counts[label] for label in owned}
    keys = []
    for place, labels in alternatives:
        _refuse_rich([counts[label] for label in labels], most)
        owner, value = owned[labels[0]]
        value = mixed(np.full(1, place, np.uint64), value)
        for label in labels[1:]:
            many = counts[label][owner]
            if (many <= 1).all():
                there = many > 0
                owner, value = owner[there], value[there]
                value = mixed(value, owned[label][1][firsts[label][owner]])
                continue
            behind = np.cumsum(many) - many
            at = np.arange(many.sum()) - np.repeat(behind - firsts[label][owner], many)
            owner, value = np.repeat(owner, many), mixed(np.repeat(value, many), owned[label][1][at])
        keys.append((owner, value))
    return keys


def _refuse_rich(counts: Sequence[IntArray], most: float) -> None:
    if sum(int(each.max(initial=0)) > 1 for each in counts) < 2:
        return
    product, values = np.ones(len(counts[0])), np.zeros(len(counts[0]))
    for each in counts:
        product *= np.maximum(each, 1)
        values += np.where(each > 1, each, 0)
    if (product > most * np.maximum(values, 1)).any():
        raise TooRichError


def _shared(known: Owned, keys: Sequence[Owned]) -> tuple[Owned, tuple[IntArray, IntArray]]:
    """Every key with one of its owners, and the pairs of owners that share one."""
    owner = np.concatenate([known[0], *(one for one, _ in keys)])
    value = np.concatenate([known[1], *(one for _, one in keys)])
    order = np.argsort(value)
    owner, value = owner[order], value[order]
    # Owners of the same key are now neighbours, and each is linked to the next; one of them stands for all.
    same = value[1:] == value[:-1]
    links = owner[:-1][same], owner[1:][same]
    first = np.append(True, ~same) if len(value) else np.zeros(0, bool)
    return (owner[first], value[first]), links


def mixed(one: Hashes, other: Hashes) -> Hashes:
    """A 64-bit hash of two hashes in order (splitmix64)."""
    hashed = one * np.uint64(0x9E3779B97F4A7C15) + other + np.uint64(0x632BE59BD9B4E019)
    hashed = (hashed ^ (hashed >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    hashed = (hashed ^ (hashed >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    done: Hashes = hashed ^ (hashed >> np.uint64(31))
    return done
