"""Sources in a case file, and the references of a population: files, columns, labels and confidences."""

from __future__ import annotations

from itertools import islice
from pathlib import Path
from typing import Any

import yaml

from tacit.errors import TacitError
from tacit.workflows.person_case_model import PopulationSpec, Removal, Source, SourceFormat
from tacit.workflows.person_case_nodes import CaseReader, is_null, nearest
from tacit.workflows.person_case_tables import columns_of_file

KEYS = [
    "name", "path", "format", "features", "breaches", "map", "join", "id", "confidence", "column_confidence", "remove",
]  # fmt: skip
FORMATS: dict[str, SourceFormat] = {
    "table": "table",
    "features": "features",
    "senzing": "features",
    "breaches": "breaches",
    "hibp": "breaches",
}


# To see which labels a file of features has, so many of its records are looked at.
LOOKED_AT = 10_000


def read_sources_of_case(
    reader: CaseReader, node: yaml.Node
) -> tuple[tuple[Source, ...], frozenset[str], frozenset[str]]:
    """All sources, every label an attribute of one of them may have, and the labels that were seen."""
    found: list[Source] = []
    labels: set[str] = set()
    seen: set[str] = set()
    taken: dict[str, int] = {}
    for item in reader.items(node, "sources"):
        fields = reader.fields(item, "a source", KEYS, required=["name", "path"])
        name = reader.text(fields["name"], "the name of a source") if "name" in fields else ""
        reader.unique(item, name, "source", taken)
        source = _source(reader, fields, name)
        found.append(source)
        possible = _labels(reader, fields, source)
        labels |= possible
        seen |= possible if source.format == "table" else _seen(reader, fields, source)
    if isinstance(node, yaml.SequenceNode) and not node.value:
        reader.wrong(node, "there is no source: name one or more files")
    return tuple(found), frozenset(labels), frozenset(seen)


def _source(reader: CaseReader, fields: dict[str, yaml.Node], name: str) -> Source:
    what = f"source '{name}'"
    known: dict[str, Any] = {
        "format": _format(reader, fields, what),
        "columns": read_map(reader, fields.get("map"), what),
    }
    if "join" in fields:
        known["joined"] = {
            label: reader.texts(columns, f"the columns of '{label}' in 'join' of {what}")
            for label, _, columns in reader.entries(fields["join"], f"'join' of {what}")
        }
        if known["format"] != "table":
            reader.wrong(fields["join"], f"{what} is no table, and has no columns to join: leave out 'join'")
    if "id" in fields:
        known["identifier"] = reader.text(fields["id"], f"'id' of {what}")
    if "confidence" in fields:
        known |= _confidence(reader, fields["confidence"], what)
    if "column_confidence" in fields:
        entries = reader.entries(fields["column_confidence"], f"'column_confidence' of {what}")
        known["label_confidence"] = {
            label: reader.number(node, f"the confidence of '{label}' of {what}", high=1.0) for label, _, node in entries
        }
    if "remove" in fields:
        where = f"'remove' of {what}"
        inner = reader.fields(fields["remove"], where, ["cost", "success"])
        cost = reader.number(inner["cost"], f"the cost in {where}") if "cost" in inner else 1.0
        success = reader.number(inner["success"], f"the success in {where}", high=1.0) if "success" in inner else 1.0
        known["removal"] = Removal(cost, success)
    path = reader.file(fields["path"], what) if "path" in fields else Path()
    return Source(name, path, **known)


def _format(reader: CaseReader, fields: dict[str, yaml.Node], what: str) -> SourceFormat:
    said: set[SourceFormat] = set()
    if "features" in fields and reader.flag(fields["features"], f"'features' of {what}"):
        said.add("features")
    if "breaches" in fields and reader.flag(fields["breaches"], f"'breaches' of {what}"):
        said.add("breaches")
    if "format" in fields:
        said.add(FORMATS[reader.choice(fields["format"], "format of a source", list(FORMATS))])
    if len(said) > 1:
        reader.wrong(fields.get("format", fields.get("breaches", fields["path"])), f"{what} has two formats: keep one")
    return said.pop() if said else "table"


def read_map(reader: CaseReader, node: yaml.Node | None, what: str) -> dict[str, str | None]:
    """Columns to labels; null leaves a column out, and ``"*": null`` all that are not named."""
    found: dict[str, str | None] = {}
    for column, at, value in reader.entries(node, f"the map of {what}") if node is not None else []:
        if is_null(value):
            found[column] = None
        elif column == "*":
            reader.wrong(at, f"'*' in the map of {what} stands for all other columns: only null can be said of them")
        else:
            found[column] = reader.text(value, f"the label of column '{column}' of {what}") or None
    return found


def _confidence(reader: CaseReader, node: yaml.Node, what: str) -> dict[str, Any]:
    """A number, or {column: name}, or both: {source: number, column: name}."""
    where = f"the confidence of {what}"
    if not isinstance(node, yaml.MappingNode):
        return {"confidence": reader.number(node, where, high=1.0)}
    fields = reader.fields(node, where, ["column", "source"])
    known: dict[str, Any] = {}
    if "column" in fields:
        known["confidence_column"] = reader.text(fields["column"], f"the column of {where}")
    if "source" in fields:
        known["confidence"] = reader.number(fields["source"], where, high=1.0)
    return known


