"""Upright lines through a chart, with their labels above it."""

from __future__ import annotations

from collections.abc import Sequence

from markupsafe import Markup

from tacit.document import Line
from tacit.report.charts import svg
from tacit.report.charts.svg import PixelScale, Plot, element, line, text


def mark_rows(marks: Sequence[Line], *, width: float, high: float) -> list[int]:
    """The row of each label, so that labels of near lines do not run into each other."""
    ends: list[float] = []
    rows = []
    for mark in marks:
        half = svg.text_width(mark.label) / 2
        start, end = mark.at / high * width - half, mark.at / high * width + half + 8
        row = next((k for k, last in enumerate(ends) if last <= start), len(ends))
        ends[row:] = [end, *ends[row + 1 :]]
        rows.append(row)
    return rows


def mark_lines(
    plot: Plot, across: PixelScale, marks: Sequence[Line], rows: Sequence[int], *, lift: float = 0
) -> Markup:
    """All lines come first, so that none runs through a label."""
    tops = [plot.top - 8 - lift - 15 * row for row in rows]
    parts = []
    for mark, top in zip(marks, tops, strict=True):
        parts.append(line(across(mark.at), top + 4, across(mark.at), plot.floor, class_="mark line"))
    for mark, top in zip(marks, tops, strict=True):
        half = svg.text_width(mark.label) / 2
        middle = min(max(across(mark.at), half + 2), plot.width - half - 2)
        parts.append(text(mark.label, middle, top, text_anchor="middle", class_="mark-label"))
    return element("g", *parts)
