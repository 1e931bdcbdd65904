"""What the parts of a column show about how its cells are written, added up; and how the whole is read for it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from functools import reduce
from typing import Literal

from tacit.person.model.forms.codes import FIVE_DIGITS
from tacit.person.model.forms.countries import country_named

# How many cells are examined to see whether a column may hold numbers.
FIRST_CELLS = 100
# The largest share of a column of postcodes that may have lost a 0.
MOST_SHORT = 0.5
# For how many countries telephones are read by their numbering plans; the others are nearly right without.
MOST_COUNTRIES = 20
# Normal forms that depend on the country, and those of which a cell may hold two values.
IN_COUNTRIES, TWO_IN_A_CELL = ("phone", "zip"), ("phone", "email")


@dataclass(frozen=True)
class ColumnEvidence:
    """What some cells of a column show; what several parts of it show, in the order of its rows, is their sum.

    Attributes
    ----------
    counts : mapping from str to int
        How many ``cells`` are not empty; how many of them are ``serials`` or ``seconds`` of days, ``short`` or ``long``
        postcodes, or hold two values (``apart``); how many days show that the ``day`` or the ``month`` comes first, or
        could be ``either``; and the same with a / in front where days without separators were divided first.
    leading : int
        How many of the first FIRST_CELLS look like a day without separators before one that does not.
    countries, apart : mapping from str to int
        How many cells are beside each name of a country; and how many values, where cells that hold two are divided.
    """

    counts: Mapping[str, int] = field(default_factory=dict)
    leading: int = 0
    countries: Mapping[str, int] = field(default_factory=dict, repr=False)
    apart: Mapping[str, int] = field(default_factory=dict, repr=False)

    def __add__(self, after: ColumnEvidence) -> ColumnEvidence:
        leading = min(FIRST_CELLS, self.leading + after.leading) if self._leads else self.leading
        sums = (
            {name: one.get(name, 0) + other.get(name, 0) for name in {**one, **other}}
            for one, other in (
                (self.counts, after.counts),
                (self.countries, after.countries),
                (self.apart, after.apart),
            )
        )
        counts, countries, apart = sums
        return ColumnEvidence(counts, leading, countries, apart)

    @property
    def _leads(self) -> bool:
        return self.leading == min(self.counts.get("cells", 0), FIRST_CELLS)

    def reading(self, form: str, country: str | None) -> ColumnReading:
        """How a column with values of a ``form`` is read if this is what all of it shows.

        ``country`` is that of the form; None if nothing says it, empty if each row has its own.
        """
        if form.startswith("date"):
            return self._days({"date-day-first": True, "date-month-first": False}.get(form))
        divided = form in TWO_IN_A_CELL and self.counts.get("apart", 0) > 0
        return ColumnReading(
            padded=form == "zip" and country is None and self._lost_zeros,
            apart=divided,
            countries=_countries(self.apart if divided else self.countries, form),
        )

    def _days(self, day_first: bool | None) -> ColumnReading:
        """Numbers as days, if all are; days in digits with the year first, if something shows which is the month."""
        cells = self.counts.get("cells", 0)
        for numbers in ("serials", "seconds"):
            if 0 < cells == self.counts.get(numbers, 0):
                return ColumnReading(numbers=numbers)
        divided = self.leading > 0 and self._leads
        day, month, either = (
            self.counts.get(f"/{name}" if divided else name, 0) for name in ("day", "month", "either")
        )
        first = day_first if bool(day) == bool(month) else day > 0
        return ColumnReading(divided=divided, day_first=first, undecided=either > 0 and first is None)

    @property
    def _lost_zeros(self) -> bool:
        """Postcodes of five digits of which some have lost the 0 that they began with; then none begins with a 0."""
        cells, short, long = (self.counts.get(name, 0) for name in ("cells", "short", "long"))
        return short + long == cells and 0 < short <= MOST_SHORT * cells


@dataclass(frozen=True)
class ColumnReading:
    """How the cells of a column are read.

    Attributes
    ----------
    numbers : {"serials", "seconds"} or None
        Numbers that stand for days: those of a spreadsheet, or seconds since 1970.
    divided : bool
        21041936 is 21/04/1936.
    day_first : bool or None
        The order of day and month; None if it stays as it is.
    undecided : bool
        Whether the column holds days and nothing shows whether the month comes first.
    padded : bool
        Postcodes get back the 0 that they lost.
    apart : bool
        A cell may hold several values.
    countries : tuple of (country, names)
        The names in the column beside it that stand for countries by whose plans values are read.
    """

    numbers: Literal["serials", "seconds"] | None = None
    divided: bool = False
    day_first: bool | None = None
    undecided: bool = False
    padded: bool = False
    apart: bool = False
    countries: tuple[tuple[str, tuple[str, ...]], ...] = ()


def together(parts: Iterable[ColumnEvidence]) -> ColumnEvidence:
    """What all parts of a column show, given in the order of its rows."""
    return reduce(ColumnEvidence.__add__, parts, ColumnEvidence())


def _countries(names: Mapping[str, int], form: str) -> tuple[tuple[str, tuple[str, ...]], ...]:
    """The most frequent countries, each with its names."""
    called: dict[str, list[str]] = {}
    often = sorted(Counter(names).items(), key=lambda one: (-one[1], one[0].encode()))
    for name, _ in often[: 10 * MOST_COUNTRIES]:
        own = country_named(name)
        if (
            own is not None
            and (form != "zip" or own in FIVE_DIGITS)
            and (own in called or len(called) < MOST_COUNTRIES)
        ):
            called.setdefault(own, []).append(name)
    return tuple((own, tuple(some)) for own, some in called.items())
