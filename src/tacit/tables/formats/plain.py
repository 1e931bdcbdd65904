"""Plain text for the engines: packed files are unpacked and other encodings become UTF-8, once, in a private copy."""

from __future__ import annotations

import codecs
import io
from pathlib import Path
from typing import TYPE_CHECKING, Any

from tacit.errors import ArgumentError, DataError, Setting, SourceError, sentence
from tacit.tables.engines import Engine
from tacit.tables.engines.duckdb.connections import private_file
from tacit.tables.formats.format import SourceFile

if TYPE_CHECKING:
    from collections.abc import Iterator

# Endings of packed files, and what Arrow and DuckDB call the codec.
PACKED = {".gz": "gzip", ".zst": "zstd", ".zstd": "zstd"}
_CHUNK = 1 << 22
_MARKS = (
    (codecs.BOM_UTF8, "utf-8"),
    (codecs.BOM_UTF32_LE, "utf-32"),
    (codecs.BOM_UTF32_BE, "utf-32"),
    (codecs.BOM_UTF16_LE, "utf-16"),
    (codecs.BOM_UTF16_BE, "utf-16"),
)
_TITLES = {"cp1252": "Windows-1252 (Latin-1)", "utf-16": "UTF-16", "utf-16-le": "UTF-16", "utf-16-be": "UTF-16"}


def codec_of(path: Path) -> str | None:
    """How a file is packed, by its name."""
    return PACKED.get(path.suffix.lower())


def checked_encoding(encoding: str) -> str:
    """The name of an encoding of text, as Python calls it."""
    try:
        codec = codecs.lookup(encoding)
        "a".encode(codec.name)
    except (LookupError, TypeError, ValueError) as error:
        words = "{given} is not an encoding: write {like}"
        raise ArgumentError(sentence(words, given=repr(encoding), like=Setting("encoding", "latin-1"))) from error
    return codec.name


def head_of(path: Path) -> bytes:
    """The first bytes of a file, unpacked."""
    with _unpacked(path) as stream:
        return next(_chunks(stream, path), b"")


def encoding_of(head: bytes) -> str:
    """The encoding of a text by its first bytes: by its mark, by zeros, or by bytes that UTF-8 does not have.

    Text that is not UTF-8 is read as Windows-1252, which has all letters of Latin-1, unless some of its bytes are
    letters in UTF-8: then it is UTF-8 with a mistake, and the reader reports the line.
    """
    for mark, encoding in _MARKS:
        if head.startswith(mark):
            return encoding
    if b"\x00" in head[:1000]:
        even, odd = head[:1000:2].count(0), head[1:1000:2].count(0)
        encoding = "utf-16-be" if even > odd else "utf-16-le"
        # Read as UTF-16, text in another encoding that holds a zero has no line breaks: its header would be all of it.
        if b"\n" not in head or "\n" in head.decode(encoding, errors="ignore"):
            return encoding
    decoder = codecs.getincrementaldecoder("utf-8")()
    try:
        # The last character may be cut off.
        decoder.decode(head)
    except UnicodeDecodeError:
        letters = head.decode("utf-8", errors="ignore")
        return "cp1252" if letters.isascii() else "utf-8"
    return "utf-8"


def is_plain(path: Path, encoding: str) -> bool:
    """Whether engines can read a file in place."""
    return codec_of(path) is None and encoding == "utf-8"


def plain_copy(path: Path, encoding: str, engine: Engine) -> Path:
    """The text of a file in UTF-8, unpacked, in a private copy that is removed with the engine."""
    target = private_file(engine, Path(path.stem if codec_of(path) else path.name).suffix)
    try:
        with _unpacked(path) as stream, target.open("wb") as out:
            if encoding == "utf-8":
                for chunk in _chunks(stream, path):
                    out.write(chunk)
                return target
            decoder = codecs.getincrementaldecoder(encoding)()
            for chunk in _chunks(stream, path):
                out.write(decoder.decode(chunk).encode())
            out.write(decoder.decode(b"", final=True).encode())
    except UnicodeError as error:
        words = "{path} is not text in {encoding}: give its encoding ({setting})"
        facts = {"path": path, "encoding": _TITLES.get(encoding, encoding), "setting": Setting("encoding", "latin-1")}
        raise DataError(sentence(words, **facts)) from error
    return target


def in_plain_text(file: SourceFile, engine: Engine) -> tuple[tuple[Path, ...], tuple[str, ...]]:
    """Each part in place, or a plain copy of it; and notes on the encodings that were found."""
    read, notes = [], {}
    for part in file.parts:
        encoding = checked_encoding(file.encoding) if file.encoding else encoding_of(head_of(part))
        if encoding != "utf-8":
            notes[encoding] = _note(file, encoding)
        read.append(part if is_plain(part, encoding) else plain_copy(part, encoding, engine))
    return tuple(read), tuple(notes.values())


def _note(file: SourceFile, encoding: str) -> str:
    """The note on a text that is not UTF-8; without a mark of its encoding, it may have another."""
    title = _TITLES.get(encoding, encoding.upper())
    if file.encoding or encoding not in ("cp1252", "utf-16-le", "utf-16-be"):
        return f"{file.name} is read as {title}; what is written is UTF-8"
    words = "{name} looks like {title} and is read as such; if letters come out wrong, say {setting}; output is UTF-8"
    return sentence(words, name=file.name, title=title, setting=Setting("encoding", "NAME"))


def _unpacked(path: Path) -> Any:
    import pyarrow as pa

    codec = codec_of(path)
    return path.open("rb") if codec is None else pa.CompressedInputStream(pa.OSFile(str(path)), codec)


def _chunks(stream: Any, path: Path) -> Iterator[bytes]:
    try:
        while chunk := stream.read(_CHUNK):
            yield bytes(chunk)
    except (OSError, io.UnsupportedOperation) as error:
        raise SourceError(f"{path} is not an intact {codec_of(path) or 'text'} file: compress it again") from error
