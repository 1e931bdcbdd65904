"""A learned release: what is merged, what that is certain to do, and what is only estimated."""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from tacit.errors import DataError, NotCertifiedError
from tacit.lift.joint import Joint, Mask, Vector
from tacit.workflows.bounds import ROUNDING, TOLERANCE, Bounds
from tacit.workflows.certifying import Written, facts_of, file_sha256, merged_facts, salted
from tacit.workflows.claims import (
    NO_LEAK_DETECTED,
    NOTHING_POINTWISE,
    assumption_of_learned,
    assumptions_of,
    claim_of_learned,
    randomness_of,
)
from tacit.workflows.estimates import FILE as ESTIMATES
from tacit.workflows.estimates import Estimates
from tacit.workflows.findings import histogram_of
from tacit.workflows.learning import Learned, saved
from tacit.workflows.results import Certificate, CurvePoint, RiskHistogram
from tacit.workflows.rules import Rules
from tacit.workflows.tabulating import Counted
from tacit.workflows.treatment import Merging, Replacement

MODEL = "model.tacit"
# Nats below which all estimated risks together say no more than that the prior was learned.
NOTHING_LEARNED = 0.01
CURVE_POINTS = 60


@dataclass(frozen=True, eq=False)
class Ladder:
    """Released values from the largest estimated risk down; what may be merged are the first k of them, for some k.

    Attributes
    ----------
    order : array
        The released values.
    risks : array
        Their estimated risks, falling; a value that must be merged with any other has infinity.
    set_risks : array
        Counted risk of the first k values as one, for k = 0 to all. Exact for the table; 0 for none.
    shares, losses : arrays
        Share of records, and of information (NMIL), that merging the first k values takes.
    leakages : array
        Estimated mutual information left: the kept records' as learned, the merged records' as counted.
    """

    order: NDArray[np.intp]
    risks: Vector
    set_risks: Vector
    shares: Vector
    losses: Vector
    leakages: Vector
    whole: float

    @classmethod
    def of(cls, learned: Learned, first: Mask | None = None) -> Ladder:
        """The ladder of a learned table; the values ``first`` come before all others."""
        joint = learned.found.joint
        risks = learned.risk if first is None else np.where(first, np.inf, learned.risk)
        order = np.lexsort((-joint.marginal, -risks))
        pooled = np.cumsum(joint.matrix[:, order], axis=1)
        share = np.cumsum(joint.marginal[order])
        with np.errstate(divide="ignore", invalid="ignore"):
            lifts = np.log(pooled / pooled.sum(axis=0)) - np.log(joint.prior)[:, None]
            merged = np.where(pooled > 0, pooled * lifts, 0.0).sum(axis=0)
            lost = share * np.log(share) - np.cumsum(joint.marginal[order] * np.log(joint.marginal[order]))
        # Summed from the end, so that a value of minus infinity that is merged is gone.
        kept = np.append(np.cumsum(learned.nats_by_value()[order][::-1])[::-1], 0.0)
        whole = float(-(joint.marginal * np.log(joint.marginal)).sum())
        losses = np.append(0.0, np.maximum(lost, 0.0)) / whole if whole > 0 else np.zeros(len(order) + 1)
        set_risks = np.append(0.0, np.abs(lifts).max(axis=0))
        # Everything together is the prior, whatever the rounding.
        set_risks[-1] = 0.0
        return cls(
            order=order,
            risks=risks[order],
            set_risks=np.where(set_risks < ROUNDING, 0.0, set_risks),
            shares=np.append(0.0, share),
            losses=np.minimum(losses, 1.0),
            leakages=kept + np.append(0.0, merged),
            whole=whole,
        )

    def risky(self, epsilon: float) -> int:
        """How many values are judged riskier than epsilon."""
        return int((self.risks > epsilon + TOLERANCE).sum())

    def merged(self, epsilon: float) -> int:
        """How many values to merge: the risky ones, and as many more as bring the counted risk of the set to epsilon.

        Guarantees
        ----------
        The counted risk of the set is at most epsilon: at worst it is everything, whose risk is zero.
        """
        start = self.risky(epsilon)
        return start + int(np.argmax(self.set_risks[start:] <= epsilon + TOLERANCE))

    def curve(self, epsilon: float) -> tuple[CurvePoint, ...]:
        """What ``epsilon`` and others would cost; ``attained`` is an estimate, the larger of both sides' risks."""
        finite = self.risks[np.isfinite(self.risks)]
        spread = np.quantile(finite, np.linspace(0, 1, CURVE_POINTS), method="higher") if len(finite) else np.array([])
        epsilons = np.unique(np.append(spread, epsilon))
        points = []
        for epsilon in epsilons.tolist():
            k = self.merged(epsilon)
            left = float(self.risks[k]) if k < len(self.risks) else 0.0
            points.append(
                CurvePoint(
                    epsilon=epsilon,
                    attained=max(left, float(self.set_risks[k])),
                    nmil=float(self.losses[k]),
                    utility=self.whole * (1 - float(self.losses[k])),
                    leakage=max(float(self.leakages[k]), 0.0),
                    records_kept=max(1 - float(self.shares[k]), 0.0),
                )
            )
        return tuple(points)


