"""The words every form of a report shares: verdicts with symbol and tone, definitions, safe and short data strings."""

from __future__ import annotations

import math
import unicodedata
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

from tacit.report.numbers import number, part, setting, share
from tacit.workflows.image_results import ImageAuditResult, ImageProtectResult
from tacit.workflows.person_results import (
    PersonAuditResult,
    PersonDecoyResult,
    PersonDipResult,
    PersonPopulationResult,
    PersonReleaseResult,
    PersonRemoveResult,
    PersonVerifyResult,
)
from tacit.workflows.results import (
    AttackResult,
    AuditResult,
    CalibrationPoint,
    Certificate,
    ColumnLeak,
    CurvePoint,
    LearnedFindings,
    ProtectResult,
    Result,
    VerifyResult,
)
from tacit.workflows.text_results import TextAuditResult, TextExplanation, TextProtectResult

Tone = Literal["bad", "good", "doubt"]
PERSON_RESULTS = (
    PersonAuditResult,
    PersonReleaseResult,
    PersonDipResult,
    PersonRemoveResult,
    PersonDecoyResult,
    PersonVerifyResult,
    PersonPopulationResult,
)


@dataclass(frozen=True)
class Badge:
    """A verdict in words, with a symbol and a tone, so that colour is never the only sign."""

    symbol: str
    words: str
    tone: Tone


_SYMBOLS: dict[Tone, str] = {"bad": "✗", "good": "✓", "doubt": "?"}
_TONES: dict[str, Tone] = {
    "leak": "bad",
    "no leak detected": "good",
    "cannot tell": "doubt",
    "holds": "good",
    "broken": "bad",
    "does not hold": "bad",
    "not checked": "doubt",
    "within": "good",
    "beyond": "bad",
    "passed": "good",
    "failed": "bad",
    "not detectably better than the prior": "good",
    "within the promise": "good",
    "promise broken": "bad",
    "within the estimate": "good",
    "beyond the estimate": "bad",
    "certified in part": "doubt",
    "estimated, not certified": "doubt",
    "still better than the prior": "bad",
}

# A bound on the loss below this share is shown as 0%, which says nothing.
_WORTH_TELLING = 5e-4

PLUG_IN = "These are plug-in numbers: exact for this table; for a larger population, estimates that are biased upwards."

ESTIMATE = (
    "These are estimates, learned from the records with no column cut but those that were asked for. A learned "
    "estimate certifies nothing pointwise: of a single record it may be wrong."
)

DEFINITIONS: tuple[tuple[str, str], ...] = (
    (
        "log-lift",
        "How far seeing a released value moves the belief in a secret: the logarithm of the share of the secret among "
        "records with that value, over its share in the whole table (the prior). 0: nothing learned. Above 0: the "
        "secret is likelier than before. Below 0: less likely.",
    ),
    (
        "risk",
        "The largest absolute log-lift of a value over all secrets. Higher is riskier. It may be ∞: then the value "
        "rules a secret out, or gives it away.",
    ),
    (
        "epsilon",
        "A bound on risk. A value is safe at epsilon when its risk is at most epsilon. Smaller is stricter. It is not "
        "the epsilon of differential privacy.",
    ),
    (
        "NMIL",
        "What the honest reader loses: the share of the information in the released columns that is gone after risky "
        "values are merged. 0%: nothing lost. 100%: all lost. Lower is better.",
    ),
    (
        "null band",
        "What the same measure gives when the secret is shuffled among the records, so that any leak left is chance: "
        "from the 5th to the 95th percentile. A value inside its band cannot be told from chance.",
    ),
    (
        "prior",
        "The share of a secret in the whole table: what an adversary believes before any release. The posterior is "
        "the same share among the records with one released value.",
    ),
)

INFINITE = "∞ means that a value rules a secret out, or gives it away."
SKIPPING = (
    "Tools that skip zero cells leave out the secrets that never occur with a value, and call it safe; "
    "but a secret that never occurs with it has been ruled out."
)
DIRECTION = "Higher is riskier."


