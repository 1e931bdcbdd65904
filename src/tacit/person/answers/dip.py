"""What each query of the case brings up under each adversary."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from tacit import document as doc
from tacit.document.quantities import part
from tacit.errors import sentence
from tacit.person.answers.presenting import PersonResult, finding_blocks, ladder, leak, limit_fact, meanings, privacy
from tacit.person.answers.results import Dipped, Finding

_QUERY = (
    "query",
    "What somebody who looks for the person types in. All records that resolve with it, directly or through others, "
    "are what comes back.",
)


@dataclass(frozen=True)
class PersonDipResult(PersonResult):
    """What each query of the case brings up under each adversary."""

    kind: ClassVar[str] = "queries for a person"
    about: ClassVar[str] = "Tacit on queries for a person"

    case: str
    dips: tuple[Dipped, ...]
    fail_above: float | None
    values_shown: bool
    headline: str
    notes: tuple[str, ...]

    @property
    def leakage(self) -> float:
        """The largest leakage of any query under any adversary."""
        return max(dip.leakage for dip in self.dips)

    def document(self) -> doc.Document:
        """What every query brings up, and the records it gets."""
        private, values = privacy(self.values_shown)
        facts: list[tuple[str, doc.Text]] = [("Case", doc.FilePath(self.case)), values, *limit_fact(self.fail_above)]
        by_query: dict[str, list[Dipped]] = {}
        for dip in self.dips:
            by_query.setdefault(dip.query, []).append(dip)
        queries = {query: sorted(dips, key=lambda dip: -dip.leakage) for query, dips in by_query.items()}
        ordered = [dip for dips in by_query.values() for dip in dips]
        sections = (self._table(ordered), *(_query(query, dips) for query, dips in queries.items()))
        opening = (doc.Facts(facts, where="terminal"), private, self._tiles(queries))
        return self.told_as(opening, sections, reading=(_QUERY,))

    def _tiles(self, queries: dict[str, list[Dipped]]) -> doc.Tiles:
        worst = max(self.dips, key=lambda dip: dip.leakage)
        adversaries = doc.Count(len({dip.adversary for dip in self.dips}), "adversary", "adversaries")
        return doc.Tiles(
            (
                doc.Tile("Largest leakage", leak(worst.leakage), f"query {worst.query}, {worst.adversary}"),
                doc.Tile("Recall", leak(worst.recall), "of the file comes back"),
                doc.Tile("Precision", leak(worst.precision), "of it is right"),
                doc.Tile("Queries", doc.Count(len(queries)), sentence("under {n}", n=adversaries)),
            )
        )

    def _table(self, dips: list[Dipped]) -> doc.Section:
        chart = ladder([(d.query, d.adversary, d.leakage, d.precision, d.recall) for d in dips], limit=self.fail_above)
        columns = ("Query", "Adversary", ">Leakage", ">Precision", ">Recall", ">Records found")
        rows = [
            (
                doc.DataValue(dip.query, 32),
                doc.DataValue(dip.adversary, 32),
                doc.Cell(leak(dip.leakage), style="bold"),
                leak(dip.precision),
                leak(dip.recall),
                # The query itself is a member of what was resolved, and no record.
                doc.Count(max(len(dip.finding.members) - 1, 0)),
            )
            for dip in dips
        ]
        blocks = (doc.Figure(chart, (doc.TableBlock(columns, rows),)), meanings())
        return doc.Section("What each query brings up. Higher is riskier.", blocks)


def _query(query: str, dips: list[Dipped]) -> doc.Section:
    """What one query gets: the worst adversary for both media, the others on the page."""
    worst, *others = dips
    under = sentence(
        "Under {who}: leakage {leakage}", who=doc.DataValue(worst.adversary, 40), leakage=part(worst.leakage)
    )
    blocks: list[doc.Block] = [doc.Folded(under, _blocks(worst.finding), open=worst.leakage > 0)]
    blocks += [
        doc.Folded(
            sentence("Under {who}: leakage {leakage}", who=doc.DataValue(dip.adversary, 40), leakage=part(dip.leakage)),
            _blocks(dip.finding),
            where="page",
        )
        for dip in others
    ]
    return doc.Section(sentence("Who asks with “{query}”", query=doc.DataValue(query, 32)), blocks)


def _blocks(finding: Finding) -> list[doc.Block]:
    return finding_blocks(finding, list(dict.fromkeys(source for held in finding.held for source in held.sources)))
