"""Audit: what leaks, where, and is it real?"""

from __future__ import annotations

import math
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from sample_results import leave_out_suggestions
from sizes import many
from tables_of_people import clinic, joint_of, write_csv
from tacit import (
    ArgumentError,
    AuditResult,
    ColumnError,
    DataError,
    SourceError,
    audit,
    log_lift,
    mutual_information,
    risk,
)

RELEASED = ["age", "ward", "district"]


pytestmark = pytest.mark.usefixtures("without_suggestion")


@pytest.fixture(scope="module")
def people(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write_csv(tmp_path_factory.mktemp("audit") / "people.csv", clinic())


@pytest.fixture(scope="module")
def audited(people: Path) -> AuditResult:
    with pytest.MonkeyPatch.context() as patch:
        leave_out_suggestions(patch)
        return audit(people, secret="illness")


def test_measures_are_those_of_the_joint_counted_by_hand(audited: AuditResult) -> None:
    joint, _ = joint_of(clinic(), "illness", RELEASED)
    found = {m.name: m.value for m in audited.measures}
    assert found["mutual_information"] == pytest.approx(mutual_information(joint), abs=1e-12)
    assert found["risk"] == pytest.approx(risk(joint).max())
    assert audited.n_values == joint.shape[1]
    assert audited.source.records == 2000
    assert [round(s.prior, 9) for s in audited.secrets] == [round(p, 9) for p in joint.sum(axis=1)]


def test_a_leak_is_called_a_leak_and_the_column_that_leaks_is_named(audited: AuditResult) -> None:
    assert audited.verdict == "leak"
    verdicts = {c.name: c.alone_verdict for c in audited.column_leaks}
    assert verdicts["ward"] == "leak"
    assert verdicts["district"] == "no leak detected"
    assert max(audited.column_leaks, key=lambda c: c.alone).name == "ward"


@pytest.mark.usefixtures("without_suggestion")
def test_a_shuffled_secret_is_no_leak_in_at_least_95_percent_of_runs() -> None:
    rng = np.random.default_rng(5)
    columns = clinic(300)
    alarms = 0
    for run in range(many(6, 60)):
        columns["illness"] = rng.permutation(columns["illness"]).tolist()
        result = audit(pa.table(columns), secret="illness", shuffles=19, random_state=run)
        alarms += result.verdict == "leak"
    # 3 of 60 expected; 10 has a chance of one in a thousand. 3 of 6 the same.
    assert alarms < many(3, 10)


def test_what_a_column_adds_and_what_stays_without_it_are_the_chain_rule(audited: AuditResult) -> None:
    columns = clinic()
    whole = mutual_information(joint_of(columns, "illness", RELEASED)[0])
    for leak in audited.column_leaks:
        others = [name for name in RELEASED if name != leak.name]
        without = mutual_information(joint_of(columns, "illness", others)[0])
        assert leak.alone == pytest.approx(mutual_information(joint_of(columns, "illness", [leak.name])[0]), abs=1e-12)
        assert leak.left_out == pytest.approx(without, abs=1e-12)
        assert leak.given_others == pytest.approx(whole - without, abs=1e-12)


def test_contributions_of_a_risky_value_add_up_to_its_log_lift(audited: AuditResult) -> None:
    columns = clinic()
    joint, place = joint_of(columns, "illness", RELEASED)
    lifts = log_lift(joint)
    secrets = sorted({"none", "diabetes", "asthma"})
    assert audited.riskiest[0].risk == max(value.risk for value in audited.riskiest)
    for value in audited.riskiest:
        assert value.records == sum(
            row == tuple(value.values.values()) for row in zip(*(columns[name] for name in RELEASED), strict=True)
        )
        x = place[tuple(value.values[name] for name in RELEASED)]
        assert value.log_lift == pytest.approx(lifts[secrets.index(value.secret), x])
        assert value.risk == pytest.approx(abs(lifts[:, x]).max())
        total = sum(nats for _, nats in value.contributions)
        assert total == pytest.approx(value.log_lift) or (math.isinf(total) and total == value.log_lift)


def test_a_value_that_rules_a_secret_out_has_infinite_risk_and_says_so() -> None:
    columns = {"party": ["left", "left", "right", "right"] * 5, "street": ["a", "b", "b", "b"] * 5}
    result = audit(pa.table(columns), secret="party")
    top = result.riskiest[0]
    assert top.risk == math.inf
    assert top.values == {"street": "a"}
    assert "every one of the 5 records here is left" in top.why
    assert result.risk_histogram.infinite_share == pytest.approx(0.25)
    by_epsilon = {share.epsilon: share for share in result.safe_shares}
    assert by_epsilon[1.0].records == pytest.approx(0.75)
    assert by_epsilon[1.0].records_skipping_zero_cells == pytest.approx(1.0)


def test_the_risk_of_every_record_is_exported_in_row_order(people: Path, tmp_path: Path) -> None:
    out = tmp_path / "scores.parquet"
    audit(people, secret="illness", scores=out)
    columns = clinic()
    joint, place = joint_of(columns, "illness", RELEASED)
    risks = risk(joint)
    scores = pq.read_table(out)
    expected = [risks[place[x]] for x in zip(*(columns[name] for name in RELEASED), strict=True)]
    assert scores.column("risk").to_pylist() == pytest.approx(expected)
    assert scores.column("ward").to_pylist() == columns["ward"]


def test_missing_values_are_a_value_of_their_own(tmp_path: Path) -> None:
    columns = clinic(missing=0.2)
    result = audit(write_csv(tmp_path / "p.csv", columns), secret="illness", released="age")
    joint, _ = joint_of(columns, "illness", ["age"])
    assert result.n_values == 4
    assert result.measures[0].value == pytest.approx(risk(joint).max())


def test_weights_count_as_so_many_records() -> None:
    columns = clinic(400)
    weights = [1 + i % 3 for i in range(400)]
    repeated = {
        name: [v for v, w in zip(values, weights, strict=True) for _ in range(w)] for name, values in columns.items()
    }
    weighted = audit(pa.table({**columns, "w": weights}), secret="illness", weight="w")
    plain = audit(pa.table(repeated), secret="illness")
    assert [m.value for m in weighted.measures] == pytest.approx([m.value for m in plain.measures])
    # Unequal weights carry less evidence than as many records, so the band is wider.
    information = {m.name: m for m in weighted.measures}["mutual_information"]
    assert information.null_high > {m.name: m for m in plain.measures}["mutual_information"].null_high


def test_several_secrets_are_one_secret_of_pairs() -> None:
    columns = clinic(500)
    result = audit(pa.table(columns), secret=["illness", "district"], released=["ward"])
    assert len(result.secrets) == 9
    assert any(" / " in secret.label for secret in result.secrets)


def test_numbers_with_many_values_are_cut_and_the_note_says_so() -> None:
    columns = clinic(3000)
    rng = np.random.default_rng(0)
    columns["income"] = rng.normal(1000, 300, size=3000).tolist()
    result = audit(pa.table(columns), secret="illness", released=["income", "ward"])
    role = {c.name: c for c in result.columns}["income"]
    assert role.cut is not None
    assert len(role.cut) == 10
    assert any("'income'" in note and "cut into 10 groups" in note for note in result.notes)
    chosen = audit(pa.table(columns), secret="illness", released=["income", "ward"], bins={"income": [800, 1200]})
    assert {c.name: c for c in chosen.columns}["income"].cut == ("< 800", "[800, 1200)", ">= 1200")


def test_a_column_that_names_every_row_must_be_dropped_or_confirmed() -> None:
    columns = clinic(200)
    columns["id"] = list(range(200))
    columns["name"] = [f"person {i}" for i in range(200)]
    table = pa.table(columns)
    with pytest.raises(DataError, match=r"column 'id' .* different in every one of the 200 rows.*drop='id'"):
        audit(table, secret="illness", drop="name")
    with pytest.raises(DataError, match=r"column 'name'.*keep_id='name'"):
        audit(table, secret="illness", drop="id")
    assert audit(table, secret="illness", drop=["id", "name"]).verdict != "cannot tell"
    assert audit(table, secret="illness", drop="name", bins={"id": 10}).n_values > 10
    assert audit(table, secret="illness", released="name", keep_id="name").verdict == "cannot tell"


@pytest.mark.parametrize(
    ("words", "error", "message"),
    [
        ({"secret": "ilness"}, ColumnError, "did you mean 'illness'"),
        ({"drop": "age"}, ArgumentError, "secret='COLUMN'"),
        ({"secret": "illness", "released": ["illness"]}, ArgumentError, "both secret and released"),
        ({"secret": "illness", "released": ["age"], "drop": ["age"]}, ArgumentError, "both released and drop"),
        ({"secret": "illness", "drop": RELEASED}, ArgumentError, "no released column is left"),
        ({"secret": "illness", "epsilon": -1.0}, ArgumentError, "between 0 and 100"),
        ({"secret": "illness", "epsilon": math.nan}, ArgumentError, "it must be a number"),
        ({"secret": "illness", "max_loss": 1.5}, ArgumentError, "between 0 and 1"),
        ({"secret": "illness", "bins": {"ward": 3}}, ArgumentError, "not numbers"),
        ({"secret": "illness", "bins": {"nothing": 3}}, ColumnError, "no column 'nothing'"),
        ({"secret": "illness", "weight": "ward"}, DataError, "ward"),
    ],
)
def test_a_wrong_question_is_refused_in_one_line(people: Path, words: dict, error: type, message: str) -> None:
    with pytest.raises(error, match=message) as refusal:
        audit(people, **words)
    assert "\n" not in str(refusal.value)


def test_a_secret_of_one_value_has_nothing_to_hide() -> None:
    with pytest.raises(DataError, match="has only one value in"):
        audit(pa.table({"s": ["x"] * 5, "a": ["p", "q", "p", "q", "p"]}), secret="s")


def test_the_result_is_strict_json_and_frozen(audited: AuditResult) -> None:
    import json

    text = json.dumps(audited.to_dict(), allow_nan=False)
    assert json.loads(text)["result"] == "AuditResult"
    with pytest.raises(AttributeError):
        audited.verdict = "no leak detected"


def test_the_null_bands_are_the_same_for_the_same_random_state(people: Path) -> None:
    first, second = (audit(people, secret="illness", random_state=3) for _ in range(2))
    assert first.to_dict() == second.to_dict()


def test_a_file_that_is_written_to_during_an_audit_is_refused(tmp_path: Path) -> None:
    """Its fingerprint is taken at the start; the numbers would be those of another file."""
    people = write_csv(tmp_path / "people.csv", clinic(60))

    def change(step: str, share: float | None) -> None:
        if step == "counting who is alone":
            write_csv(people, clinic(50))

    with pytest.raises(SourceError, match="changed while it was read"):
        audit(people, secret="illness", progress=change)
