"""The benchmark of the mechanisms measures what it says, on a small table."""

from __future__ import annotations

import mechanisms
import numpy as np
import pandas as pd
import pytest
from mechanisms_on_tables import drawn_outputs, through_rung, through_watchdog
from peer_mechanisms import answered, best_generalisation, randomised_response, reduced
from real_tables import Problem

from tacit.lift import Channel, entropy, log_lift, mutual_information, optimal

LEVELS = [{v: v for v in "abc"}, {"a": "ab", "b": "ab", "c": "c"}, dict.fromkeys("abc", "*")]


@pytest.fixture(scope="module")
def problem() -> Problem:
    rng = np.random.default_rng(0)
    n = 600
    s = rng.integers(2, size=n)
    moved = s * (rng.random(n) < 0.5)
    letters = np.array(list("abc"), dtype=object)
    columns = {c: letters[np.minimum(rng.integers(3, size=n) + moved * (c == "u"), 2)] for c in "uv"}
    table = pd.DataFrame({"s": s, "t": rng.integers(2, size=n), **columns})
    return Problem("small", "s", "t", ("u", "v"), {"u": LEVELS, "v": LEVELS}, table, table)


def test_rows_of_the_page_are_replaced_by_those_of_the_same_table() -> None:
    def row(values: str, loss: str) -> str:
        return f"| {values} | 2 | zipf | {loss} |"

    page = f"before\n{mechanisms.MARKS[0]}\n\n{mechanisms.HEAD}\n{row('8', 'old')}\n{row('1,000', 'kept')}\n"
    found = mechanisms.rewritten(f"{page}{mechanisms.MARKS[1]}\nafter", [row("8", "new"), row("20", "added")])
    assert [line.split("|")[4].strip() for line in found.splitlines() if "zipf" in line] == ["new", "added", "kept"]
    assert found.startswith("before\n")
    assert found.endswith("\nafter")
    assert mechanisms.rewritten(found, []) == found


@pytest.mark.parametrize("mechanism", [best_generalisation, reduced, randomised_response, through_watchdog])
def test_a_peer_attains_what_it_is_said_to_be_within(problem: Problem, mechanism: object) -> None:
    assert mechanism(problem, 0.2).attained <= 0.2 + 1e-9  # type: ignore[operator]


@pytest.mark.parametrize("mechanism", [reduced, randomised_response])
def test_utility_of_randomised_response_is_that_of_its_channel(problem: Problem, mechanism: object) -> None:
    release = mechanism(problem, 0.2)  # type: ignore[operator]
    p, n = problem.joint.marginal, len(problem.values)
    drawn = p if mechanism is reduced else np.full(n, 1 / n)
    # The share unchanged tells how often a value is kept.
    keep = (release.kept - p @ drawn) / (1 - p @ drawn)
    channel = Channel(keep * np.eye(n) + (1 - keep) * drawn)
    assert release.utility == pytest.approx(mutual_information(np.diag(p) @ channel.matrix), abs=1e-9)
    assert release.attained == pytest.approx(np.abs(log_lift(answered(problem.joint, keep, drawn))).max())


def test_the_best_generalisation_keeps_the_entropy_of_its_classes(problem: Problem) -> None:
    everything = best_generalisation(problem, 50.0)
    assert everything.utility == pytest.approx(entropy(problem.joint.marginal))
    assert everything.kept == 1
    assert best_generalisation(problem, 0.2).utility < everything.utility


def test_outputs_are_drawn_as_often_as_the_channel_says(problem: Problem) -> None:
    channel = optimal(problem.joint, 0.15)
    codes = np.repeat(np.arange(len(problem.values)), 20_000)
    drawn = drawn_outputs(channel, codes, np.random.default_rng(0))
    counts = np.zeros(channel.matrix.shape)
    np.add.at(counts, (codes, drawn), 1 / 20_000)
    assert np.abs(counts - channel.matrix).max() < 0.02


def test_the_share_unchanged_is_that_of_the_draws(problem: Problem) -> None:
    before = problem.train[["u", "v"]].to_numpy()
    for release in (through_rung(problem, 0.15, "optimal"), through_watchdog(problem, 0.15), reduced(problem, 0.15)):
        draws = [release.draw(np.random.default_rng(seed))[0].to_numpy() for seed in range(40)]
        assert np.mean([(draw == before).all(axis=1).mean() for draw in draws]) == pytest.approx(release.kept, abs=0.02)
