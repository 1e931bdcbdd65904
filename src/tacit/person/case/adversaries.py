"""Adversaries in a case file: their steps, what they merge and what they cost; and those of a case that names none."""

from __future__ import annotations

from collections.abc import Callable, Collection
from typing import Any, get_args

import yaml

from tacit.errors import TacitError
from tacit.person.case.schema import CaseReader, Said, as_node, choice, file, flag, nearest, number, text, texts
from tacit.person.case.tables import columns_of_file, pairs_of_file
from tacit.person.link.brought import FileClusters, SplinkClusters
from tacit.person.resolve.adversaries import Adversary
from tacit.person.resolve.grouping import Closure
from tacit.person.resolve.merging import Policy
from tacit.person.resolve.rules import Rules
from tacit.person.resolve.steps import FREE, Augment, Correct, Cost, Grouping, Normalise, Resolve, Step

# Labels that name one person by themselves, and those that do beside a name.
ALONE = ("email", "ssn", "passport", "national_id", "driving_licence", "tax_id")
BESIDE_A_NAME = ("phone", "card", "dob", "address", "account")

# What Splink, Senzing and Zingg call the columns of their answers.
CLUSTER_COLUMNS = {
    "record": ("record", "unique_id", "RECORD_ID", "id"),
    "cluster": ("cluster", "cluster_id", "RESOLVED_ENTITY_ID", "ENTITY_ID", "Z_CLUSTER", "z_cluster"),
    "source": ("source", "source_dataset", "DATA_SOURCE", "Z_SOURCE", "z_source"),
}


def default_adversaries(labels: Collection[str]) -> tuple[tuple[Adversary, ...], str]:
    """Who is assumed where the case names nobody, and a sentence about it.

    E0 reads each record by itself. E1 normalises, and joins records that agree on a label that names one person, or on
    a name and another label; it keeps the value most records agree on, and the records it started from, so that it is
    never the weaker of the two.
    """
    rules: list[tuple[str, ...]] = [(label,) for label in ALONE if label in labels]
    if "name" in labels:
        rules += [("name", label) for label in BESIDE_A_NAME if label in labels]
    alone = Adversary("E0")
    if not rules:
        return (alone,), "no adversary is named, and no label by which records could be joined: E0 reads each by itself"
    joining = Adversary("E1", (Normalise(), Resolve(Rules(rules))), merge="consensus", keep_base=True)
    said = ", ".join(" and ".join(rule) for rule in rules)
    note = f"no adversary is named: E0 reads each record by itself, E1 joins those that agree on {said}"
    return (alone, joining), note


def _cost(reader: CaseReader, node: yaml.Node, about: str) -> Cost:
    if isinstance(node, yaml.ScalarNode):
        return Cost(fixed=reader.number(node, f"the cost of {about}", default=0.0))
    return Cost(**reader.record(node, f"the cost of {about}", COST, about=about).values)


COST = {key: number(f"'{key}' of {{about}}", default=0.0) for key in ("fixed", "per_record", "per_pair")}
ADVERSARY = {
    "steps": as_node,
    "merge": choice("merge policy", get_args(Policy)),
    "keep_base": flag("'keep_base' of {about}"),
    "cost": _cost,
}
NORMALISE = {"labels": texts("the labels of normalise of {about}"), "cost": _cost}
CORRECT = {"label": text("the label of correct of {about}"), "table": as_node, "cost": _cost}
AUGMENT = {
    "given": text("'given' of augment of {about}"),
    "adds": text("'adds' of augment of {about}"),
    "table": as_node,
    "confidence": number("the confidence of augment of {about}", high=1.0),
    "cost": _cost,
}
RULES = {
    "rules": as_node,
    "min_confidence": number("'min_confidence' of {about}", high=1.0),
    "closure": choice("closure", get_args(Closure)),
    "cost": _cost,
    "clusters": as_node,
    "splink": as_node,
}
CLUSTERS = {"clusters": file(), **{key: text(f"'{key}' of {{about}}") for key in CLUSTER_COLUMNS}, "cost": _cost}
SPLINK = {"splink": file(), "threshold": number("the threshold of {about}", high=1.0), "cost": _cost}


