"""Table 5, Figure 3 and the accuracy of the approximation, on synthetic records."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import asdict, replace
from functools import partial
from typing import Any

import numpy as np

from experiments.person.data import TABLE_5, Drawn, Floats, Setting, draw
from tacit.person import Record, Reference, leakage_batch, record_leakage
from tacit.person.model.leakage import Method


def exact(drawn: Drawn) -> Floats:
    """The leakage of every record."""
    return leakage_batch(drawn.starts, drawn.confidence, drawn.weight, drawn.credit, drawn.reference_weight)


def second_order(drawn: Drawn) -> Floats:
    """The paper's approximation for every record: the first three terms of a Taylor series about the mean."""
    p, w = drawn.confidence, drawn.weight
    record = np.repeat(np.arange(len(drawn.starts) - 1), np.diff(drawn.starts))

    def summed(values: Floats) -> Floats:
        return np.bincount(record, values, minlength=len(drawn.starts) - 1)

    spread = p * (1 - p) * w**2
    mean = drawn.reference_weight + w + summed(p * w)[record] - p * w
    return summed(2 * p * drawn.credit * (1 / mean + (summed(spread)[record] - spread) / mean**3))


def table_5(*, draws: int, records: int) -> list[dict[str, Any]]:
    """Every row: the set leakage (the largest of all records) and its approximation in several draws.

    The last row is done with ten attributes too, as the text says.
    """
    rows = []
    for setting, *texts in (*TABLE_5, (replace(TABLE_5[-1][0], n=10), *TABLE_5[-1][1:])):
        printed, found = float(texts[0]), []
        for random_state in range(draws):
            drawn = draw(replace(setting, records=records), random_state)
            leakages, approximate = exact(drawn), second_order(drawn)
            worst, some = int(leakages.argmax()), leakages > 0
            error = np.abs(approximate[some] / leakages[some] - 1).max(initial=0.0)
            found.append(
                (
                    leakages[worst],
                    leakages[worst] - approximate[worst],
                    error,
                    leakages.mean(),
                    (leakages > printed).mean(),
                )
            )
        largest, differences, errors, means, above = np.array(found).T
        rows.append(
            asdict(setting)
            | {
                "records": records,
                "draws": draws,
                "printed": texts,
                "exact": _spread(largest),
                "difference": _spread(differences),
                "error": errors.max(),
                "mean": means.mean(),
                "above": above.mean(),
            }
        )
    return rows


def _spread(values: Floats) -> list[float]:
    """The least, the median and the largest."""
    return [values.min(), float(np.median(values)), values.max()]


def table_4(records: int) -> dict[str, float]:
    """What records with the basic values look like."""
    drawn = draw(Setting(records=records), 0)
    return {
        "attributes": len(drawn.weight) / records,
        "right": float((drawn.credit > 0).mean()),
        "confidence": float(drawn.confidence.mean()),
        "most": float(drawn.confidence.max()),
    }


def trends(*, points: int, records: int) -> dict[str, list[tuple[float, float, float]]]:
    """Figure 3 a, b and c: (parameter, set leakage, mean leakage) while one parameter goes from 0 to 1.

    "harsh" is c again where 19 copies of 20 are wrong and a bogus attribute comes with each.
    """
    curves: dict[str, list[tuple[float, float, float]]] = {}
    harsh = Setting(records=records, perturbing=0.95, bogus=1.0)
    for name, basic in (("copying", None), ("perturbing", None), ("most", None), ("harsh", harsh)):
        curves[name] = []
        for value in np.linspace(0, 1, points):
            varied = {"most" if basic else name: float(value)}
            leakages = exact(draw(replace(basic or Setting(records=records), **varied), 0))
            curves[name].append((float(value), float(leakages.max()), float(leakages.mean())))
    return curves


WEIGHTS: dict[str, Callable[[np.random.Generator, int], Floats]] = {
    "equal": lambda rng, n: np.ones(n),
    "uniform on (0, 1), as in Table 5": lambda rng, n: rng.random(n),
    "log-normal, σ = 1.5": lambda rng, n: rng.lognormal(0, 1.5, n),
    "log-normal, σ = 4": lambda rng, n: rng.lognormal(0, 4, n),
}


def accuracy(number: int) -> dict[str, Any]:
    """Every method against the sum over possible worlds, on small records with weights that differ more and more."""
    rng = np.random.default_rng(5)
    found: dict[str, Any] = {}
    for words, weigh in WEIGHTS.items():
        methods: list[Method] = ["second_order", "exact", *(["algorithm1"] if words == "equal" else [])]
        errors: dict[str, list[float]] = {method: [] for method in methods}
        for _ in range(number):
            facts, wrong = rng.integers(2, 8), rng.integers(0, 6)
            right = rng.integers(1, facts + 1)
            weights = dict(zip(map(str, range(facts + wrong)), weigh(rng, facts + wrong).tolist(), strict=True))
            reference = Reference((str(at), "true") for at in range(facts))
            places = [(at, "true") for at in range(right)] + [(facts + at, "false") for at in range(wrong)]
            record = Record((str(at), value, float(rng.random())) for at, value in places)
            truth = record_leakage(record, reference, weights, method="worlds")
            for method in methods:
                errors[method].append(abs(record_leakage(record, reference, weights, method=method) / truth - 1))
        found[words] = {method: [float(np.median(each)), max(each)] for method, each in errors.items()}
    return {"records": number, "weights": found}


# How many attributes each method is tried with: until a record takes about a second.
SIZES: dict[Method, tuple[int, ...]] = {
    "worlds": (2, 4, 6, 8, 10, 12, 14, 16),
    "algorithm1": (10, 25, 50, 100, 250),
    "second_order": (10, 25, 50, 100, 250, 1_000, 2_000, 10_000, 100_000),
    "exact": (10, 25, 50, 100, 250, 1_000, 2_000, 10_000, 100_000),
}


def runtimes(*, quick: bool) -> dict[str, list[tuple[int, float]]]:
    """Figure 3 d: CPU seconds per record, by the number of its attributes, for every method.

    Half of the attributes are right; the reference has as many; weights are equal, which Algorithm 1 needs.
    """
    rng = np.random.default_rng(0)
    found: dict[str, list[tuple[int, float]]] = {}
    for method, sizes in SIZES.items():
        found[method] = []
        for n in sizes[:2] if quick else sizes:
            values = ["true" if at % 2 else "false" for at in range(n)]
            record = Record((f"label {at}", value, float(rng.random())) for at, value in enumerate(values))
            reference = Reference((f"label {at}", "true") for at in range(n))
            call = partial(record_leakage, record, reference, method=method)
            found[method].append((n, _seconds(call, least=0.001 if quick else 0.07)))
    return found


def _seconds(call: Callable[[], Any], *, least: float) -> float:
    """CPU seconds of one call: the best of three rounds of enough calls."""
    times, best = 1, float("inf")
    for _ in range(3):
        while True:
            start = time.process_time()
            for _ in range(times):
                call()
            took = time.process_time() - start
            if took >= least:
                break
            times *= 4
        best = min(best, took / times)
    return best
