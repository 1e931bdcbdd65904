"""What each attribute of a record adds to its leakage, all in one pass."""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import Final

import numpy as np

from tacit.person.comparing import Block, Comparison, FloatArray, Unit, compare
from tacit.person.labels import Labels
from tacit.person.leakage import as_labels, check_beta
from tacit.person.quadrature import nodes
from tacit.person.records import Record, Reference
from tacit.person.units import RIGHT, WRONG, Ranked, block_transform, others, plain_factors, unit_bounds, unit_transform

# Numbers in one array of nodes by attributes.
_CHUNK: Final = 1 << 20


def contributions(
    record: Record, reference: Reference, labels: Labels | None = None, *, beta: float = 1.0
) -> FloatArray:
    """Leakage of the record minus its leakage without the attribute, for every attribute.

    Positive for what is right; negative for what is wrong: without it the record would leak more.

    Guarantees
    ----------
    As if every leakage had been computed anew, in the time of a few leakages; the error is at most 1e-12 times the
    larger of the contribution and the leakage.
    """
    check_beta(beta)
    found = compare(record, reference, as_labels(None, labels))
    slope = slopes(found, beta=beta)
    result = found.confidence * slope
    for block in _scaled_blocks(found, record):
        places = list(block.places)
        held, own = _held(found, record)[places], slope[places]
        # Without one value the others of the label are scaled anew.
        rest = (math.fsum(held * own) - held * own) / np.maximum(1.0, math.fsum(held) - held)
        result[places] = math.fsum(found.confidence[places] * own) - rest
    return result


def gradient(record: Record, reference: Reference, labels: Labels | None = None, *, beta: float = 1.0) -> FloatArray:
    """Derivative of the leakage with respect to the confidence of every attribute of the record.

    Where attributes are independent the leakage is a straight line in each confidence: being sure of an attribute
    gains (1 - confidence) times its derivative. Values of a single-valued label whose confidences exceed 1 together
    are scaled to add to 1; there the derivative is of that.
    """
    check_beta(beta)
    found = compare(record, reference, as_labels(None, labels))
    slope = slopes(found, beta=beta)
    for block in _scaled_blocks(found, record):
        places = list(block.places)
        total = math.fsum(_held(found, record)[places])
        slope[places] = (slope[places] - found.confidence[places] @ slope[places]) / total
    return slope * found.share


def _held(found: Comparison, record: Record) -> FloatArray:
    return found.share * np.array([attribute.confidence for attribute in record.attributes], dtype=np.float64)


def _scaled_blocks(found: Comparison, record: Record) -> list[Block]:
    """Blocks of exclusive values whose confidences had to be scaled."""
    held = _held(found, record)
    blocks = (block for unit in found.units for block in unit.blocks if block.exclusive)
    return [block for block in blocks if math.fsum(held[list(block.places)]) > 1]


