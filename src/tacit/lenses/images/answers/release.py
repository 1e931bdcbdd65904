"""The answer of ``protect`` about images: a release that was written, and its certificate."""

from __future__ import annotations

from dataclasses import dataclass, field

from tacit import document as doc
from tacit.errors import sentence
from tacit.lenses.adversaries import guesses_right
from tacit.lenses.bench.answers import UNTOUCHED
from tacit.lenses.images.answers.shared import DEFINITIONS, contact_sheet, heat_maps, released_images, size_words
from tacit.lenses.images.results import ImageFacts, ShownImage
from tacit.lenses.papers import Rows, Sections, assumptions, certificate_section, claim
from tacit.lenses.released import ReleaseResult
from tacit.lenses.worth import kept_section, use_tile
from tacit.release.certificate import ImageCertificate, best_guesses

_VACUOUS = "vacuous: publishing the label would keep to it"


@dataclass(frozen=True)
class ImageProtectResult(ReleaseResult):
    """A release of images that was written.

    ``sheet`` holds only obfuscated images, unless ``private``: then the page is the owner's, and shows originals.
    """

    source: ImageFacts
    certificate: ImageCertificate
    headline: str
    notes: tuple[str, ...]
    sheet: tuple[ShownImage, ...] = field(default=(), repr=False)
    private: bool = False

    def document(self) -> doc.Document:
        """What was noised, what adversaries still guess, and what the bound is worth.

        Guarantees
        ----------
        Unless ``private``, the page shows the certificate, the headline and released images: no original, and nothing
        learned but what the certificate says with two digits. Notes and path are only for the terminal.
        """
        whose = "For the owner only: r" if self.private else "Tacit r"
        return doc.Document(
            kind="release of images",
            name=f"{whose}elease of images, secret {self.certificate.secret}",
            badge=doc.badge(_verdict(self.certificate)),
            headline=self.headline,
            opening=(claim(self.certificate), _tiles(self)),
            sections=[section for write in SECTIONS for section in write(self)],
            reading=DEFINITIONS,
            footer=(self.certificate.output.file,),
        )


def _verdict(certificate: ImageCertificate) -> str:
    """A release that holds originals is red, whatever adversaries did."""
    if certificate.flagged_images < 1:
        return UNTOUCHED
    after = certificate.verdict_after
    return after if after.startswith("still") else "estimated, not certified"


def _epsilon(certificate: ImageCertificate) -> doc.Nats:
    return doc.Nats(certificate.epsilon, "setting")


def _tiles(result: ImageProtectResult) -> doc.Tiles:
    c = result.certificate
    before, best = best_guesses(c.adversaries)
    largest, total = doc.Number(c.delta.largest), doc.Number(c.delta.total)
    one, every = (": vacuous" if each else "" for each in (c.delta.largest_vacuous, c.delta.vacuous))
    bound = sentence("at most {} per patch{}; {} in total{}", largest, one, total, every)
    noised = sentence("of {}×{}; {} of images have one", c.patch, c.patch, doc.Share(c.flagged_images))
    return doc.Tiles(
        (
            result.place_tile(f"names and order: {c.names}"),
            doc.Tile("Patches noised", doc.Share(c.flagged_share), noised),
            doc.Tile("Epsilon", _epsilon(c), "per patch"),
            doc.Tile("Delta, if densities were right", bound, where="terminal"),
            doc.Tile("Guessing the prior", doc.Share(c.prior), "right without looking"),
            doc.Tile("Best adversary", doc.Share(best), sentence("{} before", doc.Share(before))),
            *([] if c.use is None else [use_tile(c.use)]),
            doc.Tile("Certified of one image", "nothing", "an estimate chose the patches"),
        )
    )


def _guesses(result: ImageProtectResult) -> Sections:
    c = result.certificate
    about = sentence(
        "On {}, each guessed by adversaries that learned from the other two thirds; always guessing the commonest is "
        "right {} of the time. The limits are exact, 95%. Retrained: it learned from released images and their true "
        "labels.",
        doc.Count(c.tested_on, "image"),
        doc.Share(c.prior),
    )
    blocks = (
        doc.Paragraph(about),
        guesses_right(c.adversaries, marks=[("prior", c.prior)]),
        doc.Paragraph("A failed attack proves nothing; others may see what these do not.", "note"),
    )
    return (doc.Section(f"How often is {c.secret} guessed right?", blocks),)


def _worth(result: ImageProtectResult) -> Sections:
    return kept_section(likeness=result.certificate.likeness)


def _sheet(result: ImageProtectResult) -> Sections:
    c = result.certificate
    if result.private:
        about = (
            f"Originals, what each patch adds about {c.secret} before anything was noised, and what was released. Do "
            "not publish this page."
        )
        title, figure = "A few images", contact_sheet(result.sheet, [c.patch])
    else:
        about = "The first of them. Every image has noise."
        if c.flagged_images < 1:
            about = sentence(
                "The first of those with noise. {} of the images have none: they are released unchanged, and not shown "
                "here.",
                doc.Share(1 - c.flagged_images),
            )
        title, figure = "Images of the release", released_images(result.sheet)
    return (doc.Section(title, (doc.Paragraph(about), figure), where="page"),)


def _maps(result: ImageProtectResult) -> Sections:
    c = result.certificate
    about = (
        f"What each patch of {c.patch}×{c.patch} pixels adds about {c.secret}, averaged over images, with two digits."
    )
    title = "Where it showed: average heat maps of the originals"
    return (doc.Section(title, (doc.Paragraph(about), heat_maps(c.heat)), kind="estimate", where="page"),)


def _bound(result: ImageProtectResult) -> Sections:
    c, delta = result.certificate, result.certificate.delta
    one = sentence("one patch, beyond {}", _epsilon(c))
    together = doc.Nats(delta.total_epsilon, "setting")
    every = sentence("all {} patches together, beyond {}", doc.Count(c.patches), together)
    largest = sentence("{} at most", doc.Number(delta.largest))
    rows = (
        (one, largest, _VACUOUS if delta.largest_vacuous else "of the worst patch"),
        (every, doc.Number(delta.total), _VACUOUS if delta.vacuous else "a bound, if the densities were right"),
        ("of that, what no noise removes", doc.Number(delta.floor), "the noise itself reveals something"),
    )
    table = doc.TableBlock(("If the learned densities were right", ">delta", "Worth"), rows)
    return (doc.Section("What the bound is worth", (table,), where="page"),)


def _certificate(result: ImageProtectResult) -> Sections:
    c = result.certificate
    scale = sentence(
        "{} of the full range of a pixel; the diameter of a patch is {}",
        doc.Number(c.scale, "setting"),
        doc.Number(c.delta.diameter, "setting"),
    )
    rows: Rows = [
        ("secret", doc.DataValue(c.secret, 60)),
        ("kind", "images: what was done is certain, what it hides is estimated"),
        ("size", size_words(result.source)),
        ("epsilon", sentence("{} per patch, patches in the order “{}”", _epsilon(c), c.order)),
        ("scale of the noise", scale),
        ("mean squared change", sentence("{} squared grey levels per pixel", doc.Number(c.mean_square))),
        ("labels released", doc.listed(c.kept_labels) or "none"),
        ("names of files", c.names),
    ]
    check = (
        "Anyone with the originals and their labels can check what was done: Tacit verifies this release against them."
    )
    return certificate_section(c, rows, check=check)


def _notes(result: ImageProtectResult) -> Sections:
    return tuple(doc.notes_section(result.notes, where=None if result.private else "terminal"))


SECTIONS = (_guesses, _worth, _sheet, _maps, _bound, assumptions, _certificate, _notes)
