"""Leakage of many records at once."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

import numpy as np
from numpy.typing import ArrayLike

from tacit.errors import ArgumentError
from tacit.lift.joint import Matrix, Vector
from tacit.person.model.comparing import Comparer, Places
from tacit.person.model.labels import Labels, as_labels
from tacit.person.model.leakage import check_beta, leakage_of
from tacit.person.model.quadrature import nodes, reaches
from tacit.person.model.records import Record, Reference
from tacit.person.model.units import plain_factors

# Numbers in one array of nodes by attributes: a few such arrays fit into a processor's cache.
_CHUNK: Final = 1 << 15


def record_leakages(
    records: Sequence[Record], reference: Reference, labels: Labels | None = None, *, beta: float = 1.0
) -> Vector:
    """Leakage of every record against one reference, as `record_leakage` gives it one by one."""
    check_beta(beta)
    comparer = Comparer(reference, as_labels(None, labels))
    result = np.zeros(len(records))
    plain = {}
    for place, record in enumerate(records):
        compared = comparer.compare(record)
        if compared.units:
            result[place] = leakage_of(compared, beta=beta)
        elif compared.credit.any():
            plain[place] = compared
    if plain:
        starts = np.concatenate([[0], np.cumsum([len(compared) for compared in plain.values()])])
        confidence, weight, credit = (
            np.concatenate([getattr(compared, name) for compared in plain.values()])
            for name in ("confidence", "weight", "credit")
        )
        result[list(plain)] = leakage_batch(starts, confidence, weight, credit, comparer.reference_weight, beta=beta)
    return result


def leakage_batch(
    starts: ArrayLike,
    confidence: ArrayLike,
    weight: ArrayLike,
    credit: ArrayLike,
    reference_weight: ArrayLike,
    *,
    beta: float = 1.0,
) -> Vector:
    """Leakage of many records of independent attributes, given as arrays.

    Parameters
    ----------
    starts : array of int, one longer than there are records
        Record i has the attributes from ``starts[i]`` to before ``starts[i + 1]``.
    confidence, weight, credit : arrays over all attributes
        Confidence in [0, 1]; the weight; the part of the weight that is right: all of it, or 0 if wrong.
    reference_weight : float or array over records
        Weight of the reference each record is compared with.
    beta : float
        Recall counts ``beta`` times as much as precision.

    Returns
    -------
    array over records

    Guarantees
    ----------
    The relative error is at most 1e-12. Extra memory is bounded by a small multiple of the arrays passed in.
    """
    check_beta(beta)
    bounds = np.asarray(starts, dtype=np.intp)
    p, w, c = (np.asarray(values, dtype=np.float64) for values in (confidence, weight, credit))
    _check(bounds, p, w, c)
    size = len(bounds) - 1
    base = beta * beta * np.broadcast_to(np.asarray(reference_weight, dtype=np.float64), (size,))
    if not np.all(np.isfinite(base) & (base >= 0)):
        raise ArgumentError("a reference weight is negative or not finite: give sums of weights")
    result = np.zeros(size)
    # An empty record leaks nothing, and reduceat cannot see it.
    filled = np.flatnonzero(bounds[1:] > bounds[:-1])
    if len(filled) == 0:
        return result
    firsts = bounds[:-1][filled]
    certain = p == 1
    kept_weight = np.add.reduceat(np.where(certain, w, 0.0), firsts)
    kept_credit = np.add.reduceat(np.where(certain, c, 0.0), firsts)
    extra = np.minimum.reduceat(np.where((p > 0) & (c > 0), np.where(certain, 0.0, w), np.inf), firsts)
    least = base[filled] + kept_weight + extra
    most = np.maximum(base[filled] + np.add.reduceat(np.where(p > 0, w, 0.0), firsts), least)
    usable = (least > 0) & np.isfinite(least)
    # A record with only one possible world needs no nodes; when most confidences are 1, most records are like that.
    sure = usable & np.logical_and.reduceat(certain | (p == 0), firsts)
    result[filled[sure]] = (1 + beta * beta) * kept_credit[sure] / (base[filled[sure]] + kept_weight[sure])
    usable &= ~sure
    free = np.where(certain, 0.0, p)  # what is certain was counted above: here it is a factor of 1
    reach = np.zeros(len(filled))
    reach[usable] = reaches(most[usable] / least[usable])
    for largest in np.unique(reach[usable]):
        group = np.flatnonzero(usable & (reach == largest))
        for part in _parts(group, bounds, filled, len(nodes(largest)[0])):
            places, begins = _attributes(bounds, filled[part])
            total = _sums(
                float(largest),
                np.stack([free[places], w[places], c[places]]),
                begins,
                always=base[filled[part]] + kept_weight[part],
                always_credit=kept_credit[part],
                scale=least[part],
            )
            result[filled[part]] = np.minimum(1.0, (1 + beta * beta) * total)
    return result


def _check(bounds: Places, p: Vector, w: Vector, c: Vector) -> None:
    if bounds.ndim != 1 or len(bounds) == 0 or bounds[0] != 0 or np.any(np.diff(bounds) < 0):
        raise ArgumentError("starts is not the beginning of each record: give rising numbers that begin with 0")
    if not (p.shape == w.shape == c.shape == (bounds[-1],)):
        raise ArgumentError(
            f"confidence, weight and credit have shapes {p.shape}, {w.shape} and {c.shape}, "
            f"but starts ends with {bounds[-1]}: give one number per attribute"
        )
    if not np.all((p >= 0) & (p <= 1)):
        raise ArgumentError("a confidence does not lie in [0, 1]")
    if not np.all(np.isfinite(w) & (c >= 0) & (c <= w)):
        raise ArgumentError("a credit is negative or larger than its weight, or a weight is not finite")


def _parts(group: Places, bounds: Places, filled: Places, n_nodes: int) -> list[Places]:
    """The group in parts whose nodes times attributes fit the cache, unless a single record is too large for it."""
    lengths = np.diff(bounds)[filled[group]]
    ends = np.cumsum(lengths)
    cuts = np.searchsorted(ends, np.arange(1, ends[-1] * n_nodes // _CHUNK + 1) * (_CHUNK // n_nodes))
    return [part for part in np.split(group, np.unique(cuts)) if len(part)]


def _attributes(bounds: Places, records: Places) -> tuple[Places, Places]:
    """Places of the attributes of these records, and where among them each record begins."""
    lengths = bounds[records + 1] - bounds[records]
    begins = np.cumsum(lengths) - lengths
    where = np.arange(int(lengths.sum())) + np.repeat(bounds[records] - begins, lengths)
    return where, begins


def _sums(
    largest: float, attributes: Matrix, begins: Places, *, always: Vector, always_credit: Vector, scale: Vector
) -> Vector:
    """E[I / A] of every record, a few nodes at a time if a record is long.

    ``attributes`` are rows of confidences, weights and credits; ``scale`` is the least A of each record, by which all
    its weights may be divided.
    """
    per_attribute = np.repeat(scale, np.diff(np.append(begins, attributes.shape[1])))
    p, w, c = attributes[0], attributes[1] / per_attribute, attributes[2] / per_attribute
    u, omega = nodes(largest)
    total = np.zeros(len(begins))
    step = max(1, (_CHUNK << 4) // max(1, len(p)))
    for start in range(0, len(u), step):
        chunk = u[start : start + step]
        logs, ratios = plain_factors(p, w, chunk)
        log_mass = np.add.reduceat(logs, begins, axis=1) - np.multiply.outer(chunk, always / scale)
        ratios *= c
        ratio = np.add.reduceat(ratios, begins, axis=1) + always_credit / scale
        total += omega[start : start + step] @ (np.exp(log_mass) * ratio)
    return total
