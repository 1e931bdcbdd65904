"""Words that often mean that a value is missing, and are values here: which columns have them."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from tacit.document import listed
from tacit.tables.columns import Column
from tacit.tables.table import Table

# How many of the first rows are read.
LOOKED_AT = 20_000

# These hardly ever mean anything else; the others do in a column of words, but not among numbers.
_ALWAYS = frozenset({"na", "n/a", "#n/a", "<na>", "nan", "null", "?", "."})
_AMONG_NUMBERS = _ALWAYS | {"none", "-", "--", "unknown", "missing"}
_NUMBER = re.compile(r"[-+]?(\d+([.,]\d*)?|[.,]\d+)([eE][-+]?\d+)?")


def notes_of_absent(table: Table, columns: Sequence[Column]) -> Iterator[str]:
    """A note about the columns of text in which some of the first rows hold such a word, and what to do."""
    texts = [column.name for column in columns if column.kind == "text"]
    if not texts:
        return
    head = table.head(texts, LOOKED_AT)
    numbers: dict[str, str] = {}
    words: dict[str, str] = {}
    for name in texts:
        values = [str(value).strip() for value in head.column(name).unique().to_pylist() if value is not None]
        rest = [value for value in values if value and value.lower() not in _AMONG_NUMBERS]
        numeric = bool(rest) and all(_NUMBER.fullmatch(value) for value in rest)
        of_these = _AMONG_NUMBERS if numeric else _ALWAYS
        word = next((value for value in values if value.lower() in of_these), None)
        if word is not None:
            (numbers if numeric else words)[name] = word
    way_out = 'if it means missing, leave such cells empty in the file (in R: na = "")'
    if numbers:
        named = listed(f"'{word}' in {name}" for name, word in numbers.items())
        yield f"read as words, although all other values seen are numbers: {named}; {way_out}"
    if words:
        named = listed(f"'{word}' in {name}" for name, word in words.items())
        yield f"a value like any other, not a missing one: {named}; {way_out}"
