"""Which values could be right or nearly right, in SQL: a bound that nothing worth a credit can miss."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from tacit.person.model.forms.names import generation_of
from tacit.person.model.forms.phones import OWN_DIGITS
from tacit.person.model.forms.texts import plain
from tacit.tables.engines import Store

# Engines and Python round Jaro's number in their own ways; below 0.8 a word is another.
_ANOTHER = 0.799
# Names of other than Latin letters, which may be said as the true one is.
_FOREIGN = "strlen(form) <> length(form)"
# Of two addresses no more alike than this by their letters nothing is known.
LEAST_ALIKE = 0.6


def may_be_right(store: Store, near: str | None, true: Sequence[str]) -> str | None:
    """SQL for whether the column ``form`` may have a credit beside one of the true values; None if any value may.

    ``near`` is the name of the similarity, None if only the very same form is right. Everything the similarity gives a
    credit above 0 is within the bound; what is within it need not have one.
    """
    if near is not None and near not in _BOUNDS:
        return None
    same = f"form IN ({', '.join(store.text(value) for value in true)})"
    if near is None:
        return f"({same})"
    return f"({' OR '.join([same, *(f'({_BOUNDS[near](store, value)})' for value in true)])})"


def _words_alike(one: str, other: str) -> str:
    return f"jaro_winkler_similarity({one}, {other}, {_ANOTHER}) >= {_ANOTHER}"


def _name(store: Store, true: str) -> str:
    """A word at an end of it is like the true last, or one of two surnames; or the letters are the same."""
    if not true.isascii():
        return f"{_FOREIGN} OR replace(form, ' ', '') = {store.text(plain(true).replace(' ', ''))}"
    words = generation_of(true.split())[0]
    if not words:
        return _FOREIGN
    first, last = store.text(words[0]), store.text(words[-1])
    few = "true" if len(words) == 1 else "NOT contains(form, ' ')"
    letters, start, end = "".join(words), "split_part(form, ' ', 1)", "split_part(form, ' ', -1)"
    # A word behind the surname may say whose son it is, and the surname may stand before all others.
    ends = (end, "split_part(form, ' ', -2)", "split_part(form, ' ', -3)", start, "split_part(form, ' ', 2)")
    alike = " OR ".join(_words_alike(word, last) for word in ends)
    halves = "".join(f" OR contains(form, {store.text(word)})" for word in words[1:])
    return (
        f"{alike}{halves} OR {_FOREIGN} "
        f"OR ({few} AND ({start} = {first} OR {end} = {first})) "
        # An umlaut more or less is an e more or less.
        f"OR (length(form) BETWEEN {len(letters) // 2} AND {3 * len(letters)} AND "
        f"replace(replace(form, ' ', ''), 'e', '') = {store.text(letters.replace('e', ''))}) "
        f"OR (length(form) = {len(' '.join(words))} AND contains(form, {last}))"
    )


def word_may_be_right(store: Store, true: str) -> str:
    """SQL for whether a name that has the word ``word`` may be right; so may one with the same :func:`sql_letters`.

    Every name within the bound of the similarity has such a word, or these letters.
    """
    foreign = "strlen(word) <> length(word)"
    words = generation_of(true.split())[0] if true.isascii() else []
    if not words:
        return foreign
    within = "".join(f" OR contains(word, {store.text(one)})" for one in words[1:])
    return f"{_words_alike('word', store.text(words[-1]))} OR word = {store.text(words[0])}{within} OR {foreign}"


def sql_letters(name: str) -> str:
    """SQL for the letters of a name, spaces and every e left out; a space first, so that it is no word."""
    return f"' ' || replace(replace({name}, ' ', ''), 'e', '')"


def letters_of(true: str) -> str:
    """The same of a true name."""
    words = generation_of(true.split())[0] if true.isascii() else [plain(true).replace(" ", "")]
    return " " + "".join(words).replace("e", "")


def _date(store: Store, true: str) -> str:
    """The same year, or the same month and day, or what is no day by itself: a year, or a day that may be either."""
    year, rest = store.text(true[:4]), store.text(true[-6:])
    return f"NOT form LIKE '____-__-__' OR left(form, 4) = {year} OR right(form, 6) = {rest}"


def _phone(store: Store, true: str) -> str:
    """The same last digits, or as many digits of which two differ at most."""
    number = true.partition("x")[0].lstrip("+")
    last = store.text(number.lstrip("0")[-OWN_DIGITS:])

    if not number:
        return "ltrim(split_part(form, 'x', 1), '+') = '' OR starts_with(form, '++')"
    # To look for digits anywhere is much quicker than to cut off the last, or what stands behind an x.
    apart = [
        f"CASE WHEN length(form) >= {len(own)} THEN hamming(left(form, {len(own)}), {store.text(own)}) <= 2 ELSE "
        "false END"
        for own in (f"+{number}", number)
    ]
    near = f"CASE WHEN starts_with(form, '+') THEN {apart[0]} ELSE {apart[1]} END"
    return f"{near} OR contains(form, {last}) OR starts_with(form, '++')"


def _code(store: Store, true: str) -> str:
    """One sign more or less, or two others."""
    own = store.text(true)
    near = f"length(form) BETWEEN {len(true) - 1} AND {len(true) + 1}"
    return f"CASE WHEN {near} THEN levenshtein(form, {own}) <= 2 ELSE false END"


def _postcode(store: Store, true: str) -> str:
    """As a code, or without the 0 at its beginning."""
    return f"{_code(store, true)} OR ltrim(form, '0') = {store.text(true.lstrip('0'))}"


def _address(store: Store, true: str) -> str:
    """As long as one of which so large a share could be common to both, or it goes on."""
    least, whole = LEAST_ALIKE / (2 - LEAST_ALIKE), len(true)
    return f"length(form) BETWEEN {least * whole!r} AND {whole / least!r} OR {goes_on(store, [true])}"


def goes_on(store: Store, true: Sequence[str]) -> str:
    """SQL for whether the column ``form`` has all words of a true address."""
    each = (" AND ".join(f"contains(form, {store.text(word)})" for word in sorted(set(one.split()))) for one in true)
    return f"({' OR '.join(f'({words})' for words in each if words) or 'false'})"


def _jaro_winkler(store: Store, true: str) -> str:
    return _words_alike("form", store.text(true))


_BOUNDS: dict[str, Callable[[Store, str], str]] = {
    "name": _name,
    "date": _date,
    "phone": _phone,
    "code": _code,
    "email": _code,
    "zip": _postcode,
    "address": _address,
    "jaro_winkler": _jaro_winkler,
    "exact": lambda store, true: "false",
}
