"""A person among records on Spark: the answer is that of one machine, and what is left out is said."""

from __future__ import annotations

import gzip
import json
import random
import sys
from dataclasses import replace
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
import yaml
from rapidfuzz.distance import JaroWinkler

from sizes import many
from tacit.errors import ArgumentError, DataError, EngineError
from tacit.person import (
    Adversary,
    Case,
    Generalise,
    Label,
    Labels,
    PersonAuditResult,
    Resolve,
    Rules,
    person_audit,
    read_case,
)
from tacit.person.inquiry.spread import answering
from tacit.person.link.distributed import rows
from test_person_agreement import odd_case, oddly, somebody

pytestmark = pytest.mark.spark

PHONES = ["0160 1234567 / 089 7654321", "415 555 2671", "+49 89 7654321", "0160/1234567", "n/a", ""]
COUNTRIES = ["Germany", "usa", "DE", "", "Atlantis"]
STEPS: list[Any] = [
    "normalise",
    {"normalise": {"labels": ["name"]}},
    {"generalise": {"label": "dob", "level": 7}},
    {"correct": {"label": "city", "table": {"Muenchen": "Berlin", "Rom": "Roma"}}},
    {"augment": {"given": "city", "adds": "country", "table": {"Berlin": ["Germany", "DE"], "Rom": "Italy"}}},
]
RULES: list[Any] = [[["email"], ["phone"], ["name", "dob"]], [["name", "city"]], [["name"], ["email", "phone"]]]


def crowded_case(folder: Path, chance: random.Random) -> Path:
    """Tables of many people, written in several ways, in parts and under shared names, and a file that is no table."""
    people = [somebody(chance) for _ in range(30)]
    person = people[0] | {"city": "Berlin"}
    lines = [
        {
            "number": chance.choice(["7", "8", "", str(at)]),
            **oddly(chance, one),
            "phone": chance.choice([*PHONES, one["phone"]]),
            "country": chance.choice(COUNTRIES),
            "city": chance.choice(["Berlin", "Rom", "Muenchen"]),
            "sure": chance.choice(["", "1", "0.5", "0"]),
        }
        for at, one in enumerate([person, *chance.choices(people, k=60)])
    ]
    lists = [{**one, "phone": [one["phone"], *chance.sample(PHONES, 1)]} for one in lines[::2]]
    # Only the last row says whether the day comes first.
    days = [*["3/4/1990", "11/12/1991"] * 9, chance.choice(["13/2/1984", "2/13/1984", "2/3/1984"])]
    some = [{"name": one["name"], "dob": day, "email": one["email"]} for one, day in zip(people, days, strict=False)]
    pq.write_table(pa.Table.from_pylist(some), folder / "parts.parquet")
    pq.write_table(pa.Table.from_pylist(lines), folder / "shop.parquet", row_group_size=17)
    pq.write_table(pa.Table.from_pylist(lists), folder / "club.parquet", row_group_size=11)
    (folder / "gym.json").write_text(json.dumps([oddly(chance, one) for one in chance.sample(people, 6)]))
    cards = [f"BEGIN:VCARD\nVERSION:3.0\nFN:{one['name']}\nEMAIL:{one['email']}\nEND:VCARD\n" for one in people[:3]]
    (folder / "book.vcf").write_text("".join(cards))
    shared = {"id": "number", "confidence": {"column": "sure", "source": 0.9}}
    sources = [
        {"name": "shop", "path": "shop.parquet", **shared},
        {"name": "club", "path": "club.parquet", "map": {"number": None, "sure": None}},
        {"name": "parts", "path": "parts.parquet", "column_confidence": {"email": 0.7}},
        {"name": "gym", "path": "gym.json"},
        {"name": "book", "path": "book.vcf"},
    ]
    chance.shuffle(sources)
    resolve = [{"resolve": {"rules": rules, "closure": chance.choice(["swoosh", "components"])}} for rules in RULES]
    adversaries = [
        {"name": "joins", "steps": ["normalise", resolve[0]]},
        {"name": "more", "steps": [*chance.sample(STEPS, 2), *chance.sample(resolve, 2)], "merge": "consensus"},
        {"name": "last", "steps": [resolve[1], chance.choice(STEPS)], "keep_base": False, "cost": {"per_record": 2}},
        {"name": "reads"},
    ]
    chance.shuffle(adversaries)
    labels = {"sure": {"weight": 0}, "country": {"weight": 0.5}}
    case = {
        "country": "DE",
        "person": person,
        "labels": labels,
        "sources": sources,
        "adversaries": adversaries[: many(2, 4)],
    }
    (folder / "case.yaml").write_text(yaml.safe_dump(case, allow_unicode=True))
    return folder / "case.yaml"


