"""A value as text that every engine reads back as the same value."""

from __future__ import annotations

import datetime as dt
from collections import Counter
from collections.abc import Sequence
from decimal import Decimal
from typing import Any

import numpy as np
from numpy.typing import NDArray


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


def positions_of(levels: Sequence[Any], written: Sequence[str | None]) -> tuple[list[str], NDArray[np.int64]]:
    """The texts that tell a column's levels apart, and the position of each level among them.

    ``written`` is each level as the column's type prints it, None where it cannot hold it. Missing comes after the
    last text. A level that the column cannot hold, or cannot tell from another, has position -1: doubt counts as risk.
    """
    times = Counter(written)
    labels = [label for label in written if label is not None and times[label] == 1]
    place = {label: at for at, label in enumerate(labels)}
    position = [
        len(labels) if level is None else (place.get(label, -1) if label is not None else -1)
        for level, label in zip(levels, written, strict=True)
    ]
    return labels, np.array(position, dtype=np.int64)
