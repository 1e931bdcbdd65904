"""Figure 2: what every epsilon keeps of the records, what the paper's gamma says it leaks, and what it does leak."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pandas as pd
from numpy.typing import NDArray

Vector = NDArray[np.float64]


@dataclass(frozen=True)
class Tradeoff:
    """One point for every set that the watchdog keeps, from nothing to everything; all arrays have that length.

    Attributes
    ----------
    epsilons : array
        The smallest epsilon for which this set is kept: its largest estimated risk. An estimate.
    kept_share : array
        P(X_eps), counted.
    utility : array
        I(X;Y) by (11), counted.
    gamma : array
        Proposition 2 as printed; it is what epsilon and P(X_eps) allow, provided the estimated risks are true.
    merged_risk : array
        Largest abs(log-lift) of the merged set, counted from the secrets of the part.
    leakage : array
        The larger of ``epsilons`` and ``merged_risk``: the exact value of Proposition 2, as far as risks are true.
    """

    epsilons: Vector
    kept_share: Vector
    utility: Vector
    gamma: Vector
    merged_risk: Vector
    leakage: Vector

    def at(self, epsilon: float) -> int:
        """Index of the set that is kept at an epsilon."""
        return int(np.searchsorted(self.epsilons, epsilon, side="right")) - 1

    @property
    def bend(self) -> int:
        """Index of the last set for which the first term of gamma, log(e^eps + 1 / P(merged)), is the larger one.

        From there on gamma is its second term, which runs off to infinity at epsilon = -log P(X_eps).
        """
        with np.errstate(over="ignore"):
            rest, merged = 1 - np.exp(self.epsilons) * self.kept_share, 1 - self.kept_share
            first = (rest + np.exp(self.epsilons)) * rest >= merged**2
        return int(np.argmin(first & (rest > 0))) - 1

    @property
    def last_finite(self) -> int:
        """Index of the last set before gamma is infinite for the first time."""
        infinite = np.isinf(self.gamma)
        return int(np.argmax(infinite)) - 1 if infinite.any() else len(infinite) - 1


def tradeoff(X: pd.DataFrame, secret: NDArray[np.int64], risk: Vector) -> Tradeoff:
    """All sets {x : risk(x) <= eps} of one part of the records, in one pass over the sorted risks."""
    value = X.groupby(list(X.columns), sort=True).ngroup().to_numpy()
    counts = np.zeros((value.max() + 1, 2))
    np.add.at(counts, (value, secret), 1.0)
    risks = np.zeros(len(counts))
    risks[value] = risk
    order = np.argsort(risks, kind="stable")
    counts, risks = counts[order], risks[order]
    p = counts.sum(axis=1) / len(secret)
    prior = counts.sum(axis=0) / len(secret)
    # After each value and not within ties: where the next risk is larger.
    ends = np.flatnonzero(np.append(risks[1:] > risks[:-1], True)) + 1
    sizes = np.concatenate([[0], ends])
    epsilons = np.concatenate([[0.0], risks[ends - 1]])
    kept = _sums(p, sizes)
    entropy = _sums(-p * np.log(p), sizes)
    left = np.maximum(1 - kept, 0.0)
    left[sizes == len(p)] = 0.0
    with np.errstate(divide="ignore", invalid="ignore"):
        utility = entropy - np.where(left > 0, left * np.log(left), 0.0)
        lift = (counts.sum(axis=0) - _sums(counts, sizes)) / len(secret) / left[:, None] / prior
        merged = np.where(left > 0, np.abs(np.log(lift)).max(axis=1), 0.0)
    gamma = np.array([gamma_printed(e, a, b) for e, a, b in zip(epsilons, kept, left, strict=True)])
    return Tradeoff(epsilons, kept, utility, gamma, merged, np.maximum(epsilons, merged))


def gamma_printed(epsilon: float, kept: float, merged: float) -> float:
    """Proposition 2 for a set of mass ``kept``: infinite where it takes the logarithm of what is not positive.

    ``tacit.lift.watchdog_bound_printed`` is the same of a joint whose log-lifts are known; here they are
    estimates, and the set is given by its mass. Where nothing is merged the formula divides by 0; it is epsilon then.
    """
    if merged <= 0:
        return epsilon
    if epsilon > 300:
        return np.inf
    rest = 1 - np.exp(epsilon) * kept
    if rest <= 0:
        return np.inf
    return float(max(np.log((rest + np.exp(epsilon)) / merged), -np.log(rest / merged)))


def _sums(values: Vector, sizes: NDArray[np.int64]) -> Vector:
    """Sums of the first ``sizes`` rows."""
    return np.concatenate([np.zeros((1, *values.shape[1:])), np.cumsum(values, axis=0)])[sizes]
