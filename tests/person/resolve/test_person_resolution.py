"""Resolution: the fast ways against R-Swoosh as it stands in the literature, the laws of matching and merging, undo."""

from __future__ import annotations

import copy
import itertools
import random
from collections.abc import Sequence

import pytest
from hypothesis import given, settings, strategies as st

from sizes import many
from tacit.errors import ArgumentError
from tacit.person import Label, Labels, Link, Record, Resolver, Rules, components, fix_point, groups, merge, r_swoosh
from tacit.person.resolve.grouping import forest, matches

LETTERS = "NPCE"
CONFIDENCES = (0.0, 0.3, 0.5, 0.6, *[1.0] * 8)


def record(**values: str) -> Record:
    """A record of certain facts; several values of a label are separated by spaces."""
    return Record([(label, value) for label, given in values.items() for value in given.split()])


def drawn_record(chance: random.Random, values: int = 3) -> Record:
    facts = {(chance.choice(LETTERS), str(chance.randrange(values))) for _ in range(chance.choice([0, 1, 2, 3, 4, 5]))}
    return Record([(label, value, chance.choice(CONFIDENCES)) for label, value in sorted(facts)])


def drawn_rules(chance: random.Random) -> Rules:
    alternatives = [
        chance.sample(LETTERS, chance.choice([1, 2, 2, 3])) for _ in range(chance.choice([0, 1, 2, 2, 3, 3]))
    ]
    return Rules(alternatives, min_confidence=chance.choice([0.0, 0.0, 0.0, 0.5]))


def drawn_database(chance: random.Random) -> tuple[list[Record], Rules]:
    return [drawn_record(chance) for _ in range(chance.randint(0, 12))], drawn_rules(chance)


def agree_by_definition(a: Record, b: Record, rules: Rules) -> bool:
    """For some alternative, every label has a value both hold with enough confidence."""
    least = rules.min_confidence
    return any(
        all(
            any(
                one.fact == other.fact and min(one.confidence, other.confidence) >= max(least, 1e-300)
                for one in a
                for other in b
                if one.label == label
            )
            for label in labels
        )
        for labels in rules.alternatives
    )


def naive_components(records: Sequence[Record], rules: Rules) -> list[frozenset[int]]:
    clusters = [{place} for place in range(len(records))]
    for i, j in itertools.combinations(range(len(records)), 2):
        if agree_by_definition(records[i], records[j], rules):
            left = next(cluster for cluster in clusters if i in cluster)
            right = next(cluster for cluster in clusters if j in cluster)
            if left is not right:
                left |= right
                clusters.remove(right)
    return sorted(map(frozenset, clusters), key=min)


def state(resolver: Resolver) -> dict[str, object]:
    """Everything the resolver knows, but how to undo."""
    return copy.deepcopy({name: value for name, value in vars(resolver).items() if name not in ("_log", "absorbed")})


def union(a: Record, b: Record) -> Record:
    return merge([a, b])


def clusters_of(resolver: Resolver) -> list[frozenset[int]]:
    return sorted((frozenset(cluster.members) for cluster in resolver.clusters.values()), key=min)


@st.composite
def databases(draw: st.DrawFn) -> tuple[list[Record], Rules]:
    return drawn_database(random.Random(draw(st.integers(0, 2**32))))


# ------------------------------------------------------------------------------------------------ rules


def test_a_label_alone_may_stand_without_its_list() -> None:
    rules = Rules([["name", "card"], "email"])
    assert rules.alternatives == (("name", "card"), ("email",))
    assert rules.labels == ("name", "card", "email")
    assert not rules.single_labels_only
    assert Rules(["email", ["card"]]).single_labels_only


def test_the_same_alternative_twice_is_once() -> None:
    assert Rules([["a", "b"], ["b", "a"]]).alternatives == (("a", "b"),)


@pytest.mark.parametrize(
    ("alternatives", "least", "message"),
    [
        ([[]], 0.0, "rule 1 names no label"),
        ([["a"], [""]], 0.0, "rule 2 names no label"),
        ([["a", "a"]], 0.0, "names a label twice"),
        ([["a"]], 1.5, "1.5: it lies in"),
        ([["a"]], float("nan"), "nan: it lies in"),
    ],
)
def test_rules_that_cannot_be_meant_are_refused(alternatives: list[list[str]], least: float, message: str) -> None:
    with pytest.raises(ArgumentError, match=message):
        Rules(alternatives, least)


