"""A learned release: what is merged, what that is certain to do, and what is only estimated."""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from tacit.document import CurvePoint, Nats, RiskHistogram
from tacit.errors import DataError, NotCertifiedError, Sentence, Setting, sentence, together
from tacit.lenses.histograms import histogram_of
from tacit.lenses.table.certifying import facts_of
from tacit.lenses.table.learned.estimates import ESTIMATES, Estimates
from tacit.lenses.table.learned.learning import Learned, ValueScores, saved
from tacit.lenses.table.mechanisms import merged_facts
from tacit.lenses.table.tabulating import Counted
from tacit.lift import NOTHING, SLACK, Mask, Vector
from tacit.release.bounds import LiftBounds
from tacit.release.certificate import LearnedCertificate, LearnedMechanism
from tacit.release.claims import NO_LEAK_DETECTED, NOTHING_POINTWISE, worded
from tacit.release.codec import text_of
from tacit.release.directory import ReleaseDraft
from tacit.release.keys import file_sha256
from tacit.release.rules import ReleaseRules
from tacit.release.treatment import Merging, Replacement
from tacit.requests import Making

MODEL = "model.tacit"
# Nats below which all estimated risks together say no more than that the prior was learned.
NOTHING_LEARNED = 0.01
CURVE_POINTS = 60
_COUNT_INSTEAD = {"bins": Setting("bins", {"COLUMN": 4}), "counts": Setting("estimator", "counts")}


@dataclass(frozen=True, eq=False)
class RiskLadder:
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
    def of(cls, learned: Learned, first: Mask | None = None) -> RiskLadder:
        """The ladder of a learned table; the values ``first`` come before all others."""
        joint = learned.counted.joint
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
            set_risks=np.where(set_risks < NOTHING, 0.0, set_risks),
            shares=np.append(0.0, share),
            losses=np.minimum(losses, 1.0),
            leakages=kept + np.append(0.0, merged),
            whole=whole,
        )

    def risky(self, epsilon: float) -> int:
        """How many values are judged riskier than epsilon."""
        return int((self.risks > epsilon + SLACK).sum())

    def merged(self, epsilon: float) -> int:
        """How many values to merge: the risky ones, and as many more as bring the counted risk of the set to epsilon.

        Guarantees
        ----------
        The counted risk of the set is at most epsilon: at worst it is everything, whose risk is zero.
        """
        start = self.risky(epsilon)
        return start + int(np.argmax(self.set_risks[start:] <= epsilon + SLACK))

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
    ladder: RiskLadder
    size: int
    rules: ReleaseRules
    replacement: Replacement

    @property
    def counted(self) -> Counted:
        """The table at full resolution."""
        return self.learned.counted

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
        return histogram_of(self.learned.risk, self.counted.joint.marginal)

    @cached_property
    def after(self) -> RiskHistogram:
        """Estimated risks of the kept records, and the counted one of the merged."""
        risks = np.where(self.merged, self.attained, self.learned.risk)
        return histogram_of(risks, self.counted.joint.marginal, beside=self.before)

    @property
    def records_risky(self) -> float:
        """Share of records judged riskier than epsilon."""
        return float(self.counted.joint.marginal[self.learned.risk > self.rules.bounds.epsilon + SLACK].sum())

    def certificate(self, draft: ReleaseDraft, data_file: str, making: Making) -> LearnedCertificate:
        """The certificate of a release whose data has been written; the model is put beside the rules."""
        epsilon, told, learned_here = self.rules.bounds.epsilon, self.estimates, self.learned.learned_here
        self._keep(draft)
        pooled = merged_facts(self.counted, self.merged)
        mechanism = LearnedMechanism(
            replacement=self.replacement,
            estimator=self.learned.name,
            learned_from=told.learned_from,
            verdict=told.verdict,
            records_risky=told.judged(pooled["records_merged"]),
            salted_model_sha256=str(draft.salted(file_sha256(draft.private / MODEL))),
            salted_estimates_sha256=str(draft.salted(file_sha256(draft.private / ESTIMATES))),
            **pooled,
        )
        return worded(
            LearnedCertificate(
                **facts_of(self.counted, self.rules, draft, data_file, making, learned_here=learned_here),
                holds=self.attained <= epsilon + SLACK,
                attained_epsilon=self.attained,
                mechanism=mechanism,
                measures=told.measures(epsilon=epsilon, attained=self.attained),
                estimated_epsilon=told.kept_within(epsilon),
                estimated_exceeding=told.exceeding,
            )
        )

    @cached_property
    def estimates(self) -> Estimates:
        """What is estimated, to the last digit."""
        learned, epsilon = self.learned, self.rules.bounds.epsilon
        largest, exceeding = estimates_of(self.counted, self.merged, learned, epsilon)
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

    def _keep(self, draft: ReleaseDraft) -> None:
        """Put the model and the estimates in full into the owner's folder."""
        saved(self.learned.model, draft.private / MODEL)
        draft.keep(ESTIMATES, text_of(self.estimates, indent=2))

    def headline(self, certificate: LearnedCertificate) -> str:
        """What came of it, in one sentence."""
        merged, loss = certificate.mechanism.records_merged, certificate.utility.nmil
        certain = "No record was judged risky, and none was merged"
        if merged > 0:
            certain = sentence(
                "{merged:.1%} of the records were merged, and one of those leaks at most {attained} (counted, exact; "
                "{asked} were asked)",
                merged=merged,
                attained=Nats(certificate.attained_epsilon, 4, rounded="up"),
                asked=Nats(certificate.epsilon, 6),
            )
        rest = "none was kept as it was"
        if merged < 1 - 1e-12:
            rest = sentence(
                "the others leak at most {estimated} by the estimate of {name}, which is no guarantee",
                estimated=Nats(certificate.estimated_epsilon, 4, rounded="up"),
                name=self.learned.name,
            )
        doubt = f" {NO_LEAK_DETECTED}" if certificate.mechanism.verdict == "no leak detected" else ""
        words = "{certain}; {rest}. {loss:.1%} of the information is lost.{doubt}"
        return sentence(words, certain=certain, rest=rest, loss=loss, doubt=doubt)

    def diagnosis(self, certificate: LearnedCertificate, max_loss: float) -> Sentence | None:
        """What to do when little or nothing of the table came through."""
        merged, risky = certificate.mechanism.records_merged, self.records_risky
        if merged < 0.9:
            return None
        start = "Every record was" if merged > 1 - 1e-12 else f"{merged:.1%} of the records were"
        why = "the {risky:.1%} judged risky tilt so far towards a secret that others had to be merged with them"
        if risky > 0.5 * merged:
            why = "at epsilon {epsilon} {risky:.1%} of them are judged risky"
        words = f"{start} merged: {why}. Leave out or cut the column that says most, which audit names."
        texts: list[str] = [sentence(words, risky=risky, epsilon=Nats(certificate.epsilon, 6))]
        affordable = [point for point in self.curve if point.nmil <= max_loss]
        if affordable:
            best = min(affordable, key=lambda point: point.epsilon)
            epsilon = math.ceil(best.epsilon * 1e4) / 1e4
            words = "With {epsilon} the release would lose {loss:.1%} of its information."
            texts.append(sentence(words, epsilon=Setting("epsilon", epsilon), loss=best.nmil))
        return together(texts)

    def remarks(self) -> list[str]:
        """What else the owner should know."""
        merged, risky = float(self.counted.joint.marginal[self.merged].sum()), self.records_risky
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
    if replacement == "suppress" and (learned.risk > epsilon + SLACK).any():
        # Nobody could tell a wholly missing value from a suppressed one.
        first = learned.counted.symbols.all_missing
    ladder = RiskLadder.of(learned, first)
    size = ladder.merged(epsilon)
    merged = np.zeros(len(ladder.order), dtype=bool)
    merged[ladder.order[:size]] = True
    _refuse_unfound(learned, merged)
    question = learned.counted.question
    rules = ReleaseRules(
        secret=question.secret,
        released=question.released,
        cuts=question.cuts,
        symbols=learned.counted.symbols,
        treatment=Merging.of(learned.counted.joint.marginal, merged, replacement),
        bounds=LiftBounds.within(epsilon),
    )
    return LearnedRelease(learned, ladder, size, rules, replacement)


