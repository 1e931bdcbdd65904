"""What clusters hold, by the policies of :mod:`tacit.person.resolve.merging`, written as SQL."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import ExitStack
from typing import TYPE_CHECKING

import numpy as np

from tacit.lift.joint import Vector
from tacit.person.link.attributes import Attributes, IntArray, arrow_table, cluster_table, lent, listed
from tacit.person.model.labels import Labels
from tacit.person.model.values import SUPPRESSED
from tacit.person.resolve.merging import Policy
from tacit.tables.engines import Store

if TYPE_CHECKING:
    import pyarrow as pa


def merged(
    attributes: Attributes,
    clusters: IntArray,
    policy: Policy = "union",
    *,
    labels: Labels | None = None,
    base: Attributes | None = None,
    kept: Sequence[tuple[Attributes, IntArray]] = (),
) -> str:
    """A table (cid, label, value, p) of what each cluster holds and with which confidence, in the engine.

    ``policy`` and ``labels`` are as in :func:`tacit.person.resolve.merging.merge`; what is held with confidence 0 is
    left out. Records of ``base`` are kept in addition to what they were
    merged into: record r is cluster n + r, where n is the number of records. The clusters ``kept`` from fewer
    resolutions are numbered from 2n, 3n ... on; only those that a later resolution extended are included.
    """
    alone = np.bincount(clusters)[clusters] == 1
    described = Labels() if labels is None else labels
    with ExitStack() as stack:
        place = stack.enter_context(lent(attributes.store, cluster_table(clusters, alone=alone)))
        parts = [
            _merged_rows(attributes.store, _placed(attributes, place), policy, described, stack, attributes.several)
        ]
        for more, (other, theirs) in enumerate(kept, start=2):
            sizes = np.bincount(theirs)[theirs]
            split = (sizes > 1) & ((sizes < np.bincount(clusters)[clusters]) | (other is not attributes))
            table = cluster_table(theirs + more * attributes.records, alone=~split).filter(split)
            also = stack.enter_context(lent(attributes.store, table))
            parts.append(_merged_rows(attributes.store, _placed(other, also), policy, described, stack, other.several))
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


def _merged_rows(
    store: Store, rows: str, policy: Policy, labels: Labels, stack: ExitStack, several: frozenset[str]
) -> str:
    """A query (cid, label, value, p) of rows merged by a policy."""
    single = [label for label in labels if labels[label].single]
    is_single = f"label IN ({listed(store, single)})" if single else "false"
    finer = None if policy == "diluted" else _finer_values(store, rows, policy, labels, several)
    if finer is None or not finer.num_rows:
        return _MERGED[policy].format(rows=rows, single=is_single)
    related = stack.enter_context(lent(store, finer))
    return f"WITH {_RELATED.format(rows=rows, related=related)} {_BEYOND[policy].format(single=is_single)}"


def _finer_values(store: Store, rows: str, policy: Policy, labels: Labels, several: frozenset[str]) -> pa.Table:
    """Pairs (label, coarse, fine) of values in one cluster of which one agrees with the other and says less."""
    parted = [label for label in labels if labels[label].has_parts and (policy != "union" or labels[label].single)]
    # A whole day is the most frequent value that says no less than another.
    part = (
        f"a.label IN ({listed(store, parted)}) AND NOT regexp_full_match(a.value, '[0-9]{{4}}-[0-9]{{2}}-[0-9]{{2}}')"
    )
    may_be = f"(a.hidden OR ({part}))"
    if policy == "union":
        may_be += f" AND a.label IN ({listed(store, [label for label in labels if labels[label].single])})"
    pairs = store.ask(
        f"WITH v AS MATERIALIZED (SELECT cid, label, value, regexp_matches(value, {store.text(SUPPRESSED)}) AS hidden "
        f"FROM (SELECT DISTINCT cid, label, value FROM ({rows}) r WHERE NOT alone OR label IN "
        f"({listed(store, several)})) d QUALIFY count(*) OVER (PARTITION BY cid, label) > 1) "
        "SELECT DISTINCT a.label, a.value AS coarse, b.value AS fine FROM v a JOIN v b ON "
        f"b.cid = a.cid AND b.label = a.label AND b.value <> a.value WHERE {may_be}"
    )
    kept = [
        labels[label].says_less(coarse, fine)
        for label, coarse, fine in zip(*(c.to_pylist() for c in pairs.columns), strict=True)
    ]
    return pairs.filter(np.array(kept, dtype=bool))


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

# The values of every cluster (v), and pairs of them (p) of which one agrees with the other and says less.
_RELATED = (
    "r AS MATERIALIZED ({rows}), v AS MATERIALIZED (SELECT cid, alone, label, value, max(confidence) AS best, "
    "fsum(confidence) AS votes FROM r GROUP BY cid, alone, label, value), "
    "p AS MATERIALIZED (SELECT c.cid, c.label, c.value AS coarse, c.votes, f.value AS fine, f.best, f.votes AS own "
    "FROM v c JOIN {related} x ON x.label = c.label AND x.coarse = c.value JOIN v f ON f.cid = c.cid AND "
    "f.label = c.label AND f.value = x.fine), "
    "most AS (SELECT cid, label, coarse, max(best) AS best FROM p GROUP BY cid, label, coarse), "
    "beyond AS (SELECT v.cid, v.alone, v.label, v.value, v.votes, v.best, "
    "greatest(0.0, v.best - coalesce(m.best, 0.0)) AS p FROM v LEFT JOIN most m ON "
    "m.cid = v.cid AND m.label = v.label AND m.coarse = v.value)"
)
_BEYOND = {
    "union": "SELECT cid, label, value, CASE WHEN {single} THEN p ELSE best END AS p FROM beyond",
    "consensus": (
        "SELECT cid, label, value, p FROM beyond WHERE alone OR NOT {single} UNION ALL SELECT cid, label, value, best "
        "- greatest(0.0, coalesce(max(best) OVER (PARTITION BY cid, label ORDER BY support DESC, best DESC, value ROWS "
        "BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING), 0.0)) AS p FROM (SELECT s.*, first_value(value) OVER (PARTITION "
        "BY cid, label ORDER BY support DESC, best DESC, value) AS chosen FROM (SELECT cid, label, value, best, "
        "support FROM v JOIN (SELECT cid, label, value, fsum(confidence) AS support FROM (SELECT cid, label, value, "
        "confidence FROM r UNION ALL SELECT r.cid, r.label, p.fine, r.confidence FROM r JOIN p ON p.cid = r.cid AND "
        "p.label = r.label AND p.coarse = r.value) s GROUP BY cid, label, value) s USING (cid, label, value) WHERE "
        "{single} AND NOT alone) s) s WHERE value = chosen OR EXISTS (SELECT 1 FROM p WHERE p.cid = s.cid AND "
        "p.label = s.label AND p.coarse = s.value AND p.fine = s.chosen)"
    ),
    "vote": (
        "SELECT cid, label, value, CASE WHEN alone OR NOT {single} THEN p ELSE p * (share / fsum(votes) OVER "
        "(PARTITION BY cid, label)) END AS p FROM (SELECT b.*, b.votes + coalesce(m.votes, 0.0) AS share FROM beyond b "
        "LEFT JOIN (SELECT cid, label, fine, fsum(votes * own / among) AS votes FROM (SELECT p.*, fsum(own) OVER "
        "(PARTITION BY p.cid, p.label, p.coarse) AS among FROM p ANTI JOIN most m ON m.cid = p.cid AND "
        "m.label = p.label AND m.coarse = p.fine) f GROUP BY cid, label, fine) m ON m.cid = b.cid AND "
        "m.label = b.label AND m.fine = b.value) s"
    ),
}
