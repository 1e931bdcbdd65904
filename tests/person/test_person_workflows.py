"""Person workflows end to end: case files in, results out."""

from __future__ import annotations

import json
import random
from collections.abc import Callable, Mapping, Sequence
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest
import yaml

from sizes import few, many
from splink_models import write_splink_model
from tacit.errors import ArgumentError, DataError
from tacit.person import (
    Adversary,
    Correlated,
    Label,
    Labels,
    Record,
    Reference,
    Resolve,
    Rules,
    exposure,
    normaliser,
    person_audit,
    person_decoy,
    person_dip,
    person_release,
    person_remove,
    person_verify_next,
    read_case,
    similarity,
)
from tacit.person.answers import mask
from tacit.person.inquiry import hot, loading
from tacit.person.link import right
from tacit.person.resolve import steps
from tacit.person.sources import RecordPool

Rows = Sequence[Mapping[str, Any]]


def write_case(folder: Path, said: Mapping[str, Any], sources: Mapping[str, Rows]) -> Path:
    """A case file with its sources as JSONL: a row a record, lists for several values."""
    listed = []
    for name, rows in sources.items():
        path = folder / f"{name}.jsonl"
        path.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
        listed.append({"name": name, "path": path.name, **said.get("about", {}).get(name, {})})
    case = {key: value for key, value in said.items() if key != "about"} | {"sources": listed}
    path = folder / "case.yaml"
    path.write_text(yaml.safe_dump(case, sort_keys=False, allow_unicode=True), encoding="utf-8")
    return path


def resolving(*rules: Sequence[str], name: str = "E1", **more: Any) -> dict[str, Any]:
    """An adversary that joins by rules."""
    steps = [{"resolve": {"rules": [list(rule) for rule in rules]}}]
    return {"name": name, "steps": steps, "keep_base": False, **more}


SHOP = {
    "person": {"N": "Alice", "P": "123", "C": "999", "Z": "111"},
    "adversaries": [{"name": "E0"}, resolving(["N"], cost={"per_pair": 0.001})],
}
SHOP_SOURCES: dict[str, Rows] = {
    "shop": [{"N": "Alice", "P": "123"}, {"N": "Bob", "P": "987"}],
    "bank": [{"N": "Alice", "C": "999"}],
}


def test_section_2_4_of_the_paper_as_a_case(tmp_path: Path) -> None:
    result = person_audit(write_case(tmp_path, SHOP, SHOP_SOURCES))
    alone, joined = result.rungs
    assert alone.leakage == pytest.approx(2 / 3, rel=1e-12)
    assert joined.leakage == pytest.approx(6 / 7, rel=1e-12)
    assert (alone.entities, joined.entities, joined.merged, joined.records) == (3, 2, 2, 3)
    assert joined.cost == pytest.approx(0.001 * 9)
    assert (joined.precision, joined.recall) == (1.0, pytest.approx(0.75))
    assert result.strongest == "E1"
    assert result.leakage == joined.leakage
    finding = result.findings[1]
    assert finding.members == ("shop 1", "bank 1")
    assert [(join.left, join.right, join.labels) for join in finding.joins] == [("shop 1", "bank 1", ("N",))]
    assert {held.label: held.sources for held in finding.held} == {
        "N": ("shop", "bank"),
        "P": ("shop",),
        "C": ("bank",),
    }
    assert [missing.label for missing in finding.missing] == ["Z"]


PATIENTS = [
    {"zip": "11*", "age": "3*", "disease": "Heart"},
    {"zip": "11*", "age": "3*", "disease": "Breast"},
    {"zip": "11*", "age": "3*", "disease": "Cancer"},
    {"zip": "2**", "age": "≥50", "disease": "Hair"},
    {"zip": "2**", "age": "≥50", "disease": "Flu"},
    {"zip": "2**", "age": "≥50", "disease": "Flu"},
]
ALICE = {"name": "Alice", "zip": "111", "age": "30", "disease": "Heart"}
ZOE = {"name": "Zoe", "zip": "241", "age": "60", "disease": "Flu"}


@pytest.mark.parametrize(("person", "expected"), [(ALICE, Fraction(2, 3)), (ZOE, Fraction(3, 4))], ids=["Alice", "Zoe"])
def test_section_3_1_a_suppressed_table_leaks_more_of_zoe_than_of_alice(
    tmp_path: Path, person: dict[str, str], expected: Fraction
) -> None:
    case = {"person": person, "adversaries": [resolving(["zip", "age"])]}
    result = person_audit(write_case(tmp_path, case, {"table": PATIENTS}))
    assert result.leakage == pytest.approx(float(expected), rel=1e-12)
    assert {held.state for held in result.findings[0].held if held.label in ("zip", "age")} == {"covered"}


