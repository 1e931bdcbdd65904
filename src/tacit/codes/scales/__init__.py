"""Scales: the levels at which a column may be told. One file per kind; found automatically, readable, changeable."""
