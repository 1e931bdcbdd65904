"""Attributes in a case file: of the person, of releases that are planned, of queries."""

from __future__ import annotations

from collections.abc import Iterator

import yaml

from tacit.person.case.model import Slot
from tacit.person.case.nodes import is_null
from tacit.person.case.schema import CaseReader, as_node, number, text
from tacit.person.model.records import Attribute, Record, Reference

# A label, the node of its value, and the confidence.
Statement = tuple[str, yaml.Node, float]

VALUE = {"value": as_node, "confidence": number("the confidence of {about}", high=1.0)}
ATTRIBUTE = {"label": text("the label of {about}"), "value": as_node}


def read_person(reader: CaseReader, node: yaml.Node, _: str = "") -> Reference | None:
    """The person: ``{attributes: ...}``, or the attributes themselves; None after a mistake."""
    inner = node
    if isinstance(node, yaml.MappingNode) and any(key.value == "attributes" for key, _ in node.value):
        inner = reader.record(node, "the person", {"attributes": as_node}).get("attributes", node)
    attributes = read_attributes(reader, inner, "the person", confident=False)
    if not attributes:
        reader.wrong(node, "the person has no attribute: say at least one true thing, as label: value")
        return None
    return Reference([attribute.fact for attribute in attributes])


def read_attributes(reader: CaseReader, node: yaml.Node, what: str, *, confident: bool) -> list[Attribute]:
    """Attributes as a mapping (label: value, or label: [values]) or a list of {label, value} or {label: value}.

    With ``confident`` a value may also be {value, confidence}, and an item have a confidence.
    """
    attributes: dict[tuple[str, str], Attribute] = {}
    lines: dict[tuple[str, str], int] = {}
    for label, at, confidence in _statements(reader, node, what, confident):
        value = reader.text(at, f"the value of '{label}' of {what}")
        if not value:
            continue
        if (label, value) in attributes:
            # Which value it is, is nobody's business but the file's.
            first = lines[label, value]
            reader.wrong(at, f"{what} has the same value of '{label}' twice, first on line {first}: keep one")
            continue
        attributes[label, value] = Attribute(label, value, confidence)
        lines[label, value] = at.start_mark.line + 1
    return list(attributes.values())


def _statements(reader: CaseReader, node: yaml.Node, what: str, confident: bool) -> Iterator[Statement]:
    """Labels, nodes of values and confidences, whichever way they are written."""
    if is_null(node):
        return
    if isinstance(node, yaml.MappingNode):
        for label, _, value in reader.entries(node, what):
            yield from _values(reader, label, value, what, confident)
        return
    schema = ATTRIBUTE | ({"confidence": VALUE["confidence"]} if confident else {})
    for place, item in enumerate(reader.items(node, f"the attributes of {what}"), start=1):
        where = f"attribute {place} of {what}"
        keys = [key.value for key, _ in item.value] if isinstance(item, yaml.MappingNode) else []
        if len(keys) == 1 and keys[0] not in ("label", "value", "confidence"):
            for label, _, value in reader.entries(item, where):
                yield from _values(reader, label, value, what, confident)
            continue
        said = reader.record(item, where, schema, required=["label", "value"])
        if said.get("label") and "value" in said:
            yield said["label"], said["value"], said.get("confidence", 1.0)


def _values(reader: CaseReader, label: str, node: yaml.Node, what: str, confident: bool) -> Iterator[Statement]:
    """One label's value, or several."""
    if not label.strip():
        reader.wrong(node, f"an attribute of {what} has no label: give it one, such as phone")
    elif isinstance(node, yaml.SequenceNode):
        for item in node.value:
            yield from _values(reader, label, item, what, confident)
    elif confident and isinstance(node, yaml.MappingNode):
        said = reader.record(node, f"'{label}' of {what}", VALUE, required=["value"])
        if "value" in said:
            yield label, said["value"], said.get("confidence", 1.0)
    else:
        yield label, node, 1.0


def read_named_records(
    reader: CaseReader, node: yaml.Node, nouns: tuple[str, str, str], *, source: str = "", empty: bool = False
) -> tuple[Record, ...]:
    """Records with names: a list of {name, attributes}; with ``empty`` a record may have no attribute."""
    records: list[Record] = []
    for said in reader.named(node, nouns, {"attributes": as_node}):
        attributes = (
            read_attributes(reader, said["attributes"], said.about, confident=True) if "attributes" in said else []
        )
        if not attributes and not empty:
            reader.wrong(said.node, f"{said.about} has no attribute: add some under 'attributes'")
        records.append(Record.trusted(attributes, name=said.name, source=source))
    return tuple(records)


def read_queries(reader: CaseReader, node: yaml.Node, _: str = "") -> tuple[Record, ...]:
    """Queries: records of what somebody knows who goes looking."""
    return read_named_records(reader, node, ("queries", "a query", "query"))


def read_releases(reader: CaseReader, node: yaml.Node, _: str = "") -> tuple[Slot, ...]:
    """Releases: a list of {name, options}; an option without attributes releases nothing."""
    slots: list[Slot] = []
    for said in reader.named(node, ("releases", "a release", "release"), {"options": as_node}, required=["options"]):
        if "options" not in said:
            continue
        nouns = (f"the options of {said.about}", "an option", "option")
        options = read_named_records(reader, said["options"], nouns, source=said.name, empty=True)
        if not options:
            reader.wrong(said.node, f"{said.about} has no option: add one or more, each with a name and attributes")
        slots.append(Slot(said.name, options))
    return tuple(slots)
