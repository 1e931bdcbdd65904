"""Which attribute the adversary should verify next."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

from tacit import document as doc
from tacit.document.quantities import part
from tacit.errors import sentence
from tacit.person.answers.presenting import PersonResult, chosen, leak, searched_words
from tacit.person.answers.results import Searched, Verification

_DRAWN, _TOLD = 25, 15
_CERTAINTY = (
    "certainty",
    "How sure the adversary is of its own record, from 0 to 1: the leakage of that record, with its confidences, "
    "measured as if all of it were true. It does not need the truth, so the adversary can compute it. The gain is what "
    "verifying adds to it.",
)


@dataclass(frozen=True)
class PersonVerifyResult(PersonResult):
    """Which attribute the adversary should verify next: what a person should keep from being confirmed.

    ``certainty`` is how sure the adversary is of its own merged record, L(r_c, r_e), before; ``certainty_after`` with
    the chosen set verified.
    """

    kind: ClassVar[str] = "verification by an adversary"
    about: ClassVar[str] = "Tacit on what an adversary verifies next"
    reading: ClassVar[Sequence[tuple[str, str]]] = (_CERTAINTY,)

    case: str
    adversary: str
    certainty: float
    certainty_after: float
    candidates: tuple[Verification, ...]
    budget: float | None
    spent: float
    searched: Searched
    values_shown: bool
    headline: str
    notes: tuple[str, ...]

    def verdict(self) -> doc.Badge:
        """How sure the adversary is; that is neither good nor bad."""
        return doc.Badge("•", f"certainty {part(self.certainty)}", "doubt")

    def sections(self) -> Sequence[doc.Section]:
        """What the adversary gains from every attribute, the chosen ones marked."""
        return (self._candidates(),)

    def tiles(self) -> Sequence[tuple[doc.Text, ...]]:
        """How sure the adversary is and would be, and what that costs it."""
        number = doc.Count(sum(one.chosen for one in self.candidates))
        none = self.budget is None
        return (
            ("Certainty now", leak(self.certainty), f"of {self.adversary} in its own record"),
            ("With the chosen verified", leak(self.certainty_after), searched_words(self.searched)),
            ("Chosen", number, sentence("of {}", doc.Count(len(self.candidates), "attribute"))),
            ("Cost", chosen(self.spent), "no budget was given" if none else sentence("of {}", chosen(self.budget))),
        )

    def _candidates(self) -> doc.Section:
        title = "What the adversary should verify next: keep these from being confirmed"
        if not self.candidates:
            return doc.Section(title, (doc.Paragraph("There is nothing to verify."),))
        words = (
            "The adversary does not know what is true. By checking an attribute it becomes surer of its own record: "
            "keep those that gain most from being confirmed."
        )
        drawn = self.candidates[:_DRAWN]
        # If all belong to one record, as when the merged one is verified, its name says nothing.
        several = len({one.record for one in drawn}) > 1
        series = ("gain", "gain, chosen")
        chart = doc.Bars(
            "Gain in certainty if verified",
            "Gain in certainty if verified",
            [
                doc.BarRow(
                    f"{one.label} {one.value}{', ' + one.record if several else ''}",
                    (doc.Bar(series[one.chosen], one.gain),),
                )
                for one in drawn
            ],
            series=series,
            unit="part",
        )
        return doc.Section(title, (doc.Paragraph(words), doc.Figure(chart), self._table(several)))

    def _table(self, several: bool) -> doc.TableBlock:
        value, record = doc.TableColumn("Value", least=12), doc.TableColumn("Record", None if several else "page")
        columns = ("Label", value, record, ">Confidence", ">Cost", ">Gain", ">Gain per cost")
        rows = [
            doc.Row(
                (
                    doc.DataValue(one.label, 28),
                    doc.DataValue(one.value, 32),
                    doc.DataValue(one.record, 28),
                    chosen(one.confidence),
                    chosen(one.cost),
                    leak(one.gain),
                    doc.Number(one.gain_per_cost),
                ),
                chosen=one.chosen,
            )
            for one in self.candidates
        ]
        return doc.TableBlock(columns, rows, shown=range(_TOLD), more="attributes", mark="◀ next")
