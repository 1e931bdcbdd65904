"""Parquet files that are the same but for what Java leaves to chance, and those that are not."""

from __future__ import annotations

from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from sizes import many
from tacit.errors import SourceError
from tacit.tables.parted import sha256_but_for_order

ROWS = pa.table({"a": ["x", None, "y"] * 40, "n": list(range(120)), "f": [0.5, None, -0.0] * 40})


@pytest.fixture
def part(tmp_path: Path) -> Path:
    pq.write_table(ROWS, tmp_path / "part.parquet", row_group_size=50)
    return tmp_path / "part.parquet"


def turned(data: bytes, path: Path) -> bytes:
    """The file with the first list of encodings of its footer turned round, found by how Thrift writes it."""
    numbers = {"PLAIN": 0, "RLE": 6, "RLE_DICTIONARY": 16}
    listed = bytes(numbers[name] for name in pq.read_metadata(path).row_group(0).column(0).encodings)
    # A field of the type list, one after the last; its length and type; the encodings, doubled.
    head = bytes([0x19, len(listed) << 4 | 5])
    assert head + listed in data
    return data.replace(head + listed, head + listed[::-1])


def test_only_the_order_of_encodings_may_differ(part: Path, tmp_path: Path) -> None:
    data, before = part.read_bytes(), sha256_but_for_order(part)
    other = tmp_path / "other.parquet"
    other.write_bytes(turned(data, part))
    assert other.read_bytes() != data
    assert pq.read_table(other).equals(ROWS)
    assert sha256_but_for_order(other) == before
    footer = len(data) - 8 - int.from_bytes(data[-8:-4], "little")
    for at in [0, 3, 4, 5, footer - 1, *range(footer, len(data), many(7, 1))]:
        other.write_bytes(data[:at] + bytes([data[at] ^ 1]) + data[at + 1 :])
        try:
            assert sha256_but_for_order(other) != before
        except SourceError:
            assert at >= footer


def test_what_is_not_a_whole_parquet_file_is_refused_in_one_line(part: Path, tmp_path: Path) -> None:
    data, other = part.read_bytes(), tmp_path / "other.parquet"
    for cut in (b"", data[:4], data[:-1], data[:-200] + data[-8:], b"PAR1" + b"\xff" * 60 + data[-8:]):
        other.write_bytes(cut)
        with pytest.raises(SourceError, match="not an intact Parquet file") as caught:
            sha256_but_for_order(other)
        assert "\n" not in str(caught.value)
