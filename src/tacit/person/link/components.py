"""Connected components of links between records: a few links one by one, many at once."""

from __future__ import annotations

from typing import TypeVar

import numpy as np
from numpy.typing import NDArray

from tacit.person.link.attributes import IntArray

Whole = TypeVar("Whole", np.int32, np.int64)

# Up to this many links, following them one by one is faster.
FEW_LINKS = 1_000
# After so many rounds, scipy takes over: long chains take many.
MOST_ROUNDS = 12


def components(first: NDArray[Whole], second: NDArray[Whole], size: int) -> NDArray[Whole]:
    """The smallest node of the component of each of the nodes 0 to size - 1, joined along edges."""
    if len(first) <= FEW_LINKS:
        return _followed(first, second, size)
    smallest = np.arange(size, dtype=first.dtype)
    for _ in range(MOST_ROUNDS):
        # Every node points at the smallest that it is known to be joined with, which points at itself.
        first, second = smallest[first], smallest[second]
        apart = first != second
        first, second = first[apart], second[apart]
        if not len(first):
            return smallest
        smallest[np.maximum(first, second)] = np.minimum(first, second)
        while True:
            further = smallest[smallest]
            if (further == smallest).all():
                break
            smallest = further
    from scipy.sparse import coo_matrix
    from scipy.sparse.csgraph import connected_components

    ones = np.ones(len(first), np.int8)
    number, component = connected_components(coo_matrix((ones, (first, second)), shape=(size, size)), directed=False)
    least = np.empty(number, first.dtype)
    # The last of several assignments to one place wins, here the smallest node.
    least[component[::-1]] = np.arange(size - 1, -1, -1, dtype=first.dtype)
    done: NDArray[Whole] = least[component][smallest]
    return done


def _followed(first: NDArray[Whole], second: NDArray[Whole], size: int) -> NDArray[Whole]:
    """The same as :func:`components`, link by link."""
    before: dict[int, int] = {}

    def smallest(node: int) -> int:
        while (other := before.setdefault(node, node)) != node:
            before[node] = before[other]
            node = other
        return node

    for one, other in zip(first.tolist(), second.tolist(), strict=True):
        low, high = sorted((smallest(one), smallest(other)))
        before[high] = low
    done = np.arange(size, dtype=first.dtype)
    done[list(before)] = [smallest(node) for node in before]
    return done


def joined(cluster: NDArray[Whole], first: NDArray[Whole], second: NDArray[Whole]) -> tuple[NDArray[Whole], IntArray]:
    """The cluster of every record after joining those of each pair of records, and the records of clusters that grew.

    A cluster is named by its smallest record.
    """
    first, second = cluster[first], cluster[second]
    apart = first != second
    first, second = first[apart], second[apart]
    records = len(cluster)
    moved = np.arange(records, dtype=cluster.dtype)
    if 4 * len(first) > records:
        moved = components(first, second, records)
    else:
        nodes, places = np.unique(np.concatenate([first, second]), return_inverse=True)
        moved[nodes] = nodes[components(places[: len(first)], places[len(first) :], len(nodes))]
    grown = np.zeros(records, bool)
    grown[moved[first]] = True
    after: NDArray[Whole] = moved[cluster]
    return after, np.flatnonzero(grown[after])
