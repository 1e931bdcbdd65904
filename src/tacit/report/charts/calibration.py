"""The chart that compares learned log-lifts with what was observed."""

from __future__ import annotations

import math
from collections.abc import Sequence

from markupsafe import Markup

from tacit.document import Calibration, CalibrationPoint
from tacit.document.quantities import count, interval, setting, signed, unit_name
from tacit.document.strings import shorten
from tacit.errors import Wording
from tacit.report.charts import svg
from tacit.report.charts.svg import PixelScale, Plot, element, hover, line

_CLASSES = ("point", "point second", "point third")
# How far beyond the points limits are drawn, in nats; an interval that leaves the picture runs to its edge.
_ROOM = 0.5
# Wider than this the diagonal lies so flat that a miss is hard to see.
_WIDEST = 620.0


def draw(chart: Calibration, wording: Wording, width: float) -> Markup:
    """Predicted log-lift against the log-lift observed, with 95% limits; on the diagonal the estimate is right."""
    chosen, points, unit = chart.drawn, chart.points, unit_name(wording)
    entries = [(_CLASSES[k], _label(secret)) for k, secret in enumerate(chosen)]
    key, key_height = svg.legend([*entries, ("mark line", "as predicted")], 2, 2, width=width - 4)
    width = min(width, _WIDEST)
    plot = Plot(width, key_height + 36 + 0.62 * width + 46, top=key_height + 36)
    shown = [point for point in points if point.secret in chosen]
    low, high = _range(shown)
    across, up = plot.across(low, high), plot.up(low, high)
    parts = [
        key,
        svg.vertical_axis(plot, up, f"Observed log-lift ({unit})", show=setting),
        svg.horizontal_axis(plot, across, f"Predicted log-lift ({unit})"),
        line(across(low), up(low), across(high), up(high), class_="mark line"),
    ]
    parts += [_limits(point, across, up) for point in shown]
    parts += [_dot(point, across, up, _CLASSES[chosen.index(point.secret)]) for point in shown]
    words = f"Calibration of the learned log-lift in {len(shown)} groups of records: " + "; ".join(
        f"{_label(p.secret)}: predicted {signed(p.predicted)}, observed {signed(p.observed)}" for p in shown
    )
    return svg.drawing(width, plot.height, words, *parts)


def _label(secret: str | None) -> str:
    return "all secrets" if secret is None else shorten(secret, 28)


def _range(points: Sequence[CalibrationPoint]) -> tuple[float, float]:
    """One range for both axes, so that the diagonal is where prediction and observation agree."""
    inner = [v for p in points for v in (p.predicted, p.observed) if math.isfinite(v)] or [0.0]
    outer = [v for p in points for v in (p.low, p.high) if math.isfinite(v)]
    low = min([min(inner), *(max(v, min(inner) - _ROOM) for v in outer)])
    high = max([max(inner), *(min(v, max(inner) + _ROOM) for v in outer)])
    step = svg.nice_step(max(high - low, 0.1) / 6)
    return math.floor(low / step - 1e-9) * step, math.ceil(high / step + 1e-9) * step


def _limits(point: CalibrationPoint, across: PixelScale, up: PixelScale) -> Markup:
    x = across(point.predicted)
    bottom, top = up(point.low), up(point.high)
    parts = [line(x, bottom, x, top, class_="limits")]
    # A cap says that the interval ends here; one that leaves the picture has none.
    parts += [
        line(x - 4, up(v), x + 4, up(v), class_="limits") for v in (point.low, point.high) if up.low <= v <= up.high
    ]
    return element("g", *parts)


def _dot(point: CalibrationPoint, across: PixelScale, up: PixelScale, class_: str) -> Markup:
    words = (
        f"{_label(point.secret)}: predicted {signed(point.predicted)}, observed {signed(point.observed)} "
        f"among {count(point.records)} records, 95% limits {interval(point.low, point.high)}"
    )
    x, y = across(point.predicted), up(point.observed)
    if point.observed < up.low:
        # Nobody in the group has the secret: the point would lie infinitely far down.
        corners = [(x - 5, y - 9), (x + 5, y - 9), (x, y)]
        return element("path", hover(words), d=svg.path(corners) + " Z", class_=class_)
    return svg.dot(x, y, 4.5, words, class_=class_)
