"""``AutoLogLift``: try counts, linear models, trees and nets, and blend them by their loss on held-out records."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from tacit.errors import ArgumentError
from tacit.learn.arrays import Codes
from tacit.learn.crossfitting.candidates import LEARNERS, Learner, View
from tacit.learn.crossfitting.choosing import LearnerTrial
from tacit.learn.crossfitting.crossfit import Blended, LearnerScore
from tacit.learn.crossfitting.folds import fold_of_each
from tacit.learn.crossfitting.training import FoldLesson, Progress
from tacit.learn.encoding import Features

# These learn every secret separately: with more secrets than this they would take most of the time.
ONE_BY_ONE, MOST_ONE_BY_ONE = ("grids", "boosting"), 8
# With more than ``MANY`` records, learners are first tried on ``TRIED`` of them.
MANY, TRIED = 20_000, 6_000


class AutoLogLift(Blended):
    """Log-lift by a measured choice of learners.

    Every learner that suits the records is cross-fitted: smoothed counts, a linear model, a linear model with
    products, quick and deep boosted trees, grids of two or three columns, small nets. Their log-lifts are added with
    the weights that lose least on held-out records; a learner that does not help gets weight zero, and a sum below one
    tempers learners that claim too much. With more than 20,000 records all are tried on some of them first.

    The intervals are estimates: they account for what the learners were seen to get wrong, for where they differ, for
    what remains in held-out records, and for an interaction of up to three columns too faint to be seen in them. Others
    that nobody found, such as one in a few of the records, are not accounted for. What the intervals covered where the
    truth is known is in the benchmarks.

    Parameters
    ----------
    learners : sequence of names, optional
        Which to try: "counts", "linear", "products", "trees", "grids", "boosting", "net". All by default (with more
        than eight secrets all but "grids" and "boosting", which would take most of the time).
    folds : int, optional
        Number of parts the records are split into; each is scored by models of the others. By default 5, and 3 from
        50,000 records on.
    doubt : bool
        Prepare intervals: the learners with weight are trained twice more, in worlds whose truth is known, on at most
        4,000 records. With fewer records than that, fitting takes two to three times as long.
    random_state : int, RandomState or None
    progress : callable, optional
        Called with a stage and the share done.
    categorical_features : sequence of names or places, optional
        Columns to be read as categories although they hold numbers.
    """

    def __init__(
        self,
        *,
        learners: Sequence[str] | None = None,
        folds: int | None = None,
        doubt: bool = True,
        random_state: Any = None,
        progress: Progress | None = None,
        categorical_features: Sequence[Any] | None = None,
    ) -> None:
        self.learners = learners
        self.folds = folds
        self.doubt = doubt
        self.random_state = random_state
        self.progress = progress
        self.categorical_features = categorical_features

    def _finalists(
        self, learners: Mapping[str, Learner], features: Features, secret: Codes, rng: np.random.Generator
    ) -> Mapping[str, Learner]:
        if self.learners is not None or len(secret) <= MANY:
            return learners
        tried = np.sort(rng.choice(len(secret), TRIED, replace=False))
        own = secret[tried]
        lesson = FoldLesson(self.encoder_, features.rows(tried), own, self.prior_, fold_of_each(own, 2, rng))
        trial = LearnerTrial(learners, lesson, rng, self.progress)
        kept = trial.worth_training()
        self.dropped_ = tuple(
            LearnerScore(name, f"{learner.title} (tried on {TRIED:,})", trial.loss_alone(name), 0.0)
            for name, learner in learners.items()
            if name not in kept
        )
        return {name: learner for name, learner in learners.items() if name in kept}

    def _learners(self, view: View) -> Mapping[str, Learner]:
        wanted = tuple(self.learners) if self.learners is not None else tuple(LEARNERS)
        unknown = [name for name in wanted if name not in LEARNERS]
        if unknown or not wanted:
            raise ArgumentError(f"no learner {unknown[0] if unknown else 'named'!r}; choose from {', '.join(LEARNERS)}")
        suited = {name: LEARNERS[name] for name in wanted if LEARNERS[name].suits(view)}
        if len(self.prior_) > MOST_ONE_BY_ONE and self.learners is None:
            suited = {name: learner for name, learner in suited.items() if name not in ONE_BY_ONE}
        return suited or {name: LEARNERS[name] for name in wanted}
