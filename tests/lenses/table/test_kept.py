"""What a reader keeps: levels are read as a reader reads them, and numbers are those of slow oracles."""

from __future__ import annotations

import datetime as dt
import math
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings, strategies as st

from sizes import many
from tables_of_people import clinic
from tacit import document as doc
from tacit.errors import ColumnError, DataError
from tacit.lenses.table.answers.keeping import keeping_section, keeping_words, using_section
from tacit.lenses.table.kept.information import cramers_v, entropy_of, kept_share, numbered
from tacit.lenses.table.kept.keeping import kept_of
from tacit.lenses.table.kept.levels import read_level, read_levels
from tacit.lenses.table.kept.reading import ReleasedColumn
from tacit.lenses.table.kept.tables import kept_of_tables, rows_entropy
from tacit.lenses.table.kept.values import ColumnValues, ValueGroups, distinct_numbers
from tacit.release import Damaged, decoded, encoded
from tacit.release.kept import AssociationChange, ColumnKept, InformationKept, ReaderKeeps
from tacit.report import Result
from tacit.tables import Table, open_table

AGES = [18, 25, 30, 35, 39, 40, 64, 70]
WARDS = ["any", "eye", "lung", "lung or eye", "skin"]
POSTCODES = ["01234", "13001", "13002", "13100", "20000"]
DAYS = [dt.date(2023, 12, 31), dt.date(2024, 1, 1), dt.date(2024, 3, 5), dt.date(2024, 3, 31), dt.date(2024, 4, 1)]


def values_of(cells: Sequence[Any], kind: str) -> ColumnValues:
    return ColumnValues.of("c", pa.chunked_array([cells]), kind)


def held(text: Any, cells: Sequence[Any], kind: str, meaning: Any = None) -> list[Any]:
    """The cells that a level may stand for."""
    column = values_of(cells, kind)
    level = read_level(text, column, meaning)
    return [cell for cell, code in zip(cells, column.codes, strict=True) if level.holds(int(code))]


# ---- levels --------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "held_ages"),
    [
        ("35", [35]),
        ("30 to 39", [30, 35, 39]),
        ("30 to under 39", [30, 35]),
        ("[30, 40)", [30, 35, 39]),
        ("< 30", [18, 25]),
        ("under 30", [18, 25]),
        ("30 and under", [18, 25, 30]),
        (">= 64", [64, 70]),
        ("64 and over", [64, 70]),
        ("65 or more", [70]),
        ("18 to 25 or 64 and over", [18, 25, 64, 70]),
        ("1* to 2*", [18, 25]),
        ("3*", [30, 35, 39]),
        ("41 to 50", []),
        ("any", AGES),
        ("of age", AGES),
    ],
)
def test_a_level_of_numbers_is_read_by_its_words(text: str, held_ages: list[int]) -> None:
    assert held(text, AGES, "number") == held_ages


@pytest.mark.parametrize(
    ("text", "held_wards"),
    [
        ("eye", ["eye"]),
        ("any", ["any"]),
        ("lung or eye", ["lung or eye"]),
        ("eye or lung", ["eye", "lung"]),
        ('"lung or eye" or skin', ["lung or eye", "skin"]),
        ("any but skin", ["any", "eye", "lung", "lung or eye"]),
        ("eye to lung", ["eye", "lung"]),
        ("l*", ["lung", "lung or eye"]),
        ("heart", WARDS),
        ("eye or heart", WARDS),
    ],
)
def test_a_level_of_texts_is_read_by_its_words(text: str, held_wards: list[str]) -> None:
    assert held(text, WARDS, "text") == held_wards


@pytest.mark.parametrize(
    ("text", "held_codes"),
    [("130**", ["13001", "13002"]), ("13***", ["13001", "13002", "13100"]), ("0****", ["01234"])],
)
def test_the_beginning_of_a_code_is_read_as_text_and_as_a_number(text: str, held_codes: list[str]) -> None:
    assert held(text, POSTCODES, "text") == held(text, POSTCODES, "number") == held_codes


