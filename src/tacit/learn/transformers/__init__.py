"""Transformers that change records and return them in the form they came in."""
