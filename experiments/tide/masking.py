"""Which terms to mask first, and what adversaries guess once they are masked."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from tacit.learn import TermLogLift, binomial_limits
from tacit.lenses.text.terms import TermCounts, mean_conditional

Floats = NDArray[np.float64]
Codes = NDArray[np.int64]
Mask = NDArray[np.bool_]

MASKS_COUNTED = 6


@dataclass(frozen=True)
class Guess:
    """How often an adversary is right on held-out posts, with exact 95% limits."""

    right: float
    low: float
    high: float


@dataclass(frozen=True)
class Masked:
    """One way to mask: how much is gone, and how often party (clean, retrained) and chamber (retrained) are guessed."""

    ranking: str
    terms: int
    words_masked: float
    posts_touched: float
    clean: Guess
    retrained: Guess
    chamber: Guess


@dataclass(frozen=True)
class Corpus:
    """Bags of words with two labels, and which posts are learned from."""

    bags: Any
    party: Codes
    chamber: Codes
    train: Mask

    def guess(self, model: TermLogLift, bags: Any, label: Codes) -> Guess:
        """How often a model is right on the held-out posts."""
        test = ~self.train
        found = (model.log_lift(bags[test]) + np.log(model.prior_)).argmax(axis=1)
        hits, n = int((found == label[test]).sum()), int(test.sum())
        return Guess(hits / n, *binomial_limits(hits, n))

    def learned(self, bags: Any, label: Codes, strength: float) -> TermLogLift:
        """A penalised logistic model of the posts to learn from."""
        return TermLogLift(strength=strength).fit(bags[self.train], label[self.train])


def rankings(corpus: Corpus, model: TermLogLift, random_state: int) -> dict[str, Codes]:
    """Terms from the first to mask to the last, by four scores and at random; all from the posts to learn from."""
    bags, codes = corpus.bags[corpus.train], corpus.party[corpus.train]
    counts = TermCounts.of(bags, codes, 2)
    density = model.term_log_lift(bags)
    signed = mean_conditional(bags, density)
    # By the chain rule these, summed over terms and posts, are the information in all words.
    true = density[np.arange(bags.nnz), np.repeat(codes, np.diff(bags.indptr))]
    information = np.bincount(bags.indices, weights=true, minlength=bags.shape[1])
    posts, n = counts.posts, counts.total
    expected = np.outer(counts.per_secret, posts) / n
    with np.errstate(divide="ignore", invalid="ignore"):
        chi = ((counts.pairs - expected) ** 2 / expected).sum(axis=0) * n / np.maximum(n - posts, 1)
        lift = np.where(posts >= 20, np.nan_to_num(np.abs(counts.log_lift).max(axis=0), posinf=20.0), 0.0)
    mean = np.where(posts >= 20, np.abs(signed).max(axis=1), 0.0)
    scores = {
        "conditional density, summed over posts": information,
        "conditional density, mean (Figure 3)": mean + 1e-9 * posts,
        "log-lift alone": lift + 1e-9 * posts,
        "chi-squared": np.nan_to_num(chi),
    }
    found = {name: np.argsort(-score, kind="stable") for name, score in scores.items()}
    found["random, as frequent"] = _as_frequent(found["conditional density, summed over posts"], posts, random_state)
    return found


def _as_frequent(order: Codes, posts: Codes, random_state: int) -> Codes:
    """For each term of ``order`` another one that about as many posts have, drawn among the 20 nearest."""
    rng = np.random.default_rng(random_state)
    by_posts = np.argsort(-posts, kind="stable")
    place = np.empty(len(posts), dtype=np.int64)
    place[by_posts] = np.arange(len(posts))
    free, out = np.ones(len(posts), dtype=bool), []
    for term in order[:4000]:
        near = np.arange(max(0, place[term] - 10), min(len(posts), place[term] + 11))
        near = near[free[near]]
        chosen = int(rng.choice(near)) if len(near) else int(rng.choice(np.flatnonzero(free)))
        free[chosen] = False
        out.append(by_posts[chosen])
    return np.array(out)


def masked_terms(corpus: Corpus, clean: TermLogLift, name: str, terms: Codes) -> Masked:
    """Mask the same terms in every post."""
    hidden = np.zeros(corpus.bags.shape[1], dtype=bool)
    hidden[terms] = True
    return masked_entries(corpus, clean, name, len(terms), hidden[corpus.bags.indices])


def masked_entries(corpus: Corpus, clean: TermLogLift, name: str, terms: int, flags: Mask) -> Masked:
    """Mask these entries of the bags; retrained adversaries see how many words of a post are masked."""
    bags = corpus.bags
    rows = np.repeat(np.arange(bags.shape[0]), np.diff(bags.indptr))
    masks = np.bincount(rows[flags], minlength=bags.shape[0])
    starts = np.concatenate([[0], np.cumsum(~flags)])[bags.indptr]
    shown = sparse.csr_array((bags.data[~flags], bags.indices[~flags], starts), shape=bags.shape)
    counted = sparse.csr_array((masks[:, None] >= np.arange(1, MASKS_COUNTED + 1)).astype(float))
    seen = sparse.csr_array(sparse.hstack([counted, shown]))
    party = corpus.learned(seen, corpus.party, clean.strength_)
    chamber = corpus.learned(seen, corpus.chamber, clean.strength_)
    return Masked(
        ranking=name,
        terms=terms,
        words_masked=float(flags.mean()),
        posts_touched=float((masks > 0).mean()),
        clean=corpus.guess(clean, shown, corpus.party),
        retrained=corpus.guess(party, seen, corpus.party),
        chamber=corpus.guess(chamber, seen, corpus.chamber),
    )


def post_by_post(corpus: Corpus, clean: TermLogLift, epsilon: float, bound: str, whole: TermLogLift) -> Masked:
    """Mask as ``tacit protect --text`` does, by a model of all posts."""
    flags, _ = whole.leaking(corpus.bags, epsilon=epsilon, bound=bound)  # type: ignore[arg-type]
    terms = len(np.unique(corpus.bags.indices[flags]))
    return masked_entries(corpus, clean, f"post by post, {bound} within {epsilon:g} nats", terms, flags)


def new_posts(corpus: Corpus, clean: TermLogLift, epsilon: float, folds: int, random_state: int) -> Masked:
    """The same with each post masked by a model that did not learn from it: what new posts can expect."""
    fold = np.random.default_rng(random_state).permutation(corpus.bags.shape[0]) % folds
    row = np.repeat(np.arange(corpus.bags.shape[0]), np.diff(corpus.bags.indptr))
    flags = np.zeros(corpus.bags.nnz, dtype=bool)
    for k in range(folds):
        others = fold != k
        model = TermLogLift(strength=clean.strength_).fit(corpus.bags[others], corpus.party[others])
        flags[fold[row] == k] = model.leaking(corpus.bags[~others], epsilon=epsilon)[0]
    terms = len(np.unique(corpus.bags.indices[flags]))
    return masked_entries(corpus, clean, f"new posts, post within {epsilon:g} nats", terms, flags)


def curve(corpus: Corpus, clean: TermLogLift, ks: tuple[int, ...], random_state: int) -> list[Masked]:
    """Every ranking at every number of terms."""
    return [
        masked_terms(corpus, clean, name, order[:k])
        for name, order in rankings(corpus, clean, random_state).items()
        for k in ks
    ]
