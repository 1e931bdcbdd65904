"""The tree of errors. Every message names the thing, the reason and the way out.

TacitError                 exit code 3
├── ArgumentError          2  a value the caller chose cannot be used (also a ValueError)
│   └── ColumnError        2  no column of that name
├── DataError              3  the data cannot carry the question (also a ValueError)
├── SourceError            3  a file, database or frame cannot be read or written
├── EngineError            3  DuckDB or Spark refused or is not installed
└── NotCertifiedError      1  a claim does not hold
"""

from __future__ import annotations

from collections.abc import Sequence
from difflib import get_close_matches
from typing import ClassVar


class TacitError(Exception):
    """Anything Tacit refuses to do, with a one-line reason. Catch this one."""

    exit_code: ClassVar[int] = 3


class ArgumentError(TacitError, ValueError):
    """An argument has a value that cannot be used."""

    exit_code = 2


class ColumnError(ArgumentError):
    """A column was named that the table does not have."""

    def __init__(self, name: str, columns: Sequence[str]) -> None:
        near = get_close_matches(name, columns, n=1, cutoff=0.6)
        hint = f"; did you mean '{near[0]}'?" if near else "."
        shown = ", ".join(columns[:20]) + (", …" if len(columns) > 20 else "")
        super().__init__(f"no column '{name}'{hint} The table has: {shown}")
        self.name = name
        self.columns = tuple(columns)


class DataError(TacitError, ValueError):
    """The data is readable but cannot carry the question asked of it."""


class SourceError(TacitError):
    """A file, database or frame cannot be read or written."""


class EngineError(TacitError):
    """The table engine refused, or is not installed."""


class NotCertifiedError(TacitError):
    """A claim does not hold."""

    exit_code = 1
