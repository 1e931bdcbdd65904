"""Estimators of log-lift: one contract, held against scikit-learn's own checks, counting and known truth."""

from __future__ import annotations

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from hypothesis import given, strategies as st
from known_lift import SAMPLERS
from scipy import sparse
from scipy.special import gammaln
from sklearn.base import clone
from sklearn.ensemble import RandomForestClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import FunctionTransformer
from sklearn.svm import LinearSVC

from scikit_checks import some_checks
from sizes import many
from tacit import (
    ArgumentError,
    AutoLogLift,
    ClassifierLogLift,
    ColumnError,
    CountLogLift,
    DataError,
    Joint,
    Watchdog,
    log_lift,
)
from tacit.learn import ESTIMATORS, estimator_named
from tacit.learn.crossfitting.smoothing import best_smoothing
from tacit.lift import lower_limit

LINEAR = {"learners": ("linear",), "doubt": False, "folds": 3, "random_state": 0}


def mixed(n: int = 300, seed: int = 0):
    return SAMPLERS["mixed"](n, np.random.default_rng(seed))


@some_checks(
    CountLogLift(),
    # With all its learners it fits several models where the next fits one.
    *[AutoLogLift(folds=2, doubt=False)] * many(0, 1),
    AutoLogLift(learners=("linear",), folds=2, doubt=False),
    *[AutoLogLift(learners=("linear",), folds=3), ClassifierLogLift(folds=2, doubt=False)] * many(0, 1),
    *[ClassifierLogLift(LogisticRegression(), folds=2)] * many(0, 1),
    ClassifierLogLift(LogisticRegression(), folds=2, doubt=False),
    Watchdog(y_is="secret", estimator=AutoLogLift(learners=("linear",), folds=2, doubt=False)),
    keep=80,
)
def test_scikit_learn_accepts_it(estimator, check):
    check(estimator)


@pytest.fixture(
    scope="module",
    params=[
        CountLogLift(),
        # All its learners find the truth below.
        AutoLogLift(**LINEAR) if many(1, 0) else AutoLogLift(folds=2, doubt=False, random_state=0),
        ClassifierLogLift(RandomForestClassifier(10, min_samples_leaf=5), folds=2, doubt=False, random_state=0),
    ],
    ids=lambda estimator: type(estimator).__name__,
)
def estimator(request):
    return request.param


@pytest.fixture(scope="module")
def fitted(estimator):
    """Each of them fitted on the mixed records."""
    return clone(estimator).set_output(transform="pandas").fit(mixed().X, mixed().s)


@pytest.fixture(scope="module")
def linear():
    """A linear model of the mixed records, with intervals."""
    return AutoLogLift(learners=("linear",), random_state=0).fit(mixed().X, mixed().s)


class TestTheContract:
    def test_posteriors_add_up_to_one_for_every_record(self, fitted):
        lift = fitted.log_lift(mixed().X)
        assert lift.shape == (300, 2)
        assert (fitted.prior_ * np.exp(lift)).sum(axis=1) == pytest.approx(1.0, abs=1e-9)

    def test_scores_are_risks_and_predictions_follow_the_lift(self, estimator):
        d = mixed()
        fitted = clone(estimator).fit(d.X, np.where(d.s == 1, "yes", "no"))
        lift = fitted.log_lift(d.X)
        assert fitted.secrets_.tolist() == ["no", "yes"]
        assert fitted.score_samples(d.X) == pytest.approx(np.abs(lift).max(axis=1))
        assert fitted.predict_proba(d.X) == pytest.approx(fitted.prior_ * np.exp(lift))
        assert (fitted.predict(d.X) == fitted.secrets_[(fitted.prior_ * np.exp(lift)).argmax(axis=1)]).all()
        assert fitted.score(d.X, np.where(d.s == 1, "yes", "no")) == pytest.approx(lift[np.arange(300), d.s].mean())

    @pytest.mark.long
    def test_the_kind_of_frame_does_not_matter(self, estimator, fitted):
        d = mixed()
        expected = fitted.log_lift(d.X)
        for X in (pl.from_pandas(d.X), pa.Table.from_pandas(d.X), d.X.to_numpy(dtype=object)):
            found = clone(estimator).fit(X, d.s).log_lift(X)
            assert found == pytest.approx(expected, abs=1e-9)

    def test_set_output_gives_a_named_frame(self, fitted):
        assert list(fitted.transform(mixed().X).columns) == ["log_lift_0", "log_lift_1"]

    def test_missing_cells_are_a_value_of_their_own(self, estimator):
        d = mixed()
        X = d.X.copy()
        X.loc[::3, "trade"] = None
        X.loc[::4, "income"] = np.nan
        assert np.isfinite(clone(estimator).fit(X, d.s).log_lift(X)).all()


