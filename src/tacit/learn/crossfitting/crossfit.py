"""Cross-fitting: models of several folds, which together score new records, and each score the ones they never saw."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Collection, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from sklearn.utils import check_random_state

from tacit.document import Nats
from tacit.errors import ArgumentError, sentence
from tacit.learn.arrays import Codes, Floats
from tacit.learn.association import association_test, some_records
from tacit.learn.contract import LogLiftEstimator
from tacit.learn.crossfitting.absence import Absences
from tacit.learn.crossfitting.blending import best_weights, blend, log_loss
from tacit.learn.crossfitting.candidates import FoldModel, Learner, View, what_it_reads
from tacit.learn.crossfitting.doubt import WORLDS, Doubt, least_error, overlooked_error, redrawn, stretch
from tacit.learn.crossfitting.folds import fold_of_each
from tacit.learn.crossfitting.training import FoldLesson, blended_evenly, out_of_fold, trained
from tacit.learn.encoding import Features
from tacit.learn.grids.model import GridsModel, remaining
from tacit.lift import entropy

ROWS_AT_ONCE = 50_000
# From this many records on, three folds do as well as five.
FOLDS, FEWER_FOLDS, FEWER_FOLDS_FROM = 5, 3, 50_000
# The first records show which learners suit a table.
ENOUGH_TO_SUIT = 2_000
# Intervals are tried out on no more records than this.
MOST_REDRAWN = 4_000


@dataclass(frozen=True)
class LearnerScore:
    """A learner that was tried: its log-loss on records it did not see (nats per record), and its blend weight."""

    name: str
    title: str
    log_loss: float
    weight: float


class CrossFitted(LogLiftEstimator):
    """What all estimators made of fold models have in common.

    Attributes
    ----------
    out_of_fold_log_lift_ : array, training records x secrets
        The log-lift of every training record by models, and weights, made without its fold.
    test_log_lift_ : array, training records x secrets
        The same with fixed weights: nothing about it was chosen by looking at the record's secret, directly or not,
        so that the verdict's test is exact.
    fold_ : array
        The fold of every training record.
    candidates_ : tuple of LearnerScore
    reason_ : str
        Why the estimate is made as it is, in a sentence.
    association_p_value_ : float
        Chance of an association of single columns, or products of two, with the secret as strong as the one found.
    doubt_ : Doubt or None
        By how much the spread over models is stretched to make intervals, and what counting says at the ends of the
        scale; see ``log_lift_interval``.
    absences_ : Absences or None
        Where a secret should have been met and was not, so that it may never occur there.
    remains_ : GridsModel or None
        Where records differ from what models that did not see them said, by more than chance.

    Guarantees
    ----------
    A training record's out-of-fold log-lift comes from models that did not see it.
    """

    folds: Any
    doubt: bool
    random_state: Any
    progress: Any
    _stage = "learning"

    @abstractmethod
    def _check_words(self) -> None:
        """Refuse parameters that cannot be used."""

    @abstractmethod
    def _fold_count(self, records: int) -> int:
        """Into how many folds the records are split; 0 for no cross-fitting."""

    @abstractmethod
    def _cross_fit(self, features: Features, secret: Codes, rng: np.random.Generator) -> None:
        """Learn a model of every fold (``self.fold_`` is set), and judge what was learned."""

    @abstractmethod
    def _middle_and_spreads(self, features: Features) -> tuple[Floats, Floats, Floats]:
        """Log-lifts, how far models of different folds differ about them, and how far different learners do."""

    @abstractmethod
    def _of_one_fold(self, features: Features, fold: int) -> Floats:
        """Log-lifts by the models of one fold."""

    def _learn(self, features: Features, secret: Codes) -> None:
        self._check_words()
        rng = np.random.default_rng(check_random_state(self.random_state).randint(2**31))
        folds = self._fold_count(len(secret))
        self.fold_ = fold_of_each(secret, folds, rng) if folds else np.full(len(secret), -1)
        self._cross_fit(features, secret, rng)
        self.doubt_: Doubt | None = None
        self.absences_: Absences | None = None
        self.remains_: GridsModel | None = None
        self.association_p_value_ = float("nan")
        if self.doubt and folds:
            some = some_records(len(secret), rng)
            self.association_p_value_ = association_test(self.encoder_.design(features.rows(some)), secret[some], rng)
            least = least_error(self.prior_, records=len(secret), columns=features.shape[1])
            factors = self._doubt_factors(features, rng)
            apart = self.out_of_fold_log_lift_
            searched = 0 if features.sparse is not None else features.shape[1]
            overlooked = overlooked_error(self.prior_, records=len(secret), columns=searched)
            self.doubt_ = Doubt.of(self.prior_, least, factors, apart, secret, overlooked)
            if features.sparse is None:
                claims = self.prior_ * np.exp(apart)
                ordinal, categorical = self.encoder_.ordinal(features)
                self.absences_ = Absences.of(ordinal, categorical, claims, secret)
                self.remains_ = remaining(ordinal, categorical, secret, claims, random_state=rng)

    def _doubt_factors(self, features: Features, rng: np.random.Generator) -> Floats:
        """How much too narrow the spread is, found in worlds whose log-lift is known: those of one fold's models."""
        folds = int(self.fold_.max()) + 1
        factors = []
        for world in range(WORLDS):
            records = features
            if len(features) > MOST_REDRAWN:
                records = features.rows(np.sort(rng.choice(len(features), MOST_REDRAWN, replace=False)))
            known = self._of_one_fold(records, world)
            words = {"doubt": False, "random_state": int(rng.integers(2**31)), "folds": folds}
            again = type(self)(**self.get_params(deep=False) | words)
            again.encoder_, again.secrets_, again.prior_ = self.encoder_, self.secrets_, self.prior_
            again._stage = "calibrating"
            self._prepare(again)
            again._learn(records, redrawn(known, self.prior_, rng))
            least = least_error(self.prior_, records=len(records), columns=records.shape[1])
            middle, spread, _ = again._middle_and_spreads(records)
            factors.append(stretch(middle, known, spread, least))
        return np.asarray(np.max(factors, axis=0))

    def _prepare(self, again: Any) -> None:
        """Tell the estimator that learns again what this one found out."""

    def _interval(self, features: Features, confidence: float, simultaneous: bool) -> tuple[Floats, Floats]:
        """The spread over models of different folds, stretched as it had to be where the truth was known.

        Where learners differ, it matters which of them is believed: the interval reaches further.
        Where held-out records differ from what was learned, in fields of two or three columns, the interval reaches as
        much further. It does not account for an interaction that shows nowhere. Where a secret should have been met and
        was not, the lower end is minus infinity.
        """
        if self.doubt_ is None:
            raise ArgumentError("no intervals were prepared: fit the estimator with folds and doubt=True")
        middle, spread, apart = self._middle_and_spreads(features)
        absent = np.zeros(middle.shape, dtype=bool)
        if self.absences_ is not None:
            absent = self.absences_(self.encoder_.ordinal(features)[0])
        low, high = self.doubt_.interval(
            middle, spread, absent, apart, confidence=confidence, simultaneous=simultaneous
        )
        if self.remains_ is not None:
            more = self.remains_.moved(self.encoder_.ordinal(features)[0], middle, self.prior_)
            # No posterior exceeds 1.
            highest = np.maximum(high, -np.log(self.prior_))
            low, high = low + np.minimum(more, 0.0), np.minimum(high + np.maximum(more, 0.0), highest)
        return low, high


