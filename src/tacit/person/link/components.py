"""Connected components of links between records: in memory by scipy, or in SQL by contraction."""

from __future__ import annotations

from typing import Protocol

import numpy as np

from tacit.person.link.attributes import IntArray, cluster_table
from tacit.tables.engines import Store


class Clustering(Protocol):
    """Which cluster every record is in; a cluster is named by its smallest record."""

    def absorb(self, edges: str) -> str | None:
        """Join clusters along the rows (a, b) of a query; gives a table (rid, cid) of the clusters that grew, or None.

        The records a and b stand for whatever clusters they are in.
        """

    def table(self) -> str:
        """A table (rid, cid) of all records."""

    def labels(self) -> IntArray:
        """The cluster of every record."""

    def close(self) -> None:
        """Forget what the engine holds."""


def clustering_on(store: Store, records: int) -> Clustering:
    """Every record alone, where the rows of a store are."""
    return LocalClustering(store, records) if store.local else RemoteClustering(store, records)


def components(first: IntArray, second: IntArray, size: int) -> IntArray:
    """The smallest node of the component of each of the nodes 0 to size - 1, joined along edges."""
    from scipy.sparse import coo_matrix
    from scipy.sparse.csgraph import connected_components

    ones = np.ones(len(first), np.int8)
    number, component = connected_components(coo_matrix((ones, (first, second)), shape=(size, size)), directed=False)
    smallest = np.empty(number, np.int64)
    # Of several assignments to one place the last stays, here the smallest node.
    smallest[component[::-1]] = np.arange(size - 1, -1, -1)
    done: IntArray = smallest[component]
    return done


class LocalClustering:
    """The clusters as an array, 8 bytes a record; components by scipy."""

    def __init__(self, store: Store, records: int) -> None:
        self._store = store
        self._cluster = np.arange(records, dtype=np.int64)

    def absorb(self, edges: str) -> str | None:
        """Join clusters along the rows (a, b) of a query; gives the clusters that grew, or None."""
        import pyarrow as pa

        pairs = self._store.ask(edges)
        first, second = (self._cluster[pairs.column(name).to_numpy().astype(np.int64)] for name in ("a", "b"))
        joined = first != second
        first, second = first[joined], second[joined]
        if not len(first):
            return None
        records = len(self._cluster)
        moved = np.arange(records, dtype=np.int64)
        if 4 * len(first) > records:
            moved = components(first, second, records)
        else:
            nodes, places = np.unique(np.concatenate([first, second]), return_inverse=True)
            moved[nodes] = nodes[components(places[: len(first)], places[len(first) :], len(nodes))]
        grown = np.zeros(records, bool)
        grown[moved[first]] = True
        self._cluster = moved[self._cluster]
        rids = np.flatnonzero(grown[self._cluster])
        return self._store.load(pa.table({"rid": rids, "cid": self._cluster[rids]}))

    def table(self) -> str:
        """A table (rid, cid) of all records."""
        return self._store.load(cluster_table(self._cluster))

    def labels(self) -> IntArray:
        """The cluster of every record."""
        return self._cluster

    def close(self) -> None:
        """Nothing is held in the engine."""


class RemoteClustering:
    """The clusters as a table in the engine; components by contraction. Nothing but counts leaves the engine."""

    def __init__(self, store: Store, records: int) -> None:
        self._store = store
        self._clusters = store.make(f"SELECT id AS rid, id AS cid FROM range({records}) AS r(id)")

    def absorb(self, edges: str) -> str | None:
        """Join clusters along the rows (a, b) of a query; gives the clusters that grew, or None."""
        store, before = self._store, self._clusters
        joined = store.make(
            f"SELECT DISTINCT x.cid AS a, y.cid AS b FROM ({edges}) e JOIN {before} x ON x.rid = e.a "
            f"JOIN {before} y ON y.rid = e.b WHERE x.cid <> y.cid"
        )
        if not _rows(store, joined):
            store.drop(joined)
            return None
        moved = contracted(store, joined)
        self._clusters = store.make(
            f"SELECT c.rid, coalesce(m.cid, c.cid) AS cid FROM {before} c LEFT JOIN {moved} m ON m.id = c.cid"
        )
        grown = store.make(f"SELECT c.rid, m.cid FROM {before} c JOIN {moved} m ON m.id = c.cid")
        store.drop(joined, moved, before)
        return grown

    def table(self) -> str:
        """A table (rid, cid) of all records."""
        return self._store.make(f"SELECT rid, cid FROM {self._clusters}")

    def labels(self) -> IntArray:
        """The cluster of every record."""
        rows = self._store.ask(f"SELECT rid, cid FROM {self._clusters}")
        cluster = np.empty(rows.num_rows, np.int64)
        cluster[rows.column("rid").to_numpy()] = rows.column("cid").to_numpy()
        return cluster

    def close(self) -> None:
        """Forget the table."""
        self._store.drop(self._clusters)


def contracted(store: Store, edges: str) -> str:
    """A table (id, cid) of the nodes of a table of edges (a, b) and the smallest node of the component of each.

    In every round each node goes to that neighbour (or stays with itself) which comes first in an order made anew by
    hashing, the node one step further is taken, and edges are drawn again between what is left. A chain loses a
    constant share of its nodes a round, where passing on the smallest label would take as many rounds as it is long.
    """
    graph = store.make(f"SELECT a, b FROM {edges} WHERE a <> b UNION SELECT b, a FROM {edges} WHERE a <> b")
    place = store.make(f"SELECT DISTINCT a AS id, a AS cid FROM {graph}")
    turn = 0
    while _rows(store, graph):
        turn += 1
        order = store.hashed("x", str(turn))
        near = store.make(
            f"SELECT a, min_by(x, {order}) AS p FROM (SELECT a, b AS x FROM {graph} UNION ALL "
            f"SELECT DISTINCT a, a FROM {graph}) n GROUP BY a"
        )
        next_one = store.make(f"SELECT n.a, m.p FROM {near} n JOIN {near} m ON m.a = n.p")
        smaller = store.make(
            f"SELECT DISTINCT x.p AS a, y.p AS b FROM {graph} g JOIN {next_one} x ON x.a = g.a "
            f"JOIN {next_one} y ON y.a = g.b WHERE x.p <> y.p"
        )
        further = store.make(
            f"SELECT c.id, coalesce(n.p, c.cid) AS cid FROM {place} c LEFT JOIN {next_one} n ON n.a = c.cid"
        )
        store.drop(graph, place, near, next_one)
        graph, place = smaller, further
    done = store.make(f"SELECT id, min(id) OVER (PARTITION BY cid) AS cid FROM {place}")
    store.drop(graph, place)
    return done


def _rows(store: Store, table: str) -> int:
    return int(store.ask(f"SELECT count(*) AS n FROM {table}").column("n")[0].as_py())
