"""Linear erasure and codebooks, each against what is obviously right."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.linear_model import LogisticRegression

from tacit.codes.vectors.codebook import code_space, codebook, joined, nearest
from tacit.codes.vectors.erasing import erasure_of


@pytest.fixture(scope="module")
def told() -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(0)
    secret = rng.integers(0, 3, 900)
    mixing = rng.normal(size=(6, 6))
    return (rng.normal(size=(900, 6)) + np.eye(3, 6)[secret] * 1.5) @ mixing, secret


def test_after_erasure_every_secret_has_the_same_mean_and_a_linear_reader_learns_nothing(told) -> None:
    vectors, secret = told
    erased = erasure_of(vectors, secret)(vectors)
    means = np.stack([erased[secret == s].mean(axis=0) for s in range(3)])
    assert np.abs(means - means[0]).max() < 1e-9
    commonest = np.bincount(secret).max() / len(secret)
    assert LogisticRegression(max_iter=1000).fit(vectors, secret).score(vectors, secret) > commonest + 0.2
    assert LogisticRegression(max_iter=1000).fit(erased, secret).score(erased, secret) <= commonest + 0.02


def test_no_other_way_to_the_same_end_changes_the_vectors_less(told) -> None:
    vectors, secret = told
    change = ((erasure_of(vectors, secret)(vectors) - vectors) ** 2).sum()
    # The orthogonal projection away from the differences of means erases as much.
    means = np.stack([vectors[secret == s].mean(axis=0) for s in range(3)])
    axes = np.linalg.svd(means - means.mean(axis=0))[2][:2]
    centred = vectors - vectors.mean(axis=0)
    assert change <= ((centred @ axes.T) ** 2).sum()


def test_a_direction_without_variance_stays_as_it_is() -> None:
    rng = np.random.default_rng(0)
    vectors = np.hstack([rng.normal(size=(400, 2)), np.ones((400, 1))])
    erased = erasure_of(vectors, np.arange(400) % 2)(vectors)
    assert np.isfinite(erased).all()
    assert np.abs(erased[:, 2] - 1).max() < 1e-9


def test_every_code_has_enough_people_and_a_vector_gets_the_same_code_in_any_company(told) -> None:
    vectors, secret = told
    book = codebook(code_space(vectors, secret, None, random_state=0), vectors, codes=32, least=25, random_state=0)
    codes = book.codes(vectors)
    assert np.bincount(codes, minlength=len(book)).min() >= 25
    assert [int(book.codes(vectors[at : at + 1])[0]) for at in range(50)] == codes[:50].tolist()


def test_the_nearest_centre_is_the_nearest() -> None:
    rng = np.random.default_rng(0)
    points, centres = rng.normal(size=(300, 4)), rng.normal(size=(20, 4))
    slow = [int(((point - centres) ** 2).sum(axis=1).argmin()) for point in points]
    assert nearest(points, centres).tolist() == slow


def test_centres_join_until_each_has_enough() -> None:
    centres = np.array([[0.0], [1.0], [10.0], [11.0]])
    assert joined(centres, np.array([5.0, 5.0, 5.0, 5.0]), 5).tolist() == [0, 1, 2, 3]
    assert joined(centres, np.array([2.0, 5.0, 5.0, 2.0]), 5).tolist() == [0, 0, 1, 1]
    assert set(joined(centres, np.array([1.0, 1.0, 1.0, 1.0]), 5).tolist()) == {0}


def test_what_a_reader_wants_to_tell_is_told_by_the_codes() -> None:
    rng = np.random.default_rng(0)
    vectors, secret = rng.normal(size=(1000, 12)), rng.integers(0, 2, 1000)
    use = (vectors[:, 3] > 0).astype(int)

    def right(wanted: np.ndarray | None) -> float:
        space = code_space(vectors, secret, wanted, random_state=0)
        codes = codebook(space, vectors, codes=8, least=10, random_state=0).codes(vectors)
        table = np.zeros((codes.max() + 1, 2))
        np.add.at(table, (codes, use), 1)
        return table.max(axis=1).sum() / len(use)

    assert right(use) > right(None) + 0.05
