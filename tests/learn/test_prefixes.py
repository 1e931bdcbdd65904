"""Log-lift of all prefixes by one network: held against known truth, the chain rule, and the slow way."""

from __future__ import annotations

from copy import copy

import numpy as np
import pandas as pd
import pytest
from known_lift import SAMPLERS
from known_prefixes import chain
from scipy import sparse
from sklearn.utils.estimator_checks import parametrize_with_checks

from sizes import many
from tacit import ArgumentError, DataError
from tacit.learn import PrefixLogLift, load_model, save_model
from tacit.learn.nets.prefix_net import DenseRecords, PrefixNetworkInTraining, SparseRecords
from tacit.learn.nets.training import RowSlope

QUICK = {"epochs": 40, "random_state": 0}


def table(n: int = 300, seed: int = 0):
    return SAMPLERS["mixed"](n, np.random.default_rng(seed))


def bags(n: int = 400, terms: int = 60, seed: int = 0):
    """Bags of words with two topics; the first ten terms lean to secret 1."""
    rng = np.random.default_rng(seed)
    s = rng.integers(2, size=n)
    share = np.full(terms, 0.08)
    counts = rng.poisson(np.where((np.arange(terms) < 10) & (s[:, None] == 1), 0.3, share))
    return sparse.csr_array(counts.astype(float)), s


@pytest.fixture(scope="module")
def fitted():
    d = table()
    return PrefixLogLift(**QUICK).fit(d.X, d.s), table(40, seed=1).X


@pytest.fixture(scope="module")
def words():
    X, s = bags()
    return PrefixLogLift(**QUICK).fit(X, s), bags(30, seed=1)[0]


@pytest.fixture(scope="module")
def chained():
    """Learned from a chain whose truth is known, and a fresh one."""
    d, fresh = (chain(4_000, np.random.default_rng(seed)) for seed in (0, 1))
    return PrefixLogLift(random_state=0).fit(d.X, d.s), fresh


@pytest.mark.long
@parametrize_with_checks([PrefixLogLift(epochs=5), *[PrefixLogLift(cross_fit=2, epochs=20)] * many(0, 1)])
def test_scikit_learn_accepts_it(estimator, check):
    check(estimator)


class TestAgainstTheTruth:
    @pytest.mark.long
    def test_conditional_densities_of_a_chain_are_found(self, chained):
        estimator, fresh = chained
        found = estimator.feature_log_lift(fresh.X)
        truth = np.diff(fresh.prefix_log_lift, axis=1)
        assert np.sqrt(((found - truth) ** 2).mean()) < 0.5 * np.sqrt((truth**2).mean())

    @pytest.mark.long
    def test_the_order_asked_for_is_the_order_of_the_truth(self, chained):
        estimator, fresh = chained
        order = np.arange(fresh.X.shape[1])[::-1]
        backwards = chain(4_000, np.random.default_rng(1), order=order)
        found = estimator.prefix_log_lift(fresh.X, order=order)
        truth = backwards.prefix_log_lift
        assert np.sqrt(((found - truth) ** 2).mean()) < 0.5 * np.sqrt((truth**2).mean())

    def test_an_exclusive_or_is_given_away_by_the_second_half(self):
        rng = np.random.default_rng(0)
        X = rng.integers(2, size=(2_000, 2))
        fitted = PrefixLogLift(random_state=0).fit(X, X.sum(axis=1) % 2)
        first, second = np.moveaxis(np.abs(fitted.feature_log_lift(X)).max(axis=2), 1, 0)
        assert first.max() < 0.15
        assert second.min() > 0.55

    def test_what_is_not_there_is_not_seen(self):
        rng = np.random.default_rng(0)
        X = rng.normal(size=(800, 3))
        fitted = PrefixLogLift(random_state=0).fit(X, rng.integers(2, size=800))
        assert np.abs(fitted.prefix_log_lift(rng.normal(size=(400, 3)))).mean() < 0.1

    def test_absent_differs_from_average(self):
        rng = np.random.default_rng(0)
        x = rng.normal(size=3_000)
        s = (rng.random(3_000) < np.where(np.abs(x) < 0.5, 0.9, 0.1)).astype(int)
        lift = PrefixLogLift(random_state=0).fit(x[:, None], s).prefix_log_lift([[0.0]])
        assert (lift[0, 0] == 0).all()
        assert lift[0, 1, 1] > 0.5


