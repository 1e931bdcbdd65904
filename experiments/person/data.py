"""Synthetic records as made in section 6, and Table 5 as printed."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

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


# The rows of Table 5: setting, and exact and approximate leakage as printed.
TABLE_5 = (
    (Setting(), "0.1740179", "0.1740178"),
    (Setting(n=200), "0.1374662", "0.1374661"),
    (Setting(copying=1.0), "0.2752435", "0.2752431"),
    (Setting(perturbing=1.0), "0.0", "0.0"),
    (Setting(bogus=1.0), "0.1581138", "0.1581135"),
    (Setting(most=1.0), "0.2625473", "0.2625469"),
    (Setting(random_weights=True), "0.4047125", "0.4046881"),
)


@dataclass(frozen=True)
class Drawn:
    """Generated records as arrays: where each starts, and confidence, weight and right weight of every attribute."""

    starts: NDArray[np.int64]
    confidence: Floats
    weight: Floats
    credit: Floats
    reference_weight: float


def draw(setting: Setting, random_state: int) -> Drawn:
    """Every attribute of the reference is copied, or copied wrong, or left out, and a bogus one added.

    A bogus attribute has a label of its own, and so a weight of its own.
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
