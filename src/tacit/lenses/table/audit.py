"""``audit``: what does this table give away about a secret, where, and is it real or noise?"""

from __future__ import annotations

from collections.abc import Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path

import numpy as np

from tacit import __version__
from tacit.document import Progress, silent
from tacit.errors import ArgumentError, Setting, sentence, together
from tacit.lenses.facts import SecretValue, SourceFacts
from tacit.lenses.histograms import EPSILONS
from tacit.lenses.table import findings
from tacit.lenses.table.answers.audit import AuditResult
from tacit.lenses.table.answers.first import surviving
from tacit.lenses.table.ladder.fixes import Fix, effects, fixes_of
from tacit.lenses.table.ladder.results import Ladder
from tacit.lenses.table.ladder.suggesting import said_of, tried
from tacit.lenses.table.learned.choosing import EstimatorChoice, choice_of
from tacit.lenses.table.learned.findings import with_learned
from tacit.lenses.table.learned.learning import Learned, learned, saved
from tacit.lenses.table.learned.surviving import (
    as_asked,
    basis,
    by_counting,
    first_answer,
    headline,
    no_less_than_a_column,
)
from tacit.lenses.table.linkage.people import people_found
from tacit.lenses.table.mechanisms.merged_set import curve_points
from tacit.lenses.table.pricing import secret_prices
from tacit.lenses.table.question import TableQuestion, ask
from tacit.lenses.table.results import Suggestion
from tacit.lenses.table.tabulating import Counted, counted, spoken
from tacit.lift import Vector, entropy, funnel, risk, shuffles
from tacit.release.bounds import checked_epsilon
from tacit.requests import Learning, Look, Question
from tacit.requests.settings import AnyPath
from tacit.tables.counting import MAX_CELLS, TooManyValues, count
from tacit.tables.symbols import Symbols

RISKIEST = 20
# The epsilon at which the values of a secret are priced, where none is asked about.
USUAL = 1.0
# How many of the columns that give most away are tried coarser, or left out.
MOST_TRIED = 5
# With more columns than this there are fewer shuffles.
MANY_COLUMNS = 40
# How many records of a table with too many combinations of values are measured.
MOST_SAMPLED = 200_000


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
    table_question = ask(question)
    of_release = _of_release(question, table_question)
    _check_targets(table_question.original.path, scores=look.scores, save_model=look.save_model)
    with ThreadPoolExecutor(max_workers=1) as pool:
        # The file is read for its fingerprint while the engine counts.
        sha256 = pool.submit(table_question.original.sha256)
        tally, sampled = _counted(table_question, look, progress)
        # Before anything slow, because a model that cannot be used is refused here.
        estimates = _estimated(tally, choice, look, progress)
        columns = len(table_question.released)
        rungs = tried(of_release, columns=columns, max_loss=look.max_loss, progress=progress)
        result = _findings(tally, look, sha256=sha256.result(), epsilons=wanted, tried=rungs, progress=progress)
    if sampled:
        result = _of_all(result, table_question, sampled)
    progress("counting who is alone", None)
    prices = secret_prices(tally, epsilon=USUAL if look.epsilon is None else look.epsilon, progress=progress)
    result = replace(result, found=people_found(table_question, table_question.known), prices=prices)
    progress("trying what could be done", None)
    fixes = effects(table_question, _worth_trying(table_question, result))
    result = replace(result, fixes=fixes, asked=said_of(of_release))
    values: Mapping[str, Vector] = {"risk": risk(tally.joint)}
    answer = (
        by_counting(result.measures)
        if choice is not None
        else first_answer(tally, result.measures, random_state=look.random_state, progress=progress)
    )
    answer = replace(answer, basis=together([sampled, basis(answer, tally)]))
    uncertainty = entropy(tally.joint.prior)
    raised = no_less_than_a_column(answer, result.column_leaks, uncertainty, table_question.secret)
    answer, words = raised or (answer, headline(answer, tally))
    result = replace(result, answer=answer, verdict=answer.verdict, headline=words)
    if estimates is not None:
        tally = estimates.counted
        if look.save_model is not None:
            saved(estimates.model, Path(look.save_model))
        result = with_learned(result, estimates, epsilons=wanted, model_path=look.save_model)
        if result.learned is not None:
            result = replace(result, answer=as_asked(answer, result.learned))
        values = {"risk": estimates.risk, "risk_high": estimates.risk_high}
    # Its fingerprint was taken at the start, and rows were read until now.
    table_question.original.require_unchanged()
    if look.scores is None:
        return result
    progress("writing scores", None)
    return _with_scores(result, tally, values, Path(look.scores))


