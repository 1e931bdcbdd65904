"""Case files: what they say is read, what is wrong is named with its line, and no value of a person is told."""

from __future__ import annotations

import copy
import json
import os
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings, strategies as st

from sizes import many
from tacit.errors import ArgumentError, DataError, SourceError
from tacit.person import (
    Adversary,
    Augment,
    Case,
    Correct,
    Cost,
    Generalise,
    Normalise,
    Offer,
    Reference,
    Resolve,
    Rules,
    VerifyTerms,
    person_init,
    read_case,
)
from tacit.person.case.starting import FILES
from tacit.person.link.brought import FileClusters, SplinkClusters
from tacit.person.sources import PopulationSpec

SECRET = "Zyxwv"

SHOP = "id,nm,cc,tel,mail\n17,Alice,999,007,a@x.org\n18,Bob,888,008,b@x.org\n"

LEAST = """
person: {name: Alice}
sources:
  - {name: shop, path: shop.csv, map: {nm: name, cc: card, tel: phone, mail: email}}
"""


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "shop.csv").write_text(SHOP)
    return tmp_path


def read(folder: Path, text: str) -> Case:
    (folder / "case.yaml").write_text(text, "utf-8")
    return read_case(folder / "case.yaml")


def mistakes(folder: Path, text: str) -> list[str]:
    """The lines of the error, without the name of the file."""
    with pytest.raises(DataError) as raised:
        read(folder, text)
    lines = str(raised.value).splitlines()
    assert all(line.startswith(f"{folder / 'case.yaml'}, line ") for line in lines)
    return [line.removeprefix(f"{folder / 'case.yaml'}, ") for line in lines]


# ------------------------------------------------------------------------------------------------ what is said


def test_the_person_may_be_written_in_four_ways(folder: Path) -> None:
    expected = Reference([("name", "Alice"), ("card", "999"), ("card", "888")])
    ways = [
        "{attributes: [{label: name, value: Alice}, {label: card, value: 999}, {label: card, value: '888'}]}",
        "{attributes: {name: Alice, card: [999, 888]}}",
        "{name: Alice, card: [999, 888]}",
        "[{name: Alice}, {card: 999}, {card: 888}]",
    ]
    for way in ways:
        assert read(folder, LEAST.replace("{name: Alice}", way)).reference == expected


def test_values_are_the_text_that_is_written(folder: Path) -> None:
    case = read(folder, LEAST.replace("{name: Alice}", "{phone: 007, dob: 1980-01-02, member: yes, height: 1.80}"))
    assert case.reference.facts == (("phone", "007"), ("dob", "1980-01-02"), ("member", "yes"), ("height", "1.80"))


def test_json_is_read_too(folder: Path) -> None:
    data = {"person": {"name": "Alice"}, "sources": [{"name": "shop", "path": "shop.csv"}]}
    (folder / "case.json").write_text(json.dumps(data, indent=2))
    assert read_case(folder / "case.json").sources[0].path == folder / "shop.csv"


def test_a_source_has_its_map_confidences_and_removal(folder: Path) -> None:
    case = read(
        folder,
        """
person: {name: Alice}
sources:
  - name: shop
    path: shop.csv
    id: id
    map: {nm: name, mail: null}
    confidence: {source: 0.5, column: cc}
    column_confidence: {name: 0.6, tel: 1}
    remove: {cost: 5, success: 0.25}
""",
    )
    (source,) = case.sources
    assert (source.format, source.identifier, source.confidence, source.confidence_column) == ("table", "id", 0.5, "cc")
    assert source.columns == {"nm": "name", "mail": None}
    assert source.label_confidence == {"name": 0.6, "tel": 1.0}
    assert source.removal == Offer(5.0, 0.25)
    assert case.source_labels == {"name", "tel"}