@given(databases())
def test_records_match_as_defined_and_exactly_if_they_share_a_key(database: tuple[list[Record], Rules]) -> None:
    records, rules = database
    for a, b in itertools.product(records, repeat=2):
        expected = agree_by_definition(a, b, rules)
        assert matches(a, b, rules) == expected
        assert bool(set(rules.keys(a)) & set(rules.keys(b))) == expected


def test_a_value_held_with_no_confidence_matches_nothing() -> None:
    a = Record([("email", "x", 0.0)])
    assert not matches(a, record(email="x"), Rules(["email"]))


# ------------------------------------------------------------------------------------------------ laws of merging


@given(st.integers(0, 2**32))
def test_union_is_idempotent_commutative_and_associative(seed: int) -> None:
    chance = random.Random(seed)
    a, b, c = (drawn_record(chance) for _ in range(3))
    assert union(a, a).confidences == a.confidences
    assert union(a, b).confidences == union(b, a).confidences
    assert union(union(a, b), c).confidences == union(a, union(b, c)).confidences


@given(st.integers(0, 2**32))
def test_a_merged_record_matches_whatever_its_parts_matched(seed: int) -> None:
    chance = random.Random(seed)
    a, b, c = (drawn_record(chance) for _ in range(3))
    rules = drawn_rules(chance)
    if matches(a, c, rules) or matches(b, c, rules):
        assert matches(union(a, b), c, rules)


@given(st.integers(0, 2**32))
def test_a_record_matches_itself_if_it_matches_anything(seed: int) -> None:
    chance = random.Random(seed)
    a, b = drawn_record(chance), drawn_record(chance)
    rules = drawn_rules(chance)
    if matches(a, b, rules):
        assert matches(a, a, rules)
        assert matches(b, a, rules)


# ------------------------------------------------------------------------------------------------ clusters


def test_four_ways_to_resolve_agree_on_thousands_of_random_databases_in_any_order() -> None:
    chance = random.Random(6)
    merged_again = 0
    for _ in range(many(1000, 4000)):
        records, rules = drawn_database(chance)
        slow = r_swoosh(records, rules)
        assert fix_point(records, rules) == slow
        order = chance.sample(range(len(records)), len(records))
        shuffled = r_swoosh([records[place] for place in order], rules)
        assert sorted((frozenset(order[i] for i in cluster) for cluster in shuffled), key=min) == slow
        # A limit of 0 or 3 keys sends clusters down the way of wide ones.
        resolver = Resolver(rules, wide=chance.choice([0, 3, 256]))
        for place in order:
            resolver.add(records[place], place)
        assert clusters_of(resolver) == slow
        base = components(records, rules)
        assert base == naive_components(records, rules)
        merged_again += base != slow
    assert merged_again > many(8, 30)


def test_the_merged_record_is_the_union_of_the_members() -> None:
    chance = random.Random(7)
    for _ in range(500):
        records, rules = drawn_database(chance)
        resolver = Resolver.of(records, rules)
        for cluster in resolver.clusters.values():
            merged = Record([])
            for member in cluster.members:
                merged = union(merged, records[member])
            assert cluster.facts == merged.confidences


def test_a_merged_record_may_match_what_no_part_matches() -> None:
    rules = Rules([["P"], ["N", "C"]])
    records = [record(N="n", P="p"), record(P="p", C="c"), record(N="n", C="c")]
    assert components(records, rules) == [{0, 1}, {2}]
    assert fix_point(records, rules) == r_swoosh(records, rules) == [{0, 1, 2}]


def test_rules_of_single_labels_need_no_second_look() -> None:
    chance = random.Random(8)
    for _ in range(500):
        records, _ = drawn_database(chance)
        rules = Rules(chance.sample(LETTERS, 2), chance.choice([0.0, 0.5]))
        assert components(records, rules) == r_swoosh(records, rules)


def test_a_suppressed_value_matches_its_like_and_nothing_it_covers() -> None:
    records = [record(zip="11*"), record(zip="111"), record(zip="112"), record(zip="11*")]
    assert fix_point(records, Rules(["zip"])) == [{0, 3}, {1}, {2}]


def test_no_rules_join_nothing() -> None:
    assert fix_point([record(N="a"), record(N="a")], Rules([])) == [{0}, {1}]


def test_an_unknown_closure_is_refused() -> None:
    with pytest.raises(ArgumentError, match="no closure 'guess'"):
        groups([], Rules(["N"]), "guess")  # type: ignore[arg-type]


# ------------------------------------------------------------------------------------------------ links


def sides(members: tuple[int, ...], links: Sequence[Link], cut: Link) -> tuple[set[int], set[int]]:
    """The two parts of a tree of links when one is cut."""
    left = {cut.left}
    for _ in members:
        for link in links:
            if link is not cut and left & {link.left, link.right}:
                left |= {link.left, link.right}
    return left, set(members) - left


