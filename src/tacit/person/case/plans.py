"""Plans in a case file: what decoys may be made of, and what verifying costs."""

from __future__ import annotations

import yaml

from tacit.person.case.model import DecoyTerms, VerifyTerms
from tacit.person.case.schema import CaseReader, mapping


def read_decoys(reader: CaseReader, node: yaml.Node, what: str) -> DecoyTerms | None:
    """What may be false, with which values, at what cost; None after a mistake.

    Only labels that are named may be false: telling a bank or an authority something false is never part of a plan.
    """
    section = reader.section(node, what, DECOYS, required=["budget", "labels"])
    if not section.complete:
        return None
    labels, at = section["labels"], section.nodes["labels"]
    reader.known([(label, at) for label in labels], reader.labels, "label", "the sources or the person")
    for key in ("values", "costs"):
        reader.known(section.keys_of(key), labels, "label", f"the labels of {what}, for their {key}")
    for label, at in section.keys_of("values"):
        if reader.person is not None and set(section["values"][label]) & set(reader.person.values(label)):
            reader.wrong(at, f"a value of '{label}' of {what} is true of the person: a decoy is false")
    return DecoyTerms(**section)


def read_verification(reader: CaseReader, node: yaml.Node, what: str) -> VerifyTerms:
    """A budget, and what it costs to verify a value of a label."""
    section = reader.section(node, what, VERIFY)
    reader.known(section.keys_of("costs"), reader.labels, "label", f"the sources or the person, for {what}")
    return VerifyTerms(**section)


def _price(reader: CaseReader, node: yaml.Node, what: str) -> float:
    price = reader.number(node, what)
    if price == 0:
        reader.wrong(node, f"{what} is 0: gains are per cost, so give a number above 0")
    return price


VERIFY = {"budget": CaseReader.number, "costs": mapping(_price)}
DECOYS = {**VERIFY, "labels": CaseReader.texts, "values": mapping(CaseReader.texts)}
