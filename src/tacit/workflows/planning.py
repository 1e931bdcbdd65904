"""What a release will do to a table, exactly, before a single row is written."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from tacit.errors import NotCertifiedError
from tacit.lift.bounds import watchdog_bound_exact
from tacit.lift.covering import cover
from tacit.lift.joint import Joint, Mask, Matrix, Vector
from tacit.lift.measures import log_lift, risk
from tacit.lift.mechanisms import watchdog
from tacit.workflows.rules import Rules
from tacit.workflows.tabulating import Counted

Replacement = Literal["resample", "uniform", "merge", "suppress"]
REPLACEMENTS: tuple[Replacement, ...] = ("resample", "uniform", "merge", "suppress")
BY_RULES = "as in the rules"

# Rounding of sums of a million terms; a claim of "at most epsilon" is checked to this many nats.
TOLERANCE = 1e-9
ROUNDING = 1e-14


@dataclass(frozen=True)
class Plan:
    """Rules applied to a counted table: what comes out, exactly, before a single row is written."""

    rules: Rules
    merged: Mask
    output: Joint
    made_by: dict[str, Any]

    @property
    def attained(self) -> float:
        """Largest absolute log-lift of the output joint; what is below the rounding of its sums is zero."""
        largest = float(risk(self.output).max())
        return largest if largest > ROUNDING else 0.0

    def mass_outside(self, epsilon: float) -> float:
        """Probability of the pairs (s, y) of the output whose log-lift is outside epsilon."""
        return float(self.output.matrix[np.abs(log_lift(self.output)) > epsilon + TOLERANCE].sum())

    def breach_share(self, epsilon: float) -> float:
        """Share of records whose output is outside epsilon for some secret."""
        return float(self.output.marginal[risk(self.output) > epsilon + TOLERANCE].sum())


def plan(found: Counted, epsilon: float, delta: float, epsilon_max: float, replacement: Replacement) -> Plan:
    """The least that must be merged for epsilon, by the watchdog or, where it cannot, with camouflage."""
    channel = watchdog(
        found.joint, epsilon, delta=delta, epsilon_max=epsilon_max, replacement=replacement, method="auto"
    )
    merged = np.array(channel.merged)
    if replacement == "suppress" and merged.any():
        merged = _with_missing(found, merged, epsilon)
    rules = Rules(
        secret=found.question.secret,
        released=found.question.released,
        cuts=found.question.cuts,
        symbols=found.symbols,
        merged=merged,
        # Where nothing is merged there is nothing to draw; a later batch's unseen values are then suppressed.
        replacement=None if replacement == "suppress" or not merged.any() else np.array(channel.replacement),
        epsilon=epsilon,
        delta=delta,
        epsilon_max=epsilon_max,
    )
    made_by = {
        "name": "watchdog",
        "replacement": replacement,
        "method": channel.partition.method,
        "plain_watchdog_attains": watchdog_bound_exact(found.joint, epsilon),
    }
    return _applied(found, rules, np.arange(len(merged)), made_by)


def _with_missing(found: Counted, merged: Mask, epsilon: float) -> Mask:
    """The merged set with the wholly missing value, which nobody could tell from a suppressed one."""
    missing = found.symbols.all_missing
    if not (missing & ~merged).any():
        return merged
    # The set has changed under its makers' hands, so it is made to keep epsilon outright.
    return cover(found.joint, merged | missing | (risk(found.joint) > epsilon + TOLERANCE), epsilon)


def plan_by_rules(found: Counted, rules: Rules) -> Plan:
    """What an earlier release merged, and besides it what is too risky in this table."""
    position = found.symbols.positions_in(rules.symbols)
    bound = rules.epsilon if rules.delta == 0 else rules.epsilon_max
    alike = (position < 0) | rules.merged[position]
    needed = cover(found.joint, alike | (risk(found.joint) > bound + TOLERANCE), bound)
    if rules.replacement is None and needed.any():
        needed = _with_missing(found, needed, bound)
    merged = rules.merged.copy()
    merged[position[needed & (position >= 0)]] = True
    made_by = {
        "name": "watchdog",
        "replacement": BY_RULES,
        "method": "rules of an earlier release",
        "values_merged_besides": int((needed & ~alike).sum()),
    }
    return _applied(found, replace(rules, merged=merged), position, made_by)


def _applied(found: Counted, rules: Rules, position: NDArray[np.int64], made_by: dict[str, Any]) -> Plan:
    """Push the counted joint through the rules; ``position`` is -1 for values the rules do not know."""
    unseen = position < 0
    merged: Mask = unseen | rules.merged[position]
    output = _output_joint(found.joint, merged, position, rules.replacement, size=len(rules.merged))
    plan = Plan(rules, merged, output, made_by)
    within = plan.attained <= rules.epsilon + TOLERANCE
    relaxed = plan.mass_outside(rules.epsilon) <= rules.delta + TOLERANCE
    if not within and not (rules.delta > 0 and relaxed and plan.attained <= rules.epsilon_max + TOLERANCE):
        raise NotCertifiedError(
            f"the release would leak {plan.attained:.4g} nats, and a mass of {plan.mass_outside(rules.epsilon):.4g} "
            f"would exceed epsilon {rules.epsilon:g}: nothing was written. Choose a larger epsilon, or coarser columns "
            "(--bins)"
        )
    return plan


def _output_joint(
    joint: Joint, merged: Mask, position: NDArray[np.int64], replacement: Vector | None, *, size: int
) -> Joint:
    output: Matrix = np.zeros((joint.shape[0], size + 1))
    output[:, position[~merged]] = joint.matrix[:, ~merged]
    pooled = joint.matrix[:, merged].sum(axis=1)
    if replacement is None:
        output[:, size] += pooled
    else:
        output[:, :size] += np.outer(pooled, replacement)
    return Joint(output[:, output.sum(axis=0) > 0], secrets=joint.secrets, total=joint.total)
