"""From a question to a table in cells: a new code, or that of an earlier release."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from tacit.codes.asking import CodeClaim, CodeRequest
from tacit.codes.code import CellCode
from tacit.codes.fitting import FittedCode, Obstacle, fit_code, fit_guided, fitted_again
from tacit.codes.proving import ProvedCode, prove_code
from tacit.document import Nats, Progress, silent
from tacit.errors import ArgumentError, NotCertifiedError, Sentence, Setting, sentence
from tacit.lenses.table.learned.choosing import EstimatorChoice
from tacit.lenses.table.learned.learning import learned
from tacit.lenses.table.mechanisms import CellProof, ReleaseGoal
from tacit.lenses.table.question import TableQuestion
from tacit.lenses.table.tabulating import counted
from tacit.lift import confident
from tacit.release.keys import seed_or_secure
from tacit.release.rules import ReleaseRules
from tacit.release.treatment import Mixing
from tacit.requests import Making, Question, Request, given

# Cells that will be mixed may be this many times as risky: the mixture brings them within bounds.
FINER = 2.0
# What another bound would tell about a column is mentioned from this share of the rows on.
_WORTH_TELLING = 0.01
# Settings that only cells take.
FOR_CELLS = ("known", "levels", "recode", "write", "prefer")


def in_cells(
    table_question: TableQuestion,
    goal: ReleaseGoal,
    making: Making,
    earlier: ReleaseRules | None,
    choice: EstimatorChoice | None,
    progress: Progress = silent,
) -> tuple[TableQuestion, CellProof | None]:
    """The question asked of the table in cells that meet the goal, and their proof, if one was asked for.

    Cells of an earlier release that do not hold on this table are merged upwards along the tree.
    """
    coded_question, proof = _in_cells(table_question, goal, making, earlier, choice, progress)
    assert coded_question.code is not None
    return replace(coded_question, notes=(*coded_question.notes, *_zones(coded_question.code))), proof


def _in_cells(
    table_question: TableQuestion,
    goal: ReleaseGoal,
    making: Making,
    earlier: ReleaseRules | None,
    choice: EstimatorChoice | None,
    progress: Progress,
) -> tuple[TableQuestion, CellProof | None]:
    request = code_request(table_question, goal, making)
    if goal.confidence is not None and making.write == "means":
        words = "proved cells can only be written as text so far: leave out {write}, or {confidence}"
        raise ArgumentError(sentence(words, write=Setting("write", "means"), confidence=Setting("confidence")))
    if goal.confidence is not None:
        proved = prove_code(table_question.to_bound(), request, confidence=goal.confidence, progress=progress)
        if len(proved.code.tree.leaves) == 1:
            raise NotCertifiedError(_too_few(proved, goal))
        return table_question.coded(proved.code), CellProof.of(proved)
    if choice is not None:
        if table_question.thresholds is not None:
            words = "what was learned is about groups of the secret: leave out {estimator}, or {thresholds}"
            settings = {name: Setting(name) for name in ("estimator", "thresholds")}
            raise ArgumentError(sentence(words, **settings))
        return table_question.coded(_guided(table_question, request, choice, making, progress).code), None
    if earlier is None or earlier.code is None:
        fitted = fit_code(table_question.to_bound(), request, progress=progress)
        notes = _untold(fitted, goal)
        # With thresholds, cells were looked up in a table with another secret than the one counted here.
        places = fitted.found if table_question.thresholds is None else None
        return replace(table_question.coded(fitted.code, places), notes=(*table_question.notes, *notes)), None
    progress("counting", None)
    return table_question.coded(fitted_again(table_question.to_bound(), earlier.code, request)), None


def _guided(
    table_question: TableQuestion, request: CodeRequest, choice: EstimatorChoice, making: Making, progress: Progress
) -> FittedCode:
    """Cells whose cuts an estimator proposes: it says where there is room, and counting decides what may stand."""
    uncut = counted(table_question, progress=progress)
    estimates = learned(uncut, choice, random_state=seed_or_secure(making.random_state), progress=progress)
    posteriors = np.exp(estimates.lifts[:, estimates.columns]) * uncut.joint.prior
    posteriors /= posteriors.sum(axis=1, keepdims=True)
    symbol = uncut.counts.symbols(table_question.released)[1]
    return fit_guided(table_question.table, uncut.counts, posteriors[symbol], request, progress=progress)


def _too_few(proved: ProvedCode, goal: ReleaseGoal) -> Sentence:
    """Why nothing was written, and what may be asked instead."""
    words = (
        "{records:,} records do not prove {epsilon} with {sure} confidence for any cut of a column, so nothing was "
        "written. Choose a larger epsilon, bound only the upper side ({alone}), or ask without {confidence}"
    )
    proof = proved.proof
    return sentence(
        words,
        records=proof.records_to_choose + proof.records_to_prove,
        epsilon=Nats(goal.bounds.epsilon, 6),
        sure=confident(goal.confidence or 0.0),
        alone=Setting("epsilon_high", goal.bounds.high),
        confidence=Setting("confidence"),
    )


def _zones(code: CellCode) -> list[str]:
    """Which zone's clock and calendar are used for times that have a zone."""
    words = "column '{}' holds times with a zone: its days and hours are those of {}"
    return [words.format(scale.column, scale.zone) for scale in code.scales if scale.zone is not None]


