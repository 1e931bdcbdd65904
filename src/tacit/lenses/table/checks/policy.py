"""A table checked against a policy: what it would give away if its columns were published unchanged."""

from __future__ import annotations

from typing import Any

from tacit.document import FilePath, listed
from tacit.errors import Command, Sentence, sentence
from tacit.lenses.table.question import ask
from tacit.lenses.table.tabulating import Counted, counted
from tacit.release.policy.certificates import beside, not_bounded
from tacit.release.policy.lines import AskedOfSecret, PolicyCheck, asked_of_secrets
from tacit.requests.policy import Policy
from tacit.tables.grouping import group_sizes
from tacit.tables.sources import open_table
from tacit.tables.symbols import in_order
from tacit.tables.table import Table


def checks_of_table(source: Any, policy: Policy, *, engine: str) -> tuple[tuple[PolicyCheck, ...], tuple[str, ...]]:
    """The lines of a table, and the notes on them.

    Guarantees
    ----------
    Counted on all records, with no released column cut: log-lifts of each secret and every combination of the released
    columns (inside what may be known), and the people that share one. The table is the population. A column that is in
    the table although it may not be fails a line; so does one that may be known and is not released.
    """
    table = source if isinstance(source, Table) else open_table(source, engine=engine)
    if policy.secret is None:
        apart = {*(policy.drop or ()), policy.weight}
        named = [*(policy.released or ()), *(policy.drop or ()), *(policy.known or ())]
        table.require(named)
        shown = tuple(policy.released or (name for name in table.names if name not in apart))
        return (*_people(table, shown, policy), *_columns(table, policy), *_proved(policy)), _not_asked(policy)
    secret_rules = asked_of_secrets(policy)
    hidden = {name for each in secret_rules for name in each.secret}
    # A column that is different in every row fails the lines below, so nobody has to confirm it.
    keep = [name for name in table.names if name not in hidden] or None
    also = [each.secret for each in secret_rules[1:]]
    asking = policy.question(table, keep_id=keep, engine=engine, bins=policy.bins)
    question = ask(asking, also=also, in_cells=True, thresholds=policy.thresholds)
    lines = _secrets(counted(question), secret_rules)
    people = _people(question.original, question.released, policy)
    lost = [name for name in question.known if name not in question.released]
    known = [not_bounded(lost)] if lost else []
    rest = (*known, *_columns(question.original, policy), *_proved(policy))
    way_out = () if all(line.passed for line in (*lines, *people)) else (_release(table, policy),)
    return (*lines, *people, *rest), (*way_out, *question.notes, *_not_asked(policy))


def _secrets(table: Counted, secret_rules: tuple[AskedOfSecret, ...]) -> list[PolicyCheck]:
    """What the table tells about each secret, next to what it may tell."""
    known = [name for name in table.question.known if name in table.question.released]
    places = [table.symbols.columns.index(name) for name in known]
    parts = in_order(table.symbols.codes[:, places])[1] if known else None
    lines = []
    for each, joint in zip(secret_rules, (table.joint, *table.further), strict=True):
        reached = table.attained(joint, each.bounds, parts)
        detail = beside(reached.low, reached.high, each.bounds)
        lines.append(PolicyCheck(each.name, reached.holds(each.bounds), detail, "epsilon"))
    return lines


def _people(table: Table, shown: tuple[str, ...], policy: Policy) -> list[PolicyCheck]:
    """How many people share what is released, and what may be known."""
    known = tuple(name for name in policy.known or () if name in shown)
    named = [("people who share a value", shown)]
    if known and {*known} != {*shown}:
        named.append((f"people who share {listed(known)}", known))
    lines = []
    for name, columns in named:
        sizes = group_sizes(table, columns, least=policy.least)
        detail = (
            f"{sizes.smallest:,} at least, {policy.least:,} required; {sizes.few:,} of {sizes.people:,} people share "
            "with fewer"
        )
        lines.append(PolicyCheck(name, sizes.smallest >= policy.least, detail, "least"))
    return lines


def _columns(table: Table, policy: Policy) -> list[PolicyCheck]:
    """A table is published unchanged: if the policy lists the columns that may be, the table may hold no others."""
    if policy.released is None:
        return []
    hidden = {name for secret_rules in asked_of_secrets(policy) for name in secret_rules.secret}
    allowed = {*policy.released, *hidden, *(policy.drop or ()), policy.weight}
    beyond = [name for name in table.names if name not in allowed]
    detail = (
        f"{listed(beyond)} may not be released, but the table holds them: drop them, or leave them out of it"
        if beyond
        else f"{len(policy.released):,} columns, all of which may be"
    )
    return [PolicyCheck("released columns", not beyond, detail, "columns")]


def _proved(policy: Policy) -> list[PolicyCheck]:
    """What a table cannot show before a release is made of it."""
    if policy.confidence is None:
        return []
    detail = sentence("a plain table proves nothing: make a release ({})", Command("protect", "TABLE"))
    return [PolicyCheck("level of confidence", None, detail, "confidence")]


def _release(table: Table, policy: Policy) -> Sentence:
    """How to make a release that keeps the policy from a table that does not."""
    names = ("secret", "epsilon", "epsilon_low", "epsilon_high", "also", "bins", "thresholds", "confidence", "released")
    secret_rules = {name: getattr(policy, name) for name in (*names, "drop", "known", "weight")}
    settings = {name: value for name, value in secret_rules.items() if value is not None}
    if policy.least != Policy().least:
        settings["least"] = policy.least
    source = FilePath(table.address) if table.address else "TABLE"
    return sentence("a release of it can keep the policy: {}", Command("protect", source, **settings, out="release"))


def _not_asked(policy: Policy) -> tuple[str, ...]:
    """A note that how releases are made does not apply to a table."""
    return (
        () if policy.mechanisms is None else ("'mechanisms' says how releases are made: it does not apply to tables",)
    )
