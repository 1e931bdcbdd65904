"""GENKI-4K faces and tweets: where they are, which faces are learned from, and made-up posts for a quick run."""

from __future__ import annotations

import csv
import gzip
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
TWEETS = "tweets/congress_office_tweets_party.csv.gz"
CITED = "http://mplab.ucsd.edu, The MPLab GENKI Database, GENKI-4K Subset"


def data_file(name: str, what: str) -> Path:
    """A file of the folder TACIT_DATA, or an error that says what belongs there."""
    path = Path(os.environ.get("TACIT_DATA", "data")) / name
    if not path.is_file():
        raise SourceError(
            f"no {path}: set TACIT_DATA to the folder that holds {name} ({what}). It is not in the project"
        )
    return path


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
        """One row per face, one column per pixel, from 0 to 1."""
        return np.asarray(self.pixels[rows].reshape(len(rows), -1) / 255.0)


def read_faces(*, random_state: int = 0) -> Faces:
    """The faces that a detector found, split as in the paper: 2,400 to learn from, 600 to test on, and the rest."""
    path = data_file("genki4k/genki4k_face64.npz", f"arrays x, smile, pose, detected; from {CITED}")
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


def read_tweets() -> dict[str, list[str]]:
    """Party, chamber and text of 75,946 tweets of congressional offices."""
    path = data_file(TWEETS, "columns party, chamber, date, tweet_id, text")
    with gzip.open(path, "rt", encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file))
    return {name: [row[name] for row in rows] for name in ("party", "chamber", "text")}


def made_posts(n: int = 600) -> dict[str, list[str]]:
    """Posts of one telling word and five plain ones each, for a quick run."""
    rng = np.random.default_rng(4)
    plain = np.array([f"word{k}" for k in range(40)])
    party = rng.integers(2, size=n)
    telling = np.where(rng.random(n) < 0.9, party, 1 - party)
    texts = [f"{('tax', 'care')[t]} {' '.join(rng.choice(plain, 5))} {k}" for k, t in enumerate(telling)]
    return {
        "party": ["DR"[p] for p in party],
        "chamber": ["House" if k % 2 else "Senate" for k in range(n)],
        "text": texts,
    }
