"""A cluster resolves records as one machine does, round by round, whoever holds what."""

from __future__ import annotations

import itertools
import json
import random
from pathlib import Path
from unittest.mock import patch

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import HealthCheck, given, settings, strategies as st

from linked_databases import (
    CLUSTER_RULES,
    long_table,
    naive_components,
    r_swoosh,
    random_databases,
    random_record,
    random_rules,
    smallest,
)
from sizes import many
from spark_cluster import spark_cluster
from tacit.person import Rules
from tacit.person.link import Long, gathered, resolve
from tacit.person.link.distributed import components, resolved_on_spark, resolving, sharing
from tacit.tables.engines.spark.keeping import Keeper

pytestmark = pytest.mark.spark

JOB = Path(__file__).parents[2] / "resolving_job.py"


@pytest.fixture
def in_rounds(monkeypatch):
    """Nothing is finished on the driver."""
    monkeypatch.setattr(components, "FEW", 0)


@pytest.fixture
def crowds(monkeypatch):
    """Whatever more than two rows share is a crowd."""
    monkeypatch.setattr(sharing, "CROWD", 3)
    monkeypatch.setattr(sharing, "SAMPLED", 1)
    monkeypatch.setattr(sharing, "SMALL", 0)


def listed(frame, records):
    """The cluster of every record of the result."""
    rows = frame.toArrow()
    assert sorted(rows.column("rid").to_pylist()) == list(range(records))
    clusters = np.empty(records, np.int64)
    clusters[rows.column("rid").to_numpy()] = rows.column("cid").to_numpy()
    return clusters


def distributed(spark, found, rules, closure="swoosh"):
    """The cluster of every record, also of those that hold nothing."""
    wanted = rules if isinstance(rules, Rules) else Rules(rules)
    every = spark.range(len(found)).withColumnRenamed("id", "rid")
    attributes = spark.createDataFrame(long_table(found))
    return listed(resolved_on_spark(attributes, wanted, closure=closure, among=every), len(found))


def agrees(spark, seed, number, closure="swoosh"):
    """Whether the clusters of so many databases are those of the oracle."""
    chance = random.Random(seed)
    found, starts = random_databases(chance, number)
    rules, least = random_rules(chance), chance.choice([0.0, 0.0, 0.5])
    clusters = distributed(spark, found, Rules(rules, least), closure)
    oracle = r_swoosh if closure == "swoosh" else naive_components
    for start, end in itertools.pairwise(starts):
        part = found[start:end]
        assert (clusters[start:end] - start == smallest(oracle(part, rules, least), len(part))).all()
    return True


@pytest.mark.parametrize("seed", [3, *range(100, 100 + many(0, 8))])
@pytest.mark.usefixtures("in_rounds")
def test_rounds_on_a_cluster_give_the_clusters_of_r_swoosh(spark, seed):
    assert agrees(spark, seed, many(15, 60))


@pytest.mark.parametrize("seed", [1, *range(200, 200 + many(0, 4))])
@pytest.mark.usefixtures("in_rounds")
def test_base_records_alone_give_the_components_of_their_pairs(spark, seed):
    assert agrees(spark, seed, many(15, 60), closure="components")


@pytest.mark.parametrize("seed", [2, *range(300, 300 + many(0, 4))])
def test_what_is_few_is_finished_on_the_driver_with_the_same_clusters(spark, seed, monkeypatch):
    assert agrees(spark, seed, many(15, 60))
    monkeypatch.setattr(components, "FEW", 100)
    assert agrees(spark, seed, many(1, 60))


@pytest.mark.parametrize("seed", [4, *range(400, 400 + many(0, 6))])
@pytest.mark.usefixtures("in_rounds", "crowds")
def test_crowded_keys_and_rich_clusters_give_the_clusters_of_r_swoosh(spark, seed, monkeypatch):
    monkeypatch.setattr("tacit.person.link.linking.KEYS_PER_VALUE", 0.3)
    assert agrees(spark, seed, many(12, 40))


@pytest.mark.long
@settings(max_examples=12, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    st.randoms(use_true_random=False),
    st.lists(st.text(st.characters(codec="utf-8"), min_size=1) | st.just("long" * 9_000), min_size=8, max_size=8),
)
def test_any_text_is_a_value(spark, chance, values):
    found = [random_record(chance, values) for _ in range(12)]
    rules = Rules([["N", "P"], ["C"]], 0.3)
    one_machine = resolve(gathered([Long(long_table(found), len(found))]).attributes, rules)
    with patch.object(components, "FEW", 0):
        assert (distributed(spark, found, rules) == one_machine).all()


