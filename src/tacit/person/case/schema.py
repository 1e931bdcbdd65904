"""Reading by a schema: a key for each field, how its node is read, and every mistake collected with its line."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from difflib import get_close_matches
from pathlib import Path
from typing import Any, TypeVar

import yaml

from tacit.errors import DataError
from tacit.person.case.nodes import composed, is_null

Choice = TypeVar("Choice", bound=str)

MOST_SHOWN = 20

_KINDS = {"ScalarNode": "text", "SequenceNode": "a list", "MappingNode": "a mapping (key: value)"}


def nearest(name: str, names: Sequence[str]) -> str:
    """The end of a sentence about an unknown name: a guess at what was meant, or all there is."""
    near = get_close_matches(name, names, n=1, cutoff=0.6)
    if near:
        return f"; did you mean '{near[0]}'?"
    shown = ", ".join(names[:20]) + (", …" if len(names) > 20 else "")
    return f"; there is {shown}" if names else ""


@dataclass(frozen=True)
class Said:
    """What a mapping says: the values of the keys it has, and the nodes to point at."""

    node: yaml.Node
    nodes: Mapping[str, yaml.Node]
    values: Mapping[str, Any]
    about: str
    name: str = ""

    def __contains__(self, key: str) -> bool:
        return key in self.nodes

    def __getitem__(self, key: str) -> Any:
        return self.values[key]

    def get(self, key: str, otherwise: Any = None) -> Any:
        """The value of a key, or what holds without it."""
        return self.values.get(key, otherwise)

    def kept(self, *keys: str, **renamed: str) -> dict[str, Any]:
        """The values of the keys that were given, some under the names they have in the model."""
        names = {**{key: key for key in keys}, **renamed}
        return {name: self.values[key] for name, key in names.items() if key in self.values}


class CaseReader:
    """One case file while it is read: its folder, and the mistakes found so far.

    Readers of nodes give a value in any case, a harmless one after a mistake, so that all mistakes are found in one go.
    Messages name keys, labels and lines, and never a value.
    """

    def __init__(self, path: Path, raw: bytes) -> None:
        self.path = path
        self._mistakes: dict[tuple[int, str], None] = {}
        self.root = composed(path, raw)

    def wrong(self, node: yaml.Node, reason: str) -> None:
        """Remember a mistake at a node."""
        self._mistakes[node.start_mark.line + 1, reason] = None

    def finish(self) -> None:
        """Raise one DataError with a line for each mistake, if there were any."""
        if not self._mistakes:
            return
        mistakes = sorted(self._mistakes, key=lambda mistake: mistake[0])
        lines = [f"{self.path}, line {line}: {reason}" for line, reason in mistakes[:MOST_SHOWN]]
        if len(mistakes) > MOST_SHOWN:
            lines.append(f"{self.path}: and {len(mistakes) - MOST_SHOWN} more")
        raise DataError("\n".join(lines))

    def entries(self, node: yaml.Node, what: str) -> list[tuple[str, yaml.Node, yaml.Node]]:
        """The keys of a mapping, each with its node and that of its value."""
        if not isinstance(node, yaml.MappingNode):
            self.wrong(node, f"{what} is {self._kind(node)} where a mapping (key: value) is needed")
            return []
        entries: list[tuple[str, yaml.Node, yaml.Node]] = []
        lines: dict[str, int] = {}
        for key, value in node.value:
            if not isinstance(key, yaml.ScalarNode):
                self.wrong(key, f"a key in {what} is {self._kind(key)}: keys are text")
            elif key.value in lines:
                self.wrong(key, f"{what} has this key twice, first on line {lines[key.value]}: keep one")
            else:
                lines[key.value] = key.start_mark.line + 1
                entries.append((key.value, key, value))
        return entries

    def record(
        self,
        node: yaml.Node,
        what: str,
        schema: Schema,
        *,
        required: Sequence[str] = (),
        about: str | None = None,
    ) -> Said:
        """What a mapping says of keys known beforehand; keys without a value (null) are left out.

        ``what`` is the mapping in messages about keys, ``about`` the thing it is about in messages about values.
        """
        return self._values(self._fields(node, what, list(schema), required), node, schema, about or what)

    def named(
        self, node: yaml.Node, nouns: tuple[str, str, str], schema: Schema, *, required: Sequence[str] = ()
    ) -> list[Said]:
        """What a list says of things that have a name each; ``nouns`` are such as (sources, a source, source)."""
        plural, one, noun = nouns
        things = []
        lines: dict[str, int] = {}
        for item in self.items(node, plural):
            fields = self._fields(item, one, ["name", *schema], ["name", *required])
            name = self.text(fields.pop("name"), f"the name of {one}") if "name" in fields else ""
            if name in lines:
                self.wrong(item, f"a second {noun} '{name}', after that on line {lines[name]}: rename one")
            elif name:
                lines[name] = item.start_mark.line + 1
            things.append(self._values(fields, item, schema, f"{noun} '{name}'", name))
        return things

    def _fields(self, node: yaml.Node, what: str, keys: Sequence[str], required: Sequence[str]) -> dict[str, yaml.Node]:
        fields: dict[str, yaml.Node] = {}
        for key, at, value in self.entries(node, what):
            if key not in keys:
                self.wrong(at, f"no key '{key}' in {what}{nearest(key, keys)}")
            elif not is_null(value):
                fields[key] = value
        for key in required:
            if isinstance(node, yaml.MappingNode) and key not in fields:
                self.wrong(node, f"{what} has no '{key}': add it")
        return fields

    def _values(
        self, fields: dict[str, yaml.Node], node: yaml.Node, schema: Schema, about: str, name: str = ""
    ) -> Said:
        values = {key: read(self, fields[key], about) for key, read in schema.items() if key in fields}
        return Said(node, fields, values, about, name)

    def items(self, node: yaml.Node, what: str) -> list[yaml.Node]:
        """The items of a list."""
        if not isinstance(node, yaml.SequenceNode):
            self.wrong(node, f"{what} is {self._kind(node)} where a list is needed")
            return []
        return list(node.value)

    def text(self, node: yaml.Node, what: str) -> str:
        """Text as it is written: 007 stays 007, and a date stays as it is; empty after a mistake."""
        if not isinstance(node, yaml.ScalarNode):
            self.wrong(node, f"{what} is {self._kind(node)} where text is needed")
            return ""
        if is_null(node) or not node.value.strip():
            self.wrong(node, f"{what} is empty: give it, or leave the key out")
            return ""
        return str(node.value)

    def texts(self, node: yaml.Node, what: str) -> tuple[str, ...]:
        """A list of texts, or one text, each once."""
        nodes = [node] if isinstance(node, yaml.ScalarNode) else self.items(node, what)
        texts: dict[str, None] = {}
        for item in nodes:
            value = self.text(item, f"an item of {what}")
            if value in texts:
                self.wrong(item, f"{what} has an item twice: keep one")
            elif value:
                texts[value] = None
        return tuple(texts)

    def number(
        self, node: yaml.Node, what: str, *, low: float = 0.0, high: float = math.inf, default: float = 1.0
    ) -> float:
        """A finite number within bounds."""
        between = f"give a number from {low:g} to {high:g}" if high < math.inf else f"give a number, {low:g} or more"
        try:
            value = float(node.value) if isinstance(node, yaml.ScalarNode) else math.nan
        except ValueError:
            value = math.nan
        if math.isfinite(value) and low <= value <= high:
            return value
        said = f"is {value:g}" if math.isfinite(value) else "is no number"
        self.wrong(node, f"{what} {said}: {between}")
        return default

    def flag(self, node: yaml.Node, what: str) -> bool:
        """True or false."""
        if isinstance(node, yaml.ScalarNode) and node.value.lower() in ("true", "false"):
            return bool(node.value.lower() == "true")
        self.wrong(node, f"{what} is true or false, and nothing else")
        return False

    def choice(self, node: yaml.Node, what: str, words: Sequence[Choice]) -> Choice:
        """One of some words."""
        value = self.text(node, what)
        for word in words:
            if word == value:
                return word
        if value:
            self.wrong(node, f"no {what} '{value}'{nearest(value, words)}")
        return words[0]

    def file(self, node: yaml.Node, what: str) -> Path:
        """A file that is there, named relative to the case file."""
        name = self.text(node, what)
        path = self.path.parent / name
        # A table of a database is named with two colons, as everywhere in Tacit.
        held = path if path.exists() or "::" not in name else self.path.parent / name.rsplit("::", 1)[0]
        if name and not held.is_file():
            there = (
                sorted(each.name for each in held.parent.iterdir() if each.is_file()) if held.parent.is_dir() else []
            )
            near = get_close_matches(held.name, there, n=1, cutoff=0.6)
            hint = f"; did you mean '{near[0]}'?" if near else "; paths are relative to the case file"
            self.wrong(node, f"no file '{name}' for {what}{hint}")
        return path

    def _kind(self, node: yaml.Node) -> str:
        return "empty" if is_null(node) else _KINDS[type(node).__name__]


# How the node of a field is read; the text is what the mapping is about.
Field = Callable[[CaseReader, yaml.Node, str], Any]
Schema = Mapping[str, Field]


def as_node(_: CaseReader, node: yaml.Node, about: str) -> yaml.Node:
    """The node itself, for what can only be read when other fields are known."""
    return node


def text(words: str) -> Field:
    """Text; ``words`` name it in messages, with ``{about}`` for what it is about."""
    return lambda reader, node, about: reader.text(node, words.format(about=about))


def texts(words: str) -> Field:
    """One text, or a list of texts."""
    return lambda reader, node, about: reader.texts(node, words.format(about=about))


def number(words: str, *, high: float = math.inf, default: float = 1.0) -> Field:
    """A number from 0 to ``high``."""
    return lambda reader, node, about: reader.number(node, words.format(about=about), high=high, default=default)


def flag(words: str) -> Field:
    """True or false."""
    return lambda reader, node, about: reader.flag(node, words.format(about=about))


def choice(words: str, options: Sequence[str]) -> Field:
    """One of some words."""
    return lambda reader, node, about: reader.choice(node, words, options)


def file(words: str = "{about}") -> Field:
    """A file that is there."""
    return lambda reader, node, about: reader.file(node, words.format(about=about))


def mapping(words: str, inner: Callable[[CaseReader, yaml.Node, str], Any], each: str) -> Field:
    """Any keys, with values that ``inner`` reads; ``each`` names a value, with ``{key}`` for its key."""

    def read(reader: CaseReader, node: yaml.Node, about: str) -> dict[str, Any]:
        entries = reader.entries(node, words.format(about=about))
        return {key: inner(reader, value, each.format(key=key, about=about)) for key, _, value in entries}

    return read
