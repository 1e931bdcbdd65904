"""The tide paper's Table 1 done again on GENKI-4K: patches that give a smile away, obfuscated, and who still guesses.

Writes results.json, the pictures and the marked sections of README.md beside this file. About fifteen minutes of one
CPU core. Every cell is stored when it is done, so that an interrupted run goes on where it was.

    TACIT_DATA=/path/to/data .venv/bin/python experiments/genki/run.py
"""

from __future__ import annotations

import json
import os
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

# Before numpy is loaded: other work shares the machine.
os.environ.setdefault("OMP_NUM_THREADS", "1")

import numpy as np
from genki_adversary import Adversaries, judged
from genki_faces import Faces, Pixels, read_faces
from genki_pages import EPSILONS, SHOWN, SIZES, blocks, key
from genki_pictures import draw
from genki_release import SHAPE, Density, Flags, averaged, mean_square, noise_everywhere, noised, shuffled
from pages import fill

from tacit.errors import TacitError
from tacit.learn import FeatureObfuscator
from tacit.lenses.images.images import patches, pixels_of

HERE = Path(__file__).parent
RANDOM_STATE = 0
# The paper's lambda, in units of the range of a pixel.
SCALE = 1.0
# Further draws of noise, to know how much one draw matters.
DRAWS = 10
# Other ways to deal out the faces, and the sizes tried again on them.
SPLITS, REPEATED = (1, 2), (8, 4)
Cell = dict[str, Any]
Released = tuple[Pixels, Pixels, float]


def rounded(value: Any) -> Any:
    """Floats to five digits."""
    if isinstance(value, dict):
        return {key: rounded(item) for key, item in value.items()}
    return round(value, 5) if isinstance(value, float) else value


class Run:
    """Cells, each computed once and stored at once."""

    def __init__(self, results: Path) -> None:
        self.path = results
        self.faces: Faces = read_faces(random_state=RANDOM_STATE)
        stored = json.loads(results.read_text(encoding="utf-8")) if results.exists() else {}
        self.cells: dict[str, Cell] = stored.get("cells", {})
        faces = self.faces
        self.clean = Adversaries(faces.pixels[faces.train], faces.smile[faces.train], faces.turned[faces.train])

    def cell(self, name: str, made: Callable[[], Released]) -> Cell:
        """The stored cell, or a new one: training and test faces as released, and the share of pixels touched."""
        if name not in self.cells:
            began = time.process_time()
            train, test, touched = made()
            self.store(
                name,
                {"touched": touched, "mean_square": mean_square(self.faces, train)}
                | judged(self.clean, self.faces, train, test)
                | {"cpu_seconds": time.process_time() - began},
            )
        return self.cells[name]

    def store(self, name: str, cell: Cell) -> None:
        """Keep a cell, on disk too."""
        self.cells[name] = rounded(cell)
        faces = self.faces
        told = {
            "faces": {"train": len(faces.train), "test": len(faces.test), "rest": len(faces.rest)},
            "smiling": {"train": int(faces.smile[faces.train].sum()), "test": int(faces.smile[faces.test].sum())},
            "turned": {"train": int(faces.turned[faces.train].sum()), "test": int(faces.turned[faces.test].sum())},
            "cells": self.cells,
        }
        unfinished = self.path.with_suffix(".tmp")
        unfinished.write_text(json.dumps(told, indent=1) + "\n", encoding="utf-8")
        unfinished.replace(self.path)
        print(name, self.cells[name], flush=True)

    def noised(self, train: Flags, test: Flags, scale: float = SCALE) -> Released:
        """Noise on pixels of both parts."""
        faces = self.faces
        return (
            noised(faces, faces.train, train, scale, 11),
            noised(faces, faces.test, test, scale, 12),
            float(test.mean()),
        )


