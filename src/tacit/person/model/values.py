"""Values: which ones cover others ("11*", ">=50"), and how near two values are."""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Iterable, Mapping
from functools import lru_cache
from operator import ge, gt, le, lt
from typing import Any, Final

from tacit.errors import ArgumentError
from tacit.person.model.forms import ALIKE, as_day
from tacit.person.model.forms.parts import HIDDEN, hides, known
from tacit.person.model.forms.texts import jaro_winkler

# The credit in [0, 1] of a held value for a true one; 1 for equal values.
Similarity = Callable[[str, str], float]

# Signs of a pattern that stands for several values. A text without them is a value.
_HINT: Final = re.compile(r"[*<>≥≤\[({]")
_NUMBER: Final = r"[+-]?\d+(?:\.\d+)?"
_DAY: Final = r"\d{4}-\d{2}-\d{2}"
_BOUND: Final = re.compile(rf"(>=|<=|>|<|≥|≤)\s*({_DAY}|{_NUMBER})")
_RANGE: Final = re.compile(rf"([\[(])\s*({_DAY}|{_NUMBER})\s*(?:-|,|;|\.\.|–)\s*({_DAY}|{_NUMBER})\s*([\])])")
_RELATIONS: Final = {">=": ge, "≥": ge, "<=": le, "≤": le, ">": gt, "<": lt}
_SET: Final = re.compile(r"\{(.*)\}", re.DOTALL)

# `is_suppressed` as one regular expression, for engines that use RE2.
SUPPRESSED: Final = rf"(?s)[*]|{HIDDEN}|^\s*(?:{_BOUND.pattern}|{_RANGE.pattern}|{_SET.pattern})\s*$"


@lru_cache(1 << 16)
def is_suppressed(text: str) -> bool:
    """Whether the text stands for several values: wild cards (11*), bounds (>=50), ranges ([20-30)), sets ({a, b}).

    Hidden characters may also be dots (••• 0187), crosses beside digits (XXX-XX-6789), or "ending in 0187".
    """
    if not _HINT.search(text):
        return hides(text)
    text = text.strip()
    if hides(text):
        return True
    return "*" in text or any(form.fullmatch(text) for form in (_BOUND, _RANGE, _SET))


def tells_something(pattern: str) -> bool:
    """Whether a suppressed value still says anything; a value of only stars does not.

    Examples
    --------
    >>> tells_something("11*"), tells_something("***"), tells_something("***-**-****"), tells_something("XXX-XX-6789")
    (True, False, False, True)
    """
    return any(sign.isalnum() for sign in known(pattern))


def _number(text: str) -> float | None:
    return float(text) if re.fullmatch(_NUMBER, text.strip()) else None


def _day_number(text: str) -> float | None:
    day = as_day(text)
    return None if day is None else float(day.toordinal())


def covers(pattern: str, value: str, *, meant: Callable[[str], str] | None = None) -> bool:
    """Whether a suppressed value may stand for this one.

    A star is one character, as in the paper (1** covers 115 but not 11); a lone star is anything. Bounds and ranges
    are of numbers or days (2001-12-31); a round bracket excludes its end. A plain value covers itself only.
    ``meant`` gives the form in which the members of a set are compared with the value.

    Examples
    --------
    >>> covers("11*", "115"), covers("[20-30)", "30"), covers("≥50", "60"), covers("{flu, cold}", "cold")
    (True, False, True, True)
    """
    pattern, value = pattern.strip(), value.strip()
    if pattern in (value, "*"):
        return True
    if form := _SET.fullmatch(pattern):
        members = (member.strip() for member in form[1].split(","))
        return any(value in (member, meant(member) if meant else member) for member in members)
    if form := _BOUND.fullmatch(pattern):
        return _within(value, form[2], form[1])
    if form := _RANGE.fullmatch(pattern):
        low, high = (">=" if form[1] == "[" else ">"), ("<=" if form[4] == "]" else "<")
        return _within(value, form[2], low) and _within(value, form[3], high)
    return (
        "*" in pattern
        and len(pattern) == len(value)
        and all(mark in ("*", sign) for mark, sign in zip(pattern, value, strict=True))
    )


def _within(value: str, bound: str, relation: str) -> bool:
    # A number is never compared with a day: 60 is not before 2001-01-01.
    if (as_day(value) is None) != (as_day(bound) is None):
        return False
    measured = _number if as_day(value) is None else _day_number
    number, limit = measured(value), measured(bound)
    return number is not None and limit is not None and _RELATIONS[relation](number, limit)


def covered(pattern: str, domain: Iterable[str]) -> list[str]:
    """The values of the domain for which the pattern may stand."""
    return [value for value in domain if covers(pattern, value)]


def levenshtein(value: str, true: str) -> float:
    """Share of the characters that need no change."""
    from rapidfuzz.distance import Levenshtein

    return float(Levenshtein.normalized_similarity(value, true))


def exact(value: str, true: str) -> float:
    """1 for equal values, else 0."""
    return float(value == true)


def exp_abs(scale: float | str) -> Similarity:
    """Credit exp(-abs(value - true) / scale) for numbers, or for days if the scale is text such as "365d".

    A text that is not a number (or not a day) is right or wrong.

    Examples
    --------
    >>> round(exp_abs(10)("31", "30"), 4), round(exp_abs("365d")("1990-01-01", "1991-01-01"), 4)
    (0.9048, 0.3679)
    """
    days = isinstance(scale, str)
    text = str(scale).strip().removesuffix("d")
    try:
        width = float(text)
    except ValueError:
        width = math.nan
    if not (width > 0 and math.isfinite(width)):
        shown = repr(scale) if isinstance(scale, str | int | float) else "no number"
        raise ArgumentError(f"the scale of exp_abs is {shown}: give a positive number, or days as '365d'")

    def credit(value: str, true: str) -> float:
        measured = _day_number if days else _number
        first, second = measured(value), measured(true)
        return float(value == true) if first is None or second is None else math.exp(-abs(first - second) / width)

    return credit


_SIMILARITIES: Final[dict[str, Similarity]] = {
    "exact": exact,
    "jaro_winkler": jaro_winkler,
    "levenshtein": levenshtein,
    **ALIKE,
}


def similarity_name(function: Similarity | None) -> str | None:
    """The name of a similarity; None for any other function."""
    return next((name for name, own in _SIMILARITIES.items() if own is function), None)


def similarity(wanted: str | Mapping[str, Any]) -> Similarity:
    """A similarity by its name, or ``{"exp_abs": 10}`` with a scale.

    ``exact``, ``jaro_winkler`` and ``levenshtein`` work on any text; ``name``, ``date``, ``phone``, ``address``,
    ``code``, ``email`` and ``zip`` know the usual mistakes in such values: another order, day and month swapped, a
    country left out, one character mistyped.
    """
    if isinstance(wanted, str) and wanted in _SIMILARITIES:
        return _SIMILARITIES[wanted]
    if isinstance(wanted, Mapping) and len(wanted) == 1 and "exp_abs" in wanted:
        return exp_abs(wanted["exp_abs"])
    names = ", ".join(_SIMILARITIES)
    # Anything but a word was meant for another place, and may be a person's value.
    shown = f" {wanted!r}" if isinstance(wanted, str) else " of this form"
    raise ArgumentError(f"no similarity{shown}: choose {names}, or exp_abs with a scale such as {{exp_abs: 10}}")
