"""Whether the claim of a release is true: the answer of ``verify`` for every lens."""

from __future__ import annotations

from dataclasses import dataclass

from tacit import document as doc
from tacit.errors import sentence
from tacit.lenses.glossary import DEFINITIONS
from tacit.release.checks import Check, CheckVerdict
from tacit.release.whole_file import ROW_BY_ROW
from tacit.report.result import Result


@dataclass(frozen=True)
class VerifyResult(Result):
    """Whether the claim of a release is true.

    ``whole_file`` is False where what holds is a claim about single records, and the whole file says more.
    """

    release: str
    against: str | None
    verdict: CheckVerdict
    headline: str
    checks: tuple[Check, ...]
    notes: tuple[str, ...] = ()
    whole_file: bool = True

    def document(self) -> doc.Document:
        """The checks one by one."""
        return doc.Document(
            kind="verification",
            name=sentence("Tacit verification of {release}", release=doc.FilePath(self.release)),
            badge=doc.badge(self.verdict if self.whole_file or self.verdict != "holds" else ROW_BY_ROW),
            headline=self.headline,
            opening=(self._facts(),),
            sections=(self._checks(), *doc.notes_section(self.notes)),
            reading=DEFINITIONS,
            footer=(doc.FilePath(self.release),),
        )

    def _facts(self) -> doc.Facts:
        against = doc.FilePath(self.against) if self.against else "nothing: only what the release shows by itself"
        return doc.Facts((("Release", doc.FilePath(self.release)), ("Against", against)))

    def _checks(self) -> doc.Section:
        outcomes = {None: "not checked", True: "passed", False: "failed"}
        rows = [
            (doc.Cell(each.name, style="bold"), doc.badge(outcomes[each.passed]), each.detail) for each in self.checks
        ]
        doubt = doc.Paragraph("A line that could not be checked counts as doubt, never as passed.", "note")
        unsure = any(each.passed is None for each in self.checks)
        table = doc.TableBlock(("Check", "Outcome", "Detail"), rows)
        return doc.Section("Checks", (table, doubt) if unsure else (table,))
