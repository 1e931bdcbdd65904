"""Leakage of one record: how much of the reference it holds, and how little else."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final, Literal

import numpy as np

from tacit.errors import ArgumentError
from tacit.person.comparing import Comparison, FloatArray, compare
from tacit.person.labels import Labels
from tacit.person.quadrature import nodes
from tacit.person.records import Record, Reference
from tacit.person.units import plain_factors, unit_bounds, unit_transform, world_weights

Method = Literal["exact", "worlds", "algorithm1", "second_order"]

# Numbers in one array of nodes by attributes: a few of them fit into a processor's fast cache.
_CHUNK: Final = 1 << 15


@dataclass(frozen=True)
class Leakage:
    """Expected F-measure, precision (correctness) and recall (completeness) of a record."""

    value: float
    precision: float
    recall: float


def as_labels(weights: Mapping[str, float] | None, labels: Labels | None) -> Labels:
    """The labels meant by a caller who gave weights, labels or neither."""
    if isinstance(weights, Labels):
        raise ArgumentError("weights are numbers by label, and these are Labels: give labels=...")
    if labels is None:
        return Labels.weighted(weights)
    if weights is not None:
        raise ArgumentError("both weights and labels are given: put the weights into the labels")
    return labels


def record_leakage(
    record: Record,
    reference: Reference,
    weights: Mapping[str, float] | None = None,
    *,
    labels: Labels | None = None,
    method: Method = "exact",
    beta: float = 1.0,
) -> float:
    """Leakage of a record: the expected F-measure of a possible world of it against the reference.

    Parameters
    ----------
    record : Record
        Attributes with confidences.
    reference : Reference
        The whole truth about the person.
    weights : mapping from label to weight, optional
        1 for a label that is not named. Only ratios count.
    labels : Labels, optional
        In place of weights: how each label is weighed and compared.
    method : {"exact", "worlds", "algorithm1", "second_order"}
        ``exact`` takes linear time. The others are there to compare with: the sum over possible worlds (the
        definition, exponential), the paper's Algorithm 1 (equal weights, cubic) and its approximation of second order,
        which may err by more than the value itself if weights are very unequal.
    beta : float
        Recall counts ``beta`` times as much as precision.

    Returns
    -------
    float
        In [0, 1]; 0 if nothing is right.

    Guarantees
    ----------
    The relative error of ``exact`` is at most 1e-12, whatever the number of attributes, confidences and weights.

    Examples
    --------
    >>> alice = Reference([("name", "Alice"), ("age", 20), ("phone", 123)])
    >>> record = Record([("name", "Alice", 0.5), ("age", 20, 1.0)])
    >>> round(record_leakage(record, alice), 4), round(record_leakage(record, alice, {"name": 2}), 4)
    (0.65, 0.6286)
    """
    described = as_labels(weights, labels)
    check_beta(beta)
    if not isinstance(record, Record) or not isinstance(reference, Reference):
        raise ArgumentError("record_leakage takes a Record and then a Reference: Record([...]), Reference([...])")
    if method == "exact":
        return leakage_of(compare(record, reference, described), beta=beta)
    from tacit.person import worlds  # the slow ones, for comparison

    if method not in worlds.METHODS:
        raise ArgumentError(f"no method {method!r}: choose exact, {', '.join(worlds.METHODS)}")
    return worlds.METHODS[method](record, reference, described, beta=beta)


def measure(record: Record, reference: Reference, labels: Labels | None = None, *, beta: float = 1.0) -> Leakage:
    """Leakage, precision and recall of a record, all expected over its possible worlds."""
    check_beta(beta)
    return measure_of(compare(record, reference, as_labels(None, labels)), beta=beta)


def measure_of(found: Comparison, *, beta: float = 1.0) -> Leakage:
    """Leakage, precision and recall of a record that was laid beside a reference."""
    return Leakage(leakage_of(found, beta=beta), leakage_of(found, beta=0.0), recall_of(found))


def record_precision(
    record: Record,
    reference: Reference,
    weights: Mapping[str, float] | None = None,
    *,
    labels: Labels | None = None,
) -> float:
    """Expected precision: the share of what the record holds that is right; 0 for a world that holds nothing."""
    return leakage_of(compare(record, reference, as_labels(weights, labels)), beta=0.0)


def record_recall(
    record: Record,
    reference: Reference,
    weights: Mapping[str, float] | None = None,
    *,
    labels: Labels | None = None,
) -> float:
    """Expected recall: the share of the reference that the record holds."""
    return recall_of(compare(record, reference, as_labels(weights, labels)))


def _taken_at_its_word(
    record: Record, reference: Reference, weights: Mapping[str, float] | None, labels: Labels | None
) -> tuple[float, float, float]:
    found = compare(record, reference, as_labels(weights, labels))
    held, right = world_weights(found, np.ones(len(found), dtype=np.bool_))
    return held, right, found.reference_weight


def correctness(
    record: Record,
    reference: Reference,
    weights: Mapping[str, float] | None = None,
    *,
    labels: Labels | None = None,
) -> float:
    """Precision of the record taken at its word, all confidences 1: the share of it that is right; 0 if it is empty."""
    held, right, _ = _taken_at_its_word(record, reference, weights, labels)
    return right / held if held > 0 else 0.0


def completeness(
    record: Record,
    reference: Reference,
    weights: Mapping[str, float] | None = None,
    *,
    labels: Labels | None = None,
) -> float:
    """Recall of the record taken at its word, all confidences 1: the share of the reference that it holds."""
    _, right, reference_weight = _taken_at_its_word(record, reference, weights, labels)
    return right / reference_weight if reference_weight > 0 else 0.0


def f_beta(
    record: Record,
    reference: Reference,
    weights: Mapping[str, float] | None = None,
    *,
    labels: Labels | None = None,
    beta: float = 1.0,
) -> float:
    """F-measure of the record taken at its word: recall counts ``beta`` times as much as precision."""
    check_beta(beta)
    held, right, reference_weight = _taken_at_its_word(record, reference, weights, labels)
    return f_measure(held, right, reference_weight, beta=beta)


def l0(
    record: Record,
    reference: Reference,
    weights: Mapping[str, float] | None = None,
    *,
    labels: Labels | None = None,
) -> float:
    """The paper's leakage without confidences: F1 of correctness and completeness."""
    return f_beta(record, reference, weights, labels=labels)


