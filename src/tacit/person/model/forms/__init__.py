"""For each kind of value: the form in which it is compared, and the credit for a value that is nearly right."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Final

from tacit.errors import ArgumentError
from tacit.person.model.forms.addresses import address, addresses_alike
from tacit.person.model.forms.codes import code, codes_alike, email, emails_alike, postcode, postcodes_alike
from tacit.person.model.forms.days import as_day, days_alike, iso
from tacit.person.model.forms.names import name, names_alike
from tacit.person.model.forms.phones import phone, phones_alike
from tacit.person.model.forms.texts import digits, says_nothing, text
from tacit.person.model.forms.words import company, gender, place, username

__all__ = [
    "FORMS",
    "as_day",
    "days_alike",
    "form_name",
    "names_alike",
    "normaliser",
    "phones_alike",
    "says_nothing",
]

Form = Callable[[str], str]

FORMS: Final[dict[str, Form]] = {
    "text": text,
    "name": name,
    "email": email,
    "phone": phone,
    "digits": digits,
    "code": code,
    "date": iso,
    "date-day-first": partial(iso, day_first=True),
    "date-month-first": partial(iso, day_first=False),
    "address": address,
    "zip": postcode,
    "place": place,
    "company": company,
    "gender": gender,
    "username": username,
}
# Forms that depend on the country.
_OF_COUNTRIES: Final[dict[str, Callable[..., str]]] = {"phone": phone, "zip": postcode}
ALIKE: Final = {
    "name": names_alike,
    "date": days_alike,
    "phone": phones_alike,
    "address": addresses_alike,
    "code": codes_alike,
    "email": emails_alike,
    "zip": postcodes_alike,
}


def normaliser(name: str, *, country: str | None = None) -> Form:
    """A normal form by its name: text, name, email, phone, digits, code, date, address, zip, place, company, gender,
    username.

    ``date-day-first`` and ``date-month-first`` also read 03/04/1990, which ``date`` leaves unchanged because it is
    ambiguous. A number above 12 is read as the day in all of them. ``country`` ("DE") is assumed for telephone numbers
    without a country code, and for postcodes.

    Examples
    --------
    >>> normaliser("name")("  GARCÍA,  Ana "), normaliser("date")("31.12.1990"), normaliser("phone")("+1 (555) 123")
    ('ana garcia', '1990-12-31', '+1555123')
    """
    if name not in FORMS:
        raise ArgumentError(f"no normal form {name!r}: choose {', '.join(FORMS)}")
    return partial(_OF_COUNTRIES[name], country=country) if name in _OF_COUNTRIES and country else FORMS[name]


def form_name(form: Form | None) -> tuple[str, str | None] | None:
    """The name of a normal form, and its country; None for any other function."""
    form = getattr(form, "__wrapped__", form)  # it may be cached
    if isinstance(form, partial) and "country" in form.keywords:
        return next((name for name, own in _OF_COUNTRIES.items() if own is form.func), "phone"), form.keywords[
            "country"
        ]
    return next(((name, None) for name, own in FORMS.items() if own is form), None)
