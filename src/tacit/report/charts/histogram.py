"""Share of records by risk, the infinite ones in a separate bar."""

from __future__ import annotations

import math
from collections.abc import Sequence

from markupsafe import Markup

from tacit.document import Histogram, Layer, RiskHistogram
from tacit.document.quantities import number, percent, setting, share, unit_name
from tacit.errors import Wording
from tacit.report.charts import svg
from tacit.report.charts.marks import mark_lines, mark_rows
from tacit.report.charts.svg import TAIL, PixelScale, Plot, element, hover, rectangle, text


def draw(chart: Histogram, wording: Wording, width: float) -> Markup:
    """One layer filled, others as outlines, with lines at some epsilons."""
    layers, unit = chart.layers, unit_name(wording)
    tail = TAIL if any(layer.histogram.infinite_share > 0 for layer in layers) else 0.0
    high = max((edge for layer in layers for edge in layer.histogram.edges if math.isfinite(edge)), default=1.0) or 1.0
    marked = [line for line in chart.lines if 0 < line.at <= high]
    rows = mark_rows(marked, width=width - 68 - tail, high=high)
    entries = [("bar", f"share of {chart.things}"), ("bar infinite", "risk ∞")][: 2 if tail else 1]
    if len(layers) > 1:
        entries = [("bar" if layer.kind == "bar" else "outline line", layer.label) for layer in layers]
    key, key_height = svg.legend(entries, 2, 2, width=width - 4)
    tallest = max(
        (s for layer in layers for s in (*layer.histogram.shares, layer.histogram.infinite_share)), default=0.0
    )
    peak = svg.nice_top(tallest, about=4)
    # The number over a bar of infinite risk that reaches the top needs a row of its own under the labels of the lines.
    headroom = 15.0 if any(layer.histogram.infinite_share > 0.9 * peak for layer in layers) else 0.0
    labels = headroom + 15.0 * (max(rows, default=-1) + 1)
    top = key_height + 32 + labels
    plot = Plot(width, top + 220 + 46, top=top, tail=tail)
    across = plot.across(0.0, high)
    up = plot.up(0.0, peak)
    parts = [key, svg.vertical_axis(plot, up, f"Share of {chart.things}", show=percent, lift=labels)]
    parts += [
        _bars(layer, plot, across, up) if layer.kind == "bar" else _outline(layer, plot, across, up) for layer in layers
    ]
    parts.append(mark_lines(plot, across, marked, rows, lift=headroom))
    parts.append(
        svg.horizontal_axis(plot, across, f"Risk of a {chart.things.removesuffix('s')} ({unit}); higher is riskier")
    )
    return svg.drawing(width, plot.height, _histogram_words(layers, unit), *parts)


def _histogram_words(layers: Sequence[Layer], unit: str) -> str:
    sentences = []
    for layer in layers:
        quantiles = (f"; the {name} quantile is {number(v)} {unit}" for name, v in layer.histogram.quantiles.items())
        infinite = share(layer.histogram.infinite_share)
        sentences.append(f"{layer.label}: {infinite} of records have infinite risk{''.join(quantiles)}")
    return "Histogram of records by risk. " + ". ".join(sentences)


def _bins(histogram: RiskHistogram) -> list[tuple[float, float, float]]:
    return list(zip(histogram.edges, histogram.edges[1:], histogram.shares, strict=False))


def _bars(layer: Layer, plot: Plot, across: PixelScale, up: PixelScale) -> Markup:
    parts = []
    for low, high, part in _bins(layer.histogram):
        x, y = across(low), up(part)
        words = f"{layer.label}: {share(part)} of records have a risk from {setting(low)} to {setting(high)}"
        parts.append(rectangle(x + 0.5, y, across(high) - x - 1, plot.floor - y, hover(words), class_="bar"))
    infinite = layer.histogram.infinite_share
    if plot.tail and infinite:
        words = f"{layer.label}: {share(infinite)} of records have risk ∞: a secret is ruled out, or given away"
        y = up(infinite)
        parts.append(rectangle(plot.tail_middle - 12, y, 24, plot.floor - y, hover(words), class_="bar infinite"))
        parts.append(text(share(infinite), plot.tail_middle, y - 5, text_anchor="middle", class_="value"))
    return element("g", *parts)


def _outline(layer: Layer, plot: Plot, across: PixelScale, up: PixelScale) -> Markup:
    points = [(across(0.0), plot.floor)]
    for low, high, part in _bins(layer.histogram):
        points += [(across(low), up(part)), (across(high), up(part))]
    points.append((points[-1][0], plot.floor))
    words = f"{layer.label}: {share(layer.histogram.infinite_share)} of records have risk ∞"
    parts = [element("path", hover(words), d=svg.path(points), class_="outline")]
    if plot.tail:
        y = up(layer.histogram.infinite_share)
        corners = [(plot.tail_middle + dx, h) for dx, h in ((-16, plot.floor), (-16, y), (16, y), (16, plot.floor))]
        parts.append(element("path", hover(words), d=svg.path(corners), class_="outline"))
    return element("g", *parts)
