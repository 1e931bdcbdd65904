"""Values that say less than others and agree with them: 1963 and 1963-02-16, A. Archer, j***@mail.example, …0187."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Callable
from functools import lru_cache
from typing import Final

from tacit.person.model.forms.days import as_day, day_parts
from tacit.person.model.forms.phones import OWN_DIGITS

# What hides characters besides stars: dots, crosses beside digits (XXX-XX-6789), an ellipsis, "ending in 6789".
_NO_LETTER: Final = r"(?:^|[^A-Za-z])"
_CROSSES: Final = rf"{_NO_LETTER}[xX]{{3,}}(?:[^A-Za-z]|$)"
_ENDS: Final = r"[Ee]nd(?:s|ing) in "
HIDDEN: Final = (
    rf"[•●…]|\.\.\.@|{_ENDS}|[0-9][-/.]?[xX]{{2,}}(?:[^A-Za-z]|$)|{_NO_LETTER}[xX]{{2,}}(?:[-/.][0-9xX]|[0-9])"
    rf"|[0-9].*{_CROSSES}|{_CROSSES}.*[0-9]"
)
_SIGN: Final = re.compile(r"[*•●…]+|\.{3}")
_LEAST_KNOWN: Final = 2


def hides(text: str) -> bool:
    """Whether characters of a text are hidden by anything but stars."""
    return re.search(HIDDEN, text) is not None


def known(pattern: str) -> str:
    """What is left of a text if whatever hides characters is taken away."""
    return _hidden_as(pattern, "")


def _hidden_as(pattern: str, sign: str) -> str:
    text = re.sub(_ENDS, "…", unicodedata.normalize("NFKC", pattern.replace("…", "•")))
    text = _SIGN.sub(sign, text)
    return re.sub(r"(?<![A-Za-z])[xX]{2,}(?![A-Za-z])", sign, text) if hides(pattern) else text


def shows(form: str | None, pattern: str, true: str) -> bool:
    """Whether what a pattern of this form does not hide is the same in a true value in normal form.

    In telephone numbers, codes and e-mail addresses a run of hidden characters may be of any length, because most
    masks write as many as they like.

    Examples
    --------
    >>> shows("phone", "***-***-0187", "+12125550187"), shows("email", "j****n@g***.com", "john@gmail.com")
    (True, True)
    >>> shows("code", "XXX-XX-6789", "123456789"), shows("date", "1963-XX-XX", "1963-02-16")
    (True, True)
    """
    return form in _SHOWN and _SHOWN[form](pattern, true)


def _phone(pattern: str, true: str) -> bool:
    signs = re.sub(r"[^0-9+•]+", "", _hidden_as(pattern, "•"))
    # A leading 0 is dialled only within the country.
    inside = not signs.startswith("+")
    return _runs(
        re.sub(r"^0+", "", signs) if inside else signs[1:], true.partition("x")[0].lstrip("+"), ".", anywhere=inside
    )


def _code(pattern: str, true: str) -> bool:
    return _runs(re.sub(r"[^0-9a-z•]+", "", _hidden_as(pattern, "•").casefold()), true, ".", anywhere=False)


def _runs(signs: str, true: str, any_sign: str, *, anywhere: bool) -> bool:
    """Whether a text fits, runs of hidden signs being one or more of any."""
    pieces = re.split(r"•+", signs)
    if len(pieces) < 2 or len("".join(pieces)) < _LEAST_KNOWN:
        return False
    return re.fullmatch((".*" if anywhere else "") + f"{any_sign}+".join(map(re.escape, pieces)), true) is not None


def _email(pattern: str, true: str) -> bool:
    text = "".join(_hidden_as(pattern, "•").casefold().split())
    if text.count("@") != 1 or not re.search(r"[a-z0-9]", text.rpartition(".")[0]):
        return False
    return re.fullmatch("[^@]*".join(map(re.escape, re.split(r"•+", text))), true) is not None


def _date(pattern: str, true: str) -> bool:
    return any(_day_agrees(parts, true) for parts in day_parts(_hidden_as(pattern, "*")))


def _name(pattern: str, true: str) -> bool:
    words, others = _hidden_as(pattern, "•").casefold().replace(".", " ").split(), true.split()
    if len(words) < 2 or len(others) < 2 or not any(word[0] != "•" for word in words):
        return False
    pairs = zip((words[0], words[-1]), (others[0], others[-1]), strict=True)
    return all(re.fullmatch("[^ ]*".join(map(re.escape, re.split(r"•+", one))), other) for one, other in pairs)


_SHOWN: Final[dict[str, Callable[[str, str], bool]]] = {
    "phone": _phone,
    "code": _code,
    "email": _email,
    "date": _date,
    "date-day-first": _date,
    "date-month-first": _date,
    "name": _name,
}


@lru_cache(1 << 16)
def says_less(form: str | None, value: str, other: str) -> bool:
    """Whether a value agrees with all that another says of the same kind, and says less; both are in normal form.

    Examples
    --------
    >>> says_less("date", "1963", "1963-02-16"), says_less("name", "a archer", "alice archer")
    (True, True)
    >>> says_less("address", "ambleford", "mill ln 12 ambleford"), says_less("phone", "01601234567", "+491601234567")
    (True, True)
    >>> says_less("date", "1964", "1963-02-16"), says_less("name", "alice archer", "a archer")
    (False, False)
    """
    return value != other and form in _LESS and _LESS[form](value, other)


def _day_agrees(parts: tuple[int | None, int | None, int | None], true: str) -> bool:
    day = as_day(true)
    whole = next(iter(day_parts(true)), None) if day is None else (day.year, day.month, day.day)
    if whole is None or not any(parts) or parts == whole:
        return False
    return all(part is None or part == own for part, own in zip(parts, whole, strict=True))


def _less_day(value: str, other: str) -> bool:
    if as_day(value) is not None:
        return False
    either = {as_day(value, day_first=True), as_day(value, day_first=False)} - {None}
    if either:
        return as_day(other) in either
    return any(_day_agrees(parts, other) for parts in day_parts(value))


def _less_name(value: str, other: str) -> bool:
    """Every word, in order, is a word of the other or its initial, and one of them is a word and no initial."""
    words, others = value.split(), other.split()
    if len(value) >= len(other) or len(words) > len(others) or not words:
        return False
    left, whole = iter(others), False
    for word in words:
        fits = next((one for one in left if one == word or (len(word) == 1 and one[0] == word)), None)
        if fits is None:
            return False
        whole |= fits == word and len(word) > 1
    return whole


def _less_words(value: str, other: str) -> bool:
    """All words are among the other's, and not only numbers."""
    return (
        len(value) < len(other)
        and set(value.split()) <= set(other.split())
        and any(word.isalpha() and len(word) > 1 for word in value.split())
    )


def _less_phone(value: str, other: str) -> bool:
    """Without the country, or without an extension."""
    if value.startswith("+"):
        return other.startswith(f"{value}x")
    number = value.lstrip("0")
    return len(number) >= OWN_DIGITS and other.startswith("+") and other.partition("x")[0].endswith(number)


_LESS: Final[dict[str, Callable[[str, str], bool]]] = {
    "date": _less_day,
    "date-day-first": _less_day,
    "date-month-first": _less_day,
    "name": _less_name,
    "address": _less_words,
    "place": _less_words,
    "phone": _less_phone,
}
# The forms with values that say less than others without hiding anything.
WITH_PARTS: Final = frozenset(_LESS)
