"""Models of every fold, and what they say about records they never saw; without scikit-learn, which loads slowly."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tacit.learn.arrays import Codes, Floats, one_thread
from tacit.learn.crossfitting.blending import best_weights, blend
from tacit.learn.crossfitting.candidates import LEARNERS, FoldModel, Learner, Lesson, View, what_it_reads
from tacit.learn.crossfitting.folds import fold_of_each, learn_and_check
from tacit.learn.encoding import Encoder, Features, cells_of_frame, frame_of
from tacit.learn.evidence import EvidenceApart, evidence_apart, information_of

Progress = Callable[[str, float | None], None]


def shown(progress: Progress | None, stage: str, at: int, of: int) -> Callable[[float], None]:
    """A callback that tells ``progress`` how much is done of a stage of ``of`` equal parts, ``at`` already done."""

    def show(share: float) -> None:
        if progress is not None:
            progress(stage, (at + share) / of)

    return show


@dataclass(frozen=True)
class FoldLesson:
    """Encoded records with their secrets, the shares of these, and the fold of each record."""

    encoder: Encoder
    features: Features
    secret: Codes
    prior: Floats
    fold: Codes


def trained(
    learners: Mapping[str, Learner],
    lesson: FoldLesson,
    random_state: np.random.Generator,
    stage: str,
    progress: Progress | None,
    *,
    folds: Sequence[int] | None = None,
) -> tuple[dict[str, list[FoldModel]], Floats]:
    """A model for every learner and fold, and what it says about its fold: learners x records x secrets.

    With ``folds`` only of these; of the records of others nothing is said.
    """
    encoder, features, secret, prior = lesson.encoder, lesson.features, lesson.secret, lesson.prior
    view = View(encoder, features)
    chosen = range(int(lesson.fold.max()) + 1) if folds is None else folds
    rows_of = [np.flatnonzero(lesson.fold == k) for k in chosen]
    apart = [View(encoder, features.rows(rows)) for rows in rows_of]
    parts = [learn_and_check(lesson.fold, k, secret, random_state) for k in chosen]
    models, lifts = {}, np.zeros((len(learners), len(secret), len(prior)))
    for at, (name, learner) in enumerate(learners.items()):
        show = shown(progress, f"{stage}: {learner.title}", at, len(learners))
        models[name] = learner.train(Lesson(view, secret, prior, parts, random_state, show))
        for model, rows, records in zip(models[name], rows_of, apart, strict=True):
            lifts[at, rows] = model.log_posterior(what_it_reads(name, records)) - np.log(prior)
    return models, lifts


def out_of_fold(lifts: Floats, secret: Codes, fold: Codes, prior: Floats) -> Floats:
    """Blended log-lifts of records, with weights that their fold had no part in."""
    out = np.empty(lifts.shape[1:])
    for k in range(int(fold.max()) + 1):
        here = fold == k
        out[here] = blend(lifts[:, here], best_weights(lifts[:, ~here], secret[~here], prior), prior)
    return out


def blended_evenly(lifts: Floats, prior: Floats) -> Floats:
    """Blended log-lifts with fixed weights: nothing about them was chosen by looking at a secret."""
    return blend(lifts, np.full(len(lifts), 1 / len(lifts)), prior)


def evidence_by(
    learners: Sequence[str],
    frame: Any,
    secret: NDArray[Any],
    *,
    folds: int,
    random_state: int,
    progress: Progress | None = None,
) -> EvidenceApart:
    """What learners, cross-fitted to the records of a frame, say about held-out ones.

    Guarantees
    ----------
    That of ``evidence_apart``. The same as ``AutoLogLift`` with these learners, ``folds`` and ``random_state`` gives
    by ``evidence_of``.
    """
    codes = np.unique(secret, return_inverse=True)[1]
    prior = np.bincount(codes) / len(codes)
    cells = cells_of_frame(frame_of(frame), as_category=frozenset())
    encoder = Encoder.learn(cells)
    rng = np.random.default_rng(np.random.RandomState(random_state).randint(2**31))
    with one_thread():
        fold = fold_of_each(codes, min(folds, max(2, len(codes) // 2)), rng)
        lesson = FoldLesson(encoder, encoder.encode(cells), codes, prior, fold)
        view = View(encoder, lesson.features)
        suited = {name: LEARNERS[name] for name in learners if LEARNERS[name].suits(view)}
        suited = suited or {name: LEARNERS[name] for name in learners}
        _, lifts = trained(suited, lesson, rng, "learning", progress)
        out = out_of_fold(lifts, codes, fold, prior)
    apart = evidence_apart(blended_evenly(lifts, prior), codes, fold, random_state=random_state)
    return EvidenceApart(information_of(out, codes), apart.null_high, apart.p_value, apart.verdict)