class TestTheChainRule:
    @pytest.mark.parametrize(
        "words", [{}, {"order": "leak"}, {"order": [5, 3, 1, 0, 2, 4]}, {"orders": 4}, {"orders": 3}]
    )
    def test_the_features_add_up_to_the_record(self, fitted, words):
        estimator, X = fitted
        parts = estimator.feature_log_lift(X, **words)
        assert parts.shape == (40, 6, 2)
        assert parts.sum(axis=1) == pytest.approx(estimator.log_lift(X), abs=1e-10)

    def test_the_empty_prefix_says_exactly_nothing(self, fitted):
        estimator, X = fitted
        assert (estimator.prefix_log_lift(X)[:, 0] == 0).all()

    def test_posteriors_of_every_prefix_add_up_to_one(self, fitted):
        estimator, X = fitted
        assert (estimator.prior_ * np.exp(estimator.prefix_log_lift(X))).sum(axis=2) == pytest.approx(1.0, abs=1e-12)

    def test_trimmed_densities_are_within_twice_the_trim(self):
        d = table(many(500, 1_500))
        lift = PrefixLogLift(clip=0.1, **QUICK).fit(d.X, d.s)
        assert np.abs(lift.prefix_log_lift(d.X)).max() == pytest.approx(0.1)
        parts = lift.feature_log_lift(d.X)
        assert np.abs(parts).max() <= 0.2 + 1e-12
        assert parts.sum(axis=1) == pytest.approx(lift.log_lift(d.X), abs=1e-10)

    @pytest.mark.long
    def test_features_that_say_the_same_share_it_on_average(self):
        rng = np.random.default_rng(0)
        x = rng.integers(2, size=2_000)
        X = np.column_stack([x, x])
        s = np.where(rng.random(2_000) < 0.9, x, 1 - x)
        fitted = PrefixLogLift(random_state=0).fit(X, s)
        first, second = np.abs(fitted.feature_log_lift(X)).mean(axis=(0, 2))
        assert first > 5 * second
        first, second = np.abs(fitted.feature_log_lift(X, orders=2)).mean(axis=(0, 2))
        assert first == pytest.approx(second, rel=0.2)

    def test_the_leakiest_feature_comes_first(self):
        rng = np.random.default_rng(0)
        s = rng.integers(2, size=1_000)
        X = np.column_stack([rng.normal(size=1_000), s + rng.normal(size=1_000), 3 * s + rng.normal(size=1_000)])
        fitted = PrefixLogLift(random_state=0, epochs=30).fit(X, s)
        assert fitted.leak_order_.tolist() == [2, 1, 0]
        assert fitted.single_log_lift(X)[:, 2] == pytest.approx(fitted.prefix_log_lift(X, order="leak")[:, 1])


class TestGroups:
    def test_columns_of_a_group_come_together(self):
        rng = np.random.default_rng(0)
        X = rng.normal(size=(200, 6))
        groups = [1, 0, 1, 0, 2, 2]
        fitted = PrefixLogLift(groups=groups, **QUICK).fit(X, X[:, 0] > 0)
        lift = fitted.prefix_log_lift(X)
        assert lift.shape == (200, 4, 2)
        other = X.copy()
        other[:, [1, 3]] += 1
        assert fitted.prefix_log_lift(other, order=[1, 2, 0])[:, :3] == pytest.approx(
            fitted.prefix_log_lift(X, order=[1, 2, 0])[:, :3]
        )
        assert np.abs(fitted.prefix_log_lift(other)[:, 1] - lift[:, 1]).max() > 1e-3

    def test_groups_of_numbers_and_categories_mix(self):
        d = table()
        fitted = PrefixLogLift(groups=[0, 0, 1, 1, 0, 1], **QUICK).fit(d.X, d.s)
        assert fitted.feature_log_lift(d.X).sum(axis=1) == pytest.approx(fitted.log_lift(d.X), abs=1e-10)

    @pytest.mark.parametrize("groups", [[0, 1], [0, 2, 2], [0.0, 1.0, 2.0], [[0, 1, 2]], [-1, 0, 1]])
    def test_groups_that_do_not_fit_are_refused(self, groups):
        with pytest.raises(ArgumentError, match="groups"):
            PrefixLogLift(groups=groups).fit(np.eye(3).repeat(3, axis=0), np.arange(9) % 2)


