"""The lines of a verification that only a learned release has."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from tacit.lift.joint import Mask
from tacit.lift.partition import nmil
from tacit.workflows.agreeing import close
from tacit.workflows.bounds import TOLERANCE
from tacit.workflows.certifying import file_sha256, salted
from tacit.workflows.estimates import Estimates, agrees, coarse, coarse_share, published_epsilon, published_risky
from tacit.workflows.learned_release import estimates_of, set_risk
from tacit.workflows.learning import loaded, scored
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
    epsilon, share = certificate.epsilon, float(found.joint.marginal[merged].sum())
    judged = float(found.joint.marginal[risks > epsilon + TOLERANCE].sum())
    before = next((m.before for m in certificate.measures if m.name == "risk"), None)
    return [
        *checks,
        _rounded(
            "estimated epsilon of kept records",
            certificate.estimated_epsilon,
            largest,
            lambda risk: published_epsilon(risk, epsilon),
        ),
        Check(
            "kept records are within epsilon by the estimate",
            largest <= epsilon + SCORES_AGREE,
            f"estimated {largest:.6g} nats, {epsilon:g} nats asked; an estimate certifies nothing",
        ),
        _rounded("kept records that may exceed it", certificate.estimated_exceeding, exceeding, coarse_share),
        _rounded(
            "records judged risky",
            certificate.mechanism["records_risky"],
            judged,
            lambda risky: published_risky(risky, share),
        ),
        _rounded("estimated risk before", before, float(risks.max(initial=0.0)), lambda risk: coarse(risk, up=True)),
    ]


def _rounded(name: str, published: float | None, found: float, rounding: Callable[[float], float]) -> Check:
    """A published estimate beside the one recomputed."""
    good = published is not None and agrees(published, found, rounding, within=SCORES_AGREE)
    return Check(name, good, f"recomputed {found:.6g}, the certificate says {published}, rounded")


def checks_of_published(certificate: Certificate, path: Path, salt: bytes | None) -> list[Check]:
    """Are the published estimates those that the owner has in full?"""
    told = Estimates.load(path)
    same = True
    if salt is not None:
        same = salted(file_sha256(path), salt) == certificate.mechanism.get("salted_estimates_sha256")
    expected = {
        "estimator": (told.estimator, certificate.mechanism["estimator"]),
        "learned_from": (told.learned_from, certificate.mechanism["learned_from"]),
        "verdict": (told.verdict, certificate.mechanism["verdict"]),
        "estimated_epsilon": (told.kept_within(certificate.epsilon), certificate.estimated_epsilon),
        "estimated_exceeding": (told.exceeding, certificate.estimated_exceeding),
        "measures": (
            told.measures(epsilon=certificate.epsilon, attained=certificate.attained_epsilon),
            certificate.measures,
        ),
    }
    wrong = [name for name, (own, published) in expected.items() if own != published]
    return [
        Check(
            "estimates in full are those certified",
            same,
            "salted SHA-256 agrees" if same and salt is not None else "no salt to compare with" if same else "others",
        ),
        Check(
            "published estimates",
            not wrong,
            f"differ: {', '.join(wrong)}" if wrong else f"private/{path.name}, rounded",
        ),
    ]
