"""Tables of many columns: what is counted stays exact, what is tried is capped, and the answer says so."""

from __future__ import annotations

import numpy as np
import pyarrow as pa

import tacit
from tacit.lenses.table.findings import column_groups
from tacit.lenses.table.ladder.guessing import Guesser, guessed_by, most_records
from tacit.lift import shuffles
from tacit.tables.symbols import Symbols, in_order


def test_columns_whose_others_tell_all_values_apart_are_found_as_by_sorting_every_time() -> None:
    rng = np.random.default_rng(0)
    seen = set()
    for _ in range(40):
        columns = int(rng.integers(2, 5))
        codes, _ = in_order(rng.integers(0, 3, (int(rng.integers(2, 12)), columns)))
        levels = tuple(tuple(range(3)) for _ in range(columns))
        groups = column_groups(Symbols(tuple("abcde"[:columns]), levels, codes))
        for at, group in enumerate(groups):
            different, which = in_order(np.delete(codes, at, axis=1))
            seen.add(group.others is None)
            assert (group.others is None) == (len(different) == len(codes))
            assert group.others is None or (group.others == which).all()
    assert seen == {True, False}


def test_fewer_records_are_looked_at_of_a_wide_table() -> None:
    assert [most_records(columns) for columns in (5, 12, 40, 200, 5_000)] == [20_000, 20_000, 20_000, 4_000, 1_000]


def test_the_audit_of_a_wide_table_tries_no_release_and_says_so() -> None:
    rng = np.random.default_rng(0)
    secret = rng.integers(0, 2, 60)
    columns = {f"c{at}": [f"v{value}" for value in rng.integers(0, 2 + at % 3, 60)] for at in range(101)}
    table = pa.table(
        {"secret": [f"s{value}" for value in secret], **columns, "told": [f"t{value}" for value in secret]}
    )
    result = tacit.audit(table, secret="secret")
    assert result.ladder.rungs == ()
    assert result.suggestion.epsilon is None
    assert "No release was tried: with 102 released columns" in str(result.suggestion.sentence)
    loudest = max(result.column_leaks, key=lambda leak: leak.alone)
    assert loudest.name == "told"
    assert loudest.alone_verdict == "leak"
    assert result.found is not None
    assert "no coarser levels were tried" in str(result.found.headline)
    assert result.answer is not None
    assert result.answer.how == "learned"
    assert "With more than 40 columns only a linear model was tried" in result.answer.basis


def test_many_columns_are_added_up_at_once_as_one_by_one(monkeypatch) -> None:
    monkeypatch.setattr(shuffles, "AT_ONCE", 25)
    rng = np.random.default_rng(0)
    counts = rng.integers(0, 4, (3, 10)).astype(float)
    groups = [rng.integers(0, size, 10) for size in (1, 2, 5, 9, 3)]
    found = shuffles.Groupings.of(groups).informations(counts)
    right = [shuffles.plug_in_information(shuffles.grouped(counts, group, int(group.max()) + 1)) for group in groups]
    assert np.allclose(found, right, atol=1e-12)


def test_a_guesser_with_a_column_changed_guesses_as_one_who_never_had_the_other() -> None:
    rng = np.random.default_rng(0)
    secret = rng.integers(0, 3, 300)
    columns = {name: np.where(rng.random(300) < 0.4, secret, rng.integers(-1, 4, 300)) for name in "abc"}
    guesser, other = Guesser.of(columns, secret), secret // 2
    assert guesser.right() == guessed_by(list(columns.values()), secret)
    assert guesser.right("b") == guessed_by([columns["a"], columns["c"]], secret)
    assert guesser.right("b", other) == guessed_by([columns["a"], columns["c"], other], secret) > guesser.right()


def test_an_audit_in_which_no_column_stands_out_tries_no_change() -> None:
    rows = [(s, x) for s in "ab" for x in "cd"] * 30
    result = tacit.audit(pa.table({"secret": [s for s, _ in rows], "x": [x for _, x in rows]}), secret="secret")
    assert result.fixes is not None
    assert result.fixes.effects == ()