def read_adversaries(reader: CaseReader, node: yaml.Node, labels: frozenset[str]) -> tuple[Adversary, ...]:
    """All adversaries; ``labels`` are those that sources may speak of."""
    adversaries: list[Adversary] = []
    for said in reader.named(node, ("adversaries", "an adversary", "adversary"), ADVERSARY):
        held = set(labels)
        steps: list[Step] = []
        for step in reader.items(said["steps"], f"the steps of {said.about}") if "steps" in said else []:
            steps += _step(reader, step, held, said.about)
        # Who joins records still has what they joined; a default that took it away would understate the leakage.
        joins = any(isinstance(step, Grouping) for step in steps)
        fields = {"keep_base": joins, **said.kept("merge", "keep_base", "cost")}
        adversaries.append(Adversary(said.name, steps, **fields))
    if isinstance(node, yaml.SequenceNode) and not node.value:
        reader.wrong(node, "there is no adversary: name one or more, or leave out the key")
    return tuple(adversaries)


def _step(reader: CaseReader, node: yaml.Node, held: set[str], what: str) -> list[Step]:
    """One step, as steps on records, or none after a mistake; what it adds is added to the labels held."""
    if isinstance(node, yaml.ScalarNode):
        name = reader.choice(node, "step", list(STEPS))
        if name != "normalise":
            reader.wrong(node, f"step '{name}' of {what} needs more words: write {{{name}: {{…}}}}")
            return []
        return [Normalise()]
    entries = reader.entries(node, f"a step of {what}")
    if len(entries) != 1:
        if entries:
            reader.wrong(node, f"a step of {what} has {len(entries)} keys: make each a step of its own")
        return []
    name, at, inner = entries[0]
    if name not in STEPS:
        reader.wrong(at, f"no step '{name}'{nearest(name, list(STEPS))}")
        return []
    return STEPS[name](reader, inner, held, what)


def _check_label(reader: CaseReader, node: yaml.Node, label: str, held: Collection[str], what: str) -> None:
    # With no label at all the sources could not be read, which has been said.
    if label and held and label not in held:
        reader.wrong(node, f"{what} uses the label '{label}', which no source has{nearest(label, sorted(held))}")


def _normalise(reader: CaseReader, node: yaml.Node, held: set[str], what: str) -> list[Step]:
    said = reader.record(node, f"normalise of {what}", NORMALISE, about=what)
    for label in said.get("labels", ()):
        _check_label(reader, said.nodes["labels"], label, held, what)
    return [Normalise(**said.values)]


def _correct(reader: CaseReader, node: yaml.Node, held: set[str], what: str) -> list[Step]:
    where = f"correct of {what}"
    said = reader.record(node, where, CORRECT, required=["label", "table"], about=what)
    if "label" not in said or "table" not in said:
        return []
    _check_label(reader, said.nodes["label"], said["label"], held, what)
    table: dict[str, str] = {}
    for wrong, right in _pairs(reader, said["table"], where, "wrong", "right"):
        if table.setdefault(wrong, right) != right:
            reader.wrong(said["table"], f"the table of {where} corrects one value in two ways: keep one")
    return [Correct(said["label"], table, **said.kept("cost"))]


def _augment(reader: CaseReader, node: yaml.Node, held: set[str], what: str) -> list[Step]:
    where = f"augment of {what}"
    fields: dict[str, Any] = {}
    at = table = node
    if isinstance(node, yaml.ScalarNode):
        # A table alone: its first two columns are called as the labels are.
        names = columns_of_file(reader, node, reader.file(node, where), where)
        if len(names) < 2:
            return []
        given, adds = names[:2]
    else:
        said = reader.record(node, where, AUGMENT, required=["given", "adds", "table"], about=what)
        if not {"given", "adds", "table"} <= said.nodes.keys():
            return []
        at, table, given, adds = said.nodes["given"], said["table"], said["given"], said["adds"]
        fields = said.kept("confidence", "cost")
    _check_label(reader, at, given, held, what)
    if given == adds:
        reader.wrong(at, f"{where} adds the label it is given: correct is the step for that")
    held.add(adds)
    added: dict[str, dict[str, None]] = {}
    for value, other in _pairs(reader, table, where, given, adds):
        added.setdefault(value, {})[other] = None
    # A table that knows several values is several tables that know one, of which the first has the cost.
    steps: list[Step] = []
    for place in range(max(map(len, added.values()), default=0)):
        one = {value: list(others)[place] for value, others in added.items() if place < len(others)}
        steps.append(Augment(given, adds, one, **(fields | {"cost": FREE} if place else fields)))
    return steps or [Augment(given, adds, {}, **fields)]