@pytest.mark.parametrize(
    ("text", "first", "last"),
    [
        ("2024-03-05", 2, 3),
        ("2024-03", 2, 4),
        ("2024-Q1", 1, 4),
        ("2024", 1, 5),
        ("2023-12 to 2024-01", 0, 2),
        ("2024-01 and earlier", 0, 2),
        ("2024-03-31 and later", 3, 5),
        ("any date", 0, 5),
    ],
)
@pytest.mark.parametrize("layout", [None, "%Y-%m-%d", "%d.%m.%Y", "%Y/%m/%d"])
def test_a_stretch_of_time_is_read_whether_dates_are_typed_or_text(
    text: str, first: int, last: int, layout: str | None
) -> None:
    cells = [day.strftime(layout) for day in DAYS] if layout else DAYS
    assert held(text, cells, "text" if layout else "time") == cells[first:last]


def test_dates_that_could_be_either_way_round_are_texts() -> None:
    assert not values_of(["01/02/2024", "03/04/2024"], "text").time


def test_booleans_are_read_as_releases_write_them() -> None:
    assert held("false", [True, False, None], "boolean") == [False]
    assert held("true or missing", [True, False, None], "boolean") == [True, None]


def test_missing_is_read_alone_and_beside_others() -> None:
    cells = [18, None, 35]
    assert held("missing", cells, "number") == [None]
    assert held("30 to 39 or missing", cells, "number") == [None, 35]
    assert held("30 to 39", cells, "number") == [35]
    assert held("any but 18", [18, None, 35], "text") == [None, 35]


def test_the_dictionary_of_a_release_goes_before_the_words() -> None:
    assert held("young", AGES, "number", (None, 30)) == [18, 25, 30]
    assert held("30 to 39", AGES, "number", (18, 25)) == [18, 25]
    assert held("senses", WARDS, "text", ("eye", "skin")) == ["eye", "skin"]
    assert held("spring", DAYS, "time", ("2024-03", "2024-04")) == DAYS[2:]
    assert held("senses or missing", ["eye", None], "text", ("eye", None)) == ["eye", None]


@settings(max_examples=many(25, 300))
@given(st.lists(st.integers(-50, 50), min_size=1), st.integers(-60, 60), st.integers(0, 40))
def test_a_range_holds_the_numbers_between_its_ends(cells: list[int], low: int, width: int) -> None:
    expected = [cell for cell in cells if low <= cell <= low + width]
    assert held(f"{low} to {low + width}", cells, "number") == expected
    assert held("so", cells, "number", (low, low + width)) == expected


def test_another_value_is_one_that_no_level_names() -> None:
    column = values_of(["clerk", "cook", "diver", "nurse", None], "text")
    read = read_levels(["clerk", "cook or another value", "any but clerk or another value", "any"], column, {})
    values = [*column.values, None]
    held = [[v for at, v in enumerate(values) if level.holds(at if v is not None else -1)] for level in read]
    assert held[0] == ["clerk"]
    assert held[1] == ["cook", "diver", "nurse"]
    assert held[2] == ["cook", None]


def test_a_number_that_no_record_has_is_near_one_and_true_of_none() -> None:
    column = values_of([10, 20], "number")
    level = read_level(17.5, column)
    assert level.runs == ((1, 2),)
    assert not level.holds(1)


# ---- groups and information ----------------------------------------------------------------------------------------


@settings(max_examples=many(25, 300))
@given(st.lists(st.integers(0, 400), min_size=1, max_size=300))
def test_groups_are_few_and_in_order_and_a_value_of_a_fifth_is_alone(cells: list[int]) -> None:
    column = values_of(cells, "number")
    groups = ValueGroups.coarse(column)
    assert groups.size <= 21
    assert (np.diff(groups.of) >= 0).all()
    if len(column.values) > 20:
        for place in np.flatnonzero(column.counts >= 0.2 * len(cells)):
            assert (groups.of == groups.of[place]).sum() == 1


