"""Plans in a case file: what decoys may be made of, and what it costs to verify."""

from __future__ import annotations

from collections.abc import Collection

import yaml

from tacit.person.records import Reference
from tacit.workflows.person_case_model import Decoys, Verification
from tacit.workflows.person_case_nodes import CaseReader, nearest


def read_decoys(
    reader: CaseReader, node: yaml.Node, person: Reference | None, labels: Collection[str]
) -> Decoys | None:
    """What may be false, with which values, at what cost; None after a mistake.

    Only labels that are named may be false: to tell a bank or an authority something false is nobody's plan.
    """
    what = "decoys"
    fields = reader.fields(node, what, ["budget", "labels", "values", "costs"], required=["budget", "labels"])
    if "budget" not in fields or "labels" not in fields:
        return None
    allowed = reader.texts(fields["labels"], "the labels of decoys")
    for label in allowed:
        if labels and label not in labels:
            reader.wrong(
                fields["labels"], f"no source and no person has the label '{label}'{nearest(label, sorted(labels))}"
            )
    values: dict[str, tuple[str, ...]] = {}
    for label, at, inner in reader.entries(fields["values"], "the values of decoys") if "values" in fields else []:
        if label not in allowed:
            reader.wrong(
                at, f"decoys have values of '{label}', which is not among their labels: add it, or leave it out"
            )
        values[label] = reader.texts(inner, f"the values of '{label}' of decoys")
        if person is not None and set(values[label]) & set(person.values(label)):
            reader.wrong(inner, f"a value of '{label}' of decoys is true of the person: a decoy is false")
    return Decoys(
        reader.number(fields["budget"], "the budget of decoys"), allowed, values, _costs(reader, fields, allowed, what)
    )


def read_verification(reader: CaseReader, node: yaml.Node, labels: Collection[str]) -> Verification:
    """A budget, and what it costs to verify a value of a label."""
    fields = reader.fields(node, "verify", ["budget", "costs"])
    budget = reader.number(fields["budget"], "the budget of verify") if "budget" in fields else None
    return Verification(budget, _costs(reader, fields, labels, "verify"))


def _costs(reader: CaseReader, fields: dict[str, yaml.Node], labels: Collection[str], what: str) -> dict[str, float]:
    costs: dict[str, float] = {}
    for label, at, node in reader.entries(fields["costs"], f"the costs of {what}") if "costs" in fields else []:
        if labels and label not in labels:
            reader.wrong(at, f"no label '{label}' for the costs of {what}{nearest(label, sorted(labels))}")
        costs[label] = reader.number(node, f"the cost of '{label}' of {what}")
        if costs[label] == 0:
            reader.wrong(node, f"the cost of '{label}' of {what} is 0: gains are per cost, so give a number above 0")
    return costs