def told(audit: PersonAuditResult) -> dict[str, Any]:
    """What an audit says, apart from the seconds it took."""
    facts = audit.to_dict()
    for rung in facts["rungs"]:
        del rung["seconds"]
    return facts


def certain(case: Path) -> Case:
    """The case with its default adversaries, none of whom joins what is only likely."""
    whole = read_case(case)
    left = [
        replace(spec, steps=[step for step in spec.steps if type(step).__name__ != "LikelyClusters"])
        for spec in whole.adversaries
        if spec.name != "E2"
    ]
    return replace(whole, adversaries=tuple(left), assumed=False)


@pytest.mark.usefixtures("spark")
@pytest.mark.parametrize("seed", range(1, 1 + many(1, 12)))
def test_an_audit_says_the_same_on_spark_and_on_duckdb(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, seed: int
) -> None:
    case = crowded_case(tmp_path, random.Random(seed))
    # Columns are decided over many parts, and few records are brought at first.
    monkeypatch.setattr(rows, "PART", 40)
    monkeypatch.setattr(answering, "NEAR", (12, 100_000))
    assert told(person_audit(case, engine="spark")) == told(person_audit(case))


@pytest.mark.usefixtures("spark")
def test_default_adversaries_say_the_same_but_for_what_is_only_likely_which_a_note_says(tmp_path: Path) -> None:
    case, _ = odd_case(tmp_path, random.Random(3))
    there, here = told(person_audit(case, engine="spark")), told(person_audit(certain(case)))
    (left_out,) = [note for note in there["notes"] if note not in here["notes"]]
    assert "E2 is left out, and E3 joins without it" in left_out
    there["notes"].remove(left_out)
    assert there == here


@pytest.mark.usefixtures("spark")
def test_whoever_is_named_and_needs_one_machine_is_refused(tmp_path: Path) -> None:
    (tmp_path / "shop.csv").write_text("name,email\nAlice Archer,alice@archer.example\n")
    case = tmp_path / "case.yaml"
    case.write_text(
        "person: {name: Alice Archer}\nsources: [{name: shop, path: shop.csv}]\n"
        "adversaries: [{name: guesser, steps: [{resolve: {likely: true}}]}]\n"
    )
    with pytest.raises(ArgumentError, match="adversary 'guesser' joins records in a way that only one machine can"):
        person_audit(case, engine="spark")


@pytest.mark.usefixtures("spark")
def test_a_confidence_that_is_none_is_named_by_its_row_whoever_reads_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    cells = ["1", "", "0.5", "0.25", "often", "2", "1"]
    rows_there = "".join(f"person {at},{cell}\n" for at, cell in enumerate(cells))
    (tmp_path / "shop.csv").write_text(f"name,sure\n{rows_there}")
    case = tmp_path / "case.yaml"
    case.write_text(
        "person: {name: Alice Archer}\nsources: [{name: shop, path: shop.csv, confidence: {column: sure}}]\n"
        "adversaries: [{name: reads}]\n"
    )
    monkeypatch.setattr(rows, "PART", 2)
    for engine in ("spark", "duckdb"):
        with pytest.raises(DataError, match=r"row 5: 'sure' is not a confidence") as raised:
            person_audit(case, engine=engine)
        assert "often" not in str(raised.value)


@pytest.mark.usefixtures("spark")
def test_files_with_odd_names_that_are_packed_or_recoded_say_the_same_on_spark(tmp_path: Path) -> None:
    rows_of = {"a": "name,email\nAna García,\nBob Li,b@x.example\n", "b": "name,zip\nAna García,10115\n"}
    (tmp_path / "packed.csv.gz").write_bytes(gzip.compress(rows_of["a"].encode()))
    (tmp_path / "latin.csv").write_text(rows_of["a"], encoding="latin-1")
    # To Spark the first name is a pattern, which the second fits.
    (tmp_path / "b[1].csv").write_text(rows_of["b"])
    (tmp_path / "b1.csv").write_text("name,zip\nWrong,99999\n")
    # Nothing in this one is right about the person.
    (tmp_path / "others.json").write_text(json.dumps([{"name": "BOB LI"}, {"name": "bob li", "email": "b@x.example"}]))
    sources = [{"name": path, "path": path} for path in ("packed.csv.gz", "latin.csv", "others.json", "b[1].csv")]
    person = {"name": "Ana García", "zip": "10115"}
    resolve = {"resolve": {"rules": [["name"]]}}
    case = {"person": person, "sources": sources, "adversaries": [{"name": "joins", "steps": ["normalise", resolve]}]}
    (tmp_path / "case.yaml").write_text(yaml.safe_dump(case))
    there = told(person_audit(tmp_path / "case.yaml", engine="spark"))
    assert there == told(person_audit(tmp_path / "case.yaml"))
    assert there["rungs"][0]["entities"] == 2


