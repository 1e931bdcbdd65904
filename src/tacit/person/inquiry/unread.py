"""What could not be compared with the truth because of how it is written, so that it is told and not just wrong."""

from __future__ import annotations

import re
from typing import Final

from tacit.person.inquiry.subject import Subject
from tacit.person.link.attributes import Attributes
from tacit.person.link.forms.unread import spelled_by_sound, strange_days
from tacit.person.model.forms import form_name

_IN_LETTERS: Final = re.compile("[\u0590-\u06ff\u0900-\u097f\u0e00-\u0e7f\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af]")


def unread_notes(read: Attributes, formed: Attributes, subject: Subject) -> list[str]:
    """Notes on days that no form reads, and on names in letters that the person's name is not written in."""
    notes = []
    for label in dict.fromkeys(label for label, _ in subject.reference):
        form = (form_name(subject.labels[label].normalise) or ("", None))[0]
        if form.startswith("date") and (strange := strange_days(formed, label)):
            notes.append(f"{_values(strange, label)} in no form of a day that is read, and {_counts(strange)} as wrong")
        true = subject.reference.values(label)
        if (
            form == "name"
            and not any(_IN_LETTERS.search(value) for value in true)
            and (sounds := spelled_by_sound(read, label))
        ):
            notes.append(
                f"{_values(sounds, label)} in other letters (Arabic, Chinese, Hebrew and so on), which are compared "
                "with Latin ones only by their sound, and often missed: write the name in these letters too, if the "
                "person has one"
            )
    return notes


def _values(number: int, label: str) -> str:
    return f"1 value of '{label}' is" if number == 1 else f"{number:,} values of '{label}' are"


def _counts(number: int) -> str:
    return "counts" if number == 1 else "count"