def _pairs(reader: CaseReader, node: yaml.Node, what: str, given: str, wanted: str) -> list[tuple[str, str]]:
    """The pairs of a table: a file's, or written in the case; a list of values makes several."""
    if isinstance(node, yaml.ScalarNode):
        path = reader.file(node, what)
        try:
            return pairs_of_file(path, given, wanted) if path.exists() else []
        except TacitError as error:
            reader.wrong(node, f"{what}: {error}")
            return []
    return [
        (key, each)
        for key, _, value in reader.entries(node, f"the table of {what}")
        for each in reader.texts(value, f"a value in the table of {what}")
    ]


def _resolve(reader: CaseReader, node: yaml.Node, held: set[str], what: str) -> list[Step]:
    where = f"resolve of {what}"
    keys = [key.value for key, _ in node.value] if isinstance(node, yaml.MappingNode) else []
    ways = [key for key in ("rules", "clusters", "splink") if key in keys]
    if ways[:1] == ["clusters"]:
        return _clusters(reader, reader.record(node, where, CLUSTERS))
    if ways[:1] == ["splink"]:
        said = reader.record(node, where, SPLINK)
        return [SplinkClusters(**said.kept("threshold", "cost", model="splink"))] if "splink" in said else []
    said = reader.record(node, where, RULES)
    if "rules" not in said:
        if isinstance(node, yaml.MappingNode):
            reader.wrong(node, f"{where} has no 'rules', 'clusters' or 'splink': add one of them")
        return []
    for other in ways[1:]:
        reader.wrong(said.nodes.get(other, node), f"{where} has rules and {other}: keep one")
    rules = Rules(_rules(reader, said["rules"], held, where), said.get("min_confidence", 0.0))
    return [Resolve(rules, **said.kept("closure", "cost"))]


def _rules(reader: CaseReader, node: yaml.Node, held: set[str], where: str) -> list[tuple[str, ...]]:
    rules: list[tuple[str, ...]] = []
    for item in reader.items(node, f"the rules of {where}"):
        rule = reader.texts(item, f"a rule of {where}")
        for label in rule:
            _check_label(reader, item, label, held, where)
        if isinstance(item, yaml.SequenceNode) and not item.value:
            reader.wrong(item, f"a rule of {where} names no label, so that all records would be one: name some")
        rules += [rule] if rule else []
    if isinstance(node, yaml.SequenceNode) and not node.value:
        reader.wrong(node, f"{where} has no rule: name one or more, such as [email]")
    return rules


def _clusters(reader: CaseReader, said: Said) -> list[Step]:
    """Clusters of a file; columns that are not named are looked for under the names that resolvers use."""
    if "clusters" not in said:
        return []
    names = columns_of_file(reader, said.nodes["clusters"], said["clusters"], said.about)
    # Whoever exports such a table may have changed the case of its header.
    spelled = {name.casefold(): name for name in reversed(names)} | {name: name for name in names}
    columns: dict[str, str] = {}
    for key, usual in CLUSTER_COLUMNS.items():
        named = said.get(key, "")
        candidates = [named] if key in said else [*usual, *(name.casefold() for name in usual)]
        columns[key] = named or next((spelled[name] for name in candidates if name in spelled), "")
        if named and names and named not in names:
            hint = nearest(named, names)
            reader.wrong(said.nodes[key], f"no column '{named}' in the clusters of {said.about}{hint}")
        elif names and not columns[key] and key not in said and key != "source":
            hint = f"name it, {key}: COLUMN{nearest('', names)}"
            reader.wrong(said.nodes["clusters"], f"the clusters of {said.about} have no column '{key}': {hint}")
    return [
        FileClusters(
            path=said["clusters"],
            record=columns["record"],
            cluster=columns["cluster"],
            source=columns["source"] or None,
            **said.kept("cost"),
        )
    ]


STEPS: dict[str, Callable[[CaseReader, yaml.Node, set[str], str], list[Step]]] = {
    "normalise": _normalise,
    "correct": _correct,
    "augment": _augment,
    "resolve": _resolve,
}
