"""Sources in a case file, and the references of a population: files, columns, labels and confidences."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any, get_args

import yaml

from tacit.person.case.nodes import is_null
from tacit.person.case.schema import CaseReader, CaseSection, choice, mapping, share
from tacit.person.case.tables import columns_of
from tacit.person.model.kinds import recognised, usual
from tacit.person.plans.letters import Law
from tacit.person.plans.removals import Offer
from tacit.person.sources.formats import FORMATS, found_format, is_long, long_labels, table_of
from tacit.person.sources.places import Address
from tacit.person.sources.source import PopulationSpec, Source, SourceFormat
from tacit.requests.names import DISTRIBUTED

# The names that a case may use for the formats.
CALLED: dict[str, SourceFormat] = {
    **{name: name for name in get_args(SourceFormat)},
    "senzing": "features",
    "hibp": "breaches",
    "ftm": "entities",
    "opensanctions": "entities",
    "google": "contacts",
    "theharvester": "harvester",
    "mbox": "mailbox",
    "eml": "mailbox",
}
TABLES: tuple[SourceFormat, ...] = ("table", "json")


def _map(reader: CaseReader, node: yaml.Node, what: str) -> dict[str, str | None]:
    """Columns to labels; null leaves a column out, and ``"*": null`` leaves out all that are not named."""
    labels: dict[str, str | None] = {}
    for column, at, value in reader.entries(node, what):
        if column == "*" and not is_null(value):
            reader.wrong(at, f"'*' in {what} stands for all other columns: only null can be said about them")
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
    "path": CaseReader.place,
    "format": choice(list(CALLED)),
    "features": CaseReader.flag,
    "breaches": CaseReader.flag,
    "map": _map,
    "join": mapping(CaseReader.texts),
    "id": CaseReader.text,
    "confidence": _confidence,
    "column_confidence": mapping(share),
    "remove": _removal,
    "law": choice(get_args(Law)),
}
POPULATION = {
    "references": CaseReader.place,
    "person": CaseReader.text,
    "map": _map,
    "quasi_identifiers": CaseReader.texts,
    "sensitive": CaseReader.texts,
}


def read_sources(reader: CaseReader, node: yaml.Node, what: str) -> tuple[Source, ...]:
    """All sources; the reader notes the labels that their attributes may have, and those that were found."""
    sources: list[Source] = []
    empty = "name one file or more"
    for section in reader.named(node, what, "a source", SOURCE, required=["path"], empty=empty):
        names = {"columns": "map", "joined": "join", "identifier": "id", "removal": "remove"}
        fields = section.kept("path", "law", **names, label_confidence="column_confidence") | section.get(
            "confidence", {}
        )
        source = Source(section.name, format=_format(reader, section), **fields)
        if source.format in TABLES:
            source = _recognised(reader, section, source)
            possible = labels_there = _table_labels(reader, section, source)
        else:
            source = _called(reader, source)
            possible, labels_there = _other_labels(reader, section, source)
        sources.append(source)
        reader.known(section.keys_of("column_confidence"), possible, "label", section.about)
        reader.possible |= possible
        reader.seen |= labels_there
    return tuple(sources)


def _format(reader: CaseReader, section: CaseSection) -> SourceFormat:
    formats = {CALLED[key] for key in ("features", "breaches") if section.get(key)}
    formats |= {CALLED[section["format"]]} if "format" in section else set()
    if len(formats) > 1:
        at = next(section.nodes[key] for key in ("format", "breaches") if key in section)
        reader.wrong(at, f"{section.about} has two formats: keep one")
    if formats:
        return formats.pop()
    place = section["path"]
    with reader.refusals(section.nodes["path"], section.about):
        format_ = found_format(place)
        # What an address begins with is not looked at, but its columns say as much.
        if isinstance(place, Address) and is_long(
            columns_of(reader, section.nodes["path"], place, section.about, engine=reader.engine)
        ):
            format_ = "long"
            if reader.engine in DISTRIBUTED:
                words = "has a label and a value per row, which is read only at a path: save it there"
                reader.wrong(section.nodes["path"], f"{section.about}: {place} {words}")
        return _noted(reader, section, format_)
    return "table"


def _noted(reader: CaseReader, section: CaseSection, format_: SourceFormat) -> SourceFormat:
    if format_ not in TABLES:
        title = FORMATS[format_].title if format_ in FORMATS else "one label and value per row"
        reader.notes.append(f"{section.about}: read as {title}; say otherwise with 'format'")
    return format_


def _recognised(reader: CaseReader, section: CaseSection, source: Source) -> Source:
    """The source with columns whose names differ from the person's labels but say what they hold."""
    labels = {label for label, _ in reader.person or ()} | reader.references
    if "*" in source.columns or not labels:
        return source
    names = columns_of(reader, section.nodes["path"], source.path, section.about, source.format, reader.engine)
    mapped = {*source.columns, *(column for some in source.joined.values() for column in some)}
    used = {*source.columns.values(), *source.joined}
    free = [name for name in names if name not in mapped | {source.identifier, source.confidence_column}]
    by_name = recognised(free, labels - used)
    if not by_name.columns and not by_name.joined:
        return source
    parts = {label: " + ".join(columns) for label, columns in by_name.joined.items()}
    readings = [*(f"{column} as {label}" for column, label in by_name.columns.items())]
    readings += [f"{columns} as {label}" for label, columns in parts.items()]
    reader.notes.append(f"source '{source.name}': read {', '.join(readings)}; say otherwise with 'map' and 'join'")
    return replace(source, columns={**by_name.columns, **source.columns}, joined={**by_name.joined, **source.joined})


