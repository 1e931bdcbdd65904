"""Hours, days, weeks, months, quarters and years as numbers, and the names of stretches of time.

A moment is a number of hours since the year 1; every unit numbers its stretches from there. The arithmetic is that of
whole numbers, so that it is the same for Python's numbers, for arrays and for expressions of an engine.
"""

from __future__ import annotations

import datetime as dt
import re
from typing import Any, Literal

Unit = Literal["hour", "day", "week", "month", "quarter", "year"]
UNITS: tuple[Unit, ...] = ("hour", "day", "week", "month", "quarter", "year")
MONTHS = (
    *("January", "February", "March", "April", "May", "June"),
    *("July", "August", "September", "October", "November", "December"),
)
# The years that have a year before and after them.
CALENDAR = (2, 9998)


def day_number(year: Any, day_of_year: Any) -> Any:
    """The number of a day, as ``datetime.date.toordinal`` has it."""
    before = year - 1
    return before * 365 + before // 4 - before // 100 + before // 400 + day_of_year


def number_in(unit: Unit, *, year: Any, month: Any, day: Any, hour: Any) -> Any:
    """The number of the unit that a moment is in; ``day`` is the number of the day."""
    if unit == "hour":
        return day * 24 + hour
    if unit == "day":
        return day
    if unit == "week":
        # The first day of the year 1 was a Monday.
        return (day - 1) // 7
    if unit == "month":
        return year * 12 + (month - 1)
    return year * 4 + (month - 1) // 3 if unit == "quarter" else year


def number_of_moment(unit: Unit, moment: dt.datetime) -> int:
    """The number of the unit that a moment is in."""
    number = number_in(unit, year=moment.year, month=moment.month, day=moment.toordinal(), hour=moment.hour)
    return int(number)


def start_of(unit: Unit, number: int) -> dt.datetime:
    """When the unit of a number begins."""
    if unit == "hour":
        return dt.datetime.fromordinal(number // 24) + dt.timedelta(hours=number % 24)
    if unit in ("day", "week"):
        return dt.datetime.fromordinal(number if unit == "day" else number * 7 + 1)
    if unit == "year":
        return dt.datetime(number, 1, 1)
    months = {"month": 12, "quarter": 4}[unit]
    return dt.datetime(number // months, number % months * (12 // months) + 1, 1)


def _starts(moment: dt.datetime, unit: Unit) -> bool:
    return start_of(unit, number_of_moment(unit, moment)) == moment


def _grain(*moments: dt.datetime) -> Unit:
    """The coarsest of year, month and day at whose starts all the moments lie; otherwise the hour."""
    return next((unit for unit in ("year", "month", "day") if all(_starts(each, unit) for each in moments)), "hour")


def _name(moment: dt.datetime, grain: Unit) -> str:
    """The unit that begins at a moment."""
    shape = {"year": "{:04d}", "month": "{:04d}-{:02d}", "day": "{:04d}-{:02d}-{:02d}"}
    parts = (moment.year, moment.month, moment.day)
    return shape[grain].format(*parts) if grain in shape else moment.isoformat(" ", "minutes")


def _last_name(after: dt.datetime, grain: Unit) -> str:
    """The unit that ends where the next begins, at ``after``."""
    back = dt.timedelta(minutes=1) if grain == "hour" else dt.timedelta(days=1)
    return _name(after - back, grain)


def stretch(start: dt.datetime | None, after: dt.datetime | None) -> str:
    """The name of the time from a moment up to another: 2024, 2024-Q1, 2024-03, or the first and last day.

    Guarantees
    ----------
    Different stretches have different names. None leaves an end open.
    """
    if start is None and after is None:
        return "any date"
    if start is None or after is None:
        if after is not None:
            return f"{_last_name(after, _grain(after))} and earlier"
        assert start is not None
        return f"{_name(start, _grain(start))} and later"
    grain = _grain(start, after)
    first, last = _name(start, grain), _last_name(after, grain)
    if first == last:
        return first
    months = number_of_moment("month", after) - number_of_moment("month", start)
    if grain == "month" and months == 3 and _starts(start, "quarter"):
        return f"{start.year:04d}-Q{(start.month + 2) // 3}"
    return f"{first} to {last}"


_DATE = r"[0-9]{4}-(?:Q[1-4]|[0-9]{2}(?:-[0-9]{2})?)"
_LEVEL = re.compile(f"{_DATE}(?: to {_DATE}| and later| and earlier)?(?: or missing)?")
_QUARTERS = ("first", "second", "third", "fourth")


def spoken(level: str) -> str:
    """The name of a stretch as a person writes it: "December 2023 or later"; anything else is unchanged.

    Releases have the names of :func:`stretch`, which sort and can be read by machines; this is for answers.
    """
    if not _LEVEL.fullmatch(level):
        return level
    words = re.sub(_DATE, lambda match: _spoken_date(match[0]), level)
    return words.replace(" and later", " or later").replace(" and earlier", " or earlier")


def _spoken_date(name: str) -> str:
    year, part, *day = name.split("-")
    if part.startswith("Q"):
        return f"{_QUARTERS[int(part[1]) - 1]} quarter of {year}"
    month = MONTHS[int(part) - 1] if 1 <= int(part) <= 12 else part
    return " ".join([*(str(int(each)) for each in day), month, year])
