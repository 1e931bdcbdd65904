"""Records that are likely one person's, as the records themselves show it, and all that is a person's."""

from __future__ import annotations

import random
from itertools import pairwise
from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest

import tacit
from sizes import many
from tacit.person.link.attributes import Attributes
from tacit.person.link.brought import Linked, surest_values
from tacit.person.link.components import components
from tacit.person.link.likely import codes, fields, held_together, likely_pairs, model
from tacit.person.link.likely.fields import fields_of
from tacit.person.link.wide import Wide, gathered
from tacit.person.model import Record
from tacit.tables import open_table
from tacit.tables.engines import store_on

GIVEN = [a + b for a in ("an", "ber", "car", "da", "el", "fra") for b in ("na", "ta", "vid", "ena", "nk")]
STEMS, ENDINGS = ("berg", "stein", "wald", "fels", "brun", "holz"), ("er", "mann", "hof", "bach", "ner", "ing")
SURNAMES = [stem + ending for stem in STEMS for ending in ENDINGS]


def mistyped(draw: random.Random, text: str) -> str:
    at = draw.randrange(1, len(text))
    return text[:at] + draw.choice("abcdefghij0123456789") + text[at + 1 :]


def people(draw: random.Random, persons: int, twice: int) -> tuple[Attributes, np.ndarray]:
    """Some of the persons have a second record with one mistake."""
    rows, true = [], []
    for person in range(persons):
        row = {
            "name": f"{draw.choice(GIVEN)} {draw.choice(SURNAMES)}",
            "dob": f"{draw.randrange(1930, 2005)}-{draw.randrange(1, 13):02}-{draw.randrange(1, 29):02}",
            "zip": f"{draw.randrange(10000, 10400)}",
        }
        rows.append(row)
        true.append(person)
        if person < twice:
            wrong = draw.choice(["name", "zip"])
            rows.append({**row, wrong: mistyped(draw, row[wrong])})
            true.append(person)
    order = draw.sample(range(len(rows)), len(rows))
    table = pa.table({name: [rows[at][name] for at in order] for name in ("name", "dob", "zip")})
    held = gathered([Wide(open_table(table), {name: name for name in table.column_names})]).attributes
    return held, np.array([true[at] for at in order])


def test_records_with_a_mistake_are_found_without_any_rule() -> None:
    held, true = people(random.Random(0), 1_500, 300)
    pairs = likely_pairs(held)
    right = true[pairs.left] == true[pairs.right]
    assert right.mean() > 0.97
    assert right.sum() > 0.95 * 300
    assert (pairs.left < pairs.right).all()
    assert ((pairs.probability > 0) & (pairs.probability <= 1)).all()
    # Half of the people's records were expected to be as sure as they are right.
    assert abs(pairs.probability.mean() - right.mean()) < 0.1


def test_among_very_many_records_those_near_a_person_are_joined(monkeypatch: pytest.MonkeyPatch) -> None:
    held, true = people(random.Random(3), 3_000, 900)
    monkeypatch.setattr(model, "MOST_WHOLE", 1_000)
    monkeypatch.setattr(model, "FITTED_RECORDS", 1_500)
    twice = [np.flatnonzero(true == person) for person in range(40)]
    pairs = likely_pairs(held, around=lambda: np.array([records[0] for records in twice]))
    ends = set(zip(pairs.left.tolist(), pairs.right.tolist(), strict=True))
    assert sum(tuple(records.tolist()) in ends for records in twice) >= 36
    assert len(ends) <= 60


@pytest.mark.parametrize("seed", range(many(1, 30)))
def test_what_codes_find_is_what_looking_at_all_records_finds(monkeypatch: pytest.MonkeyPatch, seed: int) -> None:
    draw = random.Random(seed)
    held, true = people(draw, 700, 250)
    monkeypatch.setattr(model, "MOST_WHOLE", 500)
    monkeypatch.setattr(model, "FITTED_RECORDS", draw.choice([200, 400]))
    monkeypatch.setattr(codes, "_BITS", draw.choice([4, 20]))
    start = np.array(draw.sample(range(len(true)), 25))
    quick = likely_pairs(held, around=lambda: start)
    slow = likely_pairs(held, surest_values(held), around=lambda: start)
    assert len(slow.left)
    assert quick.left.tolist() == slow.left.tolist()
    assert quick.right.tolist() == slow.right.tolist()
    assert quick.probability == pytest.approx(slow.probability, rel=1e-9)


