"""GENKI-4K faces: where they are, which of them are learned from, and what is asked about them."""

from __future__ import annotations

import os
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from tacit.errors import SourceError

Pixels = NDArray[np.uint8]
Floats = NDArray[np.float64]
Codes = NDArray[np.int64]

TRAIN, TEST = 2_400, 600
CITED = "http://mplab.ucsd.edu, The MPLab GENKI Database, GENKI-4K Subset"


@dataclass(frozen=True)
class Faces:
    """Crops of 64 x 64, whether they smile (the secret) and whether they turn to one side (the use)."""

    pixels: Pixels
    smile: Codes
    turned: Codes
    train: Codes
    test: Codes
    rest: Codes

    def matrix(self, rows: Codes) -> Floats:
        """One row a face, one column a pixel, from 0 to 1."""
        return np.asarray(self.pixels[rows].reshape(len(rows), -1) / 255.0)


def read_faces(*, random_state: int = 0) -> Faces:
    """The faces that a detector found, split as in the paper: 2,400 to learn from, 600 to test on, the rest apart."""
    path = Path(os.environ.get("TACIT_DATA", "../shared/data")) / "genki4k" / "genki4k_face64.npz"
    if not path.exists():
        raise SourceError(
            f"no {path}: set TACIT_DATA to the folder that holds genki4k/genki4k_face64.npz (arrays x, smile, pose, "
            f"detected). The faces are not part of the project; they come from {CITED}"
        )
    with np.load(path) as stored:
        pixels, smile, pose, detected = (stored[key] for key in ("x", "smile", "pose", "detected"))
    found = np.random.default_rng(random_state).permutation(np.flatnonzero(detected))
    return Faces(
        pixels,
        smile.astype(np.int64),
        (pose[:, 0] > 0).astype(np.int64),
        found[:TRAIN],
        found[TRAIN : TRAIN + TEST],
        found[TRAIN + TEST :],
    )
