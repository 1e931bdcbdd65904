"""A word that often means missing is a value, and the answer says so."""

from __future__ import annotations

import pyarrow as pa
import pytest

from tacit.lenses.table.question import ask
from tacit.requests import Question


def notes(**columns: list[str | None]) -> str:
    table = pa.table({"ill": ["yes", "no"] * 10, "sex": ["f", "f", "m", "m"] * 5, **columns})
    return " | ".join(str(note) for note in ask(Question(table, secret="ill")).notes)


@pytest.mark.parametrize("word", ["NA", "n/a", "null", "?", ".", "-", "None"])
def test_a_column_of_numbers_but_for_one_word_is_named_with_the_way_out(word: str) -> None:
    told = notes(creatinine=["0.9", "1", "1.1", word] * 5)
    assert f"although all other values seen are numbers: '{word}' in creatinine; if it means missing, leave" in told
    assert "like any other" not in told


def test_a_column_of_words_is_named_only_for_what_hardly_ever_is_a_word() -> None:
    told = notes(pbcr=["yes", "no", "no", "NA"] * 5, payment=["none", "card", "-", "cash"] * 5)
    assert "a value like any other, not a missing one: 'NA' in pbcr; if it means missing" in told
    assert "in payment" not in told


def test_what_is_really_missing_and_what_is_not_used_needs_no_note() -> None:
    assert "if it means missing" not in notes(creatinine=["0.9", "1", "1.1", None] * 5)
    table = pa.table({"ill": ["yes", "no"] * 10, "sex": ["f", "m"] * 10, "left out": ["1", "NA"] * 10})
    question = ask(Question(table, secret="ill", drop=["left out"]))
    assert "if it means missing" not in " ".join(map(str, question.notes))
