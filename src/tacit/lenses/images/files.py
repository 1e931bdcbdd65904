"""Pictures from files: which files in a folder are pictures, what pixels each holds, and how all get one size."""

from __future__ import annotations

import os
import warnings
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tacit.errors import DataError, EngineError, Setting, SourceError, TacitError, sentence, together
from tacit.loading import ImageReading

Pixels = NDArray[np.uint8]
Size = tuple[int, int]

FORMATS = {
    ".png": "PNG",
    ".jpg": "JPEG",
    ".jpeg": "JPEG",
    ".webp": "WEBP",
    ".bmp": "BMP",
    ".tif": "TIFF",
    ".tiff": "TIFF",
}
# Most values of pixels held at once; each takes eight bytes of memory while it is worked on.
MOST_VALUES = 1_000_000_000
# Of several files that cannot be read, how many are named.
_NAMED = 5
_ORIENTATION = 0x0112


@dataclass(frozen=True)
class Pictures:
    """The pictures of a folder in one array, their names under it, how they were read, and what was done to them.

    ``left_out`` are the names of those that could not be read.
    """

    pixels: Pixels
    names: tuple[str, ...]
    left_out: tuple[str, ...]
    reading: ImageReading
    notes: tuple[str, ...]


@dataclass(frozen=True)
class _Picture:
    """One file as it was read."""

    pixels: Pixels
    alpha: bool = False
    turned: bool = False
    frames: int = 1


def picture_files(folder: Path) -> list[Path]:
    """The pictures of a folder and its subfolders, in the order of their names; hidden ones are left out.

    Raises
    ------
    SourceError
        If there are none, or a folder cannot be read.
    """
    every = files_within(folder)
    pictures = [file for file in every if file.suffix.lower() in FORMATS]
    if not pictures:
        kinds = sorted({file.suffix.lower() for file in every if file.suffix})
        what = f" but files of other kinds ({', '.join(kinds[:_NAMED])})" if kinds else ""
        raise SourceError(f"{folder} holds no images{what}: Tacit reads {', '.join(FORMATS)}")
    return pictures


def files_within(folder: Path) -> list[Path]:
    """All files of a folder and its subfolders, except those that begin with a dot."""

    def refuse(error: OSError) -> None:
        raise SourceError(f"cannot read {error.filename}: {error.strerror}") from error

    paths: list[Path] = []
    for place, folders, files in os.walk(folder, onerror=refuse):
        folders[:] = [name for name in folders if not name.startswith(".")]
        paths += [Path(place, name) for name in files if not name.startswith(".")]
    return sorted(paths)


def name_of(file: Path, folder: Path) -> str:
    """The name of a picture: its path under the folder, with ``/`` on every system."""
    return file.relative_to(folder).as_posix()


def read_pictures(folder: Path, *, resize: Size | None = None, skip_unreadable: bool = False) -> Pictures:
    """All pictures of a folder as one array; if any is in colour, grey ones become colour, too.

    Parameters
    ----------
    resize : (width, height), optional
        Bring every picture to this size; see :func:`fitted`.
    skip_unreadable : bool
        Leave out the files that cannot be read, and say which, instead of refusing them all.
    """
    pillow, files = load_pillow(), picture_files(folder)
    names, pictures, failed, resized, values = list[str](), list[_Picture](), list[tuple[str, TacitError]](), 0, 0
    for file in files:
        name = name_of(file, folder)
        try:
            picture = _read(pillow, file, name)
        except (DataError, SourceError) as error:
            failed.append((name, error))
            continue
        if resize is not None and picture.pixels.shape[1::-1] != resize:
            picture = _Picture(fitted(picture.pixels, resize), picture.alpha, picture.turned, picture.frames)
            resized += 1
        values += picture.pixels.size
        if values > MOST_VALUES:
            words = "the images of {folder} have more than {most:,} values of pixels: make them smaller ({resize})"
            setting = Setting("resize", "128x128")
            raise DataError(sentence(words, folder=folder, most=MOST_VALUES, resize=setting))
        names.append(name)
        pictures.append(picture)
    if failed and (not skip_unreadable or not pictures):
        raise _unreadable(failed, len(files))
    pixels = [each.pixels for each in pictures]
    _refuse_sizes(names, pixels)
    grey = sum(each.ndim == 2 for each in pixels)
    mixed = 0 < grey < len(pixels)
    if mixed:
        pixels = [each if each.ndim == 3 else np.repeat(each[..., None], 3, axis=2) for each in pixels]
    reading = ImageReading(None if resize is None else size_text(resize), resized, len(failed))
    notes = _notes(pictures, failed, reading, grey if mixed else 0)
    return Pictures(np.stack(pixels), tuple(names), tuple(name for name, _ in failed), reading, notes)


