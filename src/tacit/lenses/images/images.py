"""Images of one size with their labels, from a folder or an npz; patches of pixels; writing them back."""

from __future__ import annotations

import csv
import hashlib
import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from os import PathLike
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tacit.errors import ArgumentError, ColumnError, DataError, Setting, SourceError, sentence
from tacit.lenses.images.files import (
    FORMATS,
    Pixels,
    Size,
    fitted,
    load_pillow,
    picture_files,
    read_pictures,
    size_text,
)
from tacit.lenses.images.labels import labels_of, read_labels
from tacit.loading import ImageReading, arrays_in, checked_path
from tacit.release.certificate import CertifiedInput
from tacit.release.checks import Check
from tacit.release.keys import LABELS

Groups = NDArray[np.int64]

# Nothing was resized or left out.
AS_THEY_ARE = ImageReading()

PATCH_SIZES = (32, 16, 8, 4, 2)
# No loss is visible at this quality, but pixels do change.
JPEG_QUALITY = 95
# How each format is written; all but JPEG keep every pixel.
_WRITTEN: Mapping[str, Mapping[str, Any]] = {
    "JPEG": {"quality": JPEG_QUALITY, "subsampling": 0},
    "WEBP": {"lossless": True},
    "TIFF": {"compression": "tiff_adobe_deflate"},
}
# Two suffixes for one format: which of them an image had may tell where it came from.
_PLAIN = {".jpeg": ".jpg", ".tiff": ".tif"}
# An archive that claims to hold more than this is refused before it is unpacked.
MOST_PIXELS = 4_000_000_000


@dataclass(frozen=True)
class Images:
    """Images of one size, each with a name and its labels.

    Attributes
    ----------
    pixels : uint8 array
        (n, height, width), or (n, height, width, 3) in colour.
    names : tuple of str
        Paths inside the folder; numbers if the images came from an npz.
    labels : mapping
        Column to the label of every image, as text.
    source : Path
        The folder, or the npz.
    npz, pixels_key : bool, str
        Whether the images came from an npz, and the name of their array in it.
    reading : ImageReading
        How the files were read: the size that they were brought to, and how many were left out.
    notes : tuple of str
        What was done or left out on the way in.
    """

    pixels: Pixels
    names: tuple[str, ...]
    labels: Mapping[str, tuple[str, ...]]
    source: Path
    npz: bool = False
    pixels_key: str = "x"
    reading: ImageReading = AS_THEY_ARE
    notes: tuple[str, ...] = ()

    def __len__(self) -> int:
        return len(self.names)

    @property
    def height(self) -> int:
        """Rows of pixels."""
        return int(self.pixels.shape[1])

    @property
    def width(self) -> int:
        """Columns of pixels."""
        return int(self.pixels.shape[2])

    @property
    def channels(self) -> int:
        """1 for grey images, 3 for colour."""
        return 1 if self.pixels.ndim == 3 else int(self.pixels.shape[3])

    @property
    def lossy(self) -> bool:
        """Whether some images are written as JPEG, which changes pixels."""
        return not self.npz and any(_format_of(name) == "JPEG" for name in self.names)

    def label(self, column: str) -> NDArray[np.str_]:
        """The labels of a column; a ColumnError if there is none of that name."""
        if column not in self.labels:
            raise ColumnError(column, tuple(self.labels))
        return np.array(self.labels[column])

    def matrix(self) -> NDArray[np.float64]:
        """One row per image, one column per pixel and channel, from 0 to 1."""
        return np.asarray(self.pixels.reshape(len(self), -1) / 255.0)

    def sha256(self) -> str:
        """Fingerprint of the pixels, the names and the labels, in their order."""
        digest = hashlib.sha256(repr(self.pixels.shape).encode())
        digest.update(np.ascontiguousarray(self.pixels).tobytes())
        digest.update(json.dumps([self.names, sorted(self.labels.items())]).encode())
        return digest.hexdigest()


