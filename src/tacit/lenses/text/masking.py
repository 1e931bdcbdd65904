"""Masked posts: what replaces a word, and whether a masked post is the original except for masked words."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np

from tacit.errors import ArgumentError, DataError, Setting, sentence
from tacit.learn.arrays import Codes, Flags, Floats
from tacit.lenses.text.models import TextModel
from tacit.lenses.text.posts import Posts, bags_by
from tacit.lenses.text.words import URL, Token, terms, tokens

Rare = Literal["keep", "mask"]
MASK = "▇"
LONGEST_MASK = 20
GENERAL = {"#": "#tag", "@": "@someone"}


@dataclass(frozen=True)
class Masking:
    """How words are hidden: the mask, whether hashtags, mentions and addresses keep their sort, and rare words."""

    mask: str = MASK
    generalise: bool = False
    rare: Rare = "keep"

    def __post_init__(self) -> None:
        wrong = not self.mask or len(self.mask) > LONGEST_MASK or any(c.isspace() for c in self.mask)
        if wrong or any(c.isalnum() for c in self.mask):
            raise ArgumentError(
                f"'{self.mask}' cannot be the mask: choose 1 to {LONGEST_MASK} signs that are neither letters nor "
                "digits nor blanks, such as ▇ or […]"
            )

    def of(self, term: str) -> str:
        """What replaces a term."""
        general = GENERAL.get(term[0], self.mask) if self.generalise else self.mask
        # Replacing #tag by #tag would hide nothing.
        return self.mask if general == term else general

    def masked(self, post: str, hidden: set[str]) -> str:
        """The post with the terms in ``hidden`` masked, and every other address written ``<url>``.

        An address leads to the post or its author, and all that the estimate knows about it is that it is one.
        """
        parts, at = [], 0
        for token in tokens(post):
            if token.term in hidden or token.term == URL:
                parts += [post[at : token.start], self.of(token.term) if token.term in hidden else URL]
                at = token.end
        return "".join([*parts, post[at:]])

    def explains(self, original: str, released: str) -> list[Token] | None:
        """The tokens that were masked if ``released`` is ``original`` except for those and addresses, else None."""
        # A mask may look like the beginning of what it replaces, so every reading that fits so far is kept.
        readings: dict[int, list[Token]] = {0: []}
        at = 0
        for token in tokens(original):
            gap, mask = original[at : token.start], self.of(token.term)
            written = URL if token.term == URL else original[token.start : token.end]
            onward: dict[int, list[Token]] = {}
            for place, masked in readings.items():
                if not released.startswith(gap, place):
                    continue
                begin = place + len(gap)
                if released.startswith(written, begin):
                    onward.setdefault(begin + len(written), masked)
                if released.startswith(mask, begin):
                    onward.setdefault(begin + len(mask), [*masked, token])
            readings, at = onward, token.end
            if not readings:
                return None
        rest = original[at:]
        return next((masked for place, masked in readings.items() if released[place:] == rest), None)


@dataclass(frozen=True)
class MaskedPosts:
    """Posts with their leaking words masked.

    ``times`` is how often each term of the vocabulary was masked, in posts; ``shown`` the log-lift of what is shown.
    """

    texts: tuple[str, ...]
    touched: Flags
    words: int
    words_masked: int
    words_unknown: int
    times: Codes
    shown: Floats


def refuse_mask_in_posts(posts: Posts, masking: Masking) -> None:
    """Refuse a mask that posts already contain: nobody could tell what was masked."""
    posts_with_it = sum(masking.mask in post for post in posts.texts)
    if posts_with_it:
        words = "the mask '{mask}' is in {posts:,} posts already: choose another ({setting})"
        raise DataError(sentence(words, mask=masking.mask, posts=posts_with_it, setting=Setting("mask")))


def mask_posts(posts: Posts, model: TextModel, masking: Masking, *, epsilon: float, bound: Any) -> MaskedPosts:
    """Mask the leaking terms of every post in reading order, each judged by what has been shown so far."""
    bags = bags_by(posts.texts, model.vocabulary)
    flags, shown = model.terms.leaking(bags, epsilon=epsilon, bound=bound)
    names, places = model.vocabulary.terms, model.vocabulary.places
    texts: list[str] = []
    touched: list[bool] = []
    words = masked = unknown = 0
    for row, post in enumerate(posts.texts):
        cells = slice(bags.indptr[row], bags.indptr[row + 1])
        hidden = {names[at] for at in bags.indices[cells][flags[cells]]}
        post_terms = terms(post)
        strange = [term for term in post_terms if term not in places]
        if masking.rare == "mask":
            hidden |= set(strange)
        words, unknown = words + len(post_terms), unknown + len(strange)
        masked += sum(term in hidden for term in post_terms)
        touched.append(bool(hidden))
        texts.append(masking.masked(post, hidden))
    times = np.bincount(bags.indices[flags], minlength=len(names))
    return MaskedPosts(tuple(texts), np.array(touched), words, masked, unknown, times, shown)


@dataclass(frozen=True)
class Differences:
    """How released texts differ from the originals: ``wrong`` are the places of those that differ as they should not.

    ``shown`` has the terms of every post that were not masked, in order; for a wrong one, none.
    """

    wrong: tuple[int, ...]
    words: int
    words_masked: int
    posts_touched: int
    shown: tuple[list[str], ...]


def differences(originals: Sequence[str], released: Sequence[str], masking: Masking) -> Differences:
    """Compare posts one by one."""
    wrong: list[int] = []
    shown: list[list[str]] = []
    words = masked = touched = 0
    for at, (old, new) in enumerate(zip(originals, released, strict=True)):
        explained = masking.explains(old, new)
        if explained is None:
            wrong.append(at)
            shown.append([])
            continue
        old_tokens, hidden = tokens(old), set(explained)
        words, masked, touched = words + len(old_tokens), masked + len(explained), touched + bool(explained)
        # Token by token: a word that is masked in one place and shown in another is shown.
        shown.append([token.term for token in old_tokens if token not in hidden])
    return Differences(tuple(wrong), words, masked, touched, tuple(shown))
