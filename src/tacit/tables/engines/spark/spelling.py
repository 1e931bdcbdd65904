"""Texts that follow from one number for each row: the number alone comes to the driver, which spells them out."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from tacit.tables.engines.spark.lookups import column
from tacit.tables.symbols import Symbols

if TYPE_CHECKING:
    import pyarrow as pa
    from pyspark.sql import DataFrame


@dataclass(frozen=True)
class SpelledColumn:
    """The texts of a column, and for each number which of them it has; -1 for missing."""

    texts: tuple[str, ...]
    codes: NDArray[np.int32]


@dataclass(frozen=True, eq=False)
class SpelledRows:
    """Rows that are numbers, and the columns of text that follow from these; a number that has no text is missing."""

    frame: DataFrame
    number: str
    columns: Mapping[str, SpelledColumn]

    def renamed(self, columns: Sequence[str], names: Sequence[str]) -> SpelledRows | None:
        """The same with some of the columns under other names; None if other columns are among them."""
        if not set(columns) <= self.columns.keys():
            return None
        return SpelledRows(
            self.frame, self.number, {new: self.columns[old] for old, new in zip(columns, names, strict=True)}
        )

    def numbers(self) -> DataFrame:
        """What is to be streamed."""
        return self.frame.select(column(self.number).cast("int").alias("n"))

    def schema(self) -> pa.Schema:
        """The type of what :meth:`spelled` yields."""
        import pyarrow as pa

        return pa.schema([(name, pa.dictionary(pa.int32(), pa.string())) for name in self.columns])

    def spelled(self, batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        """The columns of text, batch by batch."""
        import pyarrow as pa

        dictionaries = {name: pa.array(each.texts, pa.string()) for name, each in self.columns.items()}
        for batch in batches:
            numbers = batch.column(0).fill_null(-1).to_numpy(zero_copy_only=False)
            arrays = []
            for name, each in self.columns.items():
                # The last place is that of what has no text.
                size = len(each.codes)
                places = np.where((numbers >= 0) & (numbers < size), numbers, size)
                codes = np.append(each.codes, np.int32(-1))[places]
                arrays.append(pa.DictionaryArray.from_arrays(pa.array(codes, mask=codes < 0), dictionaries[name]))
            yield pa.RecordBatch.from_arrays(arrays, schema=self.schema())


def spelled_symbols(frame: DataFrame, number: str, symbols: Symbols, names: Sequence[str]) -> SpelledRows:
    """Rows that are numbers of symbols of texts."""
    columns = {}
    for at, (name, levels) in enumerate(zip(symbols.columns, symbols.levels, strict=True)):
        if name in names:
            columns[name] = _column([levels[code] for code in range(len(levels))], symbols.codes[:, at])
    return SpelledRows(frame, number, {name: columns[name] for name in names})


def spelled_labels(frame: DataFrame, number: str, texts: Mapping[str, Sequence[str | None]]) -> SpelledRows:
    """Rows that are places in lists of texts, where numbers below 0 stand for none."""
    return SpelledRows(frame, number, {name: _column(words, np.arange(len(words))) for name, words in texts.items()})


def _column(words: Sequence[str | None], codes: NDArray[np.integer]) -> SpelledColumn:
    """Which of the words each code stands for, each different word once."""
    place: dict[str, int] = {}
    of_word = [-1 if word is None else place.setdefault(word, len(place)) for word in words]
    return SpelledColumn(tuple(place), np.array(of_word, np.int32)[codes])
