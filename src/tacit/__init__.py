"""Tacit shows what a dataset gives away without saying it, and makes a version that does not.

Everything public is imported from here: ``from tacit import audit, protect, Joint, log_lift, ...``.
Names load on first use, so that ``import tacit`` brings in no engine and no scikit-learn.
"""

from __future__ import annotations

from importlib import import_module
from typing import Any

__version__ = "0.1.0"

_HOMES = {
    "ArgumentError": "tacit.errors",
    "AttackResult": "tacit.workflows.results",
    "AuditResult": "tacit.workflows.results",
    "AutoLogLift": "tacit.learn.auto",
    "Certificate": "tacit.workflows.results",
    "CertifiedPartition": "tacit.lift.gatekeeping",
    "Channel": "tacit.lift.joint",
    "ClassifierLogLift": "tacit.learn.classifier",
    "ColumnError": "tacit.errors",
    "Composition": "tacit.lift.composition",
    "CountCertificate": "tacit.lift.certificates",
    "CountLogLift": "tacit.learn.counts",
    "DataError": "tacit.errors",
    "DeltaCertificate": "tacit.lift.certificates",
    "EngineError": "tacit.errors",
    "Estimate": "tacit.lift.estimate",
    "GridGaussian": "tacit.lift.grid_noise",
    "FeatureObfuscator": "tacit.learn.obfuscator",
    "HogClassifier": "tacit.media.hog",
    "Joint": "tacit.lift.joint",
    "MEASURES": "tacit.lift.registry",
    "MixtureChannel": "tacit.lift.mixture",
    "NeuralLogLift": "tacit.learn.neural",
    "NotCertifiedError": "tacit.errors",
    "Partition": "tacit.lift.partition",
    "PrefixLogLift": "tacit.learn.prefixes",
    "ProtectResult": "tacit.workflows.results",
    "RecordsNeeded": "tacit.lift.sample_size",
    "ReductionChannel": "tacit.lift.reduction",
    "ReleaseBound": "tacit.lift.composition",
    "SourceError": "tacit.errors",
    "TacitError": "tacit.errors",
    "TextAuditResult": "tacit.workflows.text_results",
    "TextCertificate": "tacit.workflows.text_results",
    "TextExplanation": "tacit.workflows.text_results",
    "TextModel": "tacit.workflows.text_models",
    "TextProtectResult": "tacit.workflows.text_results",
    "VerifyResult": "tacit.workflows.results",
    "Watchdog": "tacit.learn.watchdog",
    "WatchdogChannel": "tacit.lift.mechanisms",
    "alpha_lift": "tacit.lift.reduction",
    "arimoto": "tacit.lift.measures",
    "assignment": "tacit.lift.assignment",
    "attack": "tacit.workflows.attacking",
    "audit": "tacit.workflows.auditing",
    "audit_images": "tacit.workflows.image_auditing",
    "audit_text": "tacit.workflows.text_auditing",
    "certified_partition": "tacit.lift.gatekeeping",
    "certify_any": "tacit.lift.certificates",
    "certify_counts": "tacit.lift.certificates",
    "certify_delta": "tacit.lift.certificates",
    "certify_growing": "tacit.lift.certificates",
    "chain": "tacit.lift.partition",
    "compose": "tacit.lift.composition",
    "compose_bounds": "tacit.lift.composition",
    "compose_deltas": "tacit.lift.divergence",
    "compose_given_secret": "tacit.lift.composition",
    "compose_table": "tacit.lift.composition",
    "critical_epsilons": "tacit.lift.partition",
    "delta_of": "tacit.lift.partition",
    "delta_total": "tacit.lift.partition",
    "dp_epsilon": "tacit.lift.composition",
    "e_gamma": "tacit.lift.measures",
    "e_gamma_counts": "tacit.lift.divergence",
    "e_gamma_of_log_lift": "tacit.lift.divergence",
    "e_gamma_scores": "tacit.lift.divergence",
    "egamma_partition": "tacit.lift.egamma",
    "entropy": "tacit.lift.measures",
    "evidence_of": "tacit.learn.evidence",
    "explain": "tacit.workflows.explaining",
    "explain_text": "tacit.workflows.text_auditing",
    "f_information": "tacit.lift.measures",
    "funnel": "tacit.lift.funnel",
    "gaussian_delta": "tacit.lift.gaussian",
    "gaussian_scale": "tacit.lift.gaussian",
    "guessing_bound": "tacit.lift.bounds",
    "guessing_probability": "tacit.lift.measures",
    "is_private": "tacit.lift.measures",
    "linear_reduction": "tacit.lift.reduction",
    "load_model": "tacit.learn.saving",
    "local_dp": "tacit.lift.measures",
    "log_lift": "tacit.lift.measures",
    "max_lift": "tacit.lift.measures",
    "maximal_leakage": "tacit.lift.measures",
    "min_lift": "tacit.lift.measures",
    "mutual_information": "tacit.lift.measures",
    "nmil": "tacit.lift.partition",
    "obfuscation_delta": "tacit.lift.obfuscation",
    "obfuscation_floor": "tacit.lift.obfuscation",
    "obfuscation_scale": "tacit.lift.obfuscation",
    "open_images": "tacit.media.images",
    "open_table": "tacit.tables.sources",
    "optimal": "tacit.lift.optimal",
    "partition": "tacit.lift.partition",
    "pointwise_maximal_leakage": "tacit.lift.measures",
    "promises": "tacit.lift.bounds",
    "protect": "tacit.workflows.protecting",
    "protect_images": "tacit.workflows.image_protecting",
    "protect_text": "tacit.workflows.text_protecting",
    "records_needed": "tacit.lift.sample_size",
    "risk": "tacit.lift.measures",
    "save_model": "tacit.learn.saving",
    "secure_words": "tacit.learn.noise",
    "set_risk": "tacit.lift.partition",
    "sibson": "tacit.lift.measures",
    "split_counts": "tacit.lift.gatekeeping",
    "tail_bound": "tacit.lift.divergence",
    "vacuous": "tacit.lift.obfuscation",
    "verify": "tacit.workflows.verifying",
    "watchdog": "tacit.lift.mechanisms",
    "watchdog_bound_exact": "tacit.lift.bounds",
    "watchdog_bound_printed": "tacit.lift.bounds",
    "watchdog_bound_tight": "tacit.lift.bounds",
    "write_report": "tacit.report",
}

__all__ = sorted(["__version__", *_HOMES])


def __getattr__(name: str) -> Any:
    home = _HOMES.get(name)
    if home is None:
        raise AttributeError(f"module 'tacit' has no attribute '{name}'")
    if home.startswith("tacit.workflows"):
        # Results show themselves once the report room has registered its renderers.
        import_module("tacit.report")
    value = getattr(import_module(home), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return __all__
