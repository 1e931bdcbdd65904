"""Which step of a staircase a number is on, on DuckDB: a lookup in a list instead of a search."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from tacit.tables.engines.duckdb.sql import constant_lists, identifier

if TYPE_CHECKING:
    import duckdb

# Up to this many edges, comparisons are as fast as a list.
FEW_EDGES = 8
# Each cell of a grid has at most one edge; lookups in a grid finer than this are slow.
MOST_CELLS = 1 << 14

Edges = NDArray[np.float64]


def stepped(relation: duckdb.DuckDBPyRelation, edges: Mapping[str, Edges]) -> duckdb.DuckDBPyRelation:
    """The rows with columns of numbers replaced by how many edges are not above each; missing stays missing.

    Guarantees
    ----------
    The number is exact: a cell of the grid only says which one edge the value is still to be compared with.
    """
    import pyarrow as pa

    grids = {name: _Grids() for name, some in edges.items() if len(some) > FEW_EDGES and not _consecutive(some)}
    cells = {name: f"__tacit_cell{at}__" for at, name in enumerate(grids)}
    cell_columns = [f"({grid.cell(identifier(n), edges[n], 0)})::BIGINT AS {cells[n]}" for n, grid in grids.items()]
    arrays = [pa.array(np.concatenate(each)) for grid in grids.values() for each in (grid.steps, grid.edges)]
    lists = iter(constant_lists(relation, arrays) if arrays else [])
    counted = {}
    for name, some in edges.items():
        value = identifier(name)
        if name in grids:
            count = f"{next(lists)}[{cells[name]} + 1] + ({value} >= {next(lists)}[{cells[name]} + 1])::BIGINT"
        elif _consecutive(some):
            count = f"least(greatest(floor({value}) - {float(some[0] - 1)!r}, 0), {len(some)})::BIGINT"
        else:
            count = " + ".join(["0::BIGINT", *(f"({value} >= {edge!r}::DOUBLE)::BIGINT" for edge in some.tolist())])
        counted[name] = f"CASE WHEN {value} IS NOT NULL THEN {count} END"
    parts = (f"{counted.get(name, identifier(name))} AS {identifier(name)}" for name in relation.columns)
    return (relation.project(", ".join(["*", *cell_columns])) if cell_columns else relation).project(", ".join(parts))


def _consecutive(edges: Edges) -> bool:
    whole = len(edges) > 0 and float(edges[0]).is_integer() and abs(edges).max() < 2**53
    return whole and bool((np.diff(edges) == 1).all())


class _Grids:
    """Cells of one or more grids, laid end to end: the edges below each cell, and the edge in it or NaN.

    No number reaches NaN, which DuckDB orders above infinity.
    """

    def __init__(self) -> None:
        self.steps: list[NDArray[np.int64]] = []
        self.edges: list[Edges] = []

    def cell(self, value: str, edges: Edges, below: int) -> str:
        """SQL for the cell of a value that is not below the first ``below`` of all edges; ``edges`` come next.

        Edges too uneven for one grid are split in the middle.
        """
        if len(edges) == 1:
            at = self._added(np.array([below, below + 1]), np.array([np.nan, np.nan]))
            return f"{at} + ({value} >= {float(edges[0])!r}::DOUBLE)::BIGINT"
        for cells in 2 ** np.arange(int(np.log2(len(edges))), int(np.log2(MOST_CELLS)) + 1):
            low, width = float(edges[0]), float(edges[-1]) - float(edges[0])
            scale = float(cells) / width if width > 0 else np.inf
            if not (0 < scale < np.inf):
                break
            # The engine computes the same, so an edge and a value in different cells are in the right order.
            place = np.clip(np.floor((edges - low) * scale) + 1, 0, cells).astype(np.int64)
            if len(np.unique(place)) == len(place):
                inside = np.full(cells + 1, np.nan)
                inside[place] = edges
                at = self._added(below + np.searchsorted(place, np.arange(cells + 1)), inside)
                floored = f"floor(({value} - {low!r}::DOUBLE) * {scale!r}::DOUBLE) + 1"
                return f"{at} + least(greatest({floored}, 0), {cells})"
        half = len(edges) // 2
        left, right = self.cell(value, edges[:half], below), self.cell(value, edges[half:], below + half)
        return f"CASE WHEN {value} < {float(edges[half])!r}::DOUBLE THEN {left} ELSE {right} END"

    def _added(self, steps: NDArray[np.int64], edges: Edges) -> int:
        """Where the cells begin."""
        at = sum(map(len, self.steps))
        self.steps.append(steps.astype(np.int64))
        self.edges.append(edges)
        return at
