"""What a chart shows, as data; the report draws it. A field of type ``Information`` holds nats."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Annotated, Any, Literal

from tacit.document.badges import Badge
from tacit.document.quantities import NATS, Information

__all__ = [
    "Bar",
    "BarRow",
    "Bars",
    "Calibration",
    "CalibrationPoint",
    "Chart",
    "ContactSheet",
    "CurvePoint",
    "HeatMaps",
    "HeatPanel",
    "Histogram",
    "KeptByEpsilon",
    "LadderStep",
    "Layer",
    "Line",
    "RiskHistogram",
    "SheetRow",
    "SignedBar",
    "SignedBars",
    "Strip",
    "TradeOff",
]


@dataclass(frozen=True)
class Chart:
    """Numbers to be drawn. One with a ``width`` is small and drawn once; others twice, for wide and narrow pages."""

    @property
    def width(self) -> float | None:
        """Its width in pixels, if it has one of its own."""
        return None


# ---- numbers of a result that are drawn as they are ----------------------------------------------------------------


@dataclass(frozen=True)
class RiskHistogram:
    """Share of records by risk: ``shares[k]`` lies between ``edges[k]`` and ``edges[k + 1]``; infinite apart."""

    edges: tuple[Information, ...]
    shares: tuple[float, ...]
    infinite_share: float
    quantiles: Mapping[str, Information]


@dataclass(frozen=True)
class CurvePoint:
    """One point of the trade-off: the epsilon attained and what it costs."""

    epsilon: Information
    attained: Information
    nmil: float
    utility: Information
    leakage: Information
    records_kept: float


@dataclass(frozen=True)
class CalibrationPoint:
    """Records with about the same predicted log-lift, and the log-lift observed among them with its 95% limits.

    ``secret`` is None if the secrets are taken together.
    """

    predicted: Information
    observed: Information
    low: Information
    high: Information
    records: int
    secret: str | None = None


# ---- charts --------------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Strip(Chart):
    """A value as a dot, and the band that chance gives; ``unit`` is "nats", "probability" or "1"."""

    title: str
    value: Information
    low: Information
    high: Information
    verdict: Badge
    unit: str = "nats"
    width: float = 200


@dataclass(frozen=True)
class Layer:
    """One histogram of a chart, its name, and whether it is filled or drawn as an outline."""

    label: str
    histogram: RiskHistogram
    kind: Literal["bar", "outline"] = "bar"


@dataclass(frozen=True)
class Line:
    """A line at a value, in the unit of its chart, with its label."""

    at: float
    label: str


@dataclass(frozen=True)
class Histogram(Chart):
    """Share of records (or of posts) by risk, the infinite ones apart, with lines at some epsilons."""

    layers: Sequence[Layer]
    lines: Annotated[Sequence[Line], NATS] = ()
    things: str = "records"


@dataclass(frozen=True)
class TradeOff(Chart):
    """What every epsilon costs, with a slider over the points.

    ``attained`` and ``loss`` are a point marked with ``label``; it need not lie on the curve, since another mechanism
    may lose less. ``place`` is where the slider begins.
    """

    points: Sequence[CurvePoint]
    attained: Information | None = None
    loss: float | None = None
    label: str = ""
    place: int | None = None


@dataclass(frozen=True)
class LadderStep:
    """One epsilon: what is kept of a column on average, and how many of 1,000 are at risk.

    ``rows`` are a few records as a release at that epsilon writes them.
    """

    epsilon: Information
    kept: float
    found: str
    guessed: str
    rows: Sequence[Sequence[str]] = ()


@dataclass(frozen=True)
class KeptByEpsilon(Chart):
    """What a release keeps at each of a few epsilons, with a slider that shows a few records before and after.

    ``place`` is the step marked with ``label``, where the slider begins. ``columns`` names the columns of the records;
    ``before`` holds the originals.
    """

    steps: Sequence[LadderStep]
    place: int
    columns: Sequence[str] = ()
    before: Sequence[Sequence[str]] = ()
    label: str = "suggested"


@dataclass(frozen=True)
class Calibration(Chart):
    """Predicted log-lift against the one observed, of the first few ``secrets`` that have points."""

    points: Sequence[CalibrationPoint]
    secrets: Sequence[str]

    @property
    def drawn(self) -> list[str | None]:
        """The secrets that are drawn, None where all are pooled; more would hide one another."""
        named = {point.secret for point in self.points}
        order: list[str | None] = [None, *self.secrets]
        return [secret for secret in order if secret in named][:3]


@dataclass(frozen=True)
class Bar:
    """One bar of a row, for one series: its length, its limits and what chance gives, all in the unit of the chart."""

    series: str
    value: float
    low: float | None = None
    high: float | None = None
    null: float | None = None
    told: str = ""


@dataclass(frozen=True)
class BarRow:
    """A name with its bars; ``note`` is written under it, ``badge`` before it."""

    name: str
    bars: Sequence[Bar]
    note: str = ""
    badge: Badge | None = None


@dataclass(frozen=True)
class Bars(Chart):
    """Rows of bars from zero, one colour per series.

    ``unit`` is "nats", "probability" (drawn as percentages), "part" (of a whole, 0 to 1) or "1". ``whole`` draws the
    axis from 0 to 1. ``marks`` are lines through all rows. A bar longer than its ``null`` is more than chance.
    """

    title: str
    axis: str
    rows: Annotated[Sequence[BarRow], NATS]
    series: Sequence[str] = ()
    marks: Annotated[Sequence[Line], NATS] = ()
    unit: str = "nats"
    whole: bool = False
    null_label: str = ""


@dataclass(frozen=True)
class SignedBar:
    """A bar to the right if it adds, to the left if it takes away."""

    name: str
    value: float
    told: str = ""


@dataclass(frozen=True)
class SignedBars(Chart):
    """Bars from a line at zero. With a ``limit`` the rest is one bar; one with a ``width`` has no axis."""

    title: str
    rows: Annotated[Sequence[SignedBar], NATS]
    unit: str = "nats"
    limit: int | None = None
    width: float | None = None


# ---- pictures ------------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class HeatPanel:
    """A grid of values as colours; a signed one runs from against to for."""

    caption: str
    grid: Annotated[Sequence[Sequence[float]], NATS]
    signed: bool = False


@dataclass(frozen=True)
class HeatMaps(Chart):
    """Heat maps side by side, each ``width`` wide and with its colour scale; the signed ones share one."""

    panels: Sequence[HeatPanel]
    width: float = 190


@dataclass(frozen=True)
class SheetRow:
    """A row of a contact sheet: pictures (arrays of grey or colour), what each is, and heat to be laid over them."""

    name: str
    pictures: Sequence[Any]
    words: Sequence[str]
    heat: Annotated[Sequence[Sequence[Sequence[float]]], NATS] = ()


@dataclass(frozen=True)
class ContactSheet(Chart):
    """Rows of pictures, each ``width`` wide, under their heads; without heads or names they follow one another."""

    rows: Sequence[SheetRow]
    heads: Sequence[str] = ()
    width: float = 100
