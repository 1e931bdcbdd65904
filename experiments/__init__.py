"""The papers' tables and figures, done again: one folder a paper, ``python -m experiments`` for all of them."""
