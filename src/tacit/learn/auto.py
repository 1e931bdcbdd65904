"""``AutoLogLift``: try counts, linear models, trees and nets, and blend them by what they lose on records apart."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from tacit.errors import ArgumentError
from tacit.learn.crossfitting.candidates import LEARNERS, Learner, View
from tacit.learn.crossfitting.crossfit import Blended, Progress


class AutoLogLift(Blended):
    """Log-lift by a measured choice of learners.

    Every learner that suits the records is cross-fitted: smoothed counts, a linear model, a linear model with
    products, boosted trees, small nets. Their log-lifts are added with the weights that lose least on records apart; a
    learner that does not help gets weight zero, and a sum below one tempers learners that claim too much.

    Parameters
    ----------
    learners : sequence of names, optional
        Which to try: "counts", "linear", "products", "trees", "net". All by default.
    folds : int
        Number of parts the records are split into; each is scored by models of the others.
    doubt : bool
        Prepare intervals: everything is learned a second time, in a world whose truth is known. Doubles the time.
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
        folds: int = 5,
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

    def _learners(self, view: View) -> Mapping[str, Learner]:
        wanted = tuple(self.learners) if self.learners is not None else tuple(LEARNERS)
        unknown = [name for name in wanted if name not in LEARNERS]
        if unknown or not wanted:
            raise ArgumentError(f"no learner {unknown[0] if unknown else 'named'!r}; choose from {', '.join(LEARNERS)}")
        suited = {name: LEARNERS[name] for name in wanted if LEARNERS[name].suits(view)}
        return suited or {name: LEARNERS[name] for name in wanted}