class TestCounting:
    def test_relabelling_the_secrets_relabels_the_columns(self):
        d = mixed()
        swapped = CountLogLift().fit(d.X, 1 - d.s).log_lift(d.X)
        assert swapped[:, ::-1] == pytest.approx(CountLogLift().fit(d.X, d.s).log_lift(d.X))

    @given(st.lists(st.tuples(st.integers(0, 2), st.integers(0, 3)), min_size=2, max_size=60))
    def test_without_smoothing_it_is_the_plug_in(self, pairs):
        s, x = np.array(pairs).T
        if len(set(s)) < 2:
            return
        fitted = CountLogLift(smoothing=0).fit(x[:, None], s)
        counts = np.array([[((s == a) & (x == b)).sum() for b in np.unique(x)] for a in np.unique(s)])
        expected = log_lift(Joint.from_counts(counts))[:, np.searchsorted(np.unique(x), x)].T
        np.testing.assert_allclose(fitted.log_lift(x[:, None]), expected, atol=1e-12)

    def test_a_value_never_seen_is_infinitely_risky_and_leaves_the_guess_at_the_prior(self):
        fitted = CountLogLift().fit(pd.DataFrame({"town": ["a", "a", "b", "b"]}), [0, 1, 1, 1])
        unseen = pd.DataFrame({"town": ["c"]})
        assert fitted.score_samples(unseen) == np.inf
        assert np.isneginf(fitted.log_lift(unseen)).all()
        assert fitted.predict_proba(unseen)[0] == pytest.approx([0.25, 0.75])
        low, high = fitted.log_lift_interval(unseen)
        assert np.isneginf(low).all()
        assert high[0] == pytest.approx(-np.log([0.25, 0.75]))

    def test_smoothing_is_the_likeliest_one(self):
        d = SAMPLERS["discrete"](2_000, np.random.default_rng(0))
        fitted = CountLogLift().fit(d.X, d.s)
        counts, prior = fitted.table_.counts, fitted.prior_

        def likelihood(a):
            n = counts.sum(axis=1)
            cells = gammaln(counts + a * prior) - gammaln(a * prior)
            return (gammaln(a) - gammaln(n + a)).sum() + cells.sum()

        grid = np.geomspace(0.1, 1000, 400)
        assert fitted.table_.smoothing == pytest.approx(grid[np.argmax([likelihood(a) for a in grid])], rel=0.05)
        # The sampler scatters posteriors like ten records would.
        assert 5 < fitted.table_.smoothing < 20

    def test_values_that_occur_once_are_not_believed(self):
        assert best_smoothing(np.eye(5)[:, :2][[0, 1, 0, 1]], np.array([0.5, 0.5])) > 1e5

    def test_intervals_cover_the_truth(self):
        d = SAMPLERS["discrete"](2_000, np.random.default_rng(1))
        low, high = CountLogLift().fit(d.X, d.s).log_lift_interval(d.X)
        assert ((low <= d.log_lift) & (d.log_lift <= high)).mean() > 0.9
        low, high = CountLogLift(smoothing=0).fit(d.X, d.s).log_lift_interval(d.X)
        assert ((low <= d.log_lift + 0.05) & (d.log_lift - 0.05 <= high)).mean() > 0.93

    @pytest.mark.parametrize("smoothing", [-1.0, "some"])
    def test_a_smoothing_that_cannot_be_is_refused(self, smoothing):
        with pytest.raises(ArgumentError, match="smoothing is a number of records"):
            CountLogLift(smoothing=smoothing).fit([[1], [2]], [0, 1])


