"""Decoys: the searches against every plan there is, the records against brute force, the promises of a plan."""

from __future__ import annotations

import itertools
from collections.abc import Iterable
from dataclasses import replace

import decoys as bench
import numpy as np
import pytest

from sizes import few, many
from tacit.errors import ArgumentError, DataError
from tacit.person import (
    Adversary,
    Clusters,
    Correct,
    Correlated,
    DecoyPlan,
    Label,
    Labels,
    Normalise,
    Record,
    Reference,
    Resolve,
    Resolver,
    Rules,
    compare,
    leakage,
    plan_decoys,
    record_leakage,
)
from tacit.person.plans.decoys import planner as planning
from tacit.person.plans.decoys.allowance import Allowance
from tacit.person.plans.decoys.board import Board, DecoyGroup
from tacit.person.plans.decoys.create import Create
from tacit.person.plans.decoys.knapsack import by_partition
from tacit.person.plans.decoys.search import exact, greedy

KINDS = {"certain": {"certain": True}, "confidences": {}, "shared": {"shared": True}}
RULES = Rules([["name", "card"], ["name", "phone"], ["email"]])
WEIGHTS = {"name": 1.0, "card": 3.0, "phone": 2.0, "email": 2.0, "address": 1.0, "zip": 1.0}
LABELS = Labels.weighted(WEIGHTS)
ALL = list(WEIGHTS)
TRUTH = Reference([(label, "true") for label in ALL])
JOINS = Adversary("joins", [Resolve(RULES)])
NOBODY = Adversary("nobody")


def _people(rng: np.random.Generator, size: int, *, disjoint: bool) -> list[Record]:
    """Records of the person and of strangers; ``disjoint``: no value is shared by clusters but the person's own."""
    made = []
    while len(made) < size:
        number = len(made)
        who = "true" if rng.random() < 0.35 else f"of {number if disjoint else rng.integers(size // 2)}"
        attributes = []
        for label in ALL:
            if rng.random() < 0.5:
                typo = rng.random() < 0.1
                value = f"typo {number} {label}" if typo else who
                attributes.append((label, value, float(rng.choice([0.5, 0.8, 1.0]))))
        if attributes:
            made.append(Record(attributes))
    return made


def _plan(records: list[Record], *adversaries: Adversary, **options: object) -> DecoyPlan:
    settings: dict[str, object] = {"budget": 6.0, "allowed": ALL, **options}
    return plan_decoys(records, TRUTH, adversaries or (JOINS,), LABELS, **settings)  # type: ignore[arg-type]


# ------------------------------------------------------------------------------------------------ the searches


def _best_of_all(instance: bench.Instance) -> float:
    """The worst leakage that the best plan leaves: every grouping, every number of bogus attributes for each group."""
    reference = Reference([(label, "true") for label in bench.LABELS])

    def left(members: frozenset[int], adds: int) -> float:
        held = [(label, value, p) for (label, value), p in instance.joined(members).items()]
        held += [("bogus", f"{n}", 1.0) for n in range(adds)]
        return record_leakage(Record(held), reference, {**instance.weights, "bogus": instance.lane.weight})

    clusters = range(len(instance.clusters))
    best = max(left(frozenset((c,)), 0) for c in clusters)
    for names in itertools.product(clusters, repeat=len(instance.clusters)):
        groups = [frozenset(c for c in clusters if names[c] == name) for name in set(names)]
        links = [sum(instance.costs[c] for c in group) for group in groups]
        for adds in itertools.product(range(int(instance.budget) + 1), repeat=len(groups)):
            decoyed = [n > 0 or len(group) > 1 for group, n in zip(groups, adds, strict=True)]
            cost = sum(link + n for link, n, pays in zip(links, adds, decoyed, strict=True) if pays)
            if cost <= instance.budget:
                best = min(best, max(left(group, n) for group, n in zip(groups, adds, strict=True)))
    return best


