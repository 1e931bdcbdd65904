"""Scales: the levels at which a column may be told. One file a kind; found by themselves, readable, changeable."""
