"""The tide paper's Theorem 3 is false in three ways; the bound here is never passed."""

import numpy as np
import pytest
from scipy.integrate import quad
from scipy.stats import norm

from sizes import many
from tacit.errors import ArgumentError
from tacit.lift import gaussian_delta, obfuscation_delta, obfuscation_floor, obfuscation_scale, vacuous


def released(given, overall, points, leaks, epsilon, scale):
    """E-gamma of the release itself: atoms where nothing leaks, where it does Gaussians by quadrature."""
    gamma = np.exp(epsilon)
    raw = np.maximum(given - gamma * overall, 0)[~leaks].sum()
    if not leaks.any():
        return raw
    y = np.linspace(points.min() - 9 * scale, points.max() + 9 * scale, 2001)
    bells = np.exp(-(((y[:, None] - points[leaks]) / scale) ** 2) / 2) / (scale * np.sqrt(2 * np.pi))
    return raw + np.maximum(bells @ (given - gamma * overall)[leaks], 0).sum() * (y[1] - y[0])


def bound(given, overall, points, leaks, epsilon, scale):
    share = given[leaks].sum()
    return obfuscation_delta(share, np.log(share / overall[leaks].sum()), epsilon, np.ptp(points[leaks]), scale)


def test_a_the_centres_may_be_a_diameter_apart():
    epsilon, rare = 0.5, 0.01
    # X = 1 if and only if S = 1, else -1: the radius is 1, the diameter 2, and both values leak.
    given, overall = np.array([0.0, 1.0]), np.array([1 - rare, rare])
    points, leaks = np.array([-1.0, 1.0]), np.array([True, True])
    true = quad(lambda y: max(norm.pdf(y, 1) - np.exp(epsilon) * (norm.pdf(y, -1) * 0.99 + norm.pdf(y, 1) * 0.01), 0),
                -12, 14, points=[0.25], limit=400)[0]  # fmt: skip
    assert true == pytest.approx(0.588, abs=5e-4)
    assert true > gaussian_delta(epsilon, 1, 1) + 0.3
    assert true <= bound(given, overall, points, leaks, epsilon, 1.0) == pytest.approx(gaussian_delta(epsilon, 2, 1))
    assert released(given, overall, points, leaks, epsilon, 1.0) == pytest.approx(true, abs=1e-4)


def test_b_that_noise_was_added_says_something_no_noise_hides():
    rare, epsilon = 0.01, 0.8
    given, overall = np.array([0.5, 0.5]), np.array([0.95 * (1 - rare) + 0.5 * rare, 0.05 * (1 - rare) + 0.5 * rare])
    leaks, points = np.log(given / overall) > epsilon, np.array([0.0, 1.0])
    assert leaks.tolist() == [False, True]
    lift = np.log(0.5 / overall[1])
    assert obfuscation_floor(0.5, lift, epsilon) == pytest.approx(0.379, abs=5e-4)
    for scale in (1.0, 1e3, 1e9):
        assert gaussian_delta(epsilon, 1, scale) < 0.3
        true = released(given, overall, points, leaks, epsilon, scale)
        assert true == pytest.approx(0.379, abs=5e-4)
        assert true <= bound(given, overall, points, leaks, epsilon, scale) + 1e-9
    assert obfuscation_scale(0.5, lift, epsilon, 0.37, 1.0) == np.inf


@pytest.mark.parametrize("secrets", [2, 10])
def test_c_a_duplicate_of_a_noised_feature_is_released_raw(secrets):
    # X1 = S is noised; X2 = X1 has i(s; x2 | x1) = 0 given the *raw* x1, so the paper releases it as it is.
    epsilon = 0.1
    given, overall = np.eye(secrets)[0], np.full(secrets, 1 / secrets)
    raw = released(given, overall, np.arange(secrets) * 1.0, np.zeros(secrets, bool), 2 * epsilon, 1.0)
    assert raw == pytest.approx(1 - np.exp(2 * epsilon) / secrets)
    assert 2 * gaussian_delta(epsilon, secrets, 1e6) < 0.01
    # Given what was released (nearly nothing), every value of X2 leaks; all of B then, and the bound sees it.
    everything = np.ones(secrets, bool)
    assert bound(given, overall, np.arange(secrets) * 1.0, everything, epsilon, 1e6) < 0.01