@dataclass(frozen=True, eq=False)
class LearnedRelease:
    """What a learned release will be, before a row is written: the first ``size`` values of the ladder are merged."""

    learned: Learned
    ladder: Ladder
    size: int
    rules: Rules
    replacement: Replacement

    @property
    def found(self) -> Counted:
        """The table at full resolution."""
        return self.learned.found

    @property
    def merged(self) -> Mask:
        """The values that are merged."""
        return self.rules.treatment.changed

    @property
    def attained(self) -> float:
        """Counted risk of the merged set as one value: exact for the table."""
        return float(self.ladder.set_risks[self.size])

    @property
    def curve(self) -> tuple[CurvePoint, ...]:
        """What other epsilons would cost, by estimate."""
        return self.ladder.curve(self.rules.bounds.epsilon)

    @cached_property
    def before(self) -> RiskHistogram:
        """Estimated risks of the records."""
        return histogram_of(self.learned.risk, self.found.joint.marginal)

    @cached_property
    def after(self) -> RiskHistogram:
        """Estimated risks of the kept records, and the counted one of the merged."""
        risks = np.where(self.merged, self.attained, self.learned.risk)
        return histogram_of(risks, self.found.joint.marginal, beside=self.before)

    @property
    def records_risky(self) -> float:
        """Share of records judged riskier than epsilon."""
        return float(self.found.joint.marginal[self.learned.risk > self.rules.bounds.epsilon + TOLERANCE].sum())

    def certificate(self, written: Written) -> Certificate:
        """The certificate of a release whose data has been written; the model is put beside the rules."""
        learned, epsilon, told = self.learned, self.rules.bounds.epsilon, self.estimates
        private = self._with_private(written)
        facts = facts_of(self.found, self.rules, written)
        facts["randomness"] = randomness_of(
            drawn=self.rules.treatment.drawn,
            repeatable=written.random_state is not None,
            learned_here=learned.learned_here,
        )
        pooled = merged_facts(self.found, self.merged)
        mechanism = {
            "name": "watchdog",
            "replacement": self.replacement,
            "method": "learned partition",
            "estimator": learned.name,
            "learned_from": told.learned_from,
            "verdict": told.verdict,
            "records_risky": told.judged(pooled["records_merged"]),
            "salted_model_sha256": salted(file_sha256(private / MODEL), written.salt),
            "salted_estimates_sha256": salted(file_sha256(private / ESTIMATES), written.salt),
            **pooled,
        }
        return Certificate(
            **facts,
            claim=claim_of_learned(
                secret=self.rules.secret, epsilon=epsilon, attained=self.attained, mechanism=mechanism
            ),
            holds=self.attained <= epsilon + TOLERANCE,
            attained_epsilon=self.attained,
            attained_delta=None,
            breach_share=None,
            mechanism=mechanism,
            assumptions=(
                *assumptions_of(
                    secret=facts["secret"],
                    cuts=facts["cuts"],
                    left_out=facts["left_out"],
                    weight=self.found.question.weight,
                    bounds=self.rules.bounds,
                    randomness=facts["randomness"],
                ),
                assumption_of_learned(learned.name, told.exceeding),
            ),
            measures=told.measures(epsilon=epsilon, attained=self.attained),
            kind="learned",
            estimated_epsilon=told.kept_within(epsilon),
            estimated_exceeding=told.exceeding,
        )

    @cached_property
    def estimates(self) -> Estimates:
        """What is estimated, to the last digit."""
        learned, epsilon = self.learned, self.rules.bounds.epsilon
        largest, exceeding = estimates_of(self.found, self.merged, learned.risk, learned.risk_high, epsilon)
        return Estimates(
            estimator=learned.name,
            learned_from=len(learned.value) if learned.learned_here else 0,
            verdict=learned.evidence.verdict,
            kept_risk=largest,
            kept_exceeding=exceeding,
            records_risky=self.records_risky,
            information_before=float(self.ladder.leakages[0]),
            information_after=float(self.ladder.leakages[self.size]),
            risk_before=float(learned.risk.max()),
        )

    def _with_private(self, written: Written) -> Path:
        """The owner's folder, with the model and the estimates in full."""
        private = written.data.parent / "private"
        private.mkdir(mode=0o700, exist_ok=True)
        saved(self.learned.model, private / MODEL)
        (private / ESTIMATES).write_text(self.estimates.to_json(), "utf-8")
        return private

    def headline(self, certificate: Certificate) -> str:
        """What came of it, in one sentence."""
        merged, loss = certificate.mechanism["records_merged"], certificate.utility.nmil
        certain = (
            f"{merged:.1%} of the records were merged, and one of those leaks at most "
            f"{certificate.attained_epsilon:.4g} nats (counted, exact; {certificate.epsilon:g} nats were asked)"
            if merged > 0
            else "no record was judged risky, and none was merged"
        )
        rest = (
            f"the others leak at most {certificate.estimated_epsilon:.4g} nats by the estimate of "
            f"{self.learned.name}, which is no guarantee"
            if merged < 1 - 1e-12
            else "none was kept as it was"
        )
        sentence = f"{certain}; {rest}. {loss:.1%} of the information is lost."
        doubt = f" {NO_LEAK_DETECTED}" if certificate.mechanism["verdict"] == "no leak detected" else ""
        return sentence[0].upper() + sentence[1:] + doubt

    def diagnosis(self, certificate: Certificate, max_loss: float) -> str | None:
        """What to do when little or nothing of the table came through."""
        merged, risky = certificate.mechanism["records_merged"], self.records_risky
        if merged < 0.9:
            return None
        start = "Every record was" if merged > 1 - 1e-12 else f"{merged:.1%} of the records were"
        why = (
            f"at epsilon {certificate.epsilon:g} nats {risky:.1%} of them are judged risky"
            if risky > 0.5 * merged
            else f"the {risky:.1%} judged risky tilt so far towards a secret that others had to be merged with them"
        )
        text = f"{start} merged: {why}. Leave out or cut the column that says most (tacit audit names it)."
        affordable = [point for point in self.curve if point.nmil <= max_loss]
        if affordable:
            best = min(affordable, key=lambda point: point.epsilon)
            epsilon = math.ceil(best.epsilon * 1e4) / 1e4
            text += f" With --epsilon {epsilon:g} the release would lose {best.nmil:.1%} of its information."
        return text

    def remarks(self) -> list[str]:
        """What else the owner should know."""
        merged, risky = float(self.found.joint.marginal[self.merged].sum()), self.records_risky
        notes = [f"{NOTHING_POINTWISE} What is certain is said of the merged records alone", *self.learned.notes]
        if merged > risky + 1e-12:
            notes.append(
                f"the {risky:.1%} of the records judged risky would together tilt towards a secret: others, the "
                f"riskiest first, were merged with them (camouflage), {merged:.1%} in all"
            )
        if merged > 1 - 1e-12:
            notes.append("every record was merged: the release says nothing of any of them")
        return notes


