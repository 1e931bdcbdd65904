"""Who guesses: gradients, their main directions, and a support vector machine; trained on clean or released faces."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.stats import binomtest
from sklearn.metrics import roc_auc_score
from sklearn.svm import SVC

from experiments.tide.data import Codes, Faces, Pixels
from tacit.lenses.images.hog import BINS, cell_means, oriented_gradients

Singles = NDArray[np.float32]

CELL = 8
SIDE = 64 // CELL
# Directions kept of 1,828: as accurate as all of them, and ten times as fast.
DIRECTIONS = 300
PENALTY = 1.0
MEANS_WEIGHT = 2.0


def features(pixels: Pixels) -> tuple[Singles, Singles]:
    """Gradients as rows x columns of blocks x columns x rows of their cells x directions; and means of cells."""
    gradients = oriented_gradients(pixels, cell=CELL).reshape(len(pixels), SIDE - 1, SIDE - 1, 2, 2, BINS)
    return gradients, MEANS_WEIGHT * cell_means(pixels, cell=CELL).reshape(len(pixels), SIDE, SIDE)


def mirrored(gradients: Singles, means: Singles) -> tuple[Singles, Singles]:
    """The features of the mirror images, without looking at these."""
    return gradients[:, :, ::-1, ::-1, :, ::-1], means[:, :, ::-1]


def _flat(gradients: Singles, means: Singles) -> Singles:
    return np.hstack([gradients.reshape(len(gradients), -1), means.reshape(len(means), -1)])


class Adversaries:
    """Guesses from faces like those it was trained on: who smiles, and who turns to which side.

    Every training face counts twice, as it is and mirrored: that leaves a smile a smile and turns the head.
    """

    def __init__(self, pixels: Pixels, smile: Codes, turned: Codes) -> None:
        seen = features(pixels)
        rows = np.vstack([_flat(*seen), _flat(*mirrored(*seen))])
        self.centre = rows.mean(axis=0)
        rows -= self.centre
        self.directions = np.linalg.eigh(rows.T @ rows)[1][:, : -DIRECTIONS - 1 : -1].copy()
        inputs = rows @ self.directions
        self.smile = _machine(inputs, np.r_[smile, smile])
        self.turned = _machine(inputs, np.r_[turned, 1 - turned])

    def judge(self, pixels: Pixels, smile: Codes, turned: Codes) -> dict[str, Any]:
        """Smiles and turns guessed right; and how well scores rank smiling above other faces, at any threshold."""
        inputs = (_flat(*features(pixels)) - self.centre) @ self.directions
        scores = self.smile.decision_function(inputs)
        right = (scores > 0) == smile
        return {
            "smile": int(right.sum()),
            "smiling": int(right[smile == 1].sum()),
            "auc": float(roc_auc_score(smile, scores)),
            "turned": int((self.turned.predict(inputs) == turned).sum()),
        }


def _machine(inputs: Singles, labels: Codes) -> Any:
    return SVC(C=PENALTY, gamma="scale", cache_size=500).fit(inputs, labels)


def judged(clean: Adversaries, faces: Faces, released_train: Pixels, released_test: Pixels) -> dict[str, Any]:
    """What an adversary who knows clean faces, and one trained on released faces, guess about released test faces."""
    answers = faces.smile[faces.test], faces.turned[faces.test]
    retrained = Adversaries(released_train, faces.smile[faces.train], faces.turned[faces.train])
    return {"clean": clean.judge(released_test, *answers), "retrained": retrained.judge(released_test, *answers)}


def interval(right: int, of: int) -> tuple[float, float]:
    """The exact 95% interval of Clopper and Pearson."""
    found = binomtest(right, of).proportion_ci(0.95, method="exact")
    return float(found.low), float(found.high)
