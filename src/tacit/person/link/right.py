"""Which clusters hold something right about a person, and how much of it at most, in the engine."""

from __future__ import annotations

import itertools
import math
import weakref
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from numpy.typing import NDArray

from tacit.lift.joint import Vector
from tacit.person.link.attributes import Attributes, IntArray, arrow_table, lent, listed, numbers, one
from tacit.person.link.forms.bounds import LEAST_ALIKE, goes_on, letters_of, may_be_right, word_may_be_right
from tacit.person.link.forms.forming import NamedForm
from tacit.person.link.forms.normal import sql_fixed, sql_form
from tacit.person.model.values import SUPPRESSED
from tacit.tables.engines import Store

if TYPE_CHECKING:
    import pyarrow as pa

# Values that leave the engine at a time.
VALUES = 100_000


@dataclass(frozen=True)
class Wanted:
    """What is right for one label: the true values in normal form, the form, and the similarity.

    ``form`` is None if SQL cannot make the form; ``near`` is None if values are either right or wrong; ``any`` says
    that any value may be nearly right.
    """

    true: Sequence[str]
    form: NamedForm | None
    near: str | None
    plain: bool
    any: bool = False


class RightCandidate(NamedTuple):
    """A value that may be right, with its normal form if that is ``known``, otherwise with itself."""

    value: str
    meant: str
    known: bool


class NearForms:
    """The normal forms that may be right about a person, and those that SQL is not sure of, found once: a table
    (vid, label, raw, value, fixed, near) in the engine, for the ``labels``; vid is null unless attributes are coded.

    Both the original attributes and those in normal form are searched through it.
    """

    def __init__(self, forms: Attributes, wanted: Mapping[str, Wanted]) -> None:
        self.store = forms.store
        parts = {}
        known = forms.formed if forms.coded is not None else forms.formed - forms.several
        for label, own in wanted.items():
            bound = None if own.any else may_be_right(self.store, own.near, own.true)
            if label in known and bound is not None and own.form is not None:
                parts[label] = self._looked_up(forms, label, own, bound)
        self.labels = frozenset(parts)
        nothing = (
            "SELECT CAST(NULL AS BIGINT) AS vid, '' AS label, '' AS raw, '' AS value, false AS fixed, false AS near "
            "WHERE false"
        )
        self.name = self.store.make(" UNION ALL ".join(parts.values()) or nothing)
        weakref.finalize(self, self.store.drop, self.name).atexit = False

    def _looked_up(self, attributes: Attributes, label: str, own: Wanted, bound: str) -> str:
        """A query of the values of a label that are within a bound; coded names are found by their words."""
        coded, label_is = attributes.coded, f"label = {self.store.text(label)}"
        columns, distinct = "vid, label, raw, value AS form, fixed", ""
        if coded is None:
            rows = f"SELECT CAST(NULL AS BIGINT) AS {columns} FROM {attributes.name} WHERE {label_is}"
            distinct = "DISTINCT"
        elif own.near == "name" and coded.words is not None:
            words = " OR ".join(f"({word_may_be_right(self.store, true)})" for true in own.true)
            letters = [self.store.hashed(self.store.text(letters_of(true))) for true in own.true]
            hashes = " UNION ".join(
                [f"SELECT {self.store.hashed('word')} AS word FROM {coded.words} WHERE {label_is} AND ({words})"]
                + [f"SELECT {one}" for one in letters]
            )
            near_vids = self.store.make(f"SELECT DISTINCT vid FROM {coded.spoken} SEMI JOIN ({hashes}) USING (word)")
            weakref.finalize(self, self.store.drop, near_vids).atexit = False
            select = f"SELECT vid, label, raw, value, fixed, {{}} AS near FROM {coded.values} WHERE {label_is}".format
            return (
                f"{select('true')} AND vid IN (FROM {near_vids}) UNION ALL {select('false')} AND NOT fixed AND "
                f"vid NOT IN (FROM {near_vids})"
            )
        elif own.near == "address":
            whole = goes_on(self.store, own.true)
            forms = self.store.ask(
                f"SELECT DISTINCT value AS form, {whole} AS whole FROM {coded.values} WHERE {label_is}"
            )
            address_forms, whole_ones = (forms.column(name).to_pylist() for name in ("form", "whole"))
            letters = _addresses_alike(own.true, address_forms).tolist()
            those = [
                form for form, some, every in zip(address_forms, letters, whole_ones, strict=True) if some or every
            ]
            alike = self.store.load(arrow_table({"form": those}))
            weakref.finalize(self, self.store.drop, alike).atexit = False
            return (
                f"SELECT vid, label, raw, value, fixed, a.form IS NOT NULL AS near FROM {coded.values} v LEFT JOIN "
                f"{alike} a ON a.form = v.value WHERE {label_is} AND (a.form IS NOT NULL OR NOT fixed)"
            )
        else:
            rows = f"SELECT {columns} FROM {coded.values} WHERE {label_is}"
        near = f"SELECT *, {bound} AS near FROM ({rows})"
        return f"SELECT {distinct} vid, label, raw, form AS value, fixed, near FROM ({near}) WHERE near OR NOT fixed"

    def candidates(self, label: str, *, formed: bool) -> str:
        """A query of the values of a label that may be right, in normal form or as read, and their forms."""
        columns = "label, {} AS value, CASE WHEN fixed THEN value END AS form".format
        label_is = f"label = {self.store.text(label)}"
        if formed:
            return f"SELECT DISTINCT {columns('value')} FROM {self.name} WHERE {label_is}"
        hidden = f"regexp_matches(raw, {self.store.text(SUPPRESSED)})"
        return (
            f"SELECT DISTINCT {columns('raw')} FROM {self.name} WHERE {label_is} AND (near OR (NOT fixed AND {hidden}))"
        )


