"""The number that survives chance: counted where counting suffices, learned where chance alone explains much of it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from tacit.document import FilePath, Progress, shorten
from tacit.document.quantities import count, share
from tacit.errors import Command, Sentence, Setting, sentence
from tacit.lenses.table.learned.quick import (
    ESTIMATOR,
    FEWEST,
    LINEAR_ALONE,
    QuickEvidence,
    is_affordable,
    is_wide,
    learned_quickly,
)
from tacit.lenses.table.question import TableQuestion
from tacit.lenses.table.results import ColumnLeak, FirstAnswer, LearnedFindings, MeasureFinding
from tacit.lenses.table.tabulating import Counted, counted
from tacit.lift import entropy

# Counting is swamped if chance shows more than this share of what was counted, and more than this share of the whole.
OF_COUNTED, OF_WHOLE = 0.25, 0.02
# An interval that begins at zero and ends below this share is not told by its ends.
LITTLE = 0.001
# Models of less than this share of the records may find much less than models of all.
FAIR_SHARE = 0.5


def is_swamped(information: MeasureFinding) -> bool:
    """Whether chance alone shows so much that what was counted says little."""
    return swamps(information.null_high, information.value, information.ceiling)


def swamps(chance: float, counted: float, whole: float) -> bool:
    """Whether what chance shows is much of what was counted, and of the whole."""
    return chance > OF_COUNTED * counted and chance > OF_WHOLE * whole


def by_counting(measures: Sequence[MeasureFinding]) -> FirstAnswer:
    """What was counted, less what chance shows; no answer if counting is swamped."""
    information = next(measure for measure in measures if measure.name == "mutual_information")
    whole, swamped = information.ceiling or 1.0, is_swamped(information)
    answer = FirstAnswer(
        how=None if swamped else "counted",
        share=None,
        low=None,
        high=None,
        counted=min(1.0, information.value / whole),
        chance=min(1.0, information.null_high / whole),
        # A leak that stands out remains one; but if chance shows much, it means little that none stands out.
        verdict="cannot tell" if swamped and information.verdict != "leak" else information.verdict,
    )
    if answer.how is None:
        return answer
    survives = max(0.0, answer.counted - answer.chance) if answer.verdict == "leak" else 0.0
    return replace(answer, share=survives)


def first_answer(
    table: Counted, measures: Sequence[MeasureFinding], *, random_state: int, progress: Progress
) -> FirstAnswer:
    """Counted, or learned if counting is swamped and learning is affordable."""
    answer = by_counting(measures)
    if answer.how is not None or not is_affordable(table):
        return answer
    whole = counted(table.question.uncut(), progress=progress) if table.question.automatic else table
    quick = learned_quickly(whole, random_state=random_state, progress=progress)
    return answer if quick is None else _by_learning(answer, quick, entropy(table.joint.prior))


def _by_learning(answer: FirstAnswer, quick: QuickEvidence, whole: float) -> FirstAnswer:
    """The answer by what models say about held-out records, if these were enough to tell."""
    apart = quick.apart
    if apart.verdict == "cannot tell" or not whole > 0:
        return answer
    ends = (apart.information.value, apart.information.low, apart.information.high)
    given_away, low, high = (max(0.0, nats) / whole for nats in ends)
    return replace(
        answer,
        how="learned",
        share=given_away if apart.verdict == "leak" else 0.0,
        low=low,
        high=high,
        verdict=apart.verdict,
        estimator=ESTIMATOR,
        records=quick.records,
    )


def no_less_than_a_column(
    answer: FirstAnswer, leaks: Sequence[ColumnLeak], whole: float, secret: Sequence[str]
) -> tuple[FirstAnswer, Sentence] | None:
    """The answer and its headline if one column, counted by itself, shows more than models learned from all of them."""
    if answer.how != "learned" or answer.verdict != "leak" or not whole > 0:
        return None
    # What chance swamps in one column says as little as what it swamps in all of them.
    clear = (each for each in leaks if not swamps(each.alone_null, each.alone, whole))
    beyond = {leak.name: (leak.alone - leak.alone_null) / whole for leak in clear if leak.alone_verdict == "leak"}
    loudest = max(beyond, key=beyond.__getitem__, default=None)
    if loudest is None or beyond[loudest] <= (answer.share or 0.0):
        return None
    words = (
        "Counted: '{loudest}' by itself shows as much beyond chance. Of all columns together the models found less, "
    )
    words += "{share}. {basis}"
    more = sentence(words, loudest=shorten(loudest, 32), share=share(answer.share), basis=answer.basis)
    raised = replace(answer, share=beyond[loudest], low=None, high=None, basis=more)
    words = "The released columns give away at least {share} of the uncertainty about {secret}."
    return raised, sentence(words, share=share(raised.share), secret=", ".join(secret))


def as_asked(answer: FirstAnswer, learned: LearnedFindings) -> FirstAnswer:
    """The answer by the estimator that was asked for."""
    whole, information = learned.prior_log_loss or 1.0, learned.information
    low, high = max(0.0, information.low) / whole, max(0.0, information.high) / whole
    answer = replace(answer, how="learned", share=max(0.0, information.value) / whole, low=low, high=high)
    beside = f"Counting shows {share(answer.counted)}, and up to {share(answer.chance)} when the secret is shuffled."
    answer = replace(answer, verdict=learned.verdict, basis=beside)
    return replace(answer, estimator=learned.estimator, records=learned.trained_on)


def headline(answer: FirstAnswer, table: Counted) -> Sentence:
    """The answer in a sentence; if there is none, what would give one."""
    parts = {"secret": ", ".join(table.question.secret), "share": share(answer.share)}
    if answer.how is None:
        words = "Cannot tell by counting whether {secret} leaks. {would}"
        if answer.verdict == "leak":
            words = "The released columns reveal more about {secret} than chance; counting cannot tell how much. "
            words += "{would}"
        return sentence(words, would=_would_tell(table), **parts)
    if answer.verdict != "leak":
        words = "No leak about {secret} detected: the released columns show no more about it than chance does."
        if answer.how == "learned":
            words = "No leak about {secret} found: no model tried guesses it from the released columns. That does "
            words += "not prove that there is none."
    elif answer.how == "counted":
        words = "The released columns give away {share} of the uncertainty about {secret}, beyond what chance can show."
    elif answer.share == 0:
        words = "The released columns are tied to {secret}, but too weakly to predict it."
    else:
        words = "The released columns give away about {share} of the uncertainty about {secret}."
    return sentence(words, **parts)


def basis(answer: FirstAnswer, table: Counted) -> Sentence:
    """What the answer rests on: what was counted next to what chance shows, and what was learned."""
    counted, chance = share(answer.counted), share(answer.chance)
    if answer.how == "counted":
        words = "Counted: {counted} of the uncertainty; when the secret is shuffled, chance alone shows up to {chance}."
        return sentence(words, counted=counted, chance=chance)
    by_counting = f"it shows {counted}, shuffled secrets up to {chance}."
    if answer.how is None:
        return sentence("Chance swamps the counts: {}", by_counting)
    part = "" if answer.records == table.n_records else f"{count(answer.records)} of "
    learned = f"Quick estimate ('{answer.estimator}', learned) from {part}{count(table.n_records)} records"
    alone = f" {LINEAR_ALONE}" if is_wide(table) else ""
    interval = f"95% interval {share(answer.low)} to {share(answer.high)}"
    if answer.low == 0 and answer.high is not None and answer.high < LITTLE:
        # Where the models fall back on the prior nothing varies, and an interval from zero to zero would promise much.
        interval = f"what its models predict is below {share(LITTLE)}, and what they miss is not in that"
    elif answer.verdict == "leak" and not answer.low:
        # One test asks whether there is a leak, the interval how large it is: here only the test is sure.
        interval = f"shuffled secrets show that it is not chance, but not how much it is: {interval}"
    # A model of a few of the records finds less than there is, and its interval is about what it finds.
    some = answer.records < FAIR_SHARE * table.n_records
    words = " All records take longer and may show more: {}."
    again = sentence(words, Setting("estimator", ESTIMATOR)) if some else ""
    return sentence("{}{} Counting cannot tell: {}", f"{learned}; {interval}.{alone}", again, by_counting)


def _would_tell(table: Counted) -> Sentence:
    """What would tell: an estimator, if there are records to learn from; else more records, or coarser columns."""
    question = table.question
    coarser = {"drop": Setting("drop"), "levels": Setting("levels"), "records": count(table.n_records)}
    if question.weight is not None:
        return sentence("Fewer or coarser columns would tell ({drop}, {levels}).", **coarser)
    if table.n_records < FEWEST:
        words = "{records} records are too few to learn from: more would tell, or fewer and coarser columns ({drop}, "
        return sentence(words + "{levels}).", **coarser)
    return sentence("This would tell, but takes longer: {again}", again=audit_again(question, estimator=ESTIMATOR))


def audit_again(question: TableQuestion, **settings: Any) -> Command:
    """The same audit with other settings, ready to copy."""
    source = FilePath(question.original.name) if question.original.path else "TABLE"
    settings = {"secret": list(question.secret), **_dropped(question), **settings}
    return Command("audit", source, **settings)


def _dropped(question: TableQuestion) -> dict[str, list[str]]:
    dropped = [role.name for role in question.roles if role.role == "dropped"]
    return {"drop": dropped} if dropped else {}
