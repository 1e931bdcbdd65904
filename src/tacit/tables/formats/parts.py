"""Several files that form one table: those of a folder or a pattern, with columns from the names of folders."""

from __future__ import annotations

import glob
import os
import re
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.parse import unquote

from tacit.errors import DataError, SourceError
from tacit.loading import checked_path
from tacit.tables.columns import are_whole_numbers
from tacit.tables.engines.protocol import Partitions
from tacit.tables.formats.format import SourceFile, whole

if TYPE_CHECKING:
    import pyarrow.dataset as ds

# The value in the name of a folder whose rows have no value in that column.
_MISSING = "__HIVE_DEFAULT_PARTITION__"
_NAMED = re.compile(r"([^=/]+)=([^/]*)")
_CERTIFICATE = "certificate.json"


def is_pattern(address: str) -> bool:
    """Whether an address stands for several files: it holds ``*``, ``?`` or ``[``, and no file has that name."""
    return glob.has_magic(address) and not os.path.lexists(address)


def is_several(address: str) -> bool:
    """Whether an address stands for several files, as a folder or a pattern does, and not for one."""
    return os.path.isdir(address) or (is_pattern(address) and not os.path.isfile(address.rsplit("::", 1)[0]))


def files_within(folder: Path) -> list[Path]:
    """The files in a folder and its subfolders, in order, except those that are hidden or begin with ``_``."""
    files = []
    for place, folders, names in os.walk(folder):
        folders[:] = sorted(name for name in folders if not name.startswith((".", "_")))
        files += [Path(place) / name for name in names if not name.startswith((".", "_"))]
    return sorted(files)


def parts_of(address: str) -> tuple[Path, list[Path]]:
    """The folder that an address begins with, and the files that it stands for, in order."""
    path = Path(address)
    if not is_pattern(address):
        if (path / _CERTIFICATE).is_file():
            raise SourceError(f"{path} is a release: name the data in it")
        return path, [checked_path(each) for each in files_within(path)]
    fixed = Path(*(each for each in path.parts[: _first_pattern(path)]))
    matches = sorted(Path(each) for each in glob.glob(address, recursive=True))
    files = [file for match in matches for file in (files_within(match) if match.is_dir() else [match])]
    if not files:
        raise SourceError(f"no file is called {address}: check the pattern")
    return fixed, [checked_path(each) for each in files]


def _first_pattern(path: Path) -> int:
    return next(at for at, each in enumerate(path.parts) if glob.has_magic(each))


def partitions_of(folder: Path, parts: Sequence[Path], name: str) -> Partitions:
    """The columns given by folders such as ``year=2001``, with a value for each part.

    Values are numbers if all are whole numbers in their usual form, otherwise text: ``007`` stays ``007``.
    """
    named = [
        {
            match[1]: unquote(match[2])
            for each in part.relative_to(folder).parts[:-1]
            if (match := _NAMED.fullmatch(each))
        }
        for part in parts
    ]
    for part, each in zip(parts, named, strict=True):
        if list(each) != list(named[0]):
            raise SourceError(f"{name} is partitioned in two ways: {parts[0]} and {part} differ in their folders")
    columns = {key: [None if each[key] == _MISSING else each[key] for each in named] for key in named[0]}
    return {
        key: tuple(int(v) if v is not None else None for v in values) if are_whole_numbers(values) else tuple(values)
        for key, values in columns.items()
    }


def same_columns(file: SourceFile, columns: Sequence[Any]) -> None:
    """Refuse parts whose columns are not those of the first."""
    for part, each in zip(file.parts, columns, strict=True):
        if each != columns[0]:
            raise DataError(
                f"{part} has other columns, or other types of columns, than {file.parts[0]}: give all parts the same "
                f"columns, or name those that have them"
            )


def as_dataset(file: SourceFile, format: str, kind: str) -> ds.Dataset:
    """The files as one Arrow dataset, in their order, with the columns from the names of folders."""
    import pyarrow as pa
    import pyarrow.dataset as ds
    from pyarrow.fs import LocalFileSystem

    schemas = []
    for part in file.parts:
        with whole(part, kind):
            schemas.append(ds.dataset(part, format=format).schema.remove_metadata())
    same_columns(file, schemas)
    partitions = [
        pa.field(key, pa.int64() if any(isinstance(v, int) for v in values) else pa.string())
        for key, values in file.partitions.items()
    ]
    schema = pa.schema([*(each for each in schemas[0] if each.name not in file.partitions), *partitions])
    whole_true = ds.scalar(True)
    where = []
    for at in range(len(file.parts)):
        expression = whole_true
        for key, values in file.partitions.items():
            is_value = ds.field(key).is_null() if values[at] is None else ds.field(key) == values[at]
            expression = is_value if expression is whole_true else expression & is_value
        where.append(expression)
    formats = {"ipc": ds.IpcFileFormat, "orc": ds.OrcFileFormat}
    return ds.FileSystemDataset.from_paths(
        [str(part) for part in file.parts],
        schema=schema,
        format=formats[format](),
        filesystem=LocalFileSystem(),
        partitions=where,
    )
