"""Attributes in a case file: of the person, of releases that are planned, of queries."""

from __future__ import annotations

import yaml

from tacit.person.records import Attribute, Record, Reference
from tacit.workflows.person_case_model import Slot
from tacit.workflows.person_case_nodes import CaseReader, is_null


def read_person(reader: CaseReader, node: yaml.Node) -> Reference | None:
    """The person: ``{attributes: ...}``, or the attributes themselves; None after a mistake."""
    inner = node
    if isinstance(node, yaml.MappingNode) and any(key.value == "attributes" for key, _ in node.value):
        inner = reader.fields(node, "the person", ["attributes"]).get("attributes", node)
    found = read_attributes(reader, inner, "the person", confident=False)
    if not found:
        reader.wrong(node, "the person has no attribute: say at least one true thing, as label: value")
        return None
    return Reference([attribute.fact for attribute in found])


def read_attributes(reader: CaseReader, node: yaml.Node, what: str, *, confident: bool) -> list[Attribute]:
    """Attributes as a mapping (label: value, or label: [values]) or a list of {label, value} or {label: value}.

    With ``confident`` a value may also be {value, confidence}, and an item have a confidence.
    """
    found: dict[tuple[str, str], Attribute] = {}
    lines: dict[tuple[str, str], int] = {}
    for label, at, confidence in _said(reader, node, what, confident):
        value = reader.text(at, f"the value of '{label}' of {what}")
        if not value:
            continue
        if (label, value) in found:
            # Which value it is, is nobody's business but the file's.
            first = lines[label, value]
            reader.wrong(at, f"{what} has the same value of '{label}' twice, first on line {first}: keep one")
            continue
        found[label, value] = Attribute(label, value, confidence)
        lines[label, value] = at.start_mark.line + 1
    return list(found.values())


def _said(reader: CaseReader, node: yaml.Node, what: str, confident: bool) -> list[tuple[str, yaml.Node, float]]:
    """Labels, nodes of values and confidences, whichever way they are written."""
    if is_null(node):
        return []
    if isinstance(node, yaml.MappingNode):
        return [
            said
            for label, _, value in reader.entries(node, what)
            for said in _values(reader, label, value, what, confident)
        ]
    found: list[tuple[str, yaml.Node, float]] = []
    for place, item in enumerate(reader.items(node, f"the attributes of {what}"), start=1):
        where = f"attribute {place} of {what}"
        keys = [key.value for key, _ in item.value] if isinstance(item, yaml.MappingNode) else []
        if len(keys) == 1 and keys[0] not in ("label", "value", "confidence"):
            found += [
                said
                for label, _, value in reader.entries(item, where)
                for said in _values(reader, label, value, what, confident)
            ]
            continue
        known = ["label", "value", "confidence"] if confident else ["label", "value"]
        fields = reader.fields(item, where, known, required=["label", "value"])
        if "label" in fields and "value" in fields:
            label = reader.text(fields["label"], f"the label of {where}")
            if label:
                found.append((label, fields["value"], _confidence(reader, fields, where)))
    return found


def _values(
    reader: CaseReader, label: str, node: yaml.Node, what: str, confident: bool
) -> list[tuple[str, yaml.Node, float]]:
    """One label's value, or several."""
    if not label.strip():
        reader.wrong(node, f"an attribute of {what} has no label: give it one, such as phone")
        return []
    if isinstance(node, yaml.SequenceNode):
        return [said for item in node.value for said in _values(reader, label, item, what, confident)]
    if confident and isinstance(node, yaml.MappingNode):
        where = f"'{label}' of {what}"
        fields = reader.fields(node, where, ["value", "confidence"], required=["value"])
        return [(label, fields["value"], _confidence(reader, fields, where))] if "value" in fields else []
    return [(label, node, 1.0)]


def _confidence(reader: CaseReader, fields: dict[str, yaml.Node], where: str) -> float:
    if "confidence" not in fields:
        return 1.0
    return reader.number(fields["confidence"], f"the confidence of {where}", high=1.0)


def read_named_records(
    reader: CaseReader, node: yaml.Node, what: str, *, source: str = "", empty: bool = False
) -> tuple[Record, ...]:
    """Records with names: a list of {name, attributes}; with ``empty`` a record may have no attribute."""
    found: list[Record] = []
    taken: dict[str, int] = {}
    for item in reader.items(node, f"the list of each {what}"):
        fields = reader.fields(item, f"a {what}", ["name", "attributes"], required=["name"])
        name = reader.text(fields["name"], f"the name of a {what}") if "name" in fields else ""
        reader.unique(item, name, what, taken)
        held = (
            read_attributes(reader, fields["attributes"], f"{what} '{name}'", confident=True)
            if "attributes" in fields
            else []
        )
        if not held and not empty:
            reader.wrong(item, f"{what} '{name}' has no attribute: add some under 'attributes'")
        found.append(Record.trusted(held, name=name, source=source))
    return tuple(found)


def read_releases(reader: CaseReader, node: yaml.Node) -> tuple[Slot, ...]:
    """Releases: a list of {name, options}; an option without attributes releases nothing."""
    found: list[Slot] = []
    taken: dict[str, int] = {}
    for item in reader.items(node, "releases"):
        fields = reader.fields(item, "a release", ["name", "options"], required=["name", "options"])
        name = reader.text(fields["name"], "the name of a release") if "name" in fields else ""
        reader.unique(item, name, "release", taken)
        if "options" not in fields:
            continue
        options = read_named_records(reader, fields["options"], "option", source=name, empty=True)
        if not options:
            reader.wrong(item, f"release '{name}' has no option: add one or more, each with a name and attributes")
        found.append(Slot(name, options))
    return tuple(found)
