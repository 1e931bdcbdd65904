"""Reading by a schema: the keys of a mapping, how each value is read, and every mistake with its line."""

from __future__ import annotations

import glob
import math
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from difflib import get_close_matches
from functools import partial
from pathlib import Path
from typing import Any

import yaml

from tacit.errors import DataError, SourceError, TacitError, sentence, together
from tacit.loading import checked_path, is_fenced
from tacit.person.answers.kept import file_state, place_state
from tacit.person.case.nodes import composed, is_null, line_of
from tacit.person.model.records import Reference
from tacit.person.sources.places import Address, Place, has_parts
from tacit.tables.sources import scheme_of

MOST_SHOWN = 20

_KINDS = {"ScalarNode": "text", "SequenceNode": "a list", "MappingNode": "a mapping (key: value)"}


def nearest(name: str, names: Iterable[str]) -> str:
    """The end of a sentence about an unknown name: a guess at what was meant, or all valid names."""
    ordered = list(names)
    near = get_close_matches(name, ordered, n=1, cutoff=0.6)
    if near:
        return f"; did you mean '{near[0]}'?"
    shown = ", ".join(ordered[:20]) + (", …" if len(ordered) > 20 else "")
    return f"; there is {shown}" if ordered else ""


class CaseSection(dict[str, Any]):
    """The values of the keys of a mapping in the file, the nodes to point at, and its name in messages.

    It is ``complete`` if every required key is there and could be read.
    """

    def __init__(
        self, values: Mapping[str, Any], nodes: Mapping[str, yaml.Node], complete: bool, about: str, name: str
    ) -> None:
        super().__init__(values)
        self.nodes, self.complete, self.about, self.name = nodes, complete, about, name

    def kept(self, *keys: str, **renamed: str) -> dict[str, Any]:
        """The values of those keys that are there, some under the names they have in the model."""
        names = {**{key: key for key in keys}, **renamed}
        return {name: self[key] for name, key in names.items() if key in self}

    def keys_of(self, key: str) -> list[tuple[str, yaml.Node]]:
        """If the value of ``key`` is a mapping, its keys with their nodes."""
        node = self.nodes.get(key)
        pairs = node.value if isinstance(node, yaml.MappingNode) else []
        return [(at.value, at) for at, _ in pairs if isinstance(at, yaml.ScalarNode)]


