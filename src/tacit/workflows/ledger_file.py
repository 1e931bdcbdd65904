"""The file of a ledger: its entries, read and written whole, by one process at a time."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal, get_args

from tacit.errors import SourceError
from tacit.tables.cutting import Cut
from tacit.tables.table import Table
from tacit.tables.writing import os_errors, whole_file
from tacit.workflows.results import plain
from tacit.workflows.rules import VERSION as RULES_VERSION
from tacit.workflows.rules import Rules
from tacit.workflows.together import Secret

FORMAT, VERSION = "tacit ledger", 1

People = Literal["same people", "other people"]
PEOPLE: tuple[People, ...] = get_args(People)


@dataclass(frozen=True)
class Known:
    """What is known of a secret: every log-lift lies between ``-low`` and ``high`` nats.

    ``one_sided`` if nobody bounded how much less likely a value may become; ``smallest_share`` is that of the rarest
    value; ``exact`` if both ends were counted.
    """

    secret: Secret
    low: float
    high: float
    one_sided: bool
    smallest_share: float
    exact: bool = True

    @property
    def epsilon(self) -> float:
        """The larger of the sides that somebody bounded."""
        return self.high if self.one_sided else max(self.low, self.high)

    @property
    def name(self) -> str:
        """The secret in words."""
        return ", ".join(self.secret.columns)

    def to_dict(self) -> dict[str, Any]:
        """In JSON types."""
        data = {
            "secret": self.secret.columns,
            "cuts": [made.to_dict() for made in self.secret.cuts],
            "epsilon_low": self.low,
            "epsilon_high": self.high,
            "one_sided": self.one_sided,
            "smallest_share": self.smallest_share,
            "exact": self.exact,
        }
        return dict(plain(data))

    @classmethod
    def from_dict(cls, data: Mapping[str, Any]) -> Known:
        """What :meth:`to_dict` wrote; a ValueError, TypeError or KeyError if it is damaged."""
        secret = Secret(texts_of(data["secret"]), tuple(Cut.from_dict(made) for made in data["cuts"]))
        low, high, share = (float(data[name]) for name in ("epsilon_low", "epsilon_high", "smallest_share"))
        if not (low >= 0 and high >= 0 and 0 < share < 1 and secret.columns):
            raise ValueError("what was attained is out of range")
        return cls(secret, low, high, flag_of(data["one_sided"]), share, flag_of(data["exact"]))


@dataclass(frozen=True)
class Original:
    """The table that a release was made from; ``name`` tells tables of one database apart."""

    sha256: str | None
    name: str | None
    records: int

    @classmethod
    def of(cls, table: Table, records: int) -> Original:
        """The fingerprint of a table; a frame has none."""
        name = table.name.rpartition("::")[2] if table.format == "duckdb" else None
        return cls(table.sha256(), name, records)

    def is_that_of(self, other: Entry) -> bool:
        """Whether another release was made from the very same table."""
        return self.sha256 is not None and self == other.original


@dataclass(frozen=True)
class Entry:
    """One release in the ledger: what it was made from and by which rules, and what it attains of its secrets.

    ``together`` is what it and the earlier releases of the same people say together; ``beta`` the probability with
    which its proof from a sample may be false, 0 if there is none.
    """

    release: str
    output_sha256: str
    original: Original
    weight: str | None
    attained: tuple[Known, ...]
    beta: float
    relation: People
    rules: Rules
    mechanism: str
    tacit_version: str
    together: tuple[Known, ...] = ()

    def of(self, secret: Secret) -> Known | None:
        """What the release attains of a secret, if it was about it."""
        return next((known for known in self.attained if known.secret == secret), None)

    def to_dict(self) -> dict[str, Any]:
        """In JSON types; secret, released and bounds are in the rules."""
        return {
            "release": self.release,
            "output_sha256": self.output_sha256,
            "original": plain(self.original),
            "weight": self.weight,
            "attained": [known.to_dict() for known in self.attained],
            "beta": self.beta,
            "relation": self.relation,
            "rules": self.rules.to_dict(),
            "mechanism": self.mechanism,
            "tacit_version": self.tacit_version,
            "together": [known.to_dict() for known in self.together],
        }

    @classmethod
    def from_dict(cls, data: Mapping[str, Any]) -> Entry:
        """What :meth:`to_dict` wrote; a ValueError, TypeError or KeyError if it is damaged."""
        source, rules, beta = data["original"], data["rules"], float(data["beta"])
        optional = (source["sha256"], source["name"], data["weight"])
        texts_of([text for text in optional if text is not None])
        if data["relation"] not in PEOPLE or not 0 <= beta <= 1 or type(source["records"]) is not int:
            raise ValueError("a relation, a beta or a number of records that cannot be")
        if rules["version"] != RULES_VERSION:
            raise ValueError(f"rules of version {rules['version']}, where this Tacit reads {RULES_VERSION}")
        texts = texts_of([data[name] for name in ("release", "output_sha256", "mechanism", "tacit_version")])
        attained, together = (tuple(map(Known.from_dict, data[name])) for name in ("attained", "together"))
        if not attained or not {known.secret for known in attained} <= {known.secret for known in together}:
            raise ValueError("a release that is about no secret")
        return cls(
            release=texts[0],
            output_sha256=texts[1],
            original=Original(source["sha256"], source["name"], source["records"]),
            weight=data["weight"],
            attained=attained,
            beta=beta,
            relation=data["relation"],
            rules=Rules.from_dict(rules),
            mechanism=texts[2],
            tacit_version=texts[3],
            together=together,
        )


def texts_of(values: Sequence[Any]) -> tuple[str, ...]:
    """A list of texts, as a tuple; a TypeError if it is anything else."""
    if not isinstance(values, list) or not all(isinstance(value, str) for value in values):
        raise TypeError("a field that should be text is not")
    return tuple(values)


def flag_of(value: Any) -> bool:
    """True or false; a TypeError if it is neither."""
    if not isinstance(value, bool):
        raise TypeError("a field that should be true or false is not")
    return value


def read_ledger(path: Path) -> tuple[Entry, ...]:
    """The entries of a ledger; none if there is no such file.

    Raises
    ------
    SourceError
        If the file cannot be read, is damaged or is no ledger. It is left as it is.
    """
    kept = "It was left as it is: mend it from a copy, or name another file (--ledger)"
    try:
        data: Any = json.loads(path.read_text("utf-8"))
    except FileNotFoundError:
        return ()
    except OSError as error:
        raise SourceError(f"cannot read the ledger {path}: {error.strerror}") from error
    except ValueError as error:
        raise SourceError(f"{path} is no ledger, or a damaged one: it is not JSON. {kept}") from error
    if not isinstance(data, dict) or data.get("format") != FORMAT:
        raise SourceError(f"{path} is no ledger of Tacit. {kept}")
    if data.get("version") != VERSION:
        raise SourceError(f"{path} is a ledger of version {data.get('version')}; this Tacit reads version {VERSION}")
    try:
        if not isinstance(data["entries"], list):
            raise TypeError("the entries are no list")
        return tuple(map(Entry.from_dict, data["entries"]))
    except (KeyError, TypeError, IndexError, ValueError, AttributeError, OverflowError) as error:
        raise SourceError(f"the ledger {path} is damaged ({type(error).__name__}: {error}). {kept}") from error


def write_ledger(path: Path, entries: Sequence[Entry]) -> None:
    """Write the whole ledger, for its owner alone.

    Guarantees
    ----------
    The file is the old one or the new one, whole, whatever fails in between.
    """
    data = {"format": FORMAT, "version": VERSION, "entries": [entry.to_dict() for entry in entries]}
    text = json.dumps(data, ensure_ascii=False, allow_nan=False)
    with whole_file(path) as draft, os_errors(path):
        descriptor = os.open(draft, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
        with os.fdopen(descriptor, "w", encoding="utf-8") as file:
            file.write(text + "\n")


@contextmanager
def alone_with(path: Path) -> Iterator[None]:
    """Within it, no other process reads or writes the ledger; the system lets go of the lock of one that was killed."""
    import fcntl

    lock = path.with_name(f".{path.name}.lock")
    busy = SourceError(f"another process is using the ledger {path}: try again when it is done")
    with os_errors(path):
        path.parent.mkdir(parents=True, exist_ok=True)
        descriptor = os.open(lock, os.O_RDWR | os.O_CREAT, 0o600)
    try:
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
            # The one before removed the file when it was done; a lock on a file without a name keeps nobody out.
            if not os.path.samestat(os.fstat(descriptor), os.stat(lock)):
                raise busy
        except (BlockingIOError, FileNotFoundError):
            raise busy from None
        try:
            yield
        finally:
            with suppress(OSError):
                lock.unlink()
    finally:
        os.close(descriptor)
