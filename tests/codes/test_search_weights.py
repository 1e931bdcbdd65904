"""What secrets weigh in groups is the same added up pair by pair, and in a table."""

from __future__ import annotations

import numpy as np
import pytest

from tacit.codes.search import weights


@pytest.mark.parametrize("labels", [1, 4])
def test_a_table_of_secrets_adds_up_to_what_their_pairs_do(labels: int) -> None:
    rng, groups = np.random.default_rng(labels), 30
    group, label = rng.integers(0, groups, 400), rng.integers(0, labels + 1, 400)
    weight = rng.integers(0, 5, 400).astype(np.float64)
    table = weights.weights_of(group, label, weight, (labels, groups), whole=True)
    some = (label < labels) & (weight > 0)
    pairs = weights.SecretWeights(group[some], label[some], weight[some])
    assert isinstance(table, weights.SecretTable)
    order = rng.permutation(groups)[: groups - 7]
    for times in (1, 3):
        place = rng.integers(0, 4, len(order) * times)
        moved = (each.moved(order, groups).times(times, len(order)) for each in (table, pairs))
        one, other = (each.by_label(place, 5, labels) for each in moved)
        assert np.array_equal(one, other)
        assert one.sum() > 0


def test_only_numbers_of_records_of_which_most_pairs_occur_make_a_table() -> None:
    group, label, weight = np.arange(40), np.zeros(40, np.int64), np.ones(40)
    assert isinstance(weights.weights_of(group, label, weight, (1, 40), whole=True), weights.SecretTable)
    assert isinstance(weights.weights_of(group, label, weight, (1, 40), whole=False), weights.SecretWeights)
    assert isinstance(weights.weights_of(group, label, weight, (9, 40), whole=True), weights.SecretWeights)
    assert isinstance(weights.weights_of(group, label, weight, (0, 40), whole=True), weights.SecretWeights)
