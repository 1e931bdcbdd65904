"""Populations whose log-lift is known, to compare estimators with the truth.

Each sampler gives records, their secrets and the true log-lift of every pair. ``SAMPLERS`` are five usual ones:
Gaussians in 2 and 20 dimensions, a mixture with four secrets, a long-tailed discrete value of 200 symbols, and a mixed
table whose columns interact. ``HARDER`` are what estimators stumble over: interactions that no single column shows,
point masses among numbers, heavy tails, thirty secrets, one secret in a thousand, and pairs that never occur.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cache

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from scipy.special import log_softmax, logsumexp
from scipy.stats import expon, multivariate_normal, norm, t as student, uniform

Matrix = NDArray[np.float64]


@dataclass(frozen=True)
class Known:
    """Records, the code of each one's secret, and the true log-lift (records x secrets)."""

    X: pd.DataFrame
    s: NDArray[np.int64]
    log_lift: Matrix


def discrete(n: int, rng: np.random.Generator) -> Known:
    """200 symbols with frequencies 1/rank; posteriors scattered about the prior of three secrets."""
    fixed = np.random.default_rng(200)
    p = 1 / np.arange(1, 201)
    p /= p.sum()
    posterior = fixed.dirichlet(10 * np.array([0.5, 0.3, 0.2]), size=200)
    prior = p @ posterior
    x = rng.choice(200, size=n, p=p)
    lift = (np.log(posterior) - np.log(prior))[x]
    return Known(pd.DataFrame({"symbol": [f"v{value}" for value in x]}), drawn(posterior[x], rng), lift)


def gauss2(n: int, rng: np.random.Generator) -> Known:
    """Two secrets, two numbers; the means differ and so do the covariances."""
    means, covariances = np.array([[0.0, 0.0], [0.9, 0.5]]), (np.eye(2), np.array([[1.0, 0.3], [0.3, 1.0]]))
    return _mixture(n, rng, prior=np.array([0.6, 0.4]), parts=[[(1.0, means[k], covariances[k])] for k in range(2)])


def gauss20(n: int, rng: np.random.Generator) -> Known:
    """Two secrets, twenty correlated numbers, a shift that is spread over all of them."""
    fixed = np.random.default_rng(20)
    mixing = fixed.normal(size=(20, 20)) * 0.1 + np.eye(20)
    covariance = mixing @ mixing.T
    shift = mixing @ fixed.normal(size=20)
    shift *= 1.2 / np.sqrt(shift @ np.linalg.solve(covariance, shift))
    return _mixture(
        n, rng, prior=np.array([0.5, 0.5]), parts=[[(1.0, np.zeros(20), covariance)], [(1.0, shift, covariance)]]
    )


def mix4(n: int, rng: np.random.Generator) -> Known:
    """Four secrets, each two bumps in the plane, interleaved around a circle."""
    parts = []
    for k in range(4):
        angles = 2 * np.pi * (np.array([k, k + 4]) + 0.5 * (k % 2)) / 8 + np.array([0.0, 0.5])
        parts.append([(0.5, 1.4 * np.array([np.cos(a), np.sin(a)]), np.eye(2)) for a in angles])
    return _mixture(n, rng, prior=np.array([0.4, 0.3, 0.2, 0.1]), parts=parts)


def mixed(n: int, rng: np.random.Generator) -> Known:
    """Two secrets; three categories and three numbers, with interactions, a threshold and a heavy tail."""
    frame, logits = mixed_records(n, rng)
    return Known(frame, drawn(np.exp(logits), rng), logits - _mixed_log_prior())


def mixed_records(n: int, rng: np.random.Generator) -> tuple[pd.DataFrame, Matrix]:
    trade = rng.choice(6, size=n, p=[0.3, 0.25, 0.2, 0.12, 0.08, 0.05])
    town = rng.choice(4, size=n, p=[0.4, 0.3, 0.2, 0.1])
    sex = rng.choice(2, size=n)
    age = rng.uniform(18, 80, size=n)
    income = np.exp(rng.normal(10, 0.6, size=n) + 0.1 * sex)
    score = rng.normal(size=n)
    trade_effect = np.array([0.5, -0.4, 0.0, 0.9, -0.8, 0.3])[trade]
    town_slope = np.array([0.9, -0.9, 0.3, 0.0])[town]
    z = (
        -0.3
        + trade_effect
        + town_slope * score
        + 0.8 * ((age > 45) & (sex == 1))
        - 0.6 * ((age <= 30) & (trade < 2))
        + 0.5 * (np.log(income) - 10) * np.where(sex == 1, 1.0, -0.5)
    )
    frame = pd.DataFrame(
        {
            "trade": [f"trade {t}" for t in trade],
            "town": [f"town {t}" for t in town],
            "sex": np.where(sex == 1, "f", "m"),
            "age": age,
            "income": income,
            "score": score,
        }
    )
    return frame, log_softmax(np.column_stack([np.zeros(n), z]), axis=1)


