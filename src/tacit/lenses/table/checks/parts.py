"""The line of a verification about a folder of parts: a file can say more than its rows."""

from __future__ import annotations

from pathlib import Path

from tacit.errors import TacitError
from tacit.loading import file_sha256
from tacit.release.certificate import CertifiedOutput
from tacit.release.checks import Check
from tacit.tables.parted import parts_written_again
from tacit.tables.table import Table

# Nothing says how the workers divided the rows, so it is stated; a forger could choose it.
NOT_CHECKED = "where one part ends and the next begins was not checked: it follows how the workers read the original"


def check_of_parts(directory: Path, output: CertifiedOutput, data: Table) -> Check:
    """Whether each part is, byte for byte, what Spark writes of its rows; doubt where Spark is not at hand."""
    name = "parts are written plainly"
    parts = {directory / output.file / part.name: part for part in output.parts}
    try:
        for part, again in parts_written_again([*parts], codec=data.codec or ""):
            if file_sha256(again) != parts[part].sha256:
                return Check(name, None, f"this version of Spark writes other bytes for the rows of {part.name}")
    except TacitError as error:
        return Check(name, None, f"they were not written again: {error}")
    return Check(name, True, f"written again by Spark, all {len(parts):,} are the same bytes")
