"""Attributes of very many records by number: every distinct value once, and which record holds which; also in files."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Collection, Iterable, Mapping
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from tacit.person.link.attributes import Attributes, Coded, IntArray, arrow_table, lent, listed, numbers, one
from tacit.person.link.forms.bounds import sql_letters
from tacit.tables.engines import Store
from tacit.tables.table import stamp_of

Forming = Callable[[Attributes], Attributes]
# Numbers of records and values; an engine refuses larger ones.
Numbers = NDArray[np.int32]

# Bytes that a process takes beside the tables, and how many more per record for numbers of records and values.
PROCESS, BESIDE = 128 << 20, 160
# What is an attribute at all.
THERE = "value IS NOT NULL AND confidence > 0"
# Finding the best compression takes longest.
_PLAIN = "USING COMPRESSION uncompressed"
_VALUES = f"vid INTEGER {_PLAIN}, label {{label}} {_PLAIN}, value STRING {_PLAIN}"
_FORMS = f"{_VALUES}, raw STRING {_PLAIN}, fixed BOOLEAN {_PLAIN}"
_ROWS = f"rid INTEGER {_PLAIN}, vid INTEGER {_PLAIN}"
_WORDS = f"label {{label}} {_PLAIN}, word STRING {_PLAIN}"
_SPOKEN = f"word UBIGINT {_PLAIN}, vid INTEGER {_PLAIN}"


def coded_attributes(
    store: Store, parts: Mapping[str, str], *, records: int, several: frozenset[str] = frozenset()
) -> Attributes:
    """Attributes from queries of (rid, value, confidence), one per label; a record has a value of a label at most once.

    What is missing, or has no confidence, is left out.

    Guarantees
    ----------
    Exact unless two different values of a label have the same 64-bit hash: with m values the probability is at most
    m^2 / 2^65, for ten million 3 in a million, if values are not made to collide. Texts stay in the engine.
    """
    left = store.leave(PROCESS + records * BESIDE)
    among = _label_type(store, parts)
    values = store.make(f"SELECT CAST(0 AS INTEGER) AS vid, CAST(NULL AS {among}) AS label, '' AS value WHERE false")
    rows = store.make("SELECT CAST(0 AS INTEGER) AS rid, CAST(0 AS INTEGER) AS vid WHERE false")
    first, certain = 0, True
    counts: dict[str, int] = {}
    for label in sorted(parts):
        # What is missing is left out later: a condition on a value would compute every value twice.
        cells = store.make(f"SELECT CAST(rid AS INTEGER) AS rid, value, confidence FROM ({parts[label]}) p")
        there = f"FROM {cells} WHERE {THERE}"
        if certain and one(store, f"SELECT min(confidence) < 1 {there}"):
            certain = False
            store.run(f"ALTER TABLE {rows} ADD COLUMN confidence DOUBLE DEFAULT 1.0")
        more = () if certain else ("confidence",)
        columns = ", ".join(["rid", f"{store.hashed('value')} AS h", "CAST(rowid AS INTEGER) AS place", *more])
        hashes = store.ask(f"SELECT {columns} {there}")
        number, of_first = _numbered(numbers(hashes, "h"))
        vid = np.arange(first, first + len(of_first), dtype=np.int32)
        # The number of every cell that is the first with its value, by its place; there is no faster join.
        begins = np.full(int(one(store, f"SELECT count(*) FROM {cells}")), -1, np.int32)
        begins[numbers(hashes, "place")[of_first]] = vid
        with lent(store, arrow_table({"vid": begins})) as wanted:
            store.run(
                f"INSERT INTO {values} SELECT w.vid, {store.text(label)}, c.value FROM {cells} c POSITIONAL JOIN "
                f"{wanted} w WHERE w.vid >= 0"
            )
        store.drop(cells)
        whole = {"rid": numbers(hashes, "rid"), "vid": vid[number], **{name: numbers(hashes, name) for name in more}}
        with lent(store, arrow_table(whole)) as coded:
            store.run(f"INSERT INTO {rows} FROM {coded}")
        counts.update({label: len(number)} if len(number) else {})
        first += len(of_first)
    every = _every_row(rows, certain=certain)
    return _attributes(Coded(store, values, every, counts, (values, rows), (left,), certain=certain), records, several)


def _label_type(store: Store, labels: Iterable[str]) -> str:
    """The SQL type of a column of labels, which are stored as numbers."""
    return f"ENUM({', '.join(map(store.text, sorted(labels))) or store.text('')})"


def _every_row(rows: str, *, certain: bool) -> str:
    """A query (rid, vid, confidence) of a table, which has no confidence if all are certain."""
    return f"(SELECT rid, vid, CAST(1 AS DOUBLE) AS confidence FROM {rows})" if certain else rows


def _numbered(hashes: NDArray[np.uint64]) -> tuple[Numbers, IntArray]:
    """A number for every hash, equal for equal hashes, and one place of each number, in order.

    So values that are close together in a source are close together in the tables, which are faster to search.
    """
    order = np.argsort(hashes)
    first = np.diff(hashes[order], prepend=hashes[order[:1]] + np.uint64(1)) != 0
    places = order[first]
    # Counting up to each place is faster than sorting the places.
    is_first = np.zeros(len(hashes), bool)
    is_first[places] = True
    rank = (np.cumsum(is_first, dtype=np.int32) - 1)[places]
    number = np.empty(len(hashes), np.int32)
    number[order] = rank[np.cumsum(first, dtype=np.int32) - 1]
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
    owned, needed = (words, spoken), (coded, forms)
    formed = Coded(store, forms.name, coded.rows, coded.counts, owned, needed, words, spoken, coded.certain)
    return _attributes(formed, attributes.records, attributes.several, forms.formed)


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
    coded: Coded, records: int, several: frozenset[str], formed: frozenset[str] = frozenset()
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
    attributes.__dict__["labels"] = tuple(coded.counts)
    return attributes


def write_coded(attributes: Attributes, formed: Attributes | None, path: Path) -> None:
    """Write attributes, and their normal form if there is one, to a new file in the engine's own format."""
    store, name, coded = attributes.store, _called(path), attributes.coded
    assert coded is not None
    among, more = _label_type(store, attributes.labels), "" if coded.certain else ", confidence"
    # What is written, the columns of each table, and where they come from.
    tables = {"rows": (_ROWS + (more and f"{more} DOUBLE {_PLAIN}"), f"rid, vid{more}", coded.rows)}
    forms = formed.coded if formed is not None else None
    if forms is None:
        tables["values"] = _VALUES, "vid, label, value", coded.values
    else:
        tables["values"] = _FORMS, "vid, label, value, raw, fixed", forms.values
        tables["words"] = _WORDS, "label, word", str(forms.words)
        tables["spoken"] = _SPOKEN, "word, vid", str(forms.spoken)
    store.run(f"ATTACH {store.text(str(path))} AS {name}")
    try:
        for called, (columns, some, table) in tables.items():
            store.run(f"CREATE TABLE {name}.kept_{called} ({columns.format(label=among)})")
            store.run(f"INSERT INTO {name}.kept_{called} SELECT {some} FROM {table}")
    finally:
        store.run(f"DETACH {name}")


