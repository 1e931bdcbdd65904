"""The trade-off of an audit is that of the release that would be made: protect gives what a rung says."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import fields, replace
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

from hospital import hospital
from sizes import few, many
from tables_of_people import clinic, patients, read_csv, write_csv
from tacit import audit, protect
from tacit.errors import ArgumentError, DataError
from tacit.lenses.table.kept import keeping
from tacit.lenses.table.ladder import climbing
from tacit.lenses.table.ladder.climbing import ladder
from tacit.lenses.table.ladder.guessing import Guesser
from tacit.lenses.table.ladder.results import Ladder
from tacit.lenses.table.ladder.suggesting import suggestion
from tacit.requests import Bound, Making, Question

CASES: dict[str, tuple[dict[str, list[Any]], dict[str, Any]]] = {
    "missing values and numbers": (patients(600), {"secret": "illness"}),
    "another least": (patients(600), {"secret": "illness", "least": 25}),
    "known columns": (patients(600), {"secret": "illness", "known": ("ward",)}),
    "several secrets": (patients(600), {"secret": "illness", "also": {"district": 0.3}}),
    "columns together": (clinic(900), {"secret": ("illness", "district"), "epsilon_high": 1.0}),
    "one side": (patients(600), {"secret": "illness", "epsilon_high": 1.0}),
    "a use": (patients(600), {"secret": "illness", "use": ("ward",)}),
    "weights": ({**clinic(800), "w": [1.0 + at % 3 for at in range(800)]}, {"secret": "illness", "weight": "w"}),
    "means": (patients(600), {"secret": "illness", "write": "means"}),
    "the same ranges everywhere": (clinic(700, missing=0.1), {"secret": "illness", "recode": "global"}),
    "thresholds": (
        {**clinic(500), "income": [float(at * 7 % 101) for at in range(500)]},
        {"secret": "income", "thresholds": 0.2},
    ),
    "levels and dates": (
        hospital(500, missing=0.05),
        {"secret": {"illness": ("O80",)}, "levels": {"admission": "month", "age": 10}, "drop": ("discharge",)},
    ),
}


def asked(source: Any, words: Mapping[str, Any], **further: Any) -> Ladder:
    """The ladder of what ``protect`` would be asked with the same words."""

    def of(kind: type) -> dict[str, Any]:
        return {each.name: words[each.name] for each in fields(kind) if each.name in words}

    return ladder(Question(source, **of(Question)), Bound(**of(Bound)), Making(**of(Making)), **further)


@pytest.mark.parametrize("case", few(CASES, 2))
def test_protect_at_the_epsilon_of_a_rung_gives_what_the_rung_says(
    case: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    # Models that predict columns have no part in this, and take most of the time.
    monkeypatch.setattr(keeping, "MOST_IN_TURN", 0)
    columns, words = CASES[case]
    source = pa.table(columns) if case in ("levels and dates", "means") else write_csv(tmp_path / "t.csv", columns)
    found = asked(source, words, epsilons=(0.5,))
    (rung,) = found.rungs
    at = {"epsilon_high": 0.5} if "epsilon_high" in words else {"epsilon": 0.5}
    made = protect(source, **{**words, **at}, out=tmp_path / "release").certificate
    assert made.keeps is not None
    assert found.sampled is None
    assert dict(rung.columns) == pytest.approx({each.name: each.kept for each in made.keeps.columns}, abs=1e-4)
    assert rung.kept == pytest.approx(made.keeps.mean_kept, abs=1e-4)
    assert rung.attained == pytest.approx(made.attained_epsilon, rel=1e-9)
    assert (rung.cells, rung.smallest) == (made.mechanism.values, made.file.smallest)
    assert rung.cells > 1
    if isinstance(source, Path):
        written = read_csv(tmp_path / "release" / "data.csv")
        places = np.linspace(0, len(columns[found.columns[0]]) - 1, 10).astype(int)
        assert rung.rows == tuple(tuple(written[name][at] for name in found.columns) for at in places)
        assert found.before[1][0] == str(columns[found.columns[0]][places[1]] or "")


def test_people_are_counted_as_by_hand() -> None:
    columns = patients(400)
    found = ladder(Question(pa.table(columns), secret="illness"), epsilons=(1.0,))
    times = Counter(zip(*(columns[name] for name in found.columns), strict=True))
    assert found.prior == pytest.approx(1000 * max(Counter(columns["illness"]).values()) / 400)
    assert found.original.found == pytest.approx(1000 * sum(n == 1 for n in times.values()) / 400)
    assert (found.original.cells, found.original.smallest) == (len(times), 1)
    assert found.rungs[0].found == 0


def test_people_are_alone_on_the_columns_that_may_be_known() -> None:
    columns = {**clinic(300), "room": [str(at) if at < 30 else "hall" for at in range(300)]}
    found = ladder(Question(pa.table(columns), secret="illness", known=("room",)), epsilons=(0.5,))
    assert found.original.found == pytest.approx(100)


def test_secrets_are_guessed_from_columns_that_tell_them_and_from_no_others() -> None:
    rng = np.random.default_rng(0)
    secret = rng.integers(0, 3, 3000)
    number, noise = np.arange(3000), [rng.integers(0, 9, 3000) for _ in range(3)]

    def right(*columns: np.ndarray) -> float:
        return Guesser.of(dict(enumerate(columns)), secret).right()

    prior = right()
    assert prior == pytest.approx(max(Counter(secret.tolist()).values()) / 3000)
    # Rows that are all different tell nothing of people whom nobody has seen.
    assert right(number) == prior
    assert right(number, *noise) < prior + 0.02
    assert right(number, *noise, secret) > 0.99
    # Two columns that tell nothing one by one, and everything together.
    one = rng.integers(0, 3, 3000)
    assert right(one) < prior + 0.03
    assert right(one, (one + secret) % 3) > 0.99


def test_far_fewer_secrets_are_guessed_from_a_release() -> None:
    found = ladder(Question(pa.table(hospital(1500)), secret="illness"), epsilons=(0.2, 1.0))
    assert found.original.guessed > 400
    assert [rung.guessed < 80 for rung in found.rungs] == [True, True]


def test_a_looser_epsilon_is_suggested_only_where_a_stricter_one_keeps_too_little() -> None:
    source = pa.table(clinic(2000))
    epsilons = (0.1, 0.5, 1.0, 3.0)
    kept = {rung.epsilon: rung.kept for rung in ladder(Question(source, secret="illness"), epsilons=epsilons).rungs}
    for tolerated in (0.3, 0.0, 0.05, 1.0)[: many(2, 4)]:
        found = ladder(Question(source, secret="illness"), epsilons=epsilons, max_loss=tolerated)
        enough = [e for e in epsilons if kept[e] >= 1 - tolerated] or [
            e for e in epsilons if kept[e] >= 0.95 * max(kept.values())
        ]
        assert found.epsilon == enough[0]


def test_the_suggested_epsilon_keeps_what_it_says(tmp_path: Path) -> None:
    people = write_csv(tmp_path / "people.csv", clinic(1500))
    result = audit(people, secret="illness", max_loss=0.3, shuffles=19)
    suggestion = result.suggestion
    assert suggestion.epsilon == result.ladder.epsilon
    keeps = protect(people, secret="illness", epsilon=suggestion.epsilon, out=tmp_path / "release").certificate.keeps
    assert keeps.mean_kept == pytest.approx(suggestion.kept)
    assert suggestion.kept >= 0.7
    said = f"'{people}', secret='illness', epsilon={suggestion.epsilon}, out='release'"
    assert suggestion.command == f"tacit.protect({said})"


def test_where_no_epsilon_keeps_enough_the_one_that_keeps_nearly_most_is_proposed(tmp_path: Path) -> None:
    people = pa.table(patients(400))
    question = Question(people, secret={"illness": ["asthma"]}, drop=("district",), bins={"income": 5})
    found = ladder(question, epsilons=(0.1, 1.0, 2.0), max_loss=0.0)
    advice = suggestion(found, question)
    most = max(rung.kept for rung in found.rungs)
    assert most < 1
    assert (advice.epsilon, advice.kept) == (None, None)
    assert found.epsilon == next(rung.epsilon for rung in found.rungs if rung.kept >= 0.95 * most)
    told = str(advice.command)
    assert told.startswith("tacit.protect(TABLE, secret={'illness': ('asthma',)}, drop='district', bins={'income': 5}")
    assert told.endswith(f"epsilon={found.epsilon}, out='release')")
    assert "keeps 100% of a column" in advice.sentence


def test_a_large_table_is_tried_on_some_of_its_records_and_says_so(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(climbing, "MOST_RECORDS", 300)
    found = ladder(Question(pa.table(patients(1000)), secret="illness"), epsilons=(1.0,))
    assert (found.sampled, found.records) == (250, 1000)
    assert len(found.before) == len(found.rungs[0].rows) == 10
    monkeypatch.setattr(climbing, "MOST_RECORDS", 20_000)
    whole = ladder(Question(pa.table(patients(1000)), secret="illness"), epsilons=(1.0,))
    assert replace(found.original, rows=(), guessed=0) == replace(whole.original, rows=(), guessed=0)


@pytest.mark.parametrize("words", few([{}, {"known": ("age",)}, {"secret": {"illness": ("asthma",)}}], 2))
def test_the_cells_of_a_large_table_of_few_combinations_are_those_of_all_its_records(
    words: dict[str, Any], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(keeping, "MOST_IN_TURN", 0)
    words = {"secret": "illness", **words}
    result = audit(pa.table(clinic(30_000)), shuffles=19, **words)
    found = result.ladder
    assert found.whole == (words["secret"] == "illness")
    assert (found.sampled, found.records) == (15_000, 30_000)
    assert ("The cells are those of all 30,000" in " ".join(result.as_text(full=True).split())) == found.whole
    assert len(found.rungs) > 1
    for rung in found.rungs if found.whole else ():
        made = protect(
            pa.table(clinic(30_000)), **words, epsilon=rung.epsilon, out=tmp_path / str(rung.epsilon)
        ).certificate
        assert rung.attained == pytest.approx(made.attained_epsilon, rel=1e-9)
        assert (rung.cells, rung.smallest) == (made.mechanism.values, made.file.smallest)
        assert rung.found == 0
        assert made.keeps is not None
        assert rung.kept == pytest.approx(made.keeps.mean_kept, abs=0.02)


def test_where_rows_take_turns_records_of_every_secret_are_looked_at() -> None:
    # Of 40,000 records every second one is looked at, which has the same secret as the one before.
    rng = np.random.default_rng(0)
    ill = np.arange(40_000) % 2
    columns = {
        "ill": np.where(ill == 1, "yes", "no"),
        "age": rng.integers(20, 60, 40_000) + 30 * ill * (rng.random(40_000) < 0.5),
    }
    result = audit(pa.table({**columns, "town": rng.integers(0, 9, 40_000).astype(str)}), secret="ill", shuffles=19)
    assert result.ladder.prior == pytest.approx(500, abs=10)
    assert result.ladder.original.guessed > 150
    assert result.fixes is not None
    assert result.fixes.guessed > 150


def test_where_the_strictest_epsilon_keeps_enough_of_very_many_records_no_other_is_tried() -> None:
    rng = np.random.default_rng(0)
    columns = {name: rng.integers(0, size, 30_000).astype(str) for name, size in (("ill", 2), ("age", 5), ("town", 6))}
    result = audit(pa.table(columns), secret="ill", shuffles=19)
    assert [rung.epsilon for rung in result.ladder.rungs] == [0.1] == [result.ladder.epsilon]
    assert result.suggestion.sentence.endswith("% of a column on average. None stricter was tried.")


def test_a_column_that_is_different_in_a_sample_alone_is_no_identifier(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(climbing, "MOST_RECORDS", 150)
    columns = {"ill": ["no", "yes", "no"] * 200, "room": [f"r{at // 2}" for at in range(600)]}
    income = [float(at % 97) for at in range(600)]
    found = ladder(Question(pa.table(columns), secret="ill"), epsilons=(1.0,))
    assert (found.sampled, found.original.found, len(found.rungs)) == (150, 0, 1)
    # Groups of a number are those of the whole table.
    assert ladder(Question(pa.table({**columns, "income": income}), secret="income"), epsilons=(2.0,)).sampled == 150


def test_a_sample_without_the_secret_has_no_rungs(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(climbing, "MOST_RECORDS", 100)
    columns = {"ill": ["no"] * 298 + ["yes"] * 2, "age": [str(at % 7) for at in range(300)]}
    found = ladder(Question(pa.table(columns), secret="ill"))
    assert found.rungs == ()
    assert found.epsilon is None


def test_a_table_that_protect_would_refuse_is_audited_and_told_why() -> None:
    columns = {"ill": ["no", "yes", "no"] * 40, "card": [2**60 + at % 7 for at in range(120)]}
    result = audit(pa.table(columns), secret="ill", shuffles=19)
    assert result.ladder.rungs == ()
    assert result.ladder.original.found == 0
    assert "No release can be made from this table: column 'card' holds whole numbers" in result.suggestion.sentence
    assert "No release can be made" in str(result)


def test_a_value_that_protect_would_refuse_is_told_of_even_if_no_sampled_record_has_it() -> None:
    # Of 60,000 records every third one is looked at, and not the second.
    card = [at % 70 for at in range(60_000)]
    card[1] = 2**60 + 1
    table = pa.table({"ill": ["no", "yes", "no", "no"] * 15_000, "card": card})
    result = audit(table, secret="ill", shuffles=19)
    assert result.ladder.rungs == ()
    assert not result.suggestion.command
    assert "No release can be made from this table: column 'card' holds whole numbers" in result.suggestion.sentence
    with pytest.raises(DataError, match="'card' holds whole numbers"):
        protect(table, secret="ill", epsilon=1)


def test_where_little_is_kept_it_is_said_what_keeps_more() -> None:
    table = pa.table(hospital(400))
    question = Question(table, secret="illness")
    found = ladder(question, epsilons=(1.0,))
    assert found.rungs[0].kept < 0.5
    assert "Fewer columns (drop) or secret values (secret={" in suggestion(found, question).sentence
    fewer = ladder(Question(table, secret={"illness": ("O80",)}, released=("sex", "insurance")), epsilons=(1.0,))
    assert fewer.rungs[0].kept > found.rungs[0].kept


def test_a_table_too_small_to_tell_anything_has_no_epsilon_to_suggest() -> None:
    result = audit(pa.table(clinic(15)), secret="illness", shuffles=19)
    assert (result.ladder.epsilon, result.suggestion.command) == (None, "")
    assert "No release says anything" in result.suggestion.sentence


@pytest.mark.parametrize("words", [{"mechanism": "watchdog"}, {"confidence": 0.95}])
def test_what_is_not_of_counted_cells_is_refused(words: dict[str, Any]) -> None:
    with pytest.raises(ArgumentError, match="epsilons are compared"):
        asked(pa.table(clinic(100)), {"secret": "illness", **words})


def test_no_repr_shows_a_record() -> None:
    found = ladder(Question(pa.table(patients(200)), secret="illness"), epsilons=(1.0,))
    income = found.before[0][found.columns.index("income")]
    assert income
    assert income not in repr(found)


@pytest.mark.parametrize("kind", ["number", "text"])
def test_where_no_cut_keeps_a_bound_the_ways_out_are_told_and_lead_out(kind: str) -> None:
    # One person has the rarest value, so a side of every cut rules it out.
    stay = [*range(1, 11)] * 60 + [40]
    secret = stay if kind == "number" else [f"ward {each}" for each in stay]
    people = pa.table({"secret": secret, "age": [20 + each % 7 * 10 for each in range(601)]})
    advice = audit(people, secret="secret", shuffles=19).suggestion
    stuck = protect(people, secret="secret", epsilon=1)
    assert not advice.command
    assert stuck.certificate.mechanism.values == 1
    ways = {"number": ("bins={'secret': 5}", "thresholds=0.1"), "text": ("secret={'secret': ('VALUE',)}",)}[kind]
    for told in (str(advice.sentence), str(stuck.diagnosis)):
        assert all(way in told for way in (*ways, "epsilon_high="))
    others = (
        [{"bins": {"secret": 5}}, {"thresholds": 0.1}] if kind == "number" else [{"secret": {"secret": ["ward 1"]}}]
    )
    for other in others:
        way = {"secret": "secret", "epsilon": 1, **other}
        assert protect(people, **way).certificate.mechanism.values > 1
    alone = protect(people, secret="secret", epsilon_high=1)
    assert alone.certificate.mechanism.values > 1
    assert alone.diagnosis is None
