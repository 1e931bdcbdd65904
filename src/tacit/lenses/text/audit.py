"""``audit`` for text: which words give a secret away, in which posts, and is it real or noise?"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np

from tacit import __version__
from tacit.document import Nats, Progress, ReadPost, Share
from tacit.errors import DataError, Sentence, Setting, sentence
from tacit.learn import (
    LEAST_IN_FOLD,
    EvidenceApart,
    TermLogLift,
    association_test,
    binomial_limits,
    evidence_apart,
    out_of_fold,
)
from tacit.learn.arrays import Codes, Floats
from tacit.lenses.adversaries import fano_note
from tacit.lenses.facts import SourceFacts, secret_values
from tacit.lenses.histograms import EPSILONS, histogram_of
from tacit.lenses.text.answers.audit import PostShare, TextAuditResult
from tacit.lenses.text.answers.explanation import TextExplanation
from tacit.lenses.text.models import TextModel
from tacit.lenses.text.posts import Bags, Posts, bags_of, read_posts
from tacit.lenses.text.terms import SHUFFLES, VERDICTS, TermFindings, term_findings
from tacit.lenses.trimming import trim_at
from tacit.lift import entropy
from tacit.release.bounds import checked_epsilon
from tacit.requests import Look, Question
from tacit.tables.writing import refuse_source

FOLDS = 5
EXAMPLES = 12


@dataclass(frozen=True)
class ReadCorpus:
    """Posts that were read and learned from. ``rows`` are the posts that count: the first with each text.

    ``bags`` holds those posts, ``apart`` their log-lifts by models that had not seen them.
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


