"""The learners that ``auto`` chooses from, each cross-fitted in the same folds."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property, partial
from typing import Any, Protocol

import numpy as np
from scipy import sparse

from tacit.learn.arrays import Codes, Floats
from tacit.learn.boosted.deep import train_boosting
from tacit.learn.boosted.quick import train_trees
from tacit.learn.crossfitting.folds import checked_apart
from tacit.learn.crossfitting.smoothing import CountTable
from tacit.learn.encoding import Encoder, Features
from tacit.learn.grids.model import train_grids
from tacit.learn.grids.search import MOST_BY_TWOS
from tacit.learn.linear import MOST_COLUMNS, train_linear
from tacit.learn.nets.networks import NetworksModel, train_small_networks

# Trees on more columns than this would be slow and no better than the linear model.
MOST_TREE_COLUMNS = 500
# The most records that learners of few numbers learn from, and that say when to stop (nets look at these often).
MOST_FOR_LINEAR, MOST_FOR_PRODUCTS, MOST_FOR_TREES = 40_000, 20_000, 20_000
MOST_FOR_GRIDS, MOST_FOR_NETS = 10_000, 20_000
MOST_CHECKED, MOST_ASKED = 8_000, 3_000


class FoldModel(Protocol):
    """What a learner leaves behind."""

    def log_posterior(self, records: Any) -> Floats:
        """Log p(s | x)."""


@dataclass(frozen=True)
class NothingLearned:
    """The model of a part in which only one secret occurs: it leaves the prior unchanged."""

    prior: Floats

    def log_posterior(self, records: Any) -> Floats:
        """Log p(s) for every record."""
        return np.tile(np.log(self.prior), (records.shape[0], 1))


@dataclass(frozen=True)
class View:
    """Encoded records in the form each kind of learner reads, made when first asked for."""

    encoder: Encoder
    features: Features

    @cached_property
    def design(self) -> Any:
        """Columns of about unit size."""
        return self.encoder.design(self.features)

    @cached_property
    def ordinal(self) -> tuple[Floats, Any]:
        """Numbers and codes, and which are codes."""
        return self.encoder.ordinal(self.features)


@dataclass(frozen=True)
class Lesson:
    """Records with their secrets, and for each model the rows to learn from and the rows that say when to stop."""

    view: View
    secret: Codes
    prior: Floats
    parts: Sequence[tuple[Codes, Codes]]
    random_state: np.random.Generator
    progress: Callable[[float], None]

    @cached_property
    def seed(self) -> int:
        """One for the models of all parts."""
        return int(self.random_state.integers(2**31))


@dataclass(frozen=True)
class Learner:
    """A way of learning the posterior: ``train`` gives one model for each part of a lesson."""

    title: str
    suits: Callable[[View], bool]
    train: Callable[[Lesson], list[FoldModel]]


def each_part(
    train: Callable[[Lesson, Codes, Codes], FoldModel], *, most: int | None = None
) -> Callable[[Lesson], list[FoldModel]]:
    """One model per part, by a function that trains one on rows to learn from and rows that say when to stop.

    It learns from the first ``most`` rows: a model of few numbers gains nothing from more.
    """

    def train_all(lesson: Lesson) -> list[FoldModel]:
        models: list[FoldModel] = []
        for at, (all_to_learn, all_to_check) in enumerate(lesson.parts, start=1):
            learn, check = all_to_learn[:most], all_to_check[:MOST_CHECKED]
            varies = np.ptp(lesson.secret[learn]) > 0
            models.append(train(lesson, learn, check) if varies else NothingLearned(lesson.prior))
            lesson.progress(at / len(lesson.parts))
        return models

    return train_all


def _counts(lesson: Lesson, learn: Codes, check: Codes) -> FoldModel:
    rows = np.concatenate([learn, check])
    return CountTable.learn(lesson.view.features.rows(rows), lesson.secret[rows], lesson.prior, None)


def _linear(lesson: Lesson, learn: Codes, check: Codes, *, products: bool) -> FoldModel:
    design, secrets = lesson.view.design, len(lesson.prior)
    return train_linear(design, lesson.secret, learn, check, secrets=secrets, products=products)


def _trees(lesson: Lesson, learn: Codes, check: Codes) -> FoldModel:
    secrets, seed = len(lesson.prior), lesson.seed
    return train_trees(*lesson.view.ordinal, lesson.secret, learn, check, secrets=secrets, random_state=seed)


def _grids(lesson: Lesson, learn: Codes, check: Codes) -> FoldModel:
    rows, (ordinal, categorical) = np.concatenate([learn, check]), lesson.view.ordinal
    words: dict[str, Any] = {"secrets": len(lesson.prior), "random_state": lesson.random_state}
    return train_grids(ordinal[rows], categorical, lesson.secret[rows], **words)


def _boosting(lesson: Lesson) -> list[FoldModel]:
    parts, secrets = [(learn, check[:MOST_CHECKED]) for learn, check in lesson.parts], len(lesson.prior)
    models = train_boosting(*lesson.view.ordinal, lesson.secret, parts, secrets=secrets, random_state=lesson.seed)
    lesson.progress(1.0)
    return list(models)


def _nets(lesson: Lesson) -> list[FoldModel]:
    # Two nets per part, each with its own start and its own records to stop by; their mean varies less. With so many
    # records that a net does not learn from all, nets vary little, and there is one.
    many = min(len(learn) for learn, _ in lesson.parts) > MOST_FOR_NETS
    parts = [list(lesson.parts)]
    if not many:
        parts.append([checked_apart(np.concatenate(part), lesson.secret, lesson.random_state) for part in lesson.parts])
    # Checking on more records would take longer than the training itself.
    cut = [(learn[:MOST_FOR_NETS], check[:MOST_ASKED]) for both in zip(*parts, strict=True) for learn, check in both]
    words: dict[str, Any] = {"random_state": lesson.random_state, "progress": lesson.progress}
    nets = train_small_networks(lesson.view.design, lesson.secret, cut, prior=lesson.prior, **words)
    each = len(parts)
    return [NetworksModel(tuple(nets[at : at + each]), lesson.prior) for at in range(0, len(nets), each)]


def _dense(view: View) -> bool:
    return not sparse.issparse(view.design)


def _few(view: View) -> bool:
    return _dense(view) and view.design.shape[1] <= MOST_COLUMNS


def _narrow(view: View) -> bool:
    return view.features.shape[1] <= MOST_TREE_COLUMNS


def _griddable(view: View) -> bool:
    return view.features.sparse is None and 2 <= view.features.shape[1] <= MOST_BY_TWOS


def _repeats(view: View) -> bool:
    """Counting needs values that occur more than once; a look at some records shows whether they do."""
    if view.features.sparse is not None:
        return False
    first = view.features.rows(np.arange(min(len(view.features), 2_000)))
    distinct = len(np.unique(np.hstack([np.nan_to_num(first.numbers), first.codes]), axis=0))
    return distinct <= 0.7 * len(first)


LEARNERS = {
    "counts": Learner("smoothed counts", _repeats, each_part(_counts)),
    "linear": Learner(
        "linear model", lambda view: True, each_part(partial(_linear, products=False), most=MOST_FOR_LINEAR)
    ),
    "products": Learner(
        "linear model with products", _few, each_part(partial(_linear, products=True), most=MOST_FOR_PRODUCTS)
    ),
    "trees": Learner("boosted trees", _narrow, each_part(_trees, most=MOST_FOR_TREES)),
    "grids": Learner("grids of two or three columns", _griddable, each_part(_grids, most=MOST_FOR_GRIDS)),
    "boosting": Learner("deep boosted trees", _narrow, _boosting),
    "net": Learner("small neural nets", _dense, _nets),
}


def what_it_reads(learner: str, view: View) -> Any:
    """The records in the form that the models of a learner read."""
    if learner == "counts":
        return view.features
    return view.ordinal[0] if learner in ("trees", "grids", "boosting") else view.design
