"""The secret: columns, or some values of one column, all others counting as one."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from tacit.requests.settings import Names, cells, refused


@dataclass(frozen=True)
class SecretNames(Names):
    """One or several columns; or one column with those of its values that are secret."""

    metavar = "COL[,COL]|COL=VALUE[,VALUE]"

    def checked(self, name: str, value: Any) -> Any:
        """Names as they are; ``{"illness": ["B20", "F32"]}`` as a column with the values of it that are secret."""
        if not isinstance(value, Mapping):
            return super().checked(name, value)
        if len(value) != 1:
            raise refused(name, dict(value), "values are named of one column")
        column, values = next(iter(value.items()))
        if isinstance(values, Mapping) or not isinstance(values, Iterable):
            raise refused(name, dict(value), "the values of a column are texts")
        several = (values,) if isinstance(values, str) else tuple(values)
        super().checked(name, column)
        if not several or not all(isinstance(each, str) and each for each in several):
            raise refused(name, dict(value), "an empty value")
        if len(set(several)) < len(several):
            raise refused(name, dict(value), "a value is named twice")
        return {str(column): several}

    def from_text(self, name: str, texts: Sequence[str]) -> Any:
        """``race`` and ``race,sex`` as columns, ``illness=B20,F32`` as a column and its secret values."""
        # A column whose own name has an equals sign is put in double quotes.
        column, _, values = texts[0].partition("=")
        if "=" not in re.sub('"[^"]*"', "", texts[0]) or column.lstrip().startswith('"'):
            return super().from_text(name, texts)
        if len(texts) > 1:
            raise refused(name, list(texts), "name values of one column only, all at once")
        return self.checked(name, {column.strip(): cells(values)})

    def schema(self) -> dict[str, Any]:
        """A list of columns, or an object with the values of one column."""
        values = {"type": "array", "items": {"type": "string"}, "minItems": 1}
        return {"anyOf": [super().schema(), {"type": "object", "additionalProperties": values, "maxProperties": 1}]}
