"""Which values could be right or nearly right, in SQL: a bound that includes everything that has a credit."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from tacit.person.model.forms.days import as_day
from tacit.person.model.forms.names import generation_of
from tacit.person.model.forms.phones import OWN_DIGITS
from tacit.person.model.forms.texts import plain
from tacit.tables.engines import Store

# Below a similarity of 0.8 a word has no credit; a little less, as engines and Python round Jaro-Winkler differently.
_ANOTHER = 0.799
# Names in other than Latin letters, which may sound like the true one.
_FOREIGN = "strlen(form) <> length(form)"
# Two addresses whose letters are no more similar than this have no credit.
LEAST_ALIKE = 0.6


def may_be_right(store: Store, near: str | None, true: Sequence[str]) -> str | None:
    """SQL for whether the column ``form`` may have a credit for one of the true values; None if any value may.

    ``near`` is the name of the similarity, None if only exactly the same form is right. Everything to which the
    similarity gives a credit above 0 is within the bound; what is within the bound need not have one.
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
    """A word at either end is like the true last word, or one of two surnames; or the letters are the same."""
    if not true.isascii():
        return f"{_FOREIGN} OR replace(form, ' ', '') = {store.text(plain(true).replace(' ', ''))}"
    words = generation_of(true.split())[0]
    if not words:
        return _FOREIGN
    first, last = store.text(words[0]), store.text(words[-1])
    few = "true" if len(words) == 1 else "NOT contains(form, ' ')"
    letters, start, end = "".join(words), "split_part(form, ' ', 1)", "split_part(form, ' ', -1)"
    # A suffix such as junior may follow the surname, and the surname may come first.
    ends = (end, "split_part(form, ' ', -2)", "split_part(form, ' ', -3)", start, "split_part(form, ' ', 2)")
    alike = " OR ".join(_words_alike(word, last) for word in ends)
    halves = "".join(f" OR contains(form, {store.text(word)})" for word in words[1:])
    return (
        f"{alike}{halves} OR {_FOREIGN} "
        f"OR ({few} AND ({start} = {first} OR {end} = {first})) "
        f"OR ({start} = {first} AND length({end}) = 1) OR ({end} = {first} AND length({start}) = 1) "
        f"OR (split_part(form, ' ', 2) = {first} AND length({start}) = 1) "
        # With or without an umlaut, the difference is an e.
        f"OR (length(form) BETWEEN {len(letters) // 2} AND {3 * len(letters)} AND "
        f"replace(replace(form, ' ', ''), 'e', '') = {store.text(letters.replace('e', ''))}) "
        f"OR (length(form) = {len(' '.join(words))} AND contains(form, {last}))"
    )


def word_may_be_right(store: Store, true: str) -> str:
    """SQL for whether a name with the word ``word`` may be right; so may a name with the same :func:`sql_letters`.

    Every name within the bound of the similarity has such a word, or these letters.
    """
    foreign = "strlen(word) <> length(word)"
    words = generation_of(true.split())[0] if true.isascii() else []
    if not words:
        return foreign
    within = "".join(f" OR contains(word, {store.text(one)})" for one in words[1:])
    return f"{_words_alike('word', store.text(words[-1]))} OR word = {store.text(words[0])}{within} OR {foreign}"


def sql_letters(name: str) -> str:
    """SQL for the letters of a name without spaces and e's; a space comes first, so that no word is the same."""
    return f"' ' || replace(replace({name}, ' ', ''), 'e', '')"


def letters_of(true: str) -> str:
    """The same for a true name."""
    words = generation_of(true.split())[0] if true.isascii() else [plain(true).replace(" ", "")]
    return " " + "".join(words).replace("e", "")


def _date(store: Store, true: str) -> str:
    """The same year, or the same month and day, or a text that is not one day: a year, or a day that may be either."""
    if as_day(true) is None:
        return "true"
    year, rest = store.text(true[:4]), store.text(true[-6:])
    return f"NOT form LIKE '____-__-__' OR left(form, 4) = {year} OR right(form, 6) = {rest}"


def _phone(store: Store, true: str) -> str:
    """The same last digits, or equally many digits of which at most two differ."""
    number = true.partition("x")[0].lstrip("+")
    last = store.text(number.lstrip("0")[-OWN_DIGITS:])

    if not number:
        return "ltrim(split_part(form, 'x', 1), '+') = '' OR starts_with(form, '++')"
    # Searching for digits anywhere is much faster than cutting out the last ones, or removing an extension.
    apart = [
        f"CASE WHEN length(form) >= {len(own)} THEN hamming(left(form, {len(own)}), {store.text(own)}) <= 2 ELSE "
        "false END"
        for own in (f"+{number}", number)
    ]
    near = f"CASE WHEN starts_with(form, '+') THEN {apart[0]} ELSE {apart[1]} END"
    return f"{near} OR contains(form, {last}) OR starts_with(form, '++')"


def _code(store: Store, true: str) -> str:
    """One character more or less, or two different ones."""
    own = store.text(true)
    near = f"length(form) BETWEEN {len(true) - 1} AND {len(true) + 1}"
    return f"CASE WHEN {near} THEN levenshtein(form, {own}) <= 2 ELSE false END"


def _postcode(store: Store, true: str) -> str:
    """As for a code, or without its leading 0."""
    return f"{_code(store, true)} OR ltrim(form, '0') = {store.text(true.lstrip('0'))}"


def _address(store: Store, true: str) -> str:
    """Of a length at which the two could be similar enough; or it has all words of the true one, and more."""
    least, whole = LEAST_ALIKE / (2 - LEAST_ALIKE), len(true)
    return f"length(form) BETWEEN {least * whole!r} AND {whole / least!r} OR {goes_on(store, [true])}"


def goes_on(store: Store, true: Sequence[str]) -> str:
    """SQL for whether the column ``form`` has all words of a true address, or only words of it."""
    each = [" AND ".join(f"contains(form, {store.text(word)})" for word in sorted(set(one.split()))) for one in true]
    listed_words = [", ".join(store.text(word) for word in sorted(set(one.split()))) for one in true]
    parts = [
        f"(length(form) < {len(one)} AND list_has_all([{words}], string_split(form, ' ')))"
        for one, words in zip(true, listed_words, strict=True)
        if words
    ]
    return f"({' OR '.join([*(f'({words})' for words in each if words), *parts]) or 'false'})"


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
