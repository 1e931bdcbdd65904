"""Figure 3 of the paper and the ladders, as SVG that stands alone."""

from __future__ import annotations

import math
from collections.abc import Sequence

from markupsafe import Markup
from person_ladders import Rung

from tacit.report.charts import svg
from tacit.report.charts.svg import Plot, element, line, rectangle, text

STYLE = Markup("""
svg { --ink: #1b2027; --soft: #596270; --rule: #dfe3e8; --card: #ffffff; --hue0: #2f62c9; --hue1: #c2781d;
  --hue2: #14713d; --hue3: #b3261e; background: var(--card);
  font: 12px system-ui, -apple-system, "Segoe UI", Roboto, "Noto Sans", sans-serif; }
@media (prefers-color-scheme: dark) { svg { --ink: #e8ebef; --soft: #a3adba; --rule: #333b46; --card: #181c22;
  --hue0: #7aa5ff; --hue1: #eaa44f; --hue2: #6fd39a; --hue3: #ff8a80; } }
text { fill: var(--ink); } .tick, .axis-title, .legend { fill: var(--soft); } .panel { font-weight: 600; }
.card { fill: var(--card); } .axis { stroke: var(--soft); } .grid { stroke: var(--rule); }
.trace { fill: none; stroke-width: 2; } .hue0 { stroke: var(--hue0); fill: var(--hue0); }
.hue1 { stroke: var(--hue1); fill: var(--hue1); } .hue2 { stroke: var(--hue2); fill: var(--hue2); }
.hue3 { stroke: var(--hue3); fill: var(--hue3); } .trace.hue0, .trace.hue1, .trace.hue2, .trace.hue3 { fill: none; }
.kept { stroke-dasharray: 5 4; }
""")
Trends = dict[str, list[tuple[float, float, float]]]
Runtimes = dict[str, list[tuple[int, float]]]

PANELS = (
    ("copying", "a. Attributes copied from the reference", "probability of copying, pc"),
    ("perturbing", "b. Copies made wrong", "probability of perturbing, pp"),
    ("most", "c. Confidence", "largest confidence, m"),
)
METHODS = {
    "worlds": "all possible worlds",
    "algorithm1": "Algorithm 1",
    "second_order": "second order",
    "exact": "exact, by quadrature",
}


def figure_3(trends: Trends, runtimes: Runtimes) -> str:
    """Four panels: leakage by copying, perturbing and confidence, and seconds by the number of attributes."""
    width, height = 460.0, 310.0
    parts: list[object] = [element("style", STYLE), rectangle(0, 0, 2 * width, 2 * height, class_="card")]
    for at, (name, title, axis) in enumerate(PANELS):
        moved = f"translate({width * (at % 2)} {height * (at // 2)})"
        parts.append(element("g", _trend(trends[name], title, axis, width, height), transform=moved))
    parts.append(element("g", _times(runtimes, width, height), transform=f"translate({width} {height})"))
    words = "Leakage by copying, perturbing and confidence, and seconds by the number of attributes"
    return str(svg.drawing(2 * width, 2 * height, words, *parts)) + "\n"


def _trend(rows: Sequence[tuple[float, float, float]], title: str, axis: str, width: float, height: float) -> Markup:
    plot = Plot(width, height, left=54, right=40, top=68, bottom=54)
    across, up = plot.across(0, 1), plot.up(0, svg.nice_top(max(row[1] for row in rows)))
    parts = [
        text(title, 14, 20, class_="panel"),
        svg.vertical_axis(plot, up, "Leakage", show=lambda v: f"{v:.2f}"),
        svg.horizontal_axis(plot, across, axis),
    ]
    for hue, column in ((0, 1), (1, 2)):
        points = [(across(row[0]), up(row[column])) for row in rows]
        parts.append(element("path", d=svg.path(points), class_=f"trace hue{hue}"))
        parts += [element("circle", cx=x, cy=y, r=2.4, class_=f"hue{hue}") for x, y in points]
    entries = [("hue0", "set (largest record)"), ("hue1", "mean record")]
    parts.append(svg.legend(entries, plot.left + 70, 44, width=width)[0])
    return element("g", *parts)


