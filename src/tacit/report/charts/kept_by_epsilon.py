"""What a release keeps at each of a few epsilons, with a slider that shows a few records before and after."""

from __future__ import annotations

import json
from collections.abc import Sequence

from markupsafe import Markup

from tacit.document import KeptByEpsilon, LadderStep
from tacit.document.quantities import Count, LiftFactor, percent, setting, share, unit_name
from tacit.document.strings import printable, shorten
from tacit.errors import Wording
from tacit.report.charts import svg
from tacit.report.charts.svg import Plot, element

_SLIDER = Markup(
    """<div class="slider" data-points="{points}" data-rows="{rows}" data-what="kept" hidden>
<label>Move epsilon <input type="range" min="0" max="{last}" value="{start}" step="1" aria-label="epsilon"></label>
<div class="stops" aria-hidden="true">{stops}</div>
<p aria-live="polite">With epsilon <b data-field="0"></b> {unit} no secret becomes more than <b data-field="1"></b>
times as likely. A reader keeps <b data-field="2"></b> of a column on average. Of 1,000 people <b data-field="3"></b>
could be found, and <b data-field="4"></b> more secrets guessed than without the release.</p>
</div>"""
)
_ROWS = Markup(
    """<div class="scroll"><table class="before-after"><caption>{many} records in {columns}, unchanged and as a release
with epsilon <span data-field="0">{epsilon}</span> {unit} writes them</caption>
<thead><tr><td></td>{heads}</tr></thead>{records}</table></div>"""
)
_RECORD = Markup(
    """<tbody><tr><th scope="row">original</th>{before}</tr>
<tr class="after"><th scope="row">released</th>{after}</tr></tbody>"""
)
# The longest names of columns and cells, in characters; the script cuts cells to the same length.
_NAME, _CELL = 30, 60


def draw(chart: KeptByEpsilon, wording: Wording, width: float) -> Markup:
    """Epsilon against what is kept."""
    unit, steps = unit_name(wording), chart.steps
    plot = Plot(width, 280, top=46)
    across = plot.across(0.0, svg.nice_top(max((step.epsilon for step in steps), default=0.0)))
    up = plot.up(0.0, 1.0)
    at = [(across(step.epsilon), up(step.kept)) for step in steps]
    parts = [
        svg.vertical_axis(plot, up, "Kept per column, on average; higher is better", show=percent),
        svg.horizontal_axis(plot, across, f"Epsilon ({unit}); lower is safer"),
    ]
    if len(at) > 1:
        parts.append(element("path", d=svg.path(at), class_="curve"))
    if steps:
        label = f"{chart.label}: keeps {share(steps[chart.place].kept)}"
        parts.append(svg.callout(label, at[chart.place], plot))
    parts += [
        svg.dot(x, y, 4.5, _words(step, unit), class_="point", data_k=k)
        for k, ((x, y), step) in enumerate(zip(at, steps, strict=True))
    ]
    words = "What releases keep: " + "; ".join(_words(step, unit) for step in steps)
    return svg.drawing(width, plot.height, words, *parts)


def _words(step: LadderStep, unit: str) -> str:
    return (
        f"epsilon {setting(step.epsilon)} {unit} keeps {share(step.kept)}; of 1,000 people {step.found} could be found "
        f"and {step.guessed} more secrets guessed"
    )


def _point(step: LadderStep, wording: Wording) -> tuple[str, ...]:
    """What the sentence under the slider says about a step; its factor is a promise, and rounded up."""
    factor = LiftFactor(step.epsilon, "up").told(wording)
    return setting(step.epsilon), factor, share(step.kept), step.found, step.guessed


def slider(chart: KeptByEpsilon, wording: Wording) -> Markup:
    """A slider over the steps, and the records before and after; without JavaScript, those of the marked step."""
    if not chart.steps:
        return Markup()
    points = [_point(step, wording) for step in chart.steps]
    rows = [[[printable(cell) for cell in row] for row in step.rows] for step in chart.steps]
    unit, step = unit_name(wording), chart.steps[chart.place]
    control = _SLIDER.format(
        points=json.dumps(points),
        rows=json.dumps(rows),
        last=len(points) - 1,
        start=chart.place,
        stops=Markup("").join(Markup("<span>{}</span>").format(point[0]) for point in points),
        unit=unit,
    )
    if not chart.before:
        return control
    records = zip(chart.before, step.rows, strict=True)
    return control + _ROWS.format(
        many=len(chart.before),
        columns=Count(len(chart.columns), "column").told(wording),
        epsilon=setting(step.epsilon),
        unit=unit,
        heads=Markup("").join(Markup('<th scope="col">{}</th>').format(shorten(name, _NAME)) for name in chart.columns),
        records=Markup("").join(
            _RECORD.format(before=_cells(before), after=_cells(after, row=row))
            for row, (before, after) in enumerate(records)
        ),
    )


def _cells(cells: Sequence[str], **attributes: int) -> Markup:
    marks = "".join(f' data-{name}="{value}"' for name, value in attributes.items())
    shown = ((Markup(marks), printable(cell), shorten(cell, _CELL)) for cell in cells)
    return Markup("").join(Markup('<td{} title="{}">{}</td>').format(*cell) for cell in shown)
