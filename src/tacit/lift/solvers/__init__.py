"""Randomised mechanisms: the best to be had, and the ladder of simpler ones that leads to it."""
