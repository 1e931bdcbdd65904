"""Treatments: what is kept, by brute force; what is written, read again."""

from __future__ import annotations

import json
import math
from typing import Any

import numpy as np
import pytest
from hypothesis import given, strategies as st

from tacit.release import Damaged, Merging, Mixing, Treatment, decoded, text_of
from tacit.tables import Symbols
from treatment_strategies import LEVELS, MISSING, becomes, mergings, mixings, names_of, shares, some_symbols


def check_kept(treatment: Treatment, own: Symbols, symbols: Symbols, marginal: np.ndarray) -> None:
    """Every number of what is kept, against loops over all flows."""
    kept = treatment.kept(marginal, symbols, own)
    flows = [
        (x, y, mass * p)
        for x, mass in zip(names_of(symbols), marginal.tolist(), strict=True)
        for y, p in becomes(treatment, own, x).items()
    ]
    assert kept.rows_unchanged == pytest.approx(sum(p for x, y, p in flows if x == y))
    assert kept.cells_unchanged == pytest.approx(sum(p * ((x[0] == y[0]) + (x[1] == y[1])) / 2 for x, y, p in flows))
    shifts = []
    for column in (0, 1):
        moved = {
            level: sum(p * ((x[column] == level) - (y[column] == level)) for x, y, p in flows)
            for level in LEVELS[column]
        }
        shifts.append(sum(map(abs, moved.values())) / 2)
    assert kept.column_shift == pytest.approx(max(shifts), abs=1e-12)
    total = {y: sum(p for _, z, p in flows if z == y) for _, y, _ in flows}
    before = dict(zip(names_of(symbols), marginal.tolist(), strict=True))
    assert kept.entropy == pytest.approx(-sum(p * math.log(p) for p in before.values()))
    assert kept.mutual_information == pytest.approx(
        sum(p * math.log(p / before[x] / total[y]) for x, y, p in flows), abs=1e-12
    )


@given(some_symbols(), some_symbols(), st.data())
def test_what_merging_keeps_is_what_loops_over_all_flows_give(own: Symbols, symbols: Symbols, data: Any) -> None:
    marginal = data.draw(st.composite(shares)(len(symbols), least=1))
    check_kept(data.draw(mergings(own)), own, symbols, marginal)


@given(some_symbols(), some_symbols(), st.data())
def test_what_mixing_keeps_is_what_loops_over_all_flows_give(own: Symbols, symbols: Symbols, data: Any) -> None:
    marginal = data.draw(st.composite(shares)(len(symbols), least=1))
    check_kept(data.draw(mixings(len(own))), own, symbols, marginal)


@given(some_symbols(), some_symbols(), st.booleans(), st.data())
def test_a_pushed_joint_is_what_loops_give(own: Symbols, symbols: Symbols, mixed: bool, data: Any) -> None:
    treatment = data.draw(mixings(len(own)) if mixed else mergings(own))
    matrix = data.draw(st.composite(shares)(2 * len(symbols), least=1)).reshape(2, -1)
    pushed = treatment.push(matrix, symbols.positions_in(own))
    expected: dict[tuple[Any, ...], np.ndarray] = {}
    for k, x in enumerate(names_of(symbols)):
        for y, p in becomes(treatment, own, x).items():
            expected[y] = expected.get(y, np.zeros(2)) + matrix[:, k] * p
    found: dict[tuple[Any, ...], np.ndarray] = {}
    for at, y in enumerate([*names_of(own), MISSING]):
        found[y] = found.get(y, np.zeros(2)) + pushed[:, at]
    for y, column in found.items():
        assert column == pytest.approx(expected.get(y, np.zeros(2)))


# Written and read again


@given(st.integers(1, 8), st.data())
def test_a_mixing_is_read_as_it_was_written(size: int, data: Any) -> None:
    made = data.draw(mixings(size))
    again = decoded(Mixing, json.loads(text_of(made)))
    assert isinstance(again, Mixing)
    assert (again.channel.toarray() == made.channel.toarray()).all()
    assert (again.changed == made.changed).all()
    assert again.drawn == made.drawn


@given(some_symbols(), st.data())
def test_a_merging_is_read_as_it_was_written(own: Symbols, data: Any) -> None:
    made = data.draw(mergings(own))
    again = decoded(Merging, json.loads(text_of(made)))
    assert isinstance(again, Merging)
    assert (again.merged == made.merged).all()
    if made.replacement is None:
        assert again.replacement is None
    else:
        assert again.replacement is not None
        assert (again.replacement == made.replacement).all()


MIXED = {"kind": "mixing", "size": 4, "mixed": [0, 2], "starts": [0, 2, 3], "outputs": [0, 1, 4], "p": [0.5, 0.5, 1.0]}
MERGED = {"kind": "merging", "size": 4, "merged": [0, 1], "replacement": {"at": [0, 1], "p": [0.25, 0.75]}}


def test_the_examples_of_damage_were_whole_before() -> None:
    assert decoded(Mixing, MIXED).drawn
    assert decoded(Merging, MERGED).drawn


@pytest.mark.parametrize(
    "change",
    [
        {"mixed": [0, 4]},
        {"mixed": [-1, 2]},
        {"mixed": [0, 0]},
        {"mixed": [0]},
        {"mixed": [0.0, 2]},
        {"mixed": None},
        {"starts": []},
        {"starts": [0, 3, 2]},
        {"starts": [1, 2, 3]},
        {"starts": [0, 2, 2]},
        {"starts": [0, 2, 4]},
        {"outputs": [0, 1, 5]},
        {"outputs": [0, -1, 4]},
        {"outputs": [0, 1]},
        {"p": [0.5, 0.4, 1.0]},
        {"p": [1.5, -0.5, 1.0]},
        {"p": [math.nan, 0.5, 1.0]},
        {"p": [1.0, 0.0, 1.0]},
        {"p": [0.5, 0.5]},
    ],
)
def test_a_damaged_mixing_is_refused(change: dict[str, Any]) -> None:
    with pytest.raises(Damaged):
        decoded(Mixing, {**MIXED, **change})


@pytest.mark.parametrize(
    "change",
    [
        {"merged": [0, 4]},
        {"merged": [True]},
        {"merged": [0]},
        {"replacement": {"at": [0, 1], "p": [0.25, 0.5]}},
        {"replacement": {"at": [0, 1], "p": [1.25, -0.25]}},
        {"replacement": {"at": [0, 1], "p": [math.nan, 1.0]}},
        {"replacement": {"at": [0, 0], "p": [0.5, 0.5]}},
        {"replacement": {"at": [0, 2], "p": [0.5, 0.5]}},
        {"replacement": {"at": [0, 1], "p": [0.5, 0.25, 0.25]}},
        {"replacement": {"at": [0]}},
        {"replacement": 3},
    ],
)
def test_a_damaged_merging_is_refused(change: dict[str, Any]) -> None:
    with pytest.raises(Damaged):
        decoded(Merging, {**MERGED, **change})