def pixels_of(matrix: NDArray[np.float64], shape: Sequence[int]) -> Pixels:
    """The inverse of :meth:`Images.matrix`: values outside 0 to 1 are cut, whole levels come back exactly."""
    return np.rint(np.clip(matrix, 0.0, 1.0) * 255.0).astype(np.uint8).reshape(shape)


def open_images(
    source: str | PathLike[str],
    *,
    labels: str | PathLike[str] | None = None,
    resize: Size | None = None,
    skip_unreadable: bool = False,
) -> Images:
    """Read the image files of a folder and its subfolders, with a CSV of labels; or an npz.

    Parameters
    ----------
    source : path
        A folder of images (PNG, JPEG, WebP, BMP, TIFF), or an npz with one array of them: its key is ``x``, or it is
        the only 3- or 4-dimensional uint8 array. Arrays of one dimension are labels.
    labels : path, optional
        A CSV with a column of file names and columns of labels. An npz may hold its own labels.
    resize : (width, height), optional
        Bring all images to this size: scaled, and cropped where their proportions differ.
    skip_unreadable : bool
        Leave out the files that cannot be read, and name them in the notes, instead of refusing the folder.

    Raises
    ------
    SourceError
        If a file is not there, or cannot be read.
    DataError
        If images differ in size, have 16 bits, or lack a label, or a label lacks its image.
    """
    path = checked_path(source)
    if path.is_dir():
        if labels is None:
            picture_files(path)
            words = "{path} is a folder of images: name the CSV with their labels ({labels})"
            raise ArgumentError(sentence(words, path=path, labels=Setting("labels", "labels.csv")))
        return _open_folder(path, Path(labels), resize=resize, skip_unreadable=skip_unreadable)
    if not path.exists():
        raise SourceError(f"no folder or npz {path}: check the name")
    if path.suffix.lower() != ".npz":
        words = "{path} is neither a folder of images nor an npz; if it holds vectors, name them with {vector}"
        raise SourceError(sentence(words, path=path, vector=Setting("vector", "NAME")))
    return _open_npz(path, None if labels is None else Path(labels), resize=resize)


def open_pixels(source: str | Path, *, resize: Size | None = None, skip_unreadable: bool = False) -> Images:
    """Read images without their labels: a folder, or an npz, whose labels are read if it has any."""
    path = Path(source)
    if path.is_dir():
        return _open_folder(path, None, resize=resize, skip_unreadable=skip_unreadable)
    return _open_npz(path, None, need_labels=False, resize=resize)


def open_again(
    source: str | Path,
    reading: ImageReading | None,
    *,
    labels: str | PathLike[str] | None = None,
    need_labels: bool = True,
) -> Images:
    """The originals of a release, read as its certificate says they were."""
    as_read = reading or AS_THEY_ARE
    how: dict[str, Any] = {"resize": as_read.size, "skip_unreadable": as_read.left_out > 0}
    bare = labels is None and not need_labels and Path(source).is_dir()
    return open_pixels(source, **how) if bare else open_images(source, labels=labels, **how)


def check_of_reading(images: Images, source: CertifiedInput) -> Check:
    """Whether the originals were read as a certificate says: the same number resized, the same number left out."""
    certified = source.reading or AS_THEY_ARE
    alike = images.reading == certified
    words = f"{images.reading.resized:,} resized, {images.reading.left_out:,} left out"
    return Check("how the images were read", alike, words if alike else f"{words}; the certificate says otherwise")


def _open_folder(folder: Path, labels: Path | None, **how: Any) -> Images:
    pictures = read_pictures(folder, **how)
    table = {} if labels is None else labels_of(pictures.names, pictures.left_out, folder, labels)
    return Images(pictures.pixels, pictures.names, table, folder, reading=pictures.reading, notes=pictures.notes)


# ---- npz --------------------------------------------------------------------------------------------------------


