"""How records came together, as a drawing: records grouped by source, and a wire between those that agree.

A wire is drawn as in a circuit: it runs upright beside the records, with a dot where a record is on it, and says on
which labels the records agree. So no line runs through a name, however many records there are.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from itertools import pairwise

from markupsafe import Markup

from tacit.document.leakage import MergeGraph, Wire
from tacit.document.strings import listed, shorten
from tacit.errors import Wording
from tacit.report.charts import svg
from tacit.report.charts.svg import element, hover, line, rectangle

_ROW, _HEAD, _GAP = 26.0, 26.0, 10.0
_COLOURS = 6


def draw(chart: MergeGraph, wording: Wording, width: float) -> Markup:
    """The records and the wires between them."""
    gutter = min(250.0, width * 0.42)
    boxes, rows, height = _boxes(chart.groups, gutter)
    drawn = chart.wires
    lanes = _lanes(drawn, rows)
    # Where there is room, lanes are as far apart as the labels are long, so that no wire runs through one.
    longest = max((svg.text_width(", ".join(wire.labels)) for wire in drawn), default=0.0) + 18
    room = min(longest, 150.0 if width > 500 else 96.0)
    step = min(longest, (width - gutter - room - 16) / max(1, max(lanes, default=0)))
    parts: list[object] = [boxes]
    places = [gutter + 14 + step * lane for lane in lanes]
    ends = _ends(drawn, places, rows)
    for k, (wire, x) in enumerate(zip(drawn, places, strict=True)):
        parts.append(_wire(wire, x, ends[k], gutter - 14, k % _COLOURS))
    parts += [rectangle(gutter - 18, y - 8, 6, 16, hover(name), rx=3.0, class_="node") for name, y in rows.items()]
    parts += _wire_labels(drawn, places, rows, width)
    words = "; ".join(f"{listed(wire.records)} agree on {listed(wire.labels)}" for wire in drawn)
    return svg.drawing(width, height, f"How the records came together. {words}", *parts)


def _boxes(groups: Mapping[str, Sequence[str]], gutter: float) -> tuple[Markup, dict[str, float], float]:
    """A box for each source with its records in it, where each record stands, and the height of it all."""
    parts, rows, y = [], {}, 2.0
    for source, records in groups.items():
        parts.append(rectangle(2, y, gutter - 4, _HEAD + _ROW * len(records) + 2, rx=7.0, class_="group"))
        name = svg.fitted(source, gutter - 24)
        parts.append(element("text", hover(source), name, x=12.0, y=y + 18, class_="name strong"))
        for k, record in enumerate(records):
            at = y + _HEAD + _ROW * (k + 0.5) - 2
            rows[record] = at
            shown = svg.fitted(_within(record, source), gutter - 48)
            parts.append(element("text", hover(record), shown, x=20.0, y=at + 4, class_="name"))
        y += _HEAD + _ROW * len(records) + 2 + _GAP
    return element("g", *parts), rows, y - _GAP + 2


def _within(record: str, source: str) -> str:
    """The name of a record under the heading of its source: 17 of "shop 17"."""
    rest = record[len(source) :].strip() if record.startswith(source) else record
    return f"record {rest}" if rest.isdigit() else rest or record


def _lanes(drawn: Sequence[Wire], rows: Mapping[str, float]) -> list[int]:
    """The lane of each wire: short ones near the records, and no two that meet in the same lane."""
    spans = [(min(rows[r] for r in wire.records), max(rows[r] for r in wire.records)) for wire in drawn]
    spans_of_lane: list[list[tuple[float, float]]] = []
    lanes = [0] * len(drawn)
    for k in sorted(range(len(drawn)), key=lambda k: spans[k][1] - spans[k][0]):
        low, high = spans[k]
        lane = next(
            (n for n, others in enumerate(spans_of_lane) if all(high < start or end < low for start, end in others)),
            len(spans_of_lane),
        )
        if lane == len(spans_of_lane):
            spans_of_lane.append([])
        spans_of_lane[lane].append((low, high))
        lanes[k] = lane
    return lanes


def _ends(drawn: Sequence[Wire], places: Sequence[float], rows: Mapping[str, float]) -> list[list[float]]:
    """The height of each wire at each of its records: wires of one record lie next to each other, not on top."""
    at: dict[str, list[int]] = defaultdict(list)
    for k in sorted(range(len(drawn)), key=lambda k: places[k]):
        for record in drawn[k].records:
            at[record].append(k)

    def height(record: str, k: int) -> float:
        others = at[record]
        return rows[record] + (others.index(k) - (len(others) - 1) / 2) * min(5.0, 16 / len(others))

    return [[height(record, k) for record in wire.records] for k, wire in enumerate(drawn)]


def _wire(wire: Wire, x: float, heights: Sequence[float], start: float, colour: int) -> Markup:
    parts = [hover(f"{listed(wire.records)} agree on {listed(wire.labels)}")]
    parts.append(line(x, min(heights), x, max(heights), class_=f"wire wire{colour}"))
    for y in heights:
        parts.append(line(start, y, x, y, class_=f"wire wire{colour}"))
        parts.append(element("circle", cx=x, cy=y, r=2.6, class_=f"joint wire{colour}"))
    return element("g", *parts)


def _wire_labels(
    drawn: Sequence[Wire], places: Sequence[float], rows: Mapping[str, float], width: float
) -> list[Markup]:
    """The labels next to their wires, between the rows, where no other label stands."""
    room, parts = svg.Room(), []
    for k in sorted(range(len(drawn)), key=lambda k: -places[k]):
        wire, x = drawn[k], places[k] + 7
        heights = sorted(rows[record] for record in wire.records)
        whole = ", ".join(wire.labels)
        shown = svg.fitted(whole, width - x - 2)
        middle = (heights[0] + heights[-1]) / 2
        near = sorted(_between(heights[0], heights[-1], rows), key=lambda y: abs(y - middle))
        y = next((y for y in near if room.take(x, y + 4, shown)), middle)
        words = hover(f"{listed(wire.records)} agree on {shorten(whole, 80)}")
        parts.append(element("text", words, shown, x=x, y=y + 4, class_=f"wire-label wire{k % _COLOURS}"))
    return parts


def _between(low: float, high: float, rows: Mapping[str, float]) -> list[float]:
    """Heights between the rows, where no wire leaves a record; at least one."""
    inside = sorted(y for y in rows.values() if low <= y <= high)
    return [(one + other) / 2 for one, other in pairwise(inside)] or [low]