@pytest.mark.parametrize("kind", KINDS)
def test_the_exact_search_finds_what_trying_every_plan_finds(kind: str) -> None:
    rng = np.random.default_rng(3)
    for _ in range(4):
        instance = replace(bench.random_instance(rng, 3, **KINDS[kind]), budget=4.0)
        assert exact(instance.board(), instance.budget).worst == pytest.approx(_best_of_all(instance), rel=1e-9)


@pytest.mark.parametrize("kind", KINDS)
def test_the_fast_searches_never_beat_the_exact_one_and_stay_near_it(kind: str) -> None:
    rng = np.random.default_rng(7)
    gaps: dict[str, list[float]] = {"greedy": [], "partition": [], "better": []}
    for _ in range(many(30, 60)):
        instance = bench.random_instance(rng, **KINDS[kind])
        best = exact(instance.board(), instance.budget)
        assert best.cost <= instance.budget
        found = [search(instance.board(), instance.budget) for search in (greedy, by_partition)]
        for name, plan in zip(gaps, found, strict=False):
            assert plan.cost <= instance.budget
            assert plan.worst >= best.worst - 1e-12
            gaps[name].append(plan.worst / best.worst - 1 if best.worst else 0.0)
        gaps["better"].append(min(gaps["greedy"][-1], gaps["partition"][-1]))
    # As measured on 150 instances of each kind, with room.
    assert np.mean(gaps["greedy"]) < 0.01
    assert max(gaps["greedy"]) < 0.25
    assert np.mean(gaps["partition"]) < 0.005
    assert max(gaps["partition"]) < 0.10
    assert np.mean(np.array(gaps["better"]) < 1e-9) > 0.9


def test_the_leakage_on_the_board_is_the_leakage_of_the_joined_record() -> None:
    rng = np.random.default_rng(11)
    reference = Reference([(label, "true") for label in bench.LABELS])
    for _ in range(20):
        instance = bench.random_instance(rng, shared=True)
        members = frozenset(int(c) for c in rng.choice(6, size=3, replace=False))
        held = [(label, value, p) for (label, value), p in instance.joined(members).items()]
        held += [("bogus", f"{n}", 1.0) for n in range(2)]
        wanted = record_leakage(Record(held), reference, {**instance.weights, "bogus": instance.lane.weight})
        assert instance.board().leakage(DecoyGroup(members, (2,))) == pytest.approx(wanted, rel=1e-11)


def test_more_bogus_attributes_of_one_kind_have_diminishing_returns() -> None:
    rng = np.random.default_rng(5)
    for _ in range(30):
        instance = bench.random_instance(rng)
        lane = replace(instance.lane, confidence=float(rng.uniform(0.1, 1.0)))
        board = replace(instance, lane=lane).board()
        group = frozenset((board.hot or (0,))[:1])
        logs = np.log(np.maximum([board.leakage(DecoyGroup(group, (n,))) for n in range(9)], 1e-300))
        if logs[0] > -50:
            assert (np.diff(logs) < 0).all()
            assert (np.diff(logs, 2) >= -1e-12).all()  # log-convex: each takes a smaller share of what is left


def test_what_linking_takes_off_the_leakage_is_submodular() -> None:
    rng = np.random.default_rng(6)
    checked = 0
    for _ in range(30):
        board = bench.random_instance(rng).board()
        if not board.hot or len(board.cold) < 3:
            continue
        hot, (first, second, last) = board.hot[0], board.cold[:3]

        def left(*members: int, board: Board = board) -> float:
            return board.leakage(DecoyGroup(frozenset(members), board.no_adds))

        for some in ((hot,), (hot, second)):
            gain, later = left(*some) - left(*some, last), left(*some, first) - left(*some, first, last)
            assert gain >= later - 1e-12
            assert later >= -1e-12
            checked += 1
    assert checked > 20


def test_no_search_spends_where_nothing_of_the_person_is_held() -> None:
    instance = bench.Instance(({("name", "of 0"): 1.0},), {"name": 1.0}, (1.0,), 5.0, bench.lane())
    for search in (exact, greedy, by_partition):
        assert search(instance.board(), 5.0).groups == ()


# ------------------------------------------------------------------------------------------------ the records