@pytest.mark.usefixtures("in_rounds")
def test_every_merge_may_need_the_one_before(spark):
    size = many(4, 18)
    found = [
        {("A", f"{at}"): 1, ("B", f"{at}"): 1, ("A", f"{at + 1}"): 1, ("B", f"{at + 2}"): 1} for at in range(1, size)
    ]
    start = {("A", "0"): 1, ("B", "0"): 1, ("A", "1"): 1, ("B", "1"): 1, ("B", "2"): 1}
    rules = [["A", "B"]]
    assert len(naive_components([start, *found], rules, 0)) > size // 2
    assert (distributed(spark, [start, *found], rules) == 0).all()


@pytest.mark.usefixtures("in_rounds")
def test_a_chain_of_records_is_one_cluster_after_few_rounds(spark, monkeypatch):
    size, kept = many(100, 1_000), []
    order = np.random.default_rng(1).permutation(size)
    found = [{("N", f"{at}"): 1.0, ("N", f"{at + 1}"): 1.0} for at in order]
    keep = Keeper.keep
    monkeypatch.setattr(Keeper, "keep", lambda *given: kept.append(keep(*given)) or kept[-1])
    assert (distributed(spark, found, [["N"]]) == 0).all()
    assert len(kept) < many(50, 90)


@pytest.mark.usefixtures("in_rounds")
def test_clusters_that_share_no_value_of_every_label_of_a_rule_do_not_go_into_the_next_round(spark, monkeypatch):
    found = [
        {("C", "c"): 1.0},
        {("C", "c"): 1.0, ("N", "n"): 1.0},
        *({("N", "n"): 1.0, ("P", f"{at}"): 1.0} for at in range(8)),
    ]
    keep, sizes = Keeper.keep, []
    monkeypatch.setattr(Keeper, "keep", lambda *given: sizes.append(keep(*given)) or sizes[-1])
    assert distributed(spark, found, [["C"], ["N", "P"]]).tolist() == [0, 0, *range(2, 10)]
    shared, able, result = (each.size for each in sizes[-3:])
    assert (shared, able, result) == (9, 0, 10)


@pytest.mark.usefixtures("in_rounds")
def test_a_cluster_with_very_many_combinations_is_matched_without_writing_them_out(spark):
    size = many(300, 3_000)  # a million million combinations of three labels, were they written out
    rich = {(label, f"{at}"): 1.0 for label in "NPC" for at in range(size)}
    near = {("N", "5"): 1.0, ("P", "7"): 1.0, ("C", f"{size - 1}"): 1.0}
    far = {("N", "5"): 1.0, ("P", "7"): 1.0, ("C", f"{size}"): 1.0}
    assert distributed(spark, [far, rich, near], [["N", "P", "C"]]).tolist() == [0, 1, 1]


