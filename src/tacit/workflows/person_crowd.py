"""People to stand among: the references of a population in the engine, and how many a person is like."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from tacit.person.labels import Labels
from tacit.person.records import Reference
from tacit.workflows.person_case_model import Case, PopulationSpec
from tacit.workflows.person_sources import Evidence
from tacit.workflows.person_words import counted, listed

if TYPE_CHECKING:
    import pyarrow as pa

    from tacit.tables.populations import References


def references_of(case: Case, population: PopulationSpec, evidence: Evidence) -> References:
    """The true records of all persons, values in the form in which they are compared."""
    from tacit.tables import populations

    return populations.references(evidence.attributes, _meant(population, case.labels))


def _meant(population: PopulationSpec, labels: Labels) -> pa.RecordBatchReader:
    import pyarrow as pa

    from tacit.workflows.person_sources_references import read_references

    given = read_references(population)

    def batches() -> Iterator[pa.RecordBatch]:
        for batch in given:
            for label in batch.column("label").unique().to_pylist():
                if label is not None and (labels[label].normalise is not None or labels[label].synonyms):
                    batch = _with_meant(batch, label, labels)
            yield batch

    return pa.RecordBatchReader.from_batches(given.schema, batches())


def _with_meant(batch: pa.RecordBatch, label: str, labels: Labels) -> pa.RecordBatch:
    """The batch with the values of one label in the form that is meant; each distinct value is looked at once."""
    import pyarrow as pa
    import pyarrow.compute as pc

    ours = pc.equal(batch.column("label"), label)
    coded = pc.if_else(ours, batch.column("value"), pa.scalar(None, pa.string())).dictionary_encode()
    meant = pa.array([labels[label].meant(value) for value in coded.dictionary.to_pylist()], pa.string())
    values = pc.if_else(pc.fill_null(ours, False), meant.take(coded.indices), batch.column("value"))
    columns = [values if name == "value" else batch.column(name) for name in batch.schema.names]
    return pa.RecordBatch.from_arrays(columns, schema=batch.schema)


def alike(known: References, reference: Reference, labels: Labels, quasi_identifiers: Sequence[str]) -> int:
    """How many persons of a population could be this one, by their quasi-identifiers.

    What is not known of somebody rules nobody out, as in :func:`tacit.person.anonymity.anonymity_of`.
    """
    import pyarrow as pa

    store = known.store
    true = [(label, labels[label].meant(value)) for label, value in reference if label in quasi_identifiers]
    asked = {label for label, _ in true}
    if not asked:
        return known.count
    columns = {"label": [label for label, _ in true], "value": [value for _, value in true]}
    wanted = store.load(pa.table({name: pa.array(one, pa.string()) for name, one in columns.items()}))
    said = ", ".join(store.text(label) for label in sorted(asked))
    # Ruled out is who has values of a quasi-identifier, and none of them is the person's.
    out = (
        f"SELECT DISTINCT person FROM (SELECT f.person, f.label FROM {known.facts} f LEFT JOIN {wanted} w "
        f"ON w.label = f.label AND w.value = f.value WHERE f.label IN ({said}) GROUP BY f.person, f.label "
        "HAVING count(w.value) = 0)"
    )
    found = store.ask(f"SELECT {known.count} - count(*) AS k FROM ({out})").column("k")[0].as_py()
    store.drop(wanted)
    return int(found)


def crowd_note(case: Case, evidence: Evidence) -> list[str]:
    """k beside the leakage of one person, if the case has a table of people and quasi-identifiers."""
    spec = case.population
    if spec is None or not spec.quasi_identifiers:
        return []
    known = references_of(case, spec, evidence)
    k = alike(known, case.reference, case.labels, spec.quasi_identifiers)
    by = listed(spec.quasi_identifiers)
    if not k:
        return [f"k = 0: no person of {spec.references.name} could be this one by {by}"]
    return [
        f"k = {k:,}: so many of the {counted(known.count, 'person')} in {spec.references.name} could be this one by "
        f"{by}; k says how large the crowd is, the leakage how much is known"
    ]