def learned_release(learned: Learned, epsilon: float, replacement: Replacement) -> LearnedRelease:
    """Merge what is judged riskier than epsilon, and as much besides as its counted risk asks for.

    Guarantees
    ----------
    Which values are merged is a function of the values alone (the final model's score and the counts), so that the
    mechanism looks at nothing but the released cells. The counted risk of the merged set is within epsilon.

    Raises
    ------
    DataError
        If there were too few records to learn from: whatever is not known to be safe is not released.
    NotCertifiedError
        If a leak was detected, but nothing was learned of where it is, so that every record would be kept.
    """
    _refuse_too_few(learned)
    first = None
    if replacement == "suppress" and (learned.risk > epsilon + TOLERANCE).any():
        # Nobody could tell a wholly missing value from a suppressed one.
        first = learned.found.symbols.all_missing
    ladder = Ladder.of(learned, first)
    size = ladder.merged(epsilon)
    merged = np.zeros(len(ladder.order), dtype=bool)
    merged[ladder.order[:size]] = True
    _refuse_unfound(learned, merged)
    question = learned.found.question
    rules = Rules(
        secret=question.secret,
        released=question.released,
        cuts=question.cuts,
        symbols=learned.found.symbols,
        treatment=Merging.of(learned.found.joint.marginal, merged, replacement),
        bounds=Bounds.within(epsilon),
    )
    return LearnedRelease(learned, ladder, size, rules, replacement)


def _refuse_too_few(learned: Learned) -> None:
    if learned.learned_here and learned.evidence.verdict == "cannot tell":
        raise DataError(
            f"{len(learned.value):,} records are too few to learn from: nobody could tell which of them are risky, so "
            "nothing was written. Gather more records, or cut the columns and count (--bins COLUMN=4 with --estimator "
            "counts)"
        )


def _refuse_unfound(learned: Learned, merged: Mask) -> None:
    if learned.evidence.verdict == "leak" and learned.risk.max() <= NOTHING_LEARNED and not merged.any():
        raise NotCertifiedError(
            f"a leak was detected, but {learned.name} did not learn which records it is in and would keep all of them: "
            "nothing was written. Try another estimator (--estimator auto), gather more records, or cut the columns "
            "and count (--bins COLUMN=4 with --estimator counts)"
        )


def estimates_of(
    found: Counted, merged: Mask, risks: Vector, risks_high: Vector, epsilon: float
) -> tuple[float, float]:
    """The largest estimated risk of a kept value, and the share of kept records whose interval exceeds epsilon."""
    share = found.joint.marginal[~merged]
    if not len(share):
        return 0.0, 0.0
    beyond = risks_high[~merged] > epsilon + TOLERANCE
    return float(risks[~merged].max()), min(float(share[beyond].sum() / share.sum()), 1.0)


def set_risk(joint: Joint, merged: Mask) -> float:
    """Counted risk of a set of released values as one; none has no risk."""
    if not merged.any() or merged.all():
        return 0.0
    pooled = joint.matrix[:, merged].sum(axis=1)
    with np.errstate(divide="ignore"):
        return float(np.abs(np.log(pooled / pooled.sum()) - np.log(joint.prior)).max())
