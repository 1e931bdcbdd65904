"""Verdicts in words with a symbol and a tone, so that colour is never the only sign."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

__all__ = ["SYMBOLS", "Badge", "Tone", "badge"]

Tone = Literal["bad", "good", "doubt"]

SYMBOLS: dict[Tone, str] = {"bad": "✗", "good": "✓", "doubt": "?"}
_GOOD = (
    "holds",
    "proved",
    "no leak detected",
    "not detectably better than the prior",
    "passed",
    "passes",
    "within",
    "within the promise",
)
_BAD = (
    "beyond",
    "broken",
    "does not hold",
    "error",
    "failed",
    "fails",
    "leak",
    "parts are untouched",
    "people are found",
    "promise broken",
    "still better than the prior",
)


@dataclass(frozen=True)
class Badge:
    """A verdict in words, with a symbol and a tone."""

    symbol: str
    words: str
    tone: Tone


def badge(verdict: str) -> Badge:
    """The badge of a verdict; words never seen before count as doubt."""
    tone: Tone = "good" if verdict in _GOOD else "bad" if verdict in _BAD else "doubt"
    return Badge(SYMBOLS[tone], verdict, tone)
