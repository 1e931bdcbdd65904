"""Adversaries in a case file: their steps, what they merge and what they cost; and those of a case that names none."""

from __future__ import annotations

from collections.abc import Collection
from pathlib import Path

import yaml

from tacit.errors import TacitError
from tacit.workflows.person_case_model import (
    CLOSURES,
    MERGES,
    AdversarySpec,
    AugmentStep,
    ClustersStep,
    CorrectStep,
    CostSpec,
    NormaliseStep,
    ResolveStep,
    SplinkStep,
    Step,
)
from tacit.workflows.person_case_nodes import CaseReader, nearest
from tacit.workflows.person_case_tables import columns_of_file, pairs_of_file

STEPS = ["normalise", "correct", "augment", "resolve"]

# Labels that name one person by themselves, and those that do beside a name.
ALONE = ("email", "ssn", "passport", "national_id", "driving_licence", "tax_id")
BESIDE_A_NAME = ("phone", "card", "dob", "address", "account")

# What Splink, Senzing and Zingg call the columns of their answers.
RECORD_COLUMNS = ("record", "unique_id", "RECORD_ID", "id")
CLUSTER_COLUMNS = ("cluster", "cluster_id", "RESOLVED_ENTITY_ID", "ENTITY_ID", "Z_CLUSTER", "z_cluster")
SOURCE_COLUMNS = ("source", "source_dataset", "DATA_SOURCE", "Z_SOURCE", "z_source")


def default_adversaries(labels: Collection[str]) -> tuple[tuple[AdversarySpec, ...], str]:
    """Who is assumed where the case names nobody, and a sentence about it.

    E0 reads each record by itself. E1 normalises, and joins records that agree on a label that names one person, or on
    a name and another label; it keeps the value most records agree on, and the records it started from, so that it is
    never the weaker of the two.
    """
    rules: list[tuple[str, ...]] = [(label,) for label in ALONE if label in labels]
    if "name" in labels:
        rules += [("name", label) for label in BESIDE_A_NAME if label in labels]
    alone = AdversarySpec("E0")
    if not rules:
        return (alone,), "no adversary is named, and no label by which records could be joined: E0 reads each by itself"
    steps = (NormaliseStep(), ResolveStep(tuple(rules)))
    joining = AdversarySpec("E1", steps, merge="consensus", keep_base=True)
    said = ", ".join(" and ".join(rule) for rule in rules)
    return (
        alone,
        joining,
    ), f"no adversary is named: E0 reads each record by itself, E1 joins those that agree on {said}"


def read_adversaries(reader: CaseReader, node: yaml.Node, labels: frozenset[str]) -> tuple[AdversarySpec, ...]:
    """All adversaries; ``labels`` are those that sources may speak of."""
    found: list[AdversarySpec] = []
    taken: dict[str, int] = {}
    for item in reader.items(node, "adversaries"):
        fields = reader.fields(item, "an adversary", ["name", "steps", "merge", "keep_base", "cost"], required=["name"])
        name = reader.text(fields["name"], "the name of an adversary") if "name" in fields else ""
        reader.unique(item, name, "adversary", taken)
        what = f"adversary '{name}'"
        held = set(labels)
        steps: list[Step] = []
        for step in reader.items(fields["steps"], f"the steps of {what}") if "steps" in fields else []:
            steps += _step(reader, step, held, what)
        # Who joins records still has what they joined; a default that took it away would understate the leakage.
        joins = any(isinstance(step, ResolveStep | ClustersStep | SplinkStep) for step in steps)
        found.append(
            AdversarySpec(
                name,
                tuple(steps),
                reader.choice(fields["merge"], "merge policy", MERGES) if "merge" in fields else "union",
                reader.flag(fields["keep_base"], f"'keep_base' of {what}") if "keep_base" in fields else joins,
                _cost(reader, fields, what),
            )
        )
    if isinstance(node, yaml.SequenceNode) and not node.value:
        reader.wrong(node, "there is no adversary: name one or more, or leave out the key")
    return tuple(found)


def _cost(reader: CaseReader, fields: dict[str, yaml.Node], what: str) -> CostSpec:
    if "cost" not in fields:
        return CostSpec()
    node = fields["cost"]
    if isinstance(node, yaml.ScalarNode):
        return CostSpec(fixed=reader.number(node, f"the cost of {what}", default=0.0))
    inner = reader.fields(node, f"the cost of {what}", ["fixed", "per_record", "per_pair"])
    return CostSpec(**{key: reader.number(at, f"'{key}' of {what}", default=0.0) for key, at in inner.items()})


