"""Proofs from a sample: what is certified of people who are not in the table is true of them, as often as it says."""

from __future__ import annotations

import json
import re
import shutil
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from scipy.stats import binom

from papers import write_paper
from sizes import few, many
from tables_of_people import clinic, merged_in, read_csv, write_csv
from tacit import ArgumentError, NotCertifiedError, protect, verify
from tacit.lenses.table.mechanisms import ReleaseGoal, plan_by_goal
from tacit.lenses.table.question import ask
from tacit.lenses.table.tabulating import Counted, counted
from tacit.lift import confident
from tacit.release import LiftBounds, Merging, Reading, decoded
from tacit.release.claims import NOT_PROVED, sample_sentence
from tacit.requests import Question


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Many people, and a release that is proved with 90% confidence."""
    place = tmp_path_factory.mktemp("proofs")
    people = write_csv(place / "people.csv", clinic(40_000))
    protect(
        people,
        secret="illness",
        epsilon=0.8,
        confidence=0.9,
        mechanism="watchdog",
        out=place / "release",
        random_state=0,
    )
    return place


@pytest.fixture
def release(folder: Path, tmp_path: Path) -> Path:
    return Path(shutil.copytree(folder / "release", tmp_path / "release"))


def paper(release: Path) -> dict[str, Any]:
    return json.loads((release / "certificate.json").read_text("utf-8"))


def edit_reading(release: Path, **changes: Any) -> None:
    """Change the second reading, and its sentence with it."""
    whole = paper(release)
    first, second = whole["readings"]
    inner = {name: changes.pop(name) for name in [*changes] if name in (second["proof"] or {})}
    second |= changes
    second["proof"] = {**second["proof"], **inner} if inner else second["proof"]
    if "sentence" not in changes:
        second["sentence"] = sample_sentence(decoded(Reading, second), LiftBounds.within(whole["epsilon"]))
    write_paper(release / "certificate.json", {**whole, "readings": [first, second]})


def failed(result: Any) -> set[str]:
    return {check.name for check in result.checks if check.passed is False}


# Coverage


# P(x) and P(s | x): three values that say nothing, four a hair beyond 0.5 nats, and some that balance them.
MASS = np.array([0.2, 0.15, 0.15, 0.06, 0.06, 0.06, 0.06, 0.13, 0.13])
GIVEN = np.array([0.3, 0.3, 0.3, 0.505, 0.505, 0.505, 0.505, 0.111, 0.111])
POPULATION = np.stack([MASS * GIVEN, MASS * (1 - GIVEN)])
NAMES = [f"v{k}" for k in range(len(MASS))]


def sample_of(n: int, rng: np.random.Generator) -> Counted:
    """The counts of a random sample of the population."""
    counts = rng.multinomial(n, POPULATION.ravel()).reshape(POPULATION.shape)
    secret, value = np.repeat(np.array(list(np.ndindex(*counts.shape))), counts.ravel(), axis=0).T
    table = pa.table({"s": np.array(["yes", "no"])[secret], "x": np.array(NAMES)[value]})
    return counted(ask(Question(table, secret="s")))


def lifts_in_the_population(found: Counted, treatment: Any) -> np.ndarray:
    """Log-lifts of such a release of everyone; values that were never sampled are merged."""
    assert isinstance(treatment, Merging)
    known = [found.symbols.values(k)["x"] for k in range(len(found.symbols))]
    kept = np.array([name in known and not treatment.merged[known.index(name)] for name in NAMES])
    output = np.column_stack([POPULATION[:, kept], POPULATION[:, ~kept].sum(axis=1)])
    return np.asarray(np.log(output / output.sum(axis=0) / POPULATION.sum(axis=1, keepdims=True)))


def test_the_population_is_at_the_edge() -> None:
    lifts = np.log(POPULATION / MASS / POPULATION.sum(axis=1, keepdims=True))
    assert np.all((np.abs(lifts).max(axis=0) > 0.5) == [False] * 3 + [True] * 6)
    assert 0.5 < np.abs(lifts[:, 3:7]).max() < 0.53


def test_false_certifications_are_as_rare_as_the_confidence_says() -> None:
    trials, confidence = many(30, 120), 0.8
    rng = np.random.default_rng(1)
    false, counted_false, kept = 0, 0, 0
    for _ in range(trials):
        found = sample_of(2500, rng)
        made = plan_by_goal(found, ReleaseGoal(LiftBounds.within(0.5), confidence=confidence))
        kept += int((~made.rules.treatment.changed).sum())
        false += np.abs(lifts_in_the_population(found, made.rules.treatment)).max() > 0.5 + 1e-9
        plainly = plan_by_goal(found, ReleaseGoal(LiftBounds.within(0.5), mechanism="watchdog"))
        counted_false += np.abs(lifts_in_the_population(found, plainly.rules.treatment)).max() > 0.5 + 1e-9
    assert kept >= 2 * trials
    assert false <= binom.ppf(0.999, trials, 1 - confidence)
    # What is only counted is false of the people more often than not; so the test could have failed.
    assert counted_false > trials / 2 > binom.ppf(0.999, trials, 1 - confidence)


def test_a_proved_release_keeps_the_bounds_on_the_table_too() -> None:
    rng = np.random.default_rng(2)
    for _ in range(10):
        made = plan_by_goal(sample_of(2500, rng), ReleaseGoal(LiftBounds.within(0.5), confidence=0.8))
        assert made.attained.epsilon <= 0.5 + 1e-9


# What a certificate says of it


def test_the_certificate_has_both_readings(folder: Path) -> None:
    made = paper(folder / "release")
    population, sample = made["readings"]
    assert (population["name"], population["confidence"]) == ("population", 1.0)
    assert (sample["name"], sample["confidence"]) == ("sample", 0.9)
    assert sample["proof"]["records_to_choose"] + sample["proof"]["records_to_prove"] == 40_000
    assert (
        0
        < sample["proof"]["kept"]
        <= sample["proof"]["passed"]
        <= sample["proof"]["candidates"]
        < made["mechanism"]["values"]
    )
    assert made["mechanism"]["values"] - made["mechanism"]["values_merged"] == sample["proof"]["kept"]
    assert "90.0% confidence" in sample["sentence"]
    assert any("90.0% confidence" in text for text in made["assumptions"])
    assert made["attained_epsilon"] <= 0.8


def test_without_a_confidence_nothing_is_said_to_be_proved(folder: Path, tmp_path: Path) -> None:
    protect(folder / "people.csv", secret="illness", epsilon=0.8, out=tmp_path / "r")
    assert paper(tmp_path / "r")["readings"][1]["confidence"] is None
    assert paper(tmp_path / "r")["readings"][1]["sentence"] == NOT_PROVED
    edit_reading(tmp_path / "r", sentence="It is proved for everyone.")
    assert failed(verify(tmp_path / "r", against=folder / "people.csv"))


@pytest.mark.parametrize(("confidence", "words"), [(0.95, "95.0%"), (0.9996, "99.9%"), (0.999999, "99.9%")])
def test_a_confidence_is_never_rounded_up(confidence: float, words: str) -> None:
    assert confident(confidence) == words


def test_one_set_is_merged_and_all_else_stays(folder: Path) -> None:
    merged = set(merged_in(folder / "release"))
    original, released = read_csv(folder / "people.csv"), read_csv(folder / "release" / "data.csv")
    before, after = (list(zip(*(table[name] for name in released), strict=True)) for table in (original, released))
    assert 1 < len(merged) < len(set(before))
    assert all(x == y for x, y in zip(before, after, strict=True) if x not in merged)
    assert all(y in merged for x, y in zip(before, after, strict=True) if x in merged)


def test_the_same_records_are_dealt_the_same_way(folder: Path, tmp_path: Path) -> None:
    """Nobody can deal again until the proof pleases; the order of the records has no part in it."""
    columns = read_csv(folder / "people.csv")
    turned = write_csv(tmp_path / "turned.csv", {name: values[::-1] for name, values in columns.items()})
    protect(turned, secret="illness", epsilon=0.8, confidence=0.9, mechanism="watchdog", out=tmp_path / "r")
    assert paper(tmp_path / "r")["readings"] == paper(folder / "release")["readings"]


@pytest.mark.long
def test_one_side_alone_is_proved_with_fewer_records(folder: Path, tmp_path: Path) -> None:
    words = {"secret": "illness", "confidence": 0.9}
    one = protect(folder / "people.csv", **words, epsilon_high=0.8, out=tmp_path / "r").certificate
    assert one.utility.nmil <= paper(folder / "release")["utility"]["nmil"]
    assert "below" not in one.readings[1].sentence
    assert verify(tmp_path / "r", against=folder / "people.csv").verdict == "holds"


# Verification


def test_the_proof_is_made_again(release: Path, folder: Path) -> None:
    result = verify(release, against=folder / "people.csv")
    assert (result.verdict, failed(result)) == ("holds", set())
    assert next(check for check in result.checks if check.name == "proof from the records").passed
    shutil.rmtree(release / "private")
    result = verify(release, against=folder / "people.csv")
    assert (result.verdict, failed(result)) == ("not checked", set())
    assert next(check for check in result.checks if check.name == "proof from the records").passed


PROOFS: list[dict[str, Any]] = [
    {"confidence": 0.999},
    {"passed": 12},
    {"kept": 12},
    {"candidates": 9},
    {"records_to_choose": 100},
    {"records_to_prove": 39_900},
]


# To the owner and to others in turn, or each to both.
@pytest.mark.parametrize(
    ("changes", "owner"), few([(each, (k + j) % 2 == 0) for k, each in enumerate(PROOFS) for j in range(many(1, 2))], 3)
)
def test_an_edited_proof_is_found_out(release: Path, folder: Path, changes: dict[str, Any], owner: bool) -> None:
    edit_reading(release, **changes)
    if not owner:
        shutil.rmtree(release / "private")
    assert "proof from the records" in failed(verify(release, against=folder / "people.csv"))


def test_an_edited_sentence_of_the_proof_is_found_out(release: Path, folder: Path) -> None:
    edit_reading(release, sentence="It is certain.")
    assert failed(verify(release, against=folder / "people.csv"))


@pytest.mark.long
def test_a_release_that_keeps_more_than_was_proved_is_found_out(folder: Path, tmp_path: Path) -> None:
    """The readings of a proved release in the certificate of another, which keeps more."""
    people = folder / "people.csv"
    protect(people, secret="illness", epsilon=0.5, confidence=0.9, mechanism="watchdog", out=tmp_path / "proved")
    protect(people, secret="illness", epsilon=0.5, mechanism="watchdog", out=tmp_path / "r")
    proved, plain = paper(tmp_path / "proved"), paper(tmp_path / "r")
    assert plain["mechanism"]["values_merged"] < proved["mechanism"]["values_merged"]
    plain |= {"readings": [plain["readings"][0], proved["readings"][1]], "assumptions": proved["assumptions"]}
    write_paper(tmp_path / "r" / "certificate.json", plain)
    assert "proof from the records" in failed(verify(tmp_path / "r", against=people))


# Refusals


@pytest.mark.long
def test_too_few_records_say_what_they_can_prove_and_how_many_would_do(tmp_path: Path) -> None:
    people = write_csv(tmp_path / "p.csv", clinic(3000))
    with pytest.raises(NotCertifiedError) as caught:
        protect(people, secret="illness", epsilon=0.8, confidence=0.9, mechanism="watchdog", out=tmp_path / "r")
    text = str(caught.value)
    assert text.startswith("3,000 records do not prove 0.8 nats with 90.0% confidence")
    assert "nothing was written" in text
    assert re.search(r"About [\d,]+ records like these", text)
    assert [path.name for path in tmp_path.iterdir()] == ["p.csv"]
    both = re.search(r"certify ([\d.]+) nats both ways", text)
    high = re.search(r"certify ([\d.]+) nats of how much", text)
    assert both is not None
    assert high is not None
    for side, hint in (("epsilon", both), ("epsilon_high", high)):
        words = {"secret": "illness", "confidence": 0.9, side: float(hint[1])}
        assert protect(people, **words, out=tmp_path / side).certificate.readings[1].confidence == 0.9
        assert verify(tmp_path / side, against=people).verdict == "holds"


@pytest.mark.parametrize(
    ("words", "message"),
    [
        ({"delta": 0.1}, "without a delta"),
        ({"also": {"age": 0.5}, "mechanism": "watchdog"}, "takes one secret"),
        ({"mechanism": "cells+mix"}, "takes one merged set"),
        ({"mechanism": "optimal"}, "takes one merged set"),
        ({"mechanism": "subsets"}, "takes one merged set"),
        ({"confidence": 1.0}, "confidence is a probability"),
        ({"confidence": 0.3}, "confidence is a probability"),
        ({"confidence": float("nan")}, "confidence=nan cannot be used"),
    ],
)
def test_what_cannot_be_proved_is_refused(tmp_path: Path, words: dict[str, Any], message: str) -> None:
    people = write_csv(tmp_path / "p.csv", clinic(300))
    with pytest.raises(ArgumentError, match=message):
        protect(people, **{"secret": "illness", "epsilon": 0.8, "confidence": 0.9, "out": tmp_path / "r", **words})
    assert not (tmp_path / "r").exists()


def test_weighted_records_prove_nothing(tmp_path: Path) -> None:
    people = write_csv(tmp_path / "p.csv", {**clinic(300), "w": [1 + i % 2 for i in range(300)]})
    with pytest.raises(ArgumentError, match="leave out weight"):
        protect(people, secret="illness", epsilon=0.8, confidence=0.9, weight="w", out=tmp_path / "r")
    assert not (tmp_path / "r").exists()


def test_suppression_beside_a_kept_missing_value_is_refused(tmp_path: Path) -> None:
    rng = np.random.default_rng(0)
    secret = rng.choice(["a", "b"], 20_000)
    value = np.where(rng.random(20_000) < 0.2, np.where(secret == "a", "p", "q"), "r").astype(object)
    value[rng.random(20_000) < 0.4] = None
    table = pa.table({"s": secret, "x": pa.array(value.tolist(), pa.string())})
    words = {"secret": "s", "epsilon": 0.3, "confidence": 0.9}
    with pytest.raises(ArgumentError, match="only missing values"):
        protect(table, **words, replacement="suppress", out=tmp_path / "r")
    assert not (tmp_path / "r").exists()
    protect(table, **words, replacement="merge", out=tmp_path / "r")
    assert verify(tmp_path / "r", against=table).verdict == "holds"
