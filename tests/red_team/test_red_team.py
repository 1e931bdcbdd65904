"""Attacks on releases that once got through."""

from __future__ import annotations

import hashlib
import json
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from papers import write_paper
from sizes import few
from tacit import protect, verify
from tacit.errors import ArgumentError, SourceError
from tacit.release import LiftBounds, population_sentence


@pytest.fixture(scope="module")
def people(tmp_path_factory: pytest.TempPathFactory) -> Path:
    rng = np.random.default_rng(0)
    n = 4_000
    race, sex = rng.choice(["a", "b", "c"], n, p=[0.5, 0.3, 0.2]), rng.choice(["m", "f"], n)
    job = np.where(rng.random(n) < 0.35, np.char.add("j", race), rng.choice(["j1", "j2", "j3", "j4"], n))
    age = np.where((rng.random(n) < 0.3) & (sex == "m"), "old", rng.choice(["young", "mid", "old"], n))
    path = tmp_path_factory.mktemp("people") / "people.csv"
    pd.DataFrame({"race": race, "sex": sex, "job": job, "age": age}).to_csv(path, index=False)
    return path


def _sorted_by_sex(release: Path, original: Path) -> None:
    """Deal the outputs of the records of each race and value anew: they tell the sex, and nothing of the race."""
    people, data = pd.read_csv(original), pd.read_csv(release / "data.csv")
    dealt = data.copy()
    for rows in people.groupby(["race", "job", "age"]).indices.values():
        outputs = sorted(map(tuple, data.iloc[rows].to_numpy()))
        by_sex = rows[np.argsort(people["sex"].to_numpy()[rows], kind="stable")]
        dealt.iloc[by_sex] = outputs
    _publish(dealt, release)


def _publish(data: pd.DataFrame, release: Path) -> None:
    data.to_csv(release / "data.csv", index=False)
    certificate = json.loads((release / "certificate.json").read_text("utf-8"))
    certificate["output"]["sha256"] = hashlib.sha256((release / "data.csv").read_bytes()).hexdigest()
    write_paper(release / "certificate.json", certificate)


@pytest.mark.parametrize("mechanism", few(["optimal", "watchdog"]))
def test_draws_that_tell_a_further_secret_are_found_out(people: Path, tmp_path: Path, mechanism: str) -> None:
    release = tmp_path / "release"
    protect(people, secret="race", epsilon=0.4, also={"sex": 0.3}, mechanism=mechanism, out=release)  # type: ignore[arg-type]
    assert verify(release, against=people).verdict == "holds"
    _sorted_by_sex(release, people)
    result = verify(release, against=people)
    assert result.verdict == "broken"
    failed = {check.name for check in result.checks if check.passed is False}
    assert failed - {"what readers keep"} == {"every row is as the rules make it"}


@pytest.mark.parametrize("mechanism", few(["optimal", "watchdog"]))
def test_draws_that_follow_the_weight_are_found_out(tmp_path: Path, mechanism: str) -> None:
    rng = np.random.default_rng(0)
    n = 4_000
    ill, weight = rng.choice(["yes", "no"], n), rng.choice([1.0, 20.0], n)
    town = np.where(rng.random(n) < 0.5, np.where(ill == "yes", "p", "q"), rng.choice(["p", "q", "r", "t"], n))
    people, release = pd.DataFrame({"ill": ill, "weight": weight, "town": town}), tmp_path / "release"
    people.to_csv(tmp_path / "people.csv", index=False)
    protect(tmp_path / "people.csv", secret="ill", weight="weight", epsilon=0.3, mechanism=mechanism, out=release)  # type: ignore[arg-type]
    assert verify(release, against=tmp_path / "people.csv").verdict == "holds"
    data = pd.read_csv(release / "data.csv")
    for (one, _), rows in people.groupby(["ill", "town"]).indices.items():
        # As many records of each output as before, but other ones: the heavy of the ill, the light of the others.
        heavy = weight[rows] if one == "yes" else -weight[rows]
        data.iloc[rows[np.argsort(heavy, kind="stable")], 0] = np.sort(data["town"].to_numpy()[rows])
    _publish(data, release)
    assert verify(release, against=tmp_path / "people.csv").verdict == "broken"


