"""Table 1 on GENKI-4K: patches that give a smile away, obfuscated, and who still guesses.

About fifteen CPU-minutes. Every cell is stored when it is done, and a stored cell is not computed again.
"""

from __future__ import annotations

import base64
import time
from collections.abc import Callable
from functools import cached_property
from typing import Any

import numpy as np

from experiments.paper import Say
from experiments.tide.adversary import Adversaries, judged
from experiments.tide.data import Faces, Pixels, read_faces
from experiments.tide.patches import SHAPE, Density, Flags, averaged, mean_square, noise_everywhere, noised, shuffled
from tacit.learn import FeatureObfuscator
from tacit.lenses.images.images import patches, pixels_of

SIZES = (32, 16, 8, 4, 2)
EPSILONS = (0.5, 0.6, 0.7, 0.8)
# The epsilon for everything beyond the paper, and the size at which other ways to flag and to noise are tried.
EPSILON, SHOWN = EPSILONS[0], 8
RANDOM_STATE = 0
# The paper's lambda, in units of the range of a pixel.
SCALE = 1.0
# Further draws of noise, to know how much one draw matters.
DRAWS = 10
# Other ways to deal out the faces, and the sizes tried again on them.
SPLITS, REPEATED = (1, 2), (8, 4)
Cell = dict[str, Any]
Released = tuple[Pixels, Pixels, float]


def key(what: str, size: int, epsilon: float | None = None) -> str:
    """The name of a cell."""
    return f"{what}, {size}x{size}" + ("" if epsilon is None else f", {epsilon}")


def faces(kept: Cell, keep: Callable[[Cell], None], say: Say) -> Cell:
    """The stored cells and whatever is missing; ``keep`` stores after every new cell."""
    run = Run(kept, keep, say)
    run.cell("clean", lambda: (run.part("train"), run.part("test"), 0.0))
    lower = np.arange(64 * 64) >= 64 * 32
    run.cell("lower half", lambda: run.noised(*run.everywhere(lower)))
    run.cell("lower half, averaged", lambda: run.averaged(*run.everywhere(lower)))
    for size in SIZES:
        OfSize(run, size).make()
    for split in SPLITS:
        for size in REPEATED:
            run.other(key(f"split {split}", size), lambda split=split, size=size: on_split(split, size))
    return run.told


class Run:
    """Cells, each computed once and stored at once; faces are read, and the adversary trained, only if one is not."""

    def __init__(self, kept: Cell, keep: Callable[[Cell], None], say: Say) -> None:
        self.told: Cell = dict(kept) if kept else {"cells": {}}
        self.cells: dict[str, Cell] = self.told["cells"]
        self.keep, self.say = keep, say

    @cached_property
    def faces(self) -> Faces:
        """The faces as dealt out, with their number and their average."""
        found = read_faces(random_state=RANDOM_STATE)
        parts = {"train": found.train, "test": found.test}
        self.told |= {
            "faces": {name: len(rows) for name, rows in (parts | {"rest": found.rest}).items()},
            "smiling": {name: int(found.smile[rows].sum()) for name, rows in parts.items()},
            "turned": {name: int(found.turned[rows].sum()) for name, rows in parts.items()},
            "average": base64.b64encode(pixels_of(found.matrix(found.train).mean(axis=0), SHAPE).tobytes()).decode(),
        }
        return found

    @cached_property
    def clean(self) -> Adversaries:
        """The adversary who knows clean faces."""
        return adversaries(self.faces)

    def part(self, name: str) -> Pixels:
        """The original training or test faces."""
        return np.asarray(self.faces.pixels[getattr(self.faces, name)])

    def other(self, name: str, made: Callable[[], Cell]) -> Cell:
        """The stored cell, or a new one, stored, with its CPU-seconds."""
        if name not in self.cells:
            began = time.process_time()
            self.cells[name] = made() | {"cpu_seconds": time.process_time() - began}
            self.told["made"] = time.strftime("%Y-%m-%d")
            self.keep(self.told)
            self.say(f"faces: {name}")
        return self.cells[name]

    def cell(self, name: str, made: Callable[[], Released]) -> Cell:
        """The same for a release: training and test faces as released, and the share of pixels touched."""

        def found() -> Cell:
            train, test, touched = made()
            shares = {"touched": touched, "mean_square": mean_square(self.faces, train)}
            return shares | judged(self.clean, self.faces, train, test)

        return self.other(name, found)

    def judge(self, seen: Pixels) -> Cell:
        """What the adversary who knows clean faces guesses about test faces."""
        return self.clean.judge(seen, self.faces.smile[self.faces.test], self.faces.turned[self.faces.test])

    def everywhere(self, touched: Flags) -> tuple[Flags, Flags]:
        """The same pixels of every face."""
        return np.tile(touched, (len(self.faces.train), 1)), np.tile(touched, (len(self.faces.test), 1))

    def noised(self, train: Flags, test: Flags, scale: float = SCALE) -> Released:
        """Noise on pixels of both parts."""
        parts = ((self.faces.train, train, 11), (self.faces.test, test, 12))
        seen = [noised(self.faces, rows, touched, scale, seed) for rows, touched, seed in parts]
        return seen[0], seen[1], float(test.mean())

    def averaged(self, train: Flags, test: Flags) -> Released:
        """The average face instead."""
        parts = ((self.faces.train, train), (self.faces.test, test))
        seen = [averaged(self.faces, rows, touched) for rows, touched in parts]
        return seen[0], seen[1], float(test.mean())

    def noised_everywhere(self, wanted: float) -> Released:
        """Noise on all pixels with this mean square after clipping."""
        if wanted == 0:
            return self.part("train"), self.part("test"), 0.0
        return self.noised(*self.everywhere(np.ones(64 * 64, dtype=bool)), noise_everywhere(self.faces, wanted))


