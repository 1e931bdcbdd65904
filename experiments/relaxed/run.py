"""Figures 1 and 2 on 5,000 random joints of each generator, and every claim of the text that a computer can check."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import linprog

from experiments.paper import Say
from experiments.relaxed.data import GENERATORS, joints
from tacit.lift import (
    Joint,
    delta_of,
    delta_total,
    log_lift,
    nmil,
    optimal,
    partition,
    risk,
    set_risk,
    watchdog_bound_printed,
)

# The curves of Figure 2: epsilon, delta, epsilon_max (the paper's epsilon-bar).
CURVES = {
    "strict 1": (1.0, 0.0, np.inf),
    "strict 2": (2.0, 0.0, np.inf),
    "0.005, 2": (1.0, 0.005, 2.0),
    "0.005, inf": (1.0, 0.005, np.inf),
    "0.01, 4": (1.0, 0.01, 4.0),
}
LEVELS = np.linspace(0, 1, 101)


def run(*, quick: bool, say: Say) -> dict[str, Any]:
    """All results; the same every time except for the solver's choice among equals."""
    number = 60 if quick else 5_000
    results: dict[str, Any] = {"joints": number, "generators": {}}
    for place, (generator, words) in enumerate(GENERATORS.items()):
        say(f"{number:,} joints: {words}")
        drawn = joints(generator, number, random_state=2020 + place)
        results["generators"][generator] = {
            "words": words,
            "figure_1": figure_1(drawn),
            "figure_2": figure_2(drawn),
            "greedy": greedy_against_best(drawn[: 5 if quick else 200]),
            "meaning": meaning_of_delta(drawn[: 20 if quick else 1_000]),
            "mixtures": mixtures(drawn[: 1 if quick else 25]),
        }
    say("Theorem 1 and Corollary 1 by linear programs")
    results["corollary_1"] = corollary_1(4 if quick else 100)
    results["merged_above"] = merged_above(100 if quick else 2_000)
    results["as_printed"] = as_printed()
    return results


def quantiles(numbers: Any) -> list[float]:
    """A distribution as its hundred and one quantiles, including the ends."""
    return np.quantile(numbers, LEVELS, method="inverted_cdf").tolist()  # type: ignore[no-any-return]


def figure_1(drawn: NDArray[np.float64], epsilon: float = 2.0) -> dict[str, Any]:
    """Before, after and the bound of the watchdog paper's Proposition 2, where anything is merged at all."""
    rows = []
    for cells in drawn:
        joint = Joint(cells)
        risks = risk(joint)
        merged = risks > epsilon
        if merged.any():
            rows.append((risks.max(), set_risk(joint, merged), watchdog_bound_printed(joint, epsilon)))
    before, after, bound = np.array(rows).T
    return {
        "with_risky_values": len(rows) / len(drawn),
        "before": quantiles(before),
        "after": quantiles(after),
        "bound": quantiles(bound),
        "bound_infinite": np.isinf(bound).mean(),
        "after_exceeds": (after > epsilon).mean(),
    }


def figure_2(drawn: NDArray[np.float64]) -> dict[str, Any]:
    """NMIL of the paper's own algorithm at its five settings, and the probabilities that the text claims."""
    losses = {
        name: np.array([partition(cells, *setting, method="greedy").nmil for cells in drawn])
        for name, setting in CURVES.items()
    }
    yellow, purple, green = losses["0.005, inf"], losses["strict 2"], losses["0.01, 4"]
    return {
        "nmil": {name: quantiles(each) for name, each in losses.items()},
        "strict_1_at_least_0.7": (losses["strict 1"] >= 0.7).mean(),
        "green_at_most_0.5": (green <= 0.5).mean(),
        # The text compares distribution functions, so the quantiles are compared, not joint by joint.
        "yellow_less_purple": {
            level: np.quantile(yellow, level) - np.quantile(purple, level) for level in (0.1, 0.5, 0.9)
        },
        "merged_exceeds_1": np.mean([set_risk(cells, risk(cells) > 1) > 1 for cells in drawn]),
    }


def greedy_against_best(drawn: NDArray[np.float64]) -> dict[str, Any]:
    """The loss of Algorithm 1 next to that of the best partition, proved by integer programming."""
    setting = CURVES["0.01, 4"]
    pairs = [
        (partition(cells, *setting, method="greedy").nmil, partition(cells, *setting, method="exact").nmil)
        for cells in drawn
    ]
    greedy, best = np.array(pairs).T
    return {
        "joints": len(pairs),
        "greedy": float(np.median(greedy)),
        "best": float(np.median(best)),
        "excess": float(np.mean(greedy / best - 1)),
        "largest_excess": float(np.max(greedy / best - 1)),
        "same": float(np.mean(greedy - best < 1e-9)),
    }