def test_labels_become_what_the_measures_need(folder: Path) -> None:
    (folder / "counts.csv").write_text("zip,n\nAB1,3\nab1,1\nCD2,4\n")
    case = read(
        folder,
        LEAST
        + """
labels:
  name: {weight: 3, normalise: name, similarity: {jaro_winkler: {from: 0.5}}}
  dob: {single: true, similarity: {exp_abs: 365d}}
  age: {suppressed: size, domain: {from: 8, to: 11}}
  day: {domain: {from: 1999-12-31, to: 2000-01-02}}
  zip: {normalise: text, suppressed: prior, prior: {table: counts.csv}}
  rare: {prior: {a: 0.25, b: 0.5}}
  illness: {normalise: text, synonyms: {Influenza: Grippe, GRIPPE: Flu}}
correlated: [{labels: [phone, address], shared: 2}]
""",
    )
    labels = case.labels
    assert labels["name"].weight == 3
    assert labels["name"].meant(" ALICE ") == "alice"
    assert labels["name"].similarity is not None
    assert labels["name"].similarity("alice", "alice") == 1
    assert labels["name"].similarity("alice", "zzz") == 0
    assert labels["dob"].single
    assert labels["dob"].similarity is not None
    assert labels["dob"].similarity("1990-01-01", "1991-01-01") == pytest.approx(0.36788, abs=1e-5)
    assert tuple(labels["age"].domain) == ("8", "9", "10", "11")
    assert tuple(labels["day"].domain) == ("1999-12-31", "2000-01-01", "2000-01-02")
    # What differs by its writing alone is one value, counted together.
    assert labels["zip"].prior == {"ab1": 0.5, "cd2": 0.5}
    assert labels["zip"].weigh("AB1") == 1
    assert labels["rare"].prior == {"a": 0.25, "b": 0.5}
    assert labels["illness"].meant("influenza") == labels["illness"].meant("Flu") == "flu"
    assert labels.correlated[0].labels == ("phone", "address")
    assert labels.correlated[0].shared == 2


def test_adversaries_become_plain_data(folder: Path) -> None:
    (folder / "zips.csv").write_text("zip,address,other\nZ1,Mill Lane,x\nZ2,Mill Lane,x\nZ3,,x\n")
    (folder / "fix.csv").write_text("wrong,right\nAlcie,Alice\n")
    (folder / "pairs.csv").write_text("phone,town\n007,Ambleford\n")
    (folder / "clusters.csv").write_text("unique_id,source_dataset,cluster_id\n17,shop,1\n")
    (folder / "model.json").write_text("{}")
    case = read(
        folder,
        LEAST
        + """
adversaries:
  - {name: E0}
  - name: E1
    steps:
      - normalise
      - {normalise: {labels: [name]}}
      - {correct: {label: name, table: fix.csv}}
      - {correct: {label: name, table: {Alise: Alice}, cost: 3}}
      - {augment: {given: phone, adds: address, table: {"007": [Mill Lane, High Street]}, cost: 2}}
      - {augment: {given: address, adds: zip, table: zips.csv, confidence: 0.9}}
      - {augment: pairs.csv}
      - {generalise: {label: zip, level: 2, cost: 1}}
      - {resolve: {rules: [[name, card], email, [zip]], min_confidence: 0.5, closure: components}}
    merge: consensus
    keep_base: true
    cost: {fixed: 1, per_record: 2, per_pair: 3}
  - {name: E2, steps: [{resolve: {clusters: clusters.csv}}]}
  - {name: E3, steps: [{resolve: {splink: model.json, threshold: 0.8}}], merge: vote, cost: 7}
""",
    )
    none, rules, brought, splink = case.adversaries
    assert none == Adversary("E0")
    assert rules.steps == (
        Normalise(),
        Normalise(("name",)),
        # What is written after values were put in normal form is in normal form, too.
        Correct("name", {"Alcie": "alice"}),
        Correct("name", {"Alise": "alice"}, Cost(fixed=3)),
        # A table that knows several values is several tables that know one.
        Augment("phone", "address", {"007": "Mill Lane"}, cost=Cost(fixed=2)),
        Augment("phone", "address", {"007": "High Street"}, cost=Cost()),
        Augment("address", "zip", {"Mill Lane": "Z1"}, 0.9),
        Augment("address", "zip", {"Mill Lane": "Z2"}, 0.9),
        Augment("phone", "town", {"007": "Ambleford"}),
        Generalise("zip", 2, Cost(fixed=1)),
        Resolve(Rules([("name", "card"), ("email",), ("zip",)], 0.5), "components"),
    )
    assert (rules.merge, rules.keep_base, rules.cost) == ("consensus", True, Cost(1, 2, 3))
    clusters = folder / "clusters.csv"
    assert brought.steps == (
        FileClusters(path=clusters, record="unique_id", cluster="cluster_id", source="source_dataset"),
    )
    assert splink.steps == (SplinkClusters(model=folder / "model.json", threshold=0.8),)
    assert (splink.merge, splink.cost) == ("vote", Cost(fixed=7))


def test_without_adversaries_one_reads_and_one_joins_by_labels_that_occur(folder: Path) -> None:
    case = read(folder, LEAST)
    assert [adversary.name for adversary in case.adversaries] == ["E0", "E1", "E2", "E3"]
    assert case.adversaries[0].steps == ()
    joins = case.adversaries[1]
    assert joins.steps[-1] == Resolve(Rules([("email",), ("name", "phone"), ("name", "card")]))
    assert (joins.merge, joins.keep_base) == ("consensus", True)
    assert "no adversary is named" in case.notes[0]


