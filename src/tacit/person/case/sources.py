"""Sources in a case file, and the references of a population: files, columns, labels and confidences."""

from __future__ import annotations

from collections.abc import Collection, Iterable
from itertools import islice
from pathlib import Path
from typing import Any

import yaml

from tacit.errors import TacitError
from tacit.person.case.nodes import is_null
from tacit.person.case.schema import CaseReader, Said, choice, file, flag, mapping, nearest, number, text, texts
from tacit.person.case.tables import columns_of_file
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


def _map(reader: CaseReader, node: yaml.Node, about: str) -> dict[str, str | None]:
    """Columns to labels; null leaves a column out, and ``"*": null`` all that are not named."""
    labels: dict[str, str | None] = {}
    for column, at, value in reader.entries(node, f"the map of {about}"):
        if is_null(value):
            labels[column] = None
        elif column == "*":
            reader.wrong(at, f"'*' in the map of {about} stands for all other columns: only null can be said of them")
        else:
            labels[column] = reader.text(value, f"the label of column '{column}' of {about}") or None
    return labels


def _confidence(reader: CaseReader, node: yaml.Node, about: str) -> dict[str, Any]:
    """A number, or {column: name}, or both: {source: number, column: name}."""
    where = f"the confidence of {about}"
    if not isinstance(node, yaml.MappingNode):
        return {"confidence": reader.number(node, where, high=1.0)}
    said = reader.record(node, where, {"column": text("the column of {about}"), "source": number("{about}", high=1.0)})
    return said.kept(confidence_column="column", confidence="source")


def _removal(reader: CaseReader, node: yaml.Node, about: str) -> Offer:
    schema = {"cost": number("the cost in {about}"), "success": number("the success in {about}", high=1.0)}
    return Offer(**reader.record(node, f"'remove' of {about}", schema).kept("cost", "success"))


SOURCE = {
    "path": file(),
    "format": choice("format of a source", list(FORMATS)),
    "features": flag("'features' of {about}"),
    "breaches": flag("'breaches' of {about}"),
    "map": _map,
    "join": mapping("'join' of {about}", CaseReader.texts, "the columns of '{key}' in 'join' of {about}"),
    "id": text("'id' of {about}"),
    "confidence": _confidence,
    "column_confidence": mapping(
        "'column_confidence' of {about}",
        lambda reader, node, what: reader.number(node, what, high=1.0),
        "the confidence of '{key}' of {about}",
    ),
    "remove": _removal,
}
POPULATION = {
    "references": file("the references of the population"),
    "person": text("'person' of the population"),
    "map": _map,
    "quasi_identifiers": texts("the quasi-identifiers"),
    "sensitive": texts("'sensitive' of the population"),
}


def read_sources_of_case(
    reader: CaseReader, node: yaml.Node
) -> tuple[tuple[Source, ...], frozenset[str], frozenset[str]]:
    """All sources, every label an attribute of one of them may have, and the labels that were seen."""
    sources: list[Source] = []
    labels: set[str] = set()
    seen: set[str] = set()
    for said in reader.named(node, ("sources", "a source", "source"), SOURCE, required=["path"]):
        names = {"columns": "map", "joined": "join", "identifier": "id", "removal": "remove"}
        fields = said.kept(**names, label_confidence="column_confidence") | said.get("confidence", {})
        source = Source(said.name, said.get("path", Path()), _format(reader, said), **fields)
        if "join" in said and source.format != "table":
            reader.wrong(said.nodes["join"], f"{said.about} is no table, and has no columns to join: leave out 'join'")
        sources.append(source)
        possible = _labels(reader, said, source)
        labels |= possible
        seen |= possible if source.format == "table" else _seen(reader, said, source)
    if isinstance(node, yaml.SequenceNode) and not node.value:
        reader.wrong(node, "there is no source: name one or more files")
    return tuple(sources), frozenset(labels), frozenset(seen)


