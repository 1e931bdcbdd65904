"""The leakage of every person at once is what every person has alone, laid beside every cluster."""

from __future__ import annotations

import random

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from sizes import few, many
from tacit.errors import ArgumentError
from tacit.person import Correlated, Label, Labels, Record, Reference, measure, merge, normaliser, similarity
from tacit.person.link import (
    Long,
    class_diversity,
    class_sizes,
    distinct_values,
    gathered,
    population,
    recoded,
    resolve,
    searching,
    wide_references,
    write_persons,
)
from tacit.person.link.merging import merged
from tacit.tables import open_table

LABELS = ["name", "label's", "zip", "dob"]
WEIGHTS = {"name": 1.0, "label's": 3.5, "zip": 0.0, "dob": 1e-3}


def long_table(rows, names):
    """Rows as an Arrow table."""
    columns = list(zip(*rows, strict=True)) or [() for _ in names]
    kinds = {"rid": pa.int64(), "confidence": pa.float64()}
    return pa.table({n: pa.array(c, kinds.get(n, pa.string())) for n, c in zip(names, columns, strict=True)})


def people(chance, *, doubt, persons=14, size=40):
    """Records of some people with common and rare values, and what is true of these people."""
    truths = []
    for at in range(persons):
        facts = {(label, f"{label[0]}{chance.choice([chance.randrange(4), 100 + at])}") for label in LABELS}
        facts |= {("name", f"alias {at}")} if chance.random() < 0.4 else set()
        truths.append(sorted(chance.sample(sorted(facts), chance.randint(1, len(facts)))))
    found = []
    for _ in range(size):
        said = [fact for fact in chance.choice(truths) if chance.random() < 0.7]
        said += [(label, f"{label[0]}{chance.randrange(4)}") for label in chance.sample(LABELS, chance.randint(0, 2))]
        found.append({fact: chance.choice([0.2, 0.9, 1.0]) if doubt else 1.0 for fact in said})
    return truths, found


def held_of(found):
    """Records as attributes."""
    rows = [(rid, label, value, p) for rid, record in enumerate(found) for (label, value), p in record.items()]
    return gathered([Long(long_table(rows, ("rid", "label", "value", "confidence")), len(found))]).attributes


def known_of(held, truths, meant=lambda held: held):
    """References of persons p00, p01, ..."""
    labels = sorted({label for truth in truths for label, _ in truth})
    rows = [(f"p{at:02d}", label, value) for at, truth in enumerate(truths) for label, value in truth]
    columns = {own: [value if label == own else None for _, label, value in rows] for own in labels}
    table = open_table(pa.table({"pid": [pid for pid, _, _ in rows], **columns}))
    return wide_references(held.store, table, "pid", {label: label for label in labels}, meant)


def as_record(record):
    """A mapping as a record."""
    return Record([(label, value, p) for (label, value), p in record.items()])


def rows_of(result):
    """The table of results."""
    return result.store.ask(f"SELECT * FROM {result.name} ORDER BY person").to_pylist()


def brute_force(truths, candidates, labels, beta=1.0):
    """Every person beside every candidate: the best leakage, and what each candidate leaks."""
    for truth in truths:
        reference = Reference(truth)
        found = {cid: measure(record, reference, labels, beta=beta) for cid, record in candidates.items()}
        yield max((one.value for one in found.values()), default=0.0), found


def in_capitals(value):
    """A normal form of these values."""
    return value.strip().upper()


# Everything that a label can say of its values.
ALL_KINDS = Labels(
    {
        "name": Label(normalise=in_capitals, similarity=similarity("jaro_winkler")),
        "label's": Label(weight=2.0, similarity=similarity("code"), synonyms={"l1": "l2"}),
        "zip": Label(suppressed="size", domain=[f"z{at}" for at in range(4)], single=True),
        "dob": Label(prior={"d0": 0.5, "d1": 0.25, "d2": 0.2}, suppressed="prior"),
    },
    correlated=[Correlated(("zip", "dob"), 0.7)],
)


def meant_by(labels):
    """Values in the form in which labels compare them."""

    def meant(held):
        forms = (
            (label, value, labels[label].meant(value)) for label in LABELS for value in distinct_values(held, label)
        )
        return recoded(held, forms)

    return meant


