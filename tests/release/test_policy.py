"""A policy is read strictly, and a certificate passes only if what it claims implies what is asked."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from places import ROOT
from sample_results import certificate
from tacit import ArgumentError, Policy
from tacit.release import CountedCertificate, Reading
from tacit.release.certificate import FurtherClaim, SampleProof
from tacit.release.policy.certificates import checks_of_certificate
from tacit.requests import read_policy
from tacit.tables import Cut


@pytest.fixture
def written(tmp_path: Path) -> Callable[[str], Path]:
    def write(text: str) -> Path:
        path = tmp_path / "tacit.toml"
        path.write_text(text, "utf-8")
        return path

    return write


def test_a_policy_says_what_the_settings_say(written: Callable[[str], Path]) -> None:
    policy = read_policy(
        written(
            """
            secret = {illness = ["B20", "F32"]}
            epsilon_low = 1
            epsilon_high = 0.5
            least = 20
            known = ["age", "sex"]
            drop = "id"
            confidence = 0.95
            mechanisms = ["cells", "cells+mix"]
            [also]
            sex = 0.3
            "race,sex" = 0.8
            """
        )
    )
    assert policy.secret == {"illness": ("B20", "F32")}
    assert policy.also == {("sex",): 0.3, ("race", "sex"): 0.8}
    assert (policy.least, policy.known, policy.drop) == (20, ("age", "sex"), ("id",))
    assert policy.mechanisms == ("cells", "cells+mix")


def test_the_first_pattern_that_fits_a_name_changes_what_is_asked(written: Callable[[str], Path]) -> None:
    policy = read_policy(
        written(
            """
            secret = "race"
            epsilon = 0.5
            [tables."raw/*"]
            epsilon = 2
            [tables."patients*.csv"]
            secret = "illness"
            least = 50
            [tables."warehouse.duckdb::*"]
            epsilon = 0.1
            """
        )
    )
    assert policy.of("raw/patients.csv").epsilon == 2
    assert policy.of("/data/raw/patients.csv").secret == ("race",)
    assert policy.of("patients_2024.csv") == Policy(secret="illness", epsilon=0.5, least=50)
    assert policy.of("/data/warehouse.duckdb::people").epsilon == 0.1
    assert policy.of("outpatients.csv") == policy.of(None) == Policy(secret="race", epsilon=0.5)


def test_the_policy_of_the_documentation_is_one(written: Callable[[str], Path]) -> None:
    page = (ROOT / "docs" / "howto" / "gate.md").read_text("utf-8")
    shortest, policy = (read_policy(written(part.split("```")[0])) for part in page.split("```toml\n")[1:])
    assert shortest == Policy(secret="illness", epsilon=0.5, drop=["id", "name"])
    assert policy.of("staff_2024.csv").secret == ("salary_band",)
    assert set(policy.also or {}) == {("income",), ("race",), ("race", "sex")}
    assert policy.of("people.csv").bins == {"income": (20_000, 50_000)}


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("epsilonn = 0.5", "no 'epsilonn'; did you mean 'epsilon'?"),
        ("zzz = 0.5", "no 'zzz'; it has secret, epsilon"),
        ("[tables.'a*']\nleats = 3", "no 'tables.a*.leats'; did you mean 'least'?"),
        ("[tables]\nleast = 3", "it maps patterns of file names"),
        ("[tables.'a*'.tables.b]\nleast = 1", "no 'tables.a*.tables'"),
        ("epsilon = '0.5'", "epsilon='0.5' cannot be used: it must be a number"),
        ("epsilon = true", "it must be a number"),
        ("epsilon = nan", "it must be a number"),
        ("least = 0", "it must be 1 or more"),
        ("least = 2.5", "whole number"),
        ("secret = 5", "it must be a column, or several"),
        ("secret = []", "names no column"),
        ("mechanisms = ['magic']", "choose one of cells"),
        ("mechanisms = []", "name some of cells"),
        ("also = 3", "it maps columns to their epsilon"),
        ("secret = 'a'\nknown = ['a']", "one role"),
        ("secret = 'a'\n[tables.'b*']\ndrop = 'a'", "one role"),
        ("thresholds = 0.7", "0.5"),
        ("secret = 'a'\n[bins]\nb = 3", "'b' is not a secret of the policy"),
        ("secret = 'a'\n[bins]\na = 'few'", "edges are finite numbers in rising order"),
        ("epsilon = ", "not TOML"),
        ("epsilon = 1\nepsilon = 2", "not TOML"),
        ("a = " + "[" * 100_000, "not TOML"),
        ("", "tacit.toml is not a policy: it is empty"),
        ("# secret = 'illness'\n", "it is empty"),
        ("[tables.'a*']\n", "say what must not be learned"),
    ],
)
def test_what_no_policy_says_is_refused_by_its_name(written: Callable[[str], Path], text: str, message: str) -> None:
    with pytest.raises(ArgumentError) as refused:
        read_policy(written(text))
    assert message in str(refused.value)
    assert refused.value.exit_code == 2


def test_a_policy_that_cannot_be_read_is_a_wrong_argument(tmp_path: Path) -> None:
    (tmp_path / "latin.toml").write_bytes(b"secret = '\xe9'")
    for name in ("nothing.toml", "latin.toml", ""):
        with pytest.raises(ArgumentError):
            read_policy(tmp_path / name)
    with pytest.raises(ArgumentError, match=r"no policy .*nothing\.toml: write one, or name another"):
        read_policy(tmp_path / "nothing.toml")


@pytest.mark.parametrize(
    ("said", "message"),
    [
        ({"epsilon": 0.5}, "'epsilon' but no 'secret'"),
        ({"also": {"sex": 1}}, "'also' but no 'secret'"),
        ({"thresholds": 0.1}, "'thresholds' but no 'secret'"),
        ({"secret": "race"}, "no bound on it"),
        ({"secret": "race", "epsilon_low": 1}, "no bound on it"),
    ],
)
def test_a_policy_that_lacks_what_it_needs_is_refused_when_it_is_used(said: dict[str, Any], message: str) -> None:
    with pytest.raises(ArgumentError, match=message):
        Policy(**said).of("people.csv")
    # What lacks may be said for each pattern.
    Policy(**said, tables={"*.csv": {"secret": "race", "epsilon": 0.5, "epsilon_low": None}}).of("people.csv")


# ---- certificates -------------------------------------------------------------------------------------------------


def strict(**said: Any) -> CountedCertificate:
    """A certificate that claims 0.5 nats of race and attains 0.46; twelve people share a value."""
    made = replace(certificate(), **{"left_out": ("id", "race"), **said})
    assert (made.secret, made.epsilon, made.known, made.delta) == (("race",), 0.5, (), 0.0) or said
    return made


def passed(paper: Any, rule: str, **said: Any) -> bool | None:
    """Whether all lines of one rule pass."""
    asked = Policy(**{"secret": "race", "epsilon": 0.5, "least": 1, **said}).of("release")
    lines = [each for each in checks_of_certificate(paper, asked) if each.rule == rule]
    return all(each.passed for each in lines) if lines else None


def test_a_bound_that_is_claimed_or_attained_is_held_against_the_policy() -> None:
    paper = strict()
    assert 0 < paper.attained_epsilon < 0.5
    assert passed(paper, "epsilon")
    assert passed(paper, "epsilon", epsilon=paper.attained_epsilon)
    assert not passed(paper, "epsilon", epsilon=paper.attained_epsilon - 1e-6)
    assert not passed(replace(paper, holds=False), "epsilon")


def test_a_side_that_is_not_claimed_is_not_implied() -> None:
    paper = strict(epsilon_low=float("inf"))
    assert not passed(paper, "epsilon")
    assert passed(paper, "epsilon", epsilon=None, epsilon_high=0.5)
    assert passed(strict(), "epsilon", epsilon=None, epsilon_high=0.5, epsilon_low=2.0)


def test_a_bound_implies_that_of_its_columns_and_of_classes_of_its_values_and_of_nothing_more() -> None:
    both = strict(secret=("race", "sex"))
    assert passed(both, "epsilon")
    assert not passed(strict(), "epsilon", secret=["race", "sex"])
    assert not passed(strict(), "epsilon", secret="sex")
    few = strict(secret_values=("A", "B"))
    assert passed(few, "epsilon", secret={"race": ["A"]})
    assert not passed(few, "epsilon", secret={"race": ["A", "C"]})
    assert not passed(few, "epsilon")
    (line, *_) = checks_of_certificate(few, Policy(secret="race", epsilon=0.5).of("release"))
    assert 'secret = {race = ["A", "B"]}' in str(line)
    assert passed(strict(), "epsilon", secret={"race": ["A", "C"]})


def test_further_secrets_need_a_claim_of_their_own() -> None:
    paper = replace(strict(), also=(FurtherClaim(("sex",), 0.4, 0.3),))
    assert passed(paper, "epsilon", also={"sex": 0.3})
    assert not passed(paper, "epsilon", also={"sex": 0.2})
    assert not passed(paper, "epsilon", also={"age": 5.0})


def test_a_bound_that_may_fail_or_weighs_otherwise_is_none() -> None:
    assert not passed(strict(delta=0.01), "epsilon")
    paper = strict()
    assert not passed(replace(paper, mechanism=replace(paper.mechanism, weight="w")), "epsilon")
    assert passed(replace(paper, mechanism=replace(paper.mechanism, weight="w")), "epsilon", weight="w")


def test_a_bound_inside_what_is_known_is_one_inside_nothing_else() -> None:
    paper = strict()
    shown = paper.released[:2]
    assert passed(paper, "known") is None
    assert not passed(paper, "known", known=shown)
    inside = replace(paper, known=shown)
    assert passed(inside, "known", known=shown)
    assert not passed(inside, "known", known=shown[:1])
    assert not passed(inside, "known")


def test_what_is_known_and_not_released_is_not_bounded() -> None:
    inside = replace(strict(), known=("sex",))
    asked = Policy(secret="race", epsilon=0.5, least=1, known=["sex", "height"])
    (line,) = (each for each in checks_of_certificate(inside, asked) if each.rule == "known")
    told = "height may be known and is not released: what it tells together with the release is not bounded"
    assert (line.passed, line.detail) == (False, told)
    assert not passed(strict(), "known", known="height")


def test_a_bound_on_the_groups_of_a_number_is_none_on_the_number() -> None:
    groups = strict(secret=("income",), cuts=(Cut("income", (30_000,)),), left_out=("id", "income"))
    (line,) = (
        each for each in checks_of_certificate(groups, Policy(secret="income", epsilon=5)) if each.rule == "epsilon"
    )
    assert not line.passed
    assert line.detail.startswith("income was cut into 2 groups, and a bound on the groups implies none")
    further = replace(strict(), cuts=groups.cuts, also=(FurtherClaim(("income",), 0.4, 0.3),))
    assert passed(further, "epsilon")
    assert not passed(further, "epsilon", also={"income": 5.0})
    # A bound on the combination implies that of the column that was not cut.
    assert passed(strict(secret=("race", "income"), cuts=groups.cuts), "epsilon")


def test_a_bound_on_thresholds_is_one_on_thresholds_that_cover_more() -> None:
    in_cells = replace(strict().mechanism, name="cells", replacement="cells")
    paper = strict(secret=("income",), thresholds=0.1, left_out=("id", "income"), mechanism=in_cells)
    assert passed(paper, "epsilon", secret="income", thresholds=0.1)
    assert passed(paper, "epsilon", secret="income", thresholds=0.2)
    assert not passed(paper, "epsilon", secret="income", thresholds=0.05)
    assert not passed(paper, "epsilon", secret="income")


def test_a_bound_on_finer_groups_is_one_on_wider_groups_that_the_policy_names() -> None:
    edges = (10_000, 30_000)
    groups = strict(secret=("income",), cuts=(Cut("income", edges),), left_out=("id", "income"))
    asked = {"secret": "income", "epsilon": 5}
    for bins in ([10_000], [30_000], edges, 2, 3):
        assert passed(groups, "epsilon", **asked, bins={"income": bins})
    for bins in ([20_000], [10_000, 20_000], 4):
        assert not passed(groups, "epsilon", **asked, bins={"income": bins})
    # All values are bounded, so that any groups and thresholds of them are.
    whole = replace(groups, cuts=())
    assert passed(whole, "epsilon", **asked, bins={"income": [20_000]})
    assert passed(whole, "epsilon", **asked, thresholds=0.01)
    assert not passed(groups, "epsilon", **asked, thresholds=0.5)


def test_a_policy_may_say_how_numbers_are_cut_for_the_tables_that_have_them() -> None:
    policy = Policy(secret="race", epsilon=1, bins={"income": 2}, tables={"pay*": {"secret": "income"}})
    assert policy.of("people.csv").bins is None
    assert policy.of("pay.csv").bins == {"income": 2}
    with pytest.raises(ArgumentError, match="of which no values or groups are named"):
        checks_of_certificate(strict(), Policy(secret="income", epsilon=1, thresholds=0.1, bins={"income": 2}))


def test_fewer_people_than_the_policy_asks_fail() -> None:
    paper = strict()
    assert passed(paper, "least", least=paper.file.smallest)
    assert not passed(paper, "least", least=paper.file.smallest + 1)


def test_columns_that_the_policy_keeps_back_are_not_released() -> None:
    paper = strict()
    assert passed(paper, "columns")
    assert not passed(paper, "columns", drop=paper.released[0])
    assert passed(paper, "columns", released=paper.released)
    assert not passed(paper, "columns", released=paper.released[1:])
    # The secret itself stays in the file where it was asked to.
    assert not passed(replace(paper, left_out=()), "columns")
    assert not passed(paper, "columns", also={paper.released[0]: 3.0})


def test_what_was_not_proved_or_made_otherwise_fails() -> None:
    paper = strict()
    assert passed(paper, "confidence") is None
    assert not passed(paper, "confidence", confidence=0.9)
    proof = Reading("sample", "", 0.95, SampleProof(100, 100, 5, 3, 3))
    proved = replace(paper, readings=(paper.readings[0], proof))
    assert passed(proved, "confidence", confidence=0.95)
    assert not passed(proved, "confidence", confidence=0.96)
    assert passed(paper, "mechanism", mechanisms=["watchdog", "cells", "subsets", "optimal", "cells+mix"])
    others = [name for name in ("cells", "optimal") if name != paper.mechanism.name]
    assert not passed(paper, "mechanism", mechanisms=others)
