"""Codes, postcodes and e-mail addresses, where every character counts."""

from __future__ import annotations

import re
from typing import Final

from tacit.person.model.forms.texts import one_mistake, plain, text

# Countries with postcodes of five digits, where a spreadsheet may have dropped a leading 0.
FIVE_DIGITS: Final = frozenset(
    ["US", "PR", "DE", "FR", "ES", "IT", "MX", "FI", "TR", "EE", "HR", "MY", "TH", "SA", "UA"]
)
# One character more, less or other in a shorter name before the @ is more likely another person's address.
LEAST_BOX: Final = 5


def code(value: str) -> str:
    """Only letters and digits: "AB 12-34/5" as "ab12345"."""
    return re.sub(r"[^a-z0-9]", "", plain(value))


def postcode(value: str, *, country: str | None = None) -> str:
    """A postcode: only letters and digits, without the last four of an American ZIP+4; 2138 as 02138 if the
    ``country`` has five digits.

    Examples
    --------
    >>> postcode("02138-1234"), postcode("sw1a 1aa"), postcode("2138", country="US"), postcode("2138.0")
    ('02138', 'sw1a1aa', '02138', '2138')
    """
    text = re.sub(r"^(\d{3,9})\.0+$", r"\1", value.strip())
    text = re.sub(r"^(\d{5})[- ]\d{4}$", r"\1", text)
    own = code(text)
    if country is None or country.upper() not in FIVE_DIGITS or not own.isdecimal():
        return own
    return own[:5] if len(own) == 9 and country.upper() in ("US", "PR") else own.zfill(5) if len(own) in (3, 4) else own


def codes_alike(value: str, true: str) -> float:
    """Credit of a code that is nearly right: one character more, less or different, or two swapped."""
    return 1.0 if value == true else 0.8 if min(len(value), len(true)) >= 6 and one_mistake(value, true) else 0.0


def postcodes_alike(value: str, true: str) -> float:
    """Credit of a postcode that is nearly right: without its leading 0, or mistyped as any code may be."""
    if value != true and value.isdecimal() and len(value.lstrip("0")) >= 3 and value.lstrip("0") == true.lstrip("0"):
        return 0.9
    return codes_alike(value, true)


def emails_alike(value: str, true: str) -> float:
    """Credit of an e-mail address that is nearly right: one character mistyped. jo@ and bo@ are two people."""
    same_box = value.rpartition("@")[0] == true.rpartition("@")[0]
    if value != true and not same_box and min(len(each.rpartition("@")[0]) for each in (value, true)) < LEAST_BOX:
        return 0.0
    return codes_alike(value, true)


def email(value: str) -> str:
    """An e-mail address as the mailbox it reaches: what follows a plus, and the dots of Gmail, do not matter."""
    address = re.sub(r"\s*\([^()@]*\)$", "", text(value)).removeprefix("mailto:").strip("<>\"' ,;")
    if "@" not in address:
        address = address.replace("%40", "@")
        # As people write addresses so that machines do not find them.
        address = re.sub(r"\s*[\[({]at[\])}]\s*|(?<=\S) at (?=\S+(?:\.| ?[\[(]?dot\b))", "@", address, count=1)
        address = re.sub(r"\s*[\[({]dot[\])}]\s*| dot ", ".", address) if "@" in address else address
    if named := re.fullmatch(r".*<\s*([^<>\s]+@[^<>\s]+)\s*>?", address):
        address = named[1]
    box, at, host = address.rpartition("@")
    if not at or not box:
        return address
    host = {"googlemail.com": "gmail.com"}.get(host.rstrip("."), host.rstrip("."))
    box = box.partition("+")[0] or box
    return f"{box.replace('.', '') if host == 'gmail.com' else box}@{host}"
