"""Linking records in an engine: who holds what, which records are one person's, and what leaks about everybody."""

from tacit.person.link.attributes import Attributes, augmented, distinct_values, recoded, records
from tacit.person.link.linking import resolve
from tacit.person.link.populations import Population, population, write_persons
from tacit.person.link.references import References, class_diversity, class_sizes, wide_references
from tacit.person.link.wide import Long, Wide, WideEvidence, gathered, wide_evidence

__all__ = [
    "Attributes",
    "Long",
    "Population",
    "References",
    "Wide",
    "WideEvidence",
    "augmented",
    "class_diversity",
    "class_sizes",
    "distinct_values",
    "gathered",
    "population",
    "recoded",
    "records",
    "resolve",
    "wide_evidence",
    "wide_references",
    "write_persons",
]