@cache
def _mixed_log_prior() -> Matrix:
    _, logits = mixed_records(1_000_000, np.random.default_rng(1))
    return np.asarray(logsumexp(logits, axis=0) - np.log(len(logits)))


def _mixture(
    n: int, rng: np.random.Generator, *, prior: Matrix, parts: list[list[tuple[float, Matrix, Matrix]]]
) -> Known:
    s = rng.choice(len(prior), size=n, p=prior)
    X = np.empty((n, len(parts[0][0][1])))
    for k, bumps in enumerate(parts):
        here = np.flatnonzero(s == k)
        which = rng.choice(len(bumps), size=len(here), p=[weight for weight, _, _ in bumps])
        for b, (_, mean, covariance) in enumerate(bumps):
            rows = here[which == b]
            X[rows] = rng.multivariate_normal(mean, covariance, size=len(rows))
    given = np.stack(
        [logsumexp([np.log(w) + multivariate_normal(m, c).logpdf(X) for w, m, c in bumps], axis=0) for bumps in parts],
        axis=1,
    )
    total = logsumexp(given + np.log(prior), axis=1, keepdims=True)
    return Known(pd.DataFrame(X, columns=[f"x{j}" for j in range(X.shape[1])]), s, given - total)


def drawn(posterior: Matrix, rng: np.random.Generator) -> NDArray[np.int64]:
    u = rng.random((len(posterior), 1))
    return np.asarray((posterior.cumsum(axis=1) < u).sum(axis=1).clip(max=posterior.shape[1] - 1))


def _exclusive(n: int, rng: np.random.Generator, bits: Matrix, others: pd.DataFrame) -> Known:
    """Secret 1 has probability 0.85 where an odd number of bits is set and 0.15 elsewhere; each alone tells nothing."""
    odd = bits.sum(axis=1) % 2
    posterior = np.column_stack([0.85 - 0.7 * odd, 0.15 + 0.7 * odd])
    return Known(others, drawn(posterior, rng), np.log(posterior) - np.log(0.5))


def _bits(n: int, rng: np.random.Generator, wanted: int) -> Known:
    bits = rng.integers(2, size=(n, wanted))
    told = {f"bit {j}": np.where(bits[:, j] == 1, "yes", "no") for j in range(wanted)}
    noise = {f"noise {j}": rng.choice(["a", "b", "c"], size=n) for j in range(3)}
    numbers = {f"number {j}": rng.normal(size=n) for j in range(3)}
    return _exclusive(n, rng, bits, pd.DataFrame(told | noise | numbers))


def xor2(n: int, rng: np.random.Generator) -> Known:
    """The exclusive-or of two bits among six columns of noise."""
    return _bits(n, rng, 2)


def xor3(n: int, rng: np.random.Generator) -> Known:
    """The exclusive-or of three bits among six columns of noise."""
    return _bits(n, rng, 3)


def quadrants(n: int, rng: np.random.Generator) -> Known:
    """The exclusive-or of the signs of two numbers among six columns of noise."""
    X = rng.normal(size=(n, 8))
    return _exclusive(n, rng, (X[:, :2] > 0).astype(int), pd.DataFrame(X, columns=[f"x{j}" for j in range(8)]))


def _apart(
    n: int,
    rng: np.random.Generator,
    prior: Matrix,
    columns: Callable[[NDArray[np.int64]], list[tuple[str, Matrix, Matrix]]],
) -> Known:
    """Columns that are independent given the secret: names, cells, and log p(cell | s) for every record and secret."""
    s = rng.choice(len(prior), size=n, p=prior)
    made = columns(s)
    given = np.sum([logs for _, _, logs in made], axis=0)
    total = logsumexp(given + np.log(prior), axis=1, keepdims=True)
    return Known(pd.DataFrame({name: cells for name, cells, _ in made}), s, given - total)


def atoms(n: int, rng: np.random.Generator) -> Known:
    """Two secrets; hours with point masses at 0 and 40, and gains that are 0 for most, among numbers."""

    def columns(s: NDArray[np.int64]) -> list[tuple[str, Matrix, Matrix]]:
        at = np.array([[0.15, 0.30, 0.55], [0.35, 0.10, 0.55]])
        which = (rng.random((n, 1)) > at[s].cumsum(axis=1)).sum(axis=1)
        hours = np.choose(which, [0.0, 40.0, rng.normal(np.array([38.0, 34.0])[s], 8.0)])
        smooth = np.log(at[:, 2]) + norm.logpdf(hours[:, None], [38.0, 34.0], 8.0)
        logs = np.where(hours[:, None] == 0, np.log(at[:, 0]), np.where(hours[:, None] == 40, np.log(at[:, 1]), smooth))
        none, scale = np.array([0.8, 0.6]), np.array([2.0, 3.0])
        gain = np.where(rng.random(n) < none[s], 0.0, rng.exponential(scale[s]))
        shown = np.where(gain[:, None] == 0, np.log(none), np.log1p(-none) + expon.logpdf(gain[:, None], scale=scale))
        return [("hours", hours, logs), ("gain", gain, shown)]

    return _apart(n, rng, np.array([0.6, 0.4]), columns)


