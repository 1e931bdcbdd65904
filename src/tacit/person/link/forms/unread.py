"""What could not be compared with the truth because of how it is written, so that it is told and not just wrong."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Final, Literal

from tacit.person.link.attributes import Attributes, one
from tacit.person.model.forms import as_day, form_name
from tacit.person.model.forms.days import day_parts
from tacit.person.model.labels import Labels
from tacit.person.model.records import Reference
from tacit.person.model.values import is_suppressed

# Letters of which Latin letters say only roughly how they sound.
SCRIPTS: Final = "Arabic Hebrew Thai Hangul Hiragana Katakana Devanagari Han"
_BY_SOUND: Final = "".join(rf"\p{{{script}}}" for script in SCRIPTS.split())
_IN_LETTERS: Final = re.compile("[\u0590-\u06ff\u0900-\u097f\u0e00-\u0e7f\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af]")
# Days that are looked at one by one.
MOST_DAYS: Final = 5_000


# A label, and what of its values could not be compared.
Unread = tuple[str, Literal["days", "letters"]]


def unread_counts(read: Attributes, formed: Attributes, reference: Reference, labels: Labels) -> dict[Unread, int]:
    """How many different days no form reads, and names are in letters that the person's name is not written in."""
    return {
        unread: len(_strange_days(formed, unread[0])) if unread[1] == "days" else _by_sound(read, unread[0])
        for unread in _wanted(reference, labels)
    }


def unread_values(
    read: Attributes, formed: Attributes, reference: Reference, labels: Labels
) -> dict[Unread, list[str]]:
    """The different values that :func:`unread_counts` counts, each once."""
    return {
        unread: _strange_days(formed, unread[0])
        if unread[1] == "days"
        else read.store.ask(_foreign(read, unread[0])).column("value").to_pylist()
        for unread in _wanted(reference, labels)
    }


def unread_notes(counts: Mapping[Unread, int]) -> list[str]:
    """Notes on what could not be compared."""
    notes = []
    for (label, what), count in counts.items():
        if count and what == "days":
            notes.append(f"{_values(count, label)} in no form of a day that is read, and {_counts(count)} as wrong")
        elif count:
            notes.append(
                f"{_values(count, label)} in other letters (Arabic, Chinese, Hebrew and so on), which are compared "
                "with Latin ones only by their sound, and often missed: write the name in these letters too, if the "
                "person has one"
            )
    return notes


def _wanted(reference: Reference, labels: Labels) -> list[Unread]:
    wanted: list[Unread] = []
    for label in dict.fromkeys(label for label, _ in reference):
        form = (form_name(labels[label].normalise) or ("", None))[0]
        if form.startswith("date"):
            wanted.append((label, "days"))
        if form == "name" and not any(_IN_LETTERS.search(value) for value in reference.values(label)):
            wanted.append((label, "letters"))
    return wanted


def _values(number: int, label: str) -> str:
    return f"1 value of '{label}' is" if number == 1 else f"{number:,} values of '{label}' are"


def _counts(number: int) -> str:
    return "counts" if number == 1 else "count"


def _different(attributes: Attributes) -> str:
    return attributes.coded.values if attributes.coded is not None else attributes.name


def _strange_days(formed: Attributes, label: str) -> list[str]:
    store = formed.store
    rows = store.ask(
        f"SELECT DISTINCT value FROM {_different(formed)} WHERE label = {store.text(label)} AND NOT "
        rf"regexp_full_match(value, '\d{{4}}-\d\d-\d\d') LIMIT {MOST_DAYS}"
    )
    return [value for value in rows.column("value").to_pylist() if not _says_when(value)]


def _says_when(value: str) -> bool:
    # 03/04/1990 is one of two days, whichever comes first.
    return as_day(value, day_first=True) is not None or bool(day_parts(value)) or is_suppressed(value)


def _by_sound(read: Attributes, label: str) -> int:
    return int(one(read.store, f"SELECT count(*) FROM ({_foreign(read, label)}) v"))


def _foreign(read: Attributes, label: str) -> str:
    """A query of the different values that are in other letters."""
    store = read.store
    foreign = f"CASE WHEN strlen(value) <> length(value) THEN regexp_matches(value, {store.text(f'[{_BY_SOUND}]')}) END"
    rows = f"SELECT value FROM {_different(read)} WHERE label = {store.text(label)}"
    return f"SELECT DISTINCT value FROM ({rows}) v WHERE {foreign}"