def _untold(fitted: FittedCode, goal: ReleaseGoal) -> list[Sentence]:
    """Why columns are not told, and what another bound would tell about them, where that was tried."""
    blocked = {each.column: _blocked(each) for each in fitted.obstacles}
    freed = {name: share for name, share in fitted.upper_alone.items() if share >= _WORTH_TELLING}
    alone, notes = Setting("epsilon_high", goal.bounds.high), []
    for name in dict.fromkeys([*blocked, *freed]):
        note = blocked.get(name, sentence("column '{column}' is not shown at all", column=name))
        if name in freed:
            note += sentence(
                "; with a bound on the upper side only ({alone}) it is shown in {share:.0%} of the rows",
                alone=alone,
                share=freed[name],
            )
        notes.append(note)
    return notes


def _blocked(obstacle: Obstacle) -> Sentence:
    """Which value of a secret forbids telling a column, so that the owner can choose."""
    value = " / ".join("missing" if part is None else str(part) for part in obstacle.value)
    secret = ", ".join(obstacle.secret)
    words = "column '{column}' cannot be shown on its own: every cut of it makes {value} ({secret}) too {side}"
    if obstacle.zero:
        words = (
            "column '{column}' cannot be shown on its own: every cut of it leaves a side where {value} ({secret}) "
            "never "
            "occurs, which no epsilon allows"
        )
    side = "unlikely" if obstacle.side == "low" else "likely"
    return sentence(words, column=obstacle.column, value=value, secret=secret, side=side)


def code_request(table_question: TableQuestion, goal: ReleaseGoal, making: Making) -> CodeRequest:
    """What is asked of the cells."""
    finer = FINER if goal.mechanism == "cells+mix" else 1.0
    bounds = goal.bounds
    # Cells within epsilon have no excess either; the search can let some exceed it only if delta counts their mass.
    delta = bounds.delta if bounds.delta_kind == "mass" else 0.0
    low, high = bounds.low * finer, bounds.high * finer
    first = CodeClaim(table_question.secret, low, high, delta, bounds.epsilon_max, bounds.thresholds)
    further = [CodeClaim(each.secret, each.epsilon * finer, each.epsilon * finer) for each in goal.also]
    return CodeRequest(
        columns=table_question.released,
        claims=(first, *further),
        least=goal.least,
        known=table_question.known,
        use=table_question.use,
        prefer=making.prefer or {},
        levels=table_question.levels,
        weight=table_question.weight,
        write=making.write,
        recode=making.recode,
    )


def refuse_without_cells(goal: ReleaseGoal, requests: Sequence[Request]) -> None:
    """Refuse settings for cells where there are none, and ``known`` where cells are mixed, rather than ignore them."""
    allowed = {"cells": FOR_CELLS, "cells+mix": FOR_CELLS[1:]}.get(goal.mechanism, ())
    for name, value in given(requests).items():
        if name in FOR_CELLS and name not in allowed and value not in ({}, ()):
            words = "{name} is for the mechanism '{cells}', but this is '{mechanism}': leave out one of the two"
            raise ArgumentError(sentence(words, name=Setting(name), cells="cells", mechanism=goal.mechanism))


def goal_of_rules(rules: ReleaseRules, least: int) -> ReleaseGoal:
    """The goal of an earlier release; without cells its rules do not say what ``least`` was."""
    if rules.code is None:
        return ReleaseGoal(rules.bounds, rules.also, least=least)
    mechanism = "cells+mix" if isinstance(rules.treatment, Mixing) else "cells"
    return ReleaseGoal(rules.bounds, rules.also, mechanism=mechanism, least=rules.least)


def question_of_rules(question: Question, rules: ReleaseRules) -> Question:
    """The question that an earlier release answered, asked of another table, weighted by the same column."""
    if question.weight not in (None, rules.weight):
        words = "the earlier release did not weigh records by '{name}': leave out {weight}, or make the rules anew"
        raise ArgumentError(sentence(words, name=question.weight, weight=Setting("weight", question.weight)))
    secret = {rules.secret[0]: rules.secret_values} if rules.secret_values else rules.secret
    known = rules.code.known if rules.code is not None and rules.code.known else None
    return replace(
        question, secret=secret, released=rules.released, keep_id=rules.released, known=known, weight=rules.weight
    )