def test_without_a_name_records_are_joined_by_what_few_people_share(folder: Path) -> None:
    case = read(folder, LEAST.replace("nm: name", "nm: username").replace("mail: email", "mail: y"))
    assert [adversary.name for adversary in case.adversaries] == ["E0", "E1", "E2", "E3"]
    assert case.adversaries[1].steps[-1] == Resolve(Rules([("phone",), ("username",), ("card",)]))


def test_without_anything_that_names_a_person_the_ladder_goes_on_and_says_what_is_left_out(folder: Path) -> None:
    plain = LEAST.replace("nm: name", "nm: x").replace("mail: email", "mail: y")
    case = read(folder, plain.replace("phone", "z").replace("card", "w"))
    assert [adversary.name for adversary in case.adversaries] == ["E0", "E2", "E3"]
    assert "there is no E1" in case.notes[0]


def test_labels_of_files_of_features_and_breaches_occur_if_they_are_in_them(folder: Path) -> None:
    (folder / "f.jsonl").write_text('{"RECORD_ID": "1", "FEATURES": [{"NAME_FULL": "A"}, {"SSN_NUMBER": "1"}]}\n')
    (folder / "b.json").write_text('[{"Name": "B", "DataClasses": ["Email addresses"]}]')
    case = read(
        folder,
        """
person: {name: Alice}
sources:
  - {name: f, path: f.jsonl, format: senzing}
  - {name: b, path: b.json, format: hibp}
""",
    )
    assert case.adversaries[1].steps[-1] == Resolve(Rules([("email",), ("ssn",)]))
    assert [source.format for source in case.sources] == ["features", "breaches"]
    assert {"phone", "passport", "password"} <= case.source_labels


def test_questions_are_read(folder: Path) -> None:
    (folder / "people.csv").write_text("who,name,born,job\np1,Alice,1980,x\n")
    case = read(
        folder,
        LEAST
        + """
releases:
  - name: book
    options:
      - {name: old card, attributes: {name: Alice, card: [999, {value: "888", confidence: 0.5}]}}
      - {name: cash}
queries:
  - {name: caller, attributes: [{label: name, value: Alice, confidence: 0.25}]}
decoys: {budget: 6, labels: [name, email], values: {name: [Alicia]}, costs: {email: 2}}
verify: {budget: 3, costs: {name: 0.5}}
population: {references: people.csv, person: who, map: {born: dob}, quasi_identifiers: [dob], sensitive: [job]}
beta: 2
""",
    )
    (slot,) = case.releases
    assert [option.name for option in slot.options] == ["old card", "cash"]
    assert slot.options[0].confidences == {("name", "Alice"): 1, ("card", "999"): 1, ("card", "888"): 0.5}
    assert len(slot.options[1]) == 0
    assert case.queries[0].name == "caller"
    assert case.queries[0].confidences == {("name", "Alice"): 0.25}
    assert case.decoys is not None
    assert (case.decoys.budget, case.decoys.labels) == (6, ("name", "email"))
    assert (case.decoys.values, case.decoys.costs) == ({"name": ("Alicia",)}, {"email": 2})
    assert case.verify == VerifyTerms(3, {"name": 0.5})
    assert case.population == PopulationSpec(folder / "people.csv", "who", {"born": "dob"}, ("dob",), ("job",))
    assert case.beta == 2


def test_a_case_of_a_population_needs_no_person_until_one_is_asked_about(folder: Path) -> None:
    (folder / "people.csv").write_text("who,name\np1,Alice\n")
    case = read(folder, LEAST.replace("person: {name: Alice}", "population: {references: people.csv, person: who}"))
    assert case.person is None
    with pytest.raises(DataError, match="has no 'person'"):
        _ = case.reference


def test_a_described_label_that_nothing_has_is_noted(folder: Path) -> None:
    case = read(folder, LEAST + "labels: {nmae: {weight: 2}}\n")
    assert any("nmae" in note for note in case.notes)