def information(one: Any, other: Any) -> float:
    """Mutual information of two codes of the same rows."""
    return entropy_of(one) + entropy_of(other) - entropy_of(numbered([one, other]))


def slow_information(pairs: Sequence[tuple[int, int]]) -> float:
    n, both = len(pairs), Counter(pairs)
    one, other = Counter(a for a, _ in pairs), Counter(b for _, b in pairs)
    return sum(k / n * math.log(k * n / (one[a] * other[b])) for (a, b), k in both.items())


@settings(max_examples=many(25, 300))
@given(st.lists(st.tuples(st.integers(0, 4), st.integers(-1, 6)), min_size=1, max_size=60))
def test_information_is_that_of_the_definition(pairs: list[tuple[int, int]]) -> None:
    one, other = np.array(pairs).T
    assert information(one, other) == pytest.approx(slow_information(pairs), abs=1e-12)
    rows = numbered([one, other])
    assert len(set(rows.tolist())) == len(set(pairs))
    assert entropy_of(rows) == pytest.approx(slow_information([(row, row) for row in rows.tolist()]), abs=1e-12)


def test_a_column_that_is_told_in_full_is_kept_and_one_that_is_not_told_is_lost() -> None:
    rng = np.random.default_rng(0)
    cell = rng.integers(0, 400, 8000)
    assert kept_share(cell % 2, cell, rng) == pytest.approx(1.0)
    assert kept_share(rng.integers(0, 10, 8000), cell, rng) < 0.02
    assert kept_share(np.zeros(8000, dtype=np.int64), cell, rng) == 1.0


def test_the_share_kept_is_nearer_to_the_truth_than_information_less_chance() -> None:
    """Half of the cells tell a column of eight values in full, the others nothing: half of it is kept."""
    rng = np.random.default_rng(1)
    cell = rng.integers(0, 600, 8000)
    column = np.where(cell < 300, cell % 8, rng.integers(0, 8, 8000))
    shuffled = information(column, rng.permutation(cell))
    plain = (information(column, cell) - shuffled) / entropy_of(column)
    assert abs(kept_share(column, cell, rng) - 0.5) < 0.02 < abs(plain - 0.5)


def test_cramers_v_is_one_for_a_copy_and_none_where_nothing_is_tied() -> None:
    assert cramers_v(np.diag([30.0, 20.0, 50.0])) == pytest.approx(1.0)
    assert cramers_v(np.outer([30.0, 20.0], [1.0, 2.0, 3.0])) == 0.0
    assert cramers_v(np.array([[3.0, 4.0]])) == 0.0


def test_cramers_v_of_many_records_is_that_of_scipy() -> None:
    from scipy.stats.contingency import association

    table = np.array([[300_000, 100_000, 50_000], [100_000, 200_000, 250_000]])
    assert cramers_v(table.astype(float)) == pytest.approx(association(table, method="cramer"), abs=1e-5)


# ---- what is kept --------------------------------------------------------------------------------------------------


def people(n: int = 900, random_state: int = 0) -> pa.Table:
    """Income follows age and trade; the number is different in every row."""
    rng = np.random.default_rng(random_state)
    age, trade = rng.integers(18, 80, n), rng.choice(["baker", "smith", "weaver"], n)
    rich = (age + 20 * (trade == "smith") + rng.normal(0, 8, n)) > 60
    number = rng.permutation(n) / 10
    return pa.table({"age": age, "trade": trade, "number": number, "rich": np.where(rich, "yes", "no")})


KINDS = {"age": "number", "trade": "text", "number": "number", "rich": "text"}


def kept(original: pa.Table, release: pa.Table, **settings: Any) -> ReaderKeeps:
    return kept_of(original, release, released=release.column_names, kinds=KINDS, **settings)


def by_name(keeps: ReaderKeeps) -> dict[str, ColumnKept]:
    return {column.name: column for column in keeps.columns}


