"""The common interface of source formats: how each is recognised, how it is read, and the labels of its fields."""

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

# How many records of a file are examined to see which labels it has.
LOOKED_AT = 10_000
# How many bytes of a file are examined to recognise its format.
MOST_LOOKED_AT = 1 << 18

Reading = tuple[list[FileRecord], list[str]]


class FileEntry(NamedTuple):
    """A record as its file has it: its name there, if any, and fields with their values."""

    name: str | None
    fields: list[tuple[str, str]]


class Beginning:
    """The beginning of a file, from which its format is recognised; all of a .json file, which is read whole anyway."""

    def __init__(self, path: Path) -> None:
        self.path, self.ending = path, path.suffix.lower()
        head = opening_of(path, "source", most=MOST_LOOKED_AT)
        encoding = encoding_of(head)
        self.text = head.decode("utf-8-sig" if encoding == "utf-8" else encoding, "replace")

    @cached_property
    def columns(self) -> frozenset[str]:
        """The names in the first line of a CSV."""
        if self.ending not in (".csv", ".tsv", ".txt"):
            return frozenset()
        line = self.text.partition("\n")[0].strip()
        try:
            return frozenset(next(csv.reader(io.StringIO(line), delimiter=max(",;\t|", key=line.count)), []))
        except csv.Error:
            return frozenset()

    @cached_property
    def line(self) -> Mapping[str, Any]:
        """The object on the first line, if the file has one object per line."""
        first = self.text.lstrip().partition("\n")[0]
        try:
            line = json_of(first) if first.startswith("{") else None
        except ValueError:
            line = None
        return line if isinstance(line, dict) else {}

    @cached_property
    def whole(self) -> Any:
        """The content of a .json file; None for another file, or if it is not JSON."""
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
    """A format of files that are not tables.

    Attributes
    ----------
    name : str
        Its name in a case.
    title : str
        Its name in a sentence: "read as ...".
    fits : callable
        Whether a file looks like this format.
    usual : mapping from field to label
        The default labels of its fields.
    read : callable
        The records of a source, and sentences, without values, about what was left out. The person may be needed.
    labels : callable
        The labels found in a source, or in its first part.
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
        for entry in entries(source.file):
            facts = [(label, value) for field, value in entry.fields if (label := labels.get(field)) is not None]
            unlabelled |= {field for field, _ in entry.fields if field not in labels}
            if facts:
                records.append(FileRecord(entry.name, facts, 1.0))
        if not records:
            raise DataError(
                f"{source.file} has no record of {title} that says something about a person: is it the right file?"
            )
        note = f"source '{source.name}': fields without a label, left out: {', '.join(sorted(unlabelled))}"
        return records, [note] * bool(unlabelled)

    def labels_in(source: Source) -> set[str]:
        labels = source.labels_of(usual)
        fields = {field for entry in islice(entries(source.file), LOOKED_AT) for field, _ in entry.fields}
        return {label for field in fields if (label := labels.get(field)) is not None}

    return FileFormat(name, title, fits, usual, read, labels_in)


def usual_labels(format_: SourceFormat) -> dict[str, str]:
    """The default labels of the fields of a format."""
    labels: dict[str, str] = json.loads(Path(__file__).with_name("usual_labels.json").read_bytes())[format_]
    return labels


def text_of(value: Any) -> str:
    """A JSON value as text; empty if it is neither text nor a number."""
    if (
        value is None
        or isinstance(value, bool | list | dict)
        or value != value
        or value in (float("inf"), -float("inf"))
    ):
        return ""
    return as_text(value, where="a value").strip()


def texts_of(value: Any) -> list[str]:
    """The values of a list, or the single value, as texts, without empty ones."""
    return [text for each in (value if isinstance(value, list) else [value]) if (text := text_of(each))]
