"""Attributes of very many records by number: every distinct value once, and which record holds which; also in files."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Collection, Mapping
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from tacit.person.link.attributes import Attributes, Coded, IntArray, arrow_table, lent, listed, numbers, one
from tacit.person.link.forms.bounds import sql_letters
from tacit.tables.engines import Store

Forming = Callable[[Attributes], Attributes]

# Only labels are compressed, each of which many rows have: finding the best compression of the others takes longest.
_PLAIN = "USING COMPRESSION uncompressed"
_VALUES = f"vid BIGINT {_PLAIN}, label STRING, value STRING {_PLAIN}"
_FORMS = f"{_VALUES}, raw STRING {_PLAIN}, fixed BOOLEAN {_PLAIN}"
_ROWS = f"rid BIGINT {_PLAIN}, vid BIGINT {_PLAIN}, confidence DOUBLE {_PLAIN}"
_WORDS = f"label STRING {_PLAIN}, word STRING {_PLAIN}"
_SPOKEN = f"word UBIGINT {_PLAIN}, vid BIGINT {_PLAIN}"


def coded_attributes(
    store: Store, parts: Mapping[str, str], *, records: int, several: frozenset[str] = frozenset()
) -> Attributes:
    """Attributes from queries of (rid, value, confidence), one per label; a record has a value of a label at most once.

    Guarantees
    ----------
    Exact unless two different values of a label have the same 64-bit hash: with m values the probability is at most
    m^2 / 2^65, for ten million 3 in a million, if values are not made to collide. Texts stay in the engine.
    """
    values = store.make("SELECT CAST(0 AS BIGINT) AS vid, '' AS label, '' AS value WHERE false")
    rows = store.make(
        "SELECT CAST(0 AS BIGINT) AS rid, CAST(0 AS BIGINT) AS vid, 0.5::DOUBLE AS confidence WHERE false"
    )
    first, labels = 0, []
    for label in sorted(parts):
        value_rows = store.make(f"SELECT rid, value, confidence FROM ({parts[label]}) p")
        hashes = store.ask(f"SELECT rid, {store.hashed('value')} AS h, confidence, rowid AS place FROM {value_rows}")
        number, of_first = _numbered(numbers(hashes, "h"))
        new = {"place": numbers(hashes, "place")[of_first], "vid": first + np.arange(len(of_first))}
        with lent(store, arrow_table(new)) as wanted:
            store.run(
                f"INSERT INTO {values} SELECT w.vid, {store.text(label)}, h.value FROM {value_rows} h JOIN {wanted} w "
                "ON w.place = h.rowid"
            )
        whole = {"rid": numbers(hashes, "rid"), "vid": first + number, "confidence": numbers(hashes, "confidence")}
        with lent(store, arrow_table(whole)) as coded:
            store.run(f"INSERT INTO {rows} FROM {coded}")
        store.drop(value_rows)
        labels += [label] if len(of_first) else []
        first += len(of_first)
    return _attributes(Coded(store, values, rows, (values, rows)), records, several, tuple(labels))


def _numbered(hashes: NDArray[np.uint64]) -> tuple[IntArray, IntArray]:
    """A number for every hash, equal for equal hashes, and one place of each number, in order.

    So values that are close together in a source are close together in the tables, which are faster to search.
    """
    order = np.argsort(hashes)
    first = np.diff(hashes[order], prepend=hashes[order[:1]] + np.uint64(1)) != 0
    places = order[first]
    # Counting up to each place is faster than sorting the places.
    is_first = np.zeros(len(hashes), bool)
    is_first[places] = True
    rank = (np.cumsum(is_first) - 1)[places]
    number = np.empty(len(hashes), np.int64)
    number[order] = rank[np.cumsum(first) - 1]
    return number, np.flatnonzero(is_first)


def coded_forms(attributes: Attributes, forming: Forming, names: Collection[str] = ()) -> Attributes:
    """The attributes in normal form, made once for every distinct value; ``names`` are labels of names."""
    coded, store = attributes.coded, attributes.store
    assert coded is not None
    count = int(one(store, f"SELECT count(*) FROM {coded.values}"))
    alone = f"(SELECT vid AS rid, label, value, CAST(1 AS DOUBLE) AS confidence FROM {coded.values})"
    different = Attributes(store, alone, count, frozenset(), kept=True)
    different.__dict__["labels"] = attributes.labels
    forms = forming(different)
    if forms is different:
        return attributes
    store.run(f"ALTER TABLE {forms.name} RENAME COLUMN rid TO vid")
    named = f"label IN ({listed(store, names)})"
    parted = f"SELECT label, vid, unnest(string_split(value, ' ')) AS word FROM {forms.name} WHERE {named}"
    words = store.make(f"SELECT DISTINCT label, word FROM ({parted})")
    spoken = store.make(
        f"SELECT {store.hashed('word')} AS word, vid FROM ({parted}) UNION ALL "
        f"SELECT {store.hashed(sql_letters('value'))}, vid FROM {forms.name} WHERE {named}"
    )
    formed = Coded(store, forms.name, coded.rows, (words, spoken), (coded, forms), words, spoken)
    return _attributes(formed, attributes.records, attributes.several, attributes.labels, forms.formed)


def formed_by(attributes: Attributes, known: str, forming: Forming) -> Attributes:
    """Attributes in normal form; ``known`` is a table of values whose normal form need not be made again.

    Guarantees
    ----------
    The same values as ``forming`` returns.
    """
    store = attributes.store
    again = f"SELECT DISTINCT label, value FROM {known} WHERE fixed"
    name = store.make(
        f"SELECT h.rid, h.label, h.value AS said, coalesce(r.value, f.value) AS value, h.confidence "
        f"FROM {attributes.name} h LEFT JOIN {known} r ON r.label = h.label AND r.raw = h.value "
        f"LEFT JOIN ({again}) f ON f.label = h.label AND f.value = h.value"
    )
    others = f"(SELECT rid, label, said AS value, confidence FROM {name} WHERE value IS NULL)"
    new_forms = forming(Attributes(store, others, attributes.records, attributes.several, kept=True))
    columns = "SELECT rid, label, value, confidence FROM"
    whole = store.make(f"{columns} {name} WHERE value IS NOT NULL UNION ALL {columns} {new_forms.name}")
    store.drop(name)
    return Attributes(store, whole, attributes.records, attributes.several)


def _attributes(
    coded: Coded, records: int, several: frozenset[str], labels: tuple[str, ...], formed: frozenset[str] = frozenset()
) -> Attributes:
    store, more = coded.store, ", v.raw, v.fixed, true AS sure" if formed else ""
    whole = f"FROM {coded.rows} r JOIN {coded.values} v ON v.vid = r.vid"
    query = f"SELECT r.rid, v.label, v.value, r.confidence{more} {whole}"
    if twice := formed & several:
        # If two values of a record become one, the better confidence counts.
        some = listed(store, twice)
        query = (
            f"{query} WHERE v.label NOT IN ({some}) UNION ALL SELECT r.rid, v.label, v.value, max(r.confidence), "
            f"CAST(NULL AS STRING), bool_and(v.fixed), true {whole} WHERE v.label IN ({some}) "
            "GROUP BY r.rid, v.label, v.value"
        )
    attributes = Attributes(store, f"({query})", records, several, formed, coded=coded)
    attributes.__dict__["labels"] = labels
    return attributes


def write_coded(attributes: Attributes, formed: Attributes | None, path: Path) -> None:
    """Write attributes, and their normal form if there is one, to a new file in the engine's own format."""
    store, name = attributes.store, _called(path)
    assert attributes.coded is not None
    store.run(f"ATTACH {store.text(str(path))} AS {name}")
    try:
        forms = formed.coded if formed is not None else None
        store.run(f"CREATE TABLE {name}.kept_rows ({_ROWS})")
        store.run(f"INSERT INTO {name}.kept_rows SELECT rid, vid, confidence FROM {attributes.coded.rows}")
        if forms is None:
            store.run(f"CREATE TABLE {name}.kept_values ({_VALUES})")
            store.run(f"INSERT INTO {name}.kept_values SELECT vid, label, value FROM {attributes.coded.values}")
        else:
            store.run(f"CREATE TABLE {name}.kept_values ({_FORMS})")
            store.run(f"INSERT INTO {name}.kept_values SELECT vid, label, value, raw, fixed FROM {forms.values}")
            store.run(f"CREATE TABLE {name}.kept_words ({_WORDS})")
            store.run(f"INSERT INTO {name}.kept_words FROM {forms.words}")
            store.run(f"CREATE TABLE {name}.kept_spoken ({_SPOKEN})")
            store.run(f"INSERT INTO {name}.kept_spoken FROM {forms.spoken}")
    finally:
        store.run(f"DETACH {name}")


