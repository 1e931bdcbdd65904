"""What to do next: removals, decoys, releases, verification. Pure."""

from tacit.person.plans.decoys import Decoy, DecoyPlan, plan_decoys
from tacit.person.plans.releases import BestRelease, DipResult, ReleaseChoice, best_release, dip, incremental_leakage
from tacit.person.plans.removals import Offer, RemovalPlan, RemovalRequest, SourceContribution, plan_removals
from tacit.person.plans.verification import AttributeCheck, VerificationPlan, certainty, verify_next, verify_within

__all__ = [
    "AttributeCheck",
    "BestRelease",
    "Decoy",
    "DecoyPlan",
    "DipResult",
    "Offer",
    "ReleaseChoice",
    "RemovalPlan",
    "RemovalRequest",
    "SourceContribution",
    "VerificationPlan",
    "best_release",
    "certainty",
    "dip",
    "incremental_leakage",
    "plan_decoys",
    "plan_removals",
    "verify_next",
    "verify_within",
]
