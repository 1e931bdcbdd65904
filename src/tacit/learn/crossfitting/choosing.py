"""Which learners are worth training on many records: all are tried on a few of them first.

Those without which the blend loses hardly more (nats per record) are dropped. Trees are not: they gain most from more
records. Nets and products take as long as all trees or longer, and on few records look better than they are on many:
they must gain more. So must grids, which find on few records what trees find on many; they are judged first, for they
are there for what all others miss.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np

from tacit.learn.arrays import Flags, Floats
from tacit.learn.crossfitting.blending import best_weights, blend, log_loss
from tacit.learn.crossfitting.candidates import Learner
from tacit.learn.crossfitting.training import FoldLesson, Progress, trained

# What a learner must gain to be trained on all records; trees must gain nothing.
HARDLY, HARDLY_BY_NETS, HARDLY_BY_GRIDS = 0.002, 0.01, 0.03
TREES, SLOW = ("trees", "boosting"), ("products", "grids", "net")


@dataclass
class LearnerTrial:
    """A few records, in two folds, and what the learners tried so far say about those that they did not see."""

    learners: Mapping[str, Learner]
    lesson: FoldLesson
    random_state: np.random.Generator
    progress: Progress | None
    lifts: dict[str, Floats] = field(default_factory=dict)

    def worth_training(self) -> list[str]:
        """The learners that help the blend.

        A slow learner that gains less than half of what it must in the first fold is not tried in the second.
        """
        kept = [name for name in self.learners if name not in SLOW] or list(self.learners)
        self._learn(kept, (0, 1))
        first, quick = self.lesson.fold == 0, tuple(kept)
        for name in (name for name in SLOW if name in self.learners and name not in quick):
            self._learn([name], (0,))
            if self._loss(quick, first) - self._loss([*quick, name], first) >= _worth(name) / 2:
                self._learn([name], (1,))
                kept.append(name)
        loss = self._loss(kept)
        if "grids" in kept and len(kept) > 1:
            others = self._loss(_without("grids", kept))
            if others - loss < HARDLY_BY_GRIDS:
                kept, loss = _without("grids", kept), others
        while len(kept) > 1 and not set(kept) <= set(TREES):
            without = {name: self._loss(_without(name, kept)) for name in kept if name not in TREES}
            least = min(without, key=lambda name: (without[name] - loss) / _worth(name))
            if without[least] - loss >= _worth(least):
                break
            kept, loss = _without(least, kept), without[least]
        return kept

    def loss_alone(self, name: str) -> float:
        """The log-loss of a learner on the records that it did not see; of a slow one on those of the first fold."""
        rows = self.lesson.fold == 0 if name in SLOW else slice(None)
        return log_loss(self.lifts[name][rows], self.lesson.secret[rows], self.lesson.prior)

    def _learn(self, names: Sequence[str], folds: Sequence[int]) -> None:
        some = {name: self.learners[name] for name in names}
        _, lifts = trained(some, self.lesson, self.random_state, "choosing", self.progress, folds=folds)
        for name, lift in zip(names, lifts, strict=True):
            self.lifts[name] = self.lifts.get(name, 0.0) + lift

    def _loss(self, names: Sequence[str], rows: Flags | slice = slice(None)) -> float:
        lifts, prior = np.stack([self.lifts[name][rows] for name in names]), self.lesson.prior
        secret = self.lesson.secret[rows]
        return log_loss(blend(lifts, best_weights(lifts, secret, prior), prior), secret, prior)


def _worth(name: str) -> float:
    return {"products": HARDLY_BY_NETS, "net": HARDLY_BY_NETS, "grids": HARDLY_BY_GRIDS}.get(name, HARDLY)


def _without(name: str, names: Sequence[str]) -> list[str]:
    return [other for other in names if other != name]
