"""Gaussian noise on leaking values: what it hides, how much is needed, and draws on a grid that reveal nothing else."""
