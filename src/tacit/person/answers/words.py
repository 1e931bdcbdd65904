"""Sentences about a person's leakage, and the pieces they are made of. No sentence holds a value."""

from __future__ import annotations

from collections.abc import Sequence

from tacit.errors import ArgumentError
from tacit.person.answers.results import Rung


def share(value: float) -> str:
    """A share in per cent; 0% and 100% only if it is exactly that."""
    if 0 < value < 0.01:
        return "less than 1%"
    if 0.99 < value < 1:
        return "more than 99%"
    return f"{value:.0%}"


def level(value: float) -> str:
    """A leakage or certainty to two digits; 0 and 1 only if it is exactly that."""
    if 0 < value < 0.005:
        return "less than 0.01"
    if 0.995 <= value < 1 - 1e-12:
        return "more than 0.99"
    return f"{value:.2f}"


def listed(items: Sequence[str], word: str = "and") -> str:
    """Items with commas, the last after a word."""
    return f" {word} ".join(filter(None, [", ".join(items[:-1]), *items[-1:]]))


def counted(count: int, word: str) -> str:
    """A number and the thing counted: "1 record", "2 records"."""
    return f"{count:,} {word}" + ("" if count == 1 else "s")


# A smaller difference is not worth a sentence.
NOTABLE = 0.005


def audit_headline(rung: Rung, sources: int, together: float, largest: float, fail_above: float | None) -> str:
    """The first words of an audit: who knows how much, how sure that is, and what there is to be known.

    ``together`` is the share that all records of the person hold, ``largest`` the largest leakage of any adversary.
    """
    if rung.leakage <= 0:
        return f"No record holds anything true about the person{verdict(0.0, fail_above)}."
    origin = "one record alone" if rung.merged <= 1 else f"{rung.merged:,} records of {counted(sources, 'source')}"
    beside = ", where 1 is the whole file and nothing else"
    if rung.best_recall > rung.recall + NOTABLE:
        first = (
            f"The adversary '{rung.adversary}' knows {share(rung.best_recall)} of what matters about the person. The "
            f"record that leaks most holds {share(rung.recall)}, from {origin}, and {share(rung.precision)} of it is "
            f"right: a leakage of {level(rung.leakage)}{beside}{verdict(largest, fail_above)}."
        )
    else:
        first = (
            f"The adversary '{rung.adversary}' knows {share(rung.recall)} of what matters about the person, from "
            f"{origin}; {share(rung.precision)} of what it holds is right. That is a leakage of {level(rung.leakage)}"
            f"{beside}{verdict(largest, fail_above)}."
        )
    if together > max(rung.best_recall, rung.recall) + NOTABLE:
        return f"{first} All records about the person together hold {share(together)}."
    return first


def verdict(leakage: float, fail_above: float | None) -> str:
    """Whether a leakage is above the limit, as the end of a sentence; empty without a limit."""
    if fail_above is None:
        return ""
    above = leakage > fail_above
    return f"; that is above the limit of {fail_above:g}" if above else f"; the limit of {fail_above:g} is kept"


def weaker_notes(rungs: Sequence[Rung]) -> list[str]:
    """A note for every adversary that knows no less than an earlier one but leaks less."""
    notes = []
    for place, rung in enumerate(rungs):
        worse = [earlier for earlier in rungs[:place] if earlier.leakage > rung.leakage + 1e-9]
        worse = [earlier for earlier in worse if earlier.best_recall <= rung.best_recall + 1e-9]
        if worse:
            notes.append(
                f"{rung.adversary} leaks less than {worse[0].adversary} though it knows no less: wrong values pile up "
                "in what it merges. That protects nobody from a careful reader; merge: consensus, or keep_base: true, "
                "shows the stronger reading"
            )
    return notes


def check_limit(fail_above: float | None) -> None:
    """Refuse a limit that no leakage could keep or break."""
    if fail_above is not None and not 0 <= fail_above <= 1:
        raise ArgumentError(f"the limit is {fail_above:g}: a leakage lies in [0, 1]")
