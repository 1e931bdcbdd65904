"""A case from a folder of files: what each file was read as, what was left out, and a person to fill in."""

from __future__ import annotations

import json
import os
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path

from tacit.errors import SourceError, TacitError
from tacit.loading import checked_path
from tacit.person.model.kinds import KINDS, PARTS, column_name, recognised, usual
from tacit.person.sources.formats import FORMATS, encoding_told, found_format, long_labels, table_of
from tacit.person.sources.source import Source, SourceFormat
from tacit.tables.formats import FORMATS as TABLES
from tacit.tables.formats.format import SeveralTables

# A folder with more files is not a case.
MOST_FILES = 10_000
# Parts of a value are labels only if they are not joined into one.
_PARTS = {part for ways in PARTS.values() for way in ways for part in way} - PARTS.keys()
_PARTS_OF_NAME = {part for way in PARTS["name"] for part in way} - {"name"}
_WHOLE = [kind for kind in KINDS if kind not in _PARTS]
_NAMES_RECORDS = re.compile(r"(.*_)?(id|no|nr|uuid|guid|key|customer|number)")
_EMAIL = re.compile(r"[^\s_@/]+@[^\s_@/]+")
# Labels that hurt more when they leak: suggested weights, for the person to change.
_HEAVY = {"card": 4, "ssn": 4, "passport": 4, "national_id": 4, "account": 4, "password": 4}


@dataclass(frozen=True)
class ProposedSource:
    """A file that can be read: what it was read as, which columns hold which labels, and what was left out."""

    name: str
    path: Path
    format: SourceFormat
    title: str
    labels: tuple[str, ...]
    columns: Mapping[str, str] = field(default_factory=dict)
    joined: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    identifier: str | None = None
    left_out: tuple[str, ...] = ()

    def told(self) -> str:
        """What it was read as, in a sentence."""
        parts = [f"{column} as {label}" for column, label in self.columns.items() if column != label]
        parts += [f"{' + '.join(columns)} as {label}" for label, columns in self.joined.items()]
        parts_and_labels = [
            *parts,
            *(label for label in self.labels if not any(part.endswith(f" as {label}") for part in parts)),
        ]
        rest = f"; left out: {', '.join(self.left_out)}" if self.left_out else ""
        return f"{self.title}: {', '.join(parts_and_labels)}{rest}"

    def lines(self, directory: Path) -> Iterator[str]:
        """The source in a case file."""
        yield f"  # {self.told()}"
        yield f"  - name: {_quoted(self.name)}"
        yield f"    path: {_quoted(os.path.relpath(self.path, directory))}"
        if self.format != "table":
            yield f"    format: {self.format}"
        if self.identifier is not None:
            yield f"    id: {_quoted(self.identifier)}"
        if self.joined:
            parts = (f"{_quoted(label)}: [{', '.join(map(_quoted, names))}]" for label, names in self.joined.items())
            yield f"    join: {{{', '.join(parts)}}}"
        if self.columns or self.joined:
            named = [f"{_quoted(column)}: {_quoted(label)}" for column, label in self.columns.items()]
            named += ['"*": null'] if self.left_out else []
            yield f"    map: {{{', '.join(named)}}}"


@dataclass(frozen=True)
class ProposedCase:
    """A case that lacks its person: the sources of a folder, and the files that were left out, each with a reason."""

    folder: Path
    sources: tuple[ProposedSource, ...]
    left_out: Mapping[str, str]

    @property
    def labels(self) -> list[str]:
        """All labels, those that most people have first."""
        there = dict.fromkeys(label for source in self.sources for label in source.labels)
        order = {kind: place for place, kind in enumerate(KINDS)}
        return sorted(there, key=lambda label: order.get(label, len(order)))

    def told(self) -> list[str]:
        """What every file was read as, and what was left out."""
        read = [f"{os.path.relpath(source.path, self.folder)}: {source.told()}" for source in self.sources]
        return [*read, *(f"{name}: left out: {reason}" for name, reason in self.left_out.items())]

    def text(self, directory: Path) -> str:
        """The case file, to be written into a directory."""
        where = {label: [one.name for one in self.sources if label in one.labels] for label in self.labels}
        with_values = {label for one in self.sources if one.format != "breaches" for label in one.labels}
        person = [
            f"  # {_quoted(label)}:    # in {', '.join(names)}{'' if label in with_values else _NO_VALUES}"
            for label, names in where.items()
        ]
        weights = [f"  # {_quoted(label)}: {{weight: {_HEAVY.get(label, 1)}}}" for label in self.labels]
        out = [f"# {name}: {reason}" for name, reason in self.left_out.items()]
        left_out = ["# Files that were left out:", *out, ""] if out else []
        sources = [line for source in self.sources for line in source.lines(directory)]
        blocks = (_PERSON, person, _COUNTRY, _LABELS, weights, _SOURCES, sources, [""], left_out)
        return "\n".join(line for block in blocks for line in block).rstrip() + "\n"


_PERSON = (
    "# A case made from a folder of files: one person, and the files that mention them.",
    "#   1. Say below who it is about.  2. Look at the sources.  3. tacit person audit case.yaml",
    "# Keep this file somewhere safe: it will hold everything about the person.",
    "",
    "# Everything that is true of the person. Remove the '#' before a label and write the value after it: several",
    "# values as [one, other], and in quotes a value with a colon or a sign at its start. A value that turns up in a",
    "# source but is not here counts as wrong: list them all.",
    "person:",
)
# Nobody should type a password into a file to count that it got out.
_NO_VALUES = ", without its values: any word will do, such as known"
_COUNTRY = ("", "# The country, in two letters, of telephone numbers without a country code.", "# country: GB")
_LABELS = ("", "# How much each label matters to the person, 1 by default; only ratios count.", "labels:")
_SOURCES = (
    "",
    '# The files, and what they were taken for. Where a map has "*": null, columns that it does not name are left out:',
    "# to count one, give it a label there and a value in 'person'.",
    "sources:",
)


