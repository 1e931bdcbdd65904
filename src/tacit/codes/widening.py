"""A code for another table than its own: values it has not seen get a place, if there is one that is true of them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any, cast

import numpy as np

from tacit.codes.code import CellCode
from tacit.codes.descent import Ints
from tacit.codes.scales.fitting import fitted_scales
from tacit.codes.scales.kinds.categories import CategoryScale
from tacit.codes.scales.kinds.every import AnyScale
from tacit.codes.scales.kinds.numbers import NumberScale
from tacit.codes.scales.kinds.whole import WholeScale
from tacit.codes.scales.scale import UNKNOWN
from tacit.codes.tree import CellTree
from tacit.errors import DataError, sentence
from tacit.tables.counting import count
from tacit.tables.table import Table


def with_true_ends(table: Table, code: CellCode) -> CellCode:
    """The code with levels that are true of a table's numbers and dates, however far they go."""
    return _told_by(code, cast("tuple[AnyScale, ...]", fitted_scales(table, code.scales)), code.tree)


def opened(code: CellCode, *, room: bool) -> CellCode:
    """The code for records other than those it was made from: outer ranges of numbers are open, however far they go.

    With ``room``, a new category has a place, as in :func:`widened`, and so do missing values.
    """
    open_ended = [
        replace(each, least=None, most=None) if isinstance(each, NumberScale) else each for each in code.scales
    ]
    code = _told_by(code, tuple(open_ended), code.tree)
    if not room:
        return code
    scales, places = [], []
    for scale in code.scales:
        wider, place = cast("Any", scale), np.arange(scale.present)
        if isinstance(scale, CategoryScale):
            wider = replace(wider, has_others=True)
        if not isinstance(scale, WholeScale):
            wider = replace(wider, has_missing=True)
        scales.append(wider)
        places.append(np.append(place, wider.present) if scale.has_missing else place)
    return _told_by(code, tuple(scales), _with_room(code.tree, [each.size for each in scales], places))


def _told_by(code: CellCode, scales: tuple[AnyScale, ...], tree: CellTree) -> CellCode:
    """The code by other scales and a tree whose nodes are numbered alike; its levels keep their numbers."""
    numbers = {}
    for column, (old, new) in enumerate(zip(code.scales, scales, strict=True)):
        if old.column in code.numbers:
            (which, parts), (anew, levels) = code.tree.parts_of(column), tree.parts_of(column)
            before, own = code.numbers[old.column], dict(zip(anew.tolist(), which.tolist(), strict=True))
            numbers[old.column] = {new.text(level): before[old.text(parts[own[at]])] for at, level in enumerate(levels)}
    return replace(code, scales=scales, tree=tree, numbers=numbers)


def widened(table: Table, code: CellCode, columns: Sequence[str]) -> CellCode:
    """The code with a place for every value of these columns of a table.

    Guarantees
    ----------
    What was in a cell stays in it. A new category is told as another value, and goes right at every cut of its column;
    so does a missing value. Levels stay true, and name no value that the earlier release did not; those that are
    written as numbers keep their numbers.

    Raises
    ------
    DataError
        If a value has no place: a text among numbers, a value that a list, an order or a hierarchy does not have.
    """
    scales, places = [], []
    for scale in code.scales:
        wide, place = scale, np.arange(scale.size)
        if scale.column in columns:
            values = count(table, [scale.column]).levels[0]
            unknown = [value for value, atom in zip(values, scale.atoms_of(values), strict=True) if atom == UNKNOWN]
            wide, place = _with(scale, unknown)
        scales.append(wide)
        places.append(place)
    return _told_by(code, tuple(scales), _with_room(code.tree, [each.size for each in scales], places))


def _with(scale: AnyScale, unknown: Sequence[Any]) -> tuple[AnyScale, Ints]:
    """A scale with atoms for these values, and the new atom of each old one."""
    new = [value for value in unknown if not _absent(value)]
    missing = scale.has_missing or len(new) < len(unknown)
    wider, place = cast("Any", scale), np.arange(scale.present)
    if new and isinstance(scale, CategoryScale):
        wider = replace(scale, has_others=True)
    elif new:
        words = (
            "column '{column}' holds {number:,} values that do not fit the levels of the earlier release: leave their "
            "rows out, or release the table anew, without its rules"
        )
        raise DataError(sentence(words, column=scale.column, number=len(new)))
    wider = wider if missing == scale.has_missing else replace(wider, has_missing=True)
    return wider, np.append(place, wider.present) if scale.has_missing else place


def _absent(value: Any) -> bool:
    return value is None or (isinstance(value, float) and value != value)


def _with_room(tree: CellTree, sizes: Sequence[int], places: Sequence[Ints]) -> CellTree:
    """The same cells over more atoms; new atoms go right, except for those between two that go left."""
    below, sets = tree.below.copy(), []
    for node in np.flatnonzero(tree.column >= 0).tolist():
        column = int(tree.column[node])
        if below[node] >= 0:
            below[node] = places[column][below[node] - 1] + 1
        else:
            left = np.zeros(sizes[column], bool)
            left[places[column]] = tree.left(node)
            sets.append(left)
    return CellTree(
        np.array(sizes), tree.column, below, np.concatenate(sets) if sets else np.zeros(0, bool), tree.known
    )
