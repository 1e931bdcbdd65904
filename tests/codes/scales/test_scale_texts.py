"""What a part reads: true of its values, different from every other part, and never mistaken for a value."""

from __future__ import annotations

import datetime as dt
import json
import re

import numpy as np
import pytest
from hypothesis import example, given, settings, strategies as st

from scale_samples import all_scales, date_scales, number_scales, parts
from sizes import many
from tacit.codes import AnyScale, CategoryScale, DateScale, HierarchyScale, ListScale, NumberScale, PrefixScale
from tacit.codes.scales.calendar import spoken
from tacit.codes.scales.kinds.beginnings import BeginningScale
from tacit.codes.scales.nice import centres, sober_mean
from tacit.codes.scales.reduced import reduced_scale
from tacit.errors import ArgumentError
from tacit.release import Damaged, decoded, text_of


def of(scale, *atoms):
    return scale.text(np.isin(np.arange(scale.size), atoms))


@settings(max_examples=many(150, 2000))
@given(all_scales)
def test_different_parts_have_different_texts(scale):
    texts = [scale.text(part) for part in parts(scale)]
    assert len(set(texts)) == len(texts)
    assert scale.size == 1 or texts[-1] == "any"


@settings(max_examples=many(60, 1000))
@given(all_scales)
def test_a_scale_is_written_and_read_as_it_is(scale):
    again = decoded(AnyScale, json.loads(text_of(scale)))
    assert again == scale
    assert type(again) is type(scale)
    assert [again.text(part) for part in parts(again)] == [scale.text(part) for part in parts(scale)]


@settings(max_examples=many(60, 1000))
@given(all_scales)
def test_levels_are_groups_of_neighbours_and_each_is_coarser_than_the_one_before(scale):
    before = scale.size
    for level in scale.levels:
        assert level.groups.shape == (scale.size,)
        assert set(level.groups.tolist()) == set(range(int(level.groups.max()) + 1))
        assert (np.diff(level.groups) >= 0).all()
        assert not scale.has_missing or (level.groups == level.groups[-1]).sum() == 1
        assert level.groups.max() + 1 < before
        before = int(level.groups.max()) + 1


def read_number(text):
    """An interval from its text, by a reader that knows nothing of scales."""
    number = r"(-?[0-9][0-9.e+-]*)"
    for pattern, holds in [
        (f"{number} to under {number}", lambda a, b: lambda x: a <= x < b),
        (f"{number} to {number}", lambda a, b: lambda x: a <= x <= b),
        (f"under {number}", lambda a: lambda x: x < a),
        (f"{number} and under", lambda a: lambda x: x <= a),
        (f"{number} and over", lambda a: lambda x: x >= a),
        (number, lambda a: lambda x: x == a),
        ("any number|any", lambda: lambda x: True),
    ]:
        found = re.fullmatch(pattern, text)
        if found:
            return holds(*map(float, found.groups()))
    raise AssertionError(text)


@settings(max_examples=many(100, 2000))
@given(number_scales(), st.floats(-1e7, 1e7), st.data())
def test_a_text_is_true_of_every_number_in_its_part(scale, number, data):
    number = np.floor(number) if scale.whole else number
    if (scale.least is not None and number < scale.least) or (scale.most is not None and number > scale.most):
        return
    atom = int(scale.atoms_of([number])[0])
    assert atom == sum(number >= edge for edge in scale.edges)
    first, last = data.draw(st.integers(0, atom)), data.draw(st.integers(atom, scale.present - 1))
    text = of(scale, *range(first, last + 1))
    assert read_number(text)(number), text


