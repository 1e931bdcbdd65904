"""Which terms point to which secret, and whether that is more than chance."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from tacit.document import Dot, Term, TermGroup, TermVerdict
from tacit.learn.arrays import Codes, Floats
from tacit.lift import lower_limit, shuffles, upper_limit

VERDICTS: tuple[TermVerdict, ...] = ("noise", "cannot tell", "real")
SHUFFLES = 99
# Terms of one group are held by numbers of posts that differ by at most this factor.
GROUP_FACTOR = 1.4
MOST_DOTS = 2500


@dataclass(frozen=True)
class TermCounts:
    """How many posts of each secret hold each term (secrets x terms), and how many posts there are of each."""

    pairs: Codes
    posts: Codes
    per_secret: Codes

    @classmethod
    def of(cls, presence: Any, codes: Codes, secrets: int) -> TermCounts:
        """Count the posts of every secret that hold each term."""
        pairs = _pairs(presence.T.tocsr(), codes, secrets)
        return cls(pairs, pairs.sum(axis=0), np.bincount(codes, minlength=secrets))

    @property
    def total(self) -> int:
        """Number of posts."""
        return int(self.per_secret.sum())

    @property
    def log_lift(self) -> Floats:
        """i(s; the post has the term), secrets x terms; minus infinity where the two never meet."""
        return _log_lift(self.pairs, self.posts, self.per_secret)


def _pairs(back: Any, codes: Codes, secrets: int) -> Codes:
    return np.asarray(np.rint(back @ np.eye(secrets)[codes]), dtype=np.int64).T


def _log_lift(pairs: Codes, posts: Codes, per_secret: Codes) -> Floats:
    prior = per_secret / per_secret.sum()
    with np.errstate(divide="ignore"):
        return np.asarray(np.log(pairs / np.maximum(posts, 1) / prior[:, None]))


def chances(counts: TermCounts) -> tuple[Floats, Floats]:
    """The p-value of every term, and the smallest that a term of so many posts could have.

    Guarantees
    ----------
    If the secrets are exchangeable, the p-value of a term is at most a with probability at most a: exact
    hypergeometric tails, doubled; with more than two secrets the smallest, times their number.
    """
    secrets = len(counts.per_secret)
    # With two secrets the count of one settles that of the other.
    looked_at = [1] if secrets == 2 else list(range(secrets))
    p, least = np.ones(len(counts.posts)), np.ones(len(counts.posts))
    for s in looked_at:
        successes = int(counts.per_secret[s])

        def of(count: int, size: int, *, successes: int = successes) -> float:
            return shuffles.chance_of_count(count, size=size, successes=successes, total=counts.total)

        both = np.stack([counts.pairs[s], counts.posts])
        distinct, which = np.unique(both, axis=1, return_inverse=True)
        tails = np.array([of(int(count), int(size)) for count, size in distinct.T])
        sizes, at = np.unique(counts.posts, return_inverse=True)
        ends = [(max(0, int(n) + successes - counts.total), min(int(n), successes)) for n in sizes]
        extreme = np.array([min(of(a, int(n)), of(b, int(n))) for (a, b), n in zip(ends, sizes, strict=True)])
        p, least = np.minimum(p, tails[which.ravel()]), np.minimum(least, extreme[at.ravel()])
    times = len(looked_at)
    return np.minimum(1.0, times * p), np.minimum(1.0, times * least)


def verdicts(p: Floats, least: Floats) -> Codes:
    """Places in ``VERDICTS``: Holm's correction over all terms, and what could not have been shown at all."""
    m = len(p)
    order = np.argsort(p, kind="stable")
    adjusted = np.empty(m)
    adjusted[order] = np.minimum(1.0, np.maximum.accumulate(p[order] * (m - np.arange(m))))
    places = np.where(p > shuffles.LEVEL, 0, 1)
    places[least * m > shuffles.LEVEL] = 1
    places[adjusted <= shuffles.LEVEL] = 2
    return np.asarray(places)


def groups_of(posts: Codes) -> Codes:
    """A number for every term: terms of one group are held by similar numbers of posts."""
    fewest = max(int(posts.min(initial=1)), 1)
    steps = np.log(np.maximum(posts, 1) / fewest) / np.log(GROUP_FACTOR)
    return np.asarray(np.floor(steps + 1e-9), dtype=np.int64)


def shuffled_largest(
    presence: Any,
    codes: Codes,
    counts: TermCounts,
    *,
    random_state: int,
    progress: Callable[[float], None] = lambda share: None,
) -> Floats:
    """Largest log-lift in every group of terms, shuffles x secrets x groups, with the secrets shuffled."""
    group, back = groups_of(counts.posts), presence.T.tocsr()
    out = np.empty((SHUFFLES, len(counts.per_secret), int(group.max(initial=0)) + 1))
    for k, seed in enumerate(shuffles.seeds(SHUFFLES, random_state=random_state)):
        drawn = np.random.default_rng(seed).permutation(codes)
        pairs = _pairs(back, drawn, len(counts.per_secret))
        out[k] = largest_by_group(_log_lift(pairs, counts.posts, counts.per_secret), group)
        progress((k + 1) / SHUFFLES)
    return out


