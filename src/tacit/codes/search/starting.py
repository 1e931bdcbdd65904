"""Where growth starts: the leaves of a tree, with their groups, and the limits inside its known parts."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import ArrayLike

from tacit.codes.search.frontier import Frontier
from tacit.codes.search.limits import Limits
from tacit.codes.search.pruning import weight_of
from tacit.codes.search.records import GroupedRecords, SecretBound
from tacit.codes.tree import CellTree


def within_parts(
    tree: CellTree, records: GroupedRecords, bounds: Sequence[SecretBound], guide: ArrayLike | None = None
) -> tuple[tuple[Limits, ...], Frontier]:
    """The limits inside the known parts of a tree, and the frontier of its leaves."""
    leaf = tree.leaf_of(records.codes)
    part_of = np.searchsorted(tree.known, tree.known_of[tree.leaves])
    node = np.searchsorted(tree.leaves, leaf)
    limits = tuple(
        Limits.of(bound, weight_of(secret, part_of[node], records.weight, (bound.n_secrets, len(tree.known))))
        for secret, bound in zip(records.secrets, bounds, strict=True)
    )
    marks = None if guide is None else np.asarray(guide, np.float64).T[bounds[0].binding]
    labels = tuple(each.label for each in limits)
    return limits, Frontier.of(records, labels, node, tree.leaves, part_of, marks)
