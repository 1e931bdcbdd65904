"""Owners who try to make the sentence of a coded release false, and data with which it would be."""

from __future__ import annotations

import json
import shutil
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pyarrow as pa
import pyarrow.csv
import pytest

import tacit
from papers import forge, write_paper
from tacit.errors import DataError, NotCertifiedError
from tacit.lenses.coded.parts import dealt, shuffled, units_of
from tacit.loading import file_sha256
from tacit.release import read_certificate, worded


def vectors(n: int = 700, seed: int = 0) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(seed)
    secret = rng.integers(0, 2, n)
    rows = rng.normal(size=(n, 6))
    rows[:, 0] += secret
    rows[:, 1:3] += 3 * np.eye(2)[rng.integers(0, 2, n)]
    return rows, secret


def saved(path: Path, rows: np.ndarray, secret: np.ndarray, **more: np.ndarray) -> Path:
    np.savez(path, emb=rows, secret=secret, **more)
    return path


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> SimpleNamespace:
    folder = tmp_path_factory.mktemp("owner")
    source = saved(folder / "v.npz", *vectors())
    tacit.protect(source, vector="emb", secret="secret", ceiling=0.65, random_state=1, out=folder / "r")
    return SimpleNamespace(source=source, out=folder / "r")


def rewritten(release: Path, **arrays: np.ndarray) -> None:
    """The owner's folder with other arrays, and the data in the order that it says."""

    with np.load(release / "private" / "code.npz") as kept:
        before = dict(kept)
    with np.load(release / "data.npz") as data:
        by_unit = {name: values[np.argsort(before["order"])] for name, values in data.items()}
    after = before | arrays
    np.savez_compressed(release / "private" / "code.npz", **after)
    np.savez_compressed(release / "data.npz", **{name: rows[after["order"]] for name, rows in by_unit.items()})
    said = json.loads((release / "certificate.json").read_text())
    said["output"]["sha256"] = file_sha256(release / "data.npz")
    write_paper(release / "certificate.json", said)


def broken_lines(release: Path, source: Path) -> list[str]:
    return [check.name for check in tacit.verify(release, against=source).checks if check.passed is False]


def test_only_the_owner_can_read_the_code(made) -> None:
    modes = {path.name: path.stat().st_mode & 0o777 for path in (made.out / "private").iterdir()}
    assert set(modes) == set(read_certificate(made.out).private_files)
    assert set(modes.values()) == {0o600}


def test_rows_sorted_by_the_secret_are_found_out(made, tmp_path) -> None:
    changed = shutil.copytree(made.out, tmp_path / "r")
    rewritten(changed)
    assert tacit.verify(changed, against=made.source).verdict == "holds"
    rewritten(changed, order=np.argsort(vectors()[1], kind="stable"))
    assert broken_lines(changed, made.source) == ["order drawn again by the key"]


def test_a_part_to_prove_on_that_was_chosen_by_hand_is_found_out(made, tmp_path) -> None:
    changed = shutil.copytree(made.out, tmp_path / "r")
    with np.load(changed / "private" / "code.npz") as kept:
        proving = kept["proving"].copy()
    proving[np.flatnonzero(proving)[:5]] = False
    rewritten(changed, proving=proving)
    assert "both parts dealt again by the key" in broken_lines(changed, made.source)


def test_another_key_is_found_out(made, tmp_path) -> None:
    changed = shutil.copytree(made.out, tmp_path / "r")
    (changed / "private" / "key.txt").write_text("00" * 32 + "\n")
    assert "key is the one committed to" in broken_lines(changed, made.source)


def test_without_the_salt_nobody_can_tell_whether_the_original_is_the_one(made, tmp_path) -> None:
    changed = shutil.copytree(made.out, tmp_path / "r")
    (changed / "private" / "salt.txt").unlink()
    unsure = [check.name for check in tacit.verify(changed, against=made.source).checks if check.passed is None]
    assert unsure == ["original is the one certified", "key is the one committed to"]


def test_a_share_in_the_claim_is_rounded_up(made) -> None:
    certificate = read_certificate(made.out)
    for ceiling, told in ((0.65, "65.0%"), (0.6501, "65.1%"), (0.6499, "65.0%")):
        assert f"more often than {told} of the time" in worded(replace(certificate, ceiling=ceiling)).claim


def test_a_vector_that_is_not_the_mean_of_its_code_is_found_out(made, tmp_path) -> None:
    changed = shutil.copytree(made.out, tmp_path / "r")
    with np.load(changed / "data.npz") as data:
        code, rows = data["code"], data["emb"].copy()
    rows[code == code[0]] += np.float32(0.01)
    np.savez_compressed(changed / "data.npz", code=code, emb=rows)
    forge(changed, output=replace(read_certificate(changed).output, sha256=file_sha256(changed / "data.npz")))
    assert broken_lines(changed, made.source) == ["what codes show"]


