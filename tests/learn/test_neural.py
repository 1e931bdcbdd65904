"""Networks that learn log-lift: what they maximise, what they give, and that no record judges itself."""

from __future__ import annotations

import subprocess
import sys
from importlib.util import find_spec
from math import exp, log
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st
from hypothesis.extra import numpy as hnp
from scipy import sparse
from scipy.optimize import minimize
from sklearn.base import clone
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.utils.estimator_checks import parametrize_with_checks

from sizes import many
from strategies import joints
from tacit.errors import ArgumentError
from tacit.learn import OBJECTIVES, NeuralLogLift, objective_value
from tacit.learn.crossfitting import crossfit
from tacit.learn.nets import networks
from tacit.lift import Joint, mutual_information

COUNTS = np.array([[12, 2, 6, 1, 19], [4, 16, 6, 8, 6], [4, 2, 18, 21, 15]])
EXTRAS = {"jax", "torch", "tensorflow"}
QUICK: dict[str, Any] = {
    "hidden": (16,),
    "folds": 2,
    "doubt": False,
    "members": 1,
    "steps": 200,
    "learning_rate": 0.01,
    "batch_size": 64,
    "random_state": 0,
}


def quick(**changes: Any) -> NeuralLogLift:
    return NeuralLogLift(**(QUICK | changes))


def to_the_end(**changes: Any) -> NeuralLogLift:
    """One network that sees every record in every step and fits them as well as it can."""
    whole = {"batch_size": None, "folds": 0, "patience": None, "weight_decay": 0.0, "steps": 600}
    return quick(**(whole | changes))


