"""Figures 1 and 2 as SVG that stands alone: colours, background and a dark form are in the file."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from compas_tradeoff import Tradeoff
from markupsafe import Markup
from numpy.typing import NDArray

from tacit.document.quantities import setting
from tacit.report.charts import svg
from tacit.report.charts.svg import Plot, Scale, element, line, rectangle, text

Matrix = NDArray[np.float64]

EPSILON = 0.85
MARKED = (0.1, 0.2, 0.3, 0.4, 0.5, 0.85)

STYLE = Markup("""
svg { --ink: #1b2027; --soft: #596270; --rule: #dfe3e8; --card: #ffffff; --first: #2f62c9; --second: #c2781d;
  --law: #1b2027; --box: #b3261e; --one: #14713d; --three: #a02c8c; --four: #0f7c8a; background: var(--card);
  font: 12px system-ui, -apple-system, "Segoe UI", Roboto, "Noto Sans", sans-serif; }
@media (prefers-color-scheme: dark) { svg { --ink: #e8ebef; --soft: #a3adba; --rule: #333b46; --card: #181c22;
  --first: #7aa5ff; --second: #eaa44f; --law: #e8ebef; --box: #ff8a80; --one: #6fd39a; --three: #f08adf;
  --four: #56c5d2; } }
text { fill: var(--ink); } .tick, .note { fill: var(--soft); } .panel { font-weight: 600; font-size: 13px; }
.card { fill: var(--card); stroke: var(--rule); } .axis { stroke: var(--soft); } .grid { stroke: var(--rule); }
.zero { stroke: var(--soft); stroke-width: 1; stroke-dasharray: 1 3; }
.dots { fill: none; stroke-width: 3.2; stroke-linecap: round; stroke-opacity: .55; }
.dots.first { stroke: var(--first); } .dots.second { stroke: var(--second); }
.law { fill: none; stroke: var(--law); stroke-width: 1.2; }
.box { fill: none; stroke: var(--box); stroke-width: 1.4; stroke-dasharray: 6 4; }
.mark { fill: var(--card); stroke-width: 2.2; } .mark.one { stroke: var(--one); } .mark.three { stroke: var(--three); }
.mark.four { stroke: var(--four); }
.curve { fill: none; stroke-width: 2; } .curve.first { stroke: var(--first); } .curve.second { stroke: var(--second); }
.test { stroke-dasharray: 5 3; } .point { stroke: var(--card); stroke-width: 1.5; }
.point.first { fill: var(--first); } .point.second { fill: var(--second); } .value { font-size: 11px; }
.value.first { fill: var(--first); } .value.second { fill: var(--second); }
""")


@dataclass(frozen=True)
class Cloud:
    """One panel of Figure 1: log-lifts of all records, and of the printed rows by the number of their table."""

    title: str
    note: str
    log_lift: Matrix
    printed: dict[str, Matrix]


@dataclass(frozen=True)
class Curve:
    """One line of Figure 2."""

    label: str
    class_: str
    tradeoff: Tradeoff
    labelled: bool = False


def figure_1(clouds: Sequence[Cloud], secret: NDArray[np.int64], prior: Matrix) -> Markup:
    """Log-lift of secret 1 against that of secret 0, the epsilon box, and the curve on which true lifts lie."""
    side, gap, top = 330.0, 26.0, 112.0
    low, high = _range([cloud.log_lift for cloud in clouds])
    width, height = len(clouds) * (side + gap) + gap, top + side + 8
    parts = [_card(width, height), _legend_1(gap, width)]
    for k, cloud in enumerate(clouds):
        left = gap + k * (side + gap)
        parts.append(
            element(
                "g",
                text(cloud.title, 0, top - 34, class_="panel"),
                text(cloud.note, 0, top - 17, class_="note"),
                _cloud(cloud, secret, prior, Plot(side, top + side, left=34, right=4, top=top, bottom=40), low, high),
                transform=f"translate({left:.0f} 0)",
            )
        )
    words = (
        f"Figure 1: estimated log-lift of Caucasian against that of African-American for {len(secret):,} records, "
        f"in {len(clouds)} panels: " + "; ".join(f"{cloud.title}, {cloud.note}" for cloud in clouds)
    )
    return svg.drawing(width, height, words, element("style", STYLE), *parts)


def _cloud(cloud: Cloud, secret: NDArray[np.int64], prior: Matrix, plot: Plot, low: float, high: float) -> Markup:
    across, up = plot.across(low, high), plot.up(low, high)
    parts: list[Markup] = []
    for tick in across.ticks(6):
        parts += [
            line(across(tick), plot.top, across(tick), plot.floor, class_="grid"),
            line(across.start, up(tick), across.end, up(tick), class_="grid"),
            text(_tick(tick), across(tick), plot.floor + 16, text_anchor="middle", class_="tick"),
            text(_tick(tick), across.start - 5, up(tick) + 4, text_anchor="end", class_="tick"),
        ]
    parts += [
        line(across(0), plot.top, across(0), plot.floor, class_="zero"),
        line(across.start, up(0), across.end, up(0), class_="zero"),
    ]
    # Under the dots: where these lie on it they would not be seen otherwise.
    parts.append(element("path", d=svg.path(_law(prior, low, high, across, up)), class_="law"))
    for s, class_ in enumerate(("first", "second")):
        parts.append(_dots(cloud.log_lift[secret == s], across, up, class_=f"dots {class_}"))
    left, bottom = across(-EPSILON), up(EPSILON)
    parts.append(rectangle(left, bottom, across(EPSILON) - left, up(-EPSILON) - bottom, class_="box"))
    for table, class_ in _MARKS.items():
        parts += [_mark(table, across(i0), up(i1), class_) for i0, i1 in cloud.printed.get(table, ())]
    middle = (across.start + across.end) / 2
    parts.append(text("i(0, x): African-American, nats", middle, plot.height - 6, text_anchor="middle"))
    parts.append(text("↑ i(1, x): Caucasian, nats", across.start + 6, plot.floor - 8, class_="note"))
    return element("g", *parts)


_MARKS = {"I": "mark one", "III": "mark three", "IV": "mark four"}


def _mark(table: str, x: float, y: float, class_: str) -> Markup:
    """A ring for Table I, a triangle for III, a square for IV."""
    if table == "III":
        return element("path", d=svg.path([(x - 5, y + 4), (x + 5, y + 4), (x, y - 5)]) + " Z", class_=class_)
    if table == "IV":
        return rectangle(x - 4, y - 4, 8, 8, class_=class_)
    return element("circle", cx=float(x), cy=float(y), r=4.5, class_=class_)


def _legend_1(x: float, width: float) -> Markup:
    entries: list[tuple[Markup, str]] = [
        (element("path", d="M8 6 h0", class_="dots first", style="stroke-width: 8"), "African-American record"),
        (element("path", d="M8 6 h0", class_="dots second", style="stroke-width: 8"), "Caucasian record"),
        (line(0, 6, 14, 6, class_="law"), "where true log-lifts lie: p₀eⁱ⁽⁰⁾ + p₁eⁱ⁽¹⁾ = 1"),
        (rectangle(1, 1, 12, 10, class_="box"), f"box of epsilon {EPSILON}"),
    ]
    marks = [(_mark(table, 7, 6, class_), f"rows of the paper's Table {table}") for table, class_ in _MARKS.items()]
    return element("g", _legend(entries, x, 14, width - 2 * x), _legend(marks, x, 34, width - 2 * x))


def _legend(entries: Sequence[tuple[Markup, str]], x: float, y: float, width: float) -> Markup:
    parts, at, row = [], x, 0
    for swatch, label in entries:
        needed = 20 + 6.1 * len(label) + 24
        if at > x and at + needed > x + width:
            at, row = x, row + 1
        place = f"translate({at:.0f} {y + 20 * row:.0f})"
        parts.append(element("g", swatch, text(label, 20, 10), transform=place))
        at += needed
    return element("g", *parts)


def _dots(points: Matrix, across: Scale, up: Scale, *, class_: str) -> Markup:
    """One path of round dots; those within half a pixel of another are drawn once."""
    places = sorted({(round(2 * across(x)) / 2, round(2 * up(y)) / 2) for x, y in points})
    return element("path", d=" ".join(f"M{x:g} {y:g}h0" for x, y in places), class_=class_)


def _law(prior: Matrix, low: float, high: float, across: Scale, up: Scale) -> list[tuple[float, float]]:
    """The curve from the edge of the picture along i0 until i1 leaves it."""
    i0 = np.concatenate([np.linspace(low, 0.0, 120), -np.log(prior[0]) - np.geomspace(-np.log(prior[0]), 1e-4, 200)])
    i1 = np.log((1 - prior[0] * np.exp(i0)) / prior[1])
    inside = (i1 >= low) & (i1 <= high)
    return [(across(x), up(y)) for x, y in zip(i0[inside], i1[inside], strict=True)]


def _range(clouds: Sequence[Matrix]) -> tuple[float, float]:
    low = min(-1.0, *(float(cloud.min()) for cloud in clouds))
    high = max(1.0, *(float(cloud.max()) for cloud in clouds))
    return np.floor(low * 4 - 0.2) / 4, np.ceil(high * 4 + 0.2) / 4


def figure_2(curves: Sequence[Curve], entropy: float) -> Markup:
    """Utility against leakage for every epsilon: by the printed gamma at the left, by what is leaked at the right."""
    side, tall, gap, top = 500.0, 340.0, 24.0, 116.0
    width, height = 2 * side + 3 * gap, top + tall + 44
    entries = [(line(0, 6, 16, 6, class_=f"curve {curve.class_}"), curve.label) for curve in curves]
    entries.append((element("circle", cx=8.0, cy=6.0, r=4.5, class_="point first"), "epsilon, written beside the dot"))
    words = "Figure 2: utility against leakage for all epsilon. " + " ".join(_told(curve) for curve in curves)
    parts = [_card(width, height), _legend(entries, gap, 14, width - 2 * gap)]
    panels = (
        (
            "(a) the paper's gamma (Proposition 2)",
            "a bound; infinite from epsilon = −log P(kept) on",
            "gamma",
            46.0,
            0.0,
            4.0,
        ),
        (
            "(b) the exact value",
            "the larger of: log-lift of the merged set (counted), largest risk kept (estimated)",
            "leakage",
            0.0,
            -0.1,
            2.0,
        ),
    )
    for k, (title, note, of, tail, least, most) in enumerate(panels):
        plot = Plot(side, height, left=40, right=10, top=top, bottom=44, tail=tail)
        panel = element(
            "g",
            text(title, 0, top - 42, class_="panel"),
            text(note, 0, top - 26, class_="note"),
            _tradeoffs(curves, of, plot, plot.across(least, most), plot.up(0.0, svg.nice_top(entropy))),
            transform=f"translate({gap + k * (side + gap):.0f} 0)",
        )
        parts.append(panel)
    return svg.drawing(width, height, words, element("style", STYLE), *parts)


def _tradeoffs(curves: Sequence[Curve], of: str, plot: Plot, across: Scale, up: Scale) -> Markup:
    parts: list[Markup] = []
    for tick in up.ticks(4):
        parts += [
            line(across.start, up(tick), plot.width - plot.right, up(tick), class_="grid"),
            text(_tick(tick), across.start - 5, up(tick) + 4, text_anchor="end", class_="tick"),
        ]
    parts.append(svg.horizontal_axis(plot, across, "Leakage: bound on abs(log-lift), nats"))
    parts.append(text("Utility I(X;Y), nats", across.start + 6, plot.top + 12, class_="note"))
    for curve in curves:
        trade = curve.tradeoff
        values = np.asarray(getattr(trade, of))
        finite = np.isfinite(values) & (values <= across.high)
        # Utility over infinite gamma is a line of its own in the slot at the right.
        for run in _runs(finite):
            path = [(across(values[j]), up(trade.utility[j])) for j in _thinned(run, values, trade.utility, across, up)]
            if len(path) > 1:
                parts.append(element("path", d=svg.path(path), class_=f"curve {curve.class_}"))
        infinite = np.isinf(values) & np.isfinite(trade.epsilons)
        if plot.tail and infinite.any():
            x = _beyond(plot, curve)
            reach = up(trade.utility[infinite].min()), up(trade.utility[infinite].max())
            parts.append(line(x, reach[0], x, reach[1], class_=f"curve {curve.class_}"))
    parts += [_points(curve, of, plot, across, up) for curve in curves if curve.labelled]
    return element("g", *parts)


def _points(curve: Curve, of: str, plot: Plot, across: Scale, up: Scale) -> Markup:
    """Dots at a few epsilons with their number beside them."""
    parts, trade, class_ = [], curve.tradeoff, curve.class_.split()[0]
    values, places = np.asarray(getattr(trade, of)), [trade.at(epsilon) for epsilon in MARKED]
    for k, (epsilon, j) in enumerate(zip(MARKED, places, strict=True)):
        if j in places[k + 1 :]:
            # The next epsilon keeps the same set: one dot with one label for both.
            continue
        value, y = float(values[j]), up(trade.utility[j])
        x = across(value) if np.isfinite(value) else _beyond(plot, curve)
        label = f"{epsilon:g}" if places.count(j) == 1 else f"≤ {epsilon:g}"
        parts.append(element("circle", cx=float(x), cy=float(y), r=4.5, class_=f"point {class_}"))
        at, down, anchor = x - 8, -5, "end"
        if np.isinf(value):
            at, down = plot.tail_middle - 17, 4
        if y > plot.floor - 4:
            at, down, anchor = x + 8, -8, "start"
        parts.append(text(label, at, y + down, text_anchor=anchor, class_=f"value {class_}"))
    return element("g", *parts)


def _beyond(plot: Plot, curve: Curve) -> float:
    """Where a line runs in the slot for infinite gamma; each has its own place."""
    return plot.tail_middle + (-8 if "first" in curve.class_ else 8) + (-3 if "test" in curve.class_ else 3)


def _told(curve: Curve) -> str:
    trade = curve.tradeoff
    told = ", ".join(f"{e:g}: {trade.utility[trade.at(e)]:.2f} nats" for e in MARKED)
    return f"{curve.label}, utility at epsilon {told}."


def _runs(mask: NDArray[np.bool_]) -> list[NDArray[np.int64]]:
    """Indices in stretches of True."""
    places = np.flatnonzero(mask)
    return [run for run in np.split(places, np.flatnonzero(np.diff(places) > 1) + 1) if len(run)]


def _thinned(run: NDArray[np.int64], values: Matrix, utility: Matrix, across: Scale, up: Scale) -> list[int]:
    """Only points that are at least a pixel from the last one drawn, and both ends."""
    kept = [int(run[0])]
    for j in map(int, run[1:]):
        i = kept[-1]
        moved = abs(across(values[j]) - across(values[i])) + abs(up(utility[j]) - up(utility[i]))
        if moved >= 1.5 or j == run[-1]:
            kept.append(j)
    return kept


def _card(width: float, height: float) -> Markup:
    return rectangle(0.5, 0.5, width - 1, height - 1, rx=6, class_="card")


def _tick(value: float) -> str:
    return "0" if abs(value) < 1e-9 else setting(value)
