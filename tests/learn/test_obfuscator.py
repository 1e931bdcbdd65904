"""Obfuscation of leaking cells: what is flagged, what it becomes, and what stays as it was."""

from __future__ import annotations

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from known_lift import SAMPLERS
from scipy.stats import kstest
from sklearn.base import clone
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.utils.estimator_checks import parametrize_with_checks

from sizes import few, many
from tacit import ArgumentError, DataError
from tacit.learn import FeatureObfuscator, PrefixLogLift

QUICK = PrefixLogLift(epochs=20, random_state=0)


def mixed(n: int = 400, seed: int = 0):
    return SAMPLERS["mixed"](n, np.random.default_rng(seed))


def numbers(n: int = 1_500, seed: int = 0):
    """Three columns: the first leaks much, the second a little, the third nothing."""
    rng = np.random.default_rng(seed)
    s = rng.integers(2, size=n)
    return np.column_stack([2.0 * s, 0.3 * s, 0.0 * s]) + rng.normal(size=(n, 3)), s


@pytest.fixture(scope="module")
def noised():
    s = np.arange(20_000) % 2
    X = s[:, None].astype(float)
    estimator = PrefixLogLift(epochs=4, hidden=(8, 8), random_state=0)
    out = FeatureObfuscator(estimator, epsilon=0.01, scale=1.7, rounds=0, random_state=1).fit(X, secret=s).obfuscate(X)
    assert out.flags.all()
    return (out.values - X).ravel()


@pytest.fixture(scope="module")
def quick():
    """Fitted on the three columns, with a secure source of noise."""
    return FeatureObfuscator(QUICK, epsilon=0.5, y_is="secret").fit(*numbers())


@pytest.mark.long
@parametrize_with_checks(
    [
        FeatureObfuscator(PrefixLogLift(epochs=many(5, 20), random_state=0), y_is="secret", epsilon=0.2),
        *[FeatureObfuscator(QUICK, y_is="secret", rounds=0)] * many(0, 1),
    ]
)
def test_scikit_learn_accepts_it(estimator, check):
    check(estimator)


class TestWhatIsFlagged:
    def test_cells_that_are_not_flagged_stay_as_they_are(self, quick):
        X, _ = numbers()
        out = quick.obfuscate(X)
        assert (out.values[~out.flags] == X[~out.flags]).all()
        assert (out.values[out.flags] != X[out.flags]).mean() > 0.99
        assert out.flags.mean(axis=0)[0] > 0.4
        assert out.flags.mean(axis=0)[2] < 0.05
        assert out.touched == pytest.approx(out.flags.mean())

    @pytest.mark.long
    @pytest.mark.parametrize("rounds", few([1, 0]))
    def test_the_copy_of_a_noised_feature_is_not_released_raw(self, rounds):
        # Counterexample C of the theory: given the raw first feature its copy says nothing more, and the paper's
        # mechanism lets it through. Given what was released of the first, the copy says everything.
        s = np.arange(1_200) % 2
        X = np.column_stack([s, s]).astype(float)
        raw = PrefixLogLift(clip=3.0, epochs=30, random_state=0).fit(X, s)
        assert np.abs(raw.feature_log_lift(X)[:, 1]).max() < 0.1
        out = (
            FeatureObfuscator(clone(raw), epsilon=0.1, scale=2.0, rounds=rounds, random_state=0)
            .fit(X, secret=s)
            .obfuscate(X)
        )
        assert out.flags[:, 0].all()
        assert out.flags[:, 1].mean() > 0.95

    def test_what_is_released_tells_an_adversary_less(self):
        X, s = numbers(many(800, 2_000))
        fresh, secret = numbers(2_000, seed=1)
        obfuscator = FeatureObfuscator(QUICK, epsilon=0.3, scale=8.0, random_state=0).fit(X, secret=s)
        before = LogisticRegression().fit(X, s).score(fresh, secret)
        # Trained on releases, and told nothing of the flags but what can be seen.
        after = LogisticRegression().fit(obfuscator.transform(X), s).score(obfuscator.transform(fresh), secret)
        assert before > 0.8
        assert after < before - 0.1

    @pytest.mark.long
    def test_a_cell_unlike_any_that_was_learned_from_is_flagged(self):
        d = mixed()
        obfuscator = FeatureObfuscator(QUICK, epsilon=50.0).fit(d.X, secret=d.s)
        strange = d.X.head(4).copy()
        strange.loc[0, "trade"] = "acrobat"
        strange.loc[1, "age"] = 1e6
        strange.loc[2, "income"] = np.nan
        out = obfuscator.obfuscate(strange)
        assert np.argwhere(out.flags).tolist() == [[0, 0], [1, 3], [2, 4]]
        assert out.values.loc[0, "trade"] in set(d.X.trade)
        assert np.isfinite(out.values.loc[2, "income"])
        assert out.values.loc[1, "age"] < 1_000

    def test_the_order_counts_and_may_be_by_leak(self):
        s = np.arange(1_200) % 2
        rng = np.random.default_rng(0)
        X = np.column_stack([s + rng.normal(size=1_200), 4 * s + rng.normal(size=1_200)])
        obfuscator = FeatureObfuscator(QUICK, order="leak", rounds=0).fit(X, secret=s)
        assert obfuscator.order_.tolist() == [1, 0]
        assert clone(obfuscator).set_params(order=[0, 1]).fit(X, secret=s).order_.tolist() == [0, 1]


