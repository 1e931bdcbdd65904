"""The families of adversaries that read posts: words, characters, style, masks and the order of the rows."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import pairwise
from typing import Any

import numpy as np

from tacit.learn.arrays import Codes, Floats
from tacit.lenses.bench.families import NEIGHBOURS, Family, linear, linear_of_counts
from tacit.lenses.text.words import URL, terms

# Columns that words or characters are hashed into; two that share one cannot be told apart.
_COLUMNS = 2**20
_MASKS_COUNTED = 6
_PLACES = 10
_SIGNS = ".,;:!?'\"’“”-–—…()[]/&%$#@*+=_~|<>\n"
_LONGEST_WORD = 12
_EMOJI = re.compile("[\u2190-\u27bf\u2b00-\u2bff\U0001f000-\U0001faff]")
_WORD = re.compile(r"\w+")


@dataclass(frozen=True, eq=False)
class ReadPosts:
    """Posts as an adversary gets them, and where each stands; ``mask`` is what hides a word, if something does."""

    texts: Sequence[str]
    place: Codes
    mask: str | None = None


def text_families(*, masked: bool) -> tuple[Family, ...]:
    """The families that are tried on posts; the one for masks only if words are masked."""
    masks = Family(
        "masks",
        "reads how many masks there are, where they stand and the words next to them; no other word",
        partial(_counted, _of_masks),
        linear_of_counts,
    )
    return (
        Family("words", "reads words and pairs of words, and how many masks; no case, no signs", _words, _counts),
        Family(
            "characters", "reads every 1 to 5 characters as they are written; no order beyond that", _signs, _counts
        ),
        Family("style", "reads case, signs, lengths, links and emoji; no word", _style, partial(linear, 1.0)),
        *([masks] if masked else []),
        NEIGHBOURS,
    )


def _counts() -> Any:
    return linear_of_counts()


def _words(posts: ReadPosts) -> Any:
    return _counted(_with_pairs, posts)


def _signs(posts: ReadPosts) -> Any:
    from sklearn.feature_extraction.text import HashingVectorizer

    reader = HashingVectorizer(
        analyzer="char", ngram_range=(1, 5), lowercase=False, n_features=_COLUMNS, alternate_sign=False, norm=None
    )
    return reader.transform(posts.texts)


def _counted(features_of: Callable[[str, str | None], list[str]], posts: ReadPosts) -> Any:
    """How often each post says what ``features_of`` makes of it."""
    from sklearn.feature_extraction import FeatureHasher

    reader = FeatureHasher(n_features=_COLUMNS, input_type="string", alternate_sign=False)
    return reader.transform(features_of(post, posts.mask) for post in posts.texts)


def _parts(post: str, mask: str | None) -> list[list[str]]:
    """The terms between masks."""
    return [terms(part) for part in (post.split(mask) if mask else [post])]


def _with_pairs(post: str, mask: str | None) -> list[str]:
    words: list[str] = []
    parts = _parts(post, mask)
    for number, part in enumerate(parts):
        # No word of a post contains a blank, so this cannot be mistaken for one.
        words += ["a mask"] * (number > 0) + part
    masks = min(len(parts) - 1, _MASKS_COUNTED)
    return [*words, *(f"{a} {b}" for a, b in pairwise(words)), *(f"masks {k}" for k in range(1, masks + 1))]


def _of_masks(post: str, mask: str | None) -> list[str]:
    parts = _parts(post, mask)
    words = sum(map(len, parts)) + len(parts) - 1
    features, at = [f"masks {k}" for k in range(1, min(len(parts) - 1, _MASKS_COUNTED) + 1)], 0
    features.append(f"share {round(_PLACES * (len(parts) - 1) / max(words, 1))}")
    for before, after in pairwise(parts):
        at += len(before)
        features += [
            f"at {at * _PLACES // max(words, 1)}",
            f"word {min(at, 2 * _PLACES)}",
            f"from the end {words - at}",
        ]
        features += [
            f"after {before[-1]}" if before else "after nothing",
            f"before {after[0]}" if after else "before nothing",
        ]
        at += 1
    return features


def _style(posts: ReadPosts) -> Floats:
    """How posts are written: a row of logarithms of counts, and what they begin and end with."""
    return np.log1p(np.array([_style_of(post, posts.mask) for post in posts.texts], dtype=np.float64))


def _style_of(post: str, mask: str | None) -> list[float]:
    links = post.count(URL) + post.count("http")
    plain = post.replace(mask, " ") if mask else post
    words = _WORD.findall(plain)
    sizes = np.bincount([min(len(word), _LONGEST_WORD) for word in words], minlength=_LONGEST_WORD + 1)
    return [
        float(len(plain)),
        float(len(words)),
        float(sum(sign.isupper() for sign in plain)),
        float(sum(word.isupper() for word in words)),
        float(sum(word.istitle() for word in words)),
        float(sum(sign.isdigit() for sign in plain)),
        float(links),
        float(len(_EMOJI.findall(plain))),
        float(sum(ord(sign) > 127 for sign in plain)),
        float(plain.count("  ")),
        float(plain[:1].isupper()),
        float(plain[-1:].isalnum()),
        *(float(plain.count(sign)) for sign in _SIGNS),
        *(float(plain[-1:] == sign) for sign in ".!?"),
        *sizes.astype(np.float64).tolist(),
    ]


def untouched_posts(before: Sequence[str], after: Sequence[str]) -> int:
    """How many posts that are not empty are released unchanged."""
    return sum(bool(old.strip()) and old == new for old, new in zip(before, after, strict=True))
