"""The record that leaks most, attribute by attribute, ready to be shown."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from functools import cached_property

from tacit.person.adversaries import Cluster
from tacit.person.comparing import compare
from tacit.person.contributions import contributions
from tacit.person.records import Record
from tacit.workflows.person_engine import Known, fetched
from tacit.workflows.person_masking import Showing
from tacit.workflows.person_results import Finding, Held, Join, Missing, PersonSource
from tacit.workflows.person_sources import Evidence


@dataclass(frozen=True)
class Names:
    """What records are called in a result: never by a value of their own.

    ``more`` are records that are no source's: what a query or a release is called, by their numbers.
    """

    evidence: Evidence
    known: Known
    more: Mapping[int, tuple[str, str]] = field(default_factory=dict)

    @cached_property
    def _true(self) -> list[tuple[str, str]]:
        return [(value.casefold(), self.known.labels[label].meant(value)) for label, value in self.known.reference]

    def _tells(self, called: str, record: Record) -> bool:
        """Whether a name says a value of its record or of the person, as it is written or as it is meant.

        Many files go by e-mail address, and an address is somebody's, whether the file says so elsewhere or not.
        """
        low = called.casefold()
        if "@" in low:
            return True
        held = [attribute.value.casefold() for attribute in record] + [value for value, _ in self._true]
        if any(value == low or (len(value) > 3 and value in low) for value in held):
            return True
        return any(
            self.known.labels[label].meant(called) == meant
            for (label, _), (_, meant) in zip(self.known.reference, self._true, strict=True)
        )

    def sources(self, rids: Iterable[int]) -> tuple[str, ...]:
        """Where records came from, each source once, in the order of the case."""
        order = {source.name: place for place, source in enumerate(self.evidence.sources)}
        found = {self.more[rid][1] if rid in self.more else self.evidence.source(rid).name for rid in rids}
        return tuple(sorted(found, key=lambda name: (order.get(name, len(order)), name)))

    def all(self, rids: Iterable[int]) -> dict[int, str]:
        """The name of each record; by the number of its row if the file calls it by a value of it or of the person."""
        wanted = list(rids)
        own = [rid for rid in wanted if rid not in self.more]
        named = {rid: self.more[rid][0] for rid in wanted if rid in self.more}
        for rid, record in zip(own, fetched(self.evidence, own), strict=True):
            source, name = self.evidence.source(rid), self.evidence.name(rid)
            if self._tells(name.removeprefix(f"{source.name} "), record):
                name = f"{source.name} row {rid - source.first + 1}"
            named[rid] = name
        return named


def finding(
    adversary: str, value: float, cluster: Cluster | None, known: Known, names: Names, shown: Showing
) -> Finding:
    """What an adversary's best record says, what is right in it, what it lacks, and how it came to be."""
    record = cluster.record if cluster is not None else Record(())
    found = compare(record, known.reference, known.labels)
    gains = contributions(record, known.reference, known.labels, beta=known.beta) if len(record) else ()
    held = [
        Held(
            label=attribute.label,
            value=shown(attribute.value),
            state=kind,
            confidence=attribute.confidence,
            weight=float(weight),
            credit=float(credit / weight) if weight > 0 else float(kind in ("correct", "covered")),
            contribution=float(gain),
            sources=names.sources(cluster.sources.get(attribute.fact, ()) if cluster is not None else ()),
        )
        for attribute, kind, weight, credit, gain in zip(
            record, found.kinds, found.weight, found.credit, gains, strict=True
        )
    ]
    missing = [known.reference.facts[place] for place in found.missing]
    members = cluster.members if cluster is not None else ()
    called = names.all(members)
    return Finding(
        adversary=adversary,
        leakage=value,
        held=tuple(sorted(held, key=lambda one: (-one.contribution, one.label))),
        missing=tuple(Missing(label, shown(text), known.labels[label].weigh(text)) for label, text in missing),
        members=tuple(called[member] for member in members),
        joins=tuple(
            Join(called[link.left], called[link.right], link.labels)
            for link in (cluster.links if cluster is not None else ())
        ),
        bits=_bits(record, known),
    )


def _bits(record: Record, known: Known) -> float | None:
    from tacit.person.background import bits

    if all(known.labels[label].prior is None for label, _ in known.reference):
        return None
    return float(bits(record, known.reference, known.labels))


def source_facts(evidence: Evidence) -> tuple[PersonSource, ...]:
    """The sources that were read."""
    return tuple(
        PersonSource(source.name, str(source.path), source.records, source.sha256) for source in evidence.sources
    )