class TestBagsOfWords:
    def test_terms_add_up_to_the_record(self, words):
        estimator, X = words
        for asked in ({}, {"order": np.arange(60)[::-1]}, {"order": "leak"}, {"orders": 3}):
            parts = estimator.term_log_lift(X, **asked)
            assert parts.shape == (X.nnz, 2)
            totals = np.stack([part.sum(axis=0) for part in np.split(parts, X.indptr[1:-1])])
            assert totals == pytest.approx(estimator.log_lift(X), abs=1e-10)

    def test_terms_in_storage_order_are_features_in_theirs(self, words):
        estimator, X = words
        full = estimator.feature_log_lift(X)
        of = np.repeat(np.arange(30), np.diff(X.indptr))
        assert full[of, X.indices] == pytest.approx(estimator.term_log_lift(X), abs=1e-12)
        assert np.abs(full).sum() == pytest.approx(np.abs(estimator.term_log_lift(X)).sum())
        assert estimator.prefix_log_lift(X)[:, -1] == pytest.approx(estimator.log_lift(X), abs=1e-10)

    def test_an_empty_record_says_exactly_nothing(self, words):
        estimator, _ = words
        nothing = sparse.csr_array((2, 60))
        assert (estimator.log_lift(nothing) == 0).all()
        assert estimator.term_log_lift(nothing).shape == (0, 2)

    @pytest.mark.long
    def test_the_telling_terms_are_found(self):
        X, s = bags(many(1_500, 3_000))
        fitted = PrefixLogLift(random_state=0).fit(X, s)
        assert set(fitted.leak_order_[:10]) == set(range(10))
        alone = fitted.single_log_lift(X)
        assert alone[X.indices < 10, 1].mean() > 0.3
        assert np.abs(alone[X.indices >= 10]).mean() < 0.2

    def test_only_the_terms_of_the_batch_are_moved(self):
        X, s = bags()
        wider = sparse.csr_array(sparse.hstack([X, sparse.csr_array((400, 7))]))
        fitted = PrefixLogLift(**{**QUICK, "epochs": 5}).fit(wider, s)
        once = PrefixLogLift(**{**QUICK, "epochs": 1}).fit(wider, s)
        assert (fitted.networks_[0].first[60:] == once.networks_[0].first[60:]).all()
        assert not (fitted.networks_[0].first[:60] == once.networks_[0].first[:60]).all()

    def test_too_large_an_answer_is_refused_with_the_way_out(self, words, monkeypatch):
        estimator, X = words
        monkeypatch.setattr("tacit.learn.nets.prefixes.MOST_NUMBERS", 100)
        with pytest.raises(ArgumentError, match="term_log_lift"):
            estimator.feature_log_lift(X)

    def test_tables_and_bags_are_not_mistaken_for_each_other(self, words, fitted):
        with pytest.raises(DataError, match="sparse"):
            words[0].prefix_log_lift(np.zeros((2, 60)))
        with pytest.raises(ArgumentError, match="feature_log_lift is for tables"):
            fitted[0].term_log_lift(fitted[1])
        with pytest.raises(ArgumentError, match="groups is for tables"):
            PrefixLogLift(groups=[0, 0]).fit(sparse.csr_array(np.eye(2)), [0, 1])


