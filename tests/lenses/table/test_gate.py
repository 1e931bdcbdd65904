"""A table passes the gate only if every combination of its columns keeps the policy, counted a row at a time."""

from __future__ import annotations

import json
import math
from collections import Counter
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings, strategies as st

import tacit
from papers import write_paper
from sizes import many
from tables_of_people import clinic, write_csv
from tacit import ArgumentError, ColumnError, Policy, check, protect

LOG = 1e-9


def people(seed: int, n: int = 120) -> dict[str, list[Any]]:
    """A secret that leans a little, with combinations that few or many have; sex tells most about it."""
    rng = np.random.default_rng(seed)
    sex, city = rng.choice(["f", "m"], n), rng.choice(["a", "b", None], n, p=[0.5, 0.4, 0.1])
    ill = rng.random(n) < np.where(sex == "f", 0.4, 0.55)
    return {
        "ill": np.where(ill, "yes", "no").tolist(),
        "sex": sex.tolist(),
        "city": city.tolist(),
        "id": list(range(n)),
    }


def worst(secrets: list[str], rows: list[tuple[Any, ...]], inside: list[tuple[Any, ...]]) -> tuple[float, float]:
    """The largest -log-lift and log-lift of a secret and a row, for who knows what it is inside of."""
    low = high = 0.0
    pairs, cells = Counter(zip(secrets, rows, strict=True)), Counter(rows)
    prior, parts = Counter(zip(secrets, inside, strict=True)), Counter(inside)
    for row, part in set(zip(rows, inside, strict=True)):
        for secret in set(secrets):
            if prior[secret, part]:
                lift = pairs[secret, row] * parts[part] / (cells[row] * prior[secret, part])
                value = math.log(lift) if lift else -math.inf
                low, high = max(low, -value), max(high, value)
    return low, high


@settings(max_examples=many(15, 400))
@given(st.integers(0, 10**6), st.floats(0.05, 1.5), st.floats(0.05, 1.5), st.integers(1, 40), st.booleans())
def test_the_verdict_is_that_of_counting_every_combination(
    seed: int, low: float, high: float, least: int, known: bool
) -> None:
    columns = people(seed)
    rows = list(zip(columns["sex"], columns["city"], strict=True))
    inside = [(sex,) for sex, _ in rows] if known else [() for _ in rows]
    found = worst(columns["ill"], rows, inside)
    policy = Policy(
        secret="ill", drop="id", epsilon_low=low, epsilon_high=high, least=least, known="sex" if known else None
    )
    result = check(pa.table(columns), policy=policy)
    passed = {each.rule: each.passed for each in result.sources[0].checks if "sex" not in each.name}
    assert passed["least"] == (min(Counter(rows).values()) >= least)
    if min(abs(found[0] - low), abs(found[1] - high)) > LOG:
        assert passed["epsilon"] == (found[0] <= low and found[1] <= high)
    assert (result.verdict == "passes") == all(each.passed for each in result.sources[0].checks)


def test_an_identifier_fails_and_is_no_bad_data() -> None:
    result = check(pa.table(people(0)), policy=Policy(secret="ill", epsilon=5))
    assert result.verdict == "fails"
    assert [each.rule for each in result.sources[0].failed] == ["epsilon", "least"]
    assert "1 at least, 10 required; 120 of 120 people" in result.sources[0].failed[1].detail


def test_a_table_that_fails_is_told_the_release_that_passes_and_one_that_passes_is_not(tmp_path: Path) -> None:
    place, policy = tmp_path / "people.csv", Policy(secret="ill", epsilon=0.4, least=12)
    write_csv(place, {"ill": ["y", "n"] * 60, "sex": ["f", "m", "m"] * 40, "age": list(range(20, 80)) * 2})
    note = check(place, policy=policy).sources[0].notes[0]
    said = note.removeprefix("a release of it can keep the policy: ")
    assert said == f"tacit.protect('{place}', secret='ill', epsilon=0.4, least=12, out='release')"
    eval(said.replace("'release'", repr(str(tmp_path / "release"))), {"tacit": tacit})
    assert check(tmp_path / "release", policy=policy).verdict == "passes"
    assert check(pa.table({"ill": ["y", "n"] * 60, "sex": ["f"] * 120}), policy=policy).sources[0].notes == (
        "released columns were not named, so all others count as released: sex",
    )