@dataclass(frozen=True)
class Ensemble:
    """For every learner one model per fold, and the weights of the learners."""

    models: Mapping[str, list[FoldModel]]
    weights: Floats
    prior: Floats

    def told(self, view: View) -> tuple[Floats, Floats]:
        """Blended log-lift of each fold's models (folds x records x secrets), and how far the learners differ.

        The latter is the standard deviation, by weight, of what each would say alone (records x secrets).
        """
        folds, whole = len(next(iter(self.models.values()))), self.weights.sum()
        pooled = np.zeros((folds, len(view.features), len(self.prior)))
        mean, squares = np.zeros(pooled.shape[1:]), np.zeros(pooled.shape[1:])
        for (name, models), weight in zip(self.models.items(), self.weights, strict=True):
            if weight > 0:
                records = what_it_reads(name, view)
                lifts = np.stack([model.log_posterior(records) - np.log(self.prior) for model in models])
                pooled += weight * lifts
                alone = blend(lifts.mean(axis=0)[None], np.array([whole]), self.prior)
                mean += weight / whole * alone
                squares += weight / whole * alone**2
        blended = np.stack([blend(one[None], np.ones(1), self.prior) for one in pooled])
        return blended, np.sqrt(np.maximum(squares - mean**2, 0.0))


class Blended(CrossFitted):
    """What all estimators that blend learners by their loss on held-out records have in common.

    Guarantees
    ----------
    The posteriors p(s) e^{i(s,x)} add up to 1 for every record.
    """

    # The estimator that learns again gets the learners that had weight, and need not try the others; all if empty.
    _used: Collection[str] = ()

    @abstractmethod
    def _learners(self, view: View) -> Mapping[str, Learner]:
        """The learners to be tried on these records."""

    def _check_words(self) -> None:
        if self.folds is not None and (not isinstance(self.folds, (int, np.integer)) or self.folds < 2):
            raise ArgumentError(f"folds is a whole number, 2 or more; got {self.folds!r}")

    def _fold_count(self, records: int) -> int:
        usual = FEWER_FOLDS if records >= FEWER_FOLDS_FROM else FOLDS
        return min(int(usual if self.folds is None else self.folds), max(2, records // 2))

    def _finalists(
        self, learners: Mapping[str, Learner], features: Features, secret: Codes, rng: np.random.Generator
    ) -> Mapping[str, Learner]:
        """The learners that are trained on all records; here, all of them."""
        return learners

    def _cross_fit(self, features: Features, secret: Codes, rng: np.random.Generator) -> None:
        self.dropped_: tuple[LearnerScore, ...] = ()
        first = features.rows(np.arange(min(len(features), ENOUGH_TO_SUIT)))
        learners = self._finalists(self._learners(View(self.encoder_, first)), features, secret, rng)
        learners = {name: learner for name, learner in learners.items() if name in self._used} or learners
        models, lifts = self._trained(learners, features, secret, self.fold_, rng, self._stage)
        weights = best_weights(lifts, secret, self.prior_)
        self.ensemble_ = Ensemble(models, weights, self.prior_)
        self._judge(learners, lifts, secret)

    def _trained(
        self,
        learners: Mapping[str, Learner],
        features: Features,
        secret: Codes,
        fold: Codes,
        rng: np.random.Generator,
        stage: str,
    ) -> tuple[dict[str, list[FoldModel]], Floats]:
        """A model for every learner and fold, and what it says about its fold: learners x records x secrets."""
        lesson = FoldLesson(self.encoder_, features, secret, self.prior_, fold)
        return trained(learners, lesson, rng, stage, self.progress)

    def _judge(self, learners: Mapping[str, Learner], lifts: Floats, secret: Codes) -> None:
        self.out_of_fold_log_lift_ = out = out_of_fold(lifts, secret, self.fold_, self.prior_)
        self.test_log_lift_ = blended_evenly(lifts, self.prior_)
        tried = tuple(
            LearnerScore(name, learners[name].title, log_loss(lift, secret, self.prior_), float(weight))
            for name, lift, weight in zip(learners, lifts, self.ensemble_.weights, strict=True)
        )
        blended = log_loss(out, secret, self.prior_)
        self.reason_ = _reason(tried, blended, entropy(self.prior_))
        self.candidates_ = tried + self.dropped_

    def _by_fold_and_apart(self, features: Features) -> tuple[Floats, Floats]:
        rows, parts = np.arange(len(features)), []
        for start in range(0, len(features), ROWS_AT_ONCE):
            parts.append(self.ensemble_.told(View(self.encoder_, features.rows(rows[start : start + ROWS_AT_ONCE]))))
        by_fold, apart = zip(*parts, strict=True)
        return np.concatenate(by_fold, axis=1), np.concatenate(apart)

    def _log_lift(self, features: Features) -> Floats:
        return self._mean(self._by_fold_and_apart(features)[0])

    def _mean(self, lifts: Floats) -> Floats:
        return blend(lifts.mean(axis=0)[None], np.ones(1), self.prior_)

    def _middle_and_spreads(self, features: Features) -> tuple[Floats, Floats, Floats]:
        """Few folds estimate a spread badly, so half of that over folds is the mean over training records."""
        lifts, apart = self._by_fold_and_apart(features)
        own = lifts.var(axis=0, ddof=1)
        common = self.common_spread_ if self.doubt else own.mean(axis=0)
        return self._mean(lifts), np.sqrt((own + common) / 2), apart

    def _of_one_fold(self, features: Features, fold: int) -> Floats:
        return np.asarray(self._by_fold_and_apart(features)[0][fold])

    def _doubt_factors(self, features: Features, rng: np.random.Generator) -> Floats:
        some = features.rows(np.linspace(0, len(features) - 1, min(len(features), MOST_REDRAWN)).astype(np.int64))
        self.common_spread_ = self._by_fold_and_apart(some)[0].var(axis=0, ddof=1).mean(axis=0)
        return super()._doubt_factors(features, rng)

    def _prepare(self, again: Any) -> None:
        again._used = {name for name, w in zip(self.ensemble_.models, self.ensemble_.weights, strict=True) if w > 0.01}

    def _interval(self, features: Features, confidence: float, simultaneous: bool) -> tuple[Floats, Floats]:
        """As for all cross-fitted estimators; where values recur and counts have weight, no narrower than theirs."""
        low, high = super()._interval(features, confidence, simultaneous)
        weights = dict(zip(self.ensemble_.models, self.ensemble_.weights, strict=True))
        if weights.get("counts", 0.0) > 0:
            table: Any = self.ensemble_.models["counts"][0]
            # Most values in a column of numbers occur once, and say nothing about each other.
            if len(table.values) <= table.counts.sum() / 2:
                apart = 1 - (1 - confidence) / len(self.prior_) if simultaneous else confidence
                counted_low, counted_high = table.interval(features, apart)
                low, high = np.minimum(low, counted_low), np.maximum(high, counted_high)
        return low, high


def _reason(candidates: tuple[LearnerScore, ...], blended: float, prior: float) -> str:
    best = min(candidates, key=lambda c: c.log_loss)
    used = sorted((c for c in candidates if c.weight >= 0.005), key=lambda c: -c.weight)
    if not used or blended >= prior:
        return sentence(
            "nothing that was learned beats the prior on held-out records (log-loss {blended} per record against "
            "{prior}): the estimate stays close to the prior",
            blended=Nats(blended, 4),
            prior=Nats(prior, 4),
        )
    parts = ", ".join(f"{c.title} ({c.weight:.2f})" for c in used)
    what = "a blend of " + parts if len(used) > 1 else parts
    alone = sentence("{loss} for the best alone ({title}) and ", loss=Nats(best.log_loss, 4), title=best.title)
    return sentence(
        "{what}: log-loss {blended} per record on held-out records, compared with {others}{prior} for the prior",
        what=what,
        blended=Nats(blended, 4),
        others=alone if len(candidates) > 1 else "",
        prior=Nats(prior, 4),
    )
