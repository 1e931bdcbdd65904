"""SQL for the corrected counts of a column of a drawn release: rows are joined to their weights for each value."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tacit.tables.engines.duckdb.sql import identifier, text
from tacit.tables.symbols import level_text


def correction_sql(
    column: str,
    *,
    outputs: Sequence[Any],
    names: Sequence[str | None],
    weights: NDArray[np.float64],
    variances: NDArray[np.float64],
    table: str = "release",
) -> str:
    """The corrected counts of a column and their standard errors, as a query that most databases read.

    Parameters
    ----------
    column : str
    outputs : sequence
        The values that the query distinguishes; None is missing. All others are one more output, the last.
    names : sequence of str
        What to call each value that is counted; None leaves it out, because the release does not reveal it.
    weights, variances : arrays of shape (outputs + 1, names)
        What a record of each output adds to the count of each value, and to its variance.
    table : str
        Where the released data is.

    Returns
    -------
    str
        Empty if no value is counted.
    """
    cell = f"r.{identifier(column)}"
    cases = [
        f"WHEN {cell} IS NULL THEN {k}" if value is None else f"WHEN {cell} = {text(level_text(value) or '')} THEN {k}"
        for k, value in enumerate(outputs)
    ]
    parts = [
        f"({k}, {at}, {text(name)}, {weights[k, at]:.8g}, {variances[k, at]:.8g})"
        for at, name in enumerate(names)
        for k in range(len(outputs) + 1)
        if name is not None and (weights[k, at] or variances[k, at])
    ]
    if not parts:
        return ""
    case = f"CASE {' '.join(cases)} ELSE {len(outputs)} END" if cases else "0"
    return "\n".join(
        [
            "SELECT c.value, SUM(c.weight) AS records,",
            "  SQRT(CASE WHEN SUM(c.variance) > 0 THEN SUM(c.variance) ELSE 0 END) AS standard_error",
            f"FROM {identifier(table)} AS r",
            "JOIN (VALUES",
            "  " + ",\n  ".join(parts),
            ") AS c(output, input, value, weight, variance)",
            f"ON c.output = {case}",
            "GROUP BY c.input, c.value ORDER BY c.input",
        ]
    )
