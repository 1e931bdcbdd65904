"""The code of a release in cells, published beside its data: which cell a record is in, and what each level means."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from tacit.codes.code import CellCode
from tacit.errors import SourceError
from tacit.release.codec import Damaged, decoded, json_in

LEVELS = "levels.json"
FORMAT: Literal["tacit levels"] = "tacit levels"


@dataclass(frozen=True)
class ColumnLevels:
    """The levels of one column that stand in the release, each with the part of the column that it stands for."""

    column: str
    levels: tuple[str | float, ...]


@dataclass(frozen=True, eq=False)
class PublishedCode:
    """The levels of each column, for readers, and the code that wrote them, for whoever verifies the release."""

    columns: tuple[ColumnLevels, ...]
    code: CellCode
    format: Literal["tacit levels"] = FORMAT

    @classmethod
    def of(cls, code: CellCode) -> PublishedCode:
        """What is published of a code."""
        columns = zip(code.columns, code.written, strict=True)
        return cls(tuple(ColumnLevels(name, tuple(dict.fromkeys(levels))) for name, levels in columns), code)

    def __post_init__(self) -> None:
        told = [(each.column, each.levels) for each in self.columns]
        columns = zip(self.code.columns, self.code.written, strict=True)
        if told != [(name, tuple(dict.fromkeys(levels))) for name, levels in columns]:
            raise ValueError("the levels are not those of the code")


def read_code(folder: Path) -> CellCode | None:
    """The code of a release in cells; None if it has none."""
    path = folder / LEVELS
    if not path.exists():
        return None
    try:
        return decoded(PublishedCode, json_in(path, "file of levels")).code
    except Damaged as error:
        raise SourceError(f"{path} is damaged ({error}); ask for the release again") from error
