"""Telephone numbers in SQL: what :func:`tacit.person.model.forms.phones.phone` makes of ordinary ones."""

from __future__ import annotations

from functools import cache
from typing import Any

from tacit.tables.engines import Store

Layer = dict[str, str]

# Digits, and what people put between them.
_ORDINARY = r"^ *(\+ ?|\+?\()?[0-9][-0-9 ()./]*$"
_SAID = r"(?i)^ *(?:tel|phone|mobile|mob|cell|fax|t|m|p) *[.:] *"
_EXTENSION = r"(?i)^(.*[0-9)]) *,? *(?:ext\.?|extension|x) ?[:.]? ?([0-9]{1,6})$"
_SIGNS = " ()-./+"


def phone_layers(store: Store, country: str | None) -> list[Layer]:
    """SQL for the columns from ``value`` to ``form``, each using those before; form is null where SQL is not sure."""
    text, own = store.text, None if country is None else _plan(country)
    number = f"CASE WHEN value < 'A' THEN value ELSE regexp_replace(value, {text(_SAID)}, '') END"
    # To remove one character is much faster than to translate all of them.
    digits = (
        rf"CASE WHEN regexp_full_match(said, '\+?[0-9][0-9 ]*') THEN {_without(' +')} "
        rf"WHEN regexp_full_match(said, '\+?[0-9][-0-9/]*') THEN {_without('+-/')} "
        f"WHEN regexp_matches(said, {text(_ORDINARY)}) THEN {_without(_SIGNS)} END"
    )
    # 4155552671.0, as a spreadsheet writes it.
    reckoned = r"(contains(value, '.0') AND regexp_full_match(value, ' *\+?[0-9]{6,15}\.0+ *'))"
    # A CASE evaluates only the branch that applies; an AND evaluates both sides.
    zeros = "CASE WHEN starts_with(digits, '00') THEN regexp_matches(said, '^[^0-9]*00[1-9]') ELSE false END"
    # The number within the country, if the country is known and the code is its own.
    inside = f"abroad AND starts_with(d, '{own.code}')" if own is not None and own.main else "false"
    code = "" if own is None else own.code
    return [
        {"extended": "contains(value, 'x') AND value < 'A'"},
        {"parts": f"CASE WHEN extended THEN regexp_extract(value, {text(_EXTENSION)}, ['said', 'more']) END"},
        {"said": f"CASE WHEN extended THEN parts.said ELSE {number} END"},
        {"digits": digits},
        {"zeros": zeros},
        {"abroad": "zeros OR contains(said, '+')", "d": "CASE WHEN zeros THEN substr(digits, 3) ELSE digits END"},
        {"inside": inside},
        {"n": f"CASE WHEN inside THEN substr(d, {len(code) + 1}) ELSE d END"},
        {"rest": "NULL" if own is None else f"CASE WHEN starts_with(n, '{own.prefix}') THEN {own.rest('n')} END"},
        {
            "whole": f"CASE WHEN strlen(d) NOT BETWEEN 7 AND 15 OR strlen(said) > 30 OR {reckoned} THEN NULL "
            f"WHEN inside THEN {'NULL' if own is None else own.stripped(store)} "
            f"WHEN abroad THEN {_abroad(store)} ELSE {_at_home(store, country)} END"
        },
        {"form": "CASE WHEN extended THEN whole || 'x' || parts.more ELSE whole END"},
    ]


def _without(signs: str) -> str:
    """SQL for what was said without these signs."""
    text = "said"
    for sign in signs:
        text = f"replace({text}, '{sign}', '')"
    return text


def _abroad(store: Store) -> str:
    """SQL for a number with its country code: unchanged, unless a national prefix may follow the code."""
    codes, inside = _countries()
    return (
        f"CASE WHEN regexp_matches(d, '^(?:{codes})') THEN "
        f"CASE WHEN NOT regexp_matches(d, {store.text(inside)}) THEN '+' || d END END"
    )


