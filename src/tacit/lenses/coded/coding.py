"""Records in codes: the code, what each code shows, and how well a reader and an adversary fare with it."""

from __future__ import annotations

import secrets as secure
from dataclasses import dataclass
from typing import Any

import numpy as np

from tacit.codes.vectors.codebook import means_of
from tacit.document import Progress
from tacit.errors import ArgumentError, Setting, sentence
from tacit.learn.arrays import Codes, Flags, Floats
from tacit.lenses.adversaries import scored
from tacit.lenses.coded.parts import Units
from tacit.lenses.coded.planning import CodedBound, ProvedPlan, proved_plan
from tacit.lenses.coded.projecting import Projection
from tacit.release.certificate import AdversaryScore
from tacit.release.kept import CodedUse
from tacit.requests import Bound, Coding

CONFIDENCE = 0.95


@dataclass(frozen=True, eq=False)
class CodedRecords:
    """Units, the part that the code was made from, their vectors and the code that was proved."""

    units: Units
    design: Flags
    projection: Projection
    vectors: Floats
    proved: ProvedPlan
    order: Codes

    @property
    def released(self) -> Codes:
        """The released code of every unit."""
        return self.proved.released

    def shown(self, values: Floats) -> Floats:
        """What each code shows: the mean over the design part of ``values``, one row for each unit."""
        return code_means(values, self.proved.plan.book.codes(self.vectors), self.design, self.proved.plan.channel)


def code_means(values: Floats, codes: Codes, design: Flags, channel: Floats | None) -> Floats:
    """The mean row of each released code over the design part; a channel mixes those that it mixes."""
    count = int(codes.max()) + 1 if channel is None else len(channel)
    means = means_of(values[design], codes[design], count)
    if channel is None:
        return means
    flow = np.bincount(codes[design], minlength=count)[:, None] * channel
    total = flow.sum(axis=0)
    return np.asarray((flow.T @ means) / np.where(total > 0, total, 1.0)[:, None])


def asked_bound(bound: Bound, coding: Coding) -> CodedBound:
    """What a coded release is asked."""
    confidence = CONFIDENCE if bound.confidence is None else bound.confidence
    if bound.epsilon is None and coding.ceiling is None:
        words = "say how much may be given away: {epsilon}, in nats, or how often anybody may guess right, {ceiling}"
        settings = {"epsilon": Setting("epsilon", 1), "ceiling": Setting("ceiling", 0.6)}
        raise ArgumentError(sentence(words, **settings))
    return CodedBound(bound.epsilon, coding.ceiling, bound.least, 1 - confidence)


def coded(
    units: Units,
    design: Flags,
    projection: Projection,
    rows: Any,
    bound: CodedBound,
    *,
    key: bytes,
    random_state: int,
    repeatable: bool,
    progress: Progress,
) -> CodedRecords:
    """The units of ``rows`` in codes; see :func:`proved_plan` for what is guaranteed."""
    largest = float(np.bincount(units.secret).max() / len(units))
    if bound.ceiling is not None and bound.ceiling <= largest:
        words = "always the commonest is right {prior:.1%} of the time, so {ceiling} cannot be kept: ask for more"
        raise ArgumentError(sentence(words, prior=largest, ceiling=Setting("ceiling", bound.ceiling)))
    vectors = units.means(projection(rows))
    proved = proved_plan(units, vectors, design, bound, key=key, random_state=random_state, progress=progress)
    return CodedRecords(units, design, projection, vectors, proved, _shuffled(len(units), random_state, repeatable))


def _shuffled(n: int, random_state: int, repeatable: bool) -> Codes:
    """Which unit stands at each place of the release: an order that tells nothing."""
    if repeatable:
        return np.random.default_rng([random_state, 1]).permutation(n)
    order = list(range(n))
    secure.SystemRandom().shuffle(order)
    return np.array(order, dtype=np.int64)


def halves(design: Flags) -> tuple[Codes, Codes]:
    """Of the units that the code was not made from: those that readers and adversaries learn from, and the others."""
    apart = np.flatnonzero(~design)
    return apart[::2], apart[1::2]


def adversary_scores(made: CodedRecords) -> tuple[AdversaryScore, ...]:
    """What is guessed of the secret from the vectors, from the codes as if they were vectors, and from the codes."""
    before, after, again, n = _right(made, made.units.secret)
    return (scored("linear; a table of codes", (before, after, again), of=n),)


def use_score(made: CodedRecords, column: str) -> CodedUse | None:
    """How well a reader tells the use from a code, beside what the vectors as they were tell."""
    use = made.units.use
    if use is None:
        return None
    before, _, again, n = _right(made, use)
    learn, test = halves(made.design)
    prior = int((use[test] == np.bincount(use[learn]).argmax()).sum())
    return CodedUse(column, before / n, again / n, prior / n, n)


def _right(made: CodedRecords, label: Codes) -> tuple[int, int, int, int]:
    """Right guesses of a label: by a linear reader of vectors, by the same one of the codes' means, by a table."""
    from sklearn.linear_model import LogisticRegression
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import StandardScaler

    learn, test = halves(made.design)
    reader = make_pipeline(StandardScaler(), LogisticRegression(max_iter=500)).fit(made.vectors[learn], label[learn])
    before = int((reader.predict(made.vectors[test]) == label[test]).sum())
    means = made.shown(made.vectors)
    after = int((reader.predict(means[made.released[test]]) == label[test]).sum())
    table = np.zeros((len(means), int(label.max()) + 1))
    np.add.at(table, (made.released[learn], label[learn]), 1)
    guess = np.where(table.any(axis=1), table.argmax(axis=1), np.bincount(label[learn]).argmax())
    return before, after, int((guess[made.released[test]] == label[test]).sum()), len(test)
