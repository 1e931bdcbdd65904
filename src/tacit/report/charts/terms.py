"""Charts about words: terms left and right, and why rare words are noise."""

from __future__ import annotations

import math
from collections.abc import Sequence

from markupsafe import Markup

from tacit.document import Dot, Term, TermBars, TermFunnel, TermGroup
from tacit.document.quantities import count, signed, unit_name
from tacit.errors import Wording
from tacit.report.charts import svg
from tacit.report.charts.svg import PixelScale, Plot, element, hover, line, rectangle, text

_ROW = 19.0
# Colours of secrets; further ones begin again.
COLOURS = 6


def hue(secret: str, secrets: Sequence[str]) -> str:
    """The class that colours whatever points to a secret."""
    return f"hue{list(secrets).index(secret) % COLOURS}"


def draw_bars(chart: TermBars, wording: Wording, width: float) -> Markup:
    """With two secrets the first to the left and the second to the right; with more, every bar to the right."""
    terms, secrets, unit = chart.terms, chart.secrets, unit_name(wording)
    two = len(secrets) == 2
    sides = [[t for t in terms if t.secret == s] for s in secrets]
    if not two:
        sides = [[], sorted(terms, key=lambda t: -t.conditional)]
    height = 30 + _ROW * max(map(len, sides)) + 40
    middle = width / 2 if two else min(170.0, width * 0.35)
    room = min(150.0, width * 0.24) if two else middle - 12
    reach = (middle - room - 54) if two else width - middle - 60
    lengths = PixelScale(0.0, max((t.conditional for t in terms), default=1.0), 0.0, reach)
    parts = []
    for side, side_terms in zip((-1, 1), sides, strict=True):
        if side_terms and two:
            anchor = "end" if side < 0 else "start"
            title = f"points to {side_terms[0].secret}"
            parts.append(text(title, middle + 8 * side, 16, text_anchor=anchor, class_="side-title"))
        for row, term in enumerate(side_terms):
            tip = middle + side * max(1.5, lengths(term.conditional))
            parts.append(_term_row(term, 30 + _ROW * row, middle, tip, svg.fitted(term.term, room), chart, unit))
    parts.append(line(middle, 24, middle, height - 30, class_="axis"))
    title = f"Added by the term ({unit}); longer says more"
    parts.append(text(svg.fitted(title, width), width / 2, height - 10, text_anchor="middle", class_="axis-title"))
    words = "; ".join(f"{t.term} {signed(t.conditional)} towards {t.secret}" for t in terms[:12])
    return svg.drawing(width, height, f"Terms by mean conditional log-lift. {words}", *parts)


def _term_row(term: Term, y: float, zero: float, tip: float, name: str, chart: TermBars, unit: str) -> Markup:
    """A bar with its name at the tip, so that the eye need not travel."""
    words = (
        f"{term.term}: in {count(term.posts)} posts; alone {signed(term.log_lift)} {unit} towards {term.secret}, "
        f"given the words before {signed(term.conditional)}"
    )
    at, anchor = (tip - 6, "end") if tip < zero else (tip + 6, "start")
    colour = f"word-bar {hue(term.secret, chart.secrets)}"
    return element(
        "g",
        rectangle(min(zero, tip), y + 2, abs(tip - zero), 13, hover(words), class_=colour),
        text(f"{name}  {signed(term.conditional)}", at, y + 13, text_anchor=anchor, class_="name"),
    )


def draw_funnel(chart: TermFunnel, wording: Wording, width: float) -> Markup:
    """Every term by the posts that hold it and its log-lift; the band is what shuffled secrets reach."""
    dots, groups, secrets, unit = chart.dots, chart.groups, chart.secrets, unit_name(wording)
    two = len(secrets) == 2
    most = max([group.most for group in groups], default=10)
    fewest = min([group.fewest for group in groups], default=1)
    plot = Plot(width, 380, left=52, right=16, top=46, bottom=46)
    across = plot.across(math.log10(fewest) - 0.05, math.log10(max(most, fewest + 1)) + 0.05)
    values = [dot.log_lift for dot in dots if math.isfinite(dot.log_lift)]
    high, low = max([*values, 0.1]) * 1.08, (min([*values, -0.1]) * 1.08 if two else 0.0)
    up = plot.up(low, high)
    entries = [("word-dot real-key", "real"), ("word-dot rest-key", "noise, or cannot tell")]
    key, _ = svg.legend([*entries, ("chance-band", "what shuffled secrets reach, 19 times in 20")], 2, 2, width=width)
    counts = [factor * 10**power for power in range(8) for factor in (1, 2, 5)]
    parts = [
        key,
        _band(groups, across, up, two),
        svg.horizontal_axis(
            plot,
            across,
            "Posts that have the term",
            ticks=[math.log10(tick) for tick in counts if fewest <= tick <= most],
            show=lambda tick: count(round(10**tick)),
        ),
    ]
    parts.append(svg.vertical_axis(plot, up, f"Log-lift of a post that has the term ({unit})", show=signed))
    parts.append(line(plot.left, up(0), plot.width - plot.right, up(0), class_="axis"))
    for dot in dots:
        real = dot.verdict == "real"
        colour = f"hue{0 if two and dot.log_lift < 0 else 1}" if real else "rest"
        words = f"{dot.term}: {count(dot.posts)} posts, {signed(abs(dot.log_lift))} {unit}, {dot.verdict}"
        x, y = across(math.log10(dot.posts)), up(dot.log_lift)
        parts.append(svg.dot(x, y, 2.6 if real else 1.8, words, class_=f"word-dot {colour}"))
    parts += _named(dots, across, up, plot)
    if two:
        edge = plot.width - plot.right
        parts.append(text(f"↑ {secrets[1]}", edge, plot.top + 2, text_anchor="end", class_="value"))
        parts.append(text(f"↓ {secrets[0]}", edge, plot.floor - 6, text_anchor="end", class_="value"))
    return svg.drawing(width, plot.height, _funnel_words(groups), *parts)


def _band(groups: Sequence[TermGroup], across: PixelScale, up: PixelScale, two: bool) -> Markup:
    """A step for every group of terms."""
    parts = []
    for place, group in enumerate(groups):
        x = across(math.log10(group.fewest))
        end = across(math.log10(groups[place + 1].fewest if place + 1 < len(groups) else group.most))
        upper = group.chance[1] if two else max(group.chance)
        lower = -group.chance[0] if two else 0.0
        parts.append(rectangle(x, up(upper), max(end - x, 2.0), up(lower) - up(upper), class_="chance-band"))
    return element("g", *parts)


def _named(dots: Sequence[Dot], across: PixelScale, up: PixelScale, plot: Plot) -> list[Markup]:
    """Names of some real terms: the commonest far from zero, where no other name stands."""
    room, parts = svg.Room(), []
    ordered = sorted((d for d in dots if d.verdict == "real"), key=lambda d: -abs(d.log_lift) * math.sqrt(d.posts))
    for dot in ordered:
        name = svg.fitted(dot.term, 110)
        x, y = across(math.log10(dot.posts)) + 5, up(dot.log_lift) + 4
        if x + svg.text_width(name) <= plot.width - plot.right and room.take(x, y, name):
            parts.append(text(name, x, y, class_="mark-label"))
    return parts[:24]


def _funnel_words(groups: Sequence[TermGroup]) -> str:
    real, whole = sum(group.real for group in groups), sum(group.terms for group in groups)
    return f"Terms by the number of posts that have them and their log-lift: {count(real)} of {count(whole)} are real."
