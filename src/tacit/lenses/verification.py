"""Whether the claim of a release is true: the answer of ``verify`` for every lens."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

from tacit import document as doc
from tacit.errors import sentence
from tacit.lenses.glossary import DEFINITIONS
from tacit.release.checks import Check, CheckVerdict
from tacit.release.whole_file import ROW_BY_ROW
from tacit.report.result import Result

_OUTCOMES = {None: "not checked", True: "passed", False: "failed"}
# How many of the lines that did not pass are shown at first.
_SHOWN = 5


@dataclass(frozen=True)
class VerifyResult(Result):
    """Whether the claim of a release is true.

    ``whole_file`` is False if only the claim about single records holds, and the whole file says more.
    """

    release: str
    against: str | None
    verdict: CheckVerdict
    headline: str
    checks: tuple[Check, ...]
    notes: tuple[str, ...] = ()
    whole_file: bool = True

    def document(self) -> doc.Document:
        """The verdict and what did not pass; folded, the checks one by one."""
        return doc.Document(
            kind="verification",
            name=sentence("Tacit verification of {release}", release=doc.FilePath(self.release)),
            badge=doc.badge(self.verdict if self.whole_file or self.verdict != "holds" else ROW_BY_ROW),
            headline=self.headline,
            opening=(self._facts(),),
            sections=(self._outcome(), *(replace(each, folded=True) for each in self._folded())),
            reading=DEFINITIONS,
            footer=(doc.FilePath(self.release),),
        )

    def _facts(self) -> doc.Facts:
        against = doc.FilePath(self.against) if self.against else "nothing: only what the release shows by itself"
        return doc.Facts((("Release", doc.FilePath(self.release)), ("Against", against)))

    def _outcome(self) -> doc.Section:
        """What passed in one sentence, and line by line what did not."""
        passed = [each.name for each in self.checks if each.passed]
        blocks: list[doc.Block] = []
        if len(passed) < len(self.checks):
            open_first = sorted((each for each in self.checks if not each.passed), key=lambda each: each.passed is None)
            table = _table(open_first)
            blocks.append(replace(table, shown=range(_SHOWN), more="checks"))
        if any(each.passed is None for each in self.checks):
            blocks.append(doc.Paragraph("A line that could not be checked counts as doubt, never as passed.", "note"))
        if passed:
            blocks.append(doc.Paragraph(f"{', '.join(passed)}.", label=f"Passed ({len(passed)} of {len(self.checks)})"))
        return doc.Section("What was checked", blocks)

    def _folded(self) -> Iterator[doc.Section]:
        yield doc.Section("Every check", (_table(self.checks),))
        yield from doc.notes_section(self.notes)


def _table(checks: Sequence[Check]) -> doc.TableBlock:
    rows = [(doc.Cell(each.name, style="bold"), doc.badge(_OUTCOMES[each.passed]), each.detail) for each in checks]
    return doc.TableBlock(("Check", "Outcome", "Detail"), rows)
