"""Adversaries: the paper's examples end to end, steps, costs, merge policies on dirty data, and what cannot fall."""

from __future__ import annotations

import itertools
import random
import subprocess
import sys
from collections.abc import Iterable, Mapping, Sequence
from fractions import Fraction

import pytest
from hypothesis import given, settings, strategies as st

from sizes import many
from tacit.errors import ArgumentError
from tacit.person import (
    Adversary,
    Augment,
    Clusters,
    Correct,
    Cost,
    Generalise,
    Label,
    Labels,
    Link,
    Normalise,
    Record,
    Reference,
    Resolve,
    Resolver,
    Rules,
    exposure,
    ladder,
    leakage,
    record_leakage,
)


def record(**values: str) -> Record:
    """A record of certain facts; several values of a label are separated by spaces."""
    return Record([(label, value) for label, given in values.items() for value in given.split()])


def facts(held: Record) -> set[tuple[str, str]]:
    return set(held.confidences)


def by_worlds(confidences: Mapping[tuple[str, str], Fraction], reference: set[tuple[str, str]]) -> Fraction:
    """The paper's definition, in fractions: weights 1, no covering."""
    total = Fraction(0)
    for world in itertools.product([False, True], repeat=len(confidences)):
        chance = Fraction(1)
        for present, confidence in zip(world, confidences.values(), strict=True):
            chance *= confidence if present else 1 - confidence
        held = {fact for fact, present in zip(confidences, world, strict=True) if present}
        total += chance * Fraction(2 * len(held & reference), len(held) + len(reference))
    return total


# ------------------------------------------------------------------------------------------------ section 2.4

SHOP = [record(N="Alice", P="123"), record(N="Alice", C="999"), record(N="Bob", P="987")]
ALICE = Reference([("N", "Alice"), ("P", "123"), ("C", "999"), ("Z", "111")])
BY_NAME = Adversary("by name", [Resolve(Rules([["N"]]))])


def test_section_2_4_joining_by_name_raises_leakage_from_two_thirds_to_six_sevenths() -> None:
    assert leakage(SHOP, ALICE) == pytest.approx(2 / 3, abs=1e-12)
    assert leakage(SHOP, ALICE, BY_NAME) == pytest.approx(6 / 7, abs=1e-12)
    found = exposure(SHOP, ALICE, BY_NAME)
    assert found.cluster is not None
    assert (found.precision, found.recall) == (pytest.approx(1.0), pytest.approx(3 / 4))
    assert found.cluster.members == (0, 1)
    assert found.cluster.links == (Link(0, 1, ("N",)),)
    assert found.cluster.sources == {("N", "Alice"): (0, 1), ("P", "123"): (0,), ("C", "999"): (1,)}


def test_section_2_4_dipping_with_a_name_returns_all_that_was_merged_with_it() -> None:
    rules = BY_NAME.rules
    assert rules is not None
    resolver = Resolver.of(BY_NAME.prepared(SHOP), rules)
    dipped = resolver.peek(record(N="Alice"))
    assert dipped.facts == {("N", "Alice"): 1.0, ("P", "123"): 1.0, ("C", "999"): 1.0}
    assert set(dipped.members) == {0, 1, 3}


def test_section_2_4_a_quadratic_adversary_pays_1000_for_1000_records() -> None:
    quadratic = Cost(per_pair=1 / 1000)
    assert quadratic.of(1000) == 1000
    adversary = Adversary("E", [Resolve(Rules(["N"]), cost=quadratic)])
    assert adversary.holdings([record(N=str(i)) for i in range(1000)]).cost == 1000


def test_the_identity_leaks_what_the_records_leak() -> None:
    assert leakage(SHOP, ALICE, Adversary("nothing")) == leakage(SHOP, ALICE)
    assert leakage(SHOP, ALICE, lambda records: records) == leakage(SHOP, ALICE)


def test_any_function_of_records_is_an_adversary() -> None:
    def destroys_all_but_the_first(records: Sequence[Record]) -> Iterable[Record]:
        return records[:1]

    assert leakage(SHOP, ALICE, destroys_all_but_the_first) == pytest.approx(2 / 3)
    assert leakage(SHOP, ALICE, lambda records: []) == 0.0


def test_leakage_of_no_record_is_zero_and_nobody_wins() -> None:
    assert leakage([], ALICE) == 0.0
    found = exposure([record(N="Bob")], ALICE, BY_NAME)
    assert (found.leakage, found.recall, found.greatest_recall, found.cluster) == (0.0, 0.0, 0.0, None)