class TestASweep:
    def test_released_as_it_is_it_gives_the_prefixes(self, fitted):
        estimator, X = fitted
        lift, sweep = estimator.prefix_log_lift(X), estimator.sweep(len(X))
        assert (sweep.log_lift == 0).all()
        for j, name in enumerate(X.columns):
            assert sweep.candidate(j, X[name]) == pytest.approx(lift[:, j + 1], abs=1e-10)
            sweep.release(j, X[name])
            assert sweep.log_lift == pytest.approx(lift[:, j + 1], abs=1e-10)

    def test_groups_and_terms_are_swept_too(self, words):
        rng = np.random.default_rng(0)
        X = rng.normal(size=(100, 4))
        fitted = PrefixLogLift(groups=[1, 0, 1, 0], **QUICK).fit(X, X[:, 0] > 0)
        sweep = fitted.sweep(100)
        sweep.release(1, X[:, [0, 2]])
        assert sweep.log_lift == pytest.approx(fitted.prefix_log_lift(X, order=[1, 0])[:, 1], abs=1e-10)
        estimator, bag = words
        sweep = estimator.sweep(30)
        for j in range(60):
            sweep.release(j, bag[:, [j]].toarray())
        assert sweep.log_lift == pytest.approx(estimator.log_lift(bag), abs=1e-9)

    def test_a_feature_may_be_kept_back_from_some_records(self, fitted):
        estimator, X = fitted
        sweep = estimator.sweep(len(X))
        kept = np.arange(len(X)) % 2 == 0
        sweep.release(0, X.iloc[:, 0], where=~kept)
        assert (sweep.log_lift[kept] == 0).all()
        assert sweep.log_lift[~kept] == pytest.approx(estimator.prefix_log_lift(X)[~kept, 1], abs=1e-10)

    def test_a_wrong_feature_or_number_of_cells_is_refused(self, fitted):
        sweep = fitted[0].sweep(3)
        with pytest.raises(ArgumentError, match="numbered 0 to 5"):
            sweep.candidate(6, np.zeros(3))
        with pytest.raises(ArgumentError, match="about 3 records"):
            sweep.candidate(0, np.zeros(4))
        with pytest.raises(ArgumentError, match="has 1 columns"):
            sweep.candidate(0, np.zeros((3, 2)))


