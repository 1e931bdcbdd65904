"""The tide paper's experiment on tweets, done again: Figure 3, and what masking words hides from adversaries.

    TACIT_DATA=/path/to/data .venv/bin/python experiments/tweets/run.py

Writes figure3.svg, masking.svg, results.json and the marked sections of README.md beside this file. Some minutes of
one CPU core.
"""

from __future__ import annotations

import csv
import gzip
import json
import os
import sys
import time
from dataclasses import asdict
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
from tweets_figures import figure_3, masking_figure
from tweets_masking import Corpus, Masked, curve, new_posts, post_by_post

from tacit import audit
from tacit.learn import TermLogLift
from tacit.lenses.text.adversaries import split
from tacit.lenses.text.answers.audit import TextAuditResult
from tacit.lenses.text.posts import bags_of
from tacit.lenses.text.terms import TermCounts, chances, verdicts

# What experiments share lies beside their folders.
sys.path.append(str(Path(__file__).parent.parent))
from pages import fill, table

HERE = Path(__file__).parent
FILE = "tweets/congress_office_tweets_party.csv.gz"
RANDOM_STATE = 0
MIN_COUNT = 5
TERMS = (0, 10, 30, 100, 300, 1000, 3000)
EPSILONS = (2.0, 1.0, 0.5, 0.25, 0.1)


def say(words: str) -> None:
    """Say what is being done."""
    print(words, flush=True)


def read_tweets() -> dict[str, list[str]]:
    """Party, chamber and text of every tweet that is not a copy of an earlier one, and all of them."""
    folder = os.environ.get("TACIT_DATA")
    path = Path(folder or ".") / FILE
    if folder is None or not path.is_file():
        sys.exit(
            f"the tweets are not here: set TACIT_DATA to the folder that holds {FILE} (columns party, chamber, date, "
            "tweet_id, text). They are not part of the project and cannot be downloaded by it"
        )
    with gzip.open(path, "rt", encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file))
    return {name: [row[name] for row in rows] for name in ("party", "chamber", "text")}


def timed(seconds: dict[str, float], name: str, call: Any) -> Any:
    """Call, and keep the CPU seconds it took."""
    start = time.process_time()
    out = call()
    seconds[name] = round(time.process_time() - start, 1)
    say(f"{name}: {seconds[name]} CPU-s")
    return out


def main() -> None:
    """Do everything."""
    tweets, seconds = read_tweets(), {}
    say(f"{len(tweets['text']):,} tweets")
    party = np.unique(tweets["party"], return_inverse=True)[1]
    large = timed(seconds, "vectorise, terms in 2 tweets or more", lambda: bags_of(tweets["text"], min_count=2))

    def single() -> Any:
        counts = TermCounts.of(large.presence, party, 2)
        return verdicts(*chances(counts))

    timed(seconds, "count and test every term", single)
    table = pa.table(tweets)
    result = timed(
        seconds, "the whole audit, terms in 5 tweets or more",
        lambda: audit(table, text="text", secret="party", min_count=MIN_COUNT, random_state=RANDOM_STATE),
    )  # fmt: skip
    say(result.headline)
    corpus = _corpus(tweets, party)
    clean = TermLogLift(random_state=RANDOM_STATE).fit(corpus.bags[corpus.train], corpus.party[corpus.train])
    whole = TermLogLift(random_state=RANDOM_STATE).fit(corpus.bags, corpus.party)
    found = timed(seconds, "masking by rankings", lambda: curve(corpus, clean, TERMS, RANDOM_STATE, say))
    rules = timed(
        seconds, "masking post by post",
        lambda: [post_by_post(corpus, clean, e, bound, whole) for bound in ("post", "term") for e in EPSILONS],
    )  # fmt: skip
    rules += [new_posts(corpus, clean, epsilon, 5, RANDOM_STATE) for epsilon in EPSILONS]
    prior = float((corpus.party[~corpus.train] == np.bincount(corpus.party[corpus.train]).argmax()).mean())
    chamber = float((corpus.chamber[~corpus.train] == np.bincount(corpus.chamber[corpus.train]).argmax()).mean())
    (HERE / "figure3.svg").write_text(figure_3(result), "utf-8")
    (HERE / "masking.svg").write_text(masking_figure(found, prior), "utf-8")
    facts = {
        "tweets": len(tweets["text"]), "terms_in_2": len(large.vocabulary.terms), "terms": result.n_terms,
        "prior_right": prior, "chamber_prior_right": chamber, "cpu_seconds": seconds,
    }  # fmt: skip
    _write(result, found, rules, facts)


