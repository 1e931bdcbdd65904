"""The adversary bench: families of adversaries that are trained on a release and tried on it."""
