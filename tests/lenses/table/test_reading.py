"""A release in cells, read as it is meant: counts, means of groups, and rows to train on."""

from __future__ import annotations

import re
from collections.abc import Mapping
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings, strategies as st
from sklearn.metrics import roc_auc_score

from hospital import hospital
from sizes import many
from tacit import ArgumentError, ColumnError, SourceError, protect, read
from tacit.lenses.table.reading.reading import CellReading, ValueCount
from tacit.lenses.table.reading.shares import shares_of, smallest_mean
from tacit.lenses.table.reading.tails import tail_means
from tacit.release.levels import read_code

WARDS = ("Dermatology", "Internal", "Lung", "Oncology", "Surgery")
COSTS = (90, 200, 250, 765, 300)


def stays(n: int = 2_000, *, random_state: int = 9) -> pd.DataFrame:
    """Costs follow the ward, the ward follows the illness; whether somebody comes back, the age. A coin is a coin."""
    rng = np.random.default_rng(random_state)
    ill = rng.random(n) < 0.1
    ward = np.where(
        ill, rng.choice(5, n, p=[0.1, 0.1, 0.1, 0.6, 0.1]), rng.choice(5, n, p=[0.05, 0.3, 0.25, 0.05, 0.35])
    )
    age = np.clip(rng.normal(55, 18, n), 0, 100).astype(int)
    return pd.DataFrame(
        {
            "illness": np.where(ill, "cancer", "other"),
            "ward": np.array(WARDS, dtype=object)[ward],
            "age": age,
            "cost": np.round(np.array(COSTS)[ward] * rng.lognormal(0, 0.3, n)).astype(int),
            "coin": rng.choice(["heads", "tails"], n),
            "back": rng.random(n) < 1 / (1 + np.exp(-0.06 * (age - 55))),
        }
    )


@cache
def released() -> tuple[pd.DataFrame, Any]:
    table = stays()
    return table, protect(table, secret="illness", epsilon_high=0.5)


def test_counts_lie_between_what_is_certain_and_are_estimated_where_half_of_the_records_say_the_value() -> None:
    table = pd.DataFrame(hospital(1_500))
    made = protect(table, secret={"illness": ["F32"]}, epsilon_high=1.0)
    true, says = table["insurance"].value_counts(), made.frame()["insurance"].value_counts()
    found = {each.name: each for each in read(made).counts("insurance")}
    for name, each in found.items():
        assert each.at_least <= true[name] <= each.at_most
        assert each.at_least == says.get(name, 0)
    told = [name for name, each in found.items() if each.records is not None]
    assert 2 <= len(told) < len(found)
    assert all(found[name].records <= 2 * true[name] for name in told)
    off, row = (sum(abs(count[name] - true[name]) for name in told) for count in (_records(found), says))
    assert off < 0.5 * row


def _records(found: Mapping[str, ValueCount]) -> dict[str, float]:
    return {name: each.records for name, each in found.items() if each.records is not None}


def test_a_value_that_was_generalised_because_it_is_rare_has_bounds_and_no_estimate() -> None:
    table, made = released()
    found = {each.name: each for each in read(made).counts("ward")}
    assert "Oncology" not in set(made.frame()["ward"])
    assert found["Oncology"].records is None
    assert found["Oncology"].at_least <= (table["ward"] == "Oncology").sum() <= found["Oncology"].at_most


@cache
def of_those_who_come_back() -> tuple[pd.DataFrame, CellReading]:
    table = stays(1_500, random_state=3)
    return table, read(protect(table, secret="back", epsilon=0.5, drop=["illness"]))


def test_a_mean_of_numbers_whose_ends_are_known_is_near_the_true_one_and_lies_between_its_bounds() -> None:
    table, reading = of_those_who_come_back()
    true = table.groupby("ward")["age"].mean()
    for each in reading.means("age", by="ward", between=(0, 110)):
        assert each.mean == pytest.approx(true[each.name], rel=0.05)
        assert 0 <= each.at_least <= true[each.name] <= each.at_most <= 110


def test_without_a_column_to_group_by_there_is_one_mean_of_all_records() -> None:
    table, reading = of_those_who_come_back()
    (everybody,) = reading.means("age", between=(0, 110))
    assert everybody.records == len(table)
    assert everybody.mean == pytest.approx(table["age"].mean(), rel=0.05)
    assert 0 <= everybody.at_least <= table["age"].mean() <= everybody.at_most <= 110


