"""Sources in a case file, and the references of a population: files, columns, labels and confidences."""

from __future__ import annotations

from dataclasses import replace
from itertools import islice
from typing import Any

import yaml

from tacit.person.case.nodes import is_null
from tacit.person.case.schema import CaseReader, CaseSection, choice, mapping, share
from tacit.person.case.tables import columns_of
from tacit.person.model.kinds import recognised
from tacit.person.plans.removals import Offer
from tacit.person.sources.breaches import CLASS_LABELS, labels_in
from tacit.person.sources.features import USUAL_LABELS, read_features
from tacit.person.sources.source import PopulationSpec, Source, SourceFormat

FORMATS: dict[str, SourceFormat] = {
    "table": "table",
    "features": "features",
    "senzing": "features",
    "breaches": "breaches",
    "hibp": "breaches",
}
# To see which labels a file of features has, so many of its records are looked at.
LOOKED_AT = 10_000


def _map(reader: CaseReader, node: yaml.Node, what: str) -> dict[str, str | None]:
    """Columns to labels; null leaves a column out, and ``"*": null`` all that are not named."""
    labels: dict[str, str | None] = {}
    for column, at, value in reader.entries(node, what):
        if column == "*" and not is_null(value):
            reader.wrong(at, f"'*' in {what} stands for all other columns: only null can be said of them")
        else:
            labels[column] = None if is_null(value) else reader.text(value, f"'{column}' of {what}") or None
    return labels


def _confidence(reader: CaseReader, node: yaml.Node, what: str) -> dict[str, Any]:
    """A number, or {column: name}, or both: {source: number, column: name}."""
    if not isinstance(node, yaml.MappingNode):
        return {"confidence": share(reader, node, what)}
    section = reader.section(node, what, {"column": CaseReader.text, "source": share})
    return section.kept(confidence_column="column", confidence="source")


def _removal(reader: CaseReader, node: yaml.Node, what: str) -> Offer:
    return Offer(**reader.section(node, what, {"cost": CaseReader.number, "success": share}))


SOURCE = {
    "path": CaseReader.file,
    "format": choice(list(FORMATS)),
    "features": CaseReader.flag,
    "breaches": CaseReader.flag,
    "map": _map,
    "join": mapping(CaseReader.texts),
    "id": CaseReader.text,
    "confidence": _confidence,
    "column_confidence": mapping(share),
    "remove": _removal,
}
POPULATION = {
    "references": CaseReader.file,
    "person": CaseReader.text,
    "map": _map,
    "quasi_identifiers": CaseReader.texts,
    "sensitive": CaseReader.texts,
}


def read_sources(reader: CaseReader, node: yaml.Node, what: str) -> tuple[Source, ...]:
    """All sources; the reader is told the labels that an attribute of one of them may have, and those there are."""
    sources: list[Source] = []
    empty = "name one file or more"
    for section in reader.named(node, what, "a source", SOURCE, required=["path"], empty=empty):
        names = {"columns": "map", "joined": "join", "identifier": "id", "removal": "remove"}
        fields = section.kept("path", **names, label_confidence="column_confidence") | section.get("confidence", {})
        source = Source(section.name, format=_format(reader, section), **fields)
        if source.format == "table":
            source = _recognised(reader, section, source)
        sources.append(source)
        if source.format == "table":
            possible = seen = _table_labels(reader, section, source)
        else:
            possible, seen = _other_labels(reader, section, source)
        reader.known(section.keys_of("column_confidence"), possible, "label", section.about)
        reader.possible |= possible
        reader.seen |= seen
    return tuple(sources)


def _format(reader: CaseReader, section: CaseSection) -> SourceFormat:
    formats = {FORMATS[key] for key in ("features", "breaches") if section.get(key)}
    formats |= {FORMATS[section["format"]]} if "format" in section else set()
    if len(formats) > 1:
        at = next(section.nodes[key] for key in ("format", "breaches") if key in section)
        reader.wrong(at, f"{section.about} has two formats: keep one")
    return formats.pop() if formats else "table"


