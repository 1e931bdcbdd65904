"""The crowd that a person hides in: the references of a population, and how many of them could be the person."""

from __future__ import annotations

from tacit.person.answers.words import counted, listed
from tacit.person.inquiry.opening import Inquiry
from tacit.person.link.references import References, alike
from tacit.person.sources.reading import read_references
from tacit.person.sources.source import PopulationSpec


def references_of(inquiry: Inquiry, population: PopulationSpec) -> References:
    """The true records of all people, with values in the form in which they are compared."""
    return read_references(population, inquiry.pool.attributes.store, inquiry.bench.meant)


def crowd_note(inquiry: Inquiry) -> list[str]:
    """A note on the person's k, if the case has a table of people and quasi-identifiers."""
    spec, labels = inquiry.case.population, inquiry.labels
    if spec is None or not spec.quasi_identifiers:
        return []
    people = references_of(inquiry, spec)
    reference = inquiry.case.reference
    true = [(label, labels[label].meant(value)) for label, value in reference if label in spec.quasi_identifiers]
    k, by = alike(people, true), listed(spec.quasi_identifiers)
    if not k:
        return [f"k = 0: judging by {by}, no person in {spec.references.name} could be this one"]
    return [
        f"k = {k:,}: judging by {by}, this many of the {counted(people.count, 'person')} in {spec.references.name} "
        "could be this one; k says how large the crowd is, the leakage how much is known"
    ]
