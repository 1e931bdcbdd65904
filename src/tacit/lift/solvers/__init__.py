"""Randomised mechanisms: the best that can be found, and the ladder of simpler ones that leads to it."""

from tacit.lift.solvers.assigning import assignment
from tacit.lift.solvers.ladder import EFFORTS, Effort, Rung, optimal
from tacit.lift.solvers.mixture import MixtureChannel
from tacit.lift.solvers.region import Region
from tacit.lift.solvers.subsets import cover_set

__all__ = [
    "EFFORTS",
    "Effort",
    "MixtureChannel",
    "Region",
    "Rung",
    "assignment",
    "cover_set",
    "optimal",
]