def meaning_of_delta(drawn: NDArray[np.float64]) -> dict[str, float]:
    """Of the released records at (1, 0.01, 4): how many carry a value that breaks epsilon for some secret."""
    epsilon, delta, most = CURVES["0.01, 4"]
    shares, totals, low = [], [], []
    for cells in drawn:
        joint = Joint(cells)
        chosen = partition(joint, epsilon, delta, most, method="greedy")
        lifts, kept = log_lift(joint), ~chosen.merged
        broken = (np.abs(lifts) > epsilon) & kept
        released = cells.sum(axis=0)
        shares.append(released[broken.any(axis=0)].sum())
        totals.append(delta_total(joint, epsilon, chosen.merged))
        mass = cells[broken].sum()
        low.append(cells[broken & (lifts < 0)].sum() / mass if mass else np.nan)
    return {"records": float(np.mean(shares)), "delta_total": float(np.max(totals)), "low_side": float(np.nanmean(low))}


def mixtures(drawn: NDArray[np.float64]) -> dict[str, float]:
    """The strict bound of 1 by Tacit's own mechanism, which mixes values; the paper's are in Figure 2."""
    ours = [optimal(cells, 1.0, effort="low") for cells in drawn]
    return {
        "joints": len(ours),
        "optimal": float(np.median([channel.nmil for channel in ours])),
        "attained": float(max(channel.attained for channel in ours)),
    }


def corollary_1(number: int) -> dict[str, float]:
    """The least epsilon' that any randomisation within the risky set attains, by linear programs, against epsilon^c."""
    rng = np.random.default_rng(7)
    gaps = []
    while len(gaps) < number:
        secrets, values = rng.integers(2, 5), rng.integers(4, 8)
        joint = Joint(joints("cells", 1, secrets=secrets, values=values, random_state=int(rng.integers(1 << 31)))[0])
        risks = risk(joint)
        merged = risks > np.quantile(risks, 0.4)
        if merged.sum() > 1:
            gaps.append(abs(_least_attainable(joint, merged) - set_risk(joint, merged)))
    return {"joints": number, "largest_gap": float(max(gaps))}


def _least_attainable(joint: Joint, merged: NDArray[np.bool_]) -> float:
    low, high = 0.0, 20.0
    for _ in range(40):
        middle = (low + high) / 2
        low, high = (low, middle) if _attainable(joint, merged, middle) else (middle, high)
    return high


def _attainable(joint: Joint, merged: NDArray[np.bool_], epsilon: float) -> bool:
    """Whether some p(y|x) on the risky set keeps every output within epsilon: a linear program in p(y|x)."""
    cells = joint.matrix[:, merged]
    given_secret, size = cells / joint.matrix.sum(axis=1, keepdims=True), merged.sum()
    weights = joint.matrix.sum(axis=0)[merged]
    upper = given_secret - np.exp(epsilon) * weights
    rows = np.vstack([upper, np.exp(-epsilon) * weights - given_secret])
    # Variables p(y|x), y outermost: one block of the constraints for every output.
    each_output = np.kron(np.eye(size), rows)
    whole = np.kron(np.ones(size), np.eye(size))
    solved = linprog(
        np.zeros(size * size), A_ub=each_output, b_ub=np.full(len(each_output), 1e-12), A_eq=whole, b_eq=np.ones(size)
    )
    return bool(solved.status == 0)


def merged_above(number: int) -> dict[str, float]:
    """How often the merged set itself breaks epsilon = 1, by the size of the joint; the paper never saw it."""
    shares = {}
    for secrets, values in ((2, 5), (3, 8), (5, 10), (15, 20)):
        drawn = joints("cells", number, secrets=secrets, values=values, random_state=1)
        risky = [(cells, risk(cells) > 1) for cells in drawn]
        shares[f"{secrets} x {values}"] = float(np.mean([set_risk(cells, m) > 1 for cells, m in risky if m.any()]))
    return shares


def as_printed() -> dict[str, float]:
    """What formulas give as printed, and as meant."""
    joint = Joint(joints("cells", 1, random_state=0)[0])
    merged = risk(joint) > 1
    lifts = np.abs(log_lift(joint)) > 1
    kept = risk(joint) <= 1
    first, second = np.zeros(joint.matrix.shape[1], dtype=bool), np.zeros(joint.matrix.shape[1], dtype=bool)
    second[0] = True
    return {
        "delta_0_printed": float(joint.matrix[lifts & merged].sum() + delta_of(joint, 1.0, kept)),
        "delta_0_meant": float(delta_total(joint, 1.0, merged)),
        "nmil_of_nothing": nmil(joint, first),
        "nmil_of_one_value": nmil(joint, second),
        # (15), (16): i(s, X^c) is said to equal a ratio, where it is the logarithm of one.
        "i_of_merged": float(
            np.log(joint.matrix[0, merged].sum() / joint.matrix[0].sum() / joint.matrix[:, merged].sum())
        ),
        "ratio_of_merged": float(joint.matrix[0, merged].sum() / joint.matrix[0].sum() / joint.matrix[:, merged].sum()),
    }
