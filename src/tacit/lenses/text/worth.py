"""What released posts are worth to a reader: coherence of topics, words kept, and another column that words tell."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from tacit.errors import ArgumentError
from tacit.learn.arrays import Codes, Flags, Floats
from tacit.lenses.bench.trying import BenchRecords, folds_of, spread
from tacit.lenses.text.families import ReadPosts, text_families
from tacit.lenses.text.posts import MISSING, ROWS_AT_ONCE, Posts
from tacit.lenses.worth import use_told
from tacit.release.kept import CodedUse, TopicWorth
from tacit.requests import Question

_DIGITS = 2
# The family of the bench that tells another column: it reads words, as readers do.
READER = "words"


def topic_worth(presence: Any, topics: Sequence[Sequence[int]], of_record: Codes, design: Flags) -> TopicWorth:
    """Coherence on the part that made the topics, and the words that are kept, on the others.

    Parameters
    ----------
    presence : sparse matrix
        Which post has which word, posts by words; above 0 it has it.
    topics : sequence of sequences of int
        The words that each topic is written with, each once, as columns of ``presence``.
    of_record : integer array
        The topic that was released for every post.
    design : boolean array
        Which posts the topics were made from.
    """
    from scipy import sparse

    has_word = sparse.csr_array(presence > 0)
    has_word = has_word.astype(np.float64)
    words = sorted({word for topic in topics for word in topic})
    place = {word: at for at, word in enumerate(words)}
    topic_places = [[place[word] for word in topic] for topic in topics]
    together = npmi(has_word[np.flatnonzero(design)][:, words])
    dealt = np.random.default_rng(0).permutation(np.array([word for topic in topic_places for word in topic])).tolist()
    by_chance = [[dealt.pop() for _ in topic] for topic in topic_places]
    apart = has_word[np.flatnonzero(~design)][:, words]
    rows = [at for at, topic in enumerate(topic_places) for _ in topic]
    columns = [word for topic in topic_places for word in topic]
    written = sparse.csr_array((np.ones(len(rows)), (rows, columns)), shape=(len(topic_places), len(words)))
    kept = np.asarray(apart.multiply(written[of_record[~design]]).sum(axis=1)).ravel()
    own = np.asarray(has_word[np.flatnonzero(~design)].sum(axis=1)).ravel()
    share = float((kept[own > 0] / own[own > 0]).mean()) if (own > 0).any() else 0.0
    return TopicWorth(
        coherence=round(coherence(together, topic_places), _DIGITS),
        coherence_by_chance=round(coherence(together, by_chance), _DIGITS),
        words_kept=round(share, _DIGITS + 1),
    )


def npmi(presence: Any) -> Floats:
    """Normalised pointwise mutual information of every two words, from -1 (never in one post) to 1 (always)."""
    posts = max(presence.shape[0], 1)
    both = np.asarray((presence.T @ presence).todense()) / posts
    alone = np.diag(both)
    with np.errstate(divide="ignore", invalid="ignore"):
        information = np.log(both / np.outer(alone, alone)) / -np.log(both)
    information = np.where(both <= 0, -1.0, np.where(both >= 1, 1.0, information))
    return np.asarray(information)


def coherence(together: Floats, topics: Sequence[Sequence[int]]) -> float:
    """The mean over topics of the mean over pairs of their words; topics of one word have none."""
    means = []
    for topic in topics:
        pairs = together[np.ix_(topic, topic)][np.triu_indices(len(topic), 1)]
        if len(pairs):
            means.append(float(pairs.mean()))
    return float(np.mean(means)) if means else 0.0


def use_of_posts(
    question: Question, posts: Posts, masked: Sequence[str], rows: Codes, mask: str, seed: int
) -> CodedUse | None:
    """How well words tell the column to use, before and after; over ``rows``, which are not copies."""
    names = tuple(question.use or ())
    if not names:
        return None
    if len(names) > 1:
        raise ArgumentError("for posts only one use is measured: name one column")
    posts.table.require(names)
    values: list[str] = []
    for batch in posts.table.batches(names, ROWS_AT_ONCE):
        values += [MISSING if each is None else str(each) for each in batch.column(0).to_pylist()]
    use = np.unique(np.array(values), return_inverse=True)[1].astype(np.int64)
    tried = rows[spread(len(rows), len(rows))]
    before, after = (ReadPosts([texts[at] for at in tried], tried, mask) for texts in (posts.texts, masked))
    reader = next(each for each in text_families(masked=True) if each.name == READER)
    fold = folds_of(use[tried], together=tried, random_state=seed)
    return use_told(names[0], use[tried], reader, BenchRecords(before, after, posts.codes[tried], fold))
