"""The lines of a gate: what a policy asks of one source, and whether it is so."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from tacit.errors import ArgumentError
from tacit.release.bounds import LiftBounds, asked_bounds, further_secrets
from tacit.release.checks import Check
from tacit.requests import Bound, Question
from tacit.requests.policy import Policy

PolicyRule = Literal["epsilon", "least", "known", "columns", "confidence", "mechanism", "claim", "source"]

# What each rule asks, for readers who see its name alone.
RULES: dict[PolicyRule, str] = {
    "epsilon": "What is told about a secret stays within the policy's epsilon.",
    "least": "Every combination of released values belongs to at least as many people as the policy asks.",
    "known": "What is told is bounded inside what the policy says may be known.",
    "columns": "No column is released that the policy keeps back.",
    "confidence": "The bound is proved of the people behind the records, as surely as the policy asks.",
    "mechanism": "The release was made by a mechanism that the policy allows.",
    "claim": "The release is as it was certified, and its claim is true.",
    "source": "The source can be read and counted.",
}


@dataclass(frozen=True)
class PolicyCheck(Check):
    """One line of a gate; ``rule`` says which part of the policy it is about."""

    rule: PolicyRule


@dataclass(frozen=True)
class CheckedSource:
    """One source that went through the gate. A line that could not be checked fails as one that is not so does."""

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
    """What a policy asks of one secret; ``values`` are those that are secret, where not all of the column's are."""

    secret: tuple[str, ...]
    values: tuple[str, ...]
    bounds: LiftBounds

    @property
    def name(self) -> str:
        """What the line is called."""
        return f"epsilon of {', '.join(self.secret)}"


def asked_of_secrets(policy: Policy) -> tuple[AskedOfSecret, ...]:
    """What a policy asks of each secret; nothing where it names none."""
    if policy.secret is None:
        return ()
    try:
        return _asked(policy, policy.question(None))
    except ArgumentError as error:
        # In plain words, for a policy is written in none of a shell's.
        raise ArgumentError(f"the policy cannot be kept: {error}") from error


def _asked(policy: Policy, question: Question) -> tuple[AskedOfSecret, ...]:
    bound = Bound(epsilon=policy.epsilon, epsilon_low=policy.epsilon_low, epsilon_high=policy.epsilon_high)
    first = AskedOfSecret(tuple(question.secret or ()), question.secret_values, asked_bounds(bound))
    further = [AskedOfSecret(each.secret, (), each.bounds) for each in further_secrets(policy.also)]
    return (first, *further)
