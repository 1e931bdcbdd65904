"""Weights of columns: the setting that maps columns to numbers."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from tacit.requests.settings import Amount, Kind, refused


@dataclass(frozen=True)
class ColumnWeights(Kind):
    """Columns, each with a finite number of 0 or more."""

    repeated = True
    metavar = "COL=NUMBER"

    def checked(self, name: str, value: Any) -> dict[str, float]:
        if not isinstance(value, Mapping):
            raise refused(name, value, "it maps columns to numbers")
        weights = {}
        for column, weight in value.items():
            if not isinstance(column, str) or not column:
                raise refused(name, value, "an empty column name")
            weights[column] = float(Amount(0).checked(name, weight))
            if math.isinf(weights[column]):
                raise refused(name, {column: weight}, "it must be a finite number")
        return weights

    def from_text(self, name: str, texts: Sequence[str]) -> dict[str, float]:
        """``age=2`` as the weight of a column."""
        weights: dict[str, float] = {}
        for text in texts:
            column, equals, typed = text.rpartition("=")
            try:
                weight = float(typed)
            except ValueError:
                weight = math.nan
            if not equals or not column or weight != weight:
                raise refused(name, text, "it must be COLUMN=NUMBER, such as age=2")
            if column in weights:
                raise refused(name, text, f"column '{column}' is named twice")
            weights[column] = weight
        return self.checked(name, weights)

    def schema(self) -> dict[str, Any]:
        """An object of numbers."""
        return {"type": "object", "additionalProperties": {"type": "number", "minimum": 0}}