def audit_text(question: Question, look: Look, *, progress: Progress) -> TextAuditResult:
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
    None: the risk is an estimate, and says nothing about words that the model does not know.
    """
    read = tuple(read_lines(model, posts))
    limit = None if epsilon is None else checked_epsilon(epsilon)
    beyond = sum(post.risk > limit for post in read) if limit is not None else 0
    verdict = "beyond" if beyond else "within" if limit is not None else "read"
    headline = sentence("{posts:,} posts were read.", posts=len(read))
    if limit is not None:
        words = "{beyond:,} of {posts:,} posts are riskier than {limit}."
        headline = sentence(words, beyond=beyond, posts=len(read), limit=Nats(limit, 6))
    return TextExplanation(read, limit, verdict, headline)


def read_lines(model: str | Path | TextModel, posts: Iterable[str]) -> Iterator[ReadPost]:
    """Read posts one by one, as they come."""
    opened = model if isinstance(model, TextModel) else TextModel.load(model)
    for post in posts:
        yield opened.read(post)


def read_corpus(
    posts: Posts, *, min_count: int, random_state: int, progress: Progress, scored: bool = True
) -> ReadCorpus:
    """Count the terms, learn the model and, if ``scored``, score every post with models that had not seen it."""
    rows = np.flatnonzero(posts.first)
    codes, secrets = posts.codes[rows], len(posts.secrets)
    counts = np.bincount(codes, minlength=secrets)
    fewest = int(counts.min())
    if fewest < 2:
        label = posts.secrets[int(counts.argmin())]
        raise DataError(
            f"secret '{label}' has {fewest} different post{'s' * (fewest != 1)} in {posts.table.name}: nothing can be "
            "learned about it; gather more, or leave it out"
        )
    progress("counting words", None)
    bags = bags_of((posts.texts[at] for at in rows), min_count=min_count)
    if not bags.vocabulary.terms:
        words = "no word of {table} is in {n} different posts: give more posts, or lower the number ({min_count})"
        raise DataError(sentence(words, table=posts.table.name, n=min_count, min_count=Setting("min_count")))
    progress("learning", None)
    clip = trim_at(counts / counts.sum())
    learned = TermLogLift(clip=clip, random_state=random_state).fit(bags.presence, codes, secrets=secrets)
    findings = term_findings(
        bags.presence,
        codes,
        names=bags.vocabulary.terms,
        secrets=posts.secrets,
        random_state=random_state,
        densities=learned.term_log_lift(bags.presence),
        progress=lambda share: progress("shuffling", share),
    )
    model = TextModel(learned, bags.vocabulary, posts.secrets, posts.secret, findings.verdict)
    fold = np.random.default_rng(random_state).permutation(len(rows)) % min(FOLDS, len(rows))
    apart = np.zeros((len(rows), secrets))
    if scored:
        progress("scoring posts by models that have not seen them", None)
        apart = out_of_fold(
            bags.presence, codes, fold, strength=learned.strength_, secrets=secrets, random_state=random_state
        ).clip(-clip, clip)
    return ReadCorpus(posts, rows, bags, model, findings, apart, fold)


def evidence_of_words(corpus: ReadCorpus, *, random_state: int) -> EvidenceApart:
    """Two exact tests, each held to half of the 5%: do models predict unseen posts, and is any term tied to the secret?

    Holm's p-values of the terms would be a third route to the answer; they are not used, so that the level is kept.
    """
    codes = corpus.codes
    association = association_test(corpus.bags.presence, codes, np.random.default_rng(random_state))
    evidence = evidence_apart(corpus.apart, codes, corpus.fold, association=association, random_state=random_state)
    return evidence if int(np.bincount(codes).min()) >= LEAST_IN_FOLD else replace(evidence, verdict="cannot tell")


def _result(corpus: ReadCorpus, look: Look) -> TextAuditResult:
    posts, findings, random_state = corpus.posts, corpus.findings, look.random_state
    epsilons = {*EPSILONS, *(() if look.epsilon is None else (look.epsilon,))}
    evidence = evidence_of_words(corpus, random_state=random_state)
    prior = corpus.model.terms.prior_
    risks = np.abs(corpus.apart).max(axis=1)
    n, hits = len(risks), int(((corpus.apart + np.log(prior)).argmax(axis=1) == corpus.codes).sum())
    fano = fano_note(evidence.information.high, binomial_limits(hits, n)[0], prior=prior)
    table = posts.table
    return TextAuditResult(
        source=SourceFacts(table.name, table.format, len(posts.texts), float(len(posts.texts)), table.sha256()),
        text=posts.text,
        secret=posts.secret,
        secrets=secret_values(posts.secrets, np.bincount(posts.codes, minlength=len(posts.secrets))),
        **vars(evidence),
        headline=_headline(posts.secret, evidence, prior, hits / n),
        uncertainty=entropy(prior),
        right=hits / n,
        right_interval=binomial_limits(hits, n),
        prior_right=float(prior.max()),
        posts=n,
        empty=int((np.diff(corpus.bags.presence.indptr) == 0).sum()),
        copies=len(posts.texts) - n,
        min_count=look.min_count,
        n_terms=len(findings.names),
        rare_terms=corpus.bags.rare,
        verdicts={str(name): int((findings.verdict == at).sum()) for at, name in enumerate(VERDICTS)},
        terms=findings.ranked(findings.counts.log_lift.T, look.top),
        conditional_terms=findings.ranked(findings.conditional, look.top),
        groups=findings.groups(),
        dots=findings.dots(random_state),
        shuffles=SHUFFLES,
        risk_histogram=histogram_of(risks, np.full(n, 1 / n)),
        safe_shares=tuple(PostShare(e, float((risks <= e).mean())) for e in sorted(epsilons)),
        largest_risk=float(risks.max()),
        examples=tuple(post for _, post in riskiest(corpus, corpus.apart, EXAMPLES)),
        notes=(*fano, *_notes(corpus, look.min_count)),
        random_state=random_state,
        tacit_version=__version__,
        model_path=None if look.save_model is None else str(look.save_model),
    )


def _headline(secret: str, evidence: EvidenceApart, prior: Floats, right: float) -> Sentence:
    guesses = sentence(
        "a reader of a post guesses {secret} right {right} of the time, {prior} without reading",
        secret=secret,
        right=Share(right),
        prior=Share(float(prior.max())),
    )
    if evidence.verdict == "leak":
        words = "The words give {secret} away: {guesses}. About {share} of its uncertainty is gone (estimate)."
        return sentence(
            words, secret=secret, guesses=guesses, share=Share(max(0.0, evidence.information.value) / entropy(prior))
        )
    if evidence.verdict == "no leak detected":
        words = "No leak about {secret} detected in the words, which does not prove that there is none: {guesses}."
        return sentence(words, secret=secret, guesses=guesses)
    return sentence(
        "Cannot tell whether the words give {secret} away: some secret has fewer than {least} posts, or there are too "
        "few posts in all. Collect more.",
        secret=secret,
        least=LEAST_IN_FOLD,
    )


def riskiest(corpus: ReadCorpus, lift: Floats, most: int) -> Iterator[tuple[int, ReadPost]]:
    """The riskiest posts of every secret in turn, ``most`` in all: their places, and what the final model reads."""
    posts, toward = corpus.posts, lift.argmax(axis=1)
    rows = (np.flatnonzero(toward == s) for s in range(len(posts.secrets)))
    each = max(1, most // len(posts.secrets))
    chosen = [own[np.argsort(-lift[own, s], kind="stable")][:each] for s, own in enumerate(rows)]
    for at in corpus.rows[np.concatenate(chosen)[:most]].tolist():
        yield at, corpus.model.read(posts.texts[at], actual=posts.secrets[int(posts.codes[at])])


def _notes(corpus: ReadCorpus, min_count: int) -> Iterator[str]:
    posts = corpus.posts
    copies = len(posts.texts) - len(corpus.rows)
    if copies:
        yield f"{copies:,} posts are copies of others and count once: copies would pass for evidence"
    missing = int(posts.missing.sum())
    if missing:
        yield f"{missing:,} posts have no text; they count as empty"
    yield sentence(
        "words in fewer than {least} posts were left out ({min_count}): nothing could be shown about them, yet they "
        "may point to somebody",
        least=min_count,
        min_count=Setting("min_count"),
    )
    yield (
        "posts are assumed to be independent. Where one author wrote many, the author's own names and places look like "
        "words of the secret: real for these authors, not for others"
    )
    yield "the style of a post (length, punctuation, order of words) is not examined, and may leak too"
