"""Who could be found: in the original table, and by an adversary who links a release."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal

from tacit.tables.grouping import GroupSizes

Why = Literal["all released columns", "what may be known", "one column", "few columns"]


@dataclass(frozen=True)
class FoundBy:
    """How many people are found by somebody who knows their values in ``columns``; ``why`` these were counted."""

    why: Why
    columns: tuple[str, ...]
    sizes: GroupSizes

    @property
    def unique_share(self) -> float:
        """Share of the people who are alone."""
        return self.sizes.unique / max(self.sizes.people, 1)


@dataclass(frozen=True)
class Cure:
    """Coarser levels, and how many people would still be alone in all released columns.

    ``added`` are the levels that this step adds to the one before it, as the setting ``levels`` takes them; ``levels``
    are all of them so far.
    """

    added: Mapping[str, Any]
    levels: Mapping[str, Any]
    unique: int
    smallest: int


@dataclass(frozen=True)
class PeopleFound:
    """Who could be found in the original table, with no column cut but the secret's.

    ``least`` is the size under which a group counts as small. ``cures`` go from the finest to the coarsest.
    """

    sets: tuple[FoundBy, ...]
    cures: tuple[Cure, ...]
    least: int
    headline: str

    @property
    def everything(self) -> FoundBy:
        """Somebody who knows every released column."""
        return self.sets[0]


@dataclass(frozen=True)
class LinkageScore:
    """How well an adversary who links one file does.

    Attributes
    ----------
    found : float
        Share of people for whom exactly one row of the file fits what is known about them.
    found_right : float or None
        Of those, the share for whom every column of the row is true; None if nobody was found.
    candidates : float
        Rows that fit, on average.
    nobody : float
        Share of people whom no row fits: the file says something untrue about them.
    secret_right : float
        Share of people whose secret is guessed right.
    """

    found: float
    found_right: float | None
    candidates: float
    nobody: float
    secret_right: float

    @property
    def found_rightly(self) -> float:
        """Share of all people whom exactly one row fits that is also true of them."""
        return self.found * (self.found_right or 0.0)


@dataclass(frozen=True)
class ColumnRead:
    """How well a column that is not known is read off the rows that fit, as the exact value of the original.

    Attributes
    ----------
    name : str
    knowing : float
        Share of people for whom it is guessed right from what is known alone.
    before, after : float or None, float
        The same with the original file, and with the release.
    agreed : float
        Share of people whose candidates in the release all have the same single value.
    agreed_right : float or None
        Of those, the share for whom it is true.
    """

    name: str
    knowing: float
    before: float | None
    after: float
    agreed: float
    agreed_right: float | None


@dataclass(frozen=True)
class LinkageFinding:
    """An adversary who knows the true values of ``known`` and has the whole file, original or released.

    ``knowing`` is how often the secret is guessed right from what is known alone, ``prior_guess`` from nothing.
    ``before`` is None if the original has too many different rows to be loaded. What values say about the secret was
    learned from ``learned_from`` other people.
    """

    known: tuple[str, ...]
    people: int
    learned_from: int
    prior_guess: float
    knowing: float
    before: LinkageScore | None
    after: LinkageScore
    columns: tuple[ColumnRead, ...]
