"""Whang and Garcia-Molina, "A Model for Quantifying Information Leakage": its examples that need records alone.

Every worked example of the paper that needs no adversary. Two numbers printed in it do not follow from its own
definitions; here they are what does: 22/35 for 13/20 in section 2.3 and 1/7 for 1/28 in section 4.3. What needs an
adversary is in the tests of adversaries; where the paper merges records the merged record is written out here.
"""

from __future__ import annotations

from fractions import Fraction

import pytest

from oracles_person import possible_worlds
from tacit.person import (
    Label,
    Labels,
    Record,
    Reference,
    compare,
    completeness,
    correctness,
    exp_abs,
    f_beta,
    gradient,
    record_leakage,
)
from tacit.person.model.leakage import Method

EQUAL_WEIGHT_METHODS: tuple[Method, ...] = ("exact", "worlds", "algorithm1")


def close_to(value: Fraction) -> object:
    return pytest.approx(float(value), rel=1e-12)


def leakage_everyhow(record: Record, reference: Reference) -> float:
    """The leakage by all methods that are exact, which must agree."""
    values = [record_leakage(record, reference, method=method) for method in EQUAL_WEIGHT_METHODS]
    assert values == pytest.approx([values[0]] * len(values), rel=1e-12)
    return values[0]


def test_section_1_three_of_three_attributes_are_correct_and_three_of_five_are_found() -> None:
    reference = Reference([("N", "Alice"), ("A", "123 Main"), ("P", 555), ("C", 999), ("S", "000")])
    record = Record([("N", "Alice"), ("A", "123 Main"), ("C", 999)])
    assert correctness(record, reference) == 1
    assert completeness(record, reference) == 3 / 5
    # A second purchase makes the address doubtful and adds something false: both lower the leakage.
    doubtful = Record([("N", "Alice"), ("A", "123 Main", 0.5), ("A", "777 Main", 0.5), ("C", 999), ("X", 111)])
    assert record_leakage(doubtful, reference) < record_leakage(record, reference)


def test_section_2_1_and_2_2_precision_recall_and_their_mean() -> None:
    reference = Reference([("N", "Alice"), ("A", 20), ("P", 123), ("Z", 94305)])
    record, weights = Record([("N", "Alice"), ("A", 20), ("P", 111)]), {"N": 2.0}
    assert correctness(record, reference, weights) == 3 / 4
    assert completeness(record, reference, weights) == 3 / 5
    assert f_beta(record, reference, weights) == close_to(Fraction(2, 3))
    assert record_leakage(record, reference, weights) == close_to(Fraction(2, 3))
    assert f_beta(record, reference, {"N": 4.0, "A": 2, "P": 2, "Z": 2}) == close_to(Fraction(2, 3))
    # F-beta as the paper writes it, from precision and recall.
    for beta in (0.5, 1.0, 3.0):
        square = beta * beta
        wanted = (square + 1) * 3 / 4 * 3 / 5 / (square * 3 / 4 + 3 / 5)
        assert f_beta(record, reference, weights, beta=beta) == pytest.approx(wanted)


def test_section_2_1_whoever_guesses_31_for_30_knows_more_than_whoever_guesses_80() -> None:
    labels = Labels({"A": Label(similarity=exp_abs(10))})
    reference = Reference([("N", "Alice"), ("A", 30)])
    near, far = (record_leakage(Record([("N", "Alice"), ("A", age)]), reference, labels=labels) for age in (31, 80))
    assert near > far


def test_section_2_3_the_four_possible_worlds() -> None:
    record = Record([("name", "Alice", 1), ("age", 20, 0.4), ("phone", 123, 0.5)])
    labels = Labels()
    found = compare(record, Reference([("name", "Alice")]), labels)
    worlds = {places: chance for chance, places in possible_worlds(record, found, labels)}
    assert worlds == pytest.approx({(0, 1, 2): 0.2, (0, 1): 0.2, (0, 2): 0.3, (0,): 0.3})


def test_section_2_3_confidences_the_paper_says_13_20_but_its_weights_give_22_35() -> None:
    reference = Reference([("N", "Alice"), ("A", 20), ("P", 123)])
    record = Record([("N", "Alice", 0.5), ("A", 20, 1.0)])
    assert leakage_everyhow(record, reference) == close_to(Fraction(13, 20))  # if all weights are 1
    weights = {"N": 2.0}  # as the paper states
    assert f_beta(Record([("A", 20)]), reference, weights) == close_to(Fraction(2, 5))
    assert f_beta(Record([("N", "Alice"), ("A", 20)]), reference, weights) == close_to(Fraction(6, 7))
    assert record_leakage(record, reference, weights) == close_to(Fraction(22, 35))
    assert record_leakage(record, reference, weights, method="worlds") == close_to(Fraction(22, 35))


