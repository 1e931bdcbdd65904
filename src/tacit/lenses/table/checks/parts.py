"""The line of a verification about a folder of parts: a file can say more than its rows."""

from __future__ import annotations

from pathlib import Path

from tacit.errors import TacitError
from tacit.release.certificate import CertifiedOutput
from tacit.release.checks import Check
from tacit.tables.parted import parts_written_again, sha256_but_for_order
from tacit.tables.table import Table

# A forger could choose both, so it is stated.
NOT_CHECKED = (
    "where one part ends and the next begins was not checked, as it follows how the workers read the original; nor in "
    "which order a part lists its encodings, which is by chance"
)


def check_of_parts(directory: Path, output: CertifiedOutput, data: Table) -> Check:
    """Whether each part is what Spark writes of its rows, byte for byte but for the order of lists of encodings.

    Doubt where Spark is not at hand. That the parts are those certified has been checked before.
    """
    name = "parts are written plainly"
    parts = [directory / output.file / part.name for part in output.parts]
    try:
        for part, again in parts_written_again(parts, codec=data.codec or ""):
            if sha256_but_for_order(again) != sha256_but_for_order(part):
                return Check(name, None, f"this version of Spark writes other bytes for the rows of {part.name}")
    except TacitError as error:
        return Check(name, None, f"they were not written again: {error}")
    return Check(name, True, f"written again by Spark, all {len(parts):,} are the same")
