"""Quantities that know their unit and kind, and how every number is written.

All formatting is here, so that the terminal, the page and the charts cannot disagree on a number. A quantity is told in
nats or in bits, as its reader asks; shares, counts and probabilities are the same in both.
"""

from __future__ import annotations

import math
from collections.abc import Hashable, Mapping
from dataclasses import dataclass, fields, is_dataclass, replace
from decimal import ROUND_CEILING, ROUND_FLOOR, ROUND_HALF_EVEN, Decimal
from functools import cache
from typing import Annotated, Any, Literal, TypeVar, cast, get_args, get_type_hints

from tacit.errors import PLAIN, Part, Sentence, Wording

__all__ = [
    "UNIT",
    "Chance",
    "Count",
    "Information",
    "Interval",
    "LiftFactor",
    "Nats",
    "Number",
    "Share",
    "converted",
    "factor_limits",
    "measured",
]

T = TypeVar("T")

Rounding = Literal["nearest", "up", "down"]

NATS = "nats"
# A field of a result or a chart that holds nats: it is converted where bits are asked for, and nothing else is.
Information = Annotated[float, NATS]
# Marks a mapping in which whatever is called epsilon holds nats.
EPSILONS = "epsilons"

UNKNOWN = "–"
# Sums that should cancel, or add up to one, miss by about this much; showing it would only raise questions.
_ROUNDING = 1e-12
_LARGEST_POWER = 700.0
_SUPERSCRIPTS = str.maketrans("-0123456789", "⁻⁰¹²³⁴⁵⁶⁷⁸⁹")
_WAYS = {"nearest": ROUND_HALF_EVEN, "up": ROUND_CEILING, "down": ROUND_FLOOR}


# ---- how numbers are written ---------------------------------------------------------------------------------------


def number(value: float | None) -> str:
    """A measured quantity with three significant digits: ``0.112``, ``1,235``, ``3.2×10⁻⁵``, ``∞``."""
    if value is None or math.isnan(value):
        return UNKNOWN
    size, sign = abs(value), "−" if value < 0 else ""
    if math.isinf(size):
        return f"{sign}∞"
    if size < _ROUNDING:
        return "0"
    if size < 0.001:
        mantissa, exponent = f"{size:.1e}".split("e")
        return f"{sign}{mantissa}×10{str(int(exponent)).translate(_SUPERSCRIPTS)}"
    # Through "e" first: 0.9996 has to become 1.00, not 1.000.
    rounded = float(f"{size:.2e}")
    decimals = max(0, 2 - math.floor(math.log10(rounded)))
    return f"{sign}{size:,.{decimals}f}"


def setting(value: float | None) -> str:
    """A chosen number or the label of a tick: as :func:`number`, without zeros that say nothing."""
    digits, times, power = number(value).partition("×")
    return (digits.rstrip("0").rstrip(".") if "." in digits else digits) + times + power


def signed(value: float) -> str:
    """A number that always shows its sign."""
    return f"+{number(value)}" if value > 0 else number(value)


def part(value: float | None) -> str:
    """A leakage, precision or recall with three decimals; never a part as the whole, nor something as nothing."""
    if value is None or math.isnan(value):
        return UNKNOWN
    if abs(1 - value) < _ROUNDING:
        return "1"
    if abs(value) < 5e-4 or math.isinf(value):
        return number(value)
    if 0.9995 <= value < 1:
        return ">0.999"
    return f"{'−' if value < 0 else ''}{abs(value):.3f}"


def signed_part(value: float) -> str:
    """As :func:`part`, and always with its sign."""
    return f"+{part(value)}" if value > 0 else part(value)


def share(value: float | None) -> str:
    """A share as a percentage that never rounds a part to the whole, nor something to nothing."""
    if value is None or math.isnan(value):
        return UNKNOWN
    if min(abs(value), abs(1 - value)) < _ROUNDING:
        return f"{100 * value:.0f}%"
    percent = 100 * value
    if 0 < percent < 0.01:
        return "<0.01%"
    if percent > 99.9 and value < 1:
        return ">99.9%"
    return f"{percent:.2f}%" if percent < 1 else f"{percent:.1f}%"


def percent(value: float) -> str:
    """A share at the tick of an axis, or as it was chosen."""
    return f"{setting(100 * value)}%"


def count(value: float | None) -> str:
    """A number of records or values with thousands separators; weighted totals keep one decimal."""
    if value is None or math.isnan(value):
        return UNKNOWN
    if math.isinf(value) or float(value).is_integer():
        return "∞" if math.isinf(value) else f"{int(value):,}"
    return f"{value:,.1f}"