def _at_home(store: Store, country: str | None) -> str:
    if country is None:
        return "CASE WHEN NOT starts_with(d, '00') THEN d END"
    own = _plan(country)
    if own is None:
        return "NULL"
    text, rest = store.text, f"substr(d, {len(own.code) + 1})"
    whole, prefixed = f"regexp_full_match(d, {text(own.numbers)})", f"starts_with(d, '{own.code}')"
    dialled = (
        f"starts_with(d, '{own.dialled}')"
        if own.dialled.isdigit()
        else f"regexp_matches(d, {text(f'^(?:{own.dialled})')})"
    )
    cases = [f"WHEN {dialled} THEN NULL"] if own.dialled else []
    cases.append(f"WHEN CASE WHEN {prefixed} THEN {whole} ELSE true END THEN {own.stripped(store)}")
    if own.main:
        inside = f"NOT regexp_matches({rest}, {text(f'^(?:{own.prefixes})')})" if own.prefixes else "true"
        right = f"{inside} AND regexp_full_match({rest}, {text(own.numbers)})"
        cases.append(f"WHEN {right} THEN '+' || d")
    return f"CASE {' '.join(cases)} END"


class _Plan:
    """The numbering plan of one country, as far as SQL can express it."""

    def __init__(self, country: str) -> None:
        import phonenumbers

        plan: Any = phonenumbers.PhoneMetadata.metadata_for_region(country)
        self.code = str(plan.country_code)
        self.main = phonenumbers.region_code_for_country_code(plan.country_code) == country
        self.numbers: str = plan.general_desc.national_number_pattern
        self.lengths = [length for length in plan.general_desc.possible_length if length > 0]
        self.dialled: str = plan.international_prefix or ""
        self.prefixes: str = plan.national_prefix_for_parsing or ""
        self.prefix: str = plan.national_prefix or ""
        ways = (self.prefix, f"{self.prefix}|", f"|{self.prefix}")
        known = self.prefixes == ways[0] or self.prefixes.startswith(ways[1]) or self.prefixes.endswith(ways[2])
        # Other prefixes that may be stripped, of which SQL is not sure.
        self.others = self.prefixes.removeprefix(ways[1]).removesuffix(ways[2])
        if not known or not self.prefix:
            self.prefix, self.others = "", self.prefixes
        elif self.prefixes == self.prefix:
            self.others = ""

    def rest(self, number: str) -> str:
        """SQL for a number without the national prefix, which it has."""
        return f"substr({number}, {len(self.prefix) + 1})"

    def stripped(self, store: Store) -> str:
        """SQL for the national number ``n`` with the country code and without the national prefix; ``rest`` is what
        follows the prefix."""
        text, cases = store.text, []
        if self.others:
            cases.append(f"WHEN regexp_matches(n, {text(f'^(?:{self.others})')}) THEN NULL")
        if self.prefix:
            whole, left = (f"regexp_full_match({one}, {text(self.numbers)})" for one in ("n", "rest"))
            possible = f"strlen(rest) IN ({', '.join(map(str, self.lengths))})"
            if self.lengths == list(range(min(self.lengths), max(self.lengths) + 1)):
                possible = f"strlen(rest) BETWEEN {min(self.lengths)} AND {max(self.lengths)}"
            sure = (
                f"WHEN {possible} AND NOT starts_with(rest, '0') THEN CASE WHEN {left} THEN true ELSE NOT {whole} END"
            )
            cases.append(
                f"WHEN starts_with(n, '{self.prefix}') THEN CASE WHEN CASE {sure} END THEN '+{self.code}' || rest END"
            )
        zero = "NOT starts_with(n, '0') AND " if self.prefixes else ""
        cases.append(f"WHEN {zero}strlen(n) > 4 THEN '+{self.code}' || n")
        return f"CASE {' '.join(cases)} END"


@cache
def _plan(country: str) -> _Plan | None:
    import phonenumbers

    return _Plan(country.upper()) if country.upper() in phonenumbers.SUPPORTED_REGIONS else None


@cache
def _countries() -> tuple[str, str]:
    """Patterns of all country codes, and of the country codes followed by a national prefix."""
    import phonenumbers

    codes, inside = [], []
    for code, (main, *_) in sorted(phonenumbers.COUNTRY_CODE_TO_REGION_CODE.items()):
        plan: Any = phonenumbers.PhoneMetadata.metadata_for_region_or_calling_code(code, main)
        codes.append(str(code))
        if plan.national_prefix_for_parsing:
            inside.append(f"{code}(?:{plan.national_prefix_for_parsing})")
    return "|".join(codes), f"^(?:{'|'.join(inside)})"