class TestCrossFitting:
    def test_the_truth_is_found_where_it_is_known(self):
        d, fresh = mixed(2_000), mixed(2_000, seed=1)
        fitted = AutoLogLift(doubt=False, folds=3, random_state=0).fit(d.X, d.s)
        error = fitted.log_lift(fresh.X) - fresh.log_lift
        assert np.sqrt((error**2).mean()) < 0.5 * np.sqrt((fresh.log_lift**2).mean())

    def test_in_sample_information_is_overstated_and_out_of_fold_it_is_not(self):
        rng = np.random.default_rng(0)
        X, s = rng.normal(size=(600, 8)), rng.integers(2, size=600)
        eager = ClassifierLogLift(
            RandomForestClassifier(20, random_state=0), calibrate=False, doubt=False, random_state=0
        ).fit(X, s)
        in_sample = eager.score(X, s)
        apart = eager.out_of_fold_log_lift_[np.arange(600), s].mean()
        assert in_sample > 0.1
        assert apart < 0.01

    def test_calibration_tempers_a_classifier_that_claims_too_much(self):
        rng = np.random.default_rng(0)
        X, s = rng.normal(size=(600, 8)), rng.integers(2, size=600)
        words = {"doubt": False, "random_state": 0, "folds": 3}
        forest = RandomForestClassifier(20, random_state=0)
        raw = ClassifierLogLift(forest, calibrate=False, **words).fit(X, s)
        tempered = ClassifierLogLift(forest, calibrate=True, **words).fit(X, s)
        assert np.mean([m.temper[0] for m in tempered.ensemble_.models["classifier"]]) < 0.5
        assert all(m.temper[0] == 1 for m in raw.ensemble_.models["classifier"])

    @pytest.mark.long
    def test_a_blend_loses_hardly_more_than_the_best_learner(self):
        for name in ("gauss20", "mix4"):
            d = SAMPLERS[name](800, np.random.default_rng(3))
            fitted = AutoLogLift(folds=3, doubt=False, random_state=0).fit(d.X, d.s)
            best = min(c.log_loss for c in fitted.candidates_)
            lift = fitted.out_of_fold_log_lift_[np.arange(800), d.s]
            assert -(lift + np.log(fitted.prior_[d.s])).mean() < best + 0.01

    def test_the_reason_names_what_was_used(self):
        d = SAMPLERS["gauss20"](600, np.random.default_rng(0))
        fitted = AutoLogLift(learners=("linear", "trees"), folds=3, doubt=False, random_state=0).fit(d.X, d.s)
        assert "linear model" in fitted.reason_
        assert "held-out records" in fitted.reason_
        assert {c.name for c in fitted.candidates_} == {"linear", "trees"}

    def test_where_nothing_is_to_be_learned_it_says_so(self):
        rng = np.random.default_rng(2)
        fitted = AutoLogLift(learners=("linear", "net"), doubt=False, random_state=0).fit(
            rng.normal(size=(400, 3)), rng.integers(2, size=400)
        )
        assert "nothing that was learned beats the prior" in fitted.reason_

    @pytest.mark.long
    def test_the_same_random_state_gives_the_same_lifts(self):
        d = mixed(200)
        first, second = (AutoLogLift(folds=2, random_state=7).fit(d.X, d.s) for _ in range(2))
        assert (first.log_lift(d.X) == second.log_lift(d.X)).all()
        assert (first.doubt_.factors == second.doubt_.factors).all()

    @pytest.mark.long
    def test_fitting_again_forgets_the_first_table(self):
        discrete, numbers = (SAMPLERS[name](300, np.random.default_rng(0)) for name in ("discrete", "gauss2"))
        words = {"folds": 2, "doubt": False, "random_state": 0}
        again = AutoLogLift(**words).fit(discrete.X, discrete.s).fit(numbers.X, numbers.s)
        assert [c.name for c in again.candidates_] == ["linear", "products", "trees", "grids", "boosting", "net"]
        assert (again.log_lift(numbers.X) == AutoLogLift(**words).fit(numbers.X, numbers.s).log_lift(numbers.X)).all()

    @pytest.mark.long
    def test_intervals_cover_about_what_they_promise(self):
        covered = []
        for name in list(SAMPLERS)[:: many(4, 1)]:
            d, fresh = (SAMPLERS[name](500, np.random.default_rng(seed)) for seed in (5, 6))
            low, high = AutoLogLift(folds=3, random_state=0).fit(d.X, d.s).log_lift_interval(fresh.X)
            assert (low < high).all()
            covered.append(((low <= fresh.log_lift) & (fresh.log_lift <= high)).mean())
        assert np.mean(covered) > 0.9

    def test_a_wider_confidence_gives_a_wider_interval_and_no_posterior_exceeds_one(self, linear):
        (low50, high50), (low99, high99) = (linear.log_lift_interval(mixed().X, confidence=c) for c in (0.5, 0.99))
        # Below the lowest record of a secret nothing is known at any confidence.
        assert ((low99 < low50) | np.isneginf(low50)).all()
        assert np.isfinite(low99).mean() > 0.9
        assert (high99 >= high50).all()
        counts = linear.prior_ * len(mixed().s)
        assert (high99 <= -np.log(lower_limit(counts.round(), len(mixed().s), beta=0.005)) + 1e-12).all()

    def test_intervals_that_were_not_prepared_are_refused(self):
        d = mixed(100)
        with pytest.raises(ArgumentError, match="doubt=True"):
            AutoLogLift(**LINEAR).fit(d.X, d.s).log_lift_interval(d.X)

    def test_progress_is_shown(self):
        seen = []
        d = mixed(100)
        AutoLogLift(folds=2, random_state=0, progress=lambda stage, share: seen.append((stage, share))).fit(d.X, d.s)
        assert {"learning: boosted trees", "learning: small neural nets"} <= {stage for stage, _ in seen}
        assert any(stage.startswith("calibrating: ") for stage, _ in seen)
        assert all(0 <= share <= 1 for _, share in seen)