def largest_by_group(lift: Floats, group: Codes) -> Floats:
    """The largest log-lift of every secret in every group of terms; minus infinity where a group is empty."""
    out = np.full((len(lift), int(group.max(initial=0)) + 1), -np.inf)
    for s, row in enumerate(lift):
        np.maximum.at(out[s], group, row)
    return out


@dataclass(frozen=True)
class TermFindings:
    """Everything that is known about the terms, in arrays over them."""

    names: tuple[str, ...]
    secrets: tuple[str, ...]
    counts: TermCounts
    conditional: Floats
    p_value: Floats
    verdict: Codes
    chance: Floats

    def term(self, at: int, secret: int) -> Term:
        """One term, as it points to one secret."""
        counts, prior = self.counts, self.counts.per_secret[secret] / self.counts.total
        hits, posts = int(counts.pairs[secret, at]), int(counts.posts[at])
        with np.errstate(divide="ignore"):
            low = float(np.log(lower_limit(hits, posts, beta=0.025) / prior))
            high = float(np.log(upper_limit(hits, posts, beta=0.025) / prior))
            lift = float(np.log(hits / posts / prior))
        return Term(
            term=self.names[at],
            posts=posts,
            secret=self.secrets[secret],
            log_lift=lift,
            low=low,
            high=high,
            conditional=float(self.conditional[at, secret]),
            p_value=float(self.p_value[at]),
            chance=float(self.chance[secret, groups_of(counts.posts)[at]]),
            verdict=VERDICTS[int(self.verdict[at])],
        )

    def ranked(self, score: Floats, top: int) -> tuple[Term, ...]:
        """For every secret the ``top`` real terms of highest score (terms x secrets) that point to it.

        A term must point there on its own as well: if others say the same, a model may weigh it the other way round.
        """
        terms, alone = [], self.counts.log_lift
        for s in range(len(self.secrets)):
            fits = np.flatnonzero(
                (self.verdict == 2) & (score[:, s] > 0) & (score.argmax(axis=1) == s) & (alone[s] > 0)
            )
            # All words that only one side uses have the largest log-lift there is; the commoner ones say more.
            order = np.lexsort((-self.counts.posts[fits], -np.round(score[fits, s], 9)))[:top]
            terms += [self.term(int(at), s) for at in fits[order]]
        return tuple(terms)

    def groups(self) -> tuple[TermGroup, ...]:
        """The groups of terms that are not empty, from the rarest."""
        group = groups_of(self.counts.posts)
        largest = largest_by_group(self.counts.log_lift, group)
        groups = []
        for g in np.unique(group):
            here = group == g
            groups.append(
                TermGroup(
                    fewest=int(self.counts.posts[here].min()),
                    most=int(self.counts.posts[here].max()),
                    terms=int(here.sum()),
                    real=int((self.verdict[here] == 2).sum()),
                    chance=tuple(float(value) for value in self.chance[:, g]),
                    largest=tuple(float(value) for value in largest[:, g]),
                )
            )
        return tuple(groups)

    def dots(self, random_state: int) -> tuple[Dot, ...]:
        """Points of a chart: all real terms and some of the others; with two secrets the first one's side is below."""
        lift = self.counts.log_lift
        toward = lift.argmax(axis=0)
        height = lift.max(axis=0) * (np.where(toward == 0, -1.0, 1.0) if len(self.secrets) == 2 else 1.0)
        rng = np.random.default_rng(random_state)
        rest = rng.permutation(np.flatnonzero(self.verdict != 2))
        real = np.flatnonzero(self.verdict == 2)
        real = real[np.argsort(-self.counts.posts[real], kind="stable")][:MOST_DOTS]
        chosen = np.concatenate([rest[: MOST_DOTS // 2], real[::-1]])
        return tuple(
            Dot(self.names[at], int(self.counts.posts[at]), float(height[at]), VERDICTS[int(self.verdict[at])])
            for at in chosen
        )


def mean_conditional(presence: Any, densities: Floats) -> Floats:
    """Mean conditional density of every term over the posts that hold it, terms x secrets."""
    m = presence.shape[1]
    posts = np.maximum(np.bincount(presence.indices, minlength=m), 1)
    columns = [np.bincount(presence.indices, weights=column, minlength=m) / posts for column in densities.T]
    return np.stack(columns, axis=1)


def term_findings(
    presence: Any,
    codes: Codes,
    *,
    names: tuple[str, ...],
    secrets: Sequence[str],
    densities: Floats,
    random_state: int,
    progress: Callable[[float], None] = lambda share: None,
) -> TermFindings:
    """Count, test and average; ``densities`` are the conditional ones of the stored entries of ``presence``."""
    counts = TermCounts.of(presence, codes, len(secrets))
    p, least = chances(counts)
    drawn = shuffled_largest(presence, codes, counts, random_state=random_state, progress=progress)
    return TermFindings(
        names=names,
        secrets=tuple(secrets),
        counts=counts,
        conditional=mean_conditional(presence, densities),
        p_value=p,
        verdict=verdicts(p, least),
        chance=np.quantile(drawn, 0.95, axis=0, method="inverted_cdf"),
    )