def candidate_values(
    attributes: Attributes, wanted: Mapping[str, Wanted], near: NearForms | None = None
) -> Iterator[tuple[str, list[RightCandidate]]]:
    """The values that may be right, label by label, in batches, sorted.

    Nothing that is right, nearly right or covers the truth is left out. ``near`` is made of the same attributes in
    normal form, as :func:`tacit.person.link.forms.forming.formed` makes them, if available.
    """
    store = attributes.store
    parts = [_candidates(attributes, label, own, near) for label, own in wanted.items()]
    rows = store.ask(" UNION ALL ".join(parts) + " ORDER BY label, value")
    start = 0
    # Sorted, so that sums are always added in the same order.
    for label, same in itertools.groupby(rows.column("label").to_pylist()):
        after = start + len(list(same))
        for place in range(start, after, VALUES):
            yield label, _likely(wanted[label], rows.slice(place, min(VALUES, after - place)))
        start = after


def _candidates(attributes: Attributes, label: str, own: Wanted, near: NearForms | None) -> str:
    """A query of the values of a label that may be right, and their forms where known."""
    store, label_is = attributes.store, f"label = {attributes.store.text(label)}"
    bound = None if own.any else may_be_right(store, own.near, own.true)
    rows = (
        f"SELECT label, value FROM {attributes.coded.values if attributes.coded else attributes.name} WHERE {label_is}"
    )
    hidden = f"regexp_matches(value, {store.text(SUPPRESSED)})"
    unknown = "SELECT DISTINCT label, value, CAST(NULL AS STRING) AS form"
    if bound is None or (own.form is None and not own.plain):
        return f"{unknown} FROM ({rows})"
    if own.plain:
        return f"{unknown} FROM (SELECT *, value AS form FROM ({rows})) WHERE {bound} OR {hidden}"
    if near is not None and label in near.labels:
        return near.candidates(label, formed=label in attributes.formed)
    if label in attributes.formed:
        # A value that is its own form is compared unchanged.
        rows = rows.replace("SELECT label, value", "SELECT label, value, CASE WHEN fixed THEN value END AS form")
        return f"SELECT DISTINCT label, value, form FROM ({rows}) WHERE form IS NULL OR {bound}"
    assert own.form is not None
    # Materialized first: otherwise the engine would make the form again for every part of the bound.
    fixed = f"CASE WHEN {sql_fixed(store, own.form[0])} THEN form END AS said"
    form_rows = sql_form(store, rows, *own.form)
    known = f"WITH known AS MATERIALIZED (SELECT label, value, form, {fixed} FROM ({form_rows}))"
    there = f"form IS NULL OR {bound}"
    return f"SELECT * FROM ({known} SELECT DISTINCT label, value, said AS form FROM known WHERE {there})"


def _likely(own: Wanted, some: pa.Table) -> list[RightCandidate]:
    """The values that are worth comparing.

    For addresses, only those whose letters are like a true one's, which SQL cannot decide.
    """
    values: list[str] = some.column("value").to_pylist()
    forms: list[str | None] = some.column("form").to_pylist()
    pairs = [
        RightCandidate(value, value, False) if form is None else RightCandidate(value, form, True)
        for value, form in zip(values, forms, strict=True)
    ]
    if own.near != "address":
        return pairs
    alike = _addresses_alike(own.true, [form or "" for form in forms]).tolist()
    wholes = [frozenset(one.split()) for one in own.true]
    return [
        pair
        for pair, form, near in zip(pairs, forms, alike, strict=True)
        if form is None
        or near
        or any(whole.issubset(form.split()) or whole.issuperset(form.split()) for whole in wholes)
    ]


def _addresses_alike(true: Sequence[str], forms: Sequence[str]) -> NDArray[np.bool_]:
    """Whether the letters of addresses are like a true one's."""
    from rapidfuzz import fuzz, process

    scores = process.cdist(true, forms, scorer=fuzz.token_sort_ratio, score_cutoff=100 * LEAST_ALIKE)
    return np.asarray((scores > 0).any(axis=0), np.bool_)


