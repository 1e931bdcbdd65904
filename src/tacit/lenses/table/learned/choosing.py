"""Which estimator is to learn log-lift, or which saved model: what was asked, and what cannot be done."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from tacit.errors import ArgumentError, Setting, sentence
from tacit.requests.settings import AnyPath

COUNTS = "counts"
SUFFIX = ".tacit"


@dataclass(frozen=True)
class EstimatorChoice:
    """How log-lift is to be learned: by a named estimator, or by a saved model.

    ``fresh`` is the caller's word that the saved model was not trained on any of these records.
    """

    estimator: str
    model: Path | None = None
    fresh: bool = False

    @property
    def name(self) -> str:
        """What reports call it."""
        return self.estimator if self.model is None else f"the saved model {self.model.name}"


def choice_of(
    estimator: str,
    model: AnyPath | None,
    *,
    weight: str | None,
    save_model: AnyPath | None = None,
    fresh: bool = False,
) -> EstimatorChoice | None:
    """What was asked for, or None for counts only; whatever cannot be done is refused before any work."""
    if model is not None and estimator != COUNTS:
        words = "a saved model is not learned again: give {model} or {estimator}"
        raise ArgumentError(
            sentence(words, model=Setting("model", str(model)), estimator=Setting("estimator", estimator))
        )
    if fresh and model is None:
        words = "only a saved model can have seen records before: give {fresh} with {model}, or neither"
        raise ArgumentError(sentence(words, fresh=Setting("fresh", True), model=Setting("model")))
    if model is None and estimator == COUNTS:
        if save_model is not None:
            words = "counting learns no model to save: choose one that does, such as {auto}"
            raise ArgumentError(sentence(words, auto=Setting("estimator", "auto")))
        return None
    if weight is not None:
        words = "learned estimators do not support weights yet: leave out {weight}, or use {counts}"
        raise ArgumentError(sentence(words, weight=Setting("weight", weight), counts=Setting("estimator", COUNTS)))
    if save_model is not None and Path(save_model).suffix.lower() != SUFFIX:
        raise ArgumentError(f"cannot save the model to {save_model}: name a file that ends in {SUFFIX}")
    if model is not None:
        return EstimatorChoice(estimator, Path(model), fresh)
    return EstimatorChoice(estimator)