@pytest.mark.usefixtures("spark")
def test_similarities_with_options_and_tiny_weights_say_the_same_on_spark(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    lines = ["Alice Acher,x@x.example", *(f"Alice {at},y{at}@x.example" for at in range(30)), "Bob,alice@x.example"]
    (tmp_path / "shop.csv").write_text("\n".join(["name,email", *lines]))
    name = {"weight": 2e-20, "similarity": {"jaro_winkler": {"from": 0.5}}}
    case = {
        "person": {"name": "Alice Archer", "email": "alice@x.example"},
        "labels": {"name": name, "email": {"weight": 3e-20, "similarity": "exact"}},
        "sources": [{"name": "shop", "path": "shop.csv"}],
        "adversaries": [{"name": "reads"}],
    }
    (tmp_path / "case.yaml").write_text(yaml.safe_dump(case))
    monkeypatch.setattr(answering, "NEAR", (5, 100))
    there = told(person_audit(tmp_path / "case.yaml", engine="spark"))
    assert there == told(person_audit(tmp_path / "case.yaml"))
    assert there["leakage"] > 0.5


@pytest.mark.usefixtures("spark")
def test_a_column_that_holds_no_values_is_named_by_the_driver_and_not_in_a_trace_of_a_worker(tmp_path: Path) -> None:
    pq.write_table(pa.table({"name": ["Alice"], "photo": [b"abc"]}), tmp_path / "shop.parquet")
    case = tmp_path / "case.yaml"
    case.write_text(
        "person: {name: Alice Archer}\nsources: [{name: shop, path: shop.parquet}]\nadversaries: [{name: reads}]\n"
    )
    with pytest.raises(DataError, match=r"column 'photo' of .* holds Binary") as raised:
        person_audit(case, engine="spark")
    assert raised.value.__cause__ is None


def test_values_made_as_coarse_as_others_are_refused_because_no_worker_sees_all_of_them(tmp_path: Path) -> None:
    case, _ = odd_case(tmp_path, random.Random(0))
    coarse = Adversary("coarse {}", (Generalise("dob"), Resolve(Rules([["name", "dob"]]))))
    with pytest.raises(ArgumentError, match=r"adversary 'coarse {}' makes 'dob' as coarse as other records have it"):
        person_audit(replace(read_case(case), adversaries=(coarse,)), engine="spark")


@pytest.mark.usefixtures("spark")
def test_a_similarity_that_cannot_be_sent_to_workers_is_refused(tmp_path: Path) -> None:
    case = certain(odd_case(tmp_path, random.Random(0))[0])
    labels = Labels({**case.labels, "name": Label(similarity=JaroWinkler.similarity)})
    with pytest.raises(
        ArgumentError, match=r"a function of a label .* cannot be sent to the workers of Spark: wrap it"
    ):
        person_audit(replace(case, labels=labels), engine="spark")


def test_without_spark_the_extra_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    case, _ = odd_case(tmp_path, random.Random(0))
    for name in [name for name in sys.modules if name.partition(".")[0] in ("pyspark", "py4j")]:
        monkeypatch.delitem(sys.modules, name)
    monkeypatch.setitem(sys.modules, "pyspark", None)
    with pytest.raises(EngineError, match=r"Spark is not installed: pip install 'tacit\[spark\]'"):
        person_audit(case, engine="spark")


@pytest.mark.usefixtures("spark")
@pytest.mark.long
def test_an_answer_that_depends_on_too_many_records_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    case, _ = odd_case(tmp_path, random.Random(3))
    monkeypatch.setattr(answering, "NEAR", (1,))
    with pytest.raises(DataError, match="ask about fewer adversaries"):
        person_audit(case, engine="spark", adversary="E1")


@pytest.mark.usefixtures("spark")
@pytest.mark.long
def test_sources_without_records_hold_nothing(tmp_path: Path) -> None:
    (tmp_path / "shop.csv").write_text("name,email\n")
    case = tmp_path / "case.yaml"
    case.write_text(
        "person: {name: Alice Archer}\nsources: [{name: shop, path: shop.csv}]\nadversaries: [{name: reads}]\n"
    )
    assert told(person_audit(case, engine="spark")) == told(person_audit(case))


def test_only_an_audit_is_asked_where_records_are(tmp_path: Path, tacit_command: Any) -> None:
    case, _ = odd_case(tmp_path, random.Random(0))
    code, _, said = tacit_command("person", "remove", str(case), "--engine", "spark")
    assert code == 2
    assert "--engine" in said
