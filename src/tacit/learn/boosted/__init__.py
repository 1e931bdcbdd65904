"""Boosted trees as arrays: quick ones in numpy, and deep ones grown by scikit-learn."""
