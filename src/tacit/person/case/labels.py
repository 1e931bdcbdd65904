"""Labels in a case file: how their values are weighed and compared."""

from __future__ import annotations

from collections.abc import Callable
from datetime import date, timedelta
from typing import get_args

import yaml

from tacit.errors import ArgumentError, TacitError
from tacit.person.case.nodes import plain
from tacit.person.case.schema import CaseReader, Said, as_node, choice, flag, nearest, number, text, texts
from tacit.person.case.tables import pairs_of_file
from tacit.person.model.labels import Correlated, Label, Labels, Similarity, Suppressed

# A domain is held in memory, value by value.
LARGEST_DOMAIN = 1_000_000


def read_labels(reader: CaseReader, labels: yaml.Node | None, correlated: yaml.Node | None) -> Labels:
    """What the case says of labels, and which of them tell something in common."""
    described = {
        name: _label(reader, reader.record(node, f"label '{name}'", LABEL))
        for name, _, node in (reader.entries(labels, "labels") if labels is not None else [])
    }
    groups = _correlated(reader, correlated) if correlated is not None else []
    return Labels(described, correlated=groups)


def _label(reader: CaseReader, said: Said) -> Label:
    fields = said.kept("normalise", "weight", "single", "similarity", "suppressed", "domain")
    if "synonyms" in said:
        fields["synonyms"] = _synonyms(reader, said["synonyms"], said.about, said.get("normalise"))
    label = Label(**fields)
    if "prior" in said:
        return Label(**fields, prior=_prior(reader, said["prior"], said.about, label))
    if label.suppressed == "prior":
        reader.wrong(
            said.nodes["suppressed"], f"{said.about} has no 'prior' for 'suppressed: prior' to look into: add one"
        )
    return label


def _normaliser(reader: CaseReader, node: yaml.Node, what: str) -> Callable[[str], str] | None:
    from tacit.person.model.values import normaliser

    name = reader.text(node, f"'normalise' of {what}")
    try:
        return normaliser(name) if name else None
    except ArgumentError as error:
        reader.wrong(node, f"'normalise' of {what}: {error}")
        return None


def _similarity(reader: CaseReader, node: yaml.Node, what: str) -> Similarity | None:
    """By its name, or with options: {exp_abs: 365d}, {jaro_winkler: {from: 0.9}}."""
    from tacit.person.model.values import similarity

    wanted = plain(node)
    if isinstance(wanted, dict) and len(wanted) == 1 and isinstance(next(iter(wanted.values())), dict):
        return _similarity_from(reader, node, what)
    try:
        return similarity(wanted)
    except ArgumentError as error:
        reader.wrong(node, f"'similarity' of {what}: {error}")
        return None


def _similarity_from(reader: CaseReader, node: yaml.Node, what: str) -> Similarity | None:
    """A similarity of texts of which only what is beyond a number counts: credit (s - from) / (1 - from)."""
    from rapidfuzz.distance import JaroWinkler, Levenshtein

    plainly: dict[str, Similarity] = {
        "jaro_winkler": JaroWinkler.similarity,
        "levenshtein": Levenshtein.normalized_similarity,
    }
    name, at, inner = reader.entries(node, f"'similarity' of {what}")[0]
    said = reader.record(inner, f"'{name}' of {what}", {"from": as_node}, required=["from"])
    if name not in plainly:
        reader.wrong(at, f"no similarity '{name}' that takes 'from'{nearest(name, list(plainly))}")
    if name not in plainly or "from" not in said:
        return None
    measured, least = plainly[name], reader.number(said["from"], f"'from' of {what}", high=0.999, default=0.0)
    return lambda held, true: max(0.0, (measured(held, true) - least) / (1.0 - least))


def _domain(reader: CaseReader, node: yaml.Node, what: str) -> tuple[str, ...]:
    """A list of values, or all whole numbers or days from one to another."""
    where = f"the domain of {what}"
    if not isinstance(node, yaml.MappingNode):
        return reader.texts(node, where)
    said = reader.record(
        node, where, {key: text(f"'{key}' of {{about}}") for key in ("from", "to")}, required=["from", "to"]
    )
    if len(said.values) < 2:
        return ()
    ends = [said["from"], said["to"]]
    try:
        first, last = (int(end) for end in ends)
    except ValueError:
        return _days(reader, node, ends, where)
    if not 0 <= last - first < LARGEST_DOMAIN:
        reader.wrong(node, f"{where} runs from the smaller to the larger, over {LARGEST_DOMAIN:,} values at most")
        return ()
    return tuple(map(str, range(first, last + 1)))


