"""Attributes of many records as one long table in an engine: who holds what, and with which confidence."""

from __future__ import annotations

import weakref
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from tacit.tables.engines import Store

if TYPE_CHECKING:
    import pyarrow as pa

# Numbers of records, and of clusters, which are named by their smallest record.
IntArray = NDArray[np.int64]
# Up to this many records, their numbers are written into the query.
FEW = 2_000


@dataclass(frozen=True, eq=False)
class Coded:
    """Attributes by number: a table ``values`` (vid, label, value), which has every distinct one at least once, and a
    table ``rows`` (rid, vid, confidence). ``counts`` says how many rows each label has; labels are sorted.

    For names in normal form, ``words`` (label, word) has every distinct word, and ``spoken`` (word, vid) the hashes of
    the words of each name and of its letters. If everything is ``certain``, all confidences are 1. ``owned`` are tables
    that are dropped with the object; ``needed`` are objects that own the others.
    """

    store: Store
    values: str
    rows: str
    counts: Mapping[str, int]
    owned: tuple[str, ...] = ()
    needed: tuple[object, ...] = ()
    words: str | None = None
    spoken: str | None = None
    certain: bool = False

    def __post_init__(self) -> None:
        if self.owned:
            weakref.finalize(self, self.store.drop, *self.owned).atexit = False


@dataclass(frozen=True, eq=False, repr=False)
class Attributes:
    """A table (rid, label, value, confidence) held in an engine; records are numbered from 0.

    Made by :func:`tacit.person.link.wide.gathered`. A record has every (label, value) at most once. ``name`` is that of
    the table in the ``store``, which is dropped with the object unless it is ``kept``; ``records`` also counts records
    without any attribute. ``formed`` are the labels whose values were brought into normal form by
    :func:`tacit.person.link.forms.forming.formed`; the table has more columns for these. Attributes of very many
    records are ``coded``, and ``name`` is a query on the tables.
    """

    store: Store
    name: str
    records: int
    _several: frozenset[str] | None = None
    formed: frozenset[str] = frozenset()
    kept: bool = False
    coded: Coded | None = None

    def __post_init__(self) -> None:
        if self.kept or self.coded is not None:
            return
        weakref.finalize(self, self.store.drop, self.name).atexit = False

    @cached_property
    def several(self) -> frozenset[str]:
        """The labels for which some record has, or may have, several values."""
        if self._several is not None:
            return self._several
        labels = self.store.ask(f"SELECT label FROM {self.name} GROUP BY label HAVING count(*) > count(DISTINCT rid)")
        return frozenset(labels.column("label").to_pylist())

    @cached_property
    def labels(self) -> tuple[str, ...]:
        """The labels that occur, sorted."""
        return tuple(sorted(self.store.ask(f"SELECT DISTINCT label FROM {self.name}").column("label").to_pylist()))

    def __repr__(self) -> str:
        return f"Attributes({self.records:,} records)"


@contextmanager
def lent(store: Store, data: pa.Table | str) -> Iterator[str]:
    """Hold an Arrow table, or the result of a query, in a store until the block ends; yields its name there."""
    name = store.make(data) if isinstance(data, str) else store.load(data)
    try:
        yield name
    finally:
        store.drop(name)


def one(store: Store, query: str) -> Any:
    """The single cell that a query returns."""
    return store.ask(query).column(0)[0].as_py()


def arrow_table(columns: Mapping[str, Sequence[str] | NDArray[Any]]) -> pa.Table:
    """Texts and numbers as an Arrow table.

    To convert Python or numpy values, pyarrow loads pandas if it is installed, which takes longer than most questions.
    """
    import pyarrow as pa

    return pa.Table.from_arrays([_arrow(column) for column in columns.values()], names=list(columns))


def _arrow(column: Sequence[str] | NDArray[Any]) -> pa.Array:
    import pyarrow as pa

    if isinstance(column, np.ndarray):
        kind = pa.from_numpy_dtype(column.dtype)
        flat = np.packbits(column, bitorder="little") if column.dtype == bool else np.ascontiguousarray(column)
        return pa.Array.from_buffers(kind, len(column), [None, pa.py_buffer(flat)])
    texts = [text.encode() for text in column]
    ends = np.zeros(len(texts) + 1, np.int64)
    np.cumsum([len(text) for text in texts], out=ends[1:])
    buffers = [None, pa.py_buffer(ends), pa.py_buffer(b"".join(texts))]
    return pa.Array.from_buffers(pa.large_string(), len(texts), buffers)


def numbers(rows: pa.Table, name: str) -> NDArray[Any]:
    """A column of numbers, none of which is missing; see :func:`arrow_table`."""
    return np.from_dlpack(rows.column(name).combine_chunks())


def text_table(rows: Iterable[Sequence[str]], *names: str) -> pa.Table:
    """Rows of texts as an Arrow table."""
    columns = list(zip(*rows, strict=True)) or [()] * len(names)
    return arrow_table(dict(zip(names, columns, strict=True)))


def cluster_table(clusters: IntArray, **more: NDArray[Any]) -> pa.Table:
    """The cluster of every record as an Arrow table (rid, cid), with further columns."""
    return arrow_table({"rid": np.arange(len(clusters)), "cid": clusters, **more})


