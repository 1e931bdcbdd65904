"""Charts drawn as inline SVG: one file a chart, found by the type of what it shows.

Every drawing takes the width in pixels, so that a narrow page gets its own instead of shrunken text. Colours are
classes; the style sheet of the page gives them a light, a dark and a printed form.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from markupsafe import Markup

from tacit.document import (
    Bars,
    Calibration,
    Changes,
    Chart,
    ContactSheet,
    CostCurve,
    HeatMaps,
    Histogram,
    MergeGraph,
    Panels,
    RemovalCurve,
    SignedBars,
    Strip,
    TermBars,
    TermFunnel,
    TradeOff,
    converted,
)
from tacit.errors import PLAIN, Wording
from tacit.report.charts import bars, calibration, histogram, pictures, signed_bars, strip, terms, trade_off
from tacit.report.charts.leakage import changes, cost_curve, merge_graph, panels, removal_curve

__all__ = ["controls", "draw"]

_DRAWINGS: Mapping[type[Chart], Callable[[Any, Wording, float], Markup]] = {
    Bars: bars.draw,
    Calibration: calibration.draw,
    Changes: changes.draw,
    CostCurve: cost_curve.draw,
    MergeGraph: merge_graph.draw,
    Panels: panels.draw,
    RemovalCurve: removal_curve.draw,
    ContactSheet: pictures.draw_sheet,
    HeatMaps: pictures.draw_maps,
    Histogram: histogram.draw,
    SignedBars: signed_bars.draw,
    Strip: strip.draw,
    TermBars: terms.draw_bars,
    TermFunnel: terms.draw_funnel,
    TradeOff: trade_off.draw,
}
_CONTROLS: Mapping[type[Chart], Callable[[Any, Wording], Markup]] = {TradeOff: trade_off.slider}


def draw(chart: Chart, wording: Wording = PLAIN, *, width: float = 860) -> Markup:
    """A chart as SVG, in the unit and words of the reader."""
    return _DRAWINGS[type(chart)](converted(chart, wording), wording, chart.width or width)


def controls(chart: Chart, wording: Wording = PLAIN) -> Markup:
    """What the page puts under a chart to play with, if there is anything."""
    control = _CONTROLS.get(type(chart))
    return Markup() if control is None else control(converted(chart, wording), wording)
