"""What an audit advises: which changes are worth mentioning, and the audit that shows each."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from tacit.document import listed
from tacit.lenses.table.ladder.fixes import FixEffect, FixEffects
from tacit.lenses.table.ladder.guessing import OF
from tacit.lenses.table.linkage.results import Cure
from tacit.lenses.table.roles.names import secret_in

if TYPE_CHECKING:
    from tacit.lenses.table.answers.audit import AuditResult

_CHANGES_TOLD = 4
_LEVELS_TOLD = 6
# A change that affects fewer people of 1,000 than this is not worth it.
_NOTICED = 5
# Fewer records than this are too few to learn from.
_LEARNABLE = 50


@dataclass(frozen=True)
class Advice:
    """One thing to try, in words, and the settings of the audit that does it.

    ``found`` and ``guessed`` are the people out of 1,000 who could then be found, and whose secret could be guessed;
    ``kept`` is the share of the columns that is kept. Each is None if it was not measured.
    """

    words: str
    settings: Mapping[str, Any]
    found: float | None = None
    guessed: float | None = None
    kept: float | None = None


def advised(audit: AuditResult) -> Iterator[Advice]:
    """Everything that the audit advises, in the order in which it is shown."""
    if audit.answer is not None and audit.answer.how is None and audit.learned is None and _learnable(audit):
        yield Advice("Learn it from the records", {**_as_settings(audit.asked), "estimator": "auto"})
    for name in secrets_released(audit):
        yield Advice(f"Leave out {name}", left_out(audit, name))
    for fix in chosen(audit.fixes) if audit.fixes is not None else ():
        words = f"Leave out {fix.column}" if fix.fix == "drop" else f"Make {fix.column} coarser: {fix.level}"
        yield Advice(words, changed(audit, fix), fix.found, fix.guessed, kept_of_all(audit, fix))
    cure = cure_of(audit)
    if cure is not None and audit.found is not None:
        people = OF * cure.unique / audit.found.everything.sizes.people
        yield Advice(f"Make {listed(cure.levels)} coarser", _with_levels(audit, cure.levels), people)


def _learnable(audit: AuditResult) -> bool:
    return audit.asked.get("weight") is None and audit.source.records >= _LEARNABLE


def secrets_released(audit: AuditResult) -> list[str]:
    """Released columns that are named like a secret."""
    return [name for name in audit.names("released") if secret_in(name) is not None]


def chosen(fixes: FixEffects) -> list[FixEffect]:
    """For each column, the change that hides most for what it loses; those that hide most people come first."""

    def hides(fix: FixEffect) -> float:
        return max(0.0, fixes.found - fix.found) + max(0.0, fixes.guessed - fix.guessed)

    best: dict[str, FixEffect] = {}
    for fix in sorted(fixes.effects, key=lambda each: -hides(each) / (1.1 - each.kept)):
        if hides(fix) >= _NOTICED and fix.guessed < fixes.guessed + _NOTICED:
            best.setdefault(fix.column, fix)
    return sorted(best.values(), key=lambda each: -hides(each))[:_CHANGES_TOLD]


def kept_of_all(audit: AuditResult, fix: FixEffect) -> float:
    """What changing one column keeps of all released columns."""
    return 1 - (1 - fix.kept) / len(audit.names("released"))


def cure_of(audit: AuditResult) -> Cure | None:
    """The levels of several columns that hide most people, if they hide half of them and are few enough to list."""
    if audit.found is None or not audit.found.cures or audit.asked.get("known"):
        return None
    cure, whole = audit.found.cures[-1], audit.found.everything.sizes
    return cure if len(cure.levels) <= _LEVELS_TOLD and cure.unique < whole.unique / 2 else None


def changed(audit: AuditResult, fix: FixEffect) -> dict[str, Any]:
    """The settings of the same audit with one change."""
    return left_out(audit, fix.column) if fix.fix == "drop" else _with_levels(audit, fix.setting.value)


def left_out(audit: AuditResult, column: str) -> dict[str, Any]:
    """The settings of the same audit without a column."""
    settings = dict(audit.asked)
    for name in ("known", "released", "use"):
        settings[name] = [each for each in settings.get(name) or () if each != column]
    for name in ("levels", "bins"):
        settings[name] = {each: wish for each, wish in (settings.get(name) or {}).items() if each != column}
    return _as_settings({**settings, "drop": [*(settings.get("drop") or ()), column]})


def _with_levels(audit: AuditResult, levels: Mapping[str, Any]) -> dict[str, Any]:
    return _as_settings({**audit.asked, "levels": {**(audit.asked.get("levels") or {}), **levels}})


def _as_settings(settings: Mapping[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in settings.items() if value not in (None, [], (), {})}