def chance(p: float | None) -> str:
    """A p-value: two significant digits, never written as zero."""
    if p is None or math.isnan(p):
        return UNKNOWN
    if p < 0.001:
        return "<0.001"
    return f"{p:.3f}" if p < 0.1 else f"{p:.2f}"


def digits(value: float | None, significant: int, rounded: Rounding = "nearest") -> str:
    """A number with ``significant`` digits and no trailing zeros, in plain ASCII, as sentences and certificates do.

    Guarantees
    ----------
    Rounded up (down) the number written is not below (above) ``value``, except for a relative 1e-12 of arithmetic.
    """
    if value is None or math.isnan(value):
        return UNKNOWN
    if not math.isfinite(value) or value == 0:
        return f"{value:g}"
    exact = Decimal(f"{value:.12g}")
    step = Decimal(1).scaleb(exact.adjusted() - significant + 1)
    return f"{float(exact.quantize(step, rounding=_WAYS[rounded])):.{significant}g}"


def interval(low: float, high: float) -> str:
    """The ends of an interval; "to" keeps a minus sign apart from a dash."""
    return f"{number(low)} to {number(high)}"


# ---- units --------------------------------------------------------------------------------------------------------


def unit_name(wording: Wording) -> str:
    """The unit of information in words."""
    return "bits" if wording.bits else NATS


def in_unit(nats: float, wording: Wording) -> float:
    """An amount of information in the reader's unit."""
    return nats / math.log(2) if wording.bits else nats


def converted(value: T, wording: Wording) -> T:
    """A result or chart for one reader: fields of information in their unit, sentences in their words.

    Guarantees
    ----------
    Shares, counts, probabilities and strings that came from the data are returned as they were.
    """
    return value if wording == PLAIN else _converted(value, wording)


def _converted(value: Any, wording: Wording) -> Any:
    if isinstance(value, Sentence):
        return value.told(wording)
    if is_dataclass(value) and not isinstance(value, type):
        return replace(value, **{f.name: _field(value, f.name, wording) for f in fields(value) if f.init})
    if isinstance(value, (tuple, list)):
        return type(value)(_converted(item, wording) for item in value)
    if isinstance(value, Mapping):
        return {key: _converted(item, wording) for key, item in value.items()}
    return value


def _field(owner: Any, name: str, wording: Wording) -> Any:
    item, kind = getattr(owner, name), cast(Hashable, type(owner))
    # A measure in another unit than nats says so in its field ``unit``.
    if name in _marked(kind, NATS) and getattr(owner, "unit", NATS) == NATS:
        return _scaled(item, wording)
    if name in _marked(kind, EPSILONS):
        return _epsilons_scaled(item, wording)
    if name == "unit" and item == NATS:
        return unit_name(wording)
    return _converted(item, wording)


def _scaled(item: Any, wording: Wording) -> Any:
    if isinstance(item, Sentence):
        return item.told(wording)
    if is_dataclass(item) and not isinstance(item, type):
        return replace(item, **{f.name: _scaled(getattr(item, f.name), wording) for f in fields(item)})
    if isinstance(item, Mapping):
        return {key: _scaled(inner, wording) for key, inner in item.items()}
    if isinstance(item, (tuple, list)):
        return type(item)(_scaled(inner, wording) for inner in item)
    return in_unit(item, wording) if isinstance(item, (int, float)) else item


def _epsilons_scaled(item: Any, wording: Wording) -> Any:
    if isinstance(item, Mapping):
        scaled = {key: in_unit(item[key], wording) for key in item if key.startswith("epsilon")}
        return {key: _epsilons_scaled(inner, wording) for key, inner in item.items()} | scaled
    if isinstance(item, (tuple, list)):
        return type(item)(_epsilons_scaled(inner, wording) for inner in item)
    return _converted(item, wording)


@cache
def _marked(owner: Hashable, mark: str) -> frozenset[str]:
    hints = get_type_hints(owner, include_extras=True)
    return frozenset(name for name, hint in hints.items() if _has(hint, mark))


def _has(hint: Any, mark: str) -> bool:
    return mark in getattr(hint, "__metadata__", ()) or any(_has(inner, mark) for inner in get_args(hint))


# ---- quantities ----------------------------------------------------------------------------------------------------

_STYLES = {"number": number, "setting": setting, "signed": signed}


