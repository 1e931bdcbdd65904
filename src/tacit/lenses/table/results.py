"""What was found in a table. A field of type ``Information`` holds nats."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Annotated, Any, Literal

from tacit.document import CalibrationPoint, Information, RiskHistogram
from tacit.document.quantities import NATS
from tacit.lift import Estimate, Verdict

Role = Literal["secret", "released", "dropped", "weight"]


@dataclass(frozen=True)
class ColumnRole:
    """What a column is to the question."""

    name: str
    role: Role
    distinct: int | None
    cut: tuple[str, ...] | None = None


@dataclass(frozen=True)
class MeasureFinding:
    """A measure of the joint (plug-in, on the original table), next to what shuffled secrets give.

    ``unit`` is "nats", "probability" or "1"; only nats can be shown as bits. ``null_low`` and ``null_high`` are the
    5th and 95th percentile over shuffles, ``p_value`` the share of shuffles at least as large. ``ceiling`` is the
    largest value the measure can take for this secret.
    """

    name: str
    title: str
    value: Information
    ceiling: Information
    null_low: Information
    null_high: Information
    p_value: float
    verdict: Verdict
    meaning: str
    unit: str = "nats"
    kind: str = "plug-in"


@dataclass(frozen=True)
class FirstAnswer:
    """The number that survives chance, and how it was obtained.

    Attributes
    ----------
    how : "counted" or "learned" or None
        Counted where counting suffices; learned where chance alone would explain much of what is counted; None where
        neither gives an answer.
    share : float or None
        Share of the uncertainty about the secret that the released columns give away; if counted, less what chance
        shows at most 19 times in 20.
    low, high : float or None
        The 95% interval of what was learned.
    counted, chance : float
        The share that was counted, and what shuffled secrets show 19 times in 20.
    verdict : str
    estimator : str or None
        What it was learned with, from this many ``records``.
    records : int
    basis : str
        All of this in words.
    """

    how: Literal["counted", "learned"] | None
    share: float | None
    low: float | None
    high: float | None
    counted: float
    chance: float
    verdict: Verdict
    estimator: str | None = None
    records: int = 0
    basis: str = ""


@dataclass(frozen=True)
class SafeShare:
    """How much of the table is within an epsilon, and what a tool that skips zero cells would say."""

    epsilon: Information
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
    log_lift: Information
    risk: Information
    contributions: tuple[tuple[str, Information], ...]
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
    alone: Information
    alone_null: Information
    alone_verdict: Verdict
    given_others: Information
    given_others_null: Information
    left_out: Information
    safe_share_without: float


@dataclass(frozen=True)
class Suggestion:
    """The strictest of the epsilons tried whose loss is tolerable.

    The loss is the part of a column, on average, that a reader of the release does not keep: ``kept`` is at least
    1 - ``max_loss``. ``epsilon`` and ``kept`` are None if no epsilon keeps as much. ``command`` makes a release in any
    case; it then has the epsilon beyond which hardly more is kept.
    """

    max_loss: float
    epsilon: Information | None
    kept: float | None
    sentence: str
    command: str = ""


@dataclass(frozen=True)
class SecretPrice:
    """What one value of the secret would cost if only it were secret, and all others one class.

    ``log_lift`` is the largest in any single released column, at a ``value`` that enough records have; ``kept`` is the
    share of each column's entropy that could be told, each column by itself.
    """

    label: str
    prior: float
    log_lift: Information
    column: str
    value: str
    kept: Mapping[str, float]

    @property
    def mean_kept(self) -> float:
        """The share of a column that is kept, on average."""
        return sum(self.kept.values()) / len(self.kept)

    @property
    def forbids(self) -> tuple[str, ...]:
        """The columns that could not be told at all."""
        return tuple(name for name, share in self.kept.items() if share == 0)


@dataclass(frozen=True)
class SecretPrices:
    """What the values of a secret cost at an epsilon on both sides, the dearest first.

    ``together`` is what is kept of each column if all ``n_values`` values are bounded; if there are many, only the
    commonest have a price.
    """

    column: str
    n_values: int
    epsilon: Information
    least: int
    together: Mapping[str, float]
    prices: tuple[SecretPrice, ...]


@dataclass(frozen=True)
class CorrectedValue:
    """How many records had a value, from a drawn release; ``value`` None is missing, ``other`` every other value.

    ``observed`` is the number in the release, ``records`` the number in the original as far as the channel tells, with
    the standard error of the draw: infinite where the release does not tell this value from another.
    """

    value: Any
    other: bool
    observed: int
    records: float
    standard_error: float

    @property
    def name(self) -> str:
        """The value as people say it."""
        return "other values" if self.other else "(missing)" if self.value is None else str(self.value)


@dataclass(frozen=True)
class CorrectedColumn:
    """The counts of one column of a drawn release, corrected by its channel; ``sql`` is the query that does the same.

    The query reads the released data from a table called ``release``. Values that fewer people than the release's
    ``least`` have, or that are not among the commonest of the column, are one: other values.
    """

    column: str
    values: tuple[CorrectedValue, ...]
    sql: str


@dataclass(frozen=True)
class LearnedCandidate:
    """A model that was tried: its loss on held-out records (nats per record; lower is better), and its weight."""

    name: str
    title: str
    log_loss: Information
    weight: float


@dataclass(frozen=True)
class LearnedSafeShare:
    """Share of records whose estimated risk is within an epsilon; ``surely`` those whose whole 95% interval is."""

    epsilon: Information
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
    log_lift: Information
    low: Information
    high: Information
    risk: Information
    contributions: tuple[tuple[str, Information], ...]
    says_most: str
    why: str


@dataclass(frozen=True)
class LearnedFindings:
    """What an estimator that learned from the records says about the uncut released columns. All of it is an estimate.

    ``information``, ``calibration`` and ``risk_histogram`` come from models that had not seen the record they score
    (unless the notes say otherwise); ``safe_shares``, ``riskiest`` and ``largest_risk`` from the final model, the one
    that ``protect`` uses. ``prior_log_loss`` is the loss of knowing nothing but the prior. ``unvouched`` says that a
    saved model scored records that nobody said were fresh: it may have been trained on them, so there is no p-value,
    and nothing can be told from chance. ``cut`` are the released columns that were cut on request.

    Guarantees
    ----------
    If the secret is independent of the release, the verdict is "leak" in at most 5% of tables. Pointwise there is no
    guarantee: a learned estimate certifies nothing about a single record.
    """

    estimator: str
    reason: str
    candidates: tuple[LearnedCandidate, ...]
    prior_log_loss: Information
    trained_on: int
    n_values: int
    information: Annotated[Estimate, NATS]
    null_high: Information
    p_value: float
    verdict: Verdict
    largest_risk: Information
    risk_histogram: RiskHistogram
    safe_shares: tuple[LearnedSafeShare, ...]
    calibration: tuple[CalibrationPoint, ...]
    riskiest: tuple[LearnedRiskyValue, ...]
    notes: tuple[str, ...]
    kind: str = "estimate"
    unvouched: bool = False
    cut: tuple[str, ...] = ()
    model_path: str | None = None
