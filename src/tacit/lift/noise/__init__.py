"""Gaussian noise on leaking values: what it hides, how much is needed, and draws on a grid that tell nothing else."""

from tacit.lift.noise.gaussian import gaussian_delta, gaussian_scale
from tacit.lift.noise.grid import GridGaussian
from tacit.lift.noise.obfuscation import obfuscation_delta, obfuscation_floor, obfuscation_scale, vacuous

__all__ = [
    "GridGaussian",
    "gaussian_delta",
    "gaussian_scale",
    "obfuscation_delta",
    "obfuscation_floor",
    "obfuscation_scale",
    "vacuous",
]