def test_section_3_1_background_raises_alice_to_four_fifths(tmp_path: Path) -> None:
    coarsen = [
        {"correct": {"label": "zip", "table": {"111": "11*"}}},
        {"correct": {"label": "age", "table": {"30": "3*"}}},
    ]
    adversary = {"name": "E", "steps": [*coarsen, {"resolve": {"rules": [["zip", "age"]]}}], "keep_base": False}
    background = [{"name": "Alice", "zip": "111", "age": "30"}]
    case = {"person": ALICE, "adversaries": [adversary]}
    result = person_audit(write_case(tmp_path, case, {"table": PATIENTS, "background": background}))
    assert result.leakage == pytest.approx(4 / 5, rel=1e-12)
    without = {share.source: share.leakage_without for share in result.source_shares}
    assert without["background"] == pytest.approx(2 / 3)
    # The background record alone: name, zip and age of four facts, the values coarsened and still covering.
    assert without["table"] == pytest.approx(6 / 7)


def test_section_3_2_synonyms_raise_zoe_to_three_quarters(tmp_path: Path) -> None:
    table = [*PATIENTS[:5], {"zip": "2**", "age": "≥50", "disease": "Influenza"}]
    plain = {"person": ZOE, "adversaries": [resolving(["zip", "age"])]}
    assert person_audit(write_case(tmp_path, plain, {"table": table})).leakage == pytest.approx(2 / 3)
    steps = ["normalise", {"resolve": {"rules": [["zip", "age"]]}}]
    adversary = {"name": "E", "steps": steps, "keep_base": False}
    case = {"person": ZOE, "labels": {"disease": {"synonyms": {"Influenza": "Flu"}}}, "adversaries": [adversary]}
    assert person_audit(write_case(tmp_path, case, {"table": table})).leakage == pytest.approx(3 / 4)


CARDS = {
    "person": {"N": "n1", "C": ["c1", "c2"], "P": "p1", "A": "a1"},
    "adversaries": [{"name": "E0"}, resolving(["N", "C"], ["N", "P"])],
    "releases": [
        {
            "name": "hotel",
            "options": [
                {"name": "old card", "attributes": {"N": "n1", "C": "c1", "P": "p1"}},
                {"name": "new card", "attributes": {"N": "n1", "C": "c2", "P": "p1"}},
            ],
        }
    ],
}
CARD_SOURCES: dict[str, Rows] = {"one": [{"N": "n1", "C": "c1", "P": "p1"}], "two": [{"N": "n1", "C": "c2"}]}


def test_section_4_1_the_other_card_adds_five_thirty_sixths(tmp_path: Path) -> None:
    result = person_release(write_case(tmp_path, CARDS, CARD_SOURCES), fail_above=0.8)
    options = {option.option: option for option in result.options}
    assert result.before["E1"] == pytest.approx(3 / 4, rel=1e-12)
    assert options["old card"].added["E1"] == pytest.approx(0, abs=1e-12)
    assert options["new card"].after["E1"] == pytest.approx(8 / 9, rel=1e-12)
    assert options["new card"].added["E1"] == pytest.approx(5 / 36, rel=1e-12)
    assert options["new card"].joins == ("one 1", "two 1")
    assert options["old card"].joins == ("one 1",)
    best = {plan.adversary: plan for plan in result.best}["E1"]
    assert best.choices == {"hotel": "old card"}
    assert best.worst == pytest.approx(8 / 9)
    assert best.searched == "exact"
    assert result.leakage == pytest.approx(3 / 4)
    assert "limit of 0.8 is kept" in result.headline


def test_a_query_dips_up_what_resolves_with_it(tmp_path: Path) -> None:
    case = SHOP | {"queries": [{"name": "by name", "attributes": {"N": "Alice"}}]}
    result = person_dip(write_case(tmp_path, case, SHOP_SOURCES), show_values=True)
    alone, joined = result.dips
    assert alone.leakage == pytest.approx(2 / 5)
    assert joined.leakage == pytest.approx(6 / 7)
    assert set(joined.finding.members) == {"shop 1", "bank 1", "query 'by name'"}
    sources = {(held.label, held.value): held.sources for held in joined.finding.held}
    assert sources["N", "Alice"] == ("shop", "bank", "the query")
    assert sources["C", "999"] == ("bank",)
    assert "2 records" in result.headline


def test_a_case_without_releases_or_queries_says_so(tmp_path: Path) -> None:
    path = write_case(tmp_path, SHOP, SHOP_SOURCES)
    with pytest.raises(DataError, match="no 'releases'"):
        person_release(path)
    with pytest.raises(DataError, match="no 'queries'"):
        person_dip(path)
    with pytest.raises(ArgumentError, match="only when asked for"):
        person_decoy(path)
    with pytest.raises(ArgumentError, match=r"lies in \[0, 1\]"):
        person_audit(path, fail_above=1.5)


