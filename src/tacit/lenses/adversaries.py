"""How well adversaries guess the secret: the scores, and how every lens shows them."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

from scipy.special import entr

from tacit import document as doc
from tacit.document.quantities import share
from tacit.errors import sentence
from tacit.learn import binomial_limits
from tacit.learn.arrays import Floats
from tacit.release.certificate import AdversaryScore

_SERIES = ("before", "after", "after, retrained on the release")


def scored(name: str, right: Sequence[int], *, of: int) -> AdversaryScore:
    """The score of an adversary that guessed this many right: before, after and retrained."""
    guesses: list[Any] = [part for hits in right for part in (hits / of, binomial_limits(hits, of))]
    return AdversaryScore(name, *guesses)


def fano_bound(right: float, *, prior: Floats) -> float:
    """The least information (nats) that somebody must have to guess the secret right this often.

    Guarantees
    ----------
    Fano's inequality: H(S|X) <= h(e) + e log(K - 1) where e is the share of wrong guesses, of K secrets.
    """
    wrong, secrets = 1 - right, int((prior > 0).sum())
    doubt = float(entr(wrong) + entr(right)) + (wrong * math.log(secrets - 1) if secrets > 2 else 0.0)
    return max(0.0, float(entr(prior).sum()) - doubt) if right > float(prior.max()) else 0.0


def fano_note(information: float, right: float, *, prior: Floats) -> tuple[str, ...]:
    """A warning if an adversary that is right this often must know more than the largest estimate."""
    least = fano_bound(right, prior=prior)
    if least <= information:
        return ()
    words = (
        "the estimate is too low: an adversary that guesses {right} right has at least {least} by Fano's inequality, "
        "where the estimate says {most} at most"
    )
    return (sentence(words, right=doc.Share(right), least=doc.Nats(least), most=doc.Nats(information)),)


def guesses_right(scores: Sequence[AdversaryScore], *, marks: Sequence[tuple[str, float]]) -> doc.Block:
    """A chart and a table of how often each adversary is right; ``marks`` are lines such as the prior."""
    rows = [
        doc.BarRow(
            score.name,
            tuple(
                doc.Bar(series, value, low, high)
                for series, (value, (low, high)) in zip(_SERIES, score.guesses, strict=True)
            ),
        )
        for score in scores
    ]
    parts = any(score.worst is not None for score in scores)
    columns = ("Adversary", ">Before", ">After", ">After, retrained\non the release", *((">Worst third",) * parts))
    table_rows = [
        (
            doc.DataValue(score.name, 40),
            *(doc.Cell(doc.Share(value), small=doc.Interval.shares(*limits)) for value, limits in score.guesses),
            *((("–" if score.worst is None else doc.Share(score.worst)),) * parts),
        )
        for score in scores
    ]
    return doc.Figure(
        doc.Bars(
            "Share of secrets guessed right",
            "Secrets guessed right; higher is riskier",
            rows,
            series=_SERIES,
            marks=tuple(doc.Line(value, f"{name} {share(value)}") for name, value in marks),
            unit="probability",
            whole=True,
        ),
        (doc.TableBlock(columns, table_rows),),
    )
