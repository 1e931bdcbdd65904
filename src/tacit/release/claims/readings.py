"""The two readings of a counted claim: about the table itself, and about whom it may be a sample of."""

from __future__ import annotations

import math
from dataclasses import fields, replace
from typing import Protocol

from tacit.errors import sentence
from tacit.lift import confident
from tacit.release.bounds import LiftBounds
from tacit.release.certificate import Reading, SampleProof
from tacit.release.claims.factors import bounded

NOT_PROVED = (
    "If the table is a sample, nothing is proved about the population it was drawn from: counted shares err, and in "
    "simulations 10 to 88% of such claims were false for it. A release with a confidence asks for a proof."
)


class SampleEvidence(Protocol):
    """What a proof from a sample says about itself."""

    @property
    def beta(self) -> float:
        """The probability with which it may be false."""
        ...


def readings_of(attained: float, bounds: LiftBounds, proof: SampleEvidence | None) -> tuple[Reading, Reading]:
    """The two readings of a counted claim: about the table itself, and about the people it may be a sample of."""
    here = Reading("population", population_sentence(attained, bounds), 1.0)
    if proof is None:
        return here, Reading("sample", NOT_PROVED, None)
    there = Reading("sample", "", 1 - proof.beta, sample_proof(proof))
    return here, replace(there, sentence=sample_sentence(there, bounds))


def sample_proof(proof: SampleEvidence) -> SampleProof:
    """What a certificate says about a proof."""
    return SampleProof(**{each.name: getattr(proof, each.name) for each in fields(SampleProof)})


def population_sentence(attained: float, bounds: LiftBounds) -> str:
    """The first reading in plain words."""
    start = "If this table is everyone the claim is about, it is exact"
    if bounds.delta > 0:
        return f"{start}, and so is its delta: both were computed on the joint of secret and output."
    side = "above" if math.isinf(bounds.low) else "beyond"
    # Rounded up, so that the sentence never claims more than was counted; the slack absorbs rounding of sums.
    bound = math.ceil(attained * 1e4 - 1e-4) / 1e4
    what = "the secret" if bounds.thresholds is None else "such an event"
    words = "{start}: no log-lift of {what} is {side} {bound}."
    return sentence(words, start=start, what=what, side=side, bound=bounded(bound))


def sample_sentence(reading: Reading, bounds: LiftBounds) -> str:
    """The second reading in plain words."""
    if reading.proof is None:
        return NOT_PROVED
    below = sentence("below -{low} or ", low=bounded(bounds.low))
    of_values = bounds.thresholds is None
    return sentence(
        "If the records are a random sample{all_values}, then with {sure} confidence no log-lift of {what} "
        "of the people they were drawn from is {below}above {high}. {proof.records_to_choose:,} records, dealt without "
        "looking at them, chose which values or cells to keep, and the other {proof.records_to_prove:,} proved it; "
        "released values that were never seen count as merged.{unseen}",
        all_values=", and contain every value that the secret has" if of_values else "",
        what="such a release" if of_values else "an event that covers the share asked for, at any threshold, in a cell",
        unseen=" Nothing is proved about a value of the secret that no record has." if of_values else "",
        sure=confident(reading.confidence or 0.0),
        below="" if math.isinf(bounds.low) else below,
        high=bounded(bounds.high),
        proof=reading.proof,
    )
