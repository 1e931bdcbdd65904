"""Names of people: their order, titles, nicknames, particles and initials."""

from __future__ import annotations

import re
import unicodedata
from functools import cache
from typing import Final

from tacit.person.model.forms.texts import jaro_winkler, plain

_TITLES = (
    "mr mrs ms miss mx dr drs prof professor sir dame rev reverend sra srta capt captain lt sgt herr frau fraulein "
    "mw mevr mevrouw dhr meneer "
    "mme mlle madame monsieur signor signora dott doktor doctor dipl univ habil phd md mba msc bsc esq dds dvm cpa obe "
    "mbe cbe"
)
TITLES: Final = frozenset(_TITLES.split())
UMLAUTS: Final = {"ä": "ae", "ö": "oe", "ü": "ue", "Ä": "Ae", "Ö": "Oe", "Ü": "Ue", "ø": "oe", "Ø": "Oe"}
_UMLAUTS: Final = str.maketrans(UMLAUTS)
# Many Chinese characters sound alike, so they are not transliterated.
_HAN: Final = "\u3400-\u4dbf\u4e00-\u9fff"


def name(value: str) -> str:
    """A name as given names and surname in small Latin letters, without titles: "Dr. GARCÍA, Ana" as "ana garcia".

    Umlauts become two letters: Müller and Mueller are the same. Chinese characters stay, because many sound alike.

    Examples
    --------
    >>> name("Dr. Archer, Alice M."), name("Alice ARCHER"), name("Jürgen von Müller-Lüdenscheidt")
    ('alice m archer', 'alice archer', 'juergen von mueller luedenscheidt')
    """
    parts = [_words(part) for part in value.split(",")]
    parts = [part for part in parts if part]
    if not parts:
        return ""
    # "Archer, Alice"; but in "Alice Archer, PhD" the part after the comma was a title, and is gone.
    words = [*parts[1], *parts[0], *(word for part in parts[2:] for word in part)] if len(parts) > 1 else parts[0]
    return " ".join(words)


def _words(part: str) -> list[str]:
    folded = re.sub(r"['’`´]", "", _latin(part))
    words = [word for word in re.split(rf"[^a-z0-9{_HAN}]+", folded) if word]
    kept = words[:]
    while kept and kept[0] in TITLES and len(kept) > 1:
        kept = kept[1:]
    while kept and kept[-1] in TITLES and len(kept) > 1:
        kept = kept[:-1]
    if len(kept) == 1 and kept[0] in TITLES and len(kept[0]) > 1:
        # After a comma: Alice Archer, PhD.
        kept = []
    return kept


def _latin(part: str) -> str:
    if part.isascii():
        return plain(part)
    part = unicodedata.normalize("NFKC", part).translate(_UMLAUTS)
    together = re.sub(rf"(?<=[{_HAN}])[\s·]+(?=[{_HAN}])", "", part)
    return re.sub(rf"[^{_HAN}]+", lambda match: f" {plain(match[0])} ", together)


_GENERATIONS: Final = {"jr": "jr", "junior": "jr", "sr": "sr", "senior": "sr", "ii": "ii", "iii": "iii", "iv": "iv"}


def generation_of(words: list[str]) -> tuple[list[str], str | None]:
    """A name without the suffix that tells father and son apart, and the suffix."""
    if len(words) > 2 and words[-1] in _GENERATIONS:
        return words[:-1], _GENERATIONS[words[-1]]
    return words, None


