"""Rules: what a release did to every value, saved so that the next batch is treated alike. They are private."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from tacit.codes.code import CellCode
from tacit.codes.coding import coded
from tacit.errors import SourceError
from tacit.release.bounds import FurtherSecret, LiftBounds
from tacit.release.codec import Damaged, decoded, json_in
from tacit.release.treatment import Merging, Mixing
from tacit.requests.settings import AnyPath
from tacit.tables.cutting import Cut, cut
from tacit.tables.symbols import Symbols
from tacit.tables.table import Table

RULES = "rules.json"
FORMAT: Literal["tacit rules"] = "tacit rules"
VERSION: Literal[4] = 4


@dataclass(frozen=True)
class ReleaseRules:
    """What becomes of the released values, and which secrets that keeps within which bounds.

    ``also`` are further secrets that the release keeps, each within its own epsilon; ``secret_values`` the values that
    are secret, where the rest of the column counts as one; ``weight`` is the column that says how much records count.
    A release in cells has a ``code``, and at least ``least`` records per cell; one that was proved also has the
    ``design``, the finer code that was grown first.
    """

    secret: tuple[str, ...]
    released: tuple[str, ...]
    cuts: tuple[Cut, ...]
    symbols: Symbols
    treatment: Merging | Mixing
    bounds: LiftBounds
    also: tuple[FurtherSecret, ...] = ()
    secret_values: tuple[str, ...] = ()
    least: int = 1
    weight: str | None = None
    code: CellCode | None = None
    design: CellCode | None = None
    format: Literal["tacit rules"] = FORMAT
    version: Literal[4] = VERSION

    def __post_init__(self) -> None:
        if self.treatment.size != len(self.symbols) or self.symbols.columns != self.released:
            raise ValueError("the treatment, the symbols and the released columns do not fit together")

    @property
    def parts(self) -> NDArray[np.int64] | None:
        """Which part of the known columns each symbol lies in; None where nothing is known."""
        return None if self.code is None else self.code.known_parts(self.symbols)

    @property
    def as_coded(self) -> bool:
        """Whether rows are in cells that the treatment leaves unchanged: coding the table already wrote them."""
        return self.code is not None and not self.treatment.changed.any()

    def applied(self, table: Table, key: bytes, *, present: Symbols | None = None) -> Table:
        """The released rows of a table that is already cut or coded as the rules ask.

        ``present`` are values that the table is known to hold.
        """
        return table if self.as_coded else self.treatment.applied(table, self.symbols, key, present=present)

    def of_original(self, table: Table, key: bytes) -> Table:
        """The rows that a release of this table holds: cut, or written in cells, and then treated.

        Guarantees
        ----------
        For the table that the rules were made on, and the key of its release, these are the rows of the release, in
        their order, on every engine. A value that the rules' levels do not know is refused, never guessed.
        """
        shown = [name for name in table.names if name in self.released]
        ready = cut(table, self.cuts) if self.code is None else coded(table, self.code)
        return self.applied(ready.select(shown), key)

    @classmethod
    def load(cls, path: AnyPath) -> ReleaseRules:
        """Read rules that ``protect`` wrote."""
        data = json_in(Path(path), "rules file")
        if not isinstance(data, dict) or data.get("format") != FORMAT:
            raise SourceError(f"{path} is not a rules file; protect writes one to private/{RULES} of a release")
        if data.get("version") != VERSION:
            raise SourceError(f"{path} has rules of version {data.get('version')}; this Tacit reads version {VERSION}")
        try:
            return decoded(cls, data)
        except Damaged as error:
            raise SourceError(f"{path} is damaged ({error}); make the rules again") from error