def badge(verdict: str) -> Badge:
    """The badge of a verdict; words never seen before count as doubt."""
    tone = _TONES.get(verdict, "doubt")
    return Badge(_SYMBOLS[tone], verdict, tone)


def badge_of_check(passed: bool | None) -> Badge:
    """The badge of one line of a verification."""
    return badge("not checked" if passed is None else "passed" if passed else "failed")


def badge_of_result(result: Result) -> Badge:
    """The badge of the answer a result gives."""
    if isinstance(result, ProtectResult):
        certificate = result.certificate
        if certificate.holds and certificate.kind == "learned" and certificate.mechanism["records_merged"] < 1:
            return badge("certified in part")
        return badge("holds" if certificate.holds else "does not hold")
    if isinstance(result, PERSON_RESULTS):
        return _badge_of_person(result)
    if isinstance(result, ImageProtectResult):
        after = result.certificate.verdict_after
        return badge(after if after.startswith("still") else "estimated, not certified")
    if isinstance(result, TextAuditResult | TextProtectResult | TextExplanation):
        return badge(result.verdict)
    if isinstance(result, (AuditResult, ImageAuditResult, VerifyResult, AttackResult)):
        return badge(result.verdict)
    raise TypeError(f"no report for {type(result).__name__}; it knows audit, protect, verify and attack results")


def _badge_of_person(result: Any) -> Badge:
    """The leakage in words; good or bad only where a limit says what is too much."""
    if isinstance(result, PersonVerifyResult):
        return Badge("•", f"certainty {part(result.certainty)}", "doubt")
    if isinstance(result, PersonDecoyResult) and not result.recommended:
        return badge("decoys not recommended")
    told = {
        PersonReleaseResult: "leakage {} at best",
        PersonRemoveResult: "expected leakage {}",
        PersonDecoyResult: "leakage {} with decoys",
        PersonPopulationResult: "largest leakage {}",
    }.get(type(result), "leakage {}")
    shown = told.format(part(result.leakage))
    if result.limit is None:
        return Badge("•", shown, "doubt")
    tone: Tone = "bad" if result.leakage > result.limit else "good"
    where = "above" if tone == "bad" else "within"
    return Badge(_SYMBOLS[tone], f"{shown}, {where} the limit of {setting(result.limit)}", tone)


def printable(value: Any) -> str:
    """A data value as text that cannot steer a terminal or reorder a line.

    Control and bidirectional override characters are shown as ``�``: a value such as ``ESC[2J`` must not clear the
    screen of whoever reads the report.
    """
    text = "(missing)" if value is None else str(value)
    if text.isascii() and text.isprintable():
        return text
    return "".join(_safe_character(c) for c in text)


def _safe_character(c: str) -> str:
    if c in "\n\r\t\u2028\u2029":
        return " "
    # A joiner is part of many scripts and emoji, and steers nothing.
    return "�" if unicodedata.category(c) in ("Cc", "Cf", "Cs") and c not in "\u200c\u200d" else c


def shorten(value: Any, length: int) -> str:
    """A data value in at most ``length`` characters."""
    text = printable(value)
    return text if len(text) <= length else text[: max(1, length - 1)].rstrip() + "…"


def listed(names: Iterable[object], *, limit: int = 12) -> str:
    """Names in a row, cut after ``limit`` with how many were left out."""
    shown = [shorten(name, 40) for name in names]
    rest = len(shown) - limit
    return ", ".join(shown[:limit]) + (f" and {rest} more" if rest > 0 else "")


def resolution(found: LearnedFindings) -> str:
    """How finely the released columns were looked at."""
    return f"{listed(found.cut, limit=6)} cut as you asked, all else uncut" if found.cut else "uncut"


def calibrated(points: Sequence[CalibrationPoint]) -> str:
    """In how many groups of records the prediction lies within the limits of what was observed."""
    within = sum(point.low <= point.predicted <= point.high for point in points)
    return (
        f"In {within} of {len(points)} groups of records the predicted log-lift lies within the 95% limits of the one "
        "observed among records that the model had not seen."
    )


