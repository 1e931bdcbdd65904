"""Words and posts: what is known about terms, and a post in pieces, as charts and blocks show them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from tacit.document.blocks import Block
from tacit.document.charts import Chart
from tacit.document.quantities import Information

__all__ = ["Dot", "MarkedPosts", "Piece", "ReadPost", "Term", "TermBars", "TermFunnel", "TermGroup", "TermVerdict"]

# A word that adds less than the first is not marked; the others are steps of how strongly it is.
STEPS = (0.1, 0.25, 0.5, 1.0)
TermVerdict = Literal["real", "noise", "cannot tell"]


@dataclass(frozen=True)
class Term:
    """A term, the secret it points to, and whether that is real.

    ``log_lift`` is i(secret; the post has the term), plug-in, with exact 95% limits; ``conditional`` the mean of
    i(secret; term | the words before it) over the posts that have it, an estimate. ``chance`` is the largest log-lift
    that shuffled secrets give any term of about as many posts (19 times in 20).

    Guarantees
    ----------
    ``verdict``: if the secret is independent of the posts' words, any term at all is called "real" in at most 5% of
    corpora (exact hypergeometric tails, Holm's correction over all terms). "noise": its own p-value is above 5%, and
    enough posts have it that it could have been shown to be real. "cannot tell": all others.
    """

    term: str
    posts: int
    secret: str
    log_lift: Information
    low: Information
    high: Information
    conditional: Information
    p_value: float
    chance: Information
    verdict: TermVerdict


@dataclass(frozen=True)
class TermGroup:
    """Terms held by a similar number of posts, and what shuffled secrets show among them.

    ``chance`` has for every secret the 95th percentile, over shuffles, of the largest log-lift; ``largest`` what was
    found; ``real`` how many of the terms are real.
    """

    fewest: int
    most: int
    terms: int
    real: int
    chance: tuple[Information, ...]
    largest: tuple[Information, ...]


@dataclass(frozen=True)
class Dot:
    """A term as a point of a chart: its posts, its log-lift with a sign (minus: the other secret), its verdict."""

    term: str
    posts: int
    log_lift: Information
    verdict: TermVerdict


@dataclass(frozen=True)
class Piece:
    """A piece of a post. ``log_lift`` is what it adds to the log-lift of ``secret``, given the words before it.

    ``secret`` is the one it points to most, None between words and where a term is not known. ``moved`` is the largest
    absolute change of any secret's log-lift: a word may rule one secret out more than it makes another likely.
    """

    text: str
    log_lift: Information | None = None
    moved: Information = 0.0
    secret: str | None = None
    verdict: TermVerdict | None = None

    @property
    def strength(self) -> int:
        """How strongly a word is marked: 0, not at all, to 4."""
        return sum(self.moved >= least for least in STEPS) if self.secret is not None else 0


@dataclass(frozen=True)
class ReadPost:
    """A post, its estimated risk, the secret it points to and the words that give it away, in pieces.

    ``unknown`` is the number of words that no estimate knows.
    """

    pieces: tuple[Piece, ...]
    risk: Information
    secret: str
    log_lift: Information
    posterior: float
    unknown: int = 0
    actual: str | None = None

    def telling(self, limit: int = 6) -> list[Piece]:
        """The pieces that give the post away, the strongest first."""
        strong = [piece for piece in self.pieces if piece.secret == self.secret and piece.moved >= STEPS[0]]
        return sorted(strong, key=lambda piece: -piece.moved)[:limit]

    @property
    def without_telling(self) -> str:
        """What is said about a post none of whose pieces gives it away."""
        return "no single word" if any(piece.secret is not None for piece in self.pieces) else "no known word"


@dataclass(frozen=True)
class TermBars(Chart):
    """Terms as bars by what they add given the words before, each in the colour of the secret it points to."""

    terms: Sequence[Term]
    secrets: Sequence[str]


@dataclass(frozen=True)
class TermFunnel(Chart):
    """Every term by the posts that hold it and its log-lift, with the band that shuffled secrets reach."""

    dots: Sequence[Dot]
    groups: Sequence[TermGroup]
    secrets: Sequence[str]


@dataclass(frozen=True)
class MarkedPosts(Block):
    """Posts with their telling words marked, each with its risk; ``secrets`` gives every secret its colour."""

    posts: Sequence[ReadPost]
    secrets: Sequence[str]
    shown: int | None = None
