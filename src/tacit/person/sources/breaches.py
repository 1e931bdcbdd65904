"""Breaches as Have I Been Pwned lists them: which classes of data got out, and no values.

Fetch them for an account with ``truncateResponse=false``. The file says that, for example, the e-mail address and the
date of birth were in a breach; so each breach becomes a record in which the person's own values stand.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from typing import Any, NamedTuple

from tacit.errors import DataError
from tacit.person.model.records import Reference
from tacit.person.sources.features import is_text
from tacit.person.sources.source import Source, usual_labels

CLASS_LABELS = usual_labels("breaches")
VERIFIED, UNVERIFIED, SPAM_LIST = 1.0, 0.5, 0.3


class Breach(NamedTuple):
    """A breach that holds something of the person: its name, the labels, and how sure it is."""

    name: str
    labels: tuple[str, ...]
    confidence: float


def labels_in(source: Source) -> set[str]:
    """The labels of which the breaches in a file speak."""
    labels = source.labels_of(CLASS_LABELS)
    return {label for _, _, classes in _named(source) for each in classes if (label := labels.get(each)) is not None}


def read_breaches(source: Source, person: Reference) -> tuple[list[Breach], list[str]]:
    """The breaches of a file, and what was left out, in sentences: fabricated ones, and classes the person has not."""
    labels = source.labels_of(CLASS_LABELS)
    breaches: list[Breach] = []
    left_out: dict[str, set[str]] = {
        "left out as fabricated": set(),
        "data classes without a label, left out": set(),
        "breaches hold labels the person has no value of, left out": set(),
    }
    fabricated, unlabelled, missing = left_out.values()
    for model, name, classes in _named(source):
        if model.get("IsFabricated") is True:
            fabricated.add(name)
            continue
        unlabelled |= {each for each in classes if each not in labels}
        wanted = dict.fromkeys(label for each in classes if (label := labels.get(each)) is not None)
        missing |= {label for label in wanted if not person.values(label)}
        breaches.append(Breach(name, tuple(label for label in wanted if person.values(label)), _confidence(model)))
    notes = [f"source '{source.name}': {what}: {', '.join(sorted(some))}" for what, some in left_out.items() if some]
    return breaches, notes


def _models(source: Source) -> list[dict[str, Any]]:
    try:
        data = json.loads(source.path.read_bytes())
    except UnicodeDecodeError:
        raise DataError(f"{source.path} is not UTF-8 text: save it as UTF-8") from None
    except json.JSONDecodeError as error:
        raise DataError(
            f"{source.path}, line {error.lineno}: not JSON; save the answer of the service as it is"
        ) from None
    except RecursionError:
        raise DataError(f"{source.path} nests too deeply: save the answer of the service as it is") from None
    if not is_text(data):
        raise DataError(f"{source.path} has half a character (\\ud800 to \\udfff), which is no text: mend it")
    models = data if isinstance(data, list) else [data]
    if not all(isinstance(model, dict) for model in models):
        raise DataError(f"{source.path} is no list of breaches: save the answer of the service as it is")
    return models


def _named(source: Source) -> Iterator[tuple[dict[str, Any], str, list[str]]]:
    """Each breach, its name and its classes of data."""
    for place, breach in enumerate(_models(source), start=1):
        where, name, classes = f"{source.path}, breach {place}", breach.get("Name"), breach.get("DataClasses")
        if not isinstance(name, str) or not name:
            raise DataError(f"{where} has no Name: is it a list of breaches of Have I Been Pwned?")
        if not isinstance(classes, list) or not all(isinstance(each, str) for each in classes):
            raise DataError(f"{where} has no DataClasses: fetch it with truncateResponse=false")
        yield breach, name, classes


def _confidence(breach: Mapping[str, Any]) -> float:
    verified = VERIFIED if breach.get("IsVerified", True) is True else UNVERIFIED
    return min(verified, SPAM_LIST) if breach.get("IsSpamList") is True else verified
