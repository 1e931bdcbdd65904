"""Text that is a number: one reading of it on every engine."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from tacit.errors import DataError, Setting, sentence
from tacit.tables.columns import ROW, Column
from tacit.tables.table import WIDE, Table, batched

if TYPE_CHECKING:
    import narwhals as nw

# Engines differ in what else they read as a number (1_000, 0x1F, 1d); here only this is one.
NUMBER = r"^ *[+-]?([0-9]+\.?[0-9]*|\.[0-9]+)([eE][+-]?[0-9]+)? *$"
INFINITE = r"^ *[+]?([iI]nf(inity)?|INF(INITY)?) *$"
MINUS_INFINITE = r"^ *-([iI]nf(inity)?|INF(INITY)?) *$"
MISSING = r"^ *([nN]a[nN]|NAN)? *$"


_FINITE = re.compile(NUMBER)
_READABLE = re.compile(f"{NUMBER}|{INFINITE}|{MINUS_INFINITE}|{MISSING}")
# Of these types Python reads the same floats as every engine. Engines divide decimals, and rounding may differ.
ALIKE = {"String", "Float32", "Float64", *(f"{sign}Int{bits}" for sign in ("", "U") for bits in (8, 16, 32, 64))}


def number_of(value: Any) -> float:
    """A value as a float, read as the engines read it; what is missing or not a number is NaN."""
    if isinstance(value, str):
        if _FINITE.fullmatch(value):
            return float(value)
        return np.inf if re.fullmatch(INFINITE, value) else -np.inf if re.fullmatch(MINUS_INFINITE, value) else np.nan
    return np.nan if value is None else float(value)


def in_own_precision(number: float) -> str:
    """A number for people: the shortest text that reads as the same number in the precision that it was kept in.

    0.221 that was kept in 32 bits is 0.221000003814697 in 64. Nothing that is certified is written this way.
    """
    if not np.isfinite(number):
        return {np.inf: "Infinity", -np.inf: "-Infinity"}.get(number, repr(number))
    with np.errstate(over="ignore", under="ignore"):
        kept = np.float32(number)
    short = repr(float(str(kept)))
    was_short = f"{float(kept):.15g}" == f"{number:.15g}"
    return short if was_short and len(short) < len(repr(number)) else repr(number)


def reads_as_number(text: str) -> bool:
    """Whether a text is a number, infinite or missing."""
    return _READABLE.fullmatch(text) is not None


@dataclass(frozen=True, eq=False)
class NumbersHere:
    """The numbers of a column that was brought to this process, value by value.

    Attributes
    ----------
    values : array of float
        Each value as a number; NaN for what is missing or no number.
    wrong : array of bool
        Whether each value is a text that is neither.
    codes : array of int
        Which value each row has.
    """

    values: NDArray[np.float64]
    wrong: NDArray[np.bool_]
    codes: NDArray[np.integer]

    @property
    def rows(self) -> NDArray[np.float64]:
        """The number of each row."""
        return np.asarray(self.values[self.codes])

    @property
    def wrong_rows(self) -> int:
        """How many rows have a text that is neither missing nor a number."""
        return int(self.wrong[self.codes].sum())


def numbers_here(table: Table, column: str) -> NumbersHere | None:
    """The numbers of a column as :func:`as_number` reads them; None for a table whose rows stay in the engine."""
    if table[column].kind not in ("number", "text") or table[column].dtype not in ALIKE:
        return None
    here = table.encoded([column])
    if here is None:
        return None
    levels, codes = here[0]
    wrong = [isinstance(value, str) and not reads_as_number(value) for value in levels]
    return NumbersHere(np.array([number_of(value) for value in levels]), np.array(wrong, bool), codes)


def refuse_other_types(column: Column) -> None:
    """Raise a DataError for a column that holds neither numbers nor text."""
    if column.kind != "number" and column.dtype != "String":
        raise DataError(f"column '{column.name}' holds {column.dtype}, not numbers: choose another column")


def as_number(name: str, column: Column) -> nw.Expr:
    """The column called ``name`` in a frame as a float; NaN, blank text and text that is not a number are missing."""
    import narwhals as nw

    value = nw.col(name)
    if column.kind == "number" and column.dtype != "String":
        number = value.cast(nw.Float64)
        if column.dtype.lstrip("U").startswith("Int"):
            return number
        return nw.when(~number.is_nan()).then(number)
    refuse_other_types(column)
    finite = nw.when(value.str.contains(NUMBER)).then(value).cast(nw.Float64)
    minus = nw.when(value.str.contains(MINUS_INFINITE)).then(nw.lit(float("-inf")))
    infinite = nw.when(value.str.contains(INFINITE)).then(nw.lit(float("inf"))).otherwise(minus)
    # Most texts are finite numbers, for which no other pattern has to be tried.
    return nw.when(~finite.is_null()).then(finite).otherwise(infinite)


def in_numbers(table: Table, column: str) -> Table:
    """The table with a column as floats, so that its values sort as numbers; the rest is unchanged."""
    refuse_non_numbers(table, [column])
    rows, names = table.plainly(table.names)
    name = names[table.names.index(column)]
    number = as_number(name, table[column]).alias(name)
    rows = table.engine.renamed(rows.with_columns(number), [*names, ROW], [*table.names, ROW])
    return table.with_rows(
        rows, [Column(column, "number", "Float64") if each.name == column else each for each in table.columns]
    )


def refuse_non_numbers(table: Table, columns: Sequence[str]) -> None:
    """Raise a DataError for a column with text that is not a number; it says how many such cells there are."""
    here = {name: read for name in columns if (read := numbers_here(table, name)) is not None}
    _refuse_any(table, {name: read.wrong_rows for name, read in here.items()})
    for texts in batched((n for n in columns if n not in here and table[n].dtype == "String"), WIDE):
        _refuse_any(table, _wrong_texts(table, texts))


def _wrong_texts(table: Table, texts: Sequence[str]) -> dict[str, int]:
    """How many cells of columns of text are neither missing nor a number."""
    import narwhals as nw

    rows, names = table.plainly(texts)
    counted: list[Any] = []
    for name in names:
        value = nw.col(name)
        readable = value.str.contains(f"{NUMBER}|{INFINITE}|{MINUS_INFINITE}|{MISSING}")
        bad = nw.when(~readable).then(value)
        counted.append(bad.count().alias(f"n_{name}"))
    answer = table.collected(rows.select(*counted)).to_pylist()[0]
    return {column: answer[f"n_{name}"] for column, name in zip(texts, names, strict=True)}


def _refuse_any(table: Table, wrong: Mapping[str, int]) -> None:
    for column, number in wrong.items():
        if number:
            words = (
                "column '{column}' of {table} has {number:,} cells that are not a number: fix them, or leave the "
                "column out ({drop})"
            )
            drop = Setting("drop", column)
            raise DataError(sentence(words, column=column, table=table.name, number=number, drop=drop))
