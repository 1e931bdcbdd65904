"""Vectors with their labels: a column of lists in a table, an array of an npz, or an npy beside a table of labels."""

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


@dataclass(frozen=True, eq=False)
class Vectors:
    """Vectors of one length, and the labels of each. ``format`` is that of the file they came from."""

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
    """Read the vectors that a question names, with all columns of labels beside them.

    Raises
    ------
    DataError
        If vectors differ in length, or one is missing or not finite, or there are none.
    """
    source, column = question.source, question.vector or ""
    if isinstance(source, (str, Path)):
        path = checked_path(source)
        if path.suffix.lower() == ".npz":
            return _of_arrays(path, arrays_in(path, "npz"), column)
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
    told = {name: tuple(values) for name, values in labels.items()}
    rows = np.concatenate(parts) if parts else np.zeros((0, 0))
    return _checked(Vectors(rows, told, Path(table.name).name, table.path, table.format, column))


def _stacked(cells: Any, column: str) -> Floats:
    """A column of lists as one array."""
    import pyarrow as pa

    cells = cells.combine_chunks() if isinstance(cells, pa.ChunkedArray) else cells
    if not (
        pa.types.is_list(cells.type) or pa.types.is_large_list(cells.type) or pa.types.is_fixed_size_list(cells.type)
    ):
        raise DataError(f"column '{column}' holds {cells.type}, not lists of numbers: name the column with the vectors")
    if cells.null_count:
        raise DataError(f"{cells.null_count:,} vectors in column '{column}' are missing: take their rows out")
    sizes = {len(each) for each in cells}
    if len(sizes) > 1:
        raise DataError(f"vectors in column '{column}' differ in length, from {min(sizes)} to {max(sizes)}")
    flat = cells.flatten()
    if not (pa.types.is_floating(flat.type) or pa.types.is_integer(flat.type)) or flat.null_count:
        raise DataError(f"vectors in column '{column}' hold something that is no number")
    return np.asarray(flat.to_numpy(zero_copy_only=False), dtype=np.float64).reshape(len(cells), -1)


def _of_arrays(path: Path, arrays: Mapping[str, Any], column: str) -> Vectors:
    if column not in arrays:
        raise ColumnError(column, tuple(arrays))
    rows = arrays[column]
    if rows.ndim != 2 or rows.dtype.kind not in "fiu":
        raise DataError(f"'{column}' of {path.name} is no array of vectors: it has the shape {rows.shape}")
    labels = {
        name: tuple(str(each) for each in values.tolist())
        for name, values in arrays.items()
        if values.ndim == 1 and len(values) == len(rows)
    }
    return _checked(Vectors(np.asarray(rows, dtype=np.float64), labels, path.name, path, "npz", column))


def _beside_labels(path: Path, column: str, labels: Any) -> Vectors:
    import io

    if labels is None:
        words = "{path} has no labels: name a table with a row for each vector ({labels})"
        raise ArgumentError(sentence(words, path=path, labels=Setting("labels", "labels.csv")))
    try:
        rows = np.load(io.BytesIO(bytes_in(path, "npy", most=1 << 31)), allow_pickle=False)
    except (ValueError, EOFError, OSError) as error:
        raise SourceError(f"cannot read {path}: it is damaged, or no npy of plain numbers") from error
    table = open_table(labels)
    told: dict[str, list[str]] = {name: [] for name in table.names}
    for batch in table.batches(table.names, _AT_ONCE):
        for name in table.names:
            told[name] += [MISSING if each is None else str(each) for each in batch.column(name).to_pylist()]
    if rows.ndim != 2 or rows.dtype.kind not in "fiu" or len(rows) != table.row_count():
        raise DataError(
            f"{path.name} has the shape {rows.shape}, and {table.name} {table.row_count():,} rows of labels"
        )
    fixed = {name: tuple(values) for name, values in told.items()}
    return _checked(Vectors(np.asarray(rows, dtype=np.float64), fixed, path.name, path, "npy", column))


def _checked(vectors: Vectors) -> Vectors:
    if len(vectors.rows) < 2 or vectors.rows.shape[1] < 1:
        raise DataError(f"{vectors.name} has no vectors in '{vectors.column}'")
    wrong = int((~np.isfinite(vectors.rows)).any(axis=1).sum())
    if wrong:
        raise DataError(f"{wrong:,} vectors in '{vectors.column}' hold a number that is not finite: take them out")
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
