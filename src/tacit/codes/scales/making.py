"""Scales of numbers and dates, from what was seen of a column and what was asked for."""

from __future__ import annotations

import datetime as dt
from dataclasses import dataclass

import numpy as np

from tacit.codes.scales.calendar import CALENDAR, Unit, number_of_moment, start_of
from tacit.codes.scales.kinds.categories import CategoryScale
from tacit.codes.scales.kinds.dates import FEW_DAYS, MOST_UNITS, DateScale
from tacit.codes.scales.kinds.numbers import EXACT, NumberScale
from tacit.codes.scales.looking import NumberEnds
from tacit.codes.scales.moments import Layout
from tacit.codes.scales.nice import Numbers, centres, nice_edges
from tacit.codes.scales.scale import Scale
from tacit.errors import ArgumentError, Setting, sentence

# The most steps of a scale.
MOST_STEPS = 4096
# Years outside these stand for "never" or "unknown"; the calendar of a scale does not extend to them.
SENSIBLE_YEARS = (1600, 2200)


@dataclass(frozen=True)
class NumberWish:
    """What was asked of a column of numbers: a step, edges, groups of equal size, or edges at any value."""

    step: float | None = None
    edges: tuple[float, ...] | None = None
    groups: int | None = None
    any_value: bool = False


def nothing_seen(column: str, missing: bool) -> CategoryScale:
    """The scale of a column in which every value is missing."""
    return CategoryScale(column, "text", (), missing)


def number_scale(column: str, sample: Numbers, ends: NumberEnds, wish: NumberWish, *, least: int) -> Scale:
    """A scale of numbers.

    An end is told in the texts if at least ``least`` records of the sample have it; otherwise it would reveal the value
    of a few people, and is left open.
    """
    if np.isnan(ends.low):
        return nothing_seen(column, ends.missing)
    edges = _edges(column, sample, ends, wish, least)
    whole = ends.whole and bool((edges == np.floor(edges)).all()) and float(abs(edges).max(initial=0)) < EXACT
    low, high = (_popular(sample, end, least) for end in (ends.low, ends.high))
    if wish.step is not None and whole:
        # The ends of a step reveal nobody's value.
        low = float(np.floor(ends.low / wish.step) * wish.step)
        high = float((np.floor(ends.high / wish.step) + 1) * wish.step) - 1
    if len(edges):
        low = None if low is not None and low >= edges[0] else low
        high = None if high is not None and high < edges[-1] else high
    middles = centres(edges, sample, whole=whole, least=least)
    return NumberScale(column, tuple(edges.tolist()), whole, low, high, tuple(middles.tolist()), ends.missing)


def _popular(sample: Numbers, end: float, least: int) -> float | None:
    return float(end) + 0.0 if np.isfinite(end) and (sample == end).sum() >= least else None


def _edges(column: str, sample: Numbers, ends: NumberEnds, wish: NumberWish, least: int) -> Numbers:
    if wish.edges is not None:
        return np.array(wish.edges, dtype=np.float64)
    finite = sample[np.isfinite(sample)]
    if wish.groups is not None:
        wanted = np.arange(1, wish.groups) / wish.groups
        edges = np.unique(np.quantile(finite, wanted, method="higher") + 0.0) if len(finite) else np.array([])
        return edges[edges > finite.min()] if len(finite) else edges
    if wish.step is None:
        return nice_edges(sample, whole=ends.whole, least=least, exact=wish.any_value)
    first, last = (np.floor(end / wish.step) for end in _finite_ends(sample, ends))
    if not last - first < MOST_STEPS:
        words = "{levels} would make {steps:,.0f} steps in column '{column}', more than {most:,}: choose a larger step"
        setting = Setting("levels", {column: wish.step})
        raise ArgumentError(sentence(words, levels=setting, steps=last - first + 1, column=column, most=MOST_STEPS))
    return np.array([float(f"{number * wish.step:.12g}") for number in np.arange(first + 1, last + 1)])


def _finite_ends(sample: Numbers, ends: NumberEnds) -> tuple[float, float]:
    if np.isfinite(ends.low) and np.isfinite(ends.high):
        return ends.low, ends.high
    finite = sample[np.isfinite(sample)]
    return (float(finite.min()), float(finite.max())) if len(finite) else (0.0, 0.0)


def date_scale(
    column: str, sample: Numbers, ends: NumberEnds, layout: Layout, unit: Unit | None, *, least: int
) -> Scale:
    """A scale of dates, from moments as numbers of hours.

    The calendar is rounded outwards (to months where days are told), so that its ends are nobody's dates. A few dates
    far away do not extend it: they fall into one more atom before or after it, which is open.
    """
    if np.isnan(ends.low):
        return nothing_seen(column, ends.missing)
    first, last = _calendar(sample, ends, least)
    unit = unit or _unit(first, last, timed=bool((sample % 24 != 0).any()))
    outer: Unit = {"hour": "day", "day": "month", "month": "year", "quarter": "year"}.get(unit, unit)  # type: ignore[assignment]
    start = start_of(outer, number_of_moment(outer, first))
    after = start_of(outer, number_of_moment(outer, last) + 1)
    low, high = number_of_moment(unit, start), number_of_moment(unit, after - dt.timedelta(hours=1))
    earlier = ends.low < number_of_moment("hour", start_of(unit, low))
    later = ends.high >= number_of_moment("hour", start_of(unit, high + 1))
    return DateScale(column, unit, layout, low - earlier, high + later, earlier, later, ends.missing)


def _calendar(sample: Numbers, ends: NumberEnds, least: int) -> tuple[dt.datetime, dt.datetime]:
    """The first and last moment, except for a few that lie far from all others, and those that stand for "never"."""
    limits = [number_of_moment("hour", dt.datetime(year, 1, 1)) for year in SENSIBLE_YEARS]
    moments = np.sort(sample)
    sensible = moments[(moments >= limits[0]) & (moments < limits[1])]
    if not len(sensible):
        sensible, limits = moments, [number_of_moment("hour", dt.datetime(year, 1, 1)) for year in CALENDAR]
    spare = min(least - 1, (len(sensible) - 1) // 4)
    most = sensible[spare], sensible[-1 - spare]
    span = most[1] - most[0] + 24 * FEW_DAYS
    low = ends.low if limits[0] <= ends.low and most[0] - ends.low <= span else most[0]
    high = ends.high if ends.high < limits[1] and ends.high - most[1] <= span else most[1]
    inside = (int(min(max(end, limits[0]), limits[1] - 1)) for end in (low, high))
    first, last = (start_of("hour", end) for end in inside)
    return first, last


def _unit(first: dt.datetime, last: dt.datetime, *, timed: bool) -> Unit:
    if timed and (last - first).days < FEW_DAYS:
        return "hour"
    for unit in ("day", "month"):
        if number_of_moment(unit, last) - number_of_moment(unit, first) < MOST_UNITS:
            return unit
    return "year"