@pytest.mark.parametrize("closure", ["swoosh", "components"])
def test_links_are_a_tree_and_across_each_the_two_sides_agree_on_its_labels(closure: str) -> None:
    chance = random.Random(9)
    seen = 0
    for _ in range(1000):
        records, rules = drawn_database(chance)
        for members, links in groups(records, rules, closure):  # type: ignore[arg-type]
            assert len(links) == len(members) - 1
            for link in links:
                assert link.labels in rules.alternatives
                left, right = sides(members, links, link)
                assert link.right in right
                if closure == "components":
                    left, right = {link.left}, {link.right}
                a, b = Record([]), Record([])
                for place in left:
                    a = union(a, records[place])
                for place in right:
                    b = union(b, records[place])
                assert matches(a, b, Rules([link.labels], rules.min_confidence))
                seen += 1
    assert seen > 500


def test_a_link_names_the_records_that_carry_what_agreed() -> None:
    rules = Rules([["P"], ["N", "C"]])
    records = [record(N="n", P="p"), record(P="p", C="c x"), record(N="n", C="c")]
    (group,) = groups(records, rules)
    assert group.links == (Link(0, 1, ("P",)), Link(0, 2, ("N", "C")))


def test_a_forest_drops_links_between_records_that_are_together_already() -> None:
    found = forest(4, [Link(0, 2, ("a",)), Link(2, 3, ()), Link(0, 3, ("b",))])
    assert [group.members for group in found] == [(0, 2, 3), (1,)]
    assert found[0].links == (Link(0, 2, ("a",)), Link(2, 3, ()))


# ------------------------------------------------------------------------------------------------ the resolver


def test_undo_restores_exactly_what_was_there() -> None:
    chance = random.Random(10)
    for _ in range(many(200, 700)):
        records, rules = drawn_database(chance)
        resolver = Resolver(rules, wide=chance.choice([0, 3, 256]))
        history = []
        for place, each in enumerate(records):
            if chance.random() < 0.3:
                before = state(resolver)
                resolver.peek(drawn_record(chance))
                assert state(resolver) == before
            history.append(state(resolver))
            resolver.add(each, place)
        for before in reversed(history):
            resolver.undo()
            assert state(resolver) == before


def test_a_peek_shows_what_adding_would_give() -> None:
    chance = random.Random(11)
    for _ in range(500):
        records, rules = drawn_database(chance)
        resolver = Resolver.of(records, rules)
        query = drawn_record(chance)
        seen = resolver.peek(query, len(records))
        after = Resolver.of([*records, query], rules)
        (cluster,) = (cluster for cluster in after.clusters.values() if len(records) in cluster.members)
        assert seen.facts == cluster.facts
        assert sorted(seen.members) == sorted(cluster.members)
        assert seen.links == cluster.links


def test_the_resolver_says_which_clusters_became_one() -> None:
    resolver = Resolver(Rules(["N", "P"]))
    first, second = resolver.add(record(N="a", X="1 2 3")), resolver.add(record(P="p"))
    assert resolver.absorbed == ()
    joined = resolver.add(record(N="a", P="p"))
    assert set(resolver.absorbed) == {first, second}
    assert joined == first  # the largest stays where it is
    resolver.undo()
    assert set(resolver.clusters) == {first, second}


def test_there_is_nothing_to_undo_before_the_first_record_and_after_settling() -> None:
    resolver = Resolver(Rules(["N"]))
    with pytest.raises(ArgumentError, match="nothing to undo"):
        resolver.undo()
    resolver.add(record(N="a"))
    resolver.settle()
    with pytest.raises(ArgumentError, match="nothing to undo"):
        resolver.undo()


def test_everybody_leaving_the_same_number_does_not_multiply_names_by_cards() -> None:
    n = 1500
    records = [record(phone="000", name=f"n{i}", card=f"c{i}") for i in range(n)]
    records += [record(name="n5", card="c700"), record(name="n5", card="other"), record(name="late", card="c3")]
    resolver = Resolver(Rules([["name", "card"], ["phone"]]))
    for place, each in enumerate(records):
        resolver.add(each, place)
    assert clusters_of(resolver) == [frozenset(range(n + 1)), {n + 1}, {n + 2}]
    assert len(resolver._owner) < 5 * n  # and not n * n
    # Found the other way round too: the crowd comes after the one who matches only all of them together.
    late = Resolver.of(list(reversed(records)), Rules([["name", "card"], ["phone"]]))
    assert sorted(len(cluster.members) for cluster in late.clusters.values()) == [1, 1, n + 1]


