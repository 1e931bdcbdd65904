"""Files uploaded through the page, and releases downloaded from it."""

from __future__ import annotations

import os
import tempfile
import zipfile
from collections.abc import AsyncIterator, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import IO, Any

from tacit.errors import ArgumentError
from tacit.tables.writing import os_errors
from tacit.web.files import Folder, TooLargeError, numbered_names, published, safe_name

# Larger files can be copied into the folder by hand, and then appear in the list.
MOST_UPLOADED = 2 << 30


@dataclass
class _Form:
    """The one file of a form, as its parts come in."""

    into: IO[bytes]
    name: str | None = None
    files: int = 0
    header: bytes = b""
    value: bytes = b""
    options: dict[bytes, bytes] = field(default_factory=dict)

    def callbacks(self) -> Any:
        """What the parser calls."""
        return {
            "on_part_begin": self._begin,
            "on_header_field": self._header,
            "on_header_value": self._value,
            "on_header_end": self._header_end,
            "on_headers_finished": self._headers_finished,
            "on_part_data": self._data,
        }

    def _begin(self) -> None:
        self.options, self.header, self.value = {}, b"", b""

    def _header(self, data: bytes, start: int, end: int) -> None:
        self.header += data[start:end]

    def _value(self, data: bytes, start: int, end: int) -> None:
        self.value += data[start:end]

    def _header_end(self) -> None:
        from python_multipart.multipart import parse_options_header

        if self.header.lower() == b"content-disposition":
            self.options = parse_options_header(self.value)[1]
        self.header, self.value = b"", b""

    def _headers_finished(self) -> None:
        if b"filename" in self.options:
            self.files += 1
            self.name = self.options[b"filename"].decode("utf-8", "replace")
        if self.files > 1:
            raise ArgumentError("send one file at a time")

    def _data(self, data: bytes, start: int, end: int) -> None:
        if b"filename" in self.options:
            self.into.write(data[start:end])


async def received(
    folder: Folder, content_type: str, stream: AsyncIterator[bytes], *, most: int = MOST_UPLOADED
) -> str:
    """Save a file that was sent, and return its name in the folder.

    Guarantees
    ----------
    It appears whole or not at all, readable only by its owner, and replaces nothing: if the name is taken it gets a
    number. No more than ``most`` bytes and what a form adds are read.
    """
    from python_multipart import MultipartParser
    from python_multipart.exceptions import FormParserError
    from python_multipart.multipart import parse_options_header

    kind, options = parse_options_header(content_type)
    if kind != b"multipart/form-data" or b"boundary" not in options:
        raise ArgumentError("send a form (multipart/form-data) with one file")
    with _draft(folder) as draft:
        form, got = _Form(draft), 0
        try:
            parser = MultipartParser(options[b"boundary"], form.callbacks())
            async for chunk in stream:
                got += len(chunk)
                if got > most + 4096:
                    raise too_large(most)
                parser.write(chunk)
            parser.finalize()
        except (FormParserError, LookupError) as error:
            raise ArgumentError("the form is damaged, or was cut short: send it again") from error
        if form.name is None:
            raise ArgumentError("the form holds no file")
        draft.flush()
        return _placed(folder, Path(draft.name), safe_name(form.name))


def too_large(most: int = MOST_UPLOADED) -> TooLargeError:
    """The refusal of a file that is too large, and what to do."""
    return TooLargeError(
        f"the file is larger than {most >> 20:,} MB: copy it into the folder yourself, and it will be listed"
    )


@contextmanager
def _draft(folder: Folder) -> Iterator[IO[bytes]]:
    """A hidden file that is removed when the block ends, unless it was moved."""
    with os_errors(folder.root), tempfile.NamedTemporaryFile(dir=folder.hidden, prefix="upload-", delete=False) as file:
        try:
            yield file
        finally:
            Path(file.name).unlink(missing_ok=True)


def _placed(folder: Folder, draft: Path, name: str) -> str:
    for free in numbered_names(name):
        target = folder.place(free)
        try:
            # Creating the empty file reserves the name.
            os.close(os.open(target, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o600))
        except FileExistsError:
            continue
        os.replace(draft, target)
        return free
    raise ArgumentError(f"there are too many files of the name '{name}': send it under another")


def zipped(folder: Folder, release: Path) -> Path:
    """A release as one archive, without ``private/``: what may be passed on. The caller removes it."""
    with (
        os_errors(release),
        tempfile.NamedTemporaryFile(dir=folder.hidden, prefix="zip-", delete=False) as file,
        zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED) as archive,
    ):
        for path in published(release):
            archive.write(path, f"{release.name}/{path.relative_to(release).as_posix()}")
    return Path(file.name)


def unpacked(archive: Path, into: Path) -> Path:
    """The release in an archive, unpacked to a new folder.

    Guarantees
    ----------
    Nothing is written outside ``into``, and no more than an archive may unpack to.
    """
    from tacit.loading import DAMAGE, archive_in, bytes_in

    data = bytes_in(archive, "archive", most=MOST_UPLOADED)
    try:
        with archive_in(data) as opened:
            # Links are written as plain files by this library; names are ours to check.
            if any(_leads_out(member.filename) for member in opened.infolist()):
                raise ArgumentError(f"{archive.name} holds names that lead out of it: it is not a release")
            opened.extractall(into)
    except ArgumentError:
        raise
    except DAMAGE as error:
        raise ArgumentError(f"cannot unpack {archive.name}: {error}") from error
    certificates = sorted(into.rglob("certificate.json"))
    if len(certificates) != 1:
        raise ArgumentError(f"{archive.name} holds no release, or more than one")
    return certificates[0].parent


def _leads_out(name: str) -> bool:
    return name.startswith("/") or "\\" in name or bool({"..", "."} & set(name.split("/")))
