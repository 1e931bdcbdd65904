"""Treatments: what is kept, by brute force; what is written, read again; whether draws are right, by simulation."""

from __future__ import annotations

import json
import math
from typing import Any

import numpy as np
import pytest
from hypothesis import given, strategies as st
from scipy.sparse import csr_array
from scipy.stats import binom

from tacit.lenses.table.checks.mixture import OutputDraws, checks_of_mixture
from tacit.lift import TOO_UNLIKELY
from tacit.release import Damaged, LiftBounds, Merging, Mixing, ReleaseRules, Treatment, decoded, text_of
from tacit.tables.pairing import Pairs
from tacit.tables.symbols import Symbols
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


# Whether draws are those of the rules

VALUES = Symbols(("x",), (("a", "b", "c", "d", "e"),), np.arange(5)[:, None])
OUTPUTS = Symbols(("x",), (("a", "b", "c", "d", "e", None),), np.arange(6)[:, None])
CHANNEL = np.array(
    [
        [0.7, 0.3, 0.0, 0.0, 0.0, 0.0],
        [0.2, 0.5, 0.3, 0.0, 0.0, 0.0],
        [0.0, 0.0, 1.0, 0.0, 0.0, 0.0],
        [0.0, 0.05, 0.0, 0.9, 0.0, 0.05],
        [0.01, 0.0, 0.0, 0.0, 0.99, 0.0],
    ]
)
RULES = ReleaseRules(("s",), ("x",), (), VALUES, Mixing(csr_array(CHANNEL)), LiftBounds.within(1.0))
TOUCHED = CHANNEL.diagonal() < 1


def drawn(records: np.ndarray, channels: list[np.ndarray], rng: np.random.Generator) -> Pairs:
    """A release of so many records of each secret and value, each secret by its own channel."""
    rows = []
    for secret, value in np.ndindex(*records.shape):
        became = rng.multinomial(records[secret, value], channels[secret][value])
        rows += [(secret, value, output, k) for output, k in enumerate(became) if k]
    secret, value, output, count = np.array(rows).T
    return Pairs(secret, value, output, np.where(output < 5, output, -1), count)


@pytest.mark.parametrize("mean", [4, 30, 1000])
def test_honest_draws_are_hardly_ever_called_others(mean: int) -> None:
    rng = np.random.default_rng(mean)
    by_cell, by_output = [], []
    for _ in range(300):
        pairs = drawn(rng.poisson(mean, (3, 5)) + 1, [CHANNEL] * 3, rng)
        draws = OutputDraws.of(pairs, VALUES, OUTPUTS, RULES)
        assert draws.stray == 0
        by_cell.append(draws.by_cell().p_value)
        by_output.append(draws.by_output().p_value)
        assert all(check.passed is not False for check in checks_of_mixture(pairs, VALUES, OUTPUTS, RULES, TOUCHED))
    for p_values in (np.array(by_cell), np.array(by_output)):
        assert p_values.min() > TOO_UNLIKELY
        assert (p_values < 0.01).mean() <= 0.03
        assert (p_values < 0.1).sum() <= binom.ppf(0.999, 300, 0.1)
    if mean == 1000:
        # With enough records in every cell they are spread evenly.
        assert 0.4 < np.mean(by_cell) < 0.6
        assert np.mean(np.array(by_cell) < 0.5) == pytest.approx(0.5, abs=0.1)


def test_a_probability_that_is_ten_per_cent_off_is_found_out() -> None:
    wrong = CHANNEL.copy()
    wrong[0, :2] += [0.1, -0.1]
    pairs = drawn(np.full((3, 5), 3000), [wrong] * 3, np.random.default_rng(0))
    draws = OutputDraws.of(pairs, VALUES, OUTPUTS, RULES)
    assert draws.stray == 0
    assert draws.by_cell().p_value < TOO_UNLIKELY
    assert draws.by_output().p_value < TOO_UNLIKELY
    assert checks_of_mixture(pairs, VALUES, OUTPUTS, RULES, TOUCHED)[-1].passed is False


def test_one_secret_drawn_otherwise_is_found_out_though_all_together_look_right() -> None:
    up, down = CHANNEL.copy(), CHANNEL.copy()
    up[0, :2] += [0.1, -0.1]
    down[0, :2] -= [0.1, -0.1]
    pairs = drawn(np.full((2, 5), 3000), [up, down], np.random.default_rng(0))
    assert OutputDraws.of(pairs, VALUES, OUTPUTS, RULES).by_cell().p_value < TOO_UNLIKELY
    assert checks_of_mixture(pairs, VALUES, OUTPUTS, RULES, TOUCHED)[-1].passed is False


def test_an_output_of_others_is_counted_as_stray() -> None:
    wrong = CHANNEL.copy()
    wrong[4] = [0.01, 0.0, 0.0, 0.01, 0.98, 0.0]
    pairs = drawn(np.full((2, 5), 2000), [wrong] * 2, np.random.default_rng(0))
    stray = pairs.records[(pairs.value == 4) & (pairs.output == 3)].sum()
    assert OutputDraws.of(pairs, VALUES, OUTPUTS, RULES).stray == stray > 0


def test_too_few_records_cannot_tell() -> None:
    pairs = drawn(np.full((2, 5), 2), [CHANNEL] * 2, np.random.default_rng(0))
    assert checks_of_mixture(pairs, VALUES, OUTPUTS, RULES, TOUCHED)[-1].passed is None
