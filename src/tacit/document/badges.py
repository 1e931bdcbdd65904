"""Verdicts in words with a symbol and a tone, so that colour is never the only sign."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

__all__ = [
    "SYMBOLS",
    "Badge",
    "Tone",
    "badge",
    "badge_of_check",
]

Tone = Literal["bad", "good", "doubt"]

SYMBOLS: dict[Tone, str] = {"bad": "✗", "good": "✓", "doubt": "?"}
_VERDICTS: dict[Tone, frozenset[str]] = {
    "good": frozenset(
        {
            "holds",
            "no leak detected",
            "not detectably better than the prior",
            "passed",
            "within",
            "within the estimate",
            "within the promise",
        }
    ),
    "bad": frozenset(
        {
            "beyond",
            "beyond the estimate",
            "broken",
            "does not hold",
            "failed",
            "leak",
            "promise broken",
            "still better than the prior",
        }
    ),
}


@dataclass(frozen=True)
class Badge:
    """A verdict in words, with a symbol and a tone."""

    symbol: str
    words: str
    tone: Tone


def badge(verdict: str) -> Badge:
    """The badge of a verdict; words never seen before count as doubt."""
    tone: Tone = next((tone for tone, verdicts in _VERDICTS.items() if verdict in verdicts), "doubt")
    return Badge(SYMBOLS[tone], verdict, tone)


def badge_of_check(passed: bool | None) -> Badge:
    """The badge of one line of a verification."""
    return badge("not checked" if passed is None else "passed" if passed else "failed")
