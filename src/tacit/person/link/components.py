"""Connected components of links between records, by scipy."""

from __future__ import annotations

import numpy as np

from tacit.person.link.attributes import IntArray


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


def joined(cluster: IntArray, first: IntArray, second: IntArray) -> tuple[IntArray, IntArray]:
    """The cluster of every record after those of pairs of records are joined, and the records of clusters that grew.

    A cluster is named by its smallest record.
    """
    first, second = cluster[first], cluster[second]
    apart = first != second
    first, second = first[apart], second[apart]
    records = len(cluster)
    moved = np.arange(records, dtype=np.int64)
    if 4 * len(first) > records:
        moved = components(first, second, records)
    else:
        nodes, places = np.unique(np.concatenate([first, second]), return_inverse=True)
        moved[nodes] = nodes[components(places[: len(first)], places[len(first) :], len(nodes))]
    grown = np.zeros(records, bool)
    grown[moved[first]] = True
    after: IntArray = moved[cluster]
    return after, np.flatnonzero(grown[after])
