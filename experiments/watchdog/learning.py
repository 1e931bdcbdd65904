"""The paper's estimator in several readings next to ours, all learned on the same records and judged on the rest."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from experiments.watchdog.data import COLUMNS, RACES, Records
from tacit.learn import (
    AutoLogLift,
    ClassifierLogLift,
    CountLogLift,
    LogLiftEstimator,
    NeuralLogLift,
    calibration,
    information_of,
    log_mean,
    objective_value,
    shuffled_test,
)
from tacit.lift import LEVEL, Estimate

Matrix = NDArray[np.float64]
Normalised = Literal["none", "constant", "record"]


class UnscaledNeuralLogLift(NeuralLogLift):
    """The same network on numbers unscaled in the file: the paper speaks of one-hot categories, not of scaling."""

    def _learn(self, features: Any, secret: Any) -> None:
        columns = len(self.encoder_.scale)
        untouched = {"centre": (0.0,) * columns, "scale": (1.0,) * columns, "heavy": (False,) * columns}
        self.encoder_ = replace(self.encoder_, **untouched)
        super()._learn(features, secret)


@dataclass(frozen=True)
class Way:
    """A way to learn log-lift; ``normalised`` lists what is taken off its outputs, each giving one line of results."""

    name: str
    make: Callable[[int], LogLiftEstimator]
    normalised: tuple[Normalised, ...] = ("record",)


PAPER = "DV, numbers scaled, from 0"
PAPER_SLOW = "DV, numbers scaled, from 0.1"
PAPER_UNSCALED = "DV, numbers unscaled, from 0"
PAPER_UNSCALED_SLOW = "DV, numbers unscaled, from 0.1"
PAPER_ONE_HOT = "DV, all columns one-hot, from 0"
RELU = "ReLU network for p(S|X)"
AUTO = "auto"
ALL_THREE: tuple[Normalised, ...] = ("none", "constant", "record")


def _printed(estimator: type[NeuralLogLift], **changes: Any) -> Callable[[int], LogLiftEstimator]:
    """The setting of appendix E, which prints neither Adagrad's start nor the scale of the numbers."""
    return lambda seed: estimator.as_in_the_paper(random_state=seed, **changes)


def _relu(seed: int) -> LogLiftEstimator:
    """The other network of appendix E: ReLU units, the posterior's own loss, otherwise as printed."""
    return NeuralLogLift.as_in_the_paper(
        objective="ce", activation="relu", normalise="record", secret_as="head", random_state=seed
    )


WAYS = (
    Way(PAPER, _printed(NeuralLogLift), ALL_THREE),
    Way(PAPER_SLOW, _printed(NeuralLogLift, initial_accumulator=0.1), ALL_THREE),
    Way(PAPER_UNSCALED, _printed(UnscaledNeuralLogLift), ALL_THREE),
    Way(PAPER_UNSCALED_SLOW, _printed(UnscaledNeuralLogLift, initial_accumulator=0.1), ALL_THREE),
    Way(PAPER_ONE_HOT, _printed(NeuralLogLift, categorical_features=COLUMNS), ALL_THREE),
    Way(RELU, _relu),
    Way("counts, smoothed", lambda seed: CountLogLift()),
    Way("boosted trees", lambda seed: ClassifierLogLift(random_state=seed)),
    Way("neural, default", lambda seed: NeuralLogLift(random_state=seed)),
    Way(AUTO, lambda seed: AutoLogLift(random_state=seed)),
)


# The same names in seconds: a few steps, and one simple learner.
QUICK = (
    *(Way(name, _printed(NeuralLogLift, steps=20), ALL_THREE) for name in (way.name for way in WAYS[:5])),
    Way(
        RELU,
        lambda seed: NeuralLogLift.as_in_the_paper(objective="ce", normalise="record", steps=20, random_state=seed),
    ),
    Way(AUTO, lambda seed: AutoLogLift(learners=["linear"], random_state=seed)),
)


