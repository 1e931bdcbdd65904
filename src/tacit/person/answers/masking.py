"""How much of a person's values may be seen in a result: only the first character, unless the caller asks for more."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from tacit.person.model.records import Fact

Showing = Callable[[str], str]

DOTS = "•••"


def mask(value: str) -> str:
    """A value as it may be shown to anybody: its first character if it has four or more, then dots.

    Guarantees
    ----------
    The mask shows neither the length of the value nor its end, and nothing at all of a value of three characters or
    fewer: the first character of "m" or "30" would be most of it.
    """
    return value[0] + DOTS if len(value) >= 4 else DOTS


def showing(show_values: bool, person: Iterable[Fact] = ()) -> Showing:
    """How values are written in a result: in full if the caller asked for that, otherwise masked.

    Values of the ``person`` that look alike when masked are numbered, in the order of the case: "a••• (2 of 2)".
    """
    if show_values:
        return str
    alike: dict[tuple[str, str], list[str]] = {}
    for label, value in person:
        alike.setdefault((label, mask(value)), []).append(value)
    numbered = {
        value: f"{masked} ({place} of {len(values)})"
        for (_, masked), values in alike.items()
        for place, value in enumerate(values, start=1)
        if len(values) > 1
    }
    return lambda value: numbered.get(value) or mask(value)
