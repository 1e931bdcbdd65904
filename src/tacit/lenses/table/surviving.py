"""The number that survives chance: counted where counting suffices, learned where chance alone shows most of it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from tacit.document import FilePath, Progress
from tacit.document.quantities import count, share
from tacit.errors import Command, Sentence, Setting, sentence
from tacit.lenses.table.learned.quick import ESTIMATOR, FEWEST, QuickEvidence, is_affordable, learned_quickly
from tacit.lenses.table.question import TableQuestion
from tacit.lenses.table.results import FirstAnswer, LearnedFindings, MeasureFinding
from tacit.lenses.table.tabulating import Counted, counted
from tacit.lift import entropy

# Counting is swamped where chance shows more than this part of what was counted, and more than this part of the whole.
OF_COUNTED, OF_WHOLE = 0.25, 0.02


def is_swamped(information: MeasureFinding) -> bool:
    """Whether chance alone shows so much that what was counted says little."""
    chance = information.null_high
    return chance > OF_COUNTED * information.value and chance > OF_WHOLE * information.ceiling


def by_counting(found: Counted, measures: Sequence[MeasureFinding]) -> FirstAnswer:
    """What was counted, less what chance shows; nothing where that is swamped."""
    by_name = {measure.name: measure for measure in measures}
    information, guess = by_name["mutual_information"], by_name["guessing_probability"]
    whole, prior = information.ceiling or 1.0, float(found.joint.prior.max())
    answer = FirstAnswer(
        how=None if is_swamped(information) else "counted",
        share=None,
        low=None,
        high=None,
        counted=information.value / whole,
        chance=information.null_high / whole,
        verdict=information.verdict,
        prior_guess=prior,
    )
    if answer.how is None:
        return answer
    survives = max(0.0, answer.counted - answer.chance) if answer.verdict == "leak" else 0.0
    # Chance lets guesses seem better than the prior, too.
    guessed = max(prior, guess.value - max(0.0, guess.null_high - prior)) if guess.verdict == "leak" else prior
    return replace(answer, share=survives, guessed=guessed)


def first_answer(
    found: Counted, measures: Sequence[MeasureFinding], *, random_state: int, progress: Progress
) -> FirstAnswer:
    """Counted, or learned where counting is swamped and learning affordable."""
    answer = by_counting(found, measures)
    if answer.how is not None or not is_affordable(found):
        return answer
    whole = counted(found.question.uncut(), progress=progress) if found.question.automatic else found
    quick = learned_quickly(whole, random_state=random_state, progress=progress)
    return answer if quick is None else _by_learning(answer, quick, entropy(found.joint.prior))


def _by_learning(answer: FirstAnswer, quick: QuickEvidence, whole: float) -> FirstAnswer:
    """The answer by what models say of records apart, if these were enough to tell."""
    apart = quick.apart
    if apart.verdict == "cannot tell" or not whole > 0:
        return answer
    ends = (apart.information.value, apart.information.low, apart.information.high)
    told, low, high = (max(0.0, nats) / whole for nats in ends)
    return replace(
        answer,
        how="learned",
        share=told if apart.verdict == "leak" else 0.0,
        low=low,
        high=high,
        verdict=apart.verdict,
        guessed=quick.guessed if apart.verdict == "leak" else answer.prior_guess,
        estimator=ESTIMATOR,
        records=quick.records,
    )


def as_asked(answer: FirstAnswer, learned: LearnedFindings) -> FirstAnswer:
    """The answer by the estimator that was asked for."""
    whole, told = learned.prior_log_loss or 1.0, learned.information
    low, high = max(0.0, told.low) / whole, max(0.0, told.high) / whole
    answer = replace(answer, how="learned", share=max(0.0, told.value) / whole, low=low, high=high)
    return replace(answer, verdict=learned.verdict, estimator=learned.estimator, records=learned.trained_on)


def headline(answer: FirstAnswer, found: Counted) -> Sentence:
    """The answer in a sentence or two; where nothing tells, what would."""
    secret = ", ".join(found.question.secret)
    words: dict[str, Any] = {"secret": secret, "counted": share(answer.counted), "chance": share(answer.chance)}
    if answer.how is None:
        return _cannot_tell(found, words)
    if answer.how == "counted":
        told = "The released columns give away {share} of the uncertainty about {secret}, beyond what chance can show "
        told += "({counted} was counted; chance alone shows up to {chance})."
        if answer.verdict != "leak":
            told = (
                "No leak about {secret} detected: the released columns show {counted} of its uncertainty, and chance "
            )
            told += "alone shows up to {chance}."
        return sentence(told, share=share(answer.share), **words)
    told = (
        "The released columns give away about {share} of the uncertainty about {secret} ({by}; 95% interval {low} to "
    )
    told += "{high}). {beside}"
    if answer.verdict != "leak":
        told = "No leak about {secret} detected ({by}), which is no proof that there is none. {beside}"
    elif answer.share == 0:
        told = (
            "The released columns are tied to {secret} ({by}), but so weakly that nothing could be predicted. {beside}"
        )
    ends = {"share": share(answer.share), "low": share(answer.low), "high": share(answer.high)}
    return sentence(told, by=_by(answer, found), beside=_beside(answer), **words, **ends)


def _by(answer: FirstAnswer, found: Counted) -> str:
    some = "" if answer.records == found.n_records else f"{count(answer.records)} of "
    return f"learned by '{answer.estimator}' from {some}{count(found.n_records)} records"


def _beside(answer: FirstAnswer) -> str:
    counted, chance = share(answer.counted), share(answer.chance)
    return f"Counting cannot tell here: it shows {counted}, and chance alone up to {chance}."


def _cannot_tell(found: Counted, words: dict[str, Any]) -> Sentence:
    told = "Cannot tell by counting: it shows {counted} of the uncertainty about {secret}, and chance alone up to "
    told += "{chance}, because few records are alike. {would}"
    return sentence(told, would=_would_tell(found), **words)


def _would_tell(found: Counted) -> Sentence:
    """What would tell: an estimator, if there are records to learn from; else more records, or coarser columns."""
    question = found.question
    coarser = {"drop": Setting("drop"), "levels": Setting("levels"), "records": count(found.n_records)}
    if question.weight is not None:
        return sentence("Fewer or coarser columns would tell ({drop}, {levels}).", **coarser)
    if found.n_records < FEWEST:
        told = "{records} records are too few to learn from: more would tell, or fewer and coarser columns ({drop}, "
        return sentence(told + "{levels}).", **coarser)
    return sentence("This would tell, and takes its time: {}", audit_again(question, estimator=ESTIMATOR))


def audit_again(question: TableQuestion, **settings: Any) -> Command:
    """The same audit with other settings, ready to copy."""
    source = FilePath(question.original.name) if question.original.path else "TABLE"
    said = {"secret": list(question.secret), **_dropped(question), **settings}
    return Command("audit", source, **said)


def _dropped(question: TableQuestion) -> dict[str, list[str]]:
    dropped = [role.name for role in question.roles if role.role == "dropped"]
    return {"drop": dropped} if dropped else {}