def test_a_ceiling_below_what_was_asked_and_proved_is_found_out(made, tmp_path) -> None:
    changed = shutil.copytree(made.out, tmp_path / "r")
    forge(changed, ceiling=0.55)
    assert broken_lines(changed, made.source) == ["ceiling proved"]


def test_a_file_that_holds_more_than_codes_never_holds(made, tmp_path) -> None:
    """The secret beside the codes, or between the bytes, with every fingerprint forged; a broken file is no crash."""

    changed = shutil.copytree(made.out, tmp_path / "r")
    data, paper = changed / "data.npz", changed / "certificate.json"
    with np.load(data) as kept:
        arrays = dict(kept)

    def verdict() -> str:
        said = json.loads(paper.read_text())
        said["output"]["sha256"] = file_sha256(data)
        write_paper(paper, said)
        return tacit.verify(changed, against=made.source).verdict

    np.savez_compressed(data, **arrays, secret=vectors()[1])
    assert verdict() == "broken"
    np.savez(data, **arrays)
    assert verdict() == "not checked"
    data.write_bytes(b"nothing that can be read")
    assert tacit.verify(changed, against=made.source).verdict == "broken"


def test_copies_add_neither_to_the_proof_nor_to_those_who_share_a_code(tmp_path) -> None:
    rows, secret = vectors(300)
    many = saved(tmp_path / "many.npz", np.tile(rows, (12, 1)), np.tile(secret, 12))
    result = tacit.protect(many, vector="emb", secret="secret", ceiling=0.75, random_state=1, out=tmp_path / "r")
    certificate = result.certificate
    assert certificate.designed_on + certificate.proved_on == 300
    with np.load(tmp_path / "r" / "data.npz") as data, np.load(tmp_path / "r" / "private" / "code.npz") as kept:
        codes, units = data["code"], kept["order"] % 300
    fewest = min(len(set(units[codes == code].tolist())) for code in set(codes.tolist()))
    assert fewest == certificate.smallest >= certificate.least


def test_copies_that_tell_the_secret_are_counted_in_the_claim(tmp_path) -> None:
    """Many say the same, and who says it has the secret: a proof without copies would be false of the release."""
    rows, _ = vectors(800)
    secret = np.random.default_rng(1).integers(0, 2, 800)
    copies, of = np.repeat(rows[:2], 300, axis=0), np.repeat([0, 1], 300)
    source = saved(tmp_path / "v.npz", np.vstack([rows, copies]), np.concatenate([secret, of]))
    result = tacit.protect(source, vector="emb", secret="secret", epsilon=3, random_state=1, out=tmp_path / "r")
    with np.load(tmp_path / "r" / "data.npz") as data, np.load(tmp_path / "r" / "private" / "code.npz") as kept:
        codes, told = data["code"], np.concatenate([secret, of])[kept["order"]]
    counted = sum(np.bincount(told[codes == code]).max() for code in set(codes.tolist())) / len(codes)
    assert counted > 0.6
    assert result.certificate.ceiling >= counted


def test_copies_of_people_under_other_names_prove_nothing() -> None:
    secret, group = np.tile([0, 1], 40), [f"p{at // 2}" for at in range(160)]
    contents = [bytes([at % 80]) for at in range(160)]
    parts = dealt(units_of(np.repeat(secret, 2), ["a", "b"], group=group), contents, bytes(32))
    assert parts.different.sum() == 40


def test_near_copies_that_would_show_an_original_are_refused(tmp_path, monkeypatch) -> None:
    rng = np.random.default_rng(0)
    people, secret = rng.normal(size=(8, 6)) * 10, np.arange(8) % 2
    rows = np.repeat(people, 100, axis=0) + rng.normal(0, 0.01, (800, 6))
    source = saved(tmp_path / "v.npz", rows, np.repeat(secret, 100))
    with pytest.raises(NotCertifiedError, match="nearly as it is"):
        tacit.protect(source, vector="emb", secret="secret", ceiling=0.95, random_state=1, out=tmp_path / "r")
    assert not (tmp_path / "r").exists()
    # An owner whose Tacit does not refuse is found out.
    monkeypatch.setattr("tacit.lenses.vectors.coding.refuse_originals", lambda *_: None)
    tacit.protect(source, vector="emb", secret="secret", ceiling=0.95, random_state=1, out=tmp_path / "r")
    assert "no code shows an original nearly as it is" in broken_lines(tmp_path / "r", source)


def test_an_order_and_parts_follow_the_key_alone() -> None:
    first, other = (shuffled(50, bytes([at]) * 32) for at in (1, 2))
    assert sorted(first.tolist()) == list(range(50)) != first.tolist()
    assert (first != other).any()