def proposed(folder: str | os.PathLike[str]) -> ProposedCase:
    """The files of a folder, and of the folders in it, as the sources of a case.

    Guarantees
    ----------
    No link is followed. Nothing is written. No message holds a value of a person.

    Raises
    ------
    SourceError
        If it is not a folder, or none of its files can be read as records.
    """
    place = checked_path(folder)
    if not place.is_dir():
        raise SourceError(f"{place} is not a folder: name the one that holds the files")
    sources: dict[str, ProposedSource] = {}
    left_out: dict[str, str] = {}
    waiting = list(_files(place))
    while waiting:
        path = waiting.pop(0)
        shown = os.path.relpath(path, place)
        try:
            if (file := _file(path)).is_symlink() or not file.is_file():
                raise SourceError("it is a link, a device or a pipe: copy the file here")
            name = _unused(path, place, sources)
            sources[name] = _proposed(path, name)
        except SeveralTables as error:
            waiting[:0] = [path.with_name(f"{path.name}::{table}") for table in error.names]
        except (TacitError, OSError) as error:
            left_out[shown] = " ".join(str(error).removeprefix(f"{path}, ").replace(f"{path}", path.name).split())
    if not sources:
        some = f"; such as {next(iter(left_out.items()))[0]}" if left_out else ""
        raise SourceError(f"{place} holds no file that Tacit reads as records of people{some}")
    return ProposedCase(place, tuple(sources.values()), left_out)


def _files(folder: Path) -> Iterator[Path]:
    count = 0
    for here, folders, names in os.walk(folder):
        folders[:] = sorted(name for name in folders if not name.startswith("."))
        for name in sorted(name for name in names if not name.startswith(".") and name != "case.yaml"):
            count += 1
            if count > MOST_FILES:
                raise SourceError(
                    f"{folder} holds more than {MOST_FILES:,} files: name a folder that holds only the case"
                )
            yield Path(here) / name


def _file(path: Path) -> Path:
    """The file that contains a sheet or table: people.xlsx for people.xlsx::sheet."""
    return path if os.path.lexists(path) or "::" not in path.name else path.with_name(path.name.split("::")[0])


def _unused(path: Path, folder: Path, sources: Mapping[str, object]) -> str:
    """A name for a source: its file's, with its folders if another source has that name."""
    whole, file = path.relative_to(folder), _file(path)
    sheet = path.name.removeprefix(file.name).replace("::", " ")
    # Exports are often named after the mailbox; answers mask the address, but show the names of sources.
    names = [_EMAIL.sub("", name).strip(" _-.") for name in (f"{file.stem}{sheet}", f"{file.name}{sheet}", str(whole))]
    return next((name for name in names if name and name not in sources), f"{names[0] or 'file'} ({len(sources) + 1})")


def _proposed(path: Path, name: str) -> ProposedSource:
    format_ = found_format(path)
    source = Source(name, path, format=format_)
    if format_ in FORMATS:
        labels = FORMATS[format_].labels(source)
        if not labels:
            raise SourceError("it says nothing about a person")
        return ProposedSource(name, path, format_, FORMATS[format_].title, tuple(sorted(labels)))
    if format_ == "table" and not any(_file(path).suffix.lower() in one.endings for one in TABLES.values()):
        raise SourceError("not a format that Tacit reads")
    table = table_of(path, format_)
    if format_ == "long":
        return ProposedSource(
            name, path, format_, "one label and value per row", tuple(sorted(long_labels(table, source)))
        )
    return _of_table(path, name, format_, table.names)


def _of_table(path: Path, name: str, format_: SourceFormat, names: tuple[str, ...]) -> ProposedSource:
    recognised_columns = recognised(names, _WHOLE)
    own = {column: column for column in names if column in _WHOLE}
    parts = {column for some in recognised_columns.joined.values() for column in some}
    single = {column: kind for column in names if (kind := usual(column)) in _PARTS and column not in parts}
    if "name" in {*own.values(), *recognised_columns.columns.values()}:
        # The whole name is there: its parts would count the same fact again.
        single = {column: kind for column, kind in single.items() if kind not in _PARTS_OF_NAME}
    columns = {**own, **recognised_columns.columns, **single}
    columns = {column: columns[column] for column in names if column in columns}
    if not columns and not recognised_columns.joined:
        raise SourceError("no column has a name that suggests a person: add it to the case yourself, with 'map'")
    rest = [column for column in names if column not in columns and column not in parts]
    identifier = next((column for column in rest if _NAMES_RECORDS.fullmatch(column_name(column))), None)
    return ProposedSource(
        name,
        path,
        format_,
        "a table" if (encoding := encoding_told([path])) is None else f"a table in {encoding}",
        tuple(dict.fromkeys([*columns.values(), *recognised_columns.joined])),
        columns,
        recognised_columns.joined,
        identifier,
        tuple(column for column in rest if column != identifier),
    )


def _quoted(text: str) -> str:
    """Text for YAML: plain if it is a word, otherwise in quotes."""
    plain = re.fullmatch(r"[A-Za-z_][\w./-]*", text) and text.casefold() not in _WORDS
    return text if plain else json.dumps(text, ensure_ascii=False)


_WORDS = {"y", "n", "yes", "no", "on", "off", "true", "false", "null", "~"}