# That clusters are merged as they should be, is tried below for every policy.
@pytest.mark.parametrize("policy", few(["diluted", "union", "consensus", "vote"]))
@pytest.mark.parametrize(
    ("seed", "doubt"), few([(seed, doubt) for seed in reversed(range(4)) for doubt in (True, False)])
)
def test_every_person_leaks_what_a_brute_force_over_all_pairs_finds(seed, policy, doubt, monkeypatch):
    # So few that all looks, and several parts of each, are needed.
    monkeypatch.setattr(searching, "RARE", 2)
    monkeypatch.setattr(searching, "PAIRS", 200)
    chance = random.Random(f"{seed}{policy}{doubt}")
    truths, found = people(chance, doubt=doubt)
    single = {"dob", "name"} if seed % 2 else set()
    weights = WEIGHTS if seed > 1 else {}
    labels = Labels({label: Label(weight=weights.get(label, 1.0), single=label in single) for label in LABELS})
    beta = chance.choice([0.5, 1.0, 2.0])
    if seed == 3:
        labels = ALL_KINDS
        hidden = [
            ("zip", "z*"),
            ("zip", "{z1, z2}"),
            ("dob", "*"),
            ("dob", "d1**"),
            ("name", "alias *"),
            ("name", "N102"),
        ]
        for record in chance.sample(found, 15):
            record[chance.choice(hidden)] = chance.choice([0.5, 1.0])
    held, meant = held_of(found), meant_by(labels)
    clusters = resolve(held, [["name", "dob"], ["label's", "zip"]])
    base = held if chance.random() < 0.5 else None
    known = known_of(held, truths, meant)
    result = population(held, clusters, known, labels, beta=beta, merge=policy, base=base, meant=meant)
    candidates = {
        cid: merge([as_record(found[rid]) for rid in np.flatnonzero(clusters == cid)], policy, labels)
        for cid in sorted(set(clusters.tolist()))
    }
    if base is not None:
        candidates |= {len(found) + rid: as_record(record) for rid, record in enumerate(found)}
    for row, (best, measured) in zip(rows_of(result), brute_force(truths, candidates, labels, beta), strict=True):
        assert row["leakage"] == pytest.approx(best, rel=1e-10, abs=1e-14)
        assert row["at_most"] == row["leakage"]
        if best == 0:
            assert (row["cluster"], row["precision"], row["recall"]) == (-1, 0.0, 0.0)
            continue
        own = measured[row["cluster"]]
        assert own.value == pytest.approx(best, rel=1e-10)
        assert row["precision"] == pytest.approx(own.precision, rel=1e-9)
        assert row["recall"] == pytest.approx(own.recall, rel=1e-9)


@pytest.mark.parametrize("seed", range(many(1, 30)))
def test_what_was_not_looked_at_leaks_at_most_what_is_said(seed, monkeypatch):
    monkeypatch.setattr(searching, "RARE", 1)
    monkeypatch.setattr(searching, "EACH_WITH_EACH", 0)
    monkeypatch.setattr(searching, "MOST_PAIRS", 40)
    chance = random.Random(seed)
    truths, found = people(chance, doubt=seed % 2 == 0)
    held, meant = held_of(found), meant_by(ALL_KINDS)
    result = population(held, np.arange(len(found)), known_of(held, truths, meant), ALL_KINDS, meant=meant)
    candidates = {rid: as_record(record) for rid, record in enumerate(found)}
    rows = rows_of(result)
    for row, (best, _) in zip(rows, brute_force(truths, candidates, ALL_KINDS), strict=True):
        assert row["leakage"] <= best * (1 + 1e-11)
        assert best <= row["at_most"] * (1 + 1e-11)
    unsettled = [row["at_most"] for row in rows if row["at_most"] > row["leakage"]]
    assert result.unsettled() == (len(unsettled), max(unsettled, default=0.0))
    assert unsettled


@pytest.mark.parametrize("seed", few(range(3)))
def test_a_common_value_that_matters_is_found_in_the_second_look(seed):
    # All of the person that is known is a value that hundreds of records have.
    found = [{("name", "Ann"): 1.0, ("zip", f"{at}"): 1.0} for at in range(300)] + [{("name", "Ann"): 1.0}]
    truths = [[("name", "Ann"), ("dob", "1")], [("zip", "7"), ("name", "Ann")], [("dob", "2")]]
    random.Random(seed).shuffle(found)
    held = held_of(found)
    result = rows_of(population(held, np.arange(301), known_of(held, truths)))
    assert [row["leakage"] for row in result] == pytest.approx([2 / 3, 1.0, 0.0])
    assert [row["cluster"] for row in result] == [
        found.index({("name", "Ann"): 1.0}),
        found.index({("name", "Ann"): 1.0, ("zip", "7"): 1.0}),
        -1,
    ]


