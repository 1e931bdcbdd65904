"""Cross-fitting: models of several folds that together score new records, and apart score the ones they never saw."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from sklearn.utils import check_random_state

from tacit.errors import ArgumentError
from tacit.learn.association import association_test
from tacit.learn.blending import best_weights, blend, log_loss
from tacit.learn.candidates import Learner, Lesson, Model, View
from tacit.learn.contract import Codes, Floats, LogLiftEstimator
from tacit.learn.doubt import interval, least_error, redrawn, stretch
from tacit.learn.encoding import Features
from tacit.learn.folds import fold_of_each, learn_and_check

Progress = Callable[[str, float | None], None]

ROWS_AT_ONCE = 50_000


@dataclass(frozen=True)
class Candidate:
    """A learner that was tried: its log-loss on records it did not see (nats a record), and its weight in the blend."""

    name: str
    title: str
    log_loss: float
    weight: float


@dataclass(frozen=True)
class Ensemble:
    """For every learner one model a fold, and the weights of the learners."""

    names: tuple[str, ...]
    models: Mapping[str, list[Model]]
    weights: Floats
    prior: Floats

    def lifts_by_fold(self, view: View, learners: Mapping[str, Learner]) -> Floats:
        """Blended log-lift of each fold's models: folds x records x secrets."""
        folds = len(next(iter(self.models.values())))
        logs = np.log(self.prior)
        pooled = np.zeros((folds, len(view.features), len(self.prior)))
        for name, weight in zip(self.names, self.weights, strict=True):
            if weight > 0:
                records = learners[name].reads(view)
                pooled += weight * np.stack([model.log_posterior(records) - logs for model in self.models[name]])
        return np.stack([blend(one[None], np.ones(1), self.prior) for one in pooled])