def read_coded(
    store: Store,
    path: Path,
    *,
    records: int,
    several: frozenset[str],
    counts: Mapping[str, int],
    formed: frozenset[str],
    certain: bool,
) -> tuple[Attributes, Attributes | None]:
    """Attributes that were written, used in place; several processes may read one file."""
    left = store.leave(PROCESS + records * BESIDE)
    name = _attached(store, path)
    rows, values = _every_row(f"{name}.kept_rows", certain=certain), f"{name}.kept_values"
    if not formed:
        return _attributes(Coded(store, values, rows, counts, needed=(left,), certain=certain), records, several), None
    raw = Coded(
        store, f"(SELECT vid, label, raw AS value FROM {values})", rows, counts, needed=(left,), certain=certain
    )
    words, spoken = f"{name}.kept_words", f"{name}.kept_spoken"
    forms = Coded(store, values, rows, counts, (), (left,), words, spoken, certain)
    return _attributes(raw, records, several), _attributes(forms, records, several, formed)


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
    name = _attached(store, path)
    return [f"{name}.{each}" for each in called]


def _attached(store: Store, path: Path) -> str:
    """The name of a written file in a store, where it is opened if it is not yet.

    A file that was damaged and made again is another file: who opened the damaged one cannot read it any more.
    """
    beginning = _called(path)
    name = "_".join(map(str, (beginning, *stamp_of(path))))
    same = f"starts_with(database_name, {store.text(beginning)})"
    for other in store.ask(f"SELECT database_name AS name FROM duckdb_databases() WHERE {same}").column("name"):
        if str(other) != name:
            store.run(f"DETACH {other}")
    store.run(f"ATTACH IF NOT EXISTS {store.text(str(path))} AS {name} (READ_ONLY)")
    return name


def _called(path: Path) -> str:
    """How the name of a file in a store begins, always the same for the same path."""
    return f"tacit_kept_{hashlib.sha256(str(path.absolute()).encode()).hexdigest()[:24]}"
