"""Hsu, Asoodeh, Calmon: Information-Theoretic Privacy Watchdogs."""
