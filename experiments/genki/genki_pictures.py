"""Aggregate pictures only: the average face, what patches say on average, and the average face as it is released."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
from genki_faces import Faces, Floats, Pixels
from genki_pages import SIZES, key
from genki_release import SHAPE
from numpy.typing import NDArray

from tacit.lenses.images.images import patches, pixels_of
from tacit.report.charts.pictures import overlaid, png

# Every pixel is shown as so many, with so many white ones between pictures.
ZOOM, GAP = 2, 8


def draw(folder: Path, cells: dict[str, Any], faces: Faces) -> None:
    """heat.png and released.png, each with the average face at the left and then one picture for every patch size."""
    average = faces.matrix(faces.train).mean(axis=0)
    grey = pixels_of(average, SHAPE)
    heats = [np.array(cells[key("density", size)]["heat"]) for size in SIZES]
    # Each has its own scale: a small patch says less than a large one that holds it.
    shown = [overlaid(grey, heat, top=float(heat.max())) for heat in heats]
    (folder / "heat.png").write_bytes(png(strip([_coloured(grey), *shown])))
    masks = [np.array(cells[key("mask", size)]["mask"])[patches(*SHAPE, size)] for size in SIZES]
    (folder / "released.png").write_bytes(png(strip([grey, *(_noised(average, mask) for mask in masks)])))


def _noised(average: Floats, touched: NDArray[np.bool_]) -> Pixels:
    """One draw of the noise on the average face."""
    noise = np.random.default_rng(0).standard_normal(len(average))
    return pixels_of(average + touched * noise, SHAPE)


def _coloured(grey: Pixels) -> Pixels:
    return np.repeat(grey[..., None], 3, axis=2)


def strip(pictures: Sequence[Pixels]) -> Pixels:
    """Pictures side by side on white."""
    large = [picture.repeat(ZOOM, axis=0).repeat(ZOOM, axis=1) for picture in pictures]
    between = np.full((large[0].shape[0], GAP, *large[0].shape[2:]), 255, np.uint8)
    parts = [part for picture in large for part in (picture, between)]
    return np.concatenate(parts[:-1], axis=1)
