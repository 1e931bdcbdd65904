"""The lines of a gate: what a policy asks of one source, and whether the source meets it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Literal

from tacit.errors import ArgumentError
from tacit.release.bounds import LiftBounds, asked_bounds, further_secrets
from tacit.release.checks import Check
from tacit.requests import Bound, Question
from tacit.requests.policy import Policy

PolicyRule = Literal["epsilon", "least", "known", "columns", "confidence", "mechanism", "claim", "private", "source"]

# What each rule asks, for readers who see only its name.
RULES: dict[PolicyRule, str] = {
    "epsilon": "What is revealed about a secret stays within the policy's epsilon.",
    "least": "Every combination of released values belongs to at least as many people as the policy asks.",
    "known": "The bound covers what the policy says may be known.",
    "columns": "No column is released that the policy keeps back.",
    "confidence": "The bound is proved for the people behind the records, as surely as the policy asks.",
    "mechanism": "The release was made by a mechanism that the policy allows.",
    "claim": "The release is as it was certified, and its claim is true.",
    "private": "What is only for the owner does not go out with the release.",
    "source": "The source can be read and counted.",
}

# What a source without a name is called.
UNNAMED = "the table"


@dataclass(frozen=True)
class PolicyCheck(Check):
    """One line of a gate; ``rule`` says which part of the policy it is about."""

    rule: PolicyRule


@dataclass(frozen=True)
class CheckedSource:
    """One source that went through the gate. A line that could not be checked fails, like one that was not met."""

    source: str
    kind: Literal["table", "release"]
    checks: tuple[PolicyCheck, ...]
    notes: tuple[str, ...] = ()

    @property
    def failed(self) -> tuple[PolicyCheck, ...]:
        """The lines that did not pass."""
        return tuple(each for each in self.checks if not each.passed)

    @property
    def error(self) -> PolicyCheck | None:
        """The line that says why the source could not be read or counted; None if it was."""
        return next((each for each in self.checks if each.rule == "source"), None)


@dataclass(frozen=True)
class AskedOfSecret:
    """What a policy asks about one secret; ``values`` are those that are secret, where not all of the column's are.

    ``groups`` names columns of numbers whose groups are bounded: so many groups or more, or those between edges.
    """

    secret: tuple[str, ...]
    values: tuple[str, ...]
    bounds: LiftBounds
    groups: Mapping[str, int | Sequence[float]] = field(default_factory=dict)

    @property
    def name(self) -> str:
        """What the line is called."""
        return f"epsilon of {', '.join(self.secret)}"


def asked_of_secrets(policy: Policy) -> tuple[AskedOfSecret, ...]:
    """What a policy asks about each secret; nothing where it names none."""
    if policy.secret is None:
        return ()
    try:
        return _rules_of_secrets(policy, policy.question(None))
    except ArgumentError as error:
        # In plain words: a policy does not use the options of the command line.
        raise ArgumentError(f"the policy cannot be kept: {error}") from error


def _rules_of_secrets(policy: Policy, question: Question) -> tuple[AskedOfSecret, ...]:
    sides = ("epsilon", "epsilon_low", "epsilon_high", "thresholds")
    bounds, groups = asked_bounds(Bound(**{name: getattr(policy, name) for name in sides})), policy.bins or {}
    secret = tuple(question.secret or ())
    if bounds.thresholds is not None and (len(secret) > 1 or question.secret_values or secret[0] in groups):
        raise ArgumentError("'thresholds' are those of one column of numbers, of which no values or groups are named")
    first = AskedOfSecret(secret, question.secret_values, bounds, groups)
    further = [AskedOfSecret(each.secret, (), each.bounds, groups) for each in further_secrets(policy.also)]
    return (first, *further)
