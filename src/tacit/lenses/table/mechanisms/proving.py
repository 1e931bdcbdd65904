"""A release that the records prove for the people they were drawn from."""

from __future__ import annotations

import hashlib
from dataclasses import replace

import numpy as np

from tacit.document import Nats
from tacit.errors import ArgumentError, NotCertifiedError, Sentence, Setting, sentence, together
from tacit.lenses.table.mechanisms.goal import ReleaseGoal
from tacit.lenses.table.mechanisms.plan import Candidate
from tacit.lenses.table.mechanisms.watchdog import merging
from tacit.lenses.table.tabulating import Counted
from tacit.lift import CertifiedPartition, Matrix, certified_partition, confident, log_lift
from tacit.release.bounds import LiftBounds

# If there are too few records to prove what was asked, epsilons that grow by this factor are tried for a hint.
STEP, LARGEST_HINT, WORTH_KEEPING, WORTH_TELLING = 1.15, 2.0, 0.1, 0.01
# How many times as many records are tried, to find the number that would be enough.
FACTORS = (1, 2, 5, 10, 20, 50, 100, 200, 500, 1_000)


def proved_set(counted: Counted, goal: ReleaseGoal, confidence: float) -> Candidate:
    """The largest release that half of the records chose and the other half proves to be within bounds."""
    if counted.question.weight is not None:
        words = "{confidence} counts records, and weighted ones prove nothing: leave out {weight}"
        raise ArgumentError(sentence(words, confidence=Setting("confidence"), weight=Setting("weight")))
    bounds = goal.bounds
    proof = proof_of(counted.table, bounds, confidence)
    if proof.keeps_nothing:
        raise NotCertifiedError(_too_few(counted, bounds, confidence))
    merged = np.array(proof.merged)
    if goal.replacement == "suppress" and (counted.symbols.all_missing & ~merged).any():
        words = (
            "suppressed records would look like those with only missing values, which are kept: choose another "
            "{replacement}"
        )
        raise ArgumentError(sentence(words, replacement=Setting("replacement")))
    return replace(merging(counted, goal, merged, "split and prove"), proof=proof)


def proof_of(table: Matrix, bounds: LiftBounds, confidence: float) -> CertifiedPartition:
    """What the records of a table prove about the people they were drawn from."""
    return certified_partition(
        table,
        epsilon=bounds.epsilon,
        rng=dealer(table),
        beta=1 - confidence,
        epsilon_low=bounds.low,
        epsilon_high=bounds.high,
        on_table=True,
    )


def dealer(table: Matrix) -> np.random.Generator:
    """Deals records into halves, always the same way for the same counts: nobody can deal again until it suits them."""
    whole = np.ascontiguousarray(table, dtype="<i8")
    seed = hashlib.sha256(repr(whole.shape).encode() + whole.tobytes()).digest()
    return np.random.default_rng(int.from_bytes(seed))


def _too_few(counted: Counted, bounds: LiftBounds, confidence: float) -> Sentence:
    """Why nothing was written, what these records would prove, and how many would be enough."""
    words = (
        "{records:,} records do not prove {epsilon} with {sure} confidence for any release that keeps a value, so "
        "nothing was written."
    )
    records, sure = int(counted.table.sum()), confident(confidence)
    texts: list[str] = [sentence(words, records=records, epsilon=Nats(bounds.epsilon, 6), sure=sure)]
    upwards = _share_kept(counted, proof_of(counted.table, LiftBounds(np.inf, bounds.high), confidence))
    if np.isfinite(bounds.low) and upwards >= WORTH_TELLING:
        words = (
            "They can certify {high} on how much likelier a secret may become, and nothing on how much less likely, "
            "keeping {upwards:.1%} of the records ({side})."
        )
        texts.append(sentence(words, high=Nats(bounds.high, 6), upwards=upwards, side=Setting("epsilon_high")))
    wider = bounds
    while bounds.symmetric and wider.epsilon <= LARGEST_HINT:
        wider = LiftBounds.within(float(f"{wider.epsilon * STEP + 1e-3:.2g}"))
        kept = _share_kept(counted, proof_of(counted.table, wider, confidence))
        if kept >= WORTH_KEEPING:
            words = "They can certify {epsilon} both ways, keeping {kept:.1%} of them ({setting})."
            texts.append(sentence(words, epsilon=Nats(wider.epsilon, 6), kept=kept, setting=Setting("epsilon")))
            break
    return together([*texts, enough(counted, bounds, confidence)])


def _share_kept(counted: Counted, proof: CertifiedPartition) -> float:
    return 1 - float(counted.joint.marginal[proof.merged].sum())


def enough(counted: Counted, bounds: LiftBounds, confidence: float) -> str:
    """How many records like these would keep half of what looks safe, in a sentence: an estimate, not a promise.

    The same records are counted several times over: what they would prove then is what more of them might.
    """
    safe = ~bounds.beyond(log_lift(counted.joint)).any(axis=0)
    wanted, records = float(counted.joint.marginal[safe].sum()) / 2, int(counted.table.sum())
    if wanted == 0:
        return "No single value of the table is within that bound, so no number of records would be enough."
    for factor in FACTORS:
        kept = _share_kept(counted, proof_of(counted.table * factor, bounds, confidence))
        if kept >= wanted:
            more = f"About {records * factor:,} records like these would keep {kept:.0%} of the records."
            return more if factor > 1 else ""
    return f"Even {records * FACTORS[-1]:,} records like these would keep less than {wanted:.0%} of the records."
