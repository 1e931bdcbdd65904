"""Audit with a learned estimator: honest numbers from uncut columns, each called an estimate."""

from __future__ import annotations

import json
import math
import zipfile
from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from sample_results import leave_out_suggestions
from sizes import few, many
from tables_of_people import clinic, patients, write_csv
from tacit import ArgumentError, AuditResult, DataError, SourceError, audit, protect, verify
from tacit.learn import naming
from tacit.lenses.table.learned import learning
from tacit.lenses.table.learned.cells import cells_of
from tacit.lenses.table.learned.choosing import EstimatorChoice
from tacit.lenses.table.learned.findings import contributions
from tacit.lenses.table.question import ask
from tacit.lenses.table.tabulating import counted
from tacit.report import to_text
from tacit.requests import Learning, Question, settings_of

pytestmark = pytest.mark.usefixtures("without_suggestion")


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    found = tmp_path_factory.mktemp("learned")
    write_csv(found / "people.csv", patients())
    write_csv(found / "next.csv", patients(300, random_state=7))
    return found


@pytest.fixture(scope="module")
def audited(folder: Path) -> AuditResult:
    with pytest.MonkeyPatch.context() as patch:
        leave_out_suggestions(patch)
        return audit(
            folder / "people.csv",
            secret="illness",
            estimator="linear",
            epsilon=0.7,
            scores=folder / "scores.parquet",
            save_model=folder / "model.tacit",
        )


def test_counts_are_the_default_and_learn_nothing(folder: Path) -> None:
    assert audit(folder / "people.csv", secret="illness").learned is None


@pytest.mark.long
def test_the_counted_findings_stay_as_they_are_beside_what_was_learned(folder: Path, audited: AuditResult) -> None:
    plain = audit(folder / "people.csv", secret="illness", epsilon=0.7)
    for name in ("measures", "risk_histogram", "safe_shares", "riskiest", "column_leaks", "curve", "columns", "notes"):
        assert getattr(audited, name) == getattr(plain, name), name
    assert {role.name: role.cut is not None for role in audited.columns}["income"]


def test_the_answer_is_the_learned_one_and_says_that_it_is_an_estimate(audited: AuditResult) -> None:
    found = audited.learned
    assert found is not None
    assert audited.verdict == found.verdict == "leak"
    assert "estimate by linear" in audited.headline
    assert found.kind == found.information.kind == "estimate"
    assert found.information.low < found.information.value < found.information.high
    assert found.trained_on == 600
    assert found.n_values > 500
    assert found.candidates
    assert found.reason
    assert all(candidate.log_loss > 0 for candidate in found.candidates)


def test_a_shuffled_secret_is_no_leak_detected(tmp_path: Path) -> None:
    path = write_csv(tmp_path / "p.csv", patients(400, shuffled=True))
    result = audit(path, secret="illness", estimator="linear")
    assert result.verdict == "no leak detected"
    assert "estimate" in result.headline


def test_the_risk_of_every_record_is_exported_with_its_upper_end(folder: Path, audited: AuditResult) -> None:
    scores = pq.read_table(folder / "scores.parquet")
    assert scores.column_names == [*patients(), "risk", "risk_high"]
    assert scores.column("income").to_pylist()[:50] == patients()["income"][:50]
    risk, high = (scores.column(name).to_numpy() for name in ("risk", "risk_high"))
    assert (high >= risk).all()
    assert audited.learned is not None
    assert risk.max() == pytest.approx(audited.learned.largest_risk)
    for share in audited.learned.safe_shares:
        assert share.records == pytest.approx((risk <= share.epsilon).mean())
        assert share.surely == pytest.approx((high <= share.epsilon).mean())
        assert share.surely <= share.records


def test_the_riskiest_values_come_first_with_intervals_and_a_column(audited: AuditResult) -> None:
    assert audited.learned is not None
    values = audited.learned.riskiest
    assert [value.risk for value in values] == sorted((value.risk for value in values), reverse=True)
    for value in values:
        assert value.low <= value.log_lift <= value.high
        assert value.risk == pytest.approx(abs(value.log_lift))
        assert value.posterior == pytest.approx(value.prior * math.exp(value.log_lift))
        assert value.says_most == max(value.contributions, key=lambda term: abs(term[1]))[0]
        assert set(value.values) == {"age", "ward", "district", "income"}
    assert values
    assert {value.says_most for value in values} <= {"ward", "income"}