def test_a_policy_without_a_secret_asks_for_people_alone() -> None:
    columns = people(0)
    both = Counter(zip(columns["sex"], columns["city"], strict=True))
    fewest = min(both.values())
    table = pa.table(columns)
    assert check(table, policy=Policy(drop=["id", "ill"], least=fewest)).verdict == "passes"
    assert check(table, policy=Policy(drop=["id", "ill"], least=fewest + 1)).verdict == "fails"
    alone = Policy(released=["sex"], drop=["id", "ill", "city"], least=fewest + 1)
    assert check(table, policy=alone).verdict == "passes"


def test_a_table_with_columns_that_may_not_be_released_fails() -> None:
    table = pa.table(people(0))
    for asked in ({}, {"secret": "ill", "epsilon": 50}):
        said = {"released": "sex", "least": 1, **asked}
        (line,) = check(table, policy=Policy(**said, drop="id")).sources[0].failed
        beyond = "city" if asked else "ill, city"
        assert (line.rule, line.detail.partition(" may not be")[0]) == ("columns", beyond)
        kept = ["ill", "sex"] if asked else ["sex"]
        assert check(table.select(kept), policy=Policy(**said)).verdict == "passes"
        assert check(table, policy=Policy(**said, drop=["id", "city", *({"ill"} - {*kept})])).verdict == "passes"
        weighed = check(table.select([*kept, "id"]), policy=Policy(**said, weight="id"))
        assert "columns" not in [line.rule for line in weighed.sources[0].failed]


def test_what_may_be_known_and_is_not_in_a_table_that_is_released_fails() -> None:
    policy = Policy(secret="ill", epsilon=50, released="sex", known="city", least=1)
    known = [each for each in check(pa.table(people(0)), policy=policy).sources[0].failed if each.rule == "known"]
    told = "city may be known and is not released: what it tells together with the release is not bounded"
    assert [each.detail for each in known] == [told]


def test_further_secrets_and_values_have_bounds_of_their_own() -> None:
    columns = people(0, 4_000) | {"id": ["x"] * 4_000}
    table = pa.table(columns)
    low, high = worst(columns["sex"], [(ill,) for ill in columns["ill"]], [()] * 4_000)
    asked = {"secret": "city", "epsilon": 5, "released": "ill", "least": 1, "drop": "id"}
    for epsilon, verdict in ((max(low, high) + LOG, "passes"), (max(low, high) - LOG, "fails")):
        assert check(table, policy=Policy(**asked, also={"sex": epsilon})).verdict == verdict
    named = Policy(secret={"city": ["a"]}, epsilon=5, released="ill", least=1)
    assert check(table, policy=named).sources[0].checks[0].name == "epsilon of city"


def test_what_a_table_cannot_show_does_not_pass() -> None:
    columns = people(0) | {"id": ["x"] * 120}
    policy = Policy(secret="ill", epsilon=50, least=1, confidence=0.9, mechanisms="cells")
    failed = {each.rule: each.passed for each in check(pa.table(columns), policy=policy).sources[0].failed}
    assert failed["confidence"] is None


def test_how_releases_are_made_is_not_asked_of_a_table() -> None:
    policy = Policy(drop=["id", "ill"], least=1, mechanisms="cells")
    for asked in (policy, Policy(secret="ill", epsilon=50, drop="id", least=1, mechanisms="cells")):
        seen = check(pa.table(people(0)), policy=asked)
        assert seen.verdict == "passes"
        assert any("how releases are made" in note for note in seen.sources[0].notes)


