"""Towns, employers, user names and gender, which are written in a few usual ways each."""

from __future__ import annotations

import re
from typing import Final

from tacit.person.model.forms.texts import plain, text

SAINTS: Final = frozenset(("saint", "sankt", "sint", "st"))
# What follows the name of a firm and says what kind of firm it is.
_FIRMS = (
    "inc incorporated llc llp lp ltd limited gmbh mbh ag kg kgaa ohg gbr ug se ev eg co corp corporation company plc "
    "sa sas sarl sasu srl spa sl slu bv nv oy oyj ab aps asa kk pty ltda sp z o oo zoo doo sro as"
)
FIRMS: Final = frozenset(_FIRMS.split())
_GENDERS: Final = {
    "f": "female woman w weiblich frau femme femminile femenino mujer feminino vrouw kvinna kvinde kobieta fem girl",
    "m": "male man mannlich mann homme maschile masculino hombre uomo man mies mezczyzna masc boy",
}
GENDERS: Final = {word: own for own, words in _GENDERS.items() for word in [own, *words.split()]}
_PROFILE: Final = re.compile(
    r"(?:https?://)?(?:[a-z0-9-]+\.)+[a-z]{2,}/(?:(?:in|u|user|users|profile|people|channel)/)?@?([^/?#]+)/?(?:[?#].*)?"
)


def place(value: str) -> str:
    """A town in small Latin letters without accents, and without the country after it: "St. Gallen, CH" as "st gallen".

    Umlauts are one letter: München, Muenchen and Munchen are the same.
    """
    words = re.sub(r"[^\w]+", " ", plain(re.split(r"[,;(]", value)[0])).split()
    short = " ".join("st" if word in SAINTS else word for word in words)
    return re.sub(r"([aou])e", r"\1", short) or text(value)


def company(value: str) -> str:
    """A firm in small Latin letters, without its legal form: "ACME, Inc." as "acme"."""
    words = re.sub(r"[^\w]+", " ", re.sub(r"(?<=\b\w)\.(?=\w\b)", "", plain(value))).split()
    while len(words) > 1 and words[-1] in FIRMS:
        words = words[:-1]
    return " ".join(words) or text(value)


def gender(value: str) -> str:
    """A gender as "f" or "m"; anything else in small letters."""
    word = plain(value).rstrip(".")
    return GENDERS.get(word, word)


def username(value: str) -> str:
    """A user name in small letters, without an @ before it or the address of the profile around it."""
    own = text(value)
    match = _PROFILE.fullmatch(own)
    return (match[1] if match else own).removeprefix("@")
