"""The whole file: how many people each released value belongs to, against loops over all flows."""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, strategies as st
from scipy.sparse import csr_array

from papers import write_paper
from sizes import many
from tables_of_people import clinic, read_csv, write_csv
from tacit import protect, verify
from tacit.release import Damaged, Mixing, Treatment, WholeFile, certificate_from
from tacit.release.whole_file import people_of
from tacit.tables import Symbols
from treatment_strategies import EVERY, MISSING, becomes, mergings, mixings, names_of, some_symbols


def owners(treatment: Treatment, own: Symbols, table: dict[tuple[Any, ...], int]) -> list[int]:
    """The people that each possible output belongs to, by the definition."""
    flows = [(x, y, p) for x in table for y, p in becomes(treatment, own, x).items()]
    found = []
    for output in {y for _, y, _ in flows}:
        into = [(x, p) for x, y, p in flows if y == output]
        if output == MISSING or all(p == 1 for _, p in into):
            found.append(sum(table[x] for x, _ in into))
        else:
            found.append(table.get(output, 0))
    return sorted(found)


@given(st.data())
def test_a_value_belongs_to_all_who_surely_have_it_or_to_those_whose_own_it_is(data: st.DataObject) -> None:
    own, symbols = data.draw(some_symbols()), data.draw(some_symbols())
    treatment: Treatment = data.draw(st.one_of(mergings(own), mixings(len(own))))
    records = np.array(data.draw(st.lists(st.integers(1, 30), min_size=len(symbols), max_size=len(symbols))))
    table = dict(zip(names_of(symbols), records.tolist(), strict=True))
    people = people_of(treatment, own, records=records, position=symbols.positions_in(own))
    assert sorted(people.tolist()) == owners(treatment, own, table)
    least = data.draw(st.integers(1, 40))
    file, below = WholeFile.of(people, least), [n for n in owners(treatment, own, table) if n < least]
    assert (file.smallest, file.values_below, file.people_below) == (min(people), len(below), sum(below))
    assert file.holds == (not below)


def test_values_that_nobody_here_has_but_may_be_drawn_belong_to_nobody() -> None:
    own = Symbols(("x", "y"), (("a", "b", None), ("p", "q", None)), np.array(EVERY[:2]))
    half = Mixing.of(csr_array([[0.5, 0.5], [0, 1.0]]), np.arange(2))
    assert sorted(people_of(half, own, records=np.array([20]), position=np.array([0])).tolist()) == [0, 20]


