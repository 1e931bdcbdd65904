"""How the records of a finding came together, as wires between records that agree."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Sequence

from tacit.document.leakage import MergeGraph, Wire
from tacit.person.answers.results import Finding, Join

# More records than this are shown as a list: nobody can follow so many wires.
MOST_DRAWN = 30


def source_of(record: str, sources: Sequence[str]) -> str:
    """The source of a record, from its name: "shop" for "shop 17"; a query is its own source."""
    if record.startswith("query '"):
        return "the query"
    named = [source for source in sources if record == source or record.startswith(f"{source} ")]
    return max(named, key=len) if named else record.rpartition(" ")[0] or record


def grouped(members: Sequence[str], sources: Sequence[str]) -> dict[str, list[str]]:
    """Records by source, sources in the order in which they first occur."""
    groups: dict[str, list[str]] = defaultdict(list)
    for record in members:
        groups[source_of(record, sources)].append(record)
    return dict(groups)


def wires(joins: Sequence[Join]) -> list[Wire]:
    """Joins that share a record and all labels, as one wire; the record with the most joins comes first."""
    by_labels: dict[tuple[str, ...], list[Join]] = defaultdict(list)
    for join in joins:
        by_labels[join.labels].append(join)
    drawn = []
    for labels, rest in by_labels.items():
        while rest:
            ends = Counter(end for join in rest for end in (join.left, join.right))
            hub = ends.most_common(1)[0][0]
            near = [join for join in rest if hub in (join.left, join.right)]
            others = [join.right if join.left == hub else join.left for join in near]
            drawn.append(Wire((hub, *dict.fromkeys(others)), labels))
            rest = [join for join in rest if hub not in (join.left, join.right)]
    return drawn


def merge_graph(finding: Finding, sources: Sequence[str]) -> MergeGraph | None:
    """The records of a finding under their sources and the wires between them; None where a list is easier to read."""
    if not 2 <= len(finding.members) <= MOST_DRAWN or not finding.joins:
        return None
    members = set(finding.members)
    joins = [join for join in finding.joins if join.left in members and join.right in members]
    return MergeGraph(grouped(finding.members, sources), wires(joins))
