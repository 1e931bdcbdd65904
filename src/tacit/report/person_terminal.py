"""Results about a person in the terminal: the answer first, then the ladder, the record, and what to do."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import singledispatch

from rich.console import RenderableType
from rich.padding import Padding
from rich.text import Text

from tacit import __version__
from tacit.report import terminal, words
from tacit.report.numbers import count, number, part, setting, share, signed_part
from tacit.report.person_words import (
    HIDDEN,
    MEANINGS,
    NOT_FOR_AUTHORITIES,
    STATES,
    brought_up,
    chosen_words,
    limit_words,
    many,
    plan_words,
    searched_words,
    values_words,
)
from tacit.report.words import listed, printable, shorten
from tacit.workflows.person_results import (
    Action,
    Finding,
    Held,
    PersonAuditResult,
    PersonDecoyResult,
    PersonDipResult,
    PersonPopulationResult,
    PersonReleaseResult,
    PersonRemoveResult,
    PersonSource,
    PersonVerifyResult,
    SourceShare,
)
from tacit.workflows.results import Result

Parts = Iterator[RenderableType]

_JOINS_SHOWN = 12
_CANDIDATES_SHOWN = 15
_ACTIONS_SHOWN = 10
_STATE_STYLES = {"correct": "red", "near": "yellow", "covered": "yellow", "wrong": "cyan"}
_QUANTILES = ("0%", "50%", "90%", "99%", "100%")


def parts_of(result: Result) -> Parts:
    """What the terminal shows of a result about a person."""
    yield terminal.answer(words.badge_of_result(result), getattr(result, "headline", ""))
    yield from _parts(result)
    yield from terminal.notes(getattr(result, "notes", ()))
    yield terminal.facts([("Tacit", __version__)])


@singledispatch
def _parts(result: Result) -> Parts:
    raise TypeError(f"no report for {type(result).__name__}")


# ---- audit --------------------------------------------------------------------------------------------------------


@_parts.register
def _audit(result: PersonAuditResult) -> Parts:
    records = sum(source.records for source in result.sources)
    yield terminal.facts(
        [
            ("Case", printable(result.case)),
            ("Person", f"{count(result.facts)} true things with the labels {listed(result.labels)}"),
            ("Sources", f"{_sources(result.sources)}: {count(records)} records"),
            ("Values", values_words(result.values_shown)),
            *limit_words(result.limit),
        ]
    )
    yield terminal.heading(f"The ladder: what each adversary learns, and what it costs it. {words.DIRECTION}")
    table = terminal.table("Adversary", "Does", ">Leakage", ">Precision", ">Recall", ">Cost", ">Seconds")
    table.columns[0].min_width = 10
    table.columns[1].min_width = 14
    for rung in result.rungs:
        strongest = rung.adversary == result.strongest
        table.add_row(
            Text(shorten(rung.adversary, 20), style="bold" if strongest else ""), Text(printable(rung.does)),
            Text(part(rung.leakage), style="bold"), part(rung.precision), part(rung.recall),
            setting(rung.cost), number(rung.seconds),
        )  # fmt: skip
    yield table
    yield terminal.facts(MEANINGS, style="dim")
    finding = next((f for f in result.findings if f.adversary == result.strongest), None)
    if finding is not None:
        yield from _finding(finding)
    yield from _shares(result.source_shares, result.strongest)
    yield from _actions(result.actions, result.strongest)


def _sources(sources: Sequence[PersonSource]) -> str:
    return listed([f"{shorten(source.name, 24)} ({count(source.records)})" for source in sources], limit=8)


def _finding(finding: Finding, *, title: str = "The record that leaks most, under") -> Parts:
    yield terminal.heading(f"{title} {shorten(finding.adversary, 40)}")
    yield _held(finding.held)
    if finding.missing:
        told = listed([f"{shorten(m.label, 24)} {shorten(m.value, 24)}" for m in finding.missing])
        yield terminal.facts([("Missing", told)])
    else:
        yield terminal.line("Nothing is missing: all of the person's file is known.", style="red")
    if finding.bits is not None:
        yield terminal.line(f"What is right in it beats the prior by {number(finding.bits)} bits.")
    yield from _trace(finding)


def _held(held: Sequence[Held]) -> RenderableType:
    if not held:
        return terminal.line("It holds nothing.")
    table = terminal.table("Label", "Value", "", ">Confidence", ">Contribution", "Sources")
    table.columns[1].min_width = min(12, max(len(shorten(one.value, 32)) for one in held))
    for one in held:
        symbol, word = STATES[one.state]
        table.add_row(
            Text(shorten(one.label, 24)), Text(shorten(one.value, 32)),
            Text(f"{symbol} {word}", style=_STATE_STYLES[one.state]), setting(one.confidence),
            Text(signed_part(one.contribution), style=_side(one.contribution)), Text(listed(one.sources, limit=3)),
        )  # fmt: skip
    return table


def _side(contribution: float) -> str:
    return "red" if contribution > 0 else "cyan" if contribution < 0 else ""


def _trace(finding: Finding) -> Parts:
    if len(finding.members) < 2:
        told = f"One record as it is: {listed(finding.members)}." if finding.members else "No record holds any of it."
        yield Padding(Text(told), (1, 0, 0, 0))
        return
    yield terminal.heading(
        f"How {count(len(finding.members))} records came together, and the labels that agreed: in them, or in what "
        "they had become"
    )
    yield terminal.bullets(
        f"{shorten(join.left, 40)} — {shorten(join.right, 40)}: {listed(join.labels)}"
        for join in finding.joins[:_JOINS_SHOWN]
    )
    rest = len(finding.joins) - _JOINS_SHOWN
    if rest > 0:
        yield terminal.line(f"… and {count(rest)} more; --report and --format json have them all.", style="dim")
    if not finding.joins:
        yield terminal.line(f"Taken together as somebody else's clusters say: {listed(finding.members)}.")


def _shares(shares: Sequence[SourceShare], adversary: str) -> Parts:
    if not shares:
        return
    yield terminal.heading(
        f"What each source adds, under {shorten(adversary, 40)}: all others resolved again without it"
    )
    table = terminal.table("Source", ">Records", ">Leakage without it", ">It adds")
    for source in sorted(shares, key=lambda share: -share.contribution):
        added = Text(signed_part(source.contribution), style=_side(source.contribution))
        table.add_row(Text(shorten(source.source, 40)), count(source.records), part(source.leakage_without), added)
    yield table
    if any(source.contribution < 0 for source in shares):
        yield terminal.line(HIDDEN, style="dim")


def _actions(actions: Sequence[Action], adversary: str) -> Parts:
    if not actions:
        return
    yield terminal.heading(f"What to do first, under {shorten(adversary, 40)}")
    table = terminal.table(">", "Action", ">Before", ">After", ">Cost", ">Success", "Why")
    for rank, action in enumerate(actions[:_ACTIONS_SHOWN], start=1):
        table.add_row(
            f"{rank}.", Text(shorten(action.what, 80), style="bold"), part(action.before), part(action.after),
            setting(action.cost), share(action.success), Text(printable(action.why)),
        )  # fmt: skip
    yield table


# ---- release, dip -------------------------------------------------------------------------------------------------


@_parts.register
def _release(result: PersonReleaseResult) -> Parts:
    before = listed([f"{shorten(name, 24)} {part(value)}" for name, value in result.before.items()])
    yield terminal.facts([("Case", printable(result.case)), ("Now", f"leakage {before}"), *limit_words(result.limit)])
    yield terminal.heading(f"Leakage after each option. {words.DIRECTION}")
    table = terminal.table("Release", "Option", "Adversary", ">After", ">Adds", "Would join with")
    for option in result.options:
        for place, (adversary, after) in enumerate(option.after.items()):
            first = place == 0
            table.add_row(
                Text(shorten(option.slot, 24) if first else ""),
                Text(shorten(option.option, 24) if first else "", style="bold"), Text(shorten(adversary, 20)),
                part(after), Text(signed_part(option.added[adversary]), style=_side(option.added[adversary])),
                Text((listed(option.joins, limit=4) or "nothing") if first else ""),
            )  # fmt: skip
    yield table
    yield terminal.heading("The choice that leaks least")
    best = terminal.table("Adversary", "Choose", ">Before", ">After", ">Worst choice", "")
    for plan in result.best:
        best.add_row(
            Text(shorten(plan.adversary, 20)), Text(chosen_words(plan.choices), style="bold"), part(plan.before),
            part(plan.after), part(plan.worst), Text(plan_words(plan)),
        )  # fmt: skip
    yield best


@_parts.register
def _dip(result: PersonDipResult) -> Parts:
    rows = [("Case", printable(result.case)), ("Values", values_words(result.values_shown))]
    yield terminal.facts([*rows, *limit_words(result.limit)])
    yield terminal.heading(f"What each query brings up. {words.DIRECTION}")
    table = terminal.table("Query", "Adversary", ">Leakage", ">Precision", ">Recall", ">Records found")
    queries = list(dict.fromkeys(dip.query for dip in result.dips))
    for dip in sorted(result.dips, key=lambda dip: queries.index(dip.query)):
        table.add_row(
            Text(shorten(dip.query, 32)), Text(shorten(dip.adversary, 24)), Text(part(dip.leakage), style="bold"),
            part(dip.precision), part(dip.recall), count(brought_up(dip)),
        )  # fmt: skip
    yield table
    yield terminal.facts(MEANINGS, style="dim")
    for query in queries:
        worst = max((dip for dip in result.dips if dip.query == query), key=lambda dip: dip.leakage)
        yield from _finding(worst.finding, title=f"Who asks with “{shorten(query, 32)}” gets, under")


# ---- remove, decoy, verify ----------------------------------------------------------------------------------------


@_parts.register
def _remove(result: PersonRemoveResult) -> Parts:
    rows = [("Case", printable(result.case)), ("Adversary", f"{printable(result.adversary)}, the strongest")]
    if result.budget is not None:
        rows.append(("Budget", setting(result.budget)))
    yield terminal.facts([*rows, ("Plan", searched_words(result.searched)), *limit_words(result.limit)])
    yield terminal.heading("Ask for removal in this order")
    table = terminal.table(">", "Source", ">Records", ">Cost", ">Success", ">Leakage\nif removed", ">Expected")
    table.add_row("", Text("now", style="dim"), "", "", "", part(result.before), part(result.before))
    for rank, step in enumerate(result.steps, start=1):
        table.add_row(
            f"{rank}.", Text(shorten(step.source, 40), style="bold"), count(step.records), setting(step.cost),
            share(step.success), part(step.if_removed), part(step.expected),
        )  # fmt: skip
    yield table
    if not result.steps:
        yield terminal.line("No removal within the budget lowers the leakage.")
    yield from _shares(result.source_shares, result.adversary)


@_parts.register
def _decoy(result: PersonDecoyResult) -> Parts:
    yield terminal.line(NOT_FOR_AUTHORITIES, style="yellow")
    yield terminal.facts(
        [
            ("Case", printable(result.case)),
            ("Planned against", printable(result.adversary)),
            ("Cost", f"{setting(result.cost)} of a budget of {setting(result.budget)}"),
            ("Method", printable(result.method)),
            ("Values", values_words(result.values_shown)),
            *limit_words(result.limit),
        ]
    )
    yield terminal.heading("Records to plant" if result.recommended else "The plan that is not recommended")
    table = terminal.table(">", "Kind", "Links by", "False in it", ">Cost")
    for rank, record in enumerate(result.records, start=1):
        links, false = (listed([f"{a} {b}" for a, b in pairs]) or "nothing" for pairs in (record.links, record.false))
        table.add_row(f"{rank}.", record.kind, Text(links), Text(false), setting(record.cost))
    yield table if result.records else terminal.line("None.")
    yield terminal.heading("Everything resolved and measured again with the decoys in it")
    yield _before_after(result.before, result.after, result.adversary)
    yield terminal.line(f"The plan had predicted {part(result.predicted)} under {printable(result.adversary)}.")
    if result.reasons:
        yield terminal.heading("Why" if result.recommended else "Why not")
        yield terminal.bullets(result.reasons)


def _before_after(before: Mapping[str, float], after: Mapping[str, float], planned: str) -> RenderableType:
    table = terminal.table("Adversary", ">Before", ">After", ">Change", "")
    for adversary, was in before.items():
        now = after.get(adversary)
        change = Text("") if now is None else Text(signed_part(now - was), style=_side(now - was))
        told = "◀ planned against" if adversary == planned else ""
        table.add_row(Text(shorten(adversary, 32)), part(was), part(now), change, told)
    return table


@_parts.register
def _verify(result: PersonVerifyResult) -> Parts:
    budget = "no budget was given" if result.budget is None else f"of a budget of {setting(result.budget)}"
    yield terminal.facts(
        [
            ("Case", printable(result.case)),
            ("Adversary", printable(result.adversary)),
            ("Certainty", f"{part(result.certainty)} now, {part(result.certainty_after)} with the chosen verified"),
            ("Cost", f"{setting(result.spent)}, {budget}"),
            ("Plan", searched_words(result.searched)),
            ("Values", values_words(result.values_shown)),
        ]
    )  # fmt: skip
    yield terminal.heading("What the adversary had best verify next: keep these from being confirmed")
    shown = result.candidates[:_CANDIDATES_SHOWN]
    # Where all are of one record, as they are where the merged one is verified, a column for it says nothing.
    named = ["Record"] if len({one.record for one in shown}) > 1 else []
    table = terminal.table("Label", "Value", *named, ">Confidence", ">Cost", ">Gain", ">Gain per cost", "")
    table.columns[1].min_width = min(12, max((len(shorten(one.value, 24)) for one in shown), default=1))
    for one in shown:
        table.add_row(
            Text(shorten(one.label, 20)), Text(shorten(one.value, 24)),
            *(Text(shorten(one.record, 24)) for _ in named), setting(one.confidence), setting(one.cost),
            part(one.gain), number(one.gain_per_cost), Text("◀ next" if one.chosen else "", style="bold"),
        )  # fmt: skip
    yield table
    rest = len(result.candidates) - _CANDIDATES_SHOWN
    if rest > 0:
        yield terminal.line(f"… and {count(rest)} more; --report and --format json have them all.", style="dim")


# ---- population ---------------------------------------------------------------------------------------------------


@_parts.register
def _population(result: PersonPopulationResult) -> Parts:
    rows = [
        ("Case", printable(result.case)),
        ("Persons", count(result.persons)),
        ("Sources", _sources(result.sources)),
        *limit_words(result.limit),
    ]
    yield terminal.facts(rows)
    yield terminal.heading(f"Leakage of the persons, by quantile. {words.DIRECTION}")
    names = [name for name in _QUANTILES if all(name in rung.quantiles for rung in result.rungs)]
    table = terminal.table("Adversary", *(f">{name}" for name in names), ">Mean", ">Recall,\nmean", *_above(result)[0])
    for rung in result.rungs:
        told = [part(rung.quantiles[name]) for name in names]
        table.add_row(
            Text(shorten(rung.adversary, 20)), *told, part(rung.mean), part(rung.mean_recall),
            *(_above(result)[1](rung.above)),
        )  # fmt: skip
    yield table
    costs = terminal.table("Adversary", "Does", ">Entities", ">Cost", ">Seconds")
    for rung in result.rungs:
        costs.add_row(
            Text(shorten(rung.adversary, 20)), Text(printable(rung.does)), count(rung.entities), setting(rung.cost),
            number(rung.seconds),
        )  # fmt: skip
    yield Padding(costs, (1, 0, 0, 0))
    yield terminal.facts(_beside(result))


def _above(result: PersonPopulationResult) -> tuple[list[str], Callable[[int | None], list[str]]]:
    """The column of those above the limit, where there is a limit."""
    if result.limit is None:
        return [], lambda above: []
    return [f">Above {setting(result.limit)}"], lambda above: [count(above)]


def _beside(result: PersonPopulationResult) -> list[tuple[str, str]]:
    rows = []
    if result.k_quantiles is not None:
        told = ", ".join(f"{name}: {count(value)}" for name, value in result.k_quantiles.items())
        rows.append(("k", f"{told}: how many persons share {listed(result.quasi_identifiers)}"))
    if result.l_quantiles is not None:
        told = ", ".join(f"{name}: {count(value)}" for name, value in result.l_quantiles.items())
        rows.append(("l", f"{told}: how many different values of {listed(result.sensitive)} those have"))
    if result.unique is not None:
        rows.append(
            (
                "Unique",
                f"{many(result.unique, 'person has', 'persons have')} k = 1: nobody else shares all their values",
            )
        )
    if result.top_sources:
        tops = [f"{shorten(name, 24)} {count(persons)}" for name, persons in result.top_sources.items()]
        rows.append(("Gives most away", f"{listed(tops)} (source, and of how many persons)"))
    rows.append(
        ("Rows", printable(result.rows) if result.rows else "not written: -o rows.parquet writes a row a person")
    )
    return rows
