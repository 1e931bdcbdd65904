"""Pairs of records that are likely one person's: which pairs are compared, and what agrees in them.

Nobody says which labels matter. Pairs that agree on something are compared field by field; how often one person's
records agree on a field, and how often two people's do, is learned from the pairs; agreement on rare values says more.
"""

from __future__ import annotations

import itertools
import weakref
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from tacit.person.link.attributes import Attributes, IntArray, arrow_table, lent, numbers, one
from tacit.person.link.brought import surest_query
from tacit.person.link.likely.clusters import held_together
from tacit.person.link.likely.codes import Codes, field_codes, partners
from tacit.person.link.likely.fields import Field, columns_of, fields_of
from tacit.person.link.likely.fitting import Floats, LevelFit, calibrated, fitted, least_taken, likely
from tacit.tables.engines import Store

if TYPE_CHECKING:
    import pyarrow as pa

# The most pairs that are compared per record, and per record and key.
PAIRS_PER_RECORD = 40
PAIRS_PER_KEY = 12
# If there are more records, the model is fitted to some of them, with fewer pairs each.
MOST_WHOLE = 100_000
FITTED_RECORDS = 10_000
PAIRS_OF_MANY = 10
# Records near a person are searched for this many steps away.
STEPS = 3
# Keys of up to three fields, larger ones only if there are too few: a pair must share one, whatever was mistyped.
MOST_FIELDS = 3
ENOUGH_KEYS = 8
# Random pairs that show how often two people's values agree.
RANDOM_PAIRS = 30_000
# A field that a smaller share of the records has cannot be learned.
LEAST_SHARE = 0.01


@dataclass(frozen=True, eq=False)
class LikelyPairs:
    """Pairs of records, each the smaller number first, and how likely each is one person's."""

    left: IntArray
    right: IntArray
    probability: Floats

    @classmethod
    def none(cls) -> LikelyPairs:
        """No pair."""
        return cls(np.zeros(0, np.int64), np.zeros(0, np.int64), np.zeros(0))


