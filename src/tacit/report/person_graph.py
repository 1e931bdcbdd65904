"""How records came together, as a drawing: records grouped by source, and a wire between those that agree.

A wire is drawn as in a circuit: it runs upright beside the records, with a dot where a record is on it, and says on
which labels the records agree. So no line runs through a name, however many records there are.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise

from markupsafe import Markup

from tacit.report import svg
from tacit.report.svg import element, hover, line, rectangle
from tacit.report.words import listed, shorten
from tacit.workflows.person_results import Finding, Join

# More records than this are a list: nobody follows so many wires.
MOST_DRAWN = 30
_ROW, _HEAD, _GAP = 26.0, 26.0, 10.0
_COLOURS = 6


@dataclass(frozen=True)
class Wire:
    """Records that agree with the first of them on the same labels."""

    records: tuple[str, ...]
    labels: tuple[str, ...]


def source_of(record: str, sources: Sequence[str]) -> str:
    """The source of a record by its name: "shop" of "shop 17"; a query is its own."""
    if record.startswith("query '"):
        return "the query"
    named = [source for source in sources if record == source or record.startswith(f"{source} ")]
    return max(named, key=len) if named else record.rpartition(" ")[0] or record


def grouped(members: Sequence[str], sources: Sequence[str]) -> dict[str, list[str]]:
    """Records under their sources, in the order in which the sources are met."""
    found: dict[str, list[str]] = defaultdict(list)
    for record in members:
        found[source_of(record, sources)].append(record)
    return dict(found)


def wires(joins: Sequence[Join]) -> list[Wire]:
    """Joins with a record and all labels in common as one wire; the record with most of them comes first."""
    left: dict[tuple[str, ...], list[Join]] = defaultdict(list)
    for join in joins:
        left[join.labels].append(join)
    found = []
    for labels, rest in left.items():
        while rest:
            ends = Counter(end for join in rest for end in (join.left, join.right))
            hub = ends.most_common(1)[0][0]
            taken = [join for join in rest if hub in (join.left, join.right)]
            others = [join.right if join.left == hub else join.left for join in taken]
            found.append(Wire((hub, *dict.fromkeys(others)), labels))
            rest = [join for join in rest if hub not in (join.left, join.right)]
    return found


def merge_graph(finding: Finding, sources: Sequence[str], *, width: float) -> Markup | None:
    """The records of a finding and the wires between them; None where a list is easier to read.

    Parameters
    ----------
    finding : Finding
        What is drawn: its ``members`` and ``joins``.
    sources : sequence of str
        Names of the sources of the case; a record's name begins with that of its source.
    width : float
        Pixels.
    """
    if not 2 <= len(finding.members) <= MOST_DRAWN or not finding.joins:
        return None
    gutter = min(250.0, width * 0.42)
    boxes, rows, height = _boxes(grouped(finding.members, sources), gutter)
    known = [join for join in finding.joins if join.left in rows and join.right in rows]
    drawn = wires(known)
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
    told = "; ".join(f"{join.left} and {join.right} agree on {listed(join.labels)}" for join in known)
    return svg.drawing(width, height, f"How the records came together. {told}", *parts)


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
    taken: list[list[tuple[float, float]]] = []
    lanes = [0] * len(drawn)
    for k in sorted(range(len(drawn)), key=lambda k: spans[k][1] - spans[k][0]):
        low, high = spans[k]
        lane = next(
            (n for n, others in enumerate(taken) if all(high < start or end < low for start, end in others)),
            len(taken),
        )
        if lane == len(taken):
            taken.append([])
        taken[lane].append((low, high))
        lanes[k] = lane
    return lanes


def _ends(drawn: Sequence[Wire], places: Sequence[float], rows: Mapping[str, float]) -> list[list[float]]:
    """The height of each wire at each of its records: wires of one record lie beside each other, not on each other."""
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
    """The labels beside their wires, between the rows, where no other label stands."""
    taken: list[tuple[float, float, float]] = []
    parts = []
    for k in sorted(range(len(drawn)), key=lambda k: -places[k]):
        wire, x = drawn[k], places[k] + 7
        heights = sorted(rows[record] for record in wire.records)
        whole = ", ".join(wire.labels)
        shown = svg.fitted(whole, width - x - 2)
        end = x + svg.text_width(shown)
        middle = (heights[0] + heights[-1]) / 2
        free = sorted(
            (y for y in _between(heights[0], heights[-1], rows) if not _clashes(x, end, y, taken)),
            key=lambda y: abs(y - middle),
        )
        y = free[0] if free else middle
        taken.append((x, end, y))
        told = hover(f"{listed(wire.records)} agree on {shorten(whole, 80)}")
        parts.append(element("text", told, shown, x=x, y=y + 4, class_=f"wire-label wire{k % _COLOURS}"))
    return parts


def _between(low: float, high: float, rows: Mapping[str, float]) -> list[float]:
    """Heights between the rows, where no wire leaves a record; at least one."""
    inside = sorted(y for y in rows.values() if low <= y <= high)
    return [(one + other) / 2 for one, other in pairwise(inside)] or [low]


def _clashes(start: float, end: float, y: float, taken: Sequence[tuple[float, float, float]]) -> bool:
    return any(abs(y - other) < 13 and start < stop and begin < end for begin, stop, other in taken)
