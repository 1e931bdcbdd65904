"""Hsu, Asoodeh, Calmon: Obfuscation via Information Density Estimation."""
