"""``audit``: what does this table give away about a secret, where, and is it real or noise?"""

from __future__ import annotations

import math
from bisect import bisect_left
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
from tacit.lenses.table.linkage.people import people_found
from tacit.lenses.table.pricing import secret_prices
from tacit.lenses.table.question import ask
from tacit.lenses.table.results import Suggestion
from tacit.lenses.table.surviving import as_asked, by_counting, first_answer, headline
from tacit.lenses.table.tabulating import Counted, counted
from tacit.lift import Funnel, Joint, Vector, funnel, optimal, risk, shuffles
from tacit.release.bounds import checked_epsilon
from tacit.requests import Learning, Look, Question
from tacit.requests.settings import AnyPath

RISKIEST = 20
# The epsilon at which the values of a secret are priced, where none is asked about.
USUAL = 1.0
CURVE_POINTS = 200
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
        learning.estimator, learning.model, weight=question.weight, save_model=look.save_model, fresh=learning.fresh
    )
    asked = ask(question)
    _check_targets(asked.original.path, scores=look.scores, save_model=look.save_model)
    with ThreadPoolExecutor(max_workers=1) as pool:
        # The file is read for its fingerprint while the engine counts.
        sha256 = pool.submit(asked.original.sha256)
        found = counted(asked, progress=progress)
        result = _findings(found, look, sha256=sha256.result(), epsilons=wanted, progress=progress)
    progress("counting who is alone", None)
    prices = secret_prices(found, epsilon=USUAL if look.epsilon is None else look.epsilon, progress=progress)
    result = replace(result, found=people_found(asked, asked.known), prices=prices)
    values: Mapping[str, Vector] = {"risk": risk(found.joint)}
    answer = (
        by_counting(found, result.measures)
        if choice is not None
        else first_answer(found, result.measures, random_state=look.random_state, progress=progress)
    )
    result = replace(result, answer=answer, verdict=answer.verdict, headline=headline(answer, found))
    if choice is not None:
        found = counted(asked.uncut(), progress=progress) if asked.automatic else found
        estimates = learned(found, choice, random_state=look.random_state, progress=progress)
        if look.save_model is not None:
            saved(estimates.model, Path(look.save_model))
        result = with_learned(result, estimates, epsilons=wanted, model_path=look.save_model)
        if result.learned is not None:
            result = replace(result, answer=as_asked(answer, result.learned))
        values = {"risk": estimates.risk, "risk_high": estimates.risk_high}
    if look.scores is None:
        return result
    progress("writing scores", None)
    return _with_scores(result, found, values, Path(look.scores))


def _findings(
    found: Counted, look: Look, *, sha256: str | None, epsilons: tuple[float, ...], progress: Progress
) -> AuditResult:
    """Everything an audit says, from the counts alone."""
    joint, original = found.joint, found.question.original
    groups = findings.column_groups(found.symbols)
    n = look.shuffles or shuffles.shuffles_for(found.table.size)
    null = findings.shuffled(found, groups, n=n, random_state=look.random_state, progress=progress)
    measures = findings.measure_findings(joint, null)
    information = next(m for m in measures if m.name == "mutual_information")
    curve, total = funnel(joint), joint.total or 1.0
    return AuditResult(
        source=SourceFacts(original.name, original.format, found.n_records, float(joint.total or 0.0), sha256),
        columns=found.question.roles,
        secrets=tuple(
            SecretValue(label, weight=float(p * total), prior=float(p))
            for label, p in zip(found.labels, joint.prior, strict=True)
        ),
        n_values=joint.shape[1],
        verdict=information.verdict,
        headline="",
        measures=measures,
        shuffles=null.n,
        risk_histogram=findings.risk_histogram(joint),
        safe_shares=findings.safe_shares(joint, epsilons),
        riskiest=findings.riskiest(found, n=RISKIEST),
        column_leaks=findings.column_leaks(found, groups, null),
        curve=curve_points(curve),
        suggestion=suggestion(curve, max_loss=look.max_loss, joint=joint),
        notes=(*found.question.notes, *_cautions(found)),
        random_state=look.random_state,
        tacit_version=__version__,
    )


def _cautions(found: Counted) -> list[str]:
    joint = found.joint
    notes: list[str] = []
    per_value = found.n_records / joint.shape[1]
    if per_value < 10:
        words = (
            "only {per_value:.1f} records a released value on average: single values are mostly noise here; coarser "
            "columns ({bins}, {drop}) say more"
        )
        notes.append(sentence(words, per_value=per_value, bins=Setting("bins"), drop=Setting("drop")))
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
    columns = (curve.epsilons, curve.attained, curve.nmil, curve.utility, curve.leakage, curve.kept_share)
    return tuple(CurvePoint(*point) for point in np.column_stack(columns)[chosen].tolist())


def suggestion(curve: Funnel, *, max_loss: float, joint: Joint | None = None) -> Suggestion:
    """The smallest epsilon at a loss of at most ``max_loss``: of one merged set and, given a joint, of mixing."""
    affordable = np.flatnonzero(np.asarray(curve.nmil) <= max_loss)
    attained = np.asarray(curve.attained)[affordable]
    mixture = _affordable_mixture(joint, max_loss) if joint is not None else None
    epsilon = loss = None
    if not len(affordable) or not np.isfinite(attained).any():
        words = (
            "No finite epsilon is attained by merging one set of values ({watchdog}) at a loss of {most:.0%} or less."
        )
        if mixture is None:
            words += " Mixing values loses less, and protect says how much; or drop or cut the column that leaks most."
    else:
        best = int(affordable[int(np.argmin(attained))])
        # Rounded up, so that asking for the number shown gives what is shown.
        epsilon, loss = math.ceil(float(curve.attained[best]) * 1e4) / 1e4, float(curve.nmil[best])
        words = "One merged set ({watchdog}) loses {loss:.1%} with {epsilon}."
        if mixture is None:
            words = "One merged set ({watchdog}) loses {loss:.1%} with {epsilon} ({most:.0%} tolerated)."
    watchdog, asked = Setting("mechanism", "watchdog"), Setting("epsilon", epsilon)
    advice = sentence(words, watchdog=watchdog, epsilon=asked, loss=loss, most=max_loss)
    if mixture is None:
        return Suggestion(max_loss, epsilon, loss, advice)
    words = "A mixture ({mixing}) loses {loss:.1%} of the information with {epsilon} ({most:.0%} tolerated)."
    mixing = Setting("mechanism", "optimal")
    start = sentence(words, mixing=mixing, epsilon=Setting("epsilon", mixture[0]), loss=mixture[1], most=max_loss)
    return Suggestion(max_loss, epsilon, loss, together((start, advice)), *mixture)


def _affordable_mixture(joint: Joint, max_loss: float) -> tuple[float, float] | None:
    """The smallest of a few epsilons whose best release loses at most so much, and what it loses; None if none does.

    Only for joints that take no noticeable time; a larger epsilon never loses more, so that halving finds it.
    """
    if joint.matrix.size > MOST_CELLS_MIXED:
        return None
    losses: dict[float, float] = {}

    def is_affordable(epsilon: float) -> bool:
        losses[epsilon] = optimal(joint, epsilon, effort="low").nmil
        return losses[epsilon] <= max_loss

    first = bisect_left(MIXED_EPSILONS, True, key=is_affordable)
    epsilon = next(iter(MIXED_EPSILONS[first:]), None)
    return None if epsilon is None else (epsilon, losses[epsilon])


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
    with whole_file(path, for_owner=True) as temporary:
        write_table(table, temporary, like=like)
    return replace(result, scores_path=str(path))
