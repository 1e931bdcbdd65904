"""Leakage after every request for removal."""

from __future__ import annotations

from collections.abc import Sequence

from markupsafe import Markup

from tacit.document.leakage import RemovalCurve, RemovalStage
from tacit.document.quantities import part, setting
from tacit.document.strings import shorten
from tacit.errors import Wording
from tacit.report.charts import svg
from tacit.report.charts.svg import Plot, Scale, element, hover, line, text


def draw(chart: RemovalCurve, wording: Wording, width: float) -> Markup:
    """If every request succeeds, and expected."""
    before, steps, limit = chart.before, chart.requests, chart.limit
    key, key_height = svg.legend(
        [("curve line", "if every request succeeds"), ("outline line", "expected")], 2, 2, width=width - 4
    )
    plot = Plot(width, key_height + 340, left=44, right=24, top=key_height + 34, bottom=64)
    across, up = plot.across(0.0, max(1, len(steps))), plot.up(0.0, 1.0)
    parts = [key, svg.vertical_axis(plot, up, "Leakage; higher is riskier", show=setting)]
    if limit is not None:
        parts.append(line(plot.left, up(limit), plot.width - plot.right, up(limit), class_="mark line"))
        edge = plot.width - plot.right
        parts.append(text(f"limit {setting(limit)}", edge, up(limit) + 15, text_anchor="end", class_="mark-label"))
    parts.append(_step_axis(plot, across, steps))
    for class_, dot, word, values in (
        ("curve", "point", "if removed", [step.if_removed for step in steps]),
        ("outline", "point third", "expected", [step.expected for step in steps]),
    ):
        points = [(across(k), up(value)) for k, value in enumerate([before, *values])]
        parts.append(element("path", d=svg.path(points), class_=class_))
        for k, (x, y) in enumerate(points[1:], start=1):
            said = hover(f"after {steps[k - 1].source}: {word} {part(values[k - 1])}")
            parts.append(element("circle", said, cx=x, cy=y, r=4.0, class_=dot))
    parts.append(element("circle", hover(f"now: {part(before)}"), cx=across(0), cy=up(before), r=5.0, class_="was"))
    told = "; ".join(f"{shorten(s.source, 40)}: {part(s.if_removed)}, expected {part(s.expected)}" for s in steps)
    return svg.drawing(width, plot.height, f"Leakage now {part(before)}, and after removing {told}", *parts)


def _step_axis(plot: Plot, across: Scale, steps: Sequence[RemovalStage]) -> Markup:
    """A tick a request with its source; numbers alone where the names would not fit."""
    parts = [line(across.start, plot.floor, across.end, plot.floor, class_="axis")]
    gap = (across.end - across.start) / max(1, len(steps))
    for k in range(len(steps) + 1):
        x = across(k)
        parts.append(line(x, plot.floor, x, plot.floor + 4, class_="axis"))
        shown = "now" if k == 0 else f"{k}."
        parts.append(text(shown, x, plot.floor + 17, text_anchor="middle", class_="tick"))
        if k and gap > 56:
            name = svg.fitted(steps[k - 1].source, gap - 8)
            anchor, at = ("end", plot.width - 2) if x + svg.text_width(name) / 2 > plot.width else ("middle", x)
            parts.append(text(name, at, plot.floor + 33, text_anchor=anchor, class_="name"))
    title = "Requests, in the order to make them"
    parts.append(
        text(title, (across.start + across.end) / 2, plot.height - 8, text_anchor="middle", class_="axis-title")
    )
    return element("g", *parts)