def test_no_random_case_passes_the_bound():
    rng = np.random.default_rng(7)
    cases = violations = paper = 0
    slack = []
    for _ in range(many(50, 450)):
        secrets, size = rng.integers(2, 5), rng.integers(2, 7)
        joint = rng.dirichlet(np.full(secrets * size, 0.7)).reshape(secrets, size) + 1e-9
        joint /= joint.sum()
        points, epsilon, scale = rng.uniform(-1, 1, size), rng.uniform(0.1, 1.2), rng.uniform(0.3, 4)
        prior, overall = joint.sum(axis=1), joint.sum(axis=0)
        leaks = np.abs(np.log(joint / np.outer(prior, overall))).max(axis=0) > epsilon
        for s in range(secrets) if leaks.any() else ():
            given = joint[s] / prior[s]
            # Both sides: what makes s likelier, and what rules it out.
            for first, second in ((given, overall), (overall, given)):
                true = released(first, second, points, leaks, epsilon, scale)
                ours = bound(first, second, points, leaks, epsilon, scale)
                cases += 1
                violations += true > ours + 1e-5
                paper += true > gaussian_delta(epsilon, np.abs(points).max(), scale) + 1e-5
                slack.append(ours - true)
    assert cases >= many(200, 2000)
    assert violations == 0
    assert paper > many(3, 50)
    assert np.median(slack) < 0.1


def test_the_bound_is_attained_by_two_values():
    given, overall, leaks = np.array([0.0, 0.4, 0.6]), np.array([0.3, 0.0, 0.7]), np.array([True, True, False])
    points = np.array([0.0, 1.0, 5.0])
    for scale in (0.5, 2.0):
        true = released(given, overall, points, leaks, 0.1, scale)
        assert bound(given, overall, points, leaks, 0.1, scale) == pytest.approx(true, abs=1e-4)


def test_the_scale_brings_the_bound_to_delta_or_there_is_none():
    share, lift, epsilon = np.array([0.5, 0.5, 0.2]), np.array([2.0, 0.3, -1.0]), 0.5
    floor = obfuscation_floor(share, lift, epsilon)
    assert (floor > 0).tolist() == [True, False, False]
    delta = floor + 0.01
    scale = obfuscation_scale(share, lift, epsilon, delta, 2.0)
    assert np.allclose(obfuscation_delta(share, lift, epsilon, 2.0, scale), delta, rtol=1e-9)
    assert obfuscation_scale(share, lift, epsilon, floor * 0.99, 2.0)[0] == np.inf
    assert obfuscation_scale(0.0, -np.inf, epsilon, 0.0, 2.0) == 0.0
    assert obfuscation_delta(0.0, -np.inf, epsilon, 2.0, 1.0) == 0.0


def test_a_vacuous_guarantee_is_called_vacuous():
    assert vacuous([0.9, 1.0, 244.0]).tolist() == [False, True, True]
    # At 512 nats any release of a secret that is not rarer than e^-512 keeps delta 0: the guarantee is no news.
    assert vacuous(0.0, epsilon=512.0, prior=0.5)
    assert not vacuous(0.1, epsilon=0.5, prior=0.5)
    with pytest.raises(ArgumentError, match="go together"):
        vacuous(0.1, epsilon=0.5)


@pytest.mark.parametrize("wrong", [(1.2, 1.0), (0.5, np.nan), (0.5, -1.0)])
def test_shares_and_lifts_that_cannot_be_are_refused(wrong):
    with pytest.raises(ArgumentError):
        obfuscation_delta(*wrong, 0.5, 1.0, 1.0)
