"""A secret that is a number, bounded at every threshold of it: from the table to the release, and back by verify."""

from __future__ import annotations

import json
import math
import shutil
from pathlib import Path

import numpy as np
import pytest

from papers import write_paper
from sizes import many
from tables_of_people import read_csv, write_csv
from tacit import ArgumentError, SourceError, attack, protect, verify

FLOOR = 0.2


def people(n: int, seed: int = 0) -> dict[str, list[str]]:
    """A table whose income follows from age and job in part; numbers of different lengths, as a CSV has them."""
    rng = np.random.default_rng(seed)
    age, job = rng.integers(18, 70, n), rng.choice(["baker", "clerk", "nurse"], n)
    income = np.exp(6.9 + 0.01 * age + 0.2 * (job == "nurse") + 0.7 * rng.normal(size=n)).round()
    return {"age": [str(a) for a in age], "job": list(job), "income": [f"{value:.0f}" for value in income]}


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    place = tmp_path_factory.mktemp("numbers")
    write_csv(place / "people.csv", people(1_500))
    protect(place / "people.csv", secret="income", epsilon=0.5, thresholds=FLOOR, out=place / "release")
    return place


@pytest.fixture
def release(folder: Path, tmp_path: Path) -> Path:
    return Path(shutil.copytree(folder / "release", tmp_path / "release"))


def worst_threshold(income: list[str], cells: list[tuple[str, ...]], floor: float) -> float:
    """The largest log-lift over cells and events, counted the slow way."""
    numbers, found = np.array([value or "nan" for value in income], float), 0.0
    names = {cell: number for number, cell in enumerate(dict.fromkeys(cells))}
    label = np.array([names[cell] for cell in cells])
    gap = np.isnan(numbers)
    for t in np.unique(numbers[~gap]):
        # What is missing is neither at most t nor more; it is bounded beside either, and by itself.
        for event in (numbers <= t, numbers > t, (numbers <= t) | gap, (numbers > t) | gap, gap, ~gap):
            share = event.mean()
            if share >= floor:
                own = np.bincount(label, event) / np.bincount(label)
                found = max(found, *(abs(math.log(each / share)) if each > 0 else math.inf for each in own))
    return found


def changed(release: Path, **fields: object) -> None:
    path = release / "certificate.json"
    write_paper(path, {**json.loads(path.read_text("utf-8")), **fields})


def test_every_threshold_of_the_file_itself_is_within_the_bound_and_as_certified(folder: Path) -> None:
    told, given = read_csv(folder / "release" / "data.csv"), read_csv(folder / "people.csv")
    cells = list(zip(told["age"], told["job"], strict=True))
    certificate = json.loads((folder / "release" / "certificate.json").read_text("utf-8"))
    worst = worst_threshold(given["income"], cells, FLOOR)
    assert len(set(cells)) > 2
    assert 0 < worst <= 0.5
    assert certificate["attained_epsilon"] == pytest.approx(worst)
    assert certificate["thresholds"] == FLOOR
    assert "'income is at most t' or 'income is more than t' that covers at least 0.2 of all" in certificate["claim"]
    assert any("a range between two thresholds" in line for line in certificate["assumptions"])
    assert all(measure["promise"] is None for measure in certificate["measures"])


def broken(release: Path, table: Path) -> set[str]:
    return {check.name for check in verify(release, against=table).checks if check.passed is False}


def test_verify_recomputes_every_threshold(folder: Path) -> None:
    found = verify(folder / "release", against=folder / "people.csv")
    assert found.verdict == "holds"
    assert {check.name: check.passed for check in found.checks}["epsilon is kept"]


@pytest.mark.long
def test_a_certificate_that_claims_more_of_the_tails_of_values_or_of_leakage_is_broken(
    folder: Path, release: Path
) -> None:
    shutil.rmtree(release / "private")
    changed(release, thresholds=0.01)
    assert {"attained epsilon", "epsilon is kept"} <= broken(release, folder / "people.csv")
    changed(release, thresholds=None)
    assert {"attained epsilon", "epsilon is kept"} <= broken(release, folder / "people.csv")
    changed(release, thresholds=FLOOR, attained_epsilon=0.01)
    assert "attained epsilon" in broken(release, folder / "people.csv")


def test_a_certificate_of_thresholds_that_can_be_none_is_refused(folder: Path, release: Path) -> None:
    for change in ({"secret_values": ["1"]}, {"secret": ["income", "job"]}, {"thresholds": 0.7}):
        before = (release / "certificate.json").read_text("utf-8")
        changed(release, **change)
        with pytest.raises(SourceError, match="certificate"):
            verify(release, against=folder / "people.csv")
        (release / "certificate.json").write_text(before, "utf-8")


