"""What of a person's values may be seen in a result: nothing but a first character, unless asked."""

from __future__ import annotations

from collections.abc import Callable

Showing = Callable[[str], str]

DOTS = "•••"


def mask(value: str) -> str:
    """A value as it may be shown to anybody: its first character if it has four or more, then dots.

    Guarantees
    ----------
    The mask tells neither the length of the value nor its end, and nothing at all of a value of three characters or
    fewer: a first character of "m" or "30" would be most of it.
    """
    return value[0] + DOTS if len(value) >= 4 else DOTS


def showing(show_values: bool) -> Showing:
    """How values are written in a result: as they are if the caller asked for that, otherwise masked."""
    return str if show_values else mask
