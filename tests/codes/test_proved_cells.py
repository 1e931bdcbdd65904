"""Cells grown on some records and proved on the others: how often what is proved is false of a known population."""

from __future__ import annotations

import numpy as np
import pyarrow as pa
import pytest

from sizes import many
from tacit.codes.asking import CodeClaim, CodeRequest
from tacit.codes.code import CellCode
from tacit.codes.proving import prove_code
from tacit.errors import ArgumentError
from tacit.lift import threshold_risk
from tacit.tables import open_table

EPSILON, CONFIDENCE, RECORDS = 0.3, 0.8, 1_800
# Eight kinds of people, in two columns. Of six, the secret is as of all; of two it is tilted a little beyond epsilon.
KINDS = [(a, b) for a in range(4) for b in range(2)]
TILT = np.array([0.0, 0.0, 0.0, 0.0, 0.5, -0.5, 0.0, 0.0])


def population() -> np.ndarray:
    """P(kind, secret)."""
    given = np.exp(TILT[:, None] * np.linspace(-1, 1, 6))
    return given / given.sum(axis=1, keepdims=True) / len(KINDS)


def sampled(rng: np.random.Generator, *, halves: bool) -> pa.Table:
    kind, secret = np.divmod(rng.choice(48, size=RECORDS, p=population().ravel()), 6)
    a, b = np.array(KINDS)[kind].T
    return pa.table(
        {"a": [f"a{each}" for each in a], "b": [f"b{each}" for each in b], "secret": secret // 3 if halves else secret}
    )


def truly(code: CellCode, *, floor: float | None) -> float:
    """The largest log-lift of the population in the cells of a code: at every threshold, or of either half."""
    atoms = np.column_stack(
        [
            scale.atoms_of([f"{name}{kind[at]}" for kind in KINDS])
            for at, (name, scale) in enumerate(zip("ab", code.scales, strict=True))
        ]
    )
    leaf, joint = code.tree.leaf_of(atoms), population()
    if floor is not None:
        cell = np.repeat(np.unique(leaf, return_inverse=True)[1], 6)
        sides = threshold_risk(np.tile(np.arange(6), len(KINDS)), cell, floor=floor, weight=joint.ravel())
        return float(np.max(sides))
    halves = joint.reshape(len(KINDS), 2, 3).sum(axis=2)
    rows = np.stack([halves[leaf == each].sum(axis=0) for each in np.unique(leaf)])
    return float(np.abs(np.log(rows / rows.sum(axis=1, keepdims=True) / halves.sum(axis=0))).max())


@pytest.mark.parametrize("floor", [None, 0.3])
def test_cells_that_are_proved_are_seldom_false_of_the_population_and_those_that_are_not_often(
    floor: float | None,
) -> None:
    runs, rng = many(6, 1_000), np.random.default_rng(0)
    claims = (CodeClaim(("secret",), EPSILON, EPSILON, floor=floor),)
    asked = CodeRequest(columns=("a", "b"), claims=claims, least=5)
    false = told = unproved = 0
    for _ in range(runs):
        proved = prove_code(open_table(sampled(rng, halves=floor is None)), asked, confidence=CONFIDENCE)
        told += len(proved.code.tree.leaves) > 1
        false += truly(proved.code, floor=floor) > EPSILON
        unproved += truly(proved.design, floor=floor) > EPSILON
    assert told > runs / 4
    assert false / runs <= 1 - CONFIDENCE + 4 * np.sqrt(CONFIDENCE * (1 - CONFIDENCE) / runs)
    assert unproved > runs / 10


def test_weights_prove_nothing() -> None:
    table = sampled(np.random.default_rng(0), halves=True)
    table = table.append_column("w", pa.array(np.ones(RECORDS)))
    asked = CodeRequest(("a", "b"), (CodeClaim(("secret",), EPSILON, EPSILON),), least=5, weight="w")
    with pytest.raises(ArgumentError, match="weighted ones prove nothing"):
        prove_code(open_table(table), asked, confidence=CONFIDENCE)
