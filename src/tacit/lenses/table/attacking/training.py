"""Adversaries: what they see of a table and its release, how they are trained, what they then guess and believe."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from tacit.document import Progress
from tacit.lenses.adversaries import scored
from tacit.lenses.table.attacking.weighing import Beliefs, WeighedAdversary
from tacit.lenses.table.question import TableQuestion
from tacit.lenses.table.verify import TableRelease
from tacit.lift import Vector
from tacit.release.certificate import AdversaryScore

if TYPE_CHECKING:
    import pyarrow as pa

HOLDOUT = 0.3
# A column of more levels than this is a number or a name to a tree, not a category.
MOST_CATEGORIES = 200

Labels = NDArray[Any]
Features = NDArray[np.float64]
# What an adversary is trained on, what it then sees, and which of the columns are categories.
View = tuple[Features, Features, list[bool]]
Rows = NDArray[np.int64]


def views_of(release: TableRelease, question: TableQuestion, records: int) -> tuple[Labels, Sequence[View]]:
    """The secrets of some records, and what an adversary sees of them before, after and retrained."""
    certificate, original = release.certificate, question.original
    secrets, released = list(certificate.secret), list(certificate.released)
    # The secret is what the claim is about: in groups, where it was cut or only some of its values are secret.
    secret, raw = question.table.sample(secrets, records), original.sample(released, records)
    coarse, after = question.table.sample(released, records), release.data.sample(released, records)
    kinds = {column.name: column.kind for column in original.columns}
    views = (
        _features(raw, raw, released, kinds),
        _features(coarse, after, released, {}),
        _features(after, after, released, {}),
    )
    return _labels(secret), views


def _labels(table: pa.Table) -> Labels:
    columns = [[_text(value) for value in column.to_pylist()] for column in table.columns]
    return np.array([" / ".join(values) for values in zip(*columns, strict=True)])


def _text(value: Any) -> str:
    return "(missing)" if value is None else str(value)


def split(secret: Labels, random_state: int) -> tuple[Rows, Rows]:
    """Records to train on, and others to test on."""
    from sklearn.model_selection import train_test_split

    _, frequency = np.unique(secret, return_counts=True)
    train, test = train_test_split(
        np.arange(len(secret)),
        test_size=HOLDOUT,
        random_state=random_state,
        # A secret seen once cannot be on both sides.
        stratify=secret if frequency.min() > 1 else None,
    )
    return train, test


def _features(trained: pa.Table, seen: pa.Table, columns: Sequence[str], kinds: Mapping[str, str]) -> View:
    """The two tables as numbers: measured quantities as they are, everything else as codes they share."""
    numbers, categorical = [], []
    for name in columns:
        values = [value for table in (trained, seen) for value in table.column(name).to_pylist()]
        if kinds.get(name) == "number":
            numbers.append(np.array([math.nan if value is None else float(value) for value in values]))
            categorical.append(False)
        else:
            levels, codes = np.unique(np.array([_text(value) for value in values], dtype=object), return_inverse=True)
            numbers.append(codes.astype(np.float64))
            categorical.append(len(levels) <= MOST_CATEGORIES)
    both = np.column_stack(numbers)
    halves = both[: trained.num_rows], both[trained.num_rows :]
    for half in halves:
        half[:, np.isnan(half).all(axis=0)] = 0.0
    return *halves, categorical


@dataclass(frozen=True)
class TriedAdversary:
    """One adversary: how often it is right, and what it believes, in every view."""

    score: AdversaryScore
    beliefs: tuple[Beliefs, ...]
    prior: Vector

    @property
    def weighed(self) -> WeighedAdversary:
        """What its beliefs are worth."""
        return WeighedAdversary(self.score.name, *(each.worth(self.prior) for each in self.beliefs))


def tried_adversaries(
    views: Sequence[View], secret: Labels, train: Rows, test: Rows, *, random_state: int, progress: Progress
) -> list[TriedAdversary]:
    """How well each adversary does on the records ``test``, in every view."""
    from threadpoolctl import threadpool_limits

    untrained = [_adversaries(categorical, random_state) for _, _, categorical in views]
    values, codes = np.unique(secret, return_inverse=True)
    # Every value of the secret is allowed for, whether or not it is among the records to train on.
    counts = np.bincount(codes[train], minlength=len(values)) + 0.5
    prior = np.asarray(counts / counts.sum(), dtype=np.float64)
    done = []
    # On a busy machine the threads of the boosted trees wait for each other three times as long as they work.
    with threadpool_limits(limits=1):
        for name in untrained[0]:
            progress(f"training {name}", None)
            right, beliefs = [], []
            for adversaries, (trained, seen, _) in zip(untrained, views, strict=True):
                model = adversaries[name].fit(trained[train], secret[train])
                chances = np.zeros((len(test), len(values)))
                chances[:, np.searchsorted(values, model.classes_)] = model.predict_proba(seen[test])
                right.append(int((chances.argmax(axis=1) == codes[test]).sum()))
                beliefs.append(Beliefs.of(chances, prior, codes[test]))
            done.append(TriedAdversary(scored(name, right, of=len(test)), tuple(beliefs), prior))
    return done


def _adversaries(categorical: list[bool], random_state: int) -> dict[str, Any]:
    from sklearn.compose import ColumnTransformer
    from sklearn.ensemble import HistGradientBoostingClassifier
    from sklearn.impute import SimpleImputer
    from sklearn.linear_model import LogisticRegression
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import OneHotEncoder, StandardScaler

    named = [j for j, is_category in enumerate(categorical) if is_category]
    measured = [j for j, is_category in enumerate(categorical) if not is_category]
    encoded = ColumnTransformer(
        [
            ("named", OneHotEncoder(handle_unknown="ignore"), named),
            ("measured", make_pipeline(SimpleImputer(), StandardScaler()), measured),
        ]
    )
    return {
        "boosted trees": HistGradientBoostingClassifier(
            categorical_features=categorical, early_stopping=True, random_state=random_state
        ),
        "logistic regression": make_pipeline(encoded, LogisticRegression(max_iter=500)),
        "lookup table": Lookup(),
    }


class Lookup:
    """The adversary of the definitions: the shares of the secrets among the records with exactly this value.

    A share is drawn towards the prior as if one record more had it, so that it is never 0.
    """

    def fit(self, X: NDArray[np.float64], s: Labels) -> Lookup:
        """Remember the shares of every value."""
        self.classes_, code = np.unique(s, return_inverse=True)
        values, value = np.unique(X, axis=0, return_inverse=True)
        table = np.bincount(value * len(self.classes_) + code, minlength=len(values) * len(self.classes_))
        table = table.reshape(len(values), len(self.classes_))
        self.prior_ = table.sum(axis=0) / table.sum()
        shares = (table + self.prior_) / (table.sum(axis=1, keepdims=True) + 1)
        self.shares_ = {row.tobytes(): share for row, share in zip(values, shares, strict=True)}
        return self

    def predict_proba(self, X: NDArray[np.float64]) -> NDArray[np.float64]:
        """The remembered shares, or the prior for a value never seen."""
        values, value = np.unique(X, axis=0, return_inverse=True)
        return np.array([self.shares_.get(row.tobytes(), self.prior_) for row in values])[value]