def _days(reader: CaseReader, node: yaml.Node, ends: list[str], where: str) -> tuple[str, ...]:
    try:
        first, last = (date.fromisoformat(end) for end in ends)
    except ValueError:
        reader.wrong(node, f"{where} runs between two whole numbers, or two days such as 1990-12-31")
        return ()
    days = (last - first).days
    if not 0 <= days < LARGEST_DOMAIN:
        reader.wrong(node, f"{where} runs from the earlier day to the later, over {LARGEST_DOMAIN:,} days at most")
        return ()
    return tuple((first + timedelta(day)).isoformat() for day in range(days + 1))


def _synonyms(reader: CaseReader, node: yaml.Node, what: str, normalise: Callable[[str], str] | None) -> dict[str, str]:
    """Each value to the one that is meant, both in normal form, because that is what values are compared in."""
    form = normalise if normalise is not None else str
    said: dict[str, str] = {}
    for key, at, value in reader.entries(node, f"the synonyms of {what}"):
        meant = reader.text(value, f"a synonym of {what}")
        if form(key) in said and said[form(key)] != form(meant):
            reader.wrong(at, f"a value of {what} is a synonym of two others: keep one")
        elif form(key) != form(meant):
            said[form(key)] = form(meant)
    ends: dict[str, str] = {}
    for key in said:
        end, seen = key, {key}
        while end in said:
            end = said[end]
            if end in seen:
                reader.wrong(node, f"synonyms of {what} run in a circle: leave out the one whose value is meant")
                return {}
            seen.add(end)
        ends[key] = end
    return ends


def _prior(reader: CaseReader, node: yaml.Node, what: str, label: Label) -> dict[str, float] | None:
    """Probabilities of the values that are meant, from counts or shares; None after a mistake."""
    where = f"the prior of {what}"
    entries = reader.entries(node, where)
    if not entries:
        return None
    counts: dict[str, float] = {}
    if entries[0][0] == "table" and len(entries) == 1:
        node = entries[0][2]
        path = reader.file(node, where)
        if not path.exists():
            return None
        try:
            pairs = pairs_of_file(path)
        except TacitError as error:
            reader.wrong(node, f"{where}: {error}")
            return None
        for row, (value, said) in enumerate(pairs, start=1):
            try:
                counts[label.meant(value)] = counts.get(label.meant(value), 0.0) + _count(said)
            except ValueError:
                reader.wrong(
                    node, f"{where}: the second cell of row {row} of the table is no count, a number 0 or more"
                )
                return None
    else:
        for value, _, at in entries:
            counts[label.meant(value)] = counts.get(label.meant(value), 0.0) + reader.number(at, f"a number in {where}")
    total = sum(counts.values())
    if total <= 0:
        reader.wrong(node, f"{where} has no count above 0: give counts, or shares that add to 1 at most")
        return None
    # Shares of the common values alone add to less than 1, and stay as they are.
    return counts if total <= 1.0 else {value: count / total for value, count in counts.items()}


def _count(said: str) -> float:
    value = float(said)
    if not 0 <= value < float("inf"):
        raise ValueError
    return value


def _correlated(reader: CaseReader, node: yaml.Node) -> list[Correlated]:
    what = "a group of correlated labels"
    groups: list[Correlated] = []
    grouped: set[str] = set()
    for item in reader.items(node, "correlated"):
        said = reader.record(item, what, CORRELATED, required=["labels", "shared"])
        if len(said.values) < 2:
            continue
        twice = [label for label in said["labels"] if label in grouped]
        if len(said["labels"]) < 2:
            reader.wrong(item, f"{what} has fewer than two: name two or more")
        elif twice:
            reader.wrong(item, f"label '{twice[0]}' is in two groups of correlated labels: join the groups")
        else:
            grouped.update(said["labels"])
            groups.append(Correlated(said["labels"], said["shared"]))
    return groups


CORRELATED = {"labels": texts("the labels of {about}"), "shared": number("the shared weight of {about}")}
LABEL = {
    "weight": number("the weight of {about}"),
    "single": flag("'single' of {about}"),
    "normalise": _normaliser,
    "similarity": _similarity,
    "suppressed": choice("'suppressed' of a label", get_args(Suppressed)),
    "domain": _domain,
    "prior": as_node,
    "synonyms": as_node,
}