@pytest.mark.parametrize("most", [1, 2])
def test_edits_are_counted_only_where_they_may_be_few(most: int) -> None:
    draw, store = random.Random(most), store_on("duckdb")
    words = ["".join(draw.choices("abü", k=draw.randrange(9))) for _ in range(many(60, 400))]
    words += [mistyped(draw, mistyped(draw, f"{word}x{word}y")) for word in words] + [
        f"{word}x{word}y" for word in words
    ]
    given = store.load(pa.table({"w": words}))
    known = f"coalesce({fields._edits(most).format('a.w', 'b.w')}, false)"
    wrong = f"SELECT a.w FROM {given} a, {given} b WHERE {known} <> (damerau_levenshtein(a.w, b.w) <= {most})"
    assert store.ask(wrong).num_rows == 0


def test_the_same_records_give_the_same_pairs() -> None:
    held = people(random.Random(1), 400, 80)[0]
    once = likely_pairs(held)
    # Groups come from the engine in any order; once in six the sums of one order differed in their last digit.
    for _ in range(many(12, 60)):
        again = likely_pairs(held)
        assert once.left.tolist() == again.left.tolist()
        assert once.probability.tolist() == again.probability.tolist()


def test_people_who_are_all_different_stay_apart() -> None:
    held, _ = people(random.Random(2), 800, 0)
    assert len(likely_pairs(held).left) < 8


@pytest.mark.parametrize("rows", [[], [{"name": "anna"}], [{"name": "anna"}, {"name": "anna"}]])
def test_few_records_are_no_error(rows: list[dict[str, str]]) -> None:
    table = pa.table({"name": pa.array([row["name"] for row in rows], pa.string())})
    held = gathered([Wide(open_table(table), {"name": "name"})]).attributes
    assert len(likely_pairs(held).left) <= 1


def test_a_chain_of_people_who_are_alike_is_not_one_person() -> None:
    left, right = np.arange(9), np.arange(1, 10)
    chained = np.full(9, 0.9)
    assert len(np.unique(components(left, right, 10))) == 1
    assert len(np.unique(held_together(left, right, chained, 10))) > 2
    # All pairs of three records are linked: they are one, and so are two alone.
    left, right = np.array([0, 0, 1, 3]), np.array([1, 2, 2, 4])
    assert held_together(left, right, np.full(4, 0.6), 5).tolist() == [0, 0, 0, 3, 3]


def test_what_is_compared_is_the_part_that_can_be_mistyped() -> None:
    names = [field.name.partition("_")[2] for field in fields_of(["date_of_birth", "full_name", "ssn"])]
    assert names == ["year", "month", "day", "given", "surname", "whole"]


def test_a_record_is_as_sure_as_the_surest_pair_that_put_it_there() -> None:
    records = tuple(Record([("name", "anna")], name=name) for name in "abc")
    step = Linked(pairs=(("a", "b"), ("b", "z")), likely=(0.5, 0.9))
    doubted = step.doubted(records)
    assert [record.attributes[0].confidence for record in doubted] == [0.5, 0.5, 1.0]


def case_of(folder: Path, rows: str, person: str) -> Path:
    (folder / "all.csv").write_text(rows)
    (folder / "case.yaml").write_text(f"person: {person}\nsources: [{{name: all, path: all.csv}}]\n")
    return folder / "case.yaml"


def test_all_that_is_the_persons_is_joined_by_the_last_adversary(tmp_path: Path) -> None:
    rows = "name,mail,tel,city\n" + "".join(
        (
            "Alice Archer,alice@x.example,,\n",
            "ARCHER Alice,,020 7946 0018,\n",
            ",,+44 20 7946 0018,Ambleford\n",
            "Bob Baker,bob@x.example,020 7946 0999,Ambleford\n",
        )
    )
    person = "{name: Alice Archer, email: alice@x.example, phone: +44 20 7946 0018, city: Ambleford}"
    audit = tacit.person_audit(case_of(tmp_path, rows, person))
    by_name = {rung.adversary: rung for rung in audit.rungs}
    assert list(by_name) == ["E0", "E1", "E2", "E3"]
    assert by_name["E3"].merged == 3
    assert by_name["E3"].best_recall == pytest.approx(1.0)
    assert by_name["E3"].best_recall > by_name["E0"].best_recall
    assert audit.strongest == "E3"
    assert audit.together == pytest.approx(1.0)


