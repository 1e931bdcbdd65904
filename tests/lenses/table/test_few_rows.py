"""Tables of few rows are worked out in this process: what is said about them is what the engine's own counting says."""

from __future__ import annotations

import datetime as dt
from collections.abc import Iterator
from contextlib import contextmanager
from decimal import Decimal
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import example, given, settings, strategies as st

import tacit
from sizes import many
from tacit.codes import find_scales
from tacit.codes.asking import CodeClaim, CodeRequest, counted_atoms
from tacit.codes.scales.looking import number_ends
from tacit.errors import TacitError
from tacit.lenses.table.families import TableRows, table_families
from tacit.lenses.table.ladder.guessing import DRAWN, PARTS, Guesser
from tacit.lenses.table.linkage.coarser import CoarserLevel, with_levels
from tacit.tables import Cut, count, cut, cut_points, distinct_counts, group_sizes, open_table, table as tables
from tacit.tables.numbers import refuse_non_numbers

NAN, INF = float("nan"), float("inf")
TEXTS = st.sampled_from(["", " ", "a", "b or c", "any", "ß", "e\u0301", "é", "𝔘x", "two\nlines", "NULL", None])
NUMERALS = st.sampled_from(
    ["1", " 2 ", "-0", "0", "-0.0", "1e3", "1E3", ".5", "5.", "+7", "nan", "NaN", "", " ", "inf", "-Infinity", None]
    + [str(n) for n in range(40)]
)
FLOATS = st.one_of(st.sampled_from([0.0, -0.0, NAN, None, 1.5, 2.0**53, 1e-300]), st.integers(-30, 30).map(float))
KINDS: dict[str, tuple[pa.DataType, st.SearchStrategy[Any]]] = {
    "te.xt": (pa.string(), TEXTS),
    "numeral": (pa.string(), NUMERALS),
    "odd": (pa.string(), st.one_of(NUMERALS, st.sampled_from(["1\n", "0x1F", "1_000", "١", "x"]))),
    "*": (pa.float64(), FLOATS),
    "endless": (pa.float64(), st.one_of(FLOATS, st.sampled_from([INF, -INF]))),
    "single": (pa.float32(), st.sampled_from([0.1, -0.0, 0.0, NAN, None, 3.0, 7.5])),
    "whole": (pa.int64(), st.one_of(st.none(), st.integers(-3, 60))),
    "day": (pa.date32(), st.one_of(st.none(), st.dates(dt.date(1960, 1, 1), dt.date(1962, 12, 31)))),
    "price": (pa.decimal128(12, 2), st.one_of(st.none(), st.decimals(Decimal("-9"), Decimal("99"), places=2))),
    "code": (pa.string(), st.sampled_from(["00123", "00124", "10001", "10𝔘01", "99", None])),
    "yes": (pa.bool_(), st.one_of(st.none(), st.booleans())),
}


@st.composite
def nasty_tables(draw: st.DrawFn, rows: tuple[int, int] = (1, 40)) -> pa.Table:
    """A secret of two or three values, and some columns of values that trip programs up."""
    n = draw(st.integers(*rows))
    names = draw(st.lists(st.sampled_from(list(KINDS)), min_size=2, max_size=5, unique=True))
    data = {"s'": pa.array([draw(st.sampled_from("abc")) for _ in range(n)], pa.string())}
    for name in names:
        kind, values = KINDS[name]
        # Values recur, as in most columns.
        some = draw(st.lists(values, min_size=1, max_size=12))
        data[name] = pa.array([draw(st.sampled_from(some)) for _ in range(n)], kind)
    return pa.table(data)


@contextmanager
def few_rows(most: int) -> Iterator[None]:
    """With tables of at most so many rows counted here."""
    before, tables.FEW_ROWS = tables.FEW_ROWS, most
    try:
        yield
    finally:
        tables.FEW_ROWS = before


def both(ask: Any) -> tuple[Any, Any]:
    """The answer worked out here, and the engine's; a refusal is an answer."""
    answers = []
    for most in (20_000, 0):
        with few_rows(most):
            try:
                answers.append(ask())
            except TacitError as error:
                answers.append((type(error).__name__, str(error)))
    return answers[0], answers[1]


def told(counts: Any) -> Any:
    return counts.levels, counts.codes.tolist(), counts.records.tolist(), counts.weight.tolist()


ODD = pa.table(
    {
        "s'": list("abcabcab"),
        "*": [0.0, -0.0, NAN, None, 1.5, -0.4, 10.0, 10.0],
        "numeral": ["0", "-0", "nan", None, " ", "1e1", "10", "inf"],
        "code": ["00123", "00124", None, "10𝔘01", "99", "00123", "10001", "10001"],
    }
)