class RightRows:
    """The attributes that are right about a person, in the engine: a table (rid, label, value, confidence, fact,
    credit, hidden), of these ``labels``. The table is dropped with the object if it is ``owned``.
    """

    def __init__(self, store: Store, name: str, labels: Sequence[str], *, owned: bool = True) -> None:
        self.store, self.name, self.labels = store, name, labels
        if owned:
            weakref.finalize(self, store.drop, name).atexit = False

    @classmethod
    def of(cls, attributes: Attributes, hits: pa.Table, near: NearForms | None = None) -> RightRows:
        """Those of attributes, from ``hits`` (label, value, fact, credit): the facts of a person that a value hits, and
        what it is worth."""
        store, labels = attributes.store, list(dict.fromkeys(hits.column("label").to_pylist()))
        hidden = f"regexp_matches(value, {store.text(SUPPRESSED)}) AS hidden"
        with lent(store, hits) as hit_rows:
            hit_query = f"SELECT label, value, fact, credit, {hidden} FROM {hit_rows}"
            if attributes.coded is None:
                query = f"FROM {attributes.name} a JOIN ({hit_query}) h ON h.label = a.label AND h.value = a.value"
            else:
                coded_hits = (
                    f"SELECT v.vid, t.* FROM ({_hit_values(attributes, labels, near)}) v JOIN ({hit_query}) t ON "
                    "t.label = v.label AND t.value = v.value"
                )
                query = f"FROM {attributes.coded.rows} a JOIN ({coded_hits}) h ON h.vid = a.vid"
            rows = f"SELECT a.rid, h.label, h.value, a.confidence, h.fact, h.credit, h.hidden {query}"
            return cls(store, store.make(rows), labels)


def _hit_values(attributes: Attributes, labels: Sequence[str], near: NearForms | None) -> str:
    """A query (vid, label, value) of the values of these labels that may be right, and possibly others."""
    assert attributes.coded is not None
    store = attributes.store
    known = frozenset(labels) & (near.labels if near is not None else frozenset())
    others = listed(store, frozenset(labels) - known)
    parts = [f"SELECT vid, label, value FROM {attributes.coded.values} WHERE label IN ({others})"]
    if near is not None:
        for column, some in (("value", known & attributes.formed), ("raw", known - attributes.formed)):
            there = f"label IN ({listed(store, some)})"
            parts.append(f"SELECT vid, label, {column} AS value FROM {near.name} WHERE {there}")
    return " UNION ALL ".join(parts)


def right_weights(right: RightRows, clusters: IntArray) -> tuple[IntArray, Vector]:
    """The clusters that hold something right, and an upper bound on the expected weight of what is right in each."""
    if not right.labels:
        return np.zeros(0, np.int64), np.zeros(0)
    rids = numbers(right.store.ask(f"SELECT DISTINCT rid FROM {right.name}"), "rid")
    with lent(right.store, arrow_table({"rid": rids, "cid": clusters[rids]})) as place:
        rows = right.store.ask(
            # Several values that hit one fact are present independently, and the best one present gets the credit.
            "SELECT cid, sum(w) AS w FROM (SELECT cid, fact, least(max(credit), sum(credit * confidence)) AS w FROM ("
            "SELECT c.cid, h.fact, h.credit, h.label, h.value, max(h.confidence) AS confidence FROM "
            f"{right.name} h JOIN {place} c ON c.rid = h.rid GROUP BY c.cid, h.fact, h.credit, h.label, h.value) "
            "GROUP BY cid, fact) GROUP BY cid HAVING sum(w) > 0"
        )
    return numbers(rows, "cid"), numbers(rows, "w")


def records_that_hold(right: RightRows, facts: Collection[int]) -> int:
    """How many records hold all of these facts of the person, exactly or nearly."""
    wanted = ", ".join(map(str, facts)) or "NULL"
    return int(
        one(
            right.store,
            f"SELECT count(*) FROM (SELECT rid FROM {right.name} WHERE fact IN ({wanted}) AND credit > 0 AND "
            f"confidence > 0 GROUP BY rid HAVING count(DISTINCT fact) = {len(facts)}) r",
        )
    )


def weight_together(right: RightRows, rids: IntArray) -> float:
    """The weight of what is right in any of these records: what they would say if all were known to be one person's."""
    with lent(right.store, arrow_table({"rid": rids})) as some:
        facts = right.store.ask(
            f"SELECT h.fact, max(h.credit * h.confidence) AS w FROM {right.name} h JOIN {some} s ON s.rid = h.rid "
            "GROUP BY h.fact"
        )
    # Exact, for groups come in any order.
    return math.fsum(numbers(facts, "w"))
