"""Protect, verify and attack with a learned estimator: what is certain is counted, the rest is called an estimate."""

from __future__ import annotations

import json
import math
import shutil
from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest
from hypothesis import given, strategies as st

from tables_of_people import merged_in, patients, read_csv, rules_in, write_csv
from tacit import (
    ArgumentError,
    Joint,
    ProtectResult,
    SourceError,
    attack,
    mutual_information,
    nmil,
    protect,
    verify,
)
from tacit.lenses.table.learned.release import RiskLadder
from tacit.lift import set_risk
from tacit.release import LearnedCertificate, LiftBounds, encoded, readings_of
from tacit.release.claims import NOTHING_POINTWISE

RELEASED = ("age", "ward", "district", "income")
Run = Callable[..., tuple[int, str, str]]


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    found = tmp_path_factory.mktemp("released")
    write_csv(found / "people.csv", patients())
    write_csv(found / "next.csv", patients(300, random_state=7))
    return found


@pytest.fixture(scope="module")
def protected(folder: Path) -> ProtectResult:
    return protect(folder / "people.csv", secret="illness", epsilon=0.8, out=folder / "release", estimator="linear")


@pytest.fixture
def release(folder: Path, protected: ProtectResult, tmp_path: Path) -> Path:
    return Path(shutil.copytree(folder / "release", tmp_path / "release"))


def paper(release: Path) -> dict:
    return json.loads((release / "certificate.json").read_text())


def edit(release: Path, **changes: object) -> None:
    (release / "certificate.json").write_text(json.dumps({**paper(release), **changes}))


def failed(result: object) -> set[str]:
    return {check.name for check in result.checks if check.passed is False}  # type: ignore[attr-defined]


def rows_of(columns: dict) -> list[tuple]:
    return [tuple(cell or None for cell in row) for row in zip(*(columns[name] for name in RELEASED), strict=True)]


# The certificate


def test_the_certificate_says_what_is_counted_and_what_is_estimated(protected: ProtectResult) -> None:
    made = protected.certificate
    assert isinstance(made, LearnedCertificate)
    assert made.kind == "learned"
    assert made.holds
    assert made.attained_epsilon <= made.epsilon
    assert made.estimated_epsilon <= made.epsilon
    # What cannot be known of kept records is no part of a learned claim.
    assert not {"attained_delta", "breach_share"} & set(encoded(made))
    assert all(measure.kind == "estimate" and measure.promise is None for measure in made.measures)
    for said in ("judged risky by linear", "counted on this table, exact", "not a guarantee", NOTHING_POINTWISE):
        assert said in made.claim
    assert any(NOTHING_POINTWISE in line for line in made.assumptions)
    assert "no guarantee" in protected.headline


def test_every_form_of_the_release_says_that_an_estimate_certifies_nothing(
    folder: Path, protected: ProtectResult
) -> None:
    assert NOTHING_POINTWISE in (folder / "release" / "certificate.json").read_text()
    assert NOTHING_POINTWISE in (folder / "release" / "report.html").read_text()
    assert NOTHING_POINTWISE in " ".join(str(protected).split())


def test_the_attained_epsilon_is_the_counted_risk_of_the_merged_records(folder: Path, protected: ProtectResult) -> None:
    columns = patients()
    merged = set(merged_in(folder / "release"))
    inside = [row in merged for row in rows_of(columns)]
    secrets = sorted(set(columns["illness"]))
    prior = np.array([columns["illness"].count(s) for s in secrets]) / len(inside)
    pool = [s for s, is_in in zip(columns["illness"], inside, strict=True) if is_in]
    lifts = np.log(np.array([pool.count(s) for s in secrets]) / len(pool) / prior)
    assert protected.certificate.attained_epsilon == pytest.approx(abs(lifts).max())
    assert protected.certificate.mechanism.records_merged == pytest.approx(np.mean(inside))


def test_kept_rows_are_unchanged_in_place_and_merged_ones_come_from_their_own_pool(
    folder: Path, protected: ProtectResult
) -> None:
    merged = set(merged_in(folder / "release"))
    before, after = rows_of(patients()), rows_of(read_csv(folder / "release" / "data.csv"))
    assert any(row in merged for row in before)
    assert any(row not in merged for row in before)
    for old, new in zip(before, after, strict=True):
        assert (new in merged) if old in merged else (new == old)