def test_weights_or_labels_and_not_both() -> None:
    heavy = {"C": 4.0}
    expected = max(record_leakage(each, ALICE, heavy) for each in SHOP)
    assert leakage(SHOP, ALICE, weights=heavy) == leakage(SHOP, ALICE, labels=Labels.weighted(heavy)) == expected
    with pytest.raises(ArgumentError, match="both weights and labels"):
        leakage(SHOP, ALICE, weights=heavy, labels=Labels())


# ------------------------------------------------------------------------------------------------ section 3

PUBLISHED = [
    Record([("Zip", zip_code), ("Age", age), ("Disease", disease)])
    for zip_code, age, disease in [
        ("11*", "3*", "Heart"),
        ("11*", "3*", "Breast"),
        ("11*", "3*", "Cancer"),
        ("2**", "≥50", "Hair"),
        ("2**", "≥50", "Flu"),
        ("2**", "≥50", "Flu"),
    ]
]
BACKGROUND = Record([("Name", "Alice"), ("Zip", "111"), ("Age", "30")])
PATIENT = Reference([("Name", "Alice"), ("Zip", "111"), ("Age", "30"), ("Disease", "Heart")])
ZOE = Reference([("Name", "Zoe"), ("Zip", "241"), ("Age", "60"), ("Disease", "Flu")])
SAME_CLASS = Resolve(Rules([["Zip", "Age"]]))


def test_section_3_1_two_people_of_a_k_anonymous_table_leak_differently() -> None:
    joins = Adversary("classes", [SAME_CLASS])
    assert leakage(PUBLISHED, PATIENT, joins) == pytest.approx(2 / 3, abs=1e-12)
    assert leakage(PUBLISHED, ZOE, joins) == pytest.approx(3 / 4, abs=1e-12)


@pytest.mark.parametrize(
    ("zip_level", "age_level"),
    [(2, 1), (None, None), (lambda value: value[:2] + "*", lambda value: value[0] + "*")],
    ids=["characters", "as the table", "functions"],
)
def test_section_3_1_background_brought_to_the_level_of_the_table_raises_alice_to_four_fifths(
    zip_level: object, age_level: object
) -> None:
    steps = [Generalise("Zip", zip_level), Generalise("Age", age_level), SAME_CLASS]  # type: ignore[arg-type]
    found = exposure([*PUBLISHED, BACKGROUND], PATIENT, Adversary("generalises", steps))
    assert found.leakage == pytest.approx(4 / 5, abs=1e-12)
    assert found.cluster is not None
    assert found.cluster.members == (0, 1, 2, 6)
    # The paper's r'1: the zip code is 11*, and not 111 besides.
    assert facts(found.cluster.record) == {
        ("Name", "Alice"),
        ("Zip", "11*"),
        ("Age", "3*"),
        ("Disease", "Heart"),
        ("Disease", "Breast"),
        ("Disease", "Cancer"),
    }


def test_without_generalising_background_joins_no_class() -> None:
    found = Adversary("classes", [SAME_CLASS]).holdings([*PUBLISHED, BACKGROUND])
    assert [cluster.members for cluster in found.clusters] == [(0, 1, 2), (3, 4, 5), (6,)]


def test_section_3_2_an_adversary_who_knows_that_influenza_is_flu_learns_more() -> None:
    diverse = [*PUBLISHED[:5], Record([("Zip", "2**"), ("Age", "≥50"), ("Disease", "Influenza")])]
    knows = Labels({"Disease": Label(synonyms={"Influenza": "Flu"})})
    assert leakage(diverse, ZOE, Adversary("E", [SAME_CLASS])) == pytest.approx(2 / 3, abs=1e-12)
    # Whoever measures knows what is true; the adversary's record still says both, and one of them is of no use.
    assert leakage(diverse, ZOE, Adversary("E", [SAME_CLASS]), labels=knows) == pytest.approx(2 / 3, abs=1e-12)
    normalises = Adversary("E'", [Normalise(), SAME_CLASS])
    assert leakage(diverse, ZOE, normalises, labels=knows) == pytest.approx(3 / 4, abs=1e-12)
    corrects = Adversary("E'", [Correct("Disease", {"Influenza": "Flu"}), SAME_CLASS])
    assert leakage(diverse, ZOE, corrects) == pytest.approx(3 / 4, abs=1e-12)


