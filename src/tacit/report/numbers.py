"""How every number of a report is written, and the change of unit from nats to bits.

All formatting is here, so that the terminal, the page and the charts cannot disagree on a number.
"""

from __future__ import annotations

import math
import re
from collections.abc import Mapping
from dataclasses import fields, is_dataclass, replace
from typing import Any, TypeVar

from tacit.lift.estimate import Estimate
from tacit.workflows.image_results import HeatMap, ImageCertificate, PatchDelta, PatchFindings, PatchPlace
from tacit.workflows.results import (
    CalibrationPoint,
    Certificate,
    ColumnLeak,
    CurvePoint,
    FurtherClaim,
    LearnedCandidate,
    LearnedFindings,
    LearnedRiskyValue,
    LearnedSafeShare,
    MeasureChange,
    MeasureFinding,
    RiskHistogram,
    RiskyValue,
    SafeShare,
    Suggestion,
    Utility,
)
from tacit.workflows.text_results import (
    Dot,
    Piece,
    PostShare,
    ReadPost,
    Term,
    TermGroup,
    TextAuditResult,
    TextCertificate,
    TextExplanation,
)

T = TypeVar("T")

UNKNOWN = "–"
# Sums that should cancel, or add up to one, miss by about this much; showing it would only raise questions.
_ROUNDING = 1e-12
_SUPERSCRIPTS = str.maketrans("-0123456789", "⁻⁰¹²³⁴⁵⁶⁷⁸⁹")

# The fields that hold nats. Shares, counts and probabilities are in no such list and are never converted.
_INFORMATION: Mapping[type, frozenset[str]] = {
    MeasureFinding: frozenset({"value", "ceiling", "null_low", "null_high"}),
    RiskHistogram: frozenset({"edges", "quantiles"}),
    SafeShare: frozenset({"epsilon"}),
    RiskyValue: frozenset({"log_lift", "risk", "contributions"}),
    ColumnLeak: frozenset({"alone", "alone_null", "given_others", "given_others_null", "left_out"}),
    CurvePoint: frozenset({"epsilon", "attained", "utility", "leakage"}),
    Suggestion: frozenset({"epsilon", "mixture_epsilon"}),
    MeasureChange: frozenset({"before", "after", "promise"}),
    Utility: frozenset({"mutual_information", "entropy"}),
    Certificate: frozenset(
        {"epsilon", "epsilon_low", "epsilon_high", "epsilon_max", "attained_epsilon", "estimated_epsilon"}
    ),
    FurtherClaim: frozenset({"epsilon", "attained_epsilon"}),
    Estimate: frozenset({"value", "low", "high"}),
    LearnedCandidate: frozenset({"log_loss"}),
    CalibrationPoint: frozenset({"predicted", "observed", "low", "high"}),
    LearnedSafeShare: frozenset({"epsilon"}),
    LearnedRiskyValue: frozenset({"log_lift", "low", "high", "risk", "contributions"}),
    LearnedFindings: frozenset({"prior_log_loss", "null_high", "largest_risk"}),
    HeatMap: frozenset({"mean", "by_secret"}),
    PatchPlace: frozenset({"mean"}),
    PatchFindings: frozenset({"null_high"}),
    ImageCertificate: frozenset({"epsilon"}),
    Term: frozenset({"log_lift", "low", "high", "conditional", "chance"}),
    TermGroup: frozenset({"chance", "largest"}),
    Dot: frozenset({"log_lift"}),
    Piece: frozenset({"log_lift", "moved"}),
    ReadPost: frozenset({"risk", "log_lift"}),
    PostShare: frozenset({"epsilon"}),
    TextAuditResult: frozenset({"uncertainty", "null_high", "largest_risk"}),
    TextCertificate: frozenset({"epsilon"}),
    TextExplanation: frozenset({"epsilon"}),
    PatchDelta: frozenset({"total_epsilon"}),
}
# Fields written by a workflow as sentences: "0.112 nats" in them is converted too. Fields with data are not here.
_SENTENCES = frozenset(
    {"headline", "why", "sentence", "meaning", "diagnosis", "notes", "claim", "detail", "assumptions"}
)
_NATS = re.compile(r"(\d[\d,]*(?:\.\d+)?(?:e[-+]?\d+)?)(\s+)nats?\b")


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


def quantity(value: float | None, unit: str) -> str:
    """The number of a measure: a probability as a percentage, all else with three significant digits."""
    return share(value) if unit == "probability" else number(value)


def with_unit(value: float | None, unit: str) -> str:
    """The number of a measure and its unit; infinity and what has no unit (``1``) stand alone."""
    told = quantity(value, unit)
    return f"{told} {unit}" if unit in ("nats", "bits") and told not in ("∞", UNKNOWN) else told


def band(low: float, high: float, *, unit: str) -> str:
    """The range that shuffled secrets give."""
    ends = quantity(low, unit), quantity(high, unit)
    return ends[0] if low == high else "–".join(ends)


def interval(low: float, high: float) -> str:
    """The ends of an interval; "to" keeps a minus sign apart from a dash."""
    return f"{number(low)} to {number(high)}"


def unit_name(bits: bool) -> str:
    """The unit of information in words."""
    return "bits" if bits else "nats"


def in_bits(value: T) -> T:
    """A result with every information quantity divided by ln 2, in fields and in sentences.

    Guarantees
    ----------
    Shares, counts, probabilities and strings that came from the data are returned as they were.
    """
    if is_dataclass(value) and not isinstance(value, type):
        return replace(value, **{f.name: _field_in_bits(value, f.name) for f in fields(value)})
    if isinstance(value, tuple):
        return tuple(in_bits(item) for item in value)  # type: ignore[return-value]
    return value


def _field_in_bits(owner: Any, name: str) -> Any:
    item = getattr(owner, name)
    if name in _INFORMATION.get(type(owner), ()) and getattr(owner, "unit", "nats") == "nats":
        return _scaled(item)
    if name == "unit":
        return "bits" if item == "nats" else item
    if name == "composition" and item is not None:
        return _composition_in_bits(item)
    if name in _SENTENCES:
        return _sentence(item)
    if name == "reason" and isinstance(item, str) and "nats" in item:
        # Its numbers stand without units, so they are labelled and not converted.
        return f"{item} (log-losses in nats)"
    return in_bits(item)


def _composition_in_bits(item: Mapping[str, Any]) -> dict[str, Any]:
    secrets = [{key: _scaled(value) for key, value in each.items()} for each in item["secrets"]]
    return {**item, "secrets": secrets, "sentence": _sentence(item["sentence"])}


def _scaled(item: Any) -> Any:
    if isinstance(item, Mapping):
        return {key: _scaled(inner) for key, inner in item.items()}
    if isinstance(item, tuple):
        return tuple(_scaled(inner) for inner in item)
    return item / math.log(2) if isinstance(item, (int, float)) else item


def _sentence(item: Any) -> Any:
    if isinstance(item, (tuple, list)):
        return tuple(_sentence(inner) for inner in item)
    if not isinstance(item, str):
        return item

    def convert(found: re.Match[str]) -> str:
        return f"{setting(float(found[1].replace(',', '')) / math.log(2))}{found[2]}bits"

    return re.sub(r"\bnats\b", "bits", _NATS.sub(convert, item))
