"""The answer of ``audit`` about posts: which words give a secret away, in which posts, and is it real or noise?"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Annotated

from tacit import document as doc
from tacit.document.quantities import NATS, share
from tacit.errors import sentence
from tacit.lenses.coded.answers import coding_advice
from tacit.lenses.facts import SecretValue, SourceFacts
from tacit.lenses.histograms import histogram_numbers
from tacit.lenses.text.answers.shared import DEFINITIONS
from tacit.lift import Estimate, Verdict
from tacit.report.result import Result

# Terms of each secret that are drawn, that the page shows before folding, and that the terminal lists.
_DRAWN, _OPEN, _LISTED = 20, 12, 12
_POSTS_LISTED = 3


@dataclass(frozen=True)
class PostShare:
    """Share of the posts whose estimated risk is within epsilon."""

    epsilon: doc.Information
    posts: float


@dataclass(frozen=True)
class TextAuditResult(Result):
    """What the words of posts give away about a secret.

    ``right`` is how often a post's secret is guessed right by a model that had not seen the post, with exact 95%
    limits; ``prior_right`` is how often without reading.

    Guarantees
    ----------
    If posts are independent and the secret is independent of the words, ``verdict`` is "leak" in at most 5% of corpora.
    """

    source: SourceFacts
    text: str
    secret: str
    secrets: tuple[SecretValue, ...]
    verdict: Verdict
    headline: str
    information: Annotated[Estimate, NATS]
    uncertainty: doc.Information
    null_high: doc.Information
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
    terms: tuple[doc.Term, ...]
    conditional_terms: tuple[doc.Term, ...]
    groups: tuple[doc.TermGroup, ...]
    dots: tuple[doc.Dot, ...]
    shuffles: int
    risk_histogram: doc.RiskHistogram
    safe_shares: tuple[PostShare, ...]
    largest_risk: doc.Information
    examples: tuple[doc.ReadPost, ...]
    notes: tuple[str, ...]
    random_state: int
    tacit_version: str
    model_path: str | None = None

    def document(self) -> doc.Document:
        """Terms by what they add and on their own, what chance reaches, and the posts that give away most."""
        name = doc.FilePath(self.source.name)
        return doc.Document(
            kind="audit of text",
            name=sentence("Tacit audit of the words in {}, secret {}", name, self.secret),
            badge=doc.badge(self.verdict),
            headline=self.headline,
            opening=(_tiles(self),),
            sections=[section for write in SECTIONS for section in write(self)],
            reading=DEFINITIONS,
            footer=(name, *self.source.hashed),
        )

    @property
    def labels(self) -> list[str]:
        """The secrets, in order."""
        return [value.label for value in self.secrets]


def _tiles(result: TextAuditResult) -> doc.Tiles:
    priors = doc.listed([f"{doc.shorten(s.label, 24)} ({share(s.prior)})" for s in result.secrets], limit=6)
    limits = doc.Interval.shares(*result.right_interval)
    interval = doc.factor_limits(result.information.low, result.information.high, "95% interval")
    nats, whole = doc.Nats(result.information.value, unit=False), doc.Nats(result.uncertainty)
    noise, unsure = (doc.Count(result.verdicts[verdict]) for verdict in ("noise", "cannot tell"))
    terms = sentence(
        "of {} in {} posts or more; {} noise, {} cannot tell; {} rarer ones were not looked at",
        doc.Count(result.n_terms),
        result.min_count,
        noise,
        unsure,
        doc.Count(result.rare_terms),
    )
    prior = doc.Share(result.prior_right)
    tiles = [
        doc.Tile("Posts", doc.Count(result.source.records), f"column {result.text}"),
        doc.Tile("Secret", result.secret, f"prior: {priors}"),
        doc.Tile(
            "True secret gets",
            sentence("{} times as likely", doc.LiftFactor(result.information.value)),
            sentence("{}, on average by a post; {} of {}; p {}", interval, nats, whole, doc.Chance(result.p_value)),
        ),
        doc.Tile(
            "Guessed right",
            doc.Share(result.right),
            sentence("{}; prior {}, by models that had not seen the post", limits, prior),
        ),
        doc.Tile("Terms that are real", doc.Count(result.verdicts["real"]), terms),
    ]
    if result.model_path:
        tiles.append(doc.Tile("Model", doc.FilePath(result.model_path), "private", where="terminal"))
    return doc.Tiles(tiles)


def _of(terms: Sequence[doc.Term], secret: str) -> list[doc.Term]:
    return [term for term in terms if term.secret == secret]


def _term_table(terms: Sequence[doc.Term], *, folded: str = "", conditional: bool = False) -> doc.Block:
    if not terms:
        return doc.Paragraph("None is real.")
    limits = doc.TableColumn(">95% limits", where="terminal")
    columns = ("Term", ">Posts", ">Times as\nlikely", limits, ">Chance\nreaches", ">Given the\nwords before")
    rows = [
        (
            doc.DataValue(term.term, 32),
            doc.Count(term.posts),
            doc.Cell(doc.LiftFactor(term.log_lift), style="" if conditional else "bold"),
            doc.factor_limits(term.low, term.high),
            doc.LiftFactor(term.chance),
            doc.Cell(doc.LiftFactor(term.conditional), style="bold" if conditional else ""),
        )
        for term in terms
    ]
    # What the page folds away the terminal leaves out.
    return doc.TableBlock(columns, rows, folded=folded, shown=range(_LISTED), where="page" if folded else None)


def _by_secret(result: TextAuditResult, terms: Sequence[doc.Term], *, conditional: bool) -> doc.Beside:
    columns = []
    for label in result.labels:
        own = _of(terms, label)
        first = own if conditional else own[:_OPEN]
        heading = doc.Heading(sentence("Points to {}", doc.DataValue(label, 24)))
        blocks: list[doc.Block] = [heading, _term_table(first, conditional=conditional)]
        if len(own) > len(first):
            blocks.append(_term_table(own[_OPEN:], folded=f"{len(own) - _OPEN} more"))
        columns.append(blocks)
    return doc.Beside(columns)


def _added(result: TextAuditResult) -> Sequence[doc.Section]:
    about = (
        "What a term adds when a reader meets it in a post, after the words before it, averaged over the posts that "
        "have it. Only terms that are real."
    )
    drawn = [term for label in result.labels for term in _of(result.conditional_terms, label)[:_DRAWN]]
    numbers = _by_secret(result, result.conditional_terms, conditional=True)
    figure = doc.Figure(doc.TermBars(drawn, result.labels), (numbers,))
    return (doc.Section("Which words give it away", (doc.Paragraph(about), figure), kind="estimate"),)


def _alone(result: TextAuditResult) -> Sequence[doc.Section]:
    about = (
        "How many times as likely the secret is just because a post has the term, and what chance alone reaches with "
        "as many posts. A word that only one side uses has the largest there is; the commoner ones come first."
    )
    blocks = (doc.Paragraph(about), _by_secret(result, result.terms, conditional=False))
    return (doc.Section("Words alone", blocks, kind="plug-in"),)


def _rare(result: TextAuditResult) -> Sequence[doc.Section]:
    real, noise, unsure = (doc.Count(result.verdicts[verdict]) for verdict in ("real", "noise", "cannot tell"))
    about = sentence(
        "{} terms are real, {} are noise, and for {} nobody can tell. A word in few posts looks telling by mere "
        "chance: "
        "the band is the largest log-lift among all terms of about as many posts when the secrets are shuffled ({} "
        "times).",
        real,
        noise,
        unsure,
        result.shuffles,
    )
    columns = [">Posts", ">Terms", ">Real"]
    for label in result.labels:
        columns += [f">{name}, {doc.shorten(label, 16)}" for name in ("Chance reaches", "Found")]
    rows: list[Sequence[doc.Text]] = []
    for group in result.groups:
        posts = doc.Interval(doc.Count(group.fewest), doc.Count(group.most), "–")
        pairs = zip(group.chance, group.largest, strict=True)
        each = [doc.Nats(value, "signed", unit=False) for pair in pairs for value in pair]
        rows.append((posts, doc.Count(group.terms), doc.Count(group.real), *each))
    figure = doc.Figure(doc.TermFunnel(result.dots, result.groups, result.labels), (doc.TableBlock(columns, rows),))
    title = "Rare words are noise until shown otherwise"
    return (doc.Section(title, (doc.Paragraph(about), figure), where="page"),)


def _posts(result: TextAuditResult) -> Sequence[doc.Section]:
    about = doc.Paragraph(
        "Marked: words that add to the secret the post points to, the stronger the more; dotted: words that point "
        "elsewhere. Rest the pointer on a word for its number. This page shows posts: it is for you only.",
        where="page",
    )
    posts = doc.MarkedPosts(result.examples, result.labels, shown=_POSTS_LISTED)
    return (doc.Section("Posts that give away most", (about, posts), kind="estimate"),)


def _risks(result: TextAuditResult) -> Sequence[doc.Section]:
    layers = (doc.Layer("posts", result.risk_histogram),)
    figure = doc.Figure(doc.Histogram(layers, things="posts"), histogram_numbers(layers), where="page")
    rows = [(doc.Nats(safe.epsilon, "setting", unit=False), doc.Share(safe.posts)) for safe in result.safe_shares]
    table = doc.TableBlock((sentence(">Epsilon ({})", doc.UNIT), ">Posts within"), rows)
    title = "How risky are the posts? By models that had not seen them"
    return (doc.Section(title, (figure, table), kind="estimate"),)


def _notes(result: TextAuditResult) -> Sequence[doc.Section]:
    return tuple(doc.notes_section(result.notes))


def _next(result: TextAuditResult) -> Sequence[doc.Section]:
    what = "A release in topics writes for each post only which of a few topics it is about,"
    name, fields = result.source.name, {"text": result.text, "secret": result.secret}
    return (coding_advice(what, name, result.prior_right, **fields),)


SECTIONS = (_added, _next, _alone, _rare, _posts, _risks, _notes)