def _create(rules: Rules = RULES, allowed: list[str] = ALL, costs: dict[str, float] | None = None) -> Create:
    return Create(rules, Allowance(TRUTH, LABELS, allowed, 1.0, costs or {}))


def _cheapest_by_force(create: Create, clusters: list[Record]) -> tuple[float, float] | None:
    """Cost and true weight of the best record that matches all, of all records made of what the clusters hold."""
    facts = sorted({fact for cluster in clusters for fact in cluster.confidences if create.allowance.usable(fact)})
    best = None
    for size in range(len(facts) + 1):
        for chosen in itertools.combinations(facts, size):
            keys = set(create.rules.keys(dict.fromkeys(chosen, 1.0)))
            if all(keys & set(create.rules.keys(cluster)) for cluster in clusters):
                true = sum(WEIGHTS[label] for label, value in chosen if value == "true")
                price = create.cost(chosen), true
                best = price if best is None else min(best, price)
    return best


@pytest.mark.parametrize("costs", [{}, {"name": 0.5, "email": 2.5}])
@pytest.mark.parametrize("allowed", [ALL, ["name", "phone"]])
def test_create_makes_the_cheapest_record_that_matches_every_cluster(
    costs: dict[str, float], allowed: list[str]
) -> None:
    rng = np.random.default_rng(2)
    create = _create(allowed=allowed, costs=costs)
    made_some = 0
    for _ in range(60):
        clusters = []
        for _ in range(int(rng.integers(1, 4))):
            held = {(str(label), f"{rng.choice(['true', 'a', 'b'])}") for label in rng.choice(ALL[:4], size=4)}
            clusters.append(Record([(*fact, 1.0) for fact in sorted(held)]))
        made = create([[cluster.confidences] for cluster in clusters])
        best = _cheapest_by_force(create, clusters)
        if best is None:
            assert made == {}
            continue
        made_some += 1
        true = sum(WEIGHTS[label] for label, value in made if value == "true")
        assert (create.cost(made), true) == pytest.approx(best)
        keys = set(RULES.keys(made))
        assert all(keys & set(RULES.keys(cluster)) for cluster in clusters)
    assert made_some > 10


def test_create_prefers_a_wrong_value_and_copies_the_lowest_confidence() -> None:
    first = {("email", "true"): 0.9, ("email", "wrong"): 0.4}
    assert _create()([[first]]) == {("email", "wrong"): 0.4}
    assert _create(allowed=["hobby"])([[first]]) == {("email", "true"): 0.9}  # a wrong one would be false
    assert _create()([[{("email", "x"): 0.9}], [{("email", "x"): 0.3}]]) == {("email", "x"): 0.3}


def test_create_links_only_through_values_that_count_in_matching() -> None:
    strict = Rules([["email"]], min_confidence=0.5)
    assert _create(strict)([[{("email", "doubtful"): 0.4, ("email", "true"): 0.6}]]) == {("email", "true"): 0.6}
    assert _create(strict)([[{("email", "doubtful"): 0.4}]]) == {}


# ------------------------------------------------------------------------------------------------ the paper's figure 2


def _figure_2() -> list[Record]:
    """r and s are the person's; t, u and v are not, and v has much to say."""
    person = [[("email", "r"), ("name", "true"), ("card", "true")], [("zip", "true")]]
    others = [[("email", "t")], [("email", "u"), ("zip", "u")], [("email", "v"), *((f"v{n}", "x") for n in range(9))]]
    return [Record(attributes, name=name) for name, attributes in zip("rstuv", person + others, strict=True)]


def test_self_disinformation_snaps_to_the_right_record_and_adds_to_it() -> None:
    plan = _plan(_figure_2()[:2], budget=3.0)
    (decoy,) = plan.decoys
    assert decoy.kind == "self"
    assert [attribute.fact for attribute in decoy.links] == [("email", "r")]
    assert [attribute.fact for attribute in decoy.adds] == [("card", "decoy-1"), ("card", "decoy-2")]
    # I = 1 + 3 stays, W_r = 2 + 1 + 3 grows by two cards, W_e = 10.
    assert plan.before["joins"] == pytest.approx(2 * 4 / (6 + 10))
    assert plan.after["joins"] == pytest.approx(2 * 4 / (6 + 6 + 10))
    assert plan.recommended


