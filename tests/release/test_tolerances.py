"""No promise is passed by rounding: what is attained is at most what was asked, as a float."""

from __future__ import annotations

import numpy as np
import pytest

from sizes import many
from tacit import Joint, optimal, watchdog
from tacit.lift import TOLERANCE, linear_reduction, settled
from tacit.release.bounds import Attained, LiftBounds

EPSILONS = (0.0, 1e-9, 0.1, 0.3, 0.5, 1.0, float(np.log(2)))


@pytest.mark.parametrize("records", [40, 5_000, 10**8])
def test_what_every_mechanism_attains_is_at_most_epsilon_on_random_joints(records: int) -> None:
    rng = np.random.default_rng(records)
    for at in range(many(40, 3_334)):
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