# --------------------------------------------------------------------------------------------- what is wrong


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("persn: 1", "line 5: no key 'persn' in a case; did you mean 'person'?"),
        ("sources: []", "line 5: a case has this key twice, first on line 3: keep one"),
        ("labels: {name: {weight: -1}}", "line 5: 'weight' of label 'name' is -1: give a number, 0 or more"),
        (
            "labels: {name: {weight: heavy}}",
            "line 5: 'weight' of label 'name' is not a number: give a number, 0 or more",
        ),
        (
            "labels: {name: {weight: .inf}}",
            "line 5: 'weight' of label 'name' is not a number: give a number, 0 or more",
        ),
        ("labels: {name: {single: maybe}}", "line 5: 'single' of label 'name' is true or false, and nothing else"),
        ("labels: {name: {normalise: nmae}}", "line 5: 'normalise' of label 'name': no normal form 'nmae'"),
        ("labels: {name: {normalise: {a: b}}}", "line 5: 'normalise' of label 'name' is a mapping"),
        ("labels: {name: {similarity: jaro}}", "line 5: 'similarity' of label 'name': no similarity 'jaro'"),
        ("labels: {name: {similarity: {exp_abs: -1}}}", "line 5: 'similarity' of label 'name': the scale of exp_abs"),
        ("labels: {name: {similarity: {exact: {from: 1}}}}", "line 5: no similarity 'exact' that takes 'from'"),
        ("labels: {name: {suppressed: equals}}", "did you mean 'equal'?"),
        ("labels: {name: {suppressed: prior}}", "line 5: label 'name' has no 'prior'"),
        ("labels: {name: {domain: {from: 9, to: 1}}}", "line 5: 'domain' of label 'name' runs from the smaller"),
        ("labels: {name: {domain: {from: a, to: b}}}", "line 5: 'domain' of label 'name' runs between two"),
        ("labels: {name: {synonyms: {a: b, b: a}}}", "line 5: 'synonyms' of label 'name' run in a circle"),
        ("labels: {name: {prior: {a: 0}}}", "line 5: 'prior' of label 'name' has no count above 0"),
        ("labels: {name: {prior: {table: no.csv}}}", "line 5: no file 'no.csv' for 'prior' of label 'name'"),
        ("labels: [name]", "line 5: labels is a list where a mapping (key: value) is needed"),
        ("correlated: [{labels: [name], shared: 1}]", "line 5: a group of correlated labels has fewer than two"),
        (
            "correlated: [{labels: [a, b], shared: 1}, {labels: [b, c], shared: 1}]",
            "line 5: label 'b' is in two groups of correlated labels: join the groups",
        ),
        (
            "adversaries: [{name: E, merge: unoin}]",
            "line 5: no 'unoin' for 'merge' of adversary 'E'; did you mean 'union'?",
        ),
        ("adversaries: [{name: E}, {name: E}]", "line 5: a second adversary 'E', after that on line 5: rename one"),
        ("adversaries: []", "line 5: adversaries is an empty list: name one adversary or more"),
        ("adversaries: [{name: E, keep_base: 1}]", "line 5: 'keep_base' of adversary 'E' is true or false"),
        ("adversaries: [{name: E, cost: {per_pear: 1}}]", "did you mean 'per_pair'?"),
        ("adversaries: [{name: E, steps: [normalize]}]", "line 5: no step 'normalize'; did you mean 'normalise'?"),
        ("adversaries: [{name: E, steps: [resolve]}]", "line 5: step 'resolve' of adversary 'E' needs more words"),
        ("adversaries: [{name: E, steps: [{resolve: {}}]}]", "has no 'rules', 'clusters', 'likely' or 'splink'"),
        (
            "adversaries: [{name: E, steps: [{resolve: {rules: [email], splink: shop.csv}}]}]",
            "'resolve' of adversary 'E' has rules and splink: keep one",
        ),
        (
            "adversaries: [{name: E, steps: [{resolve: {rules: [[nmae]]}}]}]",
            "line 5: no label 'nmae' in the sources, for 'resolve' of adversary 'E'; did you mean 'name'?",
        ),
        ("adversaries: [{name: E, steps: [{resolve: {rules: [[]]}}]}]", "names no label, so that all records"),
        ("adversaries: [{name: E, steps: [{resolve: {rules: [email], closure: swosh}}]}]", "did you mean 'swoosh'?"),
        (
            "adversaries: [{name: E, steps: [{resolve: {rules: [email], min_confidence: 2}}]}]",
            "is 2: give a number from",
        ),
        ("adversaries: [{name: E, steps: [{resolve: {clusters: shop.csv}}]}]", "have no column 'cluster': name it"),
        ("adversaries: [{name: E, steps: [{augment: {given: name, adds: name, table: {a: b}}}]}]", "adds the label"),
        ("adversaries: [{name: E, steps: [{generalise: {label: name}}]}]", "has no 'level': add it"),
        ("adversaries: [{name: E, steps: [{generalise: {label: name, level: 1.5}}]}]", "is not a whole number"),
        ("adversaries: [{name: E, steps: [{generalise: {label: nam, level: 1}}]}]", "no label 'nam'"),
        ("releases: [{name: r}]", "line 5: a release has no 'options': add it"),
        ("releases: [{name: r, options: [{name: a}, {name: a}]}]", "line 5: a second option 'a'"),
        ("queries: [{name: q, attributes: []}]", "line 5: query 'q' has no attribute"),
        ("queries: [{name: q}]", "line 5: a query has no 'attributes': add it"),
        ("decoys: {budget: -1, labels: [name]}", "line 5: 'budget' of decoys is -1"),
        ("decoys: {budget: 1, labels: [nmae]}", "did you mean 'name'?"),
        ("decoys: {budget: 1, labels: [name], values: {name: [Alice]}}", "a value of 'name' of decoys is true"),
        (
            "decoys: {budget: 1, labels: [name], values: {card: [1]}}",
            "no label 'card' in the labels of decoys, for their values",
        ),
        ("verify: {costs: {name: 0}}", "'name' of 'costs' of verify is 0"),
        (
            "population: {references: shop.csv, person: idd}",
            "line 5: no column 'idd' in the references; did you mean 'id'?",
        ),
        ("population: {references: shop.csv, person: id, quasi_identifiers: [nn]}", "no label 'nn' in the references"),
        ("beta: much", "line 5: beta is not a number"),
    ],
)
def test_a_mistake_is_one_line_with_its_line(folder: Path, text: str, expected: str) -> None:
    (found,) = mistakes(folder, LEAST.rstrip() + "\n" + text + "\n")
    assert expected in found


