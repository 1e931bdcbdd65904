"""The folder that is served: which names lead into it, and what is in it."""

from __future__ import annotations

import os
import stat
import unicodedata
import zipfile
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path, PurePosixPath
from typing import Literal

from tacit.errors import ArgumentError, TacitError
from tacit.loading import DAMAGE

FileKind = Literal["table", "images", "case", "model", "release", "other"]

# Jobs and unfinished uploads are kept here; names that begin with a dot are neither shown nor served.
HIDDEN = ".tacit"
# How many levels of folders are searched for files, and how many files are listed.
DEEPEST, MOST_LISTED = 3, 2_000
_LONGEST_NAME = 200
_CERTIFICATE, _PRIVATE = "certificate.json", "private"
_HEAD_OF_A_CASE = 1 << 16


class MissingError(TacitError):
    """There is nothing of that name."""


class TooLargeError(TacitError):
    """More was sent than is accepted."""


@dataclass(frozen=True)
class FileFacts:
    """A file, or a folder that is one thing: a release, or images."""

    name: str
    kind: FileKind
    size: int
    modified: float


@dataclass(frozen=True)
class Folder:
    """A folder and the names within it. ``root`` is a real path.

    Guarantees
    ----------
    A name leads only into the folder: not up, not to an absolute path, not along a link out of it, not to a hidden
    file, a device or a pipe. A table of a database is named with two colons, as everywhere.
    """

    root: Path

    @classmethod
    def at(cls, path: str | os.PathLike[str]) -> Folder:
        """The folder at a path."""
        root = Path(os.path.realpath(path))
        if not root.is_dir():
            raise ArgumentError(f"{path} is not a folder: name one that holds your files")
        return cls(root)

    @property
    def hidden(self) -> Path:
        """Where jobs are kept, for the owner only."""
        place = self.root / HIDDEN
        place.mkdir(mode=0o700, exist_ok=True)
        if place.is_symlink() or not place.is_dir():
            raise ArgumentError(f"{place} is not a folder made by Tacit: move it away")
        place.chmod(0o700)
        return place

    def place(self, name: str) -> Path:
        """Where a name leads, whether or not anything is there."""
        path = self.root / _checked(name)
        whole = path if os.path.lexists(path) or "::" not in name else self.root / name.rpartition("::")[0]
        if not Path(os.path.realpath(whole)).is_relative_to(self.root):
            raise ArgumentError(f"'{name}' leads out of the folder: copy the file into it")
        if os.path.lexists(whole) and not _plain(whole):
            raise ArgumentError(f"'{name}' is not a file but a device, a pipe or a broken link")
        return path

    def there(self, name: str) -> Path:
        """Where a name leads; an error if nothing is there."""
        path = self.place(name)
        if not path.exists():
            raise MissingError(f"no file '{name}': check the name")
        return path

    def listed(self) -> list[FileFacts]:
        """What is in the folder, the newest first: files of any kind, releases, folders of images."""
        listing: list[FileFacts] = []
        for facts in self._below(self.root, 1):
            listing.append(facts)
            if len(listing) == MOST_LISTED:
                break
        return sorted(listing, key=lambda each: (-each.modified, each.name))

    def _below(self, folder: Path, depth: int) -> Iterator[FileFacts]:
        for path in _entries(folder):
            if not _listable(path.name) or not self._within(path):
                continue
            name, facts = path.relative_to(self.root).as_posix(), path.stat()
            kind = _folder_kind(path) if path.is_dir() else _file_kind(path)
            if kind is not None:
                size = _size(path) if path.is_dir() else facts.st_size
                yield FileFacts(name, kind, size, facts.st_mtime)
            elif depth < DEEPEST:
                yield from self._below(path, depth + 1)

    def _within(self, path: Path) -> bool:
        return _plain(path) and Path(os.path.realpath(path)).is_relative_to(self.root)


def safe_name(typed: str) -> str:
    """A name for a file from what somebody's browser calls it: no folder, nothing hidden, nothing unprintable."""
    last = unicodedata.normalize("NFC", typed.replace("\\", "/").rpartition("/")[2])
    shown = "".join(each for each in last if each.isprintable() and each not in '<>:"|?*').strip(" .")
    stem, dot, ending = (shown or "file").rpartition(".")
    stem, ending = (stem, dot + ending) if stem and len(ending) <= 20 else (shown or "file", "")
    while len((stem + ending).encode()) > _LONGEST_NAME:
        stem = stem[:-1]
    return stem + ending


def numbered_names(name: str) -> Iterator[str]:
    """The name, and then the name with a number, for as long as it takes."""
    yield name
    stem, dot, ending = name.rpartition(".")
    for number in range(2, 10_000):
        yield f"{stem} ({number}).{ending}" if dot else f"{name} ({number})"


def _checked(name: str) -> PurePosixPath:
    parts = name.split("/")
    try:
        is_text = name.encode() is not None and "\0" not in name and "\\" not in name
    except UnicodeEncodeError:
        is_text = False
    if not is_text or any(part in ("", ".", "..") or len(part.encode()) > 255 for part in parts) or len(name) > 1000:
        raise ArgumentError("a file is named as it is listed: no '..', no '/' before it, no other folder")
    if any(part.startswith(".") for part in parts):
        raise ArgumentError("a name that begins with a dot is hidden: choose another")
    return PurePosixPath(name)


def _listable(name: str) -> bool:
    try:
        _checked(name)
    except ArgumentError:
        return False
    return True


def _plain(path: Path) -> bool:
    """Whether it is a file or a folder, once links are followed."""
    try:
        mode = path.stat().st_mode
    except OSError:
        return False
    return stat.S_ISREG(mode) or stat.S_ISDIR(mode)


def _folder_kind(path: Path) -> FileKind | None:
    """What a folder is as a whole; None for one that merely holds files."""
    if (path / _CERTIFICATE).is_file():
        return "release"
    from tacit.lenses.images.files import FORMATS

    return "images" if any(each.suffix.lower() in FORMATS for each in _entries(path)) else None


def _entries(folder: Path) -> list[Path]:
    """What is in a folder, in order; nothing if it cannot be read."""
    try:
        return sorted(folder.iterdir())
    except OSError:
        return []


def _file_kind(path: Path) -> FileKind:
    from tacit.tables.formats import reads

    ending = path.suffix.lower()
    if reads(path):
        return "table"
    if ending == ".npz":
        return "images"
    if ending == ".tacit":
        return "model"
    if ending in (".yaml", ".yml"):
        return "case" if _is_case(path) else "other"
    return "release" if ending == ".zip" and _is_release(path) else "other"


def _is_case(path: Path) -> bool:
    try:
        with path.open("rb") as file:
            return b"\nsources:" in b"\n" + file.read(_HEAD_OF_A_CASE)
    except OSError:
        return False


def _is_release(path: Path) -> bool:
    try:
        with zipfile.ZipFile(path) as archive:
            return any(PurePosixPath(name).name == _CERTIFICATE for name in archive.namelist()[:1000])
    except DAMAGE:
        return False


def _size(folder: Path) -> int:
    """The bytes of a folder, without what is for the owner only."""
    return sum(path.stat().st_size for path in published(folder))


def published(folder: Path) -> list[Path]:
    """The files of a release that are to be published: all but ``private/``."""
    files = (path for path in sorted(folder.rglob("*")) if path.is_file() and not path.is_symlink())
    return [path for path in files if path.relative_to(folder).parts[0] != _PRIVATE]
