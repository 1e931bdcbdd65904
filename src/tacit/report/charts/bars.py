"""Rows of bars from zero: what columns give away, how often adversaries are right, shares of a whole."""

from __future__ import annotations

import math
from collections.abc import Sequence

from markupsafe import Markup

from tacit.document import Bar, BarRow, Bars
from tacit.document.strings import shorten
from tacit.errors import Wording
from tacit.report.charts import svg
from tacit.report.charts.marks import mark_lines, mark_rows
from tacit.report.charts.svg import PixelScale, Plot, element, hover, line, rectangle, text
from tacit.report.charts.units import ticked, written

_CLASSES = ("bar", "bar second", "bar third")
_STEP = 16.0


def draw(chart: Bars, wording: Wording, width: float) -> Markup:
    """One colour per series; limits as thin lines, what chance gives as a mark across the bar."""
    gutter = min(200.0, width * 0.32)
    key, key_height = _legend(chart, width)
    marks = sorted((mark for mark in chart.marks if math.isfinite(mark.at)), key=lambda mark: mark.at)
    high = _top(chart)
    right = max([svg.text_width(_value(chart, bar)) for row in chart.rows for bar in row.bars], default=0.0) + 10
    levels = mark_rows(marks, width=width - gutter - right, high=high)
    top = key_height + 10 + (15 * (max(levels) + 1) if levels else 0)
    height = top + sum(_tall(row) for row in chart.rows) + 46
    plot = Plot(width, height, left=gutter, right=right, top=top)
    across = plot.across(0.0, high)
    axis = svg.horizontal_axis(plot, across, chart.axis, show=lambda tick: ticked(tick, chart.unit), grid=True)
    places, y = [], plot.top
    for row in chart.rows:
        places.append(y)
        y += _tall(row)
    parts = [key, axis]
    parts += [_row(chart, row, at, across) for row, at in zip(chart.rows, places, strict=True)]
    parts.append(mark_lines(plot, across, marks, levels))
    # The numbers come last, so that no line runs through them.
    parts += [_values(chart, row, at, across) for row, at in zip(chart.rows, places, strict=True)]
    rows_in_words = "; ".join(f"{shorten(row.name, 40)}: {_words(chart, row)}" for row in chart.rows)
    lines = "".join(f" {mark.label}." for mark in marks)
    return svg.drawing(width, plot.height, f"{chart.title}.{lines} {rows_in_words}", *parts)


def _legend(chart: Bars, width: float) -> tuple[Markup, float]:
    entries = list(zip(_CLASSES, chart.series, strict=False)) if len(chart.series) > 1 else []
    if chart.null_label:
        entries.append(("null-mark line", chart.null_label))
    return svg.legend(entries, 2, 2, width=width - 4) if entries else (Markup(), 0.0)


def _top(chart: Bars) -> float:
    if chart.whole:
        return 1.0
    every = [v for row in chart.rows for bar in row.bars for v in (bar.value, bar.high, bar.null) if v is not None]
    return svg.nice_top(max((v for v in every if math.isfinite(v)), default=0.0))


def _tall(row: BarRow) -> float:
    return 10 + _STEP * max(len(row.bars), 2 if row.note else 1)


def _bar_top(row: BarRow, y: float, k: int) -> float:
    """Where the k-th bar of a row begins; if the name takes two lines, a few bars are centred next to it."""
    return y + (_tall(row) - _STEP * len(row.bars)) / 2 + 1 + _STEP * k


def _value(chart: Bars, bar: Bar) -> str:
    return written(bar.value, chart.unit)


def _words(chart: Bars, row: BarRow) -> str:
    unit = chart.unit
    return ", ".join(f"{bar.series} {written(bar.value, unit, with_unit=True)}".strip() for bar in row.bars)


def _hover(chart: Bars, row: BarRow, bar: Bar) -> str:
    if bar.told:
        return f"{row.name}: {bar.told}"
    words = f"{row.name}{', ' + bar.series if bar.series else ''}: {written(bar.value, chart.unit, with_unit=True)}"
    if bar.low is not None and bar.high is not None:
        words += f", 95% limits {written(bar.low, chart.unit)} to {written(bar.high, chart.unit)}"
    return words if bar.null is None else f"{words}; {chart.null_label} {written(bar.null, chart.unit)}"


def _row(chart: Bars, row: BarRow, y: float, across: PixelScale) -> Markup:
    indent = 20.0 if row.badge is not None else 2.0
    middle = y + _tall(row) / 2 + (-4 if row.note else 4)
    name = svg.fitted(row.name, across.start - indent - 8)
    label = f"{row.name}: {row.badge.words}" if row.badge is not None else row.name
    parts = [element("text", hover(label), name, x=indent, y=middle, class_="name")]
    if row.badge is not None:
        parts.append(text(row.badge.symbol, 4, middle, class_=f"symbol {row.badge.tone}"))
    if row.note:
        parts.append(text(svg.fitted(row.note, across.start - indent - 8), indent, middle + 16, class_="tick"))
    for k, bar in enumerate(row.bars):
        top = _bar_top(row, y, k)
        words, end = hover(_hover(chart, row, bar)), across(max(bar.value, 0.0))
        class_ = _CLASSES[chart.series.index(bar.series)] if bar.series in chart.series else _CLASSES[0]
        parts.append(rectangle(across.start, top, end - across.start, 13, words, class_=class_))
        parts += _limits(bar, top, across)
    return element("g", *parts)


def _limits(bar: Bar, top: float, across: PixelScale) -> Sequence[Markup]:
    parts = []
    if bar.low is not None and bar.high is not None:
        low, high = across(bar.low), across(bar.high)
        parts.append(line(low, top + 6.5, high, top + 6.5, class_="whisker"))
        parts += [line(x, top + 3, x, top + 10, class_="whisker") for x in (low, high)]
    if bar.null is not None:
        parts.append(line(across(bar.null), top - 2, across(bar.null), top + 15, class_="null-mark line"))
    return parts


def _values(chart: Bars, row: BarRow, y: float, across: PixelScale) -> Markup:
    parts = []
    for k, bar in enumerate(row.bars):
        furthest = max(v for v in (bar.value, bar.high, bar.null, 0.0) if v is not None)
        parts.append(text(_value(chart, bar), across(furthest) + 6, _bar_top(row, y, k) + 11, class_="value"))
    return element("g", *parts)
