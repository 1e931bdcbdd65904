"""Records in codes: the code, what each code shows, and how well a reader and an adversary fare with it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from tacit.codes.vectors.codebook import means_of
from tacit.document import Progress
from tacit.errors import ArgumentError, NotCertifiedError, Setting, sentence
from tacit.learn.arrays import Codes, Flags, Floats
from tacit.lenses.adversaries import scored
from tacit.lenses.coded.parts import Parts, Units, shuffled
from tacit.lenses.coded.planning import CodedBound, ProvedPlan, proved_plan
from tacit.lenses.coded.projecting import Projection
from tacit.release.certificate import AdversaryScore
from tacit.release.kept import CodedUse
from tacit.requests import Bound, Coding, Question

CONFIDENCE = 0.95
# Records that differ by less than this share of the whole variance are nearly the same.
NEARLY_ONE = 0.005


@dataclass(frozen=True, eq=False)
class CodedRecords:
    """Units, the part that the code was made from, their vectors and the code that was proved."""

    units: Units
    parts: Parts
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
        return code_means(
            values, self.proved.plan.book.codes(self.vectors), self.parts.design, self.proved.plan.channel
        )


def code_means(values: Floats, codes: Codes, design: Flags, channel: Floats | None) -> Floats:
    """The mean row of each released code over the design part, mixed as the channel mixes the codes."""
    count = int(codes.max()) + 1 if channel is None else len(channel)
    means = means_of(values[design], codes[design], count)
    if channel is None:
        return means
    flow = np.bincount(codes[design], minlength=count)[:, None] * channel
    total = flow.sum(axis=0)
    return np.asarray((flow.T @ means) / np.where(total > 0, total, 1.0)[:, None])


def one_use(question: Question) -> str | None:
    """The column that a reader wants to tell."""
    names = tuple(question.use or ())
    if len(names) > 1:
        raise ArgumentError("images, posts and vectors in codes keep one use: name one column")
    return names[0] if names else None


def shares_told(values: Floats, codes: Codes, parts: Parts, channel: Floats | None) -> Floats:
    """How much the design units behind each code differ, as a share of how much all design units do.

    If that is next to nothing, the code shows almost an original, however many share it.
    """
    count = int(codes.max()) + 1 if channel is None else len(channel)
    rows, own = values[parts.design], codes[parts.design]
    squares = means_of((rows**2).sum(axis=1, keepdims=True), own, count)
    means, flow = means_of(rows, own, count), np.bincount(own, minlength=count)[:, None] * _as_drawn(channel, count)
    total = np.where(flow.sum(axis=0) > 0, flow.sum(axis=0), 1.0)[:, None]
    within = ((flow.T @ squares) / total)[:, 0] - (((flow.T @ means) / total) ** 2).sum(axis=1)
    apart = float(((rows - rows.mean(axis=0)) ** 2).sum(axis=1).mean())
    used = flow.sum(axis=0) > 0
    return np.where(used, within / max(apart, np.finfo(np.float64).tiny), 1.0)


def _as_drawn(channel: Floats | None, count: int) -> Floats:
    return np.eye(count) if channel is None else channel


def refuse_originals(records: CodedRecords, values: Floats) -> None:
    """Refuse codes that would show an original almost unchanged; ``values`` has a row for each unit."""
    own = records.proved.plan.book.codes(records.vectors)
    bare = int((shares_told(values, own, records.parts, records.proved.plan.channel) < NEARLY_ONE).sum())
    if bare:
        raise NotCertifiedError(
            f"{bare:,} codes would show an original nearly as it is, since all that they are made of are nearly alike: "
            "take out near copies, or name the column that says whose each is; nothing was written"
        )


def asked_bound(bound: Bound, coding: Coding) -> CodedBound:
    """The bound that a coded release is asked to keep."""
    confidence = CONFIDENCE if bound.confidence is None else bound.confidence
    if bound.epsilon is None and coding.ceiling is None:
        words = "say how much may be given away: {epsilon}, in nats, or how often anybody may guess right, {ceiling}"
        settings = {"epsilon": Setting("epsilon", 1), "ceiling": Setting("ceiling", 0.6)}
        raise ArgumentError(sentence(words, **settings))
    return CodedBound(bound.epsilon, coding.ceiling, bound.least, 1 - confidence)


def coded(
    units: Units,
    parts: Parts,
    projection: Projection,
    rows: Any,
    bound: CodedBound,
    *,
    key: bytes,
    random_state: int,
    progress: Progress,
) -> CodedRecords:
    """The units of ``rows`` in codes; see :func:`proved_plan` for what is guaranteed."""
    largest = float(np.bincount(units.secret).max() / len(units))
    if bound.ceiling is not None and bound.ceiling <= largest:
        words = (
            "always guessing the commonest is right {prior:.1%} of the time, so {ceiling} cannot be kept: ask for more"
        )
        raise ArgumentError(sentence(words, prior=largest, ceiling=Setting("ceiling", bound.ceiling)))
    vectors = units.means(projection(rows))
    proved = proved_plan(units, vectors, parts, bound, key=key, random_state=random_state, progress=progress)
    return CodedRecords(units, parts, projection, vectors, proved, shuffled(len(units), key))


def halves(parts: Parts) -> tuple[Codes, Codes]:
    """The units that the code was not made from: those that readers and adversaries learn from, and the others."""
    apart = np.flatnonzero(parts.apart)
    return apart[::2], apart[1::2]


def adversary_scores(records: CodedRecords) -> tuple[AdversaryScore, ...]:
    """How often the secret is guessed from the vectors, from the codes as if they were vectors, and from the codes."""
    before, after, again, n = _right(records, records.units.secret)
    return (scored("linear; a table of codes", (before, after, again), of=n),)


def use_score(records: CodedRecords, column: str) -> CodedUse | None:
    """How well a reader tells the use from a code, and from the original vectors."""
    use = records.units.use
    if use is None:
        return None
    before, _, again, n = _right(records, use)
    learn, test = halves(records.parts)
    prior = int((use[test] == np.bincount(use[learn]).argmax()).sum())
    return CodedUse(column, before / n, again / n, prior / n, n)


def _right(records: CodedRecords, label: Codes) -> tuple[int, int, int, int]:
    """Right guesses of a label: by a linear reader of vectors, by the same one of the codes' means, by a table."""
    from sklearn.linear_model import LogisticRegression
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import StandardScaler

    learn, test = halves(records.parts)
    reader = make_pipeline(StandardScaler(), LogisticRegression(max_iter=500)).fit(records.vectors[learn], label[learn])
    before = int((reader.predict(records.vectors[test]) == label[test]).sum())
    means = records.shown(records.vectors)
    after = int((reader.predict(means[records.released[test]]) == label[test]).sum())
    table = np.zeros((len(means), int(label.max()) + 1))
    np.add.at(table, (records.released[learn], label[learn]), 1)
    guess = np.where(table.any(axis=1), table.argmax(axis=1), np.bincount(label[learn]).argmax())
    return before, after, int((guess[records.released[test]] == label[test]).sum()), len(test)
