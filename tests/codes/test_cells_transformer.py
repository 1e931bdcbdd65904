"""``Cells`` in the world of scikit-learn, and the secret that no transformer takes from a pipeline's target."""

from __future__ import annotations

import copy
import pickle
from collections import Counter

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
import sklearn
from sklearn.base import clone
from sklearn.compose import ColumnTransformer
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder

from scikit_checks import some_checks
from sizes import few, many
from tacit import ArgumentError, Cells, ColumnError, CountLogLift, DataError, Watchdog
from tacit.learn import FeatureObfuscator


def people(n: int = 300, seed: int = 0):
    """Age and town tell an illness, pay does not; whether somebody commutes follows from town and pay."""
    rng = np.random.default_rng(seed)
    age, town = rng.integers(18, 80, n), rng.choice(["north", "south", "west"], n)
    pay = rng.normal(30, 8, n).round(1)
    ill = np.where(rng.random(n) < 1 / (1 + np.exp(-(age - 50) / 10)), "ill", "well")
    commutes = (town == "west") | (pay > 35)
    return pd.DataFrame({"age": age, "town": town, "pay": pay}, index=np.arange(n) * 2), ill, commutes


def arrow(frame: pd.DataFrame) -> pa.Table:
    return pa.Table.from_pandas(frame, preserve_index=False)


def counted(released: pd.DataFrame, secret: np.ndarray) -> tuple[float, int]:
    """The largest absolute log-lift of a secret in what is written, and the fewest records that share it."""
    rows = [tuple(row) for row in released.itertuples(index=False)]
    pairs, written, prior = Counter(zip(rows, secret, strict=True)), Counter(rows), Counter(secret)
    n = len(rows)
    lifts = [np.log(max(pairs[row, s], 1e-300) * n / (written[row] * prior[s])) for row in written for s in prior]
    return float(np.abs(lifts).max()), min(written.values())


@some_checks(Cells(y_is="secret", write="means"), *[Cells(y_is="secret")] * many(0, 1), keep=16)
def test_scikit_learn_accepts_it(estimator, check):
    try:
        check(estimator)
    except TypeError as refused:
        # It compares by subtracting, and levels are texts; the same is asked of them below.
        if "'str' and 'str'" not in str(refused):
            raise


@pytest.fixture(scope="module")
def fitted():
    """Fitted on the people, and what it tells of them."""
    X, ill, _ = people()
    made = Cells(epsilon=0.5).fit(X, secret=ill)
    return made, made.transform(X)


class TestTheSecret:
    @pytest.mark.parametrize("made", [Cells(), Watchdog(), FeatureObfuscator()], ids=lambda made: type(made).__name__)
    def test_the_target_of_a_pipeline_is_not_taken_for_it(self, made):
        X, ill, _ = people(60)
        ways = r"not assumed to be the secret.*set_fit_request\(secret=True\).*secret='race'.*y_is='secret'"
        with pytest.raises(ArgumentError, match=ways):
            make_pipeline(made, LogisticRegression()).fit(X, ill)
        with pytest.raises(ArgumentError, match="was not given the secret"):
            clone(made).fit(X)

    @pytest.mark.parametrize("kind", few([pd.DataFrame, pl.from_pandas, "array", arrow], 2))
    def test_it_is_given_to_fit_or_is_a_column_or_the_target_and_all_are_the_same(self, kind, fitted):
        X, ill, _ = people()
        table = X.assign(illness=ill)
        frame = table.to_numpy(dtype=object) if kind == "array" else kind(table)
        column = Cells(epsilon=0.5, secret=-1 if kind == "array" else "illness").fit(frame)
        assert column.get_feature_names_out().tolist() == (
            ["x0", "x1", "x2"] if kind == "array" else ["age", "town", "pay"]
        )
        for records in (frame, frame[:, :3] if kind == "array" else kind(X)):
            assert np.array_equal(np.asarray(column.transform(records)), np.asarray(fitted[1]))

    def test_the_target_is_the_secret_if_that_is_said(self, fitted):
        X, ill, _ = people()
        pd.testing.assert_frame_equal(Cells(epsilon=0.5, y_is="secret").fit(X, ill).transform(X), fitted[1])

    def test_what_is_missing_is_a_secret_like_any_other(self):
        X, ill, _ = people()
        gaps = np.where(np.arange(len(X)) % 3 == 0, None, ill)
        made = Cells(epsilon=0.5).fit(X, secret=gaps)
        assert counted(made.transform(X), np.array([str(s) for s in gaps]))[0] == pytest.approx(made.epsilon_)

    @pytest.mark.parametrize(
        ("words", "given", "match"),
        [
            ({"secret": "town"}, {"secret": "ill"}, "given twice"),
            ({"y_is": "secret", "secret": "town"}, {}, "given twice"),
            ({"secret": "twon"}, {}, "did you mean 'town'"),
            ({"y_is": "use"}, {"secret": "ill"}, "requires y"),
            ({"y_is": "target"}, {"secret": "ill"}, "y_is is"),
            ({"epsilon": -1.0}, {"secret": "ill"}, "epsilon"),
            ({"least": 0}, {"secret": "ill"}, "least"),
            ({"write": "words"}, {"secret": "ill"}, "write"),
            ({"unseen": "drop"}, {"secret": "ill"}, "unseen is"),
            ({"known": "agee"}, {"secret": "ill"}, "did you mean 'age'"),
        ],
    )
    def test_what_cannot_be_meant_is_refused(self, words, given, match):
        X, ill, _ = people(60)
        with pytest.raises(ArgumentError, match=match):
            Cells(**words).fit(X, secret=ill if given else None)

    def test_a_secret_for_each_record_is_needed(self):
        X, ill, _ = people(60)
        with pytest.raises(ValueError, match="inconsistent numbers"):
            Cells().fit(X, secret=ill[:-1])


