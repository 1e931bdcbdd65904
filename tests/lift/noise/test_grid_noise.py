"""Noise on a grid: its probabilities against exact arithmetic, its draws against the table, its low bits."""

from decimal import Decimal, localcontext
from fractions import Fraction
from itertools import pairwise

import numpy as np
import pytest
from scipy.stats import chi2

from tacit.errors import ArgumentError
from tacit.learn import secure_words
from tacit.lift import GridGaussian, gaussian_delta

WORD = 1 << 64


def density(x):
    return (-x * x / 2).exp()


def below(x):
    """The normal distribution's mass between 0 and x, times sqrt(2 pi): a series of positive terms."""
    total, term, n = Decimal(0), x, 0
    while term > Decimal(10) ** -60:
        total, n = total + term, n + 1
        term = term * x * x / (2 * n + 1)
    return total * density(x)


def exact(noise):
    """Probabilities of the law at the grid points from 0 on, by Decimal: nothing shared with the table."""
    with localcontext() as context:
        context.prec = 80
        h = Decimal(noise.step) / Decimal(noise.scale)
        points = (len(noise.values) + 1) // 2
        if noise.law == "discrete":
            weights = [density(k * h) for k in range(4 * points)]
            whole = weights[0] + 2 * sum(weights[1:])
            return [weight / whole for weight in weights[:points]]
        two_pi = 2 * Decimal("3.14159265358979323846264338327950288419716939937510582097494459230781640628620899862")
        root = two_pi.sqrt()
        edges = [below((k + Decimal("0.5")) * h) / root for k in range(points)]
        return [2 * edges[0], *(high - low for low, high in pairwise(edges))]


@pytest.mark.parametrize("law", ["rounded", "discrete"])
@pytest.mark.parametrize(("scale", "step"), [(1.0, 2.0), (1.0, 1.0), (0.7, 0.125), (40.0, 1.0)])
def test_every_probability_is_within_a_word_of_the_law(law, scale, step):
    noise = GridGaussian(scale, step=step, law=law)
    counts = [int(count) for count in noise.counts]
    assert sum(counts) == WORD
    assert counts == counts[::-1]
    middle = len(counts) // 2
    for count, share in zip(counts[middle:-1], exact(noise), strict=False):
        assert abs(count - share * WORD) <= 1
    assert noise.truncated < 1.1 * 2**-60 + len(counts) * 2**-64


def test_a_fine_grid_is_as_exact():
    noise = GridGaussian(3.0)
    assert noise.step == 2**-9
    shares = noise.counts / float(WORD)
    values = noise.values
    assert np.allclose(shares, noise.step / 3 * np.exp(-((values / 3) ** 2) / 2) / np.sqrt(2 * np.pi), atol=1e-10)
    assert (shares * values**2).sum() == pytest.approx(9 + noise.step**2 / 12, rel=1e-12)
    assert noise.truncated < 1e-15


@pytest.mark.parametrize("law", ["rounded", "discrete"])
def test_a_draw_is_the_point_whose_words_it_is_in(law):
    noise = GridGaussian(5.0, step=0.25, law=law)
    edges = np.append(np.uint64(0), np.cumsum(noise.counts, dtype=np.uint64)[:-1])
    ends = np.append(edges[1:] - np.uint64(1), np.uint64(WORD - 1))
    assert (noise.draw(edges) == noise.values).all()
    assert (noise.draw(ends) == noise.values).all()
    words = secure_words(20_000, random_state=0).reshape(100, 200)
    assert (noise.draw(words) == noise.values[np.searchsorted(edges, words, side="right") - 1]).all()