def names_alike(name: str, true: str) -> float:
    """Credit of a name that is nearly right: another order, a nickname, an initial, a name left out, a typing error.

    1 only for the same name; 0 for another surname.

    Examples
    --------
    >>> names_alike("archer alice", "alice archer"), names_alike("bob archer", "robert archer")
    (0.95, 0.95)
    >>> names_alike("alice baker", "alice archer")
    0.0
    """
    if name == true:
        return 1.0
    if not (name.isascii() and true.isascii()):
        return _sounds_alike(name, true)
    (one, first), (other, second) = generation_of(name.split()), generation_of(true.split())
    if not one or not other or (first and second and first != second):
        return 0.0
    if one == other:
        return 0.9
    if sorted(one) == sorted(other):
        return 0.95
    # The same letters, split differently: de la cruz, delacruz. An umlaut may be one letter or two.
    if "".join(one) == "".join(other) or _one_letter("".join(one)) == _one_letter("".join(other)):
        return 0.95
    if len(one) == len(other) == 1:
        return 0.9 * jaro_winkler(one[0], other[0])
    if len(other) == 1 and other[0] in (one[0], one[-1]):
        # Of the truth only one name is known, and this says it.
        return 0.9
    turned = (_given_and_last(each, other) - 0.05 for each in ([one[-1], *one[:-1]], [*one[1:], one[0]]))
    return max(_given_and_last(one, other), *turned, 0.0)


def _sounds_alike(name: str, true: str) -> float:
    """Credit of a name in Chinese characters for one in Latin letters, or in other characters that sound alike."""
    sound, other = (plain(each) for each in (name, true))
    both = not (name.isascii() or true.isascii())
    # The surname comes first in Chinese, and often last in Latin letters.
    words = sound.split() if name.isascii() else other.split()
    ways = {"".join(words), "".join([*words[1:], *words[:1]]), "".join([*words[-1:], *words[:-1]])}
    alike = (other if name.isascii() else sound).replace(" ", "") in ways
    return 0.0 if not alike else 0.5 if both else 0.8


def _given_and_last(one: list[str], other: list[str]) -> float:
    last = jaro_winkler(one[-1], other[-1])
    if len(one) == 1 or len(other) == 1:
        # A surname alone is little, and a given name alone is less.
        return max(0.3 * last, 0.2 * (one[0] == other[0]))
    # One of two surnames: garcia for garcia lopez.
    half = one[-1] in other[1:-1] or other[-1] in one[1:-1]
    if len(one[-1]) == 1 and one[0] == other[0] and len(one[0]) > 1 and other[-1].startswith(one[-1]):
        # Only the initial of the surname is there: alice a.
        return 0.4
    if not (last or half):
        return 0.0
    first = _given_names_alike(one[0], other[0])
    return max(0.6 * first * half, min(0.95, last * first * _middle(one[1:-1], other[1:-1])))


def _middle(one: list[str], other: list[str]) -> float:
    """A different middle name or patronymic may mean another person; one left out or shortened says nothing."""
    if one == other:
        return 1.0
    return 0.95 if all(_given_names_alike(a, b) > 0 for a, b in zip(one, other, strict=False)) else 0.5


def _given_names_alike(one: str, other: str) -> float:
    if one == other:
        return 1.0
    if len(one) == 1 or len(other) == 1:
        return 0.6 if one[0] == other[0] else 0.0
    if other in _called(one) or one in _called(other):
        return 0.95
    if _spelled_alike(one) == _spelled_alike(other):
        return 0.9
    return jaro_winkler(one, other)


def _spelled_alike(name: str) -> str:
    """The same for the usual spellings of a name that was transliterated: iuliia and yuliya, mohamed and muhammad."""
    folded = re.sub(r"[yj]", "i", name.replace("ou", "u").replace("kh", "h"))
    return re.sub(r"(.)\1+", r"\1", re.sub("o", "u", re.sub("e", "a", folded)))


def _called(name: str) -> frozenset[str]:
    """The nicknames of a given name, and the names that it is a nickname of."""
    return _nicknames().get(name, frozenset())


@cache
def _nicknames() -> dict[str, frozenset[str]]:
    from nicknames import NickNamer

    called: dict[str, set[str]] = {}
    for name, others in NickNamer().nickname_lookup.items():
        for other in others:
            called.setdefault(name, set()).add(other)
            called.setdefault(other, set()).add(name)
    return {name: frozenset(others) for name, others in called.items()}


def _one_letter(word: str) -> str:
    """Mueller as Muller: where accents were dropped, an umlaut is one letter."""
    return re.sub(r"([aou])e", r"\1", word)
