"""How likely cells are to be proved, foreseen from the records that choose them: a guide, never a proof."""

from __future__ import annotations

from typing import Final

import numpy as np
from numpy.typing import ArrayLike

from tacit.lift.joint import Matrix, Vector

# How many records the expected rates of a cell count for, next to its own.
_STRENGTH: Final = 30.0


def chance_of_proof(
    counts: ArrayLike,
    prior: ArrayLike,
    *,
    low: float,
    high: float,
    level: ArrayLike,
    ratio: float,
    expected: ArrayLike | None = None,
    strength: float = _STRENGTH,
    bounded: ArrayLike | None = None,
) -> tuple[Vector, Matrix]:
    """Roughly how likely other records are to prove that cells are within bounds, and the rates expected.

    Parameters
    ----------
    counts : array, cells x secrets
        The available records of the cells.
    prior : array, secrets or cells x secrets
        The shares of the secrets that the cells are compared with.
    low, high : float
        The bounds of the log-lift, in nats; either may be inf.
    level : float or array, one for each cell
        The level at which a cell will be tested.
    ratio : float
        How many records will test for each one available.
    expected : array that broadcasts to ``counts``, optional
        Rates that the cells are expected to have before they are counted: those of the cell that they are cut from, or
        what a learned model says. By default the prior.
    strength : float
        How many records ``expected`` counts for.
    bounded : array of bool, optional
        The secrets that are bounded; by default all of them.

    Returns
    -------
    The chances, one for each cell, and the rates, cells x secrets. Nothing is guaranteed: normal approximations.
    """
    from scipy.special import ndtr, ndtri

    table, share = np.asarray(counts, dtype=np.float64), np.asarray(prior, dtype=np.float64)
    before = share if expected is None else np.asarray(expected, dtype=np.float64)
    own = table.sum(axis=-1, keepdims=True)
    rate = (table + strength * before) / np.maximum(own + strength, 1e-300)
    to_come = np.maximum(ratio * own, 1e-9)
    error = np.sqrt(np.maximum(rate * (1 - rate), 1e-12) * (1 / (own + strength + 1) + 1 / to_come))
    reach = -ndtri(np.asarray(level, dtype=np.float64))[..., None]
    missed = np.zeros(table.shape)
    for bound, sign in ((low, -1.0), (high, 1.0)):
        if np.isfinite(bound):
            end = np.exp(sign * bound) * share
            room = sign * (end - rate) - reach * np.sqrt(np.maximum(end * (1 - end), 0.0) / to_come)
            missed += np.where(end >= 1, 0.0, ndtr(-room / error))
    if bounded is not None:
        missed = missed * np.asarray(bounded)
    # With two secrets, one is whatever the other is not, so they are missed together.
    several = 1 - 1 / table.shape[-1]
    worst = np.maximum(missed.max(axis=-1), several * missed.sum(axis=-1))
    return np.asarray(np.clip(1 - worst, 0.0, 1.0)), np.asarray(np.broadcast_to(rate, table.shape))