class CrossFitted(LogLiftEstimator):
    """What the estimators made of fold models do alike.

    Attributes
    ----------
    out_of_fold_log_lift_ : array, training records x secrets
        The log-lift of every training record by models, and weights, made without its fold.
    test_log_lift_ : array, training records x secrets
        The same with fixed weights: nothing about it was chosen by looking at the record's secret, directly or not,
        so that the verdict's test is exact.
    fold_ : array
        The fold of every training record.
    candidates_ : tuple of Candidate
    reason_ : str
        Why the estimate is made as it is, in a sentence.
    association_p_value_ : float
        Chance of an association of single columns, or products of two, with the secret as strong as the one found.
    doubt_factor_ : float
        By how much the spread over folds is stretched to make intervals; see ``log_lift_interval``.

    Guarantees
    ----------
    The posteriors p(s) e^{i(s,x)} add up to 1 for every record. A training record's out-of-fold log-lift comes from
    models that did not see it.
    """

    folds: int
    doubt: bool
    random_state: Any
    progress: Progress | None

    @abstractmethod
    def _learners(self, view: View) -> Mapping[str, Learner]:
        """The learners to be tried on these records."""

    def _learn(self, features: Features, secret: Codes) -> None:
        if not isinstance(self.folds, (int, np.integer)) or self.folds < 2:
            raise ArgumentError(f"folds is a whole number, 2 or more; got {self.folds!r}")
        rng = np.random.default_rng(check_random_state(self.random_state).randint(2**31))
        # What suited the records of an earlier fit need not suit these.
        self.__dict__.pop("ensemble_", None)
        view = View(self.encoder_, features)
        learners = self._learners(view)
        self.fold_ = fold_of_each(secret, min(int(self.folds), max(2, len(secret) // 2)), rng)
        self.ensemble_, lifts = self._cross_fitted(view, learners, secret, rng, stage="learning")
        self._judge(learners, lifts, secret)
        self.least_error_ = least_error(self.prior_, records=len(secret), columns=features.shape[1])
        self.doubt_factor_ = self.association_p_value_ = float("nan")
        if self.doubt:
            self.association_p_value_ = association_test(view.design, secret, rng)
            self.doubt_factor_ = self._doubt_factor(view, learners, rng)

    def _cross_fitted(
        self, view: View, learners: Mapping[str, Learner], secret: Codes, rng: np.random.Generator, *, stage: str
    ) -> tuple[Ensemble, Floats]:
        """Models of all folds, and the out-of-fold lifts of every learner (learners x records x secrets)."""
        folds = int(self.fold_.max()) + 1
        parts = [learn_and_check(self.fold_, k, secret, rng) for k in range(folds)]
        models, lifts = {}, np.zeros((len(learners), len(secret), len(self.prior_)))
        for at, (name, learner) in enumerate(learners.items()):

            def show(share: float, at: int = at, title: str = learner.title) -> None:
                if self.progress is not None:
                    self.progress(f"{stage}: {title}", (at + share) / len(learners))

            lesson = Lesson(view, secret, self.prior_, parts, rng, show)
            models[name] = learner.train(lesson)
            for k in range(folds):
                rows = np.flatnonzero(self.fold_ == k)
                apart = learner.reads(View(self.encoder_, view.features.rows(rows)))
                lifts[at, rows] = models[name][k].log_posterior(apart) - np.log(self.prior_)
        return Ensemble(tuple(learners), models, best_weights(lifts, secret, self.prior_), self.prior_), lifts

    def _judge(self, learners: Mapping[str, Learner], lifts: Floats, secret: Codes) -> None:
        out = np.empty(lifts.shape[1:])
        for k in range(int(self.fold_.max()) + 1):
            here = self.fold_ == k
            weights = best_weights(lifts[:, ~here], secret[~here], self.prior_)
            out[here] = blend(lifts[:, here], weights, self.prior_)
        self.out_of_fold_log_lift_ = out
        self.test_log_lift_ = blend(lifts, np.full(len(lifts), 1 / len(lifts)), self.prior_)
        self.candidates_ = tuple(
            Candidate(name, learners[name].title, log_loss(lift, secret, self.prior_), float(weight))
            for name, lift, weight in zip(learners, lifts, self.ensemble_.weights, strict=True)
        )
        blended = log_loss(out, secret, self.prior_)
        prior = float(-(self.prior_ * np.log(self.prior_)).sum())
        self.reason_ = _reason(self.candidates_, blended, prior)

    def _doubt_factor(self, view: View, learners: Mapping[str, Learner], rng: np.random.Generator) -> float:
        """How much too narrow the spread is, found in a world whose log-lift is known: the one just learned."""
        known = self._log_lift(view.features)
        drawn = redrawn(known, self.prior_, rng)
        again, _ = self._cross_fitted(view, learners, drawn, rng, stage="calibrating")
        lifts = again.lifts_by_fold(view, learners)
        self.common_spread_ = _common_spread(self._by_fold(view.features))
        return stretch(_mean(lifts, self.prior_), known, _spread(lifts, _common_spread(lifts)))

    def _by_fold(self, features: Features) -> Floats:
        learners = self._learners(View(self.encoder_, features))
        views = (View(self.encoder_, features.rows(rows)) for rows in _chunks(len(features)))
        return np.concatenate([self.ensemble_.lifts_by_fold(view, learners) for view in views], axis=1)

    def _log_lift(self, features: Features) -> Floats:
        return _mean(self._by_fold(features), self.prior_)

    def _interval(self, features: Features, confidence: float) -> tuple[Floats, Floats]:
        if np.isnan(self.doubt_factor_):
            raise ArgumentError("no intervals were prepared: fit the estimator with doubt=True")
        lifts = self._by_fold(features)
        spread = _spread(lifts, self.common_spread_)
        middle = _mean(lifts, self.prior_)
        return interval(middle, spread, self.doubt_factor_, self.least_error_, self.prior_, confidence)


def _mean(lifts: Floats, prior: Floats) -> Floats:
    """The folds' log-lifts as one."""
    return blend(lifts.mean(axis=0)[None], np.ones(1), prior)


def _common_spread(lifts: Floats) -> Floats:
    """Mean variance over folds of each secret's log-lift."""
    return np.asarray(lifts.var(axis=0, ddof=1).mean(axis=0))


def _spread(lifts: Floats, common: Floats) -> Floats:
    """Standard deviation over folds; a few folds tell it badly, so half of it is what all records share."""
    return np.asarray(np.sqrt((lifts.var(axis=0, ddof=1) + common) / 2))


def _chunks(n: int) -> Iterator[Codes]:
    for start in range(0, n, ROWS_AT_ONCE):
        yield np.arange(start, min(n, start + ROWS_AT_ONCE))


def _reason(candidates: tuple[Candidate, ...], blended: float, prior: float) -> str:
    best = min(candidates, key=lambda c: c.log_loss)
    used = sorted((c for c in candidates if c.weight >= 0.005), key=lambda c: -c.weight)
    if not used or blended >= prior:
        return (
            f"nothing that was learned beats the prior on records apart (log-loss {blended:.4f} nats a record against "
            f"{prior:.4f}): hardly anything is believed"
        )
    parts = ", ".join(f"{c.title} ({c.weight:.2f})" for c in used)
    what = "a blend of " + parts if len(used) > 1 else parts
    beside = f"{best.log_loss:.4f} of the best alone ({best.title}) and " if len(candidates) > 1 else ""
    return f"{what}: log-loss {blended:.4f} nats a record on records apart, beside {beside}{prior:.4f} of the prior"
