"""The certificate of a table: what was counted, and what is claimed because of it."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import ClassVar, Literal

from tacit.document import Information
from tacit.release.bounds import LARGEST_EPSILON, DeltaKind, FurtherSecret, LiftBounds
from tacit.release.certificate.parts import Certificate
from tacit.release.kept import ReaderKeeps
from tacit.release.whole_file import WholeFile
from tacit.requests.names import MECHANISMS
from tacit.tables.cutting import Cut

BY_RULES, MIXTURE, IN_CELLS = "as in the rules", "mixture", "cells"
# What made a release: a mechanism that can be chosen, or a step on the way to one.
MADE_BY = (*MECHANISMS, "camouflage")

# What verify takes from a table's certificate without recomputing it: it says so, and no claim rests on it.
NOT_MADE_AGAIN = (
    *("input.name", "input.format", "tacit_version", "mechanism.method", "mechanism.effort"),
    *("mechanism.watchdog_nmil", "mechanism.loss_bound", "mechanism.values_merged_besides", "composition"),
)

Replacement = Literal["resample", "uniform", "merge", "suppress"]


@dataclass(frozen=True)
class MeasureChange:
    """A measure before and after the mechanism, counted (exact for the table), and what epsilon promises for it.

    ``before`` is None where the original table is too large to be counted.
    """

    name: str
    title: str
    before: Information | None
    after: Information
    promise: Information | None
    unit: str = "nats"
    kind: Literal["plug-in"] = "plug-in"


@dataclass(frozen=True)
class Utility:
    """What the honest reader keeps."""

    mutual_information: Information
    entropy: Information
    nmil: float
    rows_unchanged: float
    cells_unchanged: float
    column_shift: float


@dataclass(frozen=True)
class FurtherClaim:
    """What is claimed about a further secret."""

    secret: tuple[str, ...]
    epsilon: Information
    attained_epsilon: Information

    def __post_init__(self) -> None:
        if not (0 <= self.epsilon <= LARGEST_EPSILON and 0 <= self.attained_epsilon <= LARGEST_EPSILON):
            raise ValueError("epsilon is out of range")


@dataclass(frozen=True)
class SampleProof:
    """How a claim was proved for the people that the records were drawn from.

    ``records_to_choose`` and ``records_to_prove`` are the sizes of the two halves; of ``candidates`` nested releases,
    the first ``passed`` were proved and the one that keeps ``kept`` values was made.
    """

    records_to_choose: int
    records_to_prove: int
    candidates: int
    passed: int
    kept: int


@dataclass(frozen=True)
class Reading:
    """What a claim means, and about whom.

    ``population``: the table is everyone, and the claim is exact. ``sample``: the table is a random sample, and the
    claim is about the people it was drawn from; ``confidence`` is the probability with which it is proved, None where
    nothing is.
    """

    name: Literal["population", "sample"]
    sentence: str
    confidence: float | None
    proof: SampleProof | None = None


@dataclass(frozen=True)
class ComposedSecret:
    """What several releases together say about one secret, in nats on either side."""

    secret: tuple[str, ...]
    epsilon_low: Information
    epsilon_high: Information
    epsilon: Information

    def __post_init__(self) -> None:
        sides = (self.epsilon_low, self.epsilon_high)
        if min(sides) < 0 or self.epsilon not in (self.epsilon_high, max(sides)):
            raise ValueError("epsilon is none of its sides")


@dataclass(frozen=True)
class LedgerComposition:
    """What this release and the earlier ones of its ledger say together."""

    releases: int
    exact: bool
    secrets: tuple[ComposedSecret, ...]
    beta: float
    sentence: str

    def __post_init__(self) -> None:
        if self.releases < 1 or not 0 <= self.beta <= 1 or not self.secrets:
            raise ValueError("the composition is out of range")


@dataclass(frozen=True, kw_only=True)
class CountedMechanism:
    """What was done to a table, and to how much of it; numbers that do not apply to a mechanism are None.

    ``values`` is the number of released values, ``values_merged`` how many of them are not always released unchanged,
    ``records_merged`` their share of the records.
    """

    weight: str | None
    values: int
    values_merged: int
    records_merged: float
    name: str
    replacement: Literal["resample", "uniform", "merge", "suppress", "as in the rules", "mixture", "cells"]
    method: str
    effort: str | None = None
    watchdog_nmil: float | None = None
    loss_bound: float | None = None
    plain_watchdog_attains: float | None = None
    values_merged_besides: int | None = None

    def __post_init__(self) -> None:
        if self.name not in MADE_BY:
            raise ValueError(f"no mechanism is called '{self.name}'")
        if self.replacement == MIXTURE and None in (self.watchdog_nmil, self.loss_bound):
            raise ValueError("a mixture says what one merged set would lose, and what any mechanism must")

    @property
    def mixes(self) -> bool:
        """Whether it is a mixture, or a batch treated by the rules of one."""
        return self.replacement == MIXTURE or (self.replacement == BY_RULES and self.name != "watchdog")


@dataclass(frozen=True, kw_only=True)
class CountedCertificate(Certificate):
    """What is claimed about every record of a table, counted.

    Guarantees
    ----------
    ``attained_epsilon`` is the largest absolute log-lift of the joint of secret and output, on the sides that are
    bounded, computed on that joint: the table is the population, its shares the probabilities. ``holds`` is true only
    if every log-lift lies between ``-epsilon_low`` and ``epsilon_high`` (or, with ``delta`` above zero, the delta of
    its kind is at most that), for every further secret too; with ``thresholds`` the log-lifts are those of the events
    "at most t" and "more than t" of a number that cover at least that share of all. That is the reading row by row;
    ``file`` is the other one.
    """

    private_files: ClassVar[tuple[str, ...]] = (*Certificate.private_files, "rules.json", "key.txt")
    may_have_parts: ClassVar[bool] = True

    secret: tuple[str, ...]
    secret_values: tuple[str, ...] = ()
    thresholds: float | None = None
    released: tuple[str, ...]
    known: tuple[str, ...] = ()
    holds: bool
    attained_epsilon: Information
    measures: tuple[MeasureChange, ...]
    utility: Utility
    cuts: tuple[Cut, ...]
    left_out: tuple[str, ...]
    epsilon_low: Information
    epsilon_high: Information
    delta: float
    delta_kind: DeltaKind
    epsilon_max: Information
    attained_delta: float
    breach_share: float
    mechanism: CountedMechanism
    also: tuple[FurtherClaim, ...] = ()
    readings: tuple[Reading, Reading]
    file: WholeFile
    keeps: ReaderKeeps | None = None
    composition: LedgerComposition | None = None
    kind: Literal["counted"] = "counted"

    def __post_init__(self) -> None:
        super().__post_init__()
        if not self.secret or not self.released:
            raise ValueError("there is no secret, or nothing released")
        if self.bounds.epsilon != self.epsilon:
            raise ValueError("epsilon is not the larger of its two sides")
        one_number = len(self.secret) == 1 and not self.secret_values and self.mechanism.name == "cells"
        if self.thresholds is not None and not one_number:
            raise ValueError("thresholds are those of one number, in cells")
        # With a delta a value may rule a secret out altogether.
        if not 0 <= self.attained_epsilon <= (math.inf if self.delta > 0 else 700):
            raise ValueError("attained_epsilon is out of range")
        here, there = self.readings
        if here != Reading("population", here.sentence, 1.0) or there.name != "sample":
            raise ValueError("a counted claim has two readings, of the table as population and as sample")
        if (there.confidence is None) != (there.proof is None) or not 0 < (there.confidence or 0.5) < 1:
            raise ValueError("the second reading has a confidence and a proof, or neither")

    @property
    def in_cells(self) -> bool:
        """Whether the table was written in cells."""
        return self.mechanism.name in MECHANISMS and MECHANISMS[self.mechanism.name].coded

    @property
    def bounds(self) -> LiftBounds:
        """What is claimed about the secret."""
        delta = (self.delta, self.delta_kind, self.epsilon_max)
        return LiftBounds(self.epsilon_low, self.epsilon_high, *delta, self.thresholds)

    @property
    def further(self) -> tuple[FurtherSecret, ...]:
        """The further secrets that something is claimed about."""
        return tuple(FurtherSecret(each.secret, each.epsilon) for each in self.also)
