"""The dictionary pages of Parquet files, as they are stored.

A dictionary should list every value once. Where one is listed twice, Arrow leaves out the second and does not move the
places of those after it, so that rows would be counted as having another row's value.
"""

from __future__ import annotations

from typing import Any, BinaryIO

# Kinds of fields of Thrift's compact protocol, in which pages are described.
_TRUE, _FALSE, _NUMBERS, _STRUCT = 1, 2, (4, 5, 6), 12
# Fields of the header of a page, and of the part of it that is about a dictionary.
_PLAIN_SIZE, _STORED_SIZE, _OF_DICTIONARY, _VALUES = 2, 3, 7, 1
_CODECS = {"SNAPPY": "snappy", "GZIP": "gzip", "BROTLI": "brotli", "ZSTD": "zstd", "LZ4": "lz4_raw"}


def lists_each_once(file: BinaryIO, chunk: Any) -> bool:
    """Whether the dictionary of a column of texts surely lists every value once; ``chunk`` is Arrow's metadata of it.

    Doubt, such as about a page that cannot be read, is False.
    """
    size = chunk.data_page_offset - chunk.dictionary_page_offset
    if size <= 0:
        return False
    file.seek(chunk.dictionary_page_offset)
    page = file.read(size)
    try:
        header, start = _fields(page, 0)
        number = int(header[_OF_DICTIONARY][_VALUES])
        stored = page[start : start + header[_STORED_SIZE]]
        values = _texts(_unpacked(stored, chunk.compression, header[_PLAIN_SIZE]), number)
    except (IndexError, KeyError, TypeError, ValueError, OSError):
        return False
    return len(set(values)) == number


def _unpacked(data: bytes, codec: str, size: int) -> bytes:
    import pyarrow as pa

    if codec == "UNCOMPRESSED":
        return data
    plain: bytes = pa.decompress(data, size, codec=_CODECS[codec], asbytes=True)
    return plain


def _texts(data: bytes, number: int) -> list[bytes]:
    """Texts that each follow their length in four bytes; an IndexError if fewer are there."""
    texts, at = [], 0
    for _ in range(number):
        start = at + 4
        at = start + int.from_bytes(data[at:start], "little")
        if at > len(data) or start > len(data):
            raise IndexError
        texts.append(data[start:at])
    return texts


def _fields(data: bytes, at: int) -> tuple[dict[int, Any], int]:
    """The fields of a struct by number, and where it ends; a ValueError for kinds that such a header lacks."""
    fields, number = dict[int, Any](), 0
    while data[at]:
        kind, further = data[at] & 15, data[at] >> 4
        at += 1
        if further:
            number += further
        else:
            number, at = _number(data, at)
        if kind in _NUMBERS:
            fields[number], at = _number(data, at)
        elif kind == _STRUCT:
            fields[number], at = _fields(data, at)
        elif kind not in (_TRUE, _FALSE):
            raise ValueError
    return fields, at + 1


def _number(data: bytes, at: int) -> tuple[int, int]:
    """A whole number in as many bytes as it takes, its sign in the last bit, and where it ends."""
    total, shift = 0, 0
    while True:
        total |= (data[at] & 127) << shift
        shift += 7
        at += 1
        if data[at - 1] < 128:
            return (total >> 1) ^ -(total & 1), at
