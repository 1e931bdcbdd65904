"""Figure 3 on tweets, and what masking telling words hides from adversaries. Two or three CPU-minutes."""

from __future__ import annotations

import time
from dataclasses import asdict
from typing import Any

import numpy as np
import pyarrow as pa

from experiments.paper import Say
from experiments.tide.masking import Corpus, curve, new_posts, post_by_post
from tacit import audit
from tacit.learn import TermLogLift
from tacit.lenses.text.posts import bags_of
from tacit.lenses.text.terms import TermCounts, chances, mean_conditional, verdicts

RANDOM_STATE = 0
MIN_COUNT = 5
TERMS = (0, 10, 30, 100, 300, 1000, 3000)
EPSILONS = (2.0, 1.0, 0.5, 0.25, 0.1)
# The terms that the paper names, and the side that it puts them on.
NAMED = {"gop": "R", "nra": "R", "europe": "D", "liberal": "D", "liberals": "D"}


def split(codes: np.ndarray, *, random_state: int) -> np.ndarray:
    """Which posts adversaries are trained on: 70% of each secret's."""
    rng = np.random.default_rng(random_state)
    train = np.zeros(len(codes), dtype=bool)
    for s in np.unique(codes):
        rows = rng.permutation(np.flatnonzero(codes == s))
        train[rows[: round(0.7 * len(rows))]] = True
    return train


def posts(tweets: dict[str, list[str]], *, quick: bool, say: Say) -> dict[str, Any]:
    """Everything about posts."""
    seconds: dict[str, float] = {}

    def timed(name: str, call: Any) -> Any:
        began = time.process_time()
        made = call()
        seconds[name] = round(time.process_time() - began, 1)
        say(f"posts: {name}: {seconds[name]} CPU-seconds")
        return made

    party = np.unique(tweets["party"], return_inverse=True)[1]
    large = timed("vectorise, terms in 2 or more", lambda: bags_of(tweets["text"], min_count=2))
    timed("count and test every term", lambda: verdicts(*chances(TermCounts.of(large.presence, party, 2))))
    result = timed(
        "the whole audit",
        lambda: audit(pa.table(tweets), text="text", secret="party", min_count=MIN_COUNT, random_state=RANDOM_STATE),
    )
    first = np.sort(np.unique([text.strip() for text in tweets["text"]], return_index=True)[1])
    bags = bags_of([tweets["text"][at] for at in first], min_count=MIN_COUNT)
    chamber = np.unique(tweets["chamber"], return_inverse=True)[1][first]
    corpus = Corpus(bags.presence, party[first], chamber, split(party[first], random_state=RANDOM_STATE))
    clean = TermLogLift(random_state=RANDOM_STATE).fit(corpus.bags[corpus.train], corpus.party[corpus.train])
    whole = TermLogLift(random_state=RANDOM_STATE).fit(corpus.bags, corpus.party)
    terms, epsilons = ((0, 2), (0.5,)) if quick else (TERMS, EPSILONS)
    found = timed("masking by rankings", lambda: curve(corpus, clean, terms, RANDOM_STATE))
    rules = timed(
        "masking post by post",
        lambda: [post_by_post(corpus, clean, e, bound, whole) for bound in ("post", "term") for e in epsilons],
    )
    rules += timed("masking new posts", lambda: [new_posts(corpus, clean, e, 5, RANDOM_STATE) for e in epsilons])
    return {
        "tweets": len(tweets["text"]),
        "copies": result.copies,
        "terms_in_2": len(large.vocabulary.terms),
        "terms": result.n_terms,
        "prior_right": float((corpus.party[~corpus.train] == np.bincount(corpus.party[corpus.train]).argmax()).mean()),
        "cpu_seconds": seconds,
        "headline": result.headline,
        "verdicts": dict(result.verdicts),
        "right": result.right,
        "figure3": [_shown(term) for term in result.conditional_terms],
        "named": _named(bags, corpus.party, whole, sorted(set(tweets["party"]))),
        "masking": [asdict(row) for row in found],
        "post_by_post": [asdict(row) for row in rules],
    }


def _shown(term: Any) -> dict[str, Any]:
    return {name: getattr(term, name) for name in ("term", "posts", "secret", "log_lift", "conditional")}


def _named(bags: Any, party: Any, model: TermLogLift, secrets: list[str]) -> dict[str, Any]:
    """The terms that the paper names: in how many posts, and what they say here, alone and after earlier words."""
    counts = TermCounts.of(bags.presence, party, len(secrets))
    conditional = mean_conditional(bags.presence, model.term_log_lift(bags.presence))
    places = {term: at for at, term in enumerate(bags.vocabulary.terms)}
    return {
        term: {
            "posts": int(counts.posts[places[term]]),
            "side": secrets[int(conditional[places[term]].argmax())],
            "conditional": conditional[places[term]].max(),
            "alone": counts.log_lift[:, places[term]].max(),
        }
        for term in NAMED
        if term in places
    }