def test_linkage_disinformation_joins_an_irrelevant_record_to_the_right_one() -> None:
    plan = _plan(_figure_2(), budget=2.0)
    (decoy,) = plan.decoys
    assert decoy.kind == "linkage"
    assert {attribute.fact for attribute in decoy.links} == {("email", "r"), ("email", "v")}
    assert decoy.adds == ()
    assert plan.after["joins"] == pytest.approx(2 * 4 / (6 + 2 + 9 + 10))
    assert plan.cost == len(decoy.record) == 2


# ------------------------------------------------------------------------------------------------ the plan


@pytest.mark.parametrize("method", few(["auto", "greedy", "partition"]))
def test_what_was_predicted_is_measured_where_clusters_share_no_values(method: str) -> None:
    rng = np.random.default_rng(1)
    lowered = 0
    for _ in range(many(25, 40)):
        # Only one record of the person: its true values are in no other cluster.
        records = _people(rng, 10, disjoint=True)
        person = next((r for r in records if any(a.value == "true" for a in r)), None)
        records = [r for r in records if r is person or all(a.value != "true" for a in r)]
        plan = _plan(records, method=method)
        assert plan.after["joins"] == pytest.approx(plan.predicted["joins"], abs=1e-12)
        lowered += plan.recommended
    assert lowered > many(8, 15)


def test_the_leakage_is_what_resolving_all_records_anew_gives_and_surprises_are_told() -> None:
    rng = np.random.default_rng(4)
    keeps = Adversary("keeps", [Resolve(RULES)], keep_base=True)
    parts = Adversary("parts", [Resolve(RULES, closure="components")])
    ladder = (NOBODY, JOINS, keeps, parts)
    surprised = 0
    for _ in range(many(6, 15)):
        records = _people(rng, 12, disjoint=False)
        plan = _plan(records, *ladder)
        for adversary in ladder:
            assert plan.before[adversary.name] == leakage(records, TRUTH, adversary, labels=LABELS)
            anew = leakage([*records, *plan.records], TRUTH, adversary, labels=LABELS)
            assert plan.after[adversary.name] == pytest.approx(anew, abs=1e-12)
        assert plan.cost <= plan.budget
        assert plan.recommended == (
            bool(plan.decoys)
            and max(plan.after.values()) < max(plan.before.values()) - 1e-9
            and all(plan.after[a.name] <= plan.before[a.name] + 1e-9 for a in ladder)
        )
        off = abs(plan.after[plan.adversary] - plan.predicted[plan.adversary]) > 1e-9
        assert off == any("was expected" in reason for reason in plan.reasons)
        surprised += off
    assert surprised < many(4, 10)


def test_a_decoy_that_matches_a_third_cluster_is_found_out() -> None:
    # The decoy that joins the first two repeats name a, card 1, name b and phone 2; with name a and phone 2 it is taken
    # for the third as well, which nobody meant to join.
    first = Record([("name", "a"), ("card", "1"), ("zip", "true"), ("address", "true"), ("phone", "true")])
    second = Record([("name", "b"), ("phone", "2"), *((f"hobby {n}", "x") for n in range(9))])
    third = Record([("name", "a"), ("phone", "2"), ("card", "true")])
    plan = _plan([first, second, third], budget=4.0, method="exact", bogus={})
    assert plan.before["joins"] == pytest.approx(2 * 4 / (8 + 10))
    assert plan.predicted["joins"] == pytest.approx(2 * 3 / (6 + 10))
    assert plan.after["joins"] == pytest.approx(2 * 7 / (23 + 10))
    assert plan.recommended  # it is lower, if not as low as expected
    assert any("0.375 was expected and 0.424 measured" in reason for reason in plan.reasons)