def test_dilution_makes_the_class_with_one_disease_twice_leak_more() -> None:
    diluted = Adversary("diluted", [SAME_CLASS], merge="diluted")
    third = Fraction(1, 3)
    alice = by_worlds(
        {
            ("Zip", "111"): Fraction(1),
            ("Age", "30"): Fraction(1),
            ("Disease", "Heart"): third,
            ("Disease", "Breast"): third,
            ("Disease", "Cancer"): third,
        },
        set(PATIENT.facts),
    )
    zoe = by_worlds(
        {
            ("Zip", "241"): Fraction(1),
            ("Age", "60"): Fraction(1),
            ("Disease", "Flu"): 2 * third,
            ("Disease", "Hair"): third,
        },
        set(ZOE.facts),
    )
    assert leakage(PUBLISHED, PATIENT, diluted) == pytest.approx(float(alice), abs=1e-12)
    assert leakage(PUBLISHED, ZOE, diluted) == pytest.approx(float(zoe), abs=1e-12)
    assert zoe > alice


# ------------------------------------------------------------------------------------------------ section 4.1

CUSTOMER = Reference([("N", "n1"), ("C", "c1"), ("C", "c2"), ("P", "p1"), ("A", "a1")])
S, T = record(N="n1", C="c1", P="p1"), record(N="n1", C="c2")
U, V = record(N="n1", C="c1", P="p1"), record(N="n1", C="c2", P="p1")
STORE = Adversary("store", [Resolve(Rules([["N", "C"], ["N", "P"]]))])


def test_section_4_1_the_second_card_costs_five_thirty_sixths() -> None:
    assert leakage([S], CUSTOMER, STORE) == pytest.approx(3 / 4, abs=1e-12)
    assert leakage([T], CUSTOMER, STORE) == pytest.approx(4 / 7, abs=1e-12)
    before = leakage([S, T], CUSTOMER, STORE)
    assert before == pytest.approx(3 / 4, abs=1e-12)
    assert leakage([S, T, U], CUSTOMER, STORE) - before == pytest.approx(0.0, abs=1e-12)
    assert leakage([S, T, V], CUSTOMER, STORE) == pytest.approx(8 / 9, abs=1e-12)
    assert leakage([S, T, V], CUSTOMER, STORE) - before == pytest.approx(5 / 36, abs=1e-12)


def test_section_4_1_the_trace_says_why_the_second_card_joins_all() -> None:
    found = exposure([S, T, V], CUSTOMER, STORE)
    assert found.cluster is not None
    assert set(found.cluster.links) == {Link(0, 2, ("N", "P")), Link(1, 2, ("N", "C"))}


# ------------------------------------------------------------------------------------------------ steps


def test_normalising_decides_what_merges_and_falls_together_with_the_better_confidence() -> None:
    labels = Labels({"name": Label(normalise=str.casefold)})
    records = [Record([("name", "ALICE", 0.5), ("name", "Alice", 0.7)]), record(name="alice", card="9")]
    resolve = Resolve(Rules(["name"]))
    apart = Adversary("as it is", [resolve]).holdings(records, labels)
    assert len(apart.clusters) == 2
    (joined,) = Adversary("normalises", [Normalise(), resolve]).holdings(records, labels).clusters
    assert joined.record.confidences == {("name", "alice"): 1.0, ("card", "9"): 1.0}
    held = Normalise().apply(records, labels)
    assert held[0].confidences == {("name", "alice"): 0.7}


def test_normalising_can_be_kept_to_some_labels_and_leaves_suppressed_values() -> None:
    labels = Labels({"zip": Label(normalise=lambda value: value.strip("*")), "name": Label(normalise=str.casefold)})
    given = record(zip="11*", name="Ann")
    assert facts(Normalise().apply([given], labels)[0]) == {("zip", "11*"), ("name", "ann")}
    assert Normalise(("zip",)).apply([given], labels) == (given,)


def test_normalising_after_resolving_joins_nothing_more() -> None:
    labels = Labels({"name": Label(normalise=str.casefold)})
    late = Adversary("late", [Resolve(Rules(["name"])), Normalise()]).holdings(
        [record(name="A"), record(name="a")], labels
    )
    assert [facts(cluster.record) for cluster in late.clusters] == [{("name", "a")}, {("name", "a")}]


