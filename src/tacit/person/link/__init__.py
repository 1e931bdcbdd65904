"""Linking records in an engine: who holds what, which records are one person's, and what leaks of everybody."""

from tacit.person.link.attributes import Attributes, attributes, augmented, distinct_values, recoded, records
from tacit.person.link.linking import resolve
from tacit.person.link.populations import Population, population, write_persons
from tacit.person.link.references import References, class_diversity, class_sizes, references
from tacit.person.link.wide import Wide, wide_attributes

__all__ = [
    "Attributes",
    "Population",
    "References",
    "Wide",
    "attributes",
    "augmented",
    "class_diversity",
    "class_sizes",
    "distinct_values",
    "population",
    "recoded",
    "records",
    "references",
    "resolve",
    "wide_attributes",
    "write_persons",
]