# In the engine as in memory.

VALUES = {"name": ["Ann", "ann ", "Anne", "Bob"], "mail": ["a@x", "b@x", "c@x"], "zip": ["111", "112", "11*", "2**"],
          "age": ["30", "31", "3*"], "town": ["Rye", "Ely"]}  # fmt: skip


def labels_of(said: Mapping[str, Any]) -> Labels:
    """The labels of a random case, made without the case file."""
    found = {
        label: Label(
            weight=how.get("weight", 1.0),
            single=how.get("single", False),
            normalise=normaliser(how["normalise"]) if "normalise" in how else None,
            similarity=similarity(how["similarity"]) if "similarity" in how else None,
            synonyms=how.get("synonyms", {}),
        )
        for label, how in said["labels"].items()
    }
    groups = [Correlated(tuple(group["labels"]), group["shared"]) for group in said.get("correlated", [])]
    return Labels(found, correlated=groups)


def random_case(draw: random.Random) -> tuple[dict[str, Any], dict[str, Rows]]:
    """A case with everything in it, and its sources."""
    rules = [draw.sample(sorted(VALUES), draw.choice([1, 2, 2])) for _ in range(draw.randint(1, 3))]
    resolve = {
        "rules": rules,
        "closure": draw.choice(["swoosh", "components"]),
        "min_confidence": draw.choice([0, 0.5]),
    }
    before = draw.sample(["normalise", {"correct": {"label": "mail", "table": {"c@x": "a@x"}}},
                          {"augment": {"given": "zip", "adds": "town", "table": {"111": "Rye", "112": ["Ely", "Rye"]},
                                       "confidence": 0.7}},
                          {"generalise": {"label": "zip", "level": 2}}], draw.randint(0, 4))  # fmt: skip
    second = [{"resolve": {"rules": [["name"]]}}] if draw.random() < 0.3 else []
    adversary = {
        "name": "E", "steps": [*before, {"resolve": resolve}, *second], "keep_base": draw.random() < 0.5,
        "merge": draw.choice(["union", "consensus", "vote", "diluted"]),
    }  # fmt: skip
    said: dict[str, Any] = {
        "person": {"name": "Ann", "mail": ["a@x", "b@x"], "zip": "111", "age": "30", "town": "Rye"},
        "labels": {
            "name": {"weight": draw.choice([1, 3]), "normalise": "name", "similarity": "jaro_winkler"},
            "zip": {"weight": 2, "single": draw.random() < 0.5},
            "age": {"single": True, "similarity": {"exp_abs": 5}},
            "mail": {"weight": draw.choice([0.1, 1, 5])},
        },
        "adversaries": [adversary],
    }
    if draw.random() < 0.4:
        said["correlated"] = [{"labels": ["zip", "town"], "shared": 1.5}]
    sources: dict[str, Rows] = {}
    said["about"] = {}
    for name in ("one", "two", "three"):
        said["about"][name] = {"confidence": draw.choice([1.0, 0.8, 0.4])}
        rows = [
            {label: draw.choice(VALUES[label]) for label in draw.sample(sorted(VALUES), draw.randint(1, 4))}
            for _ in range(draw.randint(1, 6))
        ]
        sources[name] = [*rows, {label: draw.choice(values) for label, values in VALUES.items()}]
    return said, sources


def in_memory(said: Mapping[str, Any]) -> Adversary:
    """The adversary of a random case, made without the case file."""
    made: list[Any] = []
    for step in said["adversaries"][0]["steps"]:
        if step == "normalise":
            made.append(steps.Normalise())
        elif "correct" in step:
            made.append(steps.Correct(step["correct"]["label"], step["correct"]["table"]))
        elif "generalise" in step:
            made.append(steps.Generalise(**step["generalise"]))
        elif "augment" in step:
            made.append(steps.Augment("zip", "town", {"111": "Rye", "112": "Ely"}, 0.7))
            made.append(steps.Augment("zip", "town", {"112": "Rye"}, 0.7))
        else:
            how = step["resolve"]
            made.append(Resolve(Rules(how["rules"], how.get("min_confidence", 0.0)), how.get("closure", "swoosh")))
    adversary = said["adversaries"][0]
    return Adversary("E", made, adversary["merge"], adversary["keep_base"])


def reference_of(said: Mapping[str, Any]) -> Reference:
    facts = [(k, v) for k, values in said["person"].items() for v in (values if isinstance(values, list) else [values])]
    return Reference(facts)


