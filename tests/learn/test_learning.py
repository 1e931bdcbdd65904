"""The parts of the learned estimators: nets, linear models, blends, folds, tests of evidence, files."""

from __future__ import annotations

import io
import pickle
import subprocess
import sys
import zipfile
from collections import Counter
from dataclasses import replace
from functools import partial
from itertools import combinations

import numpy as np
import pyarrow as pa
import pytest
import skops.io
from hypothesis import given, strategies as st
from known_lift import HARDER, SAMPLERS
from scipy import sparse
from scipy.optimize import check_grad
from scipy.special import log_softmax, softmax
from scipy.stats import binomtest
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.ensemble import RandomForestClassifier
from sklearn.linear_model import LogisticRegression

from sizes import few, many
from tacit import ArgumentError, AutoLogLift, ClassifierLogLift, CountLogLift, DataError, SourceError
from tacit.learn import (
    arrays,
    association_test,
    auto,
    binomial_limits,
    calibration,
    encoding,
    evidence_of,
    fold_of_each,
    load_model,
    save_model,
    shuffled_test,
)
from tacit.learn.boosted import deep, quick as trees
from tacit.learn.boosted.deep import train_boosting
from tacit.learn.boosted.quick import train_trees
from tacit.learn.crossfitting import candidates
from tacit.learn.crossfitting.absence import Absences
from tacit.learn.crossfitting.blending import best_weights, blend, log_loss
from tacit.learn.crossfitting.doubt import Doubt, Tail, redrawn, stretch
from tacit.learn.crossfitting.folds import learn_and_check
from tacit.learn.crossfitting.training import evidence_by
from tacit.learn.linear import penalised_loss, product, train_linear, with_products
from tacit.learn.nets.networks import NetworksModel, train_small_networks
from tacit.learn.nets.training import Optimiser, Schedule, train
from tacit.lift import lower_limit


def logistic(n: int, slope: float, seed: int = 0, columns: int = 3):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, columns))
    return X, (rng.random(n) < 1 / (1 + np.exp(-slope * X[:, 0]))).astype(np.int64)


def schedule(**changes):
    usual = {"rate": 0.1, "decay": 0.0, "batch": None, "steps": 60, "patience": None, "look_every": 1}
    return Schedule(**(usual | changes))


class Bowl:
    """Two networks of one number each, with losses of their own; rows say which way is down."""

    def __init__(self, held_out=lambda w: (w - 1.0) ** 2):
        self.weights = [np.zeros((2, 1, 1), dtype=np.float32)]
        self.held_out, self.seen = held_out, []

    def slopes(self, rows):
        self.seen.append(rows)
        return [2 * (self.weights[0] - np.array([3.0, 0.5], dtype=np.float32)[:, None, None])]

    def loss(self):
        return self.held_out(self.weights[0][:, 0, 0].astype(float))


class TestTheTrainer:
    def test_each_network_is_kept_at_its_own_best_step(self):
        best, kept = train(Bowl(), np.zeros((2, 4), dtype=int), schedule(patience=30), np.random.default_rng(0))
        # The first passes the held-out best on its way to 3; the second turns back at 0.7, on its way to 0.5.
        assert best[0][0, 0, 0] == pytest.approx(1.0, abs=0.06)
        assert best[0][1, 0, 0] == pytest.approx(0.7, abs=0.05)
        assert kept.min() > 5
        assert kept[0] != kept[1]

    def test_patience_ends_it_and_without_it_the_last_weights_are_kept(self):
        shares = []
        stubborn = Bowl(held_out=lambda w: np.zeros(2))
        best, kept = train(
            stubborn, np.zeros((2, 4), dtype=int), schedule(patience=7), np.random.default_rng(0), shares.append
        )
        assert (best[0] == 0).all()
        assert kept.tolist() == [0, 0]
        assert len(stubborn.seen) == 7
        assert shares[-1] == 7 / 60
        last, kept = train(Bowl(), np.zeros((2, 4), dtype=int), schedule(steps=200), np.random.default_rng(0))
        assert last[0][0, 0, 0] == pytest.approx(3.0, abs=0.2)
        assert kept.tolist() == [200, 200]

    def test_a_cut_goes_back_to_the_best_and_on_in_smaller_steps(self):
        stubborn = Bowl(held_out=lambda w: np.zeros(2))
        train(stubborn, np.zeros((2, 4), dtype=int), schedule(patience=7, cuts=2), np.random.default_rng(0))
        assert len(stubborn.seen) == 21
        assert np.abs(stubborn.weights[0]).max() < 7 * 0.1 * 0.3**2 * 1.1

    def test_every_network_sees_each_of_its_records_once_before_any_again(self):
        bowl, learn = Bowl(), np.array([[0, 1, 2, 3, 4, 5], [10, 11, 12, 13, 14, 15]])
        train(bowl, learn, schedule(batch=2, steps=6), np.random.default_rng(0))
        for half in (bowl.seen[:3], bowl.seen[3:]):
            assert (np.sort(np.concatenate(half, axis=1), axis=1) == learn).all()
        assert any((first != second).any() for first, second in zip(bowl.seen[:3], bowl.seen[3:], strict=True))

    @pytest.mark.parametrize("optimiser", ["adamw", "adagrad"])
    def test_the_first_step_is_the_rate_times_the_sign_of_the_slope(self, optimiser):
        weights = [np.ones((1, 2, 2), dtype=np.float32), np.ones((1, 2), dtype=np.float32)]
        slopes = [np.array([[[5.0, -0.01], [2.0, 1.0]]]), np.array([[-3.0, 0.1]])]
        Optimiser(weights, schedule(rate=1e-3, optimiser=optimiser)).move(slopes)
        for array, slope in zip(weights, slopes, strict=True):
            np.testing.assert_allclose(array - 1, -1e-3 * np.sign(slope), rtol=1e-3)

    def test_decay_is_of_matrices_alone(self):
        weights = [np.ones((1, 2, 2), dtype=np.float32), np.ones((1, 2), dtype=np.float32)]
        Optimiser(weights, schedule(decay=0.5)).move([np.zeros((1, 2, 2)), np.zeros((1, 2))])
        assert weights[0] == pytest.approx(0.95)
        assert weights[1] == pytest.approx(1.0)


