"""What a user would pick instead: k-anonymity and its kin by anjana, the best generalisation, randomised response.

A library for mechanisms_on_tables.py. anjana pins old versions of numpy and pandas, so it goes into a folder of its
own, which the project's environment does not see:

    .venv/bin/python -m pip install --no-deps --target benchmarks/data/peers anjana==1.2.3 beartype==0.22.2
"""

from __future__ import annotations

import importlib
import io
import itertools
import sys
from collections.abc import Callable
from contextlib import redirect_stdout
from dataclasses import dataclass
from pathlib import Path
from time import perf_counter
from types import ModuleType
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from real_tables import Labels, Problem, counted
from scipy.optimize import brentq

from tacit.lift import Joint, entropy, linear_reduction, log_lift

PEERS = Path(__file__).with_name("data") / "peers"
# From loose to strict, and the share of the records, in per cent, that anjana may leave out. k-anonymity needs to; with
# the others it is better not to, since those left out are one more class, and a telling one.
SETTINGS = {
    "k_anonymity": ("k", (5, 50, 500, 2_000), 5),
    "l_diversity": ("l_div", (2,), 5),
    "t_closeness": ("t", (0.4, 0.2, 0.1, 0.05), 0),
    "delta_disclosure": ("delta", (2.0, 1.0, 0.5, 0.2), 0),
}
Vector = NDArray[np.float64]
# What a model is trained on (features, and which records they are of) and the features it is tested on.
Draw = tuple[pd.DataFrame, Labels, pd.DataFrame]


@dataclass(frozen=True)
class Release:
    """What a mechanism gives; ``draw`` makes one release of the table."""

    name: str
    attained: float
    utility: float
    nmil: float
    kept: float
    seconds: float
    draw: Callable[[np.random.Generator], Draw]
    random: bool


def all_of(problem: Problem, codes: Labels) -> Draw:
    """A release of every record, as values that the table had before; tested on records as they are."""
    return problem.values.iloc[codes], np.arange(len(codes)), problem.test[list(problem.released)]


def anjana() -> ModuleType | None:
    """The package, from the environment or from its own folder; None if it is not installed."""
    if PEERS.exists() and str(PEERS) not in sys.path:
        sys.path.append(str(PEERS))
    try:
        return importlib.import_module("anjana.anonymity")
    except ModuleNotFoundError:
        return None


def generalised(problem: Problem, name: str, labels: Labels, seconds: float, draw: Draw) -> Release:
    """A release in which every value becomes one label; measured by counting it."""
    joint = Joint.from_counts(counted(problem.secrets, labels))
    whole, utility = entropy(problem.joint.marginal), entropy(joint.marginal)
    features, rows, _ = draw
    before = problem.train[list(problem.released)].to_numpy()[rows]
    kept = float((features.to_numpy() == before).all(axis=1).sum()) / len(labels)
    attained = float(np.abs(log_lift(joint)).max())
    return Release(name, attained, utility, 1 - utility / whole, kept, seconds, lambda _: draw, False)


def by_anjana(problem: Problem, package: ModuleType, function: str, name: str, **setting: Any) -> Release:
    """One release by anjana; the records that it leaves out count as one value."""
    columns = list(problem.released)
    table = problem.train[[*columns, problem.secret]].astype(object)
    table["row"] = np.arange(len(table))
    hierarchies = {
        column: {at: pd.Series([step[v] for v in steps[0]], dtype=object) for at, step in enumerate(steps)}
        for column, steps in problem.steps.items()
    }
    if function != "k_anonymity":
        setting = {"k": 2, "sens_att": problem.secret, **setting}
    start = perf_counter()
    # It was written for pandas 2, where text is in arrays of objects.
    with redirect_stdout(io.StringIO()), pd.option_context("future.infer_string", False):
        found = getattr(package, function)(
            data=table, ident=[], quasi_ident=columns, hierarchies=hierarchies, **setting
        )
    seconds = perf_counter() - start
    if not len(found):
        nothing = problem.train[columns].iloc[:0], np.arange(0), problem.test[columns]
        return generalised(problem, f"{name}: gives up", np.zeros(len(table), dtype=np.intp), seconds, nothing)
    rows = found["row"].to_numpy(dtype=np.intp)
    labels = np.full(len(table), -1)
    labels[rows] = found.groupby(columns).ngroup()
    test = problem.test[columns].copy()
    for column in columns:
        became = dict(zip(table[column].to_numpy()[rows], found[column], strict=True))
        test[column] = test[column].map(became).fillna("unseen")
    draw = found[columns].reset_index(drop=True), rows, test
    return generalised(problem, name, np.unique(labels, return_inverse=True)[1], seconds, draw)


