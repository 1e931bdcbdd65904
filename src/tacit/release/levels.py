"""The code of a release in cells, published with its data: which cell a record is in, and what each level means."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from tacit.codes.code import CellCode
from tacit.errors import SourceError
from tacit.release.codec import Damaged, decoded, encoded, json_in

LEVELS = "levels.json"
FORMAT: Literal["tacit levels"] = "tacit levels"


@dataclass(frozen=True)
class ColumnLevels:
    """The levels of one column that occur in the release, and the zone of its times, where they have one.

    Where numbers stand for levels, ``meanings`` says in words what each of them may stand for. The level None is
    missing.
    """

    column: str
    levels: tuple[str | float | None, ...]
    zone: str | None = None
    meanings: tuple[str, ...] = ()


@dataclass(frozen=True, eq=False)
class PublishedCode:
    """The levels of each column, for readers, and the code that wrote them, for whoever verifies the release.

    Guarantees
    ----------
    The code tells no more than it takes to place a record: it has no number for a level, and no cut of a column, that
    no cell uses.
    """

    columns: tuple[ColumnLevels, ...]
    code: CellCode
    format: Literal["tacit levels"] = FORMAT

    @classmethod
    def of(cls, code: CellCode) -> PublishedCode:
        """What is published about a code."""
        return cls(_columns(code), code.as_told())

    def __post_init__(self) -> None:
        if self.columns != _columns(self.code):
            raise ValueError("the levels are not those of the code")
        if encoded(self.code) != encoded(self.code.as_told().reduced()):
            raise ValueError("the code says more than its cells do")


def _columns(code: CellCode) -> tuple[ColumnLevels, ...]:
    return tuple(_levels(code, column) for column in range(len(code.scales)))


def _levels(code: CellCode, column: int) -> ColumnLevels:
    scale, meant = code.scales[column], code.meant(column)
    meanings = map(scale.text, meant.values()) if scale.column in code.numbers else ()
    return ColumnLevels(scale.column, tuple(meant), scale.zone, tuple(meanings))


def read_code(folder: Path) -> CellCode | None:
    """The code of a release in cells; None if it has none."""
    path = folder / LEVELS
    if not path.exists():
        return None
    try:
        return decoded(PublishedCode, json_in(path, "file of levels")).code
    except Damaged as error:
        raise SourceError(f"{path} is damaged ({error}); ask for the release again") from error
