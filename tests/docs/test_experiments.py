"""The cheap parts of the experiment on faces: the page, the features."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from places import ROOT
from tacit.errors import SourceError

# An experiment is a script with modules beside it, not a package.
sys.path += [str(ROOT / "experiments" / name) for name in (".", "genki")]
from genki_adversary import features, interval, mirrored
from genki_faces import read_faces
from genki_pages import EPSILONS, SIZES, blocks, guess, key

GENKI = ROOT / "experiments" / "genki"
Told = dict[str, Any]


@pytest.fixture(scope="module")
def genki() -> Told:
    return json.loads((GENKI / "results.json").read_text(encoding="utf-8"))


def test_the_page_about_faces_says_what_the_results_say(genki: Told) -> None:
    page = (GENKI / "README.md").read_text(encoding="utf-8")
    for name, block in blocks(genki).items():
        assert f"<!-- {name}: written by run.py -->\n\n{block}\n\n<!-- end of {name} -->" in page
    for picture in ("heat.png", "released.png"):
        assert picture in page
        assert (GENKI / picture).read_bytes().startswith(b"\x89PNG")


def test_every_cell_of_the_table_of_faces_is_there_and_possible(genki: Told) -> None:
    n, smiling = genki["faces"]["test"], genki["smiling"]["test"]
    assert (genki["faces"]["train"], n) == (2_400, 600)
    for size in SIZES:
        assert len(genki["cells"][key("mask", size)]["mask"]) == (64 // size) ** 2
        for epsilon in EPSILONS:
            cell = genki["cells"][key("released", size, epsilon)]
            assert 0 <= cell["touched"] <= 1
            for who in ("clean", "retrained"):
                assert cell[who]["smiling"] <= min(smiling, cell[who]["smile"])
                assert cell[who]["smile"] - cell[who]["smiling"] <= n - smiling
    assert genki["cells"]["clean"]["clean"]["smile"] >= 0.88 * n


def test_intervals_are_exact_and_guessing_is_the_commoner_answer() -> None:
    low, high = interval(0, 10)
    assert (low, high) == (0, pytest.approx(1 - 0.025**0.1))
    told = {"faces": {"train": 10, "test": 10}, "smiling": {"train": 6, "test": 4}}
    assert guess(told) == 40


def test_features_of_mirrored_faces_are_mirrored_features() -> None:
    faces = np.random.default_rng(0).integers(0, 256, size=(3, 64, 64), dtype=np.uint8)
    for ours, theirs in zip(mirrored(*features(faces)), features(faces[:, :, ::-1]), strict=True):
        np.testing.assert_allclose(ours, theirs, atol=1e-5)


def test_missing_faces_are_told_with_the_way_out(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TACIT_DATA", str(tmp_path))
    with pytest.raises(SourceError, match="set TACIT_DATA"):
        read_faces()
