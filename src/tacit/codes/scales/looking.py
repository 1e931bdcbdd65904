"""A look at a table before its scales are made: samples of numbers and dates, their ends, and the values of texts."""

from __future__ import annotations

import datetime as dt
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from tacit.codes.scales.calendar import number_of_moment
from tacit.codes.scales.moments import BLANK, TYPED, DatedColumn, Layout, moment_of, with_numbers
from tacit.errors import DataError, Setting, sentence
from tacit.tables.columns import Column
from tacit.tables.counting import count, distinct_counts, values_before
from tacit.tables.numbers import MISSING, NumbersHere, as_number, number_of, numbers_here
from tacit.tables.symbols import encoded
from tacit.tables.table import WIDE, Table, batched

if TYPE_CHECKING:
    import pyarrow as pa

SAMPLE_ROWS = 50_000
# More values than this are not categories, and nobody could read their groups.
MOST_VALUES = 200_000
FEW_VALUES = 1000


@dataclass(frozen=True)
class NumberEnds:
    """What is known about a whole column of numbers, or of dates as numbers of hours; NaN ends if it has none."""

    low: float
    high: float
    whole: bool
    missing: bool


@dataclass(frozen=True, eq=False)
class TextFacts:
    """The sorted values of a column; whether some are missing; the length of codes, if all are equally long."""

    values: tuple[Any, ...]
    missing: bool
    length: int | None = None


def number_ends(table: Table, layouts: Mapping[str, Layout | None]) -> dict[str, NumberEnds]:
    """The ends of columns of numbers (no layout) and of dates (with one), in one pass.

    Guarantees
    ----------
    Text that is neither missing nor a number (a date of the layout) is a DataError, never left out.
    """
    ends = dict[str, NumberEnds]()
    for name in [name for name, layout in layouts.items() if layout is None]:
        here = numbers_here(table, name)
        if here is not None:
            ends[name] = _ends_here(table, name, here)
    # The time an engine takes to plan a query grows with the square of its columns.
    for names in batched([name for name in layouts if name not in ends], WIDE):
        ends |= _ends_of(table, {name: layouts[name] for name in names})
    return {name: ends[name] for name in layouts}


def _ends_of(table: Table, layouts: Mapping[str, Layout | None]) -> dict[str, NumberEnds]:
    """The ends of a few columns."""
    rows, names = table.plainly(list(layouts))
    columns = {name: (table[each], layouts[each]) for name, each in zip(names, layouts, strict=True)}
    rows = _numbered(rows, columns)
    questions = [each for name, (column, layout) in columns.items() for each in _questions(name, column, layout)]
    answer = table.collected(rows.select(*questions))
    try:
        answers = answer.to_pylist()[0]
    except (OverflowError, ValueError) as error:
        dated = ", ".join(f"'{column}'" for column, layout in layouts.items() if layout in TYPED)
        raise DataError(f"{dated} of {table.name}: a date is outside the years 1 to 9999; fix it") from error
    for name, (column, layout) in columns.items():
        if answers.get(f"{name}_wrong"):
            raise _no_number(table, column.name, layout, answers[f"{name}_wrong"])
    return {column.name: _ends(name, answers) for name, (column, _) in columns.items()}


def _ends_here(table: Table, column: str, here: NumbersHere) -> NumberEnds:
    """The ends of a column of numbers that was brought to this process."""
    if here.wrong_rows:
        raise _no_number(table, column, None, here.wrong_rows)
    missing, finite = np.isnan(here.values), here.values[np.isfinite(here.values)]
    low, high = (float(end(here.values[~missing])) if not missing.all() else None for end in (np.min, np.max))
    answers = {
        "_low": low,
        "_high": high,
        "_missing": int(missing.sum()),
        "_broken": bool((finite != np.round(finite)).any()),
    }
    return _ends("", answers)


def _numbered(rows: Any, columns: Mapping[str, tuple[Column, Layout | None]]) -> Any:
    """The rows with columns as floats, and with each what it was before: its text, if neither missing nor blank."""
    import narwhals as nw

    beside = []
    for name, (column, layout) in columns.items():
        was = nw.col(name)
        if column.dtype == "String":
            was = nw.when(~was.str.contains(MISSING if layout is None else BLANK)).then(was)
        beside.append(was.alias(f"{name}_was"))
    numbers = [as_number(name, column).alias(name) for name, (column, layout) in columns.items() if layout is None]
    rows = rows.with_columns(*beside, *numbers)
    dated = {name: DatedColumn(column, layout, "hour") for name, (column, layout) in columns.items() if layout}
    return with_numbers(rows, dated).with_columns(*(nw.col(name).cast(nw.Float64).alias(name) for name in columns))


def _questions(name: str, column: Column, layout: Layout | None) -> list[Any]:
    """The ends of a column, and whether it has missing, fractional or wrong values, where its type leaves that open."""
    import narwhals as nw

    value, was = nw.col(name), nw.col(f"{name}_was")
    dated = was if layout in TYPED else value
    questions = [
        dated.min().alias(f"{name}_low"),
        dated.max().alias(f"{name}_high"),
        (nw.len() - dated.count()).alias(f"{name}_missing"),
    ]
    if layout is None and "Int" not in column.dtype:
        finite = nw.when(value.is_finite()).then(value)
        questions.append((finite != finite.round(0)).cast(nw.Int64).sum().alias(f"{name}_broken"))
    if column.dtype == "String":
        wrong = nw.when(value.is_null()).then(was)
        questions.append(wrong.count().alias(f"{name}_wrong"))
    return questions