def records_of(said: Mapping[str, Any], sources: Mapping[str, Rows]) -> list[Record]:
    return [
        Record([(label, value, said["about"][name]["confidence"]) for label, value in row.items()], source=name)
        for name, rows in sources.items()
        for row in rows
    ]


@pytest.mark.parametrize("seed", range(many(2, 40)))
def test_in_the_engine_leaks_what_leaks_in_memory(tmp_path: Path, seed: int, monkeypatch: pytest.MonkeyPatch) -> None:
    if seed % 2:
        # As with many records: fetched cluster by cluster, until no other can leak more.
        monkeypatch.setattr(hot, "FIRST_RECORDS", 1)
        monkeypatch.setattr(hot, "MORE_RECORDS", 2)
        monkeypatch.setattr(right, "VALUES", 2)
    said, sources = random_case(random.Random(seed))
    result = person_audit(write_case(tmp_path, said, sources))
    records, reference, labels = records_of(said, sources), reference_of(said), labels_of(said)
    found = exposure(records, reference, in_memory(said), labels=labels)
    rung = result.rungs[0]
    assert rung.leakage == pytest.approx(found.leakage, rel=1e-9, abs=1e-12)
    assert rung.best_recall == pytest.approx(found.greatest_recall, rel=1e-9, abs=1e-12)
    assert rung.entities == len(found.holdings.clusters)
    for share in result.source_shares:
        left = [record for record in records if record.source != share.source]
        assert share.leakage_without == pytest.approx(
            exposure(left, reference, in_memory(said), labels=labels).leakage, rel=1e-9
        )
    for action in result.actions:
        assert action.after < action.before


@pytest.mark.parametrize("town", ["Rye", "RYE", " rye "])
def test_what_a_table_adds_after_values_were_normalised_is_the_value_a_record_holds(tmp_path: Path, town: str) -> None:
    table = {"111": town}
    steps = ["normalise", {"augment": {"given": "zip", "adds": "town", "table": table, "confidence": 0.7}}]
    said = {"person": {"zip": "111", "town": "Rye"}, "adversaries": [{"name": "E", "steps": steps}]}
    sources = {"one": [{"zip": "111", "town": "Rye"}]}
    result = person_audit(write_case(tmp_path, said | {"about": {"one": {}}}, sources))
    # Two spellings would be two towns, one of which is wrong.
    assert result.rungs[0].precision == 1.0


@pytest.mark.long
@pytest.mark.parametrize("seed", range(many(1, 8)))
def test_a_neighbourhood_answers_as_all_records_do(tmp_path: Path, seed: int, monkeypatch: pytest.MonkeyPatch) -> None:
    draw = random.Random(1000 + seed)
    said, sources = random_case(draw)
    option = [{label: draw.choice(VALUES[label]) for label in draw.sample(sorted(VALUES), 2)} for _ in range(3)]
    said["releases"] = [{"name": "r", "options": [{"name": f"o{n}", "attributes": a} for n, a in enumerate(option)]}]
    said["queries"] = [{"name": "q", "attributes": option[0]}]
    path = write_case(tmp_path, said, sources)
    whole = person_release(path), person_dip(path), person_remove(path)
    monkeypatch.setattr(loading, "MOST_WHOLE", 0)
    part = person_release(path), person_dip(path), person_remove(path)
    for one, other in zip(whole[0].options, part[0].options, strict=True):
        assert one.after["E"] == pytest.approx(other.after["E"], rel=1e-9, abs=1e-12)
        assert one.joins == other.joins
    assert whole[1].dips[0].leakage == pytest.approx(part[1].dips[0].leakage, rel=1e-9, abs=1e-12)
    assert whole[1].dips[0].finding.members == part[1].dips[0].finding.members
    assert whole[2].leakage == pytest.approx(part[2].leakage, rel=1e-9, abs=1e-12)
    assert whole[2].before == pytest.approx(person_audit(path).leakage, rel=1e-9, abs=1e-12)


# What must not be seen.

SECRETS = {
    "name": "Marguerite Okonkwo",
    "mail": "marguerite@okonkwo.example",
    "phone": "555-0100-77",
    "dob": "1971-03-09",
    "pin": "412",
}