@pytest.mark.parametrize(
    ("source", "expected"),
    [
        ("{name: shop, path: shop.csv, confidense: 1}", "no key 'confidense' in a source; did you mean 'confidence'?"),
        (
            "{name: shop, path: shop.csv, confidence: 1.5}",
            "'confidence' of source 'shop' is 1.5: give a number from 0",
        ),
        ("{name: shop, path: shop.csv, confidence: .nan}", "'confidence' of source 'shop' is not a number"),
        ("{name: shop, path: shop.csv, confidence: {column: scor}}", "no column 'scor' in source 'shop'"),
        (
            "{name: shop, path: shop.csv, column_confidence: {nmm: 1}}",
            "no label 'nmm' in source 'shop'; did you mean 'nm'?",
        ),
        ("{name: shop, path: shop.csv, map: {nmm: name}}", "no column 'nmm' in source 'shop'; did you mean 'nm'?"),
        ("{name: shop, path: shop.csv, map: {'*': name}}", "'*' in 'map' of source 'shop' stands for all other"),
        ("{name: shop, path: shop.csv, map: {nm: [a]}}", "'nm' of 'map' of source 'shop' is a list"),
        ("{name: shop, path: shop.csv, id: idd}", "no column 'idd' in source 'shop'; did you mean 'id'?"),
        ("{name: shop, path: shop.csv, remove: {succes: 1}}", "did you mean 'success'?"),
        ("{name: shop, path: shop.csv, remove: {success: 2}}", "is 2: give a number from 0 to 1"),
        ("{name: shop, path: shopp.csv}", "no file 'shopp.csv' for 'path' of source 'shop'; did you mean 'shop.csv'?"),
        ("{name: shop}", "a source has no 'path': add it"),
        ("{path: shop.csv}", "a source has no 'name': add it"),
        ("{name: '', path: shop.csv}", "the name of a source is empty"),
        ("{name: [x], path: shop.csv}", "the name of a source is a list where text is needed"),
        ("{name: shop, path: shop.csv, format: csv}", "no 'csv' for 'format' of source 'shop'"),
        ("{name: shop, path: shop.csv, features: true, format: hibp}", "has two formats"),
        ("shop.csv", "a source is text where a mapping (key: value) is needed"),
        ("{name: shop, path: shop.csv}, {name: shop, path: shop.csv}", "a second source 'shop', after that on line 2"),
    ],
)
def test_a_mistake_in_a_source_is_named(folder: Path, source: str, expected: str) -> None:
    found = mistakes(folder, f"person: {{name: Alice}}\nsources: [{source}]\n")
    assert expected in "\n".join(found)
    assert all(line.startswith("line 2: ") for line in found)


def test_all_mistakes_are_told_at_once_in_order_and_not_more_than_twenty(folder: Path) -> None:
    wrong = "\n".join(f"  l{place}: {{weight: -1}}" for place in range(30))
    (folder / "case.yaml").write_text(f"{LEAST.strip()}\nlabels:\n{wrong}\n")
    with pytest.raises(DataError) as raised:
        read_case(folder / "case.yaml")
    lines = str(raised.value).splitlines()
    assert len(lines) == 21
    assert [f", line {place}:" in line for place, line in enumerate(lines[:20], start=5)] == [True] * 20
    assert lines[20].endswith("and 10 more")


