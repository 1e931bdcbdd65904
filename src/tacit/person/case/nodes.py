"""A case file as YAML nodes that know their lines: read, composed, and sound enough to be gone through."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import yaml

from tacit.errors import Command, DataError, SourceError, sentence

# A case has some five levels; and what aliases repeat is looked at as often as it is repeated.
DEEPEST = 50
MOST_REPEATED = 100_000


def composed(path: Path, raw: bytes) -> yaml.Node:
    """The root of a case file; a DataError with its line if it is no text or no YAML."""
    try:
        text = raw.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = raw[: error.start].count(b"\n") + 1
        raise DataError(f"{path}, line {line}: not UTF-8; save the file as UTF-8") from None
    try:
        root: yaml.Node | None = yaml.compose(text, Loader=yaml.SafeLoader)
    except yaml.MarkedYAMLError as error:
        raise DataError(f"{path}, line {_line(error)}: not YAML: {_problem(error)}") from None
    except (yaml.YAMLError, RecursionError):
        # Such as a control character, of which PyYAML knows the position only.
        raise DataError(f"{path} is not YAML: it has a character that may not be there, or nests too deeply") from None
    if root is None:
        raise DataError(sentence("{path} is empty: '{init}' writes an example", path=path, init=Command("person init")))
    ill = _ill_made(root)
    if ill is not None:
        raise DataError(f"{path}, line {ill[0].start_mark.line + 1}: {ill[1]}")
    return root


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
        raise SourceError(
            sentence(
                "no file {path}: check the name, or write an example with '{init}'",
                path=path,
                init=Command("person init"),
            )
        ) from None
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
