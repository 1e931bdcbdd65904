"""Which sources to have removed first, under the strongest adversary."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from tacit import document as doc
from tacit.errors import sentence
from tacit.person.answers.presenting import (
    PersonResult,
    chosen,
    leak,
    limit_fact,
    searched_words,
    shares_section,
)
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

    @property
    def leakage(self) -> float:
        """The expected leakage after the plan."""
        return self.steps[-1].expected if self.steps else self.before

    def document(self) -> doc.Document:
        """The requests in the order to make them, and what each source adds."""
        facts: list[tuple[str, doc.Text]] = [
            ("Case", doc.FilePath(self.case)),
            ("Adversary", sentence("{who}, the strongest", who=self.adversary)),
            *([] if self.budget is None else [("Budget", chosen(self.budget))]),
            ("Plan", searched_words(self.searched)),
            *limit_fact(self.fail_above),
        ]
        sections = (self._steps(), *shares_section(self.source_shares, self.adversary))
        return self.told_as((doc.Facts(facts, where="terminal"), self._tiles()), sections)

    def _tiles(self) -> doc.Tiles:
        spent = chosen(sum(step.cost for step in self.steps))
        budget = "no budget was given" if self.budget is None else sentence("of {b}", b=chosen(self.budget))
        last = [doc.Tile("If all succeed", leak(self.steps[-1].if_removed))] if self.steps else []
        now = doc.Tile("Leakage now", leak(self.before), f"under {self.adversary}")
        after = doc.Tile("Expected after", leak(self.leakage), "some requests fail")
        return doc.Tiles((now, after, *last, doc.Tile("Cost", spent, budget)))

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
                doc.Cell(doc.DataValue(step.source, 40), style="bold"),
                doc.Count(step.records),
                chosen(step.cost),
                doc.Share(step.success),
                leak(step.if_removed),
                leak(step.expected),
            )
            for rank, step in enumerate(self.steps, start=1)
        ]
        words = "If removed: this and all earlier requests succeed. Expected: over which of them do."
        search = f"The plan is {searched_words(self.searched)}. All records were resolved again for every number."
        blocks: tuple[doc.Block, ...] = (
            doc.Paragraph(search, where="page"),
            doc.Figure(curve),
            doc.TableBlock(columns, [now, *rows]),
            doc.Paragraph(words, "note", where="page"),
        )
        return doc.Section(title, blocks)
