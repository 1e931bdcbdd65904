"""Adversaries that read posts: trained on clean ones and on masked ones, tested on posts they have not seen."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import pairwise

import numpy as np

from tacit.learn import TermLogLift, binomial_limits
from tacit.learn.arrays import Codes, Flags
from tacit.lenses.adversaries import tried
from tacit.lenses.text.posts import bags_by_terms, bags_of_terms, terms
from tacit.release.certificate import AdversaryScore

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


def split(codes: Codes, *, random_state: int) -> Flags:
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
    learned_from, apart = np.flatnonzero(train).tolist(), np.flatnonzero(~train).tolist()
    n, hits = len(apart), int((codes[apart] == np.bincount(codes[train]).argmax()).sum())

    def learn(texts: Sequence[list[str]]) -> Callable[[Sequence[list[str]]], int]:
        bags = bags_of_terms([texts[at] for at in learned_from], min_count=min_count)
        model = TermLogLift(random_state=random_state).fit(bags.presence, codes[train], secrets=int(codes.max()) + 1)

        def right(others: Sequence[list[str]]) -> int:
            lift = model.log_lift(bags_by_terms([others[at] for at in apart], bags.vocabulary))
            return int(((lift + np.log(model.prior_)).argmax(axis=1) == codes[apart]).sum())

        return right

    scores = []
    for name, read in (("words", words_only), ("words and pairs", with_pairs)):
        before, after = ([read(post, mask) for post in texts] for texts in (clean, masked))
        scores.append(tried(name, learn, before, after, of=n))
    return Trial(tuple(scores), hits / n, binomial_limits(hits, n), len(learned_from), n)