def _format(reader: CaseReader, said: Said) -> SourceFormat:
    formats = {FORMATS[key] for key in ("features", "breaches") if said.get(key)}
    formats |= {FORMATS[said["format"]]} if "format" in said else set()
    if len(formats) > 1:
        at = next(said.nodes[key] for key in ("format", "breaches") if key in said)
        reader.wrong(at, f"{said.about} has two formats: keep one")
    return formats.pop() if formats else "table"


def _labels(reader: CaseReader, said: Said, source: Source) -> set[str]:
    """The labels a source may speak of; mistakes about its columns and labels are remembered."""
    if "path" not in said or not source.path.parent.is_dir():
        return set()
    if source.format == "table":
        labels = _table_labels(reader, said, source)
    else:
        usual = USUAL_LABELS if source.format == "features" else CLASS_LABELS
        labels = {label for label in source.labels_of(usual).values() if label is not None}
    if source.format == "breaches":
        if source.identifier is not None:
            reader.wrong(said.nodes["id"], f"{said.about} is a list of breaches, which have names: leave out 'id'")
        if source.confidence_column is not None:
            at = said.nodes["confidence"]
            reader.wrong(at, f"{said.about} is a list of breaches, which has no columns: give a number")
    if labels:
        _check(reader, _keys(said, "column_confidence"), labels, "label", said.about)
    return labels


def _check(
    reader: CaseReader, given: Iterable[tuple[str, yaml.Node]], names: Collection[str], kind: str, what: str
) -> None:
    """Refuse names that are not there."""
    ordered = sorted(names) if kind == "label" else list(names)
    for name, at in given:
        if name not in names:
            reader.wrong(at, f"no {kind} '{name}' in {what}{nearest(name, ordered)}")


def _keys(said: Said, key: str) -> list[tuple[str, yaml.Node]]:
    """The keys of a mapping that a field is, with their nodes."""
    node = said.nodes.get(key)
    pairs = node.value if isinstance(node, yaml.MappingNode) else []
    return [(at.value, at) for at, _ in pairs if isinstance(at, yaml.ScalarNode)]


def _seen(reader: CaseReader, said: Said, source: Source) -> set[str]:
    """The labels in a file that is no table, or at its beginning."""
    if "path" not in said or not source.path.is_file():
        return set()
    try:
        if source.format == "breaches":
            return labels_in(source)
        return {label for record in islice(read_features(source), LOOKED_AT) for label, _ in record.facts}
    except TacitError as error:
        reader.wrong(said.nodes["path"], f"{said.about}: {error}")
    except OSError as error:
        reader.wrong(said.nodes["path"], f"{said.about}: cannot read {source.path}: {error.strerror}")
    return set()


def _table_labels(reader: CaseReader, said: Said, source: Source) -> set[str]:
    hint = "; for a list of breaches say breaches: true" if source.path.suffix.lower() == ".json" else ""
    names = columns_of_file(reader, said.nodes["path"], source.path, said.about, hint)
    if not names:
        return set()
    named = [(column, at) for column, at in _keys(said, "map") if column != "*"]
    for key, beside in (("id", source.identifier), ("confidence", source.confidence_column)):
        named += [(beside, said.nodes[key])] if beside else []
    named += [(column, at) for label, at in _keys(said, "join") for column in source.joined.get(label, ())]
    _check(reader, named, names, "column", said.about)
    return {*source.labelled(names).values(), *source.joined}


def read_population(reader: CaseReader, node: yaml.Node, _: str = "") -> PopulationSpec | None:
    """The references of many persons; None after a mistake."""
    said = reader.record(node, "the population", POPULATION, required=["references", "person"])
    if "references" not in said or "person" not in said:
        return None
    fields = said.kept("references", "person", "quasi_identifiers", "sensitive", columns="map")
    population = PopulationSpec(**fields)
    names = columns_of_file(reader, said.nodes["references"], population.references, said.about)
    if names:
        named = [(column, at) for column, at in _keys(said, "map") if column != "*"]
        _check(reader, [*named, (population.person, said.nodes["person"])], names, "column", "the references")
        labels = set(population.labelled(names).values())
        for key in ("quasi_identifiers", "sensitive"):
            _check(reader, [(label, said.nodes[key]) for label in said.get(key, ())], labels, "label", "the references")
    return population
