"""Columns of a table: their names, what kind of values they hold, and which names an engine would confuse."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Sequence, Sized
from dataclasses import dataclass
from typing import Any, Literal

from tacit.errors import DataError, SourceError

Kind = Literal["text", "number", "boolean", "time", "other"]

# The hidden column that keeps the order of the rows; no table may have one of this name.
ROW = "__tacit_row__"
# A column with more different texts than this is not enumerated: its texts are written in full.
MOST_ENUMERATED = 1 << 16
_WHOLE = re.compile(r"0|-?[1-9][0-9]{0,17}")


@dataclass(frozen=True)
class Column:
    """A column: its name, what kind of values it holds and how the engine stores them.

    ``order`` lists its values where their order is not the natural one (bins). ``told`` are all texts of a column that
    Tacit wrote, sorted, unless there are too many to enumerate.
    """

    name: str
    kind: Kind
    dtype: str
    order: tuple[str, ...] = ()
    told: tuple[str, ...] = ()

    @classmethod
    def of_texts(cls, name: str, texts: Iterable[str | None]) -> Column:
        """A column of these texts, None being missing."""
        different = sorted({text for text in texts if text is not None})
        return cls(name, "text", "String", told=tuple(different) if len(different) <= MOST_ENUMERATED else ())


def plain_names(columns: Sized) -> list[str]:
    """A name for each column that is safe everywhere; engines and narwhals read ``*`` or ``a.b`` as something else."""
    return [f"c{at}" for at in range(len(columns))]


def check_names(names: Sequence[str], source: str) -> None:
    """Refuse a table without columns, and names that an engine would confuse or make up."""
    if not names:
        raise SourceError(f"{source} has no columns")
    twice = [name for name, times in Counter(names).items() if times > 1]
    if twice:
        raise DataError(f"{source} has more than one column '{twice[0]}': rename one of them")
    if "" in names:
        raise DataError(f"{source}: column {list(names).index('') + 1} has no name; give it one")
    by_lower_case: dict[str, str] = {}
    for name in names:
        other = by_lower_case.setdefault(name.lower(), name)
        if other != name:
            raise DataError(f"{source} has columns '{other}' and '{name}' that differ only in case: rename one")
    for name in names:
        if name.startswith("__tacit_"):
            raise DataError(f"{source} has a column '{name}'; names that begin so are Tacit's own: rename it")


def are_whole_numbers(texts: Iterable[str | None]) -> bool:
    """Whether all texts that are not missing are whole numbers in their usual form: 7, but not 007."""
    return all(text is None or _WHOLE.fullmatch(text) for text in texts)


def kind_of(dtype: Any) -> Kind:
    """What kind of values a narwhals type holds."""
    import narwhals as nw

    if dtype in (nw.String, nw.Categorical, nw.Enum):
        return "text"
    if dtype.is_numeric():
        return "number"
    if dtype == nw.Boolean:
        return "boolean"
    return "time" if dtype in (nw.Date, nw.Datetime, nw.Time) else "other"
