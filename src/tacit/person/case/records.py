"""Attributes in a case file: of the person, of planned releases, of queries."""

from __future__ import annotations

from collections.abc import Iterator

import yaml

from tacit.person.case.model import Slot
from tacit.person.case.nodes import is_null, line_of
from tacit.person.case.schema import CaseReader, CaseSection, Schema, as_node, share
from tacit.person.model.forms.phones import country_of, is_country
from tacit.person.model.kinds import usual
from tacit.person.model.records import Attribute, Fact, Record, Reference

# A label, the node of its value, and the confidence.
Statement = tuple[str, yaml.Node, float]

ATTRIBUTE: Schema = {"label": CaseReader.text, "value": as_node, "confidence": share}


def read_person(reader: CaseReader, node: yaml.Node, _: str) -> Reference | None:
    """The person: ``{attributes: ...}``, or the attributes themselves; None after a mistake."""
    inner = node
    if isinstance(node, yaml.MappingNode) and any(key.value == "attributes" for key, _ in node.value):
        inner = reader.section(node, "the person", {"attributes": as_node}).get("attributes", node)
    attributes = _attributes(reader, inner, "the person", confident=False)
    if not attributes:
        reader.wrong(node, "the person has no attribute: say at least one true thing, as label: value")
        return None
    reader.person = Reference([attribute.fact for attribute in attributes])
    own = (country_of(value) for label, value in reader.person if usual(label) == "phone")
    reader.country = next(filter(None, own), None)
    return reader.person


def read_country(reader: CaseReader, node: yaml.Node, what: str) -> str | None:
    """The country, in two letters, of telephone numbers without a country code."""
    name = reader.text(node, what)
    if not is_country(name):
        reader.wrong(node, f"no country '{name}': give its two letters, such as DE, GB or US")
        return None
    reader.country = name.upper()
    return reader.country


def _attributes(reader: CaseReader, node: yaml.Node, what: str, *, confident: bool) -> list[Attribute]:
    """Attributes as a mapping (label: value, or label: [values]) or a list of {label, value} or {label: value}.

    If they are ``confident`` a value may also be {value, confidence}, and an item have a confidence.
    """
    attributes: dict[Fact, Attribute] = {}
    lines: dict[Fact, int] = {}
    for label, at, confidence in _statements(reader, node, what, confident):
        value = reader.text(at, f"the value of '{label}' of {what}")
        if (label, value) in lines:
            # The message does not repeat the value.
            first = lines[label, value]
            reader.wrong(at, f"{what} has the same value of '{label}' twice, first on line {first}: keep one")
        elif value:
            attributes[label, value] = Attribute(label, value, confidence)
            lines[label, value] = line_of(at)
    return list(attributes.values())


def _statements(reader: CaseReader, node: yaml.Node, what: str, confident: bool) -> Iterator[Statement]:
    """Labels, nodes of values and confidences, in any of the notations."""
    if is_null(node):
        return
    if isinstance(node, yaml.MappingNode):
        for label, _, value in reader.entries(node, what):
            yield from _values(reader, label, value, what, confident)
        return
    keys = ["label", "value", "confidence"] if confident else ["label", "value"]
    for place, item in enumerate(reader.items(node, f"the attributes of {what}"), start=1):
        labels = [key.value for key, _ in item.value] if isinstance(item, yaml.MappingNode) else []
        if len(labels) == 1 and labels[0] not in [*ATTRIBUTE]:
            yield from _statements(reader, item, what, confident)
            continue
        where = f"attribute {place} of {what}"
        section = reader.section(item, where, {key: ATTRIBUTE[key] for key in keys}, required=["label", "value"])
        if section.complete:
            yield section["label"], section["value"], section.get("confidence", 1.0)


def _values(reader: CaseReader, label: str, node: yaml.Node, what: str, confident: bool) -> Iterator[Statement]:
    """One label's value, or several."""
    if not label.strip():
        reader.wrong(node, f"an attribute of {what} has no label: give it one, such as phone")
    elif isinstance(node, yaml.SequenceNode):
        for item in node.value:
            yield from _values(reader, label, item, what, confident)
    elif confident and isinstance(node, yaml.MappingNode):
        schema = {key: ATTRIBUTE[key] for key in ("value", "confidence")}
        section = reader.section(node, f"'{label}' of {what}", schema, required=["value"])
        if section.complete:
            yield label, section["value"], section.get("confidence", 1.0)
    else:
        yield label, node, 1.0


def _record(reader: CaseReader, section: CaseSection, source: str = "") -> Record:
    node = section.get("attributes")
    attributes = [] if node is None else _attributes(reader, node, section.about, confident=True)
    return Record.trusted(attributes, name=section.name, source=source)


def read_queries(reader: CaseReader, node: yaml.Node, what: str) -> tuple[Record, ...]:
    """Queries: what somebody who looks for the person already knows, as a list of {name, attributes}."""
    queries = []
    for section in reader.named(node, what, "a query", {"attributes": as_node}, required=["attributes"]):
        queries.append(_record(reader, section))
        if not len(queries[-1]):
            reader.wrong(section["attributes"], f"{section.about} has no attribute: add some under 'attributes'")
    return tuple(queries)


def read_releases(reader: CaseReader, node: yaml.Node, what: str) -> tuple[Slot, ...]:
    """Releases: a list of {name, options}; an option without attributes releases nothing."""
    slots = []
    for section in reader.named(node, what, "a release", {"options": as_node}, required=["options"]):
        options = reader.named(
            section["options"],
            f"the options of {section.about}",
            "an option",
            {"attributes": as_node},
            empty="add one or more, each with a name and attributes",
        )
        slots.append(Slot(section.name, tuple(_record(reader, option, section.name) for option in options)))
    return tuple(slots)