def tails(n: int, rng: np.random.Generator) -> Known:
    """Two secrets, three columns with tails so heavy that they have no variance; places and widths differ."""

    def columns(s: NDArray[np.int64]) -> list[tuple[str, Matrix, Matrix]]:
        made = []
        for j, (shift, width) in enumerate([(0.8, 1.0), (0.0, 1.8), (0.4, 1.2)]):
            place, scale = np.array([0.0, shift]), np.array([1.0, width])
            x = place[s] + scale[s] * rng.standard_t(1.5, size=n)
            made.append((f"x{j}", x, student.logpdf(x[:, None], 1.5, place, scale)))
        return made

    return _apart(n, rng, np.array([0.5, 0.5]), columns)


def many30(n: int, rng: np.random.Generator) -> Known:
    """Thirty secrets; a category of ten levels and three numbers whose places depend on the secret."""
    fixed = np.random.default_rng(30)
    prior = fixed.dirichlet(np.full(30, 5.0))
    levels, places = fixed.dirichlet(np.full(10, 2.0), size=30), 0.7 * fixed.normal(size=(3, 30))

    def columns(s: NDArray[np.int64]) -> list[tuple[str, Matrix, Matrix]]:
        level = (rng.random((n, 1)) > levels[s].cumsum(axis=1)).sum(axis=1).clip(max=9)
        made = [("level", np.array([f"v{code}" for code in level]), np.log(levels.T[level]))]
        for j, place in enumerate(places):
            x = rng.normal(place[s])
            made.append((f"x{j}", x, norm.logpdf(x[:, None], place)))
        return made

    return _apart(n, rng, prior, columns)


def rare(n: int, rng: np.random.Generator) -> Known:
    """One record in a thousand has the secret; three numbers and a category shift with it."""
    shares = np.array([[0.5, 0.3, 0.2], [0.2, 0.3, 0.5]])

    def columns(s: NDArray[np.int64]) -> list[tuple[str, Matrix, Matrix]]:
        level = (rng.random((n, 1)) > shares[s].cumsum(axis=1)).sum(axis=1).clip(max=2)
        made = [("level", np.array([f"v{code}" for code in level]), np.log(shares.T[level]))]
        for j, shift in enumerate([1.0, 0.5, 0.0]):
            x = rng.normal(shift * s)
            made.append((f"x{j}", x, norm.logpdf(x[:, None], [0.0, shift])))
        return made

    return _apart(n, rng, np.array([0.999, 0.001]), columns)


def never(n: int, rng: np.random.Generator) -> Known:
    """Three secrets; some pairs never occur: levels that a secret does not have, and ranges of a number."""
    levels = np.array([[0.5, 0.5, 0.0, 0.0], [0.25, 0.25, 0.25, 0.25], [0.0, 0.3, 0.3, 0.4]])
    begins, widths = np.array([0.0, 0.3, 0.5]), np.array([1.0, 1.0, 1.0])

    def columns(s: NDArray[np.int64]) -> list[tuple[str, Matrix, Matrix]]:
        level = (rng.random((n, 1)) > levels[s].cumsum(axis=1)).sum(axis=1).clip(max=3)
        x, noise = rng.uniform(begins[s], (begins + widths)[s]), rng.normal(size=n)
        with np.errstate(divide="ignore"):
            told = np.log(levels.T[level])
        return [
            ("level", np.array([f"v{code}" for code in level]), told),
            ("x", x, uniform.logpdf(x[:, None], begins, widths)),
            ("noise", noise, np.zeros((n, 3))),
        ]

    return _apart(n, rng, np.array([0.4, 0.3, 0.3]), columns)


SAMPLERS: dict[str, Callable[[int, np.random.Generator], Known]] = {
    "discrete": discrete,
    "gauss2": gauss2,
    "gauss20": gauss20,
    "mix4": mix4,
    "mixed": mixed,
}
HARDER: dict[str, Callable[[int, np.random.Generator], Known]] = {
    "xor2": xor2,
    "xor3": xor3,
    "quadrants": quadrants,
    "atoms": atoms,
    "tails": tails,
    "many30": many30,
    "rare": rare,
    "never": never,
}
