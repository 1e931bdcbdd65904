"""Tables in parts: folders of Parquet files that workers write, and whether such a file says more than its rows."""

from tacit.tables.parted.folder import (
    ends_within,
    names_of_parts,
    parts_written_again,
    refuse_parts,
    rows_of_part,
    write_parts,
)
from tacit.tables.parted.footers import sha256_but_for_order

__all__ = [
    "ends_within",
    "names_of_parts",
    "parts_written_again",
    "refuse_parts",
    "rows_of_part",
    "sha256_but_for_order",
    "write_parts",
]
