"""What a reader of a drawn release counts, and what was there: the section of a release about its counts."""

from __future__ import annotations

import math
from collections.abc import Sequence

from tacit import document as doc
from tacit.errors import sentence
from tacit.lenses.table.results import CorrectedColumn, CorrectedValue


def corrected_section(columns: Sequence[CorrectedColumn]) -> Sequence[doc.Section]:
    """Columns with few values: how many records have each in the release, and how many had it before."""
    if not columns:
        return ()
    words = (
        "Values were drawn, so counts in the release differ from those of the original. Its channel is known "
        "(channel.json), and corrects that on average. ± is one standard error of the draw; values that the release "
        "does not distinguish have none."
    )
    blocks: list[doc.Block] = [doc.Paragraph(words)]
    heads = ("Value", ">In the release", ">Corrected", ">±")
    for each in columns:
        blocks.append(doc.Heading(doc.DataValue(each.column, 60)))
        blocks.append(doc.TableBlock(heads, [_row(value) for value in each.values if _occurs(value)]))
        query = doc.Paragraph(doc.Code(each.sql.replace("\n", " ")))
        summary = sentence("The same in SQL, with the released data in a table called {}", doc.Code("release"))
        if each.sql:
            blocks.append(doc.Folded(summary, (query,), where="page"))
    return (doc.Section("How many there were", blocks, kind="estimate"),)


def _occurs(value: CorrectedValue) -> bool:
    return not value.other or value.observed > 0 or value.records > 0.5


def _row(value: CorrectedValue) -> tuple[doc.InCell, ...]:
    error: doc.InCell = doc.Count(round(value.standard_error)) if math.isfinite(value.standard_error) else "unknown"
    return doc.DataValue(value.name, 40), doc.Count(value.observed), doc.Count(round(value.records)), error
