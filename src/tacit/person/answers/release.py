"""What pending releases would add, and the best choice of all of them together."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import ClassVar

from tacit import document as doc
from tacit.document.quantities import part
from tacit.errors import Sentence, sentence
from tacit.person.answers.presenting import PersonResult, leak, moved
from tacit.person.answers.results import ReleaseOption, ReleasePlan


@dataclass(frozen=True)
class PersonReleaseResult(PersonResult):
    """What pending releases would add, option by option, and the best choice of all of them together."""

    kind: ClassVar[str] = "release about a person"
    about: ClassVar[str] = "Tacit on releases about a person"
    told: ClassVar[str] = "leakage {} at best"

    case: str
    before: Mapping[str, float]
    options: tuple[ReleaseOption, ...]
    best: tuple[ReleasePlan, ...]
    fail_above: float | None
    headline: str
    notes: tuple[str, ...]

    @property
    def leakage(self) -> float:
        """The largest leakage under any adversary after the best choice."""
        return max(plan.after for plan in self.best)

    def sections(self) -> list[doc.Section]:
        """Every option under every adversary, and the choice that leaks least."""
        return [*self._options(), self._best()]

    def tiles(self) -> Sequence[tuple[doc.Text, ...]]:
        """The leakage now and after the best choice."""
        now = doc.listed([f"{part(value)} under '{doc.shorten(name, 24)}'" for name, value in self.before.items()])
        releases = doc.Count(len({option.slot for option in self.options}))
        return (
            ("Largest leakage now", leak(max(self.before.values())), now),
            ("After the best choice", leak(self.leakage), "lower is safer"),
            ("Releases", releases, sentence("{} together", doc.Count(len(self.options), "option"))),
        )

    def _best(self) -> doc.Section:
        columns = ("Adversary", "Choose", ">Before", ">After", ">Worst choice", "Search")
        rows = [
            (
                doc.DataValue(plan.adversary, 32),
                doc.Cell(
                    "; ".join(f"{doc.printable(slot)}: {doc.printable(o)}" for slot, o in plan.choices.items()),
                    style="bold",
                ),
                leak(plan.before),
                doc.Cell(leak(plan.after), style="bold"),
                leak(plan.worst),
                _searched(plan),
            )
            for plan in self.best
        ]
        changes = doc.Changes([doc.Change(p.adversary, p.before, p.after) for p in self.best], self.fail_above)
        return doc.Section("The choice that leaks least", (doc.TableBlock(columns, rows), doc.Figure(changes)))

    def _options(self) -> list[doc.Section]:
        if not self.options:
            return []
        bars = [
            doc.BarRow(
                f"{option.slot}: {option.option}",
                (doc.Bar("leakage after", after, null=self.before.get(adversary)),),
                note=adversary,
            )
            for option in self.options
            for adversary, after in option.after.items()
        ]
        chart = doc.Bars(
            "Leakage after each option",
            "Leakage; higher is riskier",
            bars,
            series=("leakage after",),
            marks=doc.limit_lines(self.fail_above),
            unit="part",
            whole=True,
            null_label="before",
        )
        labels = doc.TableColumn("Labels", where="page")
        columns = ("Release", "Option", labels, "Adversary", ">After", ">Adds", "Would join with")
        table = doc.TableBlock(columns, [row for option in self.options for row in _option_rows(option)])
        note = (
            "An option that adds less than nothing brings wrong data into the merged record. Counting on that is a "
            "decoy, not protection."
        )
        words = doc.Paragraph(
            "Leakage after the one option, nothing else released. The dark line is where it stands now.", where="page"
        )
        blocks = (words, doc.Figure(chart, (table,)), doc.Paragraph(note, "note", where="page"))
        return [doc.Section("Leakage after each option. Higher is riskier.", blocks)]


def _option_rows(option: ReleaseOption) -> list[tuple[doc.Text | doc.Cell, ...]]:
    """One row per adversary; the first also describes the option itself."""
    rows: list[tuple[doc.Text | doc.Cell, ...]] = []
    for adversary, after in option.after.items():
        first = not rows
        rows.append(
            (
                doc.DataValue(option.slot, 24) if first else "",
                doc.Cell(doc.DataValue(option.option, 32), style="bold") if first else "",
                doc.listed(option.labels, limit=6) if first else "",
                doc.DataValue(adversary, 24),
                leak(after),
                moved(option.added[adversary]),
                (doc.listed(option.joins, limit=6) or "nothing") if first else "",
            )
        )
    return rows


def _searched(plan: ReleasePlan) -> Sentence:
    exact = plan.searched == "exact"
    return sentence("best of {}, exact" if exact else "best found of {}", doc.Count(plan.plans))
