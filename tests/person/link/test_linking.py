"""Records are linked in the engine as R-Swoosh links them pair by pair, whatever they hold."""

from __future__ import annotations

import itertools
import random

import duckdb
import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings, strategies as st

from linked_databases import (
    LABELS,
    ODD,
    long_table,
    naive_components,
    r_swoosh,
    random_databases,
    random_record,
    random_rules,
    smallest,
)
from sizes import many
from tacit.errors import ArgumentError, DataError
from tacit.person import Record, Rules, groups
from tacit.person.link import (
    Long,
    Wide,
    augmented,
    components,
    distinct_values,
    gathered,
    matching,
    recoded,
    records,
    resolve,
)
from tacit.tables import open_table


def held(found):
    """Records as attributes."""
    return gathered([Long(long_table(found), len(found))]).attributes


def wide(*sources):
    """The attributes of tables with one record a row."""
    return gathered(sources).attributes


def links(table, rids, rules, least=0.0):
    """How the records of a cluster came together, as an adversary is told who fetches them: left, right, labels."""
    fetched = [Record(attributes, name=str(rid)) for rid, attributes in records(table, rids).items()]
    (cluster, *rest) = groups(fetched, Rules(rules, least))
    assert not rest
    return [(rids[link.left], rids[link.right], link.labels) for link in cluster.links]


@pytest.mark.parametrize("seed", range(many(4, 40)))
def test_resolution_is_that_of_r_swoosh_and_of_pairs_on_thousands_of_databases(seed):
    chance = random.Random(seed)
    found, starts = random_databases(chance, 100)
    rules, least = random_rules(chance), chance.choice([0.0, 0.0, 0.5])
    table = held(found)
    merged = resolve(table, Rules(rules, least))
    alone = resolve(table, Rules(rules, least), closure="components")
    for start, end in itertools.pairwise(starts):
        part = found[start:end]
        assert (merged[start:end] - start == smallest(r_swoosh(part, rules, least), len(part))).all()
        assert (alone[start:end] - start == smallest(naive_components(part, rules, least), len(part))).all()


@pytest.mark.parametrize("seed", range(many(2, 12)))
def test_clusters_with_too_many_combinations_for_keys_are_compared_and_give_the_same(seed, monkeypatch):
    monkeypatch.setattr("tacit.person.link.linking.KEYS_PER_VALUE", 0.3)
    chance = random.Random(1000 + seed)
    found, starts = random_databases(chance, 60)
    rules = [chance.sample(LABELS, 2), chance.sample(LABELS, chance.choice([1, 2, 3]))]
    table = held(found)
    merged, alone = resolve(table, rules), resolve(table, rules, closure="components")
    for start, end in itertools.pairwise(starts):
        part = found[start:end]
        assert (merged[start:end] - start == smallest(r_swoosh(part, rules, 0), len(part))).all()
        assert (alone[start:end] - start == smallest(naive_components(part, rules, 0), len(part))).all()


def test_what_was_merged_matches_what_none_of_its_parts_does():
    a, b, c = {("N", "n"): 1, ("P", "p"): 1}, {("P", "p"): 1, ("C", "c"): 1}, {("N", "n"): 1, ("C", "c"): 1}
    table = held([c, a, b, {}])
    rules = [["P"], ["N", "C"]]
    assert resolve(table, rules).tolist() == [0, 0, 0, 3]
    assert resolve(table, rules, closure="components").tolist() == [0, 1, 1, 3]
    assert links(table, [0, 1, 2], rules) == [(1, 2, ("P",)), (0, 1, ("N", "C"))]


def test_two_merged_records_match_by_what_neither_has_in_one_base_record():
    one, other = ([{("N", "n"): 1, ("P", p): 1}, {("P", p): 1, ("C", "c"): 1}] for p in "pq")
    table = held([*one, *other])
    assert resolve(table, [["P"], ["N", "C"]]).tolist() == [0, 0, 0, 0]


def test_keys_of_all_rounds_are_remembered_when_every_merge_needs_the_one_before(monkeypatch):
    size = 18
    # Record i matches what holds its A and its B, which two records before it hold between them.
    found = [
        {("A", f"{at}"): 1, ("B", f"{at}"): 1, ("A", f"{at + 1}"): 1, ("B", f"{at + 2}"): 1} for at in range(1, size)
    ]
    start = {("A", "0"): 1, ("B", "0"): 1, ("A", "1"): 1, ("B", "1"): 1, ("B", "2"): 1}
    rules = [["A", "B"]]
    base = naive_components([start, *found], rules, 0)
    assert r_swoosh([start, *found], rules, 0) == {frozenset(range(size))}
    assert len(base) > size // 2
    rounds = []
    monkeypatch.setattr(matching, "joined", lambda *given, old=matching.joined: rounds.append(1) or old(*given))
    assert (resolve(held([start, *found]), rules) == 0).all()
    assert len(rounds) > size // 2