@dataclass(frozen=True)
class Learned:
    """An estimator that was fitted on the training records, and its log-lifts of all records."""

    name: str
    normalised: Normalised
    estimator: LogLiftEstimator
    log_lift: Matrix
    unseen: NDArray[np.bool_]
    cpu_seconds: float

    @property
    def prior(self) -> Matrix:
        """Shares of the secrets among the training records."""
        return np.asarray(self.estimator.prior_)

    @property
    def risk(self) -> Matrix:
        """Largest absolute log-lift of every record; infinite for a value that was not learned from."""
        return np.asarray(np.where(self.unseen, np.inf, np.abs(self.log_lift).max(axis=1)))

    def off_the_curve(self) -> Matrix:
        """log sum_s p(s) e^{i(s,x)} of every record: both log-lifts are too large by this much."""
        return np.asarray(log_mean(self.log_lift, self.prior))


def learn(way: Way, records: Records, *, random_state: int) -> Iterator[Learned]:
    """Fit once; one result for every normalisation asked for."""
    start = time.process_time()
    estimator = way.make(random_state).fit(*records.part("train"))
    spent = time.process_time() - start
    lift = estimator.log_lift(records.X)
    unseen = np.isneginf(lift).all(axis=1)
    # A value that was never seen leaves the adversary with the prior; its risk stays infinite.
    lift[unseen] = 0.0
    for normalised in way.normalised:
        yield Learned(
            way.name, normalised, estimator, normalise(lift, estimator.prior_, records, normalised), unseen, spent
        )


def normalise(outputs: Matrix, prior: Matrix, records: Records, how: Normalised) -> Matrix:
    """Take the constant of the training records off, or each record's own."""
    own = log_mean(outputs, prior)
    if how == "constant":
        trained = own[records.train]
        return np.asarray(outputs - (np.logaddexp.reduce(trained) - np.log(len(trained))))
    return np.asarray(outputs - own[:, None]) if how == "record" else outputs


@dataclass(frozen=True)
class Score:
    """How an estimate does on held-out records."""

    name: str
    normalised: Normalised
    dv_train: float
    dv_test: float
    mean: Estimate
    p_value: float
    verdict: str
    bins_inside: int
    bins: int
    off_rms: float
    off_range: tuple[float, float]
    off_median: float
    largest: tuple[float, float]
    smallest: tuple[float, float]
    unseen_share: float
    cpu_seconds: float


def score(learned: Learned, records: Records) -> Score:
    """DV's value, mean log-lift of the true secret, a shuffling test and the calibration, on held-out records."""
    lift, codes = learned.log_lift[records.test], records.secret[records.test]
    p_value, _, _ = shuffled_test(lift, codes, np.zeros(len(codes), dtype=np.int64), random_state=0)
    found = calibration(lift, codes, learned.prior, np.array(RACES))
    off = learned.off_the_curve()
    low, high = learned.log_lift.min(axis=0), learned.log_lift.max(axis=0)
    return Score(
        name=learned.name,
        normalised=learned.normalised,
        dv_train=_dv(learned, records.train, records),
        dv_test=_dv(learned, records.test, records),
        mean=information_of(lift, codes),
        p_value=p_value,
        verdict="leak" if p_value <= LEVEL else "no leak detected",
        bins_inside=sum(b.low <= b.predicted <= b.high for b in found),
        bins=len(found),
        off_rms=float(np.sqrt((off**2).mean())),
        off_range=(float(off.min()), float(off.max())),
        off_median=float(np.median(off)),
        largest=(float(high[0]), float(high[1])),
        smallest=(float(low[0]), float(low[1])),
        unseen_share=float(learned.unseen[records.test].mean()),
        cpu_seconds=learned.cpu_seconds,
    )


def _dv(learned: Learned, rows: NDArray[np.int64], records: Records) -> float:
    posterior = np.eye(2)[records.secret[rows]]
    return objective_value("dv", learned.log_lift[rows], posterior, prior=learned.prior)