def main() -> None:
    """Do what is missing, then write the page."""
    run = Run(HERE / "results.json")
    faces = run.faces
    as_they_are = faces.pixels[faces.train], faces.pixels[faces.test], 0.0
    run.cell("clean", lambda: as_they_are)
    lower = np.arange(64 * 64) >= 64 * 32
    rows = [np.tile(lower, (len(part), 1)) for part in (faces.train, faces.test)]
    run.cell("lower half", lambda: run.noised(rows[0], rows[1]))
    run.cell("lower half, averaged", lambda: _averaged(run, rows[0], rows[1]))
    for size in SIZES:
        of_size(run, size)
    for split in SPLITS:
        other_split(run, split)
    draw(HERE, run.cells, faces)
    told = json.loads((HERE / "results.json").read_text(encoding="utf-8"))
    fill(HERE / "README.md", blocks(told))


def other_split(run: Run, split: int) -> None:
    """The two sizes that met the target, with other faces to learn from and to test on."""
    if all(key(f"split {split}", size) in run.cells for size in REPEATED):
        return
    faces = read_faces(random_state=split)
    clean = Adversaries(faces.pixels[faces.train], faces.smile[faces.train], faces.turned[faces.train])
    answers = faces.smile[faces.test], faces.turned[faces.test]
    as_they_are = clean.judge(faces.pixels[faces.test], *answers)
    told = {"smiling_of_test": int(answers[0].sum()), "unchanged": as_they_are}
    for size in REPEATED:
        mask = Density(faces, size, random_state=split).mask(EPSILONS[0])
        touched = mask[patches(*SHAPE, size)]
        train, test = (
            noised(faces, part, np.tile(touched, (len(part), 1)), SCALE, seed)
            for part, seed in ((faces.train, 11), (faces.test, 12))
        )
        share = {"touched": float(touched.mean())}
        run.store(key(f"split {split}", size), told | share | judged(clean, faces, train, test))


def of_size(run: Run, size: int) -> None:
    """All cells of one patch size; the density is learned only if one is missing."""
    learned: list[Density] = []

    def density() -> Density:
        if not learned:
            learned.append(Density(run.faces, size, random_state=RANDOM_STATE))
        return learned[0]

    if key("density", size) not in run.cells:
        began = time.process_time()
        found = density()
        heat = found.heat(run.faces.test)
        run.store(
            key("density", size),
            {
                "smile": found.right(),
                "heat": np.round(heat, 5).tolist(),
                "cpu_seconds": time.process_time() - began,
            },
        )
    for epsilon in EPSILONS:
        _per_face(run, density, size, epsilon)
    _for_all(run, density, size, EPSILONS[0])
    _instead(run, density, size, EPSILONS[0])
    if size == SHOWN:
        _otherwise(run, density, EPSILONS[0])


def _per_face(run: Run, density: Callable[[], Density], size: int, epsilon: float) -> None:
    """Patches flagged in each face: given what was released, and, as in the paper, given what was not."""
    faces = run.faces

    def flagged() -> Released:
        found = density()
        train, test = (found.flags(part, epsilon, training=part is faces.train) for part in (faces.train, faces.test))
        return run.noised(train[:, found.groups], test[:, found.groups])

    run.cell(key("released", size, epsilon), flagged)
    if key("paper", size, epsilon) not in run.cells:
        found = density()
        touched = found.flags_of_the_paper(faces.test, epsilon, training=False)[:, found.groups]
        seen = noised(faces, faces.test, touched, SCALE, 12)
        found_out = run.clean.judge(seen, faces.smile[faces.test], faces.turned[faces.test])
        run.store(key("paper", size, epsilon), {"touched": float(touched.mean()), "clean": found_out})


