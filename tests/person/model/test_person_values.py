"""Values that cover others, similarities and normal forms."""

from __future__ import annotations

import itertools
import math
from datetime import date

import pytest
from hypothesis import given, strategies as st

from tacit.errors import ArgumentError
from tacit.person import covers, exp_abs, is_suppressed, normaliser, similarity
from tacit.person.model.forms import as_day
from tacit.person.model.values import covered


@pytest.mark.parametrize(
    ("pattern", "inside", "outside"),
    [
        ("11*", ["111", "11x"], ["11", "1111", "121", ""]),
        ("1**", ["111", "199"], ["11", "211"]),
        ("*", ["anything", ""], []),
        (">=50", ["50", "60.5", "+51"], ["49.9", "fifty", "", "2001-01-01"]),
        ("≥50", ["50"], ["49"]),
        ("> 50", ["50.1"], ["50"]),
        ("<30", ["29", "-5"], ["30"]),
        ("≤30", ["30"], ["31"]),
        ("<= 30", ["30"], ["31"]),
        ("[20-30)", ["20", "29.9"], ["30", "19"]),
        ("(20,30]", ["30", "21"], ["20"]),
        ("[-5..5]", ["-5", "0", "5"], ["-6", "6"]),
        ("[1990-01-01, 2000-01-01)", ["1990-01-01", "1999-12-31"], ["2000-01-01", "1995"]),
        (">=1990-01-01", ["1990-01-01"], ["1989-12-31", "3000"]),
        ("{a, b}", ["a", "b"], ["c", "a, b", ""]),
    ],
)
def test_a_pattern_covers_what_it_may_stand_for(pattern: str, inside: list[str], outside: list[str]) -> None:
    assert is_suppressed(pattern)
    assert covered(pattern, [*inside, *outside]) == inside


@pytest.mark.parametrize("text", ["111", "Alice", "555-123", "20-30", "a{b", "(555) 123", "x < y", "[sic]", "", "5>3"])
def test_what_is_no_pattern_stands_for_itself_only(text: str) -> None:
    assert not is_suppressed(text)
    assert covers(text, text)
    assert not covers(text, text + "1")


def test_members_of_a_set_are_compared_as_they_are_meant() -> None:
    assert covers("{Flu, Cold}", "flu", meant=str.casefold)
    assert not covers("{Flu, Cold}", "flu")


@given(st.text(min_size=1, max_size=12), st.data())
def test_starring_out_characters_covers_the_value(value: str, data: st.DataObject) -> None:
    value = value.strip().replace("{", "a").replace("}", "a") or "x"
    hidden = data.draw(st.sets(st.integers(0, len(value) - 1), min_size=1))
    pattern = "".join("*" if place in hidden else sign for place, sign in enumerate(value))
    assert is_suppressed(pattern)
    assert covers(pattern, value)


@given(st.integers(-100, 100), st.integers(-100, 100), st.integers(-100, 100))
def test_a_range_covers_the_numbers_between_its_ends(low: int, high: int, number: int) -> None:
    assert covers(f"[{low},{high}]", str(number)) == (low <= number <= high)
    assert covers(f"({low},{high})", str(number)) == (low < number < high)


def test_similarities_by_name() -> None:
    assert similarity("exact")("a", "a") == 1
    assert similarity("exact")("a", "b") == 0
    near = similarity("jaro_winkler")
    assert near("martha", "marhta") == pytest.approx((0.9611 - 0.8) / 0.2, abs=1e-3)
    assert near("smith", "jones") == 0
    assert similarity("levenshtein")("kitten", "sitten") == pytest.approx(5 / 6)
    assert similarity({"exp_abs": 10})("31", "30") == pytest.approx(math.exp(-0.1))


def test_years_apart_are_measured_in_days() -> None:
    credit = similarity({"exp_abs": "365d"})
    assert credit("1990-01-01", "1991-01-01") == pytest.approx(math.exp(-1))
    assert credit("1990-01-01", "01.01.1990") == 1
    assert credit("1990", "1991") == 0


def test_what_is_no_number_is_right_or_wrong() -> None:
    assert exp_abs(10)("thirty", "thirty") == 1
    assert exp_abs(10)("thirty", "30") == 0