class TestTraining:
    @pytest.mark.parametrize("kind", ["dense", "bags"])
    def test_the_slopes_of_a_network_are_the_numerical_ones(self, kind):
        rng = np.random.default_rng(0)
        design, s = rng.integers(3, size=(12, 4)).astype(np.float32), rng.integers(2, size=12)
        records = DenseRecords(design, np.array([0, 1, 3, 4]), "random")
        if kind == "bags":
            records = SparseRecords(sparse.csr_array(design), "random")
        rows = np.arange(12)
        network = PrefixNetworkInTraining(records, s, np.array([0.4, 0.6]), rows, hidden=(3, 2), rng=rng)
        network.weights[-1][:] = rng.normal(size=(1, 2, 2))
        view = records.view(rows, rng)
        records.view, network.looks = lambda *_: view, [(rows, view)]
        for array, slope in zip(network.weights, network.slopes(rows[None]), strict=True):
            if isinstance(slope, RowSlope):
                whole = np.zeros_like(array)
                whole[0, slope.rows] = slope.values
                slope = whole
            assert array.shape == slope.shape
            for at in np.ndindex(array.shape):
                kept = array[at]
                array[at] = kept + 1e-2
                up = network.loss()[0]
                array[at] = kept - 1e-2
                assert (up - network.loss()[0]) / 2e-2 == pytest.approx(slope[at], abs=1e-3)
                array[at] = kept

    def test_the_same_random_state_gives_the_same_densities(self):
        d = table(200)
        first, second = (PrefixLogLift(**QUICK).fit(d.X, d.s).feature_log_lift(d.X) for _ in range(2))
        assert (first == second).all()

    def test_out_of_fold_a_training_record_is_scored_by_a_network_that_did_not_see_it(self):
        rng = np.random.default_rng(0)
        X, s = rng.normal(size=(300, 40)), rng.integers(2, size=300)
        fitted = PrefixLogLift(cross_fit=3, **QUICK).fit(X, s)
        assert np.bincount(fitted.fold_).tolist() == [100, 100, 100]
        apart = fitted.prefix_log_lift(X, out_of_fold=True)
        for k in range(3):
            alone = copy(fitted)
            alone.networks_ = [fitted.networks_[k]]
            rows = fitted.fold_ == k
            assert apart[rows] == pytest.approx(alone.prefix_log_lift(X[rows]), abs=1e-10)

    def test_out_of_fold_works_for_bags(self):
        X, s = bags(200)
        fitted = PrefixLogLift(cross_fit=2, **QUICK).fit(X, s)
        apart = fitted.term_log_lift(X, out_of_fold=True)
        of = np.repeat(np.arange(200), np.diff(X.indptr))
        for k in range(2):
            rows = np.flatnonzero(fitted.fold_ == k)
            one = copy(fitted)
            one.networks_ = [fitted.networks_[k]]
            assert apart[fitted.fold_[of] == k] == pytest.approx(one.term_log_lift(X[rows]), abs=1e-10)
        assert fitted.single_log_lift(X, out_of_fold=True).shape == (X.nnz, 2)

    def test_without_folds_out_of_fold_is_refused(self, fitted):
        with pytest.raises(ArgumentError, match="needs cross_fit"):
            fitted[0].prefix_log_lift(fitted[1], out_of_fold=True)

    def test_progress_is_shown(self):
        seen = []
        d = table(200)
        PrefixLogLift(epochs=20, cross_fit=2, progress=lambda *shown: seen.append(shown)).fit(d.X, d.s)
        shares = [share for _, share in seen]
        assert shares == sorted(shares)
        assert {stage for stage, _ in seen} == {"learning prefixes"}

    @pytest.mark.parametrize(
        "words", [{"orders": "any"}, {"clip": 0.0}, {"cross_fit": 1}, {"hidden": (3,)}, {"hidden": (0, 2)}]
    )
    def test_wrong_words_are_refused(self, words):
        with pytest.raises(ArgumentError):
            PrefixLogLift(**words).fit(np.arange(20.0)[:, None], np.arange(20) % 2)

    @pytest.mark.parametrize("order", ["best", [0, 1], [0, 0, 1, 2, 3, 4], np.zeros(6)])
    def test_an_order_that_is_none_is_refused(self, fitted, order):
        with pytest.raises(ArgumentError, match="order is"):
            fitted[0].prefix_log_lift(fitted[1], order=order)
        with pytest.raises(ArgumentError, match="orders is"):
            fitted[0].feature_log_lift(fitted[1], orders=0)

    def test_missing_cells_and_wide_categories_are_read(self):
        rng = np.random.default_rng(0)
        X = pd.DataFrame({"name": [f"n{i % 400}" for i in range(800)], "age": rng.normal(size=800)})
        X.loc[::5, "age"] = np.nan
        X.loc[::7, "name"] = None
        fitted = PrefixLogLift(**QUICK).fit(X, rng.integers(2, size=800))
        lift = fitted.prefix_log_lift(X)
        sweep = fitted.sweep(800)
        for j, name in enumerate(X.columns):
            sweep.release(j, X[name])
        assert sweep.log_lift == pytest.approx(lift[:, -1], abs=1e-10)


@pytest.mark.parametrize("kind", ["table", "bags"])
def test_it_can_be_saved_and_loaded(kind, tmp_path, fitted, words):
    estimator, X = fitted if kind == "table" else words
    save_model(estimator, tmp_path / "prefixes.tacit")
    loaded = load_model(tmp_path / "prefixes.tacit")
    assert (loaded.prefix_log_lift(X) == estimator.prefix_log_lift(X)).all()
