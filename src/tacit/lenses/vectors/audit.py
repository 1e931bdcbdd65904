"""``audit`` of vectors: what readers learn from them about a label, and along which directions."""

from __future__ import annotations

from typing import Any

import numpy as np

from tacit import __version__
from tacit.document import Progress, Share
from tacit.errors import DataError, Sentence, sentence
from tacit.learn import binomial_limits, evidence_apart, fold_of_each
from tacit.learn.arrays import Codes, Floats
from tacit.lenses.bench.trying import FOLDS, first_of_each
from tacit.lenses.coded.projecting import principal
from tacit.lenses.facts import secret_values
from tacit.lenses.vectors.answers import Direction, Probe, VectorAuditResult
from tacit.lenses.vectors.vectors import Vectors, read_vectors, secret_of
from tacit.lift import LEVEL, Verdict
from tacit.requests import Look, Question

# Directions that are listed one by one, and those that the second probe reads.
_SHOWN, _READ = 10, 50
_LEAST_OF_A_SECRET = 6


def audit_vectors(question: Question, look: Look, *, progress: Progress) -> VectorAuditResult:
    """Measure what vectors give away about a label; the requests say what each setting means.

    Guarantees
    ----------
    Every vector is read by probes that learned from others. If the label has nothing to do with the vectors, the
    verdict is "leak" in at most 5% of collections: each probe has half of that. Nothing is certified about one vector.
    """
    vectors = read_vectors(question)
    secret, codes, values = secret_of(vectors, question)
    if np.bincount(codes).min() < _LEAST_OF_A_SECRET:
        raise DataError(f"a value of '{secret}' has fewer than {_LEAST_OF_A_SECRET} vectors: gather more, or merge it")
    fold = fold_of_each(codes, FOLDS, np.random.default_rng(look.random_state))
    fold = fold[first_of_each(row.tobytes() for row in vectors.rows)]
    probes = []
    for name, make in (("linear", _linear), ("trees", _trees)):
        progress(f"training {name}", None)
        probes.append(_probed(name, make, vectors.rows, codes, fold, look.random_state))
    prior = float(np.bincount(codes).max() / len(codes))
    leak = any(probe.p_value <= LEVEL / len(probes) for probe in probes)
    unsure = all(probe.verdict == "cannot tell" for probe in probes)
    verdict: Verdict = "leak" if leak else "cannot tell" if unsure else "no leak detected"
    return VectorAuditResult(
        source=vectors.name,
        column=vectors.column,
        vectors=len(vectors.rows),
        length=vectors.rows.shape[1],
        secret=secret,
        secrets=secret_values(np.array(values), np.bincount(codes)),
        verdict=verdict,
        headline=_headline(vectors, secret, probes, prior, verdict),
        prior=prior,
        probes=tuple(probes),
        directions=_directions(vectors, codes, look.random_state),
        random_state=look.random_state,
        tacit_version=__version__,
        labels=None if question.labels is None else str(question.labels),
    )


def _linear(rows: Floats, codes: Codes, random_state: int) -> Any:
    from sklearn.linear_model import LogisticRegression
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import StandardScaler

    return make_pipeline(StandardScaler(), LogisticRegression(C=0.1, max_iter=500, random_state=random_state))


def _trees(rows: Floats, codes: Codes, random_state: int) -> Any:
    from sklearn.decomposition import PCA
    from sklearn.ensemble import HistGradientBoostingClassifier
    from sklearn.pipeline import make_pipeline

    sizes = np.bincount(codes)[np.unique(codes)]
    # A tenth is set aside to stop early, and must hold every secret.
    stops = bool(len(codes) > 10 * (len(sizes) - 1) and sizes.min() > 1)
    trees = HistGradientBoostingClassifier(max_iter=100, early_stopping=stops, random_state=random_state)
    if rows.shape[1] <= _READ:
        return trees
    return make_pipeline(PCA(min(_READ, len(rows)), svd_solver="randomized", random_state=random_state), trees)


def _probed(name: str, make: Any, rows: Floats, codes: Codes, fold: Codes, random_state: int) -> Probe:
    """What a probe says about vectors that it did not learn from."""
    count = int(codes.max()) + 1
    lift, right = np.zeros((len(codes), count)), 0
    for k in range(FOLDS):
        learn, apart = fold != k, fold == k
        tool = make(rows[learn], codes[learn], random_state).fit(rows[learn], codes[learn])
        posterior = np.full((int(apart.sum()), count), 1e-12)
        posterior[:, tool.classes_] = np.clip(tool.predict_proba(rows[apart]), 1e-12, 1)
        prior = np.maximum(np.bincount(codes[learn], minlength=count) / learn.sum(), 1e-12)
        lift[apart] = np.log(posterior / prior)
        right += int((posterior.argmax(axis=1) == codes[apart]).sum())
    evidence = evidence_apart(lift, codes, fold, random_state=random_state)
    low, high = binomial_limits(right, len(codes))
    return Probe(name, right / len(codes), low, high, **vars(evidence))


def _directions(vectors: Vectors, codes: Codes, random_state: int) -> tuple[Direction, ...]:
    """What each direction in which the vectors vary most tells by itself."""
    projection = principal(vectors.rows, most=_SHOWN, random_state=random_state)
    along = projection(vectors.rows)
    total = float(((vectors.rows - vectors.rows.mean(axis=0)) ** 2).sum())
    marks = np.eye(int(codes.max()) + 1)[codes]
    sizes = marks.sum(axis=0)
    out = []
    for at in range(along.shape[1]):
        line = along[:, at] - along[:, at].mean()
        whole = float((line**2).sum())
        means = marks.T @ line / sizes
        out.append(Direction(at + 1, whole / max(total, 1e-300), float((sizes * means**2).sum()) / max(whole, 1e-300)))
    return tuple(out)


def _headline(vectors: Vectors, secret: str, probes: list[Probe], prior: float, verdict: Verdict) -> Sentence:
    best = max(probes, key=lambda probe: probe.right)
    words = "Cannot tell: {n:,} vectors are too few to tell a leak about '{secret}' from chance."
    if verdict == "no leak detected":
        words = "No leak about '{secret}' detected in {n:,} vectors; {guessed}."
    if verdict == "leak":
        words = "The vectors give away '{secret}': {guessed}."
    guessed = sentence(
        "a reader ({name}) guesses {right} right where always guessing the commonest is right {prior} of the time",
        name=best.name,
        right=Share(best.right),
        prior=Share(prior),
    )
    return sentence(words, secret=secret, n=len(vectors.rows), guessed=guessed)
