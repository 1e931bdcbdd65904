"""Leakage after every request for removal."""

from __future__ import annotations

from collections.abc import Sequence

from markupsafe import Markup

from tacit.document.leakage import RemovalCurve, RemovalStage
from tacit.document.quantities import part, setting
from tacit.document.strings import shorten
from tacit.errors import Wording
from tacit.report.charts import svg
from tacit.report.charts.svg import PixelScale, Plot, element, text


def draw(chart: RemovalCurve, wording: Wording, width: float) -> Markup:
    """If every request succeeds, and expected."""
    before, steps, limit = chart.before, chart.requests, chart.limit
    key, key_height = svg.legend(
        [("curve line", "if every request succeeds"), ("outline line", "expected")], 2, 2, width=width - 4
    )
    plot = Plot(width, key_height + 340, left=44, right=24, top=key_height + 34, bottom=64)
    across, up = plot.across(0.0, max(1, len(steps))), plot.up(0.0, 1.0)
    parts = [key, svg.vertical_axis(plot, up, "Leakage; higher is riskier", show=setting)]
    parts += [svg.level_mark(plot, up, limit), _steps(plot, across, steps)]
    for class_, point, word, values in (
        ("curve", "point", "if removed", [step.if_removed for step in steps]),
        ("outline", "point third", "expected", [step.expected for step in steps]),
    ):
        places = [(across(k), up(value)) for k, value in enumerate([before, *values])]
        parts.append(element("path", d=svg.path(places), class_=class_))
        for (x, y), step, value in zip(places[1:], steps, values, strict=True):
            parts.append(svg.dot(x, y, 4.0, f"after {step.source}: {word} {part(value)}", class_=point))
    parts.append(svg.dot(across(0), up(before), 5.0, f"now: {part(before)}", class_="was"))
    words = "; ".join(f"{shorten(s.source, 40)}: {part(s.if_removed)}, expected {part(s.expected)}" for s in steps)
    return svg.drawing(width, plot.height, f"Leakage now {part(before)}, and after removing {words}", *parts)


def _steps(plot: Plot, across: PixelScale, steps: Sequence[RemovalStage]) -> Markup:
    """One tick per request with its source; only numbers if the names would not fit."""
    gap = (across.end - across.start) / max(1, len(steps))
    parts = [
        svg.horizontal_axis(
            plot,
            across,
            "Requests, in the order to make them",
            ticks=range(len(steps) + 1),
            show=lambda k: f"{k:.0f}." if k else "now",
        )
    ]
    for k, step in enumerate(steps if gap > 56 else (), start=1):
        name = svg.fitted(step.source, gap - 8)
        last = across(k) + svg.text_width(name) / 2 > plot.width
        anchor, at = ("end", plot.width - 2) if last else ("middle", across(k))
        parts.append(text(name, at, plot.floor + 33, text_anchor=anchor, class_="name"))
    return element("g", *parts)
