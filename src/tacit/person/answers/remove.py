"""Which sources to have removed first, under the strongest adversary."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

from tacit import document as doc
from tacit.errors import sentence
from tacit.person.answers.presenting import NAME, PersonResult, chosen, leak, searched_words, shares_section
from tacit.person.answers.results import RemovalStep, Searched, SourceShare


@dataclass(frozen=True)
class PersonRemoveResult(PersonResult):
    """Which sources to have removed first, under the strongest adversary."""

    kind: ClassVar[str] = "removals for a person"
    about: ClassVar[str] = "Tacit on removals for a person"
    told: ClassVar[str] = "expected leakage {}"

    case: str
    adversary: str
    before: float
    steps: tuple[RemovalStep, ...]
    source_shares: tuple[SourceShare, ...]
    budget: float | None
    searched: Searched
    fail_above: float | None
    headline: str
    notes: tuple[str, ...]
    letters: tuple[str, ...] = ()

    @property
    def leakage(self) -> float:
        """The expected leakage after the plan."""
        return self.steps[-1].expected if self.steps else self.before

    def sections(self) -> Sequence[doc.Section]:
        """The requests in the order to make them, and what each source adds."""
        return (self._steps(), *self._letters(), *shares_section(self.source_shares, self.adversary))

    def tiles(self) -> Sequence[tuple[doc.Text, ...]]:
        """The leakage now and after, and what that costs."""
        budget = "no budget was given" if self.budget is None else sentence("of {}", chosen(self.budget))
        fails = "some requests fail" if any(step.success < 1 for step in self.steps) else "every request succeeds"
        return (
            ("Leakage now", leak(self.before), f"under '{self.adversary}', the strongest"),
            ("Expected after", leak(self.leakage), fails),
            *([("If all succeed", leak(self.steps[-1].if_removed))] if self.steps else []),
            ("Cost", chosen(sum(step.cost for step in self.steps)), budget),
        )

    def _letters(self) -> Sequence[doc.Section]:
        if not self.letters:
            return ()
        words = (
            "One letter per source, with the name and the one value by which the source knows the person. Fill in what "
            "is in square brackets, read it, and send it."
        )
        table = doc.TableBlock(("Letter",), [(doc.FilePath(path),) for path in self.letters])
        return (doc.Section("The letters", (doc.Paragraph(words), table)),)

    def _steps(self) -> doc.Section:
        title = "Ask for removal in this order"
        if not self.steps:
            return doc.Section(title, (doc.Paragraph("No removal within the budget lowers the leakage."),))
        curve = doc.RemovalCurve(
            self.before, [doc.RemovalStage(s.source, s.if_removed, s.expected) for s in self.steps], self.fail_above
        )
        columns = (">", "Source", ">Records", ">Cost", ">Success", ">Leakage\nif removed", ">Expected")
        now = ("", doc.Cell("now", style="quiet"), "", "", "", leak(self.before), leak(self.before))
        rows = [
            (
                f"{rank}.",
                doc.Cell(doc.DataValue(step.source, NAME), style="bold"),
                doc.Count(step.records),
                chosen(step.cost),
                doc.Share(step.success),
                leak(step.if_removed),
                leak(step.expected),
            )
            for rank, step in enumerate(self.steps, start=1)
        ]
        words = (
            f"The plan is {searched_words(self.searched)}. All records were resolved again for every number. "
            "If removed: this and all earlier requests succeed. Expected: over which of them do."
        )
        return doc.Section(title, (doc.Paragraph(words), doc.Figure(curve), doc.TableBlock(columns, [now, *rows])))
