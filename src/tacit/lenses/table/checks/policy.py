"""A table beside a policy: what it would give away if its columns were published as they are."""

from __future__ import annotations

from typing import Any

from tacit.document import listed
from tacit.errors import Command, sentence
from tacit.lenses.table.question import TableQuestion, ask
from tacit.lenses.table.tabulating import Counted, counted
from tacit.release.bounds import Attained
from tacit.release.policy.certificates import beside
from tacit.release.policy.lines import AskedOfSecret, PolicyCheck, asked_of_secrets
from tacit.requests.policy import Policy
from tacit.tables.grouping import group_sizes
from tacit.tables.sources import open_table
from tacit.tables.symbols import in_order
from tacit.tables.table import Table


def checks_of_table(source: Any, policy: Policy, *, engine: str) -> tuple[tuple[PolicyCheck, ...], tuple[str, ...]]:
    """The lines of a table, and what is to be said of them.

    Guarantees
    ----------
    Counted on all records, with no released column cut: log-lifts of each secret and every combination of the released
    columns (inside what may be known), and the people that share one. The table is the population.
    """
    table = source if isinstance(source, Table) else open_table(source, engine=engine)
    if policy.secret is None:
        apart = {*(policy.drop or ()), policy.weight}
        named = [*(policy.released or ()), *(policy.drop or ()), *(policy.known or ())]
        table.require(named)
        shown = tuple(policy.released or (name for name in table.names if name not in apart))
        return (*_people(table, shown, policy), *_of_releases(policy)), ()
    asked = asked_of_secrets(policy)
    hidden = {name for each in asked for name in each.secret}
    # A column that is different in every row fails the lines below, and need not be confirmed.
    keep = [name for name in table.names if name not in hidden] or None
    also = [each.secret for each in asked[1:]]
    question = ask(policy.question(table, keep_id=keep, engine=engine), also=also, in_cells=True)
    lines = _secrets(counted(question), asked)
    people = _people(question.original, question.released, policy)
    return (*lines, *people, *_of_releases(policy)), _about(question)


def _secrets(table: Counted, asked: tuple[AskedOfSecret, ...]) -> list[PolicyCheck]:
    """What is told of each secret, beside what may be."""
    known = [name for name in table.question.known if name in table.question.released]
    places = [table.symbols.columns.index(name) for name in known]
    parts = in_order(table.symbols.codes[:, places])[1] if known else None
    lines = []
    for each, joint in zip(asked, (table.joint, *table.further), strict=True):
        found = Attained.of(joint, each.bounds, parts)
        told = beside(found.low, found.high, each.bounds)
        lines.append(PolicyCheck(each.name, found.holds(each.bounds), told, "epsilon"))
    return lines


def _people(table: Table, shown: tuple[str, ...], policy: Policy) -> list[PolicyCheck]:
    """How many people share what is released, and what may be known."""
    known = tuple(name for name in policy.known or () if name in shown)
    named = [("people that share a value", shown)]
    if known and {*known} != {*shown}:
        named.append((f"people that share {listed(known)}", known))
    lines = []
    for name, columns in named:
        sizes = group_sizes(table, columns, least=policy.least)
        told = (
            f"the fewest are {sizes.smallest:,}, and {policy.least:,} must; {sizes.few:,} of {sizes.people:,} people "
            "share with fewer"
        )
        lines.append(PolicyCheck(name, sizes.smallest >= policy.least, told, "least"))
    return lines


def _of_releases(policy: Policy) -> list[PolicyCheck]:
    """What is asked of releases alone: a table as it is has been through nothing."""
    told = sentence("a table as it is proves nothing: make a release ({})", Command("protect", "TABLE"))
    lines = []
    if policy.confidence is not None:
        lines.append(PolicyCheck("level of confidence", None, told, "confidence"))
    if policy.mechanisms is not None:
        lines.append(PolicyCheck("mechanism", None, told, "mechanism"))
    return lines


def _about(question: TableQuestion) -> tuple[str, ...]:
    """How the secret was cut, and what may be known and is not there to be known by."""
    lost = [name for name in question.known if name not in question.released]
    words = "{known} may be known and is not released, so that nobody is found by it"
    return (*question.notes, *((words.format(known=listed(lost)),) if lost else ()))
