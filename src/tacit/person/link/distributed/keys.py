"""Keys of clusters: one for each choice of their values, except where the choices are too many."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import reduce
from operator import or_
from typing import TYPE_CHECKING

from tacit.person.link import linking
from tacit.person.link.distributed.sharing import all_of, crowded, looked_up
from tacit.tables.engines.spark.keeping import Keeper, Kept

if TYPE_CHECKING:
    from pyspark.sql import Column, DataFrame

# A cluster with more values than this of one alternative is compared with others instead of having keys.
MANY = 100_000
# Labels by their places that one number tells apart.
BITS = 63
# What a row of :func:`_outcomes` says: a key, a cluster with several, or one with too many.
_KEY, _SEVERAL, _RICH = 0, 1, 2
# Alternatives by their place among the rules, each the places of its labels.
Alternatives = Mapping[int, Sequence[int]]


def keys_of_records(rows: Kept, alternatives: Alternatives, keeper: Keeper) -> tuple[Kept, DataFrame | None]:
    """What :func:`keys` returns, in less time if few clusters have several values of a label."""
    from pyspark.sql import functions as F

    if max(label for own in alternatives.values() for label in own) >= BITS:
        return keys(rows, alternatives, keeper)
    kind = F.col("kind")
    plain = keeper.keep(_plain(rows.frame, alternatives), kind == _SEVERAL)
    own = Kept(plain.frame.where(kind == _KEY).select("h1", "h2", "cid"), plain.size)
    if not plain.holds[0]:
        return own, None
    others = _of(rows, plain.frame.where(kind == _SEVERAL).select("cid"))
    theirs, rich = keys(Kept(others, rows.size), alternatives, keeper)
    return Kept(own.frame.union(theirs.frame), own.size + theirs.size), rich


def keys(rows: Kept, alternatives: Alternatives, keeper: Keeper) -> tuple[Kept, DataFrame | None]:
    """Keys (``h1``, ``h2``, ``cid``) for every alternative and combination of a cluster's values; and the clusters
    (``cid``) that are too rich in values, for at least one alternative, to have keys, or None.

    ``rows`` are the values of clusters (``cid``, ``label``, ``h1``, ``h2``), as hashes, each once.
    """
    from pyspark.sql import functions as F

    kind, place = F.col("kind"), F.col("h1")
    several = [(kind == _SEVERAL) & (place == at) for at in alternatives]
    outcomes = keeper.keep(_outcomes(rows.frame, alternatives), kind == _RICH, *several)
    parts = [outcomes.frame.where(kind == _KEY).select("h1", "h2", "cid")]
    for at, condition, number in zip(alternatives, several, outcomes.holds[1:], strict=True):
        if number:
            parts.append(_combined(rows, outcomes.frame.where(condition).select("cid"), at, alternatives[at]))
    rich = outcomes.frame.where(kind == _RICH).select("cid").distinct() if outcomes.holds[0] else None
    # Only an upper bound is known of keys that have not been made yet.
    most = outcomes.size + (linking.KEYS_PER_VALUE * rows.size if len(parts) > 1 else 0)
    return Kept(reduce(lambda one, other: one.union(other), parts), int(most)), rich


def _plain(rows: DataFrame, alternatives: Alternatives) -> DataFrame:
    """The keys of clusters that have at most one value of each label; for another only that it has several."""
    from pyspark.sql import functions as F

    label = F.col("label")
    halves = {
        (lane, place): F.bit_xor(F.when(label.isin(list(own)), F.col(f"h{lane + 1}"))).alias(f"h{lane}_{place}")
        for lane in (0, 1)
        for place, own in alternatives.items()
    }
    there = F.bit_or(F.call_function("shiftleft", F.lit(1).cast("bigint"), label)).alias("there")
    wide = rows.groupBy("cid").agg(F.count(F.lit(1)).alias("n"), there, *halves.values())
    nothing = F.lit(0).cast("bigint")
    several = F.struct(F.lit(_SEVERAL).alias("kind"), nothing.alias("h1"), nothing.alias("h2"))
    columns = [F.when(F.col("n") > F.bit_count("there"), several)]
    for place, own in alternatives.items():
        key = [_key(place, lane, [f"h{lane}_{place}"]).alias(f"h{lane + 1}") for lane in (0, 1)]
        wanted = sum(1 << at for at in own)
        alone = (F.col("n") == F.bit_count("there")) & (F.col("there").bitwiseAND(wanted) == wanted)
        columns.append(F.when(alone, F.struct(F.lit(_KEY).alias("kind"), *key)))
    every = wide.select("cid", F.explode(F.array(*columns)).alias("t")).where("t IS NOT NULL")
    return every.select("t.kind", "t.h1", "t.h2", "cid")


def _outcomes(rows: DataFrame, alternatives: Alternatives) -> DataFrame:
    """For each cluster and alternative its key, if it has one value of each label; else what it has (``kind``)."""
    from pyspark.sql import functions as F

    labels = sorted({label for labels in alternatives.values() for label in labels})
    here = {label: F.col("label") == label for label in labels}
    wide = rows.groupBy("cid").agg(
        *(F.count(F.when(here[label], 1)).alias(f"n{label}") for label in labels),
        *(F.max(F.when(here[label], F.col(h))).alias(f"{h}_{label}") for label in labels for h in ("h1", "h2")),
    )
    columns = []
    for place, own in alternatives.items():
        counts = [F.col(f"n{label}") for label in own]
        key = [_key(place, lane, [f"h{lane + 1}_{label}" for label in own]) for lane in (0, 1)]
        one = F.struct(F.lit(_KEY).alias("kind"), key[0].alias("h1"), key[1].alias("h2"))
        nothing = F.lit(0).cast("bigint").alias("h2")
        place_of = F.lit(place).cast("bigint").alias("h1")
        several = F.struct(F.lit(_SEVERAL).alias("kind"), place_of, nothing)
        rich = F.struct(F.lit(_RICH).alias("kind"), place_of, nothing)
        chosen = F.when(all_of([n == 1 for n in counts]), one).when(_rich(counts), rich).otherwise(several)
        columns.append(F.when(all_of([n > 0 for n in counts]), chosen))
    every = wide.select("cid", F.explode(F.array(*columns)).alias("t")).where("t IS NOT NULL")
    return every.select("t.kind", "t.h1", "t.h2", "cid")


def _rich(counts: Sequence[Column]) -> Column:
    from pyspark.sql import functions as F

    product = reduce(lambda one, other: one * other, (n.cast("double") for n in counts))
    values = reduce(lambda one, other: one + other, (F.when(n > 1, n).otherwise(0) for n in counts))
    return (product > values * linking.KEYS_PER_VALUE) | (values > MANY)


def _key(place: int, lane: int, halves: Sequence[str]) -> Column:
    """One half of a key of 128 bits; ``halves`` are those of its values, whose hashes tell labels apart."""
    from pyspark.sql import functions as F

    together = reduce(lambda one, other: one.bitwiseXOR(other), map(F.col, halves))
    return F.xxhash64(F.lit(2 * place + lane), together)


def _combined(rows: Kept, which: DataFrame, place: int, labels: Sequence[int]) -> DataFrame:
    """The keys of clusters that have several for an alternative, none of them very many."""
    from pyspark.sql import functions as F

    some = _of(rows, which)
    value = F.struct("h1", "h2")
    lists = some.groupBy("cid").agg(
        *(F.collect_list(F.when(F.col("label") == label, value)).alias(f"v{label}") for label in labels)
    )
    for label in labels:
        lists = lists.withColumn(f"v{label}", F.explode(f"v{label}"))
    key = [_key(place, lane, [f"v{label}.h{lane + 1}" for label in labels]).alias(f"h{lane + 1}") for lane in (0, 1)]
    return lists.select(*key, "cid")


def _of(rows: Kept, clusters: DataFrame) -> DataFrame:
    """The rows of some clusters."""
    from pyspark.sql import functions as F

    wanted = clusters.withColumn("wanted", F.lit(True))
    return looked_up(rows.frame, ["cid"], wanted, crowded(rows, ["cid"])).where("wanted").drop("wanted")


def pairs(rows: Kept, rich: DataFrame, alternatives: Alternatives) -> DataFrame:
    """Links (``cid``, ``least``) of the rich clusters with all that share a value of every label of an alternative."""
    from pyspark.sql import functions as F

    theirs = _of(rows, rich)
    theirs = theirs.select(F.col("cid").alias("rich"), "label", "h1", "h2")
    met = rows.frame.join(theirs, ["label", "h1", "h2"]).where("cid <> rich")
    labels = sorted({label for labels in alternatives.values() for label in labels})
    agreed = met.groupBy("cid", "rich").agg(
        *(F.bool_or(F.col("label") == label).alias(f"l{label}") for label in labels)
    )
    return agreed.where(agreeing(alternatives)).select(
        F.greatest("cid", "rich").alias("cid"), F.least("cid", "rich").alias("least")
    )


def agreeing(alternatives: Alternatives) -> Column:
    """That all labels of an alternative are there (``l`` and its number)."""
    from pyspark.sql import functions as F

    return reduce(or_, (all_of([F.col(f"l{label}") for label in own]) for own in alternatives.values()))