def listed(store: Store, labels: Iterable[str]) -> str:
    """Labels as an SQL list; an empty one matches nothing."""
    return ", ".join(store.text(label) for label in sorted(labels)) or "NULL"


def records(attributes: Attributes, rids: Iterable[int]) -> dict[int, list[tuple[str, str, float]]]:
    """What these records hold: (label, value, confidence), sorted; an empty list for one that holds nothing."""
    contents: dict[int, list[tuple[str, str, float]]] = {int(rid): [] for rid in rids}
    if attributes.coded is not None and len(contents) <= FEW:
        return _few_records(attributes, attributes.coded, contents)
    with lent(attributes.store, arrow_table({"rid": np.fromiter(contents, np.int64)})) as wanted:
        rows = attributes.store.ask(
            f"SELECT a.rid, a.label, a.value, a.confidence FROM {attributes.name} a JOIN {wanted} w USING (rid) "
            "ORDER BY rid, label, value"
        )
    for rid, label, value, confidence in zip(*(column.to_pylist() for column in rows.columns), strict=True):
        contents[rid].append((label, value, confidence))
    return contents


def _few_records(
    attributes: Attributes, coded: Coded, contents: dict[int, list[tuple[str, str, float]]]
) -> dict[int, list[tuple[str, str, float]]]:
    """What a few records hold; with their numbers in the query, the engine can skip most of the tables."""
    rids = ", ".join(map(str, contents)) or "NULL"
    rows = attributes.store.ask(f"SELECT rid, vid, confidence FROM {coded.rows} WHERE rid IN ({rids})")
    vids = ", ".join(map(str, set(rows.column("vid").to_pylist()))) or "NULL"
    value_rows = attributes.store.ask(f"SELECT vid, label, value FROM {coded.values} WHERE vid IN ({vids})")
    values = {
        vid: (label, value) for vid, label, value in zip(*(one.to_pylist() for one in value_rows.columns), strict=True)
    }
    best: dict[tuple[int, str, str], float] = {}
    for rid, vid, confidence in zip(*(column.to_pylist() for column in rows.columns), strict=True):
        # Two values of a record may have one normal form.
        key = (rid, *values[vid])
        best[key] = max(confidence, best.get(key, 0.0))
    for (rid, label, value), confidence in sorted(best.items()):
        contents[rid].append((label, value, confidence))
    return contents


def distinct_values(attributes: Attributes, label: str) -> list[str]:
    """The values of a label, sorted by their bytes."""
    label_is = f"label = {attributes.store.text(label)}"
    rows = attributes.store.ask(f"SELECT DISTINCT value FROM {attributes.name} WHERE {label_is} ORDER BY value")
    return list(rows.column("value").to_pylist())


def recoded(attributes: Attributes, changes: Iterable[tuple[str, str, str]]) -> Attributes:
    """The attributes with values replaced by the changes (label, old, new).

    No value of a label is changed twice. If two values of a record become one, the better confidence counts.
    """
    store, changed = attributes.store, [change for change in changes if change[1] != change[2]]
    if not changed:
        return attributes
    labels = listed(store, {label for label, _, _ in changed})
    with lent(store, text_table(changed, "label", "old", "new")) as wanted:
        name = store.make(
            f"SELECT rid, label, value, confidence FROM {attributes.name} WHERE label NOT IN ({labels}) UNION ALL "
            "SELECT rid, label, value, max(confidence) AS confidence FROM (SELECT a.rid, a.label, "
            f"coalesce(w.new, a.value) AS value, a.confidence FROM {attributes.name} a LEFT JOIN {wanted} w ON "
            f"w.label = a.label AND w.old = a.value WHERE a.label IN ({labels})) x GROUP BY rid, label, value"
        )
    return Attributes(store, name, attributes.records)


def augmented(
    attributes: Attributes, holds: str, adds: str, pairs: Iterable[tuple[str, str]], *, confidence: float = 1.0
) -> Attributes:
    """The attributes, with what goes with a value added to every record that holds it: the zip code of an address.

    ``pairs`` are values of the label ``holds`` with values of the label ``adds``; a value may be in several. What is
    added has the ``confidence`` of the pairs times that of the value looked up, or the confidence with which the record
    already held it, if that is better.
    """
    store = attributes.store
    own, other = store.text(adds), store.text(holds)
    with lent(store, text_table(pairs, "given", "adds")) as wanted:
        name = store.make(
            f"SELECT rid, label, value, confidence FROM {attributes.name} WHERE label <> {own} UNION ALL "
            f"SELECT rid, {own} AS label, value, max(confidence) AS confidence FROM ("
            f"SELECT rid, value, confidence FROM {attributes.name} WHERE label = {own} UNION ALL "
            f"SELECT a.rid, w.adds, a.confidence * CAST({float(confidence)!r} AS DOUBLE) FROM {attributes.name} a JOIN "
            f"{wanted} w ON w.given = a.value WHERE a.label = {other}) x GROUP BY rid, value"
        )
    return Attributes(store, name, attributes.records)