def _step(reader: CaseReader, node: yaml.Node, held: set[str], what: str) -> list[Step]:
    """One step, in a list, or none after a mistake; what it adds is added to the labels held."""
    if isinstance(node, yaml.ScalarNode):
        name = reader.choice(node, "step", STEPS)
        if name != "normalise":
            reader.wrong(node, f"step '{name}' of {what} needs more words: write {{{name}: {{…}}}}")
            return []
        return [NormaliseStep()]
    entries = reader.entries(node, f"a step of {what}")
    if len(entries) != 1:
        if entries:
            reader.wrong(node, f"a step of {what} has {len(entries)} keys: make each a step of its own")
        return []
    name, at, inner = entries[0]
    if name not in STEPS:
        reader.wrong(at, f"no step '{name}'{nearest(name, STEPS)}")
        return []
    read = {"normalise": _normalise, "correct": _correct, "augment": _augment, "resolve": _resolve}[name]
    step = read(reader, inner, held, what)
    return [step] if step is not None else []


def _known(reader: CaseReader, node: yaml.Node, label: str, held: Collection[str], what: str) -> None:
    # With no label at all the sources could not be read, which has been said.
    if label and held and label not in held:
        reader.wrong(node, f"{what} uses the label '{label}', which no source has{nearest(label, sorted(held))}")


def _normalise(reader: CaseReader, node: yaml.Node, held: set[str], what: str) -> Step | None:
    fields = reader.fields(node, f"normalise of {what}", ["labels", "cost"])
    labels = reader.texts(fields["labels"], f"the labels of normalise of {what}") if "labels" in fields else None
    for label in labels or ():
        _known(reader, fields["labels"], label, held, what)
    return NormaliseStep(labels, _cost(reader, fields, what))


def _correct(reader: CaseReader, node: yaml.Node, held: set[str], what: str) -> Step | None:
    fields = reader.fields(node, f"correct of {what}", ["label", "table", "cost"], required=["label", "table"])
    if "label" not in fields or "table" not in fields:
        return None
    label = reader.text(fields["label"], f"the label of correct of {what}")
    _known(reader, fields["label"], label, held, what)
    table: dict[str, str] = {}
    for wrong, right in _pairs(reader, fields["table"], f"correct of {what}", "wrong", "right"):
        if table.setdefault(wrong, right) != right:
            reader.wrong(fields["table"], f"the table of correct of {what} corrects one value in two ways: keep one")
    return CorrectStep(label, table, _cost(reader, fields, what))


def _augment(reader: CaseReader, node: yaml.Node, held: set[str], what: str) -> Step | None:
    where = f"augment of {what}"
    fields: dict[str, yaml.Node] = {"table": node}
    at = node
    if isinstance(node, yaml.ScalarNode):
        # A table alone: its first two columns are called as the labels are.
        path = reader.file(node, where)
        names = _table_columns(reader, node, path, where)
        if len(names) < 2:
            return None
        given, adds = names[:2]
    else:
        keys = ["given", "adds", "table", "confidence", "cost"]
        fields = reader.fields(node, where, keys, required=keys[:3])
        if not {"given", "adds", "table"} <= set(fields):
            return None
        at = fields["given"]
        given, adds = (reader.text(fields[key], f"'{key}' of {where}") for key in ("given", "adds"))
    _known(reader, at, given, held, what)
    if given == adds:
        reader.wrong(at, f"{where} adds the label it is given: correct is the step for that")
    held.add(adds)
    table: dict[str, dict[str, None]] = {}
    for value, added in _pairs(reader, fields["table"], where, given, adds):
        table.setdefault(value, {})[added] = None
    confidence = (
        reader.number(fields["confidence"], f"the confidence of {where}", high=1.0) if "confidence" in fields else 1.0
    )
    return AugmentStep(given, adds, {v: tuple(a) for v, a in table.items()}, confidence, _cost(reader, fields, what))


def _pairs(reader: CaseReader, node: yaml.Node, what: str, given: str, wanted: str) -> list[tuple[str, str]]:
    """The pairs of a table: a file's, or written in the case; a list of values makes several."""
    if isinstance(node, yaml.ScalarNode):
        path = reader.file(node, what)
        try:
            return pairs_of_file(path, given, wanted) if path.exists() else []
        except TacitError as error:
            reader.wrong(node, f"{what}: {error}")
            return []
    found: list[tuple[str, str]] = []
    for key, _, value in reader.entries(node, f"the table of {what}"):
        found += [(key, each) for each in reader.texts(value, f"a value in the table of {what}")]
    return found


