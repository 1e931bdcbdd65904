"""The lines of a verification about what is claimed of a counted release: every number computed again."""

from __future__ import annotations

from collections.abc import Sequence

from tacit.lift.joint import Joint, Mask
from tacit.lift.partition import nmil
from tacit.lift.registry import MEASURES
from tacit.lift.rounding import confident
from tacit.workflows.agreeing import AGREEMENT, agree, close
from tacit.workflows.bounds import Attained
from tacit.workflows.certifying import bounds_of, further_of, mixes
from tacit.workflows.claims import NOT_PROVED, population_sentence, sample_sentence
from tacit.workflows.planning import proof_of
from tacit.workflows.results import Certificate, Check, MeasureChange
from tacit.workflows.tabulating import Counted


def checks_of_claim(certificate: Certificate, found: Counted, outputs: Sequence[Joint], merged: Mask) -> list[Check]:
    """The bounds, on the joints of secret and output, and every number that follows from them."""
    bounds, output = bounds_of(certificate), outputs[0]
    attained = Attained.of(output, bounds)
    low, high = bounds.ceiling
    assert certificate.attained_delta is not None
    assert certificate.breach_share is not None
    checks = [
        close("attained epsilon", attained.epsilon, certificate.attained_epsilon),
        Check(
            "epsilon is kept",
            attained.holds(bounds),
            f"recomputed -{attained.low:.6g} nats to {attained.high:.6g} nats, allowed -{low:g} nats to {high:g} nats",
        ),
        close("delta", attained.delta, certificate.attained_delta),
        close("records that breach epsilon", attained.breach_share, certificate.breach_share),
        close(
            f"records {'mixed' if mixes(certificate) else 'merged'}",
            float(found.joint.marginal[merged].sum()),
            certificate.mechanism["records_merged"],
        ),
        *_check_of_loss(certificate, found, merged),
        *_checks_of_measures(certificate, found, output),
        *_checks_of_further(certificate, outputs[1:]),
        *_checks_of_readings(certificate, found, merged),
    ]
    return checks


def _check_of_loss(certificate: Certificate, found: Counted, merged: Mask) -> list[Check]:
    """What merging loses; that of a mixture takes its rules."""
    if mixes(certificate):
        return []
    return [close("loss of utility", nmil(found.joint, merged), certificate.utility.nmil)]


def _checks_of_measures(certificate: Certificate, found: Counted, output: Joint) -> list[Check]:
    before, after = (
        {name: float(measure.function(joint)) for name, measure in MEASURES.items()} for joint in (found.joint, output)
    )
    promised = bounds_of(certificate).promised(found.joint)
    told = {m.name: m for m in certificate.measures}
    right = {
        name: MeasureChange(name, m.title, before[name], after[name], promised.get(name), m.unit)
        for name, m in MEASURES.items()
    }
    wrong = [m.title for name, m in right.items() if name not in told or not _alike(m, told[name])]
    wrong += [str(name) for name in told if name not in right]
    over = [
        m.title for m in certificate.measures if m.promise is not None and after.get(m.name, 0) > m.promise + AGREEMENT
    ]
    return [
        Check(
            "measures before and after",
            not wrong,
            f"differ: {', '.join(wrong)}" if wrong else f"{len(after)} recomputed",
        ),
        Check("promises", not over, f"exceeded: {', '.join(over)}" if over else "all kept"),
    ]


def _alike(own: MeasureChange, told: MeasureChange) -> bool:
    if (own.title, own.unit, own.kind) != (told.title, told.unit, told.kind):
        return False
    if own.promise is None or told.promise is None:
        return own.promise is told.promise and agree(own.before, told.before) and agree(own.after, told.after)
    pairs = ((own.before, told.before), (own.after, told.after), (own.promise, told.promise))
    return all(agree(a, b) for a, b in pairs)


def _checks_of_further(certificate: Certificate, outputs: Sequence[Joint]) -> list[Check]:
    checks = []
    for claimed, asked, output in zip(certificate.also, further_of(certificate), outputs, strict=False):
        attained = Attained.of(output, asked.bounds)
        right = agree(attained.epsilon, claimed.attained_epsilon) and attained.holds(asked.bounds)
        told = f"recomputed {attained.epsilon:.6g} nats, allowed {asked.epsilon:g} nats"
        checks.append(Check(f"epsilon of {', '.join(asked.secret)}", right, told))
    return checks


def _checks_of_readings(certificate: Certificate, found: Counted, merged: Mask) -> list[Check]:
    """What the records prove is proved again: who is dealt to which half follows from the counts."""
    bounds, (here, there) = bounds_of(certificate), certificate.readings
    said = NOT_PROVED if there.confidence is None else sample_sentence(there, bounds)
    told = here.sentence == population_sentence(certificate.attained_epsilon, bounds) and there.sentence == said
    checks = [Check("readings", told, "say what the numbers say" if told else "do not say what the numbers say")]
    if there.confidence is None:
        return checks
    proof = proof_of(found.table, bounds, there.confidence)
    claimed = (there.records_to_choose, there.records_to_prove, there.candidates, there.passed, there.kept)
    proved = (proof.records_to_choose, proof.records_to_prove, proof.candidates, proof.passed, proof.kept)
    same = claimed == proved and bool((proof.merged == merged).all())
    return [
        *checks,
        Check(
            "proof from the records",
            same,
            f"{proof.passed:,} of {proof.candidates:,} releases proved again, {confident(there.confidence)} confidence"
            if same
            else "the records do not prove this again",
        ),
    ]