def test_a_columns_contribution_is_what_is_lost_when_its_cell_is_redrawn() -> None:
    """A model that knows one column alone: the others contribute nothing."""
    found = counted(ask(Question(pa.table(clinic(300)), secret="illness")))
    ward = found.symbols.columns.index("ward")
    loud = found.symbols.levels[ward].index("lung")

    class OneColumn:
        def log_lift(self, frame: pa.Table) -> np.ndarray:
            says = np.array([1.0 if value == "lung" else 0.0 for value in frame.column("ward").to_pylist()])
            return np.column_stack([says, -says])

    cells = cells_of(found.symbols, found.question.table.columns, names=found.symbols.columns)
    codes = found.symbols.codes
    lifts = OneColumn().log_lift(cells.at(codes))
    at = np.flatnonzero(codes[:, ward] == loud)[:1]
    stub = SimpleNamespace(counted=found, model=OneColumn(), cells=cells, lifts=lifts)
    (terms,) = contributions(stub, at, np.array([0]))  # type: ignore[arg-type]
    assert terms[ward] > 0.5
    assert np.delete(terms, ward).tolist() == [0.0, 0.0]


def test_the_result_is_strict_json(audited: AuditResult) -> None:
    text = json.dumps(audited.to_dict(), allow_nan=False)
    found = json.loads(text)["learned"]
    assert found["estimator"] == "linear"
    assert found["calibration"][0].keys() == {"predicted", "observed", "low", "high", "records", "secret"}


@pytest.mark.long
def test_the_same_random_state_learns_the_same(folder: Path, audited: AuditResult) -> None:
    again = audit(folder / "people.csv", secret="illness", estimator="linear", epsilon=0.7)
    assert again.learned is not None
    assert audited.learned is not None
    assert again.learned.information == audited.learned.information
    assert again.learned.riskiest == audited.learned.riskiest


def test_a_saved_model_scores_another_table_and_is_no_pickle(folder: Path, audited: AuditResult) -> None:
    model = folder / "model.tacit"
    assert zipfile.is_zipfile(model)
    assert not model.read_bytes().startswith(b"\x80")
    assert not any(name.endswith((".pkl", ".pickle")) for name in zipfile.ZipFile(model).namelist())
    result = audit(folder / "next.csv", secret="illness", model=model, fresh=True)
    assert result.verdict == "leak"
    assert result.learned is not None
    assert result.learned.p_value <= 0.05
    assert result.learned.trained_on == 0
    assert result.learned.estimator == "the saved model model.tacit"
    assert any("honest only for records it was not trained on" in note for note in result.learned.notes)


def test_a_saved_model_says_of_its_own_table_what_it_said(folder: Path, audited: AuditResult) -> None:
    result = audit(folder / "people.csv", secret="illness", model=folder / "model.tacit", epsilon=0.7)
    assert result.learned is not None
    assert audited.learned is not None
    assert result.learned.safe_shares == audited.learned.safe_shares
    assert result.learned.largest_risk == pytest.approx(audited.learned.largest_risk)


@pytest.mark.parametrize("rows", [599, 600][: many(1, 2)])
def test_without_the_word_that_records_are_fresh_a_model_gives_no_verdict_and_no_p_value(
    folder: Path, audited: AuditResult, tmp_path: Path, rows: int
) -> None:
    """In-sample a model finds what it has learned, real or not; dropping a row does not make the others fresh."""
    table = write_csv(tmp_path / "p.csv", {name: cells[:rows] for name, cells in patients().items()})
    result = audit(table, secret="illness", model=folder / "model.tacit")
    assert result.learned is not None
    assert result.learned.unvouched
    assert math.isnan(result.learned.p_value)
    assert result.verdict == "cannot tell"
    assert "fresh=True" in result.headline
    assert any("fresh=True" in note for note in result.learned.notes)
    assert "p –" in to_text(result, full=True)
    json.dumps(result.to_dict(), allow_nan=False)


def test_fresh_records_that_look_like_the_models_own_are_pointed_out(folder: Path, audited: AuditResult) -> None:
    result = audit(folder / "people.csv", secret="illness", model=folder / "model.tacit", fresh=True)
    assert result.learned is not None
    assert any("make sure that it is not the same table" in note for note in result.learned.notes)


def test_fresh_is_a_word_about_a_saved_model(folder: Path) -> None:
    with pytest.raises(ArgumentError, match="with model"):
        audit(folder / "people.csv", secret="illness", estimator="linear", fresh=True)


def test_a_saved_model_is_for_the_owners_eyes_alone(folder: Path, audited: AuditResult) -> None:
    assert (folder / "model.tacit").stat().st_mode & 0o777 == 0o600


