"""What the release is good for: a model is trained on it, and judged on other, original records."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import AbstractContextManager, nullcontext
from typing import Literal, NamedTuple

import numpy as np

from tacit.codes.additive import additive_guesses, area_under_curve, never_sure
from tacit.learn.arrays import Codes, Floats
from tacit.lenses.table.boosting import LEAF, that_can_split
from tacit.lenses.table.kept.features import ModelColumn, chances, features, numbers
from tacit.lenses.table.kept.reading import ReleasedColumn
from tacit.lenses.table.kept.values import ColumnValues, ValueGroups
from tacit.release.kept import UseScore

HOLDOUT = 1 / 3
# In a column of texts with more values than this, the commonest are predicted, and all others as one class.
MOST_CLASSES = 10


class Effort(NamedTuple):
    """How many records, at most, train and judge a model, and in how many steps it learns."""

    records: int
    steps: int


NAMED = Effort(20_000, 80)
# If every column is predicted in turn, an additive model is enough; it takes no steps.
IN_TURN = Effort(5_000, 0)
# How many times every released row is filled in, as ``filled`` does for a reader; and how many readers fill it in.
_FILLED = 3
DRAWS = 5

# What models see of a column: the chances of its values, and its numbers.
ModelColumns = tuple[ModelColumn, ModelColumn]
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

    Two thirds of the records train the models, the others judge them. Several models are tried, and the best score is
    reported: one that adds a term for every coarse group of values; one that is linear in numbers, as a logistic
    regression is; and, if the effort has ``steps``, boosted trees. If the column is released, the reader learns from
    what the release says about it (a level is read as one of its values, drawn by their shares); if not, from its
    original values. With ``steps``, the release is filled in ``DRAWS`` times: its score is the mean over these of the
    model whose mean is best, and its ends are the lowest and the highest score of any model in any of them.
    """
    n = len(next(iter(originals.values())).codes)
    chosen = np.random.default_rng(random_state).permutation(n)[: effort.records]
    with _one_thread(effort):
        read = {name: (chances(each), numbers(each)) for name, each in released.items() if len(each.original.values)}
        scores = [_score(originals[name], released, read, chosen, effort.steps, random_state) for name in names]
    return tuple(score for score in scores if score is not None)


def _one_thread(effort: Effort) -> AbstractContextManager[object]:
    """On a busy machine, the threads of boosted trees spend more time waiting for each other than working."""
    if not effort.steps:
        return nullcontext()
    from threadpoolctl import threadpool_limits

    limits: AbstractContextManager[object] = threadpool_limits(limits=1)
    return limits


def _predicted(column: ColumnValues) -> tuple[ValueGroups, Target]:
    """The classes to predict: the values, if they are few; else the upper half of numbers, or the commonest texts."""
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
    column: ColumnValues,
    released: Mapping[str, ReleasedColumn],
    read: Mapping[str, ModelColumns],
    chosen: Codes,
    steps: int,
    random_state: int,
) -> UseScore | None:
    """The score of one column; None if there is nothing to predict, or nothing to predict it from."""
    groups, predicted = _predicted(column)
    truth = groups.of[column.codes]
    labelled = chosen[truth[chosen] >= 0]
    cut = int(len(labelled) * (1 - HOLDOUT))
    train, test = np.sort(labelled[:cut]), np.sort(labelled[cut:])
    others = [each for name, each in read.items() if name != column.name]
    if not others or len(np.unique(truth[train])) < 2 or len(np.unique(truth[test])) < 2:
        return None
    if column.name in released and len(np.unique(released[column.name].codes)) < 2:
        # It reads the same in every row, so no model can be trained to predict it.
        return None
    two = groups.size == 2

    def judged(guesses: Floats) -> float:
        return _judged(guesses, truth[test], two=two)

    original = max(map(judged, _by_originals(others, train, truth[train], test, groups.size, steps)))
    draws = []
    for draw in range(DRAWS if steps else 1):
        rng = np.random.default_rng([random_state, draw] if steps else random_state)
        learned = _drawn(released[column.name], groups, rng) if column.name in released else truth
        says = train[learned[train] >= 0]
        models = _by_release(others, says, learned[says], test, groups.size, steps, rng)
        draws.append([round(judged(each), 4) for each in models])
    # One draw may be lucky, and so may a model in it: what counts is the model that is best on average.
    release = round(max(float(np.mean(scores)) for scores in zip(*draws, strict=True)), 4)
    ends = (min(map(min, draws)), max(map(max, draws))) if steps else (None, None)
    baseline = 0.5 if two else round(float(np.bincount(truth[test]).max() / len(test)), 4)
    measure: Literal["AUC", "accuracy"] = "AUC" if two else "accuracy"
    return UseScore(column.name, measure, predicted, round(original, 4), release, baseline, *ends)


