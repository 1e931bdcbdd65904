"""Attack: adversaries find a planted leak, lose it on the release, and beat the best possible by luck at most."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest
from scipy.stats import binom

from sizes import many
from tables_of_people import clinic, write_csv
from tacit import ArgumentError, DataError, attack, protect
from tacit.learn import binomial_limits
from tacit.lenses.bench.weighing import Beliefs, beyond_chance
from tacit.lenses.table.families import Lookup, threads_for


@pytest.fixture(scope="module")
def attacked(tmp_path_factory: pytest.TempPathFactory) -> object:
    folder = tmp_path_factory.mktemp("attack")
    people = write_csv(folder / "people.csv", clinic(many(3000, 6000)))
    protect(people, secret="illness", epsilon=0.4, out=folder / "release", random_state=0)
    return attack(folder / "release", against=people)


def test_adversaries_win_on_the_original_and_not_on_the_release(attacked) -> None:
    assert attacked.best_before > attacked.prior_guess + 0.03
    assert attacked.best_after < attacked.best_before - 0.02
    assert attacked.verdict != "promise broken"
    assert "proves nothing; the certificate does." in " ".join(str(attacked).split())


def test_no_adversary_beats_the_best_possible_by_more_than_luck(attacked) -> None:
    margin = 4 * np.sqrt(0.25 / attacked.tested_on)
    assert attacked.best_before <= attacked.optimal_before + margin
    assert attacked.best_after <= attacked.optimal_after + margin
    assert attacked.optimal_after <= attacked.guessing_bound + 1e-9
    assert attacked.prior_guess <= attacked.optimal_after + 1e-9 <= attacked.optimal_before


def test_families_are_switched_off_by_name_and_people_stay_together(attacked, tmp_path: Path) -> None:
    assert [each.score.name for each in attacked.families] == ["trees", "linear", "lookup"]
    assert all(each.worst >= each.surely for each in attacked.families)
    # Each person is there three times: whoever meets a person again looks up the secret.
    columns = {name: [value for value in values for _ in range(3)] for name, values in clinic(100).items()}
    columns["exact"] = [f"e{k // 3}" for k in range(300)]
    columns["who"] = [f"person {k // 3}" for k in range(300)]
    people = write_csv(tmp_path / "people.csv", columns)
    protect(people, secret="illness", drop="who", epsilon=5, least=1, out=tmp_path / "r", random_state=0)
    only = {"against": people, "without": ["trees", "linear", "linkage"]}
    alone, together = (attack(tmp_path / "r", **only, group=group).best_before for group in (None, "who"))
    assert alone > 0.9
    assert together < 0.8
    with pytest.raises(ArgumentError, match="leaves no adversary"):
        attack(tmp_path / "r", against=people, without=["trees", "linear", "lookup"])


@pytest.mark.long
def test_a_release_that_tells_the_secret_breaks_the_promise(tmp_path: Path) -> None:
    """Positive control: the certificate claims what the data does not keep."""
    columns = clinic(3000)
    people = write_csv(tmp_path / "people.csv", columns)
    protect(people, secret="illness", epsilon=0.05, out=tmp_path / "release")
    write_csv(
        tmp_path / "release" / "data.csv",
        {"age": columns["illness"], "ward": columns["ward"], "district": columns["district"]},
    )
    result = attack(tmp_path / "release", against=people)
    assert result.verdict == "promise broken"
    assert max(a.retrained for a in result.adversaries) > 0.99


@pytest.fixture(scope="module")
def hardly_trained(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Path]:
    folder = tmp_path_factory.mktemp("hardly")
    people = write_csv(folder / "people.csv", clinic(many(3000, 6000)))
    protect(people, secret="illness", epsilon=2, out=folder / "release", random_state=0)
    return folder / "release", people


def test_the_verdict_does_not_say_less_than_the_best_possible_guess(hardly_trained: tuple[Path, Path]) -> None:
    """Adversaries trained on sixty-seven records learn nothing; that others could is counted exactly."""
    release, people = hardly_trained
    result = attack(release, against=people, records=100)
    assert result.tested_on == 100
    assert result.optimal_after > result.prior_guess + 0.01
    assert result.verdict == "within the promise"
    assert f"the best possible guess is right {result.optimal_after:.1%}" in result.headline


def test_a_best_possible_guess_beyond_the_promise_breaks_it(
    hardly_trained: tuple[Path, Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    release, people = hardly_trained
    monkeypatch.setattr("tacit.lenses.table.attack._bound", lambda certificate, prior: float(prior.max()))
    assert attack(release, against=people, records=100).verdict == "promise broken"


def skewed(n: int, told: float) -> pa.Table:
    """A secret that 24% have: in each of four wards the commonest guess is that nobody has it."""
    rng = np.random.default_rng(0)
    ward = rng.integers(4, size=n)
    ill = rng.random(n) < 0.24 + told * (ward - 1.5) / 1.5
    other = rng.integers(50, size=n)
    return pa.table({"ward": [f"ward {w}" for w in ward], "other": other, "illness": np.where(ill, "ill", "well")})


@pytest.mark.long
def test_a_leak_that_changes_no_guess_is_found_by_ranking(tmp_path: Path) -> None:
    people = skewed(3000, 0.2)
    protect(people, secret="illness", epsilon=3, out=tmp_path / "r")
    result = attack(tmp_path / "r", against=people)
    assert result.best_after <= result.prior_guess + 0.01
    assert min(result.chance_before, result.chance_after) == 0.01
    assert max(each.before.auc for each in result.weighed) > 0.65
    assert max(each.before.gain for each in result.weighed) > 0.02
    assert result.verdict == "within the promise"
    assert "AUC" in str(result)


def test_where_the_original_tells_nothing_the_release_is_not_called_safe(tmp_path: Path) -> None:
    people = skewed(1500, 0.0)
    protect(people, secret="illness", epsilon=0.3, least=200, out=tmp_path / "r")
    result = attack(tmp_path / "r", against=people)
    assert min(result.chance_before, result.chance_after) > 0.05
    assert result.verdict == "nothing to be found, even in the original"
    assert result.document().badge.tone == "doubt"
    assert "not put to the test" in result.headline
    # The best possible guess may do better, so the words are about adversaries, and what chance does is a bound.
    assert "even on the original no adversary surely beats chance" in result.headline
    assert "chance alone does as well up to" in result.as_text()


def test_beliefs_are_worth_what_pairs_and_logarithms_say() -> None:
    rng = np.random.default_rng(1)
    secret, prior = rng.integers(3, size=80), np.full(3, 1 / 3)
    chances = rng.dirichlet(np.ones(3), size=80).round(1) + 0.01
    chances /= chances.sum(axis=1, keepdims=True)
    worth = Beliefs(chances, secret).worth(prior)
    areas = [
        np.mean([(a > b) + (a == b) / 2 for a in chances[secret == s, s] for b in chances[secret != s, s]])
        for s in range(3)
    ]
    assert worth.auc == pytest.approx(np.average(areas, weights=np.bincount(secret)))
    assert worth.gain == pytest.approx(np.mean(np.log(chances[np.arange(80), secret] * 3)))
    assert worth.auc_interval[0] < worth.auc < worth.auc_interval[1]


def test_chance_alone_is_found_as_often_as_it_should_be_and_a_weak_leak_is_found() -> None:
    rng = np.random.default_rng(2)

    def found(told: float) -> float:
        secret = (rng.random(300) < 0.24).astype(np.int64)
        score = np.clip(0.24 + told * (secret - 0.24) + 0.1 * rng.normal(size=300), 0.01, 0.6)
        several = [np.roll(score, shift) for shift in (0, 1)]
        return beyond_chance([Beliefs(np.column_stack([1 - one, one]), secret) for one in several], 0)

    tries = many(40, 400)
    by_chance = [found(0.0) for _ in range(tries)]
    assert np.mean(np.array(by_chance) <= 0.05) <= 0.05 + 3 * np.sqrt(0.05 * 0.95 / tries)
    assert np.mean(np.array(by_chance) > 0.5) > 0.2
    assert found(0.1) == 0.005


def test_an_adversary_who_believes_the_same_of_everybody_hides_no_other() -> None:
    rng = np.random.default_rng(3)
    secret = rng.integers(2, size=472)
    knowing = np.where(np.eye(2)[secret] == 1, 0.8, 0.2) + rng.normal(0, 0.02, (472, 1))
    # As a lookup does where no two people share their values: only the rounding of sums differs between shuffles.
    same = np.tile([[0.58432, 0.41568]], (472, 1))
    assert beyond_chance([Beliefs(same, secret)], 0) == 1
    assert beyond_chance([Beliefs(knowing, secret), Beliefs(same, secret)], 0) == 0.005


def test_another_table_is_refused(tmp_path: Path) -> None:
    protect(pa.table(clinic(300)), secret="illness", epsilon=1, out=tmp_path / "r")
    with pytest.raises(DataError, match="not the original of this release"):
        attack(tmp_path / "r", against=pa.table(clinic(200)))


def test_the_lookup_adversary_is_the_rule_of_bayes_on_its_training_records() -> None:
    X = np.array([[0.0], [0.0], [0.0], [1.0], [np.nan], [np.nan]])
    s = np.array(["a", "a", "b", "b", "c", "c"])
    lookup = Lookup().fit(X, s)
    chances = lookup.predict_proba(np.array([[0.0], [1.0], [2.0]]))
    assert lookup.classes_[chances.argmax(axis=1)].tolist()[:2] == ["a", "b"]
    assert chances[0] == pytest.approx([(2 + 1 / 3) / 4, (1 + 1 / 3) / 4, 1 / 12])
    assert chances[2] == pytest.approx(1 / 3)


@pytest.mark.parametrize(("successes", "trials"), [(0, 10), (3, 10), (10, 10), (500, 1000)])
def test_binomial_limits_are_exact(successes: int, trials: int) -> None:
    low, high = binomial_limits(successes, trials)
    if successes:
        assert binom.sf(successes - 1, trials, low) == pytest.approx(0.025)
    if successes < trials:
        assert binom.cdf(successes, trials, high) == pytest.approx(0.025)


def test_numbers_that_are_rare_infinite_or_empty_are_no_hindrance(tmp_path: Path) -> None:
    """Rare ones may be missing from all records that a model learns from; squares of huge ones are infinite."""
    rows = [
        "rare,odd,illness",
        *(f"{k if k < 2 else ''},{['1', 'inf', '1e300', chr(34) * 2][k % 4]},{'xy'[k % 3 % 2]}" for k in range(90)),
    ]
    (tmp_path / "people.csv").write_text("\n".join(rows) + "\n")
    protect(tmp_path / "people.csv", secret="illness", use=["odd"], epsilon=1, out=tmp_path / "r")
    tried = attack(tmp_path / "r", against=tmp_path / "people.csv", without=["linkage"])
    assert [each.score.name for each in tried.families] == ["trees", "linear", "lookup"]


@pytest.mark.parametrize(("records", "threads"), [(1_000, {1}), (10**9, None)])
def test_few_records_are_learned_in_one_thread(records: int, threads: set[int] | None) -> None:
    """On a busy machine several threads wait for each other: an attack on the tutorial's table took minutes."""
    import sklearn.ensemble  # noqa: F401  whose threads are limited only once it is loaded
    from threadpoolctl import threadpool_info

    before = {each["num_threads"] for each in threadpool_info()}
    with threads_for(records):
        assert {each["num_threads"] for each in threadpool_info()} == (threads or before)
    assert {each["num_threads"] for each in threadpool_info()} == before
