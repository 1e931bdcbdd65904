"""The lines of a verification that only a learned release has."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from tacit.document import Nats
from tacit.errors import sentence
from tacit.lenses.table.checks.claim import recomputed
from tacit.lenses.table.checks.rows import RowComparison
from tacit.lenses.table.learned.estimates import Estimates, agrees, published_epsilon, published_risky
from tacit.lenses.table.learned.learning import COUNTS, MOST_RECORDS, loaded, scored
from tacit.lenses.table.learned.release import estimates_of
from tacit.lenses.table.tabulating import Counted
from tacit.lift import SLACK, Mask, nmil, set_risk
from tacit.release.certificate import LearnedCertificate
from tacit.release.checks import Check, close
from tacit.release.keys import file_sha256, salted
from tacit.release.published import coarse, coarse_share

# A model scores in batches whose sums may be taken in another order.
SCORES_AGREE = 1e-6


def checks_of_learned_claim(certificate: LearnedCertificate, counted: Counted, merged: Mask) -> list[Check]:
    """What is certified: the merged records, counted again."""
    # Everything together is the prior, whatever the rounding.
    attained = 0.0 if merged.all() else set_risk(counted.joint, merged)
    estimates = all(measure.kind == "estimate" and measure.promise is None for measure in certificate.measures)
    return [
        close("attained epsilon of merged records", attained, certificate.attained_epsilon),
        Check(
            "epsilon is kept by merged records",
            attained <= certificate.epsilon + SLACK,
            recomputed(attained, certificate.epsilon),
        ),
        close("records merged", float(counted.joint.marginal[merged].sum()), certificate.mechanism.records_merged),
        Check("estimates are called estimates", estimates, "nothing is promised of them"),
        close("loss of utility", nmil(counted.joint, merged), certificate.utility.nmil),
    ]


def checks_of_estimate(
    certificate: LearnedCertificate, rows: RowComparison, model: Path, salt: bytes | None
) -> list[Check]:
    """What is estimated of the kept records, recomputed with the owner's model."""
    counted, merged = rows.original, rows.merged
    claimed = certificate.mechanism.salted_model_sha256
    checks = []
    if salt is not None:
        same = salted(file_sha256(model), salt) == claimed
        checks.append(Check("model is the one certified", same, "salted SHA-256 agrees" if same else "it is another"))
        if not same:
            return checks
    scores = scored(counted, loaded(model, counted))
    largest, exceeding = estimates_of(counted, merged, scores, certificate.epsilon)
    epsilon, share = certificate.epsilon, float(counted.joint.marginal[merged].sum())
    judged = float(counted.joint.marginal[scores.risk > epsilon + SLACK].sum())
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
            sentence(
                "estimated {largest}, {asked} asked; an estimate certifies nothing",
                largest=Nats(largest, 6),
                asked=Nats(epsilon, 6),
            ),
        ),
        _rounded("kept records that may exceed it", certificate.estimated_exceeding, exceeding, coarse_share),
        _rounded(
            "records judged risky",
            certificate.mechanism.records_risky,
            judged,
            lambda risky: published_risky(risky, share),
        ),
        _rounded(
            "estimated risk before", before, float(scores.risk.max(initial=0.0)), lambda risk: coarse(risk, up=True)
        ),
    ]


def checks_of_origin(certificate: LearnedCertificate) -> list[Check]:
    """The estimator is one there is, and learned from as many records as it does."""
    from tacit.learn import ESTIMATORS

    mechanism = certificate.mechanism
    was_saved = mechanism.estimator.startswith("the saved model ")
    named = was_saved or (mechanism.estimator in ESTIMATORS and mechanism.estimator != COUNTS)
    expected = 0 if was_saved else min(certificate.input.records, MOST_RECORDS)
    return [
        Check("estimator is one there is", named, mechanism.estimator),
        Check(
            "learned from",
            mechanism.learned_from == expected,
            f"{expected:,} records; the certificate says {mechanism.learned_from}",
        ),
    ]


def _rounded(name: str, published: float | None, found: float, rounding: Callable[[float], float]) -> Check:
    """A published estimate beside the one recomputed."""
    good = published is not None and agrees(published, found, rounding, within=SCORES_AGREE)
    return Check(name, good, f"recomputed {found:.6g}, the certificate says {published}, rounded")


def checks_of_published(certificate: LearnedCertificate, path: Path, salt: bytes | None) -> list[Check]:
    """Are the published estimates those that the owner has in full?"""
    told = Estimates.load(path)
    same = True
    if salt is not None:
        same = salted(file_sha256(path), salt) == certificate.mechanism.salted_estimates_sha256
    expected = {
        "estimator": (told.estimator, certificate.mechanism.estimator),
        "learned_from": (told.learned_from, certificate.mechanism.learned_from),
        "verdict": (told.verdict, certificate.mechanism.verdict),
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
