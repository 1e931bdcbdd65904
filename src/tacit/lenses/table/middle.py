"""The threshold in the middle of a number: what adversaries guess about a secret whose thresholds are bounded."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from tacit.lenses.table.verify import TableRelease
from tacit.tables.cutting import cut_points
from tacit.tables.sources import open_table
from tacit.tables.table import Table


def in_two(release: TableRelease, against: Any, *, engine: str) -> TableRelease:
    """The release of a number, with the two sides of its middle as the secret; unchanged if values are bounded.

    Guarantees
    ----------
    The certificate bounds both sides, provided that each holds at least the share it names.
    """
    certificate = release.certificate
    if certificate.thresholds is None:
        return release
    table = against if isinstance(against, Table) else open_table(against, engine=engine)
    middle = cut_points(table, certificate.secret[0], 2)
    if not middle.edges:
        return release
    others = [cut for cut in certificate.cuts if cut.column != middle.column]
    return replace(release, certificate=replace(certificate, cuts=(*others, middle)))