def _open_npz(path: Path, labels: Path | None, *, need_labels: bool = True, resize: Size | None = None) -> Images:
    arrays = arrays_in(path, "npz of images", most=MOST_PIXELS)
    skipped = []
    key = _key_of(arrays, path)
    pixels = arrays.pop(key)
    if pixels.ndim == 4 and pixels.shape[3] == 1:
        pixels = pixels[..., 0]
    if pixels.ndim == 4 and pixels.shape[3] != 3:
        raise DataError(f"array '{key}' of {path} has {pixels.shape[3]} channels: Tacit reads grey (1) and colour (3)")
    if pixels.size == 0:
        raise DataError(f"array '{key}' of {path} holds no images")
    names = tuple(str(k) for k in range(len(pixels)))
    table: dict[str, tuple[str, ...]] = {}
    for name, values in arrays.items():
        if values.ndim == 1 and len(values) == len(pixels):
            table[name] = tuple(_spoken(value) for value in values.tolist())
        elif values.ndim == 1:
            raise DataError(f"'{name}' of {path} has {len(values):,} labels for {len(pixels):,} images")
        else:
            skipped.append(name)
    if labels is not None:
        header, rows = read_labels(labels)
        if len(rows) != len(pixels):
            raise DataError(f"{labels} has {len(rows):,} rows for {len(pixels):,} images: give one per image, in order")
        table |= {name: tuple(row[k] for row in rows) for k, name in enumerate(header)}
    if not table and need_labels:
        words = "{path} holds no labels (arrays of one dimension): add one, or name a CSV ({labels})"
        raise DataError(sentence(words, path=path, labels=Setting("labels")))
    left = f"arrays {', '.join(sorted(skipped))} of the npz are neither images nor labels, and were left out"
    notes, reading = (left,) if skipped else (), AS_THEY_ARE
    if resize is not None:
        other = pixels.shape[2:0:-1] != resize
        pixels = np.stack([fitted(each, resize) for each in pixels]) if other else pixels
        reading = ImageReading(size_text(resize), len(pixels) if other else 0)
        notes = (*notes, f"all images were resized to {reading.resize} pixels") if other else notes
    return Images(pixels, names, table, path, npz=True, pixels_key=key, reading=reading, notes=notes)


def _key_of(arrays: Mapping[str, NDArray[Any]], path: Path) -> str:
    shaped = {name: a for name, a in arrays.items() if a.ndim in (3, 4) and a.dtype == np.uint8}
    if "x" in shaped:
        return "x"
    if len(shaped) == 1:
        return next(iter(shaped))
    if shaped:
        raise DataError(f"{path} has several arrays of images ({', '.join(shaped)}): call the one to read 'x'")
    contents = ", ".join(f"{name}: {a.dtype}{list(a.shape)}" for name, a in arrays.items()) or "nothing"
    raise DataError(
        f"{path} has no array of images, uint8 (n, height, width) or (n, height, width, 3); it has {contents}"
    )


def _spoken(value: Any) -> str:
    return str(int(value)) if isinstance(value, bool) else f"{value:g}" if isinstance(value, float) else str(value)


# ---- patches ----------------------------------------------------------------------------------------------------


def patches(height: int, width: int, size: int, *, channels: int = 1) -> Groups:
    """The number of the patch that each column of :meth:`Images.matrix` belongs to, row by row from the top left.

    Raises
    ------
    ArgumentError
        If the size is not one of 32, 16, 8, 4, 2, or does not divide height and width.
    """
    fitting = _fitting(height, width)
    if size not in fitting:
        way = f"choose {', '.join(map(str, fitting))}" if fitting else "crop the images to even sides"
        raise ArgumentError(f"a patch of {size} pixels does not divide images of {width}x{height}: {way}")
    rows, columns = np.divmod(np.arange(height * width), width)
    groups = rows // size * (width // size) + columns // size
    return np.repeat(groups, channels).astype(np.int64)


