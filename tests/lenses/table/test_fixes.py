"""What changing one column would do is measured, and what it says comes true when it is followed."""

from __future__ import annotations

import datetime as dt
from collections import Counter
from collections.abc import Callable
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

from hospital import hospital
from tables_of_people import clinic
from tacit import audit
from tacit.lenses.table.ladder import fixes as ladder_fixes
from tacit.lenses.table.ladder.fixes import Fix, FixEffect, effects, fixes_of
from tacit.lenses.table.question import ask
from tacit.requests import Question


def alone(columns: dict[str, list[Any]], names: list[str]) -> float:
    """Of 1,000 people those whose values nobody else has, by a loop over rows."""
    times = Counter(zip(*(columns[name] for name in names), strict=True))
    return 1000 * sum(n == 1 for n in times.values()) / len(columns[names[0]])


def by_fix(found: tuple[FixEffect, ...]) -> dict[tuple[str, str | None], FixEffect]:
    return {(each.column, each.level): each for each in found}


def test_people_found_after_a_fix_are_those_counted_by_hand() -> None:
    columns = hospital(500)
    names = [name for name in columns if name != "illness"]
    found = effects(ask(Question(pa.table(columns), secret="illness"), in_cells=True))
    made = by_fix(found.effects)
    assert found.found == pytest.approx(alone(columns, names))
    assert made["admission", None].found == pytest.approx(alone(columns, [n for n in names if n != "admission"]))
    monthly = {**columns, "admission": [day.month for day in columns["admission"]]}
    assert made["admission", "month"].found == pytest.approx(alone(monthly, names))
    assert made["admission", "month"].setting.value == {"admission": "month"}
    assert found.sampled is None


def test_people_found_in_a_large_table_are_counted_on_all_its_records() -> None:
    rng = np.random.default_rng(0)
    # Many more are alone among the records that are sampled than in the table.
    often = np.minimum(rng.geometric(0.02, 60_000), 299)
    columns = {"zip": (100 + often).astype(str).tolist(), "age": rng.integers(0, 40, 60_000).tolist()}
    columns["ill"] = rng.choice(["no", "yes"], 60_000).tolist()
    found = audit(pa.table(columns), secret="ill", shuffles=19).fixes
    assert found is not None
    assert found.sampled == 20_000
    assert found.found == pytest.approx(alone(columns, ["zip", "age"]))
    assert alone({name: values[::3] for name, values in columns.items()}, ["zip", "age"]) > 2 * found.found
    written = {("zip", None): None, ("zip", "first 2 characters"): 2, ("zip", "first character"): 1}
    for fix, effect in by_fix(found.effects).items():
        if fix in written:
            names = ["age"] if written[fix] is None else ["zip", "age"]
            codes = [code[: written[fix]] for code in columns["zip"]]
            assert effect.found == pytest.approx(alone({**columns, "zip": codes}, names))
    assert len(found.effects) > 1


@pytest.mark.parametrize("kind", ["codes", "dates", "numbers"])
def test_values_that_no_sampled_record_has_are_told_at_a_coarser_level_too(kind: str) -> None:
    rng = np.random.default_rng(0)
    place = np.where(rng.random(60_000) < 0.06, rng.integers(0, 9000, 60_000), 180 * rng.integers(0, 50, 60_000))
    values: list[Any] = [f"{each:05}" for each in place]
    told: Callable[[Any, Any], Any] = lambda value, level: value[: int(level.partition(":")[2])]  # noqa: E731
    if kind == "dates":
        values = [dt.date(2000, 1, 1) + dt.timedelta(days=int(each)) for each in place]
        told = lambda value, level: (value.year, value.month if level == "month" else 0)  # noqa: E731
    elif kind == "numbers":
        values = [10.0 * each + 0.5 for each in place]
        told = lambda value, level: value // level  # noqa: E731
    columns = {"place": values, "age": rng.integers(0, 10, 60_000).tolist()}
    found = audit(pa.table({**columns, "ill": rng.choice(["no", "yes"], 60_000)}), secret="ill", shuffles=19).fixes
    assert found is not None
    coarser = [each for each in found.effects if each.column == "place" and each.fix == "coarser"]
    for each in coarser:
        at_level = [told(value, each.setting.value["place"]) for value in values]
        assert each.found == pytest.approx(alone({**columns, "place": at_level}, ["place", "age"]))
    assert min(each.found for each in coarser) < 1 < 40 < found.found


