"""Cells of large tables: chosen on a sample, and what stands is counted on all; made small here."""

from __future__ import annotations

import math
from collections import Counter

import numpy as np
import pyarrow as pa
import pytest

from sizes import many
from tacit.codes import coding, fitting, searching
from tacit.codes.asking import CodeClaim, CodeRequest
from tacit.codes.coding import coded, told_counts
from tacit.codes.fitting import fit_code
from tacit.tables import count, open_table

LEAST, EPSILON = 10, 0.6
COLUMNS = ("income", "age", "ward", "postcode")


@pytest.fixture
def people():
    rng = np.random.default_rng(3)
    n = 6_000
    age = rng.integers(18, 90, n)
    ill = np.where(rng.random(n) < 0.3 + age / 300, "yes", "no")
    ward = rng.choice(["a", "b", "c", None], n, p=[0.5, 0.3, 0.15, 0.05])
    postcode = [f"{code:05}" for code in rng.integers(1_000, 1_400, n)]
    return pa.table(
        {
            "income": rng.gamma(2.0, 1e4, n).round(2),
            "ill": ill,
            "age": age,
            "ward": ward,
            "postcode": postcode,
            "note": ["-"] * n,
        }
    )


def request(**said):
    return CodeRequest(COLUMNS, (CodeClaim(("ill",), EPSILON, EPSILON),), LEAST, **said)


@pytest.fixture(params=[0, 10**6])
def looked_up(request, monkeypatch):
    """Texts are looked up by value, or compared with beginnings."""
    monkeypatch.setattr(coding, "FEW_STARTS", request.param)


@pytest.fixture(params=["counted by cell", "cut again", "few combinations"])
def large(request, monkeypatch):
    """What makes 6,000 records many, in each of the ways that many records are looked at."""
    monkeypatch.setattr(searching, "MOST_WHOLE", 1_000)
    monkeypatch.setattr(searching, "DESIGN_RECORDS", 500)
    monkeypatch.setattr(fitting, "MOST_CUT_AGAIN", 10**6 if request.param == "cut again" else 0)
    monkeypatch.setattr(searching, "FEW_COMBINATIONS", 10**9 if request.param == "few combinations" else 0)


def in_bounds(written, secrets):
    """Whether every cell of what is written keeps what was asked, counted a row at a time."""
    prior, cells = Counter(secrets), Counter(written)
    pairs = Counter(zip(written, secrets, strict=True))
    lifts = [pairs[cell, ill] * len(secrets) / (cells[cell] * prior[ill]) for cell in cells for ill in prior]
    return min(cells.values()) >= LEAST and all(lift > 0 and abs(math.log(lift)) <= EPSILON for lift in lifts)


@pytest.mark.long
@pytest.mark.usefixtures("large", "looked_up")
@pytest.mark.parametrize("write", ["means", "text"][: many(1, 2)])
def test_cells_keep_their_bounds_on_the_whole_table_and_their_counts_are_those_of_what_is_written(people, write):
    table = open_table(people)
    fitted = fit_code(table, request(write=write))
    assert fitted.found is not None
    assert len(fitted.code.tree.leaves) > 20
    written = coded(table.select([*COLUMNS, "ill"]), fitted.code, fitted.found)
    rows = pa.concat_tables(written.batches([*COLUMNS, "ill"], 1_000)).to_pylist()
    assert in_bounds([tuple(row[name] for name in COLUMNS) for row in rows], [row["ill"] for row in rows])
    # By the code as it is published every record is told the same.
    again = pa.concat_tables(coded(table, fitted.code).batches([*COLUMNS, "ill"], 1_000)).to_pylist()
    assert again == rows
    told = told_counts(table, fitted.code, *fitted.found.counted(["ill"]))
    whole = count(written, ["ill", *COLUMNS])
    assert (told.columns, told.levels) == (whole.columns, whole.levels)
    assert told.codes.tolist() == whole.codes.tolist()
    assert told.records.tolist() == whole.records.tolist()


def test_cells_of_a_sample_that_the_whole_table_breaks_are_merged(people, monkeypatch):
    for name, value in {"MOST_WHOLE": 1_000, "DESIGN_RECORDS": 500, "MOST_CUT_AGAIN": 0, "FEW_COMBINATIONS": 0}.items():
        monkeypatch.setattr(fitting if name == "MOST_CUT_AGAIN" else searching, name, value)
    secrets = people.column("ill").to_pylist()
    chosen = fitting.placed
    seen = []
    monkeypatch.setattr(fitting, "placed", lambda table, code, **said: seen.append(code) or chosen(table, code, **said))
    fitted = fit_code(open_table(people), request())
    rows = pa.concat_tables(coded(open_table(people), seen[0]).batches(COLUMNS, 1_000)).to_pylist()
    assert not in_bounds([tuple(row.values()) for row in rows], secrets)
    assert len(fitted.code.tree.leaves) < len(seen[0].tree.leaves)
