"""Where the table of a source is: a file, a folder or a pattern of files on this machine, or an address."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from tacit.loading import without_credentials
from tacit.tables.formats.parts import is_several
from tacit.tables.sources import open_table, tables_at
from tacit.tables.table import Table


@dataclass(frozen=True, repr=False)
class Address:
    """Where a table is that is not at a path of this machine, such as ``s3://BUCKET/people.csv``.

    ``remote`` says whether it may be read from another machine.

    Guarantees
    ----------
    As text, and in every message, it has neither a password nor what follows a ``?``: only the engine is told.
    """

    whole: str
    remote: bool = False

    @property
    def name(self) -> str:
        """Its last part, as that of a path."""
        return str(self).rstrip("/").rpartition("/")[2]

    def __str__(self) -> str:
        return without_credentials(self.whole)

    def __repr__(self) -> str:
        return f"Address({str(self)!r})"


# A path may be that of a folder, or a pattern: then its files are one table.
Place = Path | Address


def table_at(place: Place, *, engine: str = "duckdb", delimiter: str | None = None) -> Table:
    """The table at a place, opened as every verb of Tacit opens it."""
    if isinstance(place, Address):
        return open_table(place.whole, engine=engine, remote=place.remote)
    return open_table(place, engine=engine, delimiter=delimiter)


def has_parts(place: Place) -> bool:
    """Whether a place is a folder or a pattern on this machine, whose files are one table."""
    return isinstance(place, Path) and is_several(str(place))


def files_at(place: Place) -> list[Path]:
    """The files of this machine that a place stands for: itself, or its parts; none for an address."""
    if isinstance(place, Address):
        return []
    return tables_at(str(place))[1] if has_parts(place) else [place]