def test_resolution_is_the_same_with_keys_and_with_comparisons(monkeypatch):
    chance = random.Random(7)
    found, starts = random_databases(chance, many(8, 25))
    rules = [["N", "P"], ["C"], [LABELS[3], "N"]]
    expected = [r_swoosh(found[start:end], rules, 0.5) for start, end in itertools.pairwise(starts)]
    for combinations in (16, 0.3):
        monkeypatch.setattr("tacit.person.link.linking.KEYS_PER_VALUE", combinations)
        merged = resolve(held(found), Rules(rules, 0.5))
        for (start, end), partition in zip(itertools.pairwise(starts), expected, strict=True):
            assert (merged[start:end] - start == smallest(partition, end - start)).all()


@pytest.mark.parametrize("few", [0, 10_000])
def test_components_are_the_same_link_by_link_and_by_scipy(monkeypatch, few):
    monkeypatch.setattr(components, "FEW_LINKS", few)
    chance = np.random.default_rng(3)
    for size in (1, 5, 300):
        first, second = chance.integers(0, size, (2, size // 2))
        together = components.components(first, second, size)
        naive = np.arange(size)
        for _ in range(size):
            for one, other in zip(first, second, strict=True):
                naive[[one, other]] = min(naive[one], naive[other])
        assert (together == naive).all()


def test_a_chain_of_ten_thousand_records_is_one_cluster():
    order = np.random.default_rng(1).permutation(10_000)
    found = [{("N", f"{at}"): 1.0, ("N", f"{at + 1}"): 1.0} for at in order]
    assert (resolve(held(found), [["N"]]) == 0).all()


def test_a_hot_block_is_linked_without_its_pairs():
    size = 60_000
    rid = np.arange(size)
    rows = pa.table({"N": np.full(size, "hot"), "P": (rid // 2).astype(str)})
    table = wide(Wide(open_table(rows), {"N": "N", "P": "P"}))
    assert (resolve(table, [["N"]]) == 0).all()
    assert (resolve(table, [["N", "P"]]) == rid // 2 * 2).all()


def test_a_cluster_with_very_many_combinations_is_matched_without_writing_them_out():
    size = 3000  # a million million combinations of three labels, were they written out
    rich = {(label, f"{at}"): 1.0 for label in "NPC" for at in range(size)}
    near = {("N", "5"): 1.0, ("P", "7"): 1.0, ("C", "2999"): 1.0}
    far = {("N", "5"): 1.0, ("P", "7"): 1.0, ("C", "3000"): 1.0}
    table = held([far, rich, near])
    assert resolve(table, [["N", "P", "C"]]).tolist() == [0, 1, 1]
    assert links(table, [1, 2], [["N", "P", "C"]]) == [(1, 2, ("N", "P", "C"))]


@settings(max_examples=many(10, 100))
@given(st.randoms(use_true_random=False))
def test_links_join_the_records_of_a_cluster_as_few_as_can_be(chance):
    found = [random_record(chance, ["x", "y", "z"]) for _ in range(8)]
    rules = random_rules(chance)
    clusters = smallest(r_swoosh(found, rules, 0.5), len(found))
    wanted = sorted(set(clusters.tolist()))
    table = held(found)
    members = [np.flatnonzero(clusters == cluster).tolist() for cluster in wanted]
    traced = [link for rids in members for link in links(table, rids, rules, 0.5)]
    assert len(traced) == len(found) - len(wanted)
    parts = [({rid}, {f for f, conf in record.items() if conf >= 0.5}) for rid, record in enumerate(found)]
    for left, right, labels in traced:
        assert list(labels) in rules
        one, other = (next(part for part in parts if rid in part[0]) for rid in (left, right))
        assert one is not other
        assert set(labels) <= {label for label, _ in one[1] & other[1]}
        parts = [part for part in parts if part is not one and part is not other]
        parts.append((one[0] | other[0], one[1] | other[1]))
    assert {frozenset(part[0]) for part in parts} == {frozenset(np.flatnonzero(clusters == c).tolist()) for c in wanted}


def test_rules_that_match_nothing_leave_records_alone():
    table = held([{("N", "n"): 0.0}, {("N", "n"): 0.0}, {}])
    for rules in ([], [["N"]], [["M"]], [["N", "M"]]):
        assert resolve(table, rules).tolist() == [0, 1, 2]
    assert resolve(held([]), [["N"]]).tolist() == []


def test_looks_into_the_table_find_what_was_put_in():
    chance = random.Random(11)
    found = [random_record(chance, ODD) for _ in range(60)]
    table = held(found)
    # What is held with confidence 0 is no attribute.
    found = [{fact: conf for fact, conf in record.items() if conf} for record in found]
    assert repr(table) == "Attributes(60 records)"
    for label in LABELS:
        assert set(distinct_values(table, label)) == {v for r in found for lab, v in r if lab == label}
    assert set(table.labels) == {label for record in found for label, _ in record}
    changed = recoded(table, [("N", "a", "changed")])
    assert changed.several == {
        label for label in LABELS if any(sum(one == label for one, _ in record) > 1 for record in found)
    }
    assert changed.several <= table.several
    read = records(table, [3, 1, 59])
    assert read.keys() == {3, 1, 59}
    for rid, rows in read.items():
        assert {(label, value): conf for label, value, conf in rows} == found[rid]


def test_recoding_replaces_values_and_keeps_the_better_confidence():
    first = {("N", "Bob"): 0.5, ("N", "bob"): 0.75, ("N", "x"): 1.0, ("P", "Bob"): 0.25}
    table = held([first, {("N", "y"): 0.5}])
    changed = recoded(table, [("N", "Bob", "bob"), ("N", "x", "z"), ("N", "never", "seen")])
    assert records(changed, [0, 1]) == {
        0: [("N", "bob", 0.75), ("N", "z", 1.0), ("P", "Bob", 0.25)],
        1: [("N", "y", 0.5)],
    }
    assert recoded(table, [("N", "x", "x")]) is table


def test_augmenting_adds_what_goes_with_a_value():
    table = held([{("A", "home"): 0.5, ("Z", "1"): 0.125, ("Z", "9"): 0.5}, {("A", "away"): 1.0}])
    goes = [("home", "1"), ("home", "2"), ("home", "9")]
    added = records(augmented(table, "A", "Z", goes, confidence=0.5), [0, 1])
    assert added == {
        0: [("A", "home", 0.5), ("Z", "1", 0.25), ("Z", "2", 0.25), ("Z", "9", 0.5)],
        1: [("A", "away", 1.0)],
    }


def test_wide_tables_become_records_one_after_the_other():
    shop = pa.table(
        {"nm": ["Ann", None, "  "], "age": [30.0, 30.5, float("nan")], "tel": ["1", "2", "3"], "x": [1, 2, 3]}
    )
    broker = pa.table({"a": ["Ann", "Bo"], "b": ["Ann", "Cy"], "score": [0.5, None]})
    table = wide(
        Wide(open_table(shop), {"nm": "name", "age": "age", "tel": "phone"}, label_confidence={"phone": 0.5}),
        Wide(open_table(broker), {"a": "name", "b": "name"}, confidence=0.5, confidence_column="score"),
    )
    assert table.records == 5
    assert records(table, range(5)) == {
        0: [("age", "30", 1.0), ("name", "Ann", 1.0), ("phone", "1", 0.5)],
        1: [("age", "30.5", 1.0), ("phone", "2", 0.5)],
        2: [("phone", "3", 0.5)],
        3: [("name", "Ann", 0.25)],
        4: [("name", "Bo", 0.5), ("name", "Cy", 0.5)],
    }
    assert resolve(table, ["name"]).tolist() == [0, 1, 2, 0, 4]


def test_a_wide_file_is_read_from_disk(tmp_path):
    path = tmp_path / "t.csv"
    path.write_text("name,phone\n" + "".join(f"n{at % 700},p{at}\n" for at in range(250_000)))
    table = wide(Wide(open_table(path), {"name": "name", "phone": "phone"}))
    assert (resolve(table, ["name"]) == np.arange(250_000) % 700).all()


def test_wide_tables_refuse_confidences_that_are_none():
    table = open_table(pa.table({"a": ["x"], "f": [2.0]}))
    with pytest.raises(ArgumentError, match="confidence of label 'N' of the pyarrow frame is 2"):
        Wide(table, {"a": "N"}, label_confidence={"N": 2})
    with pytest.raises(DataError, match="row 1: 'f' is not a confidence"):
        wide(Wide(table, {"a": "N"}, confidence_column="f"))


def test_tables_of_attributes_go_with_their_objects():
    table = held([{("N", "n"): 1.0}, {("N", "n"): 1.0, ("P", "p"): 1.0}])
    other = recoded(table, [("N", "n", "m")])
    resolve(other, [["N", "P"], ["N"]])
    left = "SELECT count(*) AS n FROM duckdb_tables() WHERE table_name LIKE 'tacit_store%'"
    assert table.store.ask(left).column("n")[0].as_py() == 2
    del other
    assert table.store.ask(left).column("n")[0].as_py() == 1


def test_a_relation_of_another_connection_is_taken_in():
    relation = duckdb.connect().sql("SELECT range % 3 AS N FROM range(9)")
    assert resolve(wide(Wide(open_table(relation), {"N": "N"})), ["N"]).tolist() == [0, 1, 2] * 3
