"""Names of people: their order, titles, nicknames, particles and initials."""

from __future__ import annotations

import re
from functools import cache
from typing import Final

from tacit.person.model.forms.texts import jaro_winkler, plain

_TITLES = (
    "mr mrs ms miss mx dr drs prof professor sir dame rev reverend sra srta capt captain lt sgt herr frau fraulein "
    "mme mlle madame monsieur signor signora dott doktor doctor dipl univ habil phd md mba msc bsc esq dds dvm cpa obe "
    "mbe cbe"
)
TITLES: Final = frozenset(_TITLES.split())
UMLAUTS: Final = {"ä": "ae", "ö": "oe", "ü": "ue", "Ä": "Ae", "Ö": "Oe", "Ü": "Ue", "ø": "oe", "Ø": "Oe"}
_UMLAUTS: Final = str.maketrans(UMLAUTS)


def name(value: str) -> str:
    """A name as given names and surname in small Latin letters, without titles: "Dr. GARCÍA, Ana" as "ana garcia".

    Umlauts are written as one letter, however they were: Müller, Mueller and Muller are one.

    Examples
    --------
    >>> name("Dr. Archer, Alice M."), name("Alice ARCHER"), name("Jürgen von Müller-Lüdenscheidt")
    ('alice m archer', 'alice archer', 'jurgen von muller ludenscheidt')
    """
    parts = [_words(part) for part in value.split(",")]
    parts = [part for part in parts if part]
    if not parts:
        return ""
    # "Archer, Alice"; but "Alice Archer, PhD" has lost what was behind the comma with the title.
    words = [*parts[1], *parts[0], *(word for part in parts[2:] for word in part)] if len(parts) > 1 else parts[0]
    return " ".join(words)


def _words(part: str) -> list[str]:
    folded = plain(part.translate(_UMLAUTS))
    folded = re.sub(r"['’`´]", "", folded)
    words = [word for word in re.split(r"[^a-z0-9]+", folded) if word]
    kept = words[:]
    while kept and kept[0] in TITLES and len(kept) > 1:
        kept = kept[1:]
    while kept and kept[-1] in TITLES and len(kept) > 1:
        kept = kept[:-1]
    if len(kept) == 1 and kept[0] in TITLES and len(kept[0]) > 1:
        # Behind a comma: Alice Archer, PhD.
        kept = []
    return [_one_letter(word) for word in kept]


_GENERATIONS: Final = {"jr": "jr", "junior": "jr", "sr": "sr", "senior": "sr", "ii": "ii", "iii": "iii", "iv": "iv"}


def generation_of(words: list[str]) -> tuple[list[str], str | None]:
    """A name without what tells father and son apart, and that."""
    if len(words) > 2 and words[-1] in _GENERATIONS:
        return words[:-1], _GENERATIONS[words[-1]]
    return words, None


def names_alike(held: str, true: str) -> float:
    """Credit of a name that is nearly right: another order, a nickname, an initial, a name left out, a typing error.

    1 for the same name only. With another surname nothing is known.

    Examples
    --------
    >>> names_alike("archer alice", "alice archer"), names_alike("bob archer", "robert archer")
    (0.95, 0.95)
    >>> names_alike("alice baker", "alice archer")
    0.0
    """
    if held == true:
        return 1.0
    (one, first), (other, second) = generation_of(held.split()), generation_of(true.split())
    if not one or not other or (first and second and first != second):
        return 0.0
    if one == other:
        return 0.9
    if sorted(one) == sorted(other):
        return 0.95
    # The same letters, divided or joined in another way: de la cruz, delacruz.
    if "".join(one) == "".join(other):
        return 0.95
    if len(one) == len(other) == 1:
        return 0.9 * jaro_winkler(one[0], other[0])
    return max(_given_and_last(one, other), _given_and_last([one[-1], *one[:-1]], other) - 0.05, 0.0)


def _given_and_last(one: list[str], other: list[str]) -> float:
    last = jaro_winkler(one[-1], other[-1])
    if len(one) == 1 or len(other) == 1:
        # A surname alone is little, and a given name alone is less.
        return max(0.3 * last, 0.2 * (one[0] == other[0]))
    first = _given(one[0], other[0])
    middle = 1.0 if one[1:-1] == other[1:-1] else 0.95
    return min(0.95, last * first * middle)


def _given(one: str, other: str) -> float:
    if one == other:
        return 1.0
    if len(one) == 1 or len(other) == 1:
        return 0.6 if one[0] == other[0] else 0.0
    if other in _called(one) or one in _called(other):
        return 0.95
    return jaro_winkler(one, other)


def _called(given: str) -> frozenset[str]:
    """The nicknames of a given name, and the names that it is one of."""
    return _nicknames().get(given, frozenset())


@cache
def _nicknames() -> dict[str, frozenset[str]]:
    from nicknames import NickNamer

    called: dict[str, set[str]] = {}
    for given, others in NickNamer().nickname_lookup.items():
        for other in others:
            one, two = _one_letter(given), _one_letter(other)
            called.setdefault(one, set()).add(two)
            called.setdefault(two, set()).add(one)
    return {given: frozenset(others) for given, others in called.items()}


def _one_letter(word: str) -> str:
    """Mueller as Muller: an umlaut is one letter, however it is written."""
    return re.sub(r"([aou])e", r"\1", word)
