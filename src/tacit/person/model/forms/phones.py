"""Telephone numbers, by the numbering plans of all countries (phonenumbers)."""

from __future__ import annotations

import re
from typing import Final

from tacit.person.model.forms.texts import digits

_EXTENSION: Final = re.compile(
    r"(?i)[\s,;]*(?:ext(?:ension)?\.?|x|durchwahl|dw|poste|#|;ext=)\s*[:=.]?\s*(?=\d{1,6}\s*$)"
)
# The last digits, which tell one telephone from another; those before them say where it is.
OWN_DIGITS: Final = 7


def phone(value: str, *, country: str | None = None) -> str:
    """A number as +491601234567, with an extension as x12; only digits if the country is not known.

    ``country``, in two letters, is assumed for numbers without a country code.

    Examples
    --------
    >>> phone("tel:+49-160-1234567"), phone("0160 1234567", country="DE"), phone("+1 (555) 123-4567 ext. 8")
    ('+491601234567', '+491601234567', '+15551234567x8')
    """
    # What the telephone is for: (private).
    own = re.sub(r"\s*\([^()\d]*\)\s*$", "", value)
    number, _, extension = _EXTENSION.sub("~", _as_dialled(own)).partition("~")
    number = re.sub(r"(?i)^\s*(?:tel|phone|mobile|mob|cell|fax|t|m|p)\s*[.:]\s*", "", number)
    dialled = re.sub(r"^\D*00(?=[1-9])", "+", number)
    whole = _international(dialled, country)
    if whole is None:
        whole = ("+" if dialled.strip().startswith("+") else "") + digits(
            re.sub(r"^(\s*\+\d+)\s*\(0\)", r"\1", dialled)
        )
    return f"{whole}x{digits(extension)}" if extension else whole


def _as_dialled(value: str) -> str:
    """The digits of a number that a spreadsheet read as arithmetic: 4155552671.0, 4.155552671E9."""
    if re.fullmatch(r"\s*\+?\d{6,15}\.0+\s*", value):
        return value.partition(".")[0]
    if match := re.fullmatch(r"\s*(\d)[.,](\d{5,14})[eE]\+?(\d{1,2})\s*", value):
        whole = match[2].rstrip("0")
        # If digits were lost, the number cannot be recovered.
        return match[1] + whole.ljust(int(match[3]), "0") if len(whole) <= int(match[3]) <= len(whole) + 2 else value
    return value


def country_of(number: str) -> str | None:
    """The country, in two letters, of a number with a country code: DE for +49; None without one."""
    if not re.match(r"\D*(?:\+|00)\s*[1-9]", number):
        return None
    import phonenumbers

    try:
        read = phonenumbers.parse(phone(number), None)
    except phonenumbers.NumberParseException:
        return None
    own: str | None = phonenumbers.region_code_for_number(read)
    return own or phonenumbers.region_code_for_country_code(int(read.country_code or 0))


def is_country(name: str) -> bool:
    """Whether two letters name a country that has telephones."""
    import phonenumbers

    return name.upper() in phonenumbers.SUPPORTED_REGIONS


def _international(number: str, country: str | None) -> str | None:
    if country is None and not number.strip().startswith("+"):
        return None
    import phonenumbers

    try:
        read = phonenumbers.parse(number, country)
    except phonenumbers.NumberParseException:
        return None
    return str(phonenumbers.format_number(read, phonenumbers.PhoneNumberFormat.E164))


def phones_alike(value: str, true: str) -> float:
    """Credit of a number that is nearly right: without its country, with another extension, one digit off."""
    one, other = (number.partition("x")[0].lstrip("+") for number in (value, true))
    if one == other:
        return 1.0 if value == true else 0.9
    # Without the country code, and without the 0 that is dialled first within the country.
    short, long = sorted((one.lstrip("0"), other.lstrip("0")), key=len)
    if len(short) >= OWN_DIGITS and long.endswith(short):
        return 0.9
    if len(one) == len(other) >= OWN_DIGITS:
        apart = [at for at, (a, b) in enumerate(zip(one, other, strict=True)) if a != b]
        swapped = len(apart) == 2 and apart[1] == apart[0] + 1 and sorted(one) == sorted(other)
        return 0.8 if len(apart) == 1 or swapped else 0.0
    return 0.0
