"""Claims in words: what a certificate says, what it rests on and how it may be read. All follows from its numbers."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from tacit.lift.gatekeeping import CertifiedPartition
from tacit.lift.rounding import at_least, at_most, confident
from tacit.workflows.bounds import Bounds, FurtherSecret
from tacit.workflows.results import Reading

# The sentence that every form of a learned release must say.
NOTHING_POINTWISE = "A learned estimate certifies nothing pointwise."
NO_LEAK_DETECTED = "No leak was detected by the estimator, which is no proof that there is none."
_NOT_TESTED = "Whether the saved model is right about these records was not tested."
NOTHING_DRAWN = "None: the mechanism is deterministic."
NOT_PROVED = (
    "If the table is a sample, nothing is proved of the people it was drawn from: counted shares err, and in "
    "simulations 10 to 88% of such claims were false of them. tacit protect --confidence 0.95 asks for a proof."
)
HOW = {
    "resample": "replaced by draws from their own pool",
    "uniform": "replaced by uniform draws from their own pool",
    "merge": "replaced by the most frequent of them",
    "suppress": "suppressed",
}


def claim_of(*, secret: tuple[str, ...], bounds: Bounds, also: Sequence[FurtherSecret] = ()) -> str:
    """The claim in one sentence."""
    what = f"Seeing a record of this release {_changes(secret, bounds)}"
    for each in also:
        what += f"; it {_changes(each.secret, each.bounds)}"
    if bounds.delta == 0:
        return what + "."
    if bounds.delta_kind == "egamma":
        return f"{what}, up to an excess of probability of {bounds.delta:g} in all."
    ceiling = "without a bound" if math.isinf(bounds.epsilon_max) else f"by at most {bounds.epsilon_max:g} nats"
    return f"{what}, except for pairs of total probability {bounds.delta:g}, which may exceed it {ceiling}."


def factor_up(nats: float) -> str:
    """e to the power of ``nats``, rounded up."""
    return at_most(math.exp(nats))


def factor_down(nats: float) -> str:
    """e to the power of ``-nats``, rounded down."""
    return at_least(math.exp(-nats))


def _changes(secret: tuple[str, ...], bounds: Bounds) -> str:
    named, low, high = ", ".join(secret), bounds.low, bounds.high
    if math.isinf(low):
        return (
            f"makes no value of {named} likelier by more than a factor of {factor_up(high)} (log-lift at most "
            f"{high:g} nats); it may make values less likely without a bound"
        )
    within = f"|log-lift| at most {high:g} nats" if low == high else f"log-lift between -{low:g} nats and {high:g} nats"
    return (
        f"changes the probability of any value of {named} by a factor between {factor_down(low)} and "
        f"{factor_up(high)} ({within})"
    )


def claim_of_learned(*, secret: tuple[str, ...], epsilon: float, attained: float, mechanism: Mapping[str, Any]) -> str:
    """The claim of a learned release: what is certain of the merged records, and what is only estimated of the rest."""
    merged, risky, by = (mechanism[name] for name in ("records_merged", "records_risky", "estimator"))
    # Rounded up, so that the sentence never claims more than was counted.
    bound = math.ceil(attained * 1e4) / 1e4
    if merged == 0:
        certain = f"No record was judged risky by {by}."
    else:
        besides = f", and others beside them ({merged:.1%} in all)," if merged > risky + 1e-12 else ""
        certain = (
            f"The {risky:.1%} of the records judged risky by {by}{besides} were "
            f"{HOW[mechanism['replacement']]}: seeing such a record changes the probability of any value of "
            f"{', '.join(secret)} by a factor between {factor_down(bound)} and {factor_up(bound)} (|log-lift| at most "
            f"{bound:g} nats, counted on this table, exact)."
        )
    rest = (
        f"{'All' if merged == 0 else 'The other'} records are released as they are: for them {epsilon:g} nats is an "
        f"estimate by {by}, not a guarantee."
        if merged < 1 - 1e-12
        else "No record is released as it was."
    )
    tested = {"no leak detected": f"{NO_LEAK_DETECTED} ", "cannot tell": f"{_NOT_TESTED} "}
    return f"{certain} {rest} {tested.get(str(mechanism['verdict']), '')}{NOTHING_POINTWISE}"


def assumptions_of(
    *,
    secret: Sequence[str],
    cuts: Sequence[Mapping[str, Any]],
    left_out: Sequence[str],
    weight: str | None,
    bounds: Bounds,
    randomness: str,
    also: Sequence[FurtherSecret] = (),
    mixture: bool = False,
    confidence: float | None = None,
) -> tuple[str, ...]:
    """What a claim rests on, in sentences: a function of what else the certificate says, so that it can be checked."""
    outside = (
        "the claim is an estimate"
        if confidence is None
        else "there is a proof, if the records are a random sample of them: "
        f"{confident(confidence)} confidence, asked once"
    )
    texts = [
        f"The table is the population: probabilities are its shares. For people outside it {outside}.",
        "The adversary knows those shares and how the release was made, and sees one record of it; it knows nothing "
        "else about the person.",
        "Rows of the same person, other releases of the same people, and columns from elsewhere are not counted in.",
    ]
    if mixture:
        texts.append(
            "A released value is one of those of the table, but it stands for a mixture of them: a record that carries "
            "it may have had another. Columns keep their values, not their exact shares."
        )
    if not randomness.startswith(NOTHING_DRAWN):
        texts.append(
            "The bound is about the draw of the replacements. Whoever recounts this one release beside the secrets "
            "finds chance deviations from it, as in any sample."
        )
    hidden = {*secret, *(name for each in also for name in each.secret)}
    cut = [str(made["column"]) for made in cuts if made["column"] in hidden]
    if cut:
        texts.append(f"The secret {', '.join(cut)} was cut into groups: the claim is about which group a record is in.")
    if weight is not None:
        texts.append("Probabilities are shares of the total weight.")
    if bounds.delta > 0 and bounds.delta_kind == "mass":
        texts.append(
            "With delta above zero the bound may fail with that probability over pairs of secret and record; the "
            "share of records that breach it for some secret can be much larger and is given as breach_share. Later "
            "merging of values may raise delta."
        )
    elif bounds.delta > 0:
        texts.append(
            "Delta is the total by which probabilities exceed what epsilon allows, on both sides (E-gamma). Nothing "
            "that is done to the release later can raise it. The share of records that breach epsilon for some secret, "
            "by however little, is given as breach_share."
        )
    if also:
        texts.append("Each secret is bounded by itself; their combination is bounded only if it is named, too.")
    if not hidden <= set(left_out):
        texts.append("THE SECRET ITSELF IS IN THE FILE, as asked: the claim is about the other columns alone.")
    return tuple(texts)


def readings_of(attained: float, bounds: Bounds, proof: CertifiedPartition | None) -> tuple[Reading, Reading]:
    """The two readings of a counted claim: of the table itself, and of the people it may have been drawn from."""
    here = Reading("population", population_sentence(attained, bounds), 1.0)
    if proof is None:
        return here, Reading("sample", NOT_PROVED, None)
    there = Reading(
        "sample",
        "",
        1 - proof.beta,
        records_to_choose=proof.records_to_choose,
        records_to_prove=proof.records_to_prove,
        candidates=proof.candidates,
        passed=proof.passed,
        kept=proof.kept,
    )
    return here, replace(there, sentence=sample_sentence(there, bounds))


def population_sentence(attained: float, bounds: Bounds) -> str:
    """The first reading in plain words."""
    start = "If this table is everyone the claim is about, it is exact"
    if bounds.delta > 0:
        return f"{start}, and so is its delta: both were computed on the joint of secret and output."
    side = "above" if math.isinf(bounds.low) else "beyond"
    # Rounded up, so that the sentence never claims more than was counted; what is rounding of sums stays so.
    bound = math.ceil(attained * 1e4 - 1e-4) / 1e4
    return f"{start}: no log-lift of the secret is {side} {bound:g} nats."


def sample_sentence(reading: Reading, bounds: Bounds) -> str:
    """The second reading in plain words, where it is proved."""
    low = "" if math.isinf(bounds.low) else f"below -{bounds.low:g} nats or "
    sure = confident(reading.confidence or 0.0)
    return (
        f"If the records are a random sample, and hold every value that the secret has, then with {sure} confidence no "
        f"log-lift of such a release of the people they were drawn from is {low}above {bounds.high:g} nats. "
        f"{reading.records_to_choose:,} records, dealt by a fingerprint of the counts, chose which values to keep, and "
        f"the other {reading.records_to_prove:,} proved it; released values that were never seen count as merged. "
        "Nothing is proved of a value of the secret that no record has."
    )


def assumption_of_learned(estimator: str, exceeding: float) -> str:
    """What a learned claim rests on besides."""
    return (
        f"Which records are risky was judged by {estimator}. {NOTHING_POINTWISE} A kept record may be riskier than "
        f"epsilon: of up to {exceeding:.0%} of the kept records the 95% interval reaches beyond it."
    )


def randomness_of(*, drawn: bool, repeatable: bool, learned_here: bool = False) -> str:
    """Where the chance in a release came from."""
    drew = NOTHING_DRAWN
    if drawn and not repeatable:
        drew = "Drawn with a 256-bit key from the system's secure source; the key was not kept."
    elif drawn:
        drew = (
            "WARNING: a random_state was given, so the draws can be made again by whoever knows or guesses it. "
            "Use it for tests, not for publishing."
        )
    if not learned_here:
        return drew
    if not repeatable:
        return f"{drew} Learned with a seed from the system's secure source, which is not published."
    return (
        f"{drew} WARNING: what was learned can be learned again with the random_state that was given, and the "
        "published estimates then tell guesses of the secrets apart. Use it for tests, not for publishing."
    )