def likely_pairs(
    attributes: Attributes, values: pa.Table | None = None, *, around: Callable[[], IntArray] | None = None
) -> LikelyPairs:
    """The pairs of records that are likely one person's, as far as the records show.

    Parameters
    ----------
    attributes : Attributes
    values : Arrow table, optional
        One row per record and one column per label, if there are more records than those held.
    around : callable, optional
        Returns records of a person. Among very many records, only pairs near these are searched.

    Guarantees
    ----------
    The same records give the same pairs. Memory grows with the records, not with their pairs: at most
    ``PAIRS_PER_RECORD`` of each are compared. This is an estimate: it says how likely, and certifies nothing.

    Notes
    -----
    The smallest probability that is accepted is half of the F1 that the model expects of its own answer: the threshold
    that maximises it (Lipton, Elkan and Naryanaswamy 2014).
    """
    store, fields = attributes.store, fields_of(attributes.labels)
    records = attributes.records if values is None else values.num_rows
    if records < 2 or not fields:
        return LikelyPairs.none()
    if values is None and around is not None and (known := learned(attributes)) is not None:
        return likely_near(attributes, known, around())
    rows = (
        store.make(_field_query(attributes, fields))
        if values is None
        else _loaded(store, attributes.labels, values, fields)
    )
    step = 1 if records <= MOST_WHOLE or around is None else -(-records // FITTED_RECORDS)
    few = rows if step == 1 else store.make(f"SELECT * FROM {rows} WHERE rid % {step} = 0")
    try:
        model = _Model(store, rows, few, step, fields, records)
        return model.pairs(around if step > 1 else None)
    finally:
        store.drop(*{rows, few})


def _field_query(attributes: Attributes, fields: Sequence[Field], some: str | None = None) -> str:
    return f"SELECT rid, {columns_of(attributes.store, fields)} FROM ({surest_query(attributes, some)})"


def _fields_of_some(attributes: Attributes, fields: Sequence[Field], rids: IntArray) -> str:
    """A table of the fields of these records."""
    with lent(attributes.store, arrow_table({"rid": rids})) as some:
        return attributes.store.make(_field_query(attributes, fields, some))


def _loaded(store: Store, labels: Sequence[str], values: pa.Table, fields: Sequence[Field]) -> str:
    import pyarrow as pa

    wide = values.select(labels).rename_columns([f"c{place}" for place in range(len(labels))])
    with lent(store, wide.append_column("rid", pa.array(np.arange(wide.num_rows)))) as wide_rows:
        return store.make(f"SELECT rid, {columns_of(store, fields)} FROM {wide_rows}")


@dataclass(frozen=True, eq=False)
class LikelyModel:
    """What was learned from very many records; it is the same whoever is asked about.

    ``codes`` are those of the fields of all records; ``few`` is a table of the fields of the records to which the model
    was fitted; ``kept`` are the fields that can be learned, ``keys`` sets of them, of which compared pairs share one.
    """

    codes: Codes
    few: str
    kept: tuple[int, ...]
    keys: tuple[tuple[int, ...], ...]
    fit: LevelFit | None

    def facts(self) -> dict[str, Any]:
        """Everything except the codes and the table, to be written as JSON."""
        fit = self.fit
        own, other = ([each.tolist() for each in some] for some in ((fit.own, fit.other) if fit else ((), ())))
        fit_facts = None if fit is None else {"own": own, "other": other, "share": fit.share, "least": fit.least}
        return {"kept": self.kept, "keys": self.keys, "fit": fit_facts}

    @classmethod
    def of(cls, codes: Codes, few: str, facts: dict[str, Any]) -> LikelyModel:
        """The model from codes and a table that were kept, and the result of :meth:`facts`."""
        fit_facts = facts["fit"]
        fit = None
        if fit_facts is not None:
            own, other = ([np.array(each, np.float64) for each in fit_facts[name]] for name in ("own", "other"))
            fit = LevelFit(own, other, fit_facts["share"], fit_facts["least"])
        return cls(codes, few, tuple(facts["kept"]), tuple(map(tuple, facts["keys"])), fit)


def learned(attributes: Attributes) -> LikelyModel | None:
    """What can be learned from attributes independently of any person; None if there are few enough to compare all."""
    store, fields = attributes.store, fields_of(attributes.labels)
    if attributes.records <= MOST_WHOLE or not fields:
        return None
    step = -(-attributes.records // FITTED_RECORDS)
    some = np.arange(0, attributes.records, step)
    few = _fields_of_some(attributes, fields, some)
    model = _Model(store, few, few, step, fields, attributes.records)
    keys = model._keys()
    codes, fit = field_codes(attributes, fields), None
    if keys:
        near = partners(codes, model.rows_of(keys), some)
        model.rows = _fields_of_some(attributes, fields, np.union1d(near, np.concatenate(model._random_pairs())))
        try:
            with lent(store, model._compared(keys, few)) as compared:
                fit = model._fitted(compared, keys)
        finally:
            store.drop(model.rows)
    learned_model = LikelyModel(codes, few, model.kept, tuple(keys), fit)
    weakref.finalize(learned_model, store.drop, few).atexit = False
    return learned_model


def likely_near(attributes: Attributes, known: LikelyModel, start: IntArray) -> LikelyPairs:
    """What :func:`likely_pairs` returns for very many records around given ones, from what was learned before."""
    if known.fit is None:
        return LikelyPairs.none()
    step = -(-attributes.records // FITTED_RECORDS)
    fields = fields_of(attributes.labels)
    model = _Model(attributes.store, known.few, known.few, step, fields, attributes.records, known.kept)
    keys = model.rows_of(known.keys)
    around = lambda some: _fields_of_some(attributes, fields, partners(known.codes, keys, some))  # noqa: E731
    return model._near(start, known.keys, known.fit, around)


class _Model:
    """All records as ``rows``; if there are very many, the model is fitted to every ``step``-th, the ``few``.

    ``kept`` are the fields that can be learned, if already known.
    """

    def __init__(
        self,
        store: Store,
        rows: str,
        few: str,
        step: int,
        fields: Sequence[Field],
        records: int,
        kept: tuple[int, ...] | None = None,
    ) -> None:
        self.store, self.rows, self.few, self.step, self.records = store, rows, few, step, records
        self.kept = self._learnable(fields) if kept is None else kept
        self.fields = [fields[at] for at in self.kept]

    def _learnable(self, fields: Sequence[Field]) -> tuple[int, ...]:
        counts = ", ".join(
            f"count({field.name}) AS n{at}, count(DISTINCT {field.name}) AS d{at}" for at, field in enumerate(fields)
        )
        (totals,) = self.store.ask(f"SELECT {counts} FROM {self.few}").to_pylist()
        least = max(2, LEAST_SHARE * self.records / self.step)
        return tuple(at for at in range(len(fields)) if totals[f"n{at}"] >= least and totals[f"d{at}"] > 1)

    def rows_of(self, keys: Sequence[tuple[int, ...]]) -> list[list[int]]:
        """Keys as rows of the codes of all fields."""
        return [[self.kept[at] for at in key] for key in keys]

    @cached_property
    def _equal(self) -> list[float]:
        return [self._share_of_equals(field.name) for field in self.fields]

    def _share_of_equals(self, name: str) -> float:
        """The share of pairs of records that agree on a field; always above 0."""
        (totals,) = self.store.ask(
            f"SELECT sum(n * (n - 1)) AS same, sum(n) AS n FROM (SELECT count(*) AS n FROM {self.few} "
            f"WHERE {name} IS NOT NULL GROUP BY {name}) g"
        ).to_pylist()
        return float((totals["same"] + 1) / (totals["n"] * (totals["n"] - 1) + 2))

    def pairs(self, around: Callable[[], IntArray] | None) -> LikelyPairs:
        """The pairs that are likely one person's, among all records or near given ones."""
        keys = self._keys()
        if not keys:
            return LikelyPairs.none()
        with lent(self.store, self._compared(keys, self.few)) as compared:
            fit = self._fitted(compared, keys)
            if around is None:
                return self._accepted(fit, *self._weighed(compared, fit))
        return self._near(around(), keys, fit)

    def _near(
        self,
        start: IntArray,
        keys: Sequence[tuple[int, ...]],
        fit: LevelFit,
        around: Callable[[IntArray], str] | None = None,
    ) -> LikelyPairs:
        """Pairs of records that are reached from ``start`` along likely pairs.

        ``around`` makes a table of all records that may share a key with given ones, if ``rows`` are not all records.
        """
        reached, pairs = np.unique(start), LikelyPairs.none()
        new = reached
        for _ in range(STEPS):
            if not len(new):
                break
            if around is not None:
                self.store.drop(*{self.rows} - {self.few})
                self.rows = around(reached)
            with (
                lent(self.store, arrow_table({"rid": reached})) as some,
                lent(self.store, f"SELECT r.* FROM {self.rows} r JOIN {some} w ON w.rid = r.rid") as near,
                lent(self.store, self._compared(keys, near)) as compared,
            ):
                pairs = self._accepted(fit, *self._weighed(compared, fit))
            ends = np.unique(np.concatenate([pairs.left, pairs.right]))
            new = np.setdiff1d(ends, reached)
            reached = np.union1d(reached, ends)
        if around is not None:
            self.store.drop(*{self.rows} - {self.few})
        return pairs

    # ---- which pairs are compared

    def _keys(self) -> list[tuple[int, ...]]:
        """Sets of fields that few enough pairs agree on, the smallest sets first; no set contains another."""
        names = [field.name for field in self.fields]
        most = PAIRS_PER_KEY if self.step == 1 else PAIRS_OF_MANY / 2
        candidates: list[tuple[tuple[int, ...], float]] = []
        for size in range(1, MOST_FIELDS + 1):
            if len(candidates) >= ENOUGH_KEYS:
                break
            for some in itertools.combinations(range(len(names)), size):
                if any(set(key) <= set(some) for key, _ in candidates):
                    continue
                pairs = self._pairs_that_share([names[at] for at in some])
                if (pairs > 0 or self.step > 1) and pairs <= most * self.records:
                    candidates.append((some, pairs))
        keys, total = [], 0.0
        for key, pairs in sorted(candidates, key=lambda each: each[1]):
            if total + pairs <= (PAIRS_PER_RECORD if self.step == 1 else PAIRS_OF_MANY) * self.records:
                keys.append(key)
                total += pairs
        return keys

    def _pairs_that_share(self, names: Sequence[str]) -> float:
        """How many pairs of records agree on all of these fields; an estimate if there are very many records."""
        there = " AND ".join(f"{name} IS NOT NULL" for name in names)
        sizes = f"SELECT count(*) AS n FROM {self.few} WHERE {there} GROUP BY {', '.join(names)}"
        pairs = one(self.store, f"SELECT coalesce(sum(n * (n - 1) / 2), 0) AS pairs FROM ({sizes}) g")
        return float(pairs) * self.step**2

    def _compared(self, keys: Sequence[tuple[int, ...]], some: str) -> str:
        """SQL for pairs (l, r, k) of ``some`` with any record, k the first key they share, and the level of every
        field."""
        names = [field.name for field in self.fields]
        ends = (
            "a.rid AS l, b.rid AS r" if some == self.rows else "least(a.rid, b.rid) AS l, greatest(a.rid, b.rid) AS r"
        )
        parts = [
            f"SELECT {ends}, {place} AS k FROM {some} a JOIN {self.rows} b ON "
            + " AND ".join(f"a.{names[at]} = b.{names[at]}" for at in key)
            + (" AND a.rid < b.rid" if some == self.rows else " AND a.rid <> b.rid")
            for place, key in enumerate(keys)
        ]
        pairs = f"SELECT l, r, min(k) AS k FROM ({' UNION ALL '.join(parts)}) u GROUP BY l, r"
        levels = ", ".join(f"CAST({field.level('a', 'b')} AS TINYINT) AS g{at}" for at, field in enumerate(self.fields))
        return f"SELECT p.l, p.r, p.k, {levels} {self._both(f'({pairs})')}"

    def _both(self, pairs: str) -> str:
        """SQL for pairs p joined with their records a and b."""
        return f"FROM {pairs} p JOIN {self.rows} a ON a.rid = p.l JOIN {self.rows} b ON b.rid = p.r"

    # ---- what agreement says

    def _random_pairs(self) -> tuple[IntArray, IntArray]:
        rng = np.random.default_rng(0)
        size = min(RANDOM_PAIRS, self.records * (self.records - 1) // 2)
        left, right = (rng.integers(0, self.records, size) for _ in range(2))
        apart = left != right
        return left[apart], right[apart]

    def _random_levels(self) -> list[Floats]:
        """How often each level of each field occurs in random pairs of records, which are two people's."""
        left, right = self._random_pairs()
        drawn = arrow_table({"l": left, "r": right})
        levels = ", ".join(f"{field.level('a', 'b')} AS g{at}" for at, field in enumerate(self.fields))
        groups = ", ".join(f"g{at}" for at in range(len(self.fields)))
        with lent(self.store, drawn) as pairs:
            drawn_levels = f"SELECT {levels} {self._both(pairs)}"
            rows = self.store.ask(f"SELECT {groups}, count(*) AS n FROM ({drawn_levels}) x GROUP BY {groups}")
        counts = numbers(rows, "n")
        shares = []
        for at, field in enumerate(self.fields):
            level = numbers(rows, f"g{at}")
            # Half a pair more at each level: what was not seen is rare, not impossible. Equality is counted exactly.
            level_counts = np.bincount(level[level >= 0], counts[level >= 0], field.equal + 1)[:-1] + 0.5
            shares.append(np.append((1 - self._equal[at]) * level_counts / level_counts.sum(), self._equal[at]))
        return shares

    def _fitted(self, compared: str, keys: Sequence[tuple[int, ...]]) -> LevelFit:
        groups = ", ".join(f"g{at}" for at in range(len(self.fields)))
        # In a fixed order: the last digits of what is learned depend on the order in which numbers are added.
        levels_of_pairs = f"SELECT k, {groups}, count(*) AS n FROM {compared} GROUP BY k, {groups}"
        rows = self.store.ask(f"{levels_of_pairs} ORDER BY k, {groups}")
        counts, key = numbers(rows, "n").astype(np.float64), numbers(rows, "k")
        levels = np.column_stack([numbers(rows, f"g{at}") for at in range(len(self.fields))])
        other = self._random_levels()
        tops = [field.equal for field in self.fields]
        fit = LevelFit(fitted(levels, counts, key, keys, other, tops, self.records / self.step), other)
        weight = self._weighed(compared, fit)[2]
        # With very many records, a pair is compared if one of its records is among the few.
        share = calibrated(weight, self.records, 1.0 if self.step == 1 else self.step / 2)
        return replace(fit, share=share, least=least_taken(likely(weight, share)))

    def _weighed(self, compared: str, fit: LevelFit) -> tuple[IntArray, IntArray, Floats]:
        """Pairs with the log-odds of what agrees in them; a rare value says more than a common one."""
        terms, joins = [], []
        for at, field in enumerate(self.fields):
            weights = map(float, np.log(fit.own[at]) - np.log(fit.other[at]))
            cases = " ".join(f"WHEN {level} THEN {weight!r}" for level, weight in enumerate(weights))
            terms.append(f"CASE g{at} {cases} ELSE 0.0 END")
            # Two people's records agree on a value as often as it occurs; a value that none of the few has is rare.
            common, rare = float(np.log(fit.other[at][-1])), 1 / self.records
            rarity = f"{common!r} - ln(coalesce(f{at}.share, {rare!r}))"
            terms.append(f"CASE WHEN g{at} = {field.equal} THEN {rarity} ELSE 0.0 END")
            of_all = f"SELECT {field.name} AS v, count(*) / sum(count(*)) OVER () AS share FROM {self.few}"
            shares = f"{of_all} WHERE {field.name} IS NOT NULL GROUP BY {field.name}"
            joins.append(f"LEFT JOIN ({shares}) f{at} ON f{at}.v = a.{field.name}")
        scored = self.store.ask(
            f"SELECT p.l, p.r, {' + '.join(terms)} AS w FROM {compared} p JOIN {self.rows} a ON a.rid = p.l "
            f"{' '.join(joins)} ORDER BY p.l, p.r"
        )
        left, right = (numbers(scored, name).astype(np.int64) for name in ("l", "r"))
        return left, right, numbers(scored, "w")

    def _accepted(self, fit: LevelFit, left: IntArray, right: IntArray, weight: Floats) -> LikelyPairs:
        """The pairs that are likely enough, and whose clusters hold together."""
        probability = fit.probability(weight)
        accepted = probability >= fit.least
        left, right, probability = left[accepted], right[accepted], probability[accepted]
        cluster = held_together(left, right, probability, self.records)
        whole = cluster[left] == cluster[right]
        return LikelyPairs(left[whole], right[whole], probability[whole])