def patch_masks(images: Images, size: int, flags: NDArray[np.bool_]) -> NDArray[np.bool_]:
    """Flags of patches (n, m) as flags of single values, in the shape of the pixels."""
    grid = flags.reshape(len(flags), images.height // size, images.width // size)
    mask = grid.repeat(size, axis=1).repeat(size, axis=2)
    return mask if images.pixels.ndim == 3 else np.repeat(mask[..., None], images.channels, axis=3)


def _fitting(height: int, width: int) -> list[int]:
    return [size for size in PATCH_SIZES if height % size == 0 and width % size == 0]


def suggested_patch(height: int, width: int) -> int:
    """The patch size to start with: about eight patches per side."""
    fitting = _fitting(height, width)
    if not fitting:
        words = "no patch of {sizes} pixels divides images of {size}: resize them ({resize})"
        near = size_text([max(side - side % PATCH_SIZES[-1], PATCH_SIZES[-1]) for side in (width, height)])
        sizes = ", ".join(map(str, PATCH_SIZES))
        settings = {"sizes": sizes, "size": size_text((width, height)), "resize": Setting("resize", near)}
        raise DataError(sentence(words, **settings))
    return min(fitting, key=lambda p: (abs(np.log2(min(height, width) / p / 8)), p))


# ---- writing ----------------------------------------------------------------------------------------------------


def _format_of(name: str) -> str:
    return FORMATS.get(Path(name).suffix.lower(), "PNG")


def _plain_suffix(name: str) -> str:
    suffix = Path(name).suffix.lower()
    return _PLAIN.get(suffix, suffix)


def image_file(images: Images) -> str:
    """What the release calls its images: a folder, or an npz."""
    return "images.npz" if images.npz else "images"


def write_images(images: Images, directory: Path, *, keep: Sequence[str] = ()) -> Path:
    """Write images, in their order and format, under ``directory``, with the labels that are kept.

    Guarantees
    ----------
    All files but JPEG hold exactly the pixels; JPEG is written with quality 95, and changes them. No file carries
    metadata: no EXIF, no text, no times, no thumbnail.
    """
    target = directory / image_file(images)
    kept = {column: images.label(column) for column in keep}
    if images.npz:
        _write_npz(target, {images.pixels_key: images.pixels, **kept})
        return target
    pillow = load_pillow()
    target.mkdir()
    for name, pixels in zip(images.names, images.pixels, strict=True):
        format, file = _format_of(name), target / name
        file.parent.mkdir(parents=True, exist_ok=True)
        pillow.Image.fromarray(pixels).save(file, format=format, **_WRITTEN.get(format, {}))
    if kept:
        write_csv(directory / LABELS, ["file", *kept], zip(images.names, *kept.values(), strict=True))
    return target


def write_csv(path: Path, header: Sequence[str], rows: Iterable[Sequence[str]]) -> None:
    """Rows of text under a header."""
    with path.open("w", encoding="utf-8", newline="") as file:
        csv.writer(file, lineterminator="\n").writerows([header, *rows])


def _write_npz(target: Path, arrays: Mapping[str, NDArray[Any]]) -> None:
    """As numpy's savez_compressed, which cannot save an array called ``file``; and no time of writing is stored."""
    import zipfile

    with zipfile.ZipFile(target, "w", compression=zipfile.ZIP_DEFLATED) as packed:
        for name, values in arrays.items():
            with packed.open(zipfile.ZipInfo(f"{name}.npy"), "w", force_zip64=True) as member:
                np.lib.format.write_array(member, np.asanyarray(values), allow_pickle=False)


def reordered(images: Images, order: NDArray[np.int64], *, rename: bool) -> Images:
    """The images in another order, with numbers for names if ``rename``; each keeps its file format."""
    names = [images.names[k] for k in order]
    if images.npz:
        names = [str(k) for k in range(len(names))]
    elif rename:
        digits = len(str(len(names)))
        names = [f"{k + 1:0{digits}d}{_plain_suffix(name)}" for k, name in enumerate(names)]
    labels = {column: tuple(np.array(values)[order].tolist()) for column, values in images.labels.items()}
    return replace(images, pixels=images.pixels[order], names=tuple(names), labels=labels)
