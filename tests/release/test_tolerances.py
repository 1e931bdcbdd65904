"""No promise is passed by rounding: what is attained is at most what was asked, as a float."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from sizes import few, many
from tacit import Joint, optimal, protect, verify, watchdog
from tacit.lift import TOLERANCE, linear_reduction, settled
from tacit.release import Attained, LiftBounds

EPSILONS = (0.0, 1e-9, 0.1, 0.3, 0.5, 1.0, float(np.log(2)))


@pytest.mark.parametrize("records", few([40, 5_000, 10**8], 2))
def test_what_every_mechanism_attains_is_at_most_epsilon_on_random_joints(records: int) -> None:
    rng = np.random.default_rng(records)
    for at in range(many(16, 3_334)):
        secrets, values = int(rng.integers(2, 5)), int(rng.integers(2, 9))
        counts = rng.multinomial(records, rng.dirichlet(np.full(secrets * values, 0.7))).reshape(secrets, values)
        counts = counts[counts.any(axis=1)][:, counts.any(axis=0)]
        if min(counts.shape) < 2:
            continue
        joint, epsilon = Joint.from_counts(counts), EPSILONS[at % len(EPSILONS)]
        bounds = LiftBounds.within(epsilon)
        for channel in (optimal(joint, epsilon, effort="low"), linear_reduction(joint, epsilon)):
            attained = Attained.of(joint.through(channel), bounds)
            assert attained.epsilon <= epsilon, (at, epsilon)
            assert attained.holds(bounds), (at, epsilon)
        assert watchdog(joint, epsilon, method="auto").attained <= epsilon + TOLERANCE


@pytest.mark.parametrize("mechanism", ["cells", "optimal"])
def test_a_release_of_many_rows_attains_at_most_epsilon_and_verifies(tmp_path: Path, mechanism: str) -> None:
    """Ten million rows in the long form: sums of many counts, where rounding once broke Tacit's own releases."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    rng, rows, people, epsilon = np.random.default_rng(7), many(1_000, 10_000_000), tmp_path / "people.parquet", 0.3
    origin = rng.integers(0, 3, rows)
    job = np.where(rng.random(rows) < 0.1, origin, rng.integers(0, 8, rows))
    columns = {"origin": origin, "age": rng.integers(20, 25, rows), "job": job}
    words = {
        name: pa.array([f"{name} {k}" for k in range(25)]).take(pa.array(codes)) for name, codes in columns.items()
    }
    pq.write_table(pa.table(words), people)
    made = protect(people, secret="origin", epsilon=epsilon, mechanism=mechanism, least=5, out=tmp_path / "r")
    assert 0 < made.certificate.attained_epsilon <= epsilon
    assert made.certificate.utility.nmil < 0.5
    assert verify(tmp_path / "r", against=people).verdict == "holds"


def test_a_lift_of_exactly_epsilon_is_within_it() -> None:
    """Twice as likely, at log 2: rounding decides on which side of the bound the float falls."""
    for records in range(3, 300):
        joint = Joint.from_counts([[2 * records, records, 0], [0, records, 2 * records]])
        attained = Attained.of(joint, LiftBounds(np.inf, float(np.log(2))))
        assert attained.high <= np.log(2)


def test_rounding_is_forgiven_and_nothing_else() -> None:
    assert settled(0.5 + 5e-13, 0.5) == 0.5
    assert settled(0.5 + 2e-12, 0.5) > 0.5
    assert settled(0.4999, 0.5) == 0.4999
    assert settled(5e-10, 0.0) == 0.0
    assert settled(2e-9, 0.0) == 2e-9
    assert settled(-0.1, 0.5) == 0.0
