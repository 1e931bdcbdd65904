"""Tacit: what a dataset gives away without saying it."""
__version__ = "0.1.0"
