"""How many records a certificate would need: an estimate from the shares counted so far."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

import numpy as np
from numpy.typing import ArrayLike

from tacit.errors import ArgumentError
from tacit.lift.joint import Labels, Mask, Matrix, Vector, halved
from tacit.lift.measures import sides
from tacit.lift.proofs.certificates import Sample, Side, excess
from tacit.lift.proofs.intervals import checked_beta, log_lift_limits

MERGED: Final = -1
"""Column that stands for the merged values where a partition is meant, not a table."""

_MOST_RECORDS: Final = 1e15
# Halvings of the logarithm of that: to less than one in a hundred.
_HALVINGS: Final = 12
_MOST_CELLS_SEARCHED: Final = 256


@dataclass(frozen=True)
class RecordsNeeded:
    """How many records would prove what was asked, if the shares stay as counted: an estimate, not a promise.

    ``needed`` is the number of records with which the proof would succeed with about the chance asked for; inf if no
    number would do. ``low_now`` and ``high_now`` are what the existing ``records`` prove, each side by itself, if the
    mechanism was fixed without looking at them. The cell (row ``secret``, column ``released``, which may be `MERGED`)
    and ``side`` decide: they need the most records. ``counted`` is the log-lift of that cell as counted.
    """

    epsilon_low: float
    epsilon_high: float
    beta: float
    records: float
    needed: float
    low_now: float
    high_now: float
    counted: float
    secret: int
    released: int
    side: Side

    @property
    def sentence(self) -> str:
        """The answer in plain words."""
        bound = self.epsilon_low if self.side == "low" else self.epsilon_high
        value = "the merged values" if self.released == MERGED else f"released value {self.released}"
        cell = f"secret {self.secret} at {value}"
        if np.isinf(self.needed):
            return (
                f"No number of records would prove {bound:.3g} nats as things stand: {cell} was counted with a "
                f"log-lift of {self.counted:.3g}."
            )
        if self.needed <= self.records:
            return f"The {self.records:,.0f} records there are should prove {bound:.3g} nats."
        return (
            f"About {self.needed:,.0f} records, instead of {self.records:,.0f}, would prove {bound:.3g} nats; {cell} "
            f"needs the most, on its {self.side} side."
        )


def records_needed(
    counts: ArrayLike,
    *,
    epsilon: float,
    beta: float = 0.05,
    epsilon_low: float | None = None,
    epsilon_high: float | None = None,
    prior: ArrayLike | None = None,
    common: ArrayLike | None = None,
    chance: float = 0.9,
) -> RecordsNeeded:
    """How many records `certify_counts` would need to prove epsilon for this release, if its shares stay as counted.

    Parameters
    ----------
    counts : array of whole numbers, secrets x released values
        Records of each pair, after the mechanism.
    epsilon, epsilon_low, epsilon_high : float
        What is asked, as for `certified_partition`; that one proves with a part of its records, so divide by the part.
    beta, prior, common
        As for `certify_counts`.
    chance : float
        Probability with which the proof should succeed in the cell that needs the most records.

    Guarantees
    ----------
    None for ``needed``: it is an estimate, as good as the counts of the cell that decides. ``low_now`` and ``high_now``
    are those of `certify_counts`, under its preconditions.
    """
    from scipy.special import ndtr, ndtri

    sample = Sample.of(counts, prior)
    mask = sample.mask(common)
    bounds = sides(epsilon, epsilon_low=epsilon_low, epsilon_high=epsilon_high)
    if not 0 < chance < 1:
        raise ArgumentError(f"chance is {chance}; it must be a probability, between 0 and 1")
    # Far enough from the bound, in standard errors, that the limit, which adds its own, still stays within it.
    cautious = float(ndtr(ndtri(checked_beta(beta)) - ndtri(chance)))
    low, high = sample.bounds(beta=beta, common=mask)
    cells = _hardest_cells(sample, bounds)
    needed, worst = _search(sample, cells, bounds, beta=cautious, common=mask)
    secret, released = divmod(int(cells[worst]), sample.table.shape[1])
    counted = sample.log_lifts()[secret, released]
    room_low, room_high = _room(counted, bounds)
    return RecordsNeeded(
        epsilon_low=bounds[0],
        epsilon_high=bounds[1],
        beta=beta,
        records=float(sample.table.sum()),
        needed=needed,
        low_now=max(float(low.max()), 0.0),
        high_now=max(float(high.max()), 0.0),
        counted=float(counted),
        secret=secret,
        released=released,
        side="low" if room_low <= room_high else "high",
    )


def _hardest_cells(sample: Sample, bounds: tuple[float, float]) -> Labels:
    """Flat indices of the cells that need the most records, by the normal approximation, hardest first."""
    table = sample.table
    room = np.maximum(np.minimum(*_room(sample.log_lifts(), bounds)), 0.0)
    with np.errstate(divide="ignore", invalid="ignore"):
        spread = (1 - table / table.sum(axis=0)) / table
        need = np.where(room > 0, np.where(table > 0, spread, 1.0) / room**2, np.inf)
    return np.argsort(-need, axis=None, kind="stable")[:_MOST_CELLS_SEARCHED]


def _room(values: Matrix, bounds: tuple[float, float]) -> tuple[Matrix, Matrix]:
    """How far log-lifts are from each bound; infinitely far where there is none, even a log-lift of -inf."""
    with np.errstate(invalid="ignore"):
        low, high = values + bounds[0], bounds[1] - values
    return np.where(np.isinf(bounds[0]), np.inf, low), np.where(np.isinf(bounds[1]), np.inf, high)


def _search(
    sample: Sample, cells: Labels, bounds: tuple[float, float], *, beta: float, common: Mask | None
) -> tuple[float, int]:
    """The smallest number of records at which every cell is within its bounds, and the last cell to be so."""
    table = sample.table
    row, column = np.unravel_index(cells, table.shape)
    shares = (table[row, column], table.sum(axis=0)[column], table.sum(axis=1)[row])
    total = float(table.sum())
    prior = None if sample.prior is None else sample.prior[row]
    mask = None if common is None else common[column]

    def beyond(records: float) -> Vector:
        pair, value, secret = (np.minimum(share / total * records, records) for share in shares)
        # Scaling rounds: a part must not exceed its whole.
        value = np.minimum(np.maximum(value, pair), records)
        low, high = log_lift_limits(
            np.minimum(pair, secret), value, np.maximum(secret, pair), records, beta=beta, prior=prior, common=mask
        )
        return excess(low, high, bounds)

    at_end = beyond(_MOST_RECORDS)
    if not (at_end <= 0).all():
        return np.inf, int(np.argmax(at_end))
    most = np.log(_MOST_RECORDS)
    many, few = halved(most, 0.0, lambda log: (beyond(float(np.exp(log))) <= 0).all(), times=_HALVINGS)
    return float(np.ceil(np.exp(many))), int(np.argmax(beyond(float(np.exp(few)))))
