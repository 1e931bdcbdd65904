"""The lines of a verification about a folder of parts: the files, and where they end, can say more than the rows."""

from __future__ import annotations

from itertools import accumulate
from pathlib import Path

from tacit.errors import EngineError, TacitError
from tacit.release.certificate import CertifiedOutput
from tacit.release.checks import Check
from tacit.tables.parted import ends_within, parts_written_again, sha256_but_for_order
from tacit.tables.table import Table

# A forger could choose both, so it is stated.
NOT_CHECKED = (
    "not checked: which row groups or partitions of the original are together in a part, as that follows how the "
    "workers read it; and in which order a part lists its encodings, which is by chance"
)


def check_of_ends(output: CertifiedOutput, original: Table) -> Check:
    """Whether parts end only where something ends in the original: ends that may be anywhere could tell of each row."""
    name, ends = "parts end as in the original", [*accumulate(part.records for part in output.parts)][:-1]
    allowed = ends_within(original) if ends else frozenset()
    if allowed is None:
        return Check(name, None, "only Spark tells where the partitions of such a table end: use it to verify")
    inside = [end for end in ends if end not in allowed]
    if inside:
        return Check(name, None, f"{len(inside):,} parts end inside a row group or partition of the original")
    return Check(name, True, f"{len(ends):,} ends, each that of a row group or partition")


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
    except EngineError:
        return Check(name, None, "they were not written again: this takes Spark, with Java 17 or later")
    except TacitError as error:
        return Check(name, None, f"they were not written again: {error}")
    return Check(name, True, f"written again by Spark, all {len(parts):,} are the same")
