"""What the values of a column become, told so that a server can count by it without sending its rows."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Literal

CalendarUnit = Literal["hour", "day", "week", "month", "quarter", "year"]


@dataclass(frozen=True)
class Stretch:
    """The units of the calendar from that of one moment to that of another; what is outside counts as their ends."""

    unit: CalendarUnit
    first: datetime
    last: datetime


@dataclass(frozen=True, eq=False)
class Coarsening:
    """A function of a column's values, and what of a value is enough to compute it.

    Attributes
    ----------
    told : callable
        What the column holds in place of each value, for values as Arrow gives them; None is missing.
    edges : tuple of float, optional
        It is enough to know how many of these rising edges are not above a number. NaN is missing.
    starts : tuple of str, optional
        It is enough to know how many of these rising texts are not after a text, by the codes of their characters.
    length : int, optional
        So many characters at the beginning of a text are enough.
    stretch : Stretch, optional
        The unit of the calendar is enough, in UTC where moments have a zone.

    With none of these the value itself is needed.

    Guarantees
    ----------
    ``told`` gives the same for two values that agree in what is enough: any of them may stand for the others.
    """

    told: Callable[[Sequence[Any]], Iterable[Any]]
    edges: tuple[float, ...] | None = None
    starts: tuple[str, ...] | None = None
    length: int | None = None
    stretch: Stretch | None = None

    @property
    def by_value(self) -> bool:
        """Whether the value itself is needed."""
        return all(each is None for each in (self.edges, self.starts, self.length, self.stretch))
