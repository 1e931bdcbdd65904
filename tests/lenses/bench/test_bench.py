"""The adversary bench: every family finds what is planted for it, and what it reads or finds untouched is red."""

from __future__ import annotations

import shutil
from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pyarrow as pa
import pyarrow.csv
import pytest

import tacit
from tacit import BenchResult, report
from tacit.errors import ArgumentError, SourceError
from tacit.lenses.adversaries import fano_bound, fano_note
from tacit.lenses.bench.families import NEIGHBOURS
from tacit.lenses.bench.trying import BenchRecords, TriedFamily, benched, folds_of
from tacit.lenses.images.families import ReadImages, image_families
from tacit.lenses.text.families import ReadPosts, text_families

N = 240
WORDS = [f"word{k}" for k in range(20)]


def secrets(rng: np.random.Generator) -> np.ndarray:
    return rng.permutation(np.arange(N) % 2)


def scores(families, before, after, secret: np.ndarray) -> dict[str, TriedFamily]:
    run = benched(
        families, BenchRecords(before, after, secret, folds_of(secret, together=np.arange(N), random_state=0))
    )
    return {each.score.name: each for each in run.families}


def a_word(said: list[str], told: int) -> str:
    return " ".join([*said, "we" if told else "us"])


def a_sign(said: list[str], told: int) -> str:
    # An inner pair of letters: no whole word tells, nor does the count of any sign or length.
    return " ".join([f"q{'xv' if told else 'vx'}{word}" for word in said[:2]] + said[2:])


def capitals(said: list[str], told: int) -> str:
    return " ".join([said[0].upper(), *said[1:]] if told else said)


def a_mask(said: list[str], told: int) -> str:
    return " ".join(["▇", *said] if told else [*said, "▇"])


@pytest.mark.parametrize(
    ("family", "planted", "blind"),
    [
        ("words", a_word, ("masks", "neighbours")),
        ("characters", a_sign, ("style", "masks", "neighbours")),
        ("style", capitals, ("words", "masks", "neighbours")),
        ("masks", a_mask, ("neighbours",)),
    ],
)
def test_a_family_of_posts_finds_what_is_planted_for_it(
    family: str, planted: Callable[[list[str], int], str], blind: tuple[str, ...]
) -> None:
    rng = np.random.default_rng(0)
    secret, place = secrets(rng), np.arange(N)
    said = [[str(word) for word in rng.choice(WORDS, 6)] for _ in range(N)]
    plain = ReadPosts([" ".join(words) for words in said], place, "▇")
    told = ReadPosts([planted(words, int(s)) for words, s in zip(said, secret, strict=True)], place, "▇")
    found = scores(text_families(masked=True), plain, told, secret)
    assert found[family].surely > 0.6
    assert found[family].score.before < 0.6
    assert all(found[name].surely < 0.5 for name in blind)