def test_the_budget_is_never_exceeded_whatever_attributes_cost() -> None:
    rng = np.random.default_rng(8)
    for _ in range(many(8, 25)):
        costs = {label: float(rng.uniform(0.2, 3.0)) for label in ALL}
        budget = float(rng.uniform(0.5, 8.0))
        for method in ("auto", "greedy", "partition"):
            plan = _plan(_people(rng, 8, disjoint=False), budget=budget, costs=costs, method=method)
            spent = sum(costs[attribute.label] for record in plan.records for attribute in record)
            assert plan.cost == pytest.approx(spent)
            assert spent <= budget * (1 + 1e-9)


def test_a_decoy_says_nothing_false_of_labels_that_are_not_allowed() -> None:
    rng = np.random.default_rng(9)
    said = 0
    for _ in range(25):
        allowed = [str(label) for label in rng.choice(ALL, size=2, replace=False)]
        plan = _plan(_people(rng, 10, disjoint=False), allowed=allowed)
        for record in plan.records:
            for attribute in record:
                assert attribute.label in allowed or attribute.value == "true"
                said += attribute.label not in allowed
    assert said > 0


def test_nothing_true_is_said_with_more_confidence_than_the_adversary_had() -> None:
    rng = np.random.default_rng(10)
    repeated = 0
    for _ in range(40):
        records = _people(rng, 10, disjoint=False)
        plan = _plan(records, allowed=["hobby"])
        held: dict[tuple[str, str], float] = {}
        for attribute in itertools.chain.from_iterable(records):
            held[attribute.fact] = max(attribute.confidence, held.get(attribute.fact, 0.0))
        for record in plan.records:
            for attribute in record:
                if attribute.value == "true":
                    assert attribute.confidence <= held[attribute.fact]
                    repeated += 1
    assert repeated > 0


def test_a_bogus_value_of_a_single_valued_label_is_weighed_against_the_right_one() -> None:
    labels = Labels({"email": Label(single=True, weight=4.0), "zip": Label(weight=1.0)})
    truth = Reference([("name", "true"), ("email", "true"), ("zip", "true")])
    records = [Record([("name", "true"), ("email", "true")])]
    rules = Adversary("joins", [Resolve(Rules([["name"]]))])
    plan = plan_decoys(records, truth, [rules], labels, budget=2, allowed=["email"])
    (decoy,) = plan.decoys
    assert [a.label for a in decoy.adds] == ["email"]
    # Either e-mail is true with probability 1/2; W is 1 + 4 whichever.
    assert plan.after["joins"] == pytest.approx(0.5 * 2 * 5 / (5 + 6) + 0.5 * 2 * 1 / (5 + 6))
    assert plan.predicted["joins"] == pytest.approx(plan.after["joins"])


def test_correlated_labels_near_values_and_synonyms_are_predicted_exactly() -> None:
    labels = Labels(
        {"phone": Label(similarity=lambda held, true: 0.5 if held[0] == true[0] else 0.0), "zip": Label(single=True)},
        correlated=[Correlated(("phone", "address"), 2.0)],
    )
    records = [
        Record([("email", "x"), ("phone", "t1", 0.7), ("address", "true", 0.6), ("zip", "true", 0.9)]),
        Record([("email", "y"), ("phone", "t2", 0.8), ("zip", "z"), ("hobby", "h")]),
        Record([("email", "z"), ("address", "z"), ("hobby", "i")]),
    ]
    rules = Adversary("joins", [Resolve(Rules([["email"]]))])
    for allowed in (["email", "zip"], ["email", "phone"], ["email"]):
        plan = plan_decoys(records, TRUTH, [rules], labels, budget=4, allowed=allowed)
        assert plan.decoys
        assert plan.predicted["joins"] == pytest.approx(plan.after["joins"], rel=1e-12)
        assert plan.after["joins"] < plan.before["joins"]