def test_a_batch_by_the_rules_of_a_mixture_keeps_epsilon_where_it_would_spend_more_than_delta(tmp_path: Path) -> None:
    first = {("a", "x"): 11, ("b", "x"): 6, ("c", "x"): 2, ("d", "x"): 3, ("e", "x"): 3, ("b", "y"): 8, ("e", "y"): 3}
    second = {("a", "x"): 22, ("c", "x"): 3, ("d", "x"): 3, ("e", "x"): 3, ("b", "y"): 5, ("e", "y"): 3}
    for name, counts in (("first", first), ("second", second)):
        rows = [pair for pair, number in counts.items() for _ in range(number)]
        pd.DataFrame(rows, columns=["secret", "value"]).to_csv(tmp_path / f"{name}.csv", index=False)
    words = {"secret": "secret", "epsilon": 1.0}
    made = protect(tmp_path / "first.csv", **words, mechanism="optimal", out=tmp_path / "one")
    assert made.certificate.mechanism.replacement == "mixture"
    # A mixture is made without a delta; its rules may have got one from an older Tacit.
    rules = json.loads((tmp_path / "one/private/rules.json").read_text())
    rules["bounds"] |= {"delta": 0.1, "delta_kind": "egamma"}
    (tmp_path / "rules.json").write_text(json.dumps(rules))
    again = protect(tmp_path / "second.csv", rules=tmp_path / "rules.json", out=tmp_path / "two")
    assert again.certificate.holds
    protect(tmp_path / "first.csv", **words, delta=0.1, delta_kind="egamma", least=2, out=tmp_path / "cells")
    cells = protect(tmp_path / "second.csv", rules=tmp_path / "cells/private/rules.json", out=tmp_path / "three")
    assert cells.certificate.holds
    assert verify(tmp_path / "three", against=tmp_path / "second.csv").verdict == "holds"


def test_a_proof_from_a_sample_says_that_it_is_about_the_secrets_that_were_seen(tmp_path: Path) -> None:
    rng = np.random.default_rng(0)
    people = pd.DataFrame({"secret": rng.choice(["a", "b"], 8_000), "value": rng.choice(["x", "y", "z"], 8_000)})
    people.to_csv(tmp_path / "people.csv", index=False)
    made = protect(tmp_path / "people.csv", secret="secret", epsilon=0.5, confidence=0.95, out=tmp_path / "release")
    assert "contain every value that the secret has" in made.certificate.readings[1].sentence
    assert verify(tmp_path / "release", against=tmp_path / "people.csv").verdict == "holds"


def test_the_first_reading_is_certain_or_the_certificate_is_damaged(people: Path, tmp_path: Path) -> None:
    release = tmp_path / "release"
    protect(people, secret="race", epsilon=0.4, drop="sex", out=release)
    whole = json.loads((release / "certificate.json").read_text("utf-8"))
    for field, value in (("confidence", 2.0), ("proof", {"passed": 7})):
        whole["readings"][0] |= {field: value}
        write_paper(release / "certificate.json", whole)
        with pytest.raises(SourceError, match="damaged"):
            verify(release)


def test_an_epsilon_that_bounds_no_side_is_refused(people: Path, tmp_path: Path) -> None:
    with pytest.raises(ArgumentError, match="leave out"):
        protect(people, secret="race", epsilon=0.1, epsilon_low=0.3, epsilon_high=0.2, out=tmp_path / "release")


def test_the_first_reading_is_about_its_secret_and_never_rounded_down() -> None:
    told = population_sentence(0.123441, LiftBounds.within(0.2))
    assert told.endswith("no log-lift of the secret is beyond 0.1235 nats.")
    assert population_sentence(0.4 + 1e-10, LiftBounds.within(0.4)).endswith("beyond 0.4 nats.")