def read_dates(text):
    """The first day, and the first day after, of a stretch; None is an open end."""
    if text in ("any", "any date"):
        return None, None
    ends = {" and earlier": 0, " and later": 1}
    for words, side in ends.items():
        if text.endswith(words):
            one = read_dates(text.removesuffix(words))
            return (None, one[1]) if side == 0 else (one[0], None)
    if " to " in text:
        first, last = text.split(" to ")
        return read_dates(first)[0], read_dates(last)[1]
    if quarter := re.fullmatch(r"([0-9]{4})-Q([1-4])", text):
        year, number = map(int, quarter.groups())
        return dt.datetime(year, number * 3 - 2, 1), dt.datetime(year + number // 4, number * 3 % 12 + 1, 1)
    if ":" in text:
        moment = dt.datetime.fromisoformat(text)
        return moment, moment + dt.timedelta(minutes=1)
    parts = [int(each) for each in text.split("-")]
    if len(parts) == 3:
        return dt.datetime(*parts), dt.datetime(*parts) + dt.timedelta(days=1)
    year, month = (*parts, None)[:2]
    if month is None:
        return dt.datetime(year, 1, 1), dt.datetime(year + 1, 1, 1)
    return dt.datetime(year, month, 1), dt.datetime(year + month // 12, month % 12 + 1, 1)


@settings(max_examples=many(100, 2000))
@given(date_scales(), st.data())
def test_a_text_is_true_of_every_date_in_its_part_and_of_no_other(scale, data):
    first = data.draw(st.integers(0, scale.present - 1))
    last = data.draw(st.integers(first, scale.present - 1))
    begins, ends = read_dates(of(scale, *range(first, last + 1)))
    middle = dt.datetime(2000, 1, 1) if begins is None and ends is None else (begins or ends)
    for hours in data.draw(st.lists(st.integers(-20_000, 20_000), max_size=20)):
        moment = middle + dt.timedelta(hours=hours)
        inside = (begins is None or begins <= moment) and (ends is None or moment < ends)
        atom = int(scale.atoms_of([moment])[0])
        if atom not in (0, scale.present - 1) or (scale.open_start and scale.open_end):
            assert inside == (first <= atom <= last)


@pytest.mark.parametrize(
    ("edges", "whole", "ends", "atoms", "text"),
    [
        ((20, 30, 40), True, (None, None), [1, 2], "20 to 39"),
        ((20, 30, 40), True, (None, None), [0], "19 and under"),
        ((20, 30, 40), True, (17, 90), [0], "17 to 19"),
        ((20, 30, 40), True, (17, 90), [3], "40 to 90"),
        ((20, 30, 40), True, (None, None), [3], "40 and over"),
        ((20, 30, 40), True, (None, None), [1, 4], "20 to 29 or missing"),
        ((20, 21, 22), True, (None, None), [1], "20"),
        ((20, 30, 40), True, (None, None), [0, 2, 4], "19 and under or 30 to 39 or missing"),
        ((20, 30, 40), True, (None, None), [0, 1, 2, 3], "any number"),
        ((20, 30, 40), True, (17, 90), [0, 1, 2, 3], "17 to 90"),
        ((1.5, 2, 2.25), False, (None, None), [1, 2], "1.5 to under 2.25"),
        ((1.5, 2, 2.25), False, (None, None), [0], "under 1.5"),
        ((1.5, 2, 2.25), False, (0, 9.5), [3], "2.25 to 9.5"),
        ((1.5, 2, 2.25), False, (None, None), [4], "missing"),
    ],
)
def test_numbers_read_as_people_write_them(edges, whole, ends, atoms, text):
    scale = NumberScale("age", edges, whole, *ends, (0.0,) * 4, True)
    assert of(scale, *atoms) == text


@pytest.mark.parametrize(
    ("first", "last", "text"),
    [
        ("2024-03-01", "2024-03-31", "2024-03"),
        ("2024-01-01", "2024-03-31", "2024-Q1"),
        ("2024-02-01", "2024-04-30", "2024-02 to 2024-04"),
        ("2024-01-01", "2024-12-31", "2024"),
        ("2023-01-01", "2024-12-31", "2023 to 2024"),
        ("2024-03-04", "2024-03-17", "2024-03-04 to 2024-03-17"),
        ("2024-03-04", "2024-03-04", "2024-03-04"),
        ("2024-03-04", "2024-03-31", "2024-03-04 to 2024-03-31"),
    ],
)
def test_dates_read_by_the_coarsest_name_there_is(first, last, text):
    one, other = (dt.date.fromisoformat(each).toordinal() for each in (first, last))
    scale = DateScale("day", "day", "typed", one - 1, other + 1, False, False, False)
    assert of(scale, *range(1, scale.size - 1)) == text
    months = DateScale("day", "month", "typed", 2024 * 12, 2024 * 12 + 11, True, False, True)
    assert of(months, 0, 1) == "2024-02 and earlier"
    assert of(months, 9, 10, 11) == "2024-Q4"
    assert [level.name for level in months.levels] == ["quarter"]


@pytest.mark.parametrize(
    ("starts", "text"),
    [
        (("0417", "04179"), "04170 to 04178"),
        (("04175", "043"), "04175 to 04299"),
        (("0417", "042"), "0417* to 0419*"),
        (("0417", "0418"), "0417*"),
        (("011", "0137"), "0110* to 0136*"),
    ],
)
def test_both_ends_of_a_run_of_codes_are_told_to_the_same_character(starts, text):
    scale = BeginningScale("zip", starts, 5, False)
    assert of(scale, 1) == text
    assert len({of(scale, *atoms) for atoms in ([0], [1], [2], [0, 1], [1, 2])}) == 5
    first, _, last = text.replace("*", "0").partition(" to ")
    ends = [first, (last or first[:4] + "9")]
    assert scale.atoms_of(ends).tolist() == [1, 1]


def within(text, value):
    """Whether a value is in a run of codes, by a reader that knows nothing of scales."""
    for pattern, holds in [
        (r"before (.+)\*", lambda after: value < after),
        (r"(.+)\* and before", lambda last: value[: len(last)] <= last),
        (r"(.+)\* and after", lambda first: value >= first),
        (r"(.+)\* to before (.+)\*", lambda first, after: first <= value < after),
        (r"(.+)\* to (.+)\*", lambda first, last: first <= value and value[: len(last)] <= last),
        (r"(.+)\*", value.startswith),
    ]:
        found = re.fullmatch(pattern, text)
        if found:
            return holds(*found.groups())
    return text == "any code"


@settings(max_examples=many(40, 2000))
@given(
    st.sets(st.text("aAzé09Z", min_size=1, max_size=3), min_size=1, max_size=6),
    st.lists(st.text("aAzé09Zb'", max_size=4), min_size=1, max_size=20),
)
@example({"Na"}, ["NA", "N", "Mé", "Mz", "Na"])
@example({"I", "I0", "J"}, ["I", "I0"])
def test_a_stretch_of_texts_is_true_of_every_text_in_it_whatever_its_characters(starts, texts):
    scale = BeginningScale("name", tuple(sorted(starts)), None, False)
    runs = [(first, last) for last in range(scale.present) for first in range(last + 1)]
    told = {run: scale._run(*run) for run in runs}
    assert len(set(told.values())) == len(runs)
    for text, atom in zip(texts, scale.atoms_of(texts).tolist(), strict=True):
        assert all(within(told[first, last], text) for first, last in runs if first <= atom <= last)


def test_codes_of_one_length_and_several_patterns_are_told_as_texts_are():
    scale = PrefixScale("name", ("AA", "BA", "Ba"), None, 2, False)
    reduced, _ = reduced_scale(scale, np.array([0, 0, 1]))
    assert of(reduced, 0) == "before Ba*"


@pytest.mark.parametrize(("start", "text"), [("I4", "I4* to before J*"), ("I0", "I*"), ("A2", "A2* to I*")])
def test_a_run_of_codes_of_several_lengths_does_not_end_where_it_begins(start, text):
    scale = BeginningScale("icd", (start, "J"), None, False)
    assert of(scale, 1) == text
    assert scale.atoms_of([start, f"{start}.9", "I99", "J"]).tolist() == [1, 1, 1, 2]


@pytest.mark.parametrize(
    ("atoms", "text"),
    [
        ([0], "13001"),
        ([0, 1, 2], "130**"),
        ([0, 1], "1300*"),
        ([0, 1, 2, 3], "130** to 131**"),
        ([0, 1, 2, 3, 4], "13***"),
        ([5, 6], "02***"),
        ([3, 4, 6], None),
    ],
)
def test_codes_read_by_how_they_begin(atoms, text):
    codes = ("13001", "13007", "13099", "13100", "13409", "02139", "02999")
    scale = PrefixScale("zip", tuple(sorted(codes)), None, 5, True)
    place = {code: at for at, code in enumerate(sorted(codes))}
    told = of(scale, *(place[codes[at]] for at in atoms))
    assert told == (text or "02999 or 131** to 134**")
    icd = PrefixScale("icd", ("B20", "F31", "F32", "F32.1", "F41"), None, None, False)
    assert of(icd, 1, 2, 3) == "F3*"
    assert of(icd, 2, 3) == "F32*"
    assert of(icd, 2) == "F32"
    cut = PrefixScale("zip", ("021", "130", "134"), 3, 5, False)
    assert [of(cut, 0), of(cut, 1, 2), of(cut, 1)] == ["021**", "13***", "130**"]


def test_categories_are_listed_or_told_by_what_they_are_not():
    scale = CategoryScale("ward", "text", tuple("ABCDEFGHIJ"), True)
    assert of(scale, 0, 2) == "A or C"
    assert of(scale, *range(6)) == "A or B or C or D or E or F"
    assert of(scale, *range(1, 11)) == "any but A"
    assert of(scale, *range(10)) == "any but missing"
    assert of(scale, *range(2, 10)) == "any but A or B or missing"
    assert of(CategoryScale("b", "boolean", (False, True), True), 1, 2) == "true or missing"


def test_a_value_that_looks_like_our_words_is_quoted():
    scale = CategoryScale("c", "text", ("A", "B", "A or B", "any", "missing", 'say "hi"'), True)
    assert [of(scale, at) for at in range(7)] == ["A", "B", '"A or B"', '"any"', '"missing"', '"say ""hi"""', "missing"]
    assert of(scale, 0, 1) == "A or B"
    assert of(ListScale("c", "text", ("up to 5", "6"), False), 0) == '"up to 5"'


def test_groups_of_a_hierarchy_read_by_their_names():
    scale = HierarchyScale(
        "job", "text", ("nurse", "doctor", "baker", "cook", "pilot"),
        (("care", "care", "food", "food", "pilot"), ("service", "service", "service", "service", "transport")), True,
    )  # fmt: skip
    assert of(scale, 0, 1) == "care"
    assert of(scale, 0, 1, 2) == "care or baker"
    assert of(scale, 0, 1, 2, 3) == "service"
    assert of(scale, 4) == "pilot"
    assert of(scale, 2, 3, 4, 5) == "food or pilot or missing"
    assert [(level.name, level.groups.tolist()) for level in scale.levels] == [
        ("level 1", [0, 0, 1, 1, 2, 3]),
        ("level 2", [0, 0, 0, 0, 1, 2]),
    ]


def test_a_part_must_be_a_mask_of_some_atoms():
    scale = CategoryScale("c", "text", ("A", "B"), False)
    for part in ([True], [False, False], [1, 0]):
        with pytest.raises(ArgumentError, match="a part of column 'c'"):
            scale.text(part)


def test_the_mean_of_a_part_is_that_of_its_records():
    scale = NumberScale("x", (10.0, 20.0), True, None, None, (5.0, 15.0, 40.0), True)
    assert scale.number([True, True, False, True], [3, 1, 100, 50], 1) == pytest.approx(7.5)
    assert scale.number([True, False, True, False], [0, 0, 0, 0], 1) == pytest.approx(22.5)
    assert scale.number([False, False, False, True], [1, 1, 1, 1], 1) is None
    assert CategoryScale("c", "text", ("A",), False).number([True], [1], 1) is None


@given(st.lists(st.tuples(st.integers(-50, 50), st.integers(1, 9)), min_size=1, max_size=12), st.integers(1, 12))
def test_a_sober_mean_is_that_of_values_whose_ends_were_drawn_in(pairs, least):
    values = sorted(dict(pairs))
    records = [dict(pairs)[value] for value in values]
    each = np.repeat(values, records)
    rank = max(1, min(least, len(each) // 2))
    drawn_in = [each[rank - 1]] * rank + each[rank : len(each) - rank].tolist() + [each[-rank]] * rank
    slow = np.mean(drawn_in) if len(each) > 1 else each[0]
    assert sober_mean(np.array(values, float), np.array(records, float), least) == pytest.approx(slow)


def test_who_dwarfs_all_others_cannot_be_read_from_a_mean():
    scale = NumberScale("x", (3.0,), True, None, None, (2.0, 98_765.0), False)
    assert scale.number([True, True], [99, 1], 10) == 2.0
    assert centres(np.array([]), np.array([2.0] * 99 + [98_765.0]), whole=True, least=10).tolist() == [2.0]


@pytest.mark.parametrize(
    "damage",
    [
        {"kind": "numbers", "edges": [2.0, 1.0]},
        {"kind": "numbers", "edges": [0.5, 1.0]},
        {"kind": "numbers", "centres": [0.0]},
        {"kind": "numbers", "least": 5.0},
        {"kind": "dates", "last": 1},
        {"kind": "dates", "first": -5},
        {"kind": "prefixes", "values": ["b", "a"]},
        {"kind": "prefixes", "values": ["abc"], "length": 2},
        {"kind": "categories", "values": ["a", "a"]},
        {"kind": "categories", "values": [1]},
        {"kind": "hierarchy", "groups": [["g", "h"], ["s", "t"]]},
        {"kind": "hierarchy", "groups": [["g", "h", "g"], ["s", "s", "s"]]},
        {"kind": "hierarchy", "groups": [["g", "g", "h"], ["s", "t", "t"]]},
    ],
)
def test_a_damaged_scale_is_refused(damage):
    whole = {
        "numbers": NumberScale("x", (1.0, 2.0), True, None, None, (0.0, 1.0, 2.0), False),
        "dates": DateScale("x", "month", "typed", 24000, 24005, False, False, False),
        "prefixes": PrefixScale("x", ("a", "b"), None, 1, False),
        "categories": CategoryScale("x", "text", ("a", "b"), False),
        "hierarchy": HierarchyScale("x", "text", ("a", "b", "c"), (("g", "g", "h"), ("s", "s", "s")), False),
    }
    data = json.loads(text_of(whole[damage["kind"]]))
    assert decoded(AnyScale, data) == whole[damage["kind"]]
    with pytest.raises(Damaged):
        decoded(AnyScale, {**data, **damage})


def test_a_stretch_reads_as_a_person_writes_it_and_other_levels_as_they_are() -> None:
    assert spoken("2023-12 and later") == "December 2023 or later"
    assert spoken("2024-03-07 and earlier or missing") == "7 March 2024 or earlier or missing"
    assert spoken("2024-Q1 to 2024-Q3") == "first quarter of 2024 to third quarter of 2024"
    for level in ("2024", "2024 to 2025", "any", "80 and over", "north or 2024-03", "2024-13-1", "01234-56"):
        assert spoken(level) == level
