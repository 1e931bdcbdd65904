"""The adversary who links, against a slow one; and 0.1's releases of a hospital, in which it finds many."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, strategies as st

from hospital import NEIGHBOUR, RELEASED, hospital
from tables_of_people import clinic, write_csv
from tacit import ColumnError, attack, protect
from tacit.lenses.table.linkage import matching
from tacit.lenses.table.linkage.beliefs import STRENGTH, lifts_of
from tacit.lenses.table.linkage.fitting import Spelled, in_bins
from tacit.lenses.table.linkage.matching import AskedOfPeople, linkage
from tacit.lenses.table.linkage.reading import LearnedColumn
from tacit.lenses.table.linkage.results import LinkageFinding
from tacit.tables import Cut


@st.composite
def files(draw: st.DrawFn) -> dict[str, Any]:
    """A small file, and people who are looked for in it."""
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    people, rows, known, others = (draw(st.integers(low, high)) for low, high in ((1, 8), (1, 10), (0, 3), (0, 2)))
    values, levels, secrets = draw(st.integers(1, 4)), draw(st.integers(1, 4)), draw(st.integers(1, 3))
    belief = rng.dirichlet(np.ones(secrets), people)
    lifts = rng.uniform(0, 3, (4, secrets)) * (rng.random((4, secrets)) < 0.8)
    allowed = np.array([[1.0, 0.0], [1.0, 1.0], [0.0, 0.0]])
    return {
        "people": rng.integers(0, values, (people, known)),
        "released": rng.integers(0, levels, (rows, known)),
        "fits": [rng.random((levels, values)) < draw(st.sampled_from([0.3, 0.8])) for _ in range(known)],
        "records": rng.integers(1, 3, rows),
        "own": rng.integers(-1, rows, people),
        "others": rng.integers(0, 3, (rows, others)),
        "questions": [
            AskedOfPeople(belief, rng.integers(0, 4, rows), lifts),
            AskedOfPeople(np.full((people, 2), 0.5), rng.integers(0, 3, rows), allowed),
        ],
    }


def slow_candidates(file: dict[str, Any], person: int) -> list[int]:
    """The rows that fit, each as often as it stands for records: slow and obviously right."""
    fitting = []
    for row, levels in enumerate(file["released"]):
        known = zip(file["fits"], levels, file["people"][person], strict=True)
        if all(fit[level, value] for fit, level, value in known):
            fitting += [row] * int(file["records"][row])
    return fitting


def slow_answer(asked: AskedOfPeople, person: int, fitting: list[int], crowd: Counter[int]) -> np.ndarray:
    """What is believed of one person after one record at a time."""
    belief, seen = asked.belief[person], np.zeros(len(asked.belief[person]))
    for row in fitting:
        spoken = belief * asked.lifts[asked.saying[row]]
        seen += spoken / spoken.sum() / crowd[row] if spoken.sum() > 0 else 0
    return seen / seen.sum() if seen.sum() > 0 else belief


@given(files(), st.sampled_from([1, 5, matching.MOST_PAIRS]))
def test_everybody_is_linked_as_the_slow_adversary_links_them(file, pairs):
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(matching, "MOST_PAIRS", pairs)
        found = linkage(**file)
    everybody = range(len(file["people"]))
    crowd = Counter(row for person in everybody for row in set(slow_candidates(file, person)))
    for person in everybody:
        fitting = slow_candidates(file, person)
        assert found.candidates[person] == len(fitting)
        assert bool(found.right[person]) == (len(fitting) == 1 and fitting[0] == file["own"][person])
        for column, levels in enumerate(file["others"].T):
            times: Counter[int] = Counter()
            for row in fitting:
                times[int(levels[row])] += 1 / crowd[row]
            assert bool(found.agreed[person, column]) == (len(times) == 1)
            read = int(found.read[person, column])
            assert times[read] == pytest.approx(max(times.values())) if times else read == -1
        for posterior, asked in zip(found.posteriors, file["questions"], strict=True):
            assert posterior[person] == pytest.approx(slow_answer(asked, person, fitting, crowd), abs=1e-12)


@given(files(), st.floats(0, 2), st.floats(0, 2))
def test_lifts_within_a_bound_move_no_belief_further_than_both_sides_of_it(file, low, high):
    rng = np.random.default_rng(0)
    secret = file["questions"][0]
    file["questions"] = [replace(secret, lifts=np.exp(rng.uniform(-low, high, secret.lifts.shape)))]
    moved = np.log(linkage(**file).posteriors[0] / secret.belief)
    assert np.abs(moved).max() <= low + high + 1e-9


@given(files(), st.floats(0.01, 2), st.floats(0.01, 2))
def test_whatever_the_candidates_cells_that_keep_a_bound_keep_it_for_who_knows_no_more_than_the_prior(file, low, high):
    """THEORY 8.2 (iii): the mean of P(s | cell) over candidates, however many fit."""
    rng = np.random.default_rng(0)
    secret = file["questions"][0]
    prior = rng.dirichlet(np.ones(secret.belief.shape[1]))
    toward = rng.dirichlet(np.ones(len(prior)), 4) / prior
    least, most = toward.min(), toward.max()
    # As far from the prior as the bounds let it go.
    scale = min(
        [1.0, *([(1 - np.exp(-low)) / (1 - least)] if least < 1 else []), (np.exp(high) - 1) / max(most - 1, 1e-9)]
    )
    belief = np.tile(prior, (len(file["people"]), 1))
    file["questions"] = [AskedOfPeople(belief, secret.saying, 1 + scale * (toward - 1))]
    moved = np.log(linkage(**file).posteriors[0] / prior)
    assert moved.max() <= high + 1e-9
    assert moved.min() >= -low - 1e-9


def slow_lifts(asked, learned, secret, prior):
    """By a loop, as the definition says."""
    answers = []
    for row in asked:
        believed = np.array(prior)
        for column, value in enumerate(row):
            here = [s for r, s in zip(learned, secret, strict=True) if value >= 0 and r[column] == value]
            counts = np.array([here.count(s) for s in range(len(prior))])
            believed *= (counts + STRENGTH * prior) / (len(here) + STRENGTH) / prior
        believed /= believed.sum()
        if len(row) > 1:
            here = [s for r, s in zip(learned, secret, strict=True) if tuple(r) == tuple(row)]
            counts = np.array([here.count(s) for s in range(len(prior))])
            believed = (counts + STRENGTH * believed) / (len(here) + STRENGTH)
        answers.append(believed / prior)
    return np.array(answers)


@given(st.integers(0, 2**32 - 1), st.integers(1, 3), st.integers(0, 12))
def test_what_values_say_is_learned_as_the_slow_learner_learns_it(seed, columns, records):
    rng = np.random.default_rng(seed)
    asked, learned = rng.integers(-1, 3, (6, columns)), rng.integers(0, 3, (records, columns))
    secret, prior = rng.integers(0, 3, records), rng.dirichlet(np.ones(3) * 3)
    lifts = lifts_of(asked, learned, secret, prior)
    assert lifts == pytest.approx(slow_lifts(asked, learned.tolist(), secret.tolist(), prior))
    assert lifts @ prior == pytest.approx(np.ones(6))


def test_nothing_is_believed_of_values_never_seen():
    prior = np.array([0.25, 0.75])
    assert lifts_of(np.array([[-1], [7]]), np.array([[0], [0]]), np.array([0, 0]), prior) == pytest.approx(1.0)


def matrix_of(fitting, levels, values):
    kinds, fits = fitting.matching(levels, values)
    return fits[kinds].tolist()


def test_a_value_fits_itself_however_it_is_written():
    assert matrix_of(Spelled(), ["1", None, "x"], [1, None]) == [[True, False], [False, True], [False, False]]
    assert matrix_of(Spelled(blank=True), [None, "1"], [1, 2]) == [[True, True], [True, False]]


def test_a_bin_fits_the_numbers_that_fall_into_it():
    bins = in_bins(Cut("age", (18, 65)))
    levels = [*Cut("age", (18, 65)).labels, None]
    assert matrix_of(bins, levels, [17, "18", 64.5, 65, None, ""]) == [
        [True, False, False, False, False, False],
        [False, True, True, False, False, False],
        [False, False, False, True, False, False],
        [False, False, False, False, True, True],
    ]
    best, alone = bins.meanings(levels, [17, 18, 40], np.array([1.0, 2.0, 3.0]))
    assert (best.tolist(), alone.tolist()) == ([0, 2, -1, -1], [True, False, False, False])


def test_many_numbers_are_learned_from_in_twentieths_and_few_values_as_they_are():
    numbers = LearnedColumn.of([str(n) for n in range(1000)], np.ones(1000, np.int64), "number")
    codes = numbers.codes(["0", "999", 500.0, None, "unknown"])
    assert (codes[0], codes[1], codes[3], codes[4]) == (0, 19, -1, -1)
    assert 9 <= codes[2] <= 10
    few = LearnedColumn.of(["a", "b", None], np.array([1, 1, 1]), "text")
    assert few.codes(["b", None, "c"]).tolist() == [1, 2, -1]


# ---- a hospital ----------------------------------------------------------------------------------------------------

PATIENTS = 2_000


@pytest.fixture(scope="module")
def patients(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write_csv(tmp_path_factory.mktemp("hospital") / "patients.csv", hospital(PATIENTS))


def neighbour_of(patients: Path, out: Path, **making: Any) -> tuple[Any, LinkageFinding]:
    """A release of the hospital, and what a neighbour finds in it who knows dates, age, sex and postcode."""
    making = {"epsilon": 0.5, **making} if "epsilon_high" not in making else making
    protect(patients, secret="illness", released=RELEASED, out=out, random_state=0, **making)
    result = attack(out, against=patients, known=NEIGHBOUR, records=200)
    first, everything = result.linkage
    assert first.known == NEIGHBOUR
    assert everything.known == RELEASED
    assert not everything.columns
    return result, first


@pytest.mark.long
def test_in_the_watchdogs_release_at_0_nats_a_neighbour_finds_many_patients_and_their_ward(patients, tmp_path):
    """THEORY 8.1. The claim holds of a single row; the file is made of rows of real patients, which can be found."""
    result, found = neighbour_of(patients, tmp_path / "r", mechanism="watchdog", replacement="resample")
    assert result.optimal_after == pytest.approx(result.prior_guess)
    assert result.verdict == "people are found"
    assert "finds" in result.headline
    assert found.before.found > 0.95
    assert found.before.found_right == 1.0
    assert found.after.found > 0.25
    assert found.after.found_right > 0.95
    ward = found.columns[0]
    assert ward.name == "ward"
    assert ward.agreed > 0.5
    assert ward.agreed_right > 0.97
    assert ward.after > ward.knowing + 0.3
    assert found.after.secret_right > found.knowing + 0.2


@pytest.mark.long
def test_where_the_watchdog_writes_nothing_in_their_place_nobody_is_found(patients, tmp_path):
    """Every patient's values are too risky: all rows are suppressed, and all fit everybody."""
    result, found = neighbour_of(patients, tmp_path / "r", mechanism="watchdog", replacement="suppress")
    assert result.verdict == "not detectably better than the prior"
    assert found.after.found == 0
    assert found.after.candidates == PATIENTS
    assert found.after.secret_right == found.knowing
    assert all(column.after == column.knowing for column in found.columns)


