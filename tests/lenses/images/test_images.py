"""Images: the heat map finds the patch that tells, noise goes there and hardly elsewhere, bad input is refused."""

from __future__ import annotations

import json
import re
import shutil
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from papers import forge, write_paper
from sizes import few
from tacit import audit, protect, report, verify
from tacit.errors import ArgumentError, ColumnError, DataError, SourceError
from tacit.lenses.images import HogClassifier, ImageAuditResult, open_images
from tacit.lenses.images.claims import patch_delta
from tacit.lenses.images.images import open_pixels, patch_masks, patches, pixels_of, write_images
from tacit.lenses.images.verify import noise_law
from tacit.release import Check, files_sha256, read_certificate

Image = pytest.importorskip("PIL.Image", reason="Pillow is not installed (extra `images`)")
PngImagePlugin = pytest.importorskip("PIL.PngImagePlugin")

pytestmark = pytest.mark.usefixtures("brief_network")
Run = Callable[..., tuple[int, str, str]]
# The patch that tells, of a grid of four by four, by row and column from zero.
ROW, COLUMN = 1, 2


def faces(n: int = 240, *, seed: int = 0, colour: bool = False, strength: int = 45) -> tuple[np.ndarray, np.ndarray]:
    """Noise of 16 by 16 pixels in which one patch is brighter if the label is 1."""
    rng = np.random.default_rng(seed)
    label = np.arange(n) % 2
    pixels = rng.integers(70, 150, (n, 16, 16, 3) if colour else (n, 16, 16))
    place = np.s_[:, 4 * ROW : 4 * ROW + 4, 4 * COLUMN : 4 * COLUMN + 4]
    shift = np.where(label == 1, strength, -strength)
    pixels[place] += shift.reshape(-1, *[1] * (pixels.ndim - 1))
    return pixels.astype(np.uint8), label


