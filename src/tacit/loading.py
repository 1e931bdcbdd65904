"""The only way in for papers, models and archives: what is not a plain file, or is too large, is refused by name.

Tables are read by their engines, which hold only a part of them at a time.
"""

from __future__ import annotations

import csv
import errno
import io
import json
import os
import re
import stat
import struct
import tokenize
import zipfile
import zlib
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, BinaryIO

from tacit.errors import SourceError

if TYPE_CHECKING:
    from numpy.typing import NDArray

# None of Tacit's own files comes near this; one that does, or a device that never ends, is something else.
MOST_BYTES = 1 << 28
# No line of text comes near this.
MOST_LINE = 1 << 26
# The most bytes that an archive may unpack to.
MOST_UNPACKED = 1 << 31
MOST_MEMBERS = 10_000
# What a damaged or malicious file can raise while it is parsed.
DAMAGE = (
    *(zipfile.BadZipFile, zlib.error, struct.error, ValueError, KeyError, TypeError, AttributeError, IndexError),
    *(EOFError, OverflowError, OSError, RecursionError, NotImplementedError, ImportError, SyntaxError, AssertionError),
    tokenize.TokenError,
)


# The folders that paths may not lead out of; they hold for the whole process, all its threads included.
_fences: list[Path] = []


@contextmanager
def fenced(folder: str | os.PathLike[str]) -> Iterator[None]:
    """Within it, paths that lead out of the folder, directly or through a link, are refused: here, and by tables."""
    _fences.append(Path(os.path.realpath(folder)))
    try:
        yield
    finally:
        _fences.pop()


def checked_path(path: str | os.PathLike[str]) -> Path:
    """A path that a file can have, whether or not there is one; for any other, the system's error comes too late."""
    try:
        _refuse_outside(path)
        os.lstat(path)
    except ValueError as error:
        raise SourceError(
            f"{os.fspath(path)!r} is not a path: it holds a null character, or half a character"
        ) from error
    except OSError as error:
        if error.errno == errno.ENAMETOOLONG:
            raise SourceError(f"'{os.fspath(path)[:40]}…' is not a path: it is too long") from error
    return Path(path)


def _refuse_outside(path: str | os.PathLike[str]) -> None:
    if not all(Path(os.path.realpath(path)).is_relative_to(fence) for fence in _fences):
        raise SourceError(f"'{Path(path).name}' is outside the folder that may be read: copy it there")


def is_fenced() -> bool:
    """Whether paths are kept inside some folder; remote addresses are then refused as well."""
    return bool(_fences)


def without_credentials(address: str) -> str:
    """An address without its password and without its query, which may hold a key, too.

    A password should not have ``/``, ``?`` or ``#`` in it; one that has is taken away as well.
    """
    scheme, mark, rest = address.partition("://")
    if not mark:
        return address
    whose = re.match(r"[^/?#]*@|[^/?#@:\[]*:(?!\d+(?:[/?#]|$)).*@", rest, re.DOTALL)
    user = "" if whose is None else re.split("[:@]", whose[0], maxsplit=1)[0]
    place = re.split("[?#]", rest if whose is None else rest[whose.end() :], maxsplit=1)[0]
    return f"{scheme.lower()}://{user}{'@' if user else ''}{place}"


def bytes_in(path: str | Path, what: str, *, most: int = MOST_BYTES) -> bytes:
    """The bytes of a file that messages call ``what``.

    Guarantees
    ----------
    Reads at most ``most`` bytes, and only from a plain file: a device, pipe or socket, which may never end, is refused.
    """
    with _plain(path, what) as file:
        data = file.read(most + 1)
    if len(data) > most:
        raise SourceError(f"{path} is too large for a {what}: it holds more than {most >> 20:,} MB")
    return data


def opening_of(path: str | Path, what: str, *, most: int) -> bytes:
    """The first bytes of a plain file, ``most`` of them if it has more."""
    with _plain(path, what) as file:
        return file.read(most)


def lines_in(path: str | Path, what: str) -> Iterator[bytes]:
    """The lines of a plain file, one after the other, however large it is; one that is too long is refused."""
    with _plain(path, what) as file:
        while line := file.readline(MOST_LINE + 1):
            if len(line) > MOST_LINE:
                raise SourceError(f"{path} has a line of more than {MOST_LINE >> 20:,} MB, so it is not a {what}")
            yield line


