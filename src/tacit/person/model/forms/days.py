"""Days in every usual form: 21.04.1936, 21-APR-1936, April 21st, 1936, 21 de abril de 1936, 21041936."""

from __future__ import annotations

import re
import unicodedata
from datetime import date, timedelta
from typing import Final

from tacit.person.model.forms.months import MONTHS
from tacit.person.model.forms.texts import one_mistake, plain, text

# A two-digit year up to this one belongs to this century: most dates about people lie in the past.
LAST_OF_THIS_CENTURY: Final = 29
# A number of seconds beyond this year is not read as a day.
LAST_YEAR: Final = 2100

_WEEKDAY: Final = re.compile(
    r"^(?:mon|tue|tues|wed|thu|thur|thurs|fri|sat|sun|mo|di|mi|do|fr|sa|so|(?:mon|tues|wednes|thurs|fri|satur|sun)day|"
    r"(?:mon|diens|donners|frei|sams|sonn)tag|mittwoch|lundi|mardi|mercredi|jeudi|vendredi|samedi|dimanche|"
    r"lunes|martes|miercoles|jueves|viernes|sabado|domingo)\b[.,]?\s+"
)
_TIME: Final = re.compile(
    r"(?<=\d)[t ]\s*\d{1,2}:\d{2}(?::\d{2}(?:[.,]\d+)?)?\s*(?:am|pm|z|utc|gmt|[+-]\d{2}:?\d{2})?$"
)
_DAY_FORM: Final = re.compile(r"\d{4}-\d{2}-\d{2}")
_YEAR_FIRST: Final = re.compile(r"(\d{4})[-/. ](\d{1,2})[-/. ](\d{1,2})")
_TOGETHER: Final = re.compile(r"(\d{4})(\d{2})(\d{2})")
_NUMBERS: Final = re.compile(r"(\d{1,2})([-/. ])(\d{1,2})[-/. ](\d{4}|\d{2})")
_DAY_MONTH: Final = re.compile(r"(\d{1,2})[-/. ]*([a-z]+)[-/., ']*(\d{4}|\d{2})")
_MONTH_DAY: Final = re.compile(r"([a-z]+)[-/. ]*(\d{1,2})[-/., ']+(\d{4}|\d{2})")
_YEAR_NAMED: Final = re.compile(r"(\d{4})[-/. ]*([a-z]+)[-/. ]*(\d{1,2})")
_DIGITS: Final = re.compile(r"(\d{1,2})(\d{2})((?:1[89]|20)\d{2})")
# Seconds or milliseconds since 1970. Fewer digits may be anything; only a whole column of them would tell.
_SECONDS: Final = re.compile(r"(-\d{8,10}|\d{10})(?:\.0+)?")
_MILLISECONDS: Final = re.compile(r"(-\d{11,13}|\d{13})(?:\.0+)?")
_SIGNED: Final = r"(\d{4}|ERA\d{1,2})\s*[年년]\s*(\d{1,2})\s*[月월]\s*(\d{1,2})\s*[日号일]?"
_CHINESE: Final = re.compile(_SIGNED.replace("ERA", "(?:明治|大正|昭和|平成|令和)"))
_ERA: Final = re.compile(r"([mtshr])\.?\s*(\d{1,2})[-/. ](\d{1,2})[-/. ](\d{1,2})")
# The year before the first of each Japanese era, by its name and its letter.
_ERAS: Final = {"明治": 1867, "大正": 1911, "昭和": 1925, "平成": 1988, "令和": 2018}
_LETTERS: Final = dict(zip("mtshr", _ERAS.values(), strict=True))


