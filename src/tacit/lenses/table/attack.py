"""``attack``: train adversaries on the original and let them guess the secret from the release."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from tacit.document import Progress, listed, silent
from tacit.document.quantities import share
from tacit.errors import DataError
from tacit.learn import binomial_limits
from tacit.lenses.adversaries import scored
from tacit.lenses.table.answers.attack import AttackResult, AttackVerdict
from tacit.lenses.table.certifying import given_joint
from tacit.lenses.table.linkage.adversary import linked
from tacit.lenses.table.linkage.levels import fittings_of
from tacit.lenses.table.linkage.results import LinkageFinding
from tacit.lenses.table.middle import in_two
from tacit.lenses.table.question import TableQuestion
from tacit.lenses.table.tabulating import Counted
from tacit.lenses.table.verify import TableRelease, compare, open_release, output_joints, question_of
from tacit.lift import SLACK, Vector, guessing_bound, guessing_probability
from tacit.release.certificate import AdversaryScore, CountedCertificate, best_guesses
from tacit.requests import AttackRequest

if TYPE_CHECKING:
    import pyarrow as pa

HOLDOUT = 0.3
# A column of more levels than this is a number or a name to a tree, not a category.
MOST_CATEGORIES = 200

_NUMBERS = ("Of a number it is guessed on which side of its middle it is.",)

Labels = NDArray[Any]
Features = NDArray[np.float64]
# What an adversary is trained on, what it then sees, and which of the columns are categories.
View = tuple[Features, Features, list[bool]]
Rows = NDArray[np.int64]


def attack_table(asked: AttackRequest, *, progress: Progress = silent) -> AttackResult:
    """Measure how well trained adversaries guess the secret before and after; ``tacit.attack`` says how.

    Guarantees
    ----------
    None: an adversary that fails proves nothing. ``optimal_after`` is the best any adversary can do on this table who
    sees one row and knows nothing else, and the verdict goes by it where it is more than the trained ones reach.
    """
    release = in_two(open_release(asked.release, engine=asked.engine), asked.against, engine=asked.engine)
    certificate = release.certificate
    question = question_of(release, asked.against, engine=asked.engine)
    original = question.original
    if original.row_count() != release.data.row_count():
        raise DataError(
            f"{original.name} has {original.row_count():,} records, the release {release.data.row_count():,}: it is "
            "not the original of this release"
        )
    progress("comparing row by row", None)
    rows = compare(release, question)
    progress("training adversaries", None)
    secret, views = _views(release, question, asked.records)
    train, test = _split(secret, asked.random_state)
    scores = _scores(views, secret, train, test, random_state=asked.random_state, progress=progress)
    progress("looking for people", None)
    fittings = None if release.code is None else fittings_of(release.code)
    findings = linked(question, release.data, tuple(asked.known or ()), fittings=fittings)
    joint = rows.original.joint
    prior, (before, after) = float(joint.prior.max()), best_guesses(scores)
    bound, best = _bound(certificate, joint.prior), guessing_probability(output_joints(release, rows)[0])
    reached = _Reached(prior, after, len(test), best, exact=release.rules is not None or certificate.in_cells)
    return AttackResult(
        release=str(asked.release),
        against=original.name,
        trained_on=len(train),
        tested_on=len(test),
        prior_guess=prior,
        best_before=before,
        best_after=after,
        gain_before=before - prior,
        gain_after=after - prior,
        guessing_bound=bound,
        optimal_before=_possible_before(certificate, rows.original),
        optimal_after=best,
        adversaries=tuple(scores),
        verdict=_verdict(reached, len(scores), bound=bound, findings=findings),
        headline=_headline(reached, before, findings),
        notes=(
            "An adversary that fails proves nothing; the certificate does.",
            "'before' sees the original columns; 'retrained' learned from released records and their secrets.",
            "What is promised is of somebody who sees one row and knows nothing else of the person.",
            *_NUMBERS[: certificate.thresholds is not None],
        ),
        linkage=findings,
    )


def _possible_before(certificate: CountedCertificate, counted: Counted) -> float:
    """How often the best guess from the table as it was given is right: cells are no longer that table."""
    told = {each.name: each.before for each in certificate.measures}.get("guessing_probability")
    if certificate.thresholds is not None:
        given = given_joint(counted)
        told = None if given is None else guessing_probability(given)
    return guessing_probability(counted.joint) if told is None else told


def _views(release: TableRelease, question: TableQuestion, records: int) -> tuple[Labels, Sequence[View]]:
    """The secrets of some records, and what an adversary sees of them before, after and retrained."""
    certificate, original = release.certificate, question.original
    secrets, released = list(certificate.secret), list(certificate.released)
    # The secret is what the claim is about: in groups, where it was cut or only some of its values are secret.
    secret, raw = question.table.sample(secrets, records), original.sample(released, records)
    coarse, after = question.table.sample(released, records), release.data.sample(released, records)
    kinds = {column.name: column.kind for column in original.columns}
    views = (
        _features(raw, raw, released, kinds),
        _features(coarse, after, released, {}),
        _features(after, after, released, {}),
    )
    return _labels(secret), views


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


def _features(trained: pa.Table, seen: pa.Table, columns: Sequence[str], kinds: Mapping[str, str]) -> View:
    """The two tables as numbers: measured quantities as they are, everything else as codes they share."""
    numbers, categorical = [], []
    for name in columns:
        values = [value for table in (trained, seen) for value in table.column(name).to_pylist()]
        if kinds.get(name) == "number":
            numbers.append(np.array([math.nan if value is None else float(value) for value in values]))
            categorical.append(False)
        else:
            levels, codes = np.unique(np.array([_text(value) for value in values], dtype=object), return_inverse=True)
            numbers.append(codes.astype(np.float64))
            categorical.append(len(levels) <= MOST_CATEGORIES)
    both = np.column_stack(numbers)
    halves = both[: trained.num_rows], both[trained.num_rows :]
    for half in halves:
        half[:, np.isnan(half).all(axis=0)] = 0.0
    return *halves, categorical


def _scores(
    views: Sequence[View], secret: Labels, train: Rows, test: Rows, *, random_state: int, progress: Progress
) -> list[AdversaryScore]:
    """How often each adversary is right on the records ``test``, in every view."""
    from threadpoolctl import threadpool_limits

    untrained = [_adversaries(categorical, random_state) for _, _, categorical in views]
    scores = []
    # On a busy machine the threads of the boosted trees wait for each other three times as long as they work.
    with threadpool_limits(limits=1):
        for name in untrained[0]:
            progress(f"training {name}", None)
            right = []
            for adversaries, (trained, seen, _) in zip(untrained, views, strict=True):
                guesses = adversaries[name].fit(trained[train], secret[train]).predict(seen[test])
                right.append(int((guesses == secret[test]).sum()))
            scores.append(scored(name, right, of=len(test)))
    return scores


def _adversaries(categorical: list[bool], random_state: int) -> dict[str, Any]:
    from sklearn.compose import ColumnTransformer
    from sklearn.ensemble import HistGradientBoostingClassifier
    from sklearn.impute import SimpleImputer
    from sklearn.linear_model import LogisticRegression
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import OneHotEncoder, StandardScaler

    named = [j for j, is_category in enumerate(categorical) if is_category]
    measured = [j for j, is_category in enumerate(categorical) if not is_category]
    encoded = ColumnTransformer(
        [
            ("named", OneHotEncoder(handle_unknown="ignore"), named),
            ("measured", make_pipeline(SimpleImputer(), StandardScaler()), measured),
        ]
    )
    return {
        "boosted trees": HistGradientBoostingClassifier(
            categorical_features=categorical, early_stopping=True, random_state=random_state
        ),
        "logistic regression": make_pipeline(encoded, LogisticRegression(max_iter=500)),
        "lookup table": Lookup(),
    }


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


def _bound(certificate: CountedCertificate, prior: Vector) -> float:
    """The most any adversary may guess right by the certificate."""
    if certificate.thresholds is not None and (len(prior) > 2 or prior.min() < certificate.thresholds):
        return 1.0
    low = math.inf if math.isinf(certificate.bounds.low) else None
    return guessing_bound(prior, certificate.attained_epsilon, epsilon_low=low)


@dataclass(frozen=True)
class _Reached:
    """How often the secret is guessed right: without looking, by the best trained adversary, at best.

    ``exact``: the best possible follows from the rules of the release, and not from what was drawn by chance.
    """

    prior: float
    trained: float
    tested_on: int
    possible: float
    exact: bool


def _verdict(reached: _Reached, adversaries: int, *, bound: float, findings: Sequence[LinkageFinding]) -> AttackVerdict:
    """By the exact best guess where that is more than what trained adversaries surely reach."""
    # Several adversaries get several chances to be lucky: the interval is widened for all of them together.
    level = 1 - 0.05 / (2 * adversaries)
    low = binomial_limits(round(reached.trained * reached.tested_on), reached.tested_on, confidence=level)[0]
    if low > bound or (reached.exact and reached.possible > bound + SLACK):
        return "promise broken"
    if any(map(_finds_people, findings)):
        return "people are found"
    if max(low, reached.possible) <= reached.prior + SLACK:
        return "not detectably better than the prior"
    return "within the promise"


def _finds_people(finding: LinkageFinding) -> bool:
    """Whether somebody learns what they did not know from rows that fit one person, and is surely right of most."""
    found = round(finding.after.found * finding.people)
    right = round(finding.after.found_rightly * finding.people)
    return bool(finding.columns) and found > 0 and binomial_limits(right, found)[0] > 0.5


def _headline(reached: _Reached, before: float, findings: Sequence[LinkageFinding]) -> str:
    words = (
        f"Always guessing the commonest secret is right {reached.prior:.1%} of the time; the best adversary reaches "
        f"{before:.1%} on the original and {reached.trained:.1%} on the release, where the best possible guess is "
        f"right {reached.possible:.1%} of the time"
    )
    return f"{words}.{''.join(map(_found, findings))}"


def _found(finding: LinkageFinding) -> str:
    """Who is found, and the column that is read best beyond what is known."""
    after = finding.after
    if not finding.columns:
        return ""
    words = f" Whoever knows {listed(finding.known, limit=6)} finds {share(after.found)} of the people in the release"
    if after.found:
        words += f", {share(after.found_right)} of those rightly"
    best = max(finding.columns, key=lambda column: column.after - column.knowing)
    return f"{words}, and reads {best.name} right for {share(best.after)} ({share(best.knowing)} without it)."
