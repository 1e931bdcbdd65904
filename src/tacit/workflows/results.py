"""What a workflow found, as frozen values that know how to become JSON, text and HTML.

The report room registers its renderers (text, an HTML fragment, a whole page) in ``RENDERERS`` when it is imported, so
that results can show themselves while this room knows nothing of presentation.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, fields, is_dataclass
from typing import Any, Literal

import numpy as np

from tacit.lift.estimate import Estimate
from tacit.lift.shuffles import Verdict

AttackVerdict = Literal[
    "not detectably better than the prior",
    "within the promise",
    "promise broken",
    "within the estimate",
    "beyond the estimate",
]

RENDERERS: dict[Literal["text", "html", "page"], Callable[[Any], str]] = {}


def plain(value: Any) -> Any:
    """``value`` as strict JSON types; infinity is written ``"inf"``, not-a-number becomes null."""
    if is_dataclass(value) and not isinstance(value, type):
        return {f.name: plain(getattr(value, f.name)) for f in fields(value) if f.repr}
    if isinstance(value, Mapping):
        return {str(key): plain(item) for key, item in value.items()}
    if isinstance(value, np.ndarray):
        return [plain(item) for item in value.tolist()]
    if isinstance(value, (list, tuple)):
        return [plain(item) for item in value]
    if isinstance(value, np.generic):
        return plain(value.item())
    if isinstance(value, float):
        if math.isnan(value):
            return None
        return value if math.isfinite(value) else ("inf" if value > 0 else "-inf")
    if value is None or isinstance(value, (bool, int, str)):
        return value
    return str(value)


@dataclass(frozen=True)
class Result:
    """What one workflow found."""

    def to_dict(self) -> dict[str, Any]:
        """The whole result in strict JSON types."""
        return {"result": type(self).__name__, **plain(self)}

    def __str__(self) -> str:
        return RENDERERS["text"](self) if "text" in RENDERERS else repr(self)

    def _repr_html_(self) -> str | None:
        return RENDERERS["html"](self) if "html" in RENDERERS else None


@dataclass(frozen=True)
class SourceFacts:
    """Where the records came from."""

    name: str
    format: str
    records: int
    weighted_total: float
    sha256: str | None


@dataclass(frozen=True)
class ColumnRole:
    """What a column is to the question: secret, released, dropped or weight."""

    name: str
    role: Literal["secret", "released", "dropped", "weight"]
    distinct: int | None
    cut: tuple[str, ...] | None = None


@dataclass(frozen=True)
class SecretValue:
    """A value of the secret and its share: what an adversary believes before any release."""

    label: str
    weight: float
    prior: float


@dataclass(frozen=True)
class MeasureFinding:
    """A measure of the joint (plug-in, on the table as it is) beside what shuffled secrets give.

    ``unit`` is "nats", "probability" or "1"; only nats can be shown as bits. ``null_low`` and ``null_high`` are the
    5th and 95th percentile over shuffles, ``p_value`` the share of shuffles at least as large. ``ceiling`` is the
    largest value the measure can take for this secret.
    """

    name: str
    title: str
    value: float
    ceiling: float
    null_low: float
    null_high: float
    p_value: float
    verdict: Verdict
    meaning: str
    unit: str = "nats"
    kind: str = "plug-in"


@dataclass(frozen=True)
class RiskHistogram:
    """Share of records by risk: ``shares[k]`` lies between ``edges[k]`` and ``edges[k + 1]``; infinite apart."""

    edges: tuple[float, ...]
    shares: tuple[float, ...]
    infinite_share: float
    quantiles: Mapping[str, float]


@dataclass(frozen=True)
class SafeShare:
    """How much of the table is within an epsilon, and what a tool that skips zero cells would say."""

    epsilon: float
    records: float
    values: float
    records_skipping_zero_cells: float


@dataclass(frozen=True)
class RiskyValue:
    """One of the riskiest released values, the secret it says most about, and which column says it.

    ``contributions`` are the terms of the chain rule in column order; they add up to ``log_lift``.
    ``p_chance`` is the probability that a shuffled secret gives this value a count as extreme (Bonferroni).
    """

    values: Mapping[str, Any]
    records: float
    secret: str
    prior: float
    posterior: float
    log_lift: float
    risk: float
    contributions: tuple[tuple[str, float], ...]
    p_chance: float
    why: str


@dataclass(frozen=True)
class ColumnLeak:
    """What one released column gives away (mutual information, nats).

    ``alone``: I(S; column); ``given_others``: what it adds once the others are known; ``left_out``: what the
    others still give away without it; ``safe_share_without``: share of the records that are then safe at epsilon 1.
    Null values are the 95th percentile over shuffled secrets.
    """

    name: str
    alone: float
    alone_null: float
    alone_verdict: Verdict
    given_others: float
    given_others_null: float
    left_out: float
    safe_share_without: float


@dataclass(frozen=True)
class CurvePoint:
    """One point of the trade-off: the epsilon attained and what it costs."""

    epsilon: float
    attained: float
    nmil: float
    utility: float
    leakage: float
    records_kept: float


@dataclass(frozen=True)
class Suggestion:
    """The smallest epsilon whose loss stays within what was tolerated.

    ``epsilon`` and ``nmil`` are those of one merged set, a point of the trade-off; ``mixture_epsilon`` and
    ``mixture_nmil`` those of mixing, the smallest of a few epsilons that were tried.
    """

    max_loss: float
    epsilon: float | None
    nmil: float | None
    sentence: str
    mixture_epsilon: float | None = None
    mixture_nmil: float | None = None


@dataclass(frozen=True)
class LearnedCandidate:
    """A model that was tried: its loss on records it had not seen (nats a record; lower is better), its weight."""

    name: str
    title: str
    log_loss: float
    weight: float


@dataclass(frozen=True)
class CalibrationPoint:
    """Records of about the same predicted log-lift beside the log-lift observed among them, with its 95% limits.

    ``secret`` is None where the secrets are taken together.
    """

    predicted: float
    observed: float
    low: float
    high: float
    records: int
    secret: str | None = None


@dataclass(frozen=True)
class LearnedSafeShare:
    """Share of records whose estimated risk is within an epsilon; ``surely`` those whose whole 95% interval is."""

    epsilon: float
    records: float
    surely: float


@dataclass(frozen=True)
class LearnedRiskyValue:
    """One of the values with the largest estimated risk, and the secret it says most about.

    ``low`` and ``high`` are the 95% interval of ``log_lift``. A column's contribution is the log-lift less the mean
    log-lift when that column's cell is redrawn from the column's own distribution; ``says_most`` has the largest.
    """

    values: Mapping[str, Any]
    records: float
    secret: str
    prior: float
    posterior: float
    log_lift: float
    low: float
    high: float
    risk: float
    contributions: tuple[tuple[str, float], ...]
    says_most: str
    why: str


@dataclass(frozen=True)
class LearnedFindings:
    """What an estimator that learned from the records says of the uncut released columns. All of it is an estimate.

    ``information``, ``calibration`` and ``risk_histogram`` come from models that had not seen the record they score
    (unless the notes say otherwise); ``safe_shares``, ``riskiest`` and ``largest_risk`` from the final model, which is
    the one that ``protect`` goes by. ``prior_log_loss`` is the loss of knowing nothing but the prior. ``unvouched``
    says that a saved model scored records that nobody said were fresh: it may have been learned from them, so there is
    no p-value, and nothing can be told from chance. ``cut`` are the released columns whose cut was asked for.

    Guarantees
    ----------
    If the secret is independent of the release, the verdict is "leak" in at most 5% of tables. Pointwise there is no
    guarantee: a learned estimate certifies nothing about a single record.
    """

    estimator: str
    reason: str
    candidates: tuple[LearnedCandidate, ...]
    prior_log_loss: float
    trained_on: int
    n_values: int
    information: Estimate
    null_high: float
    p_value: float
    verdict: Verdict
    largest_risk: float
    risk_histogram: RiskHistogram
    safe_shares: tuple[LearnedSafeShare, ...]
    calibration: tuple[CalibrationPoint, ...]
    riskiest: tuple[LearnedRiskyValue, ...]
    notes: tuple[str, ...]
    kind: str = "estimate"
    unvouched: bool = False
    cut: tuple[str, ...] = ()
    model_path: str | None = None


@dataclass(frozen=True)
class AuditResult(Result):
    """What a table gives away about a secret.

    Where ``learned`` is there, ``verdict`` and ``headline`` are its; everything else is counted (plug-in).
    """

    source: SourceFacts
    columns: tuple[ColumnRole, ...]
    secrets: tuple[SecretValue, ...]
    n_values: int
    verdict: Verdict
    headline: str
    measures: tuple[MeasureFinding, ...]
    shuffles: int
    risk_histogram: RiskHistogram
    safe_shares: tuple[SafeShare, ...]
    riskiest: tuple[RiskyValue, ...]
    column_leaks: tuple[ColumnLeak, ...]
    curve: tuple[CurvePoint, ...]
    suggestion: Suggestion
    notes: tuple[str, ...]
    random_state: int
    tacit_version: str
    scores_path: str | None = None
    learned: LearnedFindings | None = None


@dataclass(frozen=True)
class MeasureChange:
    """A measure before and after the mechanism, and what epsilon promises for it.

    ``kind`` is "plug-in" (counted, exact for the table) or "estimate" (learned; nothing is promised of it).
    """

    name: str
    title: str
    before: float
    after: float
    promise: float | None
    unit: str = "nats"
    kind: str = "plug-in"


@dataclass(frozen=True)
class Utility:
    """What the honest reader keeps."""

    mutual_information: float
    entropy: float
    nmil: float
    rows_unchanged: float
    cells_unchanged: float
    column_shift: float


@dataclass(frozen=True)
class FurtherClaim:
    """What is claimed of a further secret."""

    secret: tuple[str, ...]
    epsilon: float
    attained_epsilon: float


@dataclass(frozen=True)
class Reading:
    """What a claim means of whom.

    ``population``: the table is everyone, and the claim is exact. ``sample``: the table is a random sample, and the
    claim is about the people it was drawn from; ``confidence`` is the probability with which it is proved, None where
    nothing is. ``records_to_choose`` and ``records_to_prove`` are the sizes of the two halves; of ``candidates`` nested
    releases, the first ``passed`` were proved and the one that keeps ``kept`` values was made.
    """

    name: Literal["population", "sample"]
    sentence: str
    confidence: float | None
    records_to_choose: int | None = None
    records_to_prove: int | None = None
    candidates: int | None = None
    passed: int | None = None
    kept: int | None = None


@dataclass(frozen=True)
class Certificate:
    """A claim about a release, what it rests on, and what ``verify`` needs to check it.

    ``kind`` is "counted" if the claim is about every record, and "learned" if an estimator judged which records are
    risky: the claim then covers the merged records alone. Of the kept ones ``estimated_epsilon`` is the largest
    estimated risk, and ``estimated_exceeding`` the share of them whose 95% interval reaches beyond epsilon;
    ``attained_delta`` and ``breach_share`` are not known then, and None. ``composition`` is what this release and
    earlier ones of the same people say together, where a ledger was kept.

    Guarantees
    ----------
    ``attained_epsilon`` is the largest absolute log-lift of the joint of secret and output, on the sides that are
    bounded, computed on that joint: the table is the population, its shares the probabilities. ``holds`` is true only
    if every log-lift lies between ``-epsilon_low`` and ``epsilon_high`` (or, with ``delta`` above zero, the delta of
    its kind is at most that), of every further secret too. Where ``kind`` is "learned" both are about the output of
    merged records only, counted all the same.
    """

    claim: str
    epsilon: float
    epsilon_low: float
    epsilon_high: float
    delta: float
    delta_kind: str
    epsilon_max: float
    secret: tuple[str, ...]
    released: tuple[str, ...]
    holds: bool
    attained_epsilon: float
    attained_delta: float | None
    breach_share: float | None
    mechanism: Mapping[str, Any]
    assumptions: tuple[str, ...]
    measures: tuple[MeasureChange, ...]
    utility: Utility
    cuts: tuple[Mapping[str, Any], ...]
    left_out: tuple[str, ...]
    input: Mapping[str, Any]
    output: Mapping[str, Any]
    randomness: str
    tacit_version: str
    format_version: int = 2
    kind: Literal["counted", "learned"] = "counted"
    also: tuple[FurtherClaim, ...] = ()
    readings: tuple[Reading, ...] = ()
    composition: Mapping[str, Any] | None = None
    estimated_epsilon: float | None = None
    estimated_exceeding: float | None = None


@dataclass(frozen=True)
class ProtectResult(Result):
    """A release that was written, and its certificate."""

    out: str
    data_file: str
    certificate: Certificate
    headline: str
    diagnosis: str | None
    curve: tuple[CurvePoint, ...]
    before: RiskHistogram
    after: RiskHistogram
    notes: tuple[str, ...]


@dataclass(frozen=True)
class Check:
    """One line of a verification. ``passed`` is None where the line could not be checked (counts as doubt)."""

    name: str
    passed: bool | None
    detail: str


@dataclass(frozen=True)
class VerifyResult(Result):
    """Whether the claim of a release is true."""

    release: str
    against: str | None
    verdict: Literal["holds", "broken", "not checked"]
    headline: str
    checks: tuple[Check, ...]
    notes: tuple[str, ...] = ()


@dataclass(frozen=True)
class Adversary:
    """How well one adversary guesses the secret of records it was not trained on.

    ``low`` and ``high`` of an accuracy are exact binomial 95% limits. ``retrained`` saw the release beside the
    secrets while it trained, the strongest case.
    """

    name: str
    before: float
    before_interval: tuple[float, float]
    after: float
    after_interval: tuple[float, float]
    retrained: float
    retrained_interval: tuple[float, float]


@dataclass(frozen=True)
class AttackResult(Result):
    """Would an adversary still win?

    ``guessing_bound`` is what the certificate promises of every record, or, where ``bound_kind`` is "estimate", what
    a learned release only estimates.
    """

    release: str
    against: str
    trained_on: int
    tested_on: int
    prior_guess: float
    best_before: float
    best_after: float
    gain_before: float
    gain_after: float
    guessing_bound: float
    optimal_before: float
    optimal_after: float
    adversaries: tuple[Adversary, ...]
    verdict: AttackVerdict
    headline: str
    notes: Sequence[str] = ()
    bound_kind: Literal["promise", "estimate"] = "promise"