@pytest.mark.long
def test_columns_that_were_cut_as_asked_are_not_called_uncut(folder: Path, audited: AuditResult) -> None:
    result = audit(folder / "people.csv", secret="illness", estimator="linear", bins={"income": [900, 1100]})
    assert result.learned is not None
    assert result.learned.cut == ("income",)
    assert "with the cuts you asked for" in result.headline
    told = " ".join(to_text(result, full=True).split())
    assert "income cut as you asked, all else uncut" in told
    assert "uncut" in audited.headline
    assert "(uncut)" in " ".join(to_text(audited, full=True).split())


def test_each_risk_says_which_model_it_comes_from(audited: AuditResult) -> None:
    told = " ".join(to_text(audited, full=True).split())
    assert "by the final model, which protect uses" in told
    assert "Learned risks are by models that had not seen the record" in told


def test_columns_in_another_order_are_the_same_to_a_model(folder: Path, audited: AuditResult, tmp_path: Path) -> None:
    columns = patients()
    turned = write_csv(tmp_path / "turned.csv", dict(reversed(columns.items())))
    result = audit(turned, secret="illness", model=folder / "model.tacit", epsilon=0.7)
    assert result.learned is not None
    assert audited.learned is not None
    assert [s.records for s in result.learned.safe_shares] == pytest.approx(
        [s.records for s in audited.learned.safe_shares]
    )


def test_a_cell_that_the_model_never_met_is_infinitely_risky(
    folder: Path, audited: AuditResult, tmp_path: Path
) -> None:
    columns = patients(200, random_state=3)
    columns["ward"][:10] = ["burns"] * 10
    result = audit(write_csv(tmp_path / "p.csv", columns), secret="illness", model=folder / "model.tacit")
    assert result.learned is not None
    assert result.learned.largest_risk == math.inf
    assert any("5.0% of the records have a cell unlike any the model has seen" in note for note in result.learned.notes)
    assert "never saw" in result.learned.riskiest[0].why


def test_bins_that_were_asked_for_apply_to_learning_too(folder: Path) -> None:
    question = ask(Question(folder / "people.csv", secret="illness", bins={"income": [900, 1100]}))
    assert {made.column for made in question.uncut().cuts} == {"income"}
    free = ask(Question(folder / "people.csv", secret="illness"))
    assert free.automatic
    assert free.uncut().cuts == ()
    assert not any("was cut" in note for note in free.uncut().notes)


def test_a_secret_of_many_numbers_stays_cut() -> None:
    rng = np.random.default_rng(0)
    table = pa.table({"wage": rng.normal(size=300), "age": rng.normal(size=300), "sex": rng.choice(["f", "m"], 300)})
    question = ask(Question(table, secret="wage"))
    assert [made.column for made in question.uncut().cuts] == ["wage"]


def test_more_records_than_can_be_learned_from_are_sampled_and_the_rest_scored(
    monkeypatch: pytest.MonkeyPatch, folder: Path
) -> None:
    monkeypatch.setattr(learning, "MOST_RECORDS", 250)
    found = counted(ask(Question(folder / "people.csv", secret="illness")).uncut())
    learned = learning.learned(found, EstimatorChoice("linear"))
    assert len(learned.value) == 250
    assert learned.left_over.sum() == 350
    assert (learned.left_over >= 0).all()
    assert "learned from 250 of 600 records" in learned.notes[0]
    risks, share = learned.risks_of_records()
    assert share.sum() == pytest.approx(1)
    assert len(risks) >= 250


@pytest.mark.long
def test_the_histogram_is_of_models_that_had_not_seen_the_record(folder: Path, audited: AuditResult) -> None:
    found = counted(ask(Question(folder / "people.csv", secret="illness")).uncut())
    learned = learning.learned(found, EstimatorChoice("linear"))
    apart = np.abs(learned.model.out_of_fold_log_lift_).max(axis=1)
    assert audited.learned is not None
    assert audited.learned.risk_histogram.quantiles["100%"] == pytest.approx(apart.max())
    assert audited.learned.risk_histogram.quantiles["100%"] != pytest.approx(learned.risk.max(), rel=1e-6)
    true = learned.model.out_of_fold_log_lift_[np.arange(600), learned.secret]
    assert audited.learned.information.value == pytest.approx(true.mean())


def test_records_drawn_from_counts_are_those_of_the_table() -> None:
    rng = np.random.default_rng(0)
    table = rng.integers(0, 4, size=(3, 50)).astype(float)
    secret, value = learning.records_of(table, rng)
    again = np.zeros_like(table)
    np.add.at(again, (secret, value), 1)
    assert (again == table).all()


