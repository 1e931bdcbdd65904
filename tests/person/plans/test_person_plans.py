"""Plans of a person: what a release adds, which to choose, what a query brings up, whom to ask for removal."""

from __future__ import annotations

import itertools
import math
import random

import pytest
from hypothesis import given, settings, strategies as st

from sizes import many
from tacit.errors import ArgumentError
from tacit.person import (
    Adversary,
    Augment,
    Clusters,
    Generalise,
    Label,
    Labels,
    Normalise,
    Offer,
    Record,
    Reference,
    Resolve,
    Rules,
    WhatIf,
    best_release,
    components,
    dip,
    incremental_leakage,
    merge,
    plan_removals,
    r_swoosh,
    record_leakage,
)

NAMES = ("N", "P", "C", "E")
LABELS = Labels({"N": Label(weight=2.0, single=True), "C": Label(single=True, synonyms={"2": "1"})})

ALICE = Reference([("N", "n1"), ("C", "c1"), ("C", "c2"), ("P", "p1"), ("A", "a1")])
SHOP = (Record([("N", "n1"), ("C", "c1"), ("P", "p1")]), Record([("N", "n1"), ("C", "c2")]))
SAME_CARD = Record([("N", "n1"), ("C", "c1"), ("P", "p1")])
OTHER_CARD = Record([("N", "n1"), ("C", "c2"), ("P", "p1")])
JOINS = Adversary("joins", [Resolve(Rules([["N", "C"], ["N", "P"]]))])


def a_record(rng, source=""):
    labels = rng.sample(NAMES, rng.randint(1, 4))
    return Record([(label, str(rng.randrange(3)), rng.choice([1, 0.5, 0.8])) for label in labels], source=source)


def a_person(rng):
    return Reference([(label, str(rng.randrange(3))) for label in NAMES])


def some_rules(rng):
    chosen = [rng.sample(NAMES, rng.choice([1, 2, 2, 3])) for _ in range(rng.choice([1, 2, 3]))]
    return Rules(chosen, rng.choice([0.0, 0.6]))


def an_adversary(rng, rules):
    steps = rng.choice(
        [
            [],
            [Resolve(rules)],
            [Resolve(rules)],
            [Resolve(rules, "components")],
            [Normalise(), Resolve(rules)],
            [Resolve(rules), Normalise()],
            [Augment("N", "C", {"1": "0"}, 0.5), Resolve(rules)],
            [Resolve(rules), Augment("P", "C", {"1": "0", "2": "1"}, 0.9)],
            [Generalise("P"), Resolve(rules)],
        ]
    )
    return Adversary("somebody", steps, rng.choice(["union", "consensus", "vote", "diluted"]), rng.random() < 0.4)


def slow_leakage(records, reference, adversary, labels=LABELS):
    """Everything from the beginning: the steps on all records, R-Swoosh as in the literature, the largest leakage."""
    seen, parts = list(records), [{place} for place in range(len(records))]
    for step in adversary.steps:
        if isinstance(step, Resolve):
            parts = (r_swoosh if step.closure == "swoosh" else components)(seen, step.rules)
        else:
            seen = list(step.apply(seen, labels))
    held = [merge([seen[place] for place in sorted(part)], adversary.merge, labels) for part in parts]
    held += records if adversary.keep_base else ()
    return max((record_leakage(record, reference, labels=labels) for record in held), default=0.0)


@st.composite
def cases(draw, most=7):
    """Random records, a person and an adversary; and a source of more of the kind."""
    rng = random.Random(draw(st.integers(0, 2**32)))
    records = [a_record(rng, source=rng.choice("abcde")) for _ in range(rng.randint(0, most))]
    return records, a_person(rng), an_adversary(rng, some_rules(rng)), rng


# ------------------------------------------------------------------------------------------------ what if