def test_under_a_consensus_adversary_the_plan_says_that_it_does_not_work() -> None:
    labels = Labels({label: Label(weight=weight, single=label != "email") for label, weight in WEIGHTS.items()})
    records = [Record([("email", "true"), ("name", "true"), ("phone", "true")]) for _ in range(3)]
    votes = Adversary("votes", [Resolve(RULES)], merge="consensus")
    for ladder in ([votes], [JOINS, votes]):
        plan = plan_decoys(records, TRUTH, ladder, labels, budget=4, allowed=["name", "phone"])
        assert plan.decoys
        assert plan.after["votes"] == pytest.approx(plan.before["votes"])
        assert not plan.recommended
        assert plan.reasons[0].startswith("not recommended: the worst leakage under any adversary")
        assert any("does not work under 'votes', which merges by consensus" in reason for reason in plan.reasons)
    assert plan.adversary == "joins"
    assert plan.after["joins"] < plan.before["joins"]


def test_where_no_source_says_anything_false_values_stand_even_under_consensus() -> None:
    labels = Labels({label: Label(weight=weight, single=label != "email") for label, weight in WEIGHTS.items()})
    records = [Record([("email", "true"), ("name", "true"), ("phone", "true")]) for _ in range(3)]
    votes = Adversary("votes", [Resolve(RULES)], merge="consensus")
    plan = plan_decoys(records, TRUTH, [votes], labels, budget=2, allowed=["card"])
    assert plan.after["votes"] == pytest.approx(plan.predicted["votes"]) == pytest.approx(2 * 5 / (5 + 3 + 10))
    assert plan.recommended


def test_an_adversary_that_keeps_base_records_is_not_fooled() -> None:
    keeps = Adversary("keeps", [Resolve(RULES)], keep_base=True)
    plan = _plan(_figure_2(), keeps)
    assert plan.after == plan.before
    assert not plan.recommended
    assert any("keeps the base records" in reason for reason in plan.reasons)
    # What the records tell only together can still be spoiled, down to what one of them tells alone.
    apart = [Record([("email", "e"), ("name", "true")]), Record([("email", "e"), ("card", "true")])]
    plan = _plan(apart, keeps, budget=9.0)
    assert plan.recommended
    assert plan.after["keeps"] == pytest.approx(leakage(apart, TRUTH, labels=LABELS))


@pytest.mark.parametrize("beta", [0.5, 2.0])
def test_other_weights_of_recall_are_predicted_and_measured_too(beta: float) -> None:
    plan = _plan(_figure_2(), budget=4.0, beta=beta)
    everything = [*_figure_2(), *plan.records]
    worst = max(record_leakage(c.record, TRUTH, labels=LABELS, beta=beta) for c in JOINS.holdings(everything).clusters)
    assert plan.after["joins"] == pytest.approx(plan.predicted["joins"]) == pytest.approx(worst)
    assert plan.recommended


def test_a_plan_that_raises_the_leakage_elsewhere_is_not_recommended() -> None:
    # The e-mail address is false and may not be repeated, so that the decoy has to say the true name beside the true
    # card: no record said both, and whoever reads records one by one now can.
    rules = Adversary("joins", [Resolve(Rules([["email"], ["name", "card"]]))])
    records = [Record([("email", "e"), ("name", "true")]), Record([("email", "e"), ("card", "true")])]
    plan = plan_decoys(records, TRUTH, [NOBODY, rules], LABELS, budget=3, allowed=["hobby"])
    assert plan.after["joins"] == pytest.approx(2 * 4 / (7 + 10))
    assert plan.before["nobody"] == pytest.approx(2 * 3 / (5 + 10))
    assert plan.after["nobody"] == pytest.approx(2 * 4 / (5 + 10))
    assert not plan.recommended
    assert any("under 'nobody' the leakage rises from 0.400 to 0.533" in reason for reason in plan.reasons)


def test_clusters_brought_from_elsewhere_are_measured_and_do_not_know_the_decoys() -> None:
    brought = Adversary("brought", [Clusters([0, 0, 1, 2, 3])])
    plan = _plan(_figure_2(), brought, JOINS)
    assert plan.adversary == "joins"
    assert plan.after["brought"] == plan.before["brought"]
    assert any("brought from elsewhere" in reason for reason in plan.reasons)


