"""The labels of images: a CSV whose rows name them, and which row belongs to which image."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from pathlib import Path, PurePosixPath

from tacit.errors import DataError
from tacit.loading import rows_in

# Names a column of file names usually has.
_NAME_COLUMNS = ("file", "filename", "file_name", "image", "name", "path", "id")


def labels_of(names: Sequence[str], left_out: Sequence[str], folder: Path, path: Path) -> dict[str, tuple[str, ...]]:
    """The labels of every image, by column; rows of the files that were ``left_out`` are passed over.

    A row names its image by its path inside the folder (``a/001.png``), with or without the folder's own name before
    it, or just by the file name if no two images share it.

    Raises
    ------
    DataError
        If an image has no row or two rows, a row has no image, or there is no column of labels.
    """
    header, rows = read_labels(path)
    column, at = _matched(names, left_out, folder, header, rows, path)
    table = {name: tuple(rows[row][k] for row in at) for k, name in enumerate(header) if k != column}
    if not table:
        raise DataError(f"{path} has no column but '{header[column]}', the file names: add a column of labels")
    return table


def read_labels(path: Path) -> tuple[list[str], list[list[str]]]:
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


def _plain(written: str) -> str:
    """A name as a path with ``/``, from wherever it was written."""
    return str(PurePosixPath(written.strip().replace("\\", "/")))


def _known_as(names: Sequence[str], folder: Path) -> list[dict[str, str]]:
    """Ways in which rows may name images, each with the image of every name; the plainest first."""
    files = Counter(PurePosixPath(name).name for name in names)
    return [
        {name: name for name in names},
        {f"{folder.resolve().name}/{name}": name for name in names},
        {PurePosixPath(name).name: name for name in names if files[PurePosixPath(name).name] == 1},
    ]


def _matched(
    names: Sequence[str],
    left_out: Sequence[str],
    folder: Path,
    header: Sequence[str],
    rows: Sequence[Sequence[str]],
    path: Path,
) -> tuple[int, list[int]]:
    """The column of file names, and the row of each image."""
    ways = _known_as([*names, *left_out], folder)
    columns = [[_plain(row[k]) for row in rows] for k in range(len(header))]
    usual = [k for k, name in enumerate(header) if name.lower() in _NAME_COLUMNS]

    def rank(choice: tuple[int, int]) -> tuple[int, bool, int, int]:
        k, way = choice
        return len(set(columns[k]) & ways[way].keys()), k in usual, -way, -k

    column, way = max(((k, way) for k in range(len(header)) for way in range(len(ways))), key=rank)
    if not rank((column, way))[0]:
        raise DataError(
            f"no column of {path} holds the names of the images, such as '{names[0]}': add one called 'file'"
        )
    at: dict[str, int] = {}
    for number, name in enumerate(columns[column]):
        if at.setdefault(name, number) != number:
            raise DataError(f"{path} labels '{name}' twice: keep one of the rows")
    missing = [name for name in at if name not in ways[way]]
    of_image: Mapping[str, int] = {ways[way][name]: row for name, row in at.items() if name in ways[way]}
    unlabelled = [name for name in names if name not in of_image]
    if unlabelled:
        raise DataError(
            f"{len(unlabelled):,} images have no row in {path}, such as '{unlabelled[0]}': label them, or take them out"
        )
    if missing:
        raise DataError(
            f"{len(missing):,} rows of {path} have no image, such as '{missing[0]}': add the image, or remove the row"
        )
    return column, [of_image[name] for name in names]