def test_a_certificate_of_another_format_is_refused_by_its_version(release: Path) -> None:
    for version in (1, 2, 99):
        edit(release, format_version=version)
        with pytest.raises(
            SourceError, match=f"format_version is {version}: this Tacit reads certificates of format 3"
        ):
            verify(release)


@pytest.mark.parametrize("replacement", ["resample", "uniform", "merge", "suppress"])
def test_every_replacement_verifies_and_the_claim_names_it(folder: Path, tmp_path: Path, replacement: str) -> None:
    made = protect(
        folder / "people.csv",
        secret="illness",
        epsilon=0.8,
        out=tmp_path / "r",
        model=folder / "release" / "private" / "model.tacit",
        replacement=replacement,
    )
    told = {"merge": "most frequent of them", "suppress": "suppressed", "uniform": "uniform draws"}
    assert told.get(replacement, "draws from their own pool") in made.certificate.claim
    assert verify(tmp_path / "r", against=folder / "people.csv").verdict == "holds"


def test_an_epsilon_beyond_all_risks_merges_nothing_and_promises_nothing(
    folder: Path, protected: ProtectResult, tmp_path: Path
) -> None:
    made = protect(
        folder / "people.csv",
        secret="illness",
        epsilon=30,
        out=tmp_path / "r",
        model=folder / "release" / "private" / "model.tacit",
    )
    assert made.certificate.attained_epsilon == 0
    assert made.certificate.claim.startswith("No record was judged risky by the saved model model.tacit. All records")
    assert read_csv(tmp_path / "r" / "data.csv") == {
        n: v for n, v in read_csv(folder / "people.csv").items() if n in RELEASED
    }
    result = verify(tmp_path / "r", against=folder / "people.csv")
    assert result.verdict == "holds"
    assert result.headline.startswith("Nothing is certified")
    # Without the model there is neither a certified nor a recomputed number left.
    (tmp_path / "r" / "private" / "model.tacit").unlink()
    assert verify(tmp_path / "r", against=folder / "people.csv").verdict == "not checked"


def test_an_epsilon_of_nothing_merges_everything_and_says_so(
    folder: Path, protected: ProtectResult, tmp_path: Path
) -> None:
    made = protect(
        folder / "people.csv",
        secret="illness",
        epsilon=0,
        out=tmp_path / "r",
        model=folder / "release" / "private" / "model.tacit",
    )
    assert made.certificate.mechanism.records_merged == pytest.approx(1)
    assert made.certificate.attained_epsilon == 0
    assert "No record is released as it was." in made.certificate.claim
    assert made.diagnosis is not None
    assert any("every record was merged" in note for note in made.notes)


# The next batch


def test_the_next_batch_is_judged_by_the_model_of_the_first(
    folder: Path, protected: ProtectResult, tmp_path: Path
) -> None:
    model = folder / "release" / "private" / "model.tacit"
    made = protect(folder / "next.csv", secret="illness", epsilon=0.8, out=tmp_path / "r", model=model)
    assert made.certificate.kind == "learned"
    assert 0 < made.certificate.mechanism.records_merged < 1
    assert verify(tmp_path / "r", against=folder / "next.csv").verdict == "holds"


def test_a_blank_where_the_model_never_met_one_is_merged(folder: Path, tmp_path: Path) -> None:
    first, later = patients(), patients(300, random_state=7)
    first["income"] = [income if income is not None else 1000.0 for income in first["income"]]
    write_csv(tmp_path / "first.csv", first)
    protect(tmp_path / "first.csv", secret="illness", epsilon=0.8, out=tmp_path / "release", estimator="linear")
    later["income"] = [None if at % 5 == 0 else 1000.0 for at in range(300)]
    write_csv(tmp_path / "later.csv", later)
    protect(
        tmp_path / "later.csv",
        secret="illness",
        epsilon=0.8,
        out=tmp_path / "second",
        model=tmp_path / "release" / "private" / "model.tacit",
        replacement="suppress",
    )
    released = rows_of(read_csv(tmp_path / "second" / "data.csv"))
    assert {released[at] for at in range(0, 300, 5)} == {(None,) * len(RELEASED)}


