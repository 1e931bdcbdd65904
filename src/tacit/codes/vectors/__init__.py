"""Codes of vectors: what the secret says in a straight line is taken out, and the rest becomes one of a few codes."""