def test_no_value_of_a_person_is_in_what_a_resolver_prints() -> None:
    resolver = Resolver(Rules(["N"]))
    resolver.add(record(N="Alice"))
    assert "Alice" not in repr(resolver) + repr(resolver.peek(record(N="Alice"))) + repr(resolver._log)


# ------------------------------------------------------------------------------------------------ merge policies


SINGLE = Labels({"dob": Label(single=True)})


def test_union_keeps_every_fact_with_its_best_confidence() -> None:
    merged = merge(
        [Record([("dob", "1990", 0.5), ("card", "9")]), Record([("dob", "1990", 0.7), ("dob", "1991", 0.2)])]
    )
    assert merged.confidences == {("dob", "1990"): 0.7, ("dob", "1991"): 0.2, ("card", "9"): 1.0}


def test_consensus_keeps_the_value_with_most_votes_of_a_single_label_and_all_of_others() -> None:
    records = [
        Record([("dob", "1990", 0.6), ("card", "1")]),
        Record([("dob", "1990", 0.7), ("card", "2")]),
        Record([("dob", "1991", 1.0)]),
    ]
    merged = merge(records, "consensus", SINGLE)
    assert merged.confidences == {("dob", "1990"): 0.7, ("card", "1"): 1.0, ("card", "2"): 1.0}


def test_a_tie_goes_to_the_more_confident_value_and_then_to_the_first_in_the_alphabet() -> None:
    tied = [Record([("dob", "b", 0.5)]), Record([("dob", "b", 0.5)]), Record([("dob", "c", 1.0)])]
    assert merge(tied, "consensus", SINGLE).confidences == {("dob", "c"): 1.0}
    assert merge([record(dob="b"), record(dob="a")], "consensus", SINGLE).confidences == {("dob", "a"): 1.0}


def test_votes_are_shares_times_the_best_confidence() -> None:
    records = [
        Record([("dob", "1990", 0.5)]),
        Record([("dob", "1990", 1.0)]),
        Record([("dob", "1991", 0.5)]),
        record(x="1"),
    ]
    merged = merge(records, "vote", SINGLE)
    assert merged.confidences == {("dob", "1990"): 0.75, ("dob", "1991"): 0.125, ("x", "1"): 1.0}


def test_dilution_is_the_mean_over_those_who_say_anything_of_the_label() -> None:
    records = [record(zip="11*", ill=ill) for ill in ("Heart", "Breast", "Cancer", "Heart")] + [record(name="Alice")]
    merged = merge(records, "diluted")
    assert merged.confidences == {
        ("zip", "11*"): 1.0,
        ("ill", "Heart"): 0.5,
        ("ill", "Breast"): 0.25,
        ("ill", "Cancer"): 0.25,
        ("name", "Alice"): 1.0,
    }


@pytest.mark.parametrize("policy", ["union", "consensus", "vote", "diluted"])
@settings(max_examples=many(12, 50))
@given(seed=st.integers(0, 2**32))
def test_no_policy_depends_on_order_adds_a_fact_or_raises_a_confidence(policy: str, seed: int) -> None:
    chance = random.Random(seed)
    labels = Labels({label: Label(single=True) for label in "NP"})
    records = [drawn_record(chance, values=2) for _ in range(chance.randint(1, 6))]
    merged = merge(records, policy, labels).confidences  # type: ignore[arg-type]
    best = merge(records, "union").confidences
    assert all(confidence <= best[fact] for fact, confidence in merged.items())
    if policy in ("consensus", "vote"):
        assert {fact: c for fact, c in best.items() if fact[0] in "CE"}.items() <= merged.items()
    chance.shuffle(records)
    assert merge(records, policy, labels).confidences == pytest.approx(merged)  # type: ignore[arg-type]
    assert merge(records[:1], policy, labels) is records[0]  # type: ignore[arg-type]


def test_a_plain_mapping_of_labels_will_do() -> None:
    merged = merge([record(dob="a", x="1"), record(dob="a"), record(dob="b")], "consensus", {"dob": Label(single=True)})
    assert merged.confidences == {("dob", "a"): 1.0, ("x", "1"): 1.0}


def test_an_unknown_policy_and_no_record_are_refused() -> None:
    with pytest.raises(ArgumentError, match="no merge policy 'mean'"):
        merge([record(N="a")], "mean")  # type: ignore[arg-type]
    with pytest.raises(ArgumentError, match="no record to merge"):
        merge([])
