"""Which epsilon to choose, by what a release with it would keep, and the command that makes it."""

from __future__ import annotations

from typing import Any

from tacit.document import FilePath, Progress, silent
from tacit.errors import Command, DataError, Setting, sentence, together
from tacit.lenses.table.ladder.climbing import ladder
from tacit.lenses.table.ladder.results import Ladder
from tacit.lenses.table.loosening import other_bounds
from tacit.lenses.table.results import Suggestion
from tacit.requests import Question, given
from tacit.tables.table import Table

# If less than this is kept of a column, the suggestion says what would keep more.
LITTLE = 0.5
# With more released columns than this no release is tried: the search for cells tries every column again for each.
TOO_WIDE = 100
# The epsilon in the command if none was tried.
TRIED_FIRST = 1.0


def tried(
    question: Question, *, columns: int, max_loss: float, progress: Progress = silent
) -> tuple[Ladder, Suggestion]:
    """The ladder of a table and what it suggests.

    There are no rungs if ``protect`` would refuse the table, or if it has more than 100 released ``columns``; the
    suggestion says so.
    """
    if columns > TOO_WIDE:
        words = (
            "No release was tried: with {columns:,} released columns that takes long. Fewer ({drop}) usually keep more."
        )
        advice = Suggestion(
            max_loss,
            None,
            None,
            sentence(words, columns=columns, drop=Setting("drop")),
            sentence("{}", protect_command(question, TRIED_FIRST)),
        )
        return ladder(question, epsilons=(), max_loss=max_loss, progress=progress), advice
    try:
        rungs = ladder(question, max_loss=max_loss, progress=progress)
    except DataError as error:
        words = "No release can be made from this table: {reason}."
        advice = Suggestion(max_loss, None, None, sentence(words, reason=error.args[0]))
        return ladder(question, epsilons=(), max_loss=max_loss), advice
    return rungs, suggestion(rungs, question)


def suggestion(rungs: Ladder, question: Question) -> Suggestion:
    """What to choose, in a sentence and as the command that makes the release."""
    rung = rungs.suggested
    if rung is None:
        words = "No release was tried: all {looked:,} records examined have the same secret."
        advice = sentence(words, looked=rungs.sampled or rungs.records)
        if rungs.rungs:
            words = "No release says anything about the columns, at any epsilon tried: no cut of a column is within it."
            advice = together([words, _other_bounds(question, rungs.rungs[-1].epsilon)])
        return Suggestion(rungs.max_loss, None, None, advice)
    command = sentence("{}", protect_command(question, rung.epsilon))
    parts = {"epsilon": Setting("epsilon", rung.epsilon), "kept": rung.kept, "most": 1 - rungs.max_loss}
    if rung.kept >= 1 - rungs.max_loss:
        words = "With {epsilon} a reader keeps {kept:.1%} of a column on average. "
        strictest = rung is rungs.rungs[0]
        words += "None stricter was tried." if strictest else "No stricter one tried keeps {most:.0%}."
        return Suggestion(rungs.max_loss, rung.epsilon, rung.kept, sentence(words, **parts), command)
    best = max(rungs.rungs, key=lambda each: each.kept)
    words = "No epsilon tried keeps {most:.0%} of a column on average: {loosest} keeps {best:.1%}"
    words += "." if best is rung else ", {epsilon} {kept:.1%}."
    if best.kept < LITTLE and len(rungs.columns) > 1:
        named = len(question.secret or ()) == 1 and not question.secret_values
        words += " Fewer columns ({drop})" + (" or secret values ({values})" if named else "") + " usually keep more."
    parts |= {"loosest": Setting("epsilon", best.epsilon), "best": best.kept, "drop": Setting("drop")}
    parts["values"] = Setting("secret", {next(iter(question.secret or ("",))): ("VALUE",)})
    return Suggestion(rungs.max_loss, None, None, sentence(words, **parts), command)


def _other_bounds(question: Question, epsilon: float) -> str:
    table, named = question.source, bool(question.secret_values)
    return (
        other_bounds(table, tuple(question.secret or ()), epsilon=epsilon, named=named)
        if isinstance(table, Table)
        else ""
    )


def protect_command(question: Question, epsilon: float) -> Command:
    """The command that makes the release of a rung, with everything the user said about the table."""
    table = question.source
    path = table.path if isinstance(table, Table) else None
    name = "TABLE" if path is None else FilePath(table.name)
    return Command("protect", name, **said_of(question), epsilon=epsilon, out="release")


def said_of(question: Question) -> dict[str, Any]:
    """What the user said about a table, as the settings of another command."""
    settings = {name: value for name, value in given([question]).items() if name not in ("source", "engine", "memory")}
    if question.secret_values:
        settings["secret"] = {question.one_secret(): question.secret_values}
    return settings
