"""Tables that stay in their engine: open, count, cut, rewrite and write them. Engines load on first use."""

from tacit.tables.counting import Counts, count, distinct_counts
from tacit.tables.cutting import Cut, cut, cut_points
from tacit.tables.drawing import new_key
from tacit.tables.rewriting import redraw, rewrite, scores, with_symbol
from tacit.tables.sources import open_table
from tacit.tables.symbols import Symbols
from tacit.tables.table import Column, Table
from tacit.tables.writing import suffix_for, whole_directory, whole_file, write_table

__all__ = [
    "Column",
    "Counts",
    "Cut",
    "Symbols",
    "Table",
    "count",
    "cut",
    "cut_points",
    "distinct_counts",
    "new_key",
    "open_table",
    "redraw",
    "rewrite",
    "scores",
    "suffix_for",
    "whole_directory",
    "whole_file",
    "with_symbol",
    "write_table",
]