def test_section_2_4_merging_two_records_raises_the_leakage_from_2_3_to_6_7() -> None:
    reference = Reference([("N", "Alice"), ("P", 123), ("C", 999), ("Z", 111)])
    r, s = Record([("N", "Alice"), ("P", 123)]), Record([("N", "Alice"), ("C", 999)])
    t = Record([("N", "Bob"), ("P", 987)])
    assert [leakage_everyhow(one, reference) for one in (r, s, t)] == pytest.approx([2 / 3, 2 / 3, 0])
    merged = Record([("N", "Alice"), ("P", 123), ("C", 999)])
    assert leakage_everyhow(merged, reference) == close_to(Fraction(6, 7))


ALICE = Reference([("Name", "Alice"), ("Zip", "111"), ("Age", "30"), ("Disease", "Heart")])
ZOE = Reference([("Name", "Zoe"), ("Zip", "241"), ("Age", "60"), ("Disease", "Flu")])
FIRST = [("Zip", "11*"), ("Age", "3*"), ("Disease", "Heart"), ("Disease", "Breast"), ("Disease", "Cancer")]
SECOND = [("Zip", "2**"), ("Age", "≥50"), ("Disease", "Hair"), ("Disease", "Flu")]


def test_section_3_1_people_who_are_equally_anonymous_leak_differently() -> None:
    assert record_leakage(Record(FIRST), ALICE) == close_to(Fraction(2, 3))
    assert record_leakage(Record(SECOND), ZOE) == close_to(Fraction(3, 4))
    assert record_leakage(Record(SECOND), ALICE) == record_leakage(Record(FIRST), ZOE) == 0


def test_section_3_1_background_information_raises_alices_leakage_to_4_5() -> None:
    assert record_leakage(Record([("Name", "Alice"), *FIRST]), ALICE) == close_to(Fraction(4, 5))


def test_section_3_2_flu_and_influenza_as_two_illnesses_and_as_one() -> None:
    diverse = Record([*SECOND, ("Disease", "Influenza")])
    assert record_leakage(diverse, ZOE) == close_to(Fraction(2, 3))
    # An adversary who knows that they are one writes Flu for Influenza and holds the illness once.
    assert record_leakage(Record(SECOND), ZOE) == close_to(Fraction(3, 4))


def test_section_4_1_which_card_to_use() -> None:
    reference = Reference([("N", "n1"), ("C", "c1"), ("C", "c2"), ("P", "p1"), ("A", "a1")])
    s, t = Record([("N", "n1"), ("C", "c1"), ("P", "p1")]), Record([("N", "n1"), ("C", "c2")])
    merged = Record([("N", "n1"), ("C", "c1"), ("C", "c2"), ("P", "p1")])
    assert leakage_everyhow(s, reference) == close_to(Fraction(3, 4))
    assert leakage_everyhow(t, reference) == close_to(Fraction(4, 7))
    assert leakage_everyhow(merged, reference) == close_to(Fraction(8, 9))
    increment = record_leakage(merged, reference) - record_leakage(s, reference)
    assert increment == close_to(Fraction(5, 36))


def test_section_4_3_verifying_the_phone_gains_1_7_per_cost_and_not_1_28() -> None:
    composite = [("N", "Alice", 1.0), ("A", 20, 1.0), ("P", 123, 0.5), ("C", 987, 1.0)]
    reference = Reference([(label, value) for label, value, _ in composite])
    before = leakage_everyhow(Record(composite), reference)
    assert before == close_to(Fraction(13, 14))
    # (1 - 13/14) / 0.5 is 1/7; the paper multiplies by the cost and prints 1/28.
    verified = Record([(label, value) for label, value, _ in composite])
    assert (record_leakage(verified, reference) - before) / 0.5 == close_to(Fraction(1, 7))
    assert gradient(Record(composite), reference)[2] == close_to(Fraction(1, 7))


def test_section_5_the_example_of_algorithm_1() -> None:
    record, reference = Record([("A", 1, 0.1), ("B", 3, 0.2)]), Reference([("A", 1), ("B", 2)])
    assert leakage_everyhow(record, reference) == close_to(Fraction(19, 300))