def _resolve(reader: CaseReader, node: yaml.Node, held: set[str], what: str) -> Step | None:
    where = f"resolve of {what}"
    keys = [key.value for key, _ in node.value] if isinstance(node, yaml.MappingNode) else []
    ways = [key for key in ("rules", "clusters", "splink") if key in keys]
    if "clusters" in ways[:1]:
        fields = reader.fields(node, where, ["clusters", "record", "cluster", "source", "cost"])
        return _clusters(reader, fields, where)
    if "splink" in ways[:1]:
        fields = reader.fields(node, where, ["splink", "threshold", "cost"])
        if "splink" not in fields:
            return None
        high = (
            reader.number(fields["threshold"], f"the threshold of {where}", high=1.0) if "threshold" in fields else 0.9
        )
        return SplinkStep(reader.file(fields["splink"], where), high, _cost(reader, fields, where))
    fields = reader.fields(node, where, ["rules", "min_confidence", "closure", "cost", "clusters", "splink"])
    if "rules" not in fields:
        if isinstance(node, yaml.MappingNode):
            reader.wrong(node, f"{where} has no 'rules', 'clusters' or 'splink': add one of them")
        return None
    for other in ways[1:]:
        reader.wrong(fields[other], f"{where} has rules and {other}: keep one")
    rules = _rules(reader, fields["rules"], held, where)
    low = (
        reader.number(fields["min_confidence"], f"'min_confidence' of {where}", high=1.0)
        if "min_confidence" in fields
        else 0.0
    )
    closure = reader.choice(fields["closure"], "closure", CLOSURES) if "closure" in fields else "swoosh"
    return ResolveStep(rules, low, closure, _cost(reader, fields, where))


def _rules(reader: CaseReader, node: yaml.Node, held: set[str], where: str) -> tuple[tuple[str, ...], ...]:
    rules: dict[tuple[str, ...], None] = {}
    for item in reader.items(node, f"the rules of {where}"):
        rule = reader.texts(item, f"a rule of {where}")
        for label in rule:
            _known(reader, item, label, held, where)
        if isinstance(item, yaml.SequenceNode) and not item.value:
            reader.wrong(item, f"a rule of {where} names no label, so that all records would be one: name some")
        if rule:
            rules[rule] = None
    if isinstance(node, yaml.SequenceNode) and not node.value:
        reader.wrong(node, f"{where} has no rule: name one or more, such as [email]")
    return tuple(rules)


def _table_columns(reader: CaseReader, node: yaml.Node, path: Path, where: str) -> tuple[str, ...]:
    try:
        return columns_of_file(path) if path.exists() else ()
    except TacitError as error:
        reader.wrong(node, f"{where}: {error}")
        return ()


def _clusters(reader: CaseReader, fields: dict[str, yaml.Node], where: str) -> Step | None:
    """Clusters of a file; columns that are not named are looked for under the names that resolvers use."""
    if "clusters" not in fields:
        return None
    path = reader.file(fields["clusters"], where)
    names = _table_columns(reader, fields["clusters"], path, where)
    usual = {"record": RECORD_COLUMNS, "cluster": CLUSTER_COLUMNS, "source": SOURCE_COLUMNS}
    found: dict[str, str] = {}
    for key, candidates in usual.items():
        if key in fields:
            found[key] = reader.text(fields[key], f"'{key}' of {where}")
            if names and found[key] and found[key] not in names:
                reader.wrong(
                    fields[key], f"no column '{found[key]}' in the clusters of {where}{nearest(found[key], names)}"
                )
        else:
            # Whoever exports such a table may have changed the case of its header.
            known = {name.casefold(): name for name in reversed(names)} | {name: name for name in names}
            found[key] = next((known[name] for name in candidates if name in known), "")
            found[key] = found[key] or next((known[n.casefold()] for n in candidates if n.casefold() in known), "")
            if names and not found[key] and key != "source":
                reader.wrong(
                    fields["clusters"],
                    f"the clusters of {where} have no column '{key}': name it, {key}: COLUMN{nearest('', names)}",
                )
    return ClustersStep(path, found["record"], found["cluster"], found["source"] or None, _cost(reader, fields, where))
