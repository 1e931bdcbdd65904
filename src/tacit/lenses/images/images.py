"""Images of one size with their labels, from a folder or an npz; patches of pixels; writing them back."""

from __future__ import annotations

import csv
import hashlib
import json
import warnings
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from os import PathLike
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tacit.errors import ArgumentError, ColumnError, DataError, EngineError, Setting, SourceError, sentence
from tacit.loading import arrays_in, checked_path, rows_in
from tacit.release.keys import LABELS

Pixels = NDArray[np.uint8]
Groups = NDArray[np.int64]

FORMATS = {".png": "PNG", ".jpg": "JPEG", ".jpeg": "JPEG"}
PATCH_SIZES = (32, 16, 8, 4, 2)
# Eyes see no loss at this quality; bytes are lost all the same.
JPEG_QUALITY = 95
# An archive that claims to hold more than this is refused before it is unpacked.
MOST_PIXELS = 4_000_000_000
# Names a column of file names usually has.
_NAME_COLUMNS = ("file", "filename", "file_name", "image", "name", "path", "id")


@dataclass(frozen=True)
class Images:
    """Images of one size, each with a name and its labels.

    Attributes
    ----------
    pixels : uint8 array
        (n, height, width), or (n, height, width, 3) in colour.
    names : tuple of str
        File names; numbers where the images came from an npz.
    labels : mapping
        Column to the label of every image, as text.
    source : Path
        The folder, or the npz.
    npz, pixels_key : bool, str
        Whether the images came from an npz, and the name of their array in it.
    notes : tuple of str
        What was done or left out on the way in.
    """

    pixels: Pixels
    names: tuple[str, ...]
    labels: Mapping[str, tuple[str, ...]]
    source: Path
    npz: bool = False
    pixels_key: str = "x"
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
        """1 of grey images, 3 of colour."""
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
        """One row an image, one column a pixel and channel, from 0 to 1."""
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


def open_images(source: str | PathLike[str], *, labels: str | PathLike[str] | None = None) -> Images:
    """Read a folder of PNG and JPEG files with a CSV of labels, or an npz.

    Parameters
    ----------
    source : path
        A folder of images of one size, or an npz with one array of them: its key is ``x``, or it is the only
        3- or 4-dimensional uint8 array. Arrays of one dimension are labels.
    labels : path, optional
        A CSV with a column of file names and columns of labels. An npz may have its labels within.

    Raises
    ------
    SourceError
        If a file is not there, or cannot be read.
    DataError
        If images differ in size, have 16 bits, or lack a label, or a label lacks its image.
    """
    path = checked_path(source)
    if path.is_dir():
        _files_of(path)
        if labels is None:
            words = "{path} is a folder of images: name the CSV with their labels ({labels})"
            raise ArgumentError(sentence(words, path=path, labels=Setting("labels", "labels.csv")))
        return _open_folder(path, Path(labels))
    if not path.exists():
        raise SourceError(f"no folder or npz {path}: check the name")
    if path.suffix.lower() != ".npz":
        raise SourceError(f"{path} is neither a folder of images nor an npz")
    return _open_npz(path, None if labels is None else Path(labels))


def open_pixels(source: str | Path) -> Images:
    """Read images without their labels: a folder, or an npz, whose labels are read where it has them."""
    path = Path(source)
    if path.is_dir():
        files = _files_of(path)
        pixels, notes = _stacked(files)
        return Images(pixels, tuple(file.name for file in files), {}, path, notes=notes)
    return _open_npz(path, None, need_labels=False)


# ---- folders ----------------------------------------------------------------------------------------------------


def _files_of(folder: Path) -> list[Path]:
    try:
        files = sorted(p for p in folder.iterdir() if p.suffix.lower() in FORMATS and not p.name.startswith("."))
    except OSError as error:
        raise SourceError(f"cannot read {folder}: {error.strerror}") from error
    if not files:
        raise SourceError(f"{folder} holds no images: Tacit reads {', '.join(FORMATS)}, not those in folders within")
    return files


def _open_folder(folder: Path, labels: Path) -> Images:
    names = tuple(file.name for file in _files_of(folder))
    header, rows = _read_csv(labels)
    column, at = _matched(names, header, rows, labels)
    table = {name: tuple(rows[at[file]][k] for file in names) for k, name in enumerate(header) if k != column}
    if not table:
        raise DataError(f"{labels} has no column but '{header[column]}', the file names: add a column of labels")
    return replace(open_pixels(folder), labels=table)


def _pillow() -> Any:
    try:
        import PIL.Image
        import PIL.ImageOps
    except ImportError as error:
        raise EngineError("reading PNG and JPEG needs Pillow: install tacit[images], or give an npz") from error
    return PIL


