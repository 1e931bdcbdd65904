"""A channel on codes: of all that keep rules about the secret, the one that changes what is shown least."""

from __future__ import annotations

from typing import Any

import numpy as np

from tacit.learn.arrays import Codes, Flags, Floats

# How many outputs a code has at first, and how many are added to it at a time.
_FIRST, _ADDED = 12, 6
_ROUNDS = 12
# A channel within this share of the smallest change is good enough.
_NEAR = 0.01
# Probabilities smaller than this are rounding of the solver.
_ROUNDING = 1e-6


def tolerance_rules(counts: Floats, tolerance: float) -> Floats:
    """Rules that in no output another secret is likelier than the commonest by more than ``tolerance``, one per row.

    A rule is a number for each code; an output keeps it if the sum over the codes that it comes from is at most 0.
    """
    joint = counts / counts.sum()
    top = int(joint.sum(axis=1).argmax())
    others = np.delete(joint, top, axis=0)
    return np.asarray(others - joint[top] - tolerance * joint.sum(axis=0))


def lift_rules(counts: Floats, epsilon: float) -> Floats:
    """Rules that no output makes a secret likelier or less likely by more than e^``epsilon``, two rows per secret."""
    joint = counts / counts.sum()
    alone = np.outer(joint.sum(axis=1), joint.sum(axis=0))
    return np.vstack([joint - np.exp(epsilon) * alone, np.exp(-epsilon) * alone - joint])


class Mixer:
    """Looks for channels P(released code | code) that keep rules and move people least, in mean ``distances``.

    ``sizes`` are the people of each code. It is a linear program; outputs are added where their reduced cost says that
    they pay, until at most a hundredth is left to gain. Outputs that paid once are kept for the next rules.
    """

    def __init__(self, sizes: Floats, distances: Floats) -> None:
        self._cost = (sizes / sizes.sum())[:, None] * distances
        self._ways = _rank(distances) < _FIRST
        # With a way to the central code, a single code for all is among the answers.
        self._ways[:, int(self._cost.sum(axis=0).argmin())] = True
        np.fill_diagonal(self._ways, True)

    def channel(self, rules: Floats) -> Floats | None:
        """The channel that keeps these rules; None if not even one code for all keeps them.

        Guarantees
        ----------
        The rules are kept on the counts they were made from, up to the rounding of the solver. Nothing is claimed about
        other people: what is certified is counted on them.
        """
        if (rules.sum(axis=1) > 1e-12).any():
            return None
        if (rules <= 0).all():
            return np.eye(len(self._cost))
        out: Floats | None = None
        for _ in range(_ROUNDS):
            solved = _solved(self._cost, rules, self._ways)
            if solved is None:
                break
            out, paid, prices = solved
            gain = self._cost - paid[:, None] - rules.T @ prices
            gain[self._ways] = 0.0
            if -np.minimum(gain.min(axis=1), 0.0).sum() <= _NEAR * float((self._cost * out).sum()):
                break
            self._ways |= (_rank(gain) < _ADDED) & (gain < 0)
        return out


def _rank(values: Floats) -> Codes:
    """The place of each number in its row, the smallest first."""
    return np.argsort(np.argsort(values, axis=1, kind="stable"), axis=1, kind="stable")


def _solved(cost: Floats, rules: Floats, ways: Flags) -> tuple[Floats, Floats, Floats] | None:
    """The channel along these ways, what each code pays, and what each rule of each output costs."""
    from scipy import sparse
    from scipy.optimize import linprog

    count, code, to = len(cost), *_both(np.nonzero(ways))
    each = np.arange(len(code))
    scale = np.maximum(np.abs(rules).max(axis=0), 1e-12)
    kept = sparse.vstack(
        [sparse.csr_array((rule[code] / scale.max(), (to, each)), shape=(count, len(code))) for rule in rules]
    ).tocsr()
    whole = sparse.csr_array((np.ones(len(code)), (code, each)), shape=(count, len(code)))
    unit = float(cost[ways].max(initial=0.0)) or 1.0
    solution: Any = linprog(
        cost[code, to] / unit,
        A_ub=kept,
        b_ub=np.zeros(kept.shape[0]),
        A_eq=whole,
        b_eq=np.ones(count),
        method="highs-ipm" if count > 64 else "highs-ds",
    )
    if solution.x is None or solution.status != 0:
        return None
    channel = np.zeros_like(cost)
    channel[code, to] = np.where(solution.x > _ROUNDING, solution.x, 0.0)
    channel /= channel.sum(axis=1, keepdims=True)
    prices = np.asarray(solution.ineqlin.marginals).reshape(len(rules), count) * unit / scale.max()
    return channel, np.asarray(solution.eqlin.marginals) * unit, prices


def _both(pair: tuple[Any, ...]) -> tuple[Codes, Codes]:
    return np.asarray(pair[0]), np.asarray(pair[1])