@pytest.mark.usefixtures("in_rounds")
def test_no_worker_gets_all_rows_of_a_value_that_nearly_all_records_hold(spark, monkeypatch):
    monkeypatch.setattr(sharing, "CROWD", 1_000)
    monkeypatch.setattr(sharing, "SAMPLED", 8)
    monkeypatch.setattr(sharing, "SMALL", 0)
    size, found = many(3_000, 200_000), []
    for module in (components, resolving):
        look = module.crowded
        monkeypatch.setattr(module, "crowded", lambda *given, look=look: found.append(look(*given)) or found[-1])
    rows = spark.range(0, size, 1, 4).selectExpr(
        "id AS rid",
        "explode(array(struct('N' AS label, if(id % 100 = 7, string(id), 'hot') AS value), "
        "struct('P' AS label, string(id div 2) AS value))) AS held",
    )
    attributes = rows.selectExpr("rid", "held.label", "held.value", "1.0D AS confidence")
    rid = np.arange(size)
    alone = rid % 100 == 7
    assert (listed(resolved_on_spark(attributes, Rules([["N"]])), size) == np.where(alone, rid, 0)).all()
    assert any(keys is not None and keys.count() == 1 for keys in found)
    pairs = listed(resolved_on_spark(attributes, Rules([["N", "P"]])), size)
    assert (pairs == np.where(alone | alone[rid // 2 * 2 + 1], rid, rid // 2 * 2)).all()


@pytest.mark.usefixtures("in_rounds", "crowds")
def test_keys_are_looked_through_for_crowds_only_where_values_are_crowded(spark, monkeypatch):
    look, looked = resolving.crowded, []
    monkeypatch.setattr(resolving, "crowded", lambda *given: looked.append(given) or look(*given))
    alone = [{("N", f"{at}"): 1.0, ("P", f"{at}"): 1.0} for at in range(5)]
    assert distributed(spark, alone, [["N", "P"]], "components").tolist() == [0, 1, 2, 3, 4]
    assert not looked
    assert distributed(spark, [*alone, alone[3], alone[3]], [["N", "P"]], "components").tolist() == [
        0,
        1,
        2,
        3,
        4,
        3,
        3,
    ]
    assert looked


@pytest.mark.usefixtures("in_rounds")
def test_a_rule_may_have_more_labels_than_a_number_has_bits(spark):
    labels = [f"L{at}" for at in range(66)]
    record = {(label, "v"): 1.0 for label in labels}
    other = record | {("L65", "w"): 1.0}
    del other["L65", "v"]
    assert distributed(spark, [other, record, record], [labels], "components").tolist() == [0, 1, 1]


def test_records_without_attributes_are_listed_if_asked_for(spark):
    found = [{("N", "n"): 0.0}, {("N", "n"): 1.0}, {}, {("N", "n"): 1.0}]
    attributes = spark.createDataFrame(long_table(found))
    own = resolved_on_spark(attributes, Rules([["N"]])).toArrow()
    assert sorted(zip(*own.to_pydict().values(), strict=True)) == [(0, 0), (1, 1), (3, 1)]
    for rules in ([["N"]], [], [["M"]], [["N", "M"]]):
        assert distributed(spark, found, rules).tolist() == ([0, 1, 2, 1] if rules == [["N"]] else [0, 1, 2, 3])
    assert len(distributed(spark, [], [["N"]])) == 0


@pytest.mark.usefixtures("in_rounds")
def test_workers_keep_nothing_but_the_result_and_that_as_long_as_it_is_used(spark):
    kept = lambda: spark.sparkContext._jsc.sc().getPersistentRDDs().size()  # noqa: E731
    before = kept()
    attributes = spark.createDataFrame(long_table([{("N", "n"): 1.0}, {("N", "n"): 1.0}]))
    result = resolved_on_spark(attributes, Rules([["N"]]))
    assert kept() == before + 1
    assert result.where("cid = 0").count() == 2
    del result
    assert kept() == before


@pytest.mark.long
def test_a_cluster_that_loses_a_worker_between_rounds_gives_the_clusters_of_one_machine():
    chance, records = np.random.default_rng(5), 60_000
    persons = chance.integers(0, records // 4, (4, records))
    kept = chance.random((4, records)) < 0.6
    rows = pa.table(
        {
            "rid": np.concatenate([np.flatnonzero(there) for there in kept]),
            "label": np.concatenate([np.full(there.sum(), label) for there, label in zip(kept, "NPCD", strict=True)]),
            "value": np.concatenate(
                [
                    np.char.add("v", (who[there] // size).astype(str))
                    for there, who, size in zip(kept, persons, (1, 40, 40, 20), strict=True)
                ]
            ),
            "confidence": chance.choice([0.2, 0.5, 1.0], kept.sum()),
        }
    )
    expected = resolve(gathered([Long(rows, records)]).attributes, CLUSTER_RULES)
    assert 0.2 < len(set(expected.tolist())) / records < 0.8
    with spark_cluster() as cluster:
        source, out = cluster.lake / "attributes.parquet", cluster.lake / "clusters"
        pq.write_table(rows, source, row_group_size=20_000)
        source.chmod(0o644)
        killed = cluster.workers[0]
        settings_of_job = {"spark.sql.files.maxPartitionBytes": "200k"}
        with cluster.submit(JOB, str(source), str(out), str(killed), settings=settings_of_job) as job:
            assert job.stdout is not None
            printed = job.stdout.read()
        assert job.returncode == 0, printed
        said = [json.loads(line) for line in printed.splitlines() if line.startswith("{")]
        assert said[1]["master"] == cluster.address
        assert said[0]["killed"] == killed
        assert said[1]["frames"] > len(said[0]["rows"])
        found = pq.read_table(out)
    rid = found.column("rid").to_numpy()
    assert (np.sort(rid) == np.unique(rows.column("rid"))).all()
    assert (found.column("cid").to_numpy() == expected[rid]).all()
