"""What every format of a source is: how it is told from others, how it is read, and what its fields are called."""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from itertools import islice
from pathlib import Path
from typing import Any, NamedTuple

from tacit.errors import DataError
from tacit.loading import bytes_in, json_of, opening_of
from tacit.person.model.records import Reference, as_text
from tacit.person.sources.source import FileRecord, Source, SourceFormat
from tacit.tables.formats.plain import encoding_of

# To see which labels a file has, so many of its records are looked at.
LOOKED_AT = 10_000
# So much of a file is looked at to tell what it is.
MOST_LOOKED_AT = 1 << 18

Reading = tuple[list[FileRecord], list[str]]


class FileEntry(NamedTuple):
    """A record as its file has it: what it is called there, if anything, and fields with their values."""

    name: str | None
    fields: list[tuple[str, str]]


class Beginning:
    """The beginning of a file, looked at to tell its format; of a file .json, which is read whole anyway, all of it."""

    def __init__(self, path: Path) -> None:
        self.path, self.ending = path, path.suffix.lower()
        head = opening_of(path, "source", most=MOST_LOOKED_AT)
        encoding = encoding_of(head)
        self.text = head.decode("utf-8-sig" if encoding == "utf-8" else encoding, "replace")

    @cached_property
    def columns(self) -> frozenset[str]:
        """What the first line of a CSV names."""
        if self.ending not in (".csv", ".tsv", ".txt"):
            return frozenset()
        line = self.text.partition("\n")[0].strip()
        try:
            return frozenset(next(csv.reader(io.StringIO(line), delimiter=max(",;\t|", key=line.count)), []))
        except csv.Error:
            return frozenset()

    @cached_property
    def line(self) -> Mapping[str, Any]:
        """The object on the first line, where a file has one object per line."""
        first = self.text.lstrip().partition("\n")[0]
        try:
            found = json_of(first) if first.startswith("{") else None
        except ValueError:
            found = None
        return found if isinstance(found, dict) else {}

    @cached_property
    def whole(self) -> Any:
        """What a file .json holds; None if it is none, or no JSON."""
        try:
            return json_of(bytes_in(self.path, "source")) if self.ending == ".json" else None
        except ValueError:
            return None

    @cached_property
    def first(self) -> Mapping[str, Any]:
        """The first object of a list of them."""
        listed = self.whole[:1] if isinstance(self.whole, list) else []
        return next((each for each in listed if isinstance(each, dict)), {})


@dataclass(frozen=True)
class FileFormat:
    """A format of files that are no tables.

    Attributes
    ----------
    name : str
        As a case says it.
    title : str
        As a sentence says it: "read as ...".
    fits : callable
        Whether a file looks like it.
    usual : mapping from field to label
        The labels of its fields, where the case says nothing.
    read : callable
        The records of a source, and what was left out, in sentences without values. The person may be needed.
    labels : callable
        The labels that a source has, or has at its beginning.
    """

    name: SourceFormat
    title: str
    fits: Callable[[Beginning], bool]
    usual: Mapping[str, str]
    read: Callable[[Source, Reference | None], Reading]
    labels: Callable[[Source], set[str]]


def of_entries(
    name: SourceFormat,
    title: str,
    *,
    fits: Callable[[Beginning], bool],
    entries: Callable[[Path], Iterator[FileEntry]],
) -> FileFormat:
    """A format whose files are read entry by entry, each field looked up by its name."""
    usual = usual_labels(name)

    def read(source: Source, person: Reference | None) -> Reading:
        labels, records, unlabelled = source.labels_of(usual), [], set()
        for entry in entries(source.path):
            facts = [(label, value) for field, value in entry.fields if (label := labels.get(field)) is not None]
            unlabelled |= {field for field, _ in entry.fields if field not in labels}
            if facts:
                records.append(FileRecord(entry.name, facts, 1.0))
        if not records:
            raise DataError(f"{source.path} has no record of {title} that says something of a person: is it the file?")
        told = f"source '{source.name}': fields without a label, left out: {', '.join(sorted(unlabelled))}"
        return records, [told] * bool(unlabelled)

    def labels_in(source: Source) -> set[str]:
        labels = source.labels_of(usual)
        fields = {field for entry in islice(entries(source.path), LOOKED_AT) for field, _ in entry.fields}
        return {label for field in fields if (label := labels.get(field)) is not None}

    return FileFormat(name, title, fits, usual, read, labels_in)


def usual_labels(format_: SourceFormat) -> dict[str, str]:
    """The labels of what files of a format name, as they are called where the case says nothing."""
    labels: dict[str, str] = json.loads(Path(__file__).with_name("usual_labels.json").read_bytes())[format_]
    return labels


def text_of(value: Any) -> str:
    """A value of JSON as text; empty if it is no text and no number."""
    if (
        value is None
        or isinstance(value, bool | list | dict)
        or value != value
        or value in (float("inf"), -float("inf"))
    ):
        return ""
    return as_text(value, where="a value").strip()


def texts_of(value: Any) -> list[str]:
    """The values of a list, or the one value, as texts; none that are empty."""
    return [text for each in (value if isinstance(value, list) else [value]) if (text := text_of(each))]
