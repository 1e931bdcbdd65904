"""Adversaries that read posts: trained on clean ones and on masked ones, tested on posts they have not seen."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from tacit.learn import TermLogLift, binomial_limits
from tacit.lenses.adversaries import scored
from tacit.lenses.text.posts import Vocabulary, bags_by_terms, bags_of_terms, terms
from tacit.release.certificate import AdversaryScore

Codes = NDArray[np.int64]
Mask = NDArray[np.bool_]

TRAINED = 0.7
MASKS_COUNTED = 6


@dataclass(frozen=True)
class Trial:
    """What adversaries guess right, on how many posts, and what guessing without reading does there."""

    adversaries: tuple[AdversaryScore, ...]
    prior_right: float
    prior_interval: tuple[float, float]
    trained_on: int
    tested_on: int


def split(codes: Codes, *, random_state: int) -> Mask:
    """Which posts adversaries are trained on: 70% of each secret's, and at least one of each kind is left out."""
    rng = np.random.default_rng(random_state)
    train = np.zeros(len(codes), dtype=bool)
    for s in np.unique(codes):
        rows = rng.permutation(np.flatnonzero(codes == s))
        train[rows[: int(np.clip(round(TRAINED * len(rows)), 1, len(rows) - 1))]] = True
    return train


def words_only(post: str, mask: str) -> list[str]:
    """What the first adversary reads: the words, and how often something was masked."""
    masks = min(post.count(mask), MASKS_COUNTED)
    # No word of a post has a blank in it, so these are terms of their own.
    return [*terms(post.replace(mask, " ")), *(f"masked {k}" for k in range(1, masks + 1))]


def with_pairs(post: str, mask: str) -> list[str]:
    """What the second one reads besides: every two words that stand side by side, masks included."""
    said: list[str] = []
    for number, part in enumerate(post.split(mask)):
        said += ["masked"] * (number > 0)
        said += terms(part)
    return [*words_only(post, mask), *(f"{a} {b}" for a, b in pairwise(said))]


def trial(
    clean: Sequence[str], masked: Sequence[str], codes: Codes, *, mask: str, min_count: int, random_state: int
) -> Trial:
    """Train two adversaries on clean posts and again on masked ones; let them guess the others' secrets.

    Copies must have been left out: an adversary that has seen a post's twin knows its secret.
    """
    train = split(codes, random_state=random_state)
    test = ~train
    most = int(np.bincount(codes[train]).argmax())
    hits = int((codes[test] == most).sum())
    kinds = (("words", words_only), ("words and pairs", with_pairs))
    scores = []
    for name, read in kinds:
        before, after = ([read(post, mask) for post in texts] for texts in (clean, masked))
        own = _Guesser.trained(before, codes, train, min_count, random_state)
        again = _Guesser.trained(after, codes, train, min_count, random_state)
        at = np.flatnonzero(test)
        right = [who.right(texts, codes, at) for who, texts in ((own, before), (own, after), (again, after))]
        scores.append(scored(name, right, of=len(at)))
    n = int(test.sum())
    return Trial(tuple(scores), hits / n, binomial_limits(hits, n), int(train.sum()), n)


@dataclass(frozen=True)
class _Guesser:
    model: TermLogLift
    vocabulary: Vocabulary

    @classmethod
    def trained(
        cls, texts: Sequence[list[str]], codes: Codes, train: Mask, min_count: int, random_state: int
    ) -> _Guesser:
        bags = bags_of_terms([texts[at] for at in np.flatnonzero(train).tolist()], min_count=min_count)
        k = int(codes.max()) + 1
        return cls(TermLogLift(random_state=random_state).fit(bags.presence, codes[train], secrets=k), bags.vocabulary)

    def right(self, texts: Sequence[list[str]], codes: Codes, rows: Codes) -> int:
        lift = self.model.log_lift(bags_by_terms([texts[at] for at in rows.tolist()], self.vocabulary))
        return int(((lift + np.log(self.model.prior_)).argmax(axis=1) == codes[rows]).sum())
