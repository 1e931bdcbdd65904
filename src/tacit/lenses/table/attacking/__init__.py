"""Adversaries who are trained: what they see, guess and believe."""
