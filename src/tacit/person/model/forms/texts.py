"""Texts as they are compared: letters without marks, words without spaces beside them, and what stands for nothing."""

from __future__ import annotations

import re
import unicodedata
from typing import Final

# What people write where they have nothing to write. A field of dashes, dots or question marks says nothing either.
_NOTHING = (
    "n/a|na|n.a.|#n/a|none|null|nil|nan|<na>|unknown|unbekannt|inconnu|desconocido|not available|not applicable|"
    "not known|not provided|not given|no data|missing|undefined|undisclosed|withheld|redacted|tbd|tba|keine angabe|"
    "k.a.|k. a.|s/o|s.o.|non renseigné|n/d|n.d.|xxx|xxxx"
)
NOTHING: Final = frozenset(_NOTHING.split("|"))
BLANK: Final = r"[-–—_.?/\\#\s]*"
_BLANK: Final = re.compile(BLANK)


def says_nothing(value: str) -> bool:
    """Whether a text stands where a value is missing: N/A, unknown, ---.

    Examples
    --------
    >>> says_nothing("N/A"), says_nothing(" -- "), says_nothing("*"), says_nothing("Nadia")
    (True, True, False, False)
    """
    said = value.strip().casefold()
    return said in NOTHING or _BLANK.fullmatch(said) is not None


def plain(value: str) -> str:
    """Small letters without marks and in Latin script, single spaces: "GARCÍA  Ана" as "garcia ana"."""
    if not value.isascii():
        value = "".join(sign for sign in unicodedata.normalize("NFKD", value) if not unicodedata.combining(sign))
    if not value.isascii():
        from anyascii import anyascii

        value = anyascii(value)
    return " ".join(value.casefold().split())


def text(value: str) -> str:
    """Small letters and single spaces; marks stay."""
    return " ".join(unicodedata.normalize("NFKC", value).casefold().split())


def digits(value: str) -> str:
    """The digits alone."""
    return "".join(sign for sign in unicodedata.normalize("NFKC", value) if sign.isdigit())


def code(value: str) -> str:
    """Letters and digits alone: "AB 12-34/5" as "ab12345"."""
    return re.sub(r"[^a-z0-9]", "", plain(value))


def codes_alike(held: str, true: str) -> float:
    """Credit of a code or an address of e-mail that is nearly right: one sign more, less or other, or two swapped."""
    from rapidfuzz.distance import OSA

    return 1.0 if held == true else 0.8 if min(len(held), len(true)) >= 6 and OSA.distance(held, true) == 1 else 0.0


def jaro_winkler(held: str, true: str) -> float:
    """Credit of a name that is nearly right: 0 up to a Jaro-Winkler similarity of 0.8, then linear.

    99 of 100 pairs of surnames taken at random are less similar than 0.75: below 0.8 nothing is known.
    """
    from rapidfuzz.distance import JaroWinkler

    return max(0.0, 1 - (1 - JaroWinkler.similarity(held, true)) / 0.2)


def email(value: str) -> str:
    """An address of e-mail as the mailbox it reaches: what is after a plus, and the dots of Gmail, do not matter."""
    address = text(value).removeprefix("mailto:").strip("<>\"' ,;")
    if named := re.fullmatch(r".*<\s*([^<>\s]+@[^<>\s]+)\s*>?", address):
        address = named[1]
    box, at, host = address.rpartition("@")
    if not at or not box:
        return address
    host = {"googlemail.com": "gmail.com"}.get(host.rstrip("."), host.rstrip("."))
    box = box.partition("+")[0] or box
    return f"{box.replace('.', '') if host == 'gmail.com' else box}@{host}"
