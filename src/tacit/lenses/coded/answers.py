"""The answer of ``protect`` about records in codes: what was written, what is proved, what a reader keeps."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from tacit import document as doc
from tacit.errors import Command, sentence
from tacit.lenses.adversaries import guesses_right
from tacit.lenses.papers import Rows, Sections, assumptions, certificate_section, claim, notes
from tacit.lenses.released import ReleaseResult
from tacit.lenses.worth import coherence_words, kept_section, use_tile
from tacit.release.certificate import CodedCertificate
from tacit.release.claims import share_up

# Codes that are shown, those with most people first.
_SHOWN = 40
# The ceiling that an audit proposes is so far above the prior: below the prior there is none.
_ABOVE = 0.08


def coding_advice(what: str, source: str, prior: float, **fields: str | None) -> doc.Section:
    """What to do about records that give a secret away: the command for a release in codes; ``what`` it writes."""
    settings = {name: field for name, field in fields.items() if field is not None}
    command = Command("protect", source, **settings, ceiling=round(min(prior + _ABOVE, 0.99), 2), out="release")
    words = "{what} and proves a ceiling for every reader, a little above the prior: {command}"
    return doc.Section("What to do", (doc.Paragraph(sentence(words, what=what, command=command)),))


@dataclass(frozen=True)
class ShownCode:
    """One code of a release: its number, how many carry it, and what is written for it (for an image, its pixels)."""

    code: int
    people: int
    words: str = ""
    picture: NDArray[np.uint8] | None = field(default=None, repr=False)


@dataclass(frozen=True)
class CodedProtectResult(ReleaseResult):
    """A release in codes that was written; ``codes`` are its codes, those with most people first."""

    certificate: CodedCertificate
    headline: str
    codes: tuple[ShownCode, ...] = field(repr=False)
    notes: tuple[str, ...]

    def document(self) -> doc.Document:
        """The ceiling for every adversary, what a reader keeps, the codes, and what the claim rests on.

        Guarantees
        ----------
        The page shows the certificate and what is in the release: no original.
        """
        return doc.Document(
            kind=f"release of {self.certificate.medium}",
            name=f"Tacit release of {self.certificate.medium} in codes, secret {self.certificate.secret}",
            badge=doc.badge("proved"),
            headline=self.headline,
            opening=(claim(self.certificate), _tiles(self)),
            sections=[section for write in SECTIONS for section in write(self)],
            reading=DEFINITIONS,
            footer=(self.certificate.output.file,),
        )


DEFINITIONS: tuple[tuple[str, str], ...] = (
    ("code", "One of a few pictures or topics. All that is released about a record is which one it got."),
    ("ceiling", "How often anybody, however clever, can guess the secret right from one released code, at most."),
    ("told", "The share of the differences between records that their codes still show."),
    ("prior", "How often the commonest secret occurs: always guessing it is right this often."),
)


def _tiles(result: CodedProtectResult) -> doc.Tiles:
    c = result.certificate
    tiles = [
        result.place_tile(f"order: {c.order}"),
        doc.Tile(
            "Ceiling for every adversary", share_up(c.ceiling), sentence("{} confidence", doc.Share(c.confidence))
        ),
        doc.Tile("Guessing the prior", doc.Share(c.prior), "right without looking"),
        doc.Tile("Codes", doc.Count(c.codes), sentence("{} or more share each", doc.Count(c.smallest))),
        doc.Tile("Differences shown", doc.Share(max(c.told, 0.0)), "of all between held-out records"),
    ]
    if c.use is not None:
        tiles.append(use_tile(c.use))
    if c.topics is not None:
        coherence, chance = coherence_words(c.topics)
        tiles.append(doc.Tile("Coherence of topics", coherence, f"the same words by chance {chance}; at most 1"))
    return doc.Tiles(tuple(tiles))


def _worth(result: CodedProtectResult) -> Sections:
    c = result.certificate
    return kept_section(likeness=c.likeness, topics=c.topics)


def _codes(result: CodedProtectResult) -> Sections:
    many = result.certificate.medium
    one = many.removesuffix("s")
    shown = result.codes[:_SHOWN]
    if result.certificate.medium == "images":
        words = [f"code {each.code}, {each.people:,} {many}" for each in shown]
        row = doc.SheetRow("", [each.picture for each in shown], words)
        about = f"What is released: each {one} is one of these. The most frequent first."
        figure: doc.Block = doc.Figure(doc.ContactSheet((row,), width=96))
        return (doc.Section("The codes", (doc.Paragraph(about), figure), where="page"),)
    if many == "vectors":
        about = (
            "How many vectors have each code. All that is released about a vector is its code, and the mean of all "
            "that share it."
        )
        counts = [(doc.Count(each.code), doc.Count(each.people)) for each in shown]
        counted = doc.TableBlock((">Code", ">Vectors"), counts)
        return (doc.Section("The codes", (doc.Paragraph(about), counted), where="page"),)
    rows = [(doc.Count(each.code), doc.Count(each.people), doc.DataValue(each.words, 120)) for each in shown]
    about = f"What is released: each {one} is written as the words of its topic. The most frequent first."
    table = doc.TableBlock((">Topic", f">{many.capitalize()}", "Words"), rows)
    return (doc.Section("The codes", (doc.Paragraph(about), table)),)


def _guesses(result: CodedProtectResult) -> Sections:
    c = result.certificate
    about = (
        "Before: a linear reader of the originals. After: the same reader, shown what codes show. Retrained: a table "
        "of how often each code has each secret, which is all that anybody can learn from codes. Half of those that "
        "the code was not made from taught them, the other half tested them. The ceiling holds for every other "
        "adversary as well."
    )
    figure = guesses_right(c.adversaries, marks=[("prior", c.prior), ("ceiling", c.ceiling)])
    return (doc.Section(f"How often is {c.secret} guessed right?", (doc.Paragraph(about), figure)),)


def _certificate(result: CodedProtectResult) -> Sections:
    c = result.certificate
    rows: Rows = [
        ("kind", f"{c.medium} in codes: counted and proved on a held-out part"),
        ("secret", doc.DataValue(c.secret, 60)),
        (
            "epsilon",
            sentence("{}; proved of this code: {}", doc.Nats(c.epsilon, "setting"), doc.Nats(c.attained_epsilon)),
        ),
        ("claimed of", f"{c.medium}, each by itself" if c.group is None else f"each {c.group}"),
        ("made from, proved on", sentence("{}, {}", doc.Count(c.designed_on), doc.Count(c.proved_on))),
        ("code left to chance", doc.Share(c.mixed)),
    ]
    check = "Anyone with the originals and the owner's folder can check it: Tacit makes every code again."
    return certificate_section(c, rows, check=check)


SECTIONS = (_codes, _worth, _guesses, assumptions, _certificate, notes)