def secret_case(folder: Path) -> Path:
    """A case with a value in every place where one could slip out."""
    near_name = "Marguerite Okonkvo"
    sources: dict[str, Rows] = {
        "shop": [
            {"id": SECRETS["mail"], "name": SECRETS["name"], "mail": SECRETS["mail"], "pin": SECRETS["pin"]},
            {"id": "s2", "name": near_name, "phone": SECRETS["phone"], "mail": SECRETS["mail"]},
        ],
        "broker": [{"id": "b1", "name": SECRETS["name"], "dob": SECRETS["dob"], "phone": SECRETS["phone"]}],
    }
    case = {
        "person": SECRETS,
        "labels": {"name": {"normalise": "name", "similarity": "jaro_winkler"}, "dob": {"single": True}},
        "adversaries": [
            {"name": "E0"},
            {"name": "E1", "steps": ["normalise", {"resolve": {"rules": [["mail"], ["phone"]]}}]},
        ],
        "releases": [{"name": "form", "options": [{"name": "all", "attributes": SECRETS}, {"name": "none"}]}],
        "queries": [{"name": "look up", "attributes": {"phone": SECRETS["phone"]}}],
        "decoys": {"budget": 6, "labels": ["dob", "name"], "values": {"dob": ["1950-01-01"]}},
        "verify": {"budget": 2, "costs": {"dob": 1}},
        "about": {
            "shop": {"id": "id", "confidence": 0.7},
            "broker": {"id": "id", "confidence": 0.9, "remove": {"cost": 2, "success": 0.5}},
        },
    }
    return write_case(folder, case, sources)


# In the short form remove, decoy and verify; of the others test_red_team_person.py and test_person_cli.py ask the same.
ASK: dict[str, Callable[..., Any]] = {
    "remove": person_remove, "audit": person_audit, "decoy": person_decoy, "release": person_release,
    "verify": person_verify_next, "dip": person_dip,
}  # fmt: skip


@pytest.mark.parametrize("question", few(ASK, 3))
def test_no_value_of_the_person_is_anywhere_unless_asked_for(tmp_path: Path, question: str) -> None:
    import tacit.report as report

    path = secret_case(tmp_path)
    holds_values = question in ("audit", "dip", "verify", "decoy")
    hidden = ASK[question](path)
    told = ASK[question](path, show_values=True) if holds_values else hidden
    page = tmp_path / "page.html"
    report.write_report(hidden, page)
    forms = [
        str(hidden),
        repr(hidden),
        json.dumps(hidden.to_dict()),
        hidden._repr_html_() or "",
        page.read_text("utf-8"),
    ]
    for text in forms:
        for value in SECRETS.values():
            spoken = {value, value.casefold(), value.split()[-1], value.split("@")[0]} - {""}
            # Three digits may stand in a hash or a chart by chance; longer values may not.
            assert not [form for form in spoken if len(form) > 3 and form in text]
    if holds_values:
        assert hidden.values_shown is False
        assert told.values_shown is True
        assert any(value in json.dumps(told.to_dict()) for value in SECRETS.values())


def test_a_record_that_its_file_calls_by_a_value_is_called_by_its_row(tmp_path: Path) -> None:
    finding = person_audit(secret_case(tmp_path)).findings[1]
    assert finding.members == ("shop row 1", "shop s2", "broker b1")
    # Also where the value is the person's and no attribute of the record, or an address of somebody else.
    case = SHOP | {"about": {"shop": {"id": "id"}, "bank": {"id": "id"}}}
    sources: dict[str, Rows] = {
        "shop": [{"id": "No. 7", "N": "Alice"}, {"id": "999", "N": "Alice"}],
        "bank": [{"id": "bob@bob.example", "N": "Alice", "P": "123"}],
    }
    members = person_audit(write_case(tmp_path, case, sources)).findings[1].members
    assert members == ("shop No. 7", "shop row 2", "bank row 1")


