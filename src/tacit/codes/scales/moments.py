"""Dates and times as tables hold them, typed or as text, and as the numbers of their units."""

from __future__ import annotations

import datetime as dt
import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

from tacit.codes.scales.calendar import Unit, day_number, number_in
from tacit.tables.columns import Column

if TYPE_CHECKING:
    import narwhals as nw

Layout = Literal["typed", "Y-M-D", "Y/M/D", "D.M.Y", "D/M/Y", "M/D/Y", "D-M-Y", "YMD"]

_YEAR, _MONTH, _DAY = "[0-9]{4}", "(0[1-9]|1[0-2])", "(0[1-9]|[12][0-9]|3[01])"
_CLOCK = "([ T]([01][0-9]|2[0-3]):[0-5][0-9](:[0-5][0-9]([.,][0-9]+)?)?(Z|[+-][0-9]{2}(:?[0-9]{2})?)?)?"
_LOOSE_MONTH, _LOOSE_DAY = "(0?[1-9]|1[0-2])", "(0?[1-9]|[12][0-9]|3[01])"
BLANK = "^ *$"


@dataclass(frozen=True)
class DateLayout:
    """How a date is written: what it looks like, and where its parts are once day and month have two digits."""

    pattern: str
    year: int
    month: int
    day: int
    size: int = 10
    padded: bool = True


LAYOUTS: dict[Layout, DateLayout] = {
    "Y-M-D": DateLayout(f"^{_YEAR}-{_MONTH}-{_DAY}{_CLOCK}$", 0, 5, 8),
    "Y/M/D": DateLayout(f"^{_YEAR}/{_MONTH}/{_DAY}{_CLOCK}$", 0, 5, 8),
    "YMD": DateLayout(f"^(19|20)[0-9]{{2}}{_MONTH}{_DAY}$", 0, 4, 6, size=8),
    "D.M.Y": DateLayout(rf"^{_LOOSE_DAY}\.{_LOOSE_MONTH}\.{_YEAR}{_CLOCK}$", 6, 3, 0, padded=False),
    "D-M-Y": DateLayout(f"^{_LOOSE_DAY}-{_LOOSE_MONTH}-{_YEAR}{_CLOCK}$", 6, 3, 0, padded=False),
    "D/M/Y": DateLayout(f"^{_LOOSE_DAY}/{_LOOSE_MONTH}/{_YEAR}{_CLOCK}$", 6, 3, 0, padded=False),
    "M/D/Y": DateLayout(f"^{_LOOSE_MONTH}/{_LOOSE_DAY}/{_YEAR}{_CLOCK}$", 6, 0, 3, padded=False),
}


def layout_of(texts: Sequence[str]) -> Layout | None:
    """The one layout that all texts have and in which all are days of the calendar; None if there is none or several.

    Days and months that could be either way round are not guessed.
    """
    if not texts:
        return None
    fitting = [name for name in LAYOUTS if all(moment_in(text, name) is not None for text in texts)]
    return fitting[0] if len(fitting) == 1 else None


def moment_in(text: str, layout: Layout) -> dt.datetime | None:
    """The hour that a text tells; None if it is not written so, or no day of the calendar."""
    how = LAYOUTS[layout]
    if not re.fullmatch(how.pattern, text):
        return None
    if not how.padded:
        text = re.sub(r"(?<![0-9])([0-9])(?=[./-])", r"0\1", text, count=2)
    year, month, day = (int(text[at : at + n]) for at, n in ((how.year, 4), (how.month, 2), (how.day, 2)))
    hour = int(text[how.size + 1 : how.size + 3] or 0)
    try:
        return dt.datetime(year, month, day, hour)
    except ValueError:
        return None


def moment_of(value: Any, layout: Layout) -> dt.datetime | None:
    """The moment of a typed value or a text; None if it is missing or tells none."""
    if isinstance(value, str):
        return None if layout == "typed" else moment_in(value, layout)
    if isinstance(value, dt.datetime):
        return value.replace(tzinfo=None)
    return None if value is None else dt.datetime(value.year, value.month, value.day)


def with_numbers(rows: Any, name: str, column: Column, layout: Layout, unit: Unit) -> Any:
    """The rows with a column of dates replaced by the numbers of their units; null where it is missing or no date."""
    import narwhals as nw

    value = nw.col(name)
    if layout == "typed":
        year, month, day = value.dt.year(), value.dt.month(), day_number(value.dt.year(), value.dt.ordinal_day())
        hour = nw.lit(0) if column.dtype == "Date" else value.dt.hour()
        return rows.with_columns(number_in(unit, year=year, month=month, day=day, hour=hour).cast(nw.Int64).alias(name))
    how = LAYOUTS[layout]
    rows = rows.with_columns(nw.when(value.str.contains(how.pattern)).then(value).alias(name))
    for loose, kept in (("^[0-9][./-]", 0), ("^[0-9]{2}[./-][0-9][./-]", 3)) if not how.padded else ():
        wider = nw.concat_str(value.str.slice(0, kept), nw.lit("0"), value.str.slice(kept))
        rows = rows.with_columns(nw.when(value.str.contains(loose)).then(wider).otherwise(value).alias(name))
    year, month, day = (_digits(value, at, n) for at, n in ((how.year, 4), (how.month, 2), (how.day, 2)))
    hour = nw.when(value.str.len_chars() > how.size).then(value.str.slice(how.size + 1, 2)).cast(nw.Int64)
    hour = nw.when(~hour.is_null()).then(hour).otherwise(nw.lit(0))
    leap = nw.when((year % 4 == 0) & ((year % 100 != 0) | (year % 400 == 0))).then(nw.lit(1)).otherwise(nw.lit(0))
    length = nw.when(month == 2).then(28 + leap).otherwise(30 + (month + month // 8) % 2)
    of_year = (month * 275) // 9 - (2 - leap) * ((month + 9) // 12) + day - 30
    number = number_in(unit, year=year, month=month, day=day_number(year, of_year), hour=hour).cast(nw.Int64)
    return rows.with_columns(nw.when((day <= length) & (year > 0)).then(number).alias(name))


def _digits(value: nw.Expr, at: int, size: int) -> nw.Expr:
    import narwhals as nw

    return value.str.slice(at, size).cast(nw.Int64)