def folder_of(pixels: np.ndarray, label: np.ndarray, place: Path, *, suffix: str = ".png") -> Path:
    """The images as files, with a CSV of labels beside the folder."""
    place.mkdir()
    lines = ["file,smile,glasses"]
    for k, image in enumerate(pixels):
        Image.fromarray(image).save(place / f"face{k:03d}{suffix}")
        lines.append(f"face{k:03d}{suffix},{'yes' if label[k] else 'no'},{k % 3}")
    (place.parent / "labels.csv").write_text("\n".join(lines) + "\n")
    return place


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder of PNG files, and a release of it."""
    here = tmp_path_factory.mktemp("images")
    folder = folder_of(*faces(), here / "faces")
    protect(
        folder, labels=here / "labels.csv", secret="smile", epsilon=0.5, patch=4, scale=8.0, out=here / "release",
        keep_label=["glasses"], random_state=0,
    )  # fmt: skip
    return here


@pytest.fixture(scope="module")
def audited(place: Path) -> ImageAuditResult:
    return audit(place / "faces", labels=place / "labels.csv", secret="smile", patch=[8, 4])


@pytest.fixture
def run(monkeypatch: pytest.MonkeyPatch, tacit_command: Run, place: Path) -> Run:
    monkeypatch.chdir(place)
    return tacit_command


def certificate(place: Path) -> dict[str, object]:
    found: dict[str, object] = json.loads((place / "release" / "certificate.json").read_text())
    return found


# ---- audit --------------------------------------------------------------------------------------------------------


@pytest.mark.long
def test_the_heat_map_finds_the_patch_that_tells(audited: ImageAuditResult) -> None:
    assert audited.verdict == "leak"
    assert [found.size for found in audited.patches] == [8, 4]
    for found in audited.patches:
        row, column = ROW * 4 // found.size + 1, COLUMN * 4 // found.size + 1
        first, second = found.leaking_most[:2]
        assert (first.row, first.column) == (row, column)
        assert first.mean > 3 * second.mean
        assert found.guess.low > 0.9
        for grid in found.heat.by_secret.values():
            assert np.array(grid)[row - 1, column - 1] > 0.3


@pytest.mark.long
def test_without_a_leak_none_is_found(tmp_path: Path) -> None:
    pixels, label = faces(strength=0)
    np.savez(tmp_path / "faces.npz", x=pixels, smile=label)
    found = audit(tmp_path / "faces.npz", secret="smile", patch=8)
    assert found.verdict == "no leak detected"
    assert found.adversary.low < 0.5 < found.adversary.high


def test_colour_and_npz_are_read_alike(tmp_path: Path) -> None:
    pixels, label = faces(200, colour=True)
    np.savez(tmp_path / "faces.npz", pictures=pixels, smile=label, pose=np.zeros((200, 3)))
    found = audit(tmp_path / "faces.npz", secret="smile", patch=4)
    assert (found.source.channels, found.source.format) == (3, "npz")
    assert (found.patches[0].leaking_most[0].row, found.patches[0].leaking_most[0].column) == (ROW + 1, COLUMN + 1)
    assert any("pose" in note for note in found.notes)


def test_copies_of_an_image_stay_on_one_side(tmp_path: Path) -> None:
    pixels, label = faces(60, strength=0)
    np.savez(tmp_path / "faces.npz", x=np.concatenate([pixels] * 3), smile=np.concatenate([label] * 3))
    found = audit(tmp_path / "faces.npz", secret="smile", patch=8)
    assert found.verdict != "leak"
    assert any("120 images are copies" in note for note in found.notes)


@pytest.mark.long
def test_an_audit_shows_originals_and_its_numbers_in_every_form(audited: ImageAuditResult) -> None:
    page = report.to_html(audited)
    assert page.count("data:image/png;base64,") > 20
    assert "img-src data:" in page
    assert "http" not in re.sub(r"http://www\.w3\.org/2000/svg|http-equiv", "", page)
    text = report.to_text(audited, width=100)
    assert "an image makes its own label" in text
    assert "times as likely" in audited.headline
    assert "nats" not in text
    assert "LEAK" in text
    assert "4×4" in text
    found = json.loads(report.to_json(audited))
    assert found["patches"][1]["patches"] == 16
    assert "sheet" not in found
    nats, bits = audited.patches[0], json.loads(report.to_json(audited, bits=True))["patches"][0]
    assert bits["information"]["value"] == pytest.approx(nats.information.value / np.log(2))
    assert bits["heat"]["mean"][0][0] == pytest.approx(nats.heat.mean[0][0] / np.log(2))


# ---- protect ------------------------------------------------------------------------------------------------------


@pytest.mark.long
def test_noise_is_put_on_the_patch_that_tells_and_hardly_elsewhere(place: Path) -> None:
    flags = np.load(place / "release" / "private" / "flags.npz")["flags"]
    share = flags.mean(axis=0).reshape(4, 4)
    assert share[ROW, COLUMN] > 0.95
    # Noise that is spread evenly falls on all patches alike. What falls elsewhere is chance of the learning: of seeds
    # 0 to 7 the largest share is 0.125, and the last bits of a processor's own matrix products, not the threads,
    # choose between such runs. Twice that still tells noise that is put from noise that is spread.
    assert np.delete(share.ravel(), 4 * ROW + COLUMN).mean() < share[ROW, COLUMN] / 4


def test_unflagged_patches_of_a_png_are_byte_identical(place: Path) -> None:
    import csv

    flags = np.load(place / "release" / "private" / "flags.npz")["flags"]
    mask = patch_masks(open_pixels(place / "release" / "images"), 4, flags)
    with (place / "release" / "private" / "names.csv").open(newline="") as file:
        names = list(csv.DictReader(file))
    changed = 0
    for k, row in enumerate(names):
        after = np.asarray(Image.open(place / "release" / "images" / row["released"]))
        before = np.asarray(Image.open(place / "faces" / row["original"]))
        assert (after[~mask[k]] == before[~mask[k]]).all()
        changed += int((after != before).sum())
    assert changed > 0.9 * mask.sum()


def test_adversaries_fall_to_the_prior(place: Path) -> None:
    found = certificate(place)
    assert found["verdict_after"] == "not detectably better than the prior"
    for each in found["adversaries"]:  # type: ignore[attr-defined]
        assert each["before"] > 0.95 or each["name"] in ("flags", "neighbours")
        for kind in ("after", "retrained"):
            assert each[f"{kind}_interval"][0] <= found["prior"] <= 1


@pytest.mark.long
def test_weak_noise_is_called_weak(tmp_path: Path) -> None:
    pixels, label = faces(150)
    np.savez(tmp_path / "faces.npz", x=pixels, smile=label)
    made = protect(
        tmp_path / "faces.npz", secret="smile", epsilon=0.5, patch=8, scale=0.05, out=tmp_path / "r", random_state=0
    )
    assert made.certificate.verdict_after == "still better than the prior"
    assert any("or raise scale" in note for note in made.notes)
    assert "STILL BETTER THAN THE PRIOR" in report.to_text(made)


def test_a_certificate_of_images_certifies_no_single_image(place: Path) -> None:
    found = certificate(place)
    assert found["kind"] == "images"
    assert found["certified_epsilon"] is None
    assert "certifies nothing pointwise" in str(found["claim"])
    assert found["delta"]["vacuous"] is True  # type: ignore[index]
    assert any("vacuous" in line for line in found["assumptions"])  # type: ignore[attr-defined]


def test_the_release_holds_no_name_order_or_label_that_was_not_asked_for(place: Path) -> None:
    release = place / "release"
    names = sorted(path.name for path in (release / "images").iterdir())
    assert names[0] == "001.png"
    lines = (release / "labels.csv").read_text().splitlines()
    assert lines[0] == "file,glasses"
    assert [line.split(",")[0] for line in lines[1:]] == names
    public = "".join(p.read_text("utf-8") for p in (release / "report.html", release / "certificate.json"))
    assert "face0" not in public
    order = [row.split(",")[1] for row in (release / "private" / "names.csv").read_text().splitlines()[1:]]
    assert order != sorted(order)
    # Kept labels moved with their images.
    assert [int(row[4:7]) % 3 for row in order] == [int(line.split(",")[1]) for line in lines[1:]]


def test_the_public_page_shows_no_original_and_the_private_one_does(place: Path) -> None:
    from base64 import b64encode

    from tacit.report.charts.pictures import png

    originals = [b64encode(png(np.asarray(Image.open(p)))).decode() for p in sorted((place / "faces").iterdir())]
    public = (place / "release" / "report.html").read_text()
    private = (place / "release" / "private" / "report.html").read_text()
    assert not any(each in public for each in originals)
    assert sum(each in private for each in originals) == 6
    assert "Do not publish this page" in private


@pytest.mark.long
def test_an_image_without_noise_is_not_on_the_public_page(tmp_path: Path) -> None:
    """It is released as it was, so showing it would show an original."""
    from base64 import b64encode

    from tacit.report.charts.pictures import png

    pixels, label = faces(150, strength=0)
    pixels[75:] = faces(75, seed=1)[0]
    np.savez(tmp_path / "faces.npz", x=pixels, smile=label)
    made = protect(tmp_path / "faces.npz", secret="smile", epsilon=0.5, patch=8, out=tmp_path / "r", random_state=0)
    assert 0 < made.certificate.flagged_images < 1
    page = (tmp_path / "r" / "report.html").read_text()
    assert not any(b64encode(png(image)).decode() in page for image in pixels)
    assert "are released unchanged (by third:" in made.headline
    assert "PARTS ARE UNTOUCHED" in report.to_text(made)


@pytest.mark.long
def test_jpeg_stays_jpeg_and_the_report_says_what_it_does(tmp_path: Path) -> None:
    folder = folder_of(*faces(60), tmp_path / "faces", suffix=".jpg")
    made = protect(
        folder, labels=tmp_path / "labels.csv", secret="smile", epsilon=0.5, patch=8, out=tmp_path / "r",
        random_state=0, keep_names=True,
    )  # fmt: skip
    assert "JPEG" in made.certificate.claim
    with Image.open(tmp_path / "r" / "images" / "face000.jpg") as image:
        assert image.format == "JPEG"
    found = verify(tmp_path / "r", against=folder, labels=tmp_path / "labels.csv")
    assert found.verdict != "holds"
    assert any("JPEG changes pixels" in check.detail for check in found.checks if check.passed is None)


# ---- verify -------------------------------------------------------------------------------------------------------


def test_a_release_is_verified_against_its_originals(place: Path) -> None:
    found = verify(place / "release", against=place / "faces", labels=place / "labels.csv")
    assert found.verdict == "holds"
    assert "never certified" in found.headline
    assert verify(place / "release").verdict == "not checked"


@pytest.mark.parametrize("left", few([0, 0.5]))
def test_the_owner_s_papers_cut_short_are_called_damaged(place: Path, tmp_path: Path, left: float) -> None:
    release = shutil.copytree(place / "release", tmp_path / "release")
    flags = release / "private" / "flags.npz"
    whole = flags.read_bytes()
    flags.write_bytes(whole[: int(left * len(whole))])
    with pytest.raises(SourceError, match=r"flags\.npz: it is damaged"):
        verify(release, against=place / "faces")


@pytest.mark.long
@pytest.mark.parametrize(
    ("damage", "line"),
    [
        ("pixel", "released data is the data certified"),
        ("claim", "claim in words"),
        ("vacuous", "what is called vacuous is"),
        ("verdict", "verdict follows from the adversaries"),
        ("report", "report is the one certified"),
        ("original", "original is the one certified"),
        ("flags", "unflagged patches are unchanged"),
        ("words in a file", "files are written plainly"),
    ],
)
def test_a_changed_release_is_caught(place: Path, tmp_path: Path, damage: str, line: str) -> None:
    release = shutil.copytree(place / "release", tmp_path / "release")
    faces_here = shutil.copytree(place / "faces", tmp_path / "faces")
    paper = release / "certificate.json"
    told = json.loads(paper.read_text())
    if damage in ("pixel", "original"):
        file = release / "images" / "007.png" if damage == "pixel" else faces_here / "face007.png"
        Image.fromarray(np.asarray(Image.open(file)) ^ 1).save(file)
    elif damage == "claim":
        told["claim"] = told["claim"].replace("nothing", "everything")
    elif damage == "vacuous":
        told["delta"]["vacuous"] = False
    elif damage == "verdict":
        told["adversaries"][0]["retrained"] = 1.0
    elif damage == "report":
        (release / "report.html").write_text("all is well")
    elif damage == "words in a file":
        file = release / "images" / "007.png"
        info = PngImagePlugin.PngInfo()
        info.add_text("Software", "smiles")
        Image.fromarray(np.asarray(Image.open(file))).save(file, pnginfo=info)
    elif damage == "flags":
        np.savez(release / "private" / "flags.npz", flags=np.zeros((240, 16), bool), patch=4)
    write_paper(paper, told)
    found = verify(release, against=faces_here, labels=place / "labels.csv")
    assert found.verdict == "broken"
    assert line in [check.name for check in found.checks if check.passed is False]


@pytest.mark.parametrize(
    ("field", "better", "line"),
    [
        ("flagged_share", lambda n: n / 2, "share of noised patches"),
        ("flagged_images", lambda n: n / 2, "share of noised patches"),
        ("mean_square", lambda n: 2 * n, "mean squared change"),
        ("scale", lambda n: n / 16, "scale of the noise"),
        ("delta", lambda n: replace(n, largest=n.largest / 2), "bound"),
        ("kept_labels", lambda n: (), "no other labels"),
    ],
)
def test_a_better_number_in_the_certificate_is_found_out_by_its_own_line(
    place: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, field: str, better: Any, line: str
) -> None:
    # Training adversaries takes long, and says nothing about these numbers.
    done = Check("adversaries trained again", True, "")
    monkeypatch.setattr("tacit.lenses.images.verify._check_of_adversaries", lambda *_, **__: done)
    release = shutil.copytree(place / "release", tmp_path / "release")
    forge(release, **{field: better(getattr(read_certificate(release), field))})
    assert line in broken_lines(release, place)


@pytest.mark.parametrize(
    ("damage", "line"),
    [
        ("a pixel without noise", "unflagged patches are unchanged"),
        ("a patch as it was", "every flagged patch was noised"),
        ("another label", "kept labels"),
        ("words in a file", "files are written plainly"),
        ("an image less", "number and size of images"),
        ("flags of other patches", "owner's papers fit the release"),
    ],
)
def test_a_release_forged_with_its_fingerprint_is_found_out_by_its_own_line(
    place: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, damage: str, line: str
) -> None:
    done = Check("adversaries trained again", True, "")
    monkeypatch.setattr("tacit.lenses.images.verify._check_of_adversaries", lambda *_, **__: done)
    release = shutil.copytree(place / "release", tmp_path / "release")
    with np.load(release / "private" / "flags.npz") as kept:
        arrays = dict(kept)
    flags, labels = arrays["flags"], release / "labels.csv"
    # The telling patch is noised in nearly every image, and hardly any other.
    at = int(np.flatnonzero(flags[:, 4 * ROW + COLUMN] & ~flags[:, 0])[0])
    file = release / "images" / sorted(each.name for each in (release / "images").iterdir())[at]
    names = dict(line.split(",") for line in (release / "private" / "names.csv").read_text().splitlines())
    original = np.asarray(Image.open(place / "faces" / names[file.name]))
    here = np.s_[4 * ROW : 4 * ROW + 4, 4 * COLUMN : 4 * COLUMN + 4]
    pixels = np.array(Image.open(file))
    if damage == "a pixel without noise":
        pixels[0, 0] ^= 1
        Image.fromarray(pixels).save(file)
    elif damage == "a patch as it was":
        pixels[here] = original[here]
        Image.fromarray(pixels).save(file)
    elif damage == "another label":
        first, *rest = labels.read_text().splitlines(keepends=True)
        rest[at] = rest[at].replace(",", ",1")
        labels.write_text(first + "".join(rest))
    elif damage == "words in a file":
        said = PngImagePlugin.PngInfo()
        said.add_text("Software", "smiles")
        Image.open(file).save(file, pnginfo=said)
    elif damage == "an image less":
        file.unlink()
    else:
        np.savez(release / "private" / "flags.npz", **(arrays | {"flags": flags[:, :9]}))
    output = replace(read_certificate(release).output, sha256=files_sha256(release, "images"))
    forge(release, output=output)
    assert line in broken_lines(release, place)


def test_an_adversary_that_guesses_more_than_was_said_is_found_out(place: Path, tmp_path: Path) -> None:
    release = shutil.copytree(place / "release", tmp_path / "release")
    scores = read_certificate(release).adversaries
    forge(release, adversaries=tuple(replace(each, before=each.before / 2) for each in scores))
    assert "adversaries trained again" in broken_lines(release, place)


def broken_lines(release: Path, place: Path) -> list[str]:
    found = verify(release, against=place / "faces", labels=place / "labels.csv")
    return [check.name for check in found.checks if check.passed is False]


@pytest.mark.parametrize("wrong", [0.9, 1.1])
def test_the_law_of_noise_tells_a_scale_that_is_a_tenth_off(wrong: float) -> None:
    from tacit.lenses.images.verify import check_of_noise

    rng = np.random.default_rng(0)
    before = rng.integers(0, 256, 20_000).astype(np.uint8)
    drawn = np.clip(np.rint(before + 0.3 * 255 * rng.standard_normal(len(before))), 0, 255).astype(np.uint8)
    assert check_of_noise(before, drawn, 0.3).passed
    assert not check_of_noise(before, drawn, 0.3 * wrong).passed
    assert noise_law(0.3).sum(axis=1) == pytest.approx(1)


def test_the_bound_of_a_patch_is_that_of_the_repaired_theorem() -> None:
    """A flag that follows the secret cannot be hidden: the floor is what the flag itself says."""
    codes = np.arange(1000) % 2
    flags = (codes == 1)[:, None] & np.ones((1, 2), bool)
    found = patch_delta(flags, codes, epsilon=0.5, scale=1e9, columns=16)
    assert found.largest == pytest.approx(0.5, abs=0.01)  # the other side: no flag rules the other secret out
    # Of two patches, each with the larger of both sides: the deltas in sum come no lower.
    assert found.floor == pytest.approx(2 * 0.5, abs=0.01)
    assert found.largest_vacuous
    nothing = patch_delta(np.zeros((10, 3), bool), codes[:10], epsilon=0.5, scale=1.0, columns=16)
    assert (nothing.largest, nothing.total) == (0, 0)


# ---- reading and refusing -----------------------------------------------------------------------------------------


def test_pixels_come_back_exactly_and_patches_number_row_by_row(tmp_path: Path) -> None:
    pixels = np.arange(256, dtype=np.uint8).reshape(1, 16, 16)
    np.savez(tmp_path / "a.npz", x=np.repeat(pixels, 6, axis=0), s=np.arange(6))
    images = open_images(tmp_path / "a.npz")
    assert (pixels_of(images.matrix(), images.pixels.shape) == images.pixels).all()
    groups = patches(4, 8, 2, channels=3).reshape(4, 8, 3)
    assert groups[0, :, 0].tolist() == [0, 0, 1, 1, 2, 2, 3, 3]
    assert groups[2, 0].tolist() == [4, 4, 4]


def test_images_are_written_as_they_came(tmp_path: Path) -> None:
    pixels, label = faces(12, colour=True)
    images = open_images(folder_of(pixels, label, tmp_path / "faces"), labels=tmp_path / "labels.csv")
    (tmp_path / "out").mkdir()
    write_images(images, tmp_path / "out", keep=["smile"])
    again = open_images(tmp_path / "out" / "images", labels=tmp_path / "out" / "labels.csv")
    assert (again.pixels == pixels).all()
    assert again.labels["smile"] == images.labels["smile"]


def test_exif_orientation_is_applied_and_alpha_that_hides_nothing_dropped(tmp_path: Path) -> None:
    pixels, label = faces(12)
    folder = folder_of(pixels, label, tmp_path / "faces")
    turned = Image.Exif()
    turned[0x0112] = 6
    Image.fromarray(pixels[0]).save(folder / "face000.png", exif=turned)
    Image.fromarray(pixels[1]).convert("LA").save(folder / "face001.png")
    images = open_images(folder, labels=tmp_path / "labels.csv")
    assert (images.pixels[0] == np.rot90(pixels[0], -1)).all()
    assert (images.pixels[1] == pixels[1]).all()
    assert any("alpha" in note for note in images.notes)
    assert any("EXIF" in note for note in images.notes)


def _broken(folder: Path, what: str) -> None:
    labels = folder.parent / "labels.csv"
    file = folder / "face003.png"
    if what == "unreadable":
        file.write_bytes(b"\x89PNG not really")
    elif what == "cut short":
        file.write_bytes(file.read_bytes()[:60])
    elif what == "another size":
        Image.fromarray(np.zeros((16, 20), np.uint8)).save(file)
    elif what == "16 bits":
        Image.fromarray(np.zeros((16, 16), np.uint16)).save(file)
    elif what == "transparent":
        Image.fromarray(np.zeros((16, 16, 4), np.uint8)).save(file)
    elif what == "no label":
        labels.write_text("".join(line for line in labels.read_text().splitlines(True) if "face003" not in line))
    elif what == "no image":
        file.unlink()
    elif what == "twice":
        labels.write_text(labels.read_text() + "face003.png,yes,0\n")
    elif what == "other names":
        labels.write_text(labels.read_text().replace("face", "picture"))
    elif what == "one class":
        labels.write_text(labels.read_text().replace(",no,", ",yes,"))
    elif what == "missing label":
        labels.write_text(labels.read_text().replace("face003.png,yes", "face003.png,"))
    elif what == "ragged":
        labels.write_text(labels.read_text() + "face999.png\n")
    elif what == "empty":
        shutil.rmtree(folder)
        folder.mkdir()


@pytest.mark.parametrize(
    ("what", "error", "words"),
    [
        ("unreadable", SourceError, "face003.png: it is damaged"),
        ("cut short", SourceError, "face003.png: it is damaged"),
        ("another size", DataError, "face003.png is 20x16 pixels where face000.png is 16x16.*resize"),
        ("16 bits", DataError, "face003.png has more than 8 bits"),
        ("transparent", DataError, "face003.png is partly transparent"),
        ("no label", DataError, "1 images have no row in .*face003.png"),
        ("no image", DataError, "1 rows of .* have no image, such as 'face003.png'"),
        ("twice", DataError, "labels 'face003.png' twice"),
        ("other names", DataError, "no column of .* holds the names"),
        ("one class", DataError, "every image has the same 'smile': there"),
        ("missing label", DataError, "1 images have no 'smile'"),
        ("ragged", DataError, "row 26: 1 cells"),
        ("empty", SourceError, "holds no images"),
    ],
)
def test_bad_images_and_labels_are_refused_by_name(
    tmp_path: Path, what: str, error: type[Exception], words: str
) -> None:
    folder = folder_of(*faces(24), tmp_path / "faces")
    _broken(folder, what)
    with pytest.raises(error, match=words):
        audit(folder, labels=tmp_path / "labels.csv", secret="smile", patch=4)


def test_other_things_that_cannot_be_asked_are_refused(place: Path, tmp_path: Path) -> None:
    folder, labels = place / "faces", place / "labels.csv"
    with pytest.raises(ArgumentError, match="patch of 32 pixels does not divide images of 16x16: choose 16, 8, 4, 2"):
        audit(folder, labels=labels, secret="smile", patch=32)
    with pytest.raises(ArgumentError, match="choose 16, 8, 4, 2"):
        audit(folder, labels=labels, secret="smile", patch=5)
    with pytest.raises(ColumnError, match="did you mean 'smile'"):
        audit(folder, labels=labels, secret="smil")
    with pytest.raises(ArgumentError, match="labels"):
        audit(folder, secret="smile")
    with pytest.raises(SourceError, match="no folder or npz"):
        audit(tmp_path / "nowhere", labels=labels, secret="smile")
    with pytest.raises(SourceError, match=r"neither a folder of images nor an npz; .*vector"):
        audit(labels, labels=labels, secret="smile")
    with pytest.raises(ArgumentError, match="is the secret"):
        protect(folder, labels=labels, secret="smile", epsilon=1, out=tmp_path / "r", keep_label=["smile"])
    with pytest.raises(ArgumentError, match="holds the original"):
        protect(folder, labels=labels, secret="smile", epsilon=1, out=place, overwrite=True)
    assert not (tmp_path / "r").exists()


@pytest.mark.parametrize(
    ("arrays", "words"),
    [
        ({"s": np.arange(6)}, "no array of images"),
        ({"a": np.zeros((6, 4, 4), np.uint8), "b": np.zeros((6, 4, 4), np.uint8)}, "several arrays of images"),
        ({"x": np.zeros((6, 4, 4), np.uint8)}, "holds no labels"),
        ({"x": np.zeros((6, 4, 4), np.uint8), "s": np.arange(5)}, "5 labels for 6 images"),
        ({"x": np.zeros((6, 4, 4, 2), np.uint8), "s": np.arange(6)}, "2 channels"),
        ({"x": np.zeros((6, 4, 4)), "s": np.arange(6)}, "no array of images"),
    ],
)
def test_an_npz_that_is_not_images_is_refused(tmp_path: Path, arrays: dict[str, np.ndarray], words: str) -> None:
    np.savez(tmp_path / "a.npz", **arrays)
    with pytest.raises(DataError, match=words):
        open_images(tmp_path / "a.npz")


def test_an_npz_that_would_run_code_or_is_damaged_is_refused(tmp_path: Path) -> None:
    np.savez(tmp_path / "a.npz", x=np.array([{}], dtype=object))
    (tmp_path / "b.npz").write_bytes(b"PK nothing")
    for name in ("a.npz", "b.npz"):
        with pytest.raises(SourceError, match="damaged, or not an npz of plain arrays"):
            open_images(tmp_path / name)


# ---- adversaries and the command ----------------------------------------------------------------------------------


def test_an_adversary_sees_a_brighter_patch() -> None:
    pixels, label = faces(300)
    model = HogClassifier().fit(pixels[:200], label[:200])
    assert (model.predict(pixels[200:]) == label[200:]).mean() > 0.95
    with pytest.raises(ArgumentError, match="uint8"):
        model.predict(pixels[200:] / 255)


def test_gradients_tell_stripes_of_equal_brightness_apart() -> None:
    rng = np.random.default_rng(0)
    label = np.arange(200) % 2
    stripe = np.broadcast_to(np.where(np.arange(32) // 2 % 2, 200, 60), (32, 32))
    pixels = np.array([np.roll(stripe if s else stripe.T, rng.integers(4, size=2), axis=(0, 1)) for s in label])
    pixels = (pixels + rng.integers(-40, 40, pixels.shape)).astype(np.uint8)
    model = HogClassifier().fit(pixels[:100], label[:100])
    assert model.score(pixels[100:], label[100:]) > 0.95


@pytest.mark.long
def test_the_whole_job_on_the_command_line(tacit_command: Run, tmp_path: Path) -> None:
    run = tacit_command
    page, release = tmp_path / "audit.html", tmp_path / "release"
    folder, labels = str(folder_of(*faces(120), tmp_path / "faces")), str(tmp_path / "labels.csv")
    asked = [folder, "--labels", labels, "--secret", "smile", "--patch", "8"]
    code, out, err = run("audit", *asked, "--report", str(page), "--epsilon", "0.1")
    assert (code, err) == (1, "")
    assert "LEAK" in out
    assert page.stat().st_size > 20_000
    code, out, err = run("protect", *asked, "--epsilon", "0.5", "--scale", "4", "-o", str(release), "--format", "json")
    assert (code, err) == (0, "")
    assert json.loads(out)["result"] == "ImageProtectResult"
    assert sorted(p.name for p in release.iterdir()) == ["certificate.json", "images", "private", "report.html"]
    unfit, out, _ = run("verify", str(release), "--against", folder, "--labels", labels)
    assert "HOLDS" in out or "although what is stated about it is true" in " ".join(out.split())
    code, out, _ = run("attack", str(release), "--against", folder, "--labels", labels)
    assert unfit == code == int("PARTS ARE UNTOUCHED" in out or "STILL BETTER" in out)


@pytest.mark.parametrize(
    ("words", "code", "message"),
    [
        (["audit", "faces", "--secret", "smile"], 2, "--labels labels.csv"),
        (["audit", "faces", "--labels", "labels.csv"], 2, "--secret"),
        (["audit", "faces", "--labels", "labels.csv", "--secret", "smile", "--bins", "a=3"], 2, "--bins a=3 is not"),
        (["audit", "labels.csv", "--secret", "smile", "--patch", "8"], 2, "--patch 8 is not for tables"),
        (["audit", "faces", "--labels", "nowhere.csv", "--secret", "smile"], 3, "nowhere.csv"),
        (["protect", "faces", "--labels", "labels.csv", "--secret", "smile", "-o", "r"], 2, "--epsilon"),
        (
            ["protect", "faces", "--labels", "labels.csv", "--secret", "smile", "--epsilon", "1", "--patch", "8",
             "--patch", "4", "-o", "r"],
            2, "--patch once",
        ),
        (
            ["protect", "faces", "--labels", "labels.csv", "--secret", "smile", "--epsilon", "1", "--scale", "0",
             "-o", "r"],
            2, "scale",
        ),
    ],
)  # fmt: skip
def test_wrong_words_are_one_line(run: Run, words: list[str], code: int, message: str) -> None:
    found, out, err = run(*words)
    assert (found, out) == (code, "")
    assert message in err
    assert "Traceback" not in err