def _times(runtimes: Runtimes, width: float, height: float) -> Markup:
    plot = Plot(width, height, left=66, right=40, top=68, bottom=54)
    across, up = plot.across(0, 5), plot.up(-5, 1)
    parts = [text("d. Seconds a record (CPU)", 14, 20, class_="panel")]
    for power in range(-5, 2):
        y = up(power)
        parts.append(line(plot.left, y, width - plot.right, y, class_="grid"))
        parts.append(text(_power(power), plot.left - 6, y + 4, text_anchor="end", class_="tick"))
    for power in range(6):
        x = across(power)
        parts.append(line(x, plot.floor, x, plot.floor + 4, class_="axis"))
        parts.append(text(f"{10**power:,}", x, plot.floor + 17, text_anchor="middle", class_="tick"))
    parts.append(text("attributes of record and reference", (plot.left + width) / 2, height - 8, text_anchor="middle",
                      class_="axis-title"))  # fmt: skip
    for hue, rows in enumerate(runtimes[method] for method in METHODS):
        points = [(across(math.log10(n)), up(math.log10(seconds))) for n, seconds in rows]
        parts.append(element("path", d=svg.path(points), class_=f"trace hue{hue}"))
        parts += [element("circle", cx=x, cy=y, r=2.4, class_=f"hue{hue}") for x, y in points]
    entries = [(f"hue{hue}", words) for hue, words in enumerate(METHODS.values())]
    parts.append(svg.legend(entries, plot.left, 30, width=width - plot.left)[0])
    return element("g", *parts)


def _power(power: int) -> str:
    return f"{10.0**power:g} s" if power >= -3 else f"{10.0 ** (power + 6):g} µs"


def ladders(rungs: Sequence[Rung]) -> str:
    """A panel a set: mean leakage by adversary, for union and consensus, with the base records kept and not."""
    names = list(dict.fromkeys(rung.people for rung in rungs))
    width, height = 440.0, 320.0
    parts: list[object] = [element("style", STYLE), rectangle(0, 0, width * len(names), height, class_="card")]
    for at, name in enumerate(names):
        own = [rung for rung in rungs if rung.people == name]
        parts.append(element("g", _ladder(name, own, width, height), transform=f"translate({width * at} 0)"))
    words = "Mean leakage of all persons by adversary, for two ways of merging"
    return str(svg.drawing(width * len(names), height, words, *parts)) + "\n"


WAYS = ((0, "union", False), (0, "union", True), (1, "consensus", False), (1, "consensus", True))


def _ladder(name: str, rungs: Sequence[Rung], width: float, height: float) -> Markup:
    plot = Plot(width, height, left=54, right=44, top=92, bottom=58)
    adversaries = list(dict.fromkeys(rung.adversary for rung in rungs))
    lowest = math.floor(10 * min(rung.mean for rung in rungs)) / 10
    across, up = plot.across(-0.25, len(adversaries) - 0.75), plot.up(lowest, 1)
    parts = [text(name, 14, 20, class_="panel"), svg.vertical_axis(plot, up, "Mean leakage", show=lambda v: f"{v:.2f}")]
    for at, adversary in enumerate(adversaries):
        for row, word in enumerate(_two_lines(adversary)):
            parts.append(text(word, across(at), plot.floor + 18 + 14 * row, text_anchor="middle", class_="tick"))
    for hue, merging, keeps in WAYS:
        own = {rung.adversary: rung.mean for rung in rungs if (rung.merging, rung.keeps_base) == (merging, keeps)}
        points = [(across(at), up(own[adversary])) for at, adversary in enumerate(adversaries)]
        class_ = f"trace hue{hue}" + (" kept" if keeps else "")
        parts.append(element("path", d=svg.path(points), class_=class_))
        parts += [element("circle", cx=x, cy=y, r=2.8, class_=f"hue{hue}") for x, y in points]
    parts.append(svg.legend([("hue0", "union"), ("hue1", "consensus")], plot.left, 34, width=width)[0])
    parts.append(text("dashed: base records kept besides", plot.left, 62, class_="legend"))
    return element("g", *parts)


def _two_lines(words: str) -> tuple[str, ...]:
    head, gap, tail = words.partition(" and ")
    return (head, f"and {tail}") if gap else (words,)
