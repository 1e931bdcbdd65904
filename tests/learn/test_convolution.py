"""The small convolutional network: its slopes are those of its loss, and it sees a shape that moves."""

from __future__ import annotations

import numpy as np
import pytest

from tacit.learn.nets.convolution import ConvolutionClassifier, ConvolutionNetwork


@pytest.mark.parametrize("shape", [(16, 18, 1), (6, 5, 3), (2, 3, 1)])
def test_slopes_are_those_of_the_loss(shape: tuple[int, int, int]) -> None:
    rng = np.random.default_rng(0)
    pictures, classes = rng.standard_normal((7, *shape)), rng.integers(0, 3, 7)
    rows = np.arange(7)[None]
    net = ConvolutionNetwork(pictures, classes, 3, rows, rng)
    net.weights = [array.astype(np.float64) for array in net.weights]
    for array, slope in zip(net.weights, net.slopes(rows), strict=True):
        at = tuple(rng.integers(0, side) for side in array.shape)
        kept, step = array[at], 1e-5
        found = []
        for moved in (kept + step, kept - step):
            array[at] = moved
            found.append(float(net.loss()[0]))
        array[at] = kept
        assert (found[0] - found[1]) / (2 * step) == pytest.approx(float(slope[at]), rel=1e-3, abs=1e-6)


def test_a_shape_that_moves_is_seen() -> None:
    rng = np.random.default_rng(1)
    told, pictures = np.arange(300) % 2, rng.normal(0, 0.3, (300, 12, 12, 1))
    for picture, s in zip(pictures, told, strict=True):
        y, x = rng.integers(0, 9, 2)
        picture[y : y + 3, x : x + 3, 0] += np.eye(3) * 2 if s else np.eye(3)[::-1] * 2
    model = ConvolutionClassifier().fit(pictures[:200], told[:200])
    assert (model.predict(pictures[200:]) == told[200:]).mean() > 0.8
