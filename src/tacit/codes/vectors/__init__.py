"""Codes of vectors: what is linear in the secret is taken out, and the rest becomes one of a few codes."""
