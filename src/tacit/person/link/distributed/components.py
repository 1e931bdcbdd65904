"""Connected components of links on a cluster."""

from __future__ import annotations

import numpy as np

from tacit.person.link import components as here
from tacit.person.link.attributes import IntArray, arrow_table, numbers
from tacit.person.link.distributed.sharing import crowded, even, looked_up, placed
from tacit.tables.engines.spark.keeping import Keeper, Kept

# So many links, or rows that can still match, are finished on the driver.
FEW = 1_000_000


def linked(links: Kept, keeper: Keeper) -> Kept:
    """The nodes (``cid``) that are not the smallest of their component, with the smallest (``new``).

    ``links`` are pairs (``cid``, ``least``), of which the second is smaller.

    Guarantees
    ----------
    Two rounds at least halve the nodes of every component that is not done. Each node points at its smallest neighbour
    and so, by pointers followed twice as far each time, at the end of the chain; nodes with the same end become one.
    One that is alone after this has only neighbours that went to a smaller one, and follows them in the next round.
    """
    from pyspark.sql import functions as F

    done: Kept | None = None
    while links.size > FEW:
        nearest = links.frame.groupBy("cid").agg(F.min("least").alias("new"))
        moves = _followed(keeper.keep(nearest), keeper)
        done = after(done, moves, keeper)
        to = moves.frame
        first = looked_up(links.frame, ["cid"], to, crowded(links, ["cid"])).select("least", F.col("new").alias("a"))
        ends = to.select(F.col("cid").alias("least"), F.col("new").alias("end"))
        pairs = looked_up(first, ["least"], ends, crowded(links, ["least"])).select(
            "a", F.coalesce("end", "least").alias("b")
        )
        pairs = pairs.where("a <> b").select(F.greatest("a", "b").alias("cid"), F.least("a", "b").alias("least"))
        links = keeper.keep(pairs.distinct())
    if done is not None and not links.size:
        return done
    return after(done, _on_driver(links), keeper)


def after(done: Kept | None, moves: Kept, keeper: Keeper) -> Kept:
    """Where nodes are that moved, and then moved again."""
    from pyspark.sql import functions as F

    if done is None:
        return moves
    if not moves.size:
        return done
    again = Kept(moves.frame.select(F.col("cid").alias("new"), F.col("new").alias("newer")), moves.size)
    moved = placed(done, ["new"], again).select("cid", F.coalesce("newer", "new").alias("new"))
    return keeper.keep(even(moved.union(moves.frame)))


def _followed(pointers: Kept, keeper: Keeper) -> Kept:
    """Every node with the end of the chain of pointers from it."""
    from pyspark.sql import functions as F

    while True:
        further = pointers.frame.select(F.col("cid").alias("new"), F.col("new").alias("newer"))
        both = looked_up(pointers.frame, ["new"], further, crowded(pointers, ["new"]))
        next_ones = both.select("cid", F.coalesce("newer", "new").alias("new"), F.col("newer").isNotNull().alias("on"))
        kept = keeper.keep(next_ones, F.col("on"))
        pointers = Kept(kept.frame.drop("on"), kept.size)
        if kept.holds == (0,):
            return pointers


def _on_driver(links: Kept) -> Kept:
    """What :func:`linked` returns, by the components of one machine."""
    rows = links.frame.toArrow()
    first, second = (numbers(rows, name) for name in ("cid", "least"))
    nodes, places = np.unique(np.concatenate([first, second]), return_inverse=True)
    smallest = nodes[here.components(places[: len(first)], places[len(first) :], len(nodes))]
    moved = nodes != smallest
    return from_driver(links, nodes[moved], smallest[moved])


def from_driver(rows: Kept, nodes: IntArray, ends: IntArray) -> Kept:
    """Where nodes are, which the driver knows; it need not be kept, because no worker can lose it."""
    table = arrow_table({"cid": nodes, "new": ends})
    return Kept(rows.frame.sparkSession.createDataFrame(table), len(nodes))