def test_what_is_left_is_an_upper_bound_where_too_much_would_have_to_be_looked_at(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    crowd = [{"N": f"n{n}", "Z": "111"} for n in range(9)]
    path = write_case(tmp_path, SHOP, {"shop": [{"N": "Alice", "P": "123"}], "more": crowd})
    exact = {share.source: share.leakage_without for share in person_audit(path).source_shares}
    assert exact["shop"] == pytest.approx(1 / 3)
    monkeypatch.setattr(hot, "FIRST_RECORDS", 1)
    monkeypatch.setattr(hot, "MORE_RECORDS", 1)
    monkeypatch.setattr(hot.Shrinking, "MOST_RECORDS", 0)
    rough = person_audit(path)
    assert any("given as an upper bound" in note for note in rough.notes)
    # Of a record with nothing but the right zip it would be 2/5.
    assert {share.source: share.leakage_without for share in rough.source_shares}["shop"] == pytest.approx(2 / 5)
    assert rough.leakage == pytest.approx(2 / 3)


@pytest.mark.parametrize(
    ("value", "shown"), [("Alice", "A•••"), ("4111 1111 1111", "4•••"), ("412", "•••"), ("", "•••")]
)
def test_a_mask_tells_neither_length_nor_end(value: str, shown: str) -> None:
    assert mask(value) == shown


# Adversaries of other kinds.


@pytest.mark.parametrize("by", ["source and id", "name"])
def test_clusters_brought_from_elsewhere_join_what_they_say(tmp_path: Path, by: str) -> None:
    (tmp_path / "entities.csv").write_text(
        "source,record,cluster\nshop,1,x\nbank,1,x\nshop,2,y\n"
        if by == "source and id"
        else "record,cluster\nshop 1,x\nbank 1,x\n",
        encoding="utf-8",
    )
    case = SHOP | {"adversaries": [{"name": "E", "steps": [{"resolve": {"clusters": "entities.csv"}}]}]}
    result = person_audit(write_case(tmp_path, case, SHOP_SOURCES))
    assert result.leakage == pytest.approx(6 / 7)
    assert result.rungs[0].entities == 2
    assert (result.notes == ()) == (by == "source and id")
    assert result.source_shares[0].leakage_without == pytest.approx(2 / 3)


def test_clusters_that_name_records_twice_are_refused(tmp_path: Path) -> None:
    case = SHOP | {"adversaries": [{"name": "E", "steps": [{"resolve": {"clusters": "entities.csv"}}]}]}
    path = write_case(tmp_path, case, SHOP_SOURCES)
    (tmp_path / "entities.csv").write_text("record,cluster\nshop 1,x\nshop 1,y\n", encoding="utf-8")
    with pytest.raises(DataError, match="into two clusters"):
        person_audit(path)
    (tmp_path / "entities.csv").write_text("record,cluster\n1,x\n2,y\n", encoding="utf-8")
    with pytest.raises(DataError, match="that two sources have"):
        person_audit(path)
    (tmp_path / "entities.csv").write_text("record,cluster\nnobody,x\n", encoding="utf-8")
    with pytest.raises(DataError, match="names no record of the case"):
        person_audit(path)


def test_a_splink_model_resolves_and_scores_a_release_too(tmp_path: Path) -> None:
    pytest.importorskip("splink")
    write_splink_model(tmp_path / "model.json", ("N", "P"))
    joining = {"name": "S", "steps": [{"resolve": {"splink": "model.json", "threshold": 0.9}}]}
    sources = SHOP_SOURCES | {"forum": [{"P": "123", "Z": "111"}]}
    case = SHOP | {
        "adversaries": [joining],
        "releases": [{"name": "r", "options": [{"name": "o", "attributes": {"N": "Alice", "A": "x"}}]}],
    }
    path = write_case(tmp_path, case, sources)
    result = person_audit(path)
    assert result.leakage == pytest.approx(1.0)
    assert result.rungs[0].entities == 2
    without = {share.source: share.leakage_without for share in result.source_shares}
    # Shop's record held the other two together.
    assert without["shop"] == pytest.approx(2 / 3)
    assert without["bank"] == pytest.approx(6 / 7)
    release = person_release(path)
    assert release.options[0].joins == ("shop 1", "bank 1", "forum 1")
    assert release.options[0].after["S"] == pytest.approx(8 / 9)


def test_a_model_that_compares_what_no_source_has_is_refused_without_values(tmp_path: Path) -> None:
    pytest.importorskip("splink")
    write_splink_model(tmp_path / "model.json", ("N", "P"))
    joining = {"name": "S", "steps": [{"resolve": {"splink": "model.json"}}]}
    case = {"person": {"Q": "1"}, "adversaries": [joining]}
    with pytest.raises(ArgumentError, match="compares 'N', which no source"):
        person_audit(write_case(tmp_path, case, {"one": [{"Q": "1"}]}))


def test_a_model_that_links_tables_wants_more_than_one(tmp_path: Path) -> None:
    pytest.importorskip("splink")
    write_splink_model(tmp_path / "model.json", ("N", "P"))
    path = tmp_path / "model.json"
    path.write_text(path.read_text().replace("dedupe_only", "link_only"))
    case = SHOP | {"adversaries": [{"name": "S", "steps": [{"resolve": {"splink": "model.json"}}]}]}
    with pytest.raises(ArgumentError, match="links tables, and there is one source only"):
        person_audit(write_case(tmp_path, case, {"one": [{"N": "Alice", "P": "1"}, {"N": "Bob", "P": "1"}]}))


def test_without_splink_the_way_to_get_it_is_told(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    import sys

    from tacit.errors import EngineError

    write_splink_model(tmp_path / "model.json", ("N", "P"))
    monkeypatch.setitem(sys.modules, "splink", None)
    case = SHOP | {"adversaries": [{"name": "S", "steps": [{"resolve": {"splink": "model.json"}}]}]}
    with pytest.raises(EngineError, match=r"pip install 'tacit\[link\]'"):
        person_audit(write_case(tmp_path, case, SHOP_SOURCES))


def test_a_senzing_features_file_is_a_source(tmp_path: Path) -> None:
    lines = [
        {
            "DATA_SOURCE": "CUSTOMERS",
            "RECORD_ID": "1001",
            "FEATURES": [
                {"NAME_TYPE": "PRIMARY", "NAME_FULL": "Robert Smith"},
                {"DATE_OF_BIRTH": "1978-12-11"},
                {"PHONE_NUMBER": "702-919-1300"},
            ],
        },
        {
            "DATA_SOURCE": "CUSTOMERS",
            "RECORD_ID": "1002",
            "FEATURES": [{"NAME_FULL": "Bob Smith"}, {"PHONE_NUMBER": "702-919-1300"}, {"EMAIL_ADDRESS": "b@work.com"}],
        },
    ]
    (tmp_path / "customers.jsonl").write_text("".join(json.dumps(line) + "\n" for line in lines), encoding="utf-8")
    case = {
        "person": {"name": "Robert Smith", "phone": "702-919-1300", "email": "b@work.com", "dob": "1978-12-11"},
        "sources": [{"name": "customers", "path": "customers.jsonl", "features": True}],
        "adversaries": [{"name": "E0"}, resolving(["phone"])],
    }
    path = tmp_path / "case.yaml"
    path.write_text(yaml.safe_dump(case), encoding="utf-8")
    result = person_audit(path)
    assert result.rungs[0].leakage == pytest.approx(6 / 7)
    assert result.rungs[1].leakage == pytest.approx(8 / 9)
    assert result.findings[1].members == ("customers 1001", "customers 1002")


# Plans.


def test_section_4_3_what_the_adversary_had_best_verify(tmp_path: Path) -> None:
    case = {
        "person": {"N": "Alice", "A": "20", "P": "123", "C": "987"},
        "adversaries": [resolving(["N"])],
        "about": {"t": {"column_confidence": {"N": 0.9, "P": 0.5}}},
    }
    sources: dict[str, Rows] = {"s": [{"N": "Alice", "A": "20"}], "t": [{"N": "Alice", "P": "123", "C": "987"}]}
    result = person_verify_next(write_case(tmp_path, case, sources))
    assert result.certainty == pytest.approx(13 / 14)
    best = result.candidates[0]
    assert (best.label, best.record, best.chosen) == ("P", "t 1", True)
    assert best.gain == pytest.approx(1 / 14)
    assert best.gain_per_cost == pytest.approx(1 / 7)
    assert result.certainty_after == pytest.approx(1.0)
    assert result.spent == pytest.approx(0.5)


def test_removal_asks_the_source_that_holds_the_file_together(tmp_path: Path) -> None:
    about = {"one": {"remove": {"cost": 5, "success": 0.5}}, "two": {"remove": {"cost": 1, "success": 1.0}}}
    sources: dict[str, Rows] = {
        "one": [{"N": "Alice", "P": "123"}], "two": [{"N": "Alice", "C": "999"}], "three": [{"N": "Bob"}],
    }  # fmt: skip
    path = write_case(tmp_path, SHOP | {"about": about}, sources)
    result = person_remove(path, budget=1, fail_above=0.5)
    assert [(step.source, step.expected) for step in result.steps] == [("two", pytest.approx(2 / 3))]
    assert result.before == pytest.approx(6 / 7)
    assert "above the limit" in result.headline
    whole = person_remove(path)
    assert whole.leakage == pytest.approx(0.5 * 2 / 3)
    assert {share.source: share.records for share in whole.source_shares} == {"one": 1, "two": 1, "three": 1}
    assert [share.source for share in whole.source_shares][-1] == "three"
    assert person_remove(path, at_most=0).steps == ()
    assert any("'three' has none" in note for note in whole.notes)


def test_decoys_are_measured_again_and_an_action_only_where_the_case_allows_them(tmp_path: Path) -> None:
    decoys = {"decoys": {"budget": 6, "labels": ["Z", "C"], "values": {"C": ["1", "2", "3"]}}}
    path = write_case(tmp_path, SHOP | {"adversaries": [resolving(["N"])]} | decoys, SHOP_SOURCES)
    result = person_decoy(path, show_values=True)
    assert result.recommended
    assert result.after["E1"] < result.before["E1"] == pytest.approx(6 / 7)
    assert result.cost <= 6
    assert result.leakage == result.after["E1"]
    said = [[*record.links, *record.false] for record in result.records]
    planted = [{label: [value for name, value in facts if name == label] for label, _ in facts} for facts in said]
    again = write_case(tmp_path, SHOP | {"adversaries": [resolving(["N"])]}, SHOP_SOURCES | {"planted": planted})
    assert person_audit(again).leakage == pytest.approx(result.after["E1"], rel=1e-9)
    assert not [action for action in person_audit(again).actions if action.kind == "decoy"]
    path = write_case(tmp_path, SHOP | {"adversaries": [resolving(["N"])]} | decoys, SHOP_SOURCES)
    (action,) = [action for action in person_audit(path).actions if action.kind == "decoy"]
    assert action.after == pytest.approx(result.after["E1"], rel=1e-9)


def test_a_case_with_decoys_and_nobody_to_mislead_can_be_audited(tmp_path: Path) -> None:
    case = SHOP | {"adversaries": [{"name": "E0"}], "decoys": {"budget": 3, "labels": ["Z"]}}
    path = write_case(tmp_path, case, SHOP_SOURCES)
    assert person_audit(path).leakage == pytest.approx(2 / 3)
    with pytest.raises(ArgumentError, match="no adversary resolves"):
        person_decoy(path)


def test_an_identifier_that_vanishes_takes_the_joins_with_it(tmp_path: Path) -> None:
    result = person_audit(write_case(tmp_path, SHOP, SHOP_SOURCES), show_values=True)
    (change,) = [action for action in result.actions if action.kind == "change"]
    left = {
        name: [{k: v for k, v in row.items() if v != "Alice"} for row in rows] for name, rows in SHOP_SOURCES.items()
    }
    expected = person_audit(write_case(tmp_path, SHOP, left)).rungs[1].leakage
    assert "Alice" in change.what
    assert change.after == pytest.approx(expected)


def test_beta_weighs_recall_and_reaches_every_question(tmp_path: Path) -> None:
    path = write_case(tmp_path, CARDS | {"beta": 2.0}, CARD_SOURCES)
    expected = 5 * 4 / (4 + 4 * 5)  # all of four facts right, of five
    assert person_release(path).options[1].after["E1"] == pytest.approx(expected)
    assert person_audit(path).leakage == pytest.approx(5 * 3 / (3 + 4 * 5))
    assert person_remove(path).before == pytest.approx(5 * 3 / (3 + 4 * 5))


def test_nothing_true_is_a_leakage_of_nothing(tmp_path: Path) -> None:
    result = person_audit(write_case(tmp_path, SHOP, {"other": [{"N": "Bob"}]}), fail_above=0.1)
    assert result.leakage == 0
    assert result.findings[0].held == ()
    assert len(result.findings[0].missing) == 4
    assert result.actions == ()
    assert "No record holds anything true" in result.headline


def test_a_weaker_looking_adversary_is_explained(tmp_path: Path) -> None:
    sources: dict[str, Rows] = {
        "one": [{"N": "Alice", "P": "123", "C": "999", "Z": "111"}],
        "two": [{"N": "Alice", "P": "1", "C": "2", "Z": "3"}],
    }
    result = person_audit(write_case(tmp_path, SHOP, sources))
    assert result.rungs[1].leakage < result.rungs[0].leakage == 1
    assert any("wrong values pile up" in note for note in result.notes)


def test_who_joins_records_still_has_them_unless_the_case_says_otherwise(tmp_path: Path) -> None:
    sources: dict[str, Rows] = {
        "one": [{"N": "Alice", "P": "123", "C": "999", "Z": "111"}],
        "two": [{"N": "Alice", "P": "1", "C": "2", "Z": "3"}],
    }
    joining = {"name": "E1", "steps": [{"resolve": {"rules": [["N"]]}}]}
    case = read_case(write_case(tmp_path, SHOP | {"adversaries": [{"name": "E0"}, joining]}, sources))
    assert [adversary.keep_base for adversary in case.adversaries] == [False, True]
    assert person_audit(case).rungs[1].leakage == 1


def test_a_case_that_was_read_already_can_be_asked(tmp_path: Path) -> None:
    case = read_case(write_case(tmp_path, SHOP, SHOP_SOURCES))
    told: list[str] = []
    result = person_audit(case, progress=lambda what, share: told.append(what))
    assert result.leakage == pytest.approx(6 / 7)
    assert any("resolving" in what for what in told)


def test_few_records_are_fetched_of_many(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    many = [{"N": f"n{n}", "P": f"p{n % 50}", "Z": "111"} for n in range(3000)]
    path = write_case(tmp_path, SHOP, SHOP_SOURCES | {"many": many})
    fetched: list[int] = []
    real = RecordPool.numbered

    def counting(pool: RecordPool, rids: Sequence[int]) -> list[Record]:
        fetched.append(len(rids))
        return real(pool, rids)

    monkeypatch.setattr(RecordPool, "numbered", counting)
    result = person_audit(path)
    # Every record of the crowd has the right zip, and leaks too little to be worth a look.
    assert result.rungs[1].leakage == pytest.approx(6 / 7)
    assert sum(fetched) <= 3 * hot.FIRST_RECORDS
