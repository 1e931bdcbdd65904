"""``audit``: what does this table give away about a secret, where, and is it real or noise?"""

from __future__ import annotations

import math
from collections.abc import Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path

import numpy as np

from tacit import __version__
from tacit.document import CurvePoint, Progress, silent
from tacit.errors import ArgumentError, Setting, sentence, together
from tacit.lenses.facts import SecretValue, SourceFacts
from tacit.lenses.histograms import EPSILONS
from tacit.lenses.table import findings
from tacit.lenses.table.answers.audit import AuditResult
from tacit.lenses.table.learned.findings import with_learned
from tacit.lenses.table.learned.learning import choice_of, learned, saved
from tacit.lenses.table.question import ask
from tacit.lenses.table.results import MeasureFinding, Suggestion
from tacit.lenses.table.tabulating import Counted, counted
from tacit.lift import Funnel, Joint, Vector, funnel, optimal, risk, shuffles
from tacit.release.bounds import checked_epsilon
from tacit.requests import Learning, Look, Question
from tacit.requests.settings import AnyPath

RISKIEST = 20
CURVE_POINTS = 200
_WATCHDOG = Setting("mechanism", "watchdog")
# Epsilons tried for the suggestion of a mixture, and the cells up to which trying a few of them goes unnoticed.
MIXED_EPSILONS = (0.0, 0.05, 0.1, 0.2, 0.3, 0.5, 0.7, 1.0, 1.5, 2.0)
MOST_CELLS_MIXED = 10_000


def audit_table(question: Question, look: Look, learning: Learning, *, progress: Progress = silent) -> AuditResult:
    """Measure what the released columns of a table give away about the secret; ``tacit.audit`` says what is guaranteed.

    With an estimator other than counts, log-lift is also learned from the records, from columns that are not cut unless
    ``bins`` says so: ``learned`` of the result. Without ``fresh`` a saved model gives no verdict and no p-value: on its
    own records it always finds what it has learned.
    """
    wanted = (*EPSILONS, *(() if look.epsilon is None else (checked_epsilon(look.epsilon),)))
    choice = choice_of(
        learning.estimator,
        learning.model,
        weight=question.weight,
        save_model=look.save_model,
        fresh=learning.fresh,
    )
    asked = ask(question)
    _check_targets(asked.original.path, scores=look.scores, save_model=look.save_model)
    with ThreadPoolExecutor(max_workers=1) as pool:
        # The file is read for its fingerprint while the engine counts.
        sha256 = pool.submit(asked.original.sha256)
        found = counted(asked, progress=progress)
        result = findings_of(
            found,
            sha256=sha256.result(),
            epsilons=wanted,
            max_loss=look.max_loss,
            shuffle=look.shuffles,
            random_state=look.random_state,
            progress=progress,
        )
    values: Mapping[str, Vector] = {"risk": risk(found.joint)}
    if choice is not None:
        found = counted(asked.uncut(), progress=progress) if asked.automatic else found
        estimates = learned(found, choice, random_state=look.random_state, progress=progress)
        if look.save_model is not None:
            saved(estimates.model, Path(look.save_model))
        result = with_learned(result, estimates, epsilons=wanted, model_path=look.save_model)
        values = {"risk": estimates.risk, "risk_high": estimates.risk_high}
    if look.scores is None:
        return result
    progress("writing scores", None)
    return _with_scores(result, found, values, Path(look.scores))