def test_the_next_batch_under_the_rules_is_counted(folder: Path, protected: ProtectResult, tmp_path: Path) -> None:
    made = protect(folder / "next.csv", rules=folder / "release" / "private" / "rules.json", out=tmp_path / "r")
    assert made.certificate.kind == "counted"
    assert verify(tmp_path / "r", against=folder / "next.csv").verdict == "holds"


@pytest.mark.parametrize(
    ("words", "message"),
    [
        ({"delta": 0.1, "estimator": "linear"}, "leave out delta"),
        ({"weight": "income", "estimator": "linear"}, "estimator='counts'"),
        ({"estimator": "magic"}, "estimator='magic' cannot be used"),
    ],
)
def test_what_a_learned_release_cannot_do_is_refused(folder: Path, tmp_path: Path, words: dict, message: str) -> None:
    with pytest.raises(ArgumentError, match=message):
        protect(folder / "people.csv", secret="illness", epsilon=0.8, out=tmp_path / "r", **words)
    assert not (tmp_path / "r").exists()


def test_rules_and_estimators_do_not_mix(folder: Path, protected: ProtectResult, tmp_path: Path) -> None:
    rules = folder / "release" / "private" / "rules.json"
    with pytest.raises(ArgumentError, match="the rules settle"):
        protect(folder / "next.csv", rules=rules, out=tmp_path / "r", estimator="linear")


# Verify


def test_a_true_claim_holds_and_its_estimate_was_recomputed(release: Path, folder: Path) -> None:
    result = verify(release, against=folder / "people.csv")
    assert result.verdict == "holds"
    assert "no guarantee" in result.headline
    names = {check.name for check in result.checks}
    assert {"attained epsilon of merged records", "kept records are within epsilon by the estimate"} <= names
    assert any("recomputed with private/model.tacit" in note for note in result.notes)


def test_without_the_model_what_is_certified_is_still_checked(release: Path, folder: Path) -> None:
    (release / "private" / "model.tacit").unlink()
    result = verify(release, against=folder / "people.csv")
    assert result.verdict == "holds"
    assert any("was not checked" in note and "no part of what is certified" in note for note in result.notes)


def test_without_the_rules_it_is_not_called_holding(release: Path, folder: Path) -> None:
    shutil.rmtree(release / "private")
    assert verify(release, against=folder / "people.csv").verdict != "broken"
    assert verify(release).verdict == "not checked"


@pytest.mark.parametrize(
    ("changes", "line"),
    [
        ({"attained_epsilon": 0.001}, "attained epsilon of merged records"),
        ({"estimated_epsilon": 0.1}, "estimated epsilon of kept records"),
        ({"estimated_exceeding": 0.0}, "kept records that may exceed it"),
        ({"claim": "Nobody can learn anything."}, "claim in words"),
        ({"estimated_epsilon": 5.0}, "certificate agrees with itself"),
    ],
)
def test_a_forged_line_is_found_out(release: Path, folder: Path, changes: dict, line: str) -> None:
    edit(release, **changes)
    assert line in failed(verify(release, against=folder / "people.csv"))


def test_a_smaller_epsilon_than_the_estimate_is_found_out(release: Path, folder: Path) -> None:
    """Certificate and rules agree with each other on a claim that the kept records do not keep."""
    rules = rules_in(release)
    rules["bounds"] |= {"low": 0.5, "high": 0.5}
    (release / "private" / "rules.json").write_text(json.dumps(rules))
    claim = paper(release)["claim"].replace("for them 0.8 nats", "for them 0.5 nats")
    edit(release, epsilon=0.5, estimated_epsilon=0.5, claim=claim)
    wrong = failed(verify(release, against=folder / "people.csv"))
    assert "kept records are within epsilon by the estimate" in wrong
    assert "claim in words" not in wrong


def test_a_number_that_cannot_be_known_of_kept_records_is_refused(release: Path) -> None:
    edit(release, breach_share=0.0)
    with pytest.raises(SourceError, match="breach_share is not a field that Tacit writes"):
        verify(release)


def test_an_estimate_that_poses_as_exact_is_found_out(release: Path, folder: Path) -> None:
    measures = [{**measure, "kind": "plug-in"} for measure in paper(release)["measures"]]
    edit(release, measures=measures)
    assert "estimates are called estimates" in failed(verify(release, against=folder / "people.csv"))