def test_a_release_of_everything_keeps_everything_though_every_row_is_different() -> None:
    keeps = kept(people(), people())
    assert all(column.kept == 1 and column.shift == 0 for column in keeps.columns)
    assert keeps.information.share == 1
    assert keeps.association_error is not None
    assert keeps.association_error.largest == 0
    assert [score.name for score in keeps.use] == ["age", "trade", "number", "rich"]
    assert all(score.release == score.original for score in keeps.use)


def test_a_release_of_nothing_keeps_nothing_and_is_of_no_use() -> None:
    original = people()
    nothing = pa.table({name: ["any"] * original.num_rows for name in original.column_names})
    keeps = kept(original, nothing)
    assert all(column.kept == 0 for column in keeps.columns)
    assert keeps.information.share == 0
    # What reads the same in every row cannot be learned.
    assert keeps.use == ()


def decades(ages: pa.ChunkedArray) -> list[str]:
    return [f"{age // 10 * 10} to {age // 10 * 10 + 9}" for age in ages.to_pylist()]


def test_levels_keep_what_they_tell() -> None:
    original = people(4000)
    release = pa.table({"age": decades(original["age"]), "trade": original["trade"]})
    age, trade = kept(original, release).columns
    tenth = ValueGroups.coarse(values_of(original["age"].to_pylist(), "number")).rows(
        values_of(original["age"].to_pylist(), "number")
    )
    decade = np.array(original["age"].to_pylist()) // 10
    assert age.kept == pytest.approx(information(tenth, decade) / entropy_of(tenth), abs=0.01)
    assert trade.kept == 1


