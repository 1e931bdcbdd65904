"""Words: the terms of a post, where each stands, and what counts as the same term.

A term is what a reader sees as one word: a word, a hashtag, a mention, an emoji with all that is joined to it; every
address is the one term ``<url>``. Terms are compared without case and in Unicode's compatible form, so that ``Ｔax``,
``TAX`` and ``tax`` with an invisible joiner in it are one. Scripts that put no space between words (Chinese, Japanese,
Thai, Lao, Khmer, Burmese) are divided by ICU's dictionaries, as Unicode's rules for words (UAX 29) provide; without ICU
they are refused.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from itertools import groupby
from typing import Any

from tacit.errors import EngineError

URL = "<url>"
# Characters without a shape of their own: soft hyphens, joiners, direction marks, the stretching of Arabic letters.
_INVISIBLE = (
    "\u00ad\u034f\u061c\u0640\u180e\u200b\u200c\u200d\u200e\u200f\u202a\u202b\u202c\u202d\u202e"
    "\u2060\u2061\u2062\u2063\u2064\u2066\u2067\u2068\u2069\ufeff"
)
_HIDDEN = str.maketrans("", "", _INVISIBLE)
# Whether a sign is drawn in colour says nothing: a heart is a heart.
_DRAWN = str.maketrans("", "", "\ufe0e\ufe0f")
# Han, Kana, Thai, Lao, Burmese and Khmer.
_UNSPACED = re.compile(
    "[\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u3005-\u3007\u3040-\u30ff\u31f0-\u31ff\u3400-\u4dbf\u4e00-\u9fff"
    "\ua9e0-\ua9fe\uaa60-\uaa7f\uf900-\ufaff\uff66-\uff9f]|[\U0001b000-\U0001b16f\U00020000-\U0003ffff]"
)
_PICTURE = (
    "[\u203c\u2049\u2190-\u23ff\u2500-\u27bf\u2900-\u297f\u2b00-\u2bff\u3030\u303d\u3297\u3299\U0001f000-\U0001faff]"
)
_TONE, _TAGS = "[\U0001f3fb-\U0001f3ff]", "[\U000e0020-\U000e007e]+\U000e007f"
_ONE_EMOJI = rf"{_PICTURE}[\ufe0e\ufe0f\u20e3]*{_TONE}?(?:{_TAGS})?"
_EMOJI = rf"[0-9#*]\ufe0f?\u20e3|[\U0001f1e6-\U0001f1ff]{{2}}|{_ONE_EMOJI}(?:\u200d{_ONE_EMOJI})*"


@dataclass(frozen=True)
class Token:
    """A term where it stands: the post's characters from ``start`` to ``end``."""

    term: str
    start: int
    end: int


@cache
def word_pattern() -> re.Pattern[str]:
    """How a term is written; in scripts without spaces, whole runs of words match."""
    # Python's \w leaves out the vowel signs and accents that many scripts write as characters of their own, and letters
    # in circles, which are letters in disguise.
    letter = r"\w\u24b6-\u24e9"
    near, far = (_marks(start, end) for start, end in ((0x300, 0x10000), (0x10000, 0x20000)))
    # A class of characters beyond the first 65,536 is slow, so those are tried last.
    more = rf"[{letter}{near}{_INVISIBLE}]*(?:[{far}\U000e0100-\U000e01ef][{letter}{near}{_INVISIBLE}]*)*"
    word = rf"[{letter}]{more}(?:['’\-\u00b7\u05f3\u05f4\u2010\u2011][{letter}]{more})*"
    numbers, initials = r"\d+(?:[.,]\d+)+(?!\w)", r"(?=.\.)(?<!\w)[^\W\d_](?:\.[^\W\d_])+(?!\w)"
    address = r"(?i:https?://\S+|www\.\S+|<url>)|&(?:\w{2,6}|#\d+);"
    return re.compile(rf"{address}|{_EMOJI}|[#@](?=[{letter}{near}]){more}|{numbers}|{initials}|{word}")


def _marks(start: int, end: int) -> str:
    """The signs of a part of Unicode that stand on, under or around others, as ranges."""
    places = [c for c in range(start, end) if unicodedata.category(chr(c)) in ("Mn", "Mc", "Me")]
    runs = [[c for _, c in run] for _, run in groupby(enumerate(places), key=lambda at: at[1] - at[0])]
    return "".join(f"\\U{run[0]:08x}-\\U{run[-1]:08x}" for run in runs)


@cache
def _emoji() -> re.Pattern[str]:
    return re.compile(_EMOJI)


@cache
def term_of(written: str) -> str:
    """The term that a piece of a post stands for."""
    start = written[:4].lower()
    if start in ("<url", "www.") or (start == "http" and "://" in written):
        return URL
    if _emoji().fullmatch(written):
        return written.translate(_DRAWN)
    plain = unicodedata.normalize("NFKC", written.translate(_HIDDEN).translate(_DRAWN)).casefold()
    return plain.replace("’", "'").replace("\u2010", "-").replace("\u2011", "-")


def _is_tag(written: str) -> bool:
    return written[0] in "#@<&" or written[:4].lower() in ("http", "www.")


def _pieces(post: str) -> Iterator[tuple[int, str]]:
    """The terms as they are written, with their places; HTML entities (&amp;) are not words."""
    for match in word_pattern().finditer(post):
        written = match[0]
        if written[0] == "&":
            continue
        if _is_tag(written) or not _UNSPACED.search(written):
            yield match.start(), written
            continue
        at = match.start()
        for part in _by_dictionary(written):
            if any(sign.isalnum() for sign in part):
                yield at, part
            at += len(part)


def _by_dictionary(written: str) -> tuple[str, ...]:
    """A run of words without spaces, divided by ICU."""
    return tuple(_icu().WordBreaker(written, "root"))


def _icu() -> Any:
    try:
        import icu4py.breakers
    except ImportError as error:
        raise EngineError(
            "the posts have words of Chinese, Japanese, Thai, Lao, Khmer or Burmese, which no space divides: install "
            "tacit[text], which divides them by the dictionaries of ICU, or leave such posts out"
        ) from error
    return icu4py.breakers


def tokens(post: str) -> list[Token]:
    """The terms of a post in order, with their places.

    Examples
    --------
    >>> [token.term for token in tokens("Vote NO on the #TaxBill, @Smith: https://t.co/x don't!")]
    ['vote', 'no', 'on', 'the', '#taxbill', '@smith', '<url>', "don't"]
    """
    return [Token(term_of(written), start, start + len(written)) for start, written in _pieces(post)]


def terms(post: str) -> list[str]:
    """The terms of a post in order."""
    if not post.isascii() and _UNSPACED.search(post):
        return [term_of(written) for _, written in _pieces(post)]
    return [term_of(written) for written in word_pattern().findall(post) if written[0] != "&"]