def _corpus(tweets: dict[str, list[str]], party: Any) -> Corpus:
    """Tweets that are not copies; 70% of them to learn from."""
    first = np.sort(np.unique([text.strip() for text in tweets["text"]], return_index=True)[1])
    bags = bags_of([tweets["text"][at] for at in first], min_count=MIN_COUNT).presence
    chamber = np.unique(tweets["chamber"], return_inverse=True)[1]
    return Corpus(bags, party[first], chamber[first], split(party[first], random_state=RANDOM_STATE))


def _write(result: TextAuditResult, found: list[Masked], rules: list[Masked], facts: dict[str, Any]) -> None:
    kept = {
        **facts,
        "headline": result.headline, "verdict": result.verdict, "verdicts": dict(result.verdicts),
        "right": result.right, "right_interval": result.right_interval,
        "figure3": [asdict(term) for term in result.conditional_terms],
        "terms_alone": [asdict(term) for term in result.terms],
        "masking": [asdict(row) for row in found], "post_by_post": [asdict(row) for row in rules],
    }  # fmt: skip
    (HERE / "results.json").write_text(json.dumps(kept, indent=1, ensure_ascii=False) + "\n", "utf-8")
    blocks = {
        "numbers": _numbers(result, facts),
        "figure3": _terms(result),
        "masking": _masking(found),
        "rules": _rules(rules),
    }
    fill(HERE / "README.md", blocks)


def _numbers(result: TextAuditResult, facts: dict[str, Any]) -> str:
    tally = result.verdicts
    lines = [
        f"- {facts['tweets']:,} tweets; {facts['terms_in_2']:,} terms in two tweets or more, {result.n_terms:,} in "
        f"five or more; {result.copies:,} tweets are copies of others and count once.",
        f"- {result.headline}",
        f"- Of the terms {tally['real']:,} are real, {tally['noise']:,} are noise, and of {tally['cannot tell']:,} "
        "nobody can tell.",
        "- CPU-seconds, one thread: "
        + "; ".join(f"{name} {value}" for name, value in facts["cpu_seconds"].items())
        + ".",
    ]
    return "\n".join(lines)


def _terms(result: TextAuditResult) -> str:
    sides = [[t for t in result.conditional_terms if t.secret == s.label] for s in result.secrets]
    rows = [
        [cell for t in pair for cell in (f"`{t.term}`", t.posts, f"{t.conditional:.2f}", f"{t.log_lift:.2f}")]
        for pair in zip(*(side[:12] for side in sides), strict=False)
    ]
    head = [cell for s in result.secrets for cell in (f"points to {s.label}", "tweets", "conditional", "alone")]
    return table(head, rows)


def _masking(found: list[Masked]) -> str:
    rows = [
        (row.ranking, f"{row.terms:,}", f"{row.words_masked:.1%}", f"{row.clean.right:.1%}",
         f"{row.retrained.right:.1%}", f"{row.chamber.right:.1%}")
        for row in found
    ]  # fmt: skip
    return table(["ranking", "terms", "words masked", "clean-trained", "retrained", "chamber, retrained"], rows)


def _rules(rules: list[Masked]) -> str:
    rows = [
        (row.ranking, f"{row.terms:,}", f"{row.words_masked:.1%}", f"{row.posts_touched:.1%}", f"{row.clean.right:.1%}",
         f"{row.retrained.right:.1%}", f"{row.chamber.right:.1%}")
        for row in rules
    ]  # fmt: skip
    head = ["rule", "terms", "words masked", "posts touched", "clean-trained", "retrained", "chamber, retrained"]
    return table(head, rows)


if __name__ == "__main__":
    main()
