"""Countries by what people call them: DE, Germany, Deutschland, Allemagne."""

from __future__ import annotations

from functools import cache
from typing import Final

from tacit.person.model.forms.texts import plain

# Usual names of a column of countries.
COUNTRY_COLUMNS: Final = frozenset(
    [
        "country",
        "country_code",
        "countrycode",
        "country_name",
        "nation",
        "land",
        "pays",
        "pais",
        "paese",
        "country_of_residence",
        "residence_country",
        "address_country",
    ]
)
_ALSO: Final = {"usa": "US", "u.s.": "US", "u.s.a.": "US", "uk": "GB", "england": "GB", "scotland": "GB", "brd": "DE"}


def country_named(text: str) -> str | None:
    """The country that a text names, in two letters; None if it names none.

    Examples
    --------
    >>> country_named("Deutschland"), country_named("us"), country_named("UK"), country_named("Atlantis")
    ('DE', 'US', 'GB', None)
    """
    return _countries().get(plain(text))


@cache
def _countries() -> dict[str, str]:
    import phonenumbers
    from phonenumbers.geodata.locale import LOCALE_DATA

    # A name that starts with a star refers to the name in another language.
    named = {plain(name): own for own, names in LOCALE_DATA.items() for name in names.values() if name[:1] != "*"}
    return named | {own.casefold(): own for own in phonenumbers.SUPPORTED_REGIONS} | _ALSO