@settings(max_examples=many(30, 120), deadline=None)
@given(cases())
def test_every_what_if_is_what_starting_anew_would_give(case):
    records, person, adversary, rng = case
    held, now = WhatIf(records, person, adversary, LABELS), list(records)
    for _ in range(8):
        kind = rng.choice(["add", "add", "undo", "with", "without", "without"])
        if kind == "add":
            now.append(a_record(rng))
            assert held.add(now[-1]) == pytest.approx(slow_leakage(now, person, adversary), abs=1e-12)
        elif kind == "undo" and len(now) > len(records):
            held.undo()
            now.pop()
        elif kind == "with":
            more = [a_record(rng) for _ in range(rng.randint(1, 3))]
            expected = slow_leakage([*now, *more], person, adversary)
            assert held.with_records(more) == pytest.approx(expected, abs=1e-12)
        else:
            gone = {place for place in range(len(now)) if rng.random() < 0.4}
            left = [record for place, record in enumerate(now) if place not in gone]
            assert held.without(gone) == pytest.approx(slow_leakage(left, person, adversary), abs=1e-12)
        assert held.leakage == pytest.approx(slow_leakage(now, person, adversary), abs=1e-12)
        assert list(held.records) == now


def test_what_if_finds_what_only_merged_records_match():
    """N,P and P,C together match N,C; taking the one between them away parts them again."""
    records = [Record([("N", "1"), ("P", "1")]), Record([("P", "1"), ("C", "1")])]
    third = Record([("N", "1"), ("C", "1"), ("E", "1")])
    person = Reference([("N", "1"), ("P", "1"), ("C", "1"), ("E", "1")])
    adversary = Adversary("joins", [Resolve(Rules([["P"], ["N", "C"]]))])
    held = WhatIf(records, person, adversary)
    assert held.add(third) == pytest.approx(1.0)
    assert held.without([1]) == pytest.approx(2 * 3 / 7)
    assert held.without([0, 1, 2]) == 0.0


def test_what_is_left_of_a_cluster_is_matched_again_as_merged_records():
    """Without the last record N,P and P,C share P, and only merged they match N,C."""
    facts = [("N", "1"), ("P", "1"), ("C", "1"), ("E", "1")]
    records = [Record([facts[i], facts[j]]) for i, j in [(0, 1), (1, 2)]]
    records += [Record([facts[0], facts[2], facts[3]]), Record([facts[1], ("Z", "9")])]
    held = WhatIf(records, Reference(facts), Adversary("joins", [Resolve(Rules([["P"], ["N", "C"]]))]))
    assert held.leakage == pytest.approx(2 * 4 / 9)
    assert held.without([3]) == pytest.approx(1.0)


def test_clusters_by_place_stay_with_their_records():
    person = Reference([("N", "1"), ("P", "1"), ("C", "1")])
    records = [Record([("E", "9")]), Record([("N", "1")]), Record([("P", "1")]), Record([("C", "1")])]
    held = WhatIf(records, person, Adversary("bought", [Clusters(["x", "a", "a", "b"])]))
    assert held.leakage == pytest.approx(2 * 2 / 5)
    assert held.without([0]) == pytest.approx(2 * 2 / 5)
    assert held.without([2]) == pytest.approx(2 * 1 / 4)
    assert held.with_record(Record([("C", "1"), ("N", "1"), ("P", "1")])) == pytest.approx(1.0)
    assert held.dip(Record([("N", "1")])).members == (4,)


def test_a_function_can_be_the_adversary():
    held = WhatIf(SHOP, ALICE, lambda records: [merge(records)])
    assert held.leakage == pytest.approx(8 / 9)
    assert held.without([0]) == pytest.approx(4 / 7)
    with pytest.raises(ArgumentError, match="does not say what merged"):
        held.dip(SHOP[0])


def test_nothing_to_undo_no_such_place_and_no_reference_are_said():
    for adversary in (JOINS, Adversary("bought", [Clusters(["a", "a"])])):
        held = WhatIf(SHOP, ALICE, adversary)
        with pytest.raises(ArgumentError, match="nothing to undo"):
            held.undo()
        with pytest.raises(ArgumentError, match="places run from 0 to 1"):
            held.without([2])
    with pytest.raises(ArgumentError, match="no reference"):
        _ = WhatIf(SHOP, None, JOINS).leakage


# ------------------------------------------------------------------------------------------------ releases


def test_the_papers_purchase_with_either_card():
    """§4.1: 3/4 before; the same card adds nothing, the other one lets all three records merge and adds 5/36."""
    held = WhatIf(SHOP, ALICE, JOINS)
    assert held.leakage == pytest.approx(3 / 4)
    assert incremental_leakage(SHOP, ALICE, JOINS, SAME_CARD) == pytest.approx(0.0, abs=1e-13)
    assert incremental_leakage(held, None, None, OTHER_CARD) == pytest.approx(5 / 36)
    best = best_release(SHOP, ALICE, JOINS, [[OTHER_CARD, SAME_CARD]])
    assert (best.choices, best.searched, best.plans) == ((1,), "exact", 2)
    assert (best.before, best.after, best.worst) == pytest.approx((3 / 4, 3 / 4, 8 / 9))
    assert [option.added for option in best.options] == pytest.approx([5 / 36, 0.0], abs=1e-12)


