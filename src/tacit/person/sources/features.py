"""Senzing's records: one JSON object to a line, with a list of features.

A feature is an object of attributes: ``{"NAME_FIRST": …, "NAME_LAST": …}``, ``{"PHONE_TYPE": …, "PHONE_NUMBER": …}``.
The parts of a name become one value of ``name``, those of an address one of ``address`` (and the postal code ``zip``
besides); the rest are looked up in :data:`USUAL_LABELS`.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from typing import Any, NamedTuple

from tacit.errors import ArgumentError, DataError
from tacit.person.model.records import as_text
from tacit.person.sources.source import Source, usual_labels

# Words joined by a space, in this order; the middle name is in one source and not in the next, so it stays out.
NAME_PARTS = ("NAME_FIRST", "NAME_LAST")
# Joined by a comma; the postal code is a label of its own.
ADDRESS_PARTS = (*(f"ADDR_LINE{line}" for line in range(1, 7)), "ADDR_CITY", "ADDR_STATE")

# What says more about a feature than about the person: nobody asks where it went.
_QUIET = ("REL_", "RECORD_TYPE")
_QUIET_ENDS = ("_TYPE", "_COUNTRY", "_STATE", "_DT")


# The label of every feature attribute that has one.
USUAL_LABELS: Mapping[str, str] = {
    **usual_labels("features"),
    **dict.fromkeys(NAME_PARTS, "name"),
    **dict.fromkeys(ADDRESS_PARTS, "address"),
}


class FeatureRecord(NamedTuple):
    """A line of a file: what the record is called, its labels and values, its confidence, and what has no label.

    ``confidence`` is 1 if the case asks for none, and None if it asks and the line has none.
    """

    name: str
    facts: list[tuple[str, str]]
    confidence: float | None
    unlabelled: set[str]


def read_features(source: Source) -> Iterator[FeatureRecord]:
    """The records of a file, one by one."""
    labels = source.labels_of(USUAL_LABELS)
    naming = source.identifier or "RECORD_ID"
    for line, data in _objects(source):
        where = f"{source.path}, line {line}"
        features = data.get("FEATURES", [])
        if not isinstance(features, list) or not all(isinstance(feature, dict) for feature in features):
            raise DataError(f"{where}: FEATURES is no list of objects; is it a file of Senzing?")
        facts: list[tuple[str, str]] = []
        unlabelled: set[str] = set()
        for feature in features:
            facts += _facts(feature, labels, source.columns, unlabelled, where)
        for key, label in source.columns.items():
            # What stands beside the features is no feature, but the case may ask for it.
            if label is not None and key in data and key != "FEATURES":
                facts += [(label, value) for value in _value(data[key], f"'{key}'", where)]
        name = next(iter(_value(data.get(naming), f"'{naming}'", where)), str(line))
        yield FeatureRecord(name, facts, _confidence(data, source, where), unlabelled)


def is_text(data: Any) -> bool:
    """Whether all texts of a JSON value can be written as UTF-8: JSON lets halves of characters through."""
    try:
        json.dumps(data, ensure_ascii=False).encode()
    except UnicodeEncodeError:
        return False
    return True


def _objects(source: Source) -> Iterator[tuple[int, dict[str, Any]]]:
    with source.path.open("rb") as file:
        for line, raw in enumerate(file, start=1):
            if not raw.strip():
                continue
            try:
                data = json.loads(raw)
            except UnicodeDecodeError:
                raise DataError(
                    f"{source.path}, line {line}: its bytes are not UTF-8; save the file as UTF-8"
                ) from None
            except (ValueError, RecursionError):
                raise DataError(f"{source.path}, line {line}: not a JSON object; write one object to a line") from None
            if b"\\u" in raw and not is_text(data):
                raise DataError(
                    f"{source.path}, line {line}: half a character (\\ud800 to \\udfff) is no text: mend the line"
                )
            if not isinstance(data, dict):
                raise DataError(f"{source.path}, line {line}: not a JSON object; write one object to a line")
            if line == 1 and "FEATURES" not in data:
                raise DataError(
                    f"{source.path}, line 1: no FEATURES; if it is an ordinary table, leave out features: true"
                )
            yield line, data


def _facts(
    feature: Mapping[str, Any],
    labels: Mapping[str, str | None],
    said: Mapping[str, str | None],
    unlabelled: set[str],
    where: str,
) -> Iterator[tuple[str, str]]:
    parts: dict[str, list[str]] = {"name": [], "address": []}
    whole = {"name": "NAME_FULL" in feature, "address": "ADDR_FULL" in feature}
    ordered = [*NAME_PARTS, *ADDRESS_PARTS]
    for key in sorted(feature, key=lambda key: ordered.index(key) if key in ordered else -1):
        values = _value(feature[key], f"'{key}'", where)
        if key not in labels:
            if not key.startswith(_QUIET) and not key.endswith(_QUIET_ENDS):
                unlabelled.add(key)
        elif key in ordered and key not in said:
            kind = "name" if key in NAME_PARTS else "address"
            if not whole[kind]:
                parts[kind] += values
        elif (label := labels[key]) is not None:
            yield from ((label, value) for value in values)
    if parts["name"]:
        yield "name", " ".join(parts["name"])
    if parts["address"]:
        yield "address", ", ".join(parts["address"])


def _value(value: Any, what: str, where: str) -> list[str]:
    """A value as text, in a list; none if there is nothing."""
    if value is None or isinstance(value, bool | list | dict):
        if isinstance(value, list | dict):
            raise DataError(f"{where}: {what} is {'a list' if isinstance(value, list) else 'an object'}: make it text")
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
    said = data.get(source.confidence_column)
    if said is None or said == "":
        return None
    try:
        value = float(said)
    except (TypeError, ValueError):
        value = -1.0
    if isinstance(said, bool) or not 0.0 <= value <= 1.0:
        raise DataError(f"{where}: '{source.confidence_column}' is no confidence: a number from 0 to 1")
    return value
