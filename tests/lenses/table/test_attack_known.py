"""Attack on a release for somebody who knows some columns: what those tell by themselves breaks no promise."""

from __future__ import annotations

import shutil
from pathlib import Path

import numpy as np
import pytest

from papers import forge
from sizes import few
from tables_of_people import write_csv
from tacit import AttackResult, attack, protect, verify
from tacit.lift import guessing_bound
from tacit.release import read_certificate

Made = tuple[Path, Path]
BY_SEX = "somebody who knows sex as the release writes it"


def told_by_sex(n: int) -> dict[str, list[str]]:
    """A secret that sex tells nine times of ten, and nothing else does."""
    rng = np.random.default_rng(0)
    sex = rng.integers(2, size=n)
    ill = np.where(rng.random(n) < 0.92, sex, 1 - sex)
    return {"sex": ["fm"[s] for s in sex], "ward": [f"w{w}" for w in rng.integers(4, size=n)], "ill": [*map(str, ill)]}


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Made:
    folder = tmp_path_factory.mktemp("known")
    people = write_csv(folder / "people.csv", told_by_sex(800))
    protect(people, secret="ill", epsilon=0.1, known="sex", out=folder / "release", random_state=0)
    return folder / "release", people


@pytest.fixture(scope="module")
def attacked(made: Made) -> AttackResult:
    return attack(made[0], against=made[1])


def test_what_is_known_anyway_breaks_no_promise(made: Made, attacked: AttackResult) -> None:
    assert verify(made[0], against=made[1]).verdict == "holds"
    assert attacked.optimal_after > attacked.prior_guess + 0.3
    assert attacked.verdict == "within the promise"


def test_the_promise_is_the_bound_inside_each_part_of_what_is_known(made: Made, attacked: AttackResult) -> None:
    columns, epsilon = told_by_sex(800), read_certificate(made[0]).attained_epsilon
    sex, ill = np.array(columns["sex"]), np.array(columns["ill"])
    by_hand = 0.0
    for here in (sex == "f", sex == "m"):
        share = (ill[here] == "1").mean()
        by_hand += here.mean() * guessing_bound([share, 1 - share], epsilon)
    assert attacked.guessing_bound == pytest.approx(by_hand, abs=1e-9)
    assert attacked.optimal_after <= attacked.guessing_bound < 0.95


def test_it_says_to_whom_the_promise_is(attacked: AttackResult) -> None:
    text = " ".join(str(attacked).split())
    assert f"{BY_SEX} can be right no more often" in text
    assert f"The promise is about {BY_SEX}, sees one row and knows nothing else about the person." in attacked.notes
    assert "knows nothing else about the person can be right no more often" not in text


def test_a_release_that_tells_more_than_what_is_known_breaks_the_promise(made: Made, tmp_path: Path) -> None:
    """Positive control: the ward of every row is written over with the secret."""
    columns = told_by_sex(800)
    shutil.copytree(made[0], tmp_path / "broken")
    write_csv(tmp_path / "broken" / "data.csv", {**columns, "ward": columns["ill"]})
    assert attack(tmp_path / "broken", against=made[1]).verdict == "promise broken"


def test_without_the_levels_no_promise_is_printed_and_none_is_broken(made: Made, tmp_path: Path) -> None:
    shutil.copytree(made[0], tmp_path / "bare")
    (tmp_path / "bare" / "levels.json").unlink()
    result = attack(tmp_path / "bare", against=made[1], records=300)
    assert result.guessing_bound is None
    assert (result.verdict, result.document().badge.tone) == ("better than the prior", "doubt")
    assert "Promise" not in str(result)
    assert any("no promise was put to the test" in note for note in result.notes)


def test_a_release_for_somebody_who_knows_nothing_promises_as_before(made: Made, tmp_path: Path) -> None:
    protect(made[1], secret="ill", epsilon=0.1, out=tmp_path / "plain", random_state=0)
    result = attack(tmp_path / "plain", against=made[1], records=200)
    share, epsilon = result.prior_guess, read_certificate(tmp_path / "plain").attained_epsilon
    assert result.guessing_bound == pytest.approx(guessing_bound([share, 1 - share], epsilon))
    text = " ".join(str(result).split())
    assert "(somebody who sees one row and knows nothing else about the person can be right no more often)" in text
    assert "The promise is about somebody who sees one row and knows nothing else about the person." in result.notes


def test_a_certificate_that_keeps_silent_about_what_is_known_does_not_hold(tmp_path: Path) -> None:
    rng = np.random.default_rng(0)
    sex = rng.integers(2, size=400)
    pay = (rng.normal(size=400) * 10 + 100 + 30 * sex).round().astype(int)
    people = write_csv(tmp_path / "people.csv", {"sex": ["mf"[s] for s in sex], "pay": pay.tolist()})
    release = tmp_path / "release"
    protect(people, secret="pay", epsilon=0.3, thresholds=0.1, known="sex", out=release)
    assert verify(release, against=people).verdict == "holds"
    forge(release, known=())
    assert [check.name for check in verify(release, against=people).checks if check.passed is False] == [
        "what may be known"
    ]


@pytest.mark.parametrize("settings", few([{}, {"delta": 0.05, "epsilon_max": 2.0}]))
def test_where_all_that_is_released_may_be_known_nothing_is_added_to_it(
    settings: dict[str, float], tmp_path: Path
) -> None:
    people = write_csv(tmp_path / "people.csv", told_by_sex(400))
    made = protect(people, secret="ill", released="sex", known="sex", epsilon=0.1, out=tmp_path / "release", **settings)
    assert made.certificate.attained_epsilon == 0
    assert verify(tmp_path / "release", against=people).verdict == "holds"
