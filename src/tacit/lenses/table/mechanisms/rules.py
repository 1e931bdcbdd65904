"""By the rules of an earlier release."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from tacit.errors import NotCertifiedError
from tacit.lenses.table.mechanisms.plan import Plan, applied, claims_of, pushed
from tacit.lenses.table.mechanisms.watchdog import MOST_STEPS, with_missing
from tacit.lenses.table.tabulating import Counted
from tacit.lift import Joint, Region, cover_set
from tacit.release.certificate import BY_RULES
from tacit.release.rules import ReleaseRules
from tacit.release.treatment import Merging, Mixing, Places


def plan_by_rules(counted: Counted, rules: ReleaseRules) -> Plan:
    """What an earlier release did, and besides it what is too risky in this table."""
    if rules.bounds.delta > 0:
        try:
            return _by_rules(counted, rules, rules.bounds.ceiling)
        except NotCertifiedError:
            # This batch spends more than delta where it may exceed epsilon; then it may not.
            pass
    return _by_rules(counted, rules, (rules.bounds.low, rules.bounds.high))


def _by_rules(counted: Counted, rules: ReleaseRules, sides: tuple[float, float]) -> Plan:
    position = counted.symbols.positions_in(rules.symbols)
    claims = [(counted.joint, *sides), *claims_of(counted, rules.bounds, rules.also)[1:]]
    if isinstance(rules.treatment, Merging):
        treatment: Merging | Mixing
        treatment, besides = _merged_besides(counted, rules.treatment, position, claims)
    else:
        treatment, besides = _mixed_besides(counted, rules, rules.treatment, position, sides)
    made_by = {
        "name": "watchdog" if isinstance(treatment, Merging) else "optimal",
        "replacement": BY_RULES,
        "method": "rules of an earlier release",
        "values_merged_besides": besides,
    }
    return applied(counted, replace(rules, treatment=treatment), made_by)


def _merged_besides(
    counted: Counted, treatment: Merging, position: Places, claims: Sequence[tuple[Joint, float, float]]
) -> tuple[Merging | Mixing, int]:
    alike, region = treatment.touched(position), Region.of(claims)
    needed = cover_set(region, alike | ~region.safe, most=MOST_STEPS)
    if treatment.replacement is None and needed.any():
        needed = with_missing(counted, needed, claims)
    merged = treatment.merged.copy()
    merged[position[needed & (position >= 0)]] = True
    return Merging(merged, treatment.replacement), int((needed & ~alike).sum())


def _mixed_besides(
    counted: Counted, rules: ReleaseRules, treatment: Mixing, position: Places, sides: tuple[float, float]
) -> tuple[Merging | Mixing, int]:
    """Outputs that are out of bounds in this batch are merged into one, with others that hide them."""
    missing = len(rules.symbols)
    outputs = [pushed(joint, treatment, position, rules) for joint in (counted.joint, *counted.further)]
    occurs = np.flatnonzero(outputs[0].sum(axis=0) > 0)
    bounds = [sides, *((each.epsilon, each.epsilon) for each in rules.also)]
    region = Region.of([(Joint(each[:, occurs]), *bound) for each, bound in zip(outputs, bounds, strict=True)])
    merged = cover_set(region, ~region.safe, most=MOST_STEPS)
    if not merged.any():
        return treatment, 0
    places = occurs[merged]
    into = missing if missing in places else int(places[np.argmax(region.marginal[merged])])
    gone = {*places.tolist(), *(np.flatnonzero(rules.symbols.all_missing).tolist() if into == missing else ())}
    return treatment.joined(np.array(sorted(gone)), into), len(places)