def _stacked(files: Sequence[Path]) -> tuple[Pixels, tuple[str, ...]]:
    """All images as one array, and what was done to them; grey ones become colour where some are in colour."""
    pillow, dropped, turned = _pillow(), 0, 0
    found: list[Pixels] = []
    for file in files:
        pixels, alpha, rotated = _read_image(pillow, file)
        if found and pixels.shape[:2] != found[0].shape[:2]:
            first, own = (f"{p.shape[1]}x{p.shape[0]}" for p in (found[0], pixels))
            raise DataError(
                f"{file.name} is {own} pixels where {files[0].name} is {first}: crop or resize them to one size first"
            )
        found.append(pixels)
        dropped += alpha
        turned += rotated
    grey = sum(pixels.ndim == 2 for pixels in found)
    mixed = 0 < grey < len(found)
    if mixed:
        found = [p if p.ndim == 3 else np.repeat(p[..., None], 3, axis=2) for p in found]
    notes = (
        (mixed, f"{grey:,} grey images among colour ones are treated, and written, as colour"),
        (dropped, f"{dropped:,} images had an alpha channel that hid nothing; it was dropped"),
        (turned, f"{turned:,} images were turned as their EXIF orientation says; the release has no EXIF"),
    )
    return np.stack(found), tuple(note for applies, note in notes if applies)


def _read_image(pillow: Any, file: Path) -> tuple[Pixels, bool, bool]:
    """Pixels of one file, whether a channel of transparency was dropped, and whether it was turned."""
    try:
        with warnings.catch_warnings():
            # A picture of absurd size is refused, not warned of.
            warnings.simplefilter("error")
            with pillow.Image.open(file, formats=("PNG", "JPEG")) as opened:
                if getattr(opened, "n_frames", 1) > 1:
                    raise DataError(f"{file.name} has several frames: Tacit reads still images")
                turned = opened.getexif().get(0x0112, 1) not in (0, 1)
                image = pillow.ImageOps.exif_transpose(opened)
                image.load()
                mode = image.mode
                if mode == "P" or mode == "1":
                    image = image.convert("RGBA" if "transparency" in image.info else "RGB" if mode == "P" else "L")
                pixels = np.asarray(image)
    except (OSError, ValueError, SyntaxError, Warning, pillow.Image.DecompressionBombError) as error:
        if isinstance(error, DataError):
            raise
        raise SourceError(f"cannot read {file}: it is damaged or no PNG or JPEG ({error})") from error
    if mode.startswith(("I", "F")):
        raise DataError(f"{file.name} has more than 8 bits a channel: save it with 8 bits first")
    if mode == "CMYK":
        raise DataError(f"{file.name} is in CMYK, for printing: save it as RGB first")
    if image.mode in ("LA", "RGBA"):
        if (pixels[..., -1] != 255).any():
            raise DataError(f"{file.name} is partly transparent: put it on a background first, or drop the alpha")
        pixels = pixels[..., 0] if image.mode == "LA" else pixels[..., :3]
        return pixels, True, turned
    if image.mode not in ("L", "RGB"):
        raise DataError(f"{file.name} has the colour mode {image.mode}: save it as grey or RGB first")
    return pixels, False, turned


def _read_csv(path: Path) -> tuple[list[str], list[list[str]]]:
    """Header and rows of a CSV of labels; all cells are text."""
    rows = [row for _, row in rows_in(path, "labels", delimiters=(",", ";", "\t")) if row]
    if len(rows) < 2:
        raise DataError(f"{path} has no labels: it needs a header, and a row for every image")
    header = [name.strip() for name in rows[0]]
    if len(set(header)) < len(header) or not all(header):
        raise DataError(f"{path} has two columns of one name, or one without a name: name each once")
    for number, row in enumerate(rows[1:], start=2):
        if len(row) != len(header):
            raise DataError(f"{path}, row {number}: {len(row)} cells where the header has {len(header)}")
    return header, rows[1:]


def _matched(
    names: Sequence[str], header: list[str], rows: list[list[str]], path: Path
) -> tuple[int, Mapping[str, int]]:
    """The column of file names, and the row of each image."""
    known = set(names)
    hits = [len(known.intersection(row[k] for row in rows)) for k in range(len(header))]
    usual = [k for k, name in enumerate(header) if name.lower() in _NAME_COLUMNS]
    column = max(range(len(header)), key=lambda k: (hits[k], k in usual, -k))
    if not hits[column]:
        raise DataError(
            f"no column of {path} holds the names of the images, such as '{names[0]}': add one called 'file'"
        )
    at: dict[str, int] = {}
    for number, row in enumerate(rows):
        if at.setdefault(row[column], number) != number:
            raise DataError(f"{path} labels '{row[column]}' twice: keep one of the rows")
    unlabelled = [name for name in names if name not in at]
    if unlabelled:
        raise DataError(
            f"{len(unlabelled):,} images have no row in {path}, such as '{unlabelled[0]}': label them, or take them out"
        )
    missing = [name for name in at if name not in known]
    if missing:
        raise DataError(
            f"{len(missing):,} rows of {path} have no image, such as '{missing[0]}': add the image, or remove the row"
        )
    return column, at


# ---- npz --------------------------------------------------------------------------------------------------------


