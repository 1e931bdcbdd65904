"""What released images are worth to a reader: likeness to the originals (PSNR, SSIM), and another label they tell."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tacit.errors import ArgumentError
from tacit.lenses.bench.trying import BenchRecords, spread
from tacit.lenses.images.audit import ImageCollection
from tacit.lenses.images.families import ReadImages, image_families
from tacit.lenses.images.files import Pixels
from tacit.lenses.worth import use_told
from tacit.release.kept import ImageLikeness
from tacit.requests import Question

# More images than this take long and hardly change the numbers.
MOST_COMPARED = 1_000
# From Wang and others (2004): the width of the window, and the constants that steady flat places.
_WINDOW = 1.5
_STEADY = ((0.01 * 255) ** 2, (0.03 * 255) ** 2)
_AT_ONCE = 100
# The family of the bench that tells another label: it reads edges, as eyes do.
READER = "gradients"


def image_likeness(before: Pixels, after: Pixels) -> ImageLikeness:
    """PSNR over all images compared, in decibels, and the mean of their SSIM; rounded as they are published.

    At most ``MOST_COMPARED`` images are compared, evenly spaced. Images that are alike to the last bit have an
    infinite PSNR and an SSIM of 1.
    """
    count = min(len(before), MOST_COMPARED)
    rows = np.arange(count) * len(before) // count
    square, alike = 0.0, 0.0
    for at in range(0, count, _AT_ONCE):
        batch = rows[at : at + _AT_ONCE]
        one, other = (each[batch].astype(np.float64) for each in (before, after))
        square += float(((one - other) ** 2).mean(axis=tuple(range(1, one.ndim))).sum())
        alike += float(ssim(one, other).sum())
    psnr = math.inf if square == 0 else 10 * math.log10(255**2 / (square / count))
    return ImageLikeness(round(psnr, 1), round(alike / count, 2), count)


def ssim(one: NDArray[np.float64], other: NDArray[np.float64]) -> NDArray[np.float64]:
    """Structural similarity of pairs of images (n, height, width[, channels]) of 0 to 255, one number for each."""
    from scipy.ndimage import gaussian_filter

    sigma = (0, _WINDOW, _WINDOW, *([0] if one.ndim == 4 else []))

    def blurred(values: NDArray[np.float64]) -> NDArray[np.float64]:
        return np.asarray(gaussian_filter(values, sigma))

    mean, mean_other = blurred(one), blurred(other)
    variance, variance_other = blurred(one**2) - mean**2, blurred(other**2) - mean_other**2
    covariance = blurred(one * other) - mean * mean_other
    flat, rough = _STEADY
    alike = (2 * mean * mean_other + flat) * (2 * covariance + rough)
    most = (mean**2 + mean_other**2 + flat) * (variance + variance_other + rough)
    return np.asarray((alike / most).mean(axis=tuple(range(1, one.ndim))))


def worth_of_images(question: Question, collection: ImageCollection, released: Pixels, patch: int) -> dict[str, Any]:
    """Likeness and use, as fields of a certificate; ``released`` is in the order of the originals."""
    names, images = tuple(question.use or ()), collection.images
    worth: dict[str, Any] = {"likeness": image_likeness(images.pixels, released)}
    if not names:
        return worth
    if len(names) > 1:
        raise ArgumentError("for images only one use is measured: name one label")
    rows = spread(len(images), len(images))
    before, after = (ReadImages(pixels[rows], rows, patch) for pixels in (images.pixels, released))
    label = np.unique(images.label(names[0]), return_inverse=True)[1].astype(np.int64)
    reader = next(each for each in image_families() if each.name == READER)
    records = BenchRecords(before, after, collection.codes[rows], collection.fold[rows])
    return worth | {"use": use_told(names[0], label[rows], reader, records)}