def test_a_suppressed_row_belongs_to_those_who_may_have_one_and_to_no_others() -> None:
    own = Symbols(("x", "y"), (("a", "b"), ("p", "q")), np.array([[0, 0], [1, 1], [0, 1]]))
    draws = csr_array([[0.5, 0.5, 0, 0], [0, 0.5, 0, 0.5], [0, 0, 1.0, 0]])
    people = people_of(Mixing(draws), own, records=np.array([20, 30, 40]), position=np.arange(3))
    assert people.tolist() == [20, 30, 40, 30]


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A clinic in which two people have a ward of their own."""
    found, columns = tmp_path_factory.mktemp("whole"), clinic(800)
    columns["ward"][:2] = ["attic", "attic"]
    write_csv(found / "people.csv", columns)
    protect(found / "people.csv", secret="illness", epsilon=0.5, mechanism="watchdog", out=found / "drawn")
    protect(found / "people.csv", secret="illness", epsilon=0.5, replacement="suppress", out=found / "suppressed")
    return found


def counted(folder: Path, columns: list[str], path: str) -> dict[tuple[str, ...], int]:
    table = read_csv(folder / path)
    rows = list(zip(*(table[name] for name in columns), strict=True))
    return {row: rows.count(row) for row in rows}


def test_a_drawn_value_is_shared_by_those_who_truly_have_it(folder: Path) -> None:
    made = json.loads((folder / "drawn" / "certificate.json").read_text())["file"]
    columns = ["age", "ward", "district"]
    truly = counted(folder, columns, "people.csv")
    alone = [n for row, n in truly.items() if row[1] == "attic"]
    assert not made["holds"]
    assert made["smallest"] == min(truly.values()) == min(alone)
    assert made["values_below"] == sum(n < 10 for n in truly.values())
    assert made["people_below"] == sum(n for n in truly.values() if n < 10)


def test_where_nothing_is_drawn_a_value_is_shared_by_the_rows_that_look_like_it(folder: Path) -> None:
    made = json.loads((folder / "suppressed" / "certificate.json").read_text())["file"]
    seen = counted(folder, ["age", "ward", "district"], "suppressed/data.csv")
    assert made == {
        "least": 10,
        "smallest": min(seen.values()),
        "values_below": 0,
        "people_below": 0,
        "holds": True,
    }


def test_headline_claim_page_and_badge_say_that_the_whole_file_is_open(folder: Path, tmp_path: Path) -> None:
    words = {"secret": "illness", "epsilon": 0.5, "mechanism": "watchdog"}
    result = protect(folder / "people.csv", out=tmp_path / "r", **words)
    told = f"DOES NOT HOLD: {result.certificate.file.values_below} released values belong to fewer than 10 people"
    assert told in result.headline
    assert told in result.certificate.claim
    assert told in (tmp_path / "r" / "report.html").read_text()
    assert str(result).startswith("? HOLDS ROW BY ROW, NOT FOR THE WHOLE FILE")
    once = protect(folder / "people.csv", out=tmp_path / "once", least=1, **words)
    assert once.certificate.file.holds
    assert str(once).startswith("✓ HOLDS")
    whole_file = "Read as a whole file it HOLDS: every released value belongs to 1 person or more (1 required)."
    assert whole_file in once.certificate.claim
    assert any(text.startswith("Each row counts as one person.") for text in once.certificate.assumptions)


def test_verify_counts_the_people_again_and_its_headline_says_what_holds(folder: Path) -> None:
    drawn, suppressed = (verify(folder / name, against=folder / "people.csv") for name in ("drawn", "suppressed"))
    for result in (drawn, suppressed):
        assert result.verdict == "holds"
        assert "fewest people who share a released value" in {check.name for check in result.checks}
    assert not drawn.whole_file
    assert "DOES NOT HOLD" in drawn.headline
    assert str(drawn).startswith("? HOLDS ROW BY ROW, NOT FOR THE WHOLE FILE")
    assert suppressed.whole_file
    assert str(suppressed).startswith("✓ HOLDS")


@pytest.mark.parametrize(
    ("name", "private"),
    [("drawn", True), ("suppressed", False), ("drawn", False), ("suppressed", True)][: many(2, 4)],
)
def test_a_forged_number_of_people_is_found_out_with_and_without_the_rules(
    folder: Path, tmp_path: Path, name: str, private: bool
) -> None:
    release = Path(shutil.copytree(folder / name, tmp_path / name))
    if not private:
        shutil.rmtree(release / "private")
    paper = json.loads((release / "certificate.json").read_text())
    paper["file"] |= {"smallest": 5_000, "values_below": 0, "people_below": 0, "holds": True}
    write_paper(release / "certificate.json", paper)
    failed = {check.name for check in verify(release, against=folder / "people.csv").checks if check.passed is False}
    assert {"fewest people who share a released value", "claim in words"} <= failed


@pytest.mark.parametrize("change", [{"holds": True}, {"smallest": 10}, {"values_below": 0}, {"least": 0}])
def test_numbers_that_contradict_each_other_are_refused(folder: Path, change: dict[str, Any]) -> None:
    paper = json.loads((folder / "drawn" / "certificate.json").read_text())
    with pytest.raises(Damaged, match="file cannot be"):
        certificate_from(paper | {"file": paper["file"] | change})


def test_people_are_counted_and_not_their_weight(tmp_path: Path) -> None:
    columns = clinic(600)
    columns["weight"] = [0.1 if k < 9 else 50.0 for k in range(600)]
    people = write_csv(tmp_path / "p.csv", columns)
    for how in ("resample", "suppress", "merge")[: many(2, 3)]:
        made = protect(people, secret="illness", epsilon=0.6, weight="weight", replacement=how, out=tmp_path / how)
        # A drawn value belongs to those who truly have it, any other to the rows that look like it.
        rows = counted(tmp_path, ["age", "ward", "district"], "p.csv" if how == "resample" else f"{how}/data.csv")
        assert made.certificate.file.smallest == min(rows.values())
        assert verify(tmp_path / how, against=people).verdict == "holds"


def test_by_rules_the_people_of_the_batch_are_counted(folder: Path, tmp_path: Path) -> None:
    batch = write_csv(tmp_path / "next.csv", clinic(300, random_state=5))
    made = protect(batch, rules=folder / "drawn" / "private" / "rules.json", out=tmp_path / "r", least=20)
    # The attic may be drawn here, too, and nobody of this batch lives in it.
    assert (made.certificate.file.least, made.certificate.file.smallest) == (20, 0)
    assert verify(tmp_path / "r", against=batch).verdict == "holds"


@pytest.mark.parametrize("how", [{"mechanism": "watchdog"}, {"mechanism": "optimal", "effort": "low"}])
def test_a_file_in_which_people_can_be_found_is_not_advised_for_publication(
    folder: Path, tmp_path: Path, how: dict[str, Any]
) -> None:
    made = {
        least: protect(
            folder / "people.csv", secret="illness", epsilon=0.5, least=least, out=tmp_path / f"{least}", **how
        )
        for least in (1, 10)
    }
    told = {least: " ".join(str(each).split()) for least, each in made.items()}
    assert made[1].certificate.file.holds
    assert "Publish data.csv" in told[1]
    assert not made[10].certificate.file.holds
    assert "Publish data.csv" not in told[10]
    assert "Do not publish data.csv: somebody who has all of it and knows a person's values finds the row" in told[10]
