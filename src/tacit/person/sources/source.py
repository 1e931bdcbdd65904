"""Files with records of people, as a case describes them."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal, NamedTuple

from tacit.errors import DataError, SourceError
from tacit.person.model.records import Fact
from tacit.person.plans.letters import Law
from tacit.person.plans.removals import Offer
from tacit.person.sources.places import Address, Place, has_parts

SourceFormat = Literal[
    "table",
    "json",
    "long",
    "features",
    "breaches",
    "vcard",
    "entities",
    "spiderfoot",
    "harvester",
    "contacts",
    "mailbox",
]


@dataclass(frozen=True)
class Source:
    """A file with records of people, or several that are one table.

    Attributes
    ----------
    name : str
        Unique in the case.
    path : Path or Address
        The file; absolute, or relative if the path of the case file is. For rows and columns it may also be a folder,
        a pattern (``2024/*.parquet``) or an address.
    format : str
        Rows and columns (``table``, ``json``); a label and a value per row (``long``); or one of those in
        :mod:`tacit.person.sources.formats`.
    columns : mapping from column to label
        A column that is not named is its own label; one whose label is None is left out; ``{"*": None}`` leaves out
        all that are not named. In a features file the keys are names of feature attributes, in a breaches file data
        classes; those that are not named are looked up in the table that comes with Tacit.
    identifier : str or None
        The column that names the records; the number of the row if there is none.
    confidence : float
        Of every attribute of the source.
    confidence_column : str or None
        The column with a factor for each row.
    label_confidence : mapping from label to float
        A factor for each label.
    removal : Offer or None
        What is known about getting the source removed; None if nothing is.
    joined : mapping from label to columns
        Columns of a table whose texts are joined by a space into one value: a first and a last name.
    law : {"gdpr", "ccpa", "both"} or None
        The law that a letter to the source cites; the case's if None.
    """

    name: str
    path: Place
    format: SourceFormat = "table"
    columns: Mapping[str, str | None] = field(default_factory=dict)
    identifier: str | None = None
    confidence: float = 1.0
    confidence_column: str | None = None
    label_confidence: Mapping[str, float] = field(default_factory=dict)
    removal: Offer | None = None
    joined: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    law: Law | None = None

    def labelled(self, names: Sequence[str]) -> dict[str, str]:
        """The columns of a table that become attributes, each with its label, in the order of the table.

        A column that names records, holds confidences or is part of a joined value becomes one only if the map says so.
        """
        parts = (column for columns in self.joined.values() for column in columns)
        return mapped(self.columns, names, {self.identifier, self.confidence_column, *parts})

    @property
    def file(self) -> Path:
        """The one file of a source that is not a table."""
        if isinstance(self.path, Address):
            raise SourceError(f"{self.path} is an address, where only tables are read: download it first")
        if has_parts(self.path):
            raise SourceError(f"{self.path} is several files, which only a table may be: make each a source of its own")
        return self.path

    def labels_of(self, usual: Mapping[str, str]) -> dict[str, str | None]:
        """The label of every field in a file that is not a table: the ``usual`` one, or what the case says."""
        named = {name: label for name, label in self.columns.items() if name != "*"}
        return named if "*" in self.columns else {**usual, **named}

    @property
    def own_book(self) -> bool:
        """Whether it is an address book or mailbox, taken to be one's own unless the case gives a law or a removal."""
        return self.format in ("vcard", "contacts", "mailbox") and self.law is None and self.removal is None

    def share_of(self, label: str) -> float:
        """The confidence of a label's values, without that of the row."""
        return self.confidence * self.label_confidence.get(label, 1.0)


@dataclass(frozen=True)
class PopulationSpec:
    """The references of many people, in a table.

    Attributes
    ----------
    references : Path or Address
        The table, as that of a source; a person may have several rows.
    person : str
        The column that tells people apart; it is not an attribute.
    columns : mapping from column to label
        As in a source.
    quasi_identifiers : tuple of str
        Labels by which people are told apart: k is the size of the class that agrees on them.
    sensitive : tuple of str
        Labels for which l-diversity is counted.
    """

    references: Place
    person: str
    columns: Mapping[str, str | None] = field(default_factory=dict)
    quasi_identifiers: tuple[str, ...] = ()
    sensitive: tuple[str, ...] = ()

    def labelled(self, names: Sequence[str]) -> dict[str, str]:
        """The columns of the table that become facts, each with its label, in the order of the table."""
        return mapped(self.columns, names, {self.person})


class FileRecord(NamedTuple):
    """A record of a file that is not a table: its name, its labels and values, and its confidence.

    ``name`` is None if the record is known by its number. ``confidence`` is 1 if the case asks for none, and None if it
    does and the record has none.
    """

    name: str | None
    facts: list[Fact]
    confidence: float | None


def parsed(raw: bytes, path: Path, wanted: str, line: int = 1) -> Any:
    """The JSON that begins on a line of a file; a DataError if it is not JSON, or holds something that is not text."""
    try:
        data = json.loads(raw)
        # JSON lets half characters (surrogates) through, escaped or as three bytes of which the first is \xed.
        if b"\\u" in raw or b"\xed" in raw:
            json.dumps(data, ensure_ascii=False).encode()
    except UnicodeDecodeError as error:
        line += raw[: error.start].count(b"\n")
        raise DataError(f"{path}, line {line}: its bytes are not UTF-8; save the file as UTF-8") from None
    except UnicodeEncodeError:
        raise DataError(f"{path}, line {line}: half a character (\\ud800 to \\udfff) is not text: fix it") from None
    except json.JSONDecodeError as error:
        raise DataError(f"{path}, line {line + error.lineno - 1}: not {wanted}") from None
    except RecursionError:
        raise DataError(f"{path}, line {line}: nests too deeply; {wanted}") from None
    return data


def mapped(columns: Mapping[str, str | None], names: Sequence[str], quiet: set[str | None]) -> dict[str, str]:
    """The label of each column that has one; ``quiet`` columns have one only if the map says so."""
    rest = "*" not in columns
    labels = ((name, columns.get(name, name if rest and name not in quiet else None)) for name in names)
    return {name: label for name, label in labels if label is not None}
