"""The record that leaks most, attribute by attribute, ready to be shown."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from functools import cached_property

from tacit.person.answers.masking import Showing
from tacit.person.answers.results import Finding, Held, Join, Missing, PersonSource
from tacit.person.inquiry.subject import Subject
from tacit.person.model.background import bits
from tacit.person.model.derivatives import contributions
from tacit.person.model.records import Record
from tacit.person.resolve.adversaries import Cluster
from tacit.person.sources.pool import RecordPool


@dataclass(frozen=True)
class RecordNames:
    """The names of records in a result, which are never one of their values.

    ``more`` are records that belong to no source, by number: the names of a query or a release.
    """

    pool: RecordPool
    subject: Subject
    more: Mapping[int, tuple[str, str]] = field(default_factory=dict)

    @cached_property
    def _true(self) -> list[tuple[str, str]]:
        return [(value.casefold(), self.subject.labels[label].meant(value)) for label, value in self.subject.reference]

    def _tells(self, called: str, record: Record) -> bool:
        """Whether a name reveals a value of its record or of the person, as written or in normal form.

        Many files name records by e-mail address, which is somebody's even if it is in no other column.
        """
        low = called.casefold()
        if "@" in low:
            return True
        values = [attribute.value.casefold() for attribute in record] + [value for value, _ in self._true]
        if any(value == low or (len(value) > 3 and value in low) for value in values):
            return True
        return any(
            self.subject.labels[label].meant(called) == meant
            for (label, _), (_, meant) in zip(self.subject.reference, self._true, strict=True)
        )

    def sources(self, rids: Iterable[int]) -> tuple[str, ...]:
        """Where records came from, each source once, in the order of the case."""
        order = {source.name: place for place, source in enumerate(self.pool.sources)}
        named = {self.more[rid][1] if rid in self.more else self.pool.source(rid).name for rid in rids}
        return tuple(sorted(named, key=lambda name: (order.get(name, len(order)), name)))

    def all(self, rids: Iterable[int]) -> dict[int, str]:
        """The name of each record; the number of its row if its name in the file is a value of it or of the person."""
        wanted = list(rids)
        own = [rid for rid in wanted if rid not in self.more]
        named = {rid: self.more[rid][0] for rid in wanted if rid in self.more}
        for rid, record in zip(own, self.pool.numbered(own), strict=True):
            source, name = self.pool.source(rid), self.pool.name(rid)
            if self._tells(name.removeprefix(f"{source.name} "), record):
                name = f"{source.name} row {source.row(rid)}"
            named[rid] = name
        return named


def finding(adversary: str, value: float, cluster: Cluster | None, names: RecordNames, shown: Showing) -> Finding:
    """What the record that leaks most says, what is right in it, what it lacks, and how it came to be."""
    subject = names.subject
    cluster = cluster if cluster is not None else Cluster(Record(()), ())
    record = cluster.record
    compared = subject.comparer.compare(record)
    gains = contributions(record, subject.reference, subject.labels, beta=subject.beta) if len(record) else ()
    attributes = [
        Held(
            label=attribute.label,
            value=shown(attribute.value),
            state=kind,
            confidence=attribute.confidence,
            weight=float(weight),
            credit=float(credit / weight) if weight > 0 else float(kind in ("correct", "covered")),
            contribution=float(gain),
            sources=names.sources(cluster.sources.get(attribute.fact, ())),
        )
        for attribute, kind, weight, credit, gain in zip(
            record, compared.kinds, compared.weight, compared.credit, gains, strict=True
        )
    ]
    missing = [subject.reference.facts[place] for place in compared.missing]
    called = names.all(cluster.members)
    priors = any(subject.labels[label].prior is not None for label, _ in subject.reference)
    return Finding(
        adversary=adversary,
        leakage=value,
        held=tuple(sorted(attributes, key=lambda one: (-one.contribution, one.label))),
        missing=tuple(Missing(label, shown(text), subject.labels[label].weigh(text)) for label, text in missing),
        members=tuple(called[member] for member in cluster.members),
        joins=tuple(Join(called[link.left], called[link.right], link.labels) for link in cluster.links),
        bits=float(bits(record, subject.reference, subject.labels)) if priors else None,
    )


def source_facts(pool: RecordPool) -> tuple[PersonSource, ...]:
    """The sources that were read."""
    return tuple(PersonSource(source.name, str(source.path), source.counted, source.sha256) for source in pool.sources)
