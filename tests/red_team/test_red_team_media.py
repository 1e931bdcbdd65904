"""What a hostile reading of images and posts found: false words, releases that were tampered with, bad input."""

from __future__ import annotations

import csv
import hashlib
import json
import shutil
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from papers import write_paper
from tacit import protect, report, verify
from tacit.cli import main
from tacit.errors import DataError, SourceError
from tacit.lenses.images.claims import patch_delta
from tacit.lenses.images.images import open_images, write_images
from tacit.lenses.text.masking import Masking, differences
from tacit.lenses.text.protect import order_tells
from tacit.lift import obfuscation_floor
from tacit.release import (
    assumptions_in_words,
    certificate_from,
    claim_in_words,
    encoded,
    files_sha256,
    read_certificate,
)
from tacit.release.published import coarse_floor

pytestmark = pytest.mark.usefixtures("brief_network")
# Without the room of reports a release has no page, and verify says so.
assert report.write_report


def dark(n: int = 60) -> tuple[np.ndarray, np.ndarray]:
    """Dark images, of which a few have bright spots that no other has; one patch tells the label."""
    rng = np.random.default_rng(3)
    label = np.arange(n) % 2
    pixels = np.full((n, 8, 8), 20, np.uint8)
    pixels[rng.random(pixels.shape) < 0.01] = 250
    pixels[label == 1, :4, :4] = 60
    pixels[:, 7, 7] = np.arange(n)
    return pixels, label


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """An npz, and a release of it."""
    place = tmp_path_factory.mktemp("faces")
    pixels, label = dark()
    np.savez(place / "faces.npz", x=pixels, smile=label, glasses=np.arange(len(label)) % 3)
    protect(
        place / "faces.npz", secret="smile", epsilon=0.1, patch=4, scale=0.02, out=place / "release",
        keep_label=["glasses"], random_state=0,
    )  # fmt: skip
    return place


@pytest.fixture
def images(made: Path, tmp_path: Path) -> Path:
    """The same, to be tampered with."""
    return Path(shutil.copytree(made, tmp_path, dirs_exist_ok=True))


def rewrite(place: Path, change: Callable[[dict[str, Any], dict[str, np.ndarray]], None]) -> None:
    """Change certificate and images of a release, and make the fingerprint fit again."""
    release = place / "release"
    paper = json.loads((release / "certificate.json").read_text())
    with np.load(release / "images.npz") as archive:
        arrays = dict(archive)
    change(paper, arrays)
    np.savez_compressed(release / "images.npz", **arrays)
    paper["output"]["sha256"] = files_sha256(release, "images.npz")
    write_paper(release / "certificate.json", paper)


def failed(place: Path) -> list[str]:
    """The lines that did not pass, but for what adversaries read (so little noise hides nothing) and the packing."""
    checks = verify(place / "release", against=place / "faces.npz").checks
    known = ("no family reads the secret", "files are written plainly")
    return [check.name for check in checks if not check.passed and check.name not in known]


# ---- images -------------------------------------------------------------------------------------------------------


@pytest.mark.long
def test_pixels_unlike_those_learned_from_get_noise_alone(images: Path) -> None:
    # They were brought into the range of the others first: neither claim nor verify knew.
    # So little noise hides nothing, and that alone is wrong with the release.
    assert failed(images) == []
    assert (
        "although what is stated about it is true" in verify(images / "release", against=images / "faces.npz").headline
    )


@pytest.mark.long
def test_a_delta_that_does_not_follow_from_the_flags_is_found(images: Path) -> None:
    def change(paper: dict[str, Any], arrays: dict[str, np.ndarray]) -> None:
        paper["delta"].update(largest=0.001, largest_vacuous=False, floor=0.0)
        paper["assumptions"] = list(assumptions_in_words(certificate_from(paper)))

    rewrite(images, change)
    assert failed(images) == ["bound"]


def test_a_noised_patch_that_was_put_back_is_found(images: Path) -> None:
    names = {int(row["released"]): int(row["original"]) for row in _rows(images / "release/private/names.csv")}
    with np.load(images / "release/private/flags.npz") as archive:
        at = int(np.flatnonzero(archive["flags"][:, 0])[0])

    def change(paper: dict[str, Any], arrays: dict[str, np.ndarray]) -> None:
        arrays["x"][at, :4, :4] = dark()[0][names[at], :4, :4]

    rewrite(images, change)
    assert "every flagged patch was noised" in failed(images)


def test_other_labels_in_the_release_are_found(images: Path) -> None:
    rewrite(images, lambda paper, arrays: arrays.update(hidden=np.arange(60)))
    assert failed(images) == ["no other labels"]
    rewrite(images, lambda paper, arrays: arrays.pop("hidden") is None)
    rewrite(images, lambda paper, arrays: arrays.update(glasses=arrays["glasses"][::-1]))
    assert failed(images) == ["kept labels"]


@pytest.mark.parametrize("gone", ["certified_epsilon", "lossy", "output.sha256", "delta.floor"])
def test_a_certificate_with_a_part_missing_is_called_damaged(images: Path, gone: str) -> None:
    path = images / "release" / "certificate.json"
    paper = json.loads(path.read_text())
    *above, last = gone.split(".")
    del (paper[above[0]] if above else paper)[last]
    write_paper(path, paper)
    with pytest.raises(SourceError, match="damaged"):
        verify(images / "release")


