"""Files of images: every kind is read or refused by name, and nothing of a file but its pixels is released."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from tacit import attack, audit, protect, verify
from tacit.errors import ArgumentError, DataError, SourceError
from tacit.lenses.images import open_images
from tacit.lenses.images.images import Images, reordered, write_images

Image = pytest.importorskip("PIL.Image", reason="Pillow is not installed (extra `images`)")
PngInfo = pytest.importorskip("PIL.PngImagePlugin").PngInfo


def picture(seed: int = 0, *, size: tuple[int, int] = (8, 6), colour: bool = False) -> np.ndarray:
    """Noise, as high as ``size`` says first."""
    shape = (*size, 3) if colour else size
    return np.random.default_rng(seed).integers(0, 256, shape).astype(np.uint8)


def labelled(folder: Path, names: list[str], *, told: str = "{}") -> Path:
    """A CSV beside the folder that names its images."""
    lines = [f"{told.format(name)},{k % 2}" for k, name in enumerate(names)]
    (folder.parent / "labels.csv").write_text("\n".join(["where,smile", *lines]) + "\n")
    return folder.parent / "labels.csv"


@pytest.mark.parametrize("ending", [".png", ".webp", ".bmp", ".tif", ".tiff"])
@pytest.mark.parametrize("colour", [False, True])
def test_what_loses_nothing_is_read_and_written_to_the_last_bit(tmp_path: Path, ending: str, colour: bool) -> None:
    (tmp_path / "in").mkdir()
    pixels = picture(colour=colour)
    Image.fromarray(pixels).save(tmp_path / "in" / f"a{ending}", **({"lossless": True} if ending == ".webp" else {}))
    images = open_images(tmp_path / "in", labels=labelled(tmp_path / "in", [f"a{ending}"]))
    # WebP has no grey: such a picture comes back as colour, in equal parts.
    assert (images.pixels[0] == (pixels if images.channels == 1 or colour else pixels[..., None])).all()
    (tmp_path / "out").mkdir()
    write_images(images, tmp_path / "out")
    assert (open_images(tmp_path / "out" / "images", labels=tmp_path / "labels.csv").pixels == images.pixels).all()


@pytest.mark.parametrize("told", ["{}", "faces/{}", ".\\{}"])
def test_images_in_folders_are_found_by_their_paths(tmp_path: Path, told: str) -> None:
    names = ["001.png", "a/001.png", "a/b/001.png"]
    for k, name in enumerate(names):
        file = tmp_path / "faces" / name
        file.parent.mkdir(parents=True, exist_ok=True)
        Image.fromarray(picture(k)).save(file)
    (tmp_path / "faces" / ".hidden").mkdir()
    Image.fromarray(picture()).save(tmp_path / "faces" / ".hidden" / "x.png")
    images = open_images(tmp_path / "faces", labels=labelled(tmp_path / "faces", names, told=told))
    assert images.names == tuple(names)
    assert images.labels == {"smile": ("0", "1", "0")}


def test_a_file_name_alone_is_enough_unless_two_images_share_it(tmp_path: Path) -> None:
    for name in ("a/001.png", "b/002.png"):
        (tmp_path / "faces" / name).parent.mkdir(parents=True)
        Image.fromarray(picture()).save(tmp_path / "faces" / name)
    labels = labelled(tmp_path / "faces", ["001.png", "002.png"])
    assert open_images(tmp_path / "faces", labels=labels).labels == {"smile": ("0", "1")}
    Image.fromarray(picture()).save(tmp_path / "faces" / "b" / "001.png")
    with pytest.raises(DataError, match=r"2 images have no row in .*a/001\.png"):
        open_images(tmp_path / "faces", labels=labels)


def odd_files(folder: Path) -> dict[str, str]:
    """Files that Tacit does not read, and what it says of each."""
    folder.mkdir()
    (folder / "damaged.jpg").write_bytes(b"\xff\xd8 nothing")
    (folder / "empty.webp").write_bytes(b"")
    Image.fromarray(picture()).convert("CMYK").save(folder / "printed.tif")
    Image.fromarray(np.zeros((8, 6), np.uint16)).save(folder / "deep.png")
    deep_colour(folder / "colour.png")
    Image.fromarray(np.zeros((8, 6, 4), np.uint8)).save(folder / "ghost.png")
    Image.fromarray(picture(colour=True)).convert("LAB").save(folder / "lab.tif")
    return {
        "damaged.jpg": "cannot read damaged.jpg: it is damaged",
        "empty.webp": "cannot read empty.webp: it is damaged",
        "printed.tif": "printed.tif is in CMYK",
        "deep.png": "deep.png has more than 8 bits",
        "colour.png": "colour.png has more than 8 bits",
        "ghost.png": "ghost.png is partly transparent",
        "lab.tif": "lab.tif has the colour mode LAB",
    }


def deep_colour(path: Path) -> None:
    """A PNG in colour with sixteen bits, which Pillow cannot write and would read as eight."""
    import struct
    import zlib

    def chunk(kind: bytes, data: bytes) -> bytes:
        return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))

    head = struct.pack(">IIBBBBB", 6, 8, 16, 2, 0, 0, 0)
    rows = zlib.compress(b"".join(b"\0" + bytes(6 * 6) for _ in range(8)))
    path.write_bytes(b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", head) + chunk(b"IDAT", rows) + chunk(b"IEND", b""))


def test_files_that_cannot_be_read_are_named_and_left_out_if_asked(tmp_path: Path) -> None:
    told = odd_files(tmp_path / "faces")
    Image.fromarray(picture()).save(tmp_path / "faces" / "good.png")
    labels = labelled(tmp_path / "faces", ["good.png", *told])
    first = min(told)
    with pytest.raises((DataError, SourceError), match=f"{told[first]}.*7 of 8 files.*skip_unreadable"):
        open_images(tmp_path / "faces", labels=labels)
    images = open_images(tmp_path / "faces", labels=labels, skip_unreadable=True)
    assert (images.names, images.labels["smile"], images.reading.left_out) == (("good.png",), ("0",), 7)
    shown = sorted(told)[:5]
    assert all(told[name] in images.notes[0] for name in shown)
    assert "and 2 more" in images.notes[0]
    (tmp_path / "faces" / "good.png").unlink()
    with pytest.raises((DataError, SourceError), match="7 of 7 files cannot be read"):
        open_images(tmp_path / "faces", labels=labels, skip_unreadable=True)


def test_palettes_single_bits_and_first_frames_are_read_and_said(tmp_path: Path) -> None:
    folder = tmp_path / "faces"
    folder.mkdir()
    frames = [Image.fromarray(picture(k, colour=True)) for k in range(3)]
    frames[0].save(folder / "moving.webp", save_all=True, append_images=frames[1:], lossless=True)
    frames[0].save(folder / "pages.tif", save_all=True, append_images=frames[1:])
    frames[0].quantize(4).save(folder / "palette.png")
    Image.fromarray(picture() > 127).save(folder / "bits.png")
    names = ["bits.png", "moving.webp", "pages.tif", "palette.png"]
    images = open_images(folder, labels=labelled(folder, names))
    assert set(np.unique(images.pixels[0]).tolist()) == {0, 255}
    assert (images.pixels[1] == np.asarray(frames[0])).all()
    assert (images.pixels[2] == np.asarray(frames[0])).all()
    assert len(np.unique(images.pixels[3].reshape(-1, 3), axis=0)) == 4
    assert any("2 files have several pictures" in note for note in images.notes)


def test_images_of_several_sizes_are_refused_with_the_way_out_or_resized(tmp_path: Path) -> None:
    folder = tmp_path / "faces"
    folder.mkdir()
    Image.fromarray(picture(size=(8, 8))).save(folder / "a.png")
    # Twice as large and wider: its middle is what is left.
    wide = np.repeat(np.repeat(np.arange(12, dtype=np.uint8) * 20, 2)[None, :], 16, axis=0)
    Image.fromarray(wide).save(folder / "b.png")
    labels = labelled(folder, ["a.png", "b.png"])
    with pytest.raises(DataError, match=r"b\.png is 24x16 pixels where a\.png is 8x8: .*resize.*8x8"):
        open_images(folder, labels=labels)
    images = open_images(folder, labels=labels, resize=(8, 8))
    assert (images.pixels[0] == picture(size=(8, 8))).all()
    assert np.abs(images.pixels[1][0].astype(int) - np.arange(2, 10) * 20).max() <= 8
    assert (images.reading.resize, images.reading.resized) == ("8x8", 1)
    for wrong in ("eight", "8x", "8x8x8", 0, "-4x4"):
        with pytest.raises(ArgumentError, match="resize"):
            audit(folder, labels=labels, secret="smile", resize=wrong)


@pytest.fixture(scope="module")
def mixed(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder of folders, of several kinds and sizes, with words in the files, one of them damaged."""
    here = tmp_path_factory.mktemp("mixed")
    rng = np.random.default_rng(0)
    names = []
    for k in range(260):
        side = 15 + k % 2
        pixels = rng.integers(90, 130, (side, side, 3))
        pixels[:, : side // 2] += 60 * (k // 2 % 3)
        pixels[:5] += 40 * (k % 2)
        ending = (".png", ".jpg", ".webp")[k % 3]
        names.append(f"people/{'ab'[k % 2]}/secretname{k}{ending}")
        file = here / "faces" / names[-1]
        file.parent.mkdir(parents=True, exist_ok=True)
        words, exif = PngInfo(), Image.Exif()
        words.add_text("Author", "secretname")
        exif[0x013B] = "secretname"
        more = {"pnginfo": words} if ending == ".png" else {"exif": exif}
        Image.fromarray(pixels.astype(np.uint8)).save(file, **more)
    (here / "faces" / names[7]).write_bytes(b"damaged")
    lines = [f"{name},{k % 2},{k // 2 % 3}" for k, name in enumerate(names)]
    (here / "labels.csv").write_text("\n".join(["file,smile,light", *lines]) + "\n")
    return here


def nothing_but_pixels(place: Path) -> int:
    """Look into every file that others get for what the originals had beside their pixels; how many are pictures."""
    pictures = 0
    for file in place.rglob("*"):
        if "private" in file.parts or file.is_dir():
            continue
        assert b"secretname" not in file.read_bytes()
        if file.suffix in (".png", ".jpg", ".webp"):
            pictures += 1
            with Image.open(file) as opened:
                assert not opened.getexif()
                assert not {"Author", "exif", "comment", "xmp", "icc_profile"} & opened.info.keys()
    return pictures


def test_nothing_of_a_file_but_its_pixels_is_released_and_how_it_was_read_is_certified(
    mixed: Path, tmp_path: Path
) -> None:
    asked = {"labels": mixed / "labels.csv", "resize": "16x16", "skip_unreadable": True, "random_state": 0}
    made = protect(mixed / "faces", secret="smile", use="light", ceiling=0.75, least=5, out=tmp_path / "r", **asked)
    reading = made.certificate.input.reading
    assert (reading.resize, reading.resized, reading.left_out) == ("16x16", 130, 1)
    said = " ".join(made.certificate.assumptions)
    assert "130 of 259 images were resized to 16x16 pixels" in said
    assert "could not be read were left out, 1 in all" in said
    assert "16x16" in (tmp_path / "r" / "report.html").read_text()
    assert "secretname7" in " ".join(made.notes)
    assert nothing_but_pixels(tmp_path / "r") == 259
    checked = verify(tmp_path / "r", against=mixed / "faces", labels=mixed / "labels.csv")
    assert checked.verdict == "holds", [check for check in checked.checks if not check.passed]
    (mixed / "faces" / "people" / "a" / "secretname0.png").rename(mixed / "faces" / "people" / "a" / "other.png")
    with pytest.raises(DataError, match="have no row"):
        verify(tmp_path / "r", against=mixed / "faces", labels=mixed / "labels.csv")
    (mixed / "faces" / "people" / "a" / "other.png").rename(mixed / "faces" / "people" / "a" / "secretname0.png")


def test_every_kind_of_file_is_written_without_what_came_with_it(mixed: Path, tmp_path: Path) -> None:
    how = {"labels": mixed / "labels.csv", "resize": (16, 16), "skip_unreadable": True}
    images = reordered(open_images(mixed / "faces", **how), np.arange(30), rename=True)
    write_images(images, tmp_path)
    assert {Path(name).suffix for name in images.names} == {".png", ".jpg", ".webp"}
    assert nothing_but_pixels(tmp_path) == 30


def test_names_that_are_kept_stay_in_their_folders(tmp_path: Path) -> None:
    pixels = np.stack([picture(k) for k in range(2)])
    images = Images(pixels, ("a/1.png", "b/1.png"), {"smile": ("0", "1")}, tmp_path)
    write_images(images, tmp_path, keep=["smile"])
    again = open_images(tmp_path / "images", labels=tmp_path / "labels.csv")
    assert again.names == images.names
    assert (again.pixels == pixels).all()


def test_images_of_odd_sides_are_coded_and_attacked(tmp_path: Path) -> None:
    rng = np.random.default_rng(0)
    smile = np.arange(240) % 2
    pixels = rng.integers(70, 150, (240, 15, 17))
    pixels[:, 4:8] += 20 * smile[:, None, None]
    np.savez(tmp_path / "odd.npz", x=pixels.astype(np.uint8), smile=smile)
    protect(tmp_path / "odd.npz", secret="smile", ceiling=0.8, least=5, out=tmp_path / "r", random_state=0)
    tried = attack(tmp_path / "r", against=tmp_path / "odd.npz", without=["network", "gradients"])
    assert not tried.untouched
    with pytest.raises(DataError, match=r"no patch of .* divides images of 17x15.*resize.*16x14"):
        audit(tmp_path / "odd.npz", secret="smile")