class OfSize:
    """All cells of one patch size; the density is learned only if one is missing."""

    def __init__(self, run: Run, size: int) -> None:
        self.run, self.size = run, size

    @cached_property
    def density(self) -> Density:
        """What patches say."""
        return Density(self.run.faces, self.size, random_state=RANDOM_STATE)

    def flags(self, epsilon: float, order: str = "given") -> list[Flags]:
        """Patches flagged in each training and each test face, given what was released."""
        given = self.run.faces
        return [
            self.density.flags(rows, epsilon, training=rows is given.train, order=order)
            for rows in (given.train, given.test)
        ]

    def pixels(self, flags: list[Flags]) -> tuple[Flags, Flags]:
        """Pixels of flagged patches."""
        return flags[0][:, self.density.groups], flags[1][:, self.density.groups]

    def make(self) -> None:
        """Every cell, in the order of the paper and beyond."""
        run, size = self.run, self.size
        run.other(key("density", size), self._heat)
        for epsilon in EPSILONS:
            self.printed(epsilon)
        self._for_all()
        run.cell(
            key("released, random", size, EPSILON),
            lambda: run.noised(*self.pixels([shuffled(each, at) for at, each in enumerate(self.flags(EPSILON))])),
        )
        wanted = run.cells[key("released", size, EPSILON)]["mean_square"]
        run.cell(key("released, everywhere", size, EPSILON), lambda: run.noised_everywhere(wanted))
        if size == SHOWN:
            self._otherwise()

    def printed(self, epsilon: float) -> None:
        """A cell of Table 1: given what was released, and by the rule as printed."""
        self.run.cell(key("released", self.size, epsilon), lambda: self.run.noised(*self.pixels(self.flags(epsilon))))
        self.run.other(key("paper", self.size, epsilon), lambda: self._by_the_paper(epsilon))

    def _heat(self) -> Cell:
        return {"smile": self.density.right(), "heat": np.round(self.density.heat(self.run.faces.test), 5).tolist()}

    def _by_the_paper(self, epsilon: float) -> Cell:
        """The rule as printed, given raw patches before, released or not."""
        given = self.run.faces
        touched = self.density.flags_of_the_paper(given.test, epsilon, training=False)[:, self.density.groups]
        return {
            "touched": float(touched.mean()),
            "clean": self.run.judge(noised(given, given.test, touched, SCALE, 12)),
        }

    def _for_all(self) -> None:
        """The same patches of every face, and what might have been done to them instead."""
        run, size = self.run, self.size
        mask = np.array(run.other(key("mask", size), lambda: {"mask": self.density.mask(EPSILON).tolist()})["mask"])
        touched = mask[patches(*SHAPE, size)]
        done = run.cell(key("for all", size, EPSILON), lambda: run.noised(*run.everywhere(touched)))
        if not 0 < mask.sum() < len(mask):
            return

        def draws() -> Cell:
            rows, pixels = run.faces.test, run.everywhere(touched)[1]
            seen = (noised(run.faces, rows, pixels, SCALE, 100 + draw) for draw in range(DRAWS))
            return {"smile": [run.judge(each)["smile"] for each in seen]}

        run.other(key("draws", size, EPSILON), draws)
        run.cell(key("for all, averaged", size, EPSILON), lambda: run.averaged(*run.everywhere(touched)))
        anywhere = shuffled(mask[None], size)[0][patches(*SHAPE, size)]
        run.cell(key("for all, random", size, EPSILON), lambda: run.noised(*run.everywhere(anywhere)))
        run.cell(key("for all, everywhere", size, EPSILON), lambda: run.noised_everywhere(done["mean_square"]))

    def _otherwise(self) -> None:
        """Other ways to flag and to noise, at one patch size."""
        run = self.run
        run.cell(
            key("released, leak order", SHOWN, EPSILON), lambda: run.noised(*self.pixels(self.flags(EPSILON, "leak")))
        )
        run.cell(
            key("released, scale of the diameter", SHOWN, EPSILON),
            lambda: run.noised(*self.pixels(self.flags(EPSILON)), float(SHOWN)),
        )
        run.cell(key("FeatureObfuscator", SHOWN, EPSILON), self._shipped)

    def _shipped(self) -> Released:
        given = self.run.faces
        obfuscator = FeatureObfuscator(
            self.density.estimator, epsilon=EPSILON, scale=SCALE, order="leak", random_state=RANDOM_STATE
        ).fit(given.matrix(given.train), secret=given.smile[given.train])
        found = [obfuscator.obfuscate(given.matrix(rows)) for rows in (given.train, given.test)]
        train, test = (pixels_of(each.values, (len(each.values), *SHAPE)) for each in found)
        return train, test, found[1].touched


def adversaries(given: Faces) -> Adversaries:
    """The adversary trained on the original training faces."""
    return Adversaries(given.pixels[given.train], given.smile[given.train], given.turned[given.train])


def on_split(split: int, size: int) -> Cell:
    """The same patches of all faces, with other faces to learn from and to test on."""
    given = read_faces(random_state=split)
    clean = adversaries(given)
    answers = given.smile[given.test], given.turned[given.test]
    touched = Density(given, size, random_state=split).mask(EPSILON)[patches(*SHAPE, size)]
    train, test = (
        noised(given, rows, np.tile(touched, (len(rows), 1)), SCALE, seed)
        for rows, seed in ((given.train, 11), (given.test, 12))
    )
    told = {
        "smiling_of_test": int(answers[0].sum()),
        "unchanged": clean.judge(given.pixels[given.test], *answers),
        "touched": float(touched.mean()),
    }
    return told | judged(clean, given, train, test)
