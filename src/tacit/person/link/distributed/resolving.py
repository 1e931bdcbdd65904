"""Which records are one person's, on a cluster: the rounds of R-Swoosh as Spark plans."""

from __future__ import annotations

from typing import TYPE_CHECKING
from weakref import finalize

import numpy as np

from tacit.person.link.attributes import Attributes, IntArray, arrow_table, numbers
from tacit.person.link.distributed import components, sharing
from tacit.person.link.distributed.components import after, from_driver, linked
from tacit.person.link.distributed.keys import Alternatives, agreeing, keys, keys_of_records, pairs
from tacit.person.link.distributed.sharing import counted, crowded, placed, shared
from tacit.person.link.linking import resolve
from tacit.person.link.wide import Long, gathered
from tacit.person.resolve.grouping import Closure
from tacit.person.resolve.rules import Rules
from tacit.tables.engines.spark.keeping import Keeper, Kept
from tacit.tables.engines.spark.sessions import reading

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    import pyarrow as pa
    from pyspark.sql import DataFrame

    Keyed = Callable[[Kept, Alternatives, Keeper], tuple[Kept, DataFrame | None]]


def resolved_on_spark(
    attributes: DataFrame, rules: Rules, *, closure: Closure = "swoosh", among: DataFrame | None = None
) -> DataFrame:
    """The cluster of every record, named by its smallest record.

    Parameters
    ----------
    attributes : DataFrame
        Who holds what: ``rid`` (bigint), ``label``, ``value`` (strings, in normal form), ``confidence`` (double).
        It is computed several times: keep it if that is expensive.
    rules : Rules
    closure : {"swoosh", "components"}
        As in :func:`tacit.person.link.linking.resolve`.
    among : DataFrame, optional
        The records (``rid``) that the result lists. One that holds nothing is alone. Without it, every record that has
        a row, whether or not the row takes part in matching.

    Returns
    -------
    DataFrame
        (``rid``, ``cid``), each record once. The workers keep it on their disks as long as this object lives; after
        that, a frame made from it computes it again.

    Guarantees
    ----------
    The clusters are those of :func:`tacit.person.link.linking.resolve`, whatever the partitions and whichever workers
    come and go, unless two different values or keys have the same 128-bit hash: with m of them the probability is at
    most m^2 / 2^129, for a million million one in 10^14, if values are not made to collide. At most
    ``components.FEW`` links, or rows of hashes, reach the driver, ``sharing.SMALL`` pairs of numbers of records on the
    way to all workers, and the hashes of what more than half a million rows share; no value does. A value that nearly
    all records hold is one partial sum per partition.

    Notes
    -----
    A round is made of keys, links from equal keys, components, and values of the clusters; see
    :func:`tacit.person.link.linking.resolve`. From the second round on, what only one cluster holds is left out, and
    so are clusters that share no value of some label of every alternative.
    """
    from pyspark.sql import functions as F

    keeper = Keeper()
    with reading("the records"):
        try:
            moved = _Rounds(attributes, rules, keeper).moved(closure)
            listed = (attributes if among is None else among).select("rid").distinct()
            if moved is not None:
                table = moved.frame.withColumnRenamed("cid", "rid")
                named = listed.join(F.broadcast(table) if moved.size <= sharing.SMALL else table, "rid", "left")
                listed = named.select("rid", F.coalesce("new", "rid").alias("cid"))
            else:
                listed = listed.select("rid", F.col("rid").alias("cid"))
            own = Keeper()
            result = own.keep(listed).frame
            finalize(result, own.close).atexit = False
            return result
        finally:
            keeper.close()