@pytest.mark.parametrize("policy", ["union", "consensus", "vote", "diluted"])
def test_clusters_are_merged_in_the_engine_as_in_memory(policy):
    chance = random.Random(policy)
    _, found = people(chance, doubt=True, size=200)
    held = held_of(found)
    clusters = np.array([chance.randrange(rid + 1) if chance.random() < 0.5 else rid for rid in range(200)])
    clusters = clusters[clusters]
    single = {"name", "dob"}
    labels = Labels({label: Label(single=True) for label in single})
    table = merged(held, clusters, policy, labels=labels)
    rows = held.store.ask(f"SELECT * FROM {table}").to_pylist()
    got = {(row["cid"], row["label"], row["value"]): row["p"] for row in rows}
    assert len(got) == len(rows)
    expected = {}
    for cid in set(clusters.tolist()):
        whole = merge([as_record(found[rid]) for rid in np.flatnonzero(clusters == cid)], policy, labels)
        expected |= {(cid, *attribute.fact): attribute.confidence for attribute in whole}
    assert got == pytest.approx(expected, rel=1e-12)


SAYING_LESS = {
    "dob": [
        "1963",
        "1963-02",
        "1963-02-16",
        "1963-05-01",
        "1964",
        "1963-02-**",
        "february 1963",
        "****-02-16",
        "03/04/1990",
        "1990-04-03",
    ],
    "name": [
        "a archer",
        "alice archer",
        "alice marie archer",
        "archer",
        "bob archer",
        "al*** archer",
        "Prof. Dr. A. Archer",
    ],
    "phone": ["01601234567", "+491601234567", "***4567", "+49160*******", "+441601234567"],
    "place": ["11*", "115", "1**", "116", "***"],
}


@pytest.mark.parametrize("policy", ["union", "consensus", "vote", "diluted"])
@pytest.mark.parametrize("seed", range(many(2, 40)))
def test_values_that_say_less_are_merged_in_the_engine_as_in_memory(policy, seed):
    chance = random.Random(seed)
    found = [
        {
            (label, value): chance.choice([0.2, 0.5, 0.9, 1.0])
            for label, values in SAYING_LESS.items()
            for value in chance.sample(values, chance.randint(0, 2))
        }
        for _ in range(120)
    ]
    clusters = np.array([rid - rid % chance.choice([1, 5]) for rid in range(120)])
    clusters = clusters[clusters]
    held = held_of(found)
    labels = Labels(
        {
            "dob": Label(single=True, normalise=normaliser("date")),
            "name": Label(normalise=normaliser("name")),
            "phone": Label(normalise=normaliser("phone")),
            "place": Label(single=seed % 2 == 0),
        }
    )
    rows = held.store.ask(f"SELECT * FROM {merged(held, clusters, policy, labels=labels)}").to_pylist()
    got = {(row["cid"], row["label"], row["value"]): row["p"] for row in rows}
    assert len(got) == len(rows)
    expected = {}
    for cid in set(clusters.tolist()):
        members = [as_record(found[rid]) for rid in np.flatnonzero(clusters == cid)]
        whole = merge(members, policy, labels)
        expected |= {(cid, *attribute.fact): attribute.confidence for attribute in whole}
        if policy == "consensus" and len(members) > 1:
            assert sum(attribute.confidence for attribute in whole if attribute.label == "dob") <= 1 + 1e-12
    assert got == pytest.approx(expected, rel=1e-12)


def test_the_top_source_is_the_one_with_most_right_weight_in_the_best_cluster():
    found = [
        {("name", "Ann"): 1.0, ("zip", "1"): 1.0},
        {("name", "Ann"): 1.0, ("dob", "2"): 0.5},
        {("name", "Bo"): 1.0},
        {("name", "Ann"): 1.0, ("zip", "9"): 1.0},
    ]
    held = held_of(found)
    known = known_of(held, [[("name", "Ann"), ("zip", "1"), ("dob", "2")], [("name", "Cy")], [("name", "Bo")]])
    clusters = np.array([0, 0, 2, 3])
    sources = [("shop", 1), ("broker", 2), ("forum", 1)]
    result = population(held, clusters, known, Labels.weighted({"dob": 1.5}), sources=sources)
    assert [row["top_source"] for row in rows_of(result)] == [0, -1, 1]
    assert result.top_sources() == {"shop": 1, "broker": 1}
    heavy = population(held, clusters, known, Labels.weighted({"dob": 4}), sources=sources, base=held)
    assert rows_of(heavy)[0]["top_source"] == 1


def test_originals_are_kept_as_they_were_given():
    given = held_of([{("name", "ann"): 1.0}, {("name", "bo"): 1.0}])
    worse = recoded(given, [("name", "ann", "yy")])
    known = known_of(given, [[("name", "ann")], [("name", "yy")]])
    clusters = np.arange(2)
    assert [row["leakage"] for row in rows_of(population(worse, clusters, known))] == [0.0, 1.0]
    kept = rows_of(population(worse, clusters, known, base=given))
    assert [(row["leakage"], row["cluster"]) for row in kept] == [(1.0, 2), (1.0, 0)]