def test_a_learned_claim_cannot_pose_as_a_counted_one(release: Path, folder: Path, tmp_path: Path) -> None:
    edit(release, kind="counted", attained_delta=0.0, breach_share=0.0)
    with pytest.raises(SourceError, match="epsilon_low is missing"):
        verify(release, against=folder / "people.csv")
    protect(folder / "people.csv", secret="illness", released="ward", epsilon=0.8, out=tmp_path / "counted")
    counted = json.loads((tmp_path / "counted" / "certificate.json").read_text())
    readings = encoded(readings_of(paper(release)["attained_epsilon"], LiftBounds.within(0.8), None))
    taken = ("epsilon_low", "epsilon_high", "delta", "delta_kind", "epsilon_max", "also", "composition", "mechanism")
    edit(release, readings=readings, **{name: counted[name] for name in taken})
    with pytest.raises(SourceError, match="estimated_epsilon is not a field that Tacit writes"):
        verify(release, against=folder / "people.csv")
    whole = paper(release)
    for name in ("estimated_epsilon", "estimated_exceeding"):
        del whole[name]
    (release / "certificate.json").write_text(json.dumps(whole))
    assert verify(release, against=folder / "people.csv").verdict == "broken"


def test_another_model_is_found_out(release: Path, folder: Path, tmp_path: Path) -> None:
    protect(folder / "next.csv", secret="illness", epsilon=0.8, out=tmp_path / "other", estimator="linear")
    shutil.copy(tmp_path / "other" / "private" / "model.tacit", release / "private" / "model.tacit")
    assert "model is the one certified" in failed(verify(release, against=folder / "people.csv"))


def test_a_kept_row_that_was_touched_is_found_out(release: Path, folder: Path) -> None:
    import hashlib

    columns, merged = read_csv(release / "data.csv"), merged_in(release)
    at = next(i for i, row in enumerate(rows_of(patients())) if row not in merged)
    columns["district"][at] = "south" if columns["district"][at] != "south" else "east"
    write_csv(release / "data.csv", columns)
    digest = hashlib.sha256((release / "data.csv").read_bytes()).hexdigest()
    edit(release, output={**paper(release)["output"], "sha256": digest})
    assert "kept records are unchanged" in failed(verify(release, against=folder / "people.csv"))


# Attack


def test_an_attack_is_held_against_the_estimate_and_never_a_promise(release: Path, folder: Path) -> None:
    result = attack(release, against=folder / "people.csv")
    assert result.bound_kind == "estimate"
    assert "promise" not in result.verdict
    assert result.best_after < result.best_before
    assert any(NOTHING_POINTWISE in note for note in result.notes)


def test_a_release_that_tells_the_secret_is_beyond_the_estimate(release: Path, folder: Path) -> None:
    columns = patients()
    write_csv(release / "data.csv", {**{name: columns[name] for name in RELEASED}, "ward": columns["illness"]})
    assert attack(release, against=folder / "people.csv").verdict == "beyond the estimate"


# The ladder, against a slow oracle


@given(st.data())
def test_the_merged_set_is_the_risky_values_and_the_fewest_next_riskiest_that_keep_epsilon(data: st.DataObject) -> None:
    n = data.draw(st.integers(2, 8))
    counts = np.array(data.draw(st.lists(st.lists(st.integers(1, 9), min_size=n, max_size=n), min_size=2, max_size=3)))
    risks = np.array(data.draw(st.lists(st.floats(0, 3) | st.just(math.inf), min_size=n, max_size=n, unique=True)))
    epsilon = data.draw(st.floats(0.01, 2))
    joint = Joint.from_counts(counts)
    nats = np.linspace(0.01, 0.02, n)
    ladder = RiskLadder.of(
        SimpleNamespace(counted=SimpleNamespace(joint=joint), risk=risks, nats_by_value=lambda: nats)
    )
    size = ladder.merged(epsilon)

    def prefix(k: int) -> np.ndarray:
        return np.isin(np.arange(n), sorted(range(n), key=lambda x: -risks[x])[:k])

    enough = [k for k in range(n + 1) if (risks[~prefix(k)] <= epsilon + 1e-9).all()]
    expected = next(k for k in enough if set_risk(joint, prefix(k)) <= epsilon + 1e-9)
    assert size == expected
    assert ladder.set_risks[size] == pytest.approx(set_risk(joint, prefix(size)), abs=1e-9)
    assert ladder.losses[size] == pytest.approx(nmil(joint, prefix(size)), abs=1e-9)
    assert ladder.shares[size] == pytest.approx(joint.marginal[prefix(size)].sum())
    pooled = np.column_stack([joint.matrix[:, prefix(size)].sum(axis=1), joint.matrix[:, ~prefix(size)].sum(axis=1)])
    part = 0.0
    if 0 < size < n:
        two = Joint(pooled)
        other = two.matrix[:, 1] * two.log_lift[:, 1]
        part = mutual_information(two) - other.sum()
    assert ladder.leakages[size] == pytest.approx(nats[~prefix(size)].sum() + part, abs=1e-9)


