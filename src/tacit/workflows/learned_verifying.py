"""The lines of a verification that only a learned release has."""

from __future__ import annotations

from pathlib import Path

from tacit.lift.joint import Mask
from tacit.lift.partition import nmil
from tacit.workflows.agreeing import close
from tacit.workflows.certifying import file_sha256, salted
from tacit.workflows.learned_release import estimates_of, set_risk
from tacit.workflows.learning import loaded, scored
from tacit.workflows.planning import TOLERANCE
from tacit.workflows.results import Certificate, Check
from tacit.workflows.tabulating import Counted

# A model scores in batches whose sums may be taken in another order.
SCORES_AGREE = 1e-6


def checks_of_learned_claim(certificate: Certificate, found: Counted, merged: Mask) -> list[Check]:
    """What is certified: the merged records, counted again."""
    attained = set_risk(found.joint, merged)
    estimates = all(measure.kind == "estimate" and measure.promise is None for measure in certificate.measures)
    return [
        close("attained epsilon of merged records", attained, certificate.attained_epsilon),
        Check(
            "epsilon is kept by merged records",
            attained <= certificate.epsilon + TOLERANCE,
            f"recomputed {attained:.6g} nats, allowed {certificate.epsilon:g} nats",
        ),
        close("records merged", float(found.joint.marginal[merged].sum()), certificate.mechanism["records_merged"]),
        Check(
            "estimates are called estimates",
            estimates and certificate.attained_delta is None and certificate.breach_share is None,
            "nothing is promised of them",
        ),
        close("loss of utility", nmil(found.joint, merged), certificate.utility.nmil),
    ]


def checks_of_estimate(
    certificate: Certificate, found: Counted, merged: Mask, model: Path, salt: bytes | None
) -> list[Check]:
    """What is estimated of the kept records, recomputed with the owner's model."""
    claimed = certificate.mechanism.get("salted_model_sha256")
    checks = []
    if salt is not None:
        same = salted(file_sha256(model), salt) == claimed
        checks.append(Check("model is the one certified", same, "salted SHA-256 agrees" if same else "it is another"))
        if not same:
            return checks
    risks, risks_high = scored(found, loaded(model, found))
    largest, exceeding = estimates_of(found, merged, risks, risks_high, certificate.epsilon)
    assert certificate.estimated_epsilon is not None
    assert certificate.estimated_exceeding is not None
    judged = float(found.joint.marginal[risks > certificate.epsilon + TOLERANCE].sum())
    return [
        *checks,
        close("estimated epsilon of kept records", largest, certificate.estimated_epsilon, within=SCORES_AGREE),
        Check(
            "kept records are within epsilon by the estimate",
            largest <= certificate.epsilon + SCORES_AGREE,
            f"estimated {largest:.6g} nats, {certificate.epsilon:g} nats asked; an estimate certifies nothing",
        ),
        close("kept records that may exceed it", exceeding, certificate.estimated_exceeding, within=SCORES_AGREE),
        close("records judged risky", judged, certificate.mechanism["records_risky"], within=SCORES_AGREE),
    ]