def test_an_augmented_value_is_as_certain_as_what_it_rests_on_times_the_table() -> None:
    step = Augment("address", "zip", {"1 Main": "111"}, confidence=0.8)
    (held,) = step.apply([Record([("address", "1 Main", 0.5), ("zip", "222", 0.9)])], Labels())
    assert held.confidences == {("address", "1 Main"): 0.5, ("zip", "111"): 0.4, ("zip", "222"): 0.9}
    (known,) = step.apply([Record([("address", "1 Main", 0.5), ("zip", "111", 0.9)])], Labels())
    assert known.confidences == {("address", "1 Main"): 0.5, ("zip", "111"): 0.9}


def test_a_table_is_found_by_values_in_normal_form_too_and_only_by_those() -> None:
    labels = Labels({"address": Label(normalise=str.casefold)})
    step = Augment("address", "zip", {"1 MAIN": "111"})
    found = step.apply([record(address="a"), Record([("address", "1 main")]), Record([("address", "1 Main")])], labels)
    assert [len(each) for each in found] == [1, 2, 1]
    (right,) = Correct("address", {"1 MIAN": "1 main"}).apply([Record([("address", "1 mian")])], labels)
    assert facts(right) == {("address", "1 main")}


def test_what_is_added_can_join_records() -> None:
    records = [record(address="main", ssn="1"), record(zip="111", name="Ann")]
    adversary = Adversary("E", [Augment("address", "zip", {"main": "111"}), Resolve(Rules(["zip"]))])
    (cluster,) = adversary.holdings(records).clusters
    assert cluster.sources["zip", "111"] == (0, 1)


def test_generalising_cuts_wild_cards_and_leaves_ranges() -> None:
    given = record(zip="1234 12** *** ≥50 [20-30) {12,13}")
    (held,) = Generalise("zip", 1).apply([given], Labels())
    assert facts(held) == {("zip", value) for value in ("1***", "***", "≥50", "[20-30)", "{12,13}")}


def test_the_narrowest_of_several_patterns_is_taken_and_what_none_covers_stays() -> None:
    records = [record(zip="1** 11* 2**"), record(zip="111"), record(zip="122"), record(zip="333")]
    held = Generalise("zip").apply(records, Labels())
    assert [facts(each) for each in held[1:]] == [{("zip", "11*")}, {("zip", "1**")}, {("zip", "333")}]


def test_clusters_are_brought_by_name_or_by_place() -> None:
    records = [Record([("N", "a")], name="x"), Record([("N", "b")], name="y"), Record([("N", "c")], name="z")]
    by_name = Adversary("truth", [Clusters({"x": 7, "z": 7, "elsewhere": 7})]).holdings(records)
    assert [cluster.members for cluster in by_name.clusters] == [(0, 2), (1,)]
    assert by_name.clusters[0].links == (Link(0, 2, ()),)
    by_place = Adversary("truth", [Clusters(["p", None, "p"])]).holdings(records)
    assert [cluster.members for cluster in by_place.clusters] == [(0, 2), (1,)]
    nobody = Adversary("truth", [Clusters([None, None, None])]).holdings(records)
    assert len(nobody.clusters) == 3
    with pytest.raises(ArgumentError, match="clusters for 1 records and 3 records"):
        Adversary("truth", [Clusters([1])]).holdings(records)


def test_a_second_resolution_starts_from_the_clusters_of_the_first() -> None:
    records = [record(P="p", N="n"), record(P="p", C="c"), record(N="n", C="c", X="x"), record(X="x")]
    first, second = Resolve(Rules(["P"])), Resolve(Rules([["N", "C"]]))
    (cluster, alone) = Adversary("twice", [first, second]).holdings(records).clusters
    assert (cluster.members, alone.members) == ((0, 1, 2), (3,))
    assert len(cluster.links) == 2
    assert cluster.links[0] == Link(0, 1, ("P",))
    (everything,) = Adversary("thrice", [first, second, Clusters([None, None, 1, 1])]).holdings(records).clusters
    assert everything.members == (0, 1, 2, 3)


def test_resolve_and_clusters_are_operators_by_themselves() -> None:
    (alice, _) = Resolve(Rules(["N"])).apply(SHOP, Labels())
    assert facts(alice) == {("N", "Alice"), ("P", "123"), ("C", "999")}
    (alice, _) = Clusters([1, 1, 2]).apply(SHOP, Labels())
    assert facts(alice) == {("N", "Alice"), ("P", "123"), ("C", "999")}


