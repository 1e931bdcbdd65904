"""Boosted trees as arrays: quick ones in numpy, and deep ones of scikit-learn's."""
