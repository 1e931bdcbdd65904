"""Words that the terminal and the page share about a person."""

from __future__ import annotations

from collections.abc import Mapping

from tacit.report.numbers import count, setting
from tacit.report.words import printable
from tacit.workflows.person_results import Dipped, ReleasePlan, State

# A symbol beside the word, so that colour is never the only sign.
STATES: dict[State, tuple[str, str]] = {
    "correct": ("●", "right"),
    "near": ("◐", "near"),
    "covered": ("◌", "covers"),
    "wrong": ("○", "wrong"),
}

DEFINITIONS: tuple[tuple[str, str], ...] = (
    (
        "leakage",
        "How much of the person's file one record gives away, from 0 (nothing) to 1 (all of it, surely, and nothing "
        "wrong): the harmonic mean of precision and recall, by weight, expected over what is uncertain. Of many "
        "records the one that leaks most counts. Higher is riskier.",
    ),
    ("precision", "The share of what the record says that is right, by weight. Wrong and old data lower it."),
    ("recall", "The share of the person's file that the record has right, by weight."),
    (
        "adversary",
        "Somebody who has all the sources and does something with them: brings values to one form, corrects or adds "
        "some, takes records that agree for one person's (resolves), and merges them. It has a cost.",
    ),
    ("confidence", "How sure whoever holds a value is of it, from 0 to 1. An unsure value leaks less."),
    (
        "weight",
        "How much an attribute matters: as the case file says, or, with background statistics, by how rare its value "
        "is. Only ratios count.",
    ),
    (
        "contribution",
        "The leakage less what it would be without the attribute or the source. Above 0: it gives the person away. "
        "Below 0: it misleads the adversary, and without it the leakage would be higher.",
    ),
    (
        "right, near, covers, wrong",
        "Right: the true value. Near: close to it (31 for 30), with part of the credit. Covers: a coarser value that "
        "the truth lies in (11* for 111). Wrong: anything else.",
    ),
)
CERTAINTY = (
    "certainty",
    "How sure the adversary is of its own record, from 0 to 1: the leakage of that record, with its confidences, "
    "measured as if all of it were true. It needs no truth, so the adversary can compute it. The gain is what "
    "verifying adds to it.",
)
K = (
    "k",
    "How many persons of the table, the person among them, have the same values of the quasi-identifiers. 1: nobody "
    "else has them.",
)
QUERY = (
    "query",
    "What somebody who looks for the person types in. All records that resolve with it, directly or through others, "
    "are what comes back.",
)

MEANINGS: tuple[tuple[str, str], ...] = (
    ("Leakage", "0: nothing known; 1: all of the person's file, surely, and nothing wrong. Of the worst record."),
    ("Precision", "Share of what that record says that is right. Recall: share of the file that it has."),
)

HIDDEN = "A source that adds less than nothing misleads the adversary: without it the leakage would be higher."
NOT_FOR_AUTHORITIES = (
    "Decoys are false data, planned because you asked. They are not for banks, insurers or authorities: giving those "
    "false data can be an offence, and no plan here is meant for it."
)


def many(number: float, one: str, several: str = "") -> str:
    """A number of things: "1 source", "4 sources"."""
    return f"{count(number)} {one if number == 1 else several or one + 's'}"


def values_words(shown: bool) -> str:
    """Whether values can be read here."""
    return "shown as they are: for your eyes alone" if shown else "masked; --show-values shows them"


def brought_up(dip: Dipped) -> int:
    """How many records a query brings up; the query itself is a member of what was resolved, and no record."""
    return max(len(dip.finding.members) - 1, 0)


def limit_words(limit: float | None) -> list[tuple[str, str]]:
    """The limit as a row of facts, if there is one."""
    return [] if limit is None else [("Limit", f"{setting(limit)}: a leakage above it is too much")]


def searched_words(searched: str) -> str:
    """How good the plan is."""
    return "exact: no plan is better" if searched == "exact" else "the best found; a better one may exist"


def plan_words(plan: ReleasePlan) -> str:
    """How a plan was found."""
    if plan.searched == "exact":
        return f"best of {count(plan.plans)}, exact"
    return f"best found of {count(plan.plans)}"


def chosen_words(choices: Mapping[str, str]) -> str:
    """A choice for every release."""
    return "; ".join(f"{printable(slot)}: {printable(option)}" for slot, option in choices.items())
