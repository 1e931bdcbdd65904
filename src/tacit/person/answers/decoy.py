"""Decoys to plant, and the leakage under every adversary with them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import ClassVar

from tacit import document as doc
from tacit.errors import sentence
from tacit.person.answers.presenting import PersonResult, chosen, leak, moved
from tacit.person.answers.results import DecoyRecord

_NOT_FOR_AUTHORITIES = (
    "Decoys are false data, planned because you asked. They are not for banks, insurers or authorities: giving them "
    "false data can be an offence, and no plan here is meant for that."
)


@dataclass(frozen=True)
class PersonDecoyResult(PersonResult):
    """Decoys to plant, and the leakage under every adversary after everything was resolved and measured again."""

    kind: ClassVar[str] = "decoys for a person"
    about: ClassVar[str] = "Tacit on decoys for a person"
    told: ClassVar[str] = "leakage {} with decoys"

    case: str
    adversary: str
    records: tuple[DecoyRecord, ...]
    before: Mapping[str, float]
    predicted: float
    after: Mapping[str, float]
    cost: float
    budget: float
    method: str
    recommended: bool
    reasons: tuple[str, ...]
    fail_above: float | None
    values_shown: bool
    headline: str
    notes: tuple[str, ...]

    @property
    def leakage(self) -> float:
        """The largest leakage under any adversary: with the decoys if they are recommended, without them if not."""
        return max((self.after if self.recommended else self.before).values())

    def verdict(self) -> doc.Badge:
        """Whether to plant them, before all else."""
        return super().verdict() if self.recommended else doc.badge("decoys not recommended")

    def warnings(self) -> Sequence[doc.Block]:
        """Whom decoys are not for, and whether values can be read."""
        return (doc.Paragraph(_NOT_FOR_AUTHORITIES, "warning"), *super().warnings())

    def sections(self) -> Sequence[doc.Section]:
        """The records to plant, and everything measured again with them."""
        return (self._records(), self._changes())

    def tiles(self) -> Sequence[tuple[doc.Text, ...]]:
        """What the plan is against, and what it costs."""
        return (
            ("Planned against", doc.DataValue(self.adversary, 24)),
            ("Predicted", leak(self.predicted), sentence("measured: {}", leak(self.after.get(self.adversary)))),
            ("Cost", chosen(self.cost), sentence("of a budget of {}", chosen(self.budget))),
            ("Records to plant", doc.Count(len(self.records)), self.method),
        )

    def _records(self) -> doc.Section:
        title = "Records to plant" if self.recommended else "The plan that is not recommended"
        if not self.records:
            return doc.Section(title, (doc.Paragraph("None."),))
        columns = (">", "Kind", "Links by", "False in it", ">Cost")
        rows = [
            (f"{rank}.", record.kind, _pairs_in_words(record.links), _pairs_in_words(record.false), chosen(record.cost))
            for rank, record in enumerate(self.records, start=1)
        ]
        note = "Self: false data beside the person's own record. Linkage: a record that ties it to somebody else's."
        return doc.Section(title, (doc.TableBlock(columns, rows), doc.Paragraph(note, "note")))

    def _changes(self) -> doc.Section:
        rows = [
            doc.Row(
                (
                    doc.DataValue(name, 32),
                    leak(was),
                    leak(self.after.get(name)),
                    moved(self.after[name] - was) if name in self.after else "",
                ),
                chosen=name == self.adversary,
            )
            for name, was in self.before.items()
        ]
        columns = ("Adversary", ">Before", ">After", ">Change")
        table = doc.TableBlock(columns, rows, mark="◀ planned against")
        measured = [doc.Change(name, was, self.after[name]) for name, was in self.before.items() if name in self.after]
        predicted = sentence("The plan had predicted {} under '{}'.", leak(self.predicted), self.adversary)
        words = "An adversary that corrects errors, or takes the commonest value, may not be misled at all."
        blocks: list[doc.Block] = [
            doc.Figure(doc.Changes(measured, self.fail_above), (table,)),
            doc.Paragraph(predicted),
            doc.Paragraph(words, "note"),
        ]
        if self.reasons:
            blocks += [doc.Heading("Why" if self.recommended else "Why not"), doc.Bullets(self.reasons)]
        return doc.Section("Everything resolved and measured again with the decoys in it", blocks)


def _pairs_in_words(pairs: tuple[tuple[str, str], ...]) -> str:
    return doc.listed([f"{label} {value}" for label, value in pairs]) or "nothing"
