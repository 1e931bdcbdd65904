"""How well adversaries weigh secrets: if 76% have one, much can be learned about it without changing the best guess."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from scipy.stats import norm, rankdata

from tacit.errors import ArgumentError
from tacit.learn.arrays import Codes, Floats

# Shuffles of the secrets that say what chance alone would reach.
SHUFFLES = 199
CONFIDENCE = 0.95
# This share of every belief is the prior, so that nothing is ever believed impossible.
DOUBT = 0.01


@dataclass(frozen=True)
class Weighed:
    """What an adversary's beliefs about held-out records are worth, with 95% limits.

    Attributes
    ----------
    auc : float
        How often a record with a secret is believed likelier to have it than one without: 0.5 is chance, 1 always. The
        mean over the secrets, weighted by their shares.
    gain : float
        Nats by which the true secret is believed likelier than the prior says, on average; below 0 the prior is better.
    """

    auc: float
    auc_interval: tuple[float, float]
    gain: float
    gain_interval: tuple[float, float]


@dataclass(frozen=True)
class WeighedAdversary:
    """One adversary on the original, on the release, and on the release after training on it."""

    name: str
    before: Weighed
    after: Weighed
    retrained: Weighed


def best_auc_after(weighed: Sequence[WeighedAdversary]) -> float:
    """The largest area under the curve on the release, retrained or not."""
    return max(max(each.after.auc, each.retrained.auc) for each in weighed)


@dataclass(frozen=True)
class Beliefs:
    """What one adversary believes about each record (records x secrets), and the true secrets."""

    chances: Floats
    secret: Codes

    def __post_init__(self) -> None:
        if self.chances.shape[0] != len(self.secret) or not len(self.secret):
            raise ArgumentError("beliefs are about each record, and there is at least one")

    @classmethod
    def of(cls, chances: Floats, prior: Floats, secret: Codes) -> Beliefs:
        """With some doubt: nothing that the prior allows is impossible."""
        return cls((1 - DOUBT) * chances + DOUBT * prior, secret)

    def worth(self, prior: Floats) -> Weighed:
        """The area under the curve and the gain in nats, with limits."""
        z = float(norm.ppf((1 + CONFIDENCE) / 2))
        gains = np.log(self.chances[np.arange(len(self.secret)), self.secret]) - np.log(prior[self.secret])
        gain, error = float(gains.mean()), float(gains.std() / np.sqrt(len(gains)))
        auc, doubt = self._auc()
        limits = max(0.0, auc - z * doubt), min(1.0, auc + z * doubt)
        return Weighed(auc, limits, gain, (gain - z * error, gain + z * error))

    def _auc(self) -> tuple[float, float]:
        """The mean area, weighted by share, and an upper bound on its standard error (DeLong's, secret by secret)."""
        auc = error = weight = 0.0
        for s in range(self.chances.shape[1]):
            has = self.secret == s
            n, others = int(has.sum()), int((~has).sum())
            if not n or not others:
                continue
            score = self.chances[:, s]
            ranks = rankdata(score)
            above = (ranks[has] - rankdata(score[has])) / others
            below = 1 - (ranks[~has] - rankdata(score[~has])) / n
            auc += n * float(above.mean())
            error += n * float(np.sqrt(above.var() / n + below.var() / others))
            weight += n
        return (auc / weight, error / weight) if weight else (0.5, 0.0)

    def statistics(self) -> list[Floats]:
        """What a record adds to each figure if its secret were s (records x secrets): right guesses, gain, ranks."""
        guess = np.zeros_like(self.chances)
        guess[np.arange(len(guess)), self.chances.argmax(axis=1)] = 1.0
        counts = np.bincount(self.secret, minlength=self.chances.shape[1])
        # A sum of ranks is an area up to a factor, the number of pairs.
        pairs = np.maximum(len(self.secret) - counts, 1)
        return [guess, np.log(self.chances), rankdata(self.chances, axis=0) / pairs]


def weighed(name: str, chances: Floats, secret: Codes) -> WeighedAdversary:
    """What one adversary's beliefs (views x records x secrets) are worth."""
    prior = prior_of(secret, chances.shape[2])
    return WeighedAdversary(name, *(Beliefs.of(view, prior, secret).worth(prior) for view in chances))


def prior_of(secret: Codes, secrets: int) -> Floats:
    """The shares of the secrets, none of them zero."""
    counts = np.bincount(secret, minlength=secrets) + 0.5
    return np.asarray(counts / counts.sum(), dtype=np.float64)


def chance_by_fold(views: Sequence[Floats], secret: Codes, fold: Codes, random_state: int) -> float:
    """As :func:`beyond_chance`, for beliefs (records x secrets) of models that did not see the record's fold.

    Guarantees
    ----------
    If records and secrets are independent, it is at most p in a share p of tables: within a fold secrets are
    exchangeable given the models of the others, and twice the mean of p-values is one however they depend.
    """
    prior, p_values = prior_of(secret, views[0].shape[1]), []
    for k in np.unique(fold).tolist():
        here = fold == k
        p_values.append(beyond_chance([Beliefs.of(view[here], prior, secret[here]) for view in views], random_state))
    return min(1.0, 2 * float(np.mean(p_values)))


def beyond_chance(beliefs: Sequence[Beliefs], random_state: int) -> float:
    """How often some of these adversaries guess, weigh or rank shuffled secrets as well as the true ones.

    Guarantees
    ----------
    If beliefs and secrets are independent, it is at most p in a share p of tables, however many adversaries there are:
    the best figure of all is compared with the best of all under the same shuffle.
    """
    rng, secret = np.random.default_rng(random_state), beliefs[0].secret
    rows = np.arange(len(secret))
    tables = [table for each in beliefs for table in each.statistics()]
    scales = [_moments(table, secret) for table in tables]

    def best(shuffled: Codes) -> float:
        figures = (table[rows, shuffled].sum() for table in tables)
        return max(float(f - mean) / spread for f, (mean, spread) in zip(figures, scales, strict=True))

    true = best(secret)
    as_good = sum(best(rng.permutation(secret)) >= true - 1e-9 for _ in range(SHUFFLES))
    return (1 + as_good) / (1 + SHUFFLES)


def _moments(table: Floats, secret: Codes) -> tuple[float, float]:
    """Mean and standard deviation of the sum of one entry per record when secrets are shuffled (Hoeffding)."""
    n = len(secret)
    counts = np.bincount(secret, minlength=table.shape[1])
    share = counts / n
    centred = table - table.mean(axis=0) - (table @ share)[:, None] + table.mean(axis=0) @ share
    variance = float((centred**2 @ counts).sum()) / max(n - 1, 1)
    # If all shuffles give the same, no figure stands out; sums of floats differ by their rounding all the same.
    rounding = 1e-9 * np.sqrt(n) * float(np.abs(table).max(initial=0.0))
    spread = float(np.sqrt(variance))
    return float((table.mean(axis=0) * counts).sum()), spread if spread > rounding else np.inf
