"""Charts about words: terms left and right, and why rare words are noise."""

from __future__ import annotations

import math
from collections.abc import Sequence

from markupsafe import Markup

from tacit.document import Dot, Term, TermBars, TermFunnel, TermGroup
from tacit.document.quantities import count, signed, unit_name
from tacit.errors import Wording
from tacit.report.charts import svg
from tacit.report.charts.svg import Plot, Scale, element, hover, line, rectangle, text

_ROW = 19.0
# Colours of secrets; further ones begin again.
COLOURS = 6


def hue(secret: str, secrets: Sequence[str]) -> str:
    """The class that colours whatever points to a secret."""
    return f"hue{list(secrets).index(secret) % COLOURS}"


def draw_bars(chart: TermBars, wording: Wording, width: float) -> Markup:
    """With two secrets the first to the left and the second to the right; with more, every bar to the right."""
    terms, secrets, unit = chart.terms, chart.secrets, unit_name(wording)
    sides = [[t for t in terms if t.secret == s] for s in secrets] if len(secrets) == 2 else [[], list(terms)]
    shown = sides if len(secrets) == 2 else [[], sorted(sides[1], key=lambda t: -t.conditional)]
    rows = max(len(side) for side in shown) if terms else 0
    top = max((t.conditional for t in terms), default=1.0)
    plot = Plot(width, 30 + _ROW * rows + 40, left=8, right=8, top=30, bottom=40)
    middle = width / 2 if len(secrets) == 2 else min(170.0, width * 0.35)
    name_room = min(150.0, width * 0.24) if len(secrets) == 2 else middle - 12
    reach = (middle - name_room - 54) if len(secrets) == 2 else width - middle - 60
    parts = []
    for side, found in enumerate(shown):
        if found and len(secrets) == 2:
            x, anchor = (middle - 8, "end") if side == 0 else (middle + 8, "start")
            parts.append(text(f"points to {secrets[side]}", x, 16, text_anchor=anchor, class_="side-title"))
        for row, term in enumerate(found):
            left = side == 0
            colour = hue(term.secret, secrets)
            parts.append(_term_row(term, 30 + _ROW * row, middle, reach, top, left, colour, name_room, unit))
    parts.append(line(middle, 24, middle, plot.height - 30, class_="axis"))
    title = f"Mean conditional log-lift given the words before ({unit}); longer gives away more"
    parts.append(text(title, width / 2, plot.height - 10, text_anchor="middle", class_="axis-title"))
    told = "; ".join(f"{t.term} {signed(t.conditional)} towards {t.secret}" for t in terms[:12])
    return svg.drawing(width, plot.height, f"Terms by mean conditional log-lift. {told}", *parts)


def _term_row(
    term: Term, y: float, middle: float, reach: float, top: float, left: bool, colour: str, room: float, unit: str
) -> Markup:
    length = max(1.5, reach * max(term.conditional, 0.0) / top)
    x = middle - length if left else middle
    words = (
        f"{term.term}: in {count(term.posts)} posts; alone {signed(term.log_lift)} {unit} towards {term.secret}, "
        f"given the words before {signed(term.conditional)}"
    )
    name = svg.fitted(term.term, room)
    # The name stands at the tip of its bar, so that the eye need not travel.
    at, anchor = (x - 6, "end") if left else (x + length + 6, "start")
    label = f"{name}  {signed(term.conditional)}"
    return element(
        "g",
        rectangle(x, y + 2, length, 13, hover(words), class_=f"word-bar {colour}"),
        text(label, at, y + 13, text_anchor=anchor, class_="name"),
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
    parts = [key, _band(groups, across, up, two), _count_axis(plot, across, fewest, most)]
    parts.append(svg.vertical_axis(plot, up, f"Log-lift of a post that has the term ({unit})", show=signed))
    parts.append(line(plot.left, up(0), plot.width - plot.right, up(0), class_="axis"))
    for dot in dots:
        real = dot.verdict == "real"
        colour = f"hue{0 if two and dot.log_lift < 0 else 1}" if real else "rest"
        words = hover(f"{dot.term}: {count(dot.posts)} posts, {signed(abs(dot.log_lift))} {unit}, {dot.verdict}")
        at = {"cx": across(math.log10(dot.posts)), "cy": up(dot.log_lift), "r": 2.6 if real else 1.8}
        parts.append(element("circle", words, **at, class_=f"word-dot {colour}"))
    parts += _named(dots, across, up, plot)
    if two:
        parts.append(text(f"↑ {secrets[1]}", plot.width - plot.right, plot.top + 2, text_anchor="end", class_="value"))
        parts.append(
            text(f"↓ {secrets[0]}", plot.width - plot.right, plot.floor - 6, text_anchor="end", class_="value")
        )
    return svg.drawing(width, plot.height, _funnel_words(groups), *parts)


def _band(groups: Sequence[TermGroup], across: Scale, up: Scale, two: bool) -> Markup:
    """A step for every group of terms."""
    parts = []
    for place, group in enumerate(groups):
        x = across(math.log10(group.fewest))
        end = across(math.log10(groups[place + 1].fewest if place + 1 < len(groups) else group.most))
        upper = group.chance[1] if two else max(group.chance)
        lower = -group.chance[0] if two else 0.0
        parts.append(rectangle(x, up(upper), max(end - x, 2.0), up(lower) - up(upper), class_="chance-band"))
    return element("g", *parts)


def _count_axis(plot: Plot, across: Scale, fewest: int, most: int) -> Markup:
    parts = [line(across.start, plot.floor, across.end, plot.floor, class_="axis")]
    for power in range(8):
        for factor in (1, 2, 5):
            tick = factor * 10**power
            if fewest <= tick <= most:
                x = across(math.log10(tick))
                parts.append(line(x, plot.floor, x, plot.floor + 4, class_="axis"))
                parts.append(text(count(tick), x, plot.floor + 17, text_anchor="middle", class_="tick"))
    title = "Posts that have the term"
    parts.append(
        text(title, (across.start + across.end) / 2, plot.height - 8, text_anchor="middle", class_="axis-title")
    )
    return element("g", *parts)


def _named(dots: Sequence[Dot], across: Scale, up: Scale, plot: Plot) -> list[Markup]:
    """Names of some real terms: the commonest far from zero, where no other name stands."""
    taken: list[tuple[float, float, float]] = []
    parts = []
    ordered = sorted((d for d in dots if d.verdict == "real"), key=lambda d: -abs(d.log_lift) * math.sqrt(d.posts))
    for dot in ordered:
        name = svg.fitted(dot.term, 110)
        x, y = across(math.log10(dot.posts)) + 5, up(dot.log_lift) + 4
        end = x + svg.text_width(name)
        clash = any(abs(y - oy) < 13 and x < oend and ox < end for ox, oend, oy in taken)
        if clash or end > plot.width - plot.right:
            continue
        taken.append((x, end, y))
        parts.append(text(name, x, y, class_="mark-label"))
        if len(parts) >= 24:
            break
    return parts


def _funnel_words(groups: Sequence[TermGroup]) -> str:
    real, whole = sum(group.real for group in groups), sum(group.terms for group in groups)
    return f"Terms by the number of posts that have them and their log-lift: {count(real)} of {count(whole)} are real."