class CaseReader:
    """One case file while it is read: its folder, the mistakes found so far, and what the rest is checked against.

    Readers of nodes always return a value, a harmless one after a mistake, so that all mistakes are found in one go.
    Messages name keys, labels and lines, but never a value.

    Attributes
    ----------
    person : Reference or None
        The person, once it was read.
    references : set of str
        The labels of the population, once it was read.
    possible, seen : set of str
        The labels that sources may have, and those found in them, once they were read.
    country : str or None
        The country, in two letters, of telephone numbers without a country code: as the case says, or that of the
        person's own numbers.
    notes : list of str
        What was assumed on the way.
    files : mapping from path to list of int
        Every file that was named, with its state before it was read.
    engine : str
        Where tables at addresses are opened.
    addressed : mapping from Address to tuple of str
        The columns of those that were opened.
    remote : bool
        Whether they may be on another machine.
    """

    def __init__(self, path: Path, raw: bytes, *, engine: str = "duckdb", remote: bool = False) -> None:
        self.path, self.engine, self.remote = path, engine, remote
        self.root = composed(path, raw)
        self.person: Reference | None = None
        self.references: frozenset[str] = frozenset()
        self.possible: set[str] = set()
        self.seen: set[str] = set()
        self.country: str | None = None
        self.notes: list[str] = []
        self.files: dict[Path, list[int]] = {}
        self.addressed: dict[Address, tuple[str, ...]] = {}
        self._mistakes: dict[tuple[int, str], None] = {}

    @property
    def labels(self) -> set[str]:
        """The labels of the sources and the person."""
        return self.possible | {label for label, _ in self.person or ()}

    def wrong(self, node: yaml.Node, reason: str) -> None:
        """Remember a mistake at a node."""
        self._mistakes[line_of(node), reason] = None

    @contextmanager
    def refusals(self, node: yaml.Node, what: str) -> Iterator[None]:
        """A block in which an error from elsewhere counts as a mistake at a node; the rest of the block is skipped."""
        try:
            yield
        except TacitError as error:
            reason = error.args[0] if error.args else str(error)
            self.wrong(node, sentence("{what}: {reason}", what=what, reason=reason))
        except OSError as error:
            self.wrong(node, f"{what}: cannot be read: {error.strerror}")

    def known(self, named: Iterable[tuple[str, yaml.Node]], names: Collection[str], kind: str, where: str) -> None:
        """Refuse unknown names; if there are no ``names`` at all, the reason has already been reported."""
        for name, node in named:
            if names and name not in names:
                ordered = sorted(names) if isinstance(names, set) else names
                self.wrong(node, f"no {kind} '{name}' in {where}{nearest(name, ordered)}")

    def finish(self) -> None:
        """Raise one DataError with a line for each mistake, if there were any."""
        if not self._mistakes:
            return
        mistakes = sorted(self._mistakes, key=lambda mistake: mistake[0])
        lines: list[str] = [
            sentence("{path}, line {line}: {reason}", path=self.path, line=line, reason=reason)
            for line, reason in mistakes[:MOST_SHOWN]
        ]
        if len(mistakes) > MOST_SHOWN:
            lines.append(f"{self.path}: and {len(mistakes) - MOST_SHOWN} more")
        raise DataError(together(lines, "\n"))

    def entries(self, node: yaml.Node, what: str) -> list[tuple[str, yaml.Node, yaml.Node]]:
        """The keys of a mapping, each with its node and that of its value."""
        if not isinstance(node, yaml.MappingNode):
            self.wrong(node, f"{what} is {_kind(node)} where a mapping (key: value) is needed")
            return []
        entries: dict[str, tuple[str, yaml.Node, yaml.Node]] = {}
        for key, value in node.value:
            if not isinstance(key, yaml.ScalarNode):
                self.wrong(key, f"a key in {what} is {_kind(key)}: keys are text")
            elif key.value in entries:
                first = line_of(entries[key.value][1])
                self.wrong(key, f"{what} has this key twice, first on line {first}: keep one")
            else:
                entries[key.value] = key.value, key, value
        return list(entries.values())

    def section(
        self, node: yaml.Node, what: str, schema: Schema, *, required: Sequence[str] = (), named: bool = False
    ) -> CaseSection:
        """A mapping with the keys of a schema; those without a value (null) are left out.

        If it is ``named`` it also has a name, which messages about it show.
        """
        own = ["name"] if named else []
        entries = self.entries(node, what)
        self.known([(key, at) for key, at, _ in entries], [*own, *schema], "key", what)
        nodes = {key: value for key, _, value in entries if not is_null(value)}
        for key in [*own, *required]:
            if isinstance(node, yaml.MappingNode) and key not in nodes:
                self.wrong(node, f"{what} has no '{key}': add it")
        name = self.text(nodes["name"], f"the name of {what}") if named and "name" in nodes else ""
        about = f"{what.split()[-1]} '{name}'" if named else what
        # The keys of the case itself need no "of".
        called = {key: key if about == "a case" else f"'{key}' of {about}" for key in schema}
        read = {key: schema[key](self, nodes[key], called[key]) for key in schema if key in nodes}
        # A mistake is read as None or empty text.
        values = {key: value for key, value in read.items() if value is not None and value != ""}
        return CaseSection(values, nodes, values.keys() >= set(required), about, name)

    def named(
        self, node: yaml.Node, what: str, one: str, schema: Schema, *, required: Sequence[str] = (), empty: str = ""
    ) -> Iterator[CaseSection]:
        """The complete items of a list, each with a name; ``one`` is a phrase such as "a source"."""
        lines: dict[str, int] = {}
        for item in self.items(node, what, empty):
            section = self.section(item, one, schema, required=required, named=True)
            if section.name in lines:
                self.wrong(item, f"a second {section.about}, after that on line {lines[section.name]}: rename one")
            elif section.name:
                lines[section.name] = line_of(item)
            if section.complete:
                yield section

    def items(self, node: yaml.Node, what: str, empty: str = "") -> list[yaml.Node]:
        """The items of a list; ``empty`` says what to do if the list is empty and must not be."""
        if not isinstance(node, yaml.SequenceNode):
            self.wrong(node, f"{what} is {_kind(node)} where a list is needed")
            return []
        if empty and not node.value:
            self.wrong(node, f"{what} is an empty list: {empty}")
        return list(node.value)

    def text(self, node: yaml.Node, what: str) -> str:
        """Text as written in the file: 007 stays 007, and a date stays text; empty after a mistake."""
        if not isinstance(node, yaml.ScalarNode):
            self.wrong(node, f"{what} is {_kind(node)} where text is needed")
            return ""
        if is_null(node) or not node.value.strip():
            self.wrong(node, f"{what} is empty: give it, or leave the key out")
            return ""
        return str(node.value)

    def texts(self, node: yaml.Node, what: str) -> tuple[str, ...]:
        """A list of texts, or one text, each once."""
        texts: dict[str, None] = {}
        for item in [node] if isinstance(node, yaml.ScalarNode) else self.items(node, what):
            value = self.text(item, f"an item of {what}")
            if value in texts:
                self.wrong(item, f"{what} has an item twice: keep one")
            elif value:
                texts[value] = None
        return tuple(texts)

    def number(self, node: yaml.Node, what: str, *, high: float = math.inf) -> float:
        """A finite number from 0 to ``high``."""
        value = as_number(node.value) if isinstance(node, yaml.ScalarNode) else math.nan
        if math.isfinite(value) and 0 <= value <= high:
            return value
        fault = f"is {value:g}" if math.isfinite(value) else "is not a number"
        between = f"give a number from 0 to {high:g}" if high < math.inf else "give a number, 0 or more"
        self.wrong(node, f"{what} {fault}: {between}")
        return 1.0

    def flag(self, node: yaml.Node, what: str) -> bool:
        """True or false."""
        word = node.value.lower() if isinstance(node, yaml.ScalarNode) else ""
        if word not in ("true", "false"):
            self.wrong(node, f"{what} is true or false, and nothing else")
        return bool(word == "true")

    def place(self, node: yaml.Node, what: str) -> Place | None:
        """A file, a folder or a pattern, named relative to the case file, or an address; None after a mistake."""
        name = node.value if isinstance(node, yaml.ScalarNode) else ""
        if scheme_of(name) is not None:
            return Address(name, self.remote)
        folder = self.path.parent
        path = folder / name
        try:
            checked_path(path)
        except SourceError:
            return self.file(node, what)
        if not name.strip() or not (path.is_dir() or (glob.has_magic(name) and has_parts(path))):
            return self.file(node, what)
        if not path.is_dir():
            # Only what was typed is a pattern, not what the folder of the case is called.
            path = Path(glob.escape(str(folder))) / name
        with self.refusals(node, what):
            self.files.setdefault(path, place_state(path))
            return path
        return None

    def file(self, node: yaml.Node, what: str) -> Path | None:
        """An existing file, named relative to the case file; None after a mistake."""
        name = self.text(node, what)
        path = self.path.parent / name
        try:
            checked_path(path)
        except SourceError:
            odd = "is not a path: it is too long, or holds characters that no path can"
            self.wrong(node, f"{what} {'is outside the folder that may be read, or no path' if is_fenced() else odd}")
            return None
        # A table of a database is named with two colons, as everywhere in Tacit.
        whole = path if path.exists() or "::" not in name else self.path.parent / name.rsplit("::", 1)[0]
        if name and whole.is_file():
            self.files.setdefault(whole, file_state(whole))
            return path
        if name:
            there = sorted(each.name for each in whole.parent.glob("*") if each.is_file())
            near = get_close_matches(whole.name, there, n=1, cutoff=0.6)
            hint = f"; did you mean '{near[0]}'?" if near else "; paths are relative to the case file"
            # An address with a slash too few is no address, but may have a password all the same.
            before, _, rest = name.rpartition("@")
            self.wrong(node, f"no file '{rest if ':' in before else name}' for {what}{hint}")
        return None