def test_means_keep_what_their_levels_keep_but_move_the_shares() -> None:
    original = people(2000)
    ages = np.array(original["age"].to_pylist())
    means = np.bincount(ages // 10, ages)[ages // 10] / np.bincount(ages // 10)[ages // 10]
    levels = kept(original, pa.table({"age": decades(original["age"]), "trade": original["trade"]}), use=["rich"])
    numbers = kept(original, pa.table({"age": means, "trade": original["trade"]}), use=["rich"])
    assert by_name(numbers)["age"].kept == pytest.approx(by_name(levels)["age"].kept, abs=0.01)
    assert by_name(numbers)["age"].shift > 0.2
    assert numbers.use[0].release == pytest.approx(levels.use[0].release, abs=0.03)


def test_shares_are_those_that_a_reader_works_out() -> None:
    """What is not told at random is made up for by what is; what is told of nobody is not."""
    rng = np.random.default_rng(0)
    ages, trades = rng.integers(18, 60, 4000), rng.choice(["baker", "smith", "weaver"], 4000, p=[0.7, 0.2, 0.1])
    hidden = np.where(rng.random(4000) < 0.5, "any", trades)
    apart = np.where(trades == "smith", "smith", "any but smith")
    shifts = [
        kept(pa.table({"age": ages, "trade": trades}), pa.table({"age": ages, "trade": told})).columns[1].shift
        for told in (trades, hidden, apart)
    ]
    assert shifts[0] == 0
    assert 0 < shifts[1] < 0.03
    # Bakers and weavers are shared out by halves: 0.4 and 0.4 instead of 0.7 and 0.1.
    assert shifts[2] == pytest.approx(0.3, abs=0.02)


@settings(max_examples=many(15, 200))
@given(st.lists(st.tuples(st.sampled_from("abcd"), st.sampled_from("abcd")), min_size=1, max_size=40))
def test_the_shift_of_values_is_the_total_variation_of_their_shares(pairs: list[tuple[str, str]]) -> None:
    before, after = (pa.table({"trade": list(cells)}) for cells in zip(*pairs, strict=True))
    shares = [Counter(table["trade"].to_pylist()) for table in (before, after)]
    known = set(shares[0])
    if not set(shares[1]) <= known:
        return
    expected = sum(abs(shares[0][cell] - shares[1][cell]) for cell in known) / (2 * len(pairs))
    assert kept(before, after).columns[0].shift == pytest.approx(expected, abs=1e-4)


def test_a_false_level_goes_to_its_values_in_proportion_and_what_is_hidden_goes_to_missing() -> None:
    original = pa.table({"trade": ["baker"] * 4 + ["smith"] * 4 + ["weaver"] * 2})
    false = pa.table({"trade": ["smith or weaver"] * 4 + ["smith"] * 4 + ["weaver"] * 2})
    hidden = pa.table({"trade": [None] * 4 + ["smith"] * 4 + ["weaver"] * 2})
    assert kept(original, false).columns[0].shift == pytest.approx(0.4)
    assert kept(original, hidden).columns[0].shift == pytest.approx(0.4)
    column = ReleasedColumn.of(values_of(original["trade"].to_pylist(), "text"), false["trade"], {})
    spread = column.spread(ValueGroups.coarse(column.original))
    assert spread[1].tolist() == pytest.approx([0, 2 / 3, 1 / 3, 0])


def test_an_association_is_lost_with_one_of_its_columns() -> None:
    original = people(3000)
    release = original.set_column(0, "age", pa.array(["any"] * 3000)).select(["age", "trade", "rich"])
    whole = kept(original, original.select(["age", "trade", "rich"]))
    lost = kept(original, release)
    assert whole.association_error == AssociationChange(0.0, 0.0, 3, ("age", "trade"))
    assert lost.association_error is not None
    assert lost.association_error.worst == ("age", "rich")
    column, other = (values_of(original[name].to_pylist(), KINDS[name]) for name in ("age", "rich"))
    table = np.zeros((21, 3))
    np.add.at(table, (ValueGroups.coarse(column).rows(column), ValueGroups.coarse(other).rows(other)), 1)
    assert lost.association_error.largest == pytest.approx(cramers_v(table), abs=1e-4)


def test_a_use_is_judged_on_records_as_they_were_given() -> None:
    original = people(3000)
    good = pa.table({"age": decades(original["age"]), "trade": original["trade"]})
    bad = pa.table({"age": ["any"] * 3000, "trade": original["trade"]})
    false = pa.table({"age": original["age"], "trade": original["trade"], "rich": original["rich"].to_pylist()[::-1]})
    scores = [kept(original, release, use=["rich"]).use[0] for release in (good, bad, false)]
    assert len({score.original for score in scores[:2]}) == 1
    assert scores[0].original > 0.9
    assert scores[0].release > scores[0].original - 0.03
    assert 0.5 < scores[1].release < scores[0].release - 0.1
    # A model that learned what is false ranks by chance, one way or the other.
    assert scores[2].release < scores[0].release - 0.1
    assert all(score.measure == "AUC" and score.baseline == 0.5 and score.predicted == "value" for score in scores)


def test_a_use_that_is_linear_in_many_numbers_is_scored_as_a_linear_model_has_it() -> None:
    from sklearn.linear_model import LogisticRegression
    from sklearn.metrics import roc_auc_score

    rng = np.random.default_rng(1)
    numbers = rng.normal(size=(900, 7))
    use = rng.random(900) < 1 / (1 + np.exp(-0.35 * numbers.sum(axis=1)))
    original = pa.table({**{f"x{at}": column for at, column in enumerate(numbers.T)}, "use": use})
    release = pa.table(
        {f"x{at}": ["under 0" if x < 0 else "from 0" for x in column] for at, column in enumerate(numbers.T)}
    )
    kinds = dict.fromkeys(release.column_names, "number") | {"use": "boolean"}
    score = kept_of(original, release, released=release.column_names, kinds=kinds, use=["use"]).use[0]
    model = LogisticRegression().fit(numbers[:600] > 0, use[:600])
    plain = roc_auc_score(use[600:], model.predict_proba(numbers[600:] > 0)[:, 1])
    assert score.release > plain - 0.03
    assert score.original > score.release


def test_a_reader_learns_from_the_levels_of_what_is_predicted() -> None:
    """Of half the people the release says nothing about being rich; the model learns from the others."""
    original = people(3000)
    told = [rich if row % 2 else "any" for row, rich in enumerate(original["rich"].to_pylist())]
    release = original.select(["age", "trade"]).append_column("rich", pa.array(told))
    score = kept(original, release, use=["rich"]).use[0]
    assert score.release > 0.85


@settings(max_examples=many(20, 400))
@given(st.integers(0, 10**6))
def test_what_is_filled_in_is_allowed_by_the_level_and_as_common_as_it_is(seed: int) -> None:
    rng = np.random.default_rng(seed)
    ages = [None if rng.random() < 0.1 else int(age) for age in rng.integers(20, 40, 200)]
    told = [str(rng.choice(["20 to 29 or missing", "any", "30 or more", "50 to 60", "25"])) for _ in ages]
    column = ReleasedColumn.of(values_of(ages, "number"), pa.chunked_array([told]), {})
    drawn = column.drawn(np.random.default_rng(seed))
    for row, value in enumerate(drawn.tolist()):
        level = column.levels[column.codes[row]]
        assert level.holds(value) or (told[row] == "50 to 60" and value >= 0)
    nowhere = ReleasedColumn.of(values_of(ages, "number"), pa.chunked_array([pa.array([None] * 200, pa.string())]), {})
    assert set(nowhere.drawn(rng).tolist()) == {-1}


def test_what_is_filled_in_has_the_shares_that_the_release_tells_of_the_column() -> None:
    wards = ["a"] * 700 + ["b"] * 200 + ["c"] * 100
    told = ["a"] * 350 + ["a or c"] * 350 + ["b"] * 200 + ["a or c"] * 50 + ["c"] * 50
    column = ReleasedColumn.of(values_of(wards, "text"), pa.chunked_array([told]), {})
    drawn = np.bincount(column.drawn(np.random.default_rng(0)), minlength=3) / 1000
    assert drawn == pytest.approx([0.7, 0.2, 0.1], abs=0.02)


def test_nothing_of_the_original_is_read_but_which_values_there_are() -> None:
    """The same release of other people is read in the same way."""
    told = pa.chunked_array([["a or c"] * 1000])
    for wards in (["a"] * 700 + ["b"] * 200 + ["c"] * 100, ["c"] * 998 + ["a", "b"]):
        column = ReleasedColumn.of(values_of(wards, "text"), told, {})
        assert column.shares == pytest.approx([0.5, 0, 0.5, 0])


def test_a_column_with_many_values_is_predicted_by_halves_or_by_its_commonest_values() -> None:
    rng = np.random.default_rng(0)
    name = rng.choice([f"name {at}" for at in range(30)], 300)
    original = people(300).append_column("name", pa.array(name))
    keeps = kept_of(
        original, original, released=original.column_names, kinds=KINDS | {"name": "text"}, use=["name", "age"]
    )
    assert [(score.predicted, score.measure) for score in keeps.use] == [
        ("commonest values", "accuracy"),
        ("above the middle", "AUC"),
    ]


def test_a_use_that_is_lost_is_not_passed_over() -> None:
    original = people(600)
    silent = original.set_column(original.schema.get_field_index("rich"), "rich", pa.array(["any"] * 600))
    for release, is_lost in ((original, False), (silent, True)):
        keeps = kept(original, release, use=["rich"])
        assert ("does not help to predict" in str(keeping_section(keeps))) == is_lost


def test_the_score_of_a_use_is_a_mean_over_readers_and_says_how_far_they_are_apart() -> None:
    """The release tells the ages of the rich only: a model of age learns what chance fills in for the others."""
    original = people(600)
    rich = [str(each) for each in original["rich"].to_pylist()]
    told = [age if each == rich[0] else "any" for age, each in zip(decades(original["age"]), rich, strict=True)]
    lucky = pa.table({"age": told, "rich": original["rich"]})
    (score,) = kept(original, lucky, use=["rich"]).use
    assert score.release_low is not None
    assert score.release_high is not None
    assert score.release_high - score.release_low > 0.2
    assert score.release_low <= score.release <= score.release_high
    shown = str(keeping_section(kept(original, lucky, use=["rich"])))
    assert "Single models scored" in shown
    assert "do not rely on a model of this release" in shown
    (whole,) = kept(original, original, use=["rich"]).use
    assert whole.release_low is not None
    assert whole.release_low > 0.8
    assert "do not rely" not in str(keeping_section(kept(original, original, use=["rich"])))


def test_an_auc_that_is_worse_than_chance_is_explained() -> None:
    keeps = kept(people(300), people(300), use=["rich"])
    bad = replace(keeps, use=(replace(keeps.use[0], release=0.43, release_low=0.4, release_high=0.5),))
    shown = str(keeping_section(bad))
    assert "the wrong way round" in shown
    assert "known" not in shown


def test_uses_are_named_or_all_or_too_many() -> None:
    original = people(100)
    assert kept(original, original).uses == "in turn"
    assert kept(original, original, use=["age"]).uses == "named"
    wide = pa.table({f"c{at}": ["a", "b"] for at in range(9)})
    keeps = kept_of(wide, wide, released=wide.column_names, kinds=dict.fromkeys(wide.column_names, "text"))
    assert (keeps.uses, keeps.use) == ("too many columns", ())


def test_a_use_that_is_not_there_and_rows_that_do_not_match_are_refused() -> None:
    with pytest.raises(ColumnError, match="no column 'rch'"):
        kept(people(50), people(50), use=["rch"])
    with pytest.raises(DataError, match="50 rows and the release 40"):
        kept(people(50), people(40))


@pytest.mark.parametrize("cells", [["a"] * 8, [None] * 8, [None, "a"] * 4])
def test_columns_of_one_value_or_none_are_looked_at_all_the_same(cells: list[Any]) -> None:
    table = pa.table({"age": list(range(8)), "trade": pa.array(cells, pa.string())})
    keeps = kept(table, table)
    assert [column.kept for column in keeps.columns][1] == 1
    assert all(column.shift == 0 for column in keeps.columns)


def test_the_same_is_found_again() -> None:
    original = people(500)
    release = original.set_column(0, "age", pa.array(decades(original["age"])))
    assert kept(original, release) == kept(original, release)


# ---- tables in their engine, certificate and answer ----------------------------------------------------------------


def test_the_entropy_of_rows_is_counted_in_every_engine(as_table: Callable[[pa.Table], Table]) -> None:
    data = pa.table({"a": ["x", "x", "y", None, "x"], "b": [1, 1, 2, 2, 3], "w": [1.0, 1.0, 2.0, 3.0, 0.0]})
    shares = Counter(zip(data["a"].to_pylist(), data["b"].to_pylist(), strict=True))
    expected = -sum(k / 5 * math.log(k / 5) for k in shares.values())
    table = as_table(data)
    assert rows_entropy(table, ["a", "b"]) == pytest.approx(expected)
    weighed = -sum(k / 7 * math.log(k / 7) for k in (2, 2, 3))
    assert rows_entropy(table, ["a", "b"], weight="w") == pytest.approx(weighed)


def test_tables_and_their_samples_say_the_same() -> None:
    original = people(800)
    release = original.set_column(0, "age", pa.array(decades(original["age"]))).select(["age", "trade"])
    names = ["age", "trade"]
    one = kept_of_tables(open_table(original), open_table(release), released=names, use=["rich"])
    other = kept(original, release, use=["rich"])
    assert one == replace(other, information=replace(other.information, kind="exact"))


def test_the_channel_of_a_drawn_release_says_what_is_told(tmp_path: Any) -> None:
    from tacit import protect

    original = open_table(pa.table(clinic(1500)))
    result = protect(original, secret="illness", epsilon=0.4, out=tmp_path / "r", random_state=0)
    release, utility = open_table(tmp_path / "r" / result.data_file), result.certificate.utility
    keeps = kept_of_tables(
        original,
        release,
        released=result.certificate.released,
        released_entropy=utility.mutual_information,
        use=["ward"],
    )
    assert keeps.information.kind == "exact"
    assert keeps.information.share == pytest.approx(1 - utility.nmil, abs=1e-3)
    assert keeps.largest_shift.shift == pytest.approx(utility.column_shift, abs=0.05)


@pytest.fixture(scope="module")
def keeps() -> ReaderKeeps:
    original = people(600)
    return kept(original, original.set_column(0, "age", pa.array(decades(original["age"]))), use=["rich"])


def test_it_is_stored_and_read_strictly(keeps: ReaderKeeps) -> None:
    stored = encoded(keeps)
    assert decoded(ReaderKeeps, stored) == keeps
    with pytest.raises(Damaged, match="between 0 and 1"):
        decoded(ReaderKeeps, stored | {"columns": [{"name": "age", "kept": 1.5, "shift": 0.0}]})
    with pytest.raises(Damaged, match="there is no column, or no row was used"):
        decoded(ReaderKeeps, stored | {"columns": []})


class KeptAlone(Result):
    """A result that is nothing but what is kept."""

    def __init__(self, keeps: ReaderKeeps) -> None:
        self.keeps = keeps

    def document(self) -> doc.Document:
        sections = keeping_section(self.keeps), using_section(self.keeps)
        return doc.Document("kept", "Kept", doc.badge("holds"), keeping_words(self.keeps), (), sections)


def test_the_answer_shows_columns_uses_shares_and_associations(keeps: ReaderKeeps) -> None:
    shown = " ".join(str(KeptAlone(keeps)).split())
    age = by_name(keeps)["age"]
    assert f"least of age ({age.kept:.1%})" in shown
    for words in ("What a reader keeps (plug-in)", "rich AUC 0.500", "Shares off by", "Cramér's V", "600 records"):
        assert words in shown
    page = KeptAlone(keeps)._repr_html_()
    assert "Kept of each column" in page
    assert "<svg" in page


def test_columns_that_read_the_same_in_every_row_are_named(keeps: ReaderKeeps) -> None:
    blocks = keeping_section(keeps, ["age", "trade"]).blocks
    told = [str(block.text) for block in blocks if isinstance(block, doc.Paragraph)]
    assert "Not shown, the same in every row: age, trade. What is kept of them comes from other columns." in told
    assert not any("Not shown" in str(block) for block in keeping_section(keeps).blocks)


def test_a_wide_table_shows_the_column_that_was_named_to_be_of_use(keeps: ReaderKeeps) -> None:
    score, some = keeps.use[0], keeps.columns[0]
    wide = replace(keeps, columns=(*(replace(some, name=f"c{at}") for at in range(20)), replace(some, name=score.name)))
    last = {uses: f"{score.name} {some.kept:.1%}" in " ".join(str(KeptAlone(replace(wide, uses=uses))).split())
            for uses in ("named", "in turn")}  # fmt: skip
    assert last == {"named": True, "in turn": False}


def test_the_answer_says_why_nothing_was_predicted(keeps: ReaderKeeps) -> None:
    shown = " ".join(str(KeptAlone(replace(keeps, use=(), uses="too many columns"))).split())
    assert "more than 8 columns: name some with use" in shown


def test_all_is_kept_where_there_was_nothing_to_keep() -> None:
    assert InformationKept(0.0, 0.0, "exact").share == 1.0
    with pytest.raises(ValueError, match="finite"):
        InformationKept(math.inf, 1.0, "exact")


def test_a_date_that_python_cannot_hold_is_refused_in_one_line():
    column = pa.chunked_array([pa.array([0, 3_700_000], pa.int32()).cast(pa.date32())])
    with pytest.raises(DataError, match="outside the years 1 to 9999"):
        distinct_numbers(column)