def test_a_mean_that_hangs_on_what_lies_beyond_an_open_end_is_not_estimated() -> None:
    table, reading = of_those_who_come_back()
    true = table.groupby("ward")["cost"].mean()
    for between in ((None, None), (0, 5_000)):
        found = {each.name: each for each in reading.means("cost", by="ward", between=between)}
        assert found["Oncology"].mean is None
        assert all(each.at_least <= true[name] <= each.at_most for name, each in found.items())
    assert max(each.at_most for each in found.values()) < 5_000
    assert all(each.mean is None or each.mean == pytest.approx(true[name], rel=0.15) for name, each in found.items())


def test_a_mean_that_hangs_on_where_in_a_wide_last_range_numbers_lie_is_not_estimated() -> None:
    rng = np.random.default_rng(5)
    short = pd.DataFrame({"sex": rng.choice(["f", "m"], 900), "days": rng.geometric(0.12, 900)})
    short["ill"] = rng.random(900) < 0.3
    reading = read(protect(short, secret="ill", epsilon=1.0, levels={"days": [7]}))
    # Half of the stays are "7 or more": with an end at 90, "evenly" would make the mean thrice the true one.
    for each in reading.means("days", by="sex", between=(1, 90)):
        assert each.mean is None
        assert each.at_least <= short["days"][short["sex"] == each.name].mean() <= each.at_most


def test_numbers_cannot_end_where_the_release_tells_of_some_beyond() -> None:
    with pytest.raises(ArgumentError, match="the release has"):
        of_those_who_come_back()[1].means("cost", by="ward", between=(0, 300))


def test_a_value_that_many_have_keeps_its_share_beside_wide_ranges() -> None:
    told, records = np.vstack([np.eye(3), np.ones(3)]), np.array([10.0, 80.0, 10.0, 100.0])
    shares = shares_of(told, records, np.array([1_000.0, 1.0, 1_000.0]), even=3)
    # Half of the records say nothing; of the others four in five have the value in the middle.
    assert shares[1] > 0.5
    assert shares.sum() == pytest.approx(1)


@pytest.mark.parametrize("far", [40.0, 60.0])
def test_a_thin_tail_is_that_of_waiting_times_and_a_thick_one_that_of_incomes(far: float) -> None:
    edges = np.linspace(10, far, 12)
    waiting, incomes = (
        -np.diff([1.0, *beyond(edges), 0.0]) for beyond in (lambda x: np.exp(-x / 8), lambda x: 100 / x**2.5)
    )
    assert tail_means(edges, waiting, np.inf).thin == pytest.approx(8)
    assert tail_means(edges, incomes, np.inf).thick == pytest.approx(far / 1.5)
    assert tail_means(edges, incomes, 10.0)[:2] == (5.0, 5.0)


def test_a_group_that_no_row_names_has_no_mean() -> None:
    table, made = released()
    found = {each.name: each for each in read(made).means("age", by="ward", between=(0, 110))}
    for name, each in found.items():
        assert name in set(made.frame()["ward"]) or (each.mean is None and each.records is None)
        assert each.at_least <= table["age"][table["ward"] == name].mean() <= each.at_most


def test_what_is_certain_of_a_hospital_is_true() -> None:
    table = pd.DataFrame(hospital(600, missing=0.05))
    made = protect(table, secret={"illness": ["B20", "F32"]}, epsilon_high=0.5)
    reading, code = read(made), read_code(Path(made.out))
    assert code is not None
    for at, scale in enumerate(code.scales):
        values = [None if value != value else value for value in table[scale.column].astype(object)]
        true = np.bincount(scale.atoms_of(values), minlength=scale.size)
        counts = reading.counts(scale.column)
        assert all(c.at_least <= n <= c.at_most for c, n in zip(counts, true.tolist(), strict=True)), at
        # An estimate knows what is certain.
        assert all(c.records is None or c.at_least <= c.records <= c.at_most for c in counts), at
    ages = table.groupby("sex")["age"].mean()
    for each in reading.means("age", by="sex"):
        assert each.at_least <= ages[each.name] <= each.at_most


@given(
    st.lists(st.integers(-20, 20), max_size=4),
    st.lists(st.integers(-20, 20), max_size=5),
)
@settings(max_examples=many(30, 1_000))
def test_no_choice_of_rows_has_a_smaller_mean(surely: list[int], maybe: list[int]) -> None:
    choices = [
        surely + [each for at, each in enumerate(maybe) if chosen >> at & 1] for chosen in range(2 ** len(maybe))
    ]
    means = [float(np.mean(choice)) for choice in choices if choice]
    found = smallest_mean(np.array(surely, float), np.array(maybe, float))
    assert np.isnan(found) if not means else found == pytest.approx(min(means))


