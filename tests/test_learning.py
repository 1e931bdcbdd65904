"""The parts of the learned estimators: nets, linear models, blends, folds, tests of evidence, files."""

from __future__ import annotations

import io
import pickle
import zipfile
from collections import Counter
from functools import partial

import numpy as np
import pytest
import skops.io
from hypothesis import given
from hypothesis import strategies as st
from known_lift import SAMPLERS
from scipy.optimize import check_grad
from scipy.special import log_softmax
from scipy.stats import binomtest
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.ensemble import RandomForestClassifier
from sklearn.linear_model import LogisticRegression

from tacit import (
    ArgumentError,
    AutoLogLift,
    ClassifierLogLift,
    CountLogLift,
    DataError,
    SourceError,
    evidence_of,
    load_model,
    save_model,
)
from tacit.learn.association import association_test
from tacit.learn.blending import best_weights, blend, log_loss
from tacit.learn.doubt import redrawn, stretch
from tacit.learn.evidence import binomial_limits, calibration, shuffled_test
from tacit.learn.folds import fold_of_each, learn_and_check
from tacit.learn.linear import _objective, train_linear, with_products
from tacit.learn.net import Network, _Trainer, train_networks
from tacit.learn.trees import train_trees


def logistic(n: int, slope: float, seed: int = 0, columns: int = 3):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, columns))
    return X, (rng.random(n) < 1 / (1 + np.exp(-slope * X[:, 0]))).astype(np.int64)


class TestNets:
    def test_a_step_goes_down_the_numerical_slope(self):
        X, s = logistic(32, 1.0)
        trainer = _Trainer(X.astype(np.float32), s, 2, 1, (4,), np.random.default_rng(0))
        trainer.layers[-1][0][:] = np.random.default_rng(1).normal(size=(1, 4, 2))
        trainer.rate, trainer.decay = 1e-3, 0.0
        rows = np.arange(32)[None]
        slopes = []
        for layer in trainer.layers:
            for parameter in layer:
                slope = np.zeros_like(parameter)
                for at in np.ndindex(parameter.shape):
                    kept = parameter[at]
                    parameter[at] = kept + 1e-2
                    up = trainer.loss(rows)[0]
                    parameter[at] = kept - 1e-2
                    slope[at] = (up - trainer.loss(rows)[0]) / 2e-2
                    parameter[at] = kept
                slopes.append(slope)
        before = [p.copy() for layer in trainer.layers for p in layer]
        trainer.step(rows)
        after = [p for layer in trainer.layers for p in layer]
        for old, new, slope in zip(before, after, slopes, strict=True):
            # The first step of Adam is the rate times the sign of the slope.
            clear = np.abs(slope) > 1e-3
            assert clear.any()
            np.testing.assert_allclose((new - old)[clear], -1e-3 * np.sign(slope)[clear], rtol=0.02)

    def test_nets_trained_together_learn_apart(self):
        X, s = logistic(900, 2.0)
        shuffled = np.random.default_rng(1).permutation(s)
        both = np.concatenate([s, shuffled])
        parts = [(np.arange(700), np.arange(700, 900)), (np.arange(900, 1600), np.arange(1600, 1800))]
        real, noise = train_networks(
            np.vstack([X, X]), both, parts, secrets=2, random_state=np.random.default_rng(0), steps=1_000
        )
        fresh, truth = logistic(500, 2.0, seed=9)
        losses = [-net.log_posterior(fresh)[np.arange(500), truth].mean() for net in (real, noise)]
        assert losses[0] < 0.55
        assert losses[1] > 0.65

    def test_early_stopping_keeps_the_best_net_and_not_the_last(self):
        X, s = logistic(120, 0.0, columns=30)
        parts = [(np.arange(80), np.arange(80, 120))]
        net = train_networks(X, s, parts, secrets=2, random_state=np.random.default_rng(0), patience=40, steps=1_000)[0]
        on_check = -net.log_posterior(X)[np.arange(80, 120), s[80:]].mean()
        # The net that says nothing is the first one looked at; thirty columns of noise would soon do worse.
        assert on_check < np.log(2) + 0.02

    def test_a_score_does_not_depend_on_the_records_beside_it(self):
        layers = tuple(
            (np.random.default_rng(0).normal(size=size).astype(np.float32), np.zeros((1, size[1]), np.float32))
            for size in ((5, 8), (8, 3))
        )
        rows = np.random.default_rng(1).normal(size=(50, 5))
        whole = Network(layers).log_posterior(rows)
        assert np.vstack([Network(layers).log_posterior(rows[[k]]) for k in range(50)]) == pytest.approx(
            whole, abs=1e-12
        )


