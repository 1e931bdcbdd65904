"""Leakage of one record: how much of the reference it holds, and how little besides."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final, Literal

import numpy as np

from tacit.errors import ArgumentError
from tacit.lift.joint import Vector
from tacit.person.model.comparing import ComparedRecord, compare
from tacit.person.model.labels import Labels, as_labels
from tacit.person.model.quadrature import nodes
from tacit.person.model.records import Record, Reference
from tacit.person.model.units import f_measure, plain_factors, unit_transform, weight_range, world_weights
from tacit.person.model.worlds import SLOW_METHODS

Method = Literal["exact", "worlds", "algorithm1", "second_order"]

# Numbers in one array of nodes by attributes: a few such arrays fit into a processor's fast cache.
_CHUNK: Final = 1 << 15


@dataclass(frozen=True)
class Leakage:
    """Expected F-measure, precision (correctness) and recall (completeness) of a record."""

    value: float
    precision: float
    recall: float


def record_leakage(
    record: Record,
    reference: Reference,
    weights: Mapping[str, float] | None = None,
    *,
    labels: Labels | None = None,
    method: Method = "exact",
    beta: float = 1.0,
) -> float:
    """Leakage of a record: the F-measure of a possible world of it against the reference, in expectation.

    Parameters
    ----------
    record : Record
        Attributes with confidences.
    reference : Reference
        The whole truth about the person.
    weights : mapping from label to weight, optional
        1 for a label that is not named. Only ratios count.
    labels : Labels, optional
        Instead of weights: how each label is weighed and compared.
    method : {"exact", "worlds", "algorithm1", "second_order"}
        ``exact`` takes linear time. The others are for comparison: the sum over possible worlds (the definition,
        exponential), the paper's Algorithm 1 (equal weights, cubic) and its second-order approximation, whose error
        may exceed the value itself if weights are very unequal.
    beta : float
        Recall counts ``beta`` times as much as precision.

    Returns
    -------
    float
        In [0, 1]; 0 if nothing is right.

    Guarantees
    ----------
    The relative error of ``exact`` is at most 1e-12, whatever the number of attributes and their confidences, as long
    as no weight other than 0 is below 1e-100 or above 1e100 and the leakage is 1e-200 or more. Beyond that nothing is
    promised: floating-point numbers end at 1e-308, and smaller intermediate products become 0.

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
    if method not in SLOW_METHODS:
        raise ArgumentError(f"no method {method!r}: choose exact, {', '.join(SLOW_METHODS)}")
    return SLOW_METHODS[method](record, reference, described, beta=beta)


def measure(record: Record, reference: Reference, labels: Labels | None = None, *, beta: float = 1.0) -> Leakage:
    """Leakage, precision and recall of a record, all expected over its possible worlds."""
    check_beta(beta)
    return measure_of(compare(record, reference, as_labels(None, labels)), beta=beta)


def measure_of(compared: ComparedRecord, *, beta: float = 1.0) -> Leakage:
    """Leakage, precision and recall of a record that was compared with a reference."""
    return Leakage(leakage_of(compared, beta=beta), leakage_of(compared, beta=0.0), recall_of(compared))


def record_precision(
    record: Record, reference: Reference, weights: Mapping[str, float] | None = None, *, labels: Labels | None = None
) -> float:
    """Expected precision: the share of what the record holds that is right; 0 for a world that holds nothing."""
    return leakage_of(compare(record, reference, as_labels(weights, labels)), beta=0.0)


def record_recall(
    record: Record, reference: Reference, weights: Mapping[str, float] | None = None, *, labels: Labels | None = None
) -> float:
    """Expected recall: the share of the reference that the record holds."""
    return recall_of(compare(record, reference, as_labels(weights, labels)))


def _taken_at_its_word(
    record: Record, reference: Reference, weights: Mapping[str, float] | None, labels: Labels | None
) -> tuple[float, float, float]:
    compared = compare(record, reference, as_labels(weights, labels))
    record_weight, right = world_weights(compared, np.ones(len(compared), dtype=np.bool_))
    return record_weight, right, compared.reference_weight


def correctness(
    record: Record, reference: Reference, weights: Mapping[str, float] | None = None, *, labels: Labels | None = None
) -> float:
    """Precision of the record taken at its word, all confidences 1: the share of it that is right; 0 if it is empty."""
    record_weight, right, _ = _taken_at_its_word(record, reference, weights, labels)
    return right / record_weight if record_weight > 0 else 0.0


def completeness(
    record: Record, reference: Reference, weights: Mapping[str, float] | None = None, *, labels: Labels | None = None
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
    record_weight, right, reference_weight = _taken_at_its_word(record, reference, weights, labels)
    return f_measure(record_weight, right, reference_weight, beta=beta)


def check_beta(beta: float) -> None:
    """Refuse a beta that means nothing."""
    if not (math.isfinite(beta) and beta >= 0):
        raise ArgumentError(f"beta is {beta:g}: give a finite number, 0 or more (1 weighs precision and recall alike)")


def recall_of(compared: ComparedRecord) -> float:
    """Expected recall of a record that was compared with a reference."""
    if compared.reference_weight == 0:
        return 0.0
    at_zero = np.zeros(1)
    # At u = 0 the mass is 1, so the ratio of credit to mass is the expected credit.
    gained = [float(unit_transform(unit, compared, at_zero)[1][0]) for unit in compared.units]
    plain = float(compared.confidence[compared.alone] @ compared.credit[compared.alone])
    return min(1.0, math.fsum([plain, *gained]) / compared.reference_weight)


def leakage_of(compared: ComparedRecord, *, beta: float = 1.0) -> float:
    """Leakage of a record that was compared with a reference.

    With M_g = E[exp(-u W_g)] and C_g = E[I_g exp(-u W_g)] of every unit g, it is
    (1 + beta^2) sum over nodes of omega exp(-u beta^2 W_e) (prod_g M_g) (sum_g C_g / M_g).
    """
    base = beta * beta * compared.reference_weight
    if compared.certain:
        record_weight, right = world_weights(compared, compared.confidence == 1)
        return f_measure(record_weight, right, compared.reference_weight, beta=beta)
    least, most = weight_range(compared, base)
    if not 0 < least < np.inf:
        return 0.0  # no world has credit and weight
    u, omega = nodes(most / least)
    log_mass, ratio = transform_of(compared, u / least)
    total = float(np.sum(omega / least * np.exp(log_mass - u * (base / least)) * ratio))
    return min(1.0, (1 + beta * beta) * total)


def transform_of(compared: ComparedRecord, u: Vector) -> tuple[Vector, Vector]:
    """log E[exp(-u W)] of a record, and the sum over its units of E[I exp(-u W)] / E[exp(-u W)].

    For records without a common attribute, adding both numbers gives those of the joined record.
    """
    confidence = compared.confidence[compared.alone]
    weight, credit = compared.weight[compared.alone], compared.credit[compared.alone]
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
    for unit in compared.units:
        logs, share = unit_transform(unit, compared, u)
        log_mass += np.maximum(logs, -1e300)  # if it underflows, the node adds nothing
        ratio += share
    return log_mass, ratio