def test_cells_are_numbers_where_the_table_holds_numbers_and_missing_stays_missing() -> None:
    table = pa.table({"s": ["a", "b", "a"], "n": ["1.5", None, "2e3"], "t": ["1", "x", None]})
    found = counted(ask(Question(table, secret="s", keep_id=["n", "t"])))
    column = replace_kind(found.question.table.columns, "n", "number")
    cells = cells_of(found.symbols, column, names=found.symbols.columns)
    frame = cells.at(found.symbols.codes)
    assert frame.column("n").type == pa.float64()
    assert set(frame.column("n").to_pylist()) == {1.5, None, 2000.0}
    assert set(frame.column("t").to_pylist()) == {"1", "x", None}


def test_days_and_instants_that_are_spelled_out_are_learned_as_those_with_a_type(tmp_path: Path) -> None:
    rng = np.random.default_rng(5)
    start = np.datetime64("2010-01-01") + rng.integers(0, 4000, 600)
    at = start.astype("datetime64[s]") + rng.integers(0, 86_400, 600)
    ill = np.where((start > np.datetime64("2014-01-01")) ^ (rng.random(600) < 0.1), "yes", "no")
    table = pa.table({"ill": ill, "start": pa.array(start), "at": pa.array(at, pa.timestamp("us"))})
    pq.write_table(table, tmp_path / "t.parquet")
    write_csv(
        tmp_path / "t.csv", {name: [str(each) for each in table[name].to_pylist()] for name in table.column_names}
    )
    learned = {}
    for name in ("t.parquet", "t.csv"):
        found = audit(tmp_path / name, secret="ill", estimator="trees", keep_id=["start", "at"], random_state=0)
        assert found.learned is not None
        learned[name] = found.learned.information.value
    assert learned["t.parquet"] > 0.3
    assert math.isclose(learned["t.csv"], learned["t.parquet"], rel_tol=1e-6)


def replace_kind(columns: tuple, name: str, kind: str) -> list:
    from dataclasses import replace

    return [replace(column, kind=kind) if column.name == name else column for column in columns]


@pytest.mark.parametrize(
    ("words", "error", "message"),
    [
        ({"estimator": "magic"}, ArgumentError, "estimator='magic' cannot be used: choose one of counts, auto"),
        ({"estimator": "linear", "weight": "income"}, ArgumentError, r"do not support weights.*estimator='counts'"),
        ({"estimator": "linear", "save_model": "model.pkl"}, ArgumentError, r"ends in \.tacit"),
        ({"save_model": "model.tacit"}, ArgumentError, "estimator='auto'"),
        ({"estimator": "linear", "model": "model.tacit"}, ArgumentError, "not learned again"),
        ({"model": "nowhere.tacit"}, SourceError, r"nowhere\.tacit"),
    ],
)
def test_what_cannot_be_learned_is_refused_in_one_line(folder: Path, words: dict, error: type, message: str) -> None:
    with pytest.raises(error, match=message) as refusal:
        audit(folder / "people.csv", secret="illness", **words)
    assert "\n" not in str(refusal.value)


def test_the_model_never_takes_the_tables_place(tmp_path: Path) -> None:
    table = tmp_path / "p.csv"
    write_csv(table, patients(50))
    link = tmp_path / "p.tacit"
    link.symlink_to(table)
    with pytest.raises(ArgumentError, match="the table itself"):
        audit(table, secret="illness", estimator="linear", save_model=link)


@pytest.mark.long
def test_a_model_of_other_columns_is_refused_by_name(folder: Path, audited: AuditResult) -> None:
    model = folder / "model.tacit"
    with pytest.raises(ArgumentError, match=r"also needs 'income'.*released=\['age', 'ward', 'district', 'income'\]"):
        audit(folder / "people.csv", secret="illness", drop="income", model=model)


def test_a_model_of_columns_cut_otherwise_is_refused(folder: Path, audited: AuditResult) -> None:
    columns = patients(100)
    table = pa.table({**columns, "ward": [f"w{value}" for value in columns["ward"]]})
    with pytest.raises(DataError, match=r"saw none of the values of column 'ward'.*bins={'ward'"):
        audit(table, secret="illness", model=folder / "model.tacit")


def test_a_secret_that_the_model_does_not_know_is_refused_by_name(folder: Path, audited: AuditResult) -> None:
    columns = patients(100)
    columns["illness"][0] = "gout"
    with pytest.raises(DataError, match="does not know the value 'gout' of illness"):
        audit(pa.table(columns), secret="illness", model=folder / "model.tacit")


