"""The answer of ``audit`` about images: what they give away about a label, and where."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from tacit import document as doc
from tacit.document.quantities import share
from tacit.errors import sentence, together
from tacit.lenses.coded.answers import coding_advice
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
    collections. Nothing is certified about a single image or a single patch.
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
    labels: str | None = None

    @property
    def largest_risk(self) -> float:
        """The largest mean leakage of a patch, over all sizes of patches."""
        return max(findings.leaking_most[0].mean for findings in self.patches)

    def document(self) -> doc.Document:
        """What patches of each size give away, and where in the image."""
        return doc.Document(
            kind="audit of images",
            name=sentence("Tacit audit of images in {}, secret {}", doc.FilePath(self.source.name), self.secret),
            badge=doc.badge(self.verdict),
            headline=self.headline,
            opening=(_tiles(self),),
            sections=[section for write in SECTIONS for section in write(self)],
            reading=DEFINITIONS,
            footer=(doc.FilePath(self.source.name), f"seed {self.random_state}"),
        )


def _tiles(result: ImageAuditResult) -> doc.Tiles:
    priors = [f"{doc.shorten(s.label, 24)} ({share(s.prior)})" for s in result.secrets]
    guess = result.adversary
    return doc.Tiles(
        (
            ("Images", doc.Count(result.source.images), f"of {size_words(result.source)}"),
            ("Secret", result.secret, f"prior: {doc.listed(priors)}"),
            (
                "Learned from",
                doc.Count(result.trained_on, "image"),
                f"numbers are about {result.held_out:,} others",
            ),
            ("Guessing the prior", doc.Share(result.prior_guess), "right without looking"),
            ("An adversary", doc.Share(guess.right), doc.Interval.shares(guess.low, guess.high, "95% limits")),
        )
    )


def _sizes(result: ImageAuditResult) -> Sequence[doc.Section]:
    about = (
        "How many times as likely a whole image, which the model had not seen, makes its true label, on average "
        "(geometric); its logarithm is mutual information, estimated from below. The p-value is that of “the label has "
        "nothing to do with the images”."
    )
    chance, guesses = doc.TableColumn(">Chance alone", "page"), doc.TableColumn(">Model guesses right", "page")
    information = doc.TableColumn(sentence(">Information ({})", doc.UNIT), "page")
    times = ">True label,\ntimes as likely"
    columns = (
        "Patch",
        ">Patches",
        times,
        information,
        chance,
        ">p-value",
        "Verdict",
        guesses,
        "Says most\n(row, column)",
    )
    sizes = doc.TableBlock(columns, [_size_row(findings) for findings in result.patches])
    epsilons = [sentence(">{}", doc.Nats(epsilon, "setting")) for epsilon, _ in result.patches[0].flagged]
    shares = [
        (doc.Cell(f"{p.size}×{p.size}", style="bold"), *(doc.Share(flagged) for _, flagged in p.flagged))
        for p in result.patches
    ]
    folded = "Share of patches that add more than an epsilon"
    flagged = doc.TableBlock(("Patch", *epsilons), shares, folded=folded, where="page")
    blocks = (doc.Paragraph(about), sizes, flagged)
    return (doc.Section("What patches of each size give away", blocks, kind="estimate"),)


def _size_row(p: PatchFindings) -> tuple[doc.InCell, ...]:
    most = [
        sentence("({}, {}): {} times", place.row, place.column, doc.LiftFactor(place.mean))
        for place in p.leaking_most[:2]
    ]
    information = p.information
    return (
        doc.Cell(f"{p.size}×{p.size}", style="bold"),
        doc.Count(p.patches),
        doc.Cell(doc.LiftFactor(information.value), doc.factor_limits(information.low, information.high)),
        doc.Nats(information.value, unit=False),
        doc.Nats(p.null_high, unit=False),
        doc.Chance(p.p_value),
        doc.badge(p.verdict),
        doc.Cell(doc.Share(p.guess.right), doc.Interval.shares(p.guess.low, p.guess.high)),
        together(most, ", "),
    )


def _maps(result: ImageAuditResult) -> Sequence[doc.Section]:
    about = sentence(
        "What each patch adds about {}, averaged over {} images that the model had not seen, and over orders of the "
        "patches.",
        result.secret,
        doc.Count(result.held_out),
    )
    maps = [
        block
        for findings in result.patches
        for block in (doc.Heading(f"Patches of {findings.size}×{findings.size} pixels"), heat_maps(findings.heat))
    ]
    title = "Where it shows: average heat maps"
    return (doc.Section(title, (doc.Paragraph(about), *maps), kind="estimate", where="page"),)


def _sheet(result: ImageAuditResult) -> Sequence[doc.Section]:
    if not result.sheet:
        return ()
    about = (
        f"Originals, and over them what each patch adds about {result.secret}: the redder, the more. This page shows "
        "originals: it is for you only."
    )
    sheet = contact_sheet(result.sheet, [findings.size for findings in result.patches])
    return (doc.Section("A few images", (doc.Paragraph(about), sheet), kind="estimate", where="page"),)


def _notes(result: ImageAuditResult) -> Sequence[doc.Section]:
    return tuple(doc.notes_section(result.notes))


def _next(result: ImageAuditResult) -> Sequence[doc.Section]:
    what = "A release in codes writes one of a few mean pictures for each image,"
    fields = {"labels": result.labels, "secret": result.secret}
    return (coding_advice(what, result.source.name, result.prior_guess, **fields),)


SECTIONS = (_sizes, _next, _maps, _sheet, _notes)
