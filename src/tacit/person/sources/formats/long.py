"""The long form: one row per fact, with its label, its value, and possibly its record and its confidence."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from tacit.errors import DataError
from tacit.person.link.wide import Long, text_columns
from tacit.person.model.forms import says_nothing
from tacit.person.model.kinds import is_name
from tacit.person.sources.source import Source

if TYPE_CHECKING:
    import pyarrow as pa

    from tacit.tables.table import Table

# The names that each column may have.
_CALLED = {
    "label": ("label", "attribute", "field", "key", "property"),
    "value": ("value",),
    "record": ("record", "record_id", "recordid", "entity", "entity_id", "id", "row"),
    "confidence": ("confidence", "score", "probability"),
}


@dataclass(frozen=True)
class LongColumns:
    """Which column is what."""

    label: str
    value: str
    record: str | None
    confidence: str | None

    @property
    def all(self) -> list[str]:
        """The columns that exist."""
        return [name for name in (self.label, self.value, self.record, self.confidence) if name is not None]


def long_columns(names: tuple[str, ...], source: Source | None = None) -> LongColumns | None:
    """Which column is what, by name or as the source says; None if there is no label or no value."""
    spelled = {name.strip().casefold(): name for name in reversed(names)}
    column_of = {
        what: next((spelled[one] for one in called if one in spelled), None) for what, called in _CALLED.items()
    }
    if source is not None:
        column_of["record"] = source.identifier or column_of["record"]
        column_of["confidence"] = source.confidence_column or column_of["confidence"]
    label, value = column_of["label"], column_of["value"]
    return (
        None
        if label is None or value is None
        else LongColumns(label, value, column_of["record"], column_of["confidence"])
    )


def is_long(names: tuple[str, ...]) -> bool:
    """Whether a table has these columns, and no others."""
    columns = long_columns(names)
    return columns is not None and set(columns.all) == set(names)


def long_labels(table: Table, source: Source) -> set[str]:
    """The labels of the table, as the case calls them."""
    label_names = text_columns(table, [_required(table, source).label]).column("c0").unique().to_pylist()
    return {label for name in label_names if name is not None and (label := _label(source, name)) is not None}


def long_records(table: Table, source: Source) -> tuple[Long, pa.Array | None, int]:
    """The facts of a table, the names of its records, and how many facts lack a confidence.

    Without a column for the record, all facts belong to one.
    """
    import pyarrow as pa
    import pyarrow.compute as pc

    columns = _required(table, source)
    cells = text_columns(table, columns.all)
    column_of = {name: cells.column(place).combine_chunks() for place, name in enumerate(columns.all)}
    names: pa.Array | None = None
    rids = pa.array([0] * len(cells), pa.int64())
    if columns.record is not None:
        coded = column_of[columns.record].fill_null("").dictionary_encode()
        rids, names = coded.indices.cast(pa.int64()), coded.dictionary
    sure, unsure = pa.array([1.0] * len(cells), pa.float64()), 0
    if columns.confidence is not None:
        sure, unsure = _confidences(column_of[columns.confidence], table, columns.confidence)
    label_names = column_of[columns.label].dictionary_encode()
    labels = [_label(source, name) for name in label_names.dictionary.to_pylist()]
    label = pa.array(labels, pa.string()).take(label_names.indices)
    share = pa.array([source.share_of(one or "") for one in labels], pa.float64()).take(label_names.indices)
    rows = pa.table(
        {"rid": rids, "label": label, "value": column_of[columns.value], "confidence": pc.multiply(sure, share)}
    )
    distinct = column_of[columns.value].unique()
    names_of_people = pa.array([one for one in labels if one is not None and is_name(one)], pa.string())
    of_name = pc.is_in(rows["label"], names_of_people)
    something = [
        distinct.filter(
            pa.array([text is not None and not says_nothing(text, name=name) for text in distinct.to_pylist()])
        )
        for name in (False, True)
    ]
    has_value = pc.or_(pc.is_in(rows["value"], something[0]), pc.and_(of_name, pc.is_in(rows["value"], something[1])))
    kept = pc.and_(pc.is_valid(rows["label"]), has_value)
    return Long(rows.filter(kept), 1 if names is None else len(names)), names, unsure


def _required(table: Table, source: Source) -> LongColumns:
    columns = long_columns(table.names, source)
    if columns is None:
        raise DataError(f"{table.name} has no columns 'label' and 'value': name them so, or say format: table")
    table.require(columns.all)
    return columns


def _label(source: Source, name: str) -> str | None:
    labels = source.columns
    return labels.get(name, None if "*" in labels else name)


def _confidences(cells: pa.Array, table: Table, column: str) -> tuple[pa.Array, int]:
    import pyarrow as pa
    import pyarrow.compute as pc

    try:
        numbers = pc.cast(pc.utf8_trim_whitespace(cells), pa.float64())
        wrong = pc.invert(pc.and_(pc.greater_equal(numbers, 0.0), pc.less_equal(numbers, 1.0))).fill_null(False)
        place = pc.index(wrong, True).as_py()
    except pa.ArrowInvalid:
        place = next(row for row, text in enumerate(cells.to_pylist()) if text is not None and not _is_number(text))
    if place >= 0:
        raise DataError(f"{table.name}, row {place + 1}: '{column}' is not a confidence: a number from 0 to 1")
    return numbers.fill_null(1.0), numbers.null_count


def _is_number(text: str) -> bool:
    try:
        return 0 <= float(text) <= 1
    except ValueError:
        return False