def _for_all(run: Run, density: Callable[[], Density], size: int, epsilon: float) -> None:
    """The same patches of every face, and what might have been done to them instead."""
    faces = run.faces
    if key("mask", size) not in run.cells:
        run.store(key("mask", size), {"mask": density().mask(epsilon).tolist()})
    mask = np.array(run.cells[key("mask", size)]["mask"])

    def pixels(chosen: Flags) -> tuple[Flags, Flags]:
        touched = chosen[patches(*SHAPE, size)]
        return np.tile(touched, (len(faces.train), 1)), np.tile(touched, (len(faces.test), 1))

    done = run.cell(key("for all", size, epsilon), lambda: run.noised(*pixels(mask)))
    if 0 < mask.sum() < len(mask):
        if key("draws", size, epsilon) not in run.cells:
            answers, touched = (faces.smile[faces.test], faces.turned[faces.test]), pixels(mask)[1]
            seen = (noised(faces, faces.test, touched, SCALE, 100 + draw) for draw in range(DRAWS))
            run.store(key("draws", size, epsilon), {"smile": [run.clean.judge(s, *answers)["smile"] for s in seen]})
        run.cell(key("for all, averaged", size, epsilon), lambda: _averaged(run, *pixels(mask)))
        anywhere = shuffled(mask[None], size)[0]
        run.cell(key("for all, random", size, epsilon), lambda: run.noised(*pixels(anywhere)))
        run.cell(key("for all, everywhere", size, epsilon), lambda: _everywhere(run, done["mean_square"]))


def _instead(run: Run, density: Callable[[], Density], size: int, epsilon: float) -> None:
    """Baselines of the patches flagged in each face: as many anywhere, and noise everywhere."""
    faces = run.faces

    def anywhere() -> Released:
        found = density()
        flags = (found.flags(part, epsilon, training=part is faces.train) for part in (faces.train, faces.test))
        train, test = (shuffled(each, seed) for seed, each in enumerate(flags))
        return run.noised(train[:, found.groups], test[:, found.groups])

    run.cell(key("released, random", size, epsilon), anywhere)
    wanted = run.cells[key("released", size, epsilon)]["mean_square"]
    run.cell(key("released, everywhere", size, epsilon), lambda: _everywhere(run, wanted))


def _otherwise(run: Run, density: Callable[[], Density], epsilon: float) -> None:
    """Other ways to flag and to noise, at one patch size."""
    faces = run.faces

    def flagged(order: str, scale: float) -> Released:
        found = density()
        train, test = (
            found.flags(part, epsilon, training=part is faces.train, order=order) for part in (faces.train, faces.test)
        )
        return run.noised(train[:, found.groups], test[:, found.groups], scale)

    def shipped() -> Released:
        obfuscator = FeatureObfuscator(
            density().estimator, epsilon=epsilon, scale=SCALE, order="leak", random_state=RANDOM_STATE
        ).fit(faces.matrix(faces.train), faces.smile[faces.train])
        train, test = (obfuscator.obfuscate(faces.matrix(part)) for part in (faces.train, faces.test))
        shapes = (len(faces.train), *SHAPE), (len(faces.test), *SHAPE)
        return pixels_of(train.values, shapes[0]), pixels_of(test.values, shapes[1]), test.touched

    run.cell(key("released, leak order", SHOWN, epsilon), lambda: flagged("leak", SCALE))
    run.cell(key("released, scale of the diameter", SHOWN, epsilon), lambda: flagged("given", float(SHOWN)))
    run.cell(key("FeatureObfuscator", SHOWN, epsilon), shipped)


def _everywhere(run: Run, wanted: float) -> Released:
    faces = run.faces
    if wanted == 0:
        return faces.pixels[faces.train], faces.pixels[faces.test], 0.0
    train, test = (np.ones((len(part), SHAPE[0] * SHAPE[1]), dtype=bool) for part in (faces.train, faces.test))
    return run.noised(train, test, noise_everywhere(faces, wanted))


def _averaged(run: Run, train: Flags, test: Flags) -> Released:
    faces = run.faces
    return averaged(faces, faces.train, train), averaged(faces, faces.test, test), float(test.mean())


if __name__ == "__main__":
    try:
        main()
    except TacitError as problem:
        # No data: the message says where they belong.
        print(problem, file=sys.stderr)
        raise SystemExit(3) from None