class TestTheNoise:
    def test_it_is_gaussian_of_the_scale(self, noised):
        assert kstest(noised / 1.7, "norm").pvalue > 1e-4

    @pytest.mark.parametrize("factor", [0.9, 1.1])
    def test_a_scale_wrong_by_a_tenth_would_be_noticed(self, noised, factor):
        assert kstest(noised / (1.7 * factor), "norm").pvalue < 1e-6

    def test_it_lies_on_a_grid_whatever_the_value(self):
        X, s = numbers(600)
        obfuscator = FeatureObfuscator(QUICK, epsilon=0.1, scale=1.0, rounds=0).fit(X, secret=s)
        out = obfuscator.obfuscate(X)
        step = obfuscator.noise_[1.0].step
        assert (out.values[out.flags] % step == 0).all()

    def test_without_a_seed_it_is_secure_and_new_every_time(self, quick):
        X, _ = numbers()
        first, second = quick.obfuscate(X), quick.obfuscate(X)
        both = first.flags & second.flags
        assert both.any()
        assert (first.values[both] != second.values[both]).mean() > 0.9

    @pytest.mark.long
    def test_with_a_seed_it_is_repeatable(self):
        X, s = numbers(300)
        first, second = (
            FeatureObfuscator(QUICK, epsilon=0.1, random_state=3).fit(X, secret=s).transform(X) for _ in range(2)
        )
        assert (first == second).all()

    def test_a_wanted_delta_gives_the_scale_by_the_diameter_of_the_group(self):
        X, s = numbers(300)
        estimator = clone(QUICK).set_params(groups=[0, 0, 1])
        obfuscator = FeatureObfuscator(estimator, epsilon=0.5, delta=0.2384, rounds=0).fit(X, secret=s)
        width = np.ptp(X, axis=0)
        diameter = np.array([np.hypot(width[0], width[1]), width[2]])
        assert (obfuscator.scale_ >= diameter * 0.999).all()
        assert (obfuscator.scale_ <= diameter * 1.07).all()
        assert FeatureObfuscator(estimator, rounds=0).fit(X, secret=s).scale_ == pytest.approx(diameter, rel=0.07)


class TestRedrawnCategories:
    @pytest.mark.long
    def test_the_redraw_does_not_look_at_the_cell_or_the_secret(self):
        rng = np.random.default_rng(0)
        x = rng.choice(4, size=6_000)
        s = (rng.random(6_000) < np.array([0.05, 0.5, 0.9, 0.97])[x]).astype(int)
        X = pd.DataFrame({"town": np.array(["a", "b", "c", "d"])[x]})
        out = FeatureObfuscator(QUICK, epsilon=0.3, rounds=0, random_state=0).fit(X, secret=s).obfuscate(X)
        flagged = out.flags[:, 0]
        assert 0.6 < flagged.mean() < 0.9
        assert (out.values.town[~flagged] == X.town[~flagged]).all()
        for other in (X.town[flagged], pd.Series(s, index=X.index)[flagged]):
            table = pd.crosstab(other, out.values.town[flagged]).to_numpy()
            expected = table.sum(axis=1, keepdims=True) * table.sum(axis=0) / table.sum()
            # At most four degrees of freedom; less than once in a million.
            assert ((table - expected) ** 2 / expected).sum() < 34
        assert set(out.values.town[flagged]) == set(X.town[flagged])

    @pytest.mark.parametrize(
        "frame", few([pl.from_pandas, lambda X: X, pa.Table.from_pandas]), ids=few(["polars", "pandas", "arrow"])
    )
    def test_frames_stay_what_they_are(self, frame):
        d = mixed()
        d.X.index = np.arange(len(d.X)) + 7
        X = frame(d.X)
        out = FeatureObfuscator(QUICK, epsilon=0.2, random_state=0).fit(X, secret=d.s).obfuscate(X)
        assert type(out.values) is type(X)
        values = out.values if isinstance(out.values, pd.DataFrame) else out.values.to_pandas()
        assert list(values.columns)[:6] == list(d.X.columns)
        for j, name in enumerate(d.X.columns):
            kept = ~out.flags[:, j]
            assert (values[name].to_numpy()[kept] == d.X[name].to_numpy()[kept]).all()
        if isinstance(X, pd.DataFrame):
            assert (values.index == d.X.index).all()

    def test_groups_may_hold_numbers_and_categories(self):
        d = mixed()
        estimator = clone(QUICK).set_params(groups=[0, 0, 1, 1, 0, 1])
        out = FeatureObfuscator(estimator, epsilon=0.1, random_state=0).fit(d.X, secret=d.s).obfuscate(d.X)
        flagged = out.flags[:, 0]
        assert flagged.any()
        assert (out.values.income[flagged] != d.X.income[flagged]).all()
        assert out.touched == pytest.approx(out.flags.mean())


