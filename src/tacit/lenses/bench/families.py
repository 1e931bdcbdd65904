"""A family of adversaries: what it reads in a record, and the model that learns from that."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np

from tacit.errors import ArgumentError, Setting, sentence
from tacit.learn.arrays import Codes, Floats


class Ordered(Protocol):
    """Records that know where in the file each stands."""

    @property
    def place(self) -> Codes:
        """The place of every record, from 0."""
        ...


@dataclass(frozen=True)
class Family:
    """One kind of adversary.

    ``limits`` says in a line what it cannot see. ``read`` gives a row of numbers for every record, made from the
    records of one file and from no secret; ``model`` gives an unfitted scikit-learn classifier.
    """

    name: str
    limits: str
    read: Callable[[Any], Any]
    model: Callable[[], Any]


def switched_on(
    families: Sequence[Family], without: Sequence[str], *, besides: Sequence[Family] = ()
) -> tuple[Family, ...]:
    """The families except those named; ``besides`` are tried in another way, and do not suffice on their own.

    Raises
    ------
    ArgumentError
        If there is no family of a name, or none is left.
    """
    names = [each.name for each in families]
    for name in without:
        if name not in names:
            words = "{setting} is not a family of adversaries; they are {names}"
            raise ArgumentError(sentence(words, setting=Setting("without", name), names=", ".join(names)))
    left = tuple(each for each in families if each.name not in without)
    if not set(left) - set(besides):
        raise ArgumentError(sentence("{setting} leaves no adversary: leave one", setting=Setting("without")))
    return left


def linear(strength: float) -> Any:
    """A linear classifier of dense rows; the larger ``strength``, the more it trusts what it learned from."""
    from sklearn.linear_model import LogisticRegression
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import StandardScaler

    return make_pipeline(StandardScaler(), LogisticRegression(C=strength, max_iter=300))


def linear_of_counts() -> Any:
    """A linear classifier of counts, most of them zero, each weighed by how rare it is."""
    from sklearn.feature_extraction.text import TfidfTransformer
    from sklearn.pipeline import make_pipeline
    from sklearn.svm import LinearSVC

    return make_pipeline(TfidfTransformer(sublinear_tf=True), LinearSVC(C=0.5, tol=1e-3, random_state=0))


class NeighboursReader:
    """Guesses a secret from the known secrets of the records that stand nearest in the file.

    Follows scikit-learn: ``fit(places, secrets)``, ``predict(places)``; places are one column.
    """

    # Records known on either side.
    _SIDE = 2

    def fit(self, places: Codes, secret: Codes) -> NeighboursReader:
        """Learn what neighbours tell about each other."""
        order = np.argsort(places[:, 0], kind="stable")
        self.places_, self.secret_ = places[order, 0], secret[order]
        self.values_, self.coded_ = np.unique(self.secret_, return_inverse=True)
        own = np.arange(len(order))
        self.model_ = linear(1.0).fit(self._near(self.places_, own, own + 1), self.secret_)
        return self

    def predict(self, places: Codes) -> Codes:
        """The likeliest secret at every place."""
        at = np.searchsorted(self.places_, places[:, 0])
        return np.asarray(self.model_.predict(self._near(places[:, 0], at, at)))

    def _near(self, places: Codes, below: Codes, above: Codes) -> Floats:
        """The secrets around each place: of all neighbours, then of those next door; ``below`` is beyond the last."""
        parts = []
        for step in range(self._SIDE):
            for at in (below - 1 - step, above + step):
                there = (at >= 0) & (at < len(self.places_))
                inside = np.where(there, at, 0)
                one_hot = (self.coded_[inside][:, None] == np.arange(len(self.values_))) & there[:, None]
                next_door = np.abs(self.places_[inside] - places) <= 1 + step
                parts += [one_hot, one_hot & next_door[:, None]]
        return np.hstack(parts).astype(np.float64)


def _places(records: Ordered) -> Codes:
    return records.place[:, None]


NEIGHBOURS = Family(
    "neighbours",
    "knows the secrets of two thirds of the records and where each stands in the file; reads nothing else",
    _places,
    NeighboursReader,
)
