"""Scales that distinguish no more than a tree's cuts do: what may be published about a column's values."""

from __future__ import annotations

from dataclasses import replace
from functools import singledispatch
from itertools import pairwise
from typing import cast

import numpy as np
from numpy.typing import NDArray

from tacit.codes.descent import Ints
from tacit.codes.scales.kinds.beginnings import BeginningScale, start_between
from tacit.codes.scales.kinds.categories import CategoryScale
from tacit.codes.scales.kinds.dates import DateScale
from tacit.codes.scales.kinds.every import AnyScale
from tacit.codes.scales.kinds.listed import ListedScale
from tacit.codes.scales.kinds.lists import ListScale
from tacit.codes.scales.kinds.numbers import NumberScale
from tacit.codes.scales.kinds.prefixes import PrefixScale, share_pattern
from tacit.codes.scales.kinds.stretches import StretchScale
from tacit.codes.scales.kinds.whole import WholeScale
from tacit.codes.scales.scale import Scale
from tacit.lift import Mask

# A list of at most this many values is spelled out.
FEW_VALUES = 20


def reduced_scale(scale: AnyScale, groups: Ints) -> tuple[AnyScale, Ints]:
    """A scale whose atoms are groups of another's, and the new atom of each old one.

    Guarantees
    ----------
    Atoms of different groups stay apart. A column of one group names none of its values; ranges of numbers, dates and
    codes name only where they are cut, and the ends that the scale tells (see :func:`without_rare_ends`); for dates and
    codes these are open. Missing stays an atom of its own. Categories and short lists are unchanged: the levels of a
    release spell their values out.
    """
    if not groups.any():
        return WholeScale(scale.column), np.zeros(len(groups), np.int64)
    return cast("tuple[AnyScale, Ints]", _reduced(scale, groups))


@singledispatch
def _reduced(scale: Scale, groups: Ints) -> tuple[Scale, Ints]:
    return scale, np.arange(scale.size)


def _runs(scale: Scale, groups: Ints) -> tuple[Ints, Ints]:
    """The first atom of every group but the first, and the new atom of each old one; missing is one more."""
    values = groups[: scale.present]
    starts = np.flatnonzero(np.diff(values)) + 1
    new = np.searchsorted(starts, np.arange(scale.present), side="right")
    return starts, np.append(new, len(starts) + 1) if scale.has_missing else new


@_reduced.register
def _(scale: NumberScale, groups: Ints) -> tuple[Scale, Ints]:
    starts, new = _runs(scale, groups)
    edges = tuple(scale.edges[start - 1] for start in starts.tolist())
    # No means of records here: a number that stands for an outer range is its edge.
    # The sum of the halves is not infinite where half the sum would be.
    inner = [low / 2 + high / 2 for low, high in pairwise(edges)]
    centres = (edges[0], *inner, edges[-1]) if edges else (0.0,)
    return replace(scale, edges=edges, centres=centres), new


@_reduced.register
def _(scale: DateScale, groups: Ints) -> tuple[Scale, Ints]:
    starts, new = _runs(scale, groups)
    numbers = tuple(scale.first + start for start in starts.tolist())
    return StretchScale(scale.column, scale.unit, scale.layout, numbers, scale.has_missing), new


@_reduced.register
def _(scale: StretchScale, groups: Ints) -> tuple[Scale, Ints]:
    starts, new = _runs(scale, groups)
    return StretchScale(
        scale.column, scale.unit, scale.layout, tuple(scale.starts[at - 1] for at in starts.tolist()), scale.has_missing
    ), new


@_reduced.register
def _(scale: ListScale, groups: Ints) -> tuple[Scale, Ints]:
    values = [value for value in scale.values if isinstance(value, str)]
    if len(values) <= FEW_VALUES or values != sorted(scale.values, key=str) or "" in values:
        return scale, np.arange(scale.size)
    # Many values in the order of their characters: the release tells where they are cut, but not the values.
    starts, new = _runs(scale, groups)
    heads = tuple(start_between(values[at - 1], values[at]) for at in starts.tolist())
    return BeginningScale(scale.column, heads, None, scale.has_missing), new


@_reduced.register
def _(scale: PrefixScale, groups: Ints) -> tuple[Scale, Ints]:
    starts, new = _runs(scale, groups)
    heads = tuple(start_between(scale.values[at - 1], scale.values[at]) for at in starts.tolist())
    size = scale.size_of_code if share_pattern(scale.values) else None
    return BeginningScale(scale.column, heads, size, scale.has_missing), new


@_reduced.register
def _(scale: BeginningScale, groups: Ints) -> tuple[Scale, Ints]:
    starts, new = _runs(scale, groups)
    heads = tuple(scale.starts[at - 1] for at in starts.tolist())
    return BeginningScale(scale.column, heads, scale.size_of_code, scale.has_missing), new


def without_rare_ends(scale: Scale, records: NDArray[np.integer], least: int) -> Scale:
    """A scale that names its smallest and largest number only if at least ``least`` records have exactly that one.

    Otherwise the largest income of all would be in the text of every range that includes it. ``records`` are those of
    each atom.
    """
    if not isinstance(scale, NumberScale):
        return scale
    edges = scale.edges
    low = scale.whole and scale.least is not None and bool(edges) and edges[0] == scale.least + 1
    high = scale.whole and scale.most is not None and bool(edges) and edges[-1] == scale.most
    return replace(
        scale,
        least=scale.least if low and records[0] >= least else None,
        most=scale.most if high and records[scale.present - 1] >= least else None,
    )


def without_rare_values(scale: Scale, records: NDArray[np.integer], least: int) -> tuple[Scale, Ints]:
    """A scale that names no category of fewer than ``least`` records, and the new atom of each old one.

    Those categories become one atom.

    Booleans are exempt, because everybody knows their values, and so are orders and hierarchies that the user gave.
    """
    place = np.arange(scale.size)
    rare = np.asarray(records[: scale.present]) < least
    if not isinstance(scale, CategoryScale) or scale.type == "boolean" or scale.has_others or not rare.any():
        return scale, place
    common = tuple(value for value, few in zip(scale.values, rare.tolist(), strict=True) if not few)
    place[: scale.present] = np.where(rare, len(common), np.cumsum(~rare) - 1)
    place[scale.present :] = len(common) + 1
    return replace(scale, values=common, has_others=True), place


def pins(scale: Scale, part: Mask) -> bool:
    """Whether a part of a column is a single value of it."""
    atoms = np.flatnonzero(part)
    if len(atoms) != 1 or atoms[0] == scale.missing_atom:
        return len(atoms) == 1
    if isinstance(scale, NumberScale):
        at = int(atoms[0])
        return scale.whole and 0 < at < len(scale.edges) and scale.edges[at] == scale.edges[at - 1] + 1
    if isinstance(scale, CategoryScale) and atoms[0] == scale.others_atom:
        return False
    return isinstance(scale, ListedScale) and not (isinstance(scale, PrefixScale) and scale.length is not None)
