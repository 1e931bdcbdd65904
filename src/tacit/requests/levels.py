"""The kind of setting that says how a column may be told: by steps, dates, prefixes, an order or a file."""

from __future__ import annotations

import math
import os
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from numbers import Real
from pathlib import Path
from typing import Any

from tacit.requests.settings import Kind, refused

UNITS = ("hour", "day", "week", "month", "quarter", "year")
WORDS = ("any", "values", "whole", "prefix", *UNITS)
ENDINGS = (".csv", ".tsv", ".tab", ".txt")
WAYS = (
    "it must be a step (5), edges (18,30,65), any, day, week, month, quarter or year, prefix or prefix:3, an order "
    "(low<medium<high), a file (FILE.csv), values or whole"
)

LevelWish = float | str | Path | tuple[float, ...] | tuple[str, ...]


@dataclass(frozen=True)
class Levels(Kind):
    """Columns and how they may be told."""

    repeated = True
    metavar = "COL=5|COL=month|COL=prefix:3|COL=low<high|COL=FILE.csv"

    def checked(self, name: str, value: Any) -> dict[str, LevelWish]:
        """Column to a step, to edges, to an order of values, to a file, or to a word."""
        if not isinstance(value, Mapping):
            raise refused(name, value, "it maps columns to their levels")
        return {str(column): _wish(name, str(column), wish) for column, wish in value.items()}

    def from_text(self, name: str, texts: Sequence[str]) -> dict[str, LevelWish]:
        """``age=5``, ``age=18,30,65``, ``day=month``, ``size=small<large`` and the like."""
        levels: dict[str, Any] = {}
        for text in texts:
            column, equals, wish = text.rpartition("=")
            if not equals or not column or not wish:
                raise refused(name, text, "it must be COLUMN=LEVELS, such as age=5, day=month or zip=prefix:3")
            if column in levels:
                raise refused(name, text, f"column '{column}' is given levels twice")
            levels[column] = wish
        return self.checked(name, levels)

    def schema(self) -> dict[str, Any]:
        """An object of numbers, words, or lists of either."""
        several = [{"type": "array", "items": {"type": each}} for each in ("number", "string")]
        either = [{"type": "number", "exclusiveMinimum": 0}, {"type": "string"}, *several]
        return {"type": "object", "additionalProperties": {"anyOf": either}}


def _wish(name: str, column: str, wish: Any) -> LevelWish:
    shown = {column: wish}
    if isinstance(wish, str):
        return _worded(name, column, wish.strip())
    if isinstance(wish, os.PathLike):
        return Path(wish)
    if isinstance(wish, Real) and not isinstance(wish, bool):
        if not 0 < float(wish) < math.inf:
            raise refused(name, shown, "a step is a number above 0")
        return float(wish)
    if not isinstance(wish, Sequence) or not wish:
        raise refused(name, shown, WAYS)
    if all(isinstance(each, str) for each in wish):
        return _ordered(name, shown, [str(each) for each in wish])
    if not all(isinstance(each, Real) and not isinstance(each, bool) for each in wish):
        raise refused(name, shown, "a list holds edges, which are numbers, or values in their order, which are texts")
    return _edges(name, shown, [float(each) for each in wish])


def _worded(name: str, column: str, wish: str) -> LevelWish:
    """What a text means."""
    shown = {column: wish}
    if wish in WORDS or re.fullmatch("prefix:[1-9][0-9]?", wish):
        return wish
    if "<" in wish:
        return _ordered(name, shown, [each.strip() for each in wish.split("<")])
    if wish.lower().endswith(ENDINGS):
        return Path(wish)
    try:
        numbers = [float(each) for each in wish.removesuffix(",").split(",")]
    except ValueError:
        raise refused(name, shown, WAYS) from None
    return _edges(name, shown, numbers) if "," in wish else _wish(name, column, numbers[0])


def _ordered(name: str, shown: Any, words: list[str]) -> tuple[str, ...]:
    if len(words) < 2 or not all(words) or len(set(words)) < len(words):
        raise refused(name, shown, "an order has at least two values, each of them once")
    return tuple(words)


def _edges(name: str, shown: Any, edges: list[float]) -> tuple[float, ...]:
    if not all(map(math.isfinite, edges)) or sorted(set(edges)) != edges:
        raise refused(name, shown, "edges are finite numbers in rising order")
    return tuple(edges)
