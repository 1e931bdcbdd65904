"""The tide paper done again: the cheap parts of its experiments."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from experiments.__main__ import HERE
from experiments.paper import load
from experiments.tide.adversary import features, interval, mirrored
from experiments.tide.data import made_posts, read_faces, read_tweets
from experiments.tide.face_tables import guess
from experiments.tide.faces import EPSILONS, SIZES, faces, key
from experiments.tide.gaussian import GRID, MILD, PAIRS, POPULATIONS, lifts, noise, one_feature, two_features
from experiments.tide.masking import Corpus, curve
from tacit.errors import SourceError
from tacit.learn import TermLogLift
from tacit.lenses.text.posts import bags_of

Told = dict[str, Any]


@pytest.fixture(scope="module")
def told() -> Told:
    return dict(load(HERE / "tide" / "results.json")["faces"])


def test_every_cell_of_the_table_of_faces_is_there_and_possible(told: Told) -> None:
    n, smiling = told["faces"]["test"], told["smiling"]["test"]
    assert (told["faces"]["train"], n) == (2_400, 600)
    for size in SIZES:
        assert len(told["cells"][key("mask", size)]["mask"]) == (64 // size) ** 2
        for epsilon in EPSILONS:
            cell = told["cells"][key("released", size, epsilon)]
            assert 0 <= cell["touched"] <= 1
            for who in ("clean", "retrained"):
                assert cell[who]["smiling"] <= min(smiling, cell[who]["smile"])
                assert cell[who]["smile"] - cell[who]["smiling"] <= n - smiling
    assert told["cells"]["clean"]["clean"]["smile"] >= 0.88 * n


def test_cells_that_are_there_are_not_made_again(told: Told, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TACIT_DATA", str(tmp_path))
    stored: list[Any] = []
    assert faces(told, stored.append, stored.append) == told
    assert stored == []
    fewer = told | {"cells": {name: cell for name, cell in told["cells"].items() if name != "lower half"}}
    with pytest.raises(SourceError, match="set TACIT_DATA"):
        faces(fewer, stored.append, stored.append)


def test_intervals_are_exact_and_guessing_is_the_commoner_answer() -> None:
    low, high = interval(0, 10)
    assert (low, high) == (0, pytest.approx(1 - 0.025**0.1))
    told = {"faces": {"train": 10, "test": 10}, "smiling": {"train": 6, "test": 4}}
    assert guess(told) == 40


def test_features_of_mirrored_faces_are_mirrored_features() -> None:
    seen = np.random.default_rng(0).integers(0, 256, size=(3, 64, 64), dtype=np.uint8)
    for ours, theirs in zip(mirrored(*features(seen)), features(seen[:, :, ::-1]), strict=True):
        np.testing.assert_allclose(ours, theirs, atol=1e-5)


@pytest.mark.parametrize("read", [read_faces, read_tweets])
def test_missing_data_are_told_with_the_way_out(read: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TACIT_DATA", str(tmp_path))
    with pytest.raises(SourceError, match="set TACIT_DATA"):
        read()


def test_masking_telling_words_hides_and_masking_others_does_not() -> None:
    posts = made_posts()
    bags = bags_of(posts["text"], min_count=2).presence
    codes = np.array(["DR".index(p) for p in posts["party"]])
    train, chamber = np.arange(600) < 420, np.arange(600) % 2
    clean = TermLogLift(strength=3.0).fit(bags[train], codes[train])
    found = curve(Corpus(bags, codes, chamber, train), clean, (0, 2), 0)
    by = {(row.ranking, row.terms): row.clean.right for row in found}
    assert by["chi-squared", 2] < 0.65 < by["chi-squared", 0]
    assert by["conditional density, summed over posts", 2] < 0.65 < by["random, as frequent", 2]


@pytest.mark.parametrize("population", [*POPULATIONS.values(), *PAIRS.values(), MILD], ids=lambda each: each.words)
def test_gaussian_records_are_distributions_and_lifts_average_to_one(population: Any) -> None:
    given, prior = population.given, np.array(population.prior)
    assert given.sum(axis=(1, 2)) == pytest.approx(np.ones(len(prior)))
    overall = np.tensordot(prior, given, 1)
    assert np.allclose(np.tensordot(prior, np.exp(lifts(given, prior)), 1)[overall > 0], 1)


def test_noise_is_a_channel_with_the_right_spread() -> None:
    channel = noise(0.5)
    assert channel.sum(axis=1) == pytest.approx(np.ones(len(GRID)))
    beyond = (channel.shape[1] - len(GRID)) // 2
    outputs = (np.arange(channel.shape[1]) - beyond) * (GRID[1] - GRID[0]) - 1
    assert channel @ outputs == pytest.approx(GRID, abs=1e-6)
    assert np.sqrt(channel[40] @ outputs**2) == pytest.approx(0.5, abs=1e-3)


def test_the_exact_release_keeps_the_repaired_bound_and_the_counterexamples_stand() -> None:
    for population in POPULATIONS.values():
        row = one_feature(population, 1.0)
        assert row["attained"] <= row["told"] + 1e-12 <= row["repaired"] + 1e-9
    assert (
        one_feature(POPULATIONS["far apart"], 1.0)["attained"] > one_feature(POPULATIONS["far apart"], 1.0)["printed"]
    )
    assert one_feature(POPULATIONS["wide"], 5.0)["told"] > 0.15 > one_feature(POPULATIONS["wide"], 5.0)["printed"]
    copy = two_features(PAIRS["a copy"], 2.5, raw_prefix=True)
    assert copy["attained"] == pytest.approx(copy["raw"])
    assert copy["attained"] > copy["printed"]
    mended = two_features(PAIRS["a copy"], 2.5, raw_prefix=False)
    assert mended["attained"] < 0.01 < mended["repaired"]
