"""A claim for somebody who knows some columns says what somebody learns who knows nothing, as it is counted."""

from __future__ import annotations

import math
import re
from pathlib import Path

import pyarrow as pa

from hospital import hospital
from tacit import log_lift, protect, verify
from tacit.lift import Joint


def test_the_claim_says_what_a_record_tells_somebody_who_knows_nothing(tmp_path: Path) -> None:
    people = pa.table(hospital(600))
    made = protect(people, secret="illness", known=("sex",), epsilon=0.7, out=tmp_path / "r")
    told = re.search(r"knows nothing about the person, the same record (.*), as counted", made.certificate.claim)
    assert told is not None
    rows = zip(people["illness"].to_pylist(), *(column.to_pylist() for column in made.frame().columns), strict=True)
    pairs = [(illness, row) for illness, *row in rows]
    secrets, cells = (sorted({str(pair[side]) for pair in pairs}) for side in (0, 1))
    counts = [[0.0] * len(cells) for _ in secrets]
    for illness, row in pairs:
        counts[secrets.index(illness)][cells.index(str(row))] += 1
    lifts = log_lift(Joint.from_counts(counts))
    up = float(re.findall(r"[0-9.]+", told[1])[-1])
    assert math.exp(lifts.max()) <= up <= math.exp(lifts.max()) * 1.01
    assert ("rule one out" in told[1]) == math.isinf(lifts.min())
    assert verify(tmp_path / "r", against=people).verdict == "holds"
