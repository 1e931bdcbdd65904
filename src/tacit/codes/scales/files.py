"""A hierarchy in a file, as ARX and sdcMicro write it: one line per value, then its group at each level."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from tacit.codes.scales.kinds.hierarchies import HierarchyScale, nested
from tacit.codes.scales.kinds.listed import listed_values, typed
from tacit.codes.scales.looking import TextFacts
from tacit.errors import ArgumentError, DataError, sentence
from tacit.loading import rows_in

DELIMITERS = (";", "\t", ",")


def hierarchy_scale(column: str, facts: TextFacts, path: Path) -> HierarchyScale:
    """The scale of a column whose groups are in a file; every value of the table must be in it."""
    rows = _rows(path, column)
    values = typed([row[0] for row in rows], facts.values, column)
    absent = len(set(facts.values) - set(values))
    if absent:
        words = "column '{column}' has {number:,} values that {path} lacks: add a line for each"
        raise ArgumentError(sentence(words, column=column, number=absent, path=path))
    groups = [[row[level] for row in rows] for level in range(1, len(rows[0]))]
    places = nested(column, groups)
    order = sorted(range(len(rows)), key=lambda at: places[at] if groups else ())
    type_, stored = listed_values([values[at] for at in order], column)
    return HierarchyScale(
        column, type_, stored, tuple(tuple(names[at] for at in order) for names in groups), facts.missing
    )


def _rows(path: Path, column: str) -> list[list[str]]:
    """The lines of a hierarchy, all of one length, each value once."""
    lines = rows_in(path, "hierarchy", delimiters=DELIMITERS)
    rows = [(line, [cell.strip() for cell in row]) for line, row in lines if any(cell.strip() for cell in row)]
    if rows and _is_header(rows[0][1], column):
        rows = rows[1:]
    if not rows:
        raise DataError(f"{path} is empty: a hierarchy has a line for each value, such as 12345;123**;1****")
    row_of: dict[str, list[str]] = {}
    for line, row in rows:
        if len(row) != len(rows[0][1]) or len(row) < 2:
            raise DataError(f"{path}, line {line}: give a value and its group at each level, as in the other lines")
        if row_of.setdefault(row[0], row) != row:
            raise DataError(f"{path}, line {line}: the value occurs before, with other groups")
    return list(row_of.values())


def _is_header(row: Sequence[str], column: str) -> bool:
    return row[0].casefold() in (column.casefold(), "value", "level0", "level 0") and len(row) > 1
