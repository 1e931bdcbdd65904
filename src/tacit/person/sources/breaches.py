"""Breaches as Have I Been Pwned lists them: which classes of data got out, and no values.

Fetch them for an account with ``truncateResponse=false``. The file says that, for example, the e-mail address and the
date of birth were in a breach; so each breach becomes a record in which the person's own values stand.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from tacit.errors import DataError
from tacit.loading import bytes_in
from tacit.person.model.records import Reference
from tacit.person.sources.source import FileRecord, Source, parsed, usual_labels

CLASS_LABELS = usual_labels("breaches")
VERIFIED, UNVERIFIED, SPAM_LIST = 1.0, 0.5, 0.3


def labels_in(source: Source) -> set[str]:
    """The labels of which the breaches in a file speak."""
    labels = source.labels_of(CLASS_LABELS)
    return {label for _, _, classes in _named(source) for each in classes if (label := labels.get(each)) is not None}


def read_breaches(source: Source, person: Reference) -> tuple[list[FileRecord], list[str]]:
    """The breaches of a file, and what was left out, in sentences: fabricated ones, and classes the person has not."""
    labels = source.labels_of(CLASS_LABELS)
    records: list[FileRecord] = []
    left_out: dict[str, set[str]] = {
        "left out as fabricated": set(),
        "data classes without a label, left out": set(),
        "breaches hold labels the person has no value of, left out": set(),
    }
    fabricated, unlabelled, missing = left_out.values()
    for breach, name, classes in _named(source):
        if breach.get("IsFabricated") is True:
            fabricated.add(name)
            continue
        unlabelled |= {each for each in classes if each not in labels}
        wanted = dict.fromkeys(label for each in classes if (label := labels.get(each)) is not None)
        missing |= {label for label in wanted if not person.values(label)}
        facts = [(label, value) for label in wanted for value in person.values(label)]
        records.append(FileRecord(name, facts, _confidence(breach)))
    notes = [f"source '{source.name}': {what}: {', '.join(sorted(some))}" for what, some in left_out.items() if some]
    return records, notes


def _named(source: Source) -> Iterator[tuple[dict[str, Any], str, list[str]]]:
    """Each breach, its name and its classes of data."""
    wanted = "JSON; save the answer of the service as it is"
    data = parsed(bytes_in(source.path, "list of breaches"), source.path, wanted)
    for place, breach in enumerate(data if isinstance(data, list) else [data], start=1):
        if not isinstance(breach, dict):
            raise DataError(f"{source.path} is no list of breaches: save the answer of the service as it is")
        where, name, classes = f"{source.path}, breach {place}", breach.get("Name"), breach.get("DataClasses")
        if not isinstance(name, str) or not name:
            raise DataError(f"{where} has no Name: is it a list of breaches of Have I Been Pwned?")
        if not isinstance(classes, list) or not all(isinstance(each, str) for each in classes):
            raise DataError(f"{where} has no DataClasses: fetch it with truncateResponse=false")
        yield breach, name, classes


def _confidence(breach: Mapping[str, Any]) -> float:
    verified = VERIFIED if breach.get("IsVerified", True) is True else UNVERIFIED
    return min(verified, SPAM_LIST) if breach.get("IsSpamList") is True else verified