@settings(max_examples=many(37, 150), deadline=None)
@given(cases())
def test_incremental_leakage_is_a_difference_of_two_leakages(case):
    records, person, adversary, rng = case
    release = a_record(rng)
    expected = slow_leakage([*records, release], person, adversary) - slow_leakage(records, person, adversary)
    assert incremental_leakage(records, person, adversary, release, LABELS) == pytest.approx(expected, abs=1e-12)


@settings(max_examples=many(25, 100), deadline=None)
@given(cases())
def test_releasing_again_what_merges_with_its_twin_changes_nothing_under_union(case):
    records, person, _, rng = case
    adversary = Adversary("joins", [Resolve(some_rules(rng))])
    rules = adversary.rules
    assert rules is not None
    for record in records:
        if any(True for _ in rules.keys(record)):
            assert incremental_leakage(records, person, adversary, record, LABELS) == pytest.approx(0.0, abs=1e-12)


@settings(max_examples=many(15, 60), deadline=None)
@given(cases(most=5))
def test_the_best_release_is_the_best_of_all_plans(case):
    records, person, adversary, rng = case
    slots = [[a_record(rng) for _ in range(rng.randint(1, 3))] for _ in range(rng.randint(0, 3))]
    plans = {
        choices: slow_leakage([*records, *(slots[i][c] for i, c in enumerate(choices))], person, adversary)
        for choices in itertools.product(*(range(len(slot)) for slot in slots))
    }
    found = best_release(records, person, adversary, slots, LABELS)
    least = min(plans.values())
    assert found.searched == "exact"
    assert found.plans == len(plans)
    assert found.before == pytest.approx(slow_leakage(records, person, adversary), abs=1e-12)
    assert (found.after, found.worst) == pytest.approx((least, max(plans.values())), abs=1e-11)
    best = [choices for choices, after in plans.items() if after <= least + 1e-11]
    assert found.choices == min(best, key=lambda choices: sum(len(slots[i][c]) for i, c in enumerate(choices)))
    for option in found.options:
        alone = slow_leakage([*records, slots[option.slot][option.option]], person, adversary)
        assert option.alone == pytest.approx(alone, abs=1e-12)
        assert option.added == pytest.approx(alone - found.before, abs=1e-12)


@settings(max_examples=many(15, 60), deadline=None)
@given(cases(most=5))
def test_the_heuristic_says_so_and_tells_the_leakage_of_what_it_chose(case):
    records, person, adversary, rng = case
    slots = [[a_record(rng) for _ in range(2)] for _ in range(rng.randint(1, 4))]
    exact = best_release(records, person, adversary, slots, LABELS)
    quick = best_release(records, person, adversary, slots, LABELS, limit=1)
    chosen = [slots[place][option] for place, option in enumerate(quick.choices)]
    assert quick.searched == "heuristic"
    assert quick.after == pytest.approx(slow_leakage([*records, *chosen], person, adversary), abs=1e-11)
    assert quick.after >= exact.after - 1e-11
    assert quick.worst <= exact.worst + 1e-11
    if len(slots) <= 2:
        assert quick.after == pytest.approx(exact.after, abs=1e-11), "two slots are changed together"


def test_the_heuristic_is_seldom_wrong():
    rng = random.Random(8)
    missed = 0
    for _ in range(many(20, 60)):
        records = [a_record(rng) for _ in range(4)]
        person, adversary = a_person(rng), Adversary("joins", [Resolve(some_rules(rng))])
        slots = [[a_record(rng) for _ in range(3)] for _ in range(5)]
        exact = best_release(records, person, adversary, slots, LABELS)
        missed += best_release(records, person, adversary, slots, LABELS, limit=1).after > exact.after + 1e-9
    assert missed <= 1


def test_a_release_without_an_option_is_refused():
    with pytest.raises(ArgumentError, match="release 2 has no option"):
        best_release(SHOP, ALICE, JOINS, [[SAME_CARD], []])


# ------------------------------------------------------------------------------------------------ dipping