def test_a_case_without_a_person_or_sources_is_refused(folder: Path) -> None:
    assert mistakes(folder, "sources: [{name: shop, path: shop.csv}]") == [
        "line 1: a case has no 'person': say who it is about, as label: value"
    ]
    assert mistakes(folder, "person: {name: Alice}") == ["line 1: a case has no 'sources': add it"]
    assert "the person has no attribute" in mistakes(folder, LEAST.replace("{name: Alice}", "{}"))[0]


def test_breaches_need_a_person(folder: Path) -> None:
    (folder / "b.json").write_text("[]")
    text = "population: {references: shop.csv, person: id}\nsources: [{name: b, path: b.json, breaches: true}]"
    assert "needs a 'person'" in mistakes(folder, text)[0]


@pytest.mark.parametrize(
    ("text", "line"),
    [
        ("person:\n  name: [a, b\nsources: 1\n", 3),
        ("person:\n\tname: x\n", 2),
        (f"person:\n  name: *{SECRET}\n", 2),
        (f"person:\n  name: 'a\n  {SECRET}", 2),
        (f"person: {{name: {SECRET}: {SECRET}}}\n", 1),
        (f"person:\n  name: {SECRET}: {SECRET}\n", 2),
        (f"a: &{SECRET} 1\nb: *{SECRET}x\n", 2),
        (f"%{SECRET}\n---\na: 1\nb: ]", 4),
    ],
)
def test_broken_yaml_names_its_line_and_no_value(folder: Path, text: str, line: int) -> None:
    (folder / "case.yaml").write_text(text)
    with pytest.raises(DataError, match=f"case.yaml, line {line}: ") as raised:
        read_case(folder / "case.yaml")
    assert SECRET not in str(raised.value)
    assert "\n" not in str(raised.value)


def test_files_that_are_no_text_are_refused_with_their_line(folder: Path) -> None:
    (folder / "case.yaml").write_bytes(b"person:\n  name: \xff\n")
    with pytest.raises(DataError, match="line 2: not UTF-8"):
        read_case(folder / "case.yaml")
    (folder / "case.yaml").write_bytes(b"person: \x00\n")
    with pytest.raises(DataError, match="is not YAML"):
        read_case(folder / "case.yaml")
    (folder / "case.yaml").write_bytes(b"# nothing\n")
    with pytest.raises(DataError, match="is empty"):
        read_case(folder / "case.yaml")
    (folder / "case.yaml").write_text("[" * 400)
    with pytest.raises(DataError):
        read_case(folder / "case.yaml")


def test_a_case_file_that_is_not_there_or_a_directory_is_refused(folder: Path) -> None:
    with pytest.raises(SourceError, match=r"no file .*tacit.person_init"):
        read_case(folder / "none.yaml")
    with pytest.raises(SourceError, match="is a directory"):
        read_case(folder)


@pytest.mark.parametrize(
    "text",
    [
        f"person: {{name: [{SECRET}, {SECRET}]}}",
        f"person: {{name: {{first: {SECRET}}}}}",
        f"person: [{{label: name, valeu: {SECRET}}}]",
        f"person: [[name, {SECRET}]]",
        f"person: [{{? [{SECRET}] : x}}]",
        f"person: {SECRET}",
        f"person: {{name: a}}\nqueries: [{{name: q, attributes: [{{label: name, value: a, confidence: {SECRET}}}]}}]",
        f"person: {{name: {SECRET}}}\ndecoys: {{budget: 1, labels: [name], values: {{name: {SECRET}}}}}",
        f"person: {{name: {SECRET}}}\nlabels: {{name: {{synonyms: {{{SECRET}: {SECRET}a, {SECRET}a: {SECRET}}}}}}}",
        f"person: {{name: {SECRET}}}\nlabels: {{name: {{prior: {{{SECRET}: {SECRET}}}}}}}",
        f"person: {{name: {SECRET}}}\nbeta: {SECRET}",
    ],
)
def test_no_message_holds_a_value(folder: Path, text: str) -> None:
    found = mistakes(folder, text + "\nsources: [{name: shop, path: shop.csv}]\n")
    assert found
    assert SECRET not in "\n".join(found)


def test_no_repr_of_a_case_holds_a_value(folder: Path) -> None:
    case = read(
        folder,
        LEAST.replace("Alice", SECRET)
        + f"""
adversaries:
  - {{name: E, steps: [{{correct: {{label: name, table: {{{SECRET}a: {SECRET}}}}}}}]}}
releases: [{{name: r, options: [{{name: o, attributes: {{name: {SECRET}}}}}]}}]
queries: [{{name: q, attributes: {{name: {SECRET}}}}}]
decoys: {{budget: 1, labels: [name], values: {{name: [{SECRET}b]}}}}
""",
    )
    assert SECRET not in repr(case)


