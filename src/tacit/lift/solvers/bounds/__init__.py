"""What every mechanism within bounds must lose, whatever it does."""

from tacit.lift.solvers.bounds.branching import branch_bound
from tacit.lift.solvers.bounds.reaching import largest_bound, reaches
from tacit.lift.solvers.bounds.scarcity import Scarcity
from tacit.lift.solvers.bounds.seconds import SecondShares

__all__ = ["Scarcity", "SecondShares", "branch_bound", "largest_bound", "reaches"]