def test_the_papers_dip_for_a_name():
    """§2.4: everybody of the same name is one; the query "Alice" brings up her telephone and her card."""
    records = [
        Record([("N", "Alice"), ("P", "123")]),
        Record([("N", "Alice"), ("C", "999")]),
        Record([("N", "Bob"), ("P", "987")]),
    ]
    person = Reference([("N", "Alice"), ("P", "123"), ("C", "999"), ("Z", "111")])
    by_name = Adversary("by name", [Resolve(Rules([["N"]]))])
    found = dip(records, by_name, Record([("N", "Alice")]), reference=person)
    assert set(found.record.confidences) == {("N", "Alice"), ("P", "123"), ("C", "999")}
    assert found.members == (0, 1)
    assert found.leakage == pytest.approx(6 / 7)
    assert found.links
    assert {frozenset((link.left, link.right)) for link in found.links} <= {
        frozenset(p) for p in [(0, 1), (0, 3), (1, 3)]
    }
    assert all(link.labels == ("N",) for link in found.links)
    assert dip(records, by_name, Record([("N", "Carol")])).members == ()
    assert dip(records, by_name, Record([("N", "Carol")])).leakage is None


def test_a_dip_finds_what_two_records_match_only_together():
    records = [Record([("N", "1"), ("P", "1")]), Record([("P", "1"), ("C", "1")])]
    adversary = Adversary("joins", [Resolve(Rules([["P"], ["N", "C"]]))])
    assert dip(records, adversary, Record([("N", "1"), ("C", "1")])).members == (0, 1)


@settings(max_examples=many(37, 150), deadline=None)
@given(cases())
def test_dipping_with_a_record_that_is_there_brings_up_its_cluster(case):
    records, _, _, rng = case
    rules = some_rules(rng)
    adversary = Adversary("joins", [Resolve(rules)])
    for cluster in adversary.holdings(records, LABELS).clusters:
        for member in cluster.members:
            found = dip(records, adversary, records[member], LABELS)
            if any(True for _ in rules.keys(records[member])):
                assert found.members == cluster.members
                assert found.record.confidences == cluster.record.confidences
            else:
                assert found.members == ()


@settings(max_examples=many(37, 150), deadline=None)
@given(cases())
def test_a_dip_is_the_record_of_the_whole_set_that_holds_the_query(case):
    records, person, adversary, rng = case
    query = a_record(rng)
    held = adversary.holdings([*records, query], LABELS)
    (cluster,) = (cluster for cluster in held.clusters if len(records) in cluster.members)
    found = dip(records, adversary, query, LABELS, person)
    assert found.members == cluster.members[:-1]
    assert found.record.confidences == pytest.approx(cluster.record.confidences)
    assert len(found.links) == len(cluster.links)
    assert found.leakage == pytest.approx(record_leakage(cluster.record, person, labels=LABELS), abs=1e-12)
    assert dip(WhatIf(records, person, adversary, LABELS), None, query).leakage == found.leakage


# ------------------------------------------------------------------------------------------------ removals


def slow_expectation(records, person, adversary, offers, asked):
    total = 0.0
    for did in itertools.product((True, False), repeat=len(asked)):
        gone = {source for source, yes in zip(asked, did, strict=True) if yes}
        chance = math.prod(offers[s].success if s in gone else 1 - offers[s].success for s in asked)
        total += chance * slow_leakage([r for r in records if r.source not in gone], person, adversary)
    return total


@settings(max_examples=many(15, 60), deadline=None)
@given(cases())
def test_the_removal_plan_is_the_best_of_all_plans_within_the_limits(case):
    records, person, adversary, rng = case
    offers = {s: Offer(rng.choice([0.0, 1.0, 2.0, 3.5]), rng.choice([0.0, 0.3, 0.8, 1.0])) for s in "abcdz"}
    budget, at_most = rng.choice([None, 2.0, 4.0]), rng.choice([None, 1, 2])
    plan = plan_removals(records, person, adversary, LABELS, offers=offers, budget=budget, at_most=at_most)
    there = sorted({record.source for record in records} & set(offers))
    allowed = [
        asked
        for size in range(len(there) + 1)
        for asked in itertools.combinations(there, size)
        if (at_most is None or size <= at_most) and (budget is None or sum(offers[s].cost for s in asked) <= budget)
    ]
    values = {asked: slow_expectation(records, person, adversary, offers, asked) for asked in allowed}
    least = min(values.values())
    chosen = tuple(request.source for request in plan.requests)
    assert (plan.searched, plan.expectation) == ("exact", "exact")
    assert tuple(sorted(chosen)) in values
    assert plan.expected == pytest.approx(least, abs=1e-11)
    assert plan.expected == pytest.approx(values[tuple(sorted(chosen))], abs=1e-11)
    assert plan.cost == pytest.approx(sum(offers[s].cost for s in chosen))
    assert plan.cost <= min(sum(offers[s].cost for s in a) for a, v in values.items() if v <= least + 1e-11) + 1e-12
    assert plan.before == pytest.approx(values[()], abs=1e-12)
    for size, request in enumerate(plan.requests, start=1):
        earlier = chosen[:size]
        assert request.expected == pytest.approx(values[tuple(sorted(earlier))], abs=1e-11)
        left = [record for record in records if record.source not in earlier]
        assert request.if_removed == pytest.approx(slow_leakage(left, person, adversary), abs=1e-12)
        assert request.records == sum(record.source == request.source for record in records)


