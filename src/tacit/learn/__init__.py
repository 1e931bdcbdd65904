"""Estimators that learn log-lift from records, to scikit-learn's contract: ``from tacit.learn import AutoLogLift``.

Everything public is imported from here, and loads on first use: scikit-learn takes two seconds.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from tacit.rooms import face

if TYPE_CHECKING:
    from tacit.learn.association import association_test as association_test
    from tacit.learn.auto import AutoLogLift as AutoLogLift
    from tacit.learn.classifier import ClassifierLogLift as ClassifierLogLift
    from tacit.learn.contract import LogLiftEstimator as LogLiftEstimator
    from tacit.learn.counts import CountLogLift as CountLogLift
    from tacit.learn.crossfitting.folds import fold_of_each as fold_of_each
    from tacit.learn.evidence import (
        LEAST_IN_FOLD as LEAST_IN_FOLD,
        CalibrationBin as CalibrationBin,
        EvidenceApart as EvidenceApart,
        LearnedEvidence as LearnedEvidence,
        binomial_limits as binomial_limits,
        calibration as calibration,
        evidence_apart as evidence_apart,
        evidence_of as evidence_of,
        information_of as information_of,
        shuffled_test as shuffled_test,
    )
    from tacit.learn.naming import ESTIMATORS as ESTIMATORS, estimator_named as estimator_named
    from tacit.learn.neighbours import NeighbourRisk as NeighbourRisk, neighbour_risk as neighbour_risk
    from tacit.learn.nets.neural import NeuralLogLift as NeuralLogLift
    from tacit.learn.nets.objectives import (
        OBJECTIVES as OBJECTIVES,
        Objective as Objective,
        log_mean as log_mean,
        objective_value as objective_value,
    )
    from tacit.learn.nets.prefixes import PrefixLogLift as PrefixLogLift, Sweep as Sweep
    from tacit.learn.saving import load_model as load_model, save_model as save_model
    from tacit.learn.terms import TermLogLift as TermLogLift, beginnings as beginnings, out_of_fold as out_of_fold
    from tacit.learn.transformers.flagging import flagging_delta as flagging_delta
    from tacit.learn.transformers.noise import secure_words as secure_words
    from tacit.learn.transformers.obfuscator import FeatureObfuscator as FeatureObfuscator, Obfuscated as Obfuscated
    from tacit.learn.transformers.watchdog import Watchdog as Watchdog

if not TYPE_CHECKING:
    __getattr__, __dir__, __all__ = face(__name__)
