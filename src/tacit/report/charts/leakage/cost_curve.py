"""What can be learned for a cost: leakage, precision and recall of every adversary."""

from __future__ import annotations

import math
from collections.abc import Sequence
from itertools import pairwise

from markupsafe import Markup

from tacit.document.leakage import CostCurve, CostPoint
from tacit.document.quantities import part, setting
from tacit.document.strings import shorten
from tacit.errors import Wording
from tacit.report.charts import svg
from tacit.report.charts.svg import PixelScale, Plot, element, line, text

# Above this ratio of the largest to the smallest cost a straight axis would press the cheap adversaries together.
_STRAIGHT = 60.0


def draw(chart: CostCurve, wording: Wording, width: float) -> Markup:
    """What can be learned for a cost: leakage with precision and recall, and the most that each amount buys."""
    shown = sorted((p for p in chart.points if math.isfinite(p.cost)), key=lambda p: (p.cost, p.leakage))
    costs = sorted({rung.cost for rung in shown})
    smallest = min((cost for cost in costs if cost > 0), default=1.0)
    straight = costs[-1] <= _STRAIGHT * smallest

    def far(cost: float) -> float:
        return cost if straight else math.log10(1 + cost / smallest)

    entries = [("bar", "leakage"), ("bar second", "precision"), ("bar third", "recall")]
    key, key_height = svg.legend([*entries, ("curve line", "most for the cost")], 2, 2, width=width - 4)
    plot = Plot(width, key_height + 330, left=44, right=28, top=key_height + 40)
    across, up = PixelScale(far(costs[0]), far(costs[-1]), plot.left + 16, width - plot.right - 8), plot.up(0.0, 1.0)
    title = "Cost of the adversary" if straight else "Cost of the adversary (stretched for small costs)"
    parts = [key, svg.vertical_axis(plot, up, "Leakage; higher is riskier", show=setting)]
    ticks = {far(cost): cost for cost in (costs[-1], costs[0], *costs)}
    parts.append(svg.horizontal_axis(plot, across, title, ticks=ticks, show=lambda tick: setting(ticks[tick])))
    spots = [(across(far(rung.cost)), up(rung.leakage)) for rung in shown]
    corners = _frontier(shown, spots, plot.width - plot.right)
    parts.append(element("path", d=svg.path(corners), class_="curve"))
    room = svg.Room()
    for (x, y), (u, v) in pairwise(corners):
        room.keep(min(x, u) - 2, max(x, u) + 2, min(y, v) - 2, max(y, v) + 2)
    parts.append(svg.level_mark(plot, up, chart.limit, room))
    for rung, (x, _) in zip(shown, spots, strict=True):
        parts.append(_rung_dots(rung, x, up))
        for value in (rung.leakage, rung.precision, rung.recall):
            room.keep(x - 5, x + 5, up(value) - 5, up(value) + 5)
    parts += _rung_names(shown, plot, spots, room)
    words = "; ".join(f"{shorten(r.name, 40)} costs {setting(r.cost)} and learns {part(r.leakage)}" for r in shown)
    return svg.drawing(width, plot.height, f"Leakage against cost. {words}", *parts)


def _frontier(
    shown: Sequence[CostPoint], spots: Sequence[tuple[float, float]], edge: float
) -> list[tuple[float, float]]:
    """Corners of the curve of the largest leakage available for at most each cost."""
    corners: list[tuple[float, float]] = []
    best = -math.inf
    for rung, (x, y) in zip(shown, spots, strict=True):
        if rung.leakage > best:
            corners += [(x, corners[-1][1]), (x, y)] if corners else [(x, y)]
            best = rung.leakage
    return [*corners, (edge, corners[-1][1])]


def _rung_dots(rung: CostPoint, x: float, up: PixelScale) -> Markup:
    parts = [line(x, up(min(rung.precision, rung.recall)), x, up(max(rung.precision, rung.recall)), class_="limits")]
    for class_, word, value, radius in (
        ("point second", "precision", rung.precision, 3.5),
        ("point third", "recall", rung.recall, 3.5),
        ("point", "leakage", rung.leakage, 5.5),
    ):
        words = f"{rung.name}: {word} {part(value)} for a cost of {setting(rung.cost)}"
        parts.append(svg.dot(x, up(value), radius, words, class_=class_))
    return element("g", *parts)


def _rung_names(
    shown: Sequence[CostPoint], plot: Plot, spots: Sequence[tuple[float, float]], room: svg.Room
) -> list[Markup]:
    """Names next to the points, above or below them, clear of lines, points and other names."""
    parts = []
    for rung, (x, y) in zip(shown, spots, strict=True):
        name = svg.fitted(rung.name, min(170.0, plot.width * 0.4))
        wide = svg.text_width(name)
        sides = [start for start in (x + 9, x - 9 - wide) if plot.left < start and start + wide < plot.width - 2]
        places = [(start, y + down) for down in (-8, 18, -22, 32, -36, 46, 4) for start in sides]
        inside = [(start, at) for start, at in places if plot.top - 6 < at < plot.floor - 4]
        place = next((place for place in inside if room.take(*place, name)), None)
        if place is not None:
            parts.append(text(name, *place, class_="mark-label"))
    return parts