def check_beta(beta: float) -> None:
    """Refuse a beta that means nothing."""
    if not (math.isfinite(beta) and beta >= 0):
        raise ArgumentError(f"beta is {beta:g}: give a finite number, 0 or more (1 weighs precision and recall alike)")


def f_measure(held: float, right: float, reference_weight: float, *, beta: float = 1.0) -> float:
    """F-measure of one world, from the weights of what is held, of what of it is right, and of the reference."""
    total = held + beta * beta * reference_weight
    return (1 + beta * beta) * right / total if right > 0 else 0.0


def recall_of(found: Comparison) -> float:
    """Expected recall of a record that was laid beside a reference."""
    if found.reference_weight == 0:
        return 0.0
    at_zero = np.zeros(1)
    # At u = 0 the mass is 1, and its share of credit all of it.
    gained = [float(unit_transform(unit, found, at_zero)[1][0]) for unit in found.units]
    plain = float(found.confidence[found.alone] @ found.credit[found.alone])
    return min(1.0, math.fsum([plain, *gained]) / found.reference_weight)


def leakage_of(found: Comparison, *, beta: float = 1.0) -> float:
    """Leakage of a record that was laid beside a reference.

    With M_g = E[exp(-u W_g)] and C_g = E[I_g exp(-u W_g)] of every unit g, it is
    (1 + beta^2) sum over nodes of omega exp(-u beta^2 W_e) (prod_g M_g) (sum_g C_g / M_g).
    """
    base = beta * beta * found.reference_weight
    if found.certain:
        held, right = world_weights(found, found.confidence == 1)
        return f_measure(held, right, found.reference_weight, beta=beta)
    least, most = _range(found, base)
    if not 0 < least < np.inf:
        return 0.0  # no world has credit and weight
    u, omega = nodes(most / least)
    u = u / least
    log_mass, ratio = _plain_sums(found, u)
    for unit in found.units:
        logs, share = unit_transform(unit, found, u)
        log_mass += logs
        ratio += share
    total = float(np.sum(omega / least * np.exp(log_mass - u * base) * ratio))
    return min(1.0, (1 + beta * beta) * total)


def _range(found: Comparison, base: float) -> tuple[float, float]:
    """The least and the most weight (of record and ``base``) of a possible world that has credit; inf if none has.

    What is certain is in every world, and raises the least.
    """
    confidence, weight = found.confidence[found.alone], found.weight[found.alone]
    possible = confidence > 0
    credited = possible & (found.credit[found.alone] > 0)
    certain = confidence == 1
    bounds = [unit_bounds(unit, found) for unit in found.units]
    least = base + float(weight[certain].sum()) + sum(bound.least for bound in bounds)
    extra = [bound.credited - bound.least for bound in bounds]
    if credited.any():
        extra.append(float(np.min(np.where(certain, 0.0, weight)[credited])))
    most = base + float(weight[possible].sum()) + sum(bound.most for bound in bounds)
    least += min(extra, default=np.inf)
    return least, max(most, least)


def _plain_sums(found: Comparison, u: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Over the independent attributes: sum of log E[exp(-u w)], and of E[c exp(-u w)] / E[exp(-u w)]."""
    confidence = found.confidence[found.alone]
    weight, credit = found.weight[found.alone], found.credit[found.alone]
    certain = confidence == 1
    log_mass = -u * float(weight[certain].sum())
    ratio = np.full_like(u, float(credit[certain].sum()))
    free = (confidence > 0) & ~certain
    confidence, weight, credit = confidence[free], weight[free], credit[free]
    step = max(1, _CHUNK // len(u))
    for start in range(0, len(weight), step):
        part = slice(start, start + step)
        logs, ratios = plain_factors(confidence[part], weight[part], u)
        log_mass += logs.sum(axis=1)
        ratio += ratios @ credit[part]
    return log_mass, ratio
