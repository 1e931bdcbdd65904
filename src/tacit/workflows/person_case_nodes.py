"""A YAML file as nodes that know their lines; readers collect every mistake instead of stopping at the first."""

from __future__ import annotations

import math
import re
from collections.abc import Sequence
from difflib import get_close_matches
from pathlib import Path
from typing import Any, TypeVar

import yaml

from tacit.errors import DataError, SourceError

Choice = TypeVar("Choice", bound=str)

MOST_SHOWN = 20
# A case has some five levels; and what aliases repeat is looked at as often as it is repeated.
DEEPEST = 50
MOST_REPEATED = 100_000

_KINDS = {"ScalarNode": "text", "SequenceNode": "a list", "MappingNode": "a mapping (key: value)"}


def nearest(name: str, known: Sequence[str]) -> str:
    """The end of a sentence about an unknown name: a guess at what was meant, or all there is."""
    near = get_close_matches(name, known, n=1, cutoff=0.6)
    if near:
        return f"; did you mean '{near[0]}'?"
    shown = ", ".join(known[:20]) + (", …" if len(known) > 20 else "")
    return f"; there is {shown}" if known else ""


class CaseReader:
    """One case file while it is read: its folder, and the mistakes found so far.

    Readers of nodes give a value in any case, a harmless one after a mistake, so that all mistakes are found in one go.
    Messages name keys, labels and lines, and never a value.
    """

    def __init__(self, path: Path, raw: bytes) -> None:
        self.path = path
        self._mistakes: dict[tuple[int, str], None] = {}
        self.root = self._composed(raw)

    def _composed(self, raw: bytes) -> yaml.Node:
        try:
            text = raw.decode("utf-8-sig")
        except UnicodeDecodeError as error:
            line = raw[: error.start].count(b"\n") + 1
            raise DataError(f"{self.path}, line {line}: not UTF-8; save the file as UTF-8") from None
        try:
            root: yaml.Node | None = yaml.compose(text, Loader=yaml.SafeLoader)
        except yaml.MarkedYAMLError as error:
            raise DataError(f"{self.path}, line {_line(error)}: not YAML: {_problem(error)}") from None
        except (yaml.YAMLError, RecursionError):
            # Such as a control character, of which PyYAML knows the position only.
            raise DataError(
                f"{self.path} is not YAML: it has a character that may not be there, or nests too deeply"
            ) from None
        if root is None:
            raise DataError(f"{self.path} is empty: 'tacit person init' writes an example")
        found = _ill_made(root)
        if found is not None:
            raise DataError(f"{self.path}, line {found[0].start_mark.line + 1}: {found[1]}")
        return root

    def wrong(self, node: yaml.Node, reason: str) -> None:
        """Remember a mistake at a node."""
        self._mistakes[node.start_mark.line + 1, reason] = None

    def finish(self) -> None:
        """Raise one DataError with a line for each mistake, if there were any."""
        if not self._mistakes:
            return
        found = sorted(self._mistakes, key=lambda mistake: mistake[0])
        lines = [f"{self.path}, line {line}: {reason}" for line, reason in found[:MOST_SHOWN]]
        if len(found) > MOST_SHOWN:
            lines.append(f"{self.path}: and {len(found) - MOST_SHOWN} more")
        raise DataError("\n".join(lines))

    def entries(self, node: yaml.Node, what: str) -> list[tuple[str, yaml.Node, yaml.Node]]:
        """The keys of a mapping, each with its node and that of its value."""
        if not isinstance(node, yaml.MappingNode):
            self.wrong(node, f"{what} is {self._kind(node)} where a mapping (key: value) is needed")
            return []
        found: list[tuple[str, yaml.Node, yaml.Node]] = []
        lines: dict[str, int] = {}
        for key, value in node.value:
            if not isinstance(key, yaml.ScalarNode):
                self.wrong(key, f"a key in {what} is {self._kind(key)}: keys are text")
            elif key.value in lines:
                self.wrong(key, f"{what} has this key twice, first on line {lines[key.value]}: keep one")
            else:
                lines[key.value] = key.start_mark.line + 1
                found.append((key.value, key, value))
        return found

    def fields(
        self, node: yaml.Node, what: str, known: Sequence[str], *, required: Sequence[str] = ()
    ) -> dict[str, yaml.Node]:
        """The values of a mapping whose keys are known beforehand; keys without a value (null) are left out."""
        found: dict[str, yaml.Node] = {}
        is_mapping = isinstance(node, yaml.MappingNode)
        for key, at, value in self.entries(node, what):
            if key not in known:
                self.wrong(at, f"no key '{key}' in {what}{nearest(key, known)}")
            elif not is_null(value):
                found[key] = value
        for key in required:
            if is_mapping and key not in found:
                self.wrong(node, f"{what} has no '{key}': add it")
        return found

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
        found: dict[str, None] = {}
        for item in nodes:
            value = self.text(item, f"an item of {what}")
            if value in found:
                self.wrong(item, f"{what} has an item twice: keep one")
            elif value:
                found[value] = None
        return tuple(found)

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

    def choice(self, node: yaml.Node, what: str, known: Sequence[Choice]) -> Choice:
        """One of some words."""
        value = self.text(node, what)
        for word in known:
            if word == value:
                return word
        if value:
            self.wrong(node, f"no {what} '{value}'{nearest(value, known)}")
        return known[0]

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

    def unique(self, node: yaml.Node, name: str, what: str, taken: dict[str, int]) -> None:
        """Refuse a second thing of one name."""
        if name in taken:
            self.wrong(node, f"a second {what} '{name}', after that on line {taken[name]}: rename one")
        elif name:
            taken[name] = node.start_mark.line + 1

    def _kind(self, node: yaml.Node) -> str:
        return "empty" if is_null(node) else _KINDS[type(node).__name__]


