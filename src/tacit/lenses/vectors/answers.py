"""The answer of ``audit`` about vectors."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated

from tacit import document as doc
from tacit.document import Information
from tacit.document.quantities import NATS
from tacit.errors import sentence
from tacit.lenses.coded.answers import coding_advice
from tacit.lenses.facts import SecretValue
from tacit.lift import Estimate, Verdict
from tacit.report.result import Result


@dataclass(frozen=True)
class Probe:
    """What one reader says about vectors that it did not learn from; ``right`` with exact binomial 95% limits."""

    name: str
    right: float
    low: float
    high: float
    information: Annotated[Estimate, NATS]
    null_high: Information
    p_value: float
    verdict: Verdict


@dataclass(frozen=True)
class Direction:
    """A direction in which vectors vary: its share of all variance, and how much of it lies between the secrets."""

    number: int
    variance: float
    between_secrets: float


@dataclass(frozen=True)
class VectorAuditResult(Result):
    """What vectors give away about a label. All of it is estimated on vectors that the reader had not seen."""

    source: str
    column: str
    vectors: int
    length: int
    secret: str
    secrets: tuple[SecretValue, ...]
    verdict: Verdict
    headline: str
    prior: float
    probes: tuple[Probe, ...]
    directions: tuple[Direction, ...]
    random_state: int
    tacit_version: str
    labels: str | None = None

    @property
    def largest_risk(self) -> float:
        """Not known about single vectors: in doubt any may be beyond any bound."""
        return 0.0 if self.verdict == "no leak detected" else float("inf")

    def document(self) -> doc.Document:
        """How much each reader guesses right, and in which directions the label shows."""
        return doc.Document(
            kind="audit of vectors",
            name=sentence("Tacit audit of vectors: {}", doc.FilePath(self.source)),
            badge=doc.badge(self.verdict),
            headline=self.headline,
            opening=(_tiles(self),),
            sections=(_probes(self), _directions(self), _next(self)),
            reading=_DEFINITIONS,
            footer=(self.source,),
        )


_DEFINITIONS: tuple[tuple[str, str], ...] = (
    ("linear", "A reader that adds up the numbers of a vector, each with a weight."),
    ("trees", "A reader that asks one number after the other; it sees what no straight line does."),
    ("between secrets", "The share of a direction's variance that lies between the means of the secrets."),
)


def _tiles(result: VectorAuditResult) -> doc.Tiles:
    best = max(probe.right for probe in result.probes)
    return doc.Tiles(
        (
            doc.Tile("Vectors", doc.Count(result.vectors), f"of {result.length:,} numbers each"),
            doc.Tile("Best reader", doc.Share(best), f"of {result.secret} right"),
            doc.Tile("Guessing the prior", doc.Share(result.prior), "right without looking"),
        )
    )


def _probes(result: VectorAuditResult) -> doc.Section:
    rows = [
        (
            probe.name,
            doc.Cell(doc.Share(probe.right), small=doc.Interval.shares(probe.low, probe.high)),
            doc.Chance(probe.p_value),
            probe.verdict,
        )
        for probe in result.probes
    ]
    about = "Each vector was read by readers that learned from the other two thirds. The limits are exact, 95%."
    table = doc.TableBlock(("Reader", ">Right", ">By chance", "Verdict"), rows)
    return doc.Section(f"How often is {result.secret} guessed right?", (doc.Paragraph(about), table))


def _directions(result: VectorAuditResult) -> doc.Section:
    rows = [
        (doc.Count(each.number), doc.Share(each.variance), doc.Share(each.between_secrets))
        for each in result.directions
    ]
    about = "The directions in which the vectors vary most, and what each reveals by itself, counted on these vectors."
    table = doc.TableBlock((">Direction", ">Of all variance", ">Between secrets"), rows)
    return doc.Section("Where does it sit?", (doc.Paragraph(about), table))


def _next(result: VectorAuditResult) -> doc.Section:
    what = "A release in codes takes out what a straight line reads, writes one of a few vectors for each,"
    fields = {"vector": result.column, "labels": result.labels, "secret": result.secret}
    return coding_advice(what, result.source, result.prior, **fields)