def test_that_noise_rules_a_label_out_is_in_the_floor() -> None:
    # One label in ten is never noised: noise tells the others by little, and rules that one out.
    codes = np.array([0] * 10 + [1] * 90)
    flags = (codes == 1)[:, None]
    found = patch_delta(flags, codes, epsilon=0.5, scale=1.0, columns=4)
    assert found.floor == pytest.approx(0.9)
    assert obfuscation_floor(1.0, np.log(1 / 0.9), 0.5) == 0


def test_a_floor_is_never_rounded_up() -> None:
    rng = np.random.default_rng(0)
    for value in [*np.exp(rng.uniform(-12, 6, 500)), 0.1, 0.29, 0.9, 1.0, 99.9]:
        assert 0.89 * value < coarse_floor(float(value)) <= value


def test_an_array_may_be_called_file(tmp_path: Path) -> None:
    pixels, label = dark(12)
    np.savez(tmp_path / "faces.npz", x=pixels, smile=label)
    lines = ["file,z", *(f"face{k}.png,{k % 2}" for k in range(12))]
    (tmp_path / "labels.csv").write_text("\n".join(lines) + "\n")
    images = open_images(tmp_path / "faces.npz", labels=tmp_path / "labels.csv")
    (tmp_path / "out").mkdir()
    with np.load(write_images(images, tmp_path / "out", keep=["file"])) as archive:
        assert sorted(archive.files) == ["file", "x"]
        assert archive["file"][3] == "face3.png"


def test_images_without_pixels_are_refused(tmp_path: Path) -> None:
    np.savez(tmp_path / "faces.npz", x=np.zeros((20, 0, 0), np.uint8), smile=np.arange(20) % 2)
    with pytest.raises(DataError, match="holds no images"):
        open_images(tmp_path / "faces.npz")


@pytest.mark.parametrize("epsilon", ["nan", "-1"])
def test_audit_of_images_refuses_an_epsilon_that_is_none(
    epsilon: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    np.savez(tmp_path / "faces.npz", x=dark()[0], smile=dark()[1])
    words = ["tacit", "audit", str(tmp_path / "faces.npz"), "--secret", "smile", "--epsilon", epsilon, "-q"]
    monkeypatch.setattr(sys, "argv", words)
    with pytest.raises(SystemExit) as stop:
        main()
    assert stop.value.code == 2
    assert "cannot be used: it must be" in capsys.readouterr().err


# ---- posts --------------------------------------------------------------------------------------------------------


def _rows(path: Path) -> list[dict[str, str]]:
    with path.open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))


@pytest.fixture
def posts(tmp_path: Path) -> Path:
    """A CSV of posts sorted by party, and a release of it."""
    rng = np.random.default_rng(0)
    said = {"R": ["tax", "border", "gun"], "D": ["health", "climate", "union"]}
    common = ["the", "we", "today", "with", "great", "people", "support", "bill", "house", "vote"]
    with (tmp_path / "posts.csv").open("w", encoding="utf-8", newline="") as file:
        writer = csv.writer(file)
        writer.writerow(["text", "party"])
        for party, own in said.items():
            for _ in range(60):
                words = [*rng.choice(common, 6), *rng.choice(own, 2)]
                writer.writerow([" ".join(rng.permutation(words)), party])
    return tmp_path


def test_the_order_of_the_posts_is_named_and_one_that_tells_is_warned_of(posts: Path) -> None:
    made = protect(
        posts / "posts.csv",
        text="text",
        secret="party",
        mechanism="mask",
        epsilon=0.5,
        out=posts / "release",
        random_state=0,
        keep_order=True,
    )
    assert any("order of the original" in line for line in made.certificate.assumptions)
    assert any("which was kept, reveals it" in note for note in made.notes)


def test_neighbours_tell_or_do_not() -> None:
    codes = np.repeat([0, 1], 60)
    assert order_tells(codes)
    assert order_tells(np.tile([0, 1], 60))
    assert not any(order_tells(np.random.default_rng(seed).permutation(codes)) for seed in range(20))


@pytest.mark.long
def test_a_text_certificate_with_other_words_or_another_prior_is_broken(posts: Path) -> None:
    from dataclasses import replace

    protect(posts / "posts.csv", text="text", secret="party", mechanism="mask", epsilon=0.5, out=posts / "release")
    assert verify(posts / "release", against=posts / "posts.csv").verdict == "holds"
    told = read_certificate(posts / "release")
    prior = replace(told, prior_right=0.9, prior_interval=(0.85, 0.95))
    prior = replace(prior, claim=claim_in_words(prior))
    assert assumptions_in_words(prior) == prior.assumptions
    for damaged in (prior, replace(told, assumptions=told.assumptions[1:])):
        write_paper(posts / "release" / "certificate.json", encoded(damaged))
        assert verify(posts / "release", against=posts / "posts.csv").verdict == "broken"


def test_a_word_masked_in_one_place_and_shown_in_another_counts_as_shown() -> None:
    found = differences(["tax the tax"], ["▇ the tax"], Masking())
    assert found.shown == (["the", "tax"],)
    assert found.words_masked == 1


def test_a_folder_among_the_released_images_changes_their_fingerprint(tmp_path: Path) -> None:
    (tmp_path / "images").mkdir()
    (tmp_path / "images" / "1.png").write_bytes(b"x")
    before = files_sha256(tmp_path, "images")
    assert before == hashlib.sha256(f"1.png\0{hashlib.sha256(b'x').hexdigest()}\n".encode()).hexdigest()
    (tmp_path / "images" / "secret").mkdir()
    assert files_sha256(tmp_path, "images") != before