@dataclass(frozen=True)
class Nats:
    """An amount of information, shown in nats or bits.

    ``style`` is "number" (measured), "setting" (chosen), "signed" (a log-lift) or a number of significant digits, for
    sentences. A bound in a sentence is ``rounded`` up or down, so that it never says more than was proved, in either
    unit.
    """

    value: float | None
    style: Literal["number", "setting", "signed"] | int = "number"
    unit: bool = True
    rounded: Rounding = "nearest"

    def told(self, wording: Wording) -> str:
        """The number in the reader's unit; infinity and what is not known stand without it."""
        value = None if self.value is None else in_unit(self.value, wording)
        if isinstance(self.style, int):
            # A chosen 0.5 nats is 0.72134752 bits: six digits of that would pretend to a choice.
            written = digits(value, min(self.style, 4) if wording.bits else self.style, self.rounded)
        elif value is None:
            written = UNKNOWN
        else:
            written = _STYLES[self.style](value)
        bare = written in ("∞", "−∞", UNKNOWN) or not self.unit
        name = unit_name(wording)
        return written if bare else f"{written} {name.removesuffix('s') if written == '1' else name}"


@dataclass(frozen=True)
class Share:
    """A share or a probability, as a percentage."""

    value: float | None

    def told(self, wording: Wording) -> str:
        """The same for every reader."""
        return share(self.value)


@dataclass(frozen=True)
class Count:
    """A number of records, values or people."""

    value: float | None
    one: str = ""
    many: str = ""

    def told(self, wording: Wording) -> str:
        """With what is counted, if it was named: "1 record", "4 records"."""
        thing = self.one if self.value == 1 else self.many or f"{self.one}s"
        return f"{count(self.value)} {thing}" if self.one else count(self.value)


@dataclass(frozen=True)
class Chance:
    """A p-value."""

    value: float | None

    def told(self, wording: Wording) -> str:
        """Never written as zero."""
        return chance(self.value)


@dataclass(frozen=True)
class Number:
    """A number without a unit: measured, chosen ("setting"), a part of a whole ("part"), or with its sign."""

    value: float | None
    style: Literal["number", "setting", "signed", "part", "signed part", "percent"] = "number"

    def told(self, wording: Wording) -> str:
        """The same for every reader."""
        return UNKNOWN if self.value is None else _NUMBERS[self.style](self.value)


_NUMBERS = {**_STYLES, "part": part, "signed part": signed_part, "percent": percent}


@dataclass(frozen=True)
class Interval:
    """Two quantities with a word between them, or one if both read the same; ``kind`` says what limits they are."""

    low: Part
    high: Part
    by: str = " to "
    kind: Literal["95% interval", "95% limits", ""] = ""

    @classmethod
    def nats(cls, low: float, high: float, kind: Literal["95% interval", ""] = "") -> Interval:
        """An interval of information, its unit said elsewhere; that of an estimate is its "95% interval"."""
        return cls(Nats(low, unit=False), Nats(high, unit=False), kind=kind)

    @classmethod
    def shares(cls, low: float, high: float, kind: Literal["95% limits", ""] = "") -> Interval:
        """An interval of shares; exact binomial ones are "95% limits"."""
        return cls(Share(low), Share(high), "–", kind=kind)

    def told(self, wording: Wording) -> str:
        """Both ends, and the kind after them."""
        low, high = self.low.told(wording), self.high.told(wording)
        ends = low if low == high else f"{low}{self.by}{high}"
        return f"{ends}, {self.kind}" if self.kind else ends


@dataclass(frozen=True)
class Unit:
    """The name of the unit of information, for headings and axes."""

    def told(self, wording: Wording) -> str:
        """``nats`` or ``bits``."""
        return unit_name(wording)


UNIT = Unit()


def measured(value: float | None, unit: str, *, with_unit: bool = True) -> Nats | Share | Number:
    """The value of a measure by its unit: "nats", "probability" or "1"."""
    if unit == NATS:
        return Nats(value, unit=with_unit)
    return Share(value) if unit == "probability" else Number(value)


@dataclass(frozen=True)
class LiftFactor:
    """e to the power of some nats, the same for readers of nats and of bits: 2 is twice as likely, 0.5 half.

    A factor that is promised is ``rounded`` up, so that it never says less than the bound allows.
    """

    nats: float | None
    rounded: Rounding = "nearest"

    def told(self, wording: Wording) -> str:
        """Only the factor; the words around it say what becomes likelier."""
        if self.nats is None or math.isnan(self.nats):
            return UNKNOWN
        factor = math.exp(self.nats) if self.nats < _LARGEST_POWER else math.inf
        return number(factor if self.rounded == "nearest" else float(digits(factor, 3, self.rounded)))


def factor_limits(low: float, high: float, kind: Literal["95% interval", ""] = "") -> Interval:
    """An interval of factors, from that of a log-lift."""
    return Interval(LiftFactor(low), LiftFactor(high), kind=kind)
