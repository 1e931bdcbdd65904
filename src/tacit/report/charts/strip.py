"""A value as a dot, and the band that chance gives."""

from __future__ import annotations

import math

from markupsafe import Markup

from tacit.document import Strip
from tacit.errors import Wording
from tacit.report.charts import svg
from tacit.report.charts.svg import PixelScale, hover, line, rectangle, text
from tacit.report.charts.units import ticked, written


def draw(chart: Strip, wording: Wording, width: float) -> Markup:
    """From 0 to a little beyond the larger of the value and its band."""
    finite = [v for v in (chart.value, chart.low, chart.high) if math.isfinite(v)]
    infinite = math.isinf(chart.value) or math.isinf(chart.high)
    top = svg.nice_top(max(finite, default=1.0) * 1.02, about=4)
    end = width - 12 - (30 if infinite else 0)
    scale, edge = PixelScale(0.0, top, 10, end), width - 12

    def at(value: float) -> float:
        return edge if math.isinf(value) else scale(value)

    ends = dict.fromkeys(written(value, chart.unit) for value in (chart.low, chart.high))
    value_in_words = f"{chart.title}: {written(chart.value, chart.unit, with_unit=True)}; shuffled {'–'.join(ends)}"
    words = f"{value_in_words}; {chart.verdict.words}"
    low, high = at(chart.low), at(chart.high)
    parts = [
        line(scale.start, 12, scale.end, 12, class_="axis"),
        rectangle(low, 6, max(2.0, high - low), 12, hover(words), class_="null"),
        svg.dot(at(chart.value), 12, 5.0, words, class_=f"dot {chart.verdict.tone}"),
        text("0", scale.start, 32, text_anchor="middle", class_="tick"),
        text(ticked(top, chart.unit), scale.end, 32, text_anchor="middle", class_="tick"),
    ]
    if infinite:
        parts.append(text("∞", edge, 32, text_anchor="middle", class_="tick infinite"))
    return svg.drawing(width, 36, words, *parts, class_="chart strip")