class _Rounds:
    """One resolution: the rules by the places of their labels, and the rows that take part in matching."""

    def __init__(self, attributes: DataFrame, rules: Rules, keeper: Keeper) -> None:
        self._keeper, self._attributes, self._rules = keeper, attributes, rules
        place = {label: at for at, label in enumerate(rules.labels)}
        every = {at: tuple(place[label] for label in labels) for at, labels in enumerate(rules.alternatives)}
        self._ors: Alternatives = {at: labels for at, labels in every.items() if len(labels) == 1}
        self._ands: Alternatives = {at: labels for at, labels in every.items() if len(labels) > 1}
        self._crowds = True

    def moved(self, closure: Closure) -> Kept | None:
        """The records that are not the smallest of their cluster (``cid``), with the smallest (``new``)."""
        if not self._rules.alternatives:
            return None
        hashed = self._hashed()
        size, self._crowds = counted(hashed, ["h1", "h2"])
        # To hash values again is cheaper than to keep their hashes.
        rows = Kept(hashed, size)
        if rows.size <= components.FEW:
            return _on_driver(rows, {**self._ors, **self._ands}, closure)
        moves = self._links(rows, self._ors, keys_of_records)
        done = moves
        while moves.size and self._ands and closure == "swoosh":
            rows = self._keeper.keep(self._merged(rows, moves))
            if rows.size > components.FEW:
                rows = self._able(rows)
            if not rows.size or rows.holds == (0,):
                return done
            if rows.size <= components.FEW:
                return after(done, _on_driver(rows, self._ands, closure), self._keeper)
            moves = self._links(Kept(rows.frame.where("live"), rows.holds[0]), {}, keys)
            done = after(done, moves, self._keeper)
        return done

    def _hashed(self) -> DataFrame:
        """What takes part in matching: (``cid``, ``label``, ``h1``, ``h2``), values as 128-bit hashes."""
        from pyspark.sql import functions as F

        place, label = F.lit(None).cast("int"), F.col("label")
        for at, name in enumerate(self._rules.labels):
            place = F.when(label == F.lit(name), F.lit(at)).otherwise(place)
        confidence = F.col("confidence")
        counts = (confidence > 0) & (confidence >= F.lit(self._rules.min_confidence))
        there = self._attributes.where(counts).select(F.col("rid").alias("cid"), place.alias("label"), "value")
        halves = (F.xxhash64(F.lit(lane), "label", "value").alias(f"h{lane}") for lane in (1, 2))
        return there.where("label IS NOT NULL").select("cid", "label", *halves)

    def _links(self, rows: Kept, ors: Alternatives, keyed: Keyed) -> Kept:
        """Join clusters that share a key, or are too rich for keys and share the values."""
        from pyspark.sql import functions as F

        alone = [labels[0] for labels in ors.values()]
        every = Kept(rows.frame.where(F.col("label").isin(alone)).select("h1", "h2", "cid"), rows.size)
        rich = None
        if self._ands:
            own, rich = keyed(self._of_ands(rows), self._ands, self._keeper)
            every = Kept(every.frame.union(own.frame), rows.size + own.size) if ors else own
        by = ["h1", "h2"]
        with_least = shared(every.frame, by, self._crowded(every, by), least=F.min("cid"))
        links = with_least.where("cid <> least").select("cid", "least")
        if rich is not None:
            links = links.union(pairs(self._of_ands(rows), rich, self._ands))
        return linked(self._keeper.keep(links), self._keeper)

    def _crowded(self, rows: Kept, by: Sequence[str]) -> DataFrame | None:
        """The crowded among values or keys of clusters; a key has no more rows than each of its values had at first."""
        return crowded(rows, by) if self._crowds else None

    def _of_ands(self, rows: Kept) -> Kept:
        from pyspark.sql import functions as F

        labels = sorted({label for labels in self._ands.values() for label in labels})
        return Kept(rows.frame.where(F.col("label").isin(labels)), rows.size)

    def _merged(self, rows: Kept, moves: Kept) -> DataFrame:
        """The values that several clusters hold, each once per cluster; ``live`` if one of these has just grown."""
        from pyspark.sql import functions as F

        ends = moves.frame.select(F.col("new").alias("cid"), "new").distinct()
        before, by = self._of_ands(rows), ["h1", "h2"]
        now = placed(before, ["cid"], Kept(moves.frame.union(ends), 2 * moves.size))
        own = now.select(
            F.coalesce("new", "cid").alias("cid"), "label", "h1", "h2", F.col("new").isNotNull().alias("grown")
        )
        # A value has as many rows as it had before.
        least, most = F.min("cid"), F.max("cid")
        every = shared(own, by, self._crowded(before, by), live=F.max("grown"), least=least, most=most)
        return every.where("least <> most").groupBy("cid", "label", "h1", "h2").agg(F.max("live").alias("live"))

    def _able(self, rows: Kept) -> Kept:
        """Those of clusters that hold a shared value of every label of an alternative, and how many are ``live``.

        All others are done. What is first merged with one of them would share these values with it, and each is held
        by another cluster now.
        """
        from pyspark.sql import functions as F

        labels = sorted({label for labels in self._ands.values() for label in labels})
        there = {f"l{label}": F.bool_or(F.col("label") == label) for label in labels}
        every = shared(rows.frame, ["cid"], crowded(rows, ["cid"]), **there)
        return self._keeper.keep(every.where(agreeing(self._ands)).drop(*there), F.col("live"))


def _on_driver(rows: Kept, alternatives: Alternatives, closure: Closure) -> Kept:
    """Where clusters go by all rounds that remain, which are those of one machine."""
    from pyspark.sql import functions as F

    value = F.concat_ws(" ", "h1", "h2").alias("value")
    hashes = rows.frame.select("cid", F.col("label").cast("string").alias("label"), value).toArrow()
    nodes, places = np.unique(numbers(hashes, "cid"), return_inverse=True)
    rules = Rules([[str(label) for label in labels] for labels in alternatives.values()])
    clusters: IntArray = resolve(_attributes(hashes, places, len(nodes)), rules, closure=closure)
    moved = clusters != np.arange(len(nodes))
    return from_driver(rows, nodes[moved], nodes[clusters[moved]])


def _attributes(hashes: pa.Table, places: IntArray, records: int) -> Attributes:
    """Rows of hashes as attributes in an engine of this machine."""
    alone = arrow_table({"rid": places.astype(np.int64), "confidence": np.ones(len(places))})
    rows = alone.append_column("label", hashes.column("label")).append_column("value", hashes.column("value"))
    return gathered([Long(rows, records)]).attributes
