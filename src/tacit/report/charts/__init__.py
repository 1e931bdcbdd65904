"""Charts drawn as inline SVG: one file per chart, found by the type of what it shows.

Every drawing takes the width in pixels, so that a narrow page gets its own instead of shrunken text. Colours are
classes; the style sheet of the page gives them a light, a dark and a printed form.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from markupsafe import Markup

from tacit import document as doc
from tacit.errors import PLAIN, Wording
from tacit.report.charts import (
    bars,
    calibration,
    histogram,
    kept_by_epsilon,
    pictures,
    signed_bars,
    strip,
    terms,
    trade_off,
)
from tacit.report.charts.leakage import changes, cost_curve, merge_graph, panels, removal_curve

__all__ = ["controls", "draw"]

_DRAWINGS: Mapping[type[doc.Chart], Callable[[Any, Wording, float], Markup]] = {
    doc.Bars: bars.draw,
    doc.Calibration: calibration.draw,
    doc.Changes: changes.draw,
    doc.CostCurve: cost_curve.draw,
    doc.MergeGraph: merge_graph.draw,
    doc.Panels: panels.draw,
    doc.RemovalCurve: removal_curve.draw,
    doc.ContactSheet: pictures.draw_sheet,
    doc.HeatMaps: pictures.draw_maps,
    doc.Histogram: histogram.draw,
    doc.KeptByEpsilon: kept_by_epsilon.draw,
    doc.SignedBars: signed_bars.draw,
    doc.Strip: strip.draw,
    doc.TermBars: terms.draw_bars,
    doc.TermFunnel: terms.draw_funnel,
    doc.TradeOff: trade_off.draw,
}

_SLIDERS: Mapping[type[doc.Chart], Callable[[Any, Wording], Markup]] = {
    doc.KeptByEpsilon: kept_by_epsilon.slider,
    doc.TradeOff: trade_off.slider,
}


def draw(chart: doc.Chart, wording: Wording = PLAIN, *, width: float = 860) -> Markup:
    """A chart as SVG, in the unit and words of the reader."""
    return _DRAWINGS[type(chart)](doc.converted(chart, wording), wording, chart.width or width)


def controls(chart: doc.Chart, wording: Wording = PLAIN) -> Markup:
    """What the page puts under a chart to play with, if there is anything."""
    slider = _SLIDERS.get(type(chart))
    return Markup() if slider is None else slider(doc.converted(chart, wording), wording)
