"""Charts about how much of a person's file is known: a leakage is a part of the whole, from 0 to 1."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from tacit.document.charts import Chart, Line
from tacit.document.quantities import setting

__all__ = [
    "Change",
    "Changes",
    "CostCurve",
    "CostPoint",
    "MergeGraph",
    "Panel",
    "Panels",
    "RemovalCurve",
    "RemovalStage",
    "Wire",
    "limit_lines",
]


@dataclass(frozen=True)
class Change:
    """What something changes: a leakage before and after."""

    name: str
    before: float
    after: float


@dataclass(frozen=True)
class Changes(Chart):
    """Before and after of every row on one axis; one with a ``width`` has one row and stands in a card."""

    rows: Sequence[Change]
    limit: float | None = None
    width: float | None = None


@dataclass(frozen=True)
class CostPoint:
    """What an adversary learns, and what that costs it."""

    name: str
    cost: float
    leakage: float
    precision: float
    recall: float


@dataclass(frozen=True)
class CostCurve(Chart):
    """What can be learned for a cost, and the most that each amount of money buys."""

    points: Sequence[CostPoint]
    limit: float | None = None


@dataclass(frozen=True)
class RemovalStage:
    """A request for removal: the leakage if it and all earlier ones succeed, and the one expected."""

    source: str
    if_removed: float
    expected: float


@dataclass(frozen=True)
class RemovalCurve(Chart):
    """Leakage after every request."""

    before: float
    requests: Sequence[RemovalStage]
    limit: float | None = None


@dataclass(frozen=True)
class Panel:
    """How many persons have a leakage in each of equal parts of [0, 1]."""

    name: str
    bins: Sequence[int]
    median: float | None


@dataclass(frozen=True)
class Panels(Chart):
    """Share of persons by leakage, one histogram under the other on the same scales."""

    panels: Sequence[Panel]
    limit: float | None = None


@dataclass(frozen=True)
class Wire:
    """Records that agree with the first of them on the same labels."""

    records: tuple[str, ...]
    labels: tuple[str, ...]


@dataclass(frozen=True)
class MergeGraph(Chart):
    """How records came together: records under their sources, and a wire between those that agree."""

    groups: Mapping[str, Sequence[str]]
    wires: Sequence[Wire]


def limit_lines(limit: float | None) -> tuple[Line, ...]:
    """The limit as a line through a chart, if there is one."""
    return () if limit is None else (Line(limit, f"limit {setting(limit)}"),)