def test_a_table_of_a_database_is_one_like_any_other(folder: Path) -> None:
    import duckdb

    with duckdb.connect(str(folder / "facts.duckdb")) as database:
        database.execute("CREATE TABLE fix AS SELECT 'Alcie' AS wrong, 'Alice' AS right")
        database.execute("CREATE TABLE counts AS SELECT 'Alice' AS name, 1 AS n UNION ALL SELECT 'Bob', 3")
    case = read(
        folder,
        LEAST
        + """
labels: {name: {prior: {table: "facts.duckdb::counts"}}}
adversaries: [{name: E, steps: [{correct: {label: name, table: "facts.duckdb::fix"}}]}]
""",
    )
    assert case.adversaries[0].steps == (Correct("name", {"Alcie": "Alice"}),)
    assert case.labels["name"].prior == {"alice": 0.25, "bob": 0.75}


def test_an_augmenting_table_of_one_column_is_refused(folder: Path) -> None:
    (folder / "one.csv").write_text("name\nAlice\n")
    (found,) = mistakes(folder, LEAST.rstrip() + "\nadversaries: [{name: E, steps: [{augment: one.csv}]}]\n")
    assert "line 5: 'augment' of adversary 'E': " in found
    assert "one column where two are needed" in found


def test_tables_that_contradict_themselves_or_have_one_column_are_refused(folder: Path) -> None:
    (folder / "two.csv").write_text(f"a,b\n{SECRET},x\n{SECRET},y\n")
    (folder / "one.csv").write_text(f"a\n{SECRET}\n")
    (folder / "counts.csv").write_text(f"a,b\nx,{SECRET}\n")
    found = mistakes(
        folder,
        LEAST.strip()
        + """
labels: {zip: {prior: {table: counts.csv}}}
adversaries:
  - {name: E, steps: [{correct: {label: name, table: two.csv}}]}
  - {name: F, steps: [{correct: {label: name, table: one.csv}}]}
""",
    )
    assert [line.split(":")[0] for line in found] == ["line 4", "line 6", "line 7"]
    assert "row 1 of the table is not a count" in found[0]
    assert "in two ways" in found[1]
    assert "one column where two are needed" in found[2]
    assert SECRET not in "\n".join(found)


def test_recursive_aliases_end(folder: Path) -> None:
    assert mistakes(folder, LEAST.strip() + "\nlabels: &a {name: *a}\n")
    assert mistakes(folder, LEAST.strip() + "\nlabels: {name: {similarity: &a {exp_abs: *a}}}\n")


# ------------------------------------------------------------------------------------------------- the example


def test_the_example_is_a_case_without_mistakes_that_says_everything(tmp_path: Path) -> None:
    written = person_init(tmp_path / "new" / "case")
    assert [path.name for path in written] == list(FILES)
    case = read_case(written[-1])
    assert case.notes == ()
    assert {source.format for source in case.sources} == {"table", "features", "breaches"}
    assert len(case.adversaries) == 3
    assert case.releases
    assert case.queries
    assert case.decoys is not None
    assert case.verify is not None
    assert case.population is not None
    assert case.labels.correlated


def test_the_example_overwrites_nothing_and_then_writes_nothing(tmp_path: Path) -> None:
    (tmp_path / "people.csv").write_text("mine")
    with pytest.raises(ArgumentError, match=r"people.csv already exists"):
        person_init(tmp_path)
    assert [path.name for path in tmp_path.iterdir()] == ["people.csv"]
    assert (tmp_path / "people.csv").read_text() == "mine"
    with pytest.raises(ArgumentError, match="is a file"):
        person_init(tmp_path / "people.csv")


