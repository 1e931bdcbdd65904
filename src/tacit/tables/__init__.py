"""Tables that stay in their engine: open, count, cut, rewrite and write them. Engines load on first use."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tacit.rooms import face

if TYPE_CHECKING:
    from tacit.tables.columns import Column as Column
    from tacit.tables.counting import Counts as Counts, count as count, distinct_counts as distinct_counts
    from tacit.tables.cutting import Cut as Cut, cut as cut, cut_points as cut_points
    from tacit.tables.drawing import new_key as new_key
    from tacit.tables.engines import ENGINES as ENGINES, Engine as Engine, Store as Store, store_on as store_on
    from tacit.tables.engines.correcting import correction_sql as correction_sql
    from tacit.tables.engines.duckdb.connections import memory_limit as memory_limit
    from tacit.tables.formats import FORMATS as FORMATS, Format as Format
    from tacit.tables.grouping import GroupSizes as GroupSizes, group_sizes as group_sizes
    from tacit.tables.pairing import Pairs as Pairs, paired as paired, side_by_side as side_by_side
    from tacit.tables.rewriting import (
        labelled as labelled,
        redraw as redraw,
        rewrite as rewrite,
        scores as scores,
        with_symbol as with_symbol,
    )
    from tacit.tables.sources import open_table as open_table
    from tacit.tables.symbols import Symbols as Symbols
    from tacit.tables.table import Table as Table
    from tacit.tables.writing import suffix_for as suffix_for, whole_file as whole_file, write_table as write_table

if not TYPE_CHECKING:
    __getattr__, __dir__, __all__ = face(__name__)
