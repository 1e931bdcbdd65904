"""What to do next: removals, decoys, releases, verification. Pure."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tacit.rooms import face

if TYPE_CHECKING:
    from tacit.person.plans.decoys import (
        Decoy as Decoy,
        DecoyPlan as DecoyPlan,
        plan_decoys as plan_decoys,
    )
    from tacit.person.plans.releases import (
        BestRelease as BestRelease,
        DipResult as DipResult,
        ReleaseChoice as ReleaseChoice,
        best_release as best_release,
        dip as dip,
        incremental_leakage as incremental_leakage,
    )
    from tacit.person.plans.removals import (
        Offer as Offer,
        RemovalPlan as RemovalPlan,
        RemovalRequest as RemovalRequest,
        SourceContribution as SourceContribution,
        plan_removals as plan_removals,
    )
    from tacit.person.plans.verification import (
        AttributeCheck as AttributeCheck,
        VerificationPlan as VerificationPlan,
        certainty as certainty,
        verify_next as verify_next,
        verify_within as verify_within,
    )

if not TYPE_CHECKING:
    __getattr__, __dir__, __all__ = face(__name__)
