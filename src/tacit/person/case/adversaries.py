"""Adversaries in a case file: their steps, how they merge and what they cost; and the defaults if none are named."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import replace
from typing import Any, get_args

import yaml

from tacit.person.case.nodes import is_null
from tacit.person.case.schema import CaseReader, CaseSection, Schema, as_node, choice, nearest, share
from tacit.person.case.tables import columns_of, pairs_in
from tacit.person.link.brought import FileClusters, LikelyClusters, SplinkClusters, TrueClusters
from tacit.person.model.kinds import usual
from tacit.person.model.labels import Label, Labels
from tacit.person.model.records import Reference
from tacit.person.model.values import is_suppressed
from tacit.person.resolve.adversaries import Adversary
from tacit.person.resolve.grouping import Closure
from tacit.person.resolve.merging import Policy
from tacit.person.resolve.rules import Rules
from tacit.person.resolve.steps import FREE, Augment, Correct, Cost, Generalise, Grouping, Normalise, Resolve, Step

# Labels that identify one person by themselves, and those that do together with a name, by their usual names.
ALONE = ("email", "ssn", "passport", "national_id", "driving_licence", "tax_id")
BESIDE_A_NAME = ("phone", "card", "dob", "address", "account")
# If there are neither, records are joined by labels that few people share.
WITHOUT_A_NAME = ("phone", "username", "card", "account")

# What Splink, Senzing and Zingg call the columns of their answers.
CLUSTER_COLUMNS = {
    "record": ("record", "unique_id", "RECORD_ID", "id"),
    "cluster": ("cluster", "cluster_id", "RESOLVED_ENTITY_ID", "ENTITY_ID", "Z_CLUSTER", "z_cluster"),
    "source": ("source", "source_dataset", "DATA_SOURCE", "Z_SOURCE", "z_source"),
}


def default_adversaries(labels: Collection[str], person: Reference | None = None) -> tuple[tuple[Adversary, ...], str]:
    """The adversaries that are assumed if the case names none, and a sentence about them.

    E0 reads each record by itself. E1 normalises, and joins records that agree on a label that identifies one person,
    or on a name and another label; without such a label there is no E1. E2 also joins records that are likely one
    person's. E3 knows the truth, and also joins the records that it recognises. Each keeps the value most records agree
    on, and whatever it had before a further resolution, so that none is weaker than the one before.
    """
    called: dict[str, list[str]] = {}
    for label in sorted(labels):
        called.setdefault(usual(label) or "", []).append(label)
    rules: list[tuple[str, ...]] = [(label,) for kind in ALONE for label in called.get(kind, ())]
    rules += [
        (name, label) for name in called.get("name", ()) for kind in BESIDE_A_NAME for label in called.get(kind, ())
    ]
    rules = rules or [(label,) for kind in WITHOUT_A_NAME for label in called.get(kind, ())]
    ways: dict[str, Step] = {"E1": Resolve(Rules(rules))} if rules else {}
    ways |= {"E2": LikelyClusters()} | ({} if person is None else {"E3": TrueClusters(reference=person)})
    steps = list(ways.values())
    joins = [
        Adversary(name, (Normalise(), *steps[: place + 1]), merge="consensus", keep_base=True)
        for place, name in enumerate(ways)
    ]
    by = ", ".join(" and ".join(rule) for rule in rules)
    exact = f"E1 joins those that agree on {by}, " if rules else "there is no E1, as no label names one person, "
    best = "" if person is None else ", and E3, who knows the truth, those that it recognises as the person's"
    return (Adversary("E0"), *joins), (
        f"no adversary is named: E0 reads each record by itself, {exact}E2 also joins those that are likely one "
        f"person's{best}; each may do what those before it do"
    )


def read_adversaries(reader: CaseReader, node: yaml.Node, what: str) -> tuple[Adversary, ...]:
    """All adversaries; their steps may use labels that sources have or that earlier steps add."""
    adversaries: list[Adversary] = []
    empty = "name one adversary or more, or leave out the key"
    for section in reader.named(node, what, "an adversary", ADVERSARY, empty=empty):
        labels = set(reader.possible)
        steps: list[Step] = []
        for step in reader.items(section["steps"], f"the steps of {section.about}") if "steps" in section else []:
            steps += _step(reader, step, section.about, labels)
        # Whoever joins records still has the originals; a default that dropped them would understate the leakage.
        joins = any(isinstance(step, Grouping) for step in steps)
        fields = {"keep_base": joins, **section.kept("merge", "keep_base", "cost")}
        adversaries.append(Adversary(section.name, steps, **fields))
    return tuple(adversaries)


def writing_normal_forms(adversary: Adversary, labels: Labels) -> Adversary:
    """The adversary; what its tables write is in normal form where the records are.

    Otherwise Rye would be one more town of a record that holds rye: it would count against it, and join nothing.
    """
    steps: list[Step] = []
    for step in adversary.steps:
        if isinstance(step, Augment) and _formed(step.adds, steps):
            step = replace(step, table=_in_normal_form(step.table, labels[step.adds]))
        elif isinstance(step, Correct) and _formed(step.label, steps):
            step = replace(step, mapping=_in_normal_form(step.mapping, labels[step.label]))
        steps.append(step)
    return replace(adversary, steps=steps)


def _formed(label: str, steps: Sequence[Step]) -> bool:
    return any(isinstance(step, Normalise) and (step.labels is None or label in step.labels) for step in steps)


def _in_normal_form(table: Mapping[str, str], label: Label) -> dict[str, str]:
    return {key: value if is_suppressed(value) else label.meant(value) for key, value in table.items()}


def _cost(reader: CaseReader, node: yaml.Node, what: str) -> Cost:
    if isinstance(node, yaml.ScalarNode):
        return Cost(fixed=reader.number(node, what))
    parts = dict.fromkeys(("fixed", "per_record", "per_pair"), CaseReader.number)
    return Cost(**reader.section(node, what, parts))


def _step(reader: CaseReader, node: yaml.Node, what: str, labels: set[str]) -> list[Step]:
    """One step of the file, as steps on records (none after a mistake); labels that it adds are added to ``labels``."""
    alone = isinstance(node, yaml.ScalarNode)
    entries = [(str(node.value), node, node)] if alone else reader.entries(node, f"a step of {what}")
    if len(entries) > 1:
        reader.wrong(node, f"a step of {what} has {len(entries)} keys: make each a step of its own")
    if len(entries) != 1:
        return []
    name, at, inner = entries[0]
    if name not in STEPS:
        reader.wrong(at, f"no step '{name}'{nearest(name, STEPS)}")
        return []
    if not alone:
        return STEPS[name](reader, inner, f"'{name}' of {what}", labels)
    if name != "normalise":
        reader.wrong(node, f"step '{name}' of {what} needs more words: write {{{name}: {{…}}}}")
    return [Normalise()]


def _normalise(reader: CaseReader, node: yaml.Node, what: str, labels: set[str]) -> list[Step]:
    section = reader.section(node, what, NORMALISE)
    _check_labels(reader, section.nodes.get("labels", node), section.get("labels", ()), what, labels)
    return [Normalise(**section)]


def _check_labels(reader: CaseReader, node: yaml.Node, used: Collection[str], what: str, labels: set[str]) -> None:
    reader.known([(label, node) for label in used], labels, "label", f"the sources, for {what}")


def _correct(reader: CaseReader, node: yaml.Node, what: str, labels: set[str]) -> list[Step]:
    section = reader.section(node, what, CORRECT, required=["label", "table"])
    if not section.complete:
        return []
    _check_labels(reader, section.nodes["label"], [section["label"]], what, labels)
    table: dict[str, str] = {}
    for wrong, right in _pairs(reader, section["table"], what, "wrong", "right"):
        if table.setdefault(wrong, right) != right:
            reader.wrong(section["table"], f"the table of {what} corrects one value in two ways: keep one")
    return [Correct(section["label"], table, **section.kept("cost"))]


def _generalise(reader: CaseReader, node: yaml.Node, what: str, labels: set[str]) -> list[Step]:
    """The level is a number of characters, never taken from other records: elsewhere, a few records are read alone."""
    section = reader.section(node, what, GENERALISE, required=["label", "level"])
    if not section.complete:
        return []
    _check_labels(reader, section.nodes["label"], [section["label"]], what, labels)
    if not section["level"].is_integer():
        reader.wrong(section.nodes["level"], f"'level' of {what} is not a whole number: say how many characters stay")
    return [Generalise(section["label"], int(section["level"]), **section.kept("cost"))]


def _augment(reader: CaseReader, node: yaml.Node, what: str, labels: set[str]) -> list[Step]:
    fields: dict[str, Any] = {}
    at = table = node
    if isinstance(node, yaml.ScalarNode):
        # Only a table: its first two columns have the names of the labels.
        path = reader.file(node, what)
        key, adds, *_ = (*(columns_of(reader, node, path, what) if path is not None else ()), "", "")
    else:
        section = reader.section(node, what, AUGMENT, required=["given", "adds", "table"])
        if not section.complete:
            return []
        at, table, key, adds = section.nodes["given"], section["table"], section["given"], section["adds"]
        fields = section.kept("confidence", "cost")
    if key and key == adds:
        reader.wrong(at, f"{what} adds the label it is given: correct is the step for that")
    added: dict[str, dict[str, None]] = {}
    for value, other in _pairs(reader, table, what, key, adds):
        added.setdefault(value, {})[other] = None
    if key:
        _check_labels(reader, at, [key], what, labels)
        labels.add(adds)
    # A table with several values per key becomes several tables with one each; only the first has the cost.
    steps: list[Step] = []
    for place in range(max(map(len, added.values()), default=1)):
        single = {value: list(others)[place] for value, others in added.items() if place < len(others)}
        steps.append(Augment(key, adds, single, **(fields | {"cost": FREE} if place else fields)))
    return steps


def _pairs(reader: CaseReader, node: yaml.Node, what: str, key: str, wanted: str) -> list[tuple[str, str]]:
    """The pairs of a table, which is a file or written in the case; a list of values makes several pairs."""
    if isinstance(node, yaml.ScalarNode):
        return pairs_in(reader, node, what, key, wanted)
    return [
        (entry, each)
        for entry, _, value in reader.entries(node, f"the table of {what}")
        for each in reader.texts(value, f"a value in the table of {what}")
    ]


def _resolve(reader: CaseReader, node: yaml.Node, what: str, labels: set[str]) -> list[Step]:
    entries = reader.entries(node, what)
    ways = [key for key, _, value in entries if key in WAYS and not is_null(value)]
    if len(ways) > 1:
        reader.wrong(node, f"{what} has {' and '.join(ways)}: keep one")
    elif not ways and isinstance(node, yaml.MappingNode):
        reader.wrong(node, f"{what} has no 'rules', 'clusters', 'likely' or 'splink': add one of them")
    if len(ways) != 1:
        return []
    section = reader.section(node, what, WAYS[ways[0]])
    if "rules" in section:
        rules = Rules(_rules(reader, section["rules"], what, labels), section.get("min_confidence", 0.0))
        return [Resolve(rules, **section.kept("closure", "cost"))]
    if "likely" in section:
        return [LikelyClusters(**section.kept("cost"))]
    if "splink" in section:
        return [SplinkClusters(**section.kept("threshold", "cost", model="splink"))]
    return [_clusters(reader, section)] if "clusters" in section else []


def _rules(reader: CaseReader, node: yaml.Node, what: str, labels: set[str]) -> list[tuple[str, ...]]:
    rules: list[tuple[str, ...]] = []
    for item in reader.items(node, f"the rules of {what}", "name one rule or more, such as [email]"):
        rule = reader.texts(item, f"a rule of {what}")
        _check_labels(reader, item, rule, what, labels)
        if isinstance(item, yaml.SequenceNode) and not item.value:
            reader.wrong(item, f"a rule of {what} names no label, so that all records would be one: name some")
        rules += [rule] if rule else []
    return rules


def _clusters(reader: CaseReader, section: CaseSection) -> Step:
    """Clusters from a file; columns that are not named are looked up under the names that resolvers use."""
    path, at = section["clusters"], section.nodes["clusters"]
    names = columns_of(reader, at, path, section.about)
    # Whoever exports such a table may have changed the case of its header.
    spelled = {name.casefold(): name for name in reversed(names)} | {name: name for name in names}
    columns: dict[str, str] = {}
    for key, known in CLUSTER_COLUMNS.items():
        if key in section:
            columns[key] = section[key]
            reader.known([(section[key], section.nodes[key])], names, "column", f"the clusters of {section.about}")
            continue
        columns[key] = next((spelled[name] for name in [*known, *map(str.casefold, known)] if name in spelled), "")
        if names and not columns[key] and key != "source":
            hint = f"name it, {key}: COLUMN{nearest('', names)}"
            reader.wrong(at, f"the clusters of {section.about} have no column '{key}': {hint}")
    record, cluster, source = columns.values()
    return FileClusters(path=path, record=record, cluster=cluster, source=source or None, **section.kept("cost"))


ADVERSARY = {"steps": as_node, "merge": choice(get_args(Policy)), "keep_base": CaseReader.flag, "cost": _cost}
NORMALISE = {"labels": CaseReader.texts, "cost": _cost}
CORRECT = {"label": CaseReader.text, "table": as_node, "cost": _cost}
GENERALISE: Schema = {"label": CaseReader.text, "level": CaseReader.number, "cost": _cost}
AUGMENT: Schema = {
    "given": CaseReader.text,
    "adds": CaseReader.text,
    "table": as_node,
    "confidence": share,
    "cost": _cost,
}
# The ways to resolve, by the key that selects each.
WAYS: dict[str, Schema] = {
    "rules": {"rules": as_node, "min_confidence": share, "closure": choice(get_args(Closure)), "cost": _cost},
    "clusters": {"clusters": CaseReader.file, **dict.fromkeys(CLUSTER_COLUMNS, CaseReader.text), "cost": _cost},
    "likely": {"likely": CaseReader.flag, "cost": _cost},
    "splink": {"splink": CaseReader.file, "threshold": share, "cost": _cost},
}
STEPS: dict[str, Callable[[CaseReader, yaml.Node, str, set[str]], list[Step]]] = {
    "normalise": _normalise,
    "correct": _correct,
    "generalise": _generalise,
    "augment": _augment,
    "resolve": _resolve,
}
