"""Agreement with other packages that compute the same numbers: dit (in bits) and pycanon."""

import warnings

import numpy as np
import pytest

from sizes import few
from tacit.lift import Joint, entropy, f_information, log_lift, maximal_leakage, mutual_information, sibson

BITS = np.log(2)


def random_counts(seed, *, zero_cells=False):
    rng = np.random.default_rng(seed)
    shape = (rng.integers(2, 5), rng.integers(2, 7))
    counts = rng.integers(0, 5, size=shape) if zero_cells else rng.integers(1, 30, size=shape)
    counts[:, 0] += 1
    counts[0] += 1
    return counts


@pytest.fixture(scope="module")
def dit():
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return pytest.importorskip("dit", reason="dit is not installed (extra `dev`)")


@pytest.fixture(scope="module")
def anonymity():
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return pytest.importorskip("pycanon.anonymity", reason="pycanon is not installed")


@pytest.mark.parametrize("seed", few(range(6), 3))
def test_dit_agrees(dit, seed):
    joint = Joint.from_counts(random_counts(seed))
    pairs = [(str(s), str(x)) for s in range(joint.shape[0]) for x in range(joint.shape[1])]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        together = dit.Distribution(pairs, joint.matrix.ravel().tolist())
        apart = dit.Distribution(pairs, np.outer(joint.prior, joint.marginal).ravel().tolist())
        theirs = {
            "mutual_information": dit.shannon.mutual_information(together, [0], [1]) * BITS,
            "entropy": dit.shannon.entropy(together, [0]) * BITS,
            "renyi": dit.other.renyi_entropy(together, 3.0, [0]) * BITS,
            "lautum": dit.other.lautum_information(together) * BITS,
            "total_variation": dit.divergences.variational_distance(together, apart),
            "hellinger": dit.divergences.hellinger_distance(together, apart) ** 2,
        }
    assert mutual_information(joint) == pytest.approx(theirs["mutual_information"], abs=1e-9)
    assert entropy(joint.prior) == pytest.approx(theirs["entropy"], abs=1e-9)
    assert entropy(joint.prior, order=3.0) == pytest.approx(theirs["renyi"], abs=1e-9)
    assert f_information(joint, "reverse_kl") == pytest.approx(theirs["lautum"], abs=1e-9)
    assert f_information(joint, "total_variation") == pytest.approx(theirs["total_variation"], abs=1e-9)
    assert f_information(joint, "hellinger") == pytest.approx(theirs["hellinger"], abs=1e-9)


@pytest.mark.parametrize("seed", range(6))
def test_dit_agrees_on_sibson_of_every_order(dit, seed):
    joint = Joint.from_counts(random_counts(seed, zero_cells=True))
    theirs = getattr(dit.other, "sibson_mutual_information_pmf", None)
    if theirs is None:
        pytest.skip("this dit has no Sibson mutual information")
    for order in (0.5, 1.0, 2.0, 7.5, np.inf):
        assert sibson(joint, order) == pytest.approx(theirs(joint.matrix, order) * BITS, abs=1e-9)
    assert maximal_leakage(joint) == pytest.approx(theirs(joint.matrix, np.inf) * BITS, abs=1e-9)


@pytest.mark.parametrize("seed", range(6))
@pytest.mark.parametrize("zero_cells", [False, True])
def test_pycanons_delta_disclosure_is_the_largest_finite_log_lift(anonymity, seed, zero_cells):
    """It leaves out pairs that never occur, where our risk is infinite."""
    pandas = pytest.importorskip("pandas", reason="pandas is not installed (extra `frames`)")
    counts = random_counts(seed, zero_cells=zero_cells)
    s, x = np.indices(counts.shape)
    table = pandas.DataFrame(
        {
            "secret": [f"s{v}" for v in np.repeat(s.ravel(), counts.ravel())],
            "released": [f"x{v}" for v in np.repeat(x.ravel(), counts.ravel())],
        }
    )
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        theirs = anonymity.delta_disclosure(table, ["released"], ["secret"])
    values = log_lift(Joint.from_counts(counts))
    assert np.abs(values[np.isfinite(values)]).max() == pytest.approx(theirs, abs=1e-9)
