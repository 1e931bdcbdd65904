"""Missing values that read as numbers in a release in means."""

from __future__ import annotations

import numpy as np

from tacit.codes.code import CellCode
from tacit.lenses.table.tabulating import Counted
from tacit.tables.numbers import as_number


def missing_as_numbers(counted: Counted, code: CellCode) -> dict[str, float]:
    """Columns of numbers some of whose missing values are written as a number, and what share of them is."""
    import narwhals as nw

    if not code.numbers:
        return {}
    table, names = counted.question.original, list(code.numbers)
    rows, plain = table.plainly(names)
    pairs = list(zip(names, plain, strict=True))
    absent = [as_number(at, table[name]).is_null().cast(nw.Int64).sum().alias(at) for name, at in pairs]
    missing = table.collected(rows.select(*absent)).to_pylist()[0]
    written = {name: _written_missing(counted, name) for name in names}
    return {name: 1 - written[name] / missing[at] for name, at in pairs if missing[at] > written[name]}


def _written_missing(counted: Counted, name: str) -> int:
    """How many records are written as missing."""
    at = counted.symbols.columns.index(name)
    gone = np.array([level is None for level in counted.symbols.levels[at]], dtype=bool)
    return int(counted.people[:-1][gone[counted.symbols.codes[:, at]]].sum())