def read_coded(
    store: Store,
    path: Path,
    *,
    records: int,
    several: frozenset[str],
    labels: tuple[str, ...],
    formed: frozenset[str],
) -> tuple[Attributes, Attributes | None]:
    """Attributes that were written, used in place; several processes may read one file."""
    name = _called(path)
    store.run(f"ATTACH IF NOT EXISTS {store.text(str(path))} AS {name} (READ_ONLY)")
    rows, values = f"{name}.kept_rows", f"{name}.kept_values"
    if not formed:
        return _attributes(Coded(store, values, rows), records, several, labels), None
    raw = f"(SELECT vid, label, raw AS value FROM {values})"
    return (
        _attributes(Coded(store, raw, rows), records, several, labels),
        _attributes(
            Coded(store, values, rows, words=f"{name}.kept_words", spoken=f"{name}.kept_spoken"),
            records,
            several,
            labels,
            formed,
        ),
    )


def write_tables(store: Store, tables: Mapping[str, str], path: Path) -> None:
    """Write tables to a new file, each under the given name."""
    name = _called(path)
    store.run(f"ATTACH {store.text(str(path))} AS {name}")
    try:
        for called, table in tables.items():
            store.run(f"CREATE TABLE {name}.{called} AS FROM {table}")
    finally:
        store.run(f"DETACH {name}")


def kept_tables(store: Store, path: Path, *called: str) -> list[str]:
    """The names in a store of tables that were written."""
    name = _called(path)
    store.run(f"ATTACH IF NOT EXISTS {store.text(str(path))} AS {name} (READ_ONLY)")
    return [f"{name}.{each}" for each in called]


def _called(path: Path) -> str:
    """The name of a file in an engine, always the same for the same path."""
    return f"tacit_kept_{hashlib.sha256(str(path.absolute()).encode()).hexdigest()[:24]}"
