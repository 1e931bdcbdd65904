"""What columns tell of each other is counted for many at a time, and is what two at a time would give."""

from __future__ import annotations

import numpy as np
import pytest

from tacit.codes.search import worth


@pytest.mark.parametrize("at_once", [1, 700, 1_000_000])
@pytest.mark.parametrize("columns", [0, 1, 2, 9])
def test_counting_many_columns_at_a_time_is_counting_two(
    columns: int, at_once: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(worth, "_AT_ONCE", at_once)
    rng = np.random.default_rng(columns)
    labels = [rng.integers(0, 1 + k % 5, 200) for k in range(columns)]
    labels = [(label + labels[0]) // 2 if k % 2 else label for k, label in enumerate(labels)]
    weight = rng.random(200)
    told = np.zeros((columns, columns))
    for j in range(columns):
        for k in range(columns):
            if j != k:
                told[j, k] = worth.information(labels[j], labels[k], weight, int(labels[k].max()) + 1)
    found = worth._informations(labels, weight, len(weight))
    assert found.shape == told.shape
    assert np.allclose(found, told, rtol=0, atol=1e-12)
    assert columns < 9 or told.max() > 0.01