class TestNets:
    def test_nets_trained_together_learn_apart(self):
        X, s = logistic(900, 2.0)
        shuffled = np.random.default_rng(1).permutation(s)
        both = np.concatenate([s, shuffled])
        parts = [(np.arange(700), np.arange(700, 900)), (np.arange(900, 1600), np.arange(1600, 1800))]
        prior = np.bincount(both) / len(both)
        nets = train_small_networks(
            np.vstack([X, X]), both, parts, prior=prior, random_state=np.random.default_rng(0), steps=1_000
        )
        fresh, truth = logistic(500, 2.0, seed=9)
        models = [NetworksModel((net,), prior) for net in nets]
        losses = [-model.log_posterior(fresh)[np.arange(500), truth].mean() for model in models]
        assert losses[0] < 0.55
        assert losses[1] > 0.65

    def test_early_stopping_keeps_the_best_net_and_not_the_last(self):
        X, s = logistic(120, 0.0, columns=30)
        parts = [(np.arange(80), np.arange(80, 120))]
        prior = np.bincount(s) / len(s)
        rng = np.random.default_rng(0)
        nets = train_small_networks(X, s, parts, prior=prior, random_state=rng, patience=1_000, steps=1_000)
        on_check = -NetworksModel(tuple(nets), prior).log_posterior(X)[np.arange(80, 120), s[80:]].mean()
        # The net that says nothing is the first one looked at; thirty columns of noise would soon do worse.
        assert on_check < np.log(2) + 0.02

    def test_a_score_does_not_depend_on_the_records_beside_it(self):
        rng = np.random.default_rng(0)
        layers = [rng.normal(size=size).astype(np.float32) for size in ((5, 8), (8,), (8, 3), (3,))]
        rows = rng.normal(size=(50, 5))
        model = NetworksModel((layers,), np.full(3, 1 / 3))
        whole = model.log_posterior(rows)
        assert np.vstack([model.log_posterior(rows[[k]]) for k in range(50)]) == pytest.approx(whole, abs=1e-12)


class TestLinearModels:
    def test_the_slope_is_the_derivative_of_the_loss(self):
        X, s = logistic(40, 1.0)
        objective = penalised_loss(X, np.eye(2)[s], 3.0)
        start = np.random.default_rng(0).normal(size=8)
        assert check_grad(lambda w: objective(w)[0], lambda w: objective(w)[1], start) < 1e-5

    @pytest.mark.parametrize("columns", [1, 2, 6, 7])
    def test_a_sparse_matrix_gives_the_same_floats_column_by_column(self, columns):
        rng = np.random.default_rng(columns)
        matrix = sparse.csr_array(rng.normal(size=(300, 40)) * (rng.random((300, 40)) < 0.3))
        factors = rng.normal(size=(40, columns))
        assert np.array_equal(product(matrix, factors), matrix @ factors)
        assert np.array_equal(product(matrix.toarray(), factors), matrix.toarray() @ factors)

    def test_noise_gets_the_strongest_penalty_and_a_signal_a_weak_one(self):
        parts = (np.arange(400), np.arange(400, 500))
        noise = train_linear(*logistic(500, 0.0, columns=20), *parts, secrets=2)
        signal = train_linear(*logistic(500, 3.0, columns=20), *parts, secrets=2)
        assert noise.strength > 10 * signal.strength
        assert np.abs(signal.weights[0]).min() > 5 * np.abs(noise.weights).max()

    def test_products_see_what_columns_alone_do_not(self):
        rng = np.random.default_rng(0)
        X = rng.normal(size=(1_000, 2))
        s = (rng.random(1_000) < 1 / (1 + np.exp(-2 * X[:, 0] * X[:, 1]))).astype(np.int64)
        parts = (np.arange(700), np.arange(700, 800))
        losses = []
        for products in (False, True):
            model = train_linear(X, s, *parts, secrets=2, products=products)
            losses.append(-model.log_posterior(X[800:])[np.arange(200), s[800:]].mean())
        assert losses[1] < losses[0] - 0.1

    def test_products_are_those_of_every_two_columns(self):
        assert with_products(np.array([[2.0, 3.0]])).tolist() == [[2, 3, 4, 6, 9]]


