"""A case file as YAML nodes that know their lines, checked to be safe to walk through."""

from __future__ import annotations

import re
from pathlib import Path

import yaml

from tacit.errors import Command, DataError, SourceError, sentence
from tacit.loading import bytes_in, checked_path

# A case has about five levels.
DEEPEST = 50
# A case is written by hand.
MOST_CASE = 1 << 24
# What an alias names is read as often as it is repeated.
MOST_REPEATED = 100_000


def composed(path: Path, raw: bytes) -> yaml.Node:
    """The root of a case file; a DataError with the line if it is not text or not YAML."""
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
        # Such as a control character, for which PyYAML has only a position.
        raise DataError(f"{path} is not YAML: it has a character that may not be there, or nests too deeply") from None
    if root is None:
        raise DataError(sentence("{path} is empty: '{init}' writes an example", path=path, init=Command("person init")))
    try:
        _measured(root, {}, set())
    except yaml.MarkedYAMLError as error:
        raise DataError(f"{path}, line {_line(error)}: {error.problem}") from None
    return root


def line_of(node: yaml.Node) -> int:
    """The line on which a node begins, from 1."""
    return int(node.start_mark.line) + 1


def is_null(node: yaml.Node) -> bool:
    """Whether the value is empty or null."""
    return isinstance(node, yaml.ScalarNode) and node.tag == "tag:yaml.org,2002:null"


def _ill_made(node: yaml.Node, reason: str) -> yaml.MarkedYAMLError:
    return yaml.MarkedYAMLError(problem=reason, problem_mark=node.start_mark)


def _measured(node: yaml.Node, below: dict[int, tuple[int, int]], inside: set[int]) -> tuple[int, int]:
    """How many nodes a node stands for, and how deep they go; refuses what is malformed.

    Aliases share nodes: those in ``below`` have been measured, so that each is visited once, however often it is
    repeated.
    """
    if id(node) in inside:
        raise _ill_made(node, "an alias stands inside what it names: write the value out")
    if id(node) in below:
        return below[id(node)]
    if isinstance(node, yaml.ScalarNode) and any("\ud800" <= sign <= "\udfff" for sign in node.value):
        raise _ill_made(node, "half a character (\\ud800 to \\udfff) is not text: write the character itself")
    parts = [] if isinstance(node, yaml.ScalarNode) else node.value
    if isinstance(node, yaml.MappingNode):
        parts = [each for pair in parts for each in pair]
    inside.add(id(node))
    measured = [_measured(part, below, inside) for part in parts]
    inside.remove(id(node))
    size, depth = 1 + sum(size for size, _ in measured), 1 + max((depth for _, depth in measured), default=0)
    if depth > DEEPEST:
        raise _ill_made(node, "lists and mappings nest too deeply here: a case needs no more than five levels")
    if size > MOST_REPEATED and size > 2 * len(below):
        raise _ill_made(node, "aliases repeat one another until there are too many values: write them out")
    below[id(node)] = size, depth
    return size, depth


def case_bytes(path: Path) -> bytes:
    """The bytes of a case file."""
    if not checked_path(path).exists():
        refusal = "no file {path}: check the name, or write an example with '{init}'"
        raise SourceError(sentence(refusal, path=path, init=Command("person init")))
    if path.is_dir():
        raise SourceError(f"{path} is a directory: name the case file in it")
    return bytes_in(path, "case file", most=MOST_CASE)


def _line(error: yaml.MarkedYAMLError) -> int:
    mark = error.context_mark if _unclosed(error) else error.problem_mark or error.context_mark
    return int(mark.line) + 1 if mark is not None else 1


def _unclosed(error: yaml.MarkedYAMLError) -> bool:
    """Whether a quoted text runs to the end of the file: the place to fix is where it begins."""
    return "end of stream" in str(error.problem) and "quoted scalar" in str(error.context) and bool(error.context_mark)


def _problem(error: yaml.MarkedYAMLError) -> str:
    """What PyYAML says, without what it quotes from the file, which may be a value."""
    problem = re.sub(r"\s*'\w[^']+'", "", str(error.problem or "cannot be read"))
    if r"'\t'" in problem:
        return "there is a tab where it cannot be; put spaces there, YAML indents with nothing else"
    if "cannot start any token" in problem:
        return f"{problem}; put text that begins with @ ` or % in quotes"
    if _unclosed(error):
        return "the quotes that open on this line are never closed; close them"
    if re.search("alias|anchor|tag|directive", problem):
        return f"{problem}; put text that begins with * & ! or % in quotes"
    if "mapping values are not allowed" in problem:
        return f"{problem}; put text with a colon in quotes, and check the indent"
    return f"{problem}; check the indent, the quotes and the brackets around this line"