class TestInputs:
    def test_sparse_and_dense_give_the_same(self):
        rng = np.random.default_rng(0)
        X = rng.poisson(0.3, size=(300, 40)).astype(float)
        s = (X[:, 0] + rng.normal(size=300) > 0.5).astype(int)
        dense = AutoLogLift(**LINEAR).fit(X, s)
        thin = AutoLogLift(**LINEAR).fit(sparse.csr_array(X), s)
        assert np.corrcoef(dense.log_lift(X).ravel(), thin.log_lift(sparse.csr_array(X)).ravel())[0, 1] > 0.98

    def test_a_wide_sparse_matrix_stays_sparse(self):
        rng = np.random.default_rng(0)
        X = sparse.random_array((400, 5_000), density=0.004, rng=rng, format="csr")
        X = sparse.csr_array(sparse.hstack([X, sparse.csr_array(rng.integers(2, size=(400, 1)))]))
        s = (X[:, [5_000]].toarray().ravel() > 0) ^ (rng.random(400) < 0.2)
        fitted = AutoLogLift(folds=2, doubt=False, random_state=0).fit(X, s)
        assert [c.name for c in fitted.candidates_] == ["linear"]
        assert fitted.score(X, s) > 0.1

    def test_levels_never_seen_and_missing_numbers_are_scored(self, fitted):
        strange = mixed().X.head(2).assign(trade="acrobat", age=np.nan)
        lift = fitted.log_lift(strange)
        assert np.isneginf(lift).all() if isinstance(fitted, CountLogLift) else np.isfinite(lift).all()

    def test_a_level_never_seen_is_doubt_and_doubt_is_risk(self, linear):
        strange = mixed().X.head(2).copy()
        strange.loc[0, "trade"] = "acrobat"
        assert np.isinf(linear.score_samples(strange)).tolist() == [True, False]
        low, high = linear.log_lift_interval(strange)
        assert np.isneginf(low[0]).all()
        assert high[0] == pytest.approx(-np.log(linear.prior_))
        assert np.isfinite(low[1]).all()

    def test_a_missing_cell_where_none_was_missing_and_a_number_far_out_are_doubt_too(self, linear):
        d = mixed()
        for column, value in (("age", np.nan), ("town", None), ("age", 1e300), ("age", -1_000.0)):
            strange = d.X.head(3).copy()
            strange.loc[1, column] = value
            assert np.isinf(linear.score_samples(strange)).tolist() == [False, True, False], (column, value)
            assert linear.unseen(strange).tolist() == [False, True, False]
        holed = d.X.copy()
        holed.loc[::9, "age"] = np.nan
        fitted = AutoLogLift(**LINEAR).fit(holed, d.s)
        assert not fitted.unseen(holed).any()

    @pytest.mark.long
    def test_numbers_of_any_size_are_learned_from(self):
        rng = np.random.default_rng(0)
        X = np.column_stack([rng.choice([-1e300, 1e300], size=200), rng.normal(size=200)])
        s = (X[:, 0] > 0).astype(int)
        fitted = AutoLogLift(folds=2, doubt=False, random_state=0).fit(X, s)
        assert fitted.score(X, s) > 0.3

    def test_pandas_missing_values_of_every_type_are_read(self):
        s = np.arange(60) % 2
        frame = pd.DataFrame(
            {
                "text": pd.array(["a", None, "b"] * 20, dtype="string"),
                "flag": pd.array([True, None, False] * 20, dtype="boolean"),
                "whole": pd.array([1, None, 3] * 20, dtype="Int64"),
                "kind": pd.Categorical(["x", None, "y"] * 20),
            }
        )
        fitted = CountLogLift().fit(frame, pd.array(np.where(s, "yes", "no"), dtype="string"))
        assert np.isfinite(fitted.log_lift(frame)).all()
        assert fitted.encoder_.kinds == ("category", "category", "number", "category")

    def test_numbers_beside_text_in_a_list_stay_numbers(self):
        rows = [[1.5, "a", 3], [2.5, "b", 4]] * 5
        assert CountLogLift().fit(rows, [0, 1] * 5).encoder_.kinds == ("number", "category", "number")

    def test_secrets_that_read_alike_but_differ_are_refused(self):
        for secrets in ([1, "1", "b"], [None, "(missing)", "b"]):
            with pytest.raises(DataError, match="two different secrets both read"):
                CountLogLift().fit([[1], [2], [3]], np.array(secrets, dtype=object))

    def test_dates_and_booleans_are_read(self):
        rng = np.random.default_rng(0)
        s = rng.integers(2, size=200)
        X = pd.DataFrame(
            {
                "day": pd.Timestamp("2020-01-01") + pd.to_timedelta(rng.integers(30, size=200) + 20 * s, unit="D"),
                "flag": rng.random(200) < 0.5,
            }
        )
        fitted = AutoLogLift(**LINEAR).fit(X, s)
        assert fitted.encoder_.kinds == ("number", "category")
        assert fitted.score(X, s) > 0.1

    def test_numbers_can_be_read_as_categories(self):
        rng = np.random.default_rng(0)
        code = rng.integers(6, size=900)
        s = (rng.random(900) < np.array([0.1, 0.9, 0.1, 0.9, 0.1, 0.9])[code]).astype(int)
        frame = pd.DataFrame({"code": code})
        as_number = AutoLogLift(**LINEAR).fit(frame, s).score(frame, s)
        as_category = AutoLogLift(**LINEAR, categorical_features=["code"]).fit(frame, s).score(frame, s)
        assert as_category > as_number + 0.2
        assert AutoLogLift(**LINEAR, categorical_features=[0]).fit(frame, s).score(frame, s) == as_category
        with pytest.raises(ColumnError, match="did you mean 'code'"):
            AutoLogLift(**LINEAR, categorical_features=["cod"]).fit(frame, s)

    @pytest.mark.parametrize(
        ("X", "s", "message"),
        [
            ([[1.0], [2.0]], [0, 0], "one class"),
            ([[1.0], [np.inf]], [0, 1], "infinity"),
            (pd.DataFrame({"a": [1.0, np.inf]}), [0, 1], "column 'a' contains infinity"),
            ([[1.0], [2.0]], [0], "inconsistent"),
            ([[1.0], [2.0]], [0.0, np.nan], "every record needs a secret"),
            (pd.DataFrame({"a": []}), [], "no data"),
        ],
    )
    def test_bad_input_is_refused_by_name(self, X, s, message):
        with pytest.raises(ValueError, match=message):
            CountLogLift().fit(X, s)

    def test_text_where_numbers_were_is_refused(self):
        fitted = CountLogLift().fit(pd.DataFrame({"age": [1.0, 2.0]}), [0, 1])
        with pytest.raises(DataError, match="'age' held numbers"):
            fitted.log_lift(pd.DataFrame({"age": ["old"]}))

    def test_a_missing_secret_is_a_secret(self):
        fitted = CountLogLift().fit([[1], [2], [2]], np.array(["a", None, "a"], dtype=object))
        assert fitted.secrets_.tolist() == ["(missing)", "a"]

    def test_a_classifier_without_probabilities_is_refused(self):
        with pytest.raises(ArgumentError, match="LinearSVC has no predict_proba"):
            ClassifierLogLift(LinearSVC()).fit([[1.0], [2.0]], [0, 1])

    @pytest.mark.parametrize("words", [{"learners": ("oracle",)}, {"learners": ()}, {"folds": 1}])
    def test_wrong_words_are_refused(self, words):
        with pytest.raises(ArgumentError):
            AutoLogLift(**words).fit(np.arange(20.0)[:, None], np.arange(20) % 2)