class TestLinearModels:
    def test_the_slope_is_the_derivative_of_the_loss(self):
        X, s = logistic(40, 1.0)
        objective = _objective(X, np.eye(2)[s], 3.0)
        start = np.random.default_rng(0).normal(size=8)
        assert check_grad(lambda w: objective(w)[0], lambda w: objective(w)[1], start) < 1e-5

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


class TestBlends:
    @given(st.integers(0, 10_000), st.integers(1, 4), st.integers(2, 4))
    def test_a_blend_is_a_log_lift(self, seed, learners, secrets):
        rng = np.random.default_rng(seed)
        prior = rng.dirichlet(np.ones(secrets))
        lifts = rng.normal(size=(learners, 20, secrets))
        mixed = blend(lifts, rng.random(learners), prior)
        assert (prior * np.exp(mixed)).sum(axis=1) == pytest.approx(1.0)
        assert blend(lifts, np.zeros(learners), prior) == pytest.approx(0.0, abs=1e-12)

    def test_the_weights_are_the_best_of_a_grid(self):
        rng = np.random.default_rng(0)
        truth = rng.normal(size=(3_000, 1)) * [1.0, -1.0]
        prior = np.array([0.5, 0.5])
        s = (rng.random(3_000) > np.exp(log_softmax(truth, axis=1))[:, 0]).astype(np.int64)
        lifts = np.stack([2 * truth, rng.normal(size=(3_000, 2))])
        found = best_weights(lifts, s, prior)
        grid = np.linspace(0, 1, 41)
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
        for seed in range(60):
            rng = np.random.default_rng(seed)
            d = SAMPLERS[("mixed", "gauss2", "discrete")[seed % 3]](150, rng)
            s = rng.permutation(d.s)
            fitted = AutoLogLift(learners=("linear", "counts"), folds=3, random_state=seed).fit(d.X, s)
            verdicts[evidence_of(fitted, s).verdict] += 1
        # 5% of 60 are 3; eight or more would come once in a hundred.
        assert verdicts["leak"] <= 7
        assert verdicts["leak"] + verdicts["no leak detected"] == 60

    def test_a_weak_leak_is_seen(self):
        seen = 0
        for seed in range(10):
            X, s = logistic(1_000, 0.35, seed=seed)
            fitted = AutoLogLift(learners=("linear",), folds=3, random_state=0).fit(X, s)
            seen += evidence_of(fitted, s).verdict == "leak"
        assert seen >= 9

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
            assert ((high - fitted.log_lift(X)).max(), (fitted.log_lift(X) - low).min()) >= (0, 1.9 * np.sqrt(3 / n))

    def test_drawn_secrets_follow_the_posteriors(self):
        lift = np.tile(np.log([[1.6, 0.4]]), (20_000, 1))
        drawn = redrawn(lift, np.array([0.5, 0.5]), np.random.default_rng(0))
        assert drawn.mean() == pytest.approx(0.2, abs=0.015)

    def test_the_stretch_covers_what_it_aims_at(self):
        rng = np.random.default_rng(0)
        spread = rng.uniform(0.1, 1.0, size=(5_000, 1))
        known = np.zeros((5_000, 1))
        factor = stretch(3 * spread * rng.normal(size=(5_000, 1)), known, spread)
        # Errors three times as wide as the spread, at 98% instead of 95%.
        assert factor == pytest.approx(3 * 2.326 / 1.96, rel=0.05)


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

    @pytest.mark.parametrize("secrets", [2, 4])
    def test_boosted_trees_as_arrays_say_what_scikit_learns_say(self, secrets):
        rng = np.random.default_rng(0)
        ordinal = np.column_stack([rng.normal(size=600), rng.integers(6, size=600) * 2.0, rng.integers(9, size=600)])
        ordinal[::7, 0] = ordinal[::9, 1] = np.nan
        s = (np.nan_to_num(ordinal[:, 1]).astype(int) // 2 + rng.integers(2, size=600)) % secrets
        parts = (np.arange(500), np.arange(500, 600))
        model = train_trees(ordinal, np.array([False, True, True]), s, *parts, secrets=secrets, random_state=0)
        fresh = np.column_stack([rng.normal(size=200) * 3, rng.integers(20, size=200), rng.integers(9, size=200)])
        fresh[::5, :] = np.nan
        assert len(model.classifier._predictors) > 3
        np.testing.assert_allclose(model.portable().log_posterior(fresh), model.log_posterior(fresh), atol=1e-12)

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
        with pytest.raises(SourceError, match=r"Strange, which no model"):
            load_model(tmp_path / "model.tacit")
        (tmp_path / "model.tacit").write_bytes(skops.io.dumps(partial(print, "run")))
        with pytest.raises(SourceError, match=r"which no model"):
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
