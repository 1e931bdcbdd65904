"""The papers' tables and figures, reproduced: one folder per paper, ``python -m experiments`` for all of them."""