def as_day(value: str, *, day_first: bool | None = None) -> date | None:
    """The day that a text means, if there is only one: 03/04/1990 may be two days, so None unless ``day_first`` is set.

    Full stops are used by countries that write the day first. A number above 12 is the day in any case.

    Examples
    --------
    >>> as_day("21-APR-1936"), as_day("April 21st, 1936"), as_day("03/04/1990"), as_day("03/04/1990", day_first=True)
    (datetime.date(1936, 4, 21), datetime.date(1936, 4, 21), None, datetime.date(1990, 4, 3))
    """
    if not 6 <= len(value) <= 60 or not any(sign.isdigit() for sign in value):
        return None
    if match := _CHINESE.fullmatch(unicodedata.normalize("NFKC", value).strip().replace("元年", "1年")):
        return _day(_western(match[1]), match[2], match[3])
    text = _WEEKDAY.sub("", _TIME.sub("", plain(value).strip("'\"()[]"))).strip(" ,")
    text = re.sub(r"(?<=\d)([./-]) +(?=\d)", r"\1", text)
    if text.removeprefix("-").replace(".", "").isdecimal() and (whole := _in_digits(text, day_first)):
        return whole
    if match := _YEAR_FIRST.fullmatch(text.rstrip(".")):
        return _day(match[1], match[2], match[3])
    if match := _ERA.fullmatch(text):
        return _day(str(_LETTERS[match[1]] + int(match[2])), match[3], match[4])
    if match := _NUMBERS.fullmatch(text):
        return _ordered(match[1], match[3], match[4], True if match[2] == "." else day_first)
    # The soft sign of Cyrillic letters; a year marked as a year (1936 г.).
    text = re.sub(r"(?<=[a-z])'|(?<=\d)\s*(?:g|r)\.?$", "", text)
    text = re.sub(r"(?<=\d)(?:st|nd|rd|th|er|º|o)\b|\b(?:of|de|del|den|the|le)\b", " ", text)
    text = " ".join(text.split()).rstrip(".")
    for form, (year, month, day) in ((_DAY_MONTH, (3, 2, 1)), (_MONTH_DAY, (3, 1, 2)), (_YEAR_NAMED, (1, 2, 3))):
        match = form.fullmatch(text)
        if match and (number := MONTHS.get(match[month])):
            return _day(match[year], str(number), match[day])
    return None


