"""Keys of values: two that are nearly the same have one in common. What they may be worth at most."""

from __future__ import annotations

from typing import Final

from tacit.person.model.forms.phones import OWN_DIGITS

# The largest credit of a value that is not the truth, by the name of the similarity.
CAPS: Final = {"exact": 0.0, "name": 0.95, "date": 0.8, "phone": 0.9, "address": 0.95, "code": 0.8}
KEYED: Final = frozenset(("phone", "code"))


def near_keys(near: str, form: str) -> str:
    """SQL for a list of hashes of a column: those of two values that ``near`` gives a credit have one in common.

    Texts that differ by one sign, or in which two neighbours are swapped, are the same once the right sign is left out
    of each, or of the longer one.
    """
    said = f"ltrim(split_part({form}, 'x', 1), '+')" if near == "phone" else form
    # Written out as a parameter, so that it is made once.
    without = f"list_transform(range(1, length({said}) + 1), lambda i: hash({said}[:i - 1] || {said}[i + 1:]))"
    keys = f"list_append({without}, hash({said}))"
    if near == "phone":
        keys = f"list_append({keys}, hash('last', right(ltrim({said}, '0'), {OWN_DIGITS})))"
    return f"list_distinct({keys})"
