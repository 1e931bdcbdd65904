"""Tables of many columns: what is counted stays exact, what is tried is capped, and the answer says so."""

from __future__ import annotations

import re

import numpy as np
import pyarrow as pa
import pytest

import tacit
from sizes import many
from tacit.codes import atoms_table, find_scales
from tacit.codes.scales import looking
from tacit.codes.scales.kinds.beginnings import BeginningScale
from tacit.document import silent
from tacit.errors import DataError
from tacit.lenses.table import audit as table_audit
from tacit.lenses.table.findings import column_groups
from tacit.lenses.table.ladder import suggesting
from tacit.lenses.table.ladder.guessing import Guesser, most_records
from tacit.lenses.table.question import ask
from tacit.lift import shuffles
from tacit.requests import Look, Question
from tacit.tables import Symbols, counting, open_table
from tacit.tables.symbols import in_order


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


def test_the_audit_of_a_wide_table_tries_no_release_and_says_so(monkeypatch: pytest.MonkeyPatch) -> None:
    # Beyond 100 columns; in the short form beyond 45, which are audited in less than half the time.
    width = many(45, 101)
    monkeypatch.setattr(suggesting, "TOO_WIDE", min(width, suggesting.TOO_WIDE))
    rng = np.random.default_rng(0)
    secret = rng.integers(0, 2, 60)
    columns = {f"c{at}": [f"v{value}" for value in rng.integers(0, 2 + at % 3, 60)] for at in range(width)}
    table = pa.table(
        {"secret": [f"s{value}" for value in secret], **columns, "told": [f"t{value}" for value in secret]}
    )
    result = tacit.audit(table, secret="secret")
    assert result.ladder.rungs == ()
    assert result.suggestion.epsilon is None
    assert f"No release was tried: with {width + 1} released columns" in str(result.suggestion.sentence)
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
    assert guesser.right() == Guesser.of({}, secret).knowing(columns).right()
    without = {"a": columns["a"], "c": columns["c"]}
    assert guesser.right("b") == Guesser.of(without, secret).right()
    assert guesser.right("b", other) == Guesser.of({**without, "b": other}, secret).right() > guesser.right()


def test_an_audit_in_which_no_column_stands_out_tries_no_change() -> None:
    rows = [(s, x) for s in "ab" for x in "cd"] * 30
    result = tacit.audit(pa.table({"secret": [s for s, _ in rows], "x": [x for _, x in rows]}), secret="secret")
    assert result.fixes is not None
    assert result.fixes.effects == ()


def test_a_table_of_too_many_combinations_is_measured_on_some_records_and_says_so(monkeypatch, tmp_path) -> None:
    monkeypatch.setattr(counting, "MAX_GROUPS", 1_000)
    monkeypatch.setattr(table_audit, "MOST_SAMPLED", 400)
    rng = np.random.default_rng(0)
    secret = rng.integers(0, 2, 2_000)
    codes = [f"{'am'[value]}{at:05d}" for at, value in zip(rng.permutation(2_000), secret, strict=True)]
    table = pa.table(
        {"secret": [f"s{value}" for value in secret], "code": [*codes[:-1], codes[0]], "age": [30] * 2_000}
    )
    result = tacit.audit(table, secret="secret")
    assert result.answer is not None
    assert "more combinations of values than can be counted one by one (1,000): risks" in result.answer.basis
    assert re.search(r"measures are of (39\d|40\d) of 2,000 records", result.answer.basis)
    assert result.source.records == sum(int(each.weight) for each in result.secrets) == 2_000
    assert result.found is not None
    assert result.found.sets[0].sizes.people == 2_000
    assert result.found.sets[0].sizes.unique == 1_998
    with pytest.raises(DataError, match="more than 1,000 combinations"):
        tacit.audit(table, secret="secret", scores=tmp_path / "scores.csv")


def test_cases_and_controls_that_take_turns_are_both_looked_at(monkeypatch) -> None:
    monkeypatch.setattr(counting, "MAX_CELLS", 600)
    monkeypatch.setattr(table_audit, "MAX_CELLS", 600)
    secret, codes = ["case", "control"] * 200, [f"{at // 2:05d}" for at in range(400)]
    marker = ["high" if each == "case" else "low" for each in secret]
    asked = ask(Question(pa.table({"secret": secret, "code": codes, "marker": marker}), secret="secret"))
    found, told = table_audit._counted(asked, Look(), silent)
    assert told.startswith("There are more pairs of a secret and a released value than can be counted one by one (600)")
    assert found.joint.prior == pytest.approx([0.5, 0.5], abs=0.02)


def test_very_many_texts_are_told_in_stretches_of_their_order(monkeypatch) -> None:
    monkeypatch.setattr(looking, "MOST_VALUES", 1_500)
    texts = [f"{'xä'[at % 2]}{at:05d}" for at in range(1_998)] + [None, ""]
    table = open_table(pa.table({"code": texts}))
    (scale,) = find_scales(table, ["code"])
    assert isinstance(scale, BeginningScale)
    assert 150 < scale.size <= 257
    assert scale.has_missing
    atoms = scale.atoms_of(texts)
    assert atoms_table(table, [scale]).sample(["code"], 2_000).column(0).to_pylist() == atoms.tolist()
    # About as many in each; what begins a stretch is no whole text of the table.
    assert np.bincount(atoms)[:-1].max() < 40
    assert not set(scale.starts) & set(texts)
    with pytest.raises(DataError, match="too many for groups"):
        find_scales(table, ["code"], {"code": "values"})
