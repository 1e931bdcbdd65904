"""Dates and times as tables hold them, typed or as text, and as the numbers of their units."""

from __future__ import annotations

import datetime as dt
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

from tacit.codes.scales.calendar import Unit, day_number, number_in
from tacit.tables.columns import Column

if TYPE_CHECKING:
    import narwhals as nw

# Typed moments that have a zone are told in UTC, whatever zone they are shown in.
Layout = Literal["typed", "UTC", "Y-M-D", "Y/M/D", "D.M.Y", "D/M/Y", "M/D/Y", "D-M-Y", "YMD"]

TYPED = ("typed", "UTC")
_YEAR, _MONTH, _DAY = "[0-9]{4}", "(0[1-9]|1[0-2])", "(0[1-9]|[12][0-9]|3[01])"
_CLOCK = "([ T]([01][0-9]|2[0-3]):[0-5][0-9](:[0-5][0-9]([.,][0-9]+)?)?(Z|[+-][0-9]{2}(:?[0-9]{2})?)?)?"
_LOOSE_MONTH, _LOOSE_DAY = "(0?[1-9]|1[0-2])", "(0?[1-9]|[12][0-9]|3[01])"
BLANK = "^ *$"


@dataclass(frozen=True)
class DateLayout:
    """How a date is written: its pattern, and where its parts are once day and month have two digits."""

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

    If day and month could be either way round, that is not guessed.
    """
    if not texts:
        return None
    fitting = [name for name in LAYOUTS if all(moment_in(text, name) is not None for text in texts)]
    return fitting[0] if len(fitting) == 1 else None


def moment_in(text: str, layout: Layout) -> dt.datetime | None:
    """The hour that a text states; None if it does not have the layout, or there is no such day."""
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
    """The moment of a typed value or a text; None if it is missing or not a date."""
    if isinstance(value, str):
        return None if layout in TYPED else moment_in(value, layout)
    if isinstance(value, dt.datetime):
        return value.replace(tzinfo=None) if value.tzinfo is None else value.astimezone(dt.UTC).replace(tzinfo=None)
    return None if value is None else dt.datetime(value.year, value.month, value.day)


@dataclass(frozen=True)
class DatedColumn:
    """A column of dates, how they are written, and the unit whose numbers are wanted."""

    column: Column
    layout: Layout
    unit: Unit


def with_numbers(rows: Any, wanted: Mapping[str, DatedColumn]) -> Any:
    """The rows with columns of dates, under plain names, replaced by the numbers of their units.

    What is missing or not a date is null. All columns go through each step together, because deep plans are slow.
    """
    import narwhals as nw

    texts = {name: LAYOUTS[each.layout] for name, each in wanted.items() if each.layout not in TYPED}
    written = [nw.when(nw.col(name).str.contains(how.pattern)).then(nw.col(name)) for name, how in texts.items()]
    typed = [name for name in wanted if name not in texts]
    loose = [name for name, how in texts.items() if not how.padded]
    steps = [
        [*_named(texts, written), *_named(typed, [_typed(name, wanted[name]) for name in typed])],
        _named(loose, [_wider(name, "^[0-9][./-]", 0) for name in loose]),
        _named(loose, [_wider(name, "^[0-9]{2}[./-][0-9][./-]", 3) for name in loose]),
        _named(texts, [_of_text(name, how, wanted[name].unit) for name, how in texts.items()]),
    ]
    for step in steps:
        rows = rows.with_columns(*step) if step else rows
    return rows


def _named(names: Iterable[str], values: Sequence[nw.Expr]) -> list[nw.Expr]:
    return [value.alias(name) for name, value in zip(names, values, strict=True)]


def _typed(name: str, wanted: DatedColumn) -> nw.Expr:
    import narwhals as nw

    value = nw.col(name)
    year, month, day = value.dt.year(), value.dt.month(), day_number(value.dt.year(), value.dt.ordinal_day())
    hour = nw.lit(0) if wanted.column.dtype == "Date" else value.dt.hour()
    number: nw.Expr = number_in(wanted.unit, year=year, month=month, day=day, hour=hour)
    return number.cast(nw.Int64)


def _wider(name: str, pattern: str, kept: int) -> nw.Expr:
    """A text with a zero inserted where the pattern is found."""
    import narwhals as nw

    value = nw.col(name)
    wider = nw.concat_str(value.str.slice(0, kept), nw.lit("0"), value.str.slice(kept))
    return nw.when(value.str.contains(pattern)).then(wider).otherwise(value)


def _of_text(name: str, how: DateLayout, unit: Unit) -> nw.Expr:
    """The number of a text whose parts are in their places; null if there is no such day."""
    import narwhals as nw

    value = nw.col(name)
    places = ((how.year, 4), (how.month, 2), (how.day, 2))
    year, month, day = (value.str.slice(at, size).cast(nw.Int64) for at, size in places)
    clock = nw.when(value.str.len_chars() > how.size).then(value.str.slice(how.size + 1, 2)).cast(nw.Int64)
    hour = nw.when(~clock.is_null()).then(clock).otherwise(nw.lit(0))
    leap = nw.when((year % 4 == 0) & ((year % 100 != 0) | (year % 400 == 0))).then(nw.lit(1)).otherwise(nw.lit(0))
    length = nw.when(month == 2).then(28 + leap).otherwise(30 + (month + month // 8) % 2)
    of_year = (month * 275) // 9 - (2 - leap) * ((month + 9) // 12) + day - 30
    number: nw.Expr = number_in(unit, year=year, month=month, day=day_number(year, of_year), hour=hour)
    return nw.when((day <= length) & (year > 0)).then(number.cast(nw.Int64))
