"""Posts: read from a table with their secrets, and turned into bags of words."""

from __future__ import annotations

from array import array
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from tacit.errors import ArgumentError, DataError, Setting, sentence
from tacit.learn.arrays import Codes, Flags
from tacit.lenses.text.words import terms, word_pattern
from tacit.tables.sources import open_table
from tacit.tables.table import Table

if TYPE_CHECKING:
    from scipy import sparse


MISSING = "(missing)"
# Secrets are categories; more of them than this are measurements or names.
MOST_SECRETS = 50
ROWS_AT_ONCE = 50_000
_TEXT = Setting("text", "COLUMN")


@dataclass(frozen=True)
class Vocabulary:
    """The terms that are known, and how many posts hold each."""

    terms: tuple[str, ...]
    posts: Codes

    @cached_property
    def places(self) -> dict[str, int]:
        """The column of every term."""
        return {term: at for at, term in enumerate(self.terms)}


@dataclass(frozen=True)
class Bags:
    """Posts as bags of words: ``presence`` is a CSR matrix of ones, posts x terms.

    The entries of a row are stored in the order in which the terms first stand in the post, which is the order in
    which a reader meets them. ``rare`` is the number of terms that too few posts hold.
    """

    presence: sparse.csr_array
    vocabulary: Vocabulary
    rare: int = 0


def bags_of(posts: Iterable[str], *, min_count: int = 1) -> Bags:
    """Posts as bags of the terms that at least ``min_count`` of them hold, in one pass."""
    return bags_of_terms(map(terms, posts), min_count=min_count)


def bags_of_terms(lists: Iterable[Sequence[str]], *, min_count: int = 1) -> Bags:
    """As :func:`bags_of`, for posts that are lists of terms already."""
    from scipy import sparse

    places: dict[str, int] = {}
    columns, starts = array("i"), array("q", [0])
    for post_terms in lists:
        # A dict keeps the order of first appearance.
        columns.extend([places.setdefault(term, len(places)) for term in dict.fromkeys(post_terms)])
        starts.append(len(columns))
    numbers, bounds = np.frombuffer(columns, dtype=np.int32), np.frombuffer(starts, dtype=np.int64)
    counts = np.bincount(numbers, minlength=len(places))
    kept = counts >= min_count
    names = [term for term, keep in zip(places, kept.tolist(), strict=True) if keep]
    order = np.argsort(np.array(names)) if names else np.empty(0, dtype=np.int64)
    number = np.full(len(places), -1, dtype=np.int64)
    number[np.flatnonzero(kept)[order]] = np.arange(len(order))
    indices = number[numbers]
    stays = indices >= 0
    cells = np.concatenate([[0], np.cumsum(stays)])[bounds]
    shape = (len(bounds) - 1, len(order))
    presence = sparse.csr_array((np.ones(int(cells[-1])), indices[stays], cells), shape=shape)
    vocabulary = Vocabulary(tuple(names[at] for at in order), counts[kept][order])
    return Bags(presence, vocabulary, len(places) - len(order))


def bags_by(posts: Iterable[str], vocabulary: Vocabulary) -> sparse.csr_array:
    """Posts as bags of the terms of a vocabulary; terms that it does not know are left out."""
    return bags_by_terms(map(terms, posts), vocabulary)


def bags_by_terms(lists: Iterable[Sequence[str]], vocabulary: Vocabulary) -> sparse.csr_array:
    """As :func:`bags_by`, for posts that are lists of terms already."""
    from scipy import sparse

    places = vocabulary.places
    columns, starts = array("q"), array("q", [0])
    for post_terms in lists:
        columns.extend([places[term] for term in dict.fromkeys(post_terms) if term in places])
        starts.append(len(columns))
    indices = np.array(columns, dtype=np.int64)
    shape = (len(starts) - 1, len(vocabulary.terms))
    return sparse.csr_array((np.ones(len(indices)), indices, np.array(starts, dtype=np.int64)), shape=shape)


@dataclass(frozen=True)
class Posts:
    """Posts with their secrets, in the order of the table.

    ``missing`` says which posts have no text at all, not even an empty one; in ``texts`` they are empty.
    """

    table: Table
    text: str
    secret: str
    texts: tuple[str, ...]
    missing: Flags
    codes: Codes
    secrets: tuple[str, ...]

    @property
    def first(self) -> Flags:
        """Which posts are the first with their text; copies say nothing new, and would pass for evidence."""
        places: dict[str, int] = {}
        first = [places.setdefault(post.strip(), at) for at, post in enumerate(self.texts)]
        return np.asarray(np.array(first, dtype=np.int64) == np.arange(len(first)))


def read_posts(source: Any, *, text: str, secret: str, engine: str = "duckdb") -> Posts:
    """Read the text and the secret of every record, in batches.

    Raises
    ------
    ColumnError
        If the table has no such column.
    DataError
        If the column does not hold text, every post is empty, or the secret has one value or too many.
    """
    if not text or not secret:
        words = "name the column with the text ({text}) and the secret ({secret})"
        raise ArgumentError(sentence(words, text=_TEXT, secret=Setting("secret", "COLUMN")))
    if text == secret:
        raise ArgumentError(f"column '{text}' is named both text and secret; a released secret hides nothing")
    table = open_table(source, engine=engine)
    table.require_countable([text, secret])
    if table[text].kind != "text":
        # A CSV whose text column happens to hold only numbers has none of the words this is about.
        readable = [column.name for column in table.columns if column.kind == "text" and column.name != secret]
        hint = f"; columns of text: {', '.join(readable)}" if readable else ""
        raise DataError(f"column '{text}' of {table.name} holds {table[text].kind}, not text: name another{hint}")
    texts, labels, empty = list[str](), list[str](), list[bool]()
    for batch in table.batches([text, secret], ROWS_AT_ONCE):
        posts = batch.column(0).to_pylist()
        texts += ["" if post is None else str(post) for post in posts]
        empty += [post is None for post in posts]
        labels += [MISSING if label is None else str(label) for label in batch.column(1).to_pylist()]
    _refuse_hopeless(table, text, secret, texts, labels)
    secrets, codes = np.unique(np.array(labels), return_inverse=True)
    names = tuple(str(label) for label in secrets)
    return Posts(table, text, secret, tuple(texts), np.array(empty), codes.astype(np.int64), names)


def _refuse_hopeless(table: Table, text: str, secret: str, texts: Sequence[str], labels: Sequence[str]) -> None:
    if not texts:
        raise DataError(f"{table.name} has no rows: there is nothing to measure")
    if not any(word_pattern().search(post) for post in texts):
        words = (
            "all {n:,} posts in column '{text}' of {table} are empty or hold no word: name the column with the text "
            "({setting})"
        )
        raise DataError(sentence(words, n=len(texts), text=text, table=table.name, setting=_TEXT))
    values = set(labels)
    if len(values) < 2:
        raise DataError(
            f"secret '{secret}' has only one value in {table.name}: there is nothing to learn; "
            "choose another secret, or posts in which it varies"
        )
    if len(values) > MOST_SECRETS:
        raise DataError(
            f"secret '{secret}' of {table.name} has {len(values):,} values; for text it may have at most "
            f"{MOST_SECRETS}: group them first, or choose another secret"
        )
