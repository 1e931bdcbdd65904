"""Share of persons by leakage, one histogram under the other."""

from __future__ import annotations

from markupsafe import Markup

from tacit.document.leakage import Panel, Panels
from tacit.document.quantities import count, part, percent, setting, share
from tacit.document.strings import shorten
from tacit.errors import Wording
from tacit.report.charts import svg
from tacit.report.charts.svg import Plot, element, hover, line, rectangle, text


def draw(chart: Panels, wording: Wording, width: float) -> Markup:
    """One panel per adversary, on the same scales."""
    rungs, limit = chart.panels, chart.limit
    high = max((max(rung.bins, default=0) / max(1, sum(rung.bins)) for rung in rungs), default=0.0)
    peak, panel = svg.nice_top(high, about=4), 176.0
    parts = []
    for k, rung in enumerate(rungs):
        plot = Plot(width, panel * (k + 1) + 22, left=52, right=20, top=panel * k + 46)
        parts.append(_panel(rung, plot, peak, limit, last=k == len(rungs) - 1))
    words = "; ".join(f"{shorten(r.name, 40)}: median {part(r.median)}" for r in rungs)
    return svg.drawing(width, panel * len(rungs) + 22, f"Persons by leakage. {words}", *parts)


def _panel(rung: Panel, plot: Plot, peak: float, limit: float | None, *, last: bool) -> Markup:
    across, up = plot.across(0.0, 1.0), plot.up(0.0, peak)
    persons, bins = max(1, sum(rung.bins)), len(rung.bins)
    name = svg.fitted(rung.name, plot.width - 150)
    parts = [text(name, 2, plot.top - 28, class_="value")]
    parts.append(svg.vertical_axis(plot, up, "Share of persons", show=percent, lift=-4))
    for k, in_bin in enumerate(rung.bins):
        x, y = across(k / bins), up(in_bin / persons)
        words = (
            f"{rung.name}: {count(in_bin)} persons ({share(in_bin / persons)}) have a leakage from "
            f"{setting(k / bins)} to {setting((k + 1) / bins)}"
        )
        wide = across((k + 1) / bins) - x - 1
        parts.append(rectangle(x + 0.5, y, wide, plot.floor - y, hover(words), class_="bar"))
    if rung.median is not None:
        x = across(rung.median)
        parts.append(line(x, plot.top, x, plot.floor, class_="null-mark line"))
    if limit is not None:
        parts.append(line(across(limit), plot.top, across(limit), plot.floor, class_="mark line"))
    title = "Leakage of a person; higher is riskier" if last else ""
    parts.append(svg.horizontal_axis(plot, across, title))
    return element("g", *parts)