class TestInTheWorldOfScikitLearn:
    def test_a_pipeline_may_end_in_it(self):
        d = SAMPLERS["gauss2"](300, np.random.default_rng(0))
        pipe = make_pipeline(FunctionTransformer(), AutoLogLift(**LINEAR)).fit(d.X, d.s)
        assert pipe.transform(d.X).shape == (300, 2)
        assert pipe.score(d.X, d.s) > 0

    def test_a_grid_search_finds_the_smoothing_that_loses_least(self):
        d = SAMPLERS["discrete"](1_000, np.random.default_rng(0))
        keep = d.X.groupby("symbol")["symbol"].transform("size") > 30
        X, s = d.X[keep], d.s[keep]
        search = GridSearchCV(CountLogLift(), {"smoothing": [0.01, 10.0, 1e6]}, cv=3).fit(X, s)
        assert search.best_params_ == {"smoothing": 10.0}

    @pytest.mark.parametrize("name", [name for name in ESTIMATORS if name != "neural"])
    def test_every_name_makes_an_estimator(self, name):
        d = mixed(150)
        assert estimator_named(name, doubt=False).fit(d.X, d.s).log_lift(d.X).shape == (150, 2)

    def test_an_unknown_name_is_refused(self):
        with pytest.raises(ArgumentError, match="choose one of counts, auto"):
            estimator_named("magic")