def test_decoys_match_in_the_form_in_which_the_adversary_reads_values() -> None:
    labels = Labels({**{label: LABELS[label] for label in LABELS}, "email": Label(weight=2.0, normalise=str.casefold)})
    reads = Adversary("reads", [Normalise(), Correct("zip", {"111": "112"}), Resolve(Rules([["email"]]))])
    records = [Record([("email", "TRUE"), ("zip", "true")]), Record([("email", "True"), ("card", "true")])]
    plan = plan_decoys(records, TRUTH, [reads], labels, budget=4, allowed=["card"])
    assert plan.recommended
    assert plan.after["reads"] == pytest.approx(plan.predicted["reads"])


def test_for_base_components_the_link_lies_within_one_base_record() -> None:
    # Merged, the first two hold name and card; but only base records are matched, and neither holds both.
    rules = Rules([["email"], ["name", "card"]])
    records = [Record([("email", "e"), ("name", "n")]), Record([("email", "e"), ("card", "true")])]
    parts = Adversary("parts", [Resolve(rules, closure="components")])
    plan = plan_decoys(records, TRUTH, [parts], LABELS, budget=3, allowed=["name", "card", "email"], costs={"email": 2})
    assert [a.label for a in plan.decoys[0].links] == ["email"]
    assert plan.after["parts"] == pytest.approx(plan.predicted["parts"])


def test_clusters_left_out_of_a_large_search_cost_little(monkeypatch: pytest.MonkeyPatch) -> None:
    rng = np.random.default_rng(12)
    records = [Record([("name", "true"), ("card", "true"), ("zip", "1", 0.5)]), Record([("email", "true")])]
    for number in range(150):
        labels = rng.choice(ALL, size=int(rng.integers(1, 6)), replace=False)
        records.append(Record([(str(label), f"of {number}", float(rng.random())) for label in labels]))
    whole = _plan(records, budget=12.0)
    monkeypatch.setattr(planning, "MOST_COLD", 40)
    part = _plan(records, budget=12.0)
    assert part.after["joins"] == pytest.approx(whole.after["joins"], rel=0.02)
    monkeypatch.setattr(planning, "MOST_HOT", 1)
    assert _plan(records, budget=12.0).after["joins"] >= whole.after["joins"] - 1e-12


# ------------------------------------------------------------------------------------------------ false values


def test_given_false_values_are_used_once_each_and_the_heaviest_first() -> None:
    bogus = {"card": ["4000", "5000"], "zip": ["z1", "z2", "z3"]}
    plan = _plan([Record([("email", "true"), ("name", "true")])], allowed=["card", "zip"], bogus=bogus, budget=5.0)
    adds = [attribute.fact for decoy in plan.decoys for attribute in decoy.adds]
    assert len(set(adds)) == len(adds)
    assert {fact for fact in adds if fact[0] == "card"} == {("card", "4000"), ("card", "5000")}
    assert len(adds) == 4


def test_false_values_from_a_function_are_never_true_held_or_repeated() -> None:
    values = itertools.cycle(["true", "held", "a", "a", "b", "c"])
    records = [Record([("email", "true"), ("card", "held")])]
    plan = _plan(records, allowed=["card"], bogus=lambda _: next(values), budget=4.0)
    adds = [attribute.value for decoy in plan.decoys for attribute in decoy.adds]
    assert sorted(adds) == ["a", "b", "c"]


def test_placeholders_that_a_label_reads_as_one_value_are_used_once() -> None:
    labels = Labels({"card": Label(weight=3.0, normalise=lambda value: value.split("-")[0])})
    records = [Record([("email", "true")])]
    plan = plan_decoys(records, TRUTH, [JOINS], labels, budget=4, allowed=["card"])
    assert [a.fact for a in plan.decoys[0].adds] == [("card", "decoy-1")]


def test_every_decoy_differs_in_all_it_adds() -> None:
    records = [Record([("email", "true"), ("zip", "true")]), Record([("name", "true"), ("card", "true")])]
    plan = _plan(records, allowed=["address"], budget=9.0)
    adds = [attribute.value for decoy in plan.decoys for attribute in decoy.adds]
    assert len(plan.decoys) == 2
    assert len(set(adds)) == len(adds) > 1
    assert all(
        compare(r, TRUTH, LABELS).kinds.count("wrong") == len(d.adds)
        for d, r in zip(plan.decoys, plan.records, strict=True)
    )