def test_a_frame_is_called_the_table_whatever_its_columns_are_called() -> None:
    pd = pytest.importorskip("pandas")
    seen = check(pd.DataFrame({"name": ["a", "b"] * 10}), policy=Policy(tables={"*": {"least": 100}}))
    assert (seen.verdict, seen.sources[0].source) == ("passes", "the table")


def test_wrong_columns_and_sources_are_refused() -> None:
    table = pa.table(people(0))
    with pytest.raises(ColumnError, match="no column 'race'"):
        check(table, policy=Policy(secret="race", epsilon=1))
    with pytest.raises(ColumnError, match="no column 'nobody'"):
        check(table, policy=Policy(drop="nobody"))
    with pytest.raises(ArgumentError, match="against is for a release"):
        check(table, policy=Policy(least=1), against=table)
    with pytest.raises(ArgumentError, match="one source, or several without against"):
        check([table, table], policy=Policy(least=1), against=table)
    with pytest.raises(ArgumentError, match="leave out epsilon, epsilon_low or"):
        check(table, policy=Policy(secret="ill", epsilon=1, epsilon_low=1, epsilon_high=1))


def test_a_source_that_cannot_be_read_or_counted_is_an_error_and_loses_no_other(tmp_path: Path) -> None:
    single = pa.table({"ill": ["a"] * 20, "x": ["b"] * 20})
    table = pa.table({"ill": ["a", "b"] * 20, "x": ["b"] * 40})
    seen = check(
        [table, tmp_path, single, tmp_path / "nothing.csv", "x" * 5_000], policy=Policy(secret="ill", epsilon=1)
    )
    assert seen.verdict == "error"
    assert [each.error is None for each in seen.sources] == [True, False, False, False, False]
    assert not seen.sources[0].failed
    assert all((seen.to_sarif(), seen.to_junit(), str(seen)))
    told = [each.error.detail for each in seen.sources if each.error is not None]
    assert [
        "not a release" in told[0],
        "only one value" in told[1],
        "nothing.csv" in told[2],
        "too long" in told[3],
    ] == [True] * 4


# ---- releases -----------------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("gate")
    write_csv(folder / "people.csv", clinic(400))
    protect(folder / "people.csv", secret="illness", epsilon=0.5, out=folder / "release")
    return folder


def test_a_release_passes_by_its_directory_and_by_its_certificate(place: Path) -> None:
    policy = Policy(secret="illness", epsilon=0.5)
    for name in ("release", "release/certificate.json"):
        seen = check(place / name, policy=policy)
        assert (seen.verdict, seen.sources[0].kind) == ("passes", "release")
        assert any("taken on trust" in note for note in seen.sources[0].notes)
    verified = check(place / "release", policy=policy, against=place / "people.csv")
    assert verified.verdict == "passes"
    assert not any("taken on trust" in note for note in verified.sources[0].notes)
    both = check([place / "release", place / "people.csv"], policy=policy)
    assert [bool(each.failed) for each in both.sources] == [False, True]
    assert both.headline.startswith(str(place / "people.csv"))


def test_files_that_were_changed_and_claims_that_are_not_true_fail(place: Path, tmp_path: Path) -> None:
    import shutil

    policy, release = Policy(secret="illness", epsilon=0.5), Path(shutil.copytree(place / "release", tmp_path / "r"))
    assert check(release, policy=policy).verdict == "passes"
    (release / "notes.txt").write_text("who is who")
    stranger = check(release, policy=policy).sources[0].failed
    assert [(each.rule, each.passed) for each in stranger] == [("claim", None)]
    (release / "notes.txt").unlink()
    paper = json.loads((release / "certificate.json").read_text())
    write_paper(release / "certificate.json", paper | {"attained_epsilon": 0.01})
    against = check(release, policy=policy, against=place / "people.csv").sources[0].failed
    assert [(each.rule, each.passed) for each in against] == [("claim", False)]
    (release / "data.csv").write_text((release / "data.csv").read_text() + "18-39,general,north\n")
    assert check(release, policy=policy).verdict == "fails"