def _labels(reader: CaseReader, fields: dict[str, yaml.Node], source: Source) -> set[str]:
    """The labels a source may speak of; mistakes about its columns and labels are remembered."""
    if "path" not in fields or not source.path.parent.is_dir():
        return set()
    what = f"source '{source.name}'"
    if source.format == "table":
        labels = _table_labels(reader, fields, source, what)
    elif source.format == "features":
        from tacit.workflows.person_sources_features import feature_labels

        labels = {label for label in feature_labels(source).values() if label is not None}
    else:
        from tacit.workflows.person_sources_breaches import class_labels

        labels = {label for label in class_labels(source).values() if label is not None}
        if source.identifier is not None:
            reader.wrong(fields["id"], f"{what} is a list of breaches, which have names: leave out 'id'")
        if source.confidence_column is not None:
            reader.wrong(fields["confidence"], f"{what} is a list of breaches, which has no columns: give a number")
    if labels:
        for label, at, _ in _entries(fields.get("column_confidence")):
            if label not in labels:
                reader.wrong(at, f"no label '{label}' in {what}{nearest(label, sorted(labels))}")
    return labels


def _seen(reader: CaseReader, fields: dict[str, yaml.Node], source: Source) -> set[str]:
    """The labels in a file that is no table, or at its beginning."""
    from tacit.workflows.person_sources_breaches import labels_in
    from tacit.workflows.person_sources_features import read_features

    if "path" not in fields or not source.path.is_file():
        return set()
    try:
        if source.format == "breaches":
            return labels_in(source)
        return {label for record in islice(read_features(source), LOOKED_AT) for label, _ in record[1]}
    except TacitError as error:
        reader.wrong(fields["path"], f"source '{source.name}': {error}")
    except OSError as error:
        reader.wrong(fields["path"], f"source '{source.name}': cannot read {source.path}: {error.strerror}")
    return set()


def _entries(node: yaml.Node | None) -> list[tuple[str, yaml.Node, yaml.Node]]:
    if not isinstance(node, yaml.MappingNode):
        return []
    return [(key.value, key, value) for key, value in node.value if isinstance(key, yaml.ScalarNode)]


def _table_labels(reader: CaseReader, fields: dict[str, yaml.Node], source: Source, what: str) -> set[str]:
    names = _columns(reader, fields["path"], source.path, what)
    if not names:
        return set()
    for column, at, _ in _entries(fields.get("map")):
        if column not in names and column != "*":
            reader.wrong(at, f"no column '{column}' in {what}{nearest(column, names)}")
    for key, beside in (("id", source.identifier), ("confidence", source.confidence_column)):
        if beside and beside not in names:
            reader.wrong(fields[key], f"no column '{beside}' in {what}{nearest(beside, names)}")
    for label, at, _ in _entries(fields.get("join")):
        for column in source.joined.get(label, ()):
            if column not in names:
                reader.wrong(at, f"no column '{column}' in {what}{nearest(column, names)}")
    return {label for _, label in labelled(source, names)} | set(source.joined)


def _columns(reader: CaseReader, node: yaml.Node, path: Path, what: str) -> tuple[str, ...]:
    """The columns of a table that is there; none after a mistake, which may be an old one."""
    if not path.exists() and "::" not in path.name:
        return ()
    try:
        return columns_of_file(path)
    except TacitError as error:
        hint = "; for a list of breaches say breaches: true" if path.suffix.lower() == ".json" else ""
        reader.wrong(node, f"{what}: {error}{hint}")
        return ()


def labelled(source: Source | PopulationSpec, names: tuple[str, ...]) -> list[tuple[str, str]]:
    """The columns that become attributes, each with its label, in the order of the table.

    The column that names records, tells persons apart, holds confidences or is a part of a joined value is one only
    where the map says so.
    """
    quiet: set[str | None]
    if isinstance(source, PopulationSpec):
        quiet = {source.person}
    else:
        quiet = {source.identifier, source.confidence_column, *(c for part in source.joined.values() for c in part)}
    rest = "*" not in source.columns
    found = ((name, source.columns.get(name, name if rest and name not in quiet else None)) for name in names)
    return [(name, label) for name, label in found if label is not None]


def read_population(reader: CaseReader, node: yaml.Node) -> PopulationSpec | None:
    """The references of many persons; None after a mistake."""
    what = "the population"
    keys = ["references", "person", "map", "quasi_identifiers", "sensitive"]
    fields = reader.fields(node, what, keys, required=["references", "person"])
    if "references" not in fields or "person" not in fields:
        return None
    made = PopulationSpec(
        reader.file(fields["references"], "the references of the population"),
        reader.text(fields["person"], "'person' of the population"),
        read_map(reader, fields.get("map"), what),
        reader.texts(fields["quasi_identifiers"], "the quasi-identifiers") if "quasi_identifiers" in fields else (),
        reader.texts(fields["sensitive"], "'sensitive' of the population") if "sensitive" in fields else (),
    )
    names = _columns(reader, fields["references"], made.references, what)
    if not names:
        return made
    for column, at, _ in _entries(fields.get("map")):
        if column not in names and column != "*":
            reader.wrong(at, f"no column '{column}' in the references{nearest(column, names)}")
    if made.person not in names:
        reader.wrong(fields["person"], f"no column '{made.person}' in the references{nearest(made.person, names)}")
    labels = sorted({label for _, label in labelled(made, names)})
    for key, said in (("quasi_identifiers", made.quasi_identifiers), ("sensitive", made.sensitive)):
        for label in said:
            if label not in labels:
                reader.wrong(fields[key], f"no label '{label}' in the references{nearest(label, labels)}")
    return made
