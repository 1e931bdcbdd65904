"""The case file: one person, the sources that speak of them, the adversaries, the questions."""

from __future__ import annotations

from tacit.workflows.person_case_model import (
    AdversarySpec,
    AugmentStep,
    Case,
    ClustersStep,
    CorrectStep,
    CostSpec,
    Decoys,
    NormaliseStep,
    PopulationSpec,
    Removal,
    ResolveStep,
    Slot,
    Source,
    SplinkStep,
    Step,
    Verification,
)

__all__ = [
    "AdversarySpec",
    "AugmentStep",
    "Case",
    "ClustersStep",
    "CorrectStep",
    "CostSpec",
    "Decoys",
    "NormaliseStep",
    "PopulationSpec",
    "Removal",
    "ResolveStep",
    "Slot",
    "Source",
    "SplinkStep",
    "Step",
    "Verification",
]
