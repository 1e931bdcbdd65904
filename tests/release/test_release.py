"""The release: read by one strict codec, and replaced only if it is a release and nothing else."""

from __future__ import annotations

import hashlib
import json
import shutil
from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Literal

import numpy as np
import pytest

import sample_results as samples
from papers import write_paper
from sizes import few
from tables_of_people import clinic, write_csv
from tacit import ArgumentError, SourceError, attack, protect, verify
from tacit.release import Damaged, certificate_from, decoded, encoded, read_certificate, salted, text_of


@pytest.fixture(scope="module")
def sources(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A table, images and posts that are small and quick to release."""
    place = tmp_path_factory.mktemp("sources")
    rng = np.random.default_rng(0)
    write_csv(place / "people.csv", clinic(300))
    label = np.arange(60) % 2
    pixels = rng.integers(0, 40, (60, 8, 8)).astype(np.uint8)
    pixels[label == 1, :4, :4] += 60
    np.savez(place / "faces.npz", x=pixels, smile=label)
    words = {"R": ["tax", "border"], "D": ["health", "union"]}
    posts = [" ".join(rng.permutation([*rng.choice(["the", "we", "bill", "vote"], 4), *own])) for own in words.values()]
    texts = [f"{posts[k % 2]} {rng.choice(['today', 'again', 'now'])} {k}" for k in range(120)]
    write_csv(place / "posts.csv", {"text": texts, "party": [["R", "D"][k % 2] for k in range(120)]})
    return place


MAKERS: dict[str, tuple[str, dict[str, Any]]] = {
    "table": ("people.csv", {"secret": "illness", "epsilon": 1.0}),
    "images": ("faces.npz", {"secret": "smile", "epsilon": 0.1, "patch": 4, "scale": 0.05}),
    "text": ("posts.csv", {"text": "text", "secret": "party", "mechanism": "mask", "epsilon": 0.5}),
}


def made(sources: Path, kind: str, out: Path, **words: Any) -> Any:
    name, settings = MAKERS[kind]
    return protect(sources / name, **settings, out=out, random_state=0, **words)


@pytest.fixture(scope="module")
def releases(sources: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """One release of each lens that is tried, to be copied."""
    place = tmp_path_factory.mktemp("releases")
    for kind in few(MAKERS):
        made(sources, kind, place / kind)
    return place


@pytest.mark.parametrize("kind", few(MAKERS))
def test_a_certificate_in_other_bytes_may_say_things_between_its_words_and_does_not_hold(
    sources: Path, releases: Path, tmp_path: Path, kind: str
) -> None:
    out = Path(shutil.copytree(releases / kind, tmp_path / "release"))
    line, paper = "certificate.json is written plainly", out / "certificate.json"
    plain = paper.read_text("utf-8")

    def doubted() -> bool:
        found = verify(out, against=sources / MAKERS[kind][0])
        return any(check.name == line and check.passed is None for check in found.checks) and found.verdict != "holds"

    assert not doubted()
    for other in (plain + " ", plain.replace("\n  ", "\n   ", 1), json.dumps(json.loads(plain), indent=2) + "\r\n"):
        paper.write_text(other, "utf-8")
        assert doubted()


def test_words_and_papers_that_do_not_follow_from_the_numbers_are_found_out(
    sources: Path, releases: Path, tmp_path: Path
) -> None:
    out, people = Path(shutil.copytree(releases / "table", tmp_path / "release")), sources / "people.csv"
    certificate = read_certificate(out)

    def failed(**changes: Any) -> list[str]:
        write_paper(out / "certificate.json", replace(certificate, **changes))
        return [check.name for check in verify(out, against=people).checks if check.passed is False]

    assert failed() == []
    assert failed(assumptions=certificate.assumptions[1:]) == ["assumptions"]
    assert "randomness" in failed(randomness="Drawn from the stars.")
    # Another version has other words, but the same numbers and files.
    older = {"tacit_version": "0.0.1"}
    assert failed(**older, assumptions=certificate.assumptions[1:]) == []
    other = replace(certificate.output, levels_sha256="0" * 64)
    assert failed(**older, output=other) == ["levels are those certified"]


def test_a_link_in_a_release_is_none_of_its_files(sources: Path, releases: Path, tmp_path: Path) -> None:
    out = Path(shutil.copytree(releases / "table", tmp_path / "release"))
    (out / "report.html").rename(tmp_path / "report.html")
    (out / "report.html").symlink_to(tmp_path / "report.html")
    doubted = [check.name for check in verify(out, against=sources / "people.csv").checks if check.passed is None]
    assert doubted == ["nothing else is in the release"]


def test_the_published_fingerprint_says_nothing_without_its_salt() -> None:
    plain, salts = "ab" * 32, (bytes(32), bytes([1]) * 32)
    first, other = (salted(plain, salt) for salt in salts)
    assert len({plain, first, other, hashlib.sha256(bytes.fromhex(plain)).hexdigest()}) == 4
    assert salted(None, salts[0]) is None


# ---- what is replaced ---------------------------------------------------------------------------------------------


@pytest.mark.parametrize("kind", few(MAKERS))
def test_nothing_but_a_whole_release_and_nothing_else_is_overwritten(
    sources: Path, releases: Path, tmp_path: Path, kind: str
) -> None:
    out = Path(shutil.copytree(releases / kind, tmp_path / "release"))
    written = {path.relative_to(out): path.read_bytes() for path in out.rglob("*") if path.is_file()}
    assert all(path.stat().st_mode & 0o777 == 0o600 for path in (out / "private").iterdir())

    def refused(match: str) -> None:
        with pytest.raises(ArgumentError, match=match):
            made(sources, kind, out, overwrite=True)
        for path, data in written.items():
            assert (out / path).read_bytes() == data, path

    for name in ("thesis.txt", "private/diary.txt", "photos/me.png"):
        stranger = out / name
        stranger.parent.mkdir(exist_ok=True)
        stranger.write_text("years of work")
        refused(f"Tacit did not write {name.partition('/')[0]}")
        assert stranger.read_text() == "years of work"
        stranger.unlink()
    (out / "photos").rmdir()
    paper = out / "certificate.json"
    whole = json.loads(paper.read_text())
    for damaged in ({}, {**whole, "more": 1}, {**whole, "format_version": 2}):
        written[Path("certificate.json")] = json.dumps(damaged).encode()
        paper.write_bytes(written[Path("certificate.json")])
        refused("not just a Tacit release")
    written[Path("certificate.json")] = text_of(whole, indent=2).encode()
    write_paper(paper, whole)
    for name in few([path.name for path in out.iterdir() if path.is_file() and path != paper], 9):
        honest = written[Path(name)]
        written[Path(name)] = honest + b" "
        (out / name).write_bytes(honest + b" ")
        refused("is not the" if kind != "images" or name == "report.html" else "are not those")
        (out / name).write_bytes(honest)
        written[Path(name)] = honest
    made(sources, kind, out, overwrite=True)
    assert read_certificate(out).epsilon == whole["epsilon"]


@pytest.mark.parametrize("kind", MAKERS)
def test_somebodys_files_beside_a_certificate_of_nothing_stay(sources: Path, tmp_path: Path, kind: str) -> None:
    out = tmp_path / "work"
    out.mkdir()
    (out / "certificate.json").write_text("{}")
    (out / "thesis.txt").write_text("years of work")
    with pytest.raises(ArgumentError, match="not just a Tacit release"):
        made(sources, kind, out, overwrite=True)
    assert sorted(path.name for path in out.iterdir()) == ["certificate.json", "thesis.txt"]
    assert (out / "thesis.txt").read_text() == "years of work"


def test_the_target_is_looked_at_before_anything_is_computed(sources: Path, tmp_path: Path, monkeypatch) -> None:
    from tacit.lenses.table import protect as lens

    monkeypatch.setattr(lens, "counted", lambda *_, **__: pytest.fail("computed first"))
    (tmp_path / "keep").mkdir()
    (tmp_path / "keep" / "thesis.txt").write_text("years of work")
    for overwrite in (False, True):
        with pytest.raises(ArgumentError):
            made(sources, "table", tmp_path / "keep", overwrite=overwrite)


@pytest.mark.long
def test_a_folder_of_images_with_another_image_in_it_is_not_overwritten(tmp_path: Path) -> None:
    from PIL import Image

    faces, rows = tmp_path / "faces", ["file,smile"]
    faces.mkdir()
    rng = np.random.default_rng(0)
    for k in range(24):
        pixels = rng.integers(0, 40, (8, 8)).astype(np.uint8) + np.uint8(60 * (k % 2))
        Image.fromarray(pixels).save(faces / f"{k}.png")
        rows.append(f"{k}.png,{k % 2}")
    (tmp_path / "labels.csv").write_text("\n".join(rows) + "\n")
    words: dict[str, Any] = {
        "labels": tmp_path / "labels.csv",
        "secret": "smile",
        "epsilon": 1.0,
        "patch": 4,
        "scale": 0.05,
    }
    out = tmp_path / "release"
    protect(faces, **words, out=out)
    folder = next(path for path in out.iterdir() if path.is_dir() and path.name != "private")
    shutil.copy(faces / "0.png", folder / "mine.png")
    with pytest.raises(ArgumentError, match="its images are not those that were certified"):
        protect(faces, **words, out=out, overwrite=True)
    (folder / "mine.png").unlink()
    protect(faces, **words, out=out, overwrite=True)


@pytest.mark.long
@pytest.mark.parametrize("kind", ["images", "text"])
def test_a_release_of_another_lens_is_known_by_its_certificate(sources: Path, releases: Path, kind: str) -> None:
    assert attack(releases / kind, against=sources / MAKERS[kind][0]).release == str(releases / kind)
    checks = verify(releases / kind, against=sources / MAKERS[kind][0]).checks
    # All that is said is true; whether an estimate may be published is another question.
    fit = {"nothing is released unchanged", "no family reads the secret"}
    assert {check.name for check in checks if check.passed is False} <= fit


# ---- the codec ----------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Inner:
    name: str
    share: float | None
    pairs: tuple[tuple[str, int], ...] = ()


@dataclass(frozen=True)
class Outer:
    inner: Inner
    kind: Literal["a", "b", 1]
    limits: tuple[float, float]
    flags: dict[str, bool]


WHOLE = Outer(Inner("x", None, (("y", 2),)), "a", (0.5, np.inf), {"z": True})


def test_a_value_comes_back_as_it_was_written() -> None:
    assert json.loads(text_of(WHOLE))["limits"] == [0.5, "inf"]
    assert decoded(Outer, json.loads(text_of(WHOLE))) == WHOLE


@pytest.mark.parametrize(
    ("change", "told"),
    [
        (lambda data: data["inner"].pop("share"), "inner.share is missing"),
        (lambda data: data["inner"].update(more=1), "inner.more is not a field that Tacit writes"),
        (lambda data: data["inner"].update(name=3), "inner.name should be text"),
        (lambda data: data["inner"].update(share="0.5"), "inner.share should be a number"),
        (lambda data: data["inner"].update(share=True), "inner.share should be a number"),
        (lambda data: data["inner"].update(share=float("nan")), "inner.share should be a number"),
        (lambda data: data["inner"].update(pairs=[["y", 2.0]]), r"inner.pairs\[0\]\[1\] should be a whole number"),
        (lambda data: data["inner"].update(pairs=[["y"]]), r"inner.pairs\[0\] has 1 entries where there are 2"),
        (lambda data: data["inner"].update(pairs={}), "inner.pairs should be a list"),
        (lambda data: data.update(inner=[]), "inner should be an object"),
        (lambda data: data.update(kind="c"), "kind is none of a, b, 1"),
        (lambda data: data.update(kind=True), "kind is none of a, b, 1"),
        (lambda data: data["flags"].update(z=1), "flags.z should be true or false"),
    ],
)
def test_what_is_not_as_it_was_written_is_refused_by_its_path(change: Callable[[Any], object], told: str) -> None:
    data = json.loads(text_of(WHOLE))
    change(data)
    with pytest.raises(Damaged, match=told):
        decoded(Outer, data)


def test_a_certificate_comes_back_as_it_was_written_and_no_field_may_be_missing_or_more() -> None:
    made_up = samples.certificate()
    whole = encoded(made_up)
    assert certificate_from(json.loads(text_of(made_up))) == made_up
    for name in whole:
        with pytest.raises(Damaged, match=name):
            certificate_from({key: value for key, value in whole.items() if key != name})
    with pytest.raises(Damaged, match=r"utility\.nmli is not a field"):
        certificate_from({**whole, "utility": {**whole["utility"], "nmli": 0.1}})


def test_a_certificate_whose_numbers_cannot_be_is_refused() -> None:
    whole = encoded(samples.certificate())
    for change in ({"epsilon": 0.4}, {"epsilon": 101, "epsilon_low": 101, "epsilon_high": 101}, {"secret": []}):
        with pytest.raises(Damaged):
            certificate_from({**whole, **change})
    with pytest.raises(ValueError, match="not a file of the release"):
        replace(samples.certificate().output, file="../data.csv")


def test_a_name_that_occurs_twice_or_a_number_that_is_no_json_is_damage(tmp_path: Path) -> None:
    paper = tmp_path / "certificate.json"
    text = text_of(samples.certificate())
    for other, why in (
        (text.replace('"kind"', '"epsilon": 0.1, "kind"'), "epsilon occurs twice"),
        (text.replace('"epsilon": 0.5', '"epsilon": NaN', 1), "it is not JSON"),
    ):
        assert other != text
        paper.write_text(other)
        with pytest.raises(SourceError, match=why):
            read_certificate(tmp_path)


def test_a_certificate_that_is_no_json_is_refused_in_one_line(tmp_path: Path) -> None:
    (tmp_path / "certificate.json").write_text("{")
    with pytest.raises(SourceError, match=r"certificate\.json is damaged or not a Tacit certificate"):
        read_certificate(tmp_path)
