"""Decoys: records with false values that make an adversary's picture of a person worse."""

from tacit.person.plans.decoys.plan import DecoyPlan, plan_decoys
from tacit.person.plans.decoys.planner import Decoy

__all__ = ["Decoy", "DecoyPlan", "plan_decoys"]
