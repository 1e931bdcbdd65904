"""How many values the dictionary pages of Parquet files list.

A dictionary should list every value once. Where one is listed twice, Arrow leaves out the second and does not move the
places of those after it, so that rows would be counted as having another row's value: Arrow then has fewer values than
the page lists.
"""

from __future__ import annotations

from typing import Any, BinaryIO

# Kinds of fields of Thrift's compact protocol, in which pages are described.
_TRUE, _FALSE, _NUMBERS, _STRUCT = 1, 2, (4, 5, 6), 12
# Fields of the header of a page, and of the part of it that is about a dictionary.
_OF_DICTIONARY, _VALUES = 7, 1
# No header of a dictionary page comes near this many bytes.
_LONGEST = 256


def values_listed(file: BinaryIO, chunk: Any) -> int | None:
    """How many values the dictionary of a column lists, by its header; None if it cannot be read.

    ``chunk`` is Arrow's metadata of the column.
    """
    size = chunk.data_page_offset - chunk.dictionary_page_offset
    if size <= 0:
        return None
    file.seek(chunk.dictionary_page_offset)
    try:
        header, _ = _fields(file.read(min(size, _LONGEST)), 0)
        return int(header[_OF_DICTIONARY][_VALUES])
    except (IndexError, KeyError, TypeError, ValueError, OSError):
        return None


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
