"""Dates and times as numbers of days, and the stretches of time that a level names."""

from __future__ import annotations

import math
import re
from collections.abc import Sequence
from datetime import date, datetime, time
from typing import Any

_FIRST = datetime(1970, 1, 1)
_SECONDS = 86_400.0
# Layouts of dates in texts, other than ISO's.
_LAYOUTS = ("%d.%m.%Y", "%d/%m/%Y", "%m/%d/%Y", "%d-%m-%Y", "%Y/%m/%d")
_LOOK = 50
_STRETCH = re.compile(r"(\d{4})(?:-(?:Q([1-4])|(\d{2})(?:-(\d{2})(?:[ T](\d{2}:\d{2}))?)?))?")
# A stretch ends a moment before the next begins.
_MOMENT = 1e-9


def days_of(value: date | datetime | time) -> float:
    """Days since 1970, or the part of a day."""
    if isinstance(value, time):
        value = datetime.combine(_FIRST, value)
    elif not isinstance(value, datetime):
        value = datetime(value.year, value.month, value.day)
    return (value.replace(tzinfo=None) - _FIRST).total_seconds() / _SECONDS


def days_in(texts: Sequence[str]) -> list[float] | None:
    """The days that texts name, if all are dates in exactly one layout; NaN for a blank text."""
    present = [text for text in texts if text.strip()]
    if not present or not any(sign in present[0] for sign in "-./"):
        return None
    fitting = [
        layout
        for layout in (None, *_LAYOUTS)
        if all(_moment(text, layout) is not None for text in present[:_LOOK])
        and all(_moment(text, layout) is not None for text in present[_LOOK:])
    ]
    if len(fitting) != 1:
        return None
    moments = [_moment(text, fitting[0]) if text.strip() else None for text in texts]
    return [math.nan if moment is None else days_of(moment) for moment in moments]


def _moment(text: str, layout: str | None) -> datetime | None:
    try:
        return datetime.strptime(text, layout) if layout else datetime.fromisoformat(text)
    except ValueError:
        return None


def stretch_in(text: str) -> tuple[float, float] | None:
    """The first and last moment of a year, quarter, month, day or minute: 2024, 2024-Q1, 2024-03, 2024-03-04 10:30."""
    match = _STRETCH.fullmatch(text)
    if not match:
        return None
    year, quarter, month, day, minute = match.groups()
    try:
        if minute:
            start = days_of(datetime.fromisoformat(text))
            return start, start + 60 / _SECONDS - _MOMENT
        first = date(int(year), int(month or (3 * int(quarter) - 2 if quarter else 1)), int(day or 1))
    except ValueError:
        return None
    if day:
        return days_of(first), days_of(first) + 1 - _MOMENT
    months = 1 if month else 3 if quarter else 12
    after = first.year * 12 + first.month - 1 + months
    return days_of(first), days_of(date(after // 12, after % 12 + 1, 1)) - _MOMENT


def number_of(value: Any) -> float:
    """A number, a time, or a text that is a number, as a float; NaN for anything else."""
    if isinstance(value, (date, time)):
        return days_of(value)
    try:
        return math.nan if value is None else float(value)
    except (TypeError, ValueError):
        return math.nan