@settings(max_examples=many(4, 1_000))
@given(nasty_tables())
@example(ODD)
def test_values_are_counted_cut_and_placed_here_as_in_the_engine(data: pa.Table) -> None:
    names, numbers = data.column_names, [n for n in data.column_names if n in ("numeral", "odd", "*", "endless")]
    numbers += [name for name in names if name in ("single", "whole", "price")]
    levels = [CoarserLevel(name, "steps", width) for name in numbers for width in (5, 0.1)]
    levels += [CoarserLevel(n, "prefix", "prefix:2") for n in names if n in ("te.xt", "code")]
    levels += [CoarserLevel(n, "date", part) for n in names for part in ("month", "year") if n == "day"]
    further = [f"__tacit_level{at}__" for at in range(len(levels))]

    def opened() -> Any:
        return open_table(data)

    def at_levels() -> Any:
        table = with_levels(opened(), levels, further)
        return told(count(table, [*names, *further])), group_sizes(table, [*further, *names])

    def cut_all() -> Any:
        cuts = [cut_points(opened(), name, 4) for name in numbers]
        return told(count(cut(opened(), cuts), names)), told(
            count(cut(opened(), [Cut(n, (0, 5)) for n in numbers]), names)
        )

    def atoms() -> Any:
        table = opened()
        scales = find_scales(table, names[1:])
        request = CodeRequest(tuple(names[1:]), (CodeClaim(("s'",), 1.0, 1.0),), 1)
        return scales, told(counted_atoms(table, scales, request))

    asked = [
        lambda: told(count(opened(), names)),
        lambda: group_sizes(opened(), names[1:], ["s'"], least=3),
        lambda: distinct_counts(opened(), names),
        lambda: refuse_non_numbers(opened(), numbers),
        lambda: number_ends(opened(), dict.fromkeys(numbers)),
        at_levels,
        cut_all,
        atoms,
    ]
    for each in asked:
        here, there = both(each)
        # NaN is not equal to itself, but to itself as text.
        assert repr(here) == repr(there)


@settings(max_examples=many(3, 150))
@given(nasty_tables(rows=(12, 60)), st.booleans())
@example(ODD, False)
def test_an_audit_of_few_rows_says_what_it_says_when_the_engine_counts(data: pa.Table, known: bool) -> None:
    names = data.column_names[1:]
    words: dict[str, Any] = {"secret": "s'", "keep_id": names, "known": names[:1] if known else None}
    here, there = both(lambda: tacit.audit(data, **words).to_dict())
    assert repr(here) == repr(there)


def test_few_rows_of_a_file_are_read_once(tmp_path, monkeypatch) -> None:
    path, seen = tmp_path / "people.csv", []
    path.write_text("s,n,t\n" + "".join(f"{'ab'[i % 2]},{i % 7},{'xyz'[i % 3]}\n" for i in range(300)))
    table = open_table(path)
    collected = type(table.engine).collected

    def watched(self: Any, rows: Any) -> Any:
        seen.append(rows.columns)
        return collected(self, rows)

    monkeypatch.setattr(type(table.engine), "collected", watched)
    count(table, ["s", "n", "t"])
    before = len(seen)
    group_sizes(table, ["n", "t"], ["s"])
    group_sizes(cut(table, [cut_points(table, "n", 3)]), ["n", "t"])
    group_sizes(with_levels(table, [CoarserLevel("n", "steps", 5)], ["__tacit_level0__"]), ["__tacit_level0__"])
    assert len(seen) == before


def slow_guess(columns: list[list[int]], secret: list[int]) -> float:
    """Whose secret is guessed right, by loops over records."""
    n, part = len(secret), np.random.default_rng(0).permutation(len(secret)) % PARTS
    commonest = sorted(set(secret), key=lambda s: (-secret.count(s), s))
    right = [0, 0, 0]
    for at in range(n):
        others = [i for i in range(n) if part[i] != part[at]]
        prior = {s: sum(secret[i] == s for i in others) / max(len(others), 1) for s in commonest}

        def shares(same: list[int], prior: dict[int, float] = prior) -> dict[int, float]:
            return {s: (sum(secret[i] == s for i in same) + DRAWN * prior[s]) / (len(same) + DRAWN) for s in commonest}

        row = shares([i for i in others if all(each[i] == each[at] for each in columns)])
        belief = {s: np.log(max(prior[s], 1e-12)) for s in commonest}
        for each in columns:
            own = shares([i for i in others if each[i] == each[at]])
            for s in commonest:
                belief[s] += np.log(max(own[s], 1e-12)) - np.log(max(prior[s], 1e-12))
        for which, guess in enumerate(({}, row, belief)):
            right[which] += max(commonest, key=lambda s: guess.get(s, 0.0)) == secret[at]
    return max(right) / n


@pytest.mark.parametrize("n", [1, 3, 60])
def test_guesses_are_those_of_loops_over_records(n: int) -> None:
    for seed in range(many(3, 40)):
        rng = np.random.default_rng(seed)
        secret = np.unique(rng.integers(0, 3, n), return_inverse=True)[1]
        columns = [np.where(rng.random(n) < 0.5, secret, rng.integers(-1, 3, n)) for _ in range(seed % 3 + 1)]
        right = Guesser.of(dict(enumerate(columns)), secret).right()
        assert right == pytest.approx(slow_guess([c.tolist() for c in columns], secret.tolist()))


@pytest.mark.parametrize("secrets", [list(range(60)) * 2 + [0] * 80, [0, 1] * 40 + [2], list(range(90)), [0, 1, 0, 1]])
def test_trees_learn_the_common_secrets_where_records_of_all_cannot_be_held_out(secrets: list[int]) -> None:
    (trees,) = (each for each in table_families(0) if each.name == "trees")
    secret = np.array(secrets)
    rows = TableRows(np.column_stack([secret, np.arange(len(secret)) % 7]).astype(float), (False, True))
    model = trees.model().fit(rows, secret)
    assert model.predict_proba(rows).shape == (len(secret), len(model.classes_))
    assert set(model.classes_) <= set(secrets)
