"""Texts in the form in which they are compared: without accents and extra spaces; and which texts mean nothing."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Callable
from functools import cache
from typing import Final

# What people write when they have nothing to write. A field of dashes, dots or question marks says nothing either.
_NOTHING = (
    "n/a|na|n.a.|#n/a|none|null|nil|nan|<na>|unknown|unbekannt|inconnu|desconocido|not available|not applicable|"
    "not known|not provided|not given|no data|missing|undefined|undisclosed|withheld|redacted|tbd|tba|keine angabe|"
    "k.a.|k. a.|s/o|s.o.|non renseigné|n/d|n.d.|xxx|xxxx"
)
NOTHING: Final = frozenset(_NOTHING.split("|"))
# Real names, if capitalised as names are: a program writes NULL or nan.
NAMES: Final = ("Na", "Nan", "Nil", "Null")
BLANK: Final = r"[-–—_.?/\\#\s]*"
# What a database writes for a day that it does not have.
NO_DAY: Final = r"(?:0000[-/.]00[-/.]00|00[-/.]00[-/.]0000)(?:[t ]00:00(?::00(?:\.0+)?)?z?)?"
_SAYS_NOTHING: Final = re.compile(f"{BLANK}|{NO_DAY}")


def says_nothing(value: str, *, name: bool = False) -> bool:
    """Whether a text means that a value is missing: N/A, unknown, ---, 0000-00-00.

    In a ``name``, Na and Null are people.

    Examples
    --------
    >>> says_nothing("N/A"), says_nothing(" -- "), says_nothing("*"), says_nothing("Nadia")
    (True, True, False, False)
    >>> says_nothing("0000-00-00 00:00:00"), says_nothing("0000")
    (True, False)
    >>> says_nothing("Null"), says_nothing("Null", name=True), says_nothing("NULL", name=True)
    (True, False, True)
    """
    if name and value.strip() in NAMES:
        return False
    text = value.strip().casefold()
    return text in NOTHING or _SAYS_NOTHING.fullmatch(text) is not None


def plain(value: str) -> str:
    """Small Latin letters without accents, single spaces: "GARCÍA  Ана" as "garcia ana"."""
    if not value.isascii():
        value = "".join(sign for sign in unicodedata.normalize("NFKD", value) if not unicodedata.combining(sign))
    if not value.isascii():
        from anyascii import anyascii

        value = anyascii(value)
    return " ".join(value.casefold().split())


def text(value: str) -> str:
    """Small letters and single spaces; accents stay."""
    return " ".join(unicodedata.normalize("NFKC", value).casefold().split())


def digits(value: str) -> str:
    """Only the digits."""
    return "".join(sign for sign in unicodedata.normalize("NFKC", value) if sign.isdigit())


def one_mistake(value: str, true: str) -> bool:
    """Whether two texts differ by one character more, less or different, or by two neighbours swapped."""
    from rapidfuzz.distance import OSA

    return OSA.distance(value, true, score_cutoff=1) == 1


def jaro_winkler(value: str, true: str) -> float:
    """Credit of a name that is nearly right: 0 up to a Jaro-Winkler similarity of 0.8, then linear.

    99 of 100 random pairs of surnames have a similarity below 0.75, so below 0.8 there is no credit.
    """
    return max(0.0, 1 - (1 - _winkler()(value, true)) / 0.2)


@cache
def _winkler() -> Callable[[str, str], float]:
    from rapidfuzz.distance import JaroWinkler

    return JaroWinkler.similarity
