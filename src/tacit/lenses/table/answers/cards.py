"""The riskiest values, as cards: counted or learned."""

from __future__ import annotations

from collections.abc import Sequence

from tacit.document import Card, Cards, Nats, SignedBar, SignedBars, Text, shorten
from tacit.errors import Sentence, sentence, together
from tacit.lenses.table.results import LearnedRiskyValue, RiskyValue

_TERMS_TOLD = 5
_TERMS_DRAWN = 6
_WIDTH = 330.0


def risky_cards(
    values: Sequence[RiskyValue | LearnedRiskyValue], facts: Sequence[Sequence[tuple[str, Text]]], *, terms: str
) -> Cards:
    """A card for every value, with its facts and what each column adds, under the heading ``terms``."""
    return Cards(
        [
            Card(
                tuple(value.values.items()),
                value.why,
                fact,
                _bars(value.contributions) if value.contributions else None,
                _in_words(terms, value.contributions),
            )
            for value, fact in zip(values, facts, strict=True)
        ]
    )


def _bars(contributions: Sequence[tuple[str, float]]) -> SignedBars:
    rows = [SignedBar(name, value, _speaks(name, value)) for name, value in contributions]
    return SignedBars("Log-lift by column", rows, limit=_TERMS_DRAWN, width=_WIDTH)


def _speaks(name: str, value: float) -> str:
    if not value:
        return f"{name}: says nothing more"
    side = "for" if value > 0 else "against"
    return sentence("{}: {}, speaks {} the secret", name, Nats(value, "signed"), side)


def _in_words(title: str, contributions: Sequence[tuple[str, float]]) -> Sentence:
    if not contributions:
        return Sentence("")
    ordered = sorted(contributions, key=lambda term: -abs(term[1]))
    each = [
        sentence("{} {}", shorten(name, 24), Nats(value, "signed", unit=False)) for name, value in ordered[:_TERMS_TOLD]
    ]
    rest = len(ordered) - _TERMS_TOLD
    more = f" and {rest} more" if rest > 0 else ""
    return sentence("{}: {}{}", title, together(each, ", "), more)
