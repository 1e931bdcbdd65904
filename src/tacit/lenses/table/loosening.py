"""What to ask for instead, where no cut of a column keeps the bound."""

from __future__ import annotations

from collections.abc import Sequence

from tacit.errors import Sentence, Setting, sentence, together
from tacit.tables.table import Table


def other_bounds(
    table: Table, secret: Sequence[str], *, epsilon: float, named: bool, thresholds: bool = False, upper: bool = False
) -> Sentence:
    """Bounds that ask for less than every value on both sides, those that usually keep most first.

    What was asked for already is left out: values that are ``named``, ``thresholds``, the ``upper`` side alone.
    """
    ways = []
    if len(secret) == 1 and not named and not thresholds:
        name = secret[0]
        if table[name].kind == "number":
            words = "groups of '{name}' instead of each of its numbers ({bins}), its thresholds ({thresholds})"
            bins, share = Setting("bins", {name: 5}), Setting("thresholds", 0.1)
            ways.append(sentence(words, name=name, bins=bins, thresholds=share))
        else:
            ways.append(sentence("only the values that hurt ({})", Setting("secret", {name: ("VALUE",)})))
    if not upper:
        ways.append(sentence("only how much likelier a value becomes ({})", Setting("epsilon_high", epsilon)))
    return sentence("Bound less: {}.", together(ways, ", or ")) if ways else Sentence("")