@pytest.mark.parametrize("counted", [True, False])
def test_people_found_in_a_table_of_many_combinations_are_counted_too_unless_it_is_too_large(
    counted: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    rng = np.random.default_rng(0)
    columns = {name: rng.integers(0, size, 60_000).tolist() for name, size in (("day", 400), ("town", 200), ("age", 2))}
    monkeypatch.setattr(ladder_fixes, "MOST_COUNTED", 60_000 if counted else 59_999)
    result = audit(pa.table({**columns, "ill": rng.choice(["no", "yes"], 60_000)}), secret="ill", shuffles=19)
    assert result.fixes is not None
    assert (result.fixes.sampled, result.fixes.counted) == (20_000, counted)
    true = alone(columns, ["day", "town", "age"])
    assert (result.fixes.found == pytest.approx(true)) == counted
    assert counted or result.fixes.found > true + 150
    told = "(Found: counted on all)" if counted else "more people are alone than among all"
    assert told in " ".join(result.as_text().split())


def test_the_column_that_tells_the_secret_is_the_one_to_drop() -> None:
    found = effects(ask(Question(pa.table(clinic(2000)), secret="illness"), in_cells=True))
    best = min((each for each in found.effects if each.fix == "drop"), key=lambda each: each.guessed)
    assert best.column == "ward"
    assert best.kept == 0
    assert found.guessed > best.guessed + 5
    assert best.setting.value == "ward"


def test_levels_keep_less_the_coarser_they_are_and_those_without_effect_are_left_out() -> None:
    columns = hospital(800)
    made = by_fix(effects(ask(Question(pa.table(columns), secret="illness"), in_cells=True)).effects)
    assert 0 < made["age", "steps of 10"].kept < made["age", "steps of 5"].kept < 1
    # All admissions are of one year, which says nothing of them.
    assert ("admission", "year") not in made
    assert {("ward", None), ("insurance", None)} <= set(made)
    whole = {"n": [at % 2 for at in range(300)], "s": ["a", "b", "b"] * 100}
    assert effects(ask(Question(pa.table(whole), secret="s"), in_cells=True)).effects == ()


def test_a_level_of_very_many_values_keeps_nearly_all() -> None:
    rng = np.random.default_rng(0)
    codes = [f"{code:05d}" for code in rng.permutation(100_000)[:900]]
    found = effects(ask(Question(pa.table({"code": codes, "s": ["a", "b", "b"] * 300}), secret="s", keep_id="code")))
    kept = [each.kept for each in found.effects]
    assert [each.level for each in found.effects][-1] == "first character"
    assert kept[0] > 0.8
    assert kept == sorted(kept, reverse=True)


def test_people_are_found_only_by_the_columns_that_may_be_known() -> None:
    columns = hospital(400)
    asked = ask(Question(pa.table(columns), secret="illness", known=("age", "postcode")), in_cells=True)
    found = effects(asked, [Fix("age"), Fix("ward")])
    assert found.found == pytest.approx(alone(columns, ["age", "postcode"]))
    without_age, without_ward = found.effects
    assert without_age.found == pytest.approx(alone(columns, ["postcode"]))
    assert without_ward.found == found.found
    assert without_ward.guessed < found.guessed


@pytest.mark.long
@pytest.mark.usefixtures("without_suggestion")
def test_what_a_fix_asks_for_is_taken_by_audit() -> None:
    table = pa.table(hospital(300))
    fixes = fixes_of(ask(Question(table, secret="illness"), in_cells=True))
    asked = effects(ask(Question(table, secret="illness"), in_cells=True), fixes[:1]).effects[0].setting
    result = audit(table, secret="illness", shuffles=19, **{asked.name: asked.value})
    assert result.columns
    assert np.isfinite(effects(ask(Question(table, secret="illness", drop=("age",)), in_cells=True)).found)