class TestTheWatchdogTransformer:
    def test_only_risky_records_are_replaced_and_by_risky_ones(self):
        d = mixed(600)
        dog = Watchdog(epsilon=0.3, estimator=AutoLogLift(**LINEAR)).fit(d.X, secret=d.s)
        risky = dog.estimator_.score_samples(d.X) > 0.3
        out = dog.transform(d.X)
        assert 0.1 < risky.mean() < 0.9
        pd.testing.assert_frame_equal(out[~risky], d.X[~risky])
        assert set(out[risky].itertuples(index=False)) <= set(d.X[risky].itertuples(index=False))
        assert (out.index == d.X.index).all()
        assert dog.merged_epsilon_ < 0.5

    def test_the_replacement_ignores_the_record(self):
        rng = np.random.default_rng(0)
        X = rng.choice([-3.0, 0.0, 3.0], size=(3_000, 1))
        s = (rng.random(3_000) < 1 / (1 + np.exp(-X[:, 0]))).astype(int)
        out = Watchdog(epsilon=0.3, estimator=CountLogLift()).fit(X, secret=s).transform(X)
        moved = X[:, 0] != 0
        table = np.array([[((X[moved, 0] == a) & (out[moved, 0] == b)).sum() for b in (-3, 3)] for a in (-3, 3)])
        expected = table.sum(axis=1, keepdims=True) * table.sum(axis=0) / table.sum()
        # One degree of freedom; once in a million.
        assert ((table - expected) ** 2 / expected).sum() < 24
        assert (out[~moved] == 0).all()

    @pytest.mark.parametrize("frame", [pl.from_pandas, pa.Table.from_pandas], ids=["polars", "arrow"])
    def test_frames_stay_what_they_are(self, frame):
        X = frame(mixed(200).X)
        out = (
            Watchdog(epsilon=0.3, estimator=AutoLogLift(**LINEAR), random_state=0)
            .fit(X, secret=mixed(200).s)
            .transform(X)
        )
        assert type(out) is type(X)
        assert out.shape == X.shape

    def test_where_the_pool_is_empty_a_risky_record_is_refused(self):
        dog = Watchdog(epsilon=5.0, estimator=CountLogLift()).fit([[0], [0], [1], [1]], secret=[0, 1, 0, 1])
        with pytest.raises(DataError, match="nothing to replace it by"):
            dog.transform([[7]])

    def test_a_negative_epsilon_is_refused(self):
        with pytest.raises(ArgumentError, match="epsilon"):
            Watchdog(epsilon=-1).fit([[0], [1]], secret=[0, 1])