@pytest.mark.parametrize("damage", few([b"", b"PK", b"\x80\x04cos\nsystem\n(S'true'\ntR."], 2))
def test_a_damaged_or_hostile_model_is_refused(folder: Path, tmp_path: Path, damage: bytes) -> None:
    (tmp_path / "m.tacit").write_bytes(damage)
    with pytest.raises(SourceError, match=r"m\.tacit"):
        audit(folder / "people.csv", secret="illness", model=tmp_path / "m.tacit")


def test_the_command_line_offers_the_estimators_there_are() -> None:
    offered = settings_of(Learning)["estimator"].kind.words  # type: ignore[attr-defined]
    assert offered == tuple(naming.ESTIMATORS)
    assert all(naming.estimator_named(name) is not None for name in offered)


def test_progress_tells_the_long_stages(folder: Path) -> None:
    stages: list[str] = []
    table = pa.table(patients(200))
    audit(table, secret="illness", estimator="linear", progress=lambda stage, share: stages.append(stage))
    assert {"learning", "scoring", "calibrating"} <= set(stages)


# From end to end

Run = Callable[..., tuple[int, str, str]]


@pytest.fixture
def run(monkeypatch: pytest.MonkeyPatch, tacit_command: Run, tmp_path: Path) -> Run:
    monkeypatch.chdir(tmp_path)
    return tacit_command


def strict(text: str) -> dict:
    def refuse(name: str) -> None:
        raise AssertionError(f"{name} is not JSON")

    return json.loads(text, parse_constant=refuse)


@pytest.mark.long
def test_the_whole_audit_with_auto_from_a_csv_with_missing_cells(run: Run, tmp_path: Path) -> None:
    write_csv(tmp_path / "people.csv", patients(many(200, 400)))
    words = ["people.csv", "--secret", "illness"]
    code, out, err = run(
        *("audit", *words, "--estimator", "auto", "--epsilon", "0.3", "--save-model", "m.tacit", "--format", "json"),
        *("--report", "audit.html"),
    )
    assert (code, err) == (1, "")
    nats = strict(out)["learned"]
    assert nats["kind"] == "estimate"
    assert "Learned: what leaks" in Path("audit.html").read_text()
    again = ["audit", *words, "--model", "m.tacit", "--epsilon", "90", "--format", "json"]
    code, out, _ = run(*again, "--bits")
    assert code == 0
    assert strict(out)["learned"]["largest_risk"] == pytest.approx(nats["largest_risk"] / math.log(2))


@pytest.mark.parametrize("words", [["--estimator", "linear"], ["--model", "m.tacit"]])
@pytest.mark.parametrize("beside", [["--mechanism", "optimal"], ["--confidence", "0.9"], ["--replacement", "merge"]])
def test_what_was_learned_proposes_the_cuts_of_cells_and_nothing_else(
    run: Run, tmp_path: Path, words: list[str], beside: list[str]
) -> None:
    write_csv(tmp_path / "people.csv", patients(100))
    asked = ("protect", "people.csv", "--secret", "illness", "--epsilon", "0.8", "-o", "r")
    code, out, err = run(*asked, *words, *beside)
    assert (code, out) == (2, "")
    assert f"leave out {words[0]}" in " ".join(err.split())
    assert not Path("r").exists()


@pytest.mark.long
@pytest.mark.parametrize("write", ["means", "text"][: many(1, 2)])
def test_cells_that_an_estimator_proposes_are_certified_by_counting(tmp_path: Path, write: str) -> None:
    people = write_csv(tmp_path / "people.csv", patients(600))
    words = {"secret": "illness", "epsilon": 0.8, "estimator": "linear", "write": write}
    made = protect(people, **words, out=tmp_path / "r", random_state=0)
    assert made.certificate.mechanism.name == "cells"
    assert made.certificate.mechanism.values > 1
    assert made.certificate.attained_epsilon <= 0.8
    assert made.certificate.file.holds
    assert verify(tmp_path / "r", against=people).verdict == "holds"


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


def test_a_cell_that_is_not_a_number_is_not_told(tmp_path: Path) -> None:
    # What a column holds is told by its first 20,000 lines.
    rows = [f"{k % 4},{'xy'[k % 2]}" for k in range(20_000)] + ["1_000,x"]
    (tmp_path / "people.csv").write_text("\n".join(["income,illness", *rows]) + "\n")
    with pytest.raises(DataError, match="'income' has cells that are not a number") as refused:
        audit(tmp_path / "people.csv", secret="illness", estimator="linear")
    assert "000" not in str(refused.value)
