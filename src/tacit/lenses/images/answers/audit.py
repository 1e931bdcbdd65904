"""The answer of ``audit`` about images: what they give away about a label, and where."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from tacit.document import (
    UNIT,
    Badge,
    Cell,
    Chance,
    Count,
    DataValue,
    Document,
    Facts,
    FilePath,
    Heading,
    Interval,
    Nats,
    Paragraph,
    Section,
    Share,
    TableBlock,
    TableColumn,
    Text,
    Tile,
    Tiles,
    badge,
    notes_section,
    rows_of,
)
from tacit.errors import sentence, together
from tacit.lenses.facts import SecretValue
from tacit.lenses.images.answers.shared import DEFINITIONS, contact_sheet, heat_maps, size_words
from tacit.lenses.images.results import Guess, ImageFacts, PatchFindings, ShownImage
from tacit.lift import Verdict
from tacit.report.result import Result


@dataclass(frozen=True)
class ImageAuditResult(Result):
    """What images give away about a label, and where.

    Guarantees
    ----------
    If the label is independent of the images, and no image is there twice, the verdict is "leak" in at most 5% of
    collections. Of a single image, or a single patch, nothing is certified.
    """

    source: ImageFacts
    secret: str
    secrets: tuple[SecretValue, ...]
    trained_on: int
    held_out: int
    verdict: Verdict
    headline: str
    prior_guess: float
    adversary: Guess
    patches: tuple[PatchFindings, ...]
    notes: tuple[str, ...]
    random_state: int
    tacit_version: str
    sheet: tuple[ShownImage, ...] = field(default=(), repr=False)

    @property
    def largest_risk(self) -> float:
        """The largest mean leakage of a patch, over all sizes of patches."""
        return max(findings.leaking_most[0].mean for findings in self.patches)

    def document(self) -> Document:
        """What patches of each size give away, and where it is said."""
        return Document(
            kind="audit of images",
            name=sentence(
                "Tacit audit of images in {name}, secret {secret}", name=FilePath(self.source.name), secret=self.secret
            ),
            badge=badge(self.verdict),
            headline=self.headline,
            opening=(_facts(self), _tiles(self)),
            sections=[section for write in SECTIONS for section in write(self)],
            reading=DEFINITIONS,
            footer=(FilePath(self.source.name), f"seed {self.random_state}"),
        )


def _facts(result: ImageAuditResult) -> Facts:
    priors = together(
        [sentence("{label} {share}", label=DataValue(s.label, 24), share=Share(s.prior)) for s in result.secrets], ", "
    )
    images = sentence(
        "{name}, {count} of {size}",
        name=FilePath(result.source.name),
        count=Count(result.source.images, "image"),
        size=size_words(result.source),
    )
    learned = sentence(
        "{trained}; all numbers are of {others} others",
        trained=Count(result.trained_on, "image"),
        others=Count(result.held_out),
    )
    guess = sentence(
        "{right} right ({limits}); prior {prior}",
        right=Share(result.adversary.right),
        limits=Interval.shares(result.adversary.low, result.adversary.high),
        prior=Share(result.prior_guess),
    )
    rows = (("Images", images), ("Secret", priors), ("Learned from", learned), ("Adversary", guess))
    return Facts(rows, where="terminal")


def _tiles(result: ImageAuditResult) -> Tiles:
    limits = Interval.shares(result.adversary.low, result.adversary.high)
    others = sentence("all numbers are of {others} others", others=Count(result.held_out))
    return Tiles(
        (
            Tile("Images", Count(result.source.images), size_words(result.source)),
            Tile("Learned from", Count(result.trained_on), others),
            Tile("Guessing the prior", Share(result.prior_guess), "right without looking"),
            Tile("An adversary", Share(result.adversary.right), sentence("{limits} (95% limits)", limits=limits)),
        )
    )


def _sizes(result: ImageAuditResult) -> Sequence[Section]:
    about = Paragraph(
        "Information is the mean log-lift of the true label given whole images that the model had not seen: mutual "
        "information, estimated from below. The p-value is of “the label has nothing to do with the images”."
    )
    columns = (
        TableColumn("Patch"),
        TableColumn("Patches", numeric=True),
        TableColumn(sentence("Information ({unit})", unit=UNIT), numeric=True),
        TableColumn("Chance alone", numeric=True, where="page"),
        TableColumn("p-value", numeric=True),
        TableColumn("Verdict"),
        TableColumn("Model guesses right", numeric=True, where="page"),
        TableColumn("Says most\n(row, column)"),
    )
    sizes = TableBlock(columns, rows_of(_size_row(findings) for findings in result.patches))
    epsilons = [TableColumn(Nats(epsilon, "setting"), numeric=True) for epsilon, _ in result.patches[0].flagged]
    shares = rows_of(
        (Cell(f"{p.size}×{p.size}", style="bold"), *(Share(share) for _, share in p.flagged)) for p in result.patches
    )
    folded = "Share of patches that add more than an epsilon"
    flagged = TableBlock((TableColumn("Patch"), *epsilons), shares, folded=folded, where="page")
    return (Section("What patches of each size give away", (about, sizes, flagged), kind="estimate"),)


def _size_row(p: PatchFindings) -> tuple[Cell | Text | Badge, ...]:
    most = [
        sentence("({row}, {column}): {mean}", row=place.row, column=place.column, mean=Nats(place.mean, unit=False))
        for place in p.leaking_most[:2]
    ]
    information = p.information
    return (
        Cell(f"{p.size}×{p.size}", style="bold"),
        Count(p.patches),
        Cell(Nats(information.value, unit=False), small=Interval.nats(information.low, information.high)),
        Nats(p.null_high, unit=False),
        Chance(p.p_value),
        badge(p.verdict),
        Cell(Share(p.guess.right), small=Interval.shares(p.guess.low, p.guess.high)),
        together(most, ", "),
    )


def _maps(result: ImageAuditResult) -> Sequence[Section]:
    about = sentence(
        "What each patch adds about {secret}, averaged over {count} images that the model had not seen, and over "
        "orders of the patches.",
        secret=result.secret,
        count=Count(result.held_out),
    )
    maps = [
        block
        for findings in result.patches
        for block in (Heading(f"Patches of {findings.size}×{findings.size} pixels"), heat_maps(findings.heat))
    ]
    title = "Where it is said: average heat maps"
    return (Section(title, (Paragraph(about), *maps), kind="estimate", where="page"),)


def _sheet(result: ImageAuditResult) -> Sequence[Section]:
    if not result.sheet:
        return ()
    about = sentence(
        "Originals, and over them what each patch adds about {secret}: the redder, the more. This page shows "
        "originals: it is for you alone.",
        secret=result.secret,
    )
    sheet = contact_sheet(result.sheet, [findings.size for findings in result.patches])
    return (Section("A few images", (Paragraph(about), sheet), kind="estimate", where="page"),)


def _notes(result: ImageAuditResult) -> Sequence[Section]:
    return tuple(notes_section(result.notes))


SECTIONS = (_sizes, _maps, _sheet, _notes)
