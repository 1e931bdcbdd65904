"""What the release is good for: a model is trained on it, and judged on other records as they were given."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import partial
from typing import Any, Literal, NamedTuple

import numpy as np

from tacit.lenses.table.kept.features import features
from tacit.lenses.table.kept.reading import ReleasedColumn
from tacit.lenses.table.kept.values import Codes, ColumnValues, Floats, ValueGroups
from tacit.release.kept import UseScore

HOLDOUT = 1 / 3
# A text of more values is predicted as one of its commonest, or another.
MOST_CLASSES = 10


class Effort(NamedTuple):
    """How many records, at most, train and judge a model, and in how many steps it learns; one step is one tree."""

    records: int
    steps: int


NAMED = Effort(20_000, 80)
# Where every column is predicted in turn, one tree each is enough.
IN_TURN = Effort(5_000, 1)

Target = Literal["value", "above the middle", "commonest values"]


def use_scores(
    originals: Mapping[str, ColumnValues],
    released: Mapping[str, ReleasedColumn],
    names: Sequence[str],
    *,
    effort: Effort,
    random_state: int,
) -> tuple[UseScore, ...]:
    """How well each of the columns ``names`` is predicted by all other released ones; constant ones are left out.

    Two thirds of the records train both models, the others judge them. Where the column is released, the reader learns
    from what the release says of it (a level is read as one of its values, drawn by their shares); where it is not,
    from what it was.
    """
    from threadpoolctl import threadpool_limits

    n = len(next(iter(originals.values())).codes)
    chosen = np.random.default_rng(random_state).permutation(n)[: effort.records]
    # On a busy machine the threads of boosted trees wait for each other longer than they work.
    with threadpool_limits(limits=1):
        scores = [_score(originals[name], released, chosen, effort.steps, random_state) for name in names]
    return tuple(score for score in scores if score is not None)


def _target(column: ColumnValues) -> tuple[ValueGroups, Target]:
    """The classes to be told apart: values, if they are few; else the upper part of a number, a text's commonest."""
    if len(column.values) <= MOST_CLASSES:
        return ValueGroups(np.append(np.arange(len(column.values)), -1), len(column.values)), "value"
    classes = np.zeros(len(column.values) + 1, dtype=np.int64)
    classes[-1] = -1
    if column.numeric:
        above = 1 - np.cumsum(column.counts)[:-1] / column.counts.sum()
        classes[int(np.abs(above - 0.5).argmin()) + 1 : -1] = 1
        return ValueGroups(classes, 2), "above the middle"
    commonest = np.argsort(-column.counts, kind="stable")[: MOST_CLASSES - 1]
    classes[commonest] = np.arange(1, len(commonest) + 1)
    return ValueGroups(classes, len(commonest) + 1), "commonest values"


def _score(
    column: ColumnValues, released: Mapping[str, ReleasedColumn], chosen: Codes, steps: int, random_state: int
) -> UseScore | None:
    """The score of one column; None where there is nothing to tell apart, or nothing to tell it by."""
    groups, target = _target(column)
    truth = groups.of[column.codes]
    known = chosen[truth[chosen] >= 0]
    cut = int(len(known) * (1 - HOLDOUT))
    train, test = np.sort(known[:cut]), np.sort(known[cut:])
    others = [each for name, each in released.items() if name != column.name and len(each.original.values)]
    if not others or len(np.unique(truth[train])) < 2 or len(np.unique(truth[test])) < 2:
        return None
    given, told = (np.column_stack(part) for part in zip(*(features(each, train) for each in others), strict=True))
    learned = truth
    if column.name in released:
        learned = _drawn(released[column.name], groups, np.random.default_rng(random_state))
    says = train[learned[train] >= 0]
    two = groups.size == 2
    judged = partial(_judged, given[test], truth[test], two=two, steps=steps, random_state=random_state)
    return UseScore(
        column.name,
        "AUC" if two else "accuracy",
        target,
        original=judged(given[train], truth[train]),
        release=judged(told[says], learned[says]),
        baseline=0.5 if two else round(float(np.bincount(truth[test]).max() / len(test)), 4),
    )


def _drawn(column: ReleasedColumn, groups: ValueGroups, rng: np.random.Generator) -> Codes:
    """A class for each row by what the release says of it; -1 where that is nothing."""
    # Missing is no class here: it is spread over one more, which is taken away again.
    whole = ValueGroups(np.where(groups.of < 0, groups.size, groups.of), groups.size + 1)
    spread = column.spread(whole)[:, :-1]
    totals = spread.sum(axis=1, keepdims=True)
    steps = np.cumsum(np.divide(spread, totals, out=np.zeros_like(spread), where=totals > 0), axis=1)
    drawn = (rng.random(len(column.codes))[:, None] >= steps[column.codes]).sum(axis=1)
    return np.where(totals[column.codes, 0] > 0, np.minimum(drawn, groups.size - 1), -1)


def _judged(seen: Floats, truth: Codes, x: Floats, y: Codes, *, two: bool, steps: int, random_state: int) -> float:
    """How well a model of ``x`` and ``y`` tells the classes of what is ``seen``."""
    from sklearn.metrics import roc_auc_score

    model = _model(x, y, steps=steps, random_state=random_state)
    score = roc_auc_score(truth, model.predict_proba(seen)[:, -1]) if two else (model.predict(seen) == truth).mean()
    return round(float(score), 4)


def _model(x: Floats, y: Codes, *, steps: int, random_state: int) -> Any:
    """Boosted trees, or whoever always says the same where there is one class to learn, or none."""
    from sklearn.dummy import DummyClassifier
    from sklearn.ensemble import HistGradientBoostingClassifier
    from sklearn.tree import DecisionTreeClassifier

    classes = len(np.unique(y))
    if classes < 2:
        return DummyClassifier(strategy="prior").fit(np.zeros((max(len(y), 1), 1)), y if len(y) else [0])
    if steps == 1:
        return DecisionTreeClassifier(max_depth=8, min_samples_leaf=20, random_state=random_state).fit(x, y)
    # Each step grows a tree for every class: of several it takes fewer steps, and smaller trees.
    several = {"max_iter": min(steps, 30), "learning_rate": 0.1, "max_leaf_nodes": 8}
    size = {"max_iter": steps, "learning_rate": 0.08, "max_leaf_nodes": 15} if classes == 2 else several
    trees = HistGradientBoostingClassifier(
        **size, min_samples_leaf=20, l2_regularization=1.0, early_stopping=False, random_state=random_state
    )
    return trees.fit(x, y)
