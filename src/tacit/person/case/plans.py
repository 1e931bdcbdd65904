"""Plans in a case file: what decoys may be made of, and what it costs to verify."""

from __future__ import annotations

from collections.abc import Collection

import yaml

from tacit.person.case.model import DecoyTerms, VerifyTerms
from tacit.person.case.schema import CaseReader, Said, as_node, mapping, nearest, number, texts
from tacit.person.model.records import Reference

VERIFY = {
    "budget": number("the budget of {about}"),
    "costs": mapping("the costs of {about}", CaseReader.number, "the cost of '{key}' of {about}"),
}
DECOYS = {**VERIFY, "labels": texts("the labels of {about}"), "values": as_node}


def read_decoys(
    reader: CaseReader, node: yaml.Node, person: Reference | None, labels: Collection[str]
) -> DecoyTerms | None:
    """What may be false, with which values, at what cost; None after a mistake.

    Only labels that are named may be false: to tell a bank or an authority something false is nobody's plan.
    """
    said = reader.record(node, "decoys", DECOYS, required=["budget", "labels"])
    if "budget" not in said or "labels" not in said:
        return None
    for label in said["labels"]:
        if labels and label not in labels:
            hint = nearest(label, sorted(labels))
            reader.wrong(said.nodes["labels"], f"no source and no person has the label '{label}'{hint}")
    values: dict[str, tuple[str, ...]] = {}
    for label, at, inner in reader.entries(said["values"], "the values of decoys") if "values" in said else []:
        if label not in said["labels"]:
            reader.wrong(
                at, f"decoys have values of '{label}', which is not among their labels: add it, or leave it out"
            )
        values[label] = reader.texts(inner, f"the values of '{label}' of decoys")
        if person is not None and set(values[label]) & set(person.values(label)):
            reader.wrong(inner, f"a value of '{label}' of decoys is true of the person: a decoy is false")
    return DecoyTerms(said["budget"], said["labels"], values, _costs(reader, said, said["labels"]))


def read_verification(reader: CaseReader, node: yaml.Node, labels: Collection[str]) -> VerifyTerms:
    """A budget, and what it costs to verify a value of a label."""
    said = reader.record(node, "verify", VERIFY)
    return VerifyTerms(said.get("budget"), _costs(reader, said, labels))


def _costs(reader: CaseReader, said: Said, labels: Collection[str]) -> dict[str, float]:
    costs: dict[str, float] = said.get("costs", {})
    for label, at, node in reader.entries(said.nodes["costs"], f"the costs of {said.about}") if costs else []:
        if labels and label not in labels:
            reader.wrong(at, f"no label '{label}' for the costs of {said.about}{nearest(label, sorted(labels))}")
        if costs[label] == 0:
            what = f"the cost of '{label}' of {said.about}"
            reader.wrong(node, f"{what} is 0: gains are per cost, so give a number above 0")
    return costs
