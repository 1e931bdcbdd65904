"""What the workflows on text found, as frozen values."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal

from tacit.lift.estimate import Estimate
from tacit.lift.shuffles import Verdict
from tacit.workflows.results import Adversary, Result, RiskHistogram, SecretValue, SourceFacts

TermVerdict = Literal["real", "noise", "cannot tell"]


@dataclass(frozen=True)
class Term:
    """A term, the secret it points to, and whether that is real.

    ``log_lift`` is i(secret; the post has the term), plug-in, with exact 95% limits; ``conditional`` the mean of
    i(secret; term | the words before it) over the posts that have it, an estimate. ``chance`` is the largest log-lift
    that shuffled secrets give any term of about as many posts (19 times in 20).

    Guarantees
    ----------
    ``verdict``: if the secret is independent of the posts' words, any term at all is called "real" in at most 5% of
    corpora (exact hypergeometric tails, Holm's correction over all terms). "noise": its own p-value is above 5%, and
    enough posts have it that it could have been shown to be real. "cannot tell": all others.
    """

    term: str
    posts: int
    secret: str
    log_lift: float
    low: float
    high: float
    conditional: float
    p_value: float
    chance: float
    verdict: TermVerdict


@dataclass(frozen=True)
class TermGroup:
    """Terms held by a similar number of posts, and what shuffled secrets show among them.

    ``chance`` has for every secret the 95th percentile, over shuffles, of the largest log-lift; ``largest`` what was
    found; ``real`` how many of the terms are real.
    """

    fewest: int
    most: int
    terms: int
    real: int
    chance: tuple[float, ...]
    largest: tuple[float, ...]


@dataclass(frozen=True)
class Dot:
    """A term as a point of a chart: its posts, its log-lift with a sign (minus: the other secret), its verdict."""

    term: str
    posts: int
    log_lift: float
    verdict: TermVerdict


@dataclass(frozen=True)
class Piece:
    """A piece of a post. ``log_lift`` is what it adds to the log-lift of ``secret``, given the words before it.

    ``secret`` is the one it points to most, None between words and where a term is not known. ``moved`` is the largest
    absolute change of any secret's log-lift: a word may rule one secret out more than it makes another likely.
    """

    text: str
    log_lift: float | None = None
    moved: float = 0.0
    secret: str | None = None
    verdict: TermVerdict | None = None


@dataclass(frozen=True)
class ReadPost:
    """A post, its estimated risk, the secret it points to and the words that give it away, in pieces.

    ``unknown`` is the number of words that no estimate knows.
    """

    pieces: tuple[Piece, ...]
    risk: float
    secret: str
    log_lift: float
    posterior: float
    unknown: int = 0
    actual: str | None = None


@dataclass(frozen=True)
class PostShare:
    """Share of the posts whose estimated risk is within epsilon."""

    epsilon: float
    posts: float


@dataclass(frozen=True)
class TextAuditResult(Result):
    """What the words of posts give away about a secret.

    ``right`` is how often a post's secret is guessed right by a model that had not seen the post, with exact 95%
    limits; ``prior_right`` is how often without reading.

    Guarantees
    ----------
    Of independent posts: if the secret is independent of the words, ``verdict`` is "leak" in at most 5% of corpora.
    """

    source: SourceFacts
    text: str
    secret: str
    secrets: tuple[SecretValue, ...]
    verdict: Verdict
    headline: str
    information: Estimate
    uncertainty: float
    null_high: float
    p_value: float
    right: float
    right_interval: tuple[float, float]
    prior_right: float
    posts: int
    empty: int
    copies: int
    min_count: int
    n_terms: int
    rare_terms: int
    verdicts: Mapping[str, int]
    terms: tuple[Term, ...]
    conditional_terms: tuple[Term, ...]
    groups: tuple[TermGroup, ...]
    dots: tuple[Dot, ...]
    shuffles: int
    risk_histogram: RiskHistogram
    safe_shares: tuple[PostShare, ...]
    largest_risk: float
    examples: tuple[ReadPost, ...]
    notes: tuple[str, ...]
    random_state: int
    tacit_version: str
    model_path: str | None = None


@dataclass(frozen=True)
class TextCertificate:
    """What can honestly be said of masked posts: what was done, and what two adversaries still guess.

    It is no counted claim. ``adversaries`` were trained on 70% of the posts and tested on the others; ``prior_right``
    is how often the commonest secret is right among those.

    Guarantees
    ----------
    By the model in ``private/``, and by nothing else, the estimated risk of what is shown of every post is at most
    epsilon (``bound`` "post"), or no shown term moves a secret by more (``bound`` "term"). A learned estimate
    certifies nothing pointwise.
    """

    claim: str
    epsilon: float
    bound: str
    secret: str
    text: str
    kept: tuple[str, ...]
    left_out: tuple[str, ...]
    mask: str
    generalise: bool
    rare: str
    min_count: int
    words_masked: float
    posts_touched: float
    terms_masked: int
    words_unknown: float
    prior_right: float
    prior_interval: tuple[float, float]
    trained_on: int
    tested_on: int
    adversaries: tuple[Adversary, ...]
    assumptions: tuple[str, ...]
    input: Mapping[str, Any]
    output: Mapping[str, Any]
    tacit_version: str
    kind: str = "text"
    format_version: int = 1


@dataclass(frozen=True)
class TextProtectResult(Result):
    """Posts that were masked and written, and what is said of them. ``masked`` are the terms masked most often."""

    out: str
    data_file: str
    certificate: TextCertificate
    verdict: str
    headline: str
    before: RiskHistogram
    after: RiskHistogram
    masked: tuple[tuple[str, int, int], ...]
    examples: tuple[tuple[ReadPost, str], ...]
    notes: tuple[str, ...]


@dataclass(frozen=True)
class TextExplanation(Result):
    """Posts read one by one: what gives each away."""

    posts: tuple[ReadPost, ...]
    epsilon: float | None
    verdict: str
    headline: str