def _kind(node: yaml.Node) -> str:
    return "empty" if is_null(node) else _KINDS[type(node).__name__]


def as_number(text: str) -> float:
    """The text as a number; NaN if it is not one."""
    try:
        return float(text)
    except ValueError:
        return math.nan


# How the node of a field is read; the text is the name of the field in messages.
Read = Callable[[CaseReader, yaml.Node, str], Any]
Schema = Mapping[str, Read]

# A number from 0 to 1.
share = partial(CaseReader.number, high=1.0)


def as_node(_: CaseReader, node: yaml.Node, what: str) -> yaml.Node:
    """The node itself, for a field that can only be read when other fields are known."""
    return node


def choice(words: Sequence[str]) -> Read:
    """One of these words."""

    def read(reader: CaseReader, node: yaml.Node, what: str) -> str | None:
        word = reader.text(node, what)
        if word and word not in words:
            reader.wrong(node, f"no '{word}' for {what}{nearest(word, words)}")
        return word if word in words else None

    return read


def mapping(inner: Read) -> Read:
    """Any keys, with values that ``inner`` reads."""

    def read(reader: CaseReader, node: yaml.Node, what: str) -> dict[str, Any]:
        return {key: inner(reader, value, f"'{key}' of {what}") for key, _, value in reader.entries(node, what)}

    return read