class TestWhatIsTold:
    @pytest.mark.parametrize(("epsilon", "write"), [(0.2, "text"), (0.7, "means")])
    def test_training_records_keep_epsilon_and_least_and_both_are_as_counted(self, epsilon, write):
        X, ill, _ = people()
        made = Cells(epsilon=epsilon, least=12, write=write).fit(X, secret=ill)
        found, fewest = counted(made.transform(X), ill)
        assert 1 < made.n_cells_ < 40
        assert made.least_ == fewest >= 12
        assert made.epsilon_ == pytest.approx(found)
        assert made.epsilon_ <= epsilon

    def test_inside_what_is_known_the_bound_holds_too(self):
        X, ill, _ = people(800)
        made = Cells(epsilon=0.6, known=["town"]).fit(X, secret=ill)
        told = made.transform(X)
        inside = [counted(told[told.town == town], ill[told.town == town])[0] for town in set(told.town)]
        assert len(inside) > 1
        assert max(inside) == pytest.approx(made.epsilon_)
        assert made.epsilon_ <= 0.6

    def test_means_stay_numbers_and_levels_are_as_wished(self):
        X, ill, _ = people()
        assert Cells(write="means").fit(X, secret=ill).transform(X).dtypes.astype(str)["pay"] == "float64"
        told = Cells(epsilon=2.0, levels={"age": 10, "pay": "whole"}).fit(X, secret=ill).transform(X)
        assert set(told.pay) == {"any"}
        assert {text.split()[0][-1] for text in told.age} == {"0", "9"}

    def test_the_target_may_be_what_readers_want(self):
        X, ill, commutes = people(800)
        lost = []
        for words in ({}, {"y_is": "use"}):
            told = Cells(epsilon=0.4, least=100, **words).fit(X, commutes, secret=ill).transform(X)
            shares = (
                pd.Series(commutes, index=X.index).groupby([told[c] for c in told]).transform("mean").clip(0.01, 0.99)
            )
            lost.append(-np.log(np.where(commutes, shares, 1 - shares)).mean())
        assert lost[1] < 0.2 * lost[0]

    def test_what_is_written_is_true_of_records_beyond_those_it_learned_from(self):
        X, ill, _ = people()
        told = Cells(levels={"age": 10}).fit(X, secret=ill).transform(X.assign(age=[200, -5] * 150))
        assert {text.split(" ", 1)[1] for text in told.age if text != "any"} == {"and over", "and under"}
        halves = Cells(levels={"age": 10}).fit(X, secret=ill).transform(X.assign(age=X.age + 0.5))
        assert not {text for text in halves.age if " to " in text and "under" not in text}

    def test_what_was_not_met_is_refused_or_joins_the_rest(self):
        X, ill, _ = people()
        new = X[:4].assign(town=[X.town.iloc[0], "east", None, "south"])
        with pytest.raises(DataError, match="town"):
            Cells().fit(X, secret=ill).transform(new)
        made = Cells(unseen="join").fit(X, secret=ill)
        told = made.transform(new).town.tolist()
        assert told[1] == "any" or "another value" in told[1]
        assert told[2] == "any" or "missing" in told[2]
        assert made.transform(X).town.iloc[0] == told[0]


