"""Normal forms in SQL: for ordinary values exactly the texts that :mod:`tacit.person.model.forms` makes."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial

from tacit.person.link.forms.phones import Layer, phone_layers
from tacit.person.model.forms.addresses import SHORT
from tacit.person.model.forms.codes import FIVE_DIGITS
from tacit.person.model.forms.months import MONTHS
from tacit.person.model.forms.names import TITLES, UMLAUTS
from tacit.person.model.forms.words import FIRMS, GENDERS, SAINTS
from tacit.tables.engines import Store

# Ordinary characters; not those with which a value may stand for several (11*, >=50, {a, b}), and no bracket first.
_PLAIN = r"([!-')+-;=?-Z\\-z|}~]([ !-)+-;=?-Z\\-z|}~]*[!-)+-;=?-Z\\-z|}~])?)?"
_NAME = r"[A-Za-z0-9 .,'`-]*"
# Letters with accents that engines and Python lower in the same way.
_MARKED = "À-ÖØ-Þà-öø-ÿĀ-įĴ-ľŁ-ňŊ-ž"
_EMAIL = rf"[A-Za-z0-9._%{_MARKED}-][A-Za-z0-9._%+{_MARKED}-]*@[A-Za-z0-9{_MARKED}-]+(\.[A-Za-z0-9-]+)+"
_ADDRESS = r"[A-Za-z0-9 .,'`/#:-]*"
_NUMBERED = r"\b(?:no|nr|num|number|hausnummer)\b[.:]? *([0-9])|# *([0-9])"
_QUOTES = "'`"
# What hides characters, where the form could not tell: every ordinary telephone and day is whole.
_MASKS, _ENDS = ("xx", "XX"), ("nding in ", "nds in ")
_HIDING = {"email": (*_MASKS, "...@"), "name": (*_MASKS, *_ENDS), "address": (*_MASKS, *_ENDS)}
# What German and Dutch streets end in.
_ENDINGS = ("strasse", "straat", "str")
_TITLES = "|".join(sorted(TITLES))
# Forms that may change when the form is made again.
_TITLED = f"^(?:{_TITLES})(?: |$)| (?:{_TITLES})$"
_MOVED = r"^[0-9][^ ]* [^0-9]|\b(?:no|nr|num|number|hausnummer) [0-9]"


def sql_form(store: Store, rows: str, name: str, country: str | None = None) -> str:
    """The rows of a query with one more column ``form``, the normal form of the column ``value``, as a query.

    It is what :func:`tacit.person.model.forms.normaliser` returns, or null where SQL is not sure: other scripts, values
    that stand for several (11*), unusual spellings.
    """
    for layer in _WAYS[name](store, country):
        columns = ", ".join(f"{sql} AS {column}" for column, sql in layer.items())
        rows = f"SELECT *, {columns} FROM ({rows}) l"
    # Most values that hide characters are not ordinary anyway; of these signs, only some values do.
    signs = _HIDING.get(name, () if name.startswith(("date", "phone")) else (*_MASKS, "...@", *_ENDS))
    if not signs:
        return rows
    doubtful = " OR ".join(f"contains(value, {store.text(sign)})" for sign in signs)
    return f"SELECT * REPLACE (CASE WHEN {doubtful} THEN NULL ELSE form END AS form) FROM ({rows}) l"


def sql_fixed(store: Store, name: str) -> str:
    """SQL for whether ``form``, which SQL was sure of, is its own normal form; it may use the columns of its layers."""
    if name == "phone":
        # In Australia 1831 and 1832 say whether the number is shown, and are left out wherever they stand first.
        return "NOT starts_with(form, '+61183')"
    again = {"name": _TITLED, "address": _MOVED}.get(name)
    if again is None:
        return "true"
    same = f"NOT regexp_matches(form, {store.text(again)})"
    # A name of which nothing is special was looked at already.
    return f"CASE WHEN special THEN {same} ELSE true END" if name == "name" else same


def _signs(kept: str, store: Store, country: str | None) -> list[Layer]:
    """A text of which some characters are kept, in small letters."""
    return [{"form": f"CASE WHEN regexp_full_match(value, {store.text(_PLAIN)}) THEN {kept} END"}]


_SPACED = "CASE WHEN contains(value, '  ') THEN regexp_replace(lower(value), ' +', ' ', 'g') ELSE lower(value) END"
_DIGITS = "regexp_replace(value, '[^0-9]+', '', 'g')"
_CODE = (
    "CASE WHEN regexp_full_match(value, '[a-z0-9]*') THEN value "
    "ELSE regexp_replace(lower(value), '[^a-z0-9]+', '', 'g') END"
)


def _postcode(store: Store, country: str | None) -> list[Layer]:
    """Letters and digits; a postcode of five digits without the four of a ZIP+4, and with its leading 0."""
    plain = r"[A-Za-z0-9]+([ -][A-Za-z0-9]+)*"
    cases = [r"WHEN regexp_full_match(value, '\d{5}[- ]\d{4}') THEN left(value, 5)"]
    if country is not None and country.upper() in FIVE_DIGITS:
        nine = "9" if country.upper() in ("US", "PR") else "0"
        cases.append(
            rf"WHEN regexp_full_match(own, '\d+') THEN CASE length(own) WHEN {nine} THEN left(own, 5) "
            "WHEN 3 THEN '00' || own WHEN 4 THEN '0' || own ELSE own END"
        )
    return [
        {"own": f"CASE WHEN regexp_full_match(value, '{plain}') THEN translate(lower(value), '- ', '') END"},
        {"form": f"CASE {' '.join(cases)} ELSE own END"},
    ]


def _latin(store: Store, spelled: Mapping[str, str]) -> str:
    """SQL for the value without accents; some letters are ``spelled`` differently."""
    cleared = "nfc_normalize(value)"
    for sign, own in {**spelled, "Ł": "L", "ł": "l"}.items():
        cleared = f"replace({cleared}, '{sign}', '{own}')"
    return f"CASE WHEN strlen(value) = length(value) THEN value ELSE strip_accents({cleared}) END"


def _unquoted(store: Store, text: str) -> str:
    for quote in _QUOTES:
        text = f"replace({text}, {store.text(quote)}, '')"
    return text


def _email(store: Store, country: str | None) -> list[Layer]:
    box, host = "split_part(split_part(e, '@', 1), '+', 1)", "split_part(e, '@', 2)"
    gmail = "ends_with(e, '@gmail.com') OR ends_with(e, '@googlemail.com')"
    return [
        {"e": f"CASE WHEN regexp_full_match(value, {store.text(_EMAIL)}) THEN lower(value) END"},
        {
            "form": f"CASE WHEN {gmail} THEN replace({box}, '.', '') || '@gmail.com' "
            f"WHEN contains(e, '+') THEN {box} || '@' || {host} ELSE e END"
        },
    ]


def _name(store: Store, country: str | None) -> list[Layer]:
    """Words in small letters, the part after a comma first, without titles; not sure if there is a second comma."""
    ordinary = f"regexp_full_match(latin, {store.text(_NAME)})"
    joined = (
        "CASE WHEN regexp_matches(n, ',.*,') THEN NULL WHEN coalesce(y, '') = '' THEN x WHEN x = '' THEN y "
        "ELSE y || ' ' || x END"
    )
    return [
        {"simple": "regexp_full_match(value, '[A-Za-z]+( [A-Za-z]+)*')"},
        {"latin": f"CASE WHEN NOT simple THEN {_latin(store, UMLAUTS)} END"},
        {"n": f"CASE WHEN simple THEN lower(value) WHEN {ordinary} THEN lower(latin) END"},
        # A CASE evaluates only the branch that applies; an OR evaluates both sides.
        {"special": f"CASE WHEN simple THEN regexp_matches(n, '{_TITLED}') ELSE true END"},
        {
            "a": "CASE WHEN special THEN split_part(n, ',', 1) END",
            "b": "CASE WHEN special AND contains(n, ',') THEN split_part(n, ',', 2) END",
        },
        {"p": _words(store, "a"), "q": _words(store, "b")},
        # Testing for a title is much faster than removing it.
        {f"titled_{part}": f"regexp_matches({part}, '{_TITLED}')" for part in "pq"},
        {
            f"begun_{part}": f"CASE WHEN titled_{part} THEN {_without_titles(part, '^(?:(?:{}) )+')} END"
            for part in "pq"
        },
        {
            f"ended_{part}": f"CASE WHEN titled_{part} THEN {_without_titles(f'begun_{part}', '(?: (?:{}))+$')} END"
            for part in "pq"
        },
        {"x": _untitled("p"), "y": _untitled("q")},
        {"form": f"CASE WHEN special THEN {joined} ELSE n END"},
    ]


def _words(store: Store, part: str) -> str:
    """SQL for the words of a text in small letters, separated by a space."""
    cleaned = f"trim(regexp_replace({_unquoted(store, part)}, '[^a-z0-9]+', ' ', 'g'))"
    # Replacing by a pattern is slow, and most texts need less.
    return (
        rf"CASE WHEN regexp_full_match({part}, '[a-z0-9]+(\.? [a-z0-9]+)*') THEN replace({part}, '.', '') "
        f"WHEN regexp_full_match({part}, ' [a-z0-9]+') THEN substr({part}, 2) "
        f"WHEN {part} IS NOT NULL THEN {cleaned} END"
    )


def _without_titles(words: str, where: str) -> str:
    """SQL for words without the titles at one end."""
    titles = f"'{where.format(_TITLES)}'"
    return f"CASE WHEN regexp_matches({words}, {titles}) THEN regexp_replace({words}, {titles}, '') ELSE {words} END"


def _untitled(part: str) -> str:
    """SQL for words without the titles at both ends; a title alone becomes empty."""
    ended = f"ended_{part}"
    # A single letter is an initial rather than a title.
    alone = f"regexp_full_match({ended}, '(?:{_TITLES})') AND length({ended}) > 1"
    return f"CASE WHEN titled_{part} THEN CASE WHEN {alone} THEN '' ELSE {ended} END ELSE {part} END"


def _date(day_first: bool | None, store: Store, country: str | None) -> list[Layer]:
    """Days in numbers and with names of months; not sure of two-digit years, weekdays and times."""
    numbers, named = r"^(\d{1,2})([-/. ])(\d{1,2})[-/. ](\d{4})$", r"^(\d{1,2})[- ]([A-Za-z]+)[- ](\d{4})$"
    spelled = r"^([A-Za-z]+) (\d{1,2}), (\d{4})$"
    months = _one_of("m", {word: str(number) for word, number in MONTHS.items()}, store)
    first = "true" if day_first else "sign = '.'"
    # 03/04/1990 may be either day, and stays unchanged.
    doubtful = "a <= 12 AND b <= 12 AND a <> b AND sign <> '.'" if day_first is None else "false"
    part = "regexp_extract(value, '{}', {})".format
    a = f"CASE kind WHEN 3 THEN {part(numbers, 1)} WHEN 4 THEN {part(named, 1)} WHEN 5 THEN {part(spelled, 2)} END"
    month = (
        f"CASE WHEN kind > 3 THEN {months} WHEN b <= 12 AND (a > 12 OR {first}) THEN b "
        f"WHEN kind = 3 AND NOT ({doubtful}) THEN a END"
    )
    return [
        {
            "kind": r"CASE WHEN regexp_full_match(value, '[12]\d{3}-\d{2}-\d{2}') THEN 1 "
            r"WHEN regexp_full_match(value, '[12]\d{7}') THEN 2 "
            f"WHEN regexp_matches(value, '{numbers}') THEN 3 WHEN regexp_matches(value, '{named}') THEN 4 "
            f"WHEN regexp_matches(value, '{spelled}') THEN 5 END"
        },
        {
            "a": f"CASE WHEN kind > 2 THEN CAST({a} AS INTEGER) END",
            "b": f"CASE WHEN kind = 3 THEN CAST({part(numbers, 3)} AS INTEGER) END",
            "sign": f"CASE WHEN kind = 3 THEN {part(numbers, 2)} END",
            "m": f"CASE kind WHEN 4 THEN lower({part(named, 2)}) WHEN 5 THEN lower({part(spelled, 1)}) END",
        },
        {"month": f"CASE WHEN kind > 2 THEN {month} END", "doubtful": f"CASE WHEN kind = 3 THEN {doubtful} END"},
        {"day": "CASE WHEN kind > 2 THEN CASE WHEN kind = 3 AND month = a THEN b ELSE a END END"},
        {
            "written": "CASE WHEN kind = 1 THEN value WHEN kind = 2 THEN value[:4] || '-' || value[5:6] || '-' || "
            "value[7:8] WHEN kind > 2 THEN printf('%s-%02d-%02d', right(value, 4), month, day) END"
        },
        {
            "form": "CASE WHEN doubtful THEN value WHEN written >= '0001' AND try_cast(written AS DATE) IS NOT NULL "
            "THEN written END"
        },
    ]


def _address(store: Store, country: str | None) -> list[Layer]:
    """Every part between commas by itself: the usual words abbreviated, the house number after its street."""
    short = {word: store.text(own) for word, own in SHORT.items()}
    usual = rf"\b(?:{'|'.join(sorted(word for word in SHORT if word.isalpha()))})\b"
    joint = rf"([a-z]{{2}})({'|'.join(_ENDINGS)})\b"
    shortened = f"array_to_string(list_transform(string_split(words, ' '), lambda w: {_short_word(store)}), ' ')"
    # A street and its number, as most are, without replacing by a pattern, which is slow.
    street = f"regexp_full_match(words, '[a-z]{{2,}}(?:{'|'.join(_ENDINGS)})(?: [0-9]+[a-z]?)?')"
    parts = f"list_transform(string_split(short, ','), lambda s: {_number_behind('trim(s)')})"
    cleaned = f"replace({_unquoted(store, 'unnumbered')}, ',', ' , ')"
    return [
        {"latin": _latin(store, {"ß": "ss"})},
        {"n": f"CASE WHEN regexp_full_match(latin, {store.text(_ADDRESS)}) THEN lower(latin) END"},
        {
            "unnumbered": rf"CASE WHEN regexp_matches(n, '#|n(o|r|um|umber)\b|hausnummer') THEN regexp_replace("
            rf"{_unquoted(store, 'n')}, {store.text(_NUMBERED)}, ' \1\2', 'g') ELSE n END"
        },
        {
            "words": "CASE WHEN regexp_full_match(unnumbered, '[a-z0-9/]+( [a-z0-9/]+)*') THEN unnumbered "
            r"WHEN regexp_full_match(unnumbered, '[a-z0-9/]+([.,]? [a-z0-9/]+)*') THEN "
            "replace(replace(unnumbered, '.', ''), ',', ' ,') "
            f"ELSE trim(regexp_replace({cleaned}, '[^a-z0-9/,]+', ' ', 'g')) END"
        },
        {"street": f"CASE WHEN {street} THEN split_part(words, ' ', 1) END"},
        {"usual": f"CASE WHEN street IS NULL AND NOT contains(words, '/') THEN regexp_extract(words, '{usual}') END"},
        {"abbreviated": f"CASE WHEN usual <> '' THEN {_one_of('usual', short, store)} END"},
        {"once": "trim(replace(' ' || words || ' ', ' ' || usual || ' ', ' ' || abbreviated || ' '))"},
        {"enough": f"CASE WHEN once IS NOT NULL THEN NOT regexp_matches(once, '{usual}|{joint}') END"},
        {
            "short": f"CASE WHEN street IS NOT NULL THEN {_ended('street')} || substr(words, strlen(street) + 1) "
            # A function of every word in a list is slow, whether there are many lists or few.
            f"WHEN enough THEN once WHEN usual <> '' OR contains(words, '/') THEN {shortened} "
            rf"WHEN regexp_matches(words, '{joint}') THEN regexp_replace(words, '{joint}', '\1st', 'g') ELSE words END"
        },
        {"commas": "CASE WHEN contains(short, ',') THEN strlen(short) - strlen(replace(short, ',', '')) ELSE 0 END"},
        {
            "one": "CASE commas WHEN 0 THEN short WHEN 1 THEN trim(split_part(short, ',', 1)) END",
            "two": "CASE commas WHEN 1 THEN trim(split_part(short, ',', 2)) END",
        },
        {
            "form": f"CASE commas WHEN 0 THEN {_number_behind('one')} WHEN 1 THEN "
            f"concat_ws(' ', nullif({_number_behind('one')}, ''), nullif({_number_behind('two')}, '')) "
            f"ELSE array_to_string(list_filter({parts}, lambda s: s <> ''), ' ') END"
        },
    ]


def _one_of(word: str, values: Mapping[str, str], store: Store) -> str:
    """SQL for what a word stands for; null if it is none of these."""
    # Not by IN, which an engine may carry out as a join.
    return f"CASE {word} {' '.join(f'WHEN {store.text(one)} THEN {value}' for one, value in values.items())} END"


def _short_word(store: Store) -> str:
    """SQL for a word ``w`` of an address, abbreviated."""
    short = {word: store.text(own) for word, own in SHORT.items()}
    ended = " OR ".join(f"ends_with(w, '{end}')" for end in _ENDINGS)
    joint = rf"regexp_replace(w, '([a-z]{{2}})({'|'.join(_ENDINGS)})$', '\1st')"
    return f"coalesce({_one_of('w', short, store)}, CASE WHEN {ended} THEN {joint} ELSE w END)"


def _ended(street: str) -> str:
    """SQL for a street that ends in one of the endings after at least two letters."""
    cases = (f"WHEN ends_with({street}, '{end}') THEN left({street}, -{len(end)}) || 'st'" for end in _ENDINGS)
    return f"CASE {' '.join(cases)} END"


def _number_behind(text: str) -> str:
    """SQL for a part of an address, a leading house number after its street."""
    street = r"'^([0-9][^ ]*)((?: [^ ]+)*?)((?: (?:apt|fl|[0-9][^ ]*)(?: .*)?)?)$'"
    further = f"regexp_matches({text}, ' (?:apt|fl|[0-9][^ ]*)(?: |$)')"
    plain = f"substr({text}, strpos({text}, ' ') + 1) || ' ' || split_part({text}, ' ', 1)"
    moved = rf"CASE WHEN {further} THEN trim(regexp_replace({text}, {street}, '\2 \1\3')) ELSE {plain} END"
    return f"CASE WHEN regexp_matches({text}, '^[0-9][^ ]* [^0-9]') THEN {moved} ELSE {text} END"


_FEW_WORDS = "[A-Za-z]+( [A-Za-z]+)*"


def _few_words(store: Store, country: str | None, *, form: str, unless: str) -> list[Layer]:
    """Words in Latin letters without anything special."""
    ordinary = f"regexp_full_match(value, '{_FEW_WORDS}') AND NOT regexp_matches(lower(value), {store.text(unless)})"
    return [{"form": f"CASE WHEN {ordinary} THEN {form} END"}]


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
    "zip": _postcode,
    "place": partial(
        _few_words,
        form="regexp_replace(lower(value), '([aou])e', '\\1', 'g')",
        unless=rf"\b({'|'.join(sorted(SAINTS))})\b",
    ),
    "company": partial(_few_words, form="lower(value)", unless=rf"\b({'|'.join(sorted(FIRMS))})$"),
    "gender": partial(_few_words, form="lower(value)", unless=rf"^({'|'.join(sorted(GENDERS))})$"),
    "username": lambda store, country: [
        {"form": "CASE WHEN regexp_full_match(value, '[A-Za-z0-9_.-]+') THEN lower(value) END"}
    ],
}
