"""What every answer says about its data: where the records came from, and what the secret is before any release."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from tacit.document import Code
from tacit.errors import Sentence, sentence


@dataclass(frozen=True)
class SourceFacts:
    """Where the records came from."""

    name: str
    format: str
    records: int
    weighted_total: float
    sha256: str | None

    @property
    def hashed(self) -> tuple[Sentence, ...]:
        """The hash for a footer, if there is one."""
        return (sentence("SHA-256 {}", Code(self.sha256)),) if self.sha256 else ()


@dataclass(frozen=True)
class SecretValue:
    """A value of the secret and its share: what an adversary believes before any release."""

    label: str
    weight: float
    prior: float


def secret_values(labels: Iterable[str], counts: Iterable[float]) -> tuple[SecretValue, ...]:
    """The values of a secret, from how often each occurs."""
    weights = [float(count) for count in counts]
    total = sum(weights)
    return tuple(SecretValue(str(label), n, n / total) for label, n in zip(labels, weights, strict=True))