def test_the_closure_decides_whether_merged_records_are_matched_again() -> None:
    rules = Rules([["P"], ["N", "C"]])
    records = [record(N="n", P="p"), record(P="p", C="c"), record(N="n", C="c")]
    again = Adversary("swoosh", [Resolve(rules)])
    once = Adversary("components", [Resolve(rules, "components")])
    assert len(again.holdings(records).clusters) == 1
    assert len(once.holdings(records).clusters) == 2
    assert again.rules == rules
    assert once.rules is None


def test_what_if_rules_are_given_only_where_a_resolver_would_be_right() -> None:
    rules = Rules([["N", "C"]])
    assert Adversary("E", [Normalise(), Resolve(rules)]).rules == rules
    assert Adversary("E", [Resolve(Rules(["N"]), "components")]).rules == Rules(["N"])
    assert Adversary("E").rules is None
    assert Adversary("E", [Clusters({})]).rules is None
    assert Adversary("E", [Resolve(rules), Resolve(rules)]).rules is None
    assert Adversary("E", [Generalise("N"), Resolve(rules)]).rules is None
    assert Adversary("E", [Generalise("N", 1), Resolve(rules)]).rules == rules


def test_costs_of_the_adversary_and_of_all_steps_add_up() -> None:
    steps = [Normalise(cost=Cost(per_record=2)), Resolve(Rules(["N"]), cost=Cost(fixed=5, per_pair=1))]
    adversary = Adversary("E", steps, cost=Cost(fixed=100))
    assert adversary.cost_of(3) == adversary.holdings(SHOP).cost == 100 + 2 * 3 + 5 + 9


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: Cost(fixed=-1), "negative or not finite"),
        (lambda: Cost(per_pair=float("inf")), "negative or not finite"),
        (lambda: Augment("a", "b", {}, confidence=1.1), "the confidence of the table of 'b' is 1.1"),
        (lambda: Generalise("zip", -1), "the level of 'zip' is -1"),
        (lambda: Resolve(Rules(["N"]), "guess"), "no closure 'guess'"),
        (lambda: Adversary("E", merge="mean"), "no merge policy 'mean'"),
        (lambda: Adversary("E", ["normalise"]), "step 1 of adversary 'E' is not a step"),
    ],
)
def test_what_cannot_be_meant_is_refused(make: object, message: str) -> None:
    with pytest.raises(ArgumentError, match=message):
        make()  # type: ignore[operator]


def test_a_step_of_ones_own_may_not_lose_records() -> None:
    class Loses:
        cost = Cost()

        def apply(self, records: Sequence[Record], labels: Labels) -> tuple[Record, ...]:
            return tuple(records[:1])

    with pytest.raises(ArgumentError, match="a step of adversary 'E' made 1 records of 3"):
        Adversary("E", [Loses()]).holdings(SHOP)


def test_no_value_of_a_person_is_in_what_adversaries_print() -> None:
    steps = [Correct("N", {"Alcie": "Alice"}), Augment("N", "C", {"Alice": "999"}), Resolve(Rules(["N"]))]
    adversary = Adversary("E", [*steps, Clusters({"Alice": "999"})], keep_base=True)
    shown = repr(adversary) + repr(exposure(SHOP, ALICE, adversary)) + repr(adversary.holdings(SHOP))
    assert not any(value in shown for value in ("Alice", "Alcie", "999", "123"))


# ------------------------------------------------------------------------------------------------ dirty data

# The truth four times, three of them with a typing error; what is right about date and phone has most votes.
PERSON = Reference([("name", "ann"), ("dob", "1990"), ("phone", "555"), ("mail", "a@b")])
DIRTY = [
    record(name="ann", dob="1990"),
    record(name="ann", dob="1991", phone="555"),
    record(name="ann", dob="1990", phone="556"),
    record(name="ann", dob="1989", phone="555"),
]
ONE_VALUE = Labels({"dob": Label(single=True), "phone": Label(single=True)})
JOIN = (Resolve(Rules(["name"])),)