# From end to end


@pytest.fixture
def run(monkeypatch: pytest.MonkeyPatch, tacit_command: Run, tmp_path: Path) -> Run:
    monkeypatch.chdir(tmp_path)
    return tacit_command


def strict(text: str) -> dict:
    def refuse(name: str) -> None:
        raise AssertionError(f"{name} is not JSON")

    return json.loads(text, parse_constant=refuse)


def test_the_whole_job_with_auto_from_a_csv_with_missing_cells(run: Run, tmp_path: Path) -> None:
    write_csv(tmp_path / "people.csv", patients(400))
    words = ["people.csv", "--secret", "illness"]
    code, out, err = run(
        *("audit", *words, "--estimator", "auto", "--epsilon", "0.3", "--save-model", "m.tacit", "--format", "json"),
        *("--report", "audit.html"),
    )
    assert (code, err) == (1, "")
    assert strict(out)["learned"]["kind"] == "estimate"
    assert "Learned: what leaks" in Path("audit.html").read_text()
    assert run("audit", *words, "--model", "m.tacit", "--epsilon", "90")[0] == 0
    code, out, err = run("protect", *words, "--estimator", "auto", "--epsilon", "0.9", "-o", "release")
    assert (code, err) == (0, "")
    assert NOTHING_POINTWISE in " ".join(out.split())
    assert sorted(path.name for path in Path("release/private").iterdir()) == [
        "README.txt",
        "estimates.json",
        "model.tacit",
        "rules.json",
        "salt.txt",
    ]
    code, out, err = run("verify", "release", "--against", "people.csv", "--format", "json")
    assert (code, err) == (0, "")
    assert strict(out)["verdict"] == "holds"
    code, out, err = run("attack", "release", "--against", "people.csv", "--format", "json")
    assert (code, err) == (0, "")
    assert strict(out)["bound_kind"] == "estimate"
    again = ["protect", *words, "--model", "release/private/model.tacit", "--epsilon", "0.9", "-o", "again"]
    assert run(*again)[0] == 0


def test_bits_are_told_of_learned_results_too(run: Run, folder: Path, protected: ProtectResult) -> None:
    model = str(folder / "release" / "private" / "model.tacit")
    words = ["audit", str(folder / "people.csv"), "--secret", "illness", "--model", model, "--format", "json"]
    nats, bits = strict(run(*words)[1]), strict(run(*words, "--bits")[1])
    factor = math.log(2)
    assert bits["learned"]["largest_risk"] == pytest.approx(nats["learned"]["largest_risk"] / factor)


@pytest.mark.parametrize(
    ("words", "code", "message"),
    [
        (["--estimator", "magic"], 2, "magic"),
        (["--estimator", "linear", "--weight", "income"], 2, "--estimator counts"),
        (["--model", "nowhere.tacit"], 3, "nowhere.tacit"),
        (["--estimator", "linear", "--save-model", "people.csv"], 2, ".tacit"),
    ],
)
def test_wrong_words_are_one_line(run: Run, tmp_path: Path, words: list[str], code: int, message: str) -> None:
    write_csv(tmp_path / "people.csv", patients(100))
    found, out, err = run("audit", "people.csv", "--secret", "illness", *words)
    assert (found, out) == (code, "")
    assert message in err
