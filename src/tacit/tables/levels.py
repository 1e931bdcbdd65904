"""A value as text that every engine reads back as the same value."""

from __future__ import annotations

import datetime as dt
from decimal import Decimal
from typing import Any


def level_text(value: Any) -> str | None:
    """A value of a column as an engine writes it, for a cast to the column's type."""
    if value is None or isinstance(value, str):
        return value
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, dt.datetime):
        return value.isoformat(sep=" ")
    if isinstance(value, Decimal):
        return format(value, "f")
    if isinstance(value, float):
        return {float("inf"): "Infinity", float("-inf"): "-Infinity"}.get(value, repr(value))
    return value.isoformat() if isinstance(value, dt.date | dt.time) else str(value)
