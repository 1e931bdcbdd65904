"""Vectors with their labels: a column of lists in a table, an array in an npz, or an npy with a table of labels."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from tacit.errors import ArgumentError, ColumnError, DataError, Setting, SourceError, sentence
from tacit.learn.arrays import Codes, Floats
from tacit.loading import arrays_in, bytes_in, checked_path
from tacit.requests import Question
from tacit.tables.sources import open_table

MISSING = "(missing)"
MOST_SECRETS = 50
_AT_ONCE = 50_000
# Larger numbers are released in four bytes each, where the sum of their squares overflows.
LARGEST = 1e15


@dataclass(frozen=True, eq=False)
class Vectors:
    """Vectors of one length, with the labels of each. ``format`` is that of the file they came from."""

    rows: Floats
    labels: Mapping[str, tuple[str, ...]]
    name: str
    path: Path | None
    format: str
    column: str

    def label(self, column: str) -> tuple[str, ...]:
        """The labels of a column; a ColumnError if there is none of that name."""
        if column not in self.labels:
            raise ColumnError(column, tuple(self.labels))
        return self.labels[column]

    def codes(self, column: str) -> tuple[Codes, tuple[str, ...]]:
        """A label as numbers, and the values they stand for."""
        values, codes = np.unique(np.array(self.label(column)), return_inverse=True)
        return codes.astype(np.int64), tuple(str(each) for each in values)

    def sha256(self) -> str:
        """Fingerprint of the vectors and their labels, in their order."""
        digest = hashlib.sha256(repr(self.rows.shape).encode())
        digest.update(np.ascontiguousarray(self.rows).tobytes())
        digest.update(repr(sorted(self.labels.items())).encode())
        return digest.hexdigest()


def read_vectors(question: Question) -> Vectors:
    """Read the vectors that a question names, with all their columns of labels.

    Raises
    ------
    DataError
        If vectors differ in length, or one is missing or not finite, or there are none.
    """
    source, column = question.source, question.vector or ""
    if isinstance(source, (str, Path)):
        path = checked_path(source)
        if path.suffix.lower() == ".npz":
            return _of_arrays(path, arrays_in(path, "npz"), column, question.one_secret())
        if path.suffix.lower() == ".npy":
            return _beside_labels(path, column, question.labels)
    table = open_table(source, engine=question.engine)
    if column not in table.names:
        raise ColumnError(column, table.names)
    parts: list[Floats] = []
    labels: dict[str, list[str]] = {each.name: [] for each in table.columns if each.kind != "other"}
    for batch in table.batches([column, *labels], _AT_ONCE):
        parts.append(_stacked(batch.column(0), column))
        for at, name in enumerate(labels, start=1):
            labels[name] += [MISSING if each is None else str(each) for each in batch.column(at).to_pylist()]
    fixed = {name: tuple(values) for name, values in labels.items()}
    rows = np.concatenate(parts) if parts else np.zeros((0, 0))
    return _checked(Vectors(rows, fixed, Path(table.name).name, table.path, table.format, column))


def _stacked(cells: Any, column: str) -> Floats:
    """A column of lists as one array."""
    import pyarrow as pa
    import pyarrow.compute as pc

    cells = cells.combine_chunks() if isinstance(cells, pa.ChunkedArray) else cells
    if not (
        pa.types.is_list(cells.type) or pa.types.is_large_list(cells.type) or pa.types.is_fixed_size_list(cells.type)
    ):
        raise DataError(f"column '{column}' holds {cells.type}, not lists of numbers: name the column with the vectors")
    if cells.null_count:
        raise DataError(f"{cells.null_count:,} vectors in column '{column}' are missing: take their rows out")
    sizes = pc.min_max(pc.list_value_length(cells)).as_py()
    if sizes["min"] != sizes["max"]:
        raise DataError(
            f"vectors in column '{column}' differ in length, from {sizes['min']} to {sizes['max']}: take those "
            "of another length out"
        )
    flat = cells.flatten()
    if not (pa.types.is_floating(flat.type) or pa.types.is_integer(flat.type)):
        raise DataError(
            f"vectors in column '{column}' are lists of {flat.type}: Tacit reads lists of numbers, one deep"
        )
    if flat.null_count:
        raise DataError(f"vectors in column '{column}' lack {flat.null_count:,} of their numbers: take such rows out")
    return np.asarray(flat.to_numpy(zero_copy_only=False), dtype=np.float64).reshape(len(cells), -1)


def _numbers(rows: Any, what: str) -> Floats:
    """An array of vectors, a row each."""
    if rows.ndim != 2:
        raise DataError(f"{what} has {rows.ndim} dimensions, the shape {rows.shape}: vectors are its rows, in two")
    if rows.dtype.kind not in "fiu":
        raise DataError(f"{what} holds {rows.dtype}, not numbers: save it as float or int")
    return np.asarray(rows, dtype=np.float64)


def _spoken(value: Any) -> str:
    """A label of an npz as text."""
    if value is None or value != value:
        return MISSING
    if isinstance(value, bytes):
        return value.decode("utf-8", errors="replace")
    return str(int(value)) if isinstance(value, float) and value.is_integer() else str(value)


def _of_arrays(path: Path, arrays: Mapping[str, Any], column: str, secret: str) -> Vectors:
    if column not in arrays:
        raise ColumnError(column, tuple(arrays))
    rows = _numbers(arrays[column], f"'{column}' of {path.name}")
    labels = {
        name: tuple(_spoken(each) for each in values.tolist())
        for name, values in arrays.items()
        if values.ndim == 1 and len(values) == len(rows)
    }
    if secret in arrays and secret not in labels:
        shape = arrays[secret].shape
        raise DataError(f"'{secret}' of {path.name} has the shape {shape}: it should hold {len(rows):,} labels")
    return _checked(Vectors(rows, labels, path.name, path, "npz", column))


def _beside_labels(path: Path, column: str, labels: Any) -> Vectors:
    import io

    if labels is None:
        words = "{path} has no labels: name a table with a row for each vector ({labels})"
        raise ArgumentError(sentence(words, path=path, labels=Setting("labels", "labels.csv")))
    try:
        rows = np.load(io.BytesIO(bytes_in(path, "npy", most=1 << 31)), allow_pickle=False)
    except (ValueError, EOFError, OSError) as error:
        raise SourceError(f"cannot read {path}: it is damaged, or not an npy of plain numbers") from error
    table = open_table(labels)
    texts: dict[str, list[str]] = {name: [] for name in table.names}
    for batch in table.batches(table.names, _AT_ONCE):
        for name in table.names:
            texts[name] += [MISSING if each is None else str(each) for each in batch.column(name).to_pylist()]
    vectors = _numbers(rows, path.name)
    if len(rows) != table.row_count():
        raise DataError(f"{path.name} has {len(rows):,} vectors, and {table.name} {table.row_count():,} rows of labels")
    fixed = {name: tuple(values) for name, values in texts.items()}
    return _checked(Vectors(vectors, fixed, path.name, path, "npy", column))


def _checked(vectors: Vectors) -> Vectors:
    if len(vectors.rows) < 2 or vectors.rows.shape[1] < 1:
        raise DataError(f"{vectors.name} has no two vectors of a number or more in '{vectors.column}'")
    wrong = int((~np.isfinite(vectors.rows)).any(axis=1).sum())
    if wrong:
        raise DataError(f"{wrong:,} vectors in '{vectors.column}' hold a number that is not finite: take them out")
    large = int((np.abs(vectors.rows) > LARGEST).any(axis=1).sum())
    if large:
        raise DataError(f"{large:,} vectors in '{vectors.column}' hold a number beyond {LARGEST:g}: rescale them")
    return vectors


def secret_of(vectors: Vectors, question: Question) -> tuple[str, Codes, tuple[str, ...]]:
    """The secret of every vector, checked."""
    secret = question.one_secret()
    codes, values = vectors.codes(secret)
    if len(values) < 2:
        raise DataError(f"every vector has the same '{secret}': there is nothing to learn")
    if len(values) > MOST_SECRETS:
        raise DataError(f"'{secret}' has {len(values):,} values; at most {MOST_SECRETS} can be told apart")
    return secret, codes, values