def test_on_dirty_data_union_falls_and_consensus_rises_as_counted_by_hand() -> None:
    base = leakage(DIRTY, PERSON, labels=ONE_VALUE)
    assert base == pytest.approx(2 / 3)
    # Three dates and two phones, one of each true: the expected number of right facts is 1 + 1/3 + 1/2 of 3.
    union = leakage(DIRTY, PERSON, Adversary("union", JOIN), labels=ONE_VALUE)
    assert union == pytest.approx(2 * (11 / 6) / 7)
    # By votes: 1 + 2/4 + 2/3.
    vote = leakage(DIRTY, PERSON, Adversary("vote", JOIN, merge="vote"), labels=ONE_VALUE)
    assert vote == pytest.approx(2 * (13 / 6) / 7)
    consensus = leakage(DIRTY, PERSON, Adversary("consensus", JOIN, merge="consensus"), labels=ONE_VALUE)
    assert consensus == pytest.approx(2 * 3 / 7)
    assert union < vote < base < consensus
    # The paper's own model, in which values of a label do not exclude one another, falls just so.
    assert leakage(DIRTY, PERSON, Adversary("union", JOIN)) == pytest.approx(2 * 3 / 10)


def test_who_keeps_the_originals_never_has_less_than_they_leak() -> None:
    records = [record(name="ann", dob="1990"), record(name="ann", phone="551"), record(name="ann", phone="552")]
    base = leakage(records, PERSON, labels=ONE_VALUE)
    consensus = Adversary("consensus", JOIN, merge="consensus")
    keeps = Adversary("keeps", JOIN, merge="consensus", keep_base=True)
    assert leakage(records, PERSON, consensus, labels=ONE_VALUE) < base
    found = exposure(records, PERSON, keeps, labels=ONE_VALUE)
    assert found.leakage == base
    assert found.cluster is not None
    assert found.cluster.members == (0,)
    assert len(found.holdings.clusters) == 1
    assert len(found.holdings.candidates) == 4


def test_a_record_that_is_a_cluster_as_it_is_is_not_kept_twice() -> None:
    holdings = Adversary("keeps", [Resolve(Rules(["N"]))], keep_base=True).holdings(SHOP)
    assert [cluster.members for cluster in holdings.candidates] == [(0, 1), (2,), (0,), (1,)]


def test_who_keeps_the_originals_keeps_them_as_they_were_before_a_wrong_correction() -> None:
    spoils = [Correct("dob", {"1990": "1991"})]
    truth = Reference([("dob", "1990")])
    assert leakage([record(dob="1990")], truth, Adversary("spoils", spoils)) == 0.0
    keeps = Adversary("keeps", spoils, keep_base=True)
    assert leakage([record(dob="1990")], truth, keeps) == 1.0
    _, _, kept = keeps.holdings([record(dob="1990"), record(dob="1980")]).candidates  # after the two clusters
    assert (facts(kept.record), kept.members) == ({("dob", "1990")}, (0,))


def test_among_equal_leakages_the_cluster_with_fewest_records_wins() -> None:
    records = [record(name="ann", id="1"), record(name="ann", id="1"), record(name="ann", mail="2")]
    truth = Reference([("name", "ann")])
    for order, winner in ((records, 2), (records[::-1], 0)):
        found = exposure(order, truth, Adversary("E", [Resolve(Rules(["id"]))]))
        assert found.cluster is not None
        assert found.cluster.members == (winner,)


def test_the_ladder_has_a_rung_for_each_adversary_in_their_order() -> None:
    rungs = ladder(
        iter(DIRTY),
        PERSON,
        [Adversary("none"), Adversary("consensus", JOIN, merge="consensus", cost=Cost(fixed=3))],
        labels=ONE_VALUE,
    )
    assert [(rung.adversary, rung.cost) for rung in rungs] == [("none", 0.0), ("consensus", 3.0)]
    assert [rung.leakage for rung in rungs] == pytest.approx([2 / 3, 6 / 7])


# ------------------------------------------------------------------------------------------------ what cannot fall


def drawn(seed: int) -> tuple[list[Record], Reference, list[list[str]]]:
    chance = random.Random(seed)
    reference = Reference([(label, str(chance.randrange(2))) for label in "NPCEA"])
    records = []
    for _ in range(chance.randint(1, 9)):
        held = {(chance.choice("NPCEA"), str(chance.randrange(3))) for _ in range(chance.randint(1, 4))}
        records.append(Record([(label, value, chance.choice([0.3, 0.8, 1.0])) for label, value in sorted(held)]))
    rules = [chance.sample("NPCE", chance.choice([1, 2, 2])) for _ in range(3)]
    return records, reference, rules


