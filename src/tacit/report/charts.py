"""The charts of a report: pure functions from numbers to inline SVG.

Every function takes the width in pixels, so that a narrow page gets its own drawing instead of shrunken text.
Colours are classes; the style sheet of the page gives them a light, a dark and a printed form.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from markupsafe import Markup

from tacit.report import svg
from tacit.report.numbers import band, number, setting, share, signed, with_unit
from tacit.report.svg import Plot, Scale, element, hover, line, rectangle, text
from tacit.report.words import badge, shorten
from tacit.workflows.results import (
    Adversary,
    AttackResult,
    ColumnLeak,
    CurvePoint,
    MeasureFinding,
    RiskHistogram,
    SecretValue,
)

_TAIL = 52.0


@dataclass(frozen=True)
class Layer:
    """One histogram of a chart, its name, and whether it is filled or drawn as an outline."""

    label: str
    histogram: RiskHistogram
    kind: Literal["bar", "outline"] = "bar"


def measure_strip(measure: MeasureFinding, *, width: float = 200) -> Markup:
    """The value of a measure as a dot beside the null band, from 0 to a little beyond the larger of the two."""
    finite = [v for v in (measure.value, measure.null_low, measure.null_high) if math.isfinite(v)]
    infinite = math.isinf(measure.value) or math.isinf(measure.null_high)
    top = svg.nice_top(max(finite, default=1.0) * 1.02, about=4)
    end = width - 12 - (30 if infinite else 0)
    scale, edge = Scale(0.0, top, 10, end), width - 12

    def at(value: float) -> float:
        return edge if math.isinf(value) else scale(value)

    shuffled = band(measure.null_low, measure.null_high, unit=measure.unit)
    words = f"{measure.title}: {with_unit(measure.value, measure.unit)}; shuffled {shuffled}; {measure.verdict}"
    low, high = at(measure.null_low), at(measure.null_high)
    last = _tick_share(top) if measure.unit == "probability" else setting(top)
    parts = [
        line(scale.start, 12, scale.end, 12, class_="axis"),
        rectangle(low, 6, max(2.0, high - low), 12, hover(words), class_="null"),
        element(
            "circle", hover(words), cx=at(measure.value), cy=12.0, r=5.0, class_=f"dot {badge(measure.verdict).tone}"
        ),
        text("0", scale.start, 32, text_anchor="middle", class_="tick"),
        text(last, scale.end, 32, text_anchor="middle", class_="tick"),
    ]
    if infinite:
        parts.append(text("∞", edge, 32, text_anchor="middle", class_="tick infinite"))
    return svg.drawing(width, 36, words, *parts, class_="chart strip")


def risk_histogram(layers: Sequence[Layer], *, lines: Sequence[tuple[float, str]], unit: str, width: float) -> Markup:
    """Share of records by risk, the infinite ones in a bar apart, with lines at some epsilons."""
    tail = _TAIL if any(layer.histogram.infinite_share > 0 for layer in layers) else 0.0
    high = max((edge for layer in layers for edge in layer.histogram.edges if math.isfinite(edge)), default=1.0) or 1.0
    marked = [(value, label) for value, label in lines if 0 < value <= high]
    rows = _rows(marked, width=width - 68 - tail, high=high)
    entries = [("bar", "share of records"), ("bar infinite", "risk ∞")][: 2 if tail else 1]
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
    parts = [key, svg.vertical_axis(plot, up, "Share of records", show=_tick_share, lift=labels)]
    parts += [
        _bars(layer, plot, across, up) if layer.kind == "bar" else _outline(layer, plot, across, up) for layer in layers
    ]
    parts.append(_marks(plot, across, marked, rows, lift=headroom))
    parts.append(svg.horizontal_axis(plot, across, f"Risk of a record ({unit}); higher is riskier"))
    return svg.drawing(width, plot.height, _histogram_words(layers, unit), *parts)


def _tick_share(value: float) -> str:
    return f"{setting(100 * value)}%"


def _histogram_words(layers: Sequence[Layer], unit: str) -> str:
    told = [
        f"{layer.label}: {share(layer.histogram.infinite_share)} of records have infinite risk"
        + "".join(
            f"; the {name} quantile is {number(value)} {unit}" for name, value in layer.histogram.quantiles.items()
        )
        for layer in layers
    ]
    return "Histogram of records by risk. " + ". ".join(told)


def _bins(histogram: RiskHistogram) -> list[tuple[float, float, float]]:
    return list(zip(histogram.edges, histogram.edges[1:], histogram.shares, strict=False))


def _bars(layer: Layer, plot: Plot, across: Scale, up: Scale) -> Markup:
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


def _outline(layer: Layer, plot: Plot, across: Scale, up: Scale) -> Markup:
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


def _rows(marks: Sequence[tuple[float, str]], *, width: float, high: float) -> list[int]:
    """The row of each label, so that labels of near lines do not run into each other."""
    ends: list[float] = []
    rows = []
    for value, label in marks:
        half = svg.text_width(label) / 2
        start, end = value / high * width - half, value / high * width + half + 8
        row = next((k for k, taken in enumerate(ends) if taken <= start), len(ends))
        ends[row:] = [end, *ends[row + 1 :]]
        rows.append(row)
    return rows


def _marks(
    plot: Plot, across: Scale, marks: Sequence[tuple[float, str]], rows: Sequence[int], *, lift: float = 0
) -> Markup:
    """Upright lines with their labels above the plot; all lines come first, so that none runs through a label."""
    tops = [plot.top - 8 - lift - 15 * row for row in rows]
    parts = []
    for (value, _), top in zip(marks, tops, strict=True):
        parts.append(line(across(value), top + 4, across(value), plot.floor, class_="mark line"))
    for (value, label), top in zip(marks, tops, strict=True):
        half = svg.text_width(label) / 2
        middle = min(max(across(value), half + 2), plot.width - half - 2)
        parts.append(text(label, middle, top, text_anchor="middle", class_="mark-label"))
    return element("g", *parts)


def trade_off(
    curve: Sequence[CurvePoint], *, mark: tuple[float, float] | None, label: str, unit: str, width: float
) -> Markup:
    """Epsilon attained against the loss in utility; ``mark`` is an epsilon attained and its loss, told as ``label``.

    The mark need not be a point of the curve: another mechanism than the one of the curve may lose less.
    """
    finite = [p for p in curve if math.isfinite(p.attained)]
    plot = Plot(width, 300, top=46, tail=_TAIL if len(finite) < len(curve) else 0.0)
    across = plot.across(0.0, svg.nice_top(max((p.attained for p in finite), default=0.0)))
    up = plot.up(0.0, svg.nice_top(max((p.nmil for p in curve), default=0.0), about=4))

    def at(attained: float, nmil: float) -> tuple[float, float]:
        return (across(attained) if math.isfinite(attained) else plot.tail_middle), up(nmil)

    parts = [
        svg.vertical_axis(plot, up, "Loss in utility (NMIL); lower is better", show=_tick_share),
        svg.horizontal_axis(plot, across, f"Epsilon attained ({unit}); lower is safer"),
    ]
    if len(finite) > 1:
        parts.append(element("path", d=svg.path(sorted(at(p.attained, p.nmil) for p in finite)), class_="curve"))
    if mark is not None:
        parts.append(_callout(f"{label}: loses {share(mark[1])}", at(*mark), plot))
    for k, p in enumerate(curve):
        x, y = at(p.attained, p.nmil)
        told = hover(f"{_point_words(p, unit)}; {share(p.records_kept)} of records kept as they are")
        parts.append(element("circle", told, cx=x, cy=y, r=3.5, class_="point", data_k=k))
    words = f"Trade-off over {len(curve)} values of epsilon: " + "; ".join(_point_words(p, unit) for p in curve)
    return svg.drawing(width, plot.height, words, *parts)


def _point_words(p: CurvePoint, unit: str) -> str:
    return f"epsilon {setting(p.epsilon)} {unit} attains {number(p.attained)} and loses {share(p.nmil)}"


def _callout(label: str, at: tuple[float, float], plot: Plot) -> Markup:
    x, y = at
    wide = svg.text_width(label)
    right = x + 12 + wide < plot.width - 4
    beside = x + 12 if right else max(x - 12, wide + 4)
    anchor = "start" if right else "end"
    return element(
        "g",
        element("circle", hover(label), cx=x, cy=y, r=7.0, class_="point chosen"),
        text(label, beside, max(y - 10, plot.top + 14), text_anchor=anchor, class_="mark-label"),
    )


def column_bars(leaks: Sequence[ColumnLeak], *, unit: str, width: float) -> Markup:
    """What each column gives away alone and what it adds to the others, with what shuffled secrets give."""
    gutter = min(180.0, width * 0.3)
    entries = [
        ("bar", "alone"),
        ("bar second", "added to the others"),
        ("null-mark line", "95% of shuffles stay below"),
    ]
    key, key_height = svg.legend(entries, 2, 2, width=width - 4)
    plot = Plot(width, key_height + 10 + 42 * len(leaks) + 46, left=gutter, right=66, top=key_height + 10)
    every = [v for c in leaks for v in (c.alone, c.given_others, c.alone_null, c.given_others_null) if math.isfinite(v)]
    across = plot.across(0.0, svg.nice_top(max(every, default=0.0)))
    title = f"Mutual information ({unit}); higher is riskier"
    parts = [key, svg.horizontal_axis(plot, across, title, grid=True)]
    parts += [_column_row(leak, plot.top + 42 * k, across, unit=unit) for k, leak in enumerate(leaks)]
    words = "Leak of each column: " + "; ".join(
        f"{shorten(c.name, 40)} alone {number(c.alone)} {unit}, added {number(c.given_others)}" for c in leaks
    )
    return svg.drawing(width, plot.height, words, *parts)


def _column_row(leak: ColumnLeak, y: float, across: Scale, *, unit: str) -> Markup:
    name = svg.fitted(leak.name, across.start - 26)
    verdict = badge(leak.alone_verdict)
    parts = [
        text(verdict.symbol, 4, y + 25, class_=f"symbol {verdict.tone}"),
        element("text", hover(f"{leak.name}: {verdict.words}"), name, x=20.0, y=y + 25, class_="name"),
    ]
    for offset, class_, told, value, null in (
        (6, "bar", "alone", leak.alone, leak.alone_null),
        (21, "bar second", "added to the others", leak.given_others, leak.given_others_null),
    ):
        words = f"{leak.name}, {told}: {number(value)} {unit}; 95% of shuffles stay below {number(null)}"
        end = across(max(value, 0.0))
        parts += [
            rectangle(across.start, y + offset, end - across.start, 12, hover(words), class_=class_),
            line(across(null), y + offset - 2, across(null), y + offset + 14, class_="null-mark line"),
            text(number(value), max(end, across(null)) + 6, y + offset + 10, class_="value"),
        ]
    return element("g", *parts)


def contributions(terms: Sequence[tuple[str, float]], *, unit: str, width: float, limit: int = 6) -> Markup:
    """The terms of the chain rule as signed bars, the largest first; what is left over is one bar of its own."""
    ordered = sorted(terms, key=lambda term: -abs(term[1]))
    shown = ordered[:limit]
    if len(ordered) > limit:
        shown = [*shown, (f"{len(ordered) - limit} others", sum(term for _, term in ordered[limit:]))]
    largest = max((abs(v) for _, v in shown if math.isfinite(v)), default=0.0) or 1.0
    # An infinite term is drawn a little longer than the largest finite one; its label says what it is.
    lengths = [math.copysign(1.3 * largest, v) if math.isinf(v) else v for _, v in shown]
    gutter, label = min(120.0, width * 0.34), 68.0
    low, high = min(0.0, *lengths), max(0.0, *lengths)
    across = Scale(low, high or largest, gutter + (label if low < 0 else 0), width - label)
    parts = [line(across(0.0), 2, across(0.0), 22.0 * len(shown) + 2, class_="axis")]
    for k, (name, value) in enumerate(shown):
        parts.append(text(svg.fitted(name, gutter - 8), 2, 22.0 * k + 16, class_="name"))
        parts.append(_signed_bar(name, value, 22.0 * k + 2, across, unit=unit))
    words = "Log-lift by column: " + ", ".join(f"{shorten(name, 40)} {signed(value)} {unit}" for name, value in shown)
    return svg.drawing(width, 22 * len(shown) + 4, words, *parts)


def _signed_bar(name: str, value: float, y: float, across: Scale, *, unit: str) -> Markup:
    zero, end = across(0.0), across(value)
    class_ = "bar toward" if value > 0 else "bar away"
    says = "for the secret" if value > 0 else "against the secret"
    return element(
        "g",
        hover(f"{name}: {signed(value)} {unit}, speaks {says}" if value else f"{name}: says nothing more"),
        rectangle(
            min(zero, end), y + 4, abs(end - zero), 13, class_=class_ + (" infinite" if math.isinf(value) else "")
        ),
        text(
            signed(value),
            end + (5 if value >= 0 else -5),
            y + 14,
            text_anchor="start" if value >= 0 else "end",
            class_="value",
        ),
    )


def prior_bars(secrets: Sequence[SecretValue], *, width: float) -> Markup:
    """The share of each secret: what is believed before any release."""
    gutter = min(180.0, width * 0.36)
    plot = Plot(width, 22 * len(secrets) + 50, left=gutter, right=56, top=4)
    across = plot.across(0.0, svg.nice_top(max((s.prior for s in secrets), default=0.0)))
    parts = [svg.horizontal_axis(plot, across, "Share of records (prior)", show=_tick_share, grid=True)]
    for k, secret in enumerate(secrets):
        y, end = plot.top + 22 * k, across(secret.prior)
        parts += [
            element(
                "text", hover(secret.label), svg.fitted(secret.label, gutter - 8), x=2.0, y=y + 15.0, class_="name"
            ),
            rectangle(gutter, y + 4, end - gutter, 14, hover(f"{secret.label}: {share(secret.prior)}"), class_="bar"),
            text(share(secret.prior), end + 6, y + 15, class_="value"),
        ]
    words = "Prior of the secret: " + ", ".join(f"{shorten(s.label, 40)} {share(s.prior)}" for s in secrets)
    return svg.drawing(width, plot.height, words, *parts)


def accuracy_bars(result: AttackResult, *, width: float) -> Markup:
    """How often each adversary is right before, after and retrained, with intervals, the prior and the promise."""
    marks = [(result.prior_guess, f"prior {share(result.prior_guess)}")]
    marks.append((result.guessing_bound, f"{result.bound_kind} {share(result.guessing_bound)}"))
    marks = sorted((value, label) for value, label in marks if 0 <= value <= 1)
    gutter = min(160.0, width * 0.3)
    entries = [("bar", "before"), ("bar second", "after"), ("bar third", "after, retrained on the release")]
    key, key_height = svg.legend(entries, 2, 2, width=width - 4)
    rows = _rows(marks, width=width - gutter - 60, high=1.0)
    top = key_height + 18 + 15 * (max(rows, default=0) + 1)
    plot = Plot(width, top + 60 * len(result.adversaries) + 46, left=gutter, right=60, top=top)
    across = plot.across(0.0, 1.0)
    title = "Secrets guessed right; higher is riskier"
    parts = [key, svg.horizontal_axis(plot, across, title, show=_tick_share, grid=True)]
    parts += [_adversary_row(a, plot.top + 60 * k, across) for k, a in enumerate(result.adversaries)]
    parts.append(_marks(plot, across, marks, rows))
    parts += [_accuracy_values(a, plot.top + 60 * k, across) for k, a in enumerate(result.adversaries)]
    return svg.drawing(width, plot.height, _accuracy_words(result), *parts)


def _accuracies(adversary: Adversary) -> list[tuple[str, str, float, tuple[float, float]]]:
    return [
        ("bar", "before", adversary.before, adversary.before_interval),
        ("bar second", "after", adversary.after, adversary.after_interval),
        ("bar third", "retrained", adversary.retrained, adversary.retrained_interval),
    ]


def _adversary_row(adversary: Adversary, y: float, across: Scale) -> Markup:
    name = svg.fitted(adversary.name, across.start - 8)
    parts = [element("text", hover(adversary.name), name, x=2.0, y=y + 34.0, class_="name")]
    for row, (class_, told, value, (low, high)) in enumerate(_accuracies(adversary)):
        words = f"{adversary.name}, {told}: {share(value)} right, 95% limits {share(low)} to {share(high)}"
        top = y + 8 + 16 * row
        parts += [
            rectangle(across.start, top, across(value) - across.start, 13, hover(words), class_=class_),
            line(across(low), top + 6.5, across(high), top + 6.5, class_="whisker"),
            line(across(low), top + 3, across(low), top + 10, class_="whisker"),
            line(across(high), top + 3, across(high), top + 10, class_="whisker"),
        ]
    return element("g", *parts)


def _accuracy_values(adversary: Adversary, y: float, across: Scale) -> Markup:
    """The numbers beside the bars, drawn last so that no line runs through them."""
    values = [
        text(share(value), across(limits[1]) + 6, y + 19 + 16 * row, class_="value")
        for row, (_, _, value, limits) in enumerate(_accuracies(adversary))
    ]
    return element("g", *values)


def _accuracy_words(result: AttackResult) -> str:
    told = "; ".join(
        f"{shorten(a.name, 40)}: {share(a.before)} before, {share(a.after)} after, {share(a.retrained)} retrained"
        for a in result.adversaries
    )
    lines = f"Prior {share(result.prior_guess)}, {result.bound_kind} {share(result.guessing_bound)}."
    return f"Share of secrets guessed right. {lines} {told}"
