"""Every person of a table at once, against the audit of each."""

from __future__ import annotations

import csv
import json
import random
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq
import pytest
import yaml

from sizes import few, many
from tacit.errors import ArgumentError, DataError
from tacit.person import person_audit, person_population
from tacit.person.link import populations

LABELS = {
    "name": {"normalise": "name", "synonyms": {"bob": "robert"}},
    "mail": {"weight": 3},
    "age": {"weight": 2, "single": True},
    "town": {},
}
# Values that are nearly right, values that cover the truth, rare values that weigh more.
SUBTLE = {
    "name": {"normalise": "name", "similarity": "name"},
    "mail": {"weight": 3, "similarity": "levenshtein"},
    "age": {"weight": 2, "single": True, "similarity": {"exp_abs": 2}},
    "town": {"prior": {"Rye": 0.9, "Ely": 0.1}, "suppressed": "prior"},
}
NAMES = ["Ann", "Bob", "Robert", "Cy", "Dee"]


def write(folder: Path, case: dict[str, Any], **tables: list[dict[str, Any]]) -> Path:
    for name, rows in tables.items():
        (folder / f"{name}.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    path = folder / "case.yaml"
    path.write_text(yaml.safe_dump(case, sort_keys=False), encoding="utf-8")
    return path


def people(draw: random.Random, count: int) -> list[dict[str, Any]]:
    return [
        {
            "id": f"p{number:03}",
            "name": draw.choice(NAMES),
            "mail": [f"m{number}"] if number % 3 else [f"m{number}", f"w{number}"],
            "age": str(draw.randrange(20, 24)),
            "town": draw.choice(["Rye", "Ely"]),
        }
        for number in range(count)
    ]


def spilled(draw: random.Random, persons: list[dict[str, Any]], count: int) -> list[dict[str, Any]]:
    """Records of these persons, with gaps, strangers' values and another way of writing names."""
    rows = []
    for _ in range(count):
        person, other = draw.choice(persons), draw.choice(persons)
        row = {
            k: (v if draw.random() < 0.85 else other[k]) for k, v in person.items() if k != "id" and draw.random() < 0.7
        }
        if "name" in row and draw.random() < 0.5:
            row["name"] = f" {row['name'].upper()}"
        if row:
            rows.append(row)
    return rows


def population_case(draw: random.Random, **adversary: Any) -> dict[str, Any]:
    steps = ["normalise", {"resolve": {"rules": [["mail"], ["name", "age"]]}}]
    return {
        "population": {"references": "people.jsonl", "person": "id", "quasi_identifiers": ["age", "town"]},
        "labels": LABELS,
        "sources": [
            {"name": "one", "path": "one.jsonl", "confidence": draw.choice([1.0, 0.6])},
            {"name": "two", "path": "two.jsonl", "confidence": draw.choice([1.0, 0.3])},
        ],
        "adversaries": [{"name": "E0", "steps": ["normalise"]}, {"name": "E1", "steps": steps, **adversary}],
    }


def simple_case(draw: random.Random) -> dict[str, Any]:
    return {**population_case(draw), "adversaries": [{"name": "E0", "steps": ["normalise"]}]}


# Against all pairs, in test_populations.py, each of them is tried in the short form too.
@pytest.mark.parametrize("merge", few(["diluted", "union", "consensus", "vote"]))
def test_every_person_leaks_what_the_audit_of_that_person_says(tmp_path: Path, merge: str) -> None:
    draw = random.Random(merge)
    persons = people(draw, many(2, 12))
    case = population_case(draw, merge=merge, keep_base=merge in ("union", "vote"))
    tables = {"people": persons, "one": spilled(draw, persons, 25), "two": spilled(draw, persons, 25)}
    result = person_population(write(tmp_path, case, **tables), out=tmp_path / "rows.csv", fail_above=0.5)
    with (tmp_path / "rows.csv").open(encoding="utf-8", newline="") as file:
        rows = {row["pid"]: row for row in csv.DictReader(file)}
    assert sorted(rows) == [person["id"] for person in persons]
    found: dict[str, list[float]] = {"E0": [], "E1": []}
    for person in persons:
        true = {label: value for label, value in person.items() if label != "id"}
        audited = person_audit(write(tmp_path, {**case, "person": true}, **tables))
        for rung in audited.rungs:
            row = rows[person["id"]]
            assert float(row[f"{rung.adversary} leakage"]) == pytest.approx(rung.leakage, rel=1e-9, abs=1e-12)
            found[rung.adversary].append(rung.leakage)
        same = [p for p in persons if (p["age"], p["town"]) == (person["age"], person["town"])]
        assert int(rows[person["id"]]["k"]) == len(same)
        assert any(f"k = {len(same)}:" in note for note in audited.notes)
    for rung in result.rungs:
        own = found[rung.adversary]
        assert rung.mean == pytest.approx(sum(own) / len(own))
        assert rung.quantiles["100%"] == pytest.approx(max(own))
        assert rung.above == sum(value > 0.5 for value in own)
        assert sum(rung.bins) == len(persons)
    assert result.leakage == pytest.approx(max(found["E0"] + found["E1"]))
    assert set(result.top_sources) <= {"one", "two"}


# Without it they are laid beside all pairs in test_populations.py.
@pytest.mark.parametrize("likely", few([True, False]))
def test_similarity_covering_correlated_labels_and_beta_count_as_in_the_audit(tmp_path: Path, likely: bool) -> None:
    draw = random.Random(f"subtle {likely}")
    persons = people(draw, many(2, 12))
    case = {**population_case(draw), "labels": SUBTLE, "beta": 2}
    case["correlated"] = [{"labels": ["age", "town"], "shared": 0.5}]
    joins = {"resolve": {"rules": [["mail"], ["name", "age"]]}}
    case["adversaries"] = [
        {"name": "E0"},
        {"name": "E1", "steps": [{"resolve": {"likely": True}} if likely else joins]},
    ]
    tables = {"people": persons, "one": spilled(draw, persons, 12), "two": spilled(draw, persons, 8)}
    for row, hint in zip(tables["two"], [{"town": "R**"}, {"age": ">=21"}, {"name": "Anne"}], strict=False):
        row.update(hint)
    result = person_population(write(tmp_path, case, **tables), out=tmp_path / "rows.csv")
    assert not any("were not all looked at" in note for note in result.notes)
    with (tmp_path / "rows.csv").open(encoding="utf-8", newline="") as file:
        rows = {row["pid"]: row for row in csv.DictReader(file)}
    for person in persons[: many(1, 12)]:
        true = {label: value for label, value in person.items() if label != "id"}
        audited = person_audit(write(tmp_path, {**case, "person": true}, **tables))
        for rung in audited.rungs:
            row = rows[person["id"]]
            assert float(row[f"{rung.adversary} leakage"]) == pytest.approx(rung.leakage, rel=1e-9, abs=1e-12)
            assert row[f"{rung.adversary} at most"] == row[f"{rung.adversary} leakage"]


@pytest.mark.long
def test_an_adversary_who_knows_the_person_is_not_asked_of_everybody(tmp_path: Path) -> None:
    draw = random.Random(3)
    persons = people(draw, 3)
    true = {label: value for label, value in persons[0].items() if label != "id"}
    case = {key: value for key, value in population_case(draw).items() if key != "adversaries"}
    tables = {"people": persons, "one": spilled(draw, persons, 5), "two": [REST]}
    result = person_population(write(tmp_path, {**case, "person": true}, **tables))
    assert "E3" not in [rung.adversary for rung in result.rungs]
    assert any(note.startswith("E3 knows the person of the case") for note in result.notes)


@pytest.mark.long
def test_rows_are_written_whole_or_not_at_all(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    draw = random.Random(0)
    persons = people(draw, 5)
    path = write(tmp_path, simple_case(draw), people=persons, one=spilled(draw, persons, 5), two=[{"town": "Rye"}])
    target = tmp_path / "out" / "rows.parquet"
    person_population(path, out=target)
    assert pq.read_table(target).num_rows == 5
    target.unlink()

    def interrupted(draft: Path, *given: Any, **more: Any) -> None:
        Path(draft).write_bytes(b"half")
        raise KeyboardInterrupt

    monkeypatch.setattr(populations, "write_persons", interrupted)
    with pytest.raises(KeyboardInterrupt):
        person_population(path, out=target)
    assert list(target.parent.iterdir()) == []


def test_a_population_needs_a_table_and_rows_a_format(tmp_path: Path) -> None:
    path = write(tmp_path, {"person": {"a": "1"}, "sources": [{"name": "one", "path": "one.jsonl"}]}, one=[{"a": "1"}])
    with pytest.raises(DataError, match="no 'population'"):
        person_population(path)
    with pytest.raises(ArgumentError, match=r"\.csv or \.parquet"):
        person_population(path, out=tmp_path / "rows.txt")


def test_no_value_of_anybody_is_in_the_result(tmp_path: Path) -> None:
    draw = random.Random(1)
    persons = [{**person, "mail": f"someone{n}@example.org"} for n, person in enumerate(people(draw, 4))]
    path = write(tmp_path, simple_case(draw), people=persons, one=spilled(draw, persons, 8), two=[{"town": "Rye"}])
    result = person_population(path)
    assert "someone" not in json.dumps(result.to_dict()) + str(result) + repr(result)


REST = {"name": "X", "mail": "x", "age": "20"}


def test_persons_without_a_quasi_identifier_are_told_of(tmp_path: Path) -> None:
    draw = random.Random(0)
    persons = people(draw, 4)
    persons[1].pop("town", None)
    path = write(tmp_path, simple_case(draw), people=persons, one=[REST], two=[REST])
    assert "1 person has no town: for k that counts as a value they share" in person_population(path).notes


@pytest.mark.long
def test_columns_of_leaked_tables_are_recognised_for_a_population_without_a_person(tmp_path: Path) -> None:
    (tmp_path / "staff.csv").write_text(
        "emp_no,name,work_email,private_email,phone\n"
        "1,Alice Archer,a.archer@work.example,alice@archer.example,020 7946 0018\n"
        "2,Bob Baker,b.baker@work.example,bobby@baker.example,020 7946 0019\n"
    )
    (tmp_path / "vpn.csv").write_text("login_id,mail,mobile\n7,A.Archer@work.example,+44 20 7946 0018\n")
    (tmp_path / "shop.csv").write_text("fname,lname,email_addr\nBob,Baker,bobby@baker.example\n")
    (tmp_path / "case.yaml").write_text(
        "country: GB\nsources: [{name: vpn, path: vpn.csv, id: login_id}, {name: shop, path: shop.csv}]\n"
        "population: {references: staff.csv, person: emp_no}\n"
    )
    found = person_population(tmp_path / "case.yaml", out=tmp_path / "rows.parquet", adversary="E0")
    rows = pq.read_table(tmp_path / "rows.parquet").to_pylist()
    assert {row["pid"]: round(row["E0 recall"], 9) for row in rows} == {"1": 0.5, "2": 0.5}
    assert any("work_email as email" in note for note in found.notes)