def slopes(found: Comparison, *, beta: float = 1.0) -> FloatArray:
    """What the leakage gains if an attribute passes from absent to present, for every attribute.

    The leakage is linear in every probability of being present, so this is also the derivative.
    """
    result = np.zeros(len(found))
    base = beta * beta * found.reference_weight
    least, most = _range(found, base)
    if not 0 < least < np.inf:
        return result
    u, omega = nodes(most / least)
    u, omega = u / least, (1 + beta * beta) * omega / least
    step = max(1, _CHUNK // max(1, len(found)))
    for start in range(0, len(u), step):
        some = slice(start, start + step)
        result += _slopes_at(found, u[some], omega[some] * np.exp(-u[some] * base))
    return result


def _range(found: Comparison, base: float) -> tuple[float, float]:
    """Bounds of weights that hold whichever attribute comes or goes."""
    bounds = [unit_bounds(unit, found, free=True) for unit in found.units]
    weight, credit = found.weight[found.alone], found.credit[found.alone]
    credited = [bound.credited for bound in bounds] + weight[credit > 0].tolist()
    least = base + min(credited, default=np.inf)
    return least, max(least, base + float(weight.sum()) + sum(bound.most for bound in bounds))


def _slopes_at(found: Comparison, u: FloatArray, factor: FloatArray) -> FloatArray:
    result = np.zeros(len(found))
    alone = found.alone
    confidence, weight, credit = found.confidence[alone], found.weight[alone], found.credit[alone]
    certain = confidence == 1
    logs, ratios = plain_factors(np.where(certain, 0.0, confidence), weight, u)
    logs[:, certain] = np.multiply.outer(-u, weight[certain])
    ratios[:, certain] = 1.0
    ratios = ratios * credit
    if found.units:
        masses, shares = zip(*(unit_transform(unit, found, u) for unit in found.units), strict=True)
        logs, ratios = np.column_stack([logs, *masses]), np.column_stack([ratios, *shares])
    rest_log, rest_ratio = _without_each(logs), _without_each(ratios)
    n = len(alone)
    change = np.expm1(np.multiply.outer(-u, weight))
    rest_mass = np.exp(rest_log[:, :n]) * factor[:, None]
    result[alone] = np.sum(rest_mass * (change * rest_ratio[:, :n] + (change + 1) * credit), axis=0)
    for column, unit in enumerate(found.units, start=n):
        for places, log, mass, gained in _changes(unit, found, u):
            whole = np.exp(rest_log[:, column, None] + log) * factor[:, None]
            result[places] = np.sum(whole * (mass * rest_ratio[:, column, None] + gained), axis=0)
    return result


def _without_each(terms: FloatArray) -> FloatArray:
    """Sums over all columns but one, by what stands before and after it: subtracting it again would lose digits."""
    result = np.zeros_like(terms)
    result[:, 1:] += np.cumsum(terms[:, :-1], axis=1)
    result[:, :-1] += np.cumsum(terms[:, :0:-1], axis=1)[:, ::-1]
    return result


_Change = tuple[list[int], FloatArray, FloatArray, FloatArray]


def _changes(unit: Unit, found: Comparison, u: FloatArray) -> Iterator[_Change]:
    """How E[exp(-u W)] and E[I exp(-u W)] of a unit change when one of its attributes passes from absent to present.

    For each block: places, a logarithm by which both are scaled, and the two changes, all by nodes and places. Both are
    linear in what a block is in each state, so that the other blocks are looked at once for all its places.
    """
    transforms = [block_transform(block, found, u) for block in unit.blocks]
    for block, rest in zip(unit.blocks, others(transforms, u), strict=True):
        places = list(block.places)
        with_state = {state: rest.with_block(state, unit.shared, u) for state in (0, RIGHT, WRONG)}
        mass, credit = ({state: pair[at][:, None] for state, pair in with_state.items()} for at in (0, 1))
        decay = np.exp(-np.multiply.outer(u, found.weight[places]))
        if block.exclusive or len(places) == 1:
            # Of exclusive values none other is present if one is, and none at all if it is not.
            right = found.hit[places] >= 0
            own_mass = np.where(right, mass[RIGHT], mass[WRONG])
            own_credit = np.where(right, credit[RIGHT], credit[WRONG]) + found.credit[places] * own_mass
            yield places, rest.log[:, None], decay * own_mass - mass[0], decay * own_credit - credit[0]
            continue
        ranked = Ranked.of(found.confidence[places], found.weight[places], found.credit[places], u)
        decay = decay[:, ranked.order]
        nobody = ranked.none_better * (1 - ranked.after(np.ones(len(places))))
        better = _before(ranked.first * ranked.credit)
        lost = better + ranked.none_better * ranked.after(ranked.credit)
        gained = decay * (better + ranked.credit * ranked.none_better)
        here = decay - (1 - nobody)
        yield (
            [places[rank] for rank in ranked.order],
            rest.log[:, None] + _without_each(ranked.logs),
            here * mass[RIGHT] - nobody * mass[0],
            (gained - lost) * mass[RIGHT] + here * credit[RIGHT] - nobody * credit[0],
        )


def _before(terms: FloatArray) -> FloatArray:
    """Sums over the columns before each."""
    result = np.zeros_like(terms)
    result[:, 1:] = np.cumsum(terms[:, :-1], axis=1)
    return result