def _counted(table_question: TableQuestion, look: Look, progress: Progress) -> tuple[Counted, str]:
    """The table counted; if it has too many combinations, a sample of its records, and the sentence that says so."""
    try:
        return counted(table_question, progress=progress), ""
    except TooManyValues as error:
        # Scores are wanted for every record, and those of a sample would be the scores of another table.
        if look.scores is not None:
            raise
        why = error.why
    rows, secrets = table_question.original.row_count(), len(count(table_question.table, table_question.secret).records)
    # Rows that are spread may be a few more than were asked for.
    most = max(1, min(rows // 2, MOST_SAMPLED, MAX_CELLS // secrets * 49 // 50))
    sample = replace(
        table_question, original=table_question.original.spread(most), table=table_question.table.spread(most)
    )
    tally = counted(sample, progress=progress)
    note = f"There are more {why}: risks and measures are of {tally.n_records:,} of {rows:,} records, spread over the "
    note += "table, and who can be found is counted on all."
    return tally, note


def _of_all(result: AuditResult, table_question: TableQuestion, sampled: str) -> AuditResult:
    """What can be counted on all records, where the rest was measured on a sample."""
    counts = count(table_question.table, table_question.secret, weight=table_question.weight)
    secrets = Symbols(counts.columns, counts.levels, counts.codes).labels()
    total = float(counts.weight.sum())
    missing = len(counts.records) - len(result.secrets)
    values = "value of the secret does" if missing == 1 else "values of the secret do"
    lacking = [f"{missing:,} {values} not occur in these records"] if missing else []
    return replace(
        result,
        source=replace(result.source, records=int(counts.records.sum()), weighted_total=total),
        secrets=tuple(
            SecretValue(spoken(label), weight=float(weight), prior=float(weight) / total)
            for label, weight in zip(secrets, counts.weight, strict=True)
        ),
        notes=(sampled, *lacking, *result.notes),
    )


def _estimated(tally: Counted, choice: EstimatorChoice | None, look: Look, progress: Progress) -> Learned | None:
    """What an estimator learns from the records, with columns cut only where that was asked for."""
    if choice is None:
        return None
    table_question = tally.question
    free = counted(table_question.uncut(), progress=progress) if table_question.automatic else tally
    return learned(free, choice, random_state=look.random_state, progress=progress)


def _worth_trying(table_question: TableQuestion, result: AuditResult) -> list[Fix]:
    """Changes to the columns that give most away by themselves, and to those that find people."""
    finding = [name for each in result.found.sets[1:] for name in each.columns] if result.found else []
    loud = [leak.name for leak in surviving(result.column_leaks)[:MOST_TRIED]]
    return list(fixes_of(table_question, [*loud, *finding]))


def _of_release(question: Question, table_question: TableQuestion) -> Question:
    """The same question as ``protect`` would take it, refused where ``protect`` would refuse it."""
    hidden = next((name for name in table_question.known if name not in table_question.released), None)
    if hidden is not None:
        words = (
            "column '{name}' may be known but is not released, and nothing bounds what it reveals together with the "
            "release: release it, or leave it out of {known}"
        )
        raise ArgumentError(sentence(words, name=hidden, known=Setting("known")))
    return replace(question, source=table_question.original)


def _findings(
    tally: Counted,
    look: Look,
    *,
    sha256: str | None,
    epsilons: tuple[float, ...],
    tried: tuple[Ladder, Suggestion],
    progress: Progress,
) -> AuditResult:
    """Everything an audit says from counts only."""
    joint, original = tally.joint, tally.question.original
    groups = findings.column_groups(tally.symbols)
    # Every shuffle is measured column by column: with many columns, that takes most of the time.
    times = len(groups) if len(groups) > MANY_COLUMNS else 1
    n = look.shuffles or shuffles.shuffles_for(tally.table.size * times)
    null = findings.shuffled(tally, groups, n=n, random_state=look.random_state, progress=progress)
    measures = findings.measure_findings(joint, null)
    information = next(m for m in measures if m.name == "mutual_information")
    total = joint.total or 1.0
    return AuditResult(
        source=SourceFacts(original.name, original.format, tally.n_records, float(joint.total or 0.0), sha256),
        columns=tally.question.roles,
        secrets=tuple(
            SecretValue(label, weight=float(p * total), prior=float(p))
            for label, p in zip(tally.labels, joint.prior, strict=True)
        ),
        n_values=joint.shape[1],
        verdict=information.verdict,
        headline="",
        measures=measures,
        shuffles=null.n,
        risk_histogram=findings.risk_histogram(joint),
        safe_shares=findings.safe_shares(joint, epsilons),
        riskiest=findings.riskiest(tally, n=RISKIEST),
        column_leaks=findings.column_leaks(tally, groups, null),
        curve=curve_points(funnel(joint)),
        ladder=tried[0],
        suggestion=tried[1],
        notes=(*tally.question.notes, *_cautions(tally)),
        random_state=look.random_state,
        tacit_version=__version__,
    )


def _cautions(tally: Counted) -> list[str]:
    joint = tally.joint
    notes: list[str] = []
    per_value = tally.n_records / joint.shape[1]
    if per_value < 10:
        words = (
            "only {per_value:.1f} records per released value on average: single values are mostly noise here; coarser "
            "columns ({bins}, {drop}) say more"
        )
        notes.append(sentence(words, per_value=per_value, bins=Setting("bins"), drop=Setting("drop")))
    never = float((joint.matrix == 0).mean())
    if never > 0:
        infinite = float(joint.marginal[np.isinf(risk(joint))].sum())
        notes.append(
            f"{never:.1%} of the pairs of secret and released value never occur; a value that rules a secret out has "
            f"infinite risk ({infinite:.1%} of the records carry one). Tools that skip such pairs call them safe"
        )
    if tally.question.weight:
        notes.append(
            "records are weighted: null bands are drawn at the effective number of records (Kish), not shuffled"
        )
    return notes


def _check_targets(table: Path | None, *, scores: AnyPath | None, save_model: AnyPath | None) -> None:
    """Refuse names that cannot be written to before any work is done."""
    from tacit.tables.formats import can_be_written, written_endings
    from tacit.tables.writing import refuse_source

    for target, what in ((scores, "scores"), (save_model, "model")):
        refuse_source(table, target, what)
    if scores is not None and not can_be_written(Path(scores)):
        raise ArgumentError(f"cannot write scores to {scores}: name a file that ends in {', '.join(written_endings())}")


def _with_scores(result: AuditResult, tally: Counted, values: Mapping[str, Vector], path: Path) -> AuditResult:
    from tacit.tables.formats import format_of
    from tacit.tables.rewriting import scores
    from tacit.tables.writing import whole_file, write_table

    chosen, original = format_of(path).name, tally.question.original
    like = original if original.format == chosen else replace(original, format=chosen, delimiter=None, codec=None)
    table = scores(tally.question.table, tally.symbols, values=values)
    with whole_file(path, for_owner=True) as temporary:
        write_table(table, temporary, like=like)
    return replace(result, scores_path=str(path))
