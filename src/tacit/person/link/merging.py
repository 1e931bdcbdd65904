"""What clusters hold, by the policies of :mod:`tacit.person.resolve.merging`, written as SQL."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from contextlib import ExitStack

import numpy as np

from tacit.lift.joint import Vector
from tacit.person.link.attributes import Attributes, IntArray, arrow_table, cluster_table, lent, listed
from tacit.person.resolve.merging import Policy


def merged(
    attributes: Attributes,
    clusters: IntArray,
    policy: Policy = "union",
    *,
    single: Collection[str] = (),
    base: Attributes | None = None,
    kept: Sequence[tuple[Attributes, IntArray]] = (),
) -> str:
    """A table (cid, label, value, p) of what each cluster holds and with which confidence, in the engine.

    ``policy`` is as in :func:`tacit.person.resolve.merging.merge`, with ``single`` for the labels that have a single
    true value; what is held with confidence 0 is left out. Records of ``base`` are kept in addition to what they were
    merged into: record r is cluster n + r, where n is the number of records. The clusters ``kept`` from fewer
    resolutions are numbered from 2n, 3n ... on; only those that a later resolution extended are included.
    """
    alone = np.bincount(clusters)[clusters] == 1
    is_single = f"label IN ({listed(attributes.store, single)})" if single else "false"
    with ExitStack() as stack:
        place = stack.enter_context(lent(attributes.store, cluster_table(clusters, alone=alone)))
        parts = [_MERGED[policy].format(rows=_placed(attributes, place), single=is_single)]
        for more, (other, theirs) in enumerate(kept, start=2):
            sizes = np.bincount(theirs)[theirs]
            split = (sizes > 1) & ((sizes < np.bincount(clusters)[clusters]) | (other is not attributes))
            table = cluster_table(theirs + more * attributes.records, alone=~split).filter(split)
            also = stack.enter_context(lent(attributes.store, table))
            parts.append(_MERGED[policy].format(rows=_placed(other, also), single=is_single))
        if base is not None:
            parts.append(
                f"SELECT {attributes.records} + a.rid AS cid, a.label, a.value, a.confidence AS p FROM {base.name} a "
                f"JOIN {place} c ON c.rid = a.rid WHERE a.confidence > 0"
                + (" AND NOT c.alone" if base is attributes else "")
                # A single record already is its own cluster, unless a step has changed it.
            )
        return attributes.store.make(
            " UNION ALL ".join(f"SELECT cid, label, value, p FROM ({part}) q WHERE p > 0" for part in parts)
        )


def _placed(attributes: Attributes, place: str) -> str:
    return (
        f"SELECT c.cid, c.alone, a.rid, a.label, a.value, a.confidence FROM {attributes.name} a JOIN {place} c "
        "ON c.rid = a.rid WHERE a.confidence > 0"
    )


def doubted(attributes: Attributes, sure: Vector) -> Attributes:
    """The attributes, each as certain as it is that its record belongs to its cluster."""
    with lent(attributes.store, arrow_table({"rid": np.arange(len(sure)), "sure": sure})) as share:
        name = attributes.store.make(
            f"SELECT a.rid, a.label, a.value, a.confidence * s.sure AS confidence FROM {attributes.name} a "
            f"JOIN {share} s ON s.rid = a.rid"
        )
    return Attributes(attributes.store, name, attributes.records)


_VOTES = (
    "SELECT cid, alone, label, value, max(confidence) AS best, fsum(confidence) AS votes FROM ({rows}) b "
    "GROUP BY cid, alone, label, value"
)
# A single record is not changed, whatever the policy.
_MERGED = {
    "union": "SELECT cid, label, value, max(confidence) AS p FROM ({rows}) b GROUP BY cid, label, value",
    "consensus": (
        f"SELECT cid, label, value, best AS p FROM ({_VOTES}) v QUALIFY alone OR NOT {{single}} OR row_number() OVER "
        "(PARTITION BY cid, label ORDER BY votes DESC, best DESC, value) = 1"
    ),
    "vote": (
        "SELECT cid, label, value, CASE WHEN alone OR NOT {single} THEN best ELSE best * "
        f"(votes / fsum(votes) OVER (PARTITION BY cid, label)) END AS p FROM ({_VOTES}) v"
    ),
    "diluted": (
        f"SELECT v.cid, v.label, v.value, CASE WHEN v.alone THEN v.best ELSE least(v.best, v.votes / s.n) END AS p "
        f"FROM ({_VOTES}) v JOIN (SELECT cid, label, count(DISTINCT rid) AS n FROM ({{rows}}) b GROUP BY cid, label) s "
        "ON s.cid = v.cid AND s.label = v.label"
    ),
}
