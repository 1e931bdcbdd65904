"""A table in parts: what its parts show about the cells adds up to what the whole shows, and they are read alike."""

from __future__ import annotations

import random
from functools import reduce

import pyarrow as pa
import pytest

from sizes import many
from tacit.person.link.wide import Wide, WideEvidence, gathered, wide_evidence
from tacit.tables import open_table

FORMS = {
    "dob": ("date", None),
    "due": ("date-month-first", None),
    "zip": ("zip", None),
    "phone": ("phone", None),
    "email": ("email", None),
}
# Kinds of cells: a column is written in one or two of them.
DAYS = {
    "dob": (["30753", "33218.0"], ["447897600", "-662688000"], ["03121984", "12251990", "3121984"], ["01021990"]),
    "due": (["30753"], ["3/4/1990", "25/12/91"], ["3/4/1990", "12/25/1991"], ["1990-04-03", "0000-00-00"]),
    "zip": (["2138", "90210"], ["90210", "10001", "80331"], ["01067"], ["2138.0", "10001.0"]),
    "phone": (["415 555 2671"], ["0160 1234567"], ["0160 1234567 / 089 7654321"], ["+49 89 7654321 or 0160 1234567"]),
    "email": (["a@b.de"], ["a@b.de; c@d.de"], ["c@d.de or e@f.de", "nobody"], ["n/a"]),
}
COUNTRIES = ["Germany", "usa", "France", "DE", "Atlantis", None]


def written_table(chance: random.Random) -> dict[str, list[str | None]]:
    """A table whose columns are each written in one or two ways, the second perhaps in few rows."""
    rows = chance.choice([3, 40, 250])
    columns: dict[str, list[str | None]] = {}
    for label, ways in DAYS.items():
        usual, rare = chance.choice(ways), chance.choice(ways)
        share = chance.choice([0.0, 0.01, 0.5])
        cells = [chance.choice(rare if chance.random() < share else usual) for _ in range(rows)]
        columns[label] = [chance.choice([None, "", "N/A"]) if chance.random() < 0.1 else cell for cell in cells]
    if chance.random() < 0.5:
        columns["country"] = [chance.choice(COUNTRIES) for _ in range(rows)]
    return columns


def wide(columns: dict[str, list[str | None]], **more: object) -> Wide:
    table = open_table(pa.table({name: pa.array(cells, pa.string()) for name, cells in columns.items()}))
    return Wide(table, {label: label for label in FORMS}, forms=FORMS, **more)  # type: ignore[arg-type]


def said(source: Wide, first: int = 0) -> set[tuple[object, ...]]:
    """What the records of a table say."""
    attributes = gathered([source]).attributes
    rows = attributes.store.ask(f"SELECT rid, label, value, confidence FROM {attributes.name}")
    return {(row["rid"] + first, row["label"], row["value"], row["confidence"]) for row in rows.to_pylist()}


@pytest.mark.parametrize("seed", range(many(12, 400)))
def test_a_table_is_read_the_same_in_one_piece_and_in_parts(seed: int) -> None:
    chance = random.Random(seed)
    columns = written_table(chance)
    rows = len(columns["dob"])
    ends = sorted(chance.sample(range(rows + 1), k=chance.randint(0, 3)))
    spans = list(zip([0, *ends], [*ends, rows], strict=True))
    parts = [({name: cells[a:b] for name, cells in columns.items()}, a) for a, b in spans]
    whole = wide(columns)
    shown = reduce(WideEvidence.__add__, [wide_evidence(wide(part)) for part, _ in parts], WideEvidence())
    assert shown.records == rows
    readings = shown.readings(whole)
    assert readings == wide_evidence(whole).readings(whole)
    together = set().union(*(said(wide(part, readings=readings), first) for part, first in parts))
    assert together == said(whole)
