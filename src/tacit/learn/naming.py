"""Estimators by the names that the command line uses."""

from __future__ import annotations

from typing import Any

from tacit.errors import ArgumentError
from tacit.learn.contract import LogLiftEstimator
from tacit.learn.crossfitting.training import Progress
from tacit.requests.names import ESTIMATORS

__all__ = ["ESTIMATORS", "estimator_named"]


def estimator_named(
    name: str, *, random_state: Any = 0, progress: Progress | None = None, doubt: bool = True
) -> LogLiftEstimator:
    """An estimator that has not been fitted yet."""
    words: dict[str, Any] = {"random_state": random_state, "progress": progress}
    if name == "counts":
        from tacit.learn.counts import CountLogLift

        return CountLogLift()
    if name == "neural":
        from tacit.learn.nets.neural import NeuralLogLift

        return NeuralLogLift(doubt=doubt, **words)
    from tacit.learn.auto import AutoLogLift

    learners = {"auto": None, "linear": ("linear", "products"), "trees": ("trees",), "net": ("net",)}
    if name not in learners:
        raise ArgumentError(f"no estimator {name!r}; choose one of {', '.join(ESTIMATORS)}")
    return AutoLogLift(learners=learners[name], doubt=doubt, **words)
