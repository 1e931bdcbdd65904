"""The case file: one person, the sources that speak of them, the adversaries, the questions."""

from __future__ import annotations

import hashlib
import os
from pathlib import Path

from tacit.person.case.adversaries import default_adversaries, read_adversaries
from tacit.person.case.labels import read_labels
from tacit.person.case.model import Case
from tacit.person.case.nodes import read_bytes
from tacit.person.case.plans import read_decoys, read_verification
from tacit.person.case.records import read_person, read_queries, read_releases
from tacit.person.case.schema import CaseReader, Said, Schema, as_node, number
from tacit.person.case.sources import read_population, read_sources_of_case
from tacit.person.model.labels import Labels
from tacit.person.model.records import Reference
from tacit.person.resolve.adversaries import Adversary
from tacit.person.resolve.steps import Normalise
from tacit.person.sources.source import Source

# What depends on nothing else in the case is read by its own reader, the rest when that is known.
CASE: Schema = {
    "person": read_person,
    "labels": as_node,
    "correlated": as_node,
    "sources": as_node,
    "adversaries": as_node,
    "releases": read_releases,
    "queries": read_queries,
    "decoys": as_node,
    "verify": as_node,
    "population": read_population,
    "beta": number("beta"),
}


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
    file = Path(path)
    raw = read_bytes(file)
    reader = CaseReader(file, raw)
    said = reader.record(reader.root, "a case", CASE, required=["sources"])
    case = _case(reader, said, hashlib.sha256(raw).hexdigest())
    reader.finish()
    return case


def _case(reader: CaseReader, said: Said, sha256: str) -> Case:
    person: Reference | None = said.get("person")
    labels = read_labels(reader, said.get("labels"), said.get("correlated"))
    none: frozenset[str] = frozenset()
    sources, held, seen = read_sources_of_case(reader, said["sources"]) if "sources" in said else ((), none, none)
    _needs_person(reader, said, sources)
    _needs_weight(reader, said, person, labels)
    named = held | {label for label, _ in person or ()}
    notes = []
    idle = sorted(label for label in labels if label not in named)
    if idle and held and person is not None:
        notes.append(f"described and never used: {', '.join(idle)}; check the spelling of the labels")
    if "adversaries" in said:
        adversaries = read_adversaries(reader, said["adversaries"], held)
    else:
        adversaries, note = default_adversaries(seen)
        notes.append(note)
    return Case(
        path=reader.path,
        sha256=sha256,
        person=person,
        labels=labels,
        sources=sources,
        adversaries=adversaries,
        decoys=read_decoys(reader, said["decoys"], person, named) if "decoys" in said else None,
        verify=read_verification(reader, said["verify"], named) if "verify" in said else None,
        source_labels=held,
        notes=(*notes, *_idle_steps(adversaries, labels)),
        **said.kept("releases", "queries", "population", "beta"),
    )


def _needs_person(reader: CaseReader, said: Said, sources: tuple[Source, ...]) -> None:
    """A case is about a person, unless it is about a population in tables that hold values."""
    if "person" in said:
        return
    if "population" not in said:
        reader.wrong(reader.root, "a case has no 'person': say who it is about, as label: value")
    elif any(source.format == "breaches" for source in sources):
        reader.wrong(
            said.nodes["sources"], "breaches hold no values but the person's own: a case with them needs a 'person'"
        )


def _needs_weight(reader: CaseReader, said: Said, person: Reference | None, labels: Labels) -> None:
    """A person of whom nothing weighs anything would look safe whatever is out."""
    if person is None or any(labels[label].weigh(value) > 0 for label, value in person):
        return
    own = {label for label, _ in person}
    if not any(group.shared > 0 and own.intersection(group.labels) for group in labels.correlated):
        reader.wrong(
            said.nodes["person"], "everything about the person weighs 0: give a label of theirs a weight above 0"
        )


def _idle_steps(adversaries: tuple[Adversary, ...], labels: Labels) -> list[str]:
    """A step that changes nothing looks in the output like one that does, and the leakage looks smaller than it is."""
    if any(label.normalise is not None or label.synonyms for label in labels.values()):
        return []
    names = [one.name for one in adversaries if any(isinstance(step, Normalise) for step in one.steps)]
    if not names:
        return []
    return [
        f"'normalise' of {' and '.join(names)} changes nothing, because no label has a normal form: say it under "
        "labels, such as email: {normalise: email}, phone: {normalise: phone}"
    ]
