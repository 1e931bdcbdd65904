"""The person-leakage paper's parts: records as the paper makes them, worked examples, ladders on a few records."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest

from experiments.person.data import TABLE_5, Setting, draw
from experiments.person.examples import examples, told
from experiments.person.ladders import ladder, leakages, quality
from experiments.person.people import People, folder, plain_date, plain_name
from experiments.person.synthetic import exact, second_order
from tacit.errors import SourceError
from tacit.person import Label, Labels, Record, Reference, measure, record_leakage


@pytest.mark.parametrize("random_weights", [False, True])
def test_drawn_records_have_the_leakage_of_records(random_weights: bool) -> None:
    drawn = draw(Setting(n=6, records=20, random_weights=random_weights), 0)
    found, near = exact(drawn), second_order(drawn)
    for at in range(20):
        here = slice(drawn.starts[at], drawn.starts[at + 1])
        confidence, weight, credit = drawn.confidence[here], drawn.weight[here], drawn.credit[here]
        names = [f"l{i}" for i in range(len(weight))]
        right = [(f"l{i}", "true") for i in np.flatnonzero(credit > 0)]
        held = Record(
            (f"l{i}", "true" if c > 0 else "false", p) for i, (p, c) in enumerate(zip(confidence, credit, strict=True))
        )
        rest = drawn.reference_weight - float(credit.sum())
        reference = Reference([*right, ("rest", "true")])
        weights = dict(zip(names, weight.tolist(), strict=True)) | {"rest": max(rest, 0.0)}
        assert found[at] == pytest.approx(record_leakage(held, reference, weights), rel=1e-9)
        assert near[at] == pytest.approx(record_leakage(held, reference, weights, method="second_order"), rel=1e-9)


def test_nothing_leaks_where_every_copy_is_made_wrong() -> None:
    assert float(TABLE_5[3][1]) == 0
    assert exact(draw(Setting(n=10, records=50, perturbing=1.0), 0)).max() == 0


@pytest.mark.parametrize("perturbing", [0.5, 0.95])
def test_with_equal_weights_more_confidence_in_everything_is_more_leakage_of_every_record(perturbing: float) -> None:
    found = [exact(draw(Setting(n=8, records=200, perturbing=perturbing, bogus=1.0, most=m), 0)) for m in (0.4, 0.7, 1)]
    some = found[0] > 0
    assert some.any()
    assert np.all(found[0][some] < found[1][some])
    assert np.all(found[1][some] < found[2][some])


def test_all_worked_examples_but_two_are_as_printed() -> None:
    differ = {
        each.section for each in examples() if list(map(Fraction, each.printed)) != list(map(Fraction, each.ours))
    }
    assert differ == {"2.3", "4.3"}


def test_a_number_that_is_no_small_fraction_is_not_told_as_one() -> None:
    assert told(22 / 35, 0.0) == ("22/35", "0")
    with pytest.raises(ValueError, match="no small fractions"):
        told(22 / 35 + 1e-9)


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
    leakage, recall = leakages(people, people.records)
    for at, reference in enumerate(people.references.values()):
        found = [measure(record, reference, people.labels) for record in people.records]
        assert leakage[at] == pytest.approx(max(one.value for one in found))
        assert recall[at] == pytest.approx(max(one.recall for one in found))


def test_a_ladder_has_every_adversary_in_every_way() -> None:
    rungs = {rung["adversary"]: rung for rung in ladder(few_people())["rungs"]}
    assert list(rungs) == ["none", "rules", "normal forms and rules", "true clusters"]
    true = rungs["true clusters"]
    assert (true["pairs_right"], true["pairs_found"], true["entities"]) == (1.0, 1.0, 2)
    for policy in ("union", "consensus"):
        assert true[f"{policy}, base kept"]["mean"] >= true[policy]["mean"]


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
