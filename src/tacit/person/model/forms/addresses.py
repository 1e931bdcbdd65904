"""Addresses: abbreviations of streets, directions and flats, in the languages they are most often written in."""

from __future__ import annotations

import re
from collections.abc import Callable
from functools import cache, lru_cache
from typing import Final

from tacit.person.model.forms.parts import says_less
from tacit.person.model.forms.texts import plain

SHORT: Final[dict[str, str]] = {
    word: short
    for short, words in {
        "st": "street str strasse straat",
        "rd": "road",
        "ave": "avenue av aven",
        "dr": "drive drv",
        "ln": "lane",
        "ct": "court crt",
        "pl": "place platz plaza plz",
        "blvd": "boulevard bvd bd boul",
        "sq": "square",
        "ter": "terrace terr",
        "cres": "crescent cr",
        "hwy": "highway",
        "pkwy": "parkway",
        "cl": "close",
        "cir": "circuit circle cct circ",
        "gr": "grove grv",
        "apt": "apartment unit flat suite ste wohnung whg appt appartement app",
        "fl": "floor etage stock og",
        "n": "north nord norte",
        "s": "south sud sur",
        "e": "east ost est este",
        "w": "west ouest oeste",
        "r": "rue",
        "c": "calle cl. calla",
        "mt": "mount",
        "po": "postal",
    }.items()
    for word in words.split()
}
# German and Dutch streets end in the word: Hauptstraße, Hauptstr., Lindenweg.
_ENDING: Final = re.compile(r"(?<=[a-z]{2})(?:strasse|str|straat)$")
# Credit of a part of a longer address, half of it without a number.
PART_OF_ADDRESS: Final = 0.6
_HOUSE: Final = re.compile(r"\d+\w*")


def address(value: str) -> str:
    """An address in small Latin letters with the usual words abbreviated: "12 Mill Lane" as "mill ln 12".

    The house number comes after the street, as in German addresses.

    Examples
    --------
    >>> address("123 Main Street."), address("Hauptstr. 5"), address("5 Haupt-Strasse")
    ('main st 123', 'hauptst 5', 'haupt st 5')
    """
    return " ".join(word for part in value.split(",") for word in _behind(_words(part)))


def _words(part: str) -> list[str]:
    folded = re.sub(r"['’`´]", "", plain(part.replace("ß", "ss")))
    folded = re.sub(r"\b(?:no|nr|num|number|hausnummer)\b[.:]?\s*(?=\d)|#\s*(?=\d)", " ", folded)
    return [SHORT.get(word, _ENDING.sub("st", word)) for word in re.split(r"[^a-z0-9/]+", folded) if word]


def _behind(words: list[str]) -> list[str]:
    """The words with a leading house number moved after its street."""
    if len(words) < 2 or not words[0][0].isdigit() or words[1][0].isdigit():
        return words
    ends = (at for at, word in enumerate(words) if at and (word in ("apt", "fl") or word[0].isdigit()))
    end = next(ends, len(words))
    return [*words[1:end], words[0], *words[end:]]


def addresses_alike(value: str, true: str) -> float:
    """Credit of an address that is nearly right: how similar its words are, in any order, above a similarity of 0.6.

    With a different house number, half of the credit is left. An address that goes on, with a town or a country, says
    everything the true one does, if the true one has a number and a street; a part of a longer true one says a part.
    """
    if value == true:
        return 1.0
    words, others = _true_address(true)
    if words is not None and words.issubset(value.split()):
        return 0.95
    # Part of the address: most if it has a number.
    part = 0.0
    if says_less("address", value, true):
        part = PART_OF_ADDRESS if any(sign.isdigit() for sign in value) else PART_OF_ADDRESS / 2
    # Below the cutoff the exact score does not matter, and is not computed.
    similar = _letters_alike()(value, true, score_cutoff=60) / 100
    credit = max(part, min(0.95, (similar - 0.6) / 0.4))
    if not credit or not others:
        return credit
    numbers = _HOUSE.findall(value)
    return credit if not numbers or not others.isdisjoint(numbers) else credit / 2


@lru_cache(1 << 16)
def _true_address(true: str) -> tuple[frozenset[str] | None, frozenset[str]]:
    """The words of an address (None if it has no number or no street), and its numbers."""
    whole = any(sign.isdigit() for sign in true) and " " in true
    return frozenset(true.split()) if whole else None, frozenset(_HOUSE.findall(true))


@cache
def _letters_alike() -> Callable[..., float]:
    from rapidfuzz import fuzz

    return fuzz.token_sort_ratio