@given(st.sampled_from(["exact", "jaro_winkler", "levenshtein", "exp_abs"]), st.text(max_size=8), st.text(max_size=8))
def test_credits_lie_between_0_and_1_and_equal_values_have_1(name: str, held: str, true: str) -> None:
    credit = similarity({"exp_abs": 3} if name == "exp_abs" else name)
    assert 0 <= credit(held, true) <= 1
    assert credit(true, true) == 1


@pytest.mark.parametrize("wanted", ["soundex", {"exp_abs": 0}, {"exp_abs": "x"}, {"exp_abs": math.inf}, {"a": 1}, {}])
def test_an_unknown_similarity_is_refused(wanted: object) -> None:
    with pytest.raises(ArgumentError, match="exp_abs"):
        similarity(wanted)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("name", "text", "wanted"),
    [
        ("text", "  ALICE   Smith ", "alice smith"),
        ("text", "Straße", "strasse"),
        ("name", "GARCÍA,  Ana", "ana garcia"),
        ("name", "O'Neill J.", "oneill j"),
        ("email", " Mailto:Ann@X.ORG ", "ann@x.org"),
        ("digits", "4111-1111 x", "41111111"),
        ("phone", "+1 (555) 123-4567", "+15551234567"),
        ("phone", "0049 30 123", "+4930123"),
        ("phone", "+49 (0)30 123", "+4930123"),
        ("phone", "0049 ( 0 ) 30 123", "+4930123"),
        ("phone", "(0) 30 123", "030123"),
        ("phone", "555 123 ext. 9", "555123x9"),
        ("date", "31.12.1990", "1990-12-31"),
        ("date", "1990/12/31", "1990-12-31"),
        ("date", "19901231", "1990-12-31"),
        ("date", "December 31, 1990", "1990-12-31"),
        ("date", "12/31/1990", "1990-12-31"),
        ("date", "31/12/1990", "1990-12-31"),
        ("date", "03/04/1990", "03/04/1990"),
        ("date-day-first", "03/04/1990", "1990-04-03"),
        ("date-month-first", "03/04/1990", "1990-03-04"),
        ("date-day-first", "03/14/1990", "1990-03-14"),
        ("date-month-first", "14-3-1990", "1990-03-14"),
        ("date-day-first", "1990-03-04", "1990-03-04"),
        ("date", "Unknown", "unknown"),
        ("address", "123 Main Street, Apt. 4", "main st 123 apt 4"),
    ],
)
def test_normal_forms(name: str, text: str, wanted: str) -> None:
    assert normaliser(name)(text) == wanted


@given(
    st.sampled_from(["text", "name", "email", "digits", "date", "address", "place", "company", "gender", "username"]),
    st.text(max_size=20),
)
def test_a_normal_form_is_its_own(name: str, text: str) -> None:
    normal = normaliser(name)(text)
    assert normaliser(name)(normal) == normal


def test_an_unknown_normal_form_is_refused() -> None:
    with pytest.raises(ArgumentError, match="choose text, name"):
        normaliser("nonsense")


@given(st.dates(min_value=date(1000, 1, 1)))
def test_days_are_read_as_they_are_written(day: date) -> None:
    assert as_day(day.isoformat()) == day
    assert as_day(day.strftime("%d.%m.%Y")) == day


def test_addresses_are_worth_what_their_words_and_numbers_say() -> None:
    from rapidfuzz import fuzz

    streets = "lindenst|linden st|hauptst|main st|mill ln|mill"
    every = [
        f"{street} {rest}".strip() for street in streets.split("|") for rest in ("", "12", "21", "12 apt 4", "berlin")
    ]
    for held, true in itertools.product(every, every):
        numbers, others = ({word for word in each.split() if word.isdigit()} for each in (held, true))
        share = max(0.0, min(0.95, (fuzz.token_sort_ratio(held, true) / 100 - 0.6) / 0.4))
        share = share / 2 if numbers and others and not numbers & others else share
        part = held != true and len(held) < len(true) and set(held.split()) <= set(true.split())
        if part and not held.isdecimal():
            share = max(share, 0.6 if any(sign.isdigit() for sign in held) else 0.3)
        goes_on = others and " " in true and set(true.split()) <= set(held.split())
        assert similarity("address")(held, true) == (1.0 if held == true else 0.95 if goes_on else share), (held, true)