def best_generalisation(problem: Problem, epsilon: float) -> Release:
    """The best of all full-domain generalisations: classes over epsilon are left out, which counts as one value.

    By exhaustive search: no algorithm that generalises whole columns by these steps and leaves out the risky classes,
    and no others, does better.
    """
    start = perf_counter()
    best, chosen, left_out = -1.0, (0,) * len(problem.released), np.zeros(0, dtype=bool)
    for levels in itertools.product(*(range(len(problem.steps[c])) for c in problem.released)):
        labels = _at_levels(problem, levels)
        counts = _merged(problem.joint.matrix, labels)
        risky = ~_within(counts, epsilon)
        if risky.any():
            counts = np.column_stack([counts[:, ~risky], counts[:, risky].sum(axis=1)])
        kept = entropy(counts.sum(axis=0))
        if kept > best and _within(counts, epsilon).all():
            best, chosen, left_out = kept, levels, risky[labels]
    seconds = perf_counter() - start
    steps = {c: problem.steps[c][level] for c, level in zip(problem.released, chosen, strict=True)}
    rows = np.flatnonzero(~left_out[problem.codes])
    train = pd.DataFrame({c: problem.train[c].map(step) for c, step in steps.items()})
    test = pd.DataFrame({c: problem.test[c].map(step).fillna("unseen") for c, step in steps.items()})
    labels = np.where(left_out, -1, _at_levels(problem, chosen))
    labels = np.unique(labels, return_inverse=True)[1][problem.codes]
    return generalised(problem, "best generalisation", labels, seconds, (train.iloc[rows], rows, test))


def _at_levels(problem: Problem, levels: tuple[int, ...]) -> Labels:
    """The class of every released value."""
    labels = np.zeros(len(problem.values), dtype=np.intp)
    for column, level in zip(problem.released, levels, strict=True):
        codes = pd.factorize(problem.values[column].map(problem.steps[column][level]))[0]
        labels = labels * (codes.max() + 1) + codes
    return np.unique(labels, return_inverse=True)[1]


def _merged(matrix: Vector, labels: Labels) -> Vector:
    return np.array([np.bincount(labels, row) for row in matrix])


def _within(counts: Vector, epsilon: float) -> NDArray[np.bool_]:
    with np.errstate(divide="ignore"):
        lifts = np.log(counts / counts.sum(axis=1, keepdims=True) / counts.sum(axis=0))
    return np.asarray(np.abs(lifts).max(axis=0) <= epsilon + 1e-9)


def randomised(problem: Problem, name: str, keep: float, drawn: Vector, seconds: float) -> Release:
    """Each value is kept with one probability and otherwise drawn from ``drawn``."""
    joint, p = problem.joint, problem.joint.marginal
    output = answered(joint, keep, drawn)
    stays = keep + (1 - keep) * drawn
    other = (1 - keep) * drawn
    terms = other * np.log(other, out=np.zeros_like(other), where=other > 0)
    noise = -(p @ (terms.sum() - terms + stays * np.log(stays, out=np.zeros_like(stays), where=stays > 0)))
    whole, utility = entropy(p), max(entropy(output.marginal) - float(noise), 0.0)

    def draw(rng: np.random.Generator) -> Draw:
        others = rng.choice(len(drawn), size=len(problem.codes), p=drawn)
        return all_of(problem, np.where(rng.random(len(others)) < keep, problem.codes, others))

    attained = float(np.abs(log_lift(output)).max())
    return Release(name, attained, utility, 1 - utility / whole, float(p @ stays), seconds, draw, True)


def answered(joint: Joint, keep: float, drawn: Vector) -> Joint:
    return Joint(keep * joint.matrix + (1 - keep) * np.outer(joint.prior, drawn))


def randomised_response(problem: Problem, epsilon: float) -> Release:
    """k-ary randomised response on whole values, kept as often as epsilon allows: more than its worst case would."""
    start = perf_counter()
    uniform = np.full(len(problem.values), 1 / len(problem.values))

    def over(keep: float) -> float:
        # A lift of 0 has a log-lift of -inf, which no root finder takes.
        return min(float(np.abs(log_lift(answered(problem.joint, keep, uniform))).max()), 100.0) - epsilon

    keep = 1.0 if over(1.0) <= 0 else float(brentq(over, 0.0, 1.0, xtol=1e-12))
    return randomised(problem, "randomised response", keep, uniform, perf_counter() - start)


def reduced(problem: Problem, epsilon: float) -> Release:
    """Randomised response that draws from the marginal: linear reduction."""
    start = perf_counter()
    channel = linear_reduction(problem.joint, epsilon)
    return randomised(problem, "linear reduction", channel.keep, channel.marginal, perf_counter() - start)