def _notes(
    pictures: Sequence[_Picture], failed: Sequence[tuple[str, TacitError]], reading: ImageReading, grey: int
) -> tuple[str, ...]:
    alpha, turned = sum(each.alpha for each in pictures), sum(each.turned for each in pictures)
    moving = sum(each.frames > 1 for each in pictures)
    reasons = [str(error) for _, error in failed[:_NAMED]]
    more = f", and {len(failed) - _NAMED:,} more" if len(failed) > _NAMED else ""
    resized = f"{reading.resized:,} of {len(pictures):,} images were resized to {reading.resize} pixels"
    notes = (
        (failed, f"{len(failed):,} files were left out: {'; '.join(reasons)}{more}"),
        (reading.resized, f"{resized}: scaled, and cropped where their proportions differ"),
        (grey, f"{grey:,} grey images among colour ones are treated, and written, as colour"),
        (alpha, f"{alpha:,} images had an alpha channel that hid nothing; it was dropped"),
        (turned, f"{turned:,} images were turned as their EXIF orientation says; the release has no EXIF"),
        (moving, f"{moving:,} files have several pictures (frames or pages): the first of each was taken"),
    )
    return tuple(note for applies, note in notes if applies)


def _unreadable(failed: Sequence[tuple[str, TacitError]], of: int) -> TacitError:
    """The error of the first file that cannot be read, with how many there are and the way out."""
    _, first = failed[0]
    count = "" if len(failed) == 1 else f" ({len(failed):,} of {of:,} files cannot be read)"
    way = sentence("{skip} leaves such files out", skip=Setting("skip_unreadable", True))
    return type(first)(together((f"{first}{count};", way), " "))


def _refuse_sizes(names: Sequence[str], pixels: Sequence[Pixels]) -> None:
    sizes = [each.shape[1::-1] for each in pixels]
    other = next((k for k, size in enumerate(sizes) if size != sizes[0]), None)
    if other is None:
        return
    usual = max(dict.fromkeys(sizes), key=sizes.count)
    raise DataError(
        sentence(
            "{own} is {size} pixels where {first} is {other}: resize all to one size ({resize})",
            own=names[other],
            size=size_text(sizes[other]),
            first=names[0],
            other=size_text(sizes[0]),
            resize=Setting("resize", size_text(usual)),
        )
    )


def size_text(size: Sequence[int]) -> str:
    """Width and height as they are written: ``64x48``."""
    return f"{size[0]}x{size[1]}"


def fitted(pixels: Pixels, size: Size) -> Pixels:
    """A picture scaled to a size: its proportions stay, and the excess is cut off equally on both sides."""
    pillow = load_pillow()
    return np.asarray(pillow.ImageOps.fit(pillow.Image.fromarray(pixels), size))


def load_pillow() -> Any:
    """Pillow, or an error that says how to get it."""
    try:
        import PIL.Image
        import PIL.ImageOps
    except ImportError as error:
        raise EngineError("reading image files needs Pillow: install tacit[images], or give an npz") from error
    return PIL


def _read(pillow: Any, file: Path, name: str) -> _Picture:
    """One file: the first picture if it holds several, turned as its orientation says."""
    try:
        with warnings.catch_warnings():
            # A picture of absurd size is an error, not a warning.
            warnings.simplefilter("error")
            with pillow.Image.open(file, formats=sorted(set(FORMATS.values()))) as opened:
                # Pillow silently reads sixteen bits of colour as eight; only the way they are stored shows it.
                deep = any(";16" in str(tile[-1]) for tile in opened.tile)
                frames = getattr(opened, "n_frames", 1)
                turned = opened.getexif().get(_ORIENTATION, 1) not in (0, 1)
                image = pillow.ImageOps.exif_transpose(opened)
                image.load()
                mode = image.mode
                if mode == "1":
                    image = image.convert("L")
                elif mode in ("P", "PA"):
                    image = image.convert("RGBA" if mode == "PA" or "transparency" in image.info else "RGB")
                pixels = np.asarray(image)
    except (OSError, ValueError, SyntaxError, Warning, pillow.Image.DecompressionBombError) as error:
        kinds = ", ".join(sorted(set(FORMATS.values())))
        raise SourceError(f"cannot read {name}: it is damaged, too large, or none of {kinds}") from error
    if deep or mode.startswith(("I", "F")):
        raise DataError(f"{name} has more than 8 bits per channel: save it with 8 bits first")
    if mode == "CMYK":
        raise DataError(f"{name} is in CMYK, for printing: save it as RGB first")
    if image.mode in ("LA", "RGBA"):
        if (pixels[..., -1] != 255).any():
            raise DataError(f"{name} is partly transparent: put it on a background first, or drop the alpha")
        return _Picture(pixels[..., 0] if image.mode == "LA" else pixels[..., :3], True, turned, frames)
    if image.mode not in ("L", "RGB"):
        raise DataError(f"{name} has the colour mode {image.mode}: save it as grey or RGB first")
    return _Picture(pixels, False, turned, frames)
