"""Plan a release by the rules of an earlier one."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from tacit.errors import NotCertifiedError
from tacit.lenses.table.mechanisms.plan import Claim, Plan, applied, claims_of, pushed
from tacit.lenses.table.mechanisms.watchdog import MOST_STEPS, with_missing
from tacit.lenses.table.tabulating import Counted
from tacit.lift import Joint, Region, cover_set
from tacit.release.certificate import BY_RULES
from tacit.release.rules import ReleaseRules
from tacit.release.treatment import Merging, Mixing


def plan_by_rules(counted: Counted, rules: ReleaseRules) -> Plan:
    """Merge or mix what an earlier release did, and also what is too risky in this table."""
    if rules.bounds.delta > 0:
        try:
            return _by_rules(counted, rules, rules.bounds.ceiling)
        except NotCertifiedError:
            # If some values may exceed epsilon, this batch spends more than delta: then none may.
            pass
    return _by_rules(counted, rules, (rules.bounds.low, rules.bounds.high))


def _by_rules(counted: Counted, rules: ReleaseRules, sides: tuple[float, float]) -> Plan:
    claims, treatment = claims_of(counted, sides, rules.also), rules.treatment
    channel, besides = (
        _merged_besides(counted, rules, treatment, claims)
        if isinstance(treatment, Merging)
        else _mixed_besides(counted, rules, treatment, claims)
    )
    made_by = {
        "name": "watchdog" if isinstance(channel, Merging) else "optimal",
        "replacement": BY_RULES,
        "method": "rules of an earlier release",
        "values_merged_besides": besides,
    }
    return applied(counted, replace(rules, treatment=channel), made_by)


def _merged_besides(
    counted: Counted, rules: ReleaseRules, treatment: Merging, claims: Sequence[Claim]
) -> tuple[Merging | Mixing, int]:
    position, region = counted.symbols.positions_in(rules.symbols), Region.of(claims)
    alike = treatment.touched(position)
    needed = cover_set(region, alike | ~region.safe, most=MOST_STEPS)
    if treatment.replacement is None and needed.any():
        needed = with_missing(counted, needed, claims)
    merged = treatment.merged.copy()
    merged[position[needed & (position >= 0)]] = True
    return Merging(merged, treatment.replacement), int((needed & ~alike).sum())


def _mixed_besides(
    counted: Counted, rules: ReleaseRules, treatment: Mixing, claims: Sequence[Claim]
) -> tuple[Merging | Mixing, int]:
    """Outputs that are out of bounds in this batch are merged into one, with others that hide them."""
    missing, outputs = len(rules.symbols), pushed(counted, rules)
    occurs = np.flatnonzero(outputs[0].sum(axis=0) > 0)
    region = Region.of(
        [(Joint(output[:, occurs]), low, high) for output, (_, low, high) in zip(outputs, claims, strict=True)]
    )
    merged = cover_set(region, ~region.safe, most=MOST_STEPS)
    if not merged.any():
        return treatment, 0
    places = occurs[merged]
    into = missing if missing in places else int(places[np.argmax(region.marginal[merged])])
    gone = {*places.tolist(), *(np.flatnonzero(rules.symbols.all_missing).tolist() if into == missing else ())}
    return treatment.joined(np.array(sorted(gone)), into), len(places)