@settings(max_examples=many(25, 100), deadline=None)
@given(cases())
def test_a_sources_contribution_is_what_leaving_it_out_takes_away(case):
    records, person, adversary, _ = case
    found = plan_removals(records, person, adversary, LABELS, at_most=0).sources
    before = slow_leakage(records, person, adversary)
    assert {source.source for source in found} == {record.source for record in records}
    assert [s.contribution for s in found] == sorted((s.contribution for s in found), reverse=True)
    for source in found:
        left = [record for record in records if record.source != source.source]
        assert source.leakage_without == pytest.approx(slow_leakage(left, person, adversary), abs=1e-12)
        assert source.contribution == pytest.approx(before - source.leakage_without, abs=1e-12)
        assert source.records == len(records) - len(left)


def test_nobody_is_asked_to_remove_the_junk_that_protects():
    """Under union a wrong record lowers the leakage; taking it away would raise it, and the plan says so."""
    person = Reference([("N", "1"), ("P", "1")])
    records = [
        Record([("N", "1"), ("P", "1")], source="true"),
        Record([("N", "1"), ("C", "8"), ("E", "9")], source="junk"),
    ]
    adversary = Adversary("joins", [Resolve(Rules([["N"]]))])
    offers = {"junk": Offer()}
    plan = plan_removals(records, person, adversary, offers=offers)
    assert plan.requests == ()
    assert plan.expected == plan.before == pytest.approx(2 / 3)
    assert plan.sources[-1].source == "junk"
    assert plan.sources[-1].contribution == pytest.approx(2 / 3 - 1)
    keeps = Adversary("keeps", adversary.steps, keep_base=True)
    assert plan_removals(records, person, keeps).sources[-1].contribution == pytest.approx(0.0, abs=1e-12)


def test_the_cheaper_of_two_removals_that_do_the_same_is_asked_for():
    records = [Record([("E", "1"), ("N", "1")], source="dear"), Record([("E", "1"), ("P", "1")], source="cheap")]
    person = Reference([("E", "1"), ("N", "1"), ("P", "1")])
    offers = {"dear": Offer(3.0), "cheap": Offer(1.0)}
    plan = plan_removals(records, person, Adversary("joins", [Resolve(Rules([["E"]]))]), offers=offers, at_most=1)
    assert [request.source for request in plan.requests] == ["cheap"]
    assert plan.expected == pytest.approx(4 / 5)


def test_a_free_request_that_takes_nothing_by_itself_is_not_the_first():
    twin, other = [("N", "1"), ("P", "1"), ("C", "1")], [("N", "1"), ("E", "1")]
    records = [Record(twin, source="free"), Record(twin, source="twin"), Record(other, source="other")]
    offers = {"free": Offer(0.0, 0.3), "twin": Offer(2.0, 0.8), "other": Offer(1.0, 0.8)}
    person = Reference([*twin, ("E", "1"), ("A", "1"), ("B", "1")])
    plan = plan_removals(records, person, Adversary("joins", [Resolve(Rules([["N"]]))]), offers=offers)
    assert {request.source for request in plan.requests} == set(offers)
    assert plan.requests[0].source == "other"


def twins(n):
    """Two sources hold the same facts, so that removing one of them alone is worth nothing; others hold little."""
    full = [("N", "1"), ("P", "1"), ("C", "1")]
    small = [Record([("N", "1")], source=f"s{i}") for i in range(n)]
    return [Record(full, source="left"), Record(full, source="right"), *small], Reference([*full, ("E", "1")])


