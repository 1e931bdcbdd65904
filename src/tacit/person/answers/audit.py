"""How much of a person's file each adversary can piece together, and what to do about it."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

from tacit import document as doc
from tacit.document.quantities import part, setting
from tacit.errors import sentence
from tacit.person.answers.presenting import (
    MEANINGS,
    PersonResult,
    as_sentence,
    chosen,
    finding_blocks,
    ladder,
    leak,
    records_tile,
    shares_section,
    source_table,
)
from tacit.person.answers.results import Action, AuditChanges, Finding, PersonSource, Rung, SourceShare
from tacit.person.answers.since import since_section

_ACTIONS_SHOWN = 10


@dataclass(frozen=True)
class PersonAuditResult(PersonResult):
    """How much of a person's file each adversary can piece together, and what to do about it.

    ``strongest`` names the adversary who knows most; ``source_shares`` and ``actions`` are under that adversary.
    ``together`` is the share of the person's file that all their records hold, whether or not anybody joins them.
    ``changes`` is what changed since the last audit, if that was asked for and there was one.
    """

    kind: ClassVar[str] = "audit of a person"
    about: ClassVar[str] = "Tacit audit of a person"

    case: str
    labels: tuple[str, ...]
    facts: int
    sources: tuple[PersonSource, ...]
    rungs: tuple[Rung, ...]
    findings: tuple[Finding, ...]
    strongest: str
    source_shares: tuple[SourceShare, ...]
    actions: tuple[Action, ...]
    fail_above: float | None
    values_shown: bool
    headline: str
    notes: tuple[str, ...]
    together: float = 0.0
    changes: AuditChanges | None = None

    @property
    def leakage(self) -> float:
        """The largest leakage under any adversary of the case."""
        return max(rung.leakage for rung in self.rungs)

    def sections(self) -> list[doc.Section]:
        """The ladder, the record that leaks most, what each source adds, and what to do."""
        return [section for write in SECTIONS for section in write(self)]

    def tiles(self) -> Sequence[tuple[doc.Text, ...]]:
        """The strongest adversary, the person and the records."""
        top = next(rung for rung in self.rungs if rung.adversary == self.strongest)
        return (
            ("Recall", doc.Share(top.best_recall), f"of the file is known to '{top.adversary}'"),
            ("Leakage", leak(top.leakage), f"under '{top.adversary}'"),
            ("Precision", doc.Share(top.precision), "of the record that leaks most is right"),
            ("Together", doc.Share(self.together), "of the file is in all records of the person"),
            ("Person", doc.Count(self.facts, "fact"), f"with the labels {doc.listed(self.labels)}"),
            records_tile(self.sources),
        )

    @property
    def source_names(self) -> list[str]:
        """The names of the sources."""
        return [source.name for source in self.sources]


def _since(audit: PersonAuditResult) -> Sequence[doc.Section]:
    return since_section(audit.changes)


def _ladder(audit: PersonAuditResult) -> Sequence[doc.Section]:
    rungs = audit.rungs
    rows = [(r.adversary, f"cost {setting(r.cost)}", r.leakage, r.precision, r.recall) for r in rungs]
    words = (
        "Each adversary has all the sources; the table says what it does with them. Of the records it ends up "
        "with, the one that leaks most is measured."
    )
    blocks: list[doc.Block] = [
        doc.Paragraph(words, where="page"),
        doc.Figure(ladder(rows, limit=audit.fail_above), (_rung_table(audit),)),
        MEANINGS,
    ]
    if len({rung.cost for rung in rungs if math.isfinite(rung.cost)}) > 1:
        points = [doc.CostPoint(r.adversary, r.cost, r.leakage, r.precision, r.recall) for r in rungs]
        blocks += [
            doc.Heading("And what it costs", where="page"),
            doc.Paragraph("The line is the most that can be learned for a given cost.", "note", where="page"),
            doc.Figure(doc.CostCurve(points, audit.fail_above)),
        ]
    columns = ("Adversary", "What it does", "Merges by")
    does = [(doc.Cell(doc.DataValue(r.adversary, 32), style="bold"), r.does, r.merge) for r in rungs]
    blocks += [doc.TableBlock(columns, does, where="page"), source_table(audit.sources)]
    return (doc.Section("The ladder: what each adversary learns, and at what cost. Higher is riskier.", blocks),)


def _rung_table(audit: PersonAuditResult) -> doc.TableBlock:
    more = [doc.TableColumn(f">{name}", "page") for name in ("Seconds", "Best precision", "Entities", "Records merged")]
    names = (doc.TableColumn("Adversary", least=10), doc.TableColumn("Does", "terminal", least=14))
    columns = (*names, ">Leakage", ">Precision", ">Recall", ">Best recall", ">Cost", *more)
    rows = [
        (
            doc.Cell(doc.DataValue(r.adversary, 32), style="bold" if r.adversary == audit.strongest else ""),
            r.does,
            doc.Cell(leak(r.leakage), style="bold"),
            leak(r.precision),
            leak(r.recall),
            leak(r.best_recall),
            chosen(r.cost),
            doc.Number(r.seconds),
            leak(r.best_precision),
            doc.Count(r.entities),
            doc.Count(r.merged),
        )
        for r in audit.rungs
    ]
    return doc.TableBlock(columns, rows)


def _worst(audit: PersonAuditResult) -> Sequence[doc.Section]:
    finding = next((f for f in audit.findings if f.adversary == audit.strongest), None)
    if finding is None:
        return ()
    title = sentence("The record that leaks most, under '{}'", doc.DataValue(finding.adversary, 40))
    return (doc.Section(title, finding_blocks(finding, audit.source_names)),)


def _shares(audit: PersonAuditResult) -> Sequence[doc.Section]:
    return shares_section(audit.source_shares, audit.strongest)


def _actions(audit: PersonAuditResult) -> Sequence[doc.Section]:
    if not audit.actions:
        return ()
    who = doc.DataValue(audit.strongest, 40)
    words = sentence("Ranked. The circle is the leakage under '{}' now, the dot what it would be after.", who)
    cards = [_action_card(action, audit.fail_above) for action in audit.actions]
    blocks = (doc.Paragraph(words, where="page"), doc.Cards(cards, shown=_ACTIONS_SHOWN, more="actions"))
    return (doc.Section(sentence("What to do first against '{}'", who), blocks),)


def _action_card(action: Action, limit: float | None) -> doc.Card:
    facts: list[tuple[str, doc.Text]] = [("Leakage before", leak(action.before)), ("After", leak(action.after))]
    if action.cost is not None:
        facts.append(("Cost", chosen(action.cost)))
    if action.success is not None:
        facts.append(("Chance of success", doc.Share(action.success)))
    change = doc.Changes((doc.Change(action.what, action.before, action.after),), limit, width=320)
    return doc.Card((), f"{as_sentence(action.why)}.", facts, change, title=as_sentence(action.what))


def _others(audit: PersonAuditResult) -> Sequence[doc.Section]:
    others = [
        doc.Folded(
            sentence("{}: leakage {}", doc.DataValue(f.adversary, 40), part(f.leakage)),
            finding_blocks(f, audit.source_names),
        )
        for f in audit.findings
        if f.adversary != audit.strongest
    ]
    return (doc.Section("The same under the other adversaries", others, where="page"),) if others else ()


# The order of the answer. A new section is a function and a line here.
SECTIONS = (_since, _actions, _ladder, _worst, _shares, _others)