def sampled(counts: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """One record a count, its secret, and the log-lift of the table's own joint for every record."""
    s, x = np.nonzero(counts)
    times = counts[s, x]
    joint = counts / counts.sum()
    lift = np.log(joint / joint.sum(axis=1, keepdims=True) / joint.sum(axis=0))
    records = np.repeat(x, times)
    return np.array([f"v{value}" for value in records])[:, None], np.repeat(s, times), lift.T[records]


def noisy(n: int = 200, *, shift: float = 1.0) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(3)
    s = rng.integers(2, size=n)
    return rng.normal(size=(n, 3)) + shift * s[:, None], s


def slow_value(name: str, h: np.ndarray, joint: np.ndarray) -> float:
    """By definition, cell by cell: DV, the mean log posterior over prior, or E_P[f'(t)] - E_Q[f*(f'(t))], t = e^h."""
    f = {
        "nwj": (lambda t: t * log(t), lambda t: 1 + log(t)),
        "chi2": (lambda t: (t - 1) ** 2, lambda t: 2 * (t - 1)),
        "js": (lambda t: t * log(t) - (t + 1) * log((t + 1) / 2), lambda t: log(2 * t / (t + 1))),
        "hellinger": (lambda t: (t**0.5 - 1) ** 2, lambda t: 1 - t**-0.5),
    }
    ps, px = joint.sum(axis=1), joint.sum(axis=0)
    under_joint = under_product = 0.0
    for s in range(joint.shape[0]):
        for x in range(joint.shape[1]):
            t = exp(h[x, s])
            if name in ("dv", "tide"):
                under_joint += joint[s, x] * h[x, s]
                under_product += ps[s] * px[x] * t
            elif name == "ce":
                under_joint += joint[s, x] * log(t / sum(ps[r] * exp(h[x, r]) for r in range(len(ps))))
            else:
                value, slope = f[name]
                under_joint += joint[s, x] * slope(t)
                under_product += ps[s] * px[x] * (t * slope(t) - value(t))
    return under_joint - (log(under_product) if name in ("dv", "tide") else under_product)


def exact(name: str, h: np.ndarray, joint: np.ndarray) -> float:
    px = joint.sum(axis=0)
    return objective_value(name, h, (joint / px).T, prior=joint.sum(axis=1), weight=px)


@pytest.mark.parametrize("name", OBJECTIVES)
@given(joint=joints(), data=st.data())
@settings(max_examples=many(8, 20))
def test_every_objective_equals_its_definition(name: str, joint: Joint, data: st.DataObject) -> None:
    shape = joint.matrix.shape[::-1]
    h = data.draw(hnp.arrays(np.float64, shape, elements=st.floats(-3, 3)))
    assert exact(name, h, joint.matrix) == pytest.approx(slow_value(name, h, joint.matrix), abs=1e-9)


@pytest.mark.parametrize("name", ["dv", "tide", "nwj", "ce"])
@given(joint=joints(), data=st.data())
@settings(max_examples=many(10, 30))
def test_a_bound_never_exceeds_the_mutual_information_and_the_true_log_lift_reaches_it(
    name: str, joint: Joint, data: st.DataObject
) -> None:
    P = joint.matrix
    truth = np.log(P / P.sum(axis=1, keepdims=True) / P.sum(axis=0)).T
    h = data.draw(hnp.arrays(np.float64, truth.shape, elements=st.floats(-8, 8)))
    information = mutual_information(joint)
    assert exact(name, h, P) <= information + 1e-9
    assert exact(name, truth, P) == pytest.approx(information, abs=1e-9)


@pytest.mark.parametrize("name", OBJECTIVES)
def test_every_step_away_from_the_true_log_lift_lowers_the_objective_or_is_free(name: str) -> None:
    P = COUNTS / COUNTS.sum()
    truth = np.log(P / P.sum(axis=1, keepdims=True) / P.sum(axis=0)).T
    best = exact(name, truth, P)
    away = truth.copy()
    away[2, 1] += 0.1
    assert exact(name, away, P) < best - 1e-6
    by_record = truth + 0.3 * np.arange(5)[:, None]
    by_constant = truth + 0.5
    free = OBJECTIVES[name].free
    assert (exact(name, by_record, P) == pytest.approx(best)) is (free == "record")
    assert (exact(name, by_constant, P) == pytest.approx(best)) is (free in ("record", "constant"))


def test_padding_records_of_share_zero_change_nothing_nor_does_the_scale_of_weights() -> None:
    h, posterior, prior = np.array([[0.3, -0.2], [1.0, 0.1]]), np.eye(2), np.array([0.5, 0.5])
    more = np.vstack([h, [[2.0, 2.0]]]), np.vstack([posterior, [[1.0, 0.0]]])
    for name in OBJECTIVES:
        alone = objective_value(name, h, posterior, prior=prior)
        assert objective_value(name, *more, prior=prior, weight=np.array([1, 1, 0])) == pytest.approx(alone)
        assert objective_value(name, h, posterior, prior=prior, weight=np.array([0.5, 0.5])) == pytest.approx(alone)


@pytest.mark.parametrize("objective", OBJECTIVES)
def test_training_finds_the_log_lift_of_a_small_joint(objective: str) -> None:
    X, s, truth = sampled(COUNTS)
    clip = 5.0 if objective == "tide" else None
    found = to_the_end(objective=objective, clip=clip).fit(X, s).log_lift(X)
    assert np.abs(found - truth).max() < 0.02
    assert np.abs(truth).max() > 1


def test_without_normalising_dv_is_off_by_one_constant_and_the_constant_mends_it() -> None:
    X, s, truth = sampled(COUNTS)
    raw = to_the_end(objective="dv", normalise="none").fit(X, s).log_lift(X)
    assert np.ptp(raw - truth) < 0.04
    assert np.abs(raw - truth).min() > 0.05
    mended = to_the_end(objective="dv", normalise="constant").fit(X, s).log_lift(X)
    assert np.abs(mended - truth).max() < 0.04
    prior = np.bincount(s) / len(s)
    assert (prior * np.exp(mended)).sum(axis=1).mean() == pytest.approx(1, abs=1e-12)


def test_the_secret_as_input_finds_the_same() -> None:
    X, s, truth = sampled(COUNTS)
    found = to_the_end(objective="dv", secret_as="input").fit(X, s)
    assert (
        found.networks_[0][0].shape[0]
        == found.encoder_.design(found.encoder_.encode(found._cells(X, reset=False))).shape[1] + 3
    )
    assert np.abs(found.log_lift(X) - truth).max() < 0.02


@pytest.mark.parametrize("normalise", ["record", "constant", "none"])
@pytest.mark.parametrize("objective", ["tide", "nwj"])
def test_no_log_lift_exceeds_the_clip_and_some_reach_it(objective: str, normalise: Any) -> None:
    X, s, truth = sampled(COUNTS)
    found = to_the_end(objective=objective, clip=0.5, normalise=normalise, steps=200).fit(X, s).log_lift(X)
    assert np.abs(found).max() <= 0.5
    assert np.abs(truth).max() > 0.5
    assert np.abs(found).max() > 0.4


def test_tide_maximises_under_the_clip_which_is_more_than_to_trim_the_true_log_lift() -> None:
    X, s, _ = sampled(COUNTS)
    P = COUNTS / COUNTS.sum()
    lift = np.log(P / P.sum(axis=1, keepdims=True) / P.sum(axis=0)).T
    best = -minimize(
        lambda h: -exact("dv", h.reshape(lift.shape), P), np.zeros(lift.size), bounds=[(-1, 1)] * lift.size
    ).fun
    found = to_the_end(objective="tide", clip=1.0, normalise="none").fit(X, s).log_lift(X)
    reached = objective_value("dv", found, np.eye(3)[s], prior=np.bincount(s) / len(s))
    assert reached == pytest.approx(best, abs=2e-4)
    assert exact("dv", lift.clip(-1, 1), P) < best - 1e-3


def test_normalised_by_record_the_posteriors_add_up_to_one() -> None:
    X, s = noisy()
    found = quick(folds=3, members=2).fit(X, s)
    for lift in (found.log_lift(X), found.out_of_fold_log_lift_):
        np.testing.assert_allclose((found.prior_ * np.exp(lift)).sum(axis=1), 1, rtol=0, atol=1e-12)


def test_the_same_seed_gives_the_same_networks_and_another_seed_others() -> None:
    X, s = noisy()
    first, again, other = (quick(random_state=seed).fit(X, s).log_lift(X) for seed in (1, 1, 2))
    np.testing.assert_array_equal(first, again)
    assert np.abs(first - other).max() > 1e-3
    shared = np.random.RandomState(1)
    one, two = (quick(random_state=shared).fit(X, s).log_lift(X) for _ in range(2))
    assert np.abs(one - two).max() > 1e-3


def test_out_of_fold_random_secrets_are_not_believed_though_the_networks_remember_them() -> None:
    rng = np.random.default_rng(5)
    X, s = rng.normal(size=(120, 8)), rng.integers(2, size=120)
    rows = np.arange(len(s))
    assert quick(patience=None, folds=0).fit(X, s).score(X, s) > 0.2
    assert quick(patience=None).fit(X, s).out_of_fold_log_lift_[rows, s].mean() < 0


def test_out_of_fold_a_record_is_scored_by_networks_that_never_saw_it(monkeypatch: pytest.MonkeyPatch) -> None:
    # Records 0 and 3 of one fold exchange their secrets: prior, scales and folds stay as they are.
    monkeypatch.setattr(crossfit, "fold_of_each", lambda secret, count, rng: np.arange(len(secret)) % count)
    X, s = noisy(60)
    s[0], s[3] = 0, 1
    exchanged = s.copy()
    exchanged[[0, 3]] = 1, 0
    before, after = (quick(patience=None, folds=3, steps=50).fit(X, secret) for secret in (s, exchanged))
    same = [
        all(np.array_equal(a, b) for a, b in zip(*pair, strict=True))
        for pair in zip(before.networks_, after.networks_, strict=True)
    ]
    assert same == [True, False, False]
    first = before.fold_ == 0
    np.testing.assert_array_equal(before.out_of_fold_log_lift_[first], after.out_of_fold_log_lift_[first])
    assert (before.out_of_fold_log_lift_[~first] != after.out_of_fold_log_lift_[~first]).all()


def test_early_stopping_leaves_noise_at_independence_and_keeps_a_signal() -> None:
    rng = np.random.default_rng(0)
    silent = quick(learning_rate=0.3, steps=100).fit(rng.normal(size=(40, 30)), rng.integers(2, size=40))
    assert 0 in silent.steps_
    at_rest = silent.networks_[silent.steps_.index(0)]
    assert not at_rest[-2].any()
    heard = quick().fit(*noisy())
    assert min(heard.steps_) > 0


def test_patience_stops_so_many_steps_after_the_best_and_none_trains_to_the_end() -> None:
    X, s = noisy(shift=0.3)
    shares: list[Any] = []
    words = {"learning_rate": 0.0005, "steps": 4000, "patience": 200, "folds": 0}
    found = quick(**words, progress=lambda stage, share: shares.append(share)).fit(X, s)
    assert found.steps_[0] > 50
    assert round(4000 * shares[-1]) == found.steps_[0] + 200 < 4000
    assert quick(patience=None, steps=130).fit(X, s).steps_ == [130, 130]


def test_progress_counts_the_networks_up_to_the_whole() -> None:
    X, s = noisy(60)
    seen: list[tuple[str, float | None]] = []
    quick(patience=None, steps=120, members=2, progress=lambda *told: seen.append(told)).fit(X, s)
    shares = [share for _, share in seen]
    assert shares == sorted(shares)
    assert shares[-1] == 1
    assert seen[0][0] == "training network 1 of 4"
    assert len(shares) == 4 * 3


def test_the_paper_s_setting_has_the_printed_numbers() -> None:
    X, s = noisy(30)
    paper = NeuralLogLift.as_in_the_paper(random_state=0)
    assert (paper.objective, paper.steps, paper.learning_rate) == ("dv", 3000, 1e-3)
    assert (paper.optimiser, paper.activation, paper.normalise) == ("adagrad", "tanh", "none")
    assert (paper.batch_size, paper.patience, paper.folds, paper.members) == (None, None, 0, 1)
    short = NeuralLogLift.as_in_the_paper(random_state=0, steps=1).fit(X, s)
    assert [layer.shape for layer in short.networks_[0]] == [(5, 128), (128,), (128, 128), (128,), (128, 1), (1,)]
    assert all(layer.dtype == np.float32 for layer in short.networks_[0])
    assert not hasattr(short, "out_of_fold_log_lift_")


def test_adagrad_s_first_step_is_the_rate_times_the_sign_and_a_larger_accumulator_moves_less() -> None:
    X, s = noisy(30)
    start, one, tame = (
        NeuralLogLift.as_in_the_paper(random_state=0, steps=1, **changes).fit(X, s).networks_[0]
        for changes in ({"learning_rate": 1e-30}, {}, {"initial_accumulator": 0.1})
    )
    moved = np.abs(one[2] - start[2])
    np.testing.assert_allclose(moved[moved > 0], 1e-3, rtol=1e-3)
    assert (moved > 0).mean() > 0.99
    assert 0 < np.abs(tame[2] - start[2]).max() < 0.5e-3


def test_adamw_s_first_step_is_the_rate_times_the_sign() -> None:
    X, s = noisy(60)
    start, one = (
        to_the_end(optimiser="adamw", steps=1, learning_rate=rate).fit(X, s).networks_[0][0] for rate in (1e-30, 1e-2)
    )
    np.testing.assert_allclose(np.abs(one - start), 1e-2, rtol=1e-3)


@pytest.mark.parametrize("secret_as", ["head", "input"])
@pytest.mark.parametrize("activation", networks.ACTIVATIONS)
@pytest.mark.parametrize("objective", OBJECTIVES)
def test_the_slopes_of_a_network_are_the_numerical_ones(objective: str, activation: str, secret_as: str) -> None:
    rng = np.random.default_rng(0)
    shape = networks.Shape(3, 2, (4, 3), activation, secret_as)
    weights = shape.start(2, rng, at_rest=False)
    design, posterior = rng.normal(size=(12, 3)), np.eye(2)[rng.integers(2, size=12)]
    rows = rng.permutation(12).reshape(2, 6)
    # Outputs beyond the clip have no slope, and must not have a numerical one either.
    words = {"objective": objective, "judge": objective, "clip": 0.4 if objective == "tide" else None}
    trained = networks.LiftNetworks(shape, weights, design, posterior, np.array([0.4, 0.6]), rows, **words)
    # In double precision, because differences are small.
    trained.weights = [array.astype(np.float64) for array in weights]
    trained.design, trained._checked = design, design[rows]
    for array, slope in zip(trained.weights, trained.slopes(rows), strict=True):
        assert array.shape == slope.shape
        for at in np.ndindex(array.shape):
            kept = array[at]
            array[at] = kept + 1e-5
            up = trained.loss()[at[0]]
            array[at] = kept - 1e-5
            assert (up - trained.loss()[at[0]]) / 2e-5 == pytest.approx(slope[at], abs=2e-4)
            array[at] = kept


def test_weight_decay_makes_matrices_smaller() -> None:
    X, s = noisy(60)
    free, held = (to_the_end(weight_decay=decay, steps=100).fit(X, s).networks_[0][0] for decay in (0.0, 10.0))
    assert np.linalg.norm(held) < 0.5 * np.linalg.norm(free)


def test_intervals_hold_the_estimate_and_widen_with_confidence() -> None:
    X, s = noisy(80)
    found = quick(doubt=True).fit(X, s)
    middle, (low, high) = found.log_lift(X[:5]), found.log_lift_interval(X[:5])
    wide_low, wide_high = found.log_lift_interval(X[:5], confidence=0.99)
    assert (low < middle).all()
    assert (middle < high).all()
    assert ((wide_low < low) | np.isneginf(low)).all()
    assert (wide_high >= high).all()
    assert (found.doubt_.factors > 0).all()
    _, spread, _ = found._middle_and_spreads(found.encoder_.encode(found._cells(X[:5], reset=False)))
    least = found.doubt_.least
    reach = np.maximum(found.doubt_.factors[:-1] * np.hypot(spread, least / 2), least)
    assert (middle - low >= 1.959964 * reach - 1e-5).all()


def test_without_folds_or_doubt_there_are_no_intervals() -> None:
    X, s = noisy(80)
    for words in ({"folds": 0, "doubt": True}, {"doubt": False}):
        with pytest.raises(ArgumentError, match="no intervals were prepared"):
            quick(**words).fit(X, s).log_lift_interval(X[:5])


@pytest.mark.parametrize("normalise", ["record", "constant"])
def test_the_spread_is_the_standard_deviation_of_the_networks_each_normalised(normalise: Any) -> None:
    X, s = noisy(90)
    found = quick(objective="dv", normalise=normalise, patience=None, steps=50).fit(X, s)
    features = found.encoder_.encode(found._cells(X, reset=False))
    design = found.encoder_.design(features)
    lifts = []
    shape = networks.Shape(design.shape[1], 2, found.hidden, found.activation)
    for part, network in enumerate(found.networks_):
        h = shape.scores_of(network, design)
        mean = (found.prior_ * np.exp(h)).sum(axis=1, keepdims=True)
        lifts.append(h - np.log(mean if normalise == "record" else mean[found.fold_ != part].mean()))
    np.testing.assert_allclose(
        found._middle_and_spreads(features)[1], np.abs(lifts[0] - lifts[1]) / np.sqrt(2), atol=1e-9
    )
    out = np.where((found.fold_ == 0)[:, None], *lifts)
    np.testing.assert_allclose(found.out_of_fold_log_lift_, out, atol=1e-9)


def test_wide_sparse_records_are_learned_in_minibatches_like_dense_ones() -> None:
    rng = np.random.default_rng(2)
    s = rng.integers(2, size=150)
    X = np.zeros((150, 600))
    X[np.arange(150), rng.integers(300, size=150) + 300 * s] = 1.0
    X[:, 0] = s
    found = quick(folds=0).fit(sparse.csr_array(X), s)
    assert sparse.issparse(found.encoder_.design(found.encoder_.encode(found._cells(sparse.csr_array(X), reset=False))))
    lift = found.log_lift(sparse.csr_array(X))
    assert lift[np.arange(150), s].mean() > 0.3
    again = np.vstack([found.log_lift(sparse.csr_array(X[i : i + 1])) for i in range(5)])
    np.testing.assert_allclose(lift[:5], again, atol=1e-12)


def test_neither_learning_nor_scoring_needs_an_extra() -> None:
    """Where none is installed, every other test here shows it."""
    if not any(map(find_spec, EXTRAS)):
        return
    code = (
        "import sys, numpy as np\n"
        "from tacit.learn import NeuralLogLift\n"
        "X = np.arange(40.0)[:, None]\n"
        "NeuralLogLift(steps=10, folds=0).fit(X, X[:, 0] > 20).log_lift(X)\n"
        f"assert not {EXTRAS} & set(sys.modules)"
    )
    subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)


