"""What a safe release would cost: the epsilons that were tried, next to the original table."""

from __future__ import annotations

from dataclasses import replace
from typing import Literal

from tacit import document as doc
from tacit.errors import Sentence, Setting, sentence
from tacit.lenses.table.ladder.results import Ladder, ReleaseRung
from tacit.lenses.table.results import Suggestion

_WORDS = (
    "Each line is a release in cells, as protect would make it. No secret becomes more than this many times as likely, "
    "or as unlikely. Kept: what a reader learns about an original column, minus chance, averaged over columns. Found: "
    "people whose values nobody else has. Guessed: secrets guessed right by somebody who learned from other records, "
    "beyond the {prior} that are right by always guessing the commonest; an estimate, and a better model may guess "
    "more."
)
# If more than this many of 1,000 have the commonest secret, hardly any other is guessed.
COMMON = 700
# For how many columns the terminal lists what is kept.
_LISTED = 20


def cost_section(ladder: Ladder, suggestion: Suggestion) -> doc.Section:
    """The suggestion and its command; on the page, also what each epsilon keeps and whom it exposes."""
    advice = suggestion.sentence
    if ladder.suggested is not None:
        epsilon = ladder.suggested.epsilon
        words = " With {} no secret becomes more than {} times as likely, or as unlikely."
        advice = sentence("{}" + words, advice, Setting("epsilon", epsilon), _times(epsilon))
    blocks: list[doc.Block] = [doc.Paragraph(advice, "lead")]
    if suggestion.command:
        blocks.append(doc.Paragraph(suggestion.command, label="Make it"))
    blocks += [replace(block, where="page") for block in _epsilons(ladder)]
    return doc.Section("What a safe release would cost", blocks, kind=_kind(ladder) if ladder.sampled else None)


def epsilons_section(ladder: Ladder) -> doc.Section:
    """What each epsilon keeps and whom it exposes; the terminal shows it if everything is asked for."""
    return doc.Section("What each epsilon would cost", _epsilons(ladder), kind=_kind(ladder), where="terminal")


def _times(epsilon: float) -> doc.LiftFactor:
    return doc.LiftFactor(epsilon, "up")


def _epsilons(ladder: Ladder) -> list[doc.Block]:
    return [_figure(ladder), doc.Paragraph(_note(ladder), "note"), _columns(ladder)] if ladder.rungs else []


def _kind(ladder: Ladder) -> Literal["plug-in", "estimate"]:
    return "plug-in" if ladder.sampled is None else "estimate"


def _note(ladder: Ladder) -> Sentence:
    words = _WORDS
    if ladder.sampled is not None and ladder.whole:
        words += (
            " The cells are those of all {records}; what they keep was measured on {sampled} of them, evenly spaced."
        )
    elif ladder.sampled is not None:
        words += (
            " Tried on {sampled} of {records}, evenly spaced: a release of all usually keeps more, and protect says "
            "how much."
        )
    if ladder.prior > COMMON:
        words += " Most people have the commonest secret, so a best guess hardly ever names another one."
    records = {"sampled": doc.Count(ladder.sampled or 0), "records": doc.Count(ladder.records, "record")}
    return sentence(words, prior=people(ladder.prior), **records)


def people(of_thousand: float) -> str:
    """A number of people out of 1,000; a few are not rounded down to nobody."""
    return "0" if of_thousand == 0 else "<1" if of_thousand < 0.5 else f"{of_thousand:,.0f}"


def _place(ladder: Ladder) -> int:
    return next((at for at, rung in enumerate(ladder.rungs) if rung.epsilon == ladder.epsilon), 0)


def _figure(ladder: Ladder) -> doc.Figure:
    steps = [
        doc.LadderStep(rung.epsilon, rung.kept, people(rung.found), people(rung.guessed), rung.rows)
        for rung in ladder.rungs
    ]
    chart = doc.KeptByEpsilon(steps, _place(ladder), ladder.columns, ladder.before)
    return doc.Figure(chart, (_table(ladder),), open=True)


def _table(ladder: Ladder) -> doc.TableBlock:
    columns = (
        sentence(">Epsilon\n({})", doc.UNIT),
        ">Times as\nlikely",
        ">Kept of\na column",
        ">Found\nof 1,000",
        ">Guessed\nof 1,000",
        ">Smallest\ngroup",
    )
    original = doc.Row(("original", "", *_numbers(ladder.original)))
    rows = [
        doc.Row(
            (
                doc.Nats(rung.epsilon, "setting", unit=False),
                _times(rung.epsilon),
                *_numbers(rung),
            ),
            chosen=at == _place(ladder),
        )
        for at, rung in enumerate(ladder.rungs)
    ]
    return doc.TableBlock(columns, [original, *rows])


def _numbers(rung: ReleaseRung) -> tuple[doc.InCell, ...]:
    people_cell = doc.Cell(people(rung.found), style="bad" if rung.found else "")
    return doc.Cell(doc.Share(rung.kept), style="big"), people_cell, people(rung.guessed), doc.Count(rung.smallest)


def _columns(ladder: Ladder) -> doc.TableBlock:
    """What is kept of each column at each epsilon."""
    kept = [dict(rung.columns) for rung in ladder.rungs]
    heads = [sentence(">ε {}", doc.Nats(rung.epsilon, "setting", unit=False)) for rung in ladder.rungs]
    rows = [(doc.DataValue(name, 40), *(doc.Share(each[name]) for each in kept)) for name in ladder.columns]
    return doc.TableBlock(
        ("Kept of each column", *heads),
        rows,
        folded="What is kept of each column",
        shown=range(min(len(rows), _LISTED)),
        more="columns",
    )