def _called(reader: CaseReader, source: Source) -> Source:
    """The source with its usual labels renamed to those of the person: mail, where the format says email."""
    there = {label for label, _ in reader.person or ()} | reader.references
    if "*" in source.columns or not there or source.format not in FORMATS:
        return source
    own = {kind: label for label in sorted(there) if (kind := usual(label)) is not None}
    renamed = {
        field: own[kind]
        for field, label in FORMATS[source.format].usual.items()
        if label not in there and (kind := usual(label)) in own
    }
    return replace(source, columns={**renamed, **source.columns}) if renamed else source


def _table_labels(reader: CaseReader, section: CaseSection, source: Source) -> set[str]:
    """The labels of a table."""
    names = columns_of(reader, section.nodes["path"], source.path, section.about, source.format, reader.engine)
    named = [(column, at) for column, at in section.keys_of("map") if column != "*"]
    named += [(column, at) for label, at in section.keys_of("join") for column in source.joined[label]]
    reader.known([*named, *_beside(section, source)], names, "column", section.about)
    return {*source.labelled(names).values(), *source.joined} if names else set()


def _beside(section: CaseSection, source: Source) -> list[tuple[str, yaml.Node]]:
    """The columns that name records and hold confidences."""
    pairs = (("id", source.identifier), ("confidence", source.confidence_column))
    return [(column, section.nodes[key]) for key, column in pairs if column]


def _other_labels(reader: CaseReader, section: CaseSection, source: Source) -> tuple[set[str], set[str]]:
    """The labels that a file of another format may have, and those found in it or in its first part."""
    about, at = section.about, section.nodes["path"]
    if source.joined:
        reader.wrong(section.nodes["join"], f"{about} is not a table, and has no columns to join: leave out 'join'")
    if source.format == "long":
        names = columns_of(reader, at, source.path, about)
        reader.known(_beside(section, source), names, "column", about)
        with reader.refusals(at, about):
            labels = long_labels(table_of(source.path, source.format), source) if names else set()
            return labels, labels
        return set(), set()
    form = FORMATS[source.format]
    if source.format != "features":
        kind = "a list of breaches" if source.format == "breaches" else form.title
        column_settings = {"id": source.identifier, "confidence": source.confidence_column}
        for key in (key for key, column in column_settings.items() if column):
            out = f"'{key}'" if key == "id" else "the column of 'confidence', and give a number"
            reader.wrong(section.nodes[key], f"{about} is {kind}, which has no columns: leave out {out}")
    possible = {label for label in source.labels_of(form.usual).values() if label is not None}
    with reader.refusals(at, about):
        return possible, form.labels(source)
    return possible, set()


def _of_one_kind(reader: CaseReader, population: PopulationSpec, names: Sequence[str]) -> PopulationSpec:
    """The population with columns of one kind under one label: a private and a work e-mail are two e-mails."""
    keys = {key.value for key, _ in reader.root.value}
    if keys & {"labels", "correlated", "adversaries"}:
        return population  # the case may name these columns
    named = {population.person, *population.quasi_identifiers, *population.sensitive}
    kinds: dict[str, list[str]] = {}
    for name in names:
        if (kind := usual(name)) is not None and kind in _SEVERAL and name not in named:
            kinds.setdefault(kind, []).append(name)
    columns = {name: kind for kind, some in kinds.items() if len(some) > 1 for name in some if name != kind}
    if not columns:
        return population
    readings = ", ".join(f"{name} as {kind}" for name, kind in columns.items())
    reader.notes.append(f"the population: read {readings}; say otherwise with 'map'")
    return replace(population, columns=columns)


# Kinds of which people have several.
_SEVERAL = ("email", "phone", "address", "username", "card", "account")


def read_population(reader: CaseReader, node: yaml.Node, _: str) -> PopulationSpec | None:
    """The references of many people; None after a mistake."""
    section = reader.section(node, "the population", POPULATION, required=["references", "person"])
    if not section.complete:
        return None
    fields = section.kept("references", "person", "quasi_identifiers", "sensitive", columns="map")
    population = PopulationSpec(**fields)
    names = columns_of(reader, section.nodes["references"], population.references, section.about)
    named = [(column, at) for column, at in section.keys_of("map") if column != "*"]
    reader.known([*named, (population.person, section.nodes["person"])], names, "column", "the references")
    if "map" not in section:
        population = _of_one_kind(reader, population, names)
    labels = reader.references = frozenset(population.labelled(names).values())
    for key in ("quasi_identifiers", "sensitive"):
        used = [(label, section.nodes[key]) for label in section.get(key, ())]
        reader.known(used, labels, "label", "the references")
    return population