# ------------------------------------------------------------------------------------------------ refusals


def test_nothing_can_be_planned_without_an_adversary_that_resolves_by_rules() -> None:
    with pytest.raises(ArgumentError, match="no adversary resolves records by rules"):
        _plan(_figure_2(), NOBODY, Adversary("brought", [Clusters([0, 0, 1, 2, 3])]))


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"budget": 0.0}, "the budget is 0"),
        ({"budget": float("nan")}, "the budget is nan"),
        ({"allowed": []}, "no label may carry false values"),
        ({"allowed": "name"}, "list in 'allowed'"),
        ({"costs": {"name": 0.0}}, "the cost of 'name' is 0"),
        ({"confidence": 0.0}, "the confidence of false values is 0"),
        ({"method": "clever"}, "no method 'clever'"),
        ({"beta": 0.0}, "beta is 0"),
        ({"bogus": {"card": ["1"]}, "allowed": ["zip"]}, "'card', which may not carry any"),
        ({"bogus": {"card": "1"}}, "the false values of 'card' are one text"),
        ({"bogus": {"card": ["1", "true"]}}, "false value 2 of 'card' is true of the person"),
    ],
)
def test_what_cannot_be_used_is_refused(options: dict[str, object], message: str) -> None:
    with pytest.raises(ArgumentError, match=message):
        _plan(_figure_2(), **options)


def test_without_records_or_with_one_name_for_two_adversaries_there_is_no_plan() -> None:
    with pytest.raises(DataError, match="no records"):
        _plan([])
    with pytest.raises(ArgumentError, match="the same name"):
        _plan(_figure_2(), JOINS, JOINS)


def test_exact_refuses_more_clusters_than_it_can_group() -> None:
    records = [Record([("email", "true")]), *(Record([("email", f"{n}")]) for n in range(9))]
    with pytest.raises(ArgumentError, match="every grouping of 10 clusters"):
        _plan(records, method="exact")


def test_a_budget_that_buys_no_link_gives_no_decoy_and_says_so() -> None:
    plan = _plan([Record([("name", "true"), ("card", "true")])], budget=2.0)
    assert plan.decoys == ()
    assert plan.after == plan.before
    assert not plan.recommended
    (reason,) = plan.reasons
    assert reason.startswith("not recommended: no decoy within the budget lowers the leakage under 'joins'")


def test_no_value_of_the_person_is_in_what_a_plan_prints() -> None:
    records = [Record([("email", "alice@example.org"), ("name", "Alice")])]
    alice = Reference([("email", "alice@example.org"), ("name", "Alice"), ("zip", "111")])
    plan = plan_decoys(records, alice, [JOINS], budget=4, allowed=["zip"])
    assert plan.decoys
    assert "alice" not in repr(plan).lower()
    assert "alice" not in " ".join(plan.reasons).lower()


def test_planning_resolves_the_records_once_for_each_adversary(monkeypatch: pytest.MonkeyPatch) -> None:
    records = [Record([("name", "a"), ("card", f"c{i}"), ("phone", "p")]) for i in range(5)]
    truth = Reference([("name", "a"), ("card", "c1"), ("phone", "p")])
    rules = [Rules([["name", "card"], ["phone"]]), Rules(["name"]), Rules([["name", "phone"]])]
    adversaries = [Adversary(f"E{i}", [Resolve(each)]) for i, each in enumerate(rules)]
    sizes: list[int] = []
    whole = Resolver.of.__func__  # type: ignore[attr-defined]

    def counted(cls: type[Resolver], given: Iterable[Record], by: Rules) -> Resolver:
        listed = list(given)
        sizes.append(len(listed))
        return whole(cls, listed, by)

    monkeypatch.setattr(Resolver, "of", classmethod(counted))
    plan_decoys(records, truth, adversaries, budget=3.0, allowed=["card"])
    assert sizes.count(len(records)) == len(adversaries)