def _open_npz(path: Path, labels: Path | None, *, need_labels: bool = True) -> Images:
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
        header, rows = _read_csv(labels)
        if len(rows) != len(pixels):
            raise DataError(f"{labels} has {len(rows):,} rows for {len(pixels):,} images: one a row, in their order")
        table |= {name: tuple(row[k] for row in rows) for k, name in enumerate(header)}
    if not table and need_labels:
        words = "{path} holds no labels (arrays of one dimension): add one, or name a CSV ({labels})"
        raise DataError(sentence(words, path=path, labels=Setting("labels")))
    left = f"arrays {', '.join(sorted(skipped))} of the npz are neither images nor labels, and were left out"
    return Images(pixels, names, table, path, npz=True, pixels_key=key, notes=(left,) if skipped else ())


def _key_of(arrays: Mapping[str, NDArray[Any]], path: Path) -> str:
    shaped = {name: a for name, a in arrays.items() if a.ndim in (3, 4) and a.dtype == np.uint8}
    if "x" in shaped:
        return "x"
    if len(shaped) == 1:
        return next(iter(shaped))
    if shaped:
        raise DataError(f"{path} has several arrays of images ({', '.join(shaped)}): call the one that is meant 'x'")
    seen = ", ".join(f"{name}: {a.dtype}{list(a.shape)}" for name, a in arrays.items()) or "nothing"
    raise DataError(f"{path} has no array of images, uint8 (n, height, width) or (n, height, width, 3); it has {seen}")


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
    """Flags of patches (n, m) as flags of the values of pixels, in the shape of the pixels."""
    grid = flags.reshape(len(flags), images.height // size, images.width // size)
    mask = grid.repeat(size, axis=1).repeat(size, axis=2)
    return mask if images.pixels.ndim == 3 else np.repeat(mask[..., None], images.channels, axis=3)


def _fitting(height: int, width: int) -> list[int]:
    return [size for size in PATCH_SIZES if height % size == 0 and width % size == 0]


def suggested_patch(height: int, width: int) -> int:
    """The patch size to start with: about eight patches a side."""
    fitting = _fitting(height, width)
    if not fitting:
        raise DataError(f"no patch of {', '.join(map(str, PATCH_SIZES))} pixels divides images of {width}x{height}")
    return min(fitting, key=lambda p: (abs(np.log2(min(height, width) / p / 8)), p))


# ---- writing ----------------------------------------------------------------------------------------------------


def _format_of(name: str) -> str:
    return FORMATS.get(Path(name).suffix.lower(), "PNG")


def _plain_suffix(name: str) -> str:
    # .jpg and .jpeg are one kind: which of the two an image had may tell where it came from.
    suffix = Path(name).suffix.lower()
    return ".jpg" if suffix == ".jpeg" else suffix


def image_file(images: Images) -> str:
    """What the release calls its images: a folder, or an npz."""
    return "images.npz" if images.npz else "images"


def write_images(images: Images, directory: Path, *, keep: Sequence[str] = ()) -> Path:
    """Write images, in their order and format, under ``directory``, with the labels that are kept.

    Guarantees
    ----------
    PNG and npz hold exactly the pixels; JPEG is written with quality 95, and changes them. Files carry no metadata.
    """
    target = directory / image_file(images)
    kept = {column: images.label(column) for column in keep}
    if images.npz:
        _write_npz(target, {images.pixels_key: images.pixels, **kept})
        return target
    pillow = _pillow()
    target.mkdir()
    for name, pixels in zip(images.names, images.pixels, strict=True):
        format = _format_of(name)
        options = {"quality": JPEG_QUALITY, "subsampling": 0} if format == "JPEG" else {}
        pillow.Image.fromarray(pixels).save(target / name, format=format, **options)
    if kept:
        write_csv(directory / LABELS, ["file", *kept], zip(images.names, *kept.values(), strict=True))
    return target


def write_csv(path: Path, header: Sequence[str], rows: Iterable[Sequence[str]]) -> None:
    """Rows of text under a header."""
    with path.open("w", encoding="utf-8", newline="") as file:
        csv.writer(file, lineterminator="\n").writerows([header, *rows])


def _write_npz(target: Path, arrays: Mapping[str, NDArray[Any]]) -> None:
    """As numpy's savez_compressed, which takes an array called ``file`` for its own argument; no clock in it."""
    import zipfile

    with zipfile.ZipFile(target, "w", compression=zipfile.ZIP_DEFLATED) as packed:
        for name, values in arrays.items():
            with packed.open(zipfile.ZipInfo(f"{name}.npy"), "w", force_zip64=True) as member:
                np.lib.format.write_array(member, np.asanyarray(values), allow_pickle=False)


def reordered(images: Images, order: NDArray[np.int64], *, rename: bool) -> Images:
    """The images in another order, with numbers for names if ``rename``; what kind of file each is stays."""
    names = [images.names[k] for k in order]
    if images.npz:
        names = [str(k) for k in range(len(names))]
    elif rename:
        digits = len(str(len(names)))
        names = [f"{k + 1:0{digits}d}{_plain_suffix(name)}" for k, name in enumerate(names)]
    labels = {column: tuple(np.array(values)[order].tolist()) for column, values in images.labels.items()}
    return replace(images, pixels=images.pixels[order], names=tuple(names), labels=labels)