def some_trees(secrets):
    rng = np.random.default_rng(0)
    ordinal = np.column_stack([rng.normal(size=600), rng.integers(6, size=600) * 2.0, rng.integers(9, size=600)])
    ordinal[::7, 0] = ordinal[::9, 1] = np.nan
    s = (np.nan_to_num(ordinal[:, 1]).astype(int) // 2 + rng.integers(2, size=600)) % secrets
    parts = (np.arange(500), np.arange(500, 600))
    return train_trees(ordinal, np.array([False, True, True]), s, *parts, secrets=secrets, random_state=0), ordinal, s


class TestBoostedTrees:
    @pytest.mark.parametrize("secrets", [2, 4])
    def test_a_score_is_the_sum_of_the_leaves_that_the_questions_lead_to(self, secrets):
        model, ordinal, _ = some_trees(secrets)
        assert len(model.values) > 3
        strange = ordinal[:40].copy()
        strange[5, 1], strange[6], strange[7, 0] = 1_000.0, np.nan, 1e300
        found = model.log_posterior(strange)
        for row, said in zip(strange, found, strict=True):
            cells = [-np.inf if np.isnan(row[0]) else row[0]]
            for code, lifts in zip(row[1:], model.levels, strict=True):
                known = not np.isnan(code) and code < len(lifts) - 1
                cells += list((lifts[int(code)] if known else np.zeros(secrets))[1 if secrets == 2 else 0 :])
            scores = model.start.copy()
            for columns, thresholds, leaves in zip(model.columns, model.thresholds, model.values, strict=True):
                answers = [cells[c] > t for c, t in zip(columns, thresholds, strict=True)]
                scores += leaves[sum(2**level for level, yes in enumerate(answers) if yes)]
            assert said == pytest.approx(log_softmax(scores), abs=1e-12)

    def test_a_tree_asks_the_best_question_and_its_leaves_are_newton_s_steps(self):
        rng = np.random.default_rng(1)
        X, slope = rng.integers(5, size=(60, 3)).astype(float), rng.normal(size=(60, 3))
        posterior = rng.dirichlet(np.ones(3), size=60)
        bend, cuts = posterior * (1 - posterior), trees._Cuts.of(X, 60)
        columns, cut, values = cuts.tree(np.arange(60), slope, posterior, depth=2)
        groups = [np.arange(60)]
        for column, at in zip(columns, cut, strict=True):

            def split(c, t, groups=groups):
                return [part for rows in groups for part in (rows[X[rows, c] <= t], rows[X[rows, c] > t])]

            def gain(parts):
                fit = (slope[rows].sum(axis=0) ** 2 / (bend[rows].sum(axis=0) + trees.PENALTY) for rows in parts)
                return sum(part.sum() for part in fit)

            best = max(gain(split(c, t)) for c in range(3) for t in range(5))
            groups = split(column, cuts.thresholds[at])
            assert gain(groups) == pytest.approx(best)
        steps = [-trees.RATE * slope[r].sum(axis=0) / (bend[r].sum(axis=0) + trees.PENALTY) for r in groups]
        # The first question is the lowest bit of a leaf's number.
        assert values == pytest.approx(np.array(steps)[[0, 2, 1, 3]])

    def test_what_is_missing_can_be_told_apart(self):
        rng = np.random.default_rng(0)
        X, s = rng.normal(size=(800, 2)), rng.integers(2, size=800)
        X[s == 1, 0] = np.where(rng.random((s == 1).sum()) < 0.8, np.nan, X[s == 1, 0])
        parts = (np.arange(700), np.arange(700, 800))
        model = train_trees(X, np.zeros(2, dtype=bool), s, *parts, secrets=2, random_state=0)
        assert model.log_posterior(np.array([[np.nan, 0.0]]))[0, 1] > np.log(0.9)
        assert model.log_posterior(np.array([[0.0, 0.0]]))[0, 1] < np.log(0.3)

    def test_noise_grows_hardly_a_tree_and_a_secret_never_met_keeps_a_little(self):
        X, s = logistic(400, 0.0)
        parts = (np.arange(300), np.arange(300, 400))
        model = train_trees(X, np.zeros(3, dtype=bool), s, *parts, secrets=3, random_state=0)
        assert len(model.values) < 15
        assert np.exp(model.log_posterior(X)).sum(axis=1) == pytest.approx(1.0)
        assert np.isfinite(model.log_posterior(X)).all()


@pytest.mark.parametrize("secrets", [2, 3])
def test_a_tree_asks_the_questions_that_gain_most_summed_record_by_record(secrets: int) -> None:
    rng = np.random.default_rng(secrets)
    records, posterior = rng.integers(0, 9, (200, 3)).astype(float), rng.dirichlet(np.ones(secrets), 200)
    slope = posterior - np.eye(secrets)[rng.integers(0, secrets, 200)]
    cuts = trees._Cuts.of(records, 200)
    columns, questions, values = cuts.tree(slice(200), slope, posterior, 3)
    node = np.zeros(200, int)
    for level, asked in enumerate(questions):
        gains = []
        for cut, column in enumerate(cuts.column):
            side = 2 * node + (cuts.places[column] > cut)
            of_leaf = [
                (slope[side == at].sum(axis=0), (posterior * (1 - posterior))[side == at].sum(axis=0))
                for at in set(side)
            ]
            gains.append(sum((top**2 / (bottom + trees.PENALTY)).sum() for top, bottom in of_leaf))
        assert gains[asked] == pytest.approx(max(gains))
        node = 2 * node + (cuts.places[columns[level]] > asked)
    leaf = cuts.leaves(columns, questions)
    for at in set(leaf):
        top, bottom = slope[leaf == at].sum(axis=0), (posterior * (1 - posterior))[leaf == at].sum(axis=0)
        assert values[at] == pytest.approx(-trees.RATE * top / (bottom + trees.PENALTY))


class TestBlends:
    @given(st.integers(0, 10_000), st.integers(1, 4), st.integers(2, 4))
    def test_a_blend_is_a_log_lift(self, seed, learners, secrets):
        rng = np.random.default_rng(seed)
        prior = rng.dirichlet(np.ones(secrets))
        lifts = rng.normal(size=(learners, 20, secrets))
        mixed = blend(lifts, rng.random(learners), prior)
        assert (prior * np.exp(mixed)).sum(axis=1) == pytest.approx(1.0)
        assert blend(lifts, np.zeros(learners), prior) == pytest.approx(0.0, abs=1e-12)

    @pytest.mark.parametrize("first", [0.5, 0.2])
    def test_the_weights_are_the_best_of_a_grid(self, first):
        rng = np.random.default_rng(0)
        truth = rng.normal(size=(3_000, 1)) * [1.0, -1.0]
        prior = np.array([first, 1 - first])
        s = (rng.random(3_000) > np.exp(log_softmax(truth + np.log(prior), axis=1))[:, 0]).astype(np.int64)
        lifts = np.stack([2 * truth, rng.normal(size=(3_000, 2))])
        found = best_weights(lifts, s, prior)
        grid = np.linspace(0, 1, many(21, 41))
        best = min((log_loss(blend(lifts, np.array([a, b]), prior), s, prior), a, b) for a in grid for b in grid)
        # A learner that claims twice too much is halved, and one that knows nothing is left out.
        assert found == pytest.approx([best[1], best[2]], abs=0.03)
        assert found == pytest.approx([0.5, 0.0], abs=0.1)

    def test_learners_that_know_nothing_are_not_believed(self):
        rng = np.random.default_rng(0)
        weights = best_weights(rng.normal(size=(3, 500, 2)), rng.integers(2, size=500), np.array([0.5, 0.5]))
        assert weights.max() < 0.15
        assert weights.min() >= 0


class TestFolds:
    @given(st.lists(st.integers(0, 3), min_size=4, max_size=80), st.integers(2, 5))
    def test_every_record_has_one_fold_and_every_secret_is_spread(self, secrets, folds):
        s = np.array(secrets)
        fold = fold_of_each(s, folds, np.random.default_rng(0))
        sizes = np.bincount(fold, minlength=folds)
        assert sizes.max() - sizes.min() <= 1
        for value in set(secrets):
            spread = np.bincount(fold[s == value], minlength=folds)
            assert spread.max() - spread.min() <= 1

    @given(st.lists(st.integers(0, 2), min_size=6, max_size=80))
    def test_the_fold_itself_is_never_among_the_records_learned_from(self, secrets):
        s = np.array(secrets)
        fold = fold_of_each(s, 3, np.random.default_rng(0))
        for k in range(3):
            learn, check = learn_and_check(fold, k, s, np.random.default_rng(1))
            assert not (fold[np.concatenate([learn, check])] == k).any()
            assert len(check) > 0
            assert set(s[check]) <= set(s[learn])


class TestEvidence:
    def test_shuffled_secrets_give_no_leak_at_least_19_times_in_20(self):
        verdicts = Counter()
        for seed in range(runs := many(20, 60)):
            rng = np.random.default_rng(seed)
            d = SAMPLERS[("mixed", "gauss2", "discrete")[seed % 3]](150, rng)
            s = rng.permutation(d.s)
            fitted = AutoLogLift(learners=("linear", "counts"), folds=3, doubt=False, random_state=seed).fit(d.X, s)
            verdicts[evidence_of(fitted, s).verdict] += 1
        # 5% of 60 are 3; eight or more would come once in a hundred, and of 20 four or more once in sixty.
        assert verdicts["leak"] <= many(3, 7)
        assert verdicts["leak"] + verdicts["no leak detected"] == runs

    def test_a_weak_leak_is_seen(self):
        seen = 0
        for seed in range(many(5, 10)):
            X, s = logistic(1_000, 0.35, seed=seed)
            fitted = AutoLogLift(learners=("linear",), folds=3, doubt=False, random_state=0).fit(X, s)
            seen += evidence_of(fitted, s).verdict == "leak"
        assert seen >= many(5, 9)

    def test_the_association_test_is_exact(self):
        small = 0
        for seed in range(300):
            rng = np.random.default_rng(seed)
            X = np.column_stack([rng.standard_cauchy(40), rng.integers(2, size=40)])
            small += association_test(X, rng.integers(3, size=40), rng) <= 0.1
        # 30 expected; beyond 52 or below 10 once in ten thousand.
        assert 10 <= small <= 52

    def test_an_association_through_a_product_alone_is_found(self):
        rng = np.random.default_rng(0)
        X = rng.normal(size=(500, 4))
        s = (X[:, 0] * X[:, 1] > 0).astype(np.int64)
        assert association_test(X, s, rng) <= 0.01

    def test_within_a_fold_shuffling_is_fair(self):
        rng = np.random.default_rng(0)
        p_values = []
        for _ in range(100):
            lift, s = rng.normal(size=(60, 2)), rng.integers(2, size=60)
            p_values.append(shuffled_test(lift, s, np.zeros(60, dtype=int), random_state=0)[0])
        # Twice a p-value of a single fold.
        assert 0.25 < np.mean(np.array(p_values) < 1) < 0.75

    def test_information_is_right_where_it_is_known(self):
        d = SAMPLERS["gauss20"](3_000, np.random.default_rng(0))
        fitted = AutoLogLift(learners=("linear",), folds=5, doubt=False, random_state=0).fit(d.X, d.s)
        found = evidence_of(fitted, d.s).information
        truth = d.log_lift[np.arange(3_000), d.s].mean()
        assert found.value == pytest.approx(truth, abs=0.02)
        assert found.low < truth < found.high
        assert found.kind == "estimate"
        assert not found.can_certify

    def test_calibration_bins_hold_all_records_and_show_a_lift_that_is_too_bold(self):
        rng = np.random.default_rng(0)
        z = rng.normal(size=4_000)
        s = (rng.random(4_000) < 1 / (1 + np.exp(-z))).astype(np.int64)
        truth = log_softmax(np.column_stack([np.zeros(4_000), z]), axis=1) - np.log(0.5)
        prior = np.array([0.5, 0.5])
        good = calibration(truth, s, prior, np.array(["no", "yes"]))
        assert sum(b.records for b in good) == 8_000
        assert np.mean([b.low <= b.predicted <= b.high for b in good]) > 0.8
        bold = calibration(blend(truth[None], np.array([3.0]), prior), s, prior, np.array(["no", "yes"]))
        assert np.mean([b.low <= b.predicted <= b.high for b in bold]) < 0.5

    @given(st.integers(1, 60).flatmap(lambda n: st.tuples(st.integers(0, n), st.just(n))))
    def test_binomial_limits_are_scipys(self, case):
        hits, n = case
        expected = binomtest(hits, n).proportion_ci(0.95, method="exact")
        assert binomial_limits(hits, n) == pytest.approx((expected.low, expected.high), abs=1e-9)

    def test_what_was_not_learned_across_folds_has_no_evidence(self):
        with pytest.raises(ArgumentError, match="no out-of-fold"):
            evidence_of(CountLogLift().fit([[1], [2]], [0, 1]), [0, 1])

    def test_other_secrets_than_those_fitted_are_refused(self):
        X, s = logistic(100, 1.0)
        fitted = AutoLogLift(learners=("linear",), folds=2, doubt=False).fit(X, s)
        with pytest.raises(DataError, match="was fitted on 100 records"):
            evidence_of(fitted, s[:50])
        with pytest.raises(DataError, match="was not among those"):
            evidence_of(fitted, s + 5)


class Strange(ClassifierMixin, BaseEstimator):
    """A classifier that no other machine knows."""

    def fit(self, X, y):
        self.classes_ = np.unique(y)
        return self

    def predict_proba(self, X):
        return np.full((X.shape[0], len(self.classes_)), 1 / len(self.classes_))


class TestDoubt:
    def test_where_nothing_is_learned_the_interval_still_has_width(self):
        rng = np.random.default_rng(0)
        for n in (30, 400):
            X, s = rng.normal(size=(n, 2)), np.arange(n) % 2
            fitted = AutoLogLift(learners=("linear",), folds=2, random_state=0).fit(X, s)
            low, high = fitted.log_lift_interval(X)
            # Three numbers of which nobody can know more than n records tell.
            assert (fitted.log_lift(X) - low).min() >= 1.9 * np.sqrt(3 / n)
            assert (high >= fitted.log_lift(X)).all()

    def test_drawn_secrets_follow_the_posteriors(self):
        lift = np.tile(np.log([[1.6, 0.4]]), (20_000, 1))
        drawn = redrawn(lift, np.array([0.5, 0.5]), np.random.default_rng(0))
        assert drawn.mean() == pytest.approx(0.2, abs=0.015)

    def test_the_stretch_covers_what_it_aims_at(self):
        rng = np.random.default_rng(0)
        spread = rng.uniform(0.1, 1.0, size=(5_000, 2))
        each, _, both = stretch(3 * spread * rng.normal(size=(5_000, 2)), np.zeros((5_000, 2)), spread, np.zeros(2))
        # Errors three times as wide as the spread, at 97% instead of 95%; of two at once, as at 98.5%.
        assert each == pytest.approx(3 * 2.17 / 1.96, rel=0.06)
        assert both == pytest.approx(3 * 2.43 / 1.96, rel=0.06)

    def test_a_pair_that_was_never_met_may_never_occur(self):
        rng = np.random.default_rng(0)
        apart = np.sort(rng.normal(size=(1_000, 1)), axis=0) * [1.0, -1.0]
        # The second secret has the upper half of the records, so the first is never met below.
        doubt = Doubt.of(np.full(2, 0.5), np.full(2, 0.01), np.ones(3), apart, (np.arange(1_000) < 500).astype(int))
        words = {"confidence": 0.95, "simultaneous": False}
        nowhere = np.zeros((2, 2), dtype=bool)
        low, high = doubt.interval(np.array([[-2.0, 0.6], [0.4, -0.4]]), np.full((2, 2), 0.01), nowhere, **words)
        assert np.isneginf(low).tolist() == [[True, False], [False, True]]
        # The prior is one that 500 of 1,000 records allow.
        assert high[0, 1] == pytest.approx(-np.log(lower_limit(500, 1_000, beta=0.025)))

    def test_where_learners_differ_the_interval_reaches_as_far_as_they_do(self):
        apart = np.random.default_rng(0).normal(size=(1_000, 2))
        doubt = Doubt.of(np.full(2, 0.5), np.full(2, 0.01), np.full(3, 2.0), apart, np.arange(1_000) % 2)
        words = {"confidence": 0.95, "simultaneous": False}
        middle, spread, nowhere = np.full((2, 2), 0.1), np.full((2, 2), 0.02), np.zeros((2, 2), dtype=bool)
        low, high = doubt.interval(middle, spread, nowhere, np.array([[0.0, 0.0], [0.1, 0.1]]), **words)
        alone, both = (high - low)[:, 0] / 2
        # The spread of folds is stretched by two, what learners differ by is not.
        assert alone == pytest.approx(1.96 * 2 * np.hypot(0.02, 0.005), rel=1e-3)
        assert both == pytest.approx(np.hypot(alone, 1.96 * 0.1), rel=1e-3)

    def test_what_learners_differ_by_is_their_standard_deviation_by_weight(self):
        rng = np.random.default_rng(0)
        X = rng.normal(size=(400, 3))
        s = (rng.random(400) < 1 / (1 + np.exp(-2 * np.sign(X[:, 0] * X[:, 1])))).astype(int)
        estimator = AutoLogLift(learners=("linear", "trees", "net"), random_state=0, doubt=False).fit(X, s)
        features = estimator.encoder_.encode(encoding.cells_of_array(X[:20], as_category=frozenset()))
        view = candidates.View(estimator.encoder_, features)
        _, differ = estimator.ensemble_.told(view)
        weights, prior = estimator.ensemble_.weights, estimator.prior_
        alone = []
        for (name, models), weight in zip(estimator.ensemble_.models.items(), weights, strict=True):
            if weight > 0:
                said = [model.log_posterior(candidates.what_it_reads(name, view)) for model in models]
                alone.append(blend(np.mean(said, axis=0)[None] - np.log(prior), np.array([weights.sum()]), prior))
        used = weights[weights > 0] / weights.sum()
        assert len(alone) > 1
        middle = np.tensordot(used, alone, axes=1)
        assert differ == pytest.approx(np.sqrt(np.tensordot(used, (np.array(alone) - middle) ** 2, axes=1)))

    def test_if_a_secret_is_absent_the_others_are_what_is_left(self):
        prior, middle = np.array([0.5, 0.3, 0.2]), np.log([[0.4, 0.8, 2.8]])
        apart = 2 * np.random.default_rng(0).normal(size=(500, 3))
        doubt = Doubt.of(prior, np.full(3, 0.01), np.ones(4), apart, np.arange(500) % 3)
        words = {"confidence": 0.95, "simultaneous": False}
        (low, high), (lower, higher) = (
            doubt.interval(middle, np.full((1, 3), 0.01), np.array([absent]), **words)
            for absent in ([False, False, False], [True, False, False])
        )
        assert np.isneginf(lower).tolist() == [[True, False, False]]
        assert (lower[:, 1:] == low[:, 1:]).all()
        # A fifth of the posterior goes to the others if the first secret never occurs.
        assert (higher - high)[0, 1:] == pytest.approx(-np.log(0.8))
        assert higher[0, 0] == high[0, 0]

    def test_a_secret_met_fewer_than_ten_times_has_no_lower_end(self):
        for met in (9, 10):
            prior = np.array([2_000 - met, met]) / 2_000
            apart = np.random.default_rng(0).normal(size=(2_000, 2))
            doubt = Doubt.of(prior, np.full(2, 0.01), np.ones(3), apart, (np.arange(2_000) < met).astype(int))
            words = {"confidence": 0.95, "simultaneous": False}
            low, _ = doubt.interval(np.full((1, 2), 3.5), np.full((1, 2), 0.01), np.zeros((1, 2), dtype=bool), **words)
            # Nobody in training looked as risky, so the rare secret may be certain, and the other one impossible.
            assert np.isneginf(low).tolist() == [[met < 10, met < 10]]

    def test_a_secret_met_fewer_than_ten_times_leaves_the_others_in_doubt_too(self):
        # Met once or nine times, it may be in one of 500 records, and here in one of 100 or in none.
        in_one_of_100, in_none = np.log(0.99 / 0.998), -np.log(0.9995)
        for met in (1, 9, 10):
            prior = np.array([5_000 - met, met]) / 5_000
            apart = np.random.default_rng(0).normal(size=(5_000, 2))
            least = np.array([0.0005, 2.0])
            doubt = Doubt.of(prior, least, np.ones(3), apart, (np.arange(5_000) < met).astype(int))
            words = {"confidence": 0.95, "simultaneous": False}
            low, high = doubt.interval(np.zeros((1, 2)), np.full((1, 2), 1e-4), np.zeros((1, 2), dtype=bool), **words)
            assert (low[0, 0] < in_one_of_100) == (met < 10)
            assert high[0, 0] > in_none

    def test_few_records_at_the_end_of_the_scale_are_counted(self):
        scores = np.arange(100.0)[:, None]
        tail = Tail.of(scores, np.isin(np.arange(100), [10, 50, 60])[:, None])
        found = tail.least_share(np.array([[5.0], [10.0], [49.0], [55.0], [99.0]]), 0.025).ravel()
        assert found == pytest.approx(lower_limit([0, 1, 1, 2, 3], [10, 50, 50, 60, 100], beta=0.025))

    def test_at_once_is_wider_and_covers_all_secrets_of_a_record(self):
        d = SAMPLERS["mix4"](400, np.random.default_rng(0))
        fitted = AutoLogLift(learners=("products",), folds=2, random_state=0).fit(d.X, d.s)
        (low, high), (lower, higher) = (fitted.log_lift_interval(d.X, simultaneous=told) for told in (False, True))
        assert (lower <= low).all()
        assert (higher >= high).all()
        assert ((higher - lower > high - low) | np.isneginf(low)).all()
        assert np.isfinite(low).mean() > 0.8
        assert ((lower <= d.log_lift) & (d.log_lift <= higher)).all(axis=1).mean() > 0.9


class TestAbsences:
    """Where a secret should have been met, and was not."""

    @staticmethod
    def by_hand(ordinal, categorical, hit, record):
        """Single columns and pairs of levels, slowly: is the record's cell in an empty stretch that is too long?"""
        width, everywhere = ordinal.shape[1], hit.mean()
        sizes = [
            int(column.max()) + 3 if coded else len(np.unique(column)) + 2
            for column, coded in zip(ordinal.T, categorical, strict=True)
        ]
        levels = [(a, b) for a in range(width) for b in range(width) if a != b and categorical[a] and categorical[b]]
        regions = sum(sizes) + sum(sizes[a] * sizes[b] for a, b in levels)
        enough = np.log(regions / 0.025)
        for c in range(width):
            here = ordinal[:, c] == record[c]
            if not categorical[c]:
                met = np.append(ordinal[hit, c], [-np.inf, np.inf])
                if record[c] in met:
                    continue
                here = (ordinal[:, c] > met[met < record[c]].max()) & (ordinal[:, c] < met[met > record[c]].min())
            if not hit[here].any() and here.sum() * everywhere >= enough:
                return True
        for a, b in levels:
            here = (ordinal[:, a] == record[a]) & (ordinal[:, b] == record[b])
            if not hit[here].any() and here.sum() * everywhere >= enough:
                return True
        return False

    @pytest.mark.parametrize("seed", few(range(12), 3))
    def test_it_is_what_counting_by_hand_says(self, seed):
        rng = np.random.default_rng(seed)
        rows = 600
        ordinal = np.column_stack([rng.integers(1, most, size=rows) for most in (20, 4, 5)]).astype(np.float64)
        categorical = np.array([False, True, True])
        chance = np.where((ordinal[:, 0] > 13) | (ordinal[:, 1] + ordinal[:, 2] == 3 + seed % 3), 0.0, 0.5)
        secret = (rng.random(rows) < chance).astype(int)
        # Without a claim nothing is expected in other regions of two columns.
        absent = Absences.of(ordinal, categorical, np.zeros((rows, 2)), secret)(ordinal)
        for s in range(2):
            hit = secret == s
            told = [self.by_hand(ordinal, categorical, hit, record) for record in ordinal]
            assert absent[:, s].tolist() == told
        assert absent[:, 1].any()

    def test_claims_in_a_corner_of_two_columns_are_refuted(self):
        rng = np.random.default_rng(0)
        square = rng.uniform(size=(4_000, 2))
        outside = (square > 0.5).all(axis=1)
        secret = (rng.random(4_000) < np.where(outside, 0.0, 0.5)).astype(int)
        wrong, right = (np.column_stack([1 - p, p]) for p in (np.full(4_000, 0.375), np.where(outside, 0.0, 0.5)))
        numbers = np.zeros(2, dtype=bool)
        absent = Absences.of(square, numbers, wrong, secret)(square)
        assert absent[outside, 1].mean() > 0.8
        assert absent[~outside, 1].mean() < 0.01
        assert not Absences.of(square, numbers, right, secret)(square).any()

    def test_chance_empties_no_region(self):
        rng = np.random.default_rng(0)
        called = 0
        for _ in range(many(40, 400)):
            ordinal = np.column_stack([rng.normal(size=300), rng.integers(1, 6, size=300)])
            secret = rng.integers(3, size=300)
            claims = np.full((300, 3), 1 / 3)
            called += Absences.of(ordinal, np.array([False, True]), claims, secret)(ordinal).any()
        assert called <= 0.15 * many(40, 400)

    def test_a_range_that_a_secret_does_not_have_is_open_below(self):
        rng = np.random.default_rng(3)
        s = rng.integers(2, size=1_500)
        # The first secret ends at 1, the second begins at 0.6.
        x = np.where(s == 0, rng.uniform(0, 1, size=1_500), rng.uniform(0.6, 1.6, size=1_500))
        fitted = AutoLogLift(learners=("linear",), folds=2, random_state=0).fit(x[:, None], s)
        low, high = fitted.log_lift_interval(np.array([[0.1], [0.8], [1.05], [1.5]]))
        assert np.isneginf(low).tolist() == [[False, True], [False, False], [True, False], [True, False]]
        assert (high[[0, 2, 3], [0, 1, 1]] >= np.log(2)).all()


class TestBoosting:
    @pytest.mark.parametrize("secrets", [2, 3])
    def test_the_first_tree_asks_what_gains_most(self, secrets, monkeypatch):
        """Every first question is the best of all, tried one by one; codes are split by their means."""
        monkeypatch.setattr(deep, "DEPTH", 1)
        monkeypatch.setattr(deep, "MOST_ROUNDS", 1)
        rng = np.random.default_rng(secrets)
        for _ in range(5):
            ordinal = np.column_stack([rng.normal(size=300).round(1), rng.integers(6, size=300)]).astype(float)
            ordinal[::9, 0], ordinal[::7, 1] = np.nan, np.nan
            secret = np.where(rng.random(300) < 0.3, rng.integers(secrets, size=300), (ordinal[:, 1] % 2 == 1) * 1)
            rows = np.arange(300)
            [model] = train_boosting(
                ordinal, np.array([False, True]), secret, [(rows, rows)], secrets=secrets, random_state=0
            )
            share = np.bincount(secret, minlength=secrets) / 300
            for tree, s in enumerate(range(secrets)[1 if secrets == 2 else 0 :]):
                slope, curvature = share[s] - (secret == s), share[s] * (1 - share[s])

                def gained(right, slope=slope, curvature=curvature):
                    sides = (right, ~right)
                    return sum(slope[side].sum() ** 2 / (curvature * side.sum() + 1) for side in sides)

                number, codes = ordinal.T
                asked = [np.nan_to_num(number, nan=-np.inf) > cut for cut in [-np.inf, *np.unique(number)]]
                met = [np.isnan(codes) if np.isnan(code) else codes == code for code in np.unique(codes)]
                asked += [np.any(some, axis=0) for size in range(1, 7) for some in combinations(met, size)]
                best = max(gained(right) for right in asked if min(right.sum(), (~right).sum()) >= 20)
                told = model.log_posterior(ordinal)[:, s] - model.log_posterior(ordinal)[:, 0 if s else 1]
                assert len(model.values) == (1 if secrets == 2 else 3)
                leaf = self._leaves(model, tree, ordinal)
                assert gained(leaf) == pytest.approx(best)
                side = -0.15 * slope[leaf].sum() / (curvature * leaf.sum() + 1)
                assert model.values[tree, 1] == pytest.approx(side)
                assert np.ptp(told) > 0

    @staticmethod
    def _leaves(model, tree, ordinal):
        """Which records go right at the only question of a tree, asked record by record."""
        [at] = np.flatnonzero(model.tree == tree)
        cells = ordinal[:, model.column[at]]
        missing = np.isnan(cells)
        if model.categorical[model.column[at]]:
            yes = model.chosen[at, np.nan_to_num(cells).astype(int)]
        else:
            yes = cells > model.threshold[at]
        return np.where(missing, model.if_missing[at], yes)

    def test_records_are_scored_as_they_were_in_training(self):
        rng = np.random.default_rng(0)
        for secrets in (2, 3):
            ordinal = np.column_stack([rng.normal(size=400), rng.integers(6, size=400), rng.normal(size=400).round()])
            ordinal[::9] = np.nan
            secret = ((ordinal[:, 0] > 0).astype(int) + (ordinal[:, 1] % 2 == 1)).clip(max=secrets - 1)
            secret = np.where(rng.random(400) < 0.2, rng.integers(secrets, size=400), secret)
            part = np.arange(300), np.arange(300, 400)
            categorical = np.array([False, True, False])
            [model] = train_boosting(ordinal, categorical, secret, [part], secrets=secrets, random_state=0)
            trees = list(range(len(model.values)))
            assert len(trees) > 6
            scores = np.tile(model.start, (400, 1))
            for row in range(400):
                for tree in trees:
                    left = 2**32 - 1
                    for at in np.flatnonzero(model.tree == tree):
                        cell = ordinal[row, model.column[at]]
                        if np.isnan(cell):
                            yes = model.if_missing[at]
                        elif categorical[model.column[at]]:
                            yes = model.chosen[at, int(cell)]
                        else:
                            yes = cell > model.threshold[at]
                        left &= int(model.leaves[at]) if yes else 2**32 - 1
                    first = (left & -left).bit_length() - 1
                    scores[row, 1 if secrets == 2 else tree % 3] += model.values[tree, first]
            assert model.log_posterior(ordinal) == pytest.approx(log_softmax(scores, axis=1))
            loss = -model.log_posterior(ordinal)[np.arange(300, 400), secret[300:]].mean()
            assert loss < -np.log(np.bincount(secret) / 400)[secret[300:]].mean() - 0.1

    def test_trees_grown_side_by_side_are_those_grown_alone(self, monkeypatch):
        rng = np.random.default_rng(1)
        ordinal, secret = rng.normal(size=(300, 3)), rng.integers(3, size=300)
        secret = np.where(ordinal[:, 0] > 0, 0, secret)
        parts = [(np.arange(200), np.arange(200, 300)), (np.arange(100, 300), np.arange(100))]
        words = {"secrets": 3, "random_state": 0}
        together = train_boosting(ordinal, np.zeros(3, bool), secret, parts, **words)
        monkeypatch.setattr(deep, "SIDE_BY_SIDE", 1)
        for one, other in zip(
            together, train_boosting(ordinal, np.zeros(3, bool), secret, parts, **words), strict=True
        ):
            assert len(one.values) == len(other.values) > 0
            assert one.log_posterior(ordinal) == pytest.approx(other.log_posterior(ordinal))

    def test_of_very_many_records_a_tenth_is_drawn(self):
        sums = np.ones((2, 20 * deep.MOST_RECORDS))
        at, _ = deep.drawn(sums, np.random.default_rng(0))
        assert len(at) == pytest.approx(2 * deep.MOST_RECORDS, rel=0.05)

    def test_the_records_drawn_stand_for_all(self):
        rng = np.random.default_rng(2)
        sums = np.stack([rng.normal(size=40_000) * rng.random(40_000), rng.random(40_000)])
        found = [deep.drawn(sums, np.random.default_rng(seed)) for seed in range(20)]
        assert all(0.5 * deep.MOST_RECORDS < len(at) < 1.1 * deep.MOST_RECORDS for at, _ in found)
        totals = np.array([(sums[:, at] * weight).sum(axis=1) for at, weight in found])
        assert totals.mean(axis=0) == pytest.approx(sums.sum(axis=1), abs=4 * totals.std(axis=0).max() / np.sqrt(20))
        assert totals[:, 0].std() < 300

    def test_a_secret_it_never_met_keeps_a_little_probability(self):
        ordinal, secret = np.arange(80.0)[:, None], np.repeat([0, 2], 40)
        rows = np.arange(80)
        [model] = train_boosting(ordinal, np.array([False]), secret, [(rows, rows)], secrets=3, random_state=0)
        found = np.exp(model.log_posterior(ordinal))
        assert found.sum(axis=1) == pytest.approx(1)
        assert (found[:, 1] > 0).all()
        assert found[:, 1].max() < 1e-5

    def test_an_exclusive_or_is_found_among_noise(self):
        d = HARDER["xor2"](1_500, np.random.default_rng(0))
        fitted = AutoLogLift(learners=("linear", "boosting"), folds=2, doubt=False, random_state=0).fit(d.X, d.s)
        loss = {c.name: c.log_loss for c in fitted.candidates_}
        assert loss["linear"] > 0.68
        assert loss["boosting"] < 0.63

    def test_many_records_are_learned_from_by_learners_that_were_tried_on_some(self, monkeypatch):
        quick = {name: auto.LEARNERS[name] for name in ("linear", "trees", "boosting")}
        monkeypatch.setattr(auto, "LEARNERS", quick)
        monkeypatch.setattr(auto, "MANY", 300)
        monkeypatch.setattr(auto, "TRIED", 600)
        d = HARDER["xor2"](900, np.random.default_rng(1))
        fitted = AutoLogLift(folds=2, doubt=False, random_state=0).fit(d.X, d.s)
        assert {c.name for c in fitted.candidates_} == set(quick)
        assert "linear" not in fitted.ensemble_.models
        assert "boosting" in fitted.ensemble_.models
        assert [c.weight for c in fitted.candidates_ if "tried on 600" in c.title]

    @pytest.mark.parametrize(("worth", "kept"), [(1e-4, ["boosting", "net"]), (1.0, ["boosting"])])
    def test_a_net_is_trained_on_many_records_only_if_it_gains_what_nets_must_gain(self, worth, kept, monkeypatch):
        monkeypatch.setattr(auto, "LEARNERS", {name: auto.LEARNERS[name] for name in ("boosting", "net")})
        monkeypatch.setattr(auto, "MANY", 300)
        monkeypatch.setattr(auto, "TRIED", 400)
        monkeypatch.setattr("tacit.learn.crossfitting.choosing.HARDLY_BY_NETS", worth)
        fitted = AutoLogLift(folds=2, doubt=False, random_state=0).fit(*logistic(500, 2.0))
        assert list(fitted.ensemble_.models) == kept

    def test_a_slow_learner_that_gains_nothing_in_the_first_fold_is_not_tried_in_the_second(self, monkeypatch):
        tried = []

        def spied(name, learner):
            def train(lesson):
                tried.append((name, len(lesson.parts)))
                return learner.train(lesson)

            return replace(learner, train=train)

        slow = {name: spied(name, auto.LEARNERS[name]) for name in ("trees", "net", "grids")}
        monkeypatch.setattr(auto, "LEARNERS", slow)
        monkeypatch.setattr(auto, "MANY", 300)
        monkeypatch.setattr(auto, "TRIED", 400)
        rng = np.random.default_rng(0)
        fitted = AutoLogLift(folds=3, doubt=False, random_state=0).fit(rng.normal(size=(500, 2)), np.arange(500) % 2)
        # The last is the training on all records; trees are trained although they gain nothing either.
        assert tried == [("trees", 2), ("grids", 1), ("net", 1), ("trees", 3)]
        assert list(fitted.ensemble_.models) == ["trees"]

    @pytest.mark.parametrize(("most", "nets"), [(200, 2), (100, 1)])
    def test_with_more_records_than_a_net_learns_from_every_part_has_one_net(self, most, nets, monkeypatch):
        monkeypatch.setattr("tacit.learn.crossfitting.candidates.MOST_FOR_NETS", most)
        fitted = AutoLogLift(learners=("net",), folds=2, doubt=False, random_state=0).fit(*logistic(300, 2.0))
        assert [len(model.networks) for model in fitted.ensemble_.models["net"]] == [nets, nets]


class TestFiles:
    @pytest.mark.parametrize(
        "estimator",
        [
            CountLogLift(),
            AutoLogLift(folds=2, random_state=0),
            ClassifierLogLift(LogisticRegression(), folds=2, random_state=0),
        ],
        ids=lambda estimator: type(estimator).__name__,
    )
    def test_a_saved_model_says_the_same_and_holds_no_secret_of_a_record(self, estimator, tmp_path):
        d = SAMPLERS["mixed"](120, np.random.default_rng(0))
        fitted = estimator.fit(d.X, d.s)
        save_model(fitted, tmp_path / "model.tacit")
        again = load_model(tmp_path / "model.tacit")
        assert (again.log_lift(d.X) == fitted.log_lift(d.X)).all()
        assert again.feature_names_in_.tolist() == list(d.X.columns)
        for ours, theirs in zip(fitted.log_lift_interval(d.X), again.log_lift_interval(d.X), strict=True):
            assert (ours == theirs).all()
        assert not hasattr(again, "out_of_fold_log_lift_")

    def test_progress_is_not_saved(self, tmp_path):
        X, s = logistic(60, 1.0)
        fitted = AutoLogLift(learners=("linear",), folds=2, progress=lambda stage, share: None).fit(X, s)
        save_model(fitted, tmp_path / "model.tacit")
        assert load_model(tmp_path / "model.tacit").progress is None
        assert fitted.progress is not None

    def test_what_could_not_be_loaded_safely_is_not_saved(self, tmp_path):
        X, s = logistic(60, 1.0)
        with pytest.raises(ArgumentError, match=r"Strange cannot be saved safely"):
            save_model(ClassifierLogLift(Strange(), folds=2).fit(X, s), tmp_path / "model.tacit")
        assert not (tmp_path / "model.tacit").exists()

    def test_a_forest_of_compiled_trees_is_not_saved(self, tmp_path):
        X, s = logistic(60, 1.0)
        forest = ClassifierLogLift(RandomForestClassifier(3), folds=2, doubt=False).fit(X, s)
        with pytest.raises(ArgumentError, match="cannot be saved safely"):
            save_model(forest, tmp_path / "model.tacit")

    def test_trees_that_lead_astray_fail_and_do_not_read_elsewhere(self, tmp_path):
        X, s = logistic(200, 2.0)
        fitted = AutoLogLift(learners=("trees",), folds=2, doubt=False, random_state=0).fit(X, s)
        save_model(fitted, tmp_path / "model.tacit")
        hostile = tmp_path / "hostile.tacit"
        with zipfile.ZipFile(tmp_path / "model.tacit") as good, zipfile.ZipFile(hostile, "w") as bad:
            for name in good.namelist():
                data = good.read(name)
                if name.endswith(".npy"):
                    array = np.load(io.BytesIO(data))
                    if array.dtype == np.int64 and array.size > 5:
                        out = io.BytesIO()
                        np.save(out, np.full_like(array, 4_000_000_000))
                        data = out.getvalue()
                bad.writestr(name, data)
        with pytest.raises(SourceError, match="is not a model"):
            load_model(hostile)

    def test_a_pickle_is_refused_unread(self, tmp_path):
        class Bomb:
            def __reduce__(self):
                return (pytest.fail, ("the pickle was opened",))

        (tmp_path / "model.tacit").write_bytes(pickle.dumps(Bomb()))
        with pytest.raises(SourceError, match="is not a model"):
            load_model(tmp_path / "model.tacit")

    def test_a_file_that_builds_strange_things_is_refused(self, tmp_path):
        (tmp_path / "model.tacit").write_bytes(skops.io.dumps(Strange()))
        with pytest.raises(SourceError, match=r"Strange, which no Tacit model"):
            load_model(tmp_path / "model.tacit")
        (tmp_path / "model.tacit").write_bytes(skops.io.dumps(partial(print, "run")))
        with pytest.raises(SourceError, match=r"which no Tacit model"):
            load_model(tmp_path / "model.tacit")

    @pytest.mark.parametrize("harm", ["cut", "bits", "empty", "other", "json", "deep", "shape", "lacking"])
    def test_a_damaged_file_is_refused(self, harm, tmp_path):
        path = tmp_path / "model.tacit"
        save_model(CountLogLift().fit([[1], [2], [2]], [0, 1, 0]), path)
        data = path.read_bytes()
        with zipfile.ZipFile(path) as archive:
            parts = {name: archive.read(name) for name in archive.namelist()}
        schema = parts["schema.json"]
        wrong = io.BytesIO()
        np.save(wrong, np.zeros((3, 3, 3)))
        schemas = {"json": b"{", "deep": b"[" * 100_000, "lacking": schema.replace(b'"prior_"', b'"prior"')}
        parts["schema.json"] = schemas.get(harm, schema)
        if harm == "shape":
            parts |= {name: wrong.getvalue() for name in parts if name.endswith(".npy")}
        out = io.BytesIO()
        with zipfile.ZipFile(out, "w") as archive:
            for name, part in parts.items():
                archive.writestr(name, part)
        harmed = {"cut": data[: len(data) // 2], "bits": b"\0" * len(data), "empty": b""}
        harmed["other"] = skops.io.dumps(LogisticRegression())
        path.write_bytes(harmed.get(harm, out.getvalue()))
        with pytest.raises(SourceError, match="is not a model"):
            load_model(path)

    def test_a_file_that_is_not_there_is_named(self, tmp_path):
        with pytest.raises(SourceError, match=r"cannot read the model .*nowhere\.tacit"):
            load_model(tmp_path / "nowhere.tacit")


def test_scores_become_the_probabilities_that_scipy_makes_of_them() -> None:
    scores = np.random.default_rng(0).normal(size=(60, 4)) * 30
    for axis in (0, 1):
        assert np.array_equal(arrays.log_softmax(scores, axis), log_softmax(scores, axis=axis))
        assert np.array_equal(arrays.softmax(scores, axis), softmax(scores, axis=axis))


@pytest.mark.parametrize("learners", [("linear",), ("linear", "trees")])
def test_evidence_without_scikit_learn_is_that_of_the_estimator(learners) -> None:
    rng = np.random.default_rng(1)
    secret = rng.integers(0, 3, 240)
    frame = pa.table(
        {
            "n": pa.array(np.where(rng.random(240) < 0.1, np.nan, secret + rng.normal(size=240))),
            "c": pa.array([None if i % 9 == 0 else f"c{i % 4}" for i in range(240)]),
        }
    )
    labels = np.array([f"s{each}" for each in secret])
    model = AutoLogLift(learners=learners, folds=3, doubt=False, random_state=7).fit(frame, labels)
    slow = evidence_of(model, labels, random_state=7)
    quick = evidence_by(learners, frame, labels, folds=3, random_state=7)
    facts = ("information", "null_high", "p_value", "verdict")
    assert [getattr(quick, name) for name in facts] == [getattr(slow, name) for name in facts]


def test_the_quick_answer_of_an_audit_does_not_load_scikit_learn(tmp_path) -> None:
    rng = np.random.default_rng(2)
    path, secret = tmp_path / "people.csv", rng.integers(0, 2, 400)
    rows = zip(
        secret.tolist(), (secret + rng.normal(size=400)).round(2).tolist(), rng.integers(0, 50, 400), strict=True
    )
    path.write_text("s,x,y\n" + "".join(f"{s},{x},{y}\n" for s, x, y in rows))
    code = (
        f"import sys, tacit; answer = tacit.audit({str(path)!r}, secret='s').answer; "
        "print(answer.how, *({'sklearn', 'scipy.stats'} & set(sys.modules)))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.split() == ["learned"]
