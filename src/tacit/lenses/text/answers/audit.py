"""The answer of ``audit`` about posts: which words give a secret away, in which posts, and is it real or noise?"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Annotated

from tacit.document import (
    UNIT,
    Beside,
    Block,
    Cell,
    Chance,
    Code,
    Count,
    DataValue,
    Document,
    Dot,
    Facts,
    Figure,
    FilePath,
    Heading,
    Histogram,
    Information,
    Interval,
    Layer,
    MarkedPosts,
    Nats,
    Paragraph,
    ReadPost,
    RiskHistogram,
    Section,
    Share,
    TableBlock,
    TableColumn,
    Term,
    TermBars,
    TermFunnel,
    TermGroup,
    Text,
    Tile,
    Tiles,
    badge,
    listed,
    notes_section,
    rows_of,
    shorten,
)
from tacit.document.quantities import NATS, share
from tacit.errors import sentence
from tacit.lenses.facts import SecretValue, SourceFacts
from tacit.lenses.histograms import histogram_numbers
from tacit.lenses.text.answers.shared import DEFINITIONS
from tacit.lenses.text.results import PostShare
from tacit.lift import Estimate, Verdict
from tacit.report.result import Result

# Terms of each secret that are drawn, that the page shows before folding, and that the terminal lists.
_DRAWN, _OPEN, _LISTED = 20, 12, 12
_POSTS_LISTED = 3


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
    information: Annotated[Estimate, NATS]
    uncertainty: Information
    null_high: Information
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
    largest_risk: Information
    examples: tuple[ReadPost, ...]
    notes: tuple[str, ...]
    random_state: int
    tacit_version: str
    model_path: str | None = None

    def document(self) -> Document:
        """Terms by what they add and by themselves, what chance reaches, and the posts that give away most."""
        digest = (sentence("SHA-256 {sha}", sha=Code(self.source.sha256)),) if self.source.sha256 else ()
        return Document(
            kind="audit of text",
            name=sentence(
                "Tacit audit of the words in {name}, secret {secret}",
                name=FilePath(self.source.name),
                secret=self.secret,
            ),
            badge=badge(self.verdict),
            headline=self.headline,
            opening=(_facts(self), _tiles(self)),
            sections=[section for write in SECTIONS for section in write(self)],
            reading=DEFINITIONS,
            footer=(FilePath(self.source.name), *digest),
        )

    @property
    def labels(self) -> list[str]:
        """The secrets, in order."""
        return [value.label for value in self.secrets]


def _facts(result: TextAuditResult) -> Facts:
    priors = listed([f"{shorten(s.label, 24)} {share(s.prior)}" for s in result.secrets], limit=6)
    posts = sentence(
        "{count} in {name}, column {text}",
        count=Count(result.source.records),
        name=FilePath(result.source.name),
        text=result.text,
    )
    information = sentence(
        "{value} (95% interval {interval}) of {whole} (estimate); p {p}",
        value=Nats(result.information.value),
        interval=Interval.nats(result.information.low, result.information.high),
        whole=Nats(result.uncertainty, unit=False),
        p=Chance(result.p_value),
    )
    right = sentence(
        "{right} ({limits}); prior {prior}",
        right=Share(result.right),
        limits=Interval.shares(*result.right_interval),
        prior=Share(result.prior_right),
    )
    terms = sentence(
        "{terms} in {least} posts or more: {real} real, {noise} noise, {unsure} cannot tell; {rare} rarer ones were "
        "not looked at",
        terms=Count(result.n_terms),
        least=result.min_count,
        real=Count(result.verdicts["real"]),
        noise=Count(result.verdicts["noise"]),
        unsure=Count(result.verdicts["cannot tell"]),
        rare=Count(result.rare_terms),
    )
    rows: list[tuple[Text, Text]] = [
        ("Posts", posts),
        ("Secret", f"{result.secret}; prior: {priors}"),
        ("Information", information),
        ("Guessed right", right),
        ("Terms", terms),
    ]
    if result.model_path:
        rows.append(("Model", sentence("{path} (private)", path=FilePath(result.model_path))))
    return Facts(rows, where="terminal")


def _tiles(result: TextAuditResult) -> Tiles:
    prior = sentence("prior {prior}, by models that had not seen the post", prior=Share(result.prior_right))
    whole = sentence("of {whole}; p {p}", whole=Nats(result.uncertainty, unit=False), p=Chance(result.p_value))
    terms = sentence("of {terms} in {least} posts or more", terms=Count(result.n_terms), least=result.min_count)
    return Tiles(
        (
            Tile("Posts", Count(result.source.records), listed(result.labels, limit=4)),
            Tile("Guessed right", Share(result.right), prior),
            Tile("Information", Nats(result.information.value), whole),
            Tile("Terms that are real", Count(result.verdicts["real"]), terms),
        )
    )


def _of(terms: Sequence[Term], secret: str) -> list[Term]:
    return [term for term in terms if term.secret == secret]


def _term_table(terms: Sequence[Term], *, folded: str = "", given: bool = False) -> Block:
    if not terms:
        return Paragraph("None that is real.")
    columns = (
        TableColumn("Term"),
        TableColumn("Posts", numeric=True),
        TableColumn(sentence("Log-lift\n({unit})", unit=UNIT), numeric=True),
        TableColumn("95% limits", numeric=True, where="terminal"),
        TableColumn("Chance\nreaches", numeric=True),
        TableColumn("Given the\nwords before", numeric=True),
    )
    rows = rows_of(
        (
            DataValue(term.term, 32),
            Count(term.posts),
            Cell(Nats(term.log_lift, "signed", unit=False), style="" if given else "bold"),
            Interval.nats(term.low, term.high),
            Nats(term.chance, "signed", unit=False),
            Cell(Nats(term.conditional, "signed", unit=False), style="bold" if given else ""),
        )
        for term in terms
    )
    # What the page folds away the terminal leaves out.
    return TableBlock(columns, rows, folded=folded, shown=range(_LISTED), where="page" if folded else None)


def _by_secret(result: TextAuditResult, terms: Sequence[Term], *, given: bool) -> Beside:
    columns = []
    for label in result.labels:
        own = _of(terms, label)
        first = own if given else own[:_OPEN]
        blocks: list[Block] = [
            Heading(sentence("Points to {secret}", secret=DataValue(label, 24))),
            _term_table(first, given=given),
        ]
        if len(own) > len(first):
            blocks.append(_term_table(own[_OPEN:], folded=f"{len(own) - _OPEN} more"))
        columns.append(blocks)
    return Beside(columns)


def _added(result: TextAuditResult) -> Sequence[Section]:
    about = Paragraph(
        "What a term adds when it is met in a post, after the words before it, averaged over the posts that have it. "
        "Only terms that are real."
    )
    drawn = [term for label in result.labels for term in _of(result.conditional_terms, label)[:_DRAWN]]
    numbers = _by_secret(result, result.conditional_terms, given=True)
    figure = Figure(TermBars(drawn, result.labels), (numbers,))
    return (Section("Which words give it away", (about, figure), kind="estimate"),)


def _alone(result: TextAuditResult) -> Sequence[Section]:
    about = sentence(
        "How far the bare fact that a post has the term moves the belief ({unit}), and what chance alone reaches at so "
        "many posts. A word that one side alone uses has the largest there is; the commoner ones come first.",
        unit=UNIT,
    )
    return (Section("Words alone", (Paragraph(about), _by_secret(result, result.terms, given=False)), kind="plug-in"),)


def _rare(result: TextAuditResult) -> Sequence[Section]:
    about = sentence(
        "{real} terms are real, {noise} are noise, and of {unsure} nobody can tell. A word in few posts looks telling "
        "by chance alone: the band is the largest log-lift among all terms of about as many posts when the secrets are "
        "shuffled ({shuffles} times).",
        real=Count(result.verdicts["real"]),
        noise=Count(result.verdicts["noise"]),
        unsure=Count(result.verdicts["cannot tell"]),
        shuffles=result.shuffles,
    )
    columns = [TableColumn(name, numeric=True) for name in ("Posts", "Terms", "Real")]
    for label in result.labels:
        columns += [TableColumn(f"{name}, {shorten(label, 16)}", numeric=True) for name in ("Chance reaches", "Found")]
    rows: list[Sequence[Text]] = []
    for group in result.groups:
        held = Interval(Count(group.fewest), Count(group.most), "–")
        pairs = zip(group.chance, group.largest, strict=True)
        each = [Nats(value, "signed", unit=False) for pair in pairs for value in pair]
        rows.append((held, Count(group.terms), Count(group.real), *each))
    figure = Figure(TermFunnel(result.dots, result.groups, result.labels), (TableBlock(columns, rows_of(rows)),))
    title = "Rare words are noise until shown otherwise"
    return (Section(title, (Paragraph(about), figure), where="page"),)


def _posts(result: TextAuditResult) -> Sequence[Section]:
    about = Paragraph(
        "Marked: words that add to the secret the post points to, the stronger the more; dotted: words that point "
        "elsewhere. Rest the pointer on a word for its number. This page shows posts: it is for you alone.",
        where="page",
    )
    posts = MarkedPosts(result.examples, result.labels, shown=_POSTS_LISTED)
    return (Section("Posts that give away most", (about, posts), kind="estimate"),)


def _risks(result: TextAuditResult) -> Sequence[Section]:
    layers = (Layer("posts", result.risk_histogram),)
    figure = Figure(Histogram(layers, things="posts"), histogram_numbers(layers), where="page")
    columns = (
        TableColumn(sentence("Epsilon ({unit})", unit=UNIT), numeric=True),
        TableColumn("Posts within", numeric=True),
    )
    rows = rows_of((Nats(safe.epsilon, "setting", unit=False), Share(safe.posts)) for safe in result.safe_shares)
    title = "How risky are the posts? By models that had not seen them"
    return (Section(title, (figure, TableBlock(columns, rows)), kind="estimate"),)


def _notes(result: TextAuditResult) -> Sequence[Section]:
    return tuple(notes_section(result.notes))


SECTIONS = (_added, _alone, _rare, _posts, _risks, _notes)
