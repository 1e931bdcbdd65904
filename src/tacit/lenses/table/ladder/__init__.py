"""The trade-off of the mechanism that would be used: what ``protect`` would give at a handful of epsilons."""