def test_summaries_are_those_of_the_rows(tmp_path):
    chance = random.Random(5)
    truths, found = people(chance, doubt=True, persons=60)
    held = held_of(found)
    known = known_of(held, truths)
    told = []
    clusters = resolve(held, [["name"]])
    sources = [("shop", 15), ("it's; a forum", 25)]
    result = population(held, clusters, known, sources=sources, progress=lambda what, share: told.append(what))
    assert "rare values" in told
    leak = np.array([row["leakage"] for row in rows_of(result)])
    assert result.mean() == pytest.approx(leak.mean())
    assert result.quantiles([0, 0.5, 1]) == pytest.approx(np.quantile(leak, [0, 0.5, 1], method="inverted_cdf"))
    assert result.above(0.5) == (leak > 0.5).sum()
    assert result.bins(20) == tuple(np.histogram(leak, 20, (0, 1))[0])
    assert repr(result) == "Population(60 persons)"
    k = class_sizes(known, ["zip", "dob"])
    diversity = class_diversity(known, ["zip"], ["dob"])
    alone = population(held, np.arange(40), known)
    for name in ("p.parquet", "p.csv"):
        write_persons(tmp_path / name, known, {'it\'s "E1"': result, "E0": alone}, k=k, l=diversity)
    read = pq.read_table(tmp_path / "p.parquet")
    kinds = ("leakage", "at most", "precision", "recall", "cluster")
    own, other = ([f"{name} {kind}" for kind in kinds] for name in ('it\'s "E1"', "E0"))
    assert read.column_names == ["pid", *own, 'it\'s "E1" top source', *other, "k", "l"]
    assert read.column("pid").to_pylist() == sorted(f"p{at:02d}" for at in range(60))
    assert read.column('it\'s "E1" leakage').to_pylist() == leak.tolist()
    assert read.column("k").to_pylist() == k.tolist()
    assert read.column("l").to_pylist() == diversity.tolist()
    assert set(read.column('it\'s "E1" top source').to_pylist()) <= {"shop", "it's; a forum", None}
    assert (tmp_path / "p.csv").read_text().count("\n") == 61


def test_k_counts_persons_with_the_same_values_of_all_quasi_identifiers():
    held = held_of([{}])
    facts = [
        [("zip", "1"), ("dob", "2"), ("name", "a")],
        [("dob", "2"), ("zip", "1"), ("name", "b")],
        [("zip", "1"), ("zip", "3"), ("dob", "2")],
        [("zip", "2"), ("dob", "1")],
        [("name", "c")],
        [("name", "d")],
        [("zip", "1")],
    ]
    assert class_sizes(known_of(held, facts), ["zip", "dob"]).tolist() == [2, 2, 1, 1, 2, 2, 1]
    with pytest.raises(ArgumentError, match="no quasi-identifier"):
        class_sizes(known_of(held, facts), [])


def test_l_counts_the_different_secrets_of_those_who_are_alike():
    held = held_of([{}])
    facts = [
        [("zip", "1"), ("ill", "flu"), ("job", "cook")],
        [("zip", "1"), ("ill", "flu"), ("job", "smith")],
        [("zip", "1"), ("ill", "gout"), ("job", "cook")],
        [("zip", "2"), ("ill", "flu"), ("ill", "gout"), ("job", "cook")],
        [("ill", "flu")],
        [("zip", "3")],
    ]
    known = known_of(held, facts)
    assert class_diversity(known, ["zip"], ["ill"]).tolist() == [2, 2, 2, 2, 1, 0]
    assert class_diversity(known, ["zip"], ["ill", "job"]).tolist() == [2, 2, 2, 1, 0, 0]
    with pytest.raises(ArgumentError, match="no sensitive label"):
        class_diversity(known, ["zip"], [])


def test_a_person_of_whom_nothing_is_said_leaks_nothing():
    held = held_of([{("name", "a"): 1.0}])
    data = pa.table({"pid": [2, 1, 1], "name": ["a", None, " "]})
    known = wide_references(held.store, open_table(data), "pid", {"name": "name"})
    assert repr(known) == "References(2 persons)"
    rows = rows_of(population(held, np.zeros(1, np.int64), known))
    assert [(row["leakage"], row["cluster"]) for row in rows] == [(0.0, -1), (1.0, 0)]
    nobody = wide_references(held.store, open_table(data.slice(0, 0)), "pid", {"name": "name"})
    empty = population(held, np.zeros(1, np.int64), nobody)
    assert (empty.mean(), empty.quantiles([0.5]), empty.bins(2)) == (0.0, (0.0,), (0, 0))
    weightless = population(held, np.zeros(1, np.int64), known, Labels.weighted({"name": 0.0}))
    assert [row["leakage"] for row in rows_of(weightless)] == [0.0, 0.0]
