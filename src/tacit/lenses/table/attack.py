"""``attack``: train adversaries on the original and let them guess the secret from the release."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from tacit.document import Progress, silent
from tacit.errors import DataError
from tacit.lenses.table.answers.attack import AttackResult, AttackVerdict
from tacit.lenses.table.verify import compare, open_release, output_joints, question_of
from tacit.lift import Joint, guessing_bound, guessing_probability
from tacit.release.certificate import AdversaryScore, LearnedCertificate, TableCertificate
from tacit.release.claims import NOTHING_POINTWISE

if TYPE_CHECKING:
    import pyarrow as pa

HOLDOUT = 0.3
# A column of more levels than this is a number or a name to a tree, not a category.
MOST_CATEGORIES = 200
CONFIDENCE = 0.95
_LEARNED_NOTES = (
    "An adversary that fails proves nothing. The certificate proves something of merged records alone; what the others "
    f"give away is an estimate. {NOTHING_POINTWISE}",
    "The best possible is counted on this very table: it is what somebody reaches who has the table at hand and looks "
    "the kept records up in it.",
)

Labels = NDArray[Any]


def attack(
    release: str | Path,
    *,
    against: Any,
    records: int = 50_000,
    random_state: int = 0,
    engine: str = "duckdb",
    progress: Progress = silent,
) -> AttackResult:
    """Measure how well trained adversaries guess the secret before and after.

    Each adversary is trained on part of the original records with their secrets, and guesses the secrets of records it
    has not seen: from the original columns (before), from the release (after), and from the release when it was
    itself trained on released records beside their secrets (retrained), which is the most an adversary can hope for.

    Parameters
    ----------
    release, against
        As in ``verify``.
    records : int
        Records to work on, evenly spaced over the table.
    random_state : int
        Seed of the split and of the adversaries.

    Guarantees
    ----------
    None: an adversary that fails proves nothing. ``optimal_after`` is the best any adversary can do on this table.
    Of a learned release nothing is promised record by record, so the adversaries are held against its estimate, and
    the verdict says so.
    """
    from threadpoolctl import threadpool_limits

    opened = open_release(release, engine=engine)
    certificate = opened.certificate
    question = question_of(certificate, against, engine=engine)
    if question.original.row_count() != opened.data.row_count():
        raise DataError(
            f"{question.original.name} has {question.original.row_count():,} records, the release "
            f"{opened.data.row_count():,}: it is not the original of this release"
        )
    progress("comparing row by row", None)
    seen = compare(opened, question)
    progress("training adversaries", None)
    kinds = {c.name: c.kind for c in question.original.columns}
    raw = question.original.sample([*certificate.secret, *certificate.released], records)
    coarse = question.table.sample(list(certificate.released), records)
    after = opened.data.sample(list(certificate.released), records)
    secret = _labels(raw.select(list(certificate.secret)))
    train, test = _split(secret, random_state)
    cut = {made.column for made in certificate.cuts}
    # A learned release keeps numbers as they are, and an adversary reads them as numbers.
    shown = {name: kind for name, kind in kinds.items() if certificate.kind == "learned" and name not in cut}
    views = (
        _features([raw, raw], certificate.released, kinds),
        _features([coarse, after], certificate.released, shown),
        _features([after, after], certificate.released, shown),
    )
    adversaries = []
    # On a busy machine the threads of the boosted trees wait for each other three times as long as they work.
    with threadpool_limits(limits=1):
        for name, make in _adversaries(random_state):
            progress(f"training {name}", None)
            guesses = [_guess(make, *view, secret, train, test) for view in views]
            adversaries.append(_adversary(name, guesses, secret[test]))
    joint = seen.original.joint
    released = output_joints(opened, seen)[0]
    return _result(release, question.original.name, certificate, joint, released, adversaries, train, test)


def _labels(table: pa.Table) -> Labels:
    columns = [[_text(value) for value in column.to_pylist()] for column in table.columns]
    return np.array([" / ".join(values) for values in zip(*columns, strict=True)])


def _text(value: Any) -> str:
    return "(missing)" if value is None else str(value)


def _split(secret: Labels, random_state: int) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    from sklearn.model_selection import train_test_split

    _, frequency = np.unique(secret, return_counts=True)
    train, test = train_test_split(
        np.arange(len(secret)),
        test_size=HOLDOUT,
        random_state=random_state,
        # A secret seen once cannot be on both sides.
        stratify=secret if frequency.min() > 1 else None,
    )
    return train, test


def _features(
    tables: Sequence[Any], columns: Sequence[str], kinds: Mapping[str, str]
) -> tuple[NDArray[np.float64], NDArray[np.float64], list[bool]]:
    """The two tables as numbers: measured quantities as they are, everything else as codes they share."""
    blocks: list[list[NDArray[np.float64]]] = [[] for _ in tables]
    categorical = []
    for name in columns:
        values = [table.column(name).to_pylist() for table in tables]
        if kinds.get(name) == "number":
            for block, column in zip(blocks, values, strict=True):
                numbers = np.array([math.nan if v is None else float(v) for v in column])
                block.append(np.zeros(len(numbers)) if np.isnan(numbers).all() else numbers)
            categorical.append(False)
            continue
        texts = [[_text(v) for v in column] for column in values]
        codes = {text: k for k, text in enumerate(sorted({text for column in texts for text in column}))}
        for block, column in zip(blocks, texts, strict=True):
            block.append(np.array([codes[text] for text in column], dtype=np.float64))
        categorical.append(len(codes) <= MOST_CATEGORIES)
    first, second = (np.column_stack(block) for block in blocks)
    return first, second, categorical


def _adversaries(random_state: int) -> list[tuple[str, Any]]:
    from sklearn.compose import ColumnTransformer
    from sklearn.ensemble import HistGradientBoostingClassifier
    from sklearn.impute import SimpleImputer
    from sklearn.linear_model import LogisticRegression
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import OneHotEncoder, StandardScaler

    def boosted(categorical: list[bool]) -> Any:
        return HistGradientBoostingClassifier(
            categorical_features=categorical, early_stopping=True, random_state=random_state
        )

    def logistic(categorical: list[bool]) -> Any:
        named = [j for j, is_category in enumerate(categorical) if is_category]
        measured = [j for j, is_category in enumerate(categorical) if not is_category]
        return make_pipeline(
            ColumnTransformer(
                [
                    ("named", OneHotEncoder(handle_unknown="ignore"), named),
                    ("measured", make_pipeline(SimpleImputer(), StandardScaler()), measured),
                ]
            ),
            LogisticRegression(max_iter=500),
        )

    def lookup(categorical: list[bool]) -> Any:
        return Lookup()

    return [("boosted trees", boosted), ("logistic regression", logistic), ("lookup table", lookup)]


class Lookup:
    """The adversary of the definitions: the commonest secret among the records with exactly this value."""

    def fit(self, X: NDArray[np.float64], s: Labels) -> Lookup:
        """Remember the commonest secret of every value."""
        secrets, code = np.unique(s, return_inverse=True)
        values, value = np.unique(X, axis=0, return_inverse=True)
        table = np.bincount(value * len(secrets) + code, minlength=len(values) * len(secrets))
        best = secrets[table.reshape(len(values), len(secrets)).argmax(axis=1)]
        self.guess_ = {row.tobytes(): guess for row, guess in zip(values, best, strict=True)}
        self.prior_ = secrets[np.bincount(code).argmax()]
        return self

    def predict(self, X: NDArray[np.float64]) -> Labels:
        """The remembered secret, or the commonest of all for a value never seen."""
        values, value = np.unique(X, axis=0, return_inverse=True)
        guesses = np.array([self.guess_.get(row.tobytes(), self.prior_) for row in values])
        return guesses[value]


def _guess(
    make: Any,
    clean: NDArray[np.float64],
    seen: NDArray[np.float64],
    categorical: list[bool],
    secret: Labels,
    train: NDArray[np.int64],
    test: NDArray[np.int64],
) -> Labels:
    model = make(categorical).fit(clean[train], secret[train])
    return np.asarray(model.predict(seen[test]))


def _adversary(name: str, guesses: Sequence[Labels], truth: Labels) -> AdversaryScore:
    right = [int((guess == truth).sum()) for guess in guesses]
    shares = [count / len(truth) for count in right]
    limits = [binomial_interval(count, len(truth)) for count in right]
    return AdversaryScore(name, shares[0], limits[0], shares[1], limits[1], shares[2], limits[2])


def binomial_interval(successes: int, trials: int, *, confidence: float = CONFIDENCE) -> tuple[float, float]:
    """Exact (Clopper-Pearson) two-sided limits of a probability."""
    from scipy.stats import beta

    tail = (1 - confidence) / 2
    low = float(beta.ppf(tail, successes, trials - successes + 1)) if successes else 0.0
    high = float(beta.ppf(1 - tail, successes + 1, trials - successes)) if successes < trials else 1.0
    return low, high


def _result(
    release: str | Path,
    against: str,
    certificate: TableCertificate,
    original: Joint,
    released: Joint,
    adversaries: Sequence[AdversaryScore],
    train: NDArray[np.int64],
    test: NDArray[np.int64],
) -> AttackResult:
    prior = float(original.prior.max())
    learned = certificate.kind == "learned"
    estimated = certificate.estimated_epsilon if isinstance(certificate, LearnedCertificate) else 0.0
    reached = max(certificate.attained_epsilon, estimated)
    ruled_out = math.inf if math.isinf(certificate.bounds.low) else None
    bound = guessing_bound(original.prior, reached, epsilon_low=ruled_out)
    before = max(a.before for a in adversaries)
    after = max(max(a.after, a.retrained) for a in adversaries)
    # Several adversaries get several chances to be lucky: the interval is widened for all of them together.
    level = 1 - (1 - CONFIDENCE) / (2 * len(adversaries))
    low = binomial_interval(round(after * len(test)), len(test), confidence=level)[0]
    verdict: AttackVerdict = "within the estimate" if learned else "within the promise"
    if low > bound:
        verdict = "beyond the estimate" if learned else "promise broken"
    elif low <= prior:
        verdict = "not detectably better than the prior"
    return AttackResult(
        release=str(release),
        against=against,
        trained_on=len(train),
        tested_on=len(test),
        prior_guess=prior,
        best_before=before,
        best_after=after,
        gain_before=before - prior,
        gain_after=after - prior,
        guessing_bound=bound,
        optimal_before=guessing_probability(original),
        optimal_after=guessing_probability(released),
        adversaries=tuple(adversaries),
        verdict=verdict,
        headline=(
            f"Always guessing the commonest secret is right {prior:.1%} of the time; the best adversary reaches "
            f"{before:.1%} on the original and {after:.1%} on the release."
        ),
        notes=(
            *(_LEARNED_NOTES if learned else ("An adversary that fails proves nothing; the certificate does.",)),
            "'before' sees the original columns; 'retrained' learned from released records and their secrets.",
        ),
        bound_kind="estimate" if learned else "promise",
    )
