"""``ClassifierLogLift``: log-lift from any scikit-learn classifier of the secret."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
from sklearn.base import clone

from tacit.errors import ArgumentError
from tacit.learn.arrays import Codes, Floats
from tacit.learn.crossfitting.blending import best_weights, blend
from tacit.learn.crossfitting.candidates import LEARNERS, FoldModel, Learner, Lesson, View, each_part
from tacit.learn.crossfitting.crossfit import Blended
from tacit.learn.crossfitting.training import Progress

# Some classifiers claim that a secret is impossible; with this few records nobody can know.
LEAST_PROBABILITY = 1e-6


@dataclass(frozen=True)
class ClassifierModel:
    """A fitted classifier, and the temperature by which its claims are tempered."""

    classifier: Any
    prior: Floats
    temper: Floats

    def log_posterior(self, design: Any) -> Floats:
        """Log p(s | x), tempered."""
        return blend(_lift(self.classifier, design, self.prior)[None], self.temper, self.prior) + np.log(self.prior)


class ClassifierLogLift(Blended):
    """log p(s | x) - log p(s), with p(s | x) from a classifier.

    Parameters
    ----------
    classifier : scikit-learn classifier with ``predict_proba``, optional
        It is given numbers: scaled columns, flags of missing cells, one column for every level of a category.
        By default Tacit's boosted trees with early stopping, which read categories as such.
    calibrate : bool
        Temper the classifier's log-lifts by one factor, found on records held out from its training.
    folds, doubt, random_state, progress, categorical_features
        As for ``AutoLogLift``.
    """

    def __init__(
        self,
        classifier: Any = None,
        *,
        calibrate: bool = True,
        folds: int | None = None,
        doubt: bool = True,
        random_state: Any = None,
        progress: Progress | None = None,
        categorical_features: Sequence[Any] | None = None,
    ) -> None:
        self.classifier = classifier
        self.calibrate = calibrate
        self.folds = folds
        self.doubt = doubt
        self.random_state = random_state
        self.progress = progress
        self.categorical_features = categorical_features

    def _learners(self, view: View) -> Mapping[str, Learner]:
        if self.classifier is None:
            return {"trees": LEARNERS["trees"]}
        if not hasattr(self.classifier, "predict_proba"):
            raise ArgumentError(
                f"{type(self.classifier).__name__} has no predict_proba: choose a classifier that gives "
                "probabilities, or wrap it in CalibratedClassifierCV"
            )
        name = type(self.classifier).__name__
        train = partial(_train, classifier=self.classifier, calibrate=self.calibrate)
        return {"classifier": Learner(name, lambda view: True, each_part(train))}


def _train(lesson: Lesson, learn: Codes, check: Codes, *, classifier: Any, calibrate: bool) -> FoldModel:
    design, secret, prior = lesson.view.design, lesson.secret, lesson.prior
    model = clone(classifier)
    if model.get_params(deep=False).get("random_state", 0) is None:
        model.set_params(random_state=int(lesson.random_state.integers(2**31)))
    rows = learn if calibrate else np.concatenate([learn, check])
    model.fit(design[rows], secret[rows])
    temper = np.ones(1)
    if calibrate:
        temper = best_weights(_lift(model, design[check], prior)[None], secret[check], prior)
    return ClassifierModel(model, prior, temper)


def _lift(classifier: Any, design: Any, prior: Floats) -> Floats:
    posterior = np.full((design.shape[0], len(prior)), LEAST_PROBABILITY)
    posterior[:, classifier.classes_] = np.clip(classifier.predict_proba(design), LEAST_PROBABILITY, None)
    posterior /= posterior.sum(axis=1, keepdims=True)
    return np.asarray(np.log(posterior) - np.log(prior))