def test_what_is_for_the_owner_alone_fails_where_it_would_go_along(place: Path, tmp_path: Path) -> None:
    import shutil

    policy, release = Policy(secret="illness", epsilon=0.5), Path(shutil.copytree(place / "release", tmp_path / "r"))
    own = check(release, policy=policy).sources[0]
    assert not own.failed
    assert any(note.startswith("private/ is next to r, for its owner only") for note in own.notes)
    ignored = release / "private" / ".gitignore"
    assert ignored.read_text() == "*\n"
    for spoil in (ignored.unlink, lambda: ignored.write_text("salt.txt\n"), lambda: ignored.write_bytes(b"\xff*")):
        spoil()
        (line,) = check(release, policy=policy).sources[0].failed
        assert (line.rule, "do not commit it" in line.detail) == ("private", True)
    ignored.write_text("*\n")
    # What git checks out has the modes that git gives.
    (release / "private").chmod(0o755)
    (line,) = check(release, policy=policy).sources[0].failed
    assert "committed or copied" in line.detail
    shutil.rmtree(release / "private")
    shared = check(release, policy=policy).sources[0]
    assert "private" not in [each.rule for each in shared.checks]
    assert not shared.failed


def incomes(n: int = 600) -> pa.Table:
    rng = np.random.default_rng(1)
    ward = rng.integers(3, size=n)
    return pa.table({"income": 1_000 * rng.permutation(n) // 10 + 3_000 * ward, "ward": [f"w{each}" for each in ward]})


@pytest.mark.parametrize(
    ("made", "passes", "fails"),
    [
        ({"thresholds": 0.1}, [{"thresholds": 0.1}, {"thresholds": 0.2}], [{}, {"thresholds": 0.05}]),
        ({"bins": {"income": [30_000]}}, [{"bins": {"income": [30_000]}}], [{}, {"bins": {"income": [20_000]}}]),
        ({}, [{"bins": {"income": 10}}, {"bins": {"income": 2}}], [{}, {"thresholds": 0.5}, {"bins": {"income": 11}}]),
    ],
)
def test_a_number_that_was_cut_passes_where_the_policy_says_how(
    made: dict[str, Any], passes: list[dict[str, Any]], fails: list[dict[str, Any]], tmp_path: Path
) -> None:
    protect(incomes(), secret="income", epsilon=1.0, out=tmp_path / "release", **made)
    for said, verdict in [*((each, "passes") for each in passes), *((each, "fails") for each in fails)]:
        seen = check(tmp_path / "release", policy=Policy(secret="income", epsilon=1.0, **said))
        assert seen.verdict == verdict, said
        assert all(line.rule == "epsilon" for line in seen.sources[0].failed)


def test_a_table_is_counted_in_the_groups_or_at_the_thresholds_of_the_policy() -> None:
    table = incomes()
    income, ward = table["income"].to_numpy(), np.array(table["ward"])
    asked = {"secret": "income", "least": 1}
    for said, events in (
        ({"bins": {"income": [30_000]}}, [income < 30_000, income >= 30_000]),
        ({"thresholds": 0.1}, [side for t in np.unique(income) for side in (income <= t, income > t)]),
    ):
        floor = said.get("thresholds", 0.0)
        worst_lift = max(
            abs(np.log(event[ward == each].mean() / event.mean())) if event[ward == each].any() else np.inf
            for event in events
            if event.mean() >= floor and event.any()
            for each in np.unique(ward)
        )
        for epsilon, verdict in ((worst_lift + LOG, "passes"), (worst_lift - LOG, "fails")):
            assert check(table, policy=Policy(**asked, **said, epsilon=epsilon)).verdict == verdict
        # Inside what may be known, which is all that is released, nothing is told.
        assert check(table, policy=Policy(**asked, **said, epsilon=0.001, known="ward")).verdict == "passes"
