"""Transformers that change records and give them back in the form they came in."""
