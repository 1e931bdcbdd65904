"""The parts of an audit that were learned: each is an estimate, and says so."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tacit.document import CalibrationPoint, RiskHistogram
from tacit.document.quantities import share
from tacit.errors import Setting, sentence
from tacit.lenses.histograms import histogram_of
from tacit.lenses.table import findings
from tacit.lenses.table.answers.audit import AuditResult
from tacit.lenses.table.learned.learning import Learned
from tacit.lenses.table.results import LearnedCandidate, LearnedFindings, LearnedRiskyValue, LearnedSafeShare
from tacit.lift import Matrix, Vector, entropy
from tacit.requests.settings import AnyPath

RISKIEST = 20
# How often a cell is redrawn from its column to see what it says; the seed is fixed, so a table always gets one answer.
REDRAWS = 20
SEED = 0

Places = NDArray[np.integer[Any]]


def with_learned(
    result: AuditResult, learned: Learned, *, epsilons: Sequence[float], model_path: AnyPath | None = None
) -> AuditResult:
    """An audit by counting together with what was learned; the answer is then the learned one."""
    learned_findings = findings_of(learned, epsilons=epsilons, beside=result.risk_histogram)
    learned_findings = replace(learned_findings, model_path=None if model_path is None else str(model_path))
    secret = ", ".join(learned.counted.question.secret)
    return replace(
        result, verdict=learned_findings.verdict, headline=headline(learned_findings, secret), learned=learned_findings
    )


def findings_of(learned: Learned, *, epsilons: Sequence[float], beside: RiskHistogram | None = None) -> LearnedFindings:
    """Everything an audit says about a learned model."""
    model, evidence, question = learned.model, learned.evidence, learned.counted.question
    risks, weights = learned.risks_of_records()
    return LearnedFindings(
        estimator=learned.name,
        reason=getattr(model, "reason_", ""),
        candidates=tuple(
            LearnedCandidate(c.name, c.title, float(c.log_loss), float(c.weight))
            for c in getattr(model, "candidates_", ())
        ),
        prior_log_loss=entropy(learned.counted.joint.prior),
        trained_on=len(learned.value) if learned.learned_here else 0,
        n_values=len(learned.risk),
        information=evidence.information,
        null_high=float(evidence.null_high),
        p_value=float(evidence.p_value),
        verdict=evidence.verdict,
        largest_risk=float(learned.risk.max()),
        risk_histogram=histogram_of(risks, weights, beside=beside),
        safe_shares=safe_shares(learned, epsilons),
        calibration=tuple(CalibrationPoint(**vars(each)) for each in evidence.calibration),
        riskiest=riskiest(learned, n=RISKIEST),
        notes=learned.notes,
        unvouched=learned.unvouched,
        cut=tuple(cut.column for cut in question.cuts if cut.column in question.released),
    )


def headline(learned_findings: LearnedFindings, secret: str) -> str:
    """The answer in one sentence, which says that it is an estimate."""
    whole = learned_findings.prior_log_loss
    part, low, high, chance = (
        max(nats, 0.0) / whole if whole > 0 else 0.0
        for nats in (
            learned_findings.information.value,
            learned_findings.information.low,
            learned_findings.information.high,
            learned_findings.null_high,
        )
    )
    by = f"estimate by {learned_findings.estimator}"
    columns = f"The released columns, {'with the cuts you asked for' if learned_findings.cut else 'uncut'},"
    if learned_findings.verdict == "leak" and part == 0:
        return f"{columns} are tied to {secret} ({by}; p {learned_findings.p_value:.2g}), but too weakly to predict it."
    if learned_findings.verdict == "leak":
        return (
            f"{columns} give away about {share(part)} of the uncertainty about {secret} ({by}; 95% interval "
            f"{share(low)} to {share(high)}); shuffled secrets show {_up_to(chance)}."
        )
    if learned_findings.verdict == "no leak detected":
        return (
            f"No leak about {secret} detected ({by}), which does not prove that there is none: t{columns[1:]} show "
            f"{share(part)} of its uncertainty, and shuffled secrets show {_up_to(chance)}."
        )
    why = "there are too few records to learn from. Collect more"
    if learned_findings.unvouched:
        why = sentence(
            "a model finds what it has learned in its own records. If none of these was used to train it, say so "
            "({fresh})",
            fresh=Setting("fresh", True),
        )
    return sentence("Cannot tell whether {secret} leaks ({by}): {why}.", secret=secret, by=by, why=why)


def _up_to(chance: float) -> str:
    return f"up to {share(chance)} (19 times in 20)" if chance > 0 else "nothing"


def safe_shares(learned: Learned, epsilons: Sequence[float]) -> tuple[LearnedSafeShare, ...]:
    """Share of records within each epsilon by the final model, and with the whole interval within."""
    marginal = learned.counted.joint.marginal
    return tuple(
        LearnedSafeShare(
            epsilon=epsilon,
            records=float(marginal[learned.risk <= epsilon].sum()),
            surely=float(marginal[learned.risk_high <= epsilon].sum()),
        )
        for epsilon in sorted(set(epsilons))
    )


def riskiest(learned: Learned, *, n: int) -> tuple[LearnedRiskyValue, ...]:
    """The ``n`` values of largest estimated risk, the more frequent first among equals, and which column says it."""
    marginal = learned.counted.joint.marginal
    chosen = np.lexsort((-marginal, -learned.risk))[:n]
    chosen = chosen[learned.risk[chosen] > 0]
    if not len(chosen):
        return ()
    # The secret that a value says most about; a lift that is not a number is the loudest of all.
    loudness = np.where(np.isnan(learned.lifts[chosen]), np.inf, np.abs(learned.lifts[chosen]))
    secrets = loudness.argmax(axis=1)
    terms = contributions(learned, chosen, secrets)
    return tuple(_risky_value(learned, int(x), int(s), row) for x, s, row in zip(chosen, secrets, terms, strict=True))


def contributions(learned: Learned, values: Places, secrets: Places) -> Matrix:
    """For each value and column: the log-lift less the mean log-lift with that cell redrawn from the column's own law.

    All redrawn records are scored in one batch. An undefined term (infinity minus infinity) is zero.
    """
    symbols, marginal = learned.counted.symbols, learned.counted.joint.marginal
    rng = np.random.default_rng(SEED)
    columns = symbols.codes.shape[1]
    drawn = rng.choice(len(marginal), size=REDRAWS, p=marginal)
    codes = np.repeat(symbols.codes[values][:, None, None, :], columns, axis=1)
    codes = np.repeat(codes, REDRAWS, axis=2)
    for j in range(columns):
        codes[:, j, :, j] = symbols.codes[drawn, j]
    lifts = learned.model.log_lift(learned.cells.at(codes.reshape(-1, columns)))
    lifts = lifts.reshape(len(values), columns, REDRAWS, -1)
    of_secret = lifts[np.arange(len(values)), :, :, secrets]
    here = learned.lifts[values, secrets]
    with np.errstate(invalid="ignore"):
        terms = here[:, None] - of_secret.mean(axis=2)
    return np.where(np.isnan(terms), 0.0, terms)


def _risky_value(learned: Learned, x: int, s: int, terms: Vector) -> LearnedRiskyValue:
    symbols = learned.counted.symbols
    log_lift, prior = float(learned.lifts[x, s]), float(learned.prior[s])
    posterior = min(prior * float(np.exp(log_lift)), 1.0)
    secret, loudest = learned.secrets[s], int(np.argmax(np.abs(terms)))
    times = f"{np.exp(abs(log_lift)):.2g} times as {'common' if log_lift >= 0 else 'rare'}"
    shares = f"{findings.percent(posterior)} against {findings.percent(prior)}"
    why = (
        f"{secret} is estimated to be {times} here as overall ({shares}); "
        f"most of it comes from {findings.shown(symbols, x, loudest)}"
    )
    if learned.unmet[x]:
        why = "the model never saw a cell with this value, so nothing is known about it; doubt counts as risk"
    return LearnedRiskyValue(
        values=symbols.values(x),
        records=float(learned.counted.table[:, x].sum()),
        secret=secret,
        prior=prior,
        posterior=posterior,
        log_lift=log_lift,
        low=float(learned.low[x, s]),
        high=float(learned.high[x, s]),
        risk=float(learned.risk[x]),
        contributions=tuple(zip(symbols.columns, terms.tolist(), strict=True)),
        says_most=symbols.columns[loudest],
        why=why,
    )