class TestWhatIsSaid:
    @pytest.mark.long
    def test_the_bound_counts_the_fact_of_noise(self):
        # Counterexample B: a record with the rare secret is noised ten times as often, and no noise hides that.
        rng = np.random.default_rng(0)
        s = (np.arange(20_000) % 100 == 0).astype(int)
        x = (rng.random(20_000) < np.where(s == 1, 0.5, 0.05)).astype(float)
        estimator = PrefixLogLift(epochs=20, random_state=0)
        out = (
            FeatureObfuscator(estimator, epsilon=0.8, scale=1e4, rounds=0)
            .fit(x[:, None], secret=s)
            .obfuscate(x[:, None])
        )
        assert out.flags[:, 0].tolist() == (x == 1).tolist()
        b = out.flags[s == 1].mean() - np.exp(0.8) * out.flags.mean()
        assert out.delta[0] == pytest.approx(b, abs=0.01)
        assert not out.vacuous[0]

    def test_where_the_bound_says_nothing_it_is_called_vacuous(self):
        s = np.arange(600) % 2
        X = np.repeat(s[:, None].astype(float), 8, axis=1)
        out = FeatureObfuscator(QUICK, epsilon=0.1, scale=0.1, rounds=0).fit(X, secret=s).obfuscate(X)
        assert out.delta[0] > 0.85
        assert out.vacuous[0]
        assert out.total_vacuous
        assert out.total_epsilon == pytest.approx(0.8)

    def test_what_is_not_flagged_has_no_bound_to_pay(self):
        X, s = numbers(300)
        out = FeatureObfuscator(QUICK, epsilon=50.0, rounds=0).fit(X, secret=s).obfuscate(X)
        assert (out.delta == 0).all()
        assert out.touched == 0


class TestInTheWorldOfScikitLearn:
    def test_it_works_in_a_pipeline_and_with_named_output(self):
        d = mixed()
        X = d.X[["age", "income", "score"]]
        obfuscator = FeatureObfuscator(QUICK, epsilon=0.2, random_state=0).set_output(transform="pandas")
        assert list(obfuscator.fit(X, secret=d.s).transform(X).columns) == ["age", "income", "score"]
        pipe = make_pipeline(clone(obfuscator), LogisticRegression()).fit(X, d.s, featureobfuscator__secret=d.s)
        assert 0.4 < pipe.score(X, d.s) < 0.9

    def test_cross_fitting_judges_training_records_by_networks_that_did_not_see_them(self):
        rng = np.random.default_rng(0)
        X, s = rng.normal(size=(400, 10)), rng.integers(2, size=400)
        estimator = PrefixLogLift(cross_fit=2, epochs=20, random_state=0)
        assert FeatureObfuscator(estimator, epsilon=0.5).fit(X, secret=s).flag_share_.mean() < 0.1

    @pytest.mark.parametrize(
        "words",
        [
            {"epsilon": -1.0},
            {"scale": 1.0, "delta": 0.1},
            {"delta": 1.5},
            {"scale": 0.0},
            {"scale": [1.0]},
            {"rounds": -1},
            {"order": "best"},
            {"estimator": LogisticRegression()},
        ],
    )
    def test_wrong_words_are_refused(self, words):
        X, s = numbers(50)
        with pytest.raises(ArgumentError):
            FeatureObfuscator(**{"estimator": QUICK, **words}).fit(X, secret=s)

    def test_times_are_refused_with_the_way_out(self):
        X = pd.DataFrame({"born": pd.to_datetime(["2000-01-01"] * 4)})
        with pytest.raises(DataError, match="'born' holds times"):
            FeatureObfuscator(QUICK).fit(X, secret=[0, 1, 0, 1])