@contextmanager
def _plain(path: str | Path, what: str) -> Iterator[BinaryIO]:
    """A plain file, open; within it, what the system refuses names the file."""
    try:
        try:
            _refuse_outside(path)
            # Without O_NONBLOCK, opening a pipe that nobody writes to would wait for ever.
            descriptor = os.open(path, os.O_RDONLY | os.O_NONBLOCK)
        except ValueError as error:
            raise SourceError(f"cannot read the {what}: {str(path)!r} is not a path") from error
        with os.fdopen(descriptor, "rb") as file:
            if not stat.S_ISREG(os.fstat(descriptor).st_mode):
                raise SourceError(f"cannot read the {what} {path}: it is not a file")
            yield file
    except OSError as error:
        raise SourceError(f"cannot read the {what} {path}: {error.strerror or error}") from error


def file_sha256(path: Path) -> str:
    """Fingerprint of a file's bytes, of whatever size it is."""
    import hashlib

    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def text_in(path: str | Path, what: str) -> str:
    """The text of a file in UTF-8, whatever ends its lines."""
    try:
        return bytes_in(path, what).decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise SourceError(f"{path} is not UTF-8 text: save the {what} as UTF-8") from error


def rows_in(path: str | Path, what: str, *, delimiters: Sequence[str] = (",",)) -> list[tuple[int, list[str]]]:
    """The rows of a small CSV in UTF-8, each with its line; its delimiter is the commonest one in the first line."""
    text = text_in(path, what)
    delimiter = max(delimiters, key=text.partition("\n")[0].count)
    reader = csv.reader(io.StringIO(text, newline=""), delimiter=delimiter)
    try:
        return [(reader.line_num, row) for row in reader]
    except csv.Error as error:
        raise SourceError(f"{path}, line {reader.line_num}: cannot read the {what} ({error}); fix it") from error


def json_of(data: bytes | str, **how: Any) -> Any:
    """What a JSON text holds; a ValueError if it is none, or is nested too deeply to be read."""
    try:
        return json.loads(data, **how)
    except RecursionError as error:
        raise ValueError("nested too deeply") from error


def archive_in(data: bytes, *, most: int = MOST_UNPACKED) -> zipfile.ZipFile:
    """A zip archive that was read; a ValueError if it is damaged, locked, or would unpack to more than ``most``."""
    try:
        archive = zipfile.ZipFile(io.BytesIO(data))
        members = archive.infolist()
    except DAMAGE as error:
        raise ValueError("it is not a zip archive, or damaged") from error
    if any(member.flag_bits & 1 for member in members):
        raise ValueError("it is locked by a password")
    if len(members) > MOST_MEMBERS or sum(member.file_size for member in members) > most:
        raise ValueError(f"it unpacks to more than {most >> 20:,} MB or {MOST_MEMBERS:,} files")
    return archive


def arrays_in(path: str | Path, what: str, *, most: int = MOST_UNPACKED) -> dict[str, NDArray[Any]]:
    """The arrays of an npz; the guarantees are those of :func:`arrays_of`."""
    data = bytes_in(path, what, most=most)
    try:
        return arrays_of(data, most=most)
    except DAMAGE as error:
        raise SourceError(f"cannot read {path}: it is damaged, or not an npz of plain arrays ({error})") from error


def arrays_of(data: bytes, *, most: int = MOST_UNPACKED) -> dict[str, NDArray[Any]]:
    """The arrays of an npz that was read; a ValueError if it is damaged.

    Guarantees
    ----------
    Nothing is unpickled, and no array is made that is larger than the file says and ``most`` allows.
    """
    import numpy as np

    try:
        archive_in(data, most=most).close()
        with np.load(io.BytesIO(data), allow_pickle=False) as arrays:
            return {name: _checked(arrays[name], name) for name in arrays.files}
    except (*DAMAGE, MemoryError) as error:
        raise ValueError(str(error).splitlines()[0][:120] if str(error) else type(error).__name__) from error


def _checked(array: Any, name: str) -> NDArray[Any]:
    """Refuse a member that is not an array, which numpy gives as its bytes."""
    if isinstance(array, bytes) or array.dtype.hasobject:
        raise ValueError(f"'{name}' is not a plain array")
    checked: NDArray[Any] = array
    return checked


@dataclass(frozen=True)
class ImageReading:
    """How files of images were read: all brought to ``resize`` (``64x48``, width first), which changed ``resized``.

    ``left_out`` files could not be read, and were left out as asked.
    """

    resize: str | None = None
    resized: int = 0
    left_out: int = 0

    def __post_init__(self) -> None:
        if min(self.resized, self.left_out) < 0 or (self.resize is None and self.resized):
            raise ValueError("images were resized to nothing, or counts are below 0")
        if self.resize is not None and not re.fullmatch(r"[1-9]\d{0,4}x[1-9]\d{0,4}", self.resize, re.ASCII):
            raise ValueError("a size is width x height")

    @property
    def size(self) -> tuple[int, int] | None:
        """Width and height, if all were brought to them."""
        if self.resize is None:
            return None
        width, height = self.resize.split("x")
        return int(width), int(height)
