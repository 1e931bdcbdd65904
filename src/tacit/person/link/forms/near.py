"""Keys of values, of which two nearly equal values have one in common; and the most that a near value may be worth."""

from __future__ import annotations

from typing import Final

from tacit.person.model.forms.phones import OWN_DIGITS

# The largest credit of a value that is not the truth, by the name of the similarity.
CAPS: Final = {
    "exact": 0.0,
    "name": 0.95,
    "date": 0.8,
    "phone": 0.9,
    "address": 0.95,
    "code": 0.8,
    "email": 0.8,
    "zip": 0.9,
}
# Similarities that have keys, those with the fewest near values first.
KEYED: Final = ("email", "code", "phone", "zip")
_NUMBER: Final = "ltrim(split_part({0}, 'x', 1), '+')"
_ONE, _OTHER = (_NUMBER.format(column) for column in ("meant", "actual"))
_LAST: Final = f"right(ltrim({{0}}, '0'), {OWN_DIGITS})"
# The engine cannot count the differences of empty texts.
_AS_LONG: Final = f"length({_ONE}) = length({_OTHER}) AND length({_ONE}) > 0"
_ONE_SIGN: Final = (
    "CASE WHEN abs(length(meant) - length(actual)) <= 1 THEN damerau_levenshtein(meant, actual) <= 1 ELSE false END"
)
# For ``meant`` compared with ``actual``: what has a credit is within the bound. With other similarities anything may.
BOUNDS: Final = {
    "exact": "false",
    "phone": f"{_LAST.format(_ONE)} = {_LAST.format(_OTHER)} OR "
    f"CASE WHEN {_AS_LONG} THEN hamming({_ONE}, {_OTHER}) <= 2 ELSE {_ONE} = {_OTHER} END",
    "code": _ONE_SIGN,
    "email": _ONE_SIGN,
    "zip": f"{_ONE_SIGN} OR ltrim(meant, '0') = ltrim(actual, '0')",
    "date": "left(meant, 4) = left(actual, 4) OR right(meant, 6) = right(actual, 6) OR NOT meant LIKE '____-__-__' "
    "OR NOT actual LIKE '____-__-__'",
}


def near_keys(near: str, form: str) -> str:
    """SQL for a list of hashes of a column: two values to which ``near`` gives a credit have one in common.

    Texts that differ by one character, or in which two neighbours are swapped, become equal when the right character is
    left out of each, or of the longer one.
    """
    text = _NUMBER.format(form) if near == "phone" else form
    without = f"list_transform(range(1, length({text}) + 1), lambda i: hash({text}[:i - 1] || {text}[i + 1:]))"
    keys = f"list_append({without}, hash({text}))"
    if near == "phone":
        keys = f"list_append({keys}, hash('last', {_LAST.format(text)}))"
    if near == "zip":
        keys = f"list_append({keys}, hash('without zeros', ltrim({text}, '0')))"
    return f"list_distinct({keys})"