def findings_of(
    found: Counted,
    *,
    sha256: str | None,
    epsilons: tuple[float, ...],
    max_loss: float,
    shuffle: int | None,
    random_state: int,
    progress: Progress = silent,
) -> AuditResult:
    """Everything an audit says, from the counts alone."""
    joint, table = found.joint, found.table
    groups = findings.column_groups(found.symbols)
    null = findings.shuffled(
        table,
        groups,
        n=shuffle or shuffles.shuffles_for(table.size),
        random_state=random_state,
        effective_records=found.counts.effective_records if found.question.weight else None,
        progress=lambda share: progress("shuffling", share),
    )
    measures = findings.measure_findings(joint, null)
    curve = funnel(joint)
    information = next(m for m in measures if m.name == "mutual_information")
    return AuditResult(
        source=source_facts(found, sha256=sha256),
        columns=found.question.roles,
        secrets=_secret_values(joint),
        n_values=joint.shape[1],
        verdict=information.verdict,
        headline=_headline(found, information),
        measures=measures,
        shuffles=null.n,
        risk_histogram=findings.risk_histogram(joint),
        safe_shares=findings.safe_shares(joint, epsilons),
        riskiest=findings.riskiest(joint, table, found.symbols, n=RISKIEST, evidence=found.evidence),
        column_leaks=findings.column_leaks(joint, table, groups, null),
        curve=curve_points(curve),
        suggestion=suggestion(curve, max_loss=max_loss, joint=joint),
        notes=(*found.question.notes, *_cautions(found)),
        random_state=random_state,
        tacit_version=__version__,
    )


def source_facts(found: Counted, *, sha256: str | None) -> SourceFacts:
    """Name, size and fingerprint of the table."""
    original = found.question.original
    return SourceFacts(
        name=original.name,
        format=original.format,
        records=int(found.counts.records.sum()),
        weighted_total=float(found.joint.total or 0.0),
        sha256=sha256,
    )


def _secret_values(joint: Joint) -> tuple[SecretValue, ...]:
    total = joint.total or 1.0
    return tuple(
        SecretValue(label=findings.spoken(label), weight=float(p * total), prior=float(p))
        for label, p in zip(joint.secrets, joint.prior, strict=True)
    )


def _headline(found: Counted, information: MeasureFinding) -> str:
    secret = ", ".join(found.question.secret)
    share = information.value / information.ceiling if information.ceiling else 0.0
    chance = information.null_high / information.ceiling if information.ceiling else 0.0
    if information.verdict == "leak":
        return (
            f"The released columns give away {share:.1%} of the uncertainty about {secret}; "
            f"chance alone would show at most {chance:.1%} (19 times in 20)."
        )
    if information.verdict == "no leak detected":
        return (
            f"No leak about {secret} detected: the released columns show {share:.1%} of its uncertainty, "
            f"and chance alone shows up to {chance:.1%}."
        )
    return sentence(
        "Cannot tell: the released values are so nearly unique that shuffled secrets look just as revealed "
        "({chance:.1%}). Use fewer or coarser columns ({drop}, {bins}).",
        chance=chance,
        drop=Setting("drop"),
        bins=Setting("bins"),
    )


def _cautions(found: Counted) -> list[str]:
    joint = found.joint
    notes: list[str] = []
    per_value = found.counts.records.sum() / joint.shape[1]
    if per_value < 10:
        notes.append(
            sentence(
                "only {per_value:.1f} records a released value on average: single values are mostly noise here; "
                "coarser columns ({bins}, {drop}) say more",
                per_value=per_value,
                bins=Setting("bins"),
                drop=Setting("drop"),
            )
        )
    never = float((joint.matrix == 0).mean())
    if never > 0:
        held = float(joint.marginal[np.isinf(risk(joint))].sum())
        notes.append(
            f"{never:.1%} of the pairs of secret and released value never occur; a value that rules a secret out has "
            f"infinite risk ({held:.1%} of the records carry one). Tools that skip such pairs call them safe"
        )
    if found.question.weight:
        notes.append(
            "records are weighted: null bands are drawn at the effective number of records (Kish), not shuffled"
        )
    return notes


def curve_points(curve: Funnel) -> tuple[CurvePoint, ...]:
    """The trade-off, thinned to what a chart can show; its ends are kept."""
    n = len(curve.epsilons)
    chosen = np.unique(np.linspace(0, n - 1, min(n, CURVE_POINTS)).round().astype(int))
    return tuple(
        CurvePoint(
            epsilon=float(curve.epsilons[k]),
            attained=float(curve.attained[k]),
            nmil=float(curve.nmil[k]),
            utility=float(curve.utility[k]),
            leakage=float(curve.leakage[k]),
            records_kept=float(curve.kept_share[k]),
        )
        for k in chosen
    )