def test_the_example_is_written_whole_or_not_at_all(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    opened, calls = os.fdopen, []

    def failing(*words: Any) -> Any:
        calls.append(words)
        if len(calls) == 4:
            raise OSError(28, "No space left on device")
        return opened(*words)

    monkeypatch.setattr(os, "fdopen", failing)
    with pytest.raises(SourceError, match="No space left"):
        person_init(tmp_path / "a" / "b")
    assert list(tmp_path.iterdir()) == []


# ------------------------------------------------------------------------------------------ whatever is written

WHOLE: dict[str, Any] = {
    "person": {"name": SECRET, "card": [f"{SECRET}1", f"{SECRET}2"]},
    "labels": {
        "name": {"weight": 1, "normalise": "name", "similarity": {"jaro_winkler": {"from": 0.5}}},
        "card": {"prior": {"x": 1, "y": 2}, "synonyms": {"x": "y"}, "domain": {"from": 1, "to": 3}},
    },
    "correlated": [{"labels": ["name", "card"], "shared": 1}],
    "sources": [
        {
            "name": "shop",
            "path": "shop.csv",
            "map": {"nm": "name", "cc": "card"},
            "confidence": {"column": "tel", "source": 0.5},
            "column_confidence": {"name": 0.5},
            "remove": {"cost": 1, "success": 0.5},
        }
    ],
    "adversaries": [
        {
            "name": "E",
            "steps": [
                "normalise",
                {"correct": {"label": "name", "table": {f"{SECRET}3": SECRET}}},
                {"augment": {"given": "name", "adds": "zip", "table": {SECRET: [f"{SECRET}4"]}, "confidence": 1}},
                {"resolve": {"rules": [["name", "card"], ["zip"]], "min_confidence": 0, "closure": "swoosh"}},
            ],
            "merge": "vote",
            "cost": {"fixed": 1},
        }
    ],
    "releases": [{"name": "r", "options": [{"name": "o", "attributes": {"name": SECRET}}]}],
    "queries": [{"name": "q", "attributes": [{"label": "name", "value": SECRET, "confidence": 0.5}]}],
    "decoys": {"budget": 1, "labels": ["name"], "values": {"name": [f"{SECRET}5"]}},
    "verify": {"budget": 1, "costs": {"name": 1}},
    "beta": 1,
}

# Under these keys are values, and nowhere else.
VALUED = {"person", "attributes", "prior", "synonyms", "domain", "table", "values"}

junk: st.SearchStrategy[Any] = st.recursive(
    st.sampled_from([None, True, -1, 0, 0.5, 7, "", "x", "name", "shop.csv", SECRET]),
    lambda inner: (
        st.lists(inner, max_size=2) | st.dictionaries(st.sampled_from(["a", "name", "value"]), inner, max_size=2)
    ),
    max_leaves=4,
)


def places(node: Any, path: tuple[Any, ...] = ()) -> list[tuple[Any, ...]]:
    keys = list(node) if isinstance(node, dict) else range(len(node)) if isinstance(node, list) else []
    return [path, *(place for key in keys for place in places(node[key], (*path, key)))]


@settings(max_examples=many(15, 60), deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(place=st.sampled_from(places(WHOLE)[1:]), other=junk)
def test_whatever_stands_in_a_place_the_case_is_read_or_every_mistake_has_a_line(
    folder: Path, place: tuple[Any, ...], other: Any
) -> None:
    data = copy.deepcopy(WHOLE)
    inner = data
    for key in place[:-1]:
        inner = inner[key]
    inner[place[-1]] = other
    (folder / "case.json").write_text(json.dumps(data, indent=1))
    said = refusal(folder / "case.json")
    assert all(line.startswith(f"{folder / 'case.json'}, line ") for line in said.splitlines())
    # Where a label, a rule or a name is wanted, what stands there is no value.
    named = SECRET in json.dumps(other) and not VALUED & set(place)
    assert named or other == SECRET or SECRET not in said


def refusal(path: Path) -> str:
    """What the reader says, nothing if it has nothing to say."""
    try:
        read_case(path)
    except DataError as error:
        return str(error)
    return ""


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("\tbeta: 1", "line 5: not YAML: there is a tab where it cannot be; put spaces there"),
        ("queries: [{name: @zoe}]", "line 5: not YAML: found character '@' that cannot start any token; put text that"),
        ("queries:\n  - {name: 'a caller}\n  - {name: b}\n", "line 6: not YAML: the quotes that open on this line are"),
    ],
)
def test_yaml_that_cannot_be_read_is_told_with_the_place_to_mend(folder: Path, text: str, expected: str) -> None:
    (found,) = mistakes(folder, LEAST.rstrip() + "\n" + text + "\n")
    assert expected in found


def test_columns_of_clusters_are_found_whatever_the_case_of_their_header(folder: Path) -> None:
    (folder / "key.csv").write_text("TEST,CLUSTER_ID,Data_Source,record_id\n1,a,s,1\n")
    case = read(folder, LEAST + "adversaries: [{name: E, steps: [{resolve: {clusters: key.csv}}]}]\n")
    (step,) = case.adversaries[0].steps
    assert isinstance(step, FileClusters)
    assert (step.record, step.cluster, step.source) == ("record_id", "CLUSTER_ID", "Data_Source")


def test_a_step_that_normalises_without_any_normal_form_is_noted(folder: Path) -> None:
    adversary = "adversaries: [{name: E, steps: [normalise]}]\n"
    plainly = (
        f"labels: {{{', '.join(f'{label}: {{normalise: exact}}' for label in ('name', 'card', 'phone', 'email'))}}}\n"
    )
    (note,) = read(folder, LEAST + adversary + plainly).notes
    assert note.startswith("'normalise' of E changes nothing")
    assert not read(folder, LEAST + adversary).notes