def test_two_holders_of_the_same_facts_are_asked_together_even_greedily(monkeypatch):
    records, person = twins(3)
    adversary = Adversary("looks")
    monkeypatch.setattr("tacit.person.plans.removals.MOST_PLANS", 0)
    plan = plan_removals(records, person, adversary, at_most=2)
    assert plan.searched == "heuristic"
    assert {request.source for request in plan.requests} == {"left", "right"}
    assert plan.expected == pytest.approx(2 / 5)


@settings(max_examples=many(13, 40), deadline=None)
@given(cases())
def test_a_greedy_removal_plan_stays_within_its_limits_and_is_measured_truly(case):
    records, person, adversary, rng = case
    offers = {s: Offer(rng.choice([0.0, 1.0, 2.0]), rng.choice([0.3, 0.8, 1.0])) for s in "abcde"}
    exact = plan_removals(records, person, adversary, LABELS, offers=offers, budget=3.0, at_most=3)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("tacit.person.plans.removals.MOST_PLANS", 0)
        quick = plan_removals(records, person, adversary, LABELS, offers=offers, budget=3.0, at_most=3)
    assert (quick.searched, quick.expectation) == ("heuristic", "exact")
    assert quick.cost <= 3.0
    assert len(quick.requests) <= 3
    asked = [request.source for request in quick.requests]
    assert quick.expected == pytest.approx(slow_expectation(records, person, adversary, offers, asked), abs=1e-11)
    assert exact.expected - 1e-11 <= quick.expected <= quick.before + 1e-11


def test_with_many_uncertain_requests_the_expectation_is_near_and_says_that_it_is_not_exact(monkeypatch):
    facts = [("N", "1"), *((f"l{i}", "1") for i in range(10))]
    records = [Record([facts[0], fact], source=fact[0]) for fact in facts[1:]]
    adversary = Adversary("joins", [Resolve(Rules([["N"]]))])
    offers = {f"l{i}": Offer(1.0, 0.15 + 0.08 * i) for i in range(10)}
    monkeypatch.setattr("tacit.person.plans.removals.MOST_PLANS", 0)
    rough = plan_removals(records, Reference(facts), adversary, offers=offers)
    monkeypatch.setattr("tacit.person.plans.removals.MOST_UNCERTAIN", 10)
    exact = plan_removals(records, Reference(facts), adversary, offers=offers)
    assert (rough.searched, rough.expectation) == ("heuristic", "approximate")
    assert (exact.searched, exact.expectation) == ("heuristic", "exact")
    assert len(rough.requests) == len(exact.requests) == 10
    assert rough.expected == pytest.approx(exact.expected, abs=0.005)
    assert rough.expected != exact.expected


def test_what_has_no_source_cannot_be_asked_for():
    records = [Record([("N", "1"), ("P", "1")], source="shop"), Record([("N", "1")])]
    plan = plan_removals(records, Reference([("N", "1"), ("P", "1")]), None)
    assert [request.source for request in plan.requests] == ["shop"]
    assert [source.source for source in plan.sources] == ["shop"]


def test_bad_removals_are_refused():
    with pytest.raises(ArgumentError, match="costs -1"):
        Offer(cost=-1.0)
    with pytest.raises(ArgumentError, match=r"probability 1\.2"):
        Offer(success=1.2)
    with pytest.raises(ArgumentError, match="budget"):
        plan_removals(SHOP, ALICE, budget=math.nan)
    with pytest.raises(ArgumentError, match="at most -1"):
        plan_removals(SHOP, ALICE, at_most=-1)


def test_among_releases_that_leak_as_little_the_one_that_gives_out_least_is_chosen() -> None:
    reference = Reference([("name", "a"), ("card", "1")])
    known = [Record([("name", "a"), ("card", "1")])]
    all_of_it, nothing = Record([("name", "a"), ("card", "1")]), Record([])
    found = best_release(known, reference, None, [[all_of_it, nothing], [nothing, all_of_it]])
    assert (found.choices, found.after) == ((1, 0), 1.0)


def test_a_release_is_a_list_of_options() -> None:
    with pytest.raises(ArgumentError, match="release 1 is one record: give a list"):
        best_release([], Reference([("name", "a")]), None, [Record([("name", "a")])])  # type: ignore[list-item]
