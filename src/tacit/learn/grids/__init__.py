"""Grids of two or three columns: the search for interactions that show in no single column, and a model of them."""
