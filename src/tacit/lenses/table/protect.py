"""``protect``: write a version of a table that keeps the secret, with a certificate of what remains."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from tacit.document import Progress, silent
from tacit.errors import ArgumentError, DataError, Setting, SourceError, sentence
from tacit.lenses.table.answers.columns import several_rows
from tacit.lenses.table.answers.release import ProtectResult
from tacit.lenses.table.certifying.cells import CellRelease
from tacit.lenses.table.certifying.planned import CountedRelease
from tacit.lenses.table.coding import FOR_CELLS, goal_of_rules, in_cells, question_of_rules, refuse_without_cells
from tacit.lenses.table.learned.choosing import EstimatorChoice, choice_of
from tacit.lenses.table.mechanisms import ReleaseGoal, plan_by_goal, plan_by_rules
from tacit.lenses.table.question import TableQuestion, ask
from tacit.lenses.table.roles.names import PERSONS_NUMBER, personal_in
from tacit.lenses.table.tabulating import counted
from tacit.release.codec import text_of
from tacit.release.data import PARTS
from tacit.release.directory import KEY, ReleaseDraft, new_release, refuse_target
from tacit.release.ledger.book import Ledger
from tacit.release.levels import LEVELS, PublishedCode
from tacit.release.rules import RULES, ReleaseRules
from tacit.requests import Bound, Learning, Ledgered, Making, Question, Request, given
from tacit.tables.counting import distinct_counts
from tacit.tables.drawing import new_key
from tacit.tables.parted import refuse_parts, write_parts
from tacit.tables.sources import open_table
from tacit.tables.writing import at, suffix_for, told_of_writing, write_table

_README = (
    "Only the owner of the data may see this folder. Do not publish what is in it.",
    f"{RULES} lists which values were merged: give it to protect as its rules, and the next batch is treated the same "
    "way.",
    "salt.txt opens the fingerprint of the original in certificate.json.",
    f"{KEY}, where there is one, is the key of the draws: anyone who has it and the release can undo many of them.",
)


def protect_table(
    question: Question,
    bound: Bound,
    making: Making,
    learning: Learning,
    ledgered: Ledgered,
    *,
    out: Path,
    progress: Progress = silent,
) -> ProtectResult:
    """Write a release of a table to the directory ``out``; ``tacit.protect`` says what is guaranteed."""
    # Before a row is read, so that the key does not depend on the secrets: only trying many keys could make draws fit.
    key = new_key(making.random_state)
    earlier = None
    if making.rules is None:
        goal = ReleaseGoal.asked(bound, making)
        refuse_without_cells(goal, [question, making])
    else:
        earlier = ReleaseRules.load(making.rules)
        _refuse_with_rules([question, bound, making, learning], in_cells=earlier.code is not None)
        goal, question = goal_of_rules(earlier, bound.least), question_of_rules(question, earlier)
    choice = _guide(question, learning, goal)
    book = Ledger.asked(ledgered, making, out=out)
    further, cuts = [each.secret for each in goal.also], earlier.cuts if earlier else ()
    original = open_table(question.source, engine=question.engine).pinned()
    fingerprint = original.sha256()
    question = replace(question, source=original)
    table_question = ask(question, also=further, cuts=cuts, in_cells=goal.coded, thresholds=goal.bounds.thresholds)
    _refuse_telling_order(table_question)
    if making.parts:
        refuse_parts(original.engine)
    refuse_target(out, original=table_question.original.path, overwrite=making.overwrite)
    proof = None
    if goal.coded:
        table_question, proof = in_cells(table_question, goal, making, earlier, choice, progress)
    table = counted(table_question, progress=progress)
    progress("choosing what to merge", None)
    plan = plan_by_goal(table, goal, proof) if earlier is None or goal.coded else plan_by_rules(table, earlier)
    release = CellRelease if goal.coded else CountedRelease
    return _released(release(table, plan, goal.least, key, fingerprint), book, making, out, progress)


def _refuse_telling_order(table_question: TableQuestion) -> None:
    """Rows keep their order: if folder names tell the secret, so would the place of a row in the release."""
    telling = [name for name in table_question.hidden if name in table_question.original.folders]
    if telling:
        raise DataError(
            f"the rows of {table_question.original.name} are in the order of '{telling[0]}', which the names of its "
            f"folders reveal, and a release keeps the rows in their place: write them to one file in a random order "
            f"first"
        )


def _guide(question: Question, learning: Learning, goal: ReleaseGoal) -> EstimatorChoice | None:
    """The estimator that proposes the cuts of cells, if any; it certifies nothing, so nothing else may rest on it."""
    choice = choice_of(learning.estimator, learning.model, weight=question.weight, fresh=learning.fresh)
    if choice is None or (goal.coded and goal.confidence is None):
        return choice
    name, value = ("estimator", choice.estimator) if choice.model is None else ("model", str(choice.model))
    words = "what was learned only proposes where to cut cells: leave out {name}, or {other}"
    other = Setting("mechanism", goal.mechanism) if not goal.coded else Setting("confidence")
    raise ArgumentError(sentence(words, name=Setting(name, value), other=other))


def _released(planned: CountedRelease, book: Ledger, making: Making, out: Path, progress: Progress) -> ProtectResult:
    """Write a planned release, and enter it in the ledger."""
    question = planned.counted.question
    entry = planned.entry(book.relation, out) if book.path else None
    with book.page(entry, question.original) as page, new_release(out, overwrite=making.overwrite) as draft:
        progress("writing the release", None)
        data_file = _write_data(planned, draft, making)
        at("data written")
        if planned.channel is not None:
            draft.channel.write_text(text_of(planned.channel), "utf-8")
        progress("reading what was written", None)
        # It is on this machine, where an engine's workers may not see it, so the default engine reads it.
        written = open_table(draft.place / data_file)
        planned.refuse_miswritten(written)
        progress("certifying", None)
        certificate = planned.certificate(draft, data_file, making)
        progress("measuring what readers keep", None)
        keeps = planned.keeps(written, certificate)
        certificate = replace(certificate, keeps=keeps, composition=page.composition)
        result = ProtectResult(
            out=str(out),
            data_file=data_file,
            certificate=certificate,
            headline=planned.headline(certificate),
            diagnosis=planned.diagnosis(certificate, making.max_loss),
            curve=planned.curve,
            before=planned.before,
            after=planned.after,
            notes=(
                *question.notes,
                *_of_people(question, planned.counted.n_records),
                *told_of_writing(question.original, parts=making.parts),
                *planned.remarks(),
                *page.notes,
            ),
            corrected=planned.corrected(written),
            levels=() if planned.rules.code is None else PublishedCode.of(planned.rules.code).columns,
            countable=planned.countable,
            original=question.original.address,
        )
        draft.keep(RULES, text_of(planned.rules))
        if certificate.output.key_sha256 is not None:
            draft.keep(KEY, planned.key.hex() + "\n")
        if planned.rules.code is not None:
            draft.publish(LEVELS, text_of(PublishedCode.of(planned.rules.code)))
        result.write_report(draft.report)
        certificate = draft.sealed(certificate, _README)
        if question.original.sha256() != planned.fingerprint:
            raise SourceError(f"{question.original.name} changed while it was read: nothing was released; run again")
        page.add(certificate)
    return replace(result, certificate=certificate)


def _of_people(question: TableQuestion, rows: int) -> list[str]:
    """A note that people have several rows, if a column of their numbers that was left out shows it."""
    left_out = [each.name for each in question.roles if each.role == "dropped"]
    numbers = [name for name in left_out if personal_in(name) == PERSONS_NUMBER]
    counts = distinct_counts(question.original, numbers) if numbers else {}
    return [several_rows(name, values, rows) for name, values in counts.items() if values < rows]


# What the rules of an earlier release settle.
_SETTLED = (
    *(
        "secret",
        "released",
        "bins",
        "thresholds",
        "epsilon",
        "epsilon_low",
        "epsilon_high",
        "delta",
        "delta_kind",
        "epsilon_max",
    ),
    *("also", "mechanism", "effort", "replacement", "confidence", "estimator", "model", *FOR_CELLS),
)


def _refuse_with_rules(requests: Sequence[Request], *, in_cells: bool) -> None:
    """What the rules settle may not be set again, whatever the value: an epsilon of 0 counts, too."""
    words = (
        "the rules settle secret, released, bins, all epsilons, delta, mechanism, replacement, confidence, estimator "
        "and everything about cells: leave out {name} with {rules}"
    )
    settled = {*_SETTLED, "least"} if in_cells else {*_SETTLED}
    for name, value in given(requests).items():
        if name in settled and value not in ({}, ()):
            raise ArgumentError(sentence(words, name=Setting(name), rules=Setting("rules")))


def _write_data(planned: CountedRelease, draft: ReleaseDraft, making: Making) -> str:
    """Write the released data, and return the name of its file or folder."""
    question, rules = planned.counted.question, planned.rules
    kept = {*question.released, *(question.hidden if making.keep_secret else ())}
    shown = question.table.select([name for name in question.table.names if name in kept])
    treated = rules.applied(shown, planned.key, present=planned.counted.symbols)
    if making.parts:
        (draft.place / PARTS).mkdir()
        with draft.for_workers() as shared:
            write_parts(treated, draft.place / PARTS, like=question.original, shared=shared)
        return PARTS
    data_file = "data" + suffix_for(question.original)
    write_table(treated, draft.place / data_file, like=question.original)
    return data_file
