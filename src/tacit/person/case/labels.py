"""Labels in a case file: how their values are weighed and compared."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, replace
from datetime import date
from functools import cache, partial
from typing import Any, get_args

import yaml

from tacit.person.case.schema import CaseReader, CaseSection, Schema, as_node, as_number, choice, nearest
from tacit.person.case.tables import pairs_in
from tacit.person.model.kinds import kind_of
from tacit.person.model.labels import Correlated, Label, Suppressed
from tacit.person.model.records import Reference
from tacit.person.model.values import Similarity, similarity_name

# Values are compared as written, whatever the name of the label suggests.
EXACT = "exact"
# A domain is held in memory, value by value.
LARGEST_DOMAIN = 1_000_000


def read_labels(reader: CaseReader, node: yaml.Node, what: str) -> dict[str, Label]:
    """How values are weighed and compared, by label."""
    entries = reader.entries(node, what)
    return {name: _label(reader, reader.section(inner, f"label '{name}'", LABEL), name) for name, _, inner in entries}


def _label(reader: CaseReader, section: CaseSection, name: str) -> Label:
    about = section.about
    fields = section.kept("normalise", "weight", "single", "similarity", "suppressed", "domain")
    if (kind := kind_of(name)) is not None:
        # What the case does not say about a label follows from its name.
        usual = kind.label(country=reader.country)
        fields = {"normalise": usual.normalise, "similarity": usual.similarity, "single": usual.single} | fields
    if fields.get("normalise") is str:
        del fields["normalise"]
    if "synonyms" in section:
        form = fields.get("normalise", str)
        fields["synonyms"] = _synonyms(reader, section["synonyms"], f"'synonyms' of {about}", form)
    if "prior" in section:
        fields["prior"] = _prior(reader, section["prior"], f"'prior' of {about}", Label(**fields).meant)
    elif fields.get("suppressed") == "prior":
        at = section.nodes["suppressed"]
        reader.wrong(at, f"{about} has no 'prior' for 'suppressed: prior' to look into: add one")
    return Label(**fields)


def usual_labels(names: Iterable[str], country: str | None) -> dict[str, Label]:
    """How values are compared for labels of which only the names are known."""
    kinds = ((name, kind_of(name)) for name in names)
    return {name: kind.label(country=country) for name, kind in kinds if kind is not None}


def _normaliser(reader: CaseReader, node: yaml.Node, what: str) -> Callable[[str], str] | None:
    from tacit.person.model.forms import normaliser

    name = reader.text(node, what)
    if name == EXACT:
        return str
    with reader.refusals(node, what):
        return normaliser(name, country=reader.country) if name else None
    return None


def _similarity(reader: CaseReader, node: yaml.Node, what: str) -> Similarity | None:
    """By its name, or with options: {exp_abs: 365d}, {jaro_winkler: {from: 0.9}}."""
    from tacit.person.model.values import similarity

    wanted: Any = node.value
    if isinstance(node, yaml.MappingNode):
        entries = reader.entries(node, what)
        if len(entries) == 1 and isinstance(entries[0][2], yaml.MappingNode):
            return _similarity_from(reader, *entries[0], what)
        wanted = {name: _scale(inner) for name, _, inner in entries}
    with reader.refusals(node, what):
        return similarity(wanted)
    return None


def _scale(node: yaml.Node) -> Any:
    """A number, or text such as 365d; None for anything else."""
    if not isinstance(node, yaml.ScalarNode):
        return None
    number = as_number(node.value)
    return node.value if math.isnan(number) or node.tag == "tag:yaml.org,2002:str" else number


def _similarity_from(reader: CaseReader, name: str, at: yaml.Node, options: yaml.Node, what: str) -> Similarity | None:
    """A similarity of texts that counts only above a number."""
    plainly = _similarities_of_texts()
    if name not in plainly:
        reader.wrong(at, f"no similarity '{name}' that takes 'from'{nearest(name, plainly)}")
        return None
    least_of = {"from": partial(CaseReader.number, high=0.999)}
    section = reader.section(options, f"'{name}' of {what}", least_of, required=["from"])
    return _Above(name, section.get("from", 0.0))


@dataclass(frozen=True)
class _Above:
    """Credit (s - least) / (1 - least) of a similarity s, which is named because it must travel to other machines."""

    name: str
    least: float

    def __call__(self, value: str, true: str) -> float:
        return max(0.0, (_similarities_of_texts()[self.name](value, true) - self.least) / (1.0 - self.least))


@cache
def _similarities_of_texts() -> dict[str, Similarity]:
    from rapidfuzz.distance import JaroWinkler, Levenshtein

    return {"jaro_winkler": JaroWinkler.similarity, "levenshtein": Levenshtein.normalized_similarity}


def _domain(reader: CaseReader, node: yaml.Node, what: str) -> tuple[str, ...]:
    """A list of values, or all whole numbers or days from one to another."""
    if not isinstance(node, yaml.MappingNode):
        return reader.texts(node, what)
    ends = reader.section(node, what, dict.fromkeys(("from", "to"), CaseReader.text), required=["from", "to"])
    if not ends.complete:
        return ()
    for read, written in ((int, str), (_ordinal, _day)):
        try:
            first, last = read(ends["from"]), read(ends["to"])
        except ValueError:
            continue
        if 0 <= last - first < LARGEST_DOMAIN:
            return tuple(map(written, range(first, last + 1)))
        reader.wrong(node, f"{what} runs from the smaller to the larger, over {LARGEST_DOMAIN:,} values at most")
        return ()
    reader.wrong(node, f"{what} runs between two whole numbers, or two days such as 1990-12-31")
    return ()


def _ordinal(day: str) -> int:
    return date.fromisoformat(day).toordinal()


def _day(ordinal: int) -> str:
    return date.fromordinal(ordinal).isoformat()


def _synonyms(reader: CaseReader, node: yaml.Node, what: str, form: Callable[[str], str]) -> dict[str, str]:
    """Each value with the one that is meant, both in normal form, because values are compared in normal form."""
    meant: dict[str, str] = {}
    for key, at, value in reader.entries(node, what):
        old, new = form(key), form(reader.text(value, f"a value in {what}"))
        if old != new and meant.setdefault(old, new) != new:
            reader.wrong(at, f"a value in {what} is a synonym of two others: keep one")
    # Each round doubles how far a chain of synonyms has been followed.
    for _ in range(len(meant).bit_length()):
        meant = {old: meant.get(new, new) for old, new in meant.items()}
    if any(new in meant for new in meant.values()):
        reader.wrong(node, f"{what} run in a circle: leave out the one whose value is meant")
    return meant


def _prior(reader: CaseReader, node: yaml.Node, what: str, meant: Callable[[str], str]) -> dict[str, float] | None:
    """Probabilities of values, as they are compared, from counts or shares; None after a mistake."""
    entries = reader.entries(node, what)
    if [key for key, _, _ in entries] == ["table"]:
        node = entries[0][2]
        pairs = [(value, as_number(count)) for value, count in pairs_in(reader, node, what)]
    else:
        pairs = [(value, reader.number(at, f"a number in {what}")) for value, _, at in entries]
    if not pairs:
        return None
    counts: dict[str, float] = {}
    for row, (value, count) in enumerate(pairs, start=1):
        if not 0 <= count < math.inf:
            reader.wrong(node, f"{what}: the second cell of row {row} of the table is not a count, a number from 0 up")
            return None
        counts[meant(value)] = counts.get(meant(value), 0.0) + count
    total = sum(counts.values())
    if total <= 0:
        reader.wrong(node, f"{what} has no count above 0: give counts, or shares that add to 1 at most")
        return None
    # Shares that list only the common values add up to less than 1, and are not rescaled.
    return counts if total <= 1.0 else {value: count / total for value, count in counts.items()}


# Two of a person's names or addresses that are at least this similar are one, written differently.
_SAME = 0.9
_SPELLED = ("name", "address")


def spelled_alike(labels: Mapping[str, Label], person: Reference | None) -> tuple[dict[str, Label], list[str]]:
    """Labels under which different spellings of one of a person's names or addresses count once; and notes.

    Numbers and e-mail addresses are left out: one character off is a different one.
    """
    changed: dict[str, Label] = {}
    notes: list[str] = []
    for name in dict.fromkeys(label for label, _ in person or ()):
        label = labels.get(name)
        if label is None or person is None:
            continue
        forms = list(dict.fromkeys(map(label.meant, person.values(name))))
        alike = label.similarity
        if alike is None or similarity_name(alike) not in _SPELLED or len(forms) < 2:
            continue
        # First the form that the others agree with most: a long address, with a town, includes the shorter one.
        kept: list[str] = []
        synonyms: dict[str, str] = {}
        for form in sorted(forms, key=lambda form: (-sum(alike(other, form) for other in forms), form)):
            same = next(
                (other for other in kept if alike(form, other) >= _SAME or _joined(form) == _joined(other)), None
            )
            if same is None:
                kept.append(form)
            else:
                synonyms[form] = same
        if synonyms:
            changed[name] = replace(label, synonyms={**label.synonyms, **synonyms})
            notes.append(f"of the person's values of '{name}' {len(forms)} are {len(kept)}, written in several ways")
    return changed, notes


def _joined(form: str) -> str:
    return form.replace(" ", "")


def read_correlated(reader: CaseReader, node: yaml.Node, what: str) -> list[Correlated]:
    """Groups of labels that partly say the same."""
    one = "a group of correlated labels"
    groups: list[Correlated] = []
    grouped: set[str] = set()
    for item in reader.items(node, what):
        section = reader.section(item, one, CORRELATED, required=["labels", "shared"])
        if not section.complete:
            continue
        twice = [label for label in section["labels"] if label in grouped]
        if len(section["labels"]) < 2:
            reader.wrong(item, f"{one} has fewer than two: name two or more")
        elif twice:
            reader.wrong(item, f"label '{twice[0]}' is in two groups of correlated labels: join the groups")
        else:
            grouped.update(section["labels"])
            groups.append(Correlated(**section))
    return groups


CORRELATED: Schema = {"labels": CaseReader.texts, "shared": CaseReader.number}
LABEL: Schema = {
    "weight": CaseReader.number,
    "single": CaseReader.flag,
    "normalise": _normaliser,
    "similarity": _similarity,
    "suppressed": choice(get_args(Suppressed)),
    "domain": _domain,
    "prior": as_node,
    "synonyms": as_node,
}