@settings(max_examples=many(75, 300))
@given(st.integers(0, 2**32))
def test_recall_never_falls_with_a_stronger_adversary_under_union(seed: int) -> None:
    records, reference, rules = drawn(seed)
    rungs = ladder(
        records,
        reference,
        [
            Adversary("none"),
            Adversary("components", [Resolve(Rules(rules[:1]), "components")]),
            Adversary("one rule", [Resolve(Rules(rules[:1]))]),
            Adversary("two rules, of the sure", [Resolve(Rules(rules[:2], 0.5)), Resolve(Rules(rules[:1]))]),
            Adversary("two rules", [Resolve(Rules(rules[:2]))]),
            Adversary("three rules", [Resolve(Rules(rules))]),
        ],
    )
    recalls = [rung.greatest_recall for rung in rungs]
    assert all(stronger >= weaker - 1e-12 for weaker, stronger in itertools.pairwise(recalls))
    assert all(rung.recall <= rung.greatest_recall for rung in rungs)


@settings(max_examples=many(50, 200))
@given(st.integers(0, 2**32), st.sampled_from(["union", "consensus", "vote", "diluted"]))
def test_leakage_never_falls_below_the_records_for_who_keeps_them(seed: int, policy: str) -> None:
    records, reference, rules = drawn(seed)
    labels = Labels({"A": Label(single=True), "C": Label(weight=3.0)})
    adversary = Adversary("keeps", [Resolve(Rules(rules))], merge=policy, keep_base=True)  # type: ignore[arg-type]
    assert leakage(records, reference, adversary, labels=labels) >= leakage(records, reference, labels=labels)


@settings(max_examples=many(50, 200))
@given(st.integers(0, 2**32), st.sampled_from(["union", "consensus", "vote", "diluted"]))
def test_exposure_is_the_largest_leakage_of_any_candidate_and_its_sources_are_true(seed: int, policy: str) -> None:
    records, reference, rules = drawn(seed)
    labels = Labels({"A": Label(single=True), "N": Label(similarity=lambda a, b: 0.5 + 0.5 * (a == b))})
    adversary = Adversary("E", [Resolve(Rules(rules))], merge=policy)  # type: ignore[arg-type]
    found = exposure(records, reference, adversary, labels=labels)
    each = [record_leakage(cluster.record, reference, labels=labels) for cluster in found.holdings.candidates]
    assert found.leakage == max(each) == leakage(records, reference, adversary, labels=labels)
    for cluster in found.holdings.clusters:
        for attribute in cluster.record:
            carriers = tuple(i for i in cluster.members if attribute.fact in records[i].confidences)
            assert cluster.sources[attribute.fact] == carriers != ()
    placed = sorted(i for cluster in found.holdings.clusters for i in cluster.members)
    assert placed == list(range(len(records)))


@settings(max_examples=many(25, 100))
@given(st.integers(0, 2**32))
def test_leakage_does_not_depend_on_the_order_of_records(seed: int) -> None:
    records, reference, rules = drawn(seed)
    adversary = Adversary("E", [Resolve(Rules(rules))])
    before = leakage(records, reference, adversary)
    random.Random(seed).shuffle(records)
    assert leakage(records, reference, adversary) == pytest.approx(before, rel=1e-12)


def test_a_value_that_covers_or_resembles_the_truth_is_not_overlooked() -> None:
    near = Labels({"name": Label(similarity=lambda held, true: 0.9 if held[0] == true[0] else 0.0)})
    assert leakage([record(name="Alise")], Reference([("name", "Alice")]), labels=near) == pytest.approx(0.9)
    assert leakage([record(zip="11*")], Reference([("zip", "111")])) == pytest.approx(1.0)
    same = Labels({"ill": Label(synonyms={"Influenza": "Flu"})})
    assert leakage([record(ill="Influenza")], Reference([("ill", "Flu")]), labels=same) == pytest.approx(1.0)


# ------------------------------------------------------------------------------------------------ the public face


def test_the_person_room_offers_what_its_pure_rooms_offer_and_loads_none_of_it_before() -> None:
    import tacit.person
    from tacit.person import model, plans, resolve

    pure = {*model.__all__, *resolve.__all__, *plans.__all__}
    assert pure <= set(tacit.person.__all__)
    assert all(getattr(tacit.person, name) is not None for name in tacit.person.__all__)
    code = "import sys, tacit.person; print('numpy' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout == "False\n"