def suggestion(curve: Funnel, *, max_loss: float, joint: Joint | None = None) -> Suggestion:
    """The smallest epsilon at a loss of at most ``max_loss``: of one merged set and, given a joint, of mixing."""
    affordable = np.flatnonzero(np.asarray(curve.nmil) <= max_loss)
    attained = np.asarray(curve.attained)[affordable]
    mixture = _affordable_mixture(joint, max_loss) if joint is not None else None
    if not len(affordable) or not np.isfinite(attained).any():
        advice = sentence(
            "No finite epsilon is attained by merging one set of values ({watchdog}) at a loss of {loss:.0%} or less.",
            watchdog=_WATCHDOG,
            loss=max_loss,
        )
        if mixture is None:
            advice += " Mixing values loses less, and protect says how much; or drop or cut the column that leaks most."
        return _with_mixture(Suggestion(max_loss, None, None, advice), mixture)
    best = int(affordable[int(np.argmin(attained))])
    # Rounded up, so that asking for the number shown gives what is shown.
    epsilon = math.ceil(float(curve.attained[best]) * 1e4) / 1e4
    loss = float(curve.nmil[best])
    asked = Setting("epsilon", epsilon)
    if mixture is None:
        advice = sentence(
            "With {epsilon} a release loses {loss:.1%} of its information or less ({most:.0%} tolerated).",
            epsilon=asked,
            loss=loss,
            most=max_loss,
        )
    else:
        advice = sentence(
            "One merged set ({watchdog}) loses {loss:.1%} with {epsilon}.",
            watchdog=_WATCHDOG,
            loss=loss,
            epsilon=asked,
        )
    return _with_mixture(Suggestion(max_loss, epsilon, loss, advice), mixture)


def _with_mixture(found: Suggestion, mixture: tuple[float, float] | None) -> Suggestion:
    if mixture is None:
        return found
    epsilon, loss = mixture
    start = sentence(
        "With {epsilon} a release loses {loss:.1%} of its information ({most:.0%} tolerated).",
        epsilon=Setting("epsilon", epsilon),
        loss=loss,
        most=found.max_loss,
    )
    return replace(found, mixture_epsilon=epsilon, mixture_nmil=loss, sentence=together((start, found.sentence)))


def _affordable_mixture(joint: Joint, max_loss: float) -> tuple[float, float] | None:
    """The smallest of a few epsilons whose best release loses at most so much, and what it loses; None if none does.

    Only for joints that take no noticeable time; a larger epsilon never loses more, so that halving finds it.
    """
    if joint.matrix.size > MOST_CELLS_MIXED:
        return None
    low, high, best = 0, len(MIXED_EPSILONS), None
    while low < high:
        middle = (low + high) // 2
        loss = optimal(joint, MIXED_EPSILONS[middle], effort="low").nmil
        if loss <= max_loss:
            high, best = middle, (MIXED_EPSILONS[middle], loss)
        else:
            low = middle + 1
    return best


def _check_targets(table: Path | None, *, scores: AnyPath | None, save_model: AnyPath | None) -> None:
    """Refuse names that cannot be written to before any work is done."""
    from tacit.tables.formats import written_endings
    from tacit.tables.writing import refuse_source

    for target, what in ((scores, "scores"), (save_model, "model")):
        refuse_source(table, target, what)
    if scores is not None and Path(scores).suffix.lower() not in written_endings():
        raise ArgumentError(f"cannot write scores to {scores}: name a file that ends in {', '.join(written_endings())}")


def _with_scores(result: AuditResult, found: Counted, values: Mapping[str, Vector], path: Path) -> AuditResult:
    from tacit.tables.formats import format_of
    from tacit.tables.rewriting import scores
    from tacit.tables.writing import whole_file, write_table

    chosen, original = format_of(path).name, found.question.original
    like = original if original.format == chosen else replace(original, format=chosen, delimiter=None, codec=None)
    table = scores(found.question.table, found.symbols, values=values)
    with whole_file(path) as temporary:
        write_table(table, temporary, like=like)
    return replace(result, scores_path=str(path))