def is_null(node: yaml.Node) -> bool:
    """Whether nothing is written there, or null."""
    return isinstance(node, yaml.ScalarNode) and node.tag == "tag:yaml.org,2002:null"


def plain(node: yaml.Node, depth: int = 0) -> Any:
    """A small node as Python values, numbers as numbers: for options that another room reads."""
    if isinstance(node, yaml.MappingNode) and depth < 4:
        pairs = [(key, value) for key, value in node.value if isinstance(key, yaml.ScalarNode)]
        return {str(key.value): plain(value, depth + 1) for key, value in pairs}
    if isinstance(node, yaml.SequenceNode) and depth < 4:
        return [plain(item, depth + 1) for item in node.value]
    if isinstance(node, yaml.ScalarNode):
        if node.tag in ("tag:yaml.org,2002:int", "tag:yaml.org,2002:float"):
            try:
                return float(node.value)
            except ValueError:
                return str(node.value)
        return str(node.value)
    return None


def _ill_made(root: yaml.Node) -> tuple[yaml.Node, str] | None:
    """The first node that no reader could go through to the end, and why; None if there is none.

    Nodes are shared where the file has aliases, so that each is looked at once, however often it is meant.
    """
    below: dict[int, tuple[int, int]] = {}  # of a node: how many nodes it means, and how deep they go
    inside: set[int] = set()
    waiting: list[tuple[yaml.Node, bool]] = [(root, False)]
    while waiting:
        node, seen = waiting.pop()
        parts = _parts(node)
        if seen:
            inside.discard(id(node))
            size = 1 + sum(below[id(part)][0] for part in parts)
            depth = 1 + max((below[id(part)][1] for part in parts), default=0)
            if depth > DEEPEST:
                return node, "lists and mappings nest too deeply here: a case needs no more than five levels"
            if size > MOST_REPEATED and size > 2 * len(below):
                return node, "aliases repeat one another until there are too many values: write them out"
            below[id(node)] = size, depth
        elif id(node) in inside:
            return node, "an alias stands inside what it names: write the value out"
        elif id(node) not in below:
            if isinstance(node, yaml.ScalarNode) and any("\ud800" <= sign <= "\udfff" for sign in node.value):
                return node, "half a character (\\ud800 to \\udfff) is no text: write the character itself"
            inside.add(id(node))
            waiting.append((node, True))
            waiting += [(part, False) for part in parts]
    return None


def _parts(node: yaml.Node) -> list[yaml.Node]:
    if isinstance(node, yaml.MappingNode):
        return [each for pair in node.value for each in pair]
    return list(node.value) if isinstance(node, yaml.SequenceNode) else []


def read_bytes(path: Path) -> bytes:
    """The bytes of a case file."""
    try:
        return path.read_bytes()
    except FileNotFoundError:
        raise SourceError(f"no file {path}: check the name, or write an example with 'tacit person init'") from None
    except IsADirectoryError:
        raise SourceError(f"{path} is a directory: name the case file in it") from None
    except OSError as error:
        raise SourceError(f"cannot read {path}: {error.strerror}") from error


def _line(error: yaml.MarkedYAMLError) -> int:
    mark = error.context_mark if _unclosed(error) else error.problem_mark or error.context_mark
    return int(mark.line) + 1 if mark is not None else 1


def _unclosed(error: yaml.MarkedYAMLError) -> bool:
    """Whether a quoted text goes on to the end of the file: the place to mend is where it begins."""
    return "end of stream" in str(error.problem) and "quoted scalar" in str(error.context) and bool(error.context_mark)


def _problem(error: yaml.MarkedYAMLError) -> str:
    """What PyYAML says, less what it quotes of the file, which may be a value."""
    said = re.sub(r"\s*'\w[^']+'", "", str(error.problem or "cannot be read"))
    if r"'\t'" in said:
        return "there is a tab where it cannot be; put spaces there, YAML indents with nothing else"
    if "cannot start any token" in said:
        return f"{said}; put text that begins with @ ` or % in quotes"
    if _unclosed(error):
        return "the quotes that open on this line are never closed; close them"
    if re.search("alias|anchor|tag|directive", said):
        return f"{said}; put text that begins with * & ! or % in quotes"
    if "mapping values are not allowed" in said:
        return f"{said}; put text with a colon in quotes, and check the indent"
    return f"{said}; check the indent, the quotes and the brackets around this line"
