"""Whang, Garcia-Molina: A Model for Quantifying Information Leakage."""
