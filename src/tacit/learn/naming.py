"""Estimators by the names that the command line uses."""

from __future__ import annotations

from typing import Any

from tacit.errors import ArgumentError
from tacit.learn.contract import LogLiftEstimator
from tacit.learn.crossfit import Progress

ESTIMATORS = {
    "counts": "count every released value (smoothed); for few values with many records each",
    "auto": "try counts, linear models, trees and nets, and blend them by what they lose on records apart",
    "linear": "penalised linear models, of the columns and of their products",
    "trees": "boosted trees with early stopping",
    "net": "small regularised neural nets, in numpy",
    "neural": "neural nets in JAX (extra 'neural')",
}


def estimator_named(
    name: str, *, random_state: Any = 0, progress: Progress | None = None, doubt: bool = True
) -> LogLiftEstimator:
    """An estimator that has not been fitted yet."""
    words: dict[str, Any] = {"random_state": random_state, "progress": progress}
    if name == "counts":
        from tacit.learn.counts import CountLogLift

        return CountLogLift()
    if name == "neural":
        from tacit.learn.neural import NeuralLogLift

        return NeuralLogLift(doubt=doubt, **words)
    from tacit.learn.auto import AutoLogLift

    learners = {"auto": None, "linear": ("linear", "products"), "trees": ("trees",), "net": ("net",)}
    if name not in learners:
        raise ArgumentError(f"no estimator {name!r}; choose one of {', '.join(ESTIMATORS)}")
    return AutoLogLift(learners=learners[name], doubt=doubt, **words)
