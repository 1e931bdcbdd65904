"""The person lens: how much of one person's file can be pieced together from records with confidences.

Names load on first use. What comes from ``model``, ``resolve`` and ``plans`` is pure mathematics on values, as ``lift``
is: no files, no engine, no clock, no hidden chance.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

from tacit.person.actions import ACTIONS

if TYPE_CHECKING:
    from tacit.person.actions.audit import person_audit as person_audit
    from tacit.person.actions.decoy import person_decoy as person_decoy
    from tacit.person.actions.dip import person_dip as person_dip
    from tacit.person.actions.population import person_population as person_population
    from tacit.person.actions.release import person_release as person_release
    from tacit.person.actions.remove import person_remove as person_remove
    from tacit.person.actions.verify_next import person_verify_next as person_verify_next
    from tacit.person.answers import *  # noqa: F403
    from tacit.person.case import *  # noqa: F403
    from tacit.person.model import *  # noqa: F403
    from tacit.person.plans import *  # noqa: F403
    from tacit.person.resolve import *  # noqa: F403

_NAMES = {
    "model": (
        "Anonymity Attribute ComparedRecord Comparer Correlated Label Labels Leakage Record Reference SharedWeights "
        "anonymity_of bits classes compare completeness contributions correctness covers entropy_bits exp_abs f_beta "
        "gradient is_suppressed k_anonymity l_diversity leakage_batch measure normaliser prior_of record_leakage "
        "record_leakages record_precision record_recall shared_weights similarity surprisal"
    ),
    "resolve": (
        "Adversary Augment Cluster Clusters Correct Cost Exposure Generalise Group Holdings Link Normalise Operator "
        "Resolve Resolver Rules Step WhatIf components exposure fix_point groups ladder leakage merge r_swoosh"
    ),
    "plans": (
        "AttributeCheck BestRelease Decoy DecoyPlan DipResult Offer ReleaseChoice RemovalPlan RemovalRequest "
        "SourceContribution VerificationPlan best_release certainty dip incremental_leakage plan_decoys plan_removals "
        "verify_next verify_within"
    ),
    "case": "Case DecoyTerms Slot VerifyTerms person_init read_case",
    "answers": (
        "PersonAuditResult PersonDecoyResult PersonDipResult PersonPopulationResult PersonReleaseResult "
        "PersonRemoveResult PersonVerifyResult mask"
    ),
    **{f"actions.{name}": f"person_{name}" for name in ACTIONS},
}
_ROOM_OF = {name: room for room, names in _NAMES.items() for name in names.split()}

__all__ = sorted(_ROOM_OF)


def __getattr__(name: str) -> Any:
    if name not in _ROOM_OF:
        raise AttributeError(f"module 'tacit.person' has no attribute '{name}'")
    value = getattr(import_module(f"tacit.person.{_ROOM_OF[name]}"), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return __all__
