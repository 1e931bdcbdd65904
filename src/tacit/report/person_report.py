"""Pages about a person: the ladder, the winning record, how it came to be, and what to do about it."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import singledispatch
from typing import Any

from markupsafe import Markup

from tacit.report import person_charts, person_words
from tacit.report.numbers import part, setting, share, signed_part
from tacit.report.person_charts import Change, Signed, Trio
from tacit.report.person_graph import MOST_DRAWN, merge_graph
from tacit.report.words import listed, printable
from tacit.workflows.person_results import (
    Dipped,
    Finding,
    PersonAuditResult,
    PersonDecoyResult,
    PersonDipResult,
    PersonPopulationResult,
    PersonReleaseResult,
    PersonRemoveResult,
    PersonVerifyResult,
    SourceShare,
)
from tacit.workflows.results import Result

Both = Callable[[Callable[[float], Markup]], Markup]

# Attributes drawn as bars; the table has them all.
_BARS = 25
_CANDIDATES = 25


@dataclass(frozen=True)
class Shown:
    """A finding with its drawings."""

    finding: Finding
    chart: Markup | None
    bars_left: int
    graph: Markup | None
    too_many: bool


def page_of(result: Result, both: Both) -> dict[str, Any]:
    """What the page of a result about a person shows: values as they are in the result, masked or not."""
    shared: dict[str, Any] = {
        "reading": person_words.DEFINITIONS,
        "person": person_words,
        "part": part,
        "sentence": sentence,
        "signed_part": signed_part,
    }
    return shared | _page(result, both)


def sentence(words: str) -> str:
    """Words of a workflow with a capital letter and no full stop."""
    shown = printable(words).rstrip(". ")
    return shown[:1].upper() + shown[1:]


@singledispatch
def _page(result: Result, both: Both) -> dict[str, Any]:
    raise TypeError(f"no page for {type(result).__name__}")


@_page.register
def _audit(result: PersonAuditResult, both: Both) -> dict[str, Any]:
    rows = [
        Trio(rung.adversary, f"cost {setting(rung.cost)}", rung.leakage, rung.precision, rung.recall)
        for rung in result.rungs
    ]
    sources = [source.name for source in result.sources]
    shown = {finding.adversary: shown_finding(finding, sources, both) for finding in result.findings}
    return {
        "body": "person_audit.html",
        "kind": "audit of a person",
        "records": sum(source.records for source in result.sources),
        "winner": next(rung for rung in result.rungs if rung.adversary == result.strongest),
        "ladder_chart": both(lambda width: person_charts.ladder(rows, limit=result.limit, width=width)),
        "cost_chart": both(lambda width: person_charts.cost_curve(result.rungs, limit=result.limit, width=width))
        if person_charts.worth_a_curve(result.rungs)
        else None,
        "first": shown.get(result.strongest),
        "others": [each for name, each in shown.items() if name != result.strongest],
        "shares": by_share(result.source_shares),
        "shares_chart": _shares_chart(result.source_shares, both),
        "strips": [
            person_charts.change_strip(Change(action.what, action.before, action.after), limit=result.limit)
            for action in result.actions
        ],
    }


def shown_finding(finding: Finding, sources: Sequence[str], both: Both) -> Shown:
    """A finding with its bars and, if it has not too many records, the drawing of how they came together."""
    ordered = sorted(finding.held, key=lambda held: -abs(held.contribution))
    bars = sorted(ordered[:_BARS], key=lambda held: -held.contribution)
    rows = [
        Signed(
            f"{held.label} {held.value}",
            held.contribution,
            f"{held.label}, {person_words.STATES[held.state][1]}, from {listed(held.sources)}: "
            f"{signed_part(held.contribution)}",
        )
        for held in bars
    ]
    chart = both(lambda width: person_charts.signed_bars(rows, title="Contribution to the leakage", width=width))
    graph = None
    if merge_graph(finding, sources, width=600) is not None:
        graph = both(lambda width: merge_graph(finding, sources, width=width) or Markup())
    return Shown(finding, chart if rows else None, len(ordered) - len(rows), graph, len(finding.members) > MOST_DRAWN)


def by_share(shares: Sequence[SourceShare]) -> list[SourceShare]:
    """Sources with what adds most first."""
    return sorted(shares, key=lambda source: -source.contribution)


def _shares_chart(shares: Sequence[SourceShare], both: Both) -> Markup | None:
    rows = [
        Signed(
            source.source,
            source.contribution,
            f"{source.source} adds {signed_part(source.contribution)}: without it the leakage is "
            f"{part(source.leakage_without)}",
        )
        for source in by_share(shares)
    ]
    if not rows:
        return None
    return both(lambda width: person_charts.signed_bars(rows, title="What the source adds to the leakage", width=width))


@_page.register
def _release(result: PersonReleaseResult, both: Both) -> dict[str, Any]:
    return {
        "body": "person_release.html",
        "kind": "release about a person",
        "options_chart": both(
            lambda width: person_charts.option_bars(result.options, result.before, limit=result.limit, width=width)
        )
        if result.options
        else None,
        "slots": list(dict.fromkeys(option.slot for option in result.options)),
        "strongest": max(result.before, key=lambda name: result.before[name], default=None),
        "plan_chart": both(
            lambda width: person_charts.changes(
                [Change(plan.adversary, plan.before, plan.after) for plan in result.best],
                limit=result.limit,
                width=width,
            )
        ),
    }


@_page.register
def _dip(result: PersonDipResult, both: Both) -> dict[str, Any]:
    by_query: dict[str, list[Dipped]] = {}
    for dip in result.dips:
        by_query.setdefault(dip.query, []).append(dip)
    ordered = [dip for dips in by_query.values() for dip in dips]
    rows = [Trio(dip.query, dip.adversary, dip.leakage, dip.precision, dip.recall) for dip in ordered]
    return {
        "body": "person_dip.html",
        "kind": "queries for a person",
        "reading": (*person_words.DEFINITIONS, person_words.QUERY),
        "dips": ordered,
        "worst": max(result.dips, key=lambda dip: dip.leakage),
        "dips_chart": both(lambda width: person_charts.ladder(rows, limit=result.limit, width=width)),
        "queries": [
            (query, [(dip, shown_finding(dip.finding, _sources_of(dip.finding), both)) for dip in _worst_first(dips)])
            for query, dips in by_query.items()
        ],
    }


def _worst_first(dips: Sequence[Dipped]) -> list[Dipped]:
    return sorted(dips, key=lambda dip: -dip.leakage)


def _sources_of(finding: Finding) -> list[str]:
    """The sources that a finding itself names."""
    return list(dict.fromkeys(source for held in finding.held for source in held.sources))


@_page.register
def _remove(result: PersonRemoveResult, both: Both) -> dict[str, Any]:
    return {
        "body": "person_remove.html",
        "kind": "removals for a person",
        "curve_chart": both(
            lambda width: person_charts.removal_curve(result.before, result.steps, limit=result.limit, width=width)
        )
        if result.steps
        else None,
        "spent": sum(step.cost for step in result.steps),
        "shares": by_share(result.source_shares),
        "shares_chart": _shares_chart(result.source_shares, both),
    }


@_page.register
def _decoy(result: PersonDecoyResult, both: Both) -> dict[str, Any]:
    rows = [Change(name, was, result.after[name]) for name, was in result.before.items() if name in result.after]
    return {
        "body": "person_decoy.html",
        "kind": "decoys for a person",
        "changes_chart": both(lambda width: person_charts.changes(rows, limit=result.limit, width=width)),
    }


@_page.register
def _verify(result: PersonVerifyResult, both: Both) -> dict[str, Any]:
    drawn = result.candidates[:_CANDIDATES]
    several = len({one.record for one in drawn}) > 1
    names = [f"{one.label} {one.value}{', ' + one.record if several else ''}" for one in drawn]
    rows = [(name, one.gain, part(one.gain)) for name, one in zip(names, drawn, strict=True)]
    chosen = [one.chosen for one in drawn]
    title = "Gain in certainty if verified"
    return {
        "body": "person_verify.html",
        "kind": "verification by an adversary",
        "reading": (*person_words.DEFINITIONS, person_words.CERTAINTY),
        "gains_chart": both(lambda width: person_charts.plain_bars(rows, title=title, width=width, chosen=chosen))
        if rows
        else None,
        "candidates_left": len(result.candidates) - len(drawn),
    }


def _percent(value: float) -> str:
    return f"{setting(100 * value)}%"


@_page.register
def _population(result: PersonPopulationResult, both: Both) -> dict[str, Any]:
    tops = [
        (source, persons / max(1, result.persons), share(persons / max(1, result.persons)))
        for source, persons in sorted(result.top_sources.items(), key=lambda item: -item[1])
    ]
    title = "Share of persons of whom it gives most away"
    return {
        "body": "person_population.html",
        "kind": "population",
        "reading": (*person_words.DEFINITIONS, person_words.K),
        "strongest": max(result.rungs, key=lambda rung: rung.quantiles["100%"]),
        "names": [name for name in result.rungs[0].quantiles if all(name in r.quantiles for r in result.rungs)],
        "bins": [
            (f"{setting(k / len(bins))} to {setting((k + 1) / len(bins))}", [rung.bins[k] for rung in result.rungs])
            for bins in [result.rungs[0].bins]
            for k in range(len(bins))
        ],
        "histograms": both(lambda width: person_charts.histograms(result.rungs, limit=result.limit, width=width)),
        "tops_chart": both(lambda width: person_charts.plain_bars(tops, title=title, width=width, show=_percent))
        if tops
        else None,
        "records": sum(source.records for source in result.sources),
    }
