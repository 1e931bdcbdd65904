"""The case file: one person, the sources about them, the adversaries, the questions."""

from __future__ import annotations

import os
from pathlib import Path
from typing import get_args

from tacit.person.answers.kept import file_state
from tacit.person.case.adversaries import default_adversaries, read_adversaries, writing_normal_forms
from tacit.person.case.labels import read_correlated, read_labels, spelled_alike, usual_labels
from tacit.person.case.model import Case
from tacit.person.case.nodes import case_bytes
from tacit.person.case.plans import read_decoys, read_verification
from tacit.person.case.records import read_country, read_person, read_queries, read_releases
from tacit.person.case.schema import CaseReader, CaseSection, Schema, choice
from tacit.person.case.sources import read_population, read_sources
from tacit.person.model.labels import Labels
from tacit.person.plans.letters import Law
from tacit.person.resolve.adversaries import Adversary
from tacit.person.resolve.steps import Normalise

# In this order: columns are matched with the labels of the person or the population, and what comes later is checked
# against those and the labels of the sources.
CASE: Schema = {
    "person": read_person,
    "country": read_country,
    "law": choice(get_args(Law)),
    "labels": read_labels,
    "correlated": read_correlated,
    "population": read_population,
    "sources": read_sources,
    "adversaries": read_adversaries,
    "releases": read_releases,
    "queries": read_queries,
    "decoys": read_decoys,
    "verify": read_verification,
    "beta": CaseReader.number,
    "index": CaseReader.flag,
}


def read_case(path: str | os.PathLike[str], *, engine: str = "duckdb", remote: bool = False) -> Case:
    """Read and check a case file, and inspect the files it names.

    Parameters
    ----------
    path : path
        YAML or JSON. Paths in it are relative to it.
    engine : str
        Where tables at addresses are opened: duckdb or spark.
    remote : bool
        Whether they may be on another machine, such as at ``s3://`` and ``https://`` addresses.

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
    own = file_state(file) if file.is_file() else None
    reader = CaseReader(file, case_bytes(file), engine=engine, remote=remote)
    section = reader.section(reader.root, "a case", CASE, required=["sources"])
    described = section.get("labels", {})
    usual = usual_labels(sorted(reader.labels.difference(described)), reader.country)
    spelled, spelling_notes = spelled_alike({**usual, **described}, reader.person)
    labels = Labels({**usual, **described, **spelled}, correlated=section.get("correlated", ()))
    _needs_person(reader, section)
    _needs_weight(reader, section, labels)
    reader.finish()
    notes = [*reader.notes, *spelling_notes]
    idle = sorted(label for label in described if label not in reader.labels)
    if idle and reader.possible and reader.person is not None:
        notes.append(f"described and never used: {', '.join(idle)}; check the spelling of the labels")
    if "adversaries" in section:
        adversaries = tuple(writing_normal_forms(each, labels) for each in section["adversaries"])
    else:
        adversaries, note = default_adversaries(reader.seen, reader.person)
        notes.append(note)
    fields = {key: value for key, value in section.items() if key != "correlated"}
    fields |= {"person": reader.person, "labels": labels, "adversaries": adversaries, "country": reader.country}
    fields["described"], fields["assumed"] = frozenset(described), "adversaries" not in section
    notes += _idle_steps(adversaries, labels)
    # A pipe cannot be recognised later: without a regular file there is nothing to keep an answer for.
    fields["files"] = {} if own is None else {file: own, **reader.files}
    return Case(path=file, source_labels=frozenset(reader.possible), notes=tuple(notes), **fields)


def _needs_person(reader: CaseReader, section: CaseSection) -> None:
    """A case needs a person, unless it is about a population and its sources hold values."""
    if "person" in section.nodes:
        return
    if "population" not in section.nodes:
        reader.wrong(reader.root, "a case has no 'person': say who it is about, as label: value")
    elif any(source.format == "breaches" for source in section.get("sources", ())):
        at = section.nodes["sources"]
        reader.wrong(at, "breaches hold no values but the person's own: a case with them needs a 'person'")


def _needs_weight(reader: CaseReader, section: CaseSection, labels: Labels) -> None:
    """A person whose facts all weigh nothing would look safe whatever is public."""
    person = reader.person
    if person is None or any(labels[label].weigh(value) > 0 for label, value in person):
        return
    own = {label for label, _ in person}
    if not any(group.shared > 0 and own.intersection(group.labels) for group in labels.correlated):
        at = section.nodes["person"]
        reader.wrong(at, "everything about the person weighs 0: give a label of theirs a weight above 0")


def _idle_steps(adversaries: tuple[Adversary, ...], labels: Labels) -> list[str]:
    """A note if 'normalise' does nothing: the output would look as if it did, and the leakage would be too low."""
    if any(label.normalise is not None or label.synonyms for label in labels.values()):
        return []
    names = [each.name for each in adversaries if any(isinstance(step, Normalise) for step in each.steps)]
    if not names:
        return []
    return [
        f"'normalise' of {' and '.join(names)} changes nothing, because no label has a normal form: say it under "
        "labels, such as email: {normalise: email}, phone: {normalise: phone}"
    ]
