"""Senzing's records: one JSON object per line, with a list of features.

A feature is an object of attributes: ``{"NAME_FIRST": …, "NAME_LAST": …}``, ``{"PHONE_TYPE": …, "PHONE_NUMBER": …}``.
The parts of a name become one value of ``name``, those of an address one of ``address`` (and the postal code also
``zip``); the rest are looked up in :data:`USUAL_LABELS`.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from itertools import islice
from typing import Any

from tacit.errors import ArgumentError, DataError
from tacit.loading import lines_in
from tacit.person.model.records import Fact, Reference, as_text
from tacit.person.sources.formats.format import LOOKED_AT, FileFormat, Reading, usual_labels
from tacit.person.sources.source import FileRecord, Source, parsed

# Joined by a space, in this order; many sources lack the middle name, so it is left out.
NAME_PARTS = ("NAME_FIRST", "NAME_LAST")
# Joined by a comma; the postal code is a label of its own.
ADDRESS_PARTS = (*(f"ADDR_LINE{line}" for line in range(1, 7)), "ADDR_CITY", "ADDR_STATE")
# The label of every feature attribute that has one.
USUAL_LABELS: Mapping[str, str] = {
    **usual_labels("features"),
    **dict.fromkeys(NAME_PARTS, "name"),
    **dict.fromkeys(ADDRESS_PARTS, "address"),
}


def read_features(source: Source, unlabelled: set[str] | None = None) -> Iterator[FileRecord]:
    """The records of a file, one by one; feature attributes without a label are added to ``unlabelled``."""
    labels = source.labels_of(USUAL_LABELS)
    naming = source.identifier or "RECORD_ID"
    for line, data in _objects(source):
        where = f"{source.file}, line {line}"
        features = data.get("FEATURES", [])
        if not isinstance(features, list) or not all(isinstance(feature, dict) for feature in features):
            raise DataError(f"{where}: FEATURES is not a list of objects; is this a file from Senzing?")
        facts = [fact for feature in features for fact in _facts(feature, labels, source.columns, where)]
        if unlabelled is not None:
            unlabelled.update(key for feature in features for key in feature if key not in labels and not _quiet(key))
        for key, label in source.columns.items():
            # Fields next to the features are not features, but the case may ask for them.
            if label is not None and key in data and key != "FEATURES":
                facts += [(label, value) for value in _value(data[key], f"'{key}'", where)]
        name = next(iter(_value(data.get(naming), f"'{naming}'", where)), str(line))
        yield FileRecord(name, facts, _confidence(data, source, where))


def _quiet(key: str) -> bool:
    """Whether an attribute describes the feature rather than the person: leaving it out needs no note."""
    return key.startswith(("REL_", "RECORD_TYPE")) or key.endswith(("_TYPE", "_COUNTRY", "_STATE", "_DT"))


def _objects(source: Source) -> Iterator[tuple[int, dict[str, Any]]]:
    wanted = "a JSON object; write one object per line"
    for line, raw in enumerate(lines_in(source.file, "list of features"), start=1):
        if not raw.strip():
            continue
        data = parsed(raw, source.file, wanted, line)
        if not isinstance(data, dict):
            raise DataError(f"{source.file}, line {line}: not {wanted}")
        if line == 1 and "FEATURES" not in data:
            hint = "if it is an ordinary table, say format: table"
            raise DataError(f"{source.file}, line 1: no FEATURES; {hint}")
        yield line, data


def _facts(
    feature: Mapping[str, Any], labels: Mapping[str, str | None], mapped: Collection[str], where: str
) -> Iterator[Fact]:
    parts: dict[str, list[str]] = {"name": [], "address": []}
    ordered = [*NAME_PARTS, *ADDRESS_PARTS]
    for key in sorted(feature, key=lambda key: ordered.index(key) if key in ordered else -1):
        values = _value(feature[key], f"'{key}'", where)
        if key in ordered and key in labels and key not in mapped:
            parts["name" if key in NAME_PARTS else "address"] += values
        elif (label := labels.get(key)) is not None:
            yield from ((label, value) for value in values)
    if parts["name"] and "NAME_FULL" not in feature:
        yield "name", " ".join(parts["name"])
    if parts["address"] and "ADDR_FULL" not in feature:
        yield "address", ", ".join(parts["address"])


def _value(value: Any, what: str, where: str) -> list[str]:
    """A value as text, in a list; an empty list if there is none."""
    if isinstance(value, list | dict):
        raise DataError(f"{where}: {what} is {'a list' if isinstance(value, list) else 'an object'}: make it text")
    if value is None or isinstance(value, bool):
        return []
    try:
        text = as_text(value, where=what)
    except ArgumentError as error:
        raise DataError(f"{where}: {error}") from None
    return [text] if text.strip() else []


def _confidence(data: Mapping[str, Any], source: Source, where: str) -> float | None:
    """The row's own confidence: 1 if the case asks for none; None if it asks and there is none."""
    if source.confidence_column is None:
        return 1.0
    cell = data.get(source.confidence_column)
    if cell is None or cell == "":
        return None
    try:
        value = -1.0 if isinstance(cell, bool) else float(cell)
    except (TypeError, ValueError, OverflowError):
        value = -1.0
    if not 0.0 <= value <= 1.0:
        raise DataError(f"{where}: '{source.confidence_column}' is not a confidence: a number from 0 to 1")
    return value


def _read(source: Source, person: Reference | None) -> Reading:
    unlabelled: set[str] = set()
    records = list(read_features(source, unlabelled))
    note = f"source '{source.name}': feature attributes without a label: {', '.join(sorted(unlabelled))}"
    return records, [note] * bool(unlabelled)


FORMAT = FileFormat(
    "features",
    "Senzing features",
    fits=lambda file: isinstance(file.line.get("FEATURES"), list),
    usual=USUAL_LABELS,
    read=_read,
    labels=lambda source: {label for one in islice(read_features(source), LOOKED_AT) for label, _ in one.facts},
)