def _recognised(reader: CaseReader, section: CaseSection, source: Source) -> Source:
    """The source with columns that are called otherwise than the person's labels, but say what they hold."""
    if "*" in source.columns or reader.person is None:
        return source
    hint = "; for a list of breaches say breaches: true" if source.path.suffix.lower() == ".json" else ""
    names = columns_of(reader, section.nodes["path"], source.path, section.about, hint)
    labels = {label for label, _ in reader.person}
    said = {*source.columns, *(column for some in source.joined.values() for column in some)}
    taken = {*source.columns.values(), *source.joined}
    free = [name for name in names if name not in said | {source.identifier, source.confidence_column}]
    found = recognised(free, labels - taken)
    if not found.columns and not found.joined:
        return source
    parts = {label: " + ".join(columns) for label, columns in found.joined.items()}
    told = [*(f"{column} as {label}" for column, label in found.columns.items())]
    told += [f"{columns} as {label}" for label, columns in parts.items()]
    reader.notes.append(f"source '{source.name}': read {', '.join(told)}; say otherwise with 'map' and 'join'")
    return replace(source, columns={**found.columns, **source.columns}, joined={**found.joined, **source.joined})


def _table_labels(reader: CaseReader, section: CaseSection, source: Source) -> set[str]:
    """The labels of a table."""
    hint = "; for a list of breaches say breaches: true" if source.path.suffix.lower() == ".json" else ""
    names = columns_of(reader, section.nodes["path"], source.path, section.about, hint)
    named = [(column, at) for column, at in section.keys_of("map") if column != "*"]
    for key, beside in (("id", source.identifier), ("confidence", source.confidence_column)):
        named += [(beside, section.nodes[key])] if beside else []
    named += [(column, at) for label, at in section.keys_of("join") for column in source.joined[label]]
    reader.known(named, names, "column", section.about)
    return {*source.labelled(names).values(), *source.joined} if names else set()


def _other_labels(reader: CaseReader, section: CaseSection, source: Source) -> tuple[set[str], set[str]]:
    """The labels that a file of another format may have, and those found in it, or at its beginning."""
    about, breaches = section.about, source.format == "breaches"
    if source.joined:
        reader.wrong(section.nodes["join"], f"{about} is no table, and has no columns to join: leave out 'join'")
    if breaches and source.identifier is not None:
        reader.wrong(section.nodes["id"], f"{about} is a list of breaches, which have names: leave out 'id'")
    if breaches and source.confidence_column is not None:
        reader.wrong(section.nodes["confidence"], f"{about} is a list of breaches, which has no columns: give a number")
    usual = CLASS_LABELS if breaches else USUAL_LABELS
    possible = {label for label in source.labels_of(usual).values() if label is not None}
    with reader.refusals(section.nodes["path"], about):
        if breaches:
            return possible, labels_in(source)
        records = islice(read_features(source), LOOKED_AT)
        return possible, {label for record in records for label, _ in record.facts}
    return possible, set()


def read_population(reader: CaseReader, node: yaml.Node, _: str) -> PopulationSpec | None:
    """The references of many persons; None after a mistake."""
    section = reader.section(node, "the population", POPULATION, required=["references", "person"])
    if not section.complete:
        return None
    fields = section.kept("references", "person", "quasi_identifiers", "sensitive", columns="map")
    population = PopulationSpec(**fields)
    names = columns_of(reader, section.nodes["references"], population.references, section.about)
    named = [(column, at) for column, at in section.keys_of("map") if column != "*"]
    reader.known([*named, (population.person, section.nodes["person"])], names, "column", "the references")
    labels = set(population.labelled(names).values())
    for key in ("quasi_identifiers", "sensitive"):
        used = [(label, section.nodes[key]) for label in section.get(key, ())]
        reader.known(used, labels, "label", "the references")
    return population