def is_mixture(certificate: Certificate) -> bool:
    """Whether values were mixed, and not only one set of them merged."""
    return str(certificate.mechanism["name"]) != "watchdog"


def on_curve(certificate: Certificate) -> bool:
    """Whether the release is a point of the plain watchdog's trade-off."""
    proved = any(reading.name == "sample" and reading.confidence for reading in certificate.readings)
    return not (is_mixture(certificate) or proved or certificate.delta > 0)


def is_symmetric(certificate: Certificate) -> bool:
    """Whether both sides have one bound."""
    return certificate.epsilon_low == certificate.epsilon_high


def sides(certificate: Certificate, unit: str) -> str:
    """The bounds of the two sides, where they differ."""
    high = f"{setting(certificate.epsilon_high)} {unit}"
    if math.isinf(certificate.epsilon_low):
        return f"{high} upwards, no bound downwards"
    return f"{high} upwards and {setting(certificate.epsilon_low)} {unit} downwards"


def ceiling(certificate: Certificate, unit: str) -> str:
    """What may never be exceeded, whatever delta; nothing where there is no such bound."""
    if math.isinf(certificate.epsilon_max):
        return ""
    return f"never beyond {setting(certificate.epsilon_max)} {unit}; "


def mechanism(certificate: Certificate) -> str:
    """Which rung of the ladder it is, and what it gains over the watchdog."""
    made_by = certificate.mechanism
    if not is_mixture(certificate):
        return "watchdog: one set of values is merged"
    what = "several sets of values are merged" if made_by["name"] == "subsets" else "values are mixed"
    gain = ""
    if "watchdog_nmil" in made_by:
        gain = f". One merged set, the watchdog, would lose {share(made_by['watchdog_nmil'])}"
        if made_by["loss_bound"] >= _WORTH_TELLING:
            gain += f"; no mechanism loses less than {share(made_by['loss_bound'])}"
    return f"{made_by['name']}: {what}{gain}"


def unchanged(certificate: Certificate) -> str:
    """How many rows and cells stay as they were; where replacements are drawn, what is expected of the draw."""
    utility = certificate.utility
    about = "" if certificate.mechanism.get("replacement") in ("merge", "suppress") else "about "
    return f"{about}{share(utility.rows_unchanged)} of rows and {about}{share(utility.cells_unchanged)} of cells"


def together(composition: Mapping[str, Any], unit: str) -> str:
    """What all releases of a ledger say together of each secret, in short."""
    told = [
        f"{number(each['epsilon'])} {unit} of {listed(each['secret'])}"
        if math.isfinite(each["epsilon"])
        else f"no bound of {listed(each['secret'])}"
        for each in composition["secrets"]
    ]
    releases = composition["releases"]
    how = "counted, exact" if composition["exact"] else "by bound"
    return f"{releases} release{'s' if releases > 1 else ''} in the ledger: {'; '.join(told)} ({how})"


def by_leak(leaks: Sequence[ColumnLeak]) -> tuple[ColumnLeak, ...]:
    """Columns with what leaks most first, so that a cut list never hides it."""
    return tuple(sorted(leaks, key=lambda leak: -max(leak.alone, leak.given_others)))


def by_epsilon(curve: Sequence[CurvePoint]) -> tuple[CurvePoint, ...]:
    """The trade-off from the strictest epsilon to the loosest."""
    return tuple(sorted(curve, key=lambda point: (point.epsilon, point.attained)))


def place_of(curve: Sequence[CurvePoint], epsilon: float | None) -> int | None:
    """Which point of a curve sorted by epsilon is in force at ``epsilon``: the loosest that is not beyond it.

    Nothing changes between two neighbouring points, so an epsilon between them has the smaller one's release.
    """
    if epsilon is None:
        return None
    within = [k for k, point in enumerate(curve) if point.epsilon <= epsilon * (1 + 1e-9)]
    return within[-1] if within else None