def _ends(name: str, answers: Mapping[str, Any]) -> NumberEnds:
    low, high = (_number(answers[f"{name}_{end}"]) for end in ("low", "high"))
    whole = not answers.get(f"{name}_broken") and max(abs(low), abs(high)) < 2**53
    return NumberEnds(low, high, whole, answers[f"{name}_missing"] > 0)


def _number(end: Any) -> float:
    if isinstance(end, dt.date):
        return float(number_of_moment("hour", moment_of(end, "typed") or dt.datetime.min))
    # -0.0 is 0.0.
    return np.nan if end is None else float(end) + 0.0


def _no_number(table: Table, column: str, layout: Layout | None, number: int) -> DataError:
    return DataError(
        sentence(
            "column '{column}' of {table} has {number:,} cells that are not a {what}: fix them, take each value on its "
            "own ({levels}), or leave the column out ({drop})",
            column=column,
            table=table.name,
            number=number,
            what="number" if layout is None else f"date written {layout}",
            levels=Setting("levels", {column: "values"}),
            drop=Setting("drop", column),
        )
    )


def sampled_numbers(column: pa.ChunkedArray, layout: Layout | None) -> NDArray[np.float64]:
    """The numbers of a sampled column, dates as numbers of hours; what is missing is left out."""
    encoded = column.combine_chunks().dictionary_encode()
    if layout is None:
        numbers = [number_of(value) for value in encoded.dictionary.to_pylist()]
    else:
        moments = [moment_of(value, layout) for value in encoded.dictionary.to_pylist()]
        numbers = [np.nan if each is None else number_of_moment("hour", each) for each in moments]
    sample: NDArray[np.float64] = np.array(numbers, dtype=np.float64)[
        encoded.indices.drop_null().to_numpy(zero_copy_only=False)
    ]
    return np.asarray(sample[~np.isnan(sample)])


def many_values(table: Table, columns: Sequence[str], sample: pa.Table) -> list[str]:
    """The columns with too many values to list; one with few values in the sample need not be counted."""
    known = {column: values_before(table, column) for column in columns}
    few = [column for column, values in known.items() if values is not None and len(values) <= FEW_VALUES]
    doubtful = [each for each in columns if each not in few and len(sample.column(each).unique()) > FEW_VALUES]
    counted = distinct_counts(table, doubtful) if doubtful else {}
    return [column for column, different in counted.items() if different > MOST_VALUES]


def text_facts(table: Table, columns: Sequence[str], sample: pa.Table) -> dict[str, TextFacts]:
    """The different values of columns. If the sample is the whole table, it saves the counting."""
    if sample.num_rows == table.row_count():
        return {column: _facts(encoded(sample.column(column), column, table[column].order)[0]) for column in columns}
    return {column: _counted(table, column) for column in columns}


def has_missing(table: Table, columns: Sequence[str]) -> dict[str, bool]:
    """Whether any value of each column is missing."""
    import narwhals as nw

    rows, names = table.plainly(columns)
    absent = table.collected(rows.select(*((nw.len() - nw.col(name).count()).alias(name) for name in names)))
    return {column: absent.column(name)[0].as_py() > 0 for column, name in zip(columns, names, strict=True)}


def _counted(table: Table, column: str) -> TextFacts:
    known = values_before(table, column)
    return _facts(count(table, [column]).levels[0] if known is None else known)


def _facts(levels: tuple[Any, ...]) -> TextFacts:
    return TextFacts(tuple(level for level in levels if level is not None), None in levels)


def code_facts(table: Table, column: str, length: int | None) -> TextFacts:
    """The different codes of a column of texts or whole numbers, or their first ``length`` characters."""
    import narwhals as nw

    rows, (name,) = table.plainly([column])
    text = nw.col(name) if table[column].dtype == "String" else nw.col(name).cast(nw.String)
    rows = rows.with_columns(text.alias(name))
    size = nw.col(name).str.len_chars()
    (sizes,) = table.collected(rows.select(size.min().alias("low"), size.max().alias("high"))).to_pylist()
    cut = nw.col(name) if length is None else nw.col(name).str.head(length)
    view = table.with_rows(rows.with_columns(cut.alias(name)), [Column(name, "text", "String")])
    if distinct_counts(view, [name])[name] > MOST_VALUES:
        raise too_many(table, column)
    return replace(_counted(view, name), length=sizes["low"] if sizes["low"] == sizes["high"] else None)


def too_many(table: Table, column: str) -> DataError:
    return DataError(
        sentence(
            "column '{column}' of {table} has more than {most:,} different values, too many for groups: leave it out "
            "({drop}), write only how its values begin ({prefix}), or keep it whole ({whole})",
            column=column,
            table=table.name,
            most=MOST_VALUES,
            drop=Setting("drop", column),
            prefix=Setting("levels", {column: "prefix:3"}),
            whole=Setting("levels", {column: "whole"}),
        )
    )


def sampled_texts(column: pa.ChunkedArray) -> list[str]:
    """The different texts of a sampled column, neither missing nor blank."""
    return [text for text in column.unique().to_pylist() if text and text.strip()]
