"""Pages and terminal output about text: terms, posts with their telling words, and what adversaries still guess."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from types import SimpleNamespace
from typing import Any

from markupsafe import Markup
from rich.console import RenderableType
from rich.text import Text

from tacit.report import charts, terminal, text_charts, words
from tacit.report.charts import Layer
from tacit.report.numbers import chance, count, interval, number, setting, share, signed, with_unit
from tacit.report.words import listed, printable, shorten
from tacit.workflows.results import Adversary, Result
from tacit.workflows.text_results import (
    Piece,
    ReadPost,
    Term,
    TextAuditResult,
    TextExplanation,
    TextProtectResult,
)

# A word that adds less than this is not marked.
LEAST_MARKED = 0.1
STEPS = (0.1, 0.25, 0.5, 1.0)
_TERMINAL_TERMS = 12
_TERMINAL_POSTS = 3
_DRAWN_TERMS = 20

DEFINITIONS: tuple[tuple[str, str], ...] = (
    (
        "log-lift of a term",
        "How far knowing that a post has the term moves the belief in a secret: the logarithm of the secret's share "
        "among the posts that have it, over its share in all. 0: nothing learned.",
    ),
    (
        "given the words before",
        "What a term adds when the post is read from its beginning: the log-lift of the words so far and this one, "
        "less the log-lift without it. Words that repeat what was said already add little. It is learned: an estimate.",
    ),
    (
        "real, noise, cannot tell",
        "Real: further from chance than any of all the terms would be, 19 times in 20, if words and secret had nothing "
        "to do with each other. Noise: as chance has it. Cannot tell: too rare to be shown, or in between.",
    ),
    (
        "risk of a post",
        "The largest absolute log-lift of its words together, over all secrets. Higher is riskier.",
    ),
    ("prior", "The share of a secret in all posts: what an adversary believes before reading."),
)


# ---- pages --------------------------------------------------------------------------------------------------------


def page_of(result: Result, unit: str, both: Callable[[Callable[[float], Markup]], Markup]) -> dict[str, Any]:
    """What the page of a result about text shows.

    Guarantees
    ----------
    The page of a release shows its certificate and headline: no post, no term, and nothing that was learned of either.
    """
    shared: dict[str, Any] = {"reading": DEFINITIONS, "step": step, "bar": accuracy_words}
    if isinstance(result, TextAuditResult):
        labels = [s.label for s in result.secrets]
        layers = [Layer("posts", result.risk_histogram)]
        drawn = [t for label in labels for t in _of(result.conditional_terms, label)[:_DRAWN_TERMS]]
        return shared | {
            "body": "text_audit.html",
            "kind": "audit of text",
            "labels": labels,
            "hue": lambda secret: text_charts.hue(secret, labels),
            "terms_chart": both(lambda width: text_charts.term_bars(drawn, labels, unit=unit, width=width)),
            "funnel_chart": both(
                lambda width: text_charts.funnel(result.dots, result.groups, labels, unit=unit, width=width)
            ),
            "risk_chart": both(lambda width: charts.risk_histogram(layers, lines=[], unit=unit, width=width)),
            "by_secret": [(label, _of(result.terms, label)) for label in labels],
            "by_density": [(label, _of(result.conditional_terms, label)) for label in labels],
        }
    if isinstance(result, TextProtectResult):
        c = result.certificate
        attack: Any = SimpleNamespace(
            adversaries=c.adversaries, prior_guess=c.prior_right, guessing_bound=math.nan, bound_kind="estimate"
        )
        return shared | {
            "body": "text_protect.html",
            "kind": "release of text",
            "c": c,
            "accuracy_chart": both(lambda width: charts.accuracy_bars(attack, width=width)),
            "best_before": max(a.before for a in c.adversaries),
            "best_after": max(max(a.after, a.retrained) for a in c.adversaries),
        }
    assert isinstance(result, TextExplanation)
    labels = sorted(
        {post.secret for post in result.posts} | {p.secret for q in result.posts for p in q.pieces if p.secret}
    )
    return shared | {
        "body": "text_explain.html",
        "kind": "reading of posts",
        "hue": lambda secret: text_charts.hue(secret, labels),
    }


def _of(terms: Sequence[Term], secret: str) -> list[Term]:
    return [term for term in terms if term.secret == secret]


def step(piece: Piece) -> int:
    """How strongly a word is marked: 0, not at all, to 4."""
    return sum(piece.moved >= least for least in STEPS) if piece.secret is not None else 0


def accuracy_words(value: float, limits: tuple[float, float]) -> str:
    """A share and its limits."""
    return f"{share(value)} ({share(limits[0])}–{share(limits[1])})"


# ---- terminal -----------------------------------------------------------------------------------------------------


def parts_of(result: Result, unit: str) -> Iterator[RenderableType]:
    """What the terminal shows of a result about text."""
    yield terminal.answer(words.badge_of_result(result), getattr(result, "headline", ""))
    if isinstance(result, TextAuditResult):
        yield from _audit(result, unit)
    elif isinstance(result, TextProtectResult):
        yield from _protect(result, unit)
    elif isinstance(result, TextExplanation):
        for number_, post in enumerate(result.posts, start=1):
            yield Text(f"{number_}. ").append_text(line_of(post, unit))


def _audit(result: TextAuditResult, unit: str) -> Iterator[RenderableType]:
    priors = [f"{shorten(s.label, 24)} {share(s.prior)}" for s in result.secrets]
    info, tally = result.information, result.verdicts
    rows = [
        (
            "Posts",
            f"{count(result.source.records)} in {printable(result.source.name)}, column {printable(result.text)}",
        ),
        ("Secret", f"{printable(result.secret)}; prior: {listed(priors, limit=6)}"),
        (
            "Information",
            f"{with_unit(info.value, unit)} (95% interval {interval(info.low, info.high)}) of "
            f"{number(result.uncertainty)} (estimate); p {chance(result.p_value)}",
        ),
        ("Guessed right", f"{accuracy_words(result.right, result.right_interval)}; prior {share(result.prior_right)}"),
        (
            "Terms",
            f"{count(result.n_terms)} in {result.min_count} posts or more: {count(tally['real'])} real, "
            f"{count(tally['noise'])} noise, {count(tally['cannot tell'])} cannot tell; "
            f"{count(result.rare_terms)} rarer ones were not looked at",
        ),
    ]
    if result.model_path:
        rows.append(("Model", f"{printable(result.model_path)} (private)"))
    yield terminal.facts(rows)
    for secret in (s.label for s in result.secrets):
        yield terminal.heading(f"Terms that point to {shorten(secret, 40)}, by log-lift alone")
        yield _term_table(_of(result.terms, secret), unit)
        yield terminal.heading(f"Terms that point to {shorten(secret, 40)}, given the words before (estimate)")
        yield _term_table(_of(result.conditional_terms, secret), unit)
    yield terminal.heading("Share of posts within an epsilon (estimate, by models that had not seen them)")
    table = terminal.table(f">Epsilon ({unit})", ">Posts within")
    for safe in result.safe_shares:
        table.add_row(setting(safe.epsilon), share(safe.posts))
    yield table
    yield terminal.heading("Posts that give away most (estimate)")
    for post in result.examples[:_TERMINAL_POSTS]:
        yield line_of(post, unit)
    yield from terminal.notes(result.notes)


def _term_table(terms: Sequence[Term], unit: str) -> RenderableType:
    if not terms:
        return terminal.line("None that is real.")
    limits, reached = ">95% limits", ">Chance\nreaches"
    table = terminal.table("Term", ">Posts", f">Log-lift\n({unit})", limits, reached, ">Given the\nwords before")
    table.columns[0].min_width = 22
    for t in terms[:_TERMINAL_TERMS]:
        name, limits = Text(shorten(t.term, 32)), f"{t.low:.2f} to {t.high:.2f}"
        table.add_row(name, count(t.posts), signed(t.log_lift), limits, signed(t.chance), signed(t.conditional))
    return table


def _protect(result: TextProtectResult, unit: str) -> Iterator[RenderableType]:
    c = result.certificate
    yield terminal.line(f"Claim: {printable(c.claim)}")
    yield terminal.facts(
        [
            ("Release", f"{printable(result.out)}: {printable(result.data_file)}, certificate.json, report.html"),
            ("Masked", f"{share(c.words_masked)} of the words in {share(c.posts_touched)} of the posts"),
            ("Terms masked", f"{count(c.terms_masked)} different ones; in private/ all, most often: {_most(result)}"),
            (
                "Too rare to judge",
                f"{share(c.words_unknown)} of the words, {'masked' if c.rare == 'mask' else 'shown'}",
            ),
            ("Left out", listed(c.left_out) or "nothing"),
        ]
    )
    yield terminal.heading("How often the secret is guessed right (95% limits); higher is riskier")
    table = terminal.table("Adversary", ">Before", ">After", ">After, retrained\non the release")
    for a in c.adversaries:
        table.add_row(Text(printable(a.name)), *_accuracies(a))
    yield table
    prior = accuracy_words(c.prior_right, c.prior_interval)
    yield terminal.line(
        f"Without reading: {prior}. Trained on {count(c.trained_on)} posts, tested on {count(c.tested_on)} others."
    )
    yield terminal.heading("What this rests on")
    yield terminal.bullets(c.assumptions)
    yield from terminal.notes(result.notes)


def _most(result: TextProtectResult) -> str:
    return listed([f"{term} ({count(times)})" for term, times, _ in result.masked], limit=8) or "none"


def _accuracies(a: Adversary) -> list[str]:
    pairs = ((a.before, a.before_interval), (a.after, a.after_interval), (a.retrained, a.retrained_interval))
    return [accuracy_words(value, limits) for value, limits in pairs]


def line_of(post: ReadPost, unit: str) -> Text:
    """A post on one line: its risk, the secret, the words responsible, and the post itself."""
    told = Text(f"risk {number(post.risk)} {unit}", style="bold")
    told.append(f"  {shorten(post.secret, 24)} {share(post.posterior)}", style="bold default")
    told.append(f"  {telling(post)}\n", style="default")
    for piece in post.pieces:
        marked = piece.secret == post.secret and step(piece) > 1
        told.append(printable(piece.text), style="reverse" if marked else "dim")
    return told


def telling(post: ReadPost, *, limit: int = 6) -> str:
    """The words that give a post away, the strongest first."""
    found = [p for p in post.pieces if p.secret == post.secret and p.moved >= LEAST_MARKED]
    found.sort(key=lambda p: -p.moved)
    return ", ".join(f"{printable(p.text)} {number(p.moved)}" for p in found[:limit]) or "no single word"
