"""The footer of a Parquet file as it would be from any other process: Java lists encodings in an order of chance."""

from __future__ import annotations

import hashlib
from pathlib import Path

from tacit.errors import SourceError

# In the footer: row groups, their columns, what is said of each, its encodings.
_ENCODINGS = (4, 1, 3, 2)
_MAGIC, _LENGTH = b"PAR1", 4
_PIECE = 1 << 20
# Types of Thrift's compact protocol.
_STOP, _BYTE, _DOUBLE, _BINARY, _LIST, _SET, _STRUCT = 0, 3, 7, 8, 9, 10, 12
_BOOLEANS, _NUMBERS = (1, 2), (4, 5, 6)


def sha256_but_for_order(path: Path) -> str:
    """The SHA-256 of a Parquet file in which each column chunk lists its encodings in rising order.

    Guarantees
    ----------
    Two files with the same one are the same, byte for byte, but for the order of these lists.
    """
    size, digest = path.stat().st_size, hashlib.sha256()
    with path.open("rb") as file:
        file.seek(max(0, size - len(_MAGIC) - _LENGTH))
        end = file.read()
        length = int.from_bytes(end[:_LENGTH], "little")
        rest = size - len(end) - length
        if not end.endswith(_MAGIC) or rest < len(_MAGIC):
            raise _damaged(path)
        file.seek(0)
        while rest:
            piece = file.read(min(rest, _PIECE))
            if not piece:
                raise _damaged(path)
            rest -= len(piece)
            digest.update(piece)
        footer = bytearray(file.read(length))
    try:
        _Walk(footer).whole()
    except (IndexError, RecursionError) as error:
        raise _damaged(path) from error
    digest.update(footer)
    digest.update(end)
    return digest.hexdigest()


def _damaged(path: Path) -> SourceError:
    return SourceError(f"{path} is not an intact Parquet file: copy or write it again")


class _Walk:
    """A walk through a struct of Thrift's compact protocol, which sorts the lists of encodings in place."""

    def __init__(self, data: bytearray) -> None:
        self._data, self._at = data, 0

    def whole(self) -> None:
        """Sort the lists of the struct that the data is."""
        self._struct(())
        if self._at != len(self._data):
            raise IndexError(self._at)

    def _struct(self, path: tuple[int, ...]) -> None:
        field = 0
        while (head := self._byte()) & 15 != _STOP:
            field = field + (head >> 4) if head >> 4 else self._number()
            if head & 15 not in _BOOLEANS:
                self._value(head & 15, (*path, field))

    def _value(self, kind: int, path: tuple[int, ...]) -> None:
        if kind in _NUMBERS:
            self._number()
        elif kind in (_BYTE, *_BOOLEANS):
            self._byte()
        elif kind == _DOUBLE:
            self._at += 8
        elif kind == _BINARY:
            length = self._number()
            self._at += length
        elif kind == _STRUCT:
            self._struct(path)
        elif kind in (_LIST, _SET):
            self._list(path)
        else:
            raise IndexError(kind)

    def _list(self, path: tuple[int, ...]) -> None:
        head = self._byte()
        size = head >> 4 if head >> 4 < 15 else self._number()
        pieces, start = [], self._at
        for _ in range(size):
            before = self._at
            self._value(head & 15, path)
            if path == _ENCODINGS:
                pieces.append(bytes(self._data[before : self._at]))
        if path == _ENCODINGS:
            self._data[start : self._at] = b"".join(sorted(pieces))

    def _byte(self) -> int:
        self._at += 1
        return self._data[self._at - 1]

    def _number(self) -> int:
        """A whole number as it is stored: what is read of it here has no sign."""
        number, shift = 0, 0
        while True:
            byte = self._byte()
            number |= (byte & 127) << shift
            shift += 7
            if byte < 128:
                return number
