"""The number that survives chance: counted where counting suffices, learned where it is swamped; or what would tell."""

from __future__ import annotations

import datetime as dt
import json
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

from sample_results import no_rungs
from sizes import few, many
from tables_of_people import clinic, write_csv
from tacit import AuditResult, audit
from tacit.cli.wording import COMMAND_LINE
from tacit.errors import ArgumentError, Sentence
from tacit.lenses.table.ladder import suggesting
from tacit.lenses.table.ladder.advice import chosen
from tacit.lenses.table.learned import quick
from tacit.lenses.table.learned.cells import LearnableCells
from tacit.lenses.table.learned.surviving import basis, no_less_than_a_column
from tacit.lenses.table.question import ask
from tacit.lenses.table.results import ColumnLeak, FirstAnswer
from tacit.lenses.table.tabulating import counted
from tacit.report import to_text
from tacit.requests import Question

pytestmark = pytest.mark.usefixtures("without_rungs")


@pytest.fixture(scope="module")
def without_rungs() -> Iterator[None]:
    """An audit that tries no release."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(suggesting, "ladder", lambda *_, **__: no_rungs())
        yield


def wide(n: int = 400, columns: int = 8, *, leak: float = 0.6, random_state: int = 0) -> dict[str, list[Any]]:
    """Numbers that are different in nearly every row, two of which tell the secret; a quarter that does not."""
    rng = np.random.default_rng(random_state)
    ill = rng.integers(0, 2, n)
    told = {f"q{j}": (rng.normal(size=n) + (leak * ill if j < 2 else 0)).round(3).tolist() for j in range(columns)}
    quarter = [f"Q{each}" for each in rng.integers(1, 5, n)]
    return {"ill": np.where(ill, "yes", "no").tolist(), "birth quarter": quarter, **told}


@pytest.fixture(scope="module")
def learned(without_rungs: None) -> AuditResult:
    return audit(pa.table(wide()), secret="ill", shuffles=19)


def test_where_counting_suffices_it_is_counted_less_what_chance_shows() -> None:
    result = audit(pa.table(clinic()), secret="illness")
    information = {m.name: m for m in result.measures}["mutual_information"]
    answer = result.answer
    assert answer is not None
    assert answer.how == "counted"
    assert answer.share == pytest.approx((information.value - information.null_high) / information.ceiling)
    assert "beyond what chance can show" in result.headline
    assert answer.estimator is None


def test_where_chance_shows_most_of_it_the_answer_is_learned_and_says_so(learned: AuditResult) -> None:
    answer = learned.answer
    assert answer is not None
    assert answer.how == "learned"
    assert answer.counted > 0.9
    assert answer.chance > 0.9
    # Two numbers shifted by 0.6 tell about an eighth of the secret.
    assert 0.02 < answer.share < 0.25
    assert answer.low <= answer.share <= answer.high
    assert learned.verdict == "leak"
    assert "about" in learned.headline
    assert "'auto'" in answer.basis
    assert "from 400 records" in answer.basis
    # Nothing was asked to be learned: risks stay counted, and so do exit codes.
    assert learned.learned is None
    assert learned.largest_risk == np.inf


def test_where_few_of_the_records_were_learned_from_it_says_how_to_learn_from_all(
    learned: AuditResult, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert learned.answer is not None
    assert "All records" not in learned.answer.basis
    monkeypatch.setattr(quick, "AFFORDABLE", 2 * 190)
    answer = audit(pa.table(wide(400, 3)), secret="ill", shuffles=19).answer
    assert answer is not None
    assert "from 190 of 400 records" in answer.basis
    assert "All records take longer and may show more: estimator='auto'." in answer.basis
    # The command line gets it in its own words.
    assert isinstance(answer.basis, Sentence)


def test_infinite_numbers_are_learned_as_numbers_beyond_all_others() -> None:
    columns = wide(120, 3)
    columns["q1"] = [float("inf") if each > 1 else float("-inf") if each < -1 else each for each in columns["q1"]]
    answer = audit(pa.table(columns), secret="ill", shuffles=19).answer
    assert answer is not None
    assert answer.how is not None
    levels = pa.array([2.0, float("inf"), None, float("-inf"), -1.5])
    cells = LearnableCells(("a",), (0,), (levels,), (np.zeros(5, bool),)).finite()
    read = cells.levels[0].to_pylist()
    assert (read[0], read[2], read[4]) == (2.0, None, -1.5)
    assert -np.inf < read[3] < -1.5 < 2.0 < read[1] < np.inf


def test_a_column_that_chance_explains_is_not_among_those_that_give_it_away(learned: AuditResult) -> None:
    text = " ".join(to_text(learned, width=80).split())
    given = text.split("What gives it away")[1].split("No leak by itself")[0]
    assert "q0" in given
    assert "birth quarter" not in given
    assert "birth quarter" in text.split("No leak by itself:")[1].split("What to do")[0]


def test_a_shuffled_secret_is_seldom_called_a_leak_where_it_is_learned() -> None:
    rng = np.random.default_rng(1)
    columns, alarms = wide(120, 3), 0
    for run in range(many(2, 60)):
        columns["ill"] = rng.permutation(columns["ill"]).tolist()
        result = audit(pa.table(columns), secret="ill", shuffles=19, random_state=run)
        assert result.answer.how == "learned"
        alarms += result.verdict == "leak"
    assert alarms < many(2, 10)


@pytest.mark.long
def test_where_nothing_tells_it_says_what_would(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    few = audit(pa.table(wide(40)), secret="ill", shuffles=19)
    assert few.answer.how is None
    assert "40 records are too few" in few.headline
    weighted = audit(pa.table(wide(60) | {"w": [1 + i % 2 for i in range(60)]}), secret="ill", weight="w", shuffles=19)
    assert "coarser columns would tell" in weighted.headline
    monkeypatch.setattr(quick, "AFFORDABLE", 10)
    dear = audit(write_csv(tmp_path / "p.csv", wide(60)), secret="ill", drop="q7", shuffles=19)
    would = dear.headline.told(COMMAND_LINE)
    assert f"tacit audit {tmp_path}/p.csv --secret ill --drop q7 --estimator auto" in would
    said = {"secret": ["ill"], "drop": ["q7"], "estimator": "auto"}
    learn = dear.to_dict()["advice"][0]
    assert (learn["words"], learn["settings"], learn["found"]) == ("Learn it from the records", said, None)
    assert not any("estimator" in each["settings"] for seen in (few, weighted) for each in seen.to_dict()["advice"])


@pytest.mark.long
def test_changes_that_are_proposed_do_what_they_say_when_they_are_followed(monkeypatch: pytest.MonkeyPatch) -> None:
    rng = np.random.default_rng(0)
    days = [dt.date(2024, 1, 1) + dt.timedelta(days=int(day)) for day in rng.integers(0, 366, 600)]
    columns = clinic(600) | {"years": rng.integers(18, 90, 600).tolist(), "day": days}
    before = audit(pa.table(columns), secret="illness", shuffles=19)
    assert chosen(before.fixes)
    # What the page offers as buttons are the settings of audits, in JSON.
    advice = before.to_dict()["advice"]
    assert [each["words"] for each in advice[: len(chosen(before.fixes))]] == [
        f"Leave out {fix.column}" if fix.fix == "drop" else f"Make {fix.column} coarser: {fix.level}"
        for fix in chosen(before.fixes)
    ]
    best = chosen(before.fixes)[0]
    assert (advice[0]["found"], advice[0]["guessed"]) == (best.found, best.guessed)
    assert advice[0]["kept"] == pytest.approx(1 - (1 - best.kept) / len(before.names("released")))
    tried = {(change.column, change.fix): change for change in before.fixes.effects}
    # Who is found is counted; to learn beside it would take most of the time.
    monkeypatch.setattr(quick, "AFFORDABLE", 0)
    followed = (best, json.loads(json.dumps(advice[0]["settings"])))
    others = (tried["years", "coarser"], tried["ward", "drop"])
    for change, said in (
        followed,
        *((each, {"secret": "illness", each.setting.name: each.setting.value}) for each in others),
    ):
        after = audit(pa.table(columns), shuffles=19, **said)
        assert 1000 * after.found.everything.unique_share == pytest.approx(change.found)


def test_a_released_column_that_is_named_like_a_secret_is_warned_of() -> None:
    columns = clinic(200)
    columns["religion"] = columns.pop("district")
    seen = audit(pa.table(columns), secret="illness", known=["religion", "ward"], shuffles=19)
    text = " ".join(to_text(seen, wording=COMMAND_LINE).split())
    assert "'religion' is named like a belief and released: everybody will read it. Leave out: --drop religion" in text
    assert "--drop religion" in text.split("'religion' is named")[1]
    first = seen.to_dict()["advice"][0]
    # What is left out is not known either.
    said = {"secret": ["illness"], "known": ["ward"], "drop": ["religion"]}
    assert (first["words"], first["settings"]) == ("Leave out religion", said)


@pytest.mark.parametrize(
    "columns", few([clinic(40), wide(60), {"illness": ["a", "b"] * 20, "ward": ["x", "y", "y", "y"] * 10}], 2)
)
def test_the_first_answer_fits_a_screen(columns: dict[str, list[Any]]) -> None:
    told = to_text(audit(pa.table(columns), secret=next(iter(columns)), shuffles=19), width=80, wording=COMMAND_LINE)
    assert max(map(len, told.splitlines())) <= 80
    assert len(told.splitlines()) <= 40


def test_what_may_be_known_and_is_not_released_is_refused_as_protect_refuses_it() -> None:
    rng = np.random.default_rng(0)
    old, ill = rng.integers(0, 2, (2, 400)).astype(bool)
    # Whoever knows the age reads the illness from the code; the code alone tells nothing.
    table = {
        "age": np.where(old, "old", "young"),
        "ill": np.where(ill, "yes", "no"),
        "code": np.where(old ^ ill, "A", "B"),
    }
    with pytest.raises(ArgumentError, match="'age' may be known but is not released"):
        audit(pa.table(table), secret="ill", known="age", released="code")


def test_models_that_find_nothing_prove_nothing_and_say_so() -> None:
    rng = np.random.default_rng(0)
    number = rng.integers(10_000, 99_999, 400)
    result = audit(pa.table({"n": number, "s": np.where(number % 2, "a", "b")}), secret="s", shuffles=19, keep_id="n")
    assert result.verdict == "no leak detected"
    assert "not prove that there is none" in result.headline


def test_models_that_fall_back_on_the_prior_give_no_interval_from_nothing_to_nothing() -> None:
    """Nothing varies then, and an interval would be exact about what nobody knows."""
    table = counted(ask(Question(pa.table(wide(60)), secret="ill")))
    nothing = FirstAnswer("learned", 0.0, 0.0, 0.0, 1.0, 1.0, "no leak detected", "auto", 60)
    assert "below 0.10%, and what they miss is not in that" in basis(nothing, table)
    assert "interval" not in basis(nothing, table)
    assert "95% interval 0% to 0.20%" in basis(replace(nothing, high=0.002), table)
    assert "95% interval 0.02% to 0.04%" in basis(replace(nothing, low=0.0002, high=0.0004), table)


def test_a_leak_whose_interval_begins_at_zero_says_what_is_sure_and_what_is_not() -> None:
    table = counted(ask(Question(pa.table(wide(60)), secret="ill")))
    unsure = FirstAnswer("learned", 0.05, 0.0, 0.108, 1.0, 1.0, "leak", "auto", 60)
    assert "shuffled secrets show that it is not chance, but not how much it is: 95% interval 0% to 10.8%" in str(
        basis(unsure, table)
    )
    for sure in (replace(unsure, low=0.01), replace(unsure, verdict="no leak detected", share=0.0)):
        assert "not chance" not in str(basis(sure, table))


def test_the_same_audit_with_a_change_keeps_all_that_was_said(tmp_path: Path) -> None:
    columns = clinic(300) | {"years": np.random.default_rng(0).integers(18, 90, 300).tolist()}
    path = write_csv(tmp_path / "p.csv", columns)
    result = audit(path, secret={"illness": ["asthma"]}, drop="district", levels={"years": 5}, shuffles=19)
    told = " ".join(to_text(result, wording=COMMAND_LINE, width=400).split())
    again = told.split("See what remains: ")[1]
    assert again.startswith(f"tacit audit {path} --secret illness=asthma --drop district")
    assert "years" in again.split("What a safe")[0]


def test_all_columns_tell_no_less_than_one_of_them():
    learned = FirstAnswer("learned", 0.515, 0.503, 0.528, 1.0, 1.0, "leak", "auto", 1_333, "Quick estimate.")
    ward = ColumnLeak("ward", 0.57, 0.01, "leak", 0.0, 0.0, 0.0, 0.0)
    raised = no_less_than_a_column(learned, [ward], 1.0, ["icd"])
    assert raised is not None
    answer, told = raised
    assert answer.share == pytest.approx(0.56)
    assert (answer.low, answer.high) == (None, None)
    assert "at least 56.0%" in str(told)
    assert "'ward' by itself" in answer.basis
    assert "51.5%" in answer.basis
    assert no_less_than_a_column(learned, [replace(ward, alone=0.4)], 1.0, ["icd"]) is None
    assert no_less_than_a_column(learned, [replace(ward, alone_verdict="no leak detected")], 1.0, ["icd"]) is None
    # Where chance alone shows much of it, counting cannot tell how much is real, of one column neither.
    assert no_less_than_a_column(learned, [replace(ward, alone=0.9, alone_null=0.3)], 1.0, ["icd"]) is None


def test_the_strongest_column_comes_first_even_where_chance_shows_much_of_it() -> None:
    """Six secrets and five values, each of many people: shuffled secrets show a third of what the column does."""
    rng = np.random.default_rng(2)
    n = 600
    rate = rng.integers(1, 6, n)
    ill = np.where(rng.random(n) < 0.40 - 0.07 * rate, rng.integers(1, 6, n), 0)
    child = np.where(rng.random(n) < 0.2 + 0.3 * (ill > 0), "yes", "no")
    table = pa.table({"rate": rate, "child": child, "ill": ill})
    result = audit(table, secret="ill", shuffles=39)
    leaks = {leak.name: leak for leak in result.column_leaks}
    assert {leak.alone_verdict for leak in leaks.values()} == {"leak"}
    assert leaks["rate"].alone_null > 0.25 * leaks["rate"].alone
    beyond = {name: leak.alone - leak.alone_null for name, leak in leaks.items()}
    first, second = sorted(beyond, key=beyond.__getitem__, reverse=True)
    told = " ".join(to_text(result, width=400).split())
    shares = told.split("What gives it away ")[1]
    assert shares.startswith(f"{first} ")
    assert f", {second} " in shares.split(" of the uncertainty")[0]
    assert "few records share a value" not in told
    assert "shuffled secrets show up to: rate " in shares