@pytest.mark.parametrize("format", ["png", "jpeg"])
def test_files_tell_nothing_but_their_code(tmp_path, format) -> None:
    """Names, sizes, times and what an image's file says beside its pixels depend on the code alone."""
    from PIL import Image
    from PIL.PngImagePlugin import PngInfo

    rng = np.random.default_rng(0)
    secret = rng.integers(0, 2, 240)
    (tmp_path / "in").mkdir()
    for at, each in enumerate(secret.tolist()):
        said = PngInfo()
        said.add_text("secret", str(each))
        exif = Image.Exif()
        exif[0x010E] = f"secret {each}"
        pixels = rng.integers(0, 255, (8, 8), dtype=np.uint8)
        Image.fromarray(pixels).save(tmp_path / "in" / f"s{each}-{at}.{format}", pnginfo=said, exif=exif)
    lines = ["file,smile", *(f"s{s}-{at}.{format},{s}" for at, s in enumerate(secret.tolist()))]
    (tmp_path / "labels.csv").write_text("\n".join(lines) + "\n")
    asked = {"labels": tmp_path / "labels.csv", "secret": "smile", "ceiling": 0.8, "random_state": 1}
    tacit.protect(tmp_path / "in", out=tmp_path / "r", **asked)
    files = sorted((tmp_path / "r" / "images").iterdir())
    codes = pa.csv.read_csv(tmp_path / "r" / "labels.csv")["code"].to_pylist()
    assert [file.name for file in files] == [f"{at + 1:03d}.png" for at in range(240)]
    by_code: dict[int, set[bytes]] = {}
    for file, code in zip(files, codes, strict=True):
        by_code.setdefault(code, set()).add(file.read_bytes())
        with Image.open(file) as image:
            assert not image.info
            assert not image.getexif()
    assert {len(each) for each in by_code.values()} == {1}
    times = np.array([file.stat().st_mtime_ns for file in files])
    assert (np.diff(times) >= 0).all()


def odd_posts(path: Path, texts: list[str], party: list[str], author: list[str]) -> Path:
    pa.csv.write_csv(pa.table({"text": texts, "party": party, "author": author}), path)
    return path


@pytest.mark.parametrize(
    ("case", "why"),
    [
        ("tiny", "no topics to tell"),
        ("one author", "different secrets"),
        ("one party", "only one value"),
        ("all alike", "1 of 600 are different"),
        ("empty", "2 of 600 are different"),
        ("least", "no topics to tell"),
        ("rare", "too few people"),
    ],
)
def test_odd_posts_are_refused_in_words(tmp_path, case, why) -> None:
    rng = np.random.default_rng(0)
    n = 20 if case == "tiny" else 600
    words = [f"{about}{end}" for about in ("tax", "farm", "road", "trade") for end in ("", "ing", "er", "land", "ed")]
    texts = [" ".join(rng.choice(words, 3)) + f" {rng.integers(10**6)}x" for _ in range(n)]
    party = rng.choice(["blue", "red"], n).tolist()
    more: dict[str, object] = {}
    if case == "one author":
        party, more = ["blue"] * 300 + ["red"] * 300, {"group": "author"}
    elif case == "one party":
        party = ["blue"] * n
    elif case == "all alike":
        texts = ["the same words"] * n
    elif case == "empty":
        texts = [""] * 595 + ["tax road"] * 5
    elif case == "least":
        more = {"least": 500}
    elif case == "rare":
        party = ["blue"] * 599 + ["red"]
    source = odd_posts(tmp_path / "p.csv", texts, party, ["somebody"] * n)
    with pytest.raises((DataError, NotCertifiedError), match=why):
        tacit.protect(source, text="text", secret="party", ceiling=0.999, random_state=1, out=tmp_path / "r", **more)
    assert not (tmp_path / "r").exists()


def test_many_posts_of_one_author_are_told_to_add_up_and_the_order_is_said(made, tmp_path) -> None:
    said = " ".join(json.loads((made.out / "certificate.json").read_text())["assumptions"])
    assert "adds up what each says" in said
    assert "name it as group" in said
    assert "order drawn with the key" in said
    rows, secret = vectors(1400)
    people = np.array([f"p{at // 2}" for at in range(1400)])
    source = saved(tmp_path / "v.npz", rows, np.repeat(secret[::2], 2), person=people)
    asked = {"vector": "emb", "secret": "secret", "group": "person", "ceiling": 0.75}
    certificate = tacit.protect(source, random_state=1, out=tmp_path / "g", **asked).certificate
    assert certificate.units == 700
    assert "person (person) with all vectors" in certificate.claim
    assert "adds up" not in " ".join(certificate.assumptions)
