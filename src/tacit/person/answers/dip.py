"""What each query of the case brings up under each adversary."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import ClassVar

from tacit import document as doc
from tacit.document.quantities import part
from tacit.errors import sentence
from tacit.person.answers.presenting import MEANINGS, PersonResult, finding_blocks, ladder, leak
from tacit.person.answers.results import Dipped

_QUERY = (
    "query",
    "What somebody who looks for the person types in. What comes back is all records that resolve with it, directly or "
    "through others.",
)


def knows(dip: Dipped) -> tuple[bool, float, float]:
    """A sort key for how much a query brings up: whether it does any record, then recall, then leakage.

    A query that says everything about the person knows most without any record, but brings nothing up.
    """
    return len(dip.finding.members) > 1, round(dip.recall, 12), round(dip.leakage, 12)


@dataclass(frozen=True)
class PersonDipResult(PersonResult):
    """What each query of the case brings up under each adversary."""

    kind: ClassVar[str] = "queries for a person"
    about: ClassVar[str] = "Tacit on queries for a person"
    reading: ClassVar[Sequence[tuple[str, str]]] = (_QUERY,)

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

    def sections(self) -> Iterable[doc.Section]:
        """What every query brings up, and the records it gets."""
        queries: dict[str, list[Dipped]] = {}
        for dip in self.dips:
            queries.setdefault(dip.query, []).append(dip)
        yield self._table([dip for dips in queries.values() for dip in dips])
        for query, dips in queries.items():
            blocks = [_folded(dip, first=not place) for place, dip in enumerate(sorted(dips, key=knows)[::-1])]
            yield doc.Section(sentence("Who asks with “{}”", doc.DataValue(query, 32)), blocks)

    def tiles(self) -> Sequence[tuple[doc.Text, ...]]:
        """The query that brings up most."""
        worst = max(reversed(self.dips), key=knows)
        adversaries = doc.Count(len({dip.adversary for dip in self.dips}), "adversary", "adversaries")
        return (
            ("Recall", doc.Share(worst.recall), "of the file comes back"),
            ("Leakage", leak(worst.leakage), f"with '{doc.shorten(worst.query, 32)}', under '{worst.adversary}'"),
            ("Precision", doc.Share(worst.precision), "of it is right"),
            ("Queries", doc.Count(len({dip.query for dip in self.dips})), sentence("under {}", adversaries)),
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
                # The query itself is a member, but not a record.
                doc.Count(max(len(dip.finding.members) - 1, 0)),
            )
            for dip in dips
        ]
        blocks = (doc.Figure(chart, (doc.TableBlock(columns, rows),)), MEANINGS)
        return doc.Section("What each query brings up. Higher is riskier.", blocks)


def _folded(dip: Dipped, *, first: bool) -> doc.Folded:
    """What one adversary gets from a query; the worst is shown in both media, the others only on the page."""
    sources = list(dict.fromkeys(source for attribute in dip.finding.held for source in attribute.sources))
    under = sentence(
        "Under {}: {} known, leakage {}", doc.DataValue(dip.adversary, 40), doc.Share(dip.recall), part(dip.leakage)
    )
    opened = first and dip.leakage > 0
    return doc.Folded(under, finding_blocks(dip.finding, sources), open=opened, where=None if first else "page")