def misfit(draws, noise):
    """p-value of draws under the table, over cells with 20 or more expected."""
    expected = noise.counts / float(WORD) * len(draws)
    bins = np.minimum(np.cumsum(expected) // 20, (expected.sum() - 20) // 20).astype(int)
    place = np.clip(np.searchsorted(noise.values, draws), 0, len(expected) - 1)
    seen, hoped = np.bincount(bins[place], minlength=bins[-1] + 1), np.bincount(bins, expected)
    kept = hoped > 0
    return chi2.sf(((seen - hoped)[kept] ** 2 / hoped[kept]).sum(), kept.sum() - 1)


@pytest.mark.parametrize("law", ["rounded", "discrete"])
def test_draws_fit_their_law_and_no_scale_a_tenth_off(law):
    noise = GridGaussian(4.0, step=0.5, law=law)
    assert misfit(noise.draw(secure_words(100_000, random_state=1)), noise) > 0.01
    for wrong in (3.6, 4.4):
        other = GridGaussian(wrong, step=0.5, law=law)
        assert misfit(other.draw(secure_words(100_000, random_state=1)), noise) < 1e-12


def test_opendp_draws_from_the_same_discrete_law():
    opendp = pytest.importorskip("opendp.prelude", reason="OpenDP is not installed")
    opendp.enable_features("contrib")
    space = opendp.vector_domain(opendp.atom_domain(T=int)), opendp.l2_distance(T=float)
    theirs = opendp.m.make_gaussian(*space, scale=8.0)([0] * 10_000)
    assert misfit(np.array(theirs, dtype=float), GridGaussian(8.0, step=1.0, law="discrete")) > 0.001
    assert misfit(np.array(theirs, dtype=float), GridGaussian(8.8, step=1.0, law="discrete")) < 1e-6


@pytest.mark.parametrize("law", ["rounded", "discrete"])
@pytest.mark.parametrize("epsilon", [-0.4, 0.0, 0.5, 2.0])
def test_delta_is_that_of_the_worst_shift_by_brute_force(law, epsilon):
    noise = GridGaussian(3.0, step=1.0, law=law)
    gamma, counts = Fraction(float(np.exp(epsilon))), [int(count) for count in noise.counts]
    for steps in (0, 1, 4):
        worst = max(
            sum(
                max(first - gamma * second, 0) for first, second in zip([0] * k + counts, counts + [0] * k, strict=True)
            )
            for k in range(steps + 1)
        )
        found = noise.delta(epsilon, steps + 0.4, on_grid=True)
        assert 0 <= found - float(worst / WORD) < 4e-15 * (1 + float(gamma))
        assert noise.delta(epsilon, steps + 0.4) == noise.delta(epsilon, steps + 1, on_grid=True)
    assert noise.delta(epsilon, 1e6) == 1.0


def test_rounding_a_gaussian_never_tells_more_than_the_gaussian():
    for scale, step in [(1.0, 1.0), (1.0, 0.125), (30.0, 1.0)]:
        noise = GridGaussian(scale, step=step)
        for epsilon in (0.0, 0.5, 1.5):
            for steps in (1, 3, 20):
                plain = gaussian_delta(epsilon, steps * step, scale)
                assert noise.delta(epsilon, steps * step, on_grid=True) <= plain + 2e-14
                assert noise.delta(epsilon, steps * step, on_grid=True, dimensions=4) == pytest.approx(plain, abs=1e-13)


def test_for_vectors_no_shift_within_the_diameter_passes_delta():
    noise, epsilon = GridGaussian(1.0, step=0.25), 0.5
    shares = noise.counts / float(WORD)

    def moved(k):
        return np.append(np.zeros(k), shares), np.append(shares, np.zeros(k))

    worst = 0.0
    for i, j in [(0, 4), (1, 3), (2, 3), (4, 0)]:
        (first, second), (third, fourth) = moved(i), moved(j)
        excess = np.outer(first, third) - np.exp(epsilon) * np.outer(second, fourth)
        worst = max(worst, np.maximum(excess, 0).sum())
    assert worst <= noise.delta(epsilon, 1.0, dimensions=2, on_grid=True) <= 1.02 * worst
    assert noise.delta(epsilon, 1.0, dimensions=2) == pytest.approx(gaussian_delta(epsilon, 1 + 0.25 * 2**0.5, 1.0))


def test_on_a_coarse_grid_the_discrete_law_can_tell_more_than_the_gaussian():
    found = GridGaussian(0.6, step=1.0, law="discrete").delta(0.0, 1.0, on_grid=True)
    assert found > gaussian_delta(0.0, 1.0, 0.6) + 0.001


def test_a_larger_tail_is_charged():
    noise = GridGaussian(10.0, step=1.0, tail=1e-3)
    assert 1e-4 < noise.truncated <= 1e-3
    assert noise.delta(3.0, 5.0) > noise.truncated / 2


def test_the_low_bits_of_numpy_tell_the_input_and_ours_do_not():
    rng = np.random.default_rng(2)
    grid = 2.0**-53
    of_zero, of_one = (np.mean(np.mod(value + rng.normal(size=20_000), grid) == 0) for value in (0.0, 1.0))
    # A release of input 1 is always on this grid; one that is not, a quarter of those of input 0, gives it away.
    assert of_one == 1.0
    assert of_zero < 0.8
    noise = GridGaussian(1.0)
    for value in (0.0, 1.0, 0.1, 1 / 3):
        out = noise.release(np.full(20_000, value), secure_words(20_000, random_state=3))
        assert (np.mod(out, noise.step) == 0).all()
        # Whatever the input, odd multiples are as frequent as even ones.
        assert abs(np.mean(np.mod(out, 2 * noise.step) == 0) - 0.5) < 0.02


def test_a_release_is_exact_in_floats():
    noise = GridGaussian(0.3)
    values = np.array([[1e9 + 0.1, -5.0], [0.0, 123.456]])
    words = secure_words(4, random_state=4).reshape(2, 2)
    out = noise.release(values, words)
    for sent, value, drawn in zip(out.ravel(), noise.to_grid(values).ravel(), noise.draw(words).ravel(), strict=True):
        assert Fraction(sent) == Fraction(value) + Fraction(drawn)
    assert np.abs(noise.to_grid(values) - values).max() <= noise.step / 2


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ({"scale": 0.0}, "scale"),
        ({"scale": np.nan}, "scale"),
        ({"scale": 1.0, "step": 0.1}, "power of two"),
        ({"scale": 1.0, "step": 4.0}, "step"),
        ({"scale": 1.0, "step": 2.0**-20}, "step"),
        ({"scale": 1.0, "tail": 0.5}, "tail"),
        ({"scale": 1.0, "law": "laplace"}, "law"),
    ],
)
def test_a_noise_that_cannot_be_is_refused(options, said):
    with pytest.raises(ArgumentError, match=said):
        GridGaussian(**options)


def test_words_and_values_that_cannot_be_used_are_refused():
    noise = GridGaussian(1.0, step=0.5)
    with pytest.raises(ArgumentError, match="uint64"):
        noise.draw(np.array([1, 2, 3]))
    with pytest.raises(ArgumentError, match="clip"):
        noise.to_grid([np.nan])
    with pytest.raises(ArgumentError, match="one for each"):
        noise.release([1.0, 2.0], secure_words(1))
    with pytest.raises(ArgumentError, match="rounded"):
        GridGaussian(1.0, step=0.5, law="discrete").delta(0.5, 1.0, dimensions=2)
    with pytest.raises(ArgumentError, match="whole number"):
        secure_words(-1)


def test_secure_words_come_from_the_system_and_seeded_ones_repeat():
    assert (secure_words(5, random_state=1) == secure_words(5, random_state=1)).all()
    assert (secure_words(5) != secure_words(5)).all()
    many = secure_words(300_000)
    assert many.dtype == np.uint64
    assert abs(np.unpackbits(many.view(np.uint8)).mean() - 0.5) < 0.001
    assert len(np.unique(many)) == len(many)