@pytest.mark.parametrize("order", ["sorted", "alternating"])
def test_neighbours_tell_in_a_file_whose_order_tells(order: str) -> None:
    rng = np.random.default_rng(1)
    secret = secrets(rng)
    place = np.argsort(np.argsort(secret, kind="stable"))
    if order == "alternating":
        place = 2 * (place % (N // 2)) + secret
    hidden = SimpleNamespace(place=rng.permutation(N))
    found = scores([NEIGHBOURS], SimpleNamespace(place=place), hidden, secret)["neighbours"]
    assert found.score.before > 0.85
    assert found.surely < 0.5


def pictures(rng: np.random.Generator) -> np.ndarray:
    return rng.integers(100, 140, (N, 16, 16)).astype(np.uint8)


def brighter(pixels: np.ndarray, told: np.ndarray) -> np.ndarray:
    pixels = pixels.copy()
    pixels[told == 1, :4, :4] += 25
    return pixels


def an_edge(pixels: np.ndarray, told: np.ndarray) -> np.ndarray:
    # Stripes across or down: their mean is the same, and so is how rough they are.
    stripes = np.where(np.arange(16) % 4 < 2, 40, -40)
    across = np.broadcast_to(stripes, (16, 16))
    return (pixels + np.where(told[:, None, None] == 1, across, across.T)).clip(0, 255).astype(np.uint8)


def noise_somewhere(pixels: np.ndarray, told: np.ndarray) -> np.ndarray:
    # All of equal mean: which patch is noised is all there is.
    pixels, rng = pixels.copy(), np.random.default_rng(5)
    noise = rng.choice([0, 240], (N, 4, 4))
    pixels[told == 1, :4, :4] = noise[told == 1]
    pixels[told == 0, 8:12, 8:12] = noise[told == 0]
    return pixels


def one_bit(pixels: np.ndarray, told: np.ndarray) -> np.ndarray:
    pixels = pixels & 254 | np.random.default_rng(6).integers(0, 2, pixels.shape).astype(np.uint8)
    pixels[:, 9, 9] = pixels[:, 9, 9] & 254 | told
    return pixels.astype(np.uint8)


@pytest.mark.long
@pytest.mark.parametrize(
    ("family", "planted"),
    [
        ("gradients", an_edge),
        ("pixels", brighter),
        ("network", an_edge),
        ("repaired", brighter),
        ("flags", noise_somewhere),
        ("bits", one_bit),
    ],
)
def test_a_family_of_images_finds_what_is_planted_for_it(
    family: str, planted: Callable[[np.ndarray, np.ndarray], np.ndarray]
) -> None:
    rng = np.random.default_rng(2)
    pixels, secret, place = pictures(rng), secrets(rng), np.arange(N)
    one = [each for each in image_families() if each.name == family]
    told = ReadImages(planted(pixels, secret), place, 4)
    found = scores(one, ReadImages(pixels, place, 4), told, secret)[family]
    assert found.surely > 0.6
    assert found.score.before < 0.65


def test_all_records_of_a_person_are_in_one_fold() -> None:
    person = np.arange(N) // 5
    fold = folds_of(np.arange(N) % 2, together=person, random_state=0)
    assert all(len(set(fold[person == p])) == 1 for p in np.unique(person))
    assert np.bincount(fold).min() > N // 4


def test_fano_s_bound_is_what_a_symmetric_channel_tells() -> None:
    # One of two secrets, guessed right four times in five: such a channel tells exactly that much.
    told = 0.8 * np.log(1.6) + 0.2 * np.log(0.4)
    assert fano_bound(0.8, prior=np.array([0.5, 0.5])) == pytest.approx(told)
    assert fano_bound(1.0, prior=np.full(3, 1 / 3)) == pytest.approx(np.log(3))
    assert fano_bound(0.5, prior=np.array([0.6, 0.4])) == 0
    assert not fano_note(0.3, 0.8, prior=np.array([0.5, 0.5]))
    assert "the estimate is too low" in fano_note(0.1, 0.8, prior=np.array([0.5, 0.5]))[0]


# ---- releases ------------------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def posts(tmp_path_factory: pytest.TempPathFactory) -> SimpleNamespace:
    """Posts whose word is masked and whose capitals are not; some say nothing that is masked."""
    here, rng = tmp_path_factory.mktemp("bench"), np.random.default_rng(3)
    party = rng.integers(0, 2, 400)
    said = [[str(word) for word in rng.choice(WORDS, 5)] for _ in party]
    texts = [
        f"{' '.join(words)} {'we' if p else 'they'}{'!!' if p else '.'}" for words, p in zip(said, party, strict=True)
    ]
    texts[:10] = ["word1 word2 word3"] * 10
    table = pa.table({"text": texts, "party": np.array(["L", "R"])[party], "who": [f"a{k // 4}" for k in range(400)]})
    pa.csv.write_csv(table, here / "posts.csv")
    made = tacit.protect(
        here / "posts.csv", text="text", secret="party", epsilon=0.3, mechanism="mask", random_state=0, out=here / "m"
    )
    return SimpleNamespace(source=here / "posts.csv", masked=here / "m", made=made)


@pytest.mark.long
def test_masks_do_not_hide_how_posts_are_written(posts) -> None:
    found = tacit.attack(posts.masked, against=posts.source, group="who")
    by_name = {each.score.name: each for each in found.run.families}
    assert by_name["style"].surely > 0.9
    assert found.lost
    assert posts.made.certificate.adversaries[2].name == "style"
    assert posts.made.certificate.adversaries[2].retrained > 0.9
    assert "The estimate behind the masks is wrong" in posts.made.headline


def test_posts_that_are_as_they_were_are_counted_and_red(posts) -> None:
    found = tacit.attack(posts.masked, against=posts.source)
    assert (found.untouched, found.verdict) == (10, "parts are untouched")
    for each in (found, posts.made):
        assert "10 of 400 posts are released unchanged" in each.headline
        assert report.to_text(each).startswith("✗ PARTS ARE UNTOUCHED")


def test_a_family_that_is_switched_off_does_not_run(posts) -> None:
    found = tacit.attack(posts.masked, against=posts.source, without=["style", "characters", "words"])
    assert [each.score.name for each in found.run.families] == ["masks", "neighbours"]
    assert "switched off: style, characters, words" in report.to_text(found, full=True)
    with pytest.raises(ArgumentError, match="they are words, characters, style, masks, neighbours"):
        tacit.attack(posts.masked, against=posts.source, without="stile")


def test_a_coded_release_keeps_every_family_below_its_ceiling(posts, tmp_path: Path) -> None:
    tacit.protect(posts.source, text="text", secret="party", epsilon=1.5, random_state=0, out=tmp_path / "r")
    found = tacit.attack(tmp_path / "r", against=posts.source)
    assert (found.verdict, found.lost) == ("within the promise", False)
    assert found.run.families
    assert all(each.surely <= found.ceiling for each in found.run.families)
    shutil.rmtree(tmp_path / "r" / "private")
    with pytest.raises(SourceError, match=r"private/code\.npz"):
        tacit.attack(tmp_path / "r", against=posts.source)


@pytest.mark.long
@pytest.mark.usefixtures("brief_network")
def test_a_release_with_an_untouched_third_is_red(tmp_path: Path) -> None:
    rng = np.random.default_rng(4)
    pixels, label = rng.integers(70, 150, (120, 8, 8)).astype(np.uint8), np.arange(120) % 2
    np.savez(tmp_path / "faces.npz", x=pixels, smile=label)
    made = tacit.protect(
        tmp_path / "faces.npz", secret="smile", epsilon=0.001, patch=4, scale=2.0, out=tmp_path / "r", random_state=0
    )
    private = tmp_path / "r" / "private"
    # What protect would write had it noised nothing of one third.
    with np.load(private / "flags.npz") as kept:
        flags, fold = kept["flags"].copy(), kept["fold"]
    names = [line.split(",") for line in (private / "names.csv").read_text().split()[1:]]
    with np.load(tmp_path / "r" / "images.npz") as released:
        changed = released["x"].copy()
    raw = np.flatnonzero(fold == 1)
    changed[raw] = pixels[[int(names[at][1]) for at in raw]]
    flags[raw] = False
    np.savez(tmp_path / "r" / "images.npz", x=changed)
    np.savez(private / "flags.npz", flags=flags, patch=4, fold=fold)
    checked = {each.name: each for each in tacit.verify(tmp_path / "r", against=tmp_path / "faces.npz").checks}
    assert checked["nothing is released unchanged"].passed is False
    assert "40 of 40" in checked["nothing is released unchanged"].detail
    found = tacit.attack(tmp_path / "r", against=tmp_path / "faces.npz", without=["gradients", "network"])
    assert isinstance(found, BenchResult)
    assert found.untouched >= 40
    assert found.untouched_parts[1] == (40, 40)
    assert (found.verdict, found.lost) == ("parts are untouched", True)
    assert "40 of 40" in found.headline
    assert (made.certificate.flagged_images < 1) == ("are released unchanged" in made.headline)
