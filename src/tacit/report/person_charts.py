"""Charts about a person: the ladder of adversaries, what tells and what misleads, and what an action would change.

All of them are pure functions from numbers to inline SVG, as in :mod:`tacit.report.charts`.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise

from markupsafe import Markup

from tacit.report import svg
from tacit.report.numbers import count, part, setting, share, signed_part
from tacit.report.svg import Plot, Scale, element, hover, line, rectangle, text
from tacit.report.words import shorten
from tacit.workflows.person_results import PopulationRung, ReleaseOption, RemovalStep, Rung

# Above this ratio of the largest to the smallest cost a straight axis would press the cheap adversaries together.
_STRAIGHT = 60.0


# Left, right, top and bottom of something drawn.
Box = tuple[float, float, float, float]


@dataclass(frozen=True)
class Trio:
    """A row of the ladder: who, with a word under the name, and the three numbers."""

    name: str
    note: str
    leakage: float
    precision: float
    recall: float


@dataclass(frozen=True)
class Signed:
    """A bar to the right if it adds to the leakage and to the left if it takes from it."""

    name: str
    value: float
    told: str


@dataclass(frozen=True)
class Change:
    """What something changes: a leakage before and after."""

    name: str
    before: float
    after: float


def ladder(rows: Sequence[Trio], *, limit: float | None, width: float) -> Markup:
    """Leakage, precision and recall of each row as bars from 0 to 1."""
    gutter = min(190.0, width * 0.3)
    entries = [("bar", "leakage"), ("bar second", "precision"), ("bar third", "recall")]
    key, key_height = svg.legend(entries, 2, 2, width=width - 4)
    top = key_height + (30 if limit is not None else 12)
    plot = Plot(width, top + 60 * len(rows) + 46, left=gutter, right=52, top=top)
    across = plot.across(0.0, 1.0)
    parts = [key, svg.horizontal_axis(plot, across, "0: nothing known … 1: all of it, and nothing wrong", grid=True)]
    parts += [_trio(row, plot.top + 60 * k, across) for k, row in enumerate(rows)]
    parts.append(_limit_line(plot, across, limit))
    told = "; ".join(
        f"{shorten(row.name, 40)}: leakage {part(row.leakage)}, precision {part(row.precision)}, "
        f"recall {part(row.recall)}"
        for row in rows
    )
    return svg.drawing(width, plot.height, f"Leakage, precision and recall. {told}", *parts)


def _trio(row: Trio, y: float, across: Scale) -> Markup:
    room = across.start - 10
    parts = [
        element("text", hover(row.name), svg.fitted(row.name, room), x=2.0, y=y + 25, class_="name strong"),
        element("text", hover(row.note), svg.fitted(row.note, room), x=2.0, y=y + 42, class_="tick"),
    ]
    values = (("bar", "leakage", row.leakage), ("bar second", "precision", row.precision))
    for place, (class_, word, value) in enumerate((*values, ("bar third", "recall", row.recall))):
        at, end = y + 8 + 16 * place, across(value)
        told = hover(f"{row.name}: {word} {part(value)}")
        parts.append(rectangle(across.start, at, end - across.start, 13, told, class_=class_))
        parts.append(text(part(value), end + 6, at + 11, class_="value"))
    return element("g", *parts)


def _limit_line(plot: Plot, across: Scale, limit: float | None) -> Markup:
    if limit is None:
        return Markup()
    label = f"limit {setting(limit)}"
    half = svg.text_width(label) / 2
    middle = min(max(across(limit), half + 2), plot.width - half - 2)
    return element(
        "g",
        line(across(limit), plot.top - 4, across(limit), plot.floor, class_="mark line"),
        text(label, middle, plot.top - 8, text_anchor="middle", class_="mark-label"),
    )


# ---- leakage against cost -----------------------------------------------------------------------------------------


def worth_a_curve(rungs: Sequence[Rung]) -> bool:
    """Whether the adversaries differ in cost, so that there is something to draw against it."""
    return len({rung.cost for rung in rungs if math.isfinite(rung.cost)}) > 1


def cost_curve(rungs: Sequence[Rung], *, limit: float | None, width: float) -> Markup:
    """What can be learned for a cost: leakage with precision and recall, and the most that so much money buys."""
    shown = sorted((rung for rung in rungs if math.isfinite(rung.cost)), key=lambda rung: (rung.cost, rung.leakage))
    costs = sorted({rung.cost for rung in shown})
    smallest = min((cost for cost in costs if cost > 0), default=1.0)
    straight = costs[-1] <= _STRAIGHT * smallest

    def far(cost: float) -> float:
        return cost if straight else math.log10(1 + cost / smallest)

    entries = [("bar", "leakage"), ("bar second", "precision"), ("bar third", "recall")]
    key, key_height = svg.legend([*entries, ("curve line", "most for the cost")], 2, 2, width=width - 4)
    plot = Plot(width, key_height + 330, left=44, right=28, top=key_height + 40)
    across, up = Scale(far(costs[0]), far(costs[-1]), plot.left + 16, width - plot.right - 8), plot.up(0.0, 1.0)
    title = "Cost of the adversary" if straight else "Cost of the adversary (stretched for small costs)"
    parts = [key, svg.vertical_axis(plot, up, "Leakage; higher is riskier", show=setting)]
    parts.append(_cost_axis(plot, across, costs, far, title))
    spots = [(across(far(rung.cost)), up(rung.leakage)) for rung in shown]
    corners = _frontier(shown, spots, plot.width - plot.right)
    parts.append(element("path", d=svg.path(corners), class_="curve"))
    busy: list[Box] = [
        (min(x, u) - 2, max(x, u) + 2, min(y, v) - 2, max(y, v) + 2) for (x, y), (u, v) in pairwise(corners)
    ]
    if limit is not None:
        parts.append(line(plot.left, up(limit), plot.width - plot.right, up(limit), class_="mark line"))
        label, edge = f"limit {setting(limit)}", plot.width - plot.right
        parts.append(text(label, edge, up(limit) + 15, text_anchor="end", class_="mark-label"))
        busy += [(plot.left, edge, up(limit) - 1, up(limit) + 1), (edge - 70, edge, up(limit), up(limit) + 17)]
    for rung, (x, _) in zip(shown, spots, strict=True):
        parts.append(_rung_dots(rung, x, up))
        busy += [(x - 5, x + 5, up(v) - 5, up(v) + 5) for v in (rung.leakage, rung.precision, rung.recall)]
    parts += _rung_names(shown, plot, spots, busy)
    told = "; ".join(f"{shorten(r.adversary, 40)} costs {setting(r.cost)} and learns {part(r.leakage)}" for r in shown)
    return svg.drawing(width, plot.height, f"Leakage against cost. {told}", *parts)


def _frontier(shown: Sequence[Rung], spots: Sequence[tuple[float, float]], edge: float) -> list[tuple[float, float]]:
    """Corners of the largest leakage to be had for at most a cost."""
    corners: list[tuple[float, float]] = []
    best = -math.inf
    for rung, (x, y) in zip(shown, spots, strict=True):
        if rung.leakage > best:
            corners += [(x, corners[-1][1]), (x, y)] if corners else [(x, y)]
            best = rung.leakage
    return [*corners, (edge, corners[-1][1])]


def _cost_axis(plot: Plot, across: Scale, costs: Sequence[float], far: Callable[[float], float], title: str) -> Markup:
    """Ticks at the costs themselves, the largest and the smallest first, others where there is room."""
    parts = [line(plot.left, plot.floor, plot.width - plot.right, plot.floor, class_="axis")]
    taken: list[tuple[float, float]] = []
    for cost in dict.fromkeys((costs[-1], costs[0], *costs)):
        x, label = across(far(cost)), setting(cost)
        parts.append(line(x, plot.floor, x, plot.floor + 4, class_="axis"))
        half = svg.text_width(label) / 2
        if all(x + half + 6 < start or end < x - half - 6 for start, end in taken):
            parts.append(text(label, x, plot.floor + 17, text_anchor="middle", class_="tick"))
            taken.append((x - half, x + half))
    middle = (across.start + across.end) / 2
    parts.append(
        text(svg.fitted(title, plot.width - 8), middle, plot.height - 8, text_anchor="middle", class_="axis-title")
    )
    return element("g", *parts)


def _rung_dots(rung: Rung, x: float, up: Scale) -> Markup:
    parts = [line(x, up(min(rung.precision, rung.recall)), x, up(max(rung.precision, rung.recall)), class_="limits")]
    for class_, word, value, radius in (
        ("point second", "precision", rung.precision, 3.5),
        ("point third", "recall", rung.recall, 3.5),
        ("point", "leakage", rung.leakage, 5.5),
    ):
        told = hover(f"{rung.adversary}: {word} {part(value)} for a cost of {setting(rung.cost)}")
        parts.append(element("circle", told, cx=x, cy=up(value), r=radius, class_=class_))
    return element("g", *parts)


def _rung_names(
    shown: Sequence[Rung], plot: Plot, spots: Sequence[tuple[float, float]], busy: list[Box]
) -> list[Markup]:
    """Names beside the points, above or below them, where neither a line, a point nor another name is."""
    parts = []
    for rung, (x, y) in zip(shown, spots, strict=True):
        name = svg.fitted(rung.adversary, min(170.0, plot.width * 0.4))
        wide = svg.text_width(name)
        sides = [start for start in (x + 9, x - 9 - wide) if plot.left < start and start + wide < plot.width - 2]
        tried = [(start, y + down) for down in (-8, 18, -22, 32, -36, 46, 4) for start in sides]
        for start, at in tried:
            box = (start, start + wide, at - 11, at + 4)
            if plot.top - 6 < at < plot.floor - 4 and not any(_overlap(box, other) for other in busy):
                busy.append(box)
                parts.append(text(name, start, at, class_="mark-label"))
                break
    return parts


def _overlap(one: Box, other: Box) -> bool:
    return one[0] < other[1] and other[0] < one[1] and one[2] < other[3] and other[2] < one[3]


# ---- signed and plain bars ----------------------------------------------------------------------------------------


def signed_bars(rows: Sequence[Signed], *, title: str, width: float) -> Markup:
    """Bars from a line at zero: to the right what adds to the leakage, to the left what takes from it."""
    gutter = min(230.0, width * 0.36)
    values = [row.value for row in rows if math.isfinite(row.value)]
    low, high = min([*values, 0.0]), max([*values, 0.0])
    if low == high:
        high = 1.0
    room = 62.0
    plot = Plot(width, 10 + 24 * len(rows) + 46, left=gutter + (room if low < 0 else 6), right=room, top=10)
    across = Scale(low, high, plot.left, width - plot.right)
    parts = [_signed_axis(plot, across, title)]
    for k, row in enumerate(rows):
        parts.append(_signed_row(row, plot.top + 24 * k, across, gutter))
    parts.append(line(across(0.0), plot.top, across(0.0), plot.floor, class_="axis"))
    told = "; ".join(f"{shorten(row.name, 40)} {signed_part(row.value)}" for row in rows)
    return svg.drawing(width, plot.height, f"{title}: {told}", *parts)


def _signed_axis(plot: Plot, across: Scale, title: str) -> Markup:
    parts = []
    for tick in across.ticks(max(2, round((across.end - across.start) / 110))):
        x = across(tick)
        parts.append(line(x, plot.top, x, plot.floor, class_="grid"))
        parts.append(text(setting(tick), x, plot.floor + 17, text_anchor="middle", class_="tick"))
    shown = svg.fitted(title, plot.width - 4)
    parts.append(text(shown, plot.width / 2, plot.height - 8, text_anchor="middle", class_="axis-title"))
    return element("g", *parts)


def _signed_row(row: Signed, y: float, across: Scale, gutter: float) -> Markup:
    zero, end = across(0.0), across(row.value)
    left = row.value < 0
    return element(
        "g",
        hover(row.told),
        text(svg.fitted(row.name, gutter - 8), 2, y + 16, class_="name"),
        rectangle(min(zero, end), y + 5, abs(end - zero), 14, class_="bar away" if left else "bar toward"),
        text(
            signed_part(row.value),
            end + (-5 if left else 5),
            y + 16,
            text_anchor="end" if left else "start",
            class_="value",
        ),
    )


def plain_bars(
    rows: Sequence[tuple[str, float, str]],
    *,
    title: str,
    width: float,
    chosen: Sequence[bool] | None = None,
    show: Callable[[float], str] = setting,
) -> Markup:
    """Bars from zero with the number written beside each; those chosen in another colour."""
    gutter = min(230.0, width * 0.36)
    room = max((svg.text_width(written) for _, _, written in rows), default=0.0) + 8
    plot = Plot(width, 10 + 24 * len(rows) + 46, left=gutter, right=room, top=10)
    across = plot.across(0.0, svg.nice_top(max((v for _, v, _ in rows if math.isfinite(v)), default=0.0)))
    parts = [svg.horizontal_axis(plot, across, svg.fitted(title, width - 4), show=show, grid=True)]
    for k, (name, value, written) in enumerate(rows):
        y, end = plot.top + 24 * k, across(value)
        class_ = "bar third" if chosen is not None and chosen[k] else "bar"
        parts += [
            element("text", hover(name), svg.fitted(name, gutter - 8), x=2.0, y=y + 16, class_="name"),
            rectangle(across.start, y + 5, end - across.start, 14, hover(f"{name}: {written}"), class_=class_),
            text(written, end + 6, y + 16, class_="value"),
        ]
    told = "; ".join(f"{shorten(name, 40)} {written}" for name, _, written in rows)
    return svg.drawing(width, plot.height, f"{title}: {told}", *parts)


# ---- before and after ---------------------------------------------------------------------------------------------


def change_strip(change: Change, *, limit: float | None, width: float = 320) -> Markup:
    """Before and after on one line from 0 to 1, an arrow between them."""
    across = Scale(0.0, 1.0, 12, width - 12)
    told = f"{change.name}: from {part(change.before)} to {part(change.after)}"
    parts = [line(across.start, 30, across.end, 30, class_="grid")]
    for tick in (0.0, 0.5, 1.0):
        parts.append(line(across(tick), 27, across(tick), 33, class_="axis"))
        parts.append(text(setting(tick), across(tick), 48, text_anchor="middle", class_="tick"))
    if limit is not None:
        parts.append(line(across(limit), 20, across(limit), 38, class_="mark line"))
    parts.append(_arrow(change, 30, across, told))
    return svg.drawing(width, 52, told, *parts, class_="chart strip")


def _arrow(change: Change, y: float, across: Scale, told: str) -> Markup:
    before, after = across(change.before), across(change.after)
    first, last = part(change.before), part(change.after)
    tone = "stays" if first == last else "falls" if change.after < change.before else "rises"
    near = abs(before - after) < (svg.text_width(first) + svg.text_width(last)) / 2 + 6
    # Two numbers that would run into each other are written as one.
    labels = [(f"{first} → {last}", (before + after) / 2)] if near else [(first, before), (last, after)]
    if tone == "stays":
        labels = [(f"{first}, as before", before)]
    parts = [hover(told), line(before, y, after, y, class_=f"change {tone}")]
    parts.append(element("circle", cx=before, cy=y, r=4.5, class_="was"))
    parts.append(element("circle", cx=after, cy=y, r=5.5, class_=f"becomes {tone}"))
    for label, x in labels:
        half = svg.text_width(label) / 2
        middle = min(max(x, half), across.end + 12 - half)
        parts.append(text(label, middle, y - 12, text_anchor="middle", class_="value"))
    return element("g", *parts)


def changes(rows: Sequence[Change], *, limit: float | None, width: float) -> Markup:
    """Before and after of every row on one axis from 0 to 1."""
    gutter = min(190.0, width * 0.3)
    key, key_height = svg.legend(
        [("was", "before"), ("becomes falls", "after: lower"), ("becomes rises", "after: higher")],
        2,
        2,
        width=width - 4,
    )
    top = key_height + (30 if limit is not None else 12)
    plot = Plot(width, top + 46 * len(rows) + 46, left=gutter, right=30, top=top)
    across = plot.across(0.0, 1.0)
    parts = [key, svg.horizontal_axis(plot, across, "Leakage; higher is riskier", grid=True)]
    parts.append(_limit_line(plot, across, limit))
    for k, row in enumerate(rows):
        y = plot.top + 46 * k + 30
        parts.append(element("text", hover(row.name), svg.fitted(row.name, gutter - 14), x=2.0, y=y + 4, class_="name"))
        parts.append(_arrow(row, y, across, f"{row.name}: from {part(row.before)} to {part(row.after)}"))
    told = "; ".join(f"{shorten(row.name, 40)} from {part(row.before)} to {part(row.after)}" for row in rows)
    return svg.drawing(width, plot.height, f"Leakage before and after. {told}", *parts)


def option_bars(
    options: Sequence[ReleaseOption], before: Mapping[str, float], *, limit: float | None, width: float
) -> Markup:
    """Leakage after each option under each adversary, with a line where it stands before."""
    gutter = min(210.0, width * 0.34)
    key, key_height = svg.legend([("bar", "leakage after"), ("null-mark line", "before")], 2, 2, width=width - 4)
    top = key_height + (30 if limit is not None else 12)
    tall = sum(30 + 18 * len(option.after) for option in options)
    plot = Plot(width, top + tall + 46, left=gutter, right=52, top=top)
    across = plot.across(0.0, 1.0)
    parts = [key, svg.horizontal_axis(plot, across, "Leakage; higher is riskier", grid=True)]
    parts.append(_limit_line(plot, across, limit))
    y = plot.top
    for option in options:
        name = f"{option.slot}: {option.option}"
        parts.append(element("text", hover(name), svg.fitted(name, width - 60), x=2.0, y=y + 20, class_="value"))
        for k, (adversary, after) in enumerate(option.after.items()):
            at = y + 27 + 18 * k
            parts.append(_option_row(f"{name}, {adversary}", adversary, before.get(adversary), after, at, across))
        y += 30 + 18 * len(option.after)
    told = "; ".join(
        f"{shorten(o.option, 40)}: " + ", ".join(f"{shorten(a, 30)} {part(v)}" for a, v in o.after.items())
        for o in options
    )
    return svg.drawing(width, plot.height, f"Leakage after each option. {told}", *parts)


def _option_row(told: str, adversary: str, was: float | None, after: float, y: float, across: Scale) -> Markup:
    end = across(after)
    parts = [
        hover(f"{told}: {part(was)} before, {part(after)} after"),
        text(svg.fitted(adversary, across.start - 24), 14, y + 11, class_="tick"),
        rectangle(across.start, y, end - across.start, 13, class_="bar"),
    ]
    if was is not None:
        parts.append(line(across(was), y - 1, across(was), y + 14, class_="null-mark line"))
    parts.append(text(part(after), max(end, across(was or 0.0)) + 6, y + 11, class_="value"))
    return element("g", *parts)


# ---- removals and populations -------------------------------------------------------------------------------------


def removal_curve(before: float, steps: Sequence[RemovalStep], *, limit: float | None, width: float) -> Markup:
    """Leakage after every request: if all succeed, and expected."""
    key, key_height = svg.legend(
        [("curve line", "if every request succeeds"), ("outline line", "expected")], 2, 2, width=width - 4
    )
    plot = Plot(width, key_height + 340, left=44, right=24, top=key_height + 34, bottom=64)
    across, up = plot.across(0.0, max(1, len(steps))), plot.up(0.0, 1.0)
    parts = [key, svg.vertical_axis(plot, up, "Leakage; higher is riskier", show=setting)]
    if limit is not None:
        parts.append(line(plot.left, up(limit), plot.width - plot.right, up(limit), class_="mark line"))
        edge = plot.width - plot.right
        parts.append(text(f"limit {setting(limit)}", edge, up(limit) + 15, text_anchor="end", class_="mark-label"))
    parts.append(_step_axis(plot, across, steps))
    for class_, dot, word, values in (
        ("curve", "point", "if removed", [step.if_removed for step in steps]),
        ("outline", "point third", "expected", [step.expected for step in steps]),
    ):
        points = [(across(k), up(value)) for k, value in enumerate([before, *values])]
        parts.append(element("path", d=svg.path(points), class_=class_))
        for k, (x, y) in enumerate(points[1:], start=1):
            said = hover(f"after {steps[k - 1].source}: {word} {part(values[k - 1])}")
            parts.append(element("circle", said, cx=x, cy=y, r=4.0, class_=dot))
    parts.append(element("circle", hover(f"now: {part(before)}"), cx=across(0), cy=up(before), r=5.0, class_="was"))
    told = "; ".join(f"{shorten(s.source, 40)}: {part(s.if_removed)}, expected {part(s.expected)}" for s in steps)
    return svg.drawing(width, plot.height, f"Leakage now {part(before)}, and after removing {told}", *parts)


def _step_axis(plot: Plot, across: Scale, steps: Sequence[RemovalStep]) -> Markup:
    """A tick a request with its source; numbers alone where the names would not fit."""
    parts = [line(across.start, plot.floor, across.end, plot.floor, class_="axis")]
    gap = (across.end - across.start) / max(1, len(steps))
    for k in range(len(steps) + 1):
        x = across(k)
        parts.append(line(x, plot.floor, x, plot.floor + 4, class_="axis"))
        shown = "now" if k == 0 else f"{k}."
        parts.append(text(shown, x, plot.floor + 17, text_anchor="middle", class_="tick"))
        if k and gap > 56:
            name = svg.fitted(steps[k - 1].source, gap - 8)
            anchor, at = ("end", plot.width - 2) if x + svg.text_width(name) / 2 > plot.width else ("middle", x)
            parts.append(text(name, at, plot.floor + 33, text_anchor=anchor, class_="name"))
    title = "Requests, in the order to make them"
    parts.append(
        text(title, (across.start + across.end) / 2, plot.height - 8, text_anchor="middle", class_="axis-title")
    )
    return element("g", *parts)


def histograms(rungs: Sequence[PopulationRung], *, limit: float | None, width: float) -> Markup:
    """Share of persons by leakage, one panel an adversary on the same scales."""
    high = max((max(rung.bins, default=0) / max(1, sum(rung.bins)) for rung in rungs), default=0.0)
    peak, panel = svg.nice_top(high, about=4), 176.0
    parts = []
    for k, rung in enumerate(rungs):
        plot = Plot(width, panel * (k + 1) + 22, left=52, right=20, top=panel * k + 46)
        parts.append(_panel(rung, plot, peak, limit, last=k == len(rungs) - 1))
    told = "; ".join(
        f"{shorten(r.adversary, 40)}: mean {part(r.mean)}, median {part(r.quantiles.get('50%'))}" for r in rungs
    )
    return svg.drawing(width, panel * len(rungs) + 22, f"Persons by leakage. {told}", *parts)


def _panel(rung: PopulationRung, plot: Plot, peak: float, limit: float | None, *, last: bool) -> Markup:
    across, up = plot.across(0.0, 1.0), plot.up(0.0, peak)
    persons, bins = max(1, sum(rung.bins)), len(rung.bins)
    name = svg.fitted(rung.adversary, plot.width - 150)
    parts = [text(name, 2, plot.top - 28, class_="value")]
    parts.append(
        svg.vertical_axis(plot, up, "Share of persons", show=lambda value: f"{setting(100 * value)}%", lift=-4)
    )
    for k, found in enumerate(rung.bins):
        x, y = across(k / bins), up(found / persons)
        told = (
            f"{rung.adversary}: {count(found)} persons ({share(found / persons)}) have a leakage from "
            f"{setting(k / bins)} to {setting((k + 1) / bins)}"
        )
        wide = across((k + 1) / bins) - x - 1
        parts.append(rectangle(x + 0.5, y, wide, plot.floor - y, hover(told), class_="bar"))
    median = rung.quantiles.get("50%")
    if median is not None:
        x = across(median)
        parts.append(line(x, plot.top, x, plot.floor, class_="null-mark line"))
    if limit is not None:
        parts.append(line(across(limit), plot.top, across(limit), plot.floor, class_="mark line"))
    title = "Leakage of a person; higher is riskier" if last else ""
    parts.append(svg.horizontal_axis(plot, across, title))
    return element("g", *parts)
