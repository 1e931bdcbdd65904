"""Interactions that show in no single column: the search for them, their model, and what they do to intervals."""

from __future__ import annotations

from itertools import combinations

import numpy as np
import pytest
from scipy.special import expit

from sizes import many
from tacit import AutoLogLift
from tacit.learn import load_model, save_model
from tacit.learn.grids import model as grids, search

NO_CODES = np.zeros(5, dtype=bool)


def board(n: int, strength: float, seed: int, *, turned: bool = False):
    """Uniform columns; the odds of the secret change sign from field to field of a board of two, or three."""
    rng = np.random.default_rng(seed)
    X = rng.uniform(size=(n, 5))
    odds = strength * np.sign(np.sin(2.5 * np.pi * X[:, 1] + 0.3) * np.sin(2.5 * np.pi * X[:, 3] + 0.3))
    odds = odds * np.sign(X[:, 0] - 0.45) if turned else odds
    return X, (rng.random(n) < expit(odds)).astype(np.int64), odds


def residuals(posterior, secret):
    return (secret - posterior)[:, None], (posterior * (1 - posterior))[:, None]


class TestTheSearch:
    def test_a_board_is_found_that_no_column_shows(self):
        X, secret, _ = board(800, 1.2, 0)
        assert max(abs(np.corrcoef(column, secret)[0, 1]) for column in X.T) < 0.1
        found = search.GridSearch(X, NO_CODES).best(*residuals(np.full(800, 0.5), secret))
        assert found.columns == (1, 3)

    def test_three_categories_are_found_of_which_no_two_say_anything(self):
        rng = np.random.default_rng(1)
        codes = 1.0 + rng.integers(3, size=(700, 6))
        secret = (rng.random(700) < np.where(codes[:, [0, 2, 5]].sum(axis=1) % 3 == 0, 0.8, 0.3)).astype(np.int64)
        found = search.GridSearch(codes, np.ones(6, dtype=bool)).best(*residuals(np.full(700, secret.mean()), secret))
        assert found.columns == (0, 2, 5)

    @pytest.mark.parametrize("share", [0.5, 0.01])
    def test_where_there_is_nothing_it_finds_something_once_in_twenty_times_at_most(self, share):
        hits, tables = 0, many(1_000, 100)
        for seed in range(tables):
            rng = np.random.default_rng([seed, 5])
            X = np.column_stack([rng.standard_cauchy((600, 2)), rng.normal(size=(600, 2)), rng.integers(4, size=600)])
            posterior = share * rng.uniform(0.2, 1.8, size=600)
            sums = residuals(posterior, rng.random(600) < posterior)
            hits += search.GridSearch(X, np.arange(5) == 4).best(*sums) is not None
        assert hits <= 0.05 * tables + 3 * np.sqrt(0.05 * tables)

    def test_it_looks_at_every_grid(self):
        X, _, _ = board(300, 0.0, 2)
        for columns in [*combinations(range(5), 2), *combinations(range(5), 3)]:
            corner = (X[:, columns] > 0.5).sum(axis=1) % 2
            found = search.GridSearch(X, NO_CODES).best(*residuals(np.full(300, 0.5), corner))
            assert set(columns) <= set(found.columns)

    def test_an_interaction_of_the_stated_size_is_overlooked_about_once_in_eight_times(self):
        missed, tables, n = 0, many(200, 30), 900
        move = np.sqrt(search.overlooked(records=n, columns=5)) / 2
        for seed in range(tables):
            rng = np.random.default_rng([seed, 9])
            X = np.column_stack([rng.permutation(n) for _ in range(5)]) / n
            signs = rng.permutation(np.arange(27) % 2 * 2.0 - 1)
            fields = np.floor(3 * X[:, [0, 2, 4]]).astype(int) @ np.array([9, 3, 1])
            secret = rng.random(n) < 0.5 + move * signs[fields]
            missed += search.GridSearch(X, NO_CODES).best(*residuals(np.full(n, 0.5), secret)) is None
        assert missed <= 0.15 * tables + 3 * np.sqrt(0.15 * tables)

    def test_a_missing_cell_has_a_place_of_its_own_and_cuts_have_equally_many_records_between_them(self):
        column = np.append(np.arange(90.0), np.full(30, np.nan))
        assert np.bincount(search.place_of_each(column, search.cuts_of(column, False, 3))).tolist() == [30, 30, 30, 30]
        assert len(search.cuts_of(column, False, 3, 0.5)) == 3
        assert search.cuts_of(np.array([1.0, 2.0, 2.0, 7.0]), True, 2).tolist() == [1.0, 2.0]


