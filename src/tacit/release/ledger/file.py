"""The ledger's file: its entries, read and written as a whole, by one process at a time."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from tacit.errors import Setting, SourceError, sentence
from tacit.release.certificate import read_certificate
from tacit.release.codec import Damaged, decoded, json_in, text_of
from tacit.release.ledger.together import Secret
from tacit.release.rules import ReleaseRules
from tacit.tables.formats import many_tables
from tacit.tables.table import Table
from tacit.tables.writing import locked, os_errors, whole_file

FORMAT: Literal["tacit ledger"] = "tacit ledger"
VERSION: Literal[2] = 2

People = Literal["same people", "other people"]


@dataclass(frozen=True)
class SecretLeak:
    """What is known about a secret: every log-lift lies between ``-low`` and ``high`` nats.

    ``one_sided`` if nobody bounded how much less likely a value may become; ``smallest_share`` is that of the rarest
    value; ``exact`` if both ends were counted.
    """

    secret: Secret
    low: float
    high: float
    one_sided: bool
    smallest_share: float
    exact: bool = True

    def __post_init__(self) -> None:
        if not (self.low >= 0 and self.high >= 0 and 0 < self.smallest_share < 1 and self.secret.columns):
            raise ValueError("what was attained is out of range")

    @property
    def epsilon(self) -> float:
        """The larger of the sides that somebody bounded."""
        return self.high if self.one_sided else max(self.low, self.high)

    @property
    def name(self) -> str:
        """The secret in words."""
        return ", ".join(self.secret.columns)


@dataclass(frozen=True)
class Original:
    """The table that a release was made from; ``name`` distinguishes tables of one database."""

    sha256: str | None
    name: str | None
    records: int

    @classmethod
    def of(cls, table: Table, records: int) -> Original:
        """The fingerprint of a table; a frame has none."""
        name = table.name.rpartition("::")[2] if many_tables(table.format) else None
        return cls(table.sha256(), name, records)

    def is_that_of(self, other: Entry) -> bool:
        """Whether another release was made from the very same table."""
        return self.sha256 is not None and self == other.original


@dataclass(frozen=True)
class Entry:
    """One release in the ledger: what it was made from and by which rules, and what it attains for its secrets.

    ``together`` is what it and the earlier releases about the same people say together; ``beta`` the probability that
    its proof from a sample is false, 0 if there is no such proof.
    """

    release: str
    output_sha256: str
    original: Original
    weight: str | None
    attained: tuple[SecretLeak, ...]
    beta: float
    relation: People
    rules: ReleaseRules
    mechanism: str
    tacit_version: str
    together: tuple[SecretLeak, ...] = ()

    def __post_init__(self) -> None:
        if not self.attained or not 0 <= self.beta <= 1:
            raise ValueError("a release that is about no secret, or a beta that cannot be")

    def of(self, secret: Secret) -> SecretLeak | None:
        """What the release attains for a secret; None if it was not about it."""
        return next((leak for leak in self.attained if leak.secret == secret), None)


@dataclass(frozen=True)
class LedgerFile:
    """A ledger as stored."""

    entries: tuple[Entry, ...]
    format: Literal["tacit ledger"] = FORMAT
    version: Literal[2] = VERSION

    def __post_init__(self) -> None:
        for entry in self.entries:
            if not {leak.secret for leak in entry.attained} <= {leak.secret for leak in entry.together}:
                raise ValueError("an entry does not say what all releases say together about its secrets")


def read_ledger(path: Path) -> tuple[Entry, ...]:
    """The entries of a ledger; none if there is no such file.

    Raises
    ------
    SourceError
        If the file cannot be read, is damaged or is not a ledger. It is left unchanged.
    """
    if not path.exists():
        return ()
    kept = sentence(
        "It was left unchanged: restore it from a copy, or name another file ({ledger})", ledger=Setting("ledger")
    )
    data = json_in(path, "ledger")
    if not isinstance(data, dict) or data.get("format") != FORMAT:
        raise SourceError(sentence("{path} is not a Tacit ledger. {kept}", path=path, kept=kept))
    if data.get("version") != VERSION:
        raise SourceError(f"{path} is a ledger of version {data.get('version')}; this Tacit reads version {VERSION}")
    try:
        return decoded(LedgerFile, data).entries
    except Damaged as error:
        raise SourceError(
            sentence("the ledger {path} is damaged ({why}). {kept}", path=path, why=error, kept=kept)
        ) from error


def write_ledger(path: Path, entries: Sequence[Entry]) -> None:
    """Write the whole ledger, readable only by its owner.

    Guarantees
    ----------
    The file is the old one or the new one, whole, whatever fails in between.
    """
    text = text_of(LedgerFile(tuple(entries)))
    with whole_file(path) as draft, os_errors(path):
        descriptor = os.open(draft, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
        with os.fdopen(descriptor, "w", encoding="utf-8") as file:
            file.write(text)


def released_at(place: str) -> str | None:
    """The fingerprint of the release in a folder; None if there is none."""
    try:
        return read_certificate(Path(place)).output.sha256
    except SourceError:
        return None


def not_in_place(entries: Sequence[Entry]) -> list[str]:
    """A note if releases are not where they were written: moved, or their run was killed before they appeared."""
    away = [entry.release for entry in entries if not Path(entry.release).exists()]
    if not away:
        return []
    others = f" and {len(away) - 1:,} more" if len(away) > 1 else ""
    return [
        f"the ledger counts a release that is not at {away[0]}{others}: it was moved, or the run that wrote it was "
        "stopped before it appeared. It still counts"
    ]


@contextmanager
def alone_with(path: Path) -> Iterator[None]:
    """Within it, no other process reads or writes the ledger; the system releases the lock of a killed process."""
    with os_errors(path):
        path.parent.mkdir(parents=True, exist_ok=True)
    busy = SourceError(f"another process is using the ledger {path}: try again when it is done")
    with locked(path, busy):
        yield