def _refuse_too_few(learned: Learned) -> None:
    if learned.learned_here and learned.evidence.verdict == "cannot tell":
        raise DataError(
            sentence(
                "{records:,} records are too few to learn from: nobody could tell which of them are risky, so nothing "
                "was written. Gather more records, or cut the columns and count ({bins} with {counts})",
                records=len(learned.value),
                **_COUNT_INSTEAD,
            )
        )


def _refuse_unfound(learned: Learned, merged: Mask) -> None:
    if learned.evidence.verdict == "leak" and learned.risk.max() <= NOTHING_LEARNED and not merged.any():
        raise NotCertifiedError(
            sentence(
                "a leak was detected, but {name} did not learn which records it is in and would keep all of them: "
                "nothing was written. Try another estimator ({auto}), gather more records, or cut the columns and "
                "count ({bins} with {counts})",
                name=learned.name,
                auto=Setting("estimator", "auto"),
                **_COUNT_INSTEAD,
            )
        )


def estimates_of(counted: Counted, merged: Mask, scores: ValueScores, epsilon: float) -> tuple[float, float]:
    """The largest estimated risk of a kept value, and the share of kept records whose interval exceeds epsilon."""
    share = counted.joint.marginal[~merged]
    if not len(share):
        return 0.0, 0.0
    beyond = scores.risk_high[~merged] > epsilon + SLACK
    return float(scores.risk[~merged].max()), min(float(share[beyond].sum() / share.sum()), 1.0)