@pytest.mark.parametrize(
    ("words", "message"),
    [
        ({"objective": "mine"}, "no objective 'mine'; there are ce, dv"),
        ({"objective": "tide"}, "needs clip"),
        ({"clip": -1.0}, "above 0"),
        ({"normalise": "none"}, "needs normalise='record'"),
        ({"hidden": ()}, "hidden"),
        ({"folds": 1}, "folds=1"),
        ({"members": 0}, "members"),
        ({"steps": 0}, "steps"),
        ({"batch_size": 0}, "batch_size"),
        ({"patience": 0}, "patience"),
        ({"validation": 0.0}, "validation"),
        ({"activation": "sine"}, "no activation 'sine'; there are tanh"),
        ({"optimiser": "sgd"}, "no optimiser"),
        ({"secret_as": "output"}, "no secret_as"),
    ],
)
def test_words_that_cannot_be_used_are_refused(words: dict[str, Any], message: str) -> None:
    with pytest.raises(ArgumentError, match=message):
        quick(**words).fit(*noisy(20))


def test_a_clone_is_unfitted_and_learns_the_same() -> None:
    X, s = noisy(60)
    found = quick().fit(X, s)
    twin = clone(found)
    assert not hasattr(twin, "networks_")
    np.testing.assert_array_equal(twin.fit(X, s).log_lift(X), found.log_lift(X))


def test_it_works_in_pipelines_grid_searches_and_frames() -> None:
    X, s = noisy(90)
    search = GridSearchCV(quick(steps=100), {"learning_rate": [1e-6, 0.01]}, cv=2).fit(X, s)
    assert search.best_params_ == {"learning_rate": 0.01}
    pipe = make_pipeline(StandardScaler(), quick()).set_output(transform="pandas").fit(X, s)
    assert list(pipe.transform(X).columns) == ["log_lift_0", "log_lift_1"]


@pytest.mark.long
@parametrize_with_checks([quick(steps=many(20, 60))])
def test_it_is_a_scikit_learn_estimator(estimator: Any, check: Any) -> None:
    check(estimator)
