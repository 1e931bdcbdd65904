"""Which epsilon to choose, by what a release at it would keep, and the command that makes it."""

from __future__ import annotations

from collections.abc import Sequence

from tacit.document import FilePath
from tacit.errors import Command, Setting, sentence
from tacit.lenses.table.ladder.results import Ladder, ReleaseRung
from tacit.lenses.table.results import Suggestion
from tacit.requests import Question, given
from tacit.tables.table import Table

# Where no rung keeps enough, the strictest that keeps this share of what the best one does.
NEARLY = 0.95


def suggested(rungs: Sequence[ReleaseRung], max_loss: float) -> float | None:
    """The strictest epsilon that keeps enough of a column on average, else the one beyond which hardly more is kept."""
    most, enough = max((rung.kept for rung in rungs), default=0.0), 1 - max_loss
    return next((rung.epsilon for rung in rungs if rung.kept >= (enough if most >= enough else NEARLY * most)), None)


def suggestion(ladder: Ladder, question: Question) -> Suggestion:
    """What to choose, in a sentence and as the command that makes the release."""
    rung = ladder.suggested
    if rung is None:
        words = "No release was tried: all of the {looked:,} records that were looked at have the same secret."
        return Suggestion(ladder.max_loss, None, None, sentence(words, looked=ladder.sampled or ladder.records))
    command = sentence("{}", protect_command(question, rung.epsilon))
    told = {"epsilon": Setting("epsilon", rung.epsilon), "kept": rung.kept, "most": 1 - ladder.max_loss}
    if rung.kept >= 1 - ladder.max_loss:
        words = (
            "With {epsilon} a reader keeps {kept:.1%} of a column on average. Of the epsilons tried it is the "
            "strictest that keeps {most:.0%}."
        )
        return Suggestion(ladder.max_loss, rung.epsilon, rung.kept, sentence(words, **told), command)
    best = max(ladder.rungs, key=lambda each: each.kept)
    words = "No epsilon tried keeps {most:.0%} of a column on average: {loosest} keeps {best:.1%}"
    words += "." if best is rung else ", and {epsilon} nearly as much, {kept:.1%}."
    told |= {"loosest": Setting("epsilon", best.epsilon), "best": best.kept}
    return Suggestion(ladder.max_loss, None, None, sentence(words, **told), command)


def protect_command(question: Question, epsilon: float) -> Command:
    """The command that makes the release of a rung, with all that was said of the table."""
    said = {name: value for name, value in given([question]).items() if name not in ("source", "engine", "memory")}
    if question.secret_values:
        said["secret"] = {question.one_secret(): question.secret_values}
    table = question.source
    path = table.path if isinstance(table, Table) else None
    return Command("protect", "TABLE" if path is None else FilePath(table.name), **said, epsilon=epsilon, out="release")