def _in_digits(text: str, day_first: bool | None) -> date | None:
    """A day in digits only: 19360421, 21041936 or seconds since 1970."""
    if (match := _TOGETHER.fullmatch(text)) and (day := _day(match[1], match[2], match[3])):
        return day
    if match := _DIGITS.fullmatch(text):
        return _ordered(match[1], match[2], match[3], day_first)
    for form, unit in ((_SECONDS, 1), (_MILLISECONDS, 1000)):
        if match := form.fullmatch(text):
            day = date(1970, 1, 1) + timedelta(seconds=int(match[1]) // unit)
            return day if day.year <= LAST_YEAR else None
    return None


def _western(year: str) -> str:
    """A year that may be counted from the beginning of an era: 昭和11 as 1936."""
    return str(_ERAS[year[:2]] + int(year[2:])) if year[:2] in _ERAS else year


def _ordered(first: str, second: str, year: str, day_first: bool | None) -> date | None:
    if int(first) > 12 >= int(second) or (day_first and int(second) <= 12):
        first, second = second, first
    elif int(second) <= 12 and first != second and day_first is None:
        return None
    return _day(year, first, second)


def _day(year: str, month: str, day: str) -> date | None:
    number = int(year)
    if len(year) == 2:
        number += 2000 if number <= LAST_OF_THIS_CENTURY else 1900
    try:
        return date(number, int(month), int(day))
    except ValueError:
        return None


def iso(value: str, *, day_first: bool | None = None) -> str:
    """A day as 1936-04-21; a text that is no day, or may be two, in small letters."""
    day = as_day(value, day_first=day_first)
    return text(value) if day is None else day.isoformat()


# Parts of a day: the year, the month, the day; None for what is not said.
DayParts = tuple[int | None, int | None, int | None]

_PART: Final = r"(\d{1,4}|\*+)"
_THREE: Final = re.compile(rf"{_PART}[-/. ]+{_PART}[-/. ]+{_PART}")
_YEAR_MONTH: Final = re.compile(r"(\d{4})(?:[-/. ]?(0[1-9]|1[0-2]))?")
_MONTH_YEAR: Final = re.compile(r"(0?[1-9]|1[0-2])[-/.](\d{4})")
_NAMED_YEAR: Final = re.compile(r"([a-z]+)[-./, ]*(\d{4})")
_NO_YEAR: Final = re.compile(
    r"--(0[1-9]|1[0-2])-?([0-3]\d)|([0-3]?\d)\.? ([a-z]+)\.?|([a-z]+)\.? ([0-3]?\d)(?:st|nd|rd|th)?"
)
_SAYS_ABOUT: Final = re.compile(
    r"^(?:c|ca|circa|about|abt|approx|born|b|geb|geboren|um|vers|in|year|jahr|anno)\b[. :]*"
)


def day_parts(value: str) -> tuple[DayParts, ...]:
    """What a text says of a day if it does not say all: only the year, the year and the month, or no year.

    More than one if it is not certain which number is the month. What stars or zeros stand for is not said.

    Examples
    --------
    >>> day_parts("1963"), day_parts("Feb 1963"), day_parts("1963-02-**"), day_parts("--0216")
    (((1963, None, None),), ((1963, 2, None),), ((1963, 2, None),), ((None, 2, 16),))
    """
    if len(value) > 40 or not any(sign.isdigit() for sign in value):
        return ()
    text = _SAYS_ABOUT.sub("", plain(value).strip("'\"()[]"))
    if match := _YEAR_MONTH.fullmatch(text):
        return ((int(match[1]), int(match[2]) if match[2] else None, None),)
    if match := _MONTH_YEAR.fullmatch(text):
        return ((int(match[2]), int(match[1]), None),)
    if (match := _NAMED_YEAR.fullmatch(text)) and (month := MONTHS.get(match[1])):
        return ((int(match[2]), month, None),)
    if match := _NO_YEAR.fullmatch(text):
        name, day = (match[4], match[3]) if match[4] else (match[5], match[6])
        month = int(match[1]) if match[1] else MONTHS.get(name or "")
        return ((None, month, int(match[2] or day)),) if month else ()
    if match := _THREE.fullmatch(text):
        one, two, three = (None if part.startswith("*") or not int(part) else part for part in match.groups())
        if None not in (one, two, three):
            return ()
        year_first = (one is not None and len(one) == 4) or match[1].startswith("****")
        ways = [(one, two, three)] if year_first else [(three, two, one), (three, one, two)]
        numbers = [tuple(None if part is None else int(part) for part in way) for way in ways]
        return tuple((y, m, d) for y, m, d in numbers if (m or 1) <= 12 and (d or 1) <= 31 and (y is None or y > 99))
    return ()


def days_alike(value: str, true: str) -> float:
    """Credit of a day that is nearly right: day and month swapped, one digit off, only the year.

    If of the true day only a part is known, a day with this part says all there is to say.
    """
    if value == true:
        return 1.0
    if as_day(true) is None and (day := as_day(value)) is not None:
        parts = (
            all(own in (None, part) for own, part in zip(own_parts, (day.year, day.month, day.day), strict=True))
            for own_parts in day_parts(true)
        )
        return 0.8 if any(parts) else 0.0
    for year, month, number in day_parts(value):
        shown = (true[:4], true[5:7], true[8:10])
        spelled = [None if part is None else f"{part:0{size}}" for part, size in ((year, 4), (month, 2), (number, 2))]
        if all(part is None or part == own for part, own in zip(spelled, shown, strict=True)):
            return 0.3 if month is None else 0.5
    one, other = ((day.year, day.month, day.day) if (day := as_day(each)) else None for each in (value, true))
    if other is None:
        return 0.0
    if one is None:
        # 03/04/1990 may be either of two days.
        either = (as_day(value, day_first=True), as_day(value, day_first=False))
        if any(day and (day.year, day.month, day.day) == other for day in either):
            return 0.8
        # No such day, but one digit from the true one, or two swapped: 1963-02-61.
        return 0.8 if _DAY_FORM.fullmatch(value) and one_mistake(value, true) else 0.0
    if (one[0], one[2], one[1]) == other:
        return 0.8
    written = (f"{year:04}{month:02}{day:02}" for year, month, day in (one, other))
    apart = sum(a != b for a, b in zip(*written, strict=True))
    if apart == 1 or (one[1:] == other[1:] and abs(one[0] - other[0]) == 100):
        return 0.8
    return 0.5 if one[:2] == other[:2] else 0.3 if one[0] == other[0] else 0.0
