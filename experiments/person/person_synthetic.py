"""The paper's synthetic records (its Table 4), its Table 5 and Figure 3, with exact leakage for every weight."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tacit.person import Record, Reference, leakage_batch, record_leakage

Floats = NDArray[np.float64]


@dataclass(frozen=True)
class Setting:
    """The parameters of Table 4; the defaults are its basic values."""

    n: int = 100
    records: int = 10_000
    copying: float = 0.5
    perturbing: float = 0.5
    bogus: float = 0.5
    most: float = 0.5
    random_weights: bool = False


@dataclass(frozen=True)
class Drawn:
    """Generated records as arrays: where each starts, and confidence, weight and right weight of every attribute."""

    starts: NDArray[np.int64]
    confidence: Floats
    weight: Floats
    credit: Floats
    reference_weight: float

    def one(self, record: int) -> tuple[Floats, Floats, Floats]:
        """Confidence, weight and right weight of one record."""
        at = slice(self.starts[record], self.starts[record + 1])
        return self.confidence[at], self.weight[at], self.credit[at]


@dataclass(frozen=True)
class Printed:
    """A row of Table 5: its setting and the two numbers the paper prints."""

    setting: Setting
    exact: float
    approximate: float


# The last row says n = 100; the text says ten attributes, and ten attributes give the printed number.
TABLE_5 = (
    Printed(Setting(), 0.1740179, 0.1740178),
    Printed(Setting(n=200), 0.1374662, 0.1374661),
    Printed(Setting(copying=1.0), 0.2752435, 0.2752431),
    Printed(Setting(perturbing=1.0), 0.0, 0.0),
    Printed(Setting(bogus=1.0), 0.1581138, 0.1581135),
    Printed(Setting(most=1.0), 0.2625473, 0.2625469),
    Printed(Setting(n=10, random_weights=True), 0.4047125, 0.4046881),
)


def draw(setting: Setting, random_state: int) -> Drawn:
    """Records as Section 6 makes them: every attribute of the reference is copied, or copied wrong, or left out, and
    a bogus one added. A bogus attribute has a label of its own, and so a weight of its own.
    """
    rng = np.random.default_rng(random_state)
    shape = (setting.records, setting.n)
    truth = rng.random(setting.n) if setting.random_weights else np.ones(setting.n)
    copied, perturbed = rng.random(shape) < setting.copying, rng.random(shape) < setting.perturbing
    there = np.concatenate([copied, rng.random(shape) < setting.bogus], axis=1)
    own = np.broadcast_to(truth, shape)
    bogus = rng.random(shape) if setting.random_weights else np.ones(shape)
    weight = np.concatenate([own, bogus], axis=1)
    credit = np.concatenate([np.where(perturbed, 0.0, own), np.zeros(shape)], axis=1)
    confidence = rng.random(there.shape) * setting.most
    starts = np.concatenate([[0], np.cumsum(there.sum(axis=1))])
    return Drawn(starts, confidence[there], weight[there], credit[there], float(truth.sum()))


def exact(drawn: Drawn) -> Floats:
    """The leakage of every record."""
    return leakage_batch(drawn.starts, drawn.confidence, drawn.weight, drawn.credit, drawn.reference_weight)


def second_order(confidence: Floats, weight: Floats, credit: Floats, reference_weight: float) -> float:
    """The paper's approximation of one record's leakage: the first three terms of a Taylor series."""
    right = credit > 0
    spread = confidence * (1 - confidence) * weight**2
    mean = reference_weight + weight + (confidence * weight).sum() - confidence * weight
    terms = 2 * confidence * credit * (1 / mean + (spread.sum() - spread) / mean**3)
    return float(terms[right].sum())


@dataclass(frozen=True)
class Row:
    """Table 5 again: what is printed, and the set leakage (the largest of 10,000 records) of several draws."""

    n: int
    copying: float
    perturbing: float
    bogus: float
    most: float
    weights: str
    printed_exact: float
    printed_difference: float
    exact: tuple[float, ...]
    difference: float
    mean: float


def table_5(draws: int = 5) -> list[Row]:
    """Every row with ``draws`` draws."""
    rows = []
    for printed in TABLE_5:
        largest, differences, means = [], [], []
        for random_state in range(draws):
            drawn = draw(printed.setting, random_state)
            leakages = exact(drawn)
            worst = int(leakages.argmax())
            largest.append(float(leakages[worst]))
            differences.append(largest[-1] - second_order(*drawn.one(worst), drawn.reference_weight))
            means.append(float(leakages.mean()))
        s = printed.setting
        weights = "random" if s.random_weights else "equal"
        rows.append(
            Row(
                s.n,
                s.copying,
                s.perturbing,
                s.bogus,
                s.most,
                weights,
                printed.exact,
                printed.exact - printed.approximate,
                tuple(largest),
                float(np.mean(differences)),
                float(np.mean(means)),
            )
        )
    return rows


def trends(points: int = 11, records: int = 2_000) -> dict[str, list[tuple[float, float, float]]]:
    """Figure 3 a, b and c: (parameter, set leakage, mean leakage) while one parameter goes from 0 to 1."""
    curves: dict[str, list[tuple[float, float, float]]] = {}
    for name in ("copying", "perturbing", "most"):
        curves[name] = []
        for value in np.linspace(0, 1, points):
            leakages = exact(draw(replace(Setting(records=records), **{name: float(value)}), 0))
            curves[name].append((float(value), float(leakages.max()), float(leakages.mean())))
    return curves


# How many attributes each method is tried with: until a record takes about a second.
SIZES: dict[str, tuple[int, ...]] = {
    "worlds": (2, 4, 6, 8, 10, 12, 14),
    "algorithm1": (10, 25, 50, 100, 250),
    "second_order": (10, 25, 50, 100, 250, 1_000, 2_000, 10_000, 100_000),
    "exact": (10, 25, 50, 100, 250, 1_000, 2_000, 10_000, 100_000),
}


def runtimes() -> dict[str, list[tuple[int, float]]]:
    """Figure 3 d: CPU seconds a record, by the number of its attributes, for every method.

    Half of the attributes are right; the reference has as many; weights are equal, which Algorithm 1 needs.
    """
    rng = np.random.default_rng(0)
    found: dict[str, list[tuple[int, float]]] = {}
    for method, sizes in SIZES.items():
        found[method] = []
        for n in sizes:
            values = ["true" if at % 2 else "false" for at in range(n)]
            record = Record((f"label {at}", value, float(rng.random())) for at, value in enumerate(values))
            reference = Reference((f"label {at}", "true") for at in range(n))
            found[method].append((n, _seconds(lambda r=record, e=reference, m=method: record_leakage(r, e, method=m))))
    return found


def _seconds(call: Callable[[], Any], *, least: float = 0.2) -> float:
    """CPU seconds of one call: the best of three rounds of enough calls."""
    call()
    times, best = 1, float("inf")
    for _ in range(3):
        while True:
            start = time.process_time()
            for _ in range(times):
                call()
            took = time.process_time() - start
            if took >= least / 3 or took / times > least:
                break
            times *= 4
        best = min(best, took / times)
    return best