def _by_originals(
    read: Sequence[ModelColumns], rows: Codes, classes: Codes, test: Codes, size: int, steps: int
) -> list[Floats]:
    """How likely each class is in the original rows ``test``, by models of the original ``rows``."""
    guesses = [
        additive_guesses(
            np.hstack([each.given(rows) for each in kind]),
            np.eye(size)[classes],
            np.hstack([each.given(test) for each in kind]),
        )
        for kind in zip(*read, strict=True)
    ]
    if not steps:
        return guesses
    columns = [each.column.original for each, _ in read]
    learns, judges = (np.column_stack([features(each, each.codes[at]) for each in columns]) for at in (rows, test))
    return [*guesses, _boosted(learns, classes, None, judges, size, steps)]


def _by_release(
    read: Sequence[ModelColumns],
    rows: Codes,
    classes: Codes,
    test: Codes,
    size: int,
    steps: int,
    rng: np.random.Generator,
) -> list[Floats]:
    """How likely each class is in the original rows ``test``, by models of the released ``rows``.

    With ``steps``, they are trained as a reader trains them: each released row is filled in several times with values
    that its levels allow, and each copy is weighted by how well it fits the row's class by a first model, which learns
    from what the levels say. Without, it is that model that is judged, and a linear one like it.
    """
    counts = np.eye(size)[classes]
    kinds = [*zip(*read, strict=True)]
    says = [np.hstack([each.told(rows) for each in kind]) for kind in kinds]
    tests = [np.hstack([each.given(test) for each in kind]) for kind in kinds]
    if not steps or len(np.unique(classes)) < 2:
        return [additive_guesses(learns, counts, judges) for learns, judges in zip(says, tests, strict=True)]
    columns = [each.column for each, _ in read]
    copies = [[each.drawn(rng)[rows] for each in columns] for _ in range(_FILLED)]
    fits = np.array([_fits(says[0], counts, columns, copy, classes) for copy in copies])
    weight, several = (fits / fits.sum(axis=0)).ravel(), np.tile(classes, _FILLED)
    filled = [np.concatenate(codes) for codes in zip(*copies, strict=True)]
    guesses = [
        additive_guesses(
            np.hstack([each.values[codes] for each, codes in zip(kind, filled, strict=True)]),
            np.eye(size)[several] * weight[:, None],
            judges,
        )
        for kind, judges in zip(kinds, tests, strict=True)
    ]
    learns = np.column_stack([features(*pair) for pair in _pairs(columns, filled)])
    judges = np.column_stack([features(each.original, each.original.codes[test]) for each in columns])
    return [*guesses, _boosted(learns, several, weight, judges, size, steps)]


def _pairs(columns: Sequence[ReleasedColumn], values: Sequence[Codes]) -> list[tuple[ColumnValues, Codes]]:
    return [(each.original, codes) for each, codes in zip(columns, values, strict=True)]


def _fits(
    learns: Floats, counts: Floats, columns: Sequence[ReleasedColumn], values: Sequence[Codes], classes: Codes
) -> Floats:
    """How likely each row's class is by its values, for the first model."""
    groups = [(ValueGroups.coarse(column), codes) for column, codes in _pairs(columns, values)]
    filled = np.hstack([np.eye(each.size)[each.of[codes]] for each, codes in groups])
    guesses = additive_guesses(learns, counts, filled)[np.arange(len(classes)), classes]
    return never_sure(guesses)


def _drawn(column: ReleasedColumn, groups: ValueGroups, rng: np.random.Generator) -> Codes:
    """A class for each row, drawn by what the release says about it; -1 if it says nothing."""
    # Missing is not a class here: it gets an extra one, which is then removed.
    whole = ValueGroups(np.where(groups.of < 0, groups.size, groups.of), groups.size + 1)
    spread = column.spread(whole)[:, :-1]
    totals = spread.sum(axis=1, keepdims=True)
    steps = np.cumsum(np.divide(spread, totals, out=np.zeros_like(spread), where=totals > 0), axis=1)
    drawn = (rng.random(len(column.codes))[:, None] >= steps[column.codes]).sum(axis=1)
    return np.where(totals[column.codes, 0] > 0, np.minimum(drawn, groups.size - 1), -1)


def _judged(guesses: Floats, truth: Codes, *, two: bool) -> float:
    """How well the guesses tell the classes apart."""
    if two:
        return area_under_curve(guesses, np.eye(2)[truth])
    return float((guesses.argmax(axis=1) == truth).mean())


def _boosted(x: Floats, y: Codes, weight: Floats | None, features_of_test: Floats, size: int, steps: int) -> Floats:
    """How likely boosted trees find each class in the rows ``features_of_test``; nothing in them is random."""
    from sklearn.ensemble import HistGradientBoostingClassifier

    # Each step grows a tree for every class: with more than two classes, take fewer steps and smaller trees.
    several = {"max_iter": min(steps, 30), "learning_rate": 0.1, "max_leaf_nodes": 8}
    shape = {"max_iter": steps, "learning_rate": 0.08, "max_leaf_nodes": 15} if size == 2 else several
    trees = HistGradientBoostingClassifier(
        **shape, min_samples_leaf=LEAF, l2_regularization=1.0, early_stopping=False, random_state=0
    ).fit(that_can_split(x), y, sample_weight=weight)
    out = np.zeros((len(features_of_test), size))
    out[:, trees.classes_] = trees.predict_proba(features_of_test)
    return out