def test_rows_are_filled_in_with_values_that_they_allow_and_count_as_one_record() -> None:
    table, made = released()
    reading = read(made)
    rows = reading.filled("back", random_state=1)
    assert len(rows.frame) == 3 * len(table)
    assert np.allclose(np.bincount(rows.record, rows.weight), 1)
    for name, column in reading.columns.items():
        atoms = column.scale.atoms_of(rows.frame[name].tolist())
        assert column.parts[np.tile(column.level, 3), atoms].all(), name
    assert rows.frame["back"].dtype == bool
    assert rows.frame["age"].dtype == np.int64
    again = reading.filled("back", random_state=1)
    assert again.frame.equals(rows.frame)


def test_all_kinds_of_columns_are_filled_in() -> None:
    table = pd.DataFrame(hospital(600, missing=0.1))
    reading = read(protect(table, secret={"illness": ["F32"]}, epsilon_high=0.7))
    rows = reading.filled(times=1, random_state=2).frame
    for name, column in reading.columns.items():
        if column.scale.kind == "beginnings":
            assert set(rows[name].dropna()) <= set(column.names)
            continue
        values = [None if value is None or value != value else value for value in rows[name].astype(object)]
        atoms = column.scale.atoms_of(values)
        assert column.parts[column.level, atoms].all(), name


def guessed(features: np.ndarray, wanted: np.ndarray, groups: np.ndarray, weight: np.ndarray) -> float:
    """The area under the curve of boosted trees, in a cross-validation by groups."""
    from sklearn.ensemble import HistGradientBoostingClassifier

    fold, guesses = np.random.default_rng(5).integers(3, size=groups.max() + 1)[groups], np.zeros(len(wanted))
    for each in range(3):
        trees = HistGradientBoostingClassifier(max_iter=15, max_leaf_nodes=15, random_state=0)
        trees.fit(features[fold != each], wanted[fold != each], sample_weight=weight[fold != each])
        guesses[fold == each] = trees.predict_proba(features[fold == each])[:, 1]
    return float(roc_auc_score(wanted, guesses, sample_weight=weight))


def numbered(frame: pd.DataFrame) -> np.ndarray:
    return np.column_stack([pd.factorize(frame[name], sort=True)[0] for name in frame]).astype(float)


@pytest.mark.long
def test_a_coin_is_no_longer_predictable_once_rows_are_filled_in() -> None:
    _, made = released()
    reading, told = read(made), made.frame()
    heads = (told["coin"] == "heads").to_numpy()
    words = guessed(numbered(told.drop(columns="coin")), heads, np.arange(len(told)), np.ones(len(told)))
    rows = reading.filled(random_state=3)
    wanted = (rows.frame["coin"] == "heads").to_numpy()
    features = numbered(rows.frame.drop(columns="coin"))
    filled = guessed(features, wanted, rows.record, rows.weight)
    by_cell = guessed(features, wanted, reading.cell[rows.record], rows.weight)
    assert words > 0.9
    assert abs(filled - 0.5) < 0.07
    # Why the cell is no group: what was left out is missing beside its neighbours.
    assert by_cell < 0.4


def test_a_model_of_filled_rows_tells_people_as_they_are() -> None:
    from sklearn.linear_model import LogisticRegression

    _, made = released()
    fresh = stays(random_state=8)
    rows = read(made).filled("back", random_state=4)
    model = LogisticRegression(max_iter=300).fit(rows.frame[["age", "cost"]], rows.frame["back"], rows.weight)
    area = roc_auc_score(fresh["back"], model.predict_proba(fresh[["age", "cost"]])[:, 1])
    assert area > roc_auc_score(fresh["back"], fresh["age"]) - 0.03


def test_numbers_that_stand_for_ranges_are_averaged_as_they_are() -> None:
    table = stays(1_000)
    made = protect(table, secret="illness", epsilon_high=0.7, epsilon_low=3.0, write="means", prefer={"cost": 5})
    reading = read(made)
    whole = sum(each.mean * each.records for each in reading.means("cost", by="coin")) / len(table)
    assert whole == pytest.approx(made.frame()["cost"].mean(), rel=0.01)
    assert reading.filled(times=1).frame["cost"].equals(made.frame()["cost"])


