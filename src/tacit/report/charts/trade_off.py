"""What every epsilon costs, as a curve with a slider."""

from __future__ import annotations

import json
import math

from markupsafe import Markup

from tacit.document import CurvePoint, TradeOff
from tacit.document.quantities import number, percent, setting, share, unit_name
from tacit.errors import Wording
from tacit.report.charts import svg
from tacit.report.charts.svg import TAIL, Plot, element

_SLIDER = Markup(
    """<div class="slider" data-points="{points}" data-what="loss" hidden>
<label>Move epsilon <input type="range" min="0" max="{last}" value="{start}" step="1" aria-label="epsilon"></label>
<p>With epsilon <b data-field="0"></b> {unit} a release attains <b data-field="1"></b> {unit}, loses
<b data-field="2"></b> of the information, keeps <b data-field="3"></b> of records unchanged, and leaves
<b data-field="4"></b> {unit} of leakage.</p>
</div>"""
)


def draw(chart: TradeOff, wording: Wording, width: float) -> Markup:
    """Epsilon attained against the loss in utility."""
    curve, unit = chart.points, unit_name(wording)
    finite = [p for p in curve if math.isfinite(p.attained)]
    plot = Plot(width, 300, top=46, tail=TAIL if len(finite) < len(curve) else 0.0)
    across = plot.across(0.0, svg.nice_top(max((p.attained for p in finite), default=0.0)))
    up = plot.up(0.0, svg.nice_top(max((p.nmil for p in curve), default=0.0), about=4))

    def at(attained: float, nmil: float) -> tuple[float, float]:
        return (across(attained) if math.isfinite(attained) else plot.tail_middle), up(nmil)

    parts = [
        svg.vertical_axis(plot, up, "Loss in utility (NMIL); lower is better", show=percent),
        svg.horizontal_axis(plot, across, f"Epsilon attained ({unit}); lower is safer"),
    ]
    if len(finite) > 1:
        parts.append(element("path", d=svg.path(sorted(at(p.attained, p.nmil) for p in finite)), class_="curve"))
    if chart.attained is not None and chart.loss is not None:
        label = f"{chart.label}: loses {share(chart.loss)}"
        parts.append(svg.callout(label, at(chart.attained, chart.loss), plot))
    for k, p in enumerate(curve):
        x, y = at(p.attained, p.nmil)
        point_in_words = f"{_words(p, unit)}; {share(p.records_kept)} of records kept unchanged"
        parts.append(svg.dot(x, y, 3.5, point_in_words, class_="point", data_k=k))
    words = f"Trade-off over {len(curve)} values of epsilon: " + "; ".join(_words(p, unit) for p in curve)
    return svg.drawing(width, plot.height, words, *parts)


def _words(p: CurvePoint, unit: str) -> str:
    return f"epsilon {setting(p.epsilon)} {unit} attains {number(p.attained)} and loses {share(p.nmil)}"


def slider(chart: TradeOff, wording: Wording) -> Markup:
    """A slider over the points, their numbers as written elsewhere, so that the script formats nothing."""
    points = [
        (setting(p.epsilon), number(p.attained), share(p.nmil), share(p.records_kept), number(p.leakage))
        for p in chart.points
    ]
    if len(points) < 2:
        return Markup()
    start = len(points) // 2 if chart.place is None else chart.place
    return _SLIDER.format(points=json.dumps(points), last=len(points) - 1, start=start, unit=unit_name(wording))