def test_what_nobody_joins_is_told_all_the_same(tmp_path: Path) -> None:
    rows = "name,mail,tel\nAlice Archer,alice@x.example,\n,,+44 20 7946 0018\n"
    person = "{name: Alice Archer, email: alice@x.example, phone: +44 20 7946 0018}"
    audit = tacit.person_audit(case_of(tmp_path, rows, person), adversary=["E0", "E1"])
    assert audit.together == pytest.approx(1.0)
    assert "All records about the person together hold 100 %" in audit.headline.replace("100%", "100 %")


def test_the_strongest_is_who_knows_most_and_of_equals_the_later(tmp_path: Path) -> None:
    rows = "name,mail,tel\nAlice Archer,alice@x.example,020 7946 0018\nBob Baker,bob@x.example,\n"
    person = "{name: Alice Archer, email: alice@x.example, phone: +44 20 7946 0018}"
    audit = tacit.person_audit(case_of(tmp_path, rows, person))
    assert audit.rungs[0].leakage == pytest.approx(audit.leakage)
    assert audit.strongest == "E3"


STRANGERS = """name,mail,tel,city
Bob Bell,bo@firm.example,+44 20 7946 0019,Ambleford
Alice Archer,,,Ambleford
Cy Cole,,020 7946 00**,Ambleford
"""


def test_whoever_knows_the_truth_takes_no_stranger_who_is_nearly_the_person(tmp_path: Path) -> None:
    own = "Alice Archer,jo@firm.example,,\n,,+44 20 7946 0018,\n"
    person = "{name: Alice Archer, email: jo@firm.example, phone: +44 20 7946 0018, city: Ambleford}"
    audit = tacit.person_audit(case_of(tmp_path, STRANGERS + own, person))
    assert {rung.adversary: rung.merged for rung in audit.rungs}["E3"] == 2
    assert audit.together == pytest.approx(0.75)


def test_a_query_for_somebody_else_brings_up_nothing_of_the_person(tmp_path: Path) -> None:
    rows = "name,mail,tel\nAlice Archer,alice@x.example,\nAlice Archer,alice@x.example,020 7946 0018\n"
    case = case_of(tmp_path, rows, "{name: Alice Archer, email: alice@x.example, phone: +44 20 7946 0018}")
    stranger = Record([("name", "Zed Young"), ("email", "zed@y.example")])
    found = tacit.person_dip(case, query=stranger, adversary="E3")
    assert found.headline.startswith("No query brings up any record")


def small_table(seed: int) -> str:
    """Records of a few people with cells missing, mistyped and swapped."""
    chance = random.Random(seed)
    people = [
        ["Alice Archer", "alice@x.example", "020 7946 0018", "1984-03-12", "Ambleford"],
        ["Alice Archer", "a.archer@y.example", "020 7946 0999", "1985-03-12", "Ambleford"],
        ["Bob Baker", "bob@x.example", "020 7946 0018", "1960-01-01", "Hull"],
    ]
    rows = ["name,mail,tel,dob,city"]
    for _ in range(chance.randint(4, 12)):
        row = list(chance.choice(people))
        place = chance.randrange(5)
        row[place] = chance.choice(people)[place]
        rows.append(",".join(cell if chance.random() < 0.6 else "" for cell in row))
    return "\n".join(rows) + "\n"


@pytest.mark.parametrize("seed", range(many(1, 100)))
def test_no_adversary_of_the_ladder_is_weaker_than_the_one_before(seed: int, tmp_path: Path) -> None:
    person = "{name: Alice Archer, email: alice@x.example, phone: +44 20 7946 0018, dob: 1984-03-12, city: Ambleford}"
    case = case_of(tmp_path, small_table(seed), person)
    rungs = tacit.person_audit(case).rungs
    for lower, higher in pairwise(rungs):
        assert higher.leakage >= lower.leakage - 1e-12
        assert higher.best_recall >= lower.best_recall - 1e-12
    everybody = tmp_path / "all.yaml"
    (tmp_path / "people.csv").write_text(
        "pid,name,email,phone,dob,city\n1,Alice Archer,alice@x.example,+44 20 7946 0018,1984-03-12,Ambleford\n"
    )
    everybody.write_text(f"{case.read_text()}population: {{references: people.csv, person: pid}}\n")
    # The last adversary knows the person of the case, and is not asked of everybody.
    for rung, told in zip(rungs[:-1], tacit.person_population(everybody).rungs, strict=True):
        assert told.quantiles["100%"] == pytest.approx(rung.leakage, abs=1e-9), rung.adversary