class TestTheModel:
    def test_posteriors_add_up_to_one_and_are_near_the_true_ones(self):
        X, secret, _ = board(1_500, 1.5, 3)
        model = grids.train_grids(X, NO_CODES, secret, secrets=2, random_state=np.random.default_rng(0))
        fresh, _, odds = board(1_000, 1.5, 4)
        logs = model.log_posterior(fresh)
        assert np.exp(logs).sum(axis=1) == pytest.approx(1)
        assert np.corrcoef(logs[:, 1] - logs[:, 0], odds)[0, 1] > 0.85

    def test_where_nothing_is_there_it_adds_nothing(self):
        X, secret, _ = board(1_000, 0.0, 6)
        model = grids.train_grids(X, NO_CODES, secret, secrets=2, random_state=np.random.default_rng(0))
        logs = model.log_posterior(X)
        assert np.abs(logs - logs[0]).max() < 0.5
        assert {len(columns) for columns in model.columns} == {1}

    def test_what_remains_is_what_models_did_not_say(self):
        X, secret, odds = board(1_500, 1.5, 7)
        told = np.column_stack([expit(-odds), expit(odds)])
        rng = np.random.default_rng(0)
        assert grids.remaining(X, NO_CODES, secret, told, random_state=rng) is None
        left = grids.remaining(X, NO_CODES, secret, np.full((1_500, 2), 0.5), random_state=rng)
        assert set(left.columns) == {(1, 3)}
        moved = left.moved(X, np.zeros((1_500, 2)), np.full(2, 0.5))
        assert np.corrcoef(moved[:, 1], odds)[0, 1] > 0.75


class TestIntervals:
    def test_an_interaction_that_trees_miss_is_learned_and_covered(self):
        X, secret, odds = board(900, 1.6, 8, turned=True)
        fitted = AutoLogLift(learners=("linear", "trees", "grids", "boosting"), folds=3, random_state=0).fit(X, secret)
        loss = {c.name: c.log_loss for c in fitted.candidates_}
        assert loss["grids"] < min(loss["trees"], loss["boosting"]) - 0.01
        low, high = fitted.log_lift_interval(X)
        truth = np.log(expit(odds) / fitted.prior_[1])
        assert ((low[:, 1] <= truth) & (truth <= high[:, 1])).mean() > 0.9

    def test_what_no_learner_can_say_widens_the_interval_where_it_was_seen(self, tmp_path):
        X, secret, odds = board(1_200, 1.6, 10)
        fitted = AutoLogLift(learners=("linear",), folds=2, random_state=0).fit(X, secret)
        low, high = fitted.log_lift_interval(X)
        truth = np.log(expit(odds) / fitted.prior_[1])
        assert ((low[:, 1] <= truth) & (truth <= high[:, 1])).mean() > 0.6
        save_model(fitted, tmp_path / "model.tacit")
        again = load_model(tmp_path / "model.tacit").log_lift_interval(X)
        assert all((ours == theirs).all() for ours, theirs in zip((low, high), again, strict=True))
        fitted.remains_ = None
        low, high = fitted.log_lift_interval(X)
        assert ((low[:, 1] <= truth) & (truth <= high[:, 1])).mean() < 0.2

    def test_no_interval_is_narrower_than_what_may_be_overlooked(self):
        X, secret, _ = board(400, 0.0, 11)
        fitted = AutoLogLift(learners=("linear",), folds=2, random_state=0).fit(X, secret)
        low, high = fitted.log_lift_interval(X)
        assert fitted.remains_ is None
        unseen = np.sqrt(search.overlooked(records=320, columns=5) * (1 - fitted.prior_) / fitted.prior_)
        # At the upper end no posterior exceeds one.
        assert (fitted.log_lift(X) - low >= unseen - 1e-9).all()
        assert (np.minimum(fitted.log_lift(X) + unseen, np.log(1.9)) <= high).all()
