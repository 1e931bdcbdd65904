"""The figures as SVG that stands alone: colours, background and a dark form are in the file."""

from __future__ import annotations

import math
from collections.abc import Sequence

from markupsafe import Markup
from tweets_masking import Masked

from tacit.document import TermBars
from tacit.document.quantities import share
from tacit.lenses.text.answers.audit import TextAuditResult
from tacit.report import charts
from tacit.report.charts import svg
from tacit.report.charts.svg import Plot, element, line, rectangle, text

STYLE = Markup("""
svg { --ink: #1b2027; --soft: #596270; --line: #dfe3e8; --card: #ffffff; --main: #2f62c9; --second: #8a63c4;
  --third: #c2781d; --bad: #b3261e; --good: #14713d; --away: #0f7c8a; --null: #b9c0ca; background: var(--card);
  font: 12px system-ui, -apple-system, "Segoe UI", Roboto, "Noto Sans", sans-serif; }
@media (prefers-color-scheme: dark) { svg { --ink: #e8ebef; --soft: #a3adba; --line: #333b46; --card: #181c22;
  --main: #7aa5ff; --second: #b99af0; --third: #eaa44f; --bad: #ff8a80; --good: #6fd39a; --away: #56c5d2;
  --null: #566070; } }
text { fill: var(--ink); } .tick, .axis-title, .legend { fill: var(--soft); } .side-title, .value { font-weight: 650; }
.axis { stroke: var(--soft); } .grid { stroke: var(--line); } .card { fill: var(--card); }
.hue0 { --hue: var(--main); } .hue1 { --hue: var(--bad); } .hue2 { --hue: var(--third); }
.hue3 { --hue: var(--second); } .hue4 { --hue: var(--null); } .hue5 { --hue: var(--away); }
.word-bar { fill: var(--hue); opacity: .85; } .trace { fill: none; stroke: var(--hue); stroke-width: 2; }
.trace.again { stroke-dasharray: 5 4; } .spot { fill: var(--hue); } .key { fill: var(--hue); }
.prior { stroke: var(--ink); stroke-dasharray: 2 3; }
""")


def _alone(drawn: Markup, width: float, height: float) -> str:
    """A drawing with its style and background."""
    inner = str(drawn)
    start = inner.index(">") + 1
    back = rectangle(0, 0, width, height, class_="card")
    return f"{inner[:start]}<style>{STYLE}</style>{back}{inner[start:]}\n"


def figure_3(result: TextAuditResult, *, width: float = 860) -> str:
    """Terms left and right by mean conditional density."""
    labels = [s.label for s in result.secrets]
    drawn = charts.draw(TermBars(result.conditional_terms, labels), width=width)
    height = 30 + 19.0 * max(sum(t.secret == label for t in result.conditional_terms) for label in labels) + 40
    return _alone(drawn, width, height)


def masking_figure(found: Sequence[Masked], prior: float, *, width: float = 860) -> str:
    """Adversaries' accuracy by the number of masked terms: clean-trained solid, retrained dashed."""
    names = list(dict.fromkeys(row.ranking for row in found))
    height = 440.0
    plot = Plot(width, height, left=52, right=190, top=40, bottom=46)
    ks = sorted({row.terms for row in found if row.terms})
    across = plot.across(math.log10(ks[0]) - 0.35, math.log10(ks[-1]) + 0.05)
    up = plot.up(0.55, 0.86)
    parts = [svg.vertical_axis(plot, up, "Party guessed right, posts held out", show=lambda v: f"{v:.0%}")]
    for k in ks:
        x = across(math.log10(k))
        parts.append(line(x, plot.floor, x, plot.floor + 4, class_="axis"))
        parts.append(text(f"{k:,}", x, plot.floor + 17, text_anchor="middle", class_="tick"))
    parts.append(text("0", across.start, plot.floor + 17, text_anchor="middle", class_="tick"))
    parts.append(text("Terms masked in every post", (across.start + across.end) / 2, height - 8, text_anchor="middle"))
    parts.append(line(plot.left, up(prior), plot.width - plot.right, up(prior), class_="prior"))
    parts.append(text(f"prior {share(prior)}", plot.left + 4, up(prior) + 14, class_="tick"))
    side = plot.width - plot.right + 14
    for at, name in enumerate(names):
        rows = sorted((row for row in found if row.ranking == name), key=lambda row: row.terms)
        for kind, class_ in (("clean", "trace"), ("retrained", "trace again")):
            points = [(_x(row.terms, across), up(getattr(row, kind).right)) for row in rows]
            parts.append(element("path", d=svg.path(points), class_=f"{class_} hue{at}"))
            parts += [element("circle", cx=x, cy=y, r=2.6, class_=f"spot hue{at}") for x, y in points]
        parts.append(rectangle(side, 60 + 34 * at, 12, 10, class_=f"key hue{at}"))
        head, _, tail = name.partition(",")
        parts.append(text(head, side + 18, 69 + 34 * at))
        if tail:
            parts.append(text(tail.strip(), side + 18, 82 + 34 * at, class_="tick"))
    parts.append(text("solid: trained on clean posts", side, 60 + 34 * len(names) + 10, class_="tick"))
    parts.append(text("dashed: retrained on masked", side, 60 + 34 * len(names) + 26, class_="tick"))
    drawn = svg.drawing(width, height, "Accuracy of adversaries by the number of masked terms", *parts)
    return _alone(drawn, width, height)


def _x(terms: int, across: svg.Scale) -> float:
    return across(math.log10(terms)) if terms else across.start
