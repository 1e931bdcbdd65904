"""``audit`` for text: which words give a secret away, in which posts, and is it real or noise?"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from tacit import __version__
from tacit.document import Nats, Progress, ReadPost, Share, silent
from tacit.errors import DataError, Sentence, Setting, sentence
from tacit.learn import (
    LEAST_IN_FOLD,
    TermLogLift,
    association_test,
    binomial_limits,
    information_of,
    out_of_fold,
    shuffled_test,
)
from tacit.lenses.facts import SecretValue, SourceFacts
from tacit.lenses.histograms import EPSILONS, histogram_of
from tacit.lenses.text.answers.audit import TextAuditResult
from tacit.lenses.text.answers.explanation import TextExplanation
from tacit.lenses.text.models import TextModel
from tacit.lenses.text.posts import Bags, Posts, bags_of, read_posts
from tacit.lenses.text.results import PostShare
from tacit.lenses.text.terms import SHUFFLES, VERDICTS, TermFindings, term_findings
from tacit.lift import LEVEL, Estimate, Verdict
from tacit.release.bounds import checked_epsilon
from tacit.requests import Look, Question
from tacit.tables.writing import refuse_source

FOLDS = 5
EXAMPLES = 12

Floats = NDArray[np.float64]
Codes = NDArray[np.int64]


@dataclass(frozen=True)
class ReadCorpus:
    """Posts that were read and learned from. ``rows`` are the posts that count: the first of each text.

    ``bags`` are of those posts, ``apart`` their log-lifts by models that had not seen them.
    """

    posts: Posts
    rows: Codes
    bags: Bags
    model: TextModel
    findings: TermFindings
    apart: Floats
    fold: Codes

    @property
    def codes(self) -> Codes:
        """Secrets of the posts that count."""
        return self.posts.codes[self.rows]


def audit_text(question: Question, look: Look, *, progress: Progress = silent) -> TextAuditResult:
    """Measure what the words of posts give away about a secret; the requests say what each setting means.

    Guarantees
    ----------
    If posts are independent and the secret is independent of their words, the verdict is "leak", and any term is
    called "real", each in at most 5% of corpora. Log-lifts of terms are plug-in, those of posts are learned: estimates,
    which certify nothing about a single post.
    """
    refuse_source(question.source, look.save_model, "model")
    progress("reading posts", None)
    posts = read_posts(question.source, text=question.text or "", secret=question.one_secret(), engine=question.engine)
    corpus = read_corpus(posts, min_count=look.min_count, random_state=look.random_state, progress=progress)
    if look.save_model is not None:
        corpus.model.save(look.save_model)
    progress("testing", None)
    return _result(corpus, look)


def explain_text(
    model: str | Path | TextModel, posts: Iterable[str], *, epsilon: float | None = None
) -> TextExplanation:
    """Read posts with a saved model: the risk of each, the secret it points to and the words responsible.

    Parameters
    ----------
    model : path or TextModel
        What an audit or a release of posts saved.
    posts : iterable of str
    epsilon : float, optional
        The risk that no post should exceed.

    Guarantees
    ----------
    None: the risk is an estimate, and of words that the model does not know it says nothing.
    """
    read = tuple(read_lines(model, posts))
    limit = None if epsilon is None else checked_epsilon(epsilon)
    beyond = sum(post.risk > limit for post in read) if limit is not None else 0
    verdict = "beyond" if beyond else "within" if limit is not None else "read"
    told = sentence("{posts:,} posts were read.", posts=len(read))
    if limit is not None:
        words = "{beyond:,} of {posts:,} posts are riskier than {limit}."
        told = sentence(words, beyond=beyond, posts=len(read), limit=Nats(limit, 6))
    return TextExplanation(read, limit, verdict, told)


def read_lines(model: str | Path | TextModel, posts: Iterable[str]) -> Iterator[ReadPost]:
    """Read posts one by one, as they come."""
    opened = model if isinstance(model, TextModel) else TextModel.load(model)
    for post in posts:
        yield opened.read(post)


def read_corpus(
    posts: Posts, *, min_count: int, random_state: int, progress: Progress = silent, seen: bool = True
) -> ReadCorpus:
    """Count the terms, learn the model and, if ``seen``, score every post with models that had not seen it."""
    rows = np.flatnonzero(posts.first)
    codes, secrets = posts.codes[rows], len(posts.secrets)
    fewest = int(np.bincount(codes, minlength=secrets).min())
    if fewest < 2:
        label = posts.secrets[int(np.bincount(codes, minlength=secrets).argmin())]
        raise DataError(
            f"secret '{label}' has {fewest} different post{'s' * (fewest != 1)} in {posts.table.name}: nothing can be "
            "learned of it; gather more, or leave it out"
        )
    progress("counting words", None)
    bags = bags_of((posts.texts[at] for at in rows), min_count=min_count)
    if not bags.vocabulary.terms:
        raise DataError(
            sentence(
                "no word of {table} is in {n} different posts: give more posts, or lower the number ({min_count})",
                table=posts.table.name,
                n=min_count,
                min_count=Setting("min_count"),
            )
        )
    progress("learning", None)
    learned = TermLogLift(random_state=random_state).fit(bags.presence, codes, secrets=secrets)
    found = term_findings(
        bags.presence,
        codes,
        names=bags.vocabulary.terms,
        secrets=posts.secrets,
        random_state=random_state,
        densities=learned.term_log_lift(bags.presence),
        progress=lambda share: progress("shuffling", share),
    )
    model = TextModel(learned, bags.vocabulary, posts.secrets, posts.secret, found.verdict)
    fold = np.random.default_rng(random_state).permutation(len(rows)) % min(FOLDS, len(rows))
    apart = np.zeros((len(rows), secrets))
    if seen:
        progress("scoring posts by models that have not seen them", None)
        apart = out_of_fold(
            bags.presence, codes, fold, strength=learned.strength_, secrets=secrets, random_state=random_state
        )
    return ReadCorpus(posts, rows, bags, model, found, apart, fold)


@dataclass(frozen=True)
class Evidence:
    """Whether the words are tied to the secret at all."""

    information: Estimate
    null_high: float
    p_value: float
    verdict: Verdict
    right: float
    right_interval: tuple[float, float]


def evidence_of_words(corpus: ReadCorpus, *, random_state: int) -> Evidence:
    """Two exact tests, each held to half of the 5%: do models predict posts apart, and is any term tied to the secret?

    Holm's p-values of the terms are a third way to the same answer; they are not used, so that the level is kept.
    """
    codes, apart = corpus.codes, corpus.apart
    p, null_high, enough = shuffled_test(apart, codes, corpus.fold, random_state=random_state)
    presence = corpus.bags.presence
    association = association_test(presence, codes, np.random.default_rng(random_state))
    p = min(1.0, 2 * min(p, association))
    guess = (apart + np.log(corpus.model.terms.prior_)).argmax(axis=1)
    hits = int((guess == codes).sum())
    verdict: Verdict = "leak" if p <= LEVEL else "no leak detected"
    enough = enough and int(np.bincount(codes).min()) >= LEAST_IN_FOLD
    return Evidence(
        information=information_of(apart, codes),
        null_high=null_high,
        p_value=p,
        verdict=verdict if enough else "cannot tell",
        right=hits / len(codes),
        right_interval=binomial_limits(hits, len(codes)),
    )


def _result(corpus: ReadCorpus, look: Look) -> TextAuditResult:
    posts, found, random_state = corpus.posts, corpus.findings, look.random_state
    epsilons = {*EPSILONS, *(() if look.epsilon is None else (look.epsilon,))}
    evidence = evidence_of_words(corpus, random_state=random_state)
    prior = corpus.model.terms.prior_
    risks = np.abs(corpus.apart).max(axis=1)
    even = np.full(len(risks), 1 / len(risks))
    tally: dict[str, int] = {str(name): int((found.verdict == at).sum()) for at, name in enumerate(VERDICTS)}
    counts = np.bincount(posts.codes, minlength=len(posts.secrets))
    return TextAuditResult(
        source=SourceFacts(
            posts.table.name, posts.table.format, len(posts.texts), float(len(posts.texts)), posts.table.sha256()
        ),
        text=posts.text,
        secret=posts.secret,
        secrets=tuple(
            SecretValue(label, float(n), float(n / sum(counts))) for label, n in zip(posts.secrets, counts, strict=True)
        ),
        verdict=evidence.verdict,
        headline=_headline(posts.secret, evidence, prior),
        information=evidence.information,
        uncertainty=float(-(prior * np.log(prior)).sum()),
        null_high=evidence.null_high,
        p_value=evidence.p_value,
        right=evidence.right,
        right_interval=evidence.right_interval,
        prior_right=float(prior.max()),
        posts=len(corpus.rows),
        empty=int((np.diff(corpus.bags.presence.indptr) == 0).sum()),
        copies=len(posts.texts) - len(corpus.rows),
        min_count=look.min_count,
        n_terms=len(found.names),
        rare_terms=corpus.bags.rare,
        verdicts=tally,
        terms=found.ranked(found.counts.log_lift.T, look.top),
        conditional_terms=found.ranked(found.conditional, look.top),
        groups=found.groups(),
        dots=found.dots(random_state),
        shuffles=SHUFFLES,
        risk_histogram=histogram_of(risks, even),
        safe_shares=tuple(PostShare(e, float((risks <= e).mean())) for e in sorted(epsilons)),
        largest_risk=float(risks.max()),
        examples=_examples(corpus, risks),
        notes=tuple(_notes(corpus, look.min_count)),
        random_state=random_state,
        tacit_version=__version__,
        model_path=None if look.save_model is None else str(look.save_model),
    )


def _headline(secret: str, evidence: Evidence, prior: Floats) -> Sentence:
    whole = float(-(prior * np.log(prior)).sum())
    told = sentence(
        "who reads a post guesses {secret} right {right} of the time, {prior} without reading",
        secret=secret,
        right=Share(evidence.right),
        prior=Share(float(prior.max())),
    )
    if evidence.verdict == "leak":
        words = "The words give {secret} away: {told}. About {share} of its uncertainty is gone (estimate)."
        return sentence(words, secret=secret, told=told, share=Share(max(0.0, evidence.information.value) / whole))
    if evidence.verdict == "no leak detected":
        words = "No leak about {secret} detected in the words, which is no proof that there is none: {told}."
        return sentence(words, secret=secret, told=told)
    return sentence(
        "Cannot tell whether the words give {secret} away: some secret has fewer than {least} posts, or there are too "
        "few posts in all. Gather more.",
        secret=secret,
        least=LEAST_IN_FOLD,
    )


def _examples(corpus: ReadCorpus, risks: Floats) -> tuple[ReadPost, ...]:
    """The riskiest posts of every secret in turn, read with the final model."""
    lift, found = corpus.apart, []
    toward = lift.argmax(axis=1)
    each = max(1, EXAMPLES // len(corpus.posts.secrets))
    for s in range(len(corpus.posts.secrets)):
        rows = np.flatnonzero(toward == s)
        rows = rows[np.argsort(-lift[rows, s], kind="stable")][: each if len(corpus.posts.secrets) <= EXAMPLES else 1]
        for row in rows:
            at = int(corpus.rows[row])
            actual = corpus.posts.secrets[int(corpus.posts.codes[at])]
            found.append(corpus.model.read(corpus.posts.texts[at], actual=actual))
    return tuple(found[:EXAMPLES])


def _notes(corpus: ReadCorpus, min_count: int) -> Iterator[str]:
    posts = corpus.posts
    copies = len(posts.texts) - len(corpus.rows)
    if copies:
        yield f"{copies:,} posts are copies of others and count once: copies would pass for evidence"
    missing = int(posts.missing.sum())
    if missing:
        yield f"{missing:,} posts have no text; they count as empty"
    yield sentence(
        "words in fewer than {least} posts were left out ({min_count}): nothing could be shown of them, and yet they "
        "may point to somebody",
        least=min_count,
        min_count=Setting("min_count"),
    )
    yield (
        "posts are taken to be independent. Where one author wrote many, the author's own names and places look like "
        "words of the secret: real for these authors, not for others"
    )
    yield "how a post is written (length, punctuation, order of words) is not looked at, and may leak too"
