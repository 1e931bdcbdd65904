"""What every mechanism within bounds must lose, whatever it does."""

from tacit.lift.solvers.bounds.branching import branch_bound
from tacit.lift.solvers.bounds.reaching import largest_bound, reaches

__all__ = ["branch_bound", "largest_bound", "reaches"]
