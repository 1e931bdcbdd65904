"""The answer of ``attack``: would an adversary still win?"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from tacit import document as doc
from tacit.errors import sentence
from tacit.lenses.adversaries import guesses_right
from tacit.lenses.glossary import DEFINITIONS
from tacit.release.certificate import AdversaryScore
from tacit.report.result import Result

AttackVerdict = Literal[
    "not detectably better than the prior",
    "within the promise",
    "promise broken",
    "within the estimate",
    "beyond the estimate",
]


@dataclass(frozen=True)
class AttackResult(Result):
    """Would an adversary still win?

    ``guessing_bound`` is what the certificate promises of every record, or, where ``bound_kind`` is "estimate", what
    a learned release only estimates.
    """

    release: str
    against: str
    trained_on: int
    tested_on: int
    prior_guess: float
    best_before: float
    best_after: float
    gain_before: float
    gain_after: float
    guessing_bound: float
    optimal_before: float
    optimal_after: float
    adversaries: tuple[AdversaryScore, ...]
    verdict: AttackVerdict
    headline: str
    notes: Sequence[str] = ()
    bound_kind: Literal["promise", "estimate"] = "promise"

    def document(self) -> doc.Document:
        """What was promised, and how often each adversary was right."""
        return doc.Document(
            kind="attack",
            name=sentence("Tacit attack on {release}", release=doc.FilePath(self.release)),
            badge=doc.badge(self.verdict),
            headline=self.headline,
            opening=(self._facts(), self._tiles()),
            sections=(self._guesses(), *doc.notes_section(self.notes)),
            reading=DEFINITIONS,
            footer=(sentence("{a} against {b}", a=doc.FilePath(self.release), b=doc.FilePath(self.against)),),
        )

    @property
    def _bound(self) -> tuple[str, str]:
        if self.bound_kind == "promise":
            return "Promise", "no adversary can be right more often"
        return "Estimate", "none should be right more often; not promised"

    def _facts(self) -> doc.Facts:
        name, words = self._bound
        prior = sentence("{share} right: the commonest secret, without looking", share=doc.Share(self.prior_guess))
        rows = (
            ("Release", sentence("{a}, against {b}", a=doc.FilePath(self.release), b=doc.FilePath(self.against))),
            ("Guessing the prior", prior),
            (name, sentence("{share}: {words}", share=doc.Share(self.guessing_bound), words=words)),
        )
        return doc.Facts(rows, where="terminal")

    def _tiles(self) -> doc.Tiles:
        name, words = self._bound
        return doc.Tiles(
            (
                doc.Tile("Guessing the prior", doc.Share(self.prior_guess), "right without looking"),
                doc.Tile("Best adversary before", doc.Share(self.best_before), "of secrets right"),
                doc.Tile("Best adversary after", doc.Share(self.best_after), "lower is safer"),
                doc.Tile(name, doc.Share(self.guessing_bound), words),
            )
        )

    def _guesses(self) -> doc.Section:
        trained = sentence(
            "Trained on {trained} records of {table}, tested on {tested} others. Limits are exact, 95%. Retrained: it "
            "saw the release beside the secrets while it trained, the strongest case.",
            trained=doc.Count(self.trained_on),
            tested=doc.Count(self.tested_on),
            table=doc.FilePath(self.against),
        )
        best = sentence(
            "The best any adversary could do knowing every share of the table: {before} before, {after} after.",
            before=doc.Share(self.optimal_before),
            after=doc.Share(self.optimal_after),
        )
        marks = (("prior", self.prior_guess), (self.bound_kind, self.guessing_bound))
        blocks = (doc.Paragraph(trained), guesses_right(self.adversaries, marks=marks), doc.Paragraph(best, "note"))
        return doc.Section("How often is the secret guessed right? Higher is riskier.", blocks)