def test_a_release_is_read_from_its_directory_as_arrow_and_refused_where_it_is_not_what_was_certified(
    tmp_path: Path,
) -> None:
    _, made = released()
    kept = made.save(tmp_path / "release")
    reading = read(tmp_path / "release")
    assert isinstance(reading, CellReading)
    assert reading.filled(times=1, random_state=0).frame.column_names == made.frame().columns.tolist()
    with pytest.raises(ColumnError):
        reading.counts("wards")
    with pytest.raises(ArgumentError, match="no mean"):
        reading.means("ward", by="coin")
    Path(kept.out, kept.data_file).write_bytes(b"other")
    with pytest.raises(SourceError, match="not what was certified"):
        read(kept)


def test_what_was_read_is_told_in_a_line() -> None:
    _, made = released()
    assert len(str(read(made)).splitlines()) == 1
    assert "2,000 records with ward, age" in repr(read(made))


def test_a_column_that_is_told_nowhere_cannot_be_what_is_predicted() -> None:
    told = {"race": ["a", "b"] * 200, "sex": ["f", "f", "m", "m"] * 100, "tells": ["x", "y"] * 200}
    release = read(protect(pd.DataFrame(told), secret="race", epsilon=0.1))
    assert len(release.filled(use="sex", random_state=1).weight) == 1200
    with pytest.raises(ArgumentError, match=r"'tells' is not shown at all in this release.* with sex;"):
        release.filled(use="tells")


def test_mixed_cells_and_other_releases_are_not_read() -> None:
    table = stays(400)[["illness", "coin", "ward"]]
    with pytest.raises(ArgumentError, match="corrected_counts"):
        read(protect(table, secret="illness", epsilon=1.0, mechanism="cells+mix"))
    with pytest.raises(ArgumentError, match="not a release in cells"):
        read(protect(table, secret="illness", epsilon=1.0, mechanism="watchdog"))


def test_the_page_of_a_release_says_how_to_read_it() -> None:
    _, made = released()
    page = Path(made.out, "report.html").read_text("utf-8")
    assert "Do not group the file by a column" in page
    assert "tacit.read(" in page


def test_what_is_told_exactly_comes_back_in_its_own_type_and_missing_as_missing() -> None:
    rng = np.random.default_rng(0)
    flag = pd.array(rng.choice([True, False], 400), dtype="boolean")
    flag[:80] = pd.NA
    table = pd.DataFrame({"s": rng.choice(["a", "b"], 400), "flag": flag, "few": rng.choice(3, 400)})
    table["word"] = rng.choice(["any", "x"], 400)
    told = protect(table, secret="s", epsilon_high=20.0, least=2).frame()
    assert told["flag"].isna().tolist() == table["flag"].isna().tolist()
    assert told["flag"].dropna().astype(bool).tolist() == table["flag"].dropna().astype(bool).tolist()
    assert told["few"].dtype == np.int64
    assert told["few"].tolist() == table["few"].tolist()
    assert told["word"].tolist() == table["word"].tolist()


def test_a_column_with_a_range_in_it_stays_text() -> None:
    _, made = released()
    assert all(isinstance(age, str) for age in made.frame()["age"])
    assert made.frame()["coin"].tolist() == released()[0]["coin"].tolist()


@pytest.mark.parametrize("written", ["text", "means"])
def test_the_report_says_how_many_values_of_each_column_a_reader_can_count(written: str, tmp_path: Path) -> None:
    # In a file of text, numbers that stand for ranges are texts.
    table = tmp_path / "stays.csv"
    pd.DataFrame(hospital(1_500, missing=0.1)).to_csv(table, index=False)
    made = protect(table, out=tmp_path / "release", secret={"illness": ["F32"]}, epsilon_high=0.7, write=written)
    reading, told = read(made), " ".join(str(made).split())
    found = {name: [each.records is not None for each in reading.counts(name)] for name in reading.columns}
    assert {each.column: (each.estimated, each.values) for each in made.countable} == {
        name: (sum(estimated), len(estimated)) for name, estimated in found.items()
    }
    assert "Can be counted" in told
    for name in list(found)[:3]:
        if len(found[name]) > 1:
            assert re.search(rf"{name} \S+% \S+% {sum(found[name])} of {len(found[name])} ", told), name
    # Some can be counted, and some cannot: either would make the test say nothing.
    assert len({all(each) for each in found.values()}) == 2


def test_of_a_release_that_cannot_be_read_this_way_nothing_is_said_to_be_countable() -> None:
    made = protect(stays(600), secret="illness", epsilon_high=0.5, mechanism="cells+mix", random_state=0)
    with pytest.raises(ArgumentError, match="corrected_counts"):
        read(made)
    assert made.countable == ()
    assert "Can be counted" not in str(made)
