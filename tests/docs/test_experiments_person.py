"""The cheap parts of the person experiment: records as the paper makes them, ladders on a few records, figures."""

from __future__ import annotations

import json
import sys
from xml.etree import ElementTree

import numpy as np
import pytest

from places import ROOT
from tacit.errors import SourceError
from tacit.person import Label, Labels, Record, Reference, measure, record_leakage

# An experiment is a script with modules beside it, not a package.
sys.path.append(str(ROOT / "experiments" / "person"))
from person_figures import figure_3, ladders
from person_ladders import Rung, _leakages, ladder
from person_people import People, folder, plain_date, plain_name
from person_splink import quality
from person_synthetic import TABLE_5, Setting, draw, exact, second_order

EXPERIMENT = ROOT / "experiments" / "person"


@pytest.mark.parametrize("random_weights", [False, True])
def test_drawn_records_have_the_leakage_of_records(random_weights: bool) -> None:
    drawn = draw(Setting(n=6, records=20, random_weights=random_weights), 0)
    found = exact(drawn)
    for at in range(20):
        confidence, weight, credit = drawn.one(at)
        names = [f"l{i}" for i in range(len(weight))]
        right = [(f"l{i}", "true") for i in np.flatnonzero(credit > 0)]
        held = [
            (f"l{i}", "true" if c > 0 else "false", p) for i, (p, c) in enumerate(zip(confidence, credit, strict=True))
        ]
        rest = drawn.reference_weight - float(credit.sum())
        reference = Reference([*right, ("rest", "true")])
        whole = Labels(
            {
                **{name: Label(weight=float(w)) for name, w in zip(names, weight, strict=True)},
                "rest": Label(weight=max(rest, 0.0)),
            }
        )
        assert found[at] == pytest.approx(record_leakage(Record(held), reference, labels=whole), rel=1e-9)
        near = second_order(confidence, weight, credit, drawn.reference_weight)
        said = record_leakage(Record(held), reference, labels=whole, method="second_order")
        assert near == pytest.approx(said, rel=1e-9)


def test_nothing_leaks_where_every_copy_is_made_wrong() -> None:
    assert TABLE_5[3].exact == 0
    assert exact(draw(Setting(n=10, records=50, perturbing=1.0), 0)).max() == 0


def few_people() -> People:
    facts = [
        ("ann", [("name", "Ann"), ("zip", "1")]),
        ("ann", [("name", "Ann"), ("zip", "2"), ("town", "Rye")]),
        ("bob", [("name", "Bob"), ("zip", "2")]),
    ]
    records = tuple(Record(held, name=f"record {at}") for at, (_, held) in enumerate(facts))
    references = {
        "ann": Reference([("name", "Ann"), ("zip", "1"), ("town", "Rye")]),
        "bob": Reference([("name", "bob")]),
    }
    labels = Labels({"name": Label(normalise=str.lower)})
    return People("few", records, tuple(who for who, _ in facts), references, labels, ("zip",), (("name",),))


def test_the_leakage_of_everybody_is_that_of_each() -> None:
    people = few_people()
    leakage, recall, best = _leakages(people, people.records)
    for at, reference in enumerate(people.references.values()):
        found = [measure(record, reference, people.labels) for record in people.records]
        assert leakage[at] == pytest.approx(max(one.value for one in found))
        assert best[at] == pytest.approx(max(one.recall for one in found))
        assert recall[at] <= best[at]


def test_a_ladder_has_every_adversary_in_every_way() -> None:
    rungs = ladder(few_people())
    assert {rung.adversary for rung in rungs} == {"none", "rules", "normal forms and rules", "true clusters"}
    assert len(rungs) == 16
    true = {(rung.merging, rung.keeps_base): rung for rung in rungs if rung.adversary == "true clusters"}
    assert (true["union", False].pair_precision, true["union", False].pair_recall) == (1.0, 1.0)
    assert true["union", True].mean >= true["union", False].mean


def test_pairs_are_counted() -> None:
    assert quality(["x", "x", "x", "y"], ["a", "a", "b", "b"]) == (1 / 3, 1 / 2)
    assert quality([1, 2, 3], ["a", "a", "b"]) == (1.0, 0.0)


def test_names_and_dates_have_one_form() -> None:
    assert plain_name("Smith, Bob J.") == plain_name("ROBERT SMITH") == "robert smith"
    assert plain_date("1978-12-11") == plain_date("12/11/1978")


def test_missing_people_are_said_to_be_missing(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("TACIT_DATA", raising=False)
    with pytest.raises(SourceError, match="set TACIT_DATA"):
        folder()


def test_the_figures_stand_alone_and_show_what_was_found() -> None:
    told = json.loads((EXPERIMENT / "results.json").read_text("utf-8"))
    drawn = figure_3(told["trends"], told["runtimes"]), ladders([Rung(**rung) for rung in told["ladders"]])
    for figure, file in zip(drawn, ("figure3.svg", "ladders.svg"), strict=True):
        ElementTree.fromstring(figure)
        assert "http" not in figure.replace("http://www.w3.org/2000/svg", "")
        assert figure == (EXPERIMENT / file).read_text("utf-8")