# The short form of it is in test_cells.py.
@pytest.mark.long
@pytest.mark.parametrize("sides", [{"epsilon": 0.5}, {"epsilon_high": 1.0}])
def test_in_a_release_in_cells_a_neighbour_finds_nobody(patients, tmp_path, sides):
    """THEORY 8.2: whatever is known, at least ten people fit, and the person is one of them."""
    result, found = neighbour_of(patients, tmp_path / "r", mechanism="cells", **sides)
    assert result.verdict in ("within the promise", "not detectably better than the prior")
    assert found.after.found == 0
    assert found.after.nobody == 0
    assert found.after.candidates >= 10
    assert found.after.secret_right < found.knowing + 0.1 < found.before.secret_right
    for column in found.columns:
        assert column.knowing - 0.03 < column.after < column.knowing + 0.2


def test_what_is_known_need_not_be_released_and_must_be_in_the_table(tmp_path):
    people = pa.table(clinic(2000))
    protect(people, secret="illness", released=["ward", "district"], epsilon=1, out=tmp_path / "r", random_state=0)
    found = attack(tmp_path / "r", against=people, known="age", records=300).linkage[0]
    assert found.known == ("age",)
    assert found.after.candidates == found.before.candidates == 2000
    with pytest.raises(ColumnError, match="no column 'shoe'"):
        attack(tmp_path / "r", against=people, known="shoe", records=300)


def test_without_anything_known_all_columns_but_the_most_telling_are(tmp_path):
    people = pa.table(clinic(2000))
    protect(people, secret="illness", epsilon=1, out=tmp_path / "r", random_state=0)
    first, everything = attack(tmp_path / "r", against=people, records=300).linkage
    assert first.known == ("age", "district")
    assert [column.name for column in first.columns] == ["ward"]
    assert everything.known == ("age", "ward", "district")
    assert everything.before.secret_right == everything.knowing
