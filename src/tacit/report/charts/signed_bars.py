"""Bars from a line at zero: to the right what adds, to the left what takes away."""

from __future__ import annotations

import math
from collections.abc import Sequence

from markupsafe import Markup

from tacit.document import SignedBar, SignedBars
from tacit.document.strings import shorten
from tacit.errors import Wording
from tacit.report.charts import svg
from tacit.report.charts.svg import PixelScale, Plot, element, hover, line, rectangle, text
from tacit.report.charts.units import ticked, written

_ROOM = 68.0


def draw(chart: SignedBars, wording: Wording, width: float) -> Markup:
    """The rows in their order; a small chart shows the largest first, without an axis."""
    rows = _largest(chart)
    values = [row.value for row in rows]
    largest = max((abs(v) for v in values if math.isfinite(v)), default=0.0) or 1.0
    # An infinite one is drawn a little longer than the largest finite one; its label says what it is.
    lengths = [math.copysign(1.3 * largest, v) if math.isinf(v) else v for v in values]
    low, high = min([0.0, *lengths]), max([0.0, *lengths])
    gutter = min(120.0 if chart.width else 230.0, width * 0.35)
    step, foot = (22.0, 2.0) if chart.width else (24.0, 46.0)
    plot = Plot(
        width, 2 + step * len(rows) + foot, left=gutter + (_ROOM if low < 0 else 6), right=_ROOM, top=2, bottom=foot
    )
    across = PixelScale(low, high if high > low else 1.0, plot.left, width - plot.right)
    parts = []
    if not chart.width:
        parts.append(
            svg.horizontal_axis(plot, across, chart.title, show=lambda tick: ticked(tick, chart.unit), grid=True)
        )
    parts += [_row(chart, row, plot.top + step * k, across, gutter) for k, row in enumerate(rows)]
    parts.append(line(across(0.0), plot.top, across(0.0), plot.floor, class_="axis"))
    words = ", ".join(f"{shorten(r.name, 40)} {written(r.value, chart.unit, with_unit=True, sign=True)}" for r in rows)
    return svg.drawing(width, plot.height, f"{chart.title}: {words}", *parts)


def _largest(chart: SignedBars) -> Sequence[SignedBar]:
    if chart.limit is None:
        return chart.rows
    ordered = sorted(chart.rows, key=lambda row: -abs(row.value))
    rest = ordered[chart.limit :]
    others = [SignedBar(f"{len(rest)} others", sum(row.value for row in rest))] if rest else []
    return [*ordered[: chart.limit], *others]


def _row(chart: SignedBars, row: SignedBar, y: float, across: PixelScale, gutter: float) -> Markup:
    zero, end = across(0.0), across(row.value)
    left = row.value < 0
    class_ = f"bar {'away' if left else 'toward'}{' infinite' if math.isinf(row.value) else ''}"
    shown = written(row.value, chart.unit, sign=True)
    return element(
        "g",
        hover(row.told or f"{row.name}: {written(row.value, chart.unit, with_unit=True, sign=True)}"),
        text(svg.fitted(row.name, gutter - 8), 2, y + 16, class_="name"),
        rectangle(min(zero, end), y + 5, abs(end - zero), 13, class_=class_),
        text(shown, end + (-5 if left else 5), y + 16, text_anchor="end" if left else "start", class_="value"),
    )
