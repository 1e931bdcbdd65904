"""What all answers about a person share: their base class, the terms they explain, and common sections."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

from tacit import document as doc
from tacit.document.quantities import part, setting, signed_part
from tacit.errors import Setting, sentence
from tacit.person.answers.merging import merge_graph
from tacit.person.answers.results import Finding, Held, PersonSource, SourceShare, State
from tacit.report.result import Result

# Attributes drawn as bars; the table has them all.
_BARS = 25
_JOINS_SHOWN = 12
# A symbol next to the word, so that colour is never the only sign, and whether it helps the adversary.
_STATES: Mapping[State, tuple[str, doc.CellStyle]] = {
    "correct": ("● right", "toward"),
    "near": ("◐ near", "doubt"),
    "covered": ("◌ covers", "doubt"),
    "wrong": ("○ wrong", "away"),
}
_HIDDEN = "A source that adds less than nothing misleads the adversary: without it the leakage would be higher."

DEFINITIONS: tuple[tuple[str, str], ...] = (
    (
        "leakage",
        "How much of the person's file one record gives away, from 0 (nothing) to 1 (all of it, with certainty, and "
        "nothing wrong): the harmonic mean of precision and recall, by weight, expected over what is uncertain. Of "
        "many records, the one that leaks most counts. Higher is riskier.",
    ),
    ("precision", "The share of what the record says that is right, by weight. Wrong and old data lower it."),
    ("recall", "The share of the person's file that the record has right, by weight."),
    (
        "adversary",
        "Somebody who has all the sources and does something with them: normalises values, corrects or adds some, "
        "decides which records belong to one person (resolves), and merges them. It has a cost.",
    ),
    ("confidence", "How sure the holder of a value is of it, from 0 to 1. An unsure value leaks less."),
    (
        "weight",
        "How much an attribute matters: as the case file says, or, with background statistics, by how rare its value "
        "is. Only ratios count.",
    ),
    (
        "contribution",
        "The leakage minus what it would be without the attribute or the source. Above 0: it gives the person away. "
        "Below 0: it misleads the adversary, and without it the leakage would be higher.",
    ),
    (
        "right, near, covers, wrong",
        "Right: the true value. Near: close to it (31 for 30), with part of the credit. Covers: a coarser value that "
        "the truth lies in (11* for 111). Wrong: anything else.",
    ),
)
MEANINGS = doc.Paragraph(
    "Leakage: 0, nothing known; 1, all of the person's file, with certainty, and nothing wrong; of the worst record. "
    "Precision: the share of what that record says that is right. Recall: the share of the file that it has.",
    "note",
    where="terminal",
)
# Longest name of a source or record that is shown in full.
NAME = 120
_TRIO = ("leakage", "precision", "recall")


@dataclass(frozen=True)
class PersonResult(Result):
    """What one action found about a person. A leakage is a part of a file: it has no unit."""

    has_unit: ClassVar[bool] = False
    # How the verdict words the leakage, and what the page is about.
    told: ClassVar[str] = "leakage {}"
    about: ClassVar[str] = ""
    kind: ClassVar[str] = ""
    # Terms that only this page has to explain.
    reading: ClassVar[Sequence[tuple[str, str]]] = ()

    def to_dict(self) -> dict[str, Any]:
        """The whole result in strict JSON types; the leakage is the answer, so it comes first."""
        fields = super().to_dict()
        leakage = getattr(self, "leakage", None)
        return fields if leakage is None else {"result": fields.pop("result"), "leakage": leakage, **fields}

    def verdict(self) -> doc.Badge:
        """The leakage in words; good or bad only where a limit says what is too much."""
        leakage, limit = getattr(self, "leakage", 0.0), getattr(self, "fail_above", None)
        shown = self.told.format(part(leakage))
        if limit is None:
            return doc.Badge("•", shown, "doubt")
        tone: doc.Tone = "bad" if leakage > limit else "good"
        where = "above" if tone == "bad" else "within"
        return doc.Badge(doc.SYMBOLS[tone], f"{shown}, {where} the limit of {setting(limit)}", tone)

    def tiles(self) -> Sequence[tuple[doc.Text, ...]]:
        """What is shown first: name, value and note of each."""
        raise NotImplementedError

    def sections(self) -> Iterable[doc.Section]:
        """The sections of this action."""
        raise NotImplementedError

    def document(self) -> doc.Document:
        """What is shown first, the sections of this action, and the notes."""
        fields: Any = self
        case = doc.FilePath(fields.case)
        return doc.Document(
            kind=self.kind,
            name=sentence("{}: {}", self.about, case),
            badge=self.verdict(),
            headline=fields.headline,
            opening=(*self.warnings(), doc.Tiles(self.tiles())),
            sections=(*self.sections(), *doc.notes_section(fields.notes)),
            reading=(*DEFINITIONS, *self.reading),
            footer=(case,),
        )

    def warnings(self) -> Sequence[doc.Block]:
        """Whether values can be read here, if there are any."""
        shown = getattr(self, "values_shown", None)
        if shown is None:
            return ()
        if shown:
            return (doc.Paragraph("This shows a person's values: it is for your eyes only.", "warning"),)
        # Only the terminal names the option: the web page has a checkbox, and a written report cannot change.
        way = sentence("Values are masked. {} shows them.", Setting("show_values", True))
        return (
            doc.Paragraph(way, "note", where="terminal"),
            doc.Paragraph("Values are masked.", "note", where="page"),
        )


# ---- words -------------------------------------------------------------------------------------------------------


def searched_words(searched: str) -> str:
    """How good a plan is, in words."""
    return "exact: no plan is better" if searched == "exact" else "the best found; a better one may exist"


def as_sentence(words: str) -> str:
    """Words with a capital letter and no full stop."""
    bare = words.rstrip(". ")
    return bare[:1].upper() + bare[1:]


def sources_named(names: Sequence[str], limit: int = 6) -> str:
    """Sources in a row. Names of files differ at the end, so they are not cut short as values are."""
    rest = len(names) - limit
    return ", ".join(doc.shorten(name, NAME) for name in names[:limit]) + (f" and {rest} more" if rest > 0 else "")


def moved(value: float) -> doc.Cell:
    """A change with its sign, in the colour of its side."""
    return doc.Cell(doc.Number(value, "signed part"), style="toward" if value > 0 else "away" if value < 0 else "")


def leak(value: float | None) -> doc.Number:
    """A leakage, precision or recall."""
    return doc.Number(value, "part")


def chosen(value: float | None) -> doc.Number:
    """A cost, a weight or anything else that somebody chose."""
    return doc.Number(value, "setting")


# ---- blocks ------------------------------------------------------------------------------------------------------


def ladder(rows: Sequence[tuple[str, str, float, float, float]], *, limit: float | None) -> doc.Bars:
    """Leakage, precision and recall of each row, with a name and a note under it."""
    return doc.Bars(
        "Leakage, precision and recall",
        "0: nothing … 1: all, and nothing wrong",
        [
            doc.BarRow(name, tuple(doc.Bar(series, v) for series, v in zip(_TRIO, values, strict=True)), note)
            for name, note, *values in rows
        ],
        series=_TRIO,
        marks=doc.limit_lines(limit),
        unit="part",
        whole=True,
    )


def finding_blocks(finding: Finding, sources: Sequence[str]) -> list[doc.Block]:
    """A record attribute by attribute, what it lacks, what tells and what misleads, and how it came to be."""
    blocks: list[doc.Block] = [_attributes_table(finding.held) if finding.held else doc.Paragraph("It holds nothing.")]
    if finding.missing:
        missing = [f"{doc.shorten(m.label, 24)} {doc.shorten(m.value, 24)}" for m in finding.missing]
        blocks.append(doc.Facts((("Missing", doc.listed(missing, limit=len(missing))),)))
    else:
        blocks.append(doc.Paragraph("Nothing is missing: all of the person's file is known.", "warning"))
    if finding.bits is not None:
        blocks.append(
            doc.Paragraph(sentence("What is right in it beats the prior by {} bits.", doc.Number(finding.bits)))
        )
    return [*blocks, *_telling(finding.held), *_trace(finding, sources)]


def _attributes_table(attributes: Sequence[Held]) -> doc.TableBlock:
    weight = doc.TableColumn(">Weight", where="page")
    value = doc.TableColumn("Value", least=12)
    columns = ("Label", value, "Is it true?", ">Confidence", ">Contribution", weight, "Sources")
    return doc.TableBlock(columns, [_attribute(one) for one in attributes])


def _attribute(one: Held) -> tuple[doc.InCell, ...]:
    word, side = _STATES[one.state]
    return (
        doc.DataValue(one.label, 28),
        doc.DataValue(one.value, 32),
        doc.Cell(word, sentence("credit {}", leak(one.credit)) if 0 < one.credit < 1 else "", side),
        chosen(one.confidence),
        moved(one.contribution),
        chosen(one.weight),
        sources_named(one.sources),
    )


def _telling(attributes: Sequence[Held]) -> list[doc.Block]:
    """What tells and what misleads, drawn for the page."""
    if not attributes:
        return []
    largest = sorted(attributes, key=lambda one: -abs(one.contribution))[:_BARS]
    rows = [
        doc.SignedBar(
            f"{one.label} {one.value}",
            one.contribution,
            f"{one.label}, {_STATES[one.state][0]}, from {doc.listed(one.sources)}: {signed_part(one.contribution)}",
        )
        for one in sorted(largest, key=lambda one: -one.contribution)
    ]
    rest = len(attributes) - len(rows)
    left = sentence(" {} left out.", doc.Count(rest, "smaller one")) if rest else ""
    words = "To the right: without it the leakage would be lower. To the left: it misleads the adversary."
    return [
        doc.Heading("What gives away, and what misleads", where="page"),
        doc.Paragraph(sentence("{}{}", words, left), "note", where="page"),
        doc.Figure(doc.SignedBars("Contribution to the leakage", rows, unit="part")),
    ]


def _trace(finding: Finding, sources: Sequence[str]) -> list[doc.Block]:
    members, joins = finding.members, finding.joins
    heading = doc.Heading("How the record came to be")
    if len(members) < 2:
        words = f"One record, unmerged: {doc.listed(members)}." if members else "No record holds any of it."
        return [heading, doc.Paragraph(words)]
    if not joins:
        words = f"Joined by clusters that were made elsewhere: {doc.listed(members, limit=40)}."
        return [heading, doc.Paragraph(words)]
    agree = ": they agree on the labels named, on their own or through what they had been merged with"
    reason = agree if any(one.labels for one in joins) else ""
    words = sentence("{} were taken to be one person's{reason}.", doc.Count(len(members), "record"), reason=reason)
    lines = [
        f"{doc.shorten(one.left, NAME)} — {doc.shorten(one.right, NAME)}"
        + (f": {doc.listed(one.labels)}" * bool(one.labels))
        for one in joins
    ]
    graph = merge_graph(finding, sources)
    title = "The joins in words" if graph else f"The {len(joins)} joins of {len(members)} records, too many to draw"
    return [
        heading,
        doc.Paragraph(words, "note"),
        *([doc.Figure(graph)] if graph else []),
        doc.Bullets(lines, shown=_JOINS_SHOWN, more="joins", folded=title, open=graph is None),
    ]


def shares_section(shares: Sequence[SourceShare], adversary: str) -> list[doc.Section]:
    """What each source adds, the largest contribution first."""
    if not shares:
        return []
    ordered = sorted(shares, key=lambda source: (-source.contribution, -source.only_there))
    bars = [
        doc.SignedBar(
            s.source,
            s.contribution,
            f"{s.source} adds {signed_part(s.contribution)}: without it the leakage is {part(s.leakage_without)}",
        )
        for s in ordered
    ]
    rows = [
        (
            doc.DataValue(s.source, NAME),
            doc.Count(s.records),
            leak(s.leakage_without),
            moved(s.contribution),
            doc.Share(s.only_there),
        )
        for s in ordered
    ]
    table = doc.TableBlock(("Source", ">Records", ">Leakage without it", ">It adds", ">Only there"), rows)
    words = sentence(
        "The leakage under '{}' with all sources, minus the leakage without this one, everything else resolved again. "
        "Only there: the share of the person's file that no other source has; a source may have that and still add "
        "nothing to the record that leaks most. {}",
        doc.DataValue(adversary, 40),
        _HIDDEN if any(source.contribution < 0 for source in shares) else "",
    )
    figure = doc.Figure(doc.SignedBars("What the source adds to the leakage", bars, unit="part"), (table,))
    return [doc.Section("What each source adds", (figure, doc.Paragraph(words, "note")))]


def source_table(sources: Sequence[PersonSource]) -> doc.TableBlock:
    """Where the records came from, for the page."""
    columns = ("Source", "File", ">Records", "SHA-256")
    rows = [
        (
            doc.DataValue(s.name, NAME),
            doc.FilePath(s.path),
            doc.Count(s.records),
            doc.Code(s.sha256) if s.sha256 else "–",
        )
        for s in sources
    ]
    return doc.TableBlock(columns, rows, folded="The sources", where="page")


def records_tile(sources: Sequence[PersonSource]) -> tuple[doc.Text, ...]:
    """How many records there are, and the sources with theirs."""
    named = sources_named([f"{source.name} {source.records:,}" for source in sources], limit=8)
    return "Records", doc.Count(sum(source.records for source in sources)), named