class TestInTheWorldOfScikitLearn:
    def test_copies_and_parts_of_the_table_are_told_alike(self, fitted):
        (X, ill, _), (made, told) = people(), fitted
        for other in (pickle.loads(pickle.dumps(made)), clone(made).fit(X, secret=ill)):
            pd.testing.assert_frame_equal(other.transform(X), told)
        pd.testing.assert_frame_equal(made.transform(X[::-3]), told[::-3])

    @pytest.mark.parametrize("frame", [pd.DataFrame, pl.from_pandas, arrow])
    def test_frames_stay_what_they_are_unless_others_are_asked_for(self, frame, fitted):
        given, made = frame(people()[0]), copy.copy(fitted[0])
        assert type(made.transform(given)) is type(given)
        for name, kind in (("pandas", pd.DataFrame), ("polars", pl.DataFrame)):
            told = made.set_output(transform=name).transform(given)
            assert isinstance(told, kind)
            assert list(told.columns) == ["age", "town", "pay"]
            assert np.array_equal(np.asarray(told), np.asarray(fitted[1]))

    @pytest.mark.long
    def test_a_pipeline_routes_the_secret_and_is_cross_validated(self):
        X, ill, commutes = people()
        model = LogisticRegression()
        with sklearn.config_context(enable_metadata_routing=True):
            cells = Cells(epsilon=0.7, unseen="join").set_fit_request(secret=True)
            pipe = make_pipeline(cells, OneHotEncoder(handle_unknown="ignore"), model)
            scores = cross_val_score(pipe, X, commutes, params={"secret": ill}, cv=2)
        assert scores.min() > 0.6
        pipe = make_pipeline(Cells(epsilon=0.7, unseen="join"), OneHotEncoder(handle_unknown="ignore"), model)
        again = cross_val_score(pipe, X, commutes, params={"cells__secret": ill}, cv=2)
        assert (again == scores).all()

    def test_a_watchdog_in_a_pipeline_takes_the_routed_secret_and_not_the_target(self):
        X, ill, commutes = people()
        with sklearn.config_context(enable_metadata_routing=True):
            dog = Watchdog(epsilon=0.4, estimator=CountLogLift(), random_state=0).set_fit_request(secret=True)
            pipe = make_pipeline(dog, OneHotEncoder(), LogisticRegression()).fit(X[["town"]], commutes, secret=ill)
        assert pipe[0].estimator_.secrets_.tolist() == ["ill", "well"]

    def test_some_columns_go_through_it_beside_others(self):
        X, ill, commutes = people()
        with sklearn.config_context(enable_metadata_routing=True):
            cells = Cells(write="means").set_fit_request(secret=True)
            both = ColumnTransformer([("cells", cells, ["age", "pay"]), ("rest", "passthrough", ["town"])])
            out = both.set_output(transform="pandas").fit_transform(X, commutes, secret=ill)
        assert list(out.columns) == ["cells__age", "cells__pay", "rest__town"]
        assert out.index.equals(X.index)
        assert out["cells__pay"].nunique() < X.pay.nunique() / 2

    def test_columns_of_one_name_and_arrays_of_mixed_types_are_told_what_is_wrong(self):
        X, ill, _ = people(60)
        with pytest.raises(ColumnError, match="no column 'race'"):
            Cells(secret="race").fit(X)
        with pytest.raises(ArgumentError, match="no column 7"):
            Cells(secret=7).fit(X.to_numpy())
        with pytest.raises(DataError, match="several types"):
            Cells().fit(np.array([["a"], [1]] * 30, dtype=object), secret=ill)
