"""The case file: one person, the sources that speak of them, the adversaries, the questions."""

from __future__ import annotations

import hashlib
import os
from pathlib import Path
from typing import TYPE_CHECKING

from tacit.person.labels import Labels
from tacit.workflows.person_case_model import (
    AdversarySpec,
    AugmentStep,
    Case,
    ClustersStep,
    CorrectStep,
    CostSpec,
    Decoys,
    NormaliseStep,
    PopulationSpec,
    Removal,
    ResolveStep,
    Slot,
    Source,
    SplinkStep,
    Step,
    Verification,
)

if TYPE_CHECKING:
    import yaml

    from tacit.person.records import Reference
    from tacit.workflows.person_case_nodes import CaseReader

__all__ = [
    "AdversarySpec",
    "AugmentStep",
    "Case",
    "ClustersStep",
    "CorrectStep",
    "CostSpec",
    "Decoys",
    "NormaliseStep",
    "PopulationSpec",
    "Removal",
    "ResolveStep",
    "Slot",
    "Source",
    "SplinkStep",
    "Step",
    "Verification",
    "read_case",
]

KEYS = [
    "person", "labels", "correlated", "sources", "adversaries", "releases", "queries", "decoys", "verify", "population",
    "beta",
]  # fmt: skip


def read_case(path: str | os.PathLike[str]) -> Case:
    """Read and check a case file, and look into the files it names.

    Parameters
    ----------
    path : path
        YAML or JSON. Paths in it are relative to it.

    Raises
    ------
    SourceError
        If the file cannot be read.
    DataError
        If it has mistakes: one line for each, with the line of the file, up to 20.

    Guarantees
    ----------
    No message holds a value of a person.
    """
    from tacit.workflows.person_case_nodes import CaseReader, read_bytes

    file = Path(path)
    raw = read_bytes(file)
    reader = CaseReader(file, raw)
    fields = reader.fields(reader.root, "a case", KEYS, required=["sources"])
    case = _case(reader, fields, hashlib.sha256(raw).hexdigest())
    reader.finish()
    return case


def _case(reader: CaseReader, fields: dict[str, yaml.Node], sha256: str) -> Case:
    from tacit.workflows.person_case_adversaries import default_adversaries, read_adversaries
    from tacit.workflows.person_case_labels import read_labels
    from tacit.workflows.person_case_plans import read_decoys, read_verification
    from tacit.workflows.person_case_records import read_named_records, read_person, read_releases
    from tacit.workflows.person_case_sources import read_population, read_sources_of_case

    person = read_person(reader, fields["person"]) if "person" in fields else None
    labels = read_labels(reader, fields.get("labels"), fields.get("correlated"))
    none: frozenset[str] = frozenset()
    sources, held, seen = read_sources_of_case(reader, fields["sources"]) if "sources" in fields else ((), none, none)
    _needs_person(reader, fields, sources)
    _needs_weight(reader, fields, person, labels)
    named = held | {label for label, _ in person or ()}
    notes = _notes(labels, held, named, person is not None)
    if "adversaries" in fields:
        adversaries = read_adversaries(reader, fields["adversaries"], held)
    else:
        adversaries, note = default_adversaries(seen)
        notes.append(note)
    notes += _idle_steps(adversaries, labels)
    return Case(
        path=reader.path,
        sha256=sha256,
        person=person,
        labels=labels,
        sources=sources,
        adversaries=adversaries,
        releases=read_releases(reader, fields["releases"]) if "releases" in fields else (),
        queries=read_named_records(reader, fields["queries"], "query") if "queries" in fields else (),
        decoys=read_decoys(reader, fields["decoys"], person, named) if "decoys" in fields else None,
        verify=read_verification(reader, fields["verify"], named) if "verify" in fields else None,
        population=read_population(reader, fields["population"]) if "population" in fields else None,
        beta=reader.number(fields["beta"], "beta") if "beta" in fields else 1.0,
        source_labels=held,
        notes=tuple(notes),
    )


def _needs_person(reader: CaseReader, fields: dict[str, yaml.Node], sources: tuple[Source, ...]) -> None:
    """A case is about a person, unless it is about a population in tables that hold values."""
    if "person" in fields:
        return
    if "population" not in fields:
        reader.wrong(reader.root, "a case has no 'person': say who it is about, as label: value")
    elif any(source.format == "breaches" for source in sources):
        reader.wrong(
            fields["sources"], "breaches hold no values but the person's own: a case with them needs a 'person'"
        )


def _needs_weight(reader: CaseReader, fields: dict[str, yaml.Node], person: Reference | None, labels: Labels) -> None:
    """A person of whom nothing weighs anything would look safe whatever is out."""
    if person is not None and not any(labels[label].weigh(value) > 0 for label, value in person):
        shared = any(
            group.shared > 0 and any(label in group.labels for label, _ in person) for group in labels.correlated
        )
        if not shared:
            reader.wrong(
                fields["person"], "everything about the person weighs 0: give a label of theirs a weight above 0"
            )


def _idle_steps(adversaries: tuple[AdversarySpec, ...], labels: Labels) -> list[str]:
    """A step that changes nothing looks in the output like one that does, and the leakage looks smaller than it is."""
    if any(label.normalise is not None or label.synonyms for label in labels.values()):
        return []
    names = [spec.name for spec in adversaries if any(isinstance(step, NormaliseStep) for step in spec.steps)]
    if not names:
        return []
    return [
        f"'normalise' of {' and '.join(names)} changes nothing, because no label has a normal form: say it under "
        "labels, such as email: {normalise: email}, phone: {normalise: phone}"
    ]


def _notes(labels: Labels, held: frozenset[str], named: frozenset[str], has_person: bool) -> list[str]:
    notes = []
    idle = sorted(label for label in labels if label not in named)
    if idle and held and has_person:
        notes.append(f"described and never used: {', '.join(idle)}; check the spelling of the labels")
    return notes
