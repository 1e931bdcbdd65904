"""A leakage before and after something is done: a circle, an arrow and a dot."""

from __future__ import annotations

from collections.abc import Sequence

from markupsafe import Markup

from tacit.document.leakage import Change, Changes, limit_lines
from tacit.document.quantities import part, setting
from tacit.document.strings import shorten
from tacit.errors import Wording
from tacit.report.charts import svg
from tacit.report.charts.marks import mark_lines
from tacit.report.charts.svg import PixelScale, Plot, element, hover, line, text


def draw(chart: Changes, wording: Wording, width: float) -> Markup:
    """All rows on one axis from 0 to 1."""
    return _strip(chart.rows[0], chart.limit, width) if chart.width else _rows(chart.rows, chart.limit, width)


def _strip(change: Change, limit: float | None, width: float) -> Markup:
    """Before and after on one line from 0 to 1, an arrow between them."""
    across = PixelScale(0.0, 1.0, 12, width - 12)
    words = f"{change.name}: from {part(change.before)} to {part(change.after)}"
    parts = [line(across.start, 30, across.end, 30, class_="grid")]
    for tick in (0.0, 0.5, 1.0):
        parts.append(line(across(tick), 27, across(tick), 33, class_="axis"))
        parts.append(text(setting(tick), across(tick), 48, text_anchor="middle", class_="tick"))
    if limit is not None:
        parts.append(line(across(limit), 20, across(limit), 38, class_="mark line"))
    parts.append(_arrow(change, 30, across, words))
    return svg.drawing(width, 52, words, *parts, class_="chart strip")


def _arrow(change: Change, y: float, across: PixelScale, words: str) -> Markup:
    before, after = across(change.before), across(change.after)
    first, last = part(change.before), part(change.after)
    tone = "stays" if first == last else "falls" if change.after < change.before else "rises"
    near = abs(before - after) < (svg.text_width(first) + svg.text_width(last)) / 2 + 6
    # Two numbers that would run into each other are written as one.
    labels = [(f"{first} → {last}", (before + after) / 2)] if near else [(first, before), (last, after)]
    if tone == "stays":
        labels = [(f"{first}, as before", before)]
    parts = [hover(words), line(before, y, after, y, class_=f"change {tone}")]
    parts.append(element("circle", cx=before, cy=y, r=4.5, class_="was"))
    parts.append(element("circle", cx=after, cy=y, r=5.5, class_=f"becomes {tone}"))
    for label, x in labels:
        half = svg.text_width(label) / 2
        middle = min(max(x, half), across.end + 12 - half)
        parts.append(text(label, middle, y - 12, text_anchor="middle", class_="value"))
    return element("g", *parts)


def _rows(rows: Sequence[Change], limit: float | None, width: float) -> Markup:
    gutter = min(190.0, width * 0.3)
    key, key_height = svg.legend(
        [("was", "before"), ("becomes falls", "after: lower"), ("becomes rises", "after: higher")],
        2,
        2,
        width=width - 4,
    )
    top = key_height + (30 if limit is not None else 12)
    plot = Plot(width, top + 46 * len(rows) + 46, left=gutter, right=30, top=top)
    across = plot.across(0.0, 1.0)
    parts = [key, svg.horizontal_axis(plot, across, "Leakage; higher is riskier", grid=True)]
    marks = limit_lines(limit)
    parts.append(mark_lines(plot, across, marks, [0] * len(marks)))
    for k, row in enumerate(rows):
        y = plot.top + 46 * k + 30
        parts.append(element("text", hover(row.name), svg.fitted(row.name, gutter - 14), x=2.0, y=y + 4, class_="name"))
        parts.append(_arrow(row, y, across, f"{row.name}: from {part(row.before)} to {part(row.after)}"))
    words = "; ".join(f"{shorten(row.name, 40)} from {part(row.before)} to {part(row.after)}" for row in rows)
    return svg.drawing(width, plot.height, f"Leakage before and after. {words}", *parts)
