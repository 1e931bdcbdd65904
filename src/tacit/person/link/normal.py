"""Normal forms in an engine, by SQL: of ordinary values the very texts that :mod:`tacit.person.model.forms` makes."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

from tacit.person.link.phones import Layer, phone_layers
from tacit.person.model.forms.addresses import SHORT
from tacit.person.model.forms.days import MONTHS
from tacit.person.model.forms.names import TITLES
from tacit.tables.engines import Store

# Ordinary signs; not those with which a value may stand for several (11*, >=50, {a, b}), and no bracket first.
_PLAIN = r"([!-')+-;=?-Z\\-z|}~]([ !-)+-;=?-Z\\-z|}~]*[!-)+-;=?-Z\\-z|}~])?)?"
_NAME = r"[A-Za-z0-9 .,'`-]*"
_EMAIL = r"[A-Za-z0-9._%-][A-Za-z0-9._%+-]*@[A-Za-z0-9-]+(\.[A-Za-z0-9-]+)+"
_ADDRESS = r"[A-Za-z0-9 .,'`/#:-]*"
_NUMBERED = r"\b(?:no|nr|num|number|hausnummer)\b[.:]? *([0-9])|# *([0-9])"
_TITLES = "|".join(sorted(TITLES))


def sql_form(store: Store, rows: str, name: str, country: str | None = None) -> str:
    """A query of the rows of a query, with a column ``form`` besides: the normal form of the column ``value``.

    It is what :func:`tacit.person.model.forms.normaliser` gives, or null where SQL is not sure: signs of other scripts,
    what stands for several values (11*), what is written in an unusual way.
    """
    for layer in [*_WAYS[name](store, country), {}]:
        columns = ", ".join(f"{sql} AS {column}" for column, sql in layer.items())
        rows = f"SELECT *, {columns} FROM ({rows}) l" if layer else rows
    return rows


def _signs(kept: str, store: Store, country: str | None) -> list[Layer]:
    """A text of which some signs are kept, in small letters."""
    return [{"form": f"CASE WHEN regexp_full_match(value, {store.text(_PLAIN)}) THEN {kept} END"}]


_SPACED = "CASE WHEN contains(value, '  ') THEN regexp_replace(lower(value), ' +', ' ', 'g') ELSE lower(value) END"
_DIGITS = "regexp_replace(value, '[^0-9]+', '', 'g')"
_CODE = "CASE WHEN regexp_full_match(value, '[a-z0-9]*') THEN value ELSE regexp_replace(lower(value), '[^a-z0-9]+', '', 'g') END"


def _email(store: Store, country: str | None) -> list[Layer]:
    box, host = "split_part(e, '@', 1)", "split_part(e, '@', 2)"
    box = f"split_part({box}, '+', 1)"
    gmail = f"{host} IN ('gmail.com', 'googlemail.com')"
    return [
        {"e": f"CASE WHEN regexp_full_match(value, {store.text(_EMAIL)}) THEN lower(value) END"},
        {"form": f"CASE WHEN {gmail} THEN replace({box}, '.', '') || '@gmail.com' "
                 f"WHEN contains(e, '+') THEN {box} || '@' || {host} ELSE e END"},
    ]


def _name(store: Store, country: str | None) -> list[Layer]:
    """Words of small letters, the part behind a comma first, without titles; unsure of a second comma."""
    ordinary = f"CASE WHEN regexp_full_match(value, {store.text(_NAME)}) THEN lower(value) END"
    parts = {"a": "CASE WHEN contains(n, ',') THEN split_part(n, ',', 1) ELSE n END",
             "b": "CASE WHEN contains(n, ',') THEN split_part(n, ',', 2) END"}
    second = f"CASE WHEN b IS NULL THEN NULL ELSE {_words('b')} END"
    joined = "CASE WHEN split_part(n, ',', 3) <> '' THEN NULL WHEN coalesce(y, '') = '' THEN x WHEN x = '' THEN y ELSE y || ' ' || x END"
    return [
        {"n": ordinary},
        parts,
        {"p": _words("a"), "q": second},
        {"x": _untitled("p"), "y": _untitled("q")},
        {"form": f"CASE WHEN regexp_matches({{0}}, '[aou]e') THEN regexp_replace({{0}}, '([aou])e', '\\1', 'g') ELSE {{0}} END".format(f"({joined})")},
    ]


def _words(part: str, signs: str = "a-z0-9") -> str:
    """SQL for the words of a text in small letters, a space between them."""
    cleaned = f"trim(regexp_replace(translate({part}, '''`', ''), '[^{signs}]+', ' ', 'g'))"
    return f"CASE WHEN regexp_full_match({part}, '[{signs}]+( [{signs}]+)*') THEN {part} ELSE {cleaned} END"


def _untitled(words: str) -> str:
    """SQL for words without the titles at their ends; a word alone that is a title is nothing."""
    there = f"regexp_matches({words}, '^(?:{_TITLES})(?: |$)| (?:{_TITLES})$')"
    first = f"regexp_replace({words}, '^(?:(?:{_TITLES}) )+', '')"
    both = f"regexp_replace({first}, '(?: (?:{_TITLES}))+$', '')"
    # A single letter may be the title of a gentleman and an initial.
    alone = f"regexp_full_match({both}, '(?:{_TITLES})') AND length({both}) > 1"
    return f"CASE WHEN NOT {there} THEN {words} WHEN {alone} THEN '' ELSE {both} END"


def _date(day_first: bool | None, store: Store, country: str | None) -> list[Layer]:
    numbers, named = r"^(\d{1,2})([-/. ])(\d{1,2})[-/. ](\d{4})$", r"^(\d{1,2})[- ]([A-Za-z]+)[- ](\d{4})$"
    months = " ".join(
        f"WHEN m IN ({', '.join(store.text(word) for word, at in MONTHS.items() if at == number)}) THEN {number}"
        for number in range(1, 13)
    )
    first = {None: "sign = '.'", True: "true", False: "sign = '.'"}[day_first]
    doubtful = "b <= 12 AND a <= 12 AND a <> b AND sign <> '.'" if day_first is None else "false"
    part = "regexp_extract(value, '{}', {})".format
    return [
        {
            "kind": f"CASE WHEN regexp_full_match(value, '[12]\\d{{3}}-\\d{{2}}-\\d{{2}}') THEN 1 WHEN regexp_full_match(value, '[12]\\d{{7}}') THEN 2 "
            f"WHEN regexp_matches(value, '{numbers}') THEN 3 WHEN regexp_matches(value, '{named}') THEN 4 END"
        },
        {
            "a": f"try_cast(CASE kind WHEN 3 THEN {part(numbers, 1)} WHEN 4 THEN {part(named, 1)} END AS INTEGER)",
            "b": f"try_cast(CASE kind WHEN 3 THEN {part(numbers, 3)} END AS INTEGER)",
            "sign": f"CASE kind WHEN 3 THEN {part(numbers, 2)} END",
            "year": "CASE WHEN kind > 2 THEN right(value, 4) END",
            "m": f"CASE kind WHEN 4 THEN lower({part(named, 2)}) END",
        },
        {
            "month": f"CASE kind WHEN 3 THEN CASE WHEN {doubtful} THEN NULL WHEN b <= 12 AND (a > 12 OR {first}) THEN b ELSE a END "
            f"WHEN 4 THEN CASE {months} END END",
            "doubtful": f"kind = 3 AND {doubtful}",
        },
        {
            "day": "CASE WHEN kind = 3 AND month = a THEN b WHEN kind = 3 THEN a ELSE a END",
        },
        {
            "written": "CASE kind WHEN 1 THEN value WHEN 2 THEN value[:4] || '-' || value[5:6] || '-' || value[7:8] "
            "ELSE year || '-' || lpad(CAST(month AS STRING), 2, '0') || '-' || lpad(CAST(day AS STRING), 2, '0') END"
        },
        {"form": "CASE WHEN doubtful THEN value WHEN written >= '0001' THEN CAST(try_cast(written AS DATE) AS STRING) END"},
    ]


def _address(store: Store, country: str | None) -> list[Layer]:
    """Every part between commas by itself: the usual words shortened, the house's number behind its street."""
    cases = " ".join(
        f"WHEN w IN ({', '.join(store.text(word) for word, own in SHORT.items() if own == short)}) THEN '{short}'"
        for short in sorted(set(SHORT.values()))
    )
    ending = r"regexp_replace(w, '([a-z]{2})(strasse|straat|str)$', '\1st')"
    each = f"CASE {cases} WHEN regexp_matches(w, '(strasse|straat|str)$') THEN {ending} ELSE w END"
    plain = f"regexp_replace(translate(p, '''`', ''), {store.text(_NUMBERED)}, ' \\1\\2', 'g')"
    words = f"string_split(trim(regexp_replace({plain}, '[^a-z0-9/]+', ' ', 'g')), ' ')"
    short = f"array_to_string(list_transform({words}, lambda w: {each}), ' ')"
    street = r"'^([0-9][^ ]*)((?: [^ ]+)*?)((?: (?:apt|fl|[0-9][^ ]*)(?: .*)?)?)$'"
    behind = (
        "list_transform(short, lambda s: CASE WHEN regexp_matches(s, '^[0-9][^ ]* [^0-9]') THEN "
        rf"trim(regexp_replace(s, {street}, '\2 \1\3')) ELSE s END)"
    )
    return [
        {"n": f"CASE WHEN regexp_full_match(value, {store.text(_ADDRESS)}) THEN lower(value) END"},
        {"short": f"CASE WHEN n IS NOT NULL THEN list_transform(string_split(n, ','), lambda p: {short}) END"},
        {"form": f"array_to_string(list_filter({behind}, lambda s: s <> ''), ' ')"},
    ]


_WAYS: dict[str, Callable[[Store, str | None], list[Layer]]] = {
    "text": partial(_signs, _SPACED),
    "digits": partial(_signs, _DIGITS),
    "code": partial(_signs, _CODE),
    "name": _name,
    "email": _email,
    "phone": phone_layers,
    "date": partial(_date, None),
    "date-day-first": partial(_date, True),
    "date-month-first": partial(_date, False),
    "address": _address,
}