def test_another_original_breaks_the_claim(folder: Path, release: Path, tmp_path: Path) -> None:
    shutil.rmtree(release / "private")
    given = read_csv(folder / "people.csv")
    given["income"] = [str(int(age) * 100) for age in given["age"]]
    write_csv(tmp_path / "other.csv", given)
    assert "epsilon is kept" in broken(release, tmp_path / "other.csv")


def test_the_next_batch_is_bounded_at_its_own_thresholds(folder: Path, tmp_path: Path) -> None:
    write_csv(tmp_path / "next.csv", people(700, seed=1))
    rules = folder / "release" / "private" / "rules.json"
    result = protect(tmp_path / "next.csv", rules=rules, out=tmp_path / "release")
    told = read_csv(tmp_path / "release" / "data.csv")
    worst = worst_threshold(people(700, seed=1)["income"], list(zip(told["age"], told["job"], strict=True)), FLOOR)
    assert result.certificate.attained_epsilon == pytest.approx(worst)
    assert result.certificate.thresholds == FLOOR
    assert worst <= 0.5


@pytest.mark.long
def test_thresholds_are_proved_of_the_people_the_records_were_drawn_from(tmp_path: Path) -> None:
    write_csv(tmp_path / "people.csv", people(4_000))
    settings = {"secret": "income", "epsilon": 0.7, "thresholds": 0.3, "confidence": 0.9}
    certificate = protect(tmp_path / "people.csv", out=tmp_path / "release", **settings).certificate
    assert certificate.mechanism.values > 1
    assert "at any threshold" in certificate.readings[1].sentence
    found = verify(tmp_path / "release", against=tmp_path / "people.csv")
    assert found.verdict == "holds"
    assert {check.name: check.passed for check in found.checks}["proof from the records"]


@pytest.mark.parametrize("share", [0.4, 0.03][: many(1, 2)])
def test_what_is_missing_is_beyond_no_threshold_and_an_event_of_its_own(share: float, tmp_path: Path) -> None:
    given, rng = people(1_000), np.random.default_rng(3)
    # The young say less often what they earn.
    gaps = rng.random(1_000) < share * np.where(np.array(given["age"], int) < 40, 1.5, 0.5)
    given["income"] = ["" if gap else value for gap, value in zip(gaps, given["income"], strict=True)]
    write_csv(tmp_path / "gaps.csv", given)
    settings = {"secret": "income", "epsilon": 0.5, "thresholds": FLOOR}
    made = protect(tmp_path / "gaps.csv", **settings, out=tmp_path / "release")
    told = read_csv(tmp_path / "release" / "data.csv")
    cells = list(zip(told["age"], told["job"], strict=True))
    assert len(set(cells)) > 2
    worst = worst_threshold(given["income"], cells, FLOOR)
    assert made.certificate.attained_epsilon == pytest.approx(worst)
    assert worst <= 0.5
    assert verify(tmp_path / "release", against=tmp_path / "gaps.csv").verdict == "holds"


def test_an_attack_guesses_the_side_of_the_middle_and_finds_the_promise_kept(folder: Path) -> None:
    found = attack(folder / "release", against=folder / "people.csv")
    assert found.prior_guess == pytest.approx(0.5, abs=0.02)
    assert found.optimal_after <= found.guessing_bound < 0.9
    assert found.optimal_before > found.optimal_after
    assert found.verdict == "within the promise"


def test_what_has_no_thresholds_is_refused(folder: Path, tmp_path: Path) -> None:
    table, out = folder / "people.csv", tmp_path / "out"
    with pytest.raises(ArgumentError, match="column of numbers"):
        protect(table, secret="job", epsilon=0.5, thresholds=0.1, out=out)
    with pytest.raises(ArgumentError, match="column of numbers"):
        protect(table, secret=["income", "job"], epsilon=0.5, thresholds=0.1, out=out)
    with pytest.raises(ArgumentError, match="mechanism"):
        protect(table, secret="income", epsilon=0.5, thresholds=0.1, mechanism="watchdog", out=out)
    with pytest.raises(ArgumentError, match="without a delta"):
        protect(table, secret="income", epsilon=0.5, thresholds=0.1, delta=0.01, out=out)
    with pytest.raises(ArgumentError, match="above 0"):
        protect(table, secret="income", epsilon=0.5, thresholds=0, out=out)
    with pytest.raises(ArgumentError, match="by its values"):
        protect(table, secret="income", epsilon=0.5, thresholds=0.1, also={("income", "job"): 0.5}, out=out)
