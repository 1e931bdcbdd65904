"""Learn log-lift from the records of a table at full resolution, and score every released value once."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, fields, replace
from functools import cached_property
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tacit.document import Progress, silent
from tacit.errors import ArgumentError, DataError, Sentence, Setting, sentence
from tacit.lenses.table.learned.cells import LearnableCells, cells_of
from tacit.lenses.table.learned.choosing import EstimatorChoice
from tacit.lenses.table.tabulating import Counted
from tacit.lift import Mask, Matrix, Vector
from tacit.tables.symbols import Codes

# Learning from more records than this takes minutes and hardly changes the answer; the rest are only scored.
MOST_RECORDS = 200_000
# Values scored at a time, so that memory does not grow with the table.
BATCH = 100_000


def saved(model: Any, path: Path) -> None:
    """Write a model for the owner's eyes only; the file appears whole or not at all."""
    from tacit.learn import save_model
    from tacit.tables.writing import whole_file

    with whole_file(path, for_owner=True) as temporary:
        save_model(model, temporary)


@dataclass(frozen=True, eq=False, kw_only=True)
class ValueScores:
    """Log-lift (values, secrets) of every released value by a model, 95% intervals, and the values it has never seen.

    The intervals are meant for all secrets at once: a value is judged by whichever secret it tells most about.
    """

    cells: LearnableCells
    unmet: Mask
    lifts: Matrix
    low: Matrix
    high: Matrix

    @cached_property
    def risk(self) -> Vector:
        """Estimated risk of every released value; it depends only on the value. Infinite where there is doubt."""
        return doubtful(np.abs(self.lifts).max(axis=1), self.unmet)

    @cached_property
    def risk_high(self) -> Vector:
        """Upper end of the 95% interval of the absolute log-lift of every released value."""
        ends = np.maximum(np.abs(self.low), np.abs(self.high)).max(axis=1)
        return np.maximum(doubtful(ends, self.unmet), self.risk)


@dataclass(frozen=True, eq=False, kw_only=True)
class Learned(ValueScores):
    """A table at full resolution, a model of it, and how the model scores its values.

    Attributes
    ----------
    counted : Counted
    model : LogLiftEstimator
        Fitted; ``secrets`` are its secrets, in the order of the columns of all scores.
    value, secret : arrays
        For every record that was learned from: its released value, and the column of its secret.
    record_lifts : array (records, secrets)
        Log-lift of those records by models that had not seen them.
    learned_here, unvouched : bool
        Whether the model was learned from these records; whether it was saved earlier, and nobody said they are fresh.
    """

    counted: Counted
    model: Any
    name: str
    learned_here: bool
    unvouched: bool
    value: Codes
    secret: Codes
    record_lifts: Matrix
    evidence: Any
    notes: tuple[str, ...]

    @property
    def secrets(self) -> tuple[str, ...]:
        """The values of the secret that the model knows."""
        return tuple(str(label) for label in self.model.secrets_)

    @property
    def prior(self) -> Vector:
        """Their shares among the records learned from."""
        return np.asarray(self.model.prior_, dtype=np.float64)

    @cached_property
    def columns(self) -> Codes:
        """The model's column of each secret of the joint."""
        return _columns(self.counted, self.secrets)

    @cached_property
    def left_over(self) -> Matrix:
        """Records (secrets of the joint, values) that were not learned from."""
        table = self.counted.table.copy()
        row = np.empty(len(self.secrets), dtype=np.int64)
        row[self.columns] = np.arange(len(self.columns))
        np.subtract.at(table, (row[self.secret], self.value), 1.0)
        return table

    def risks_of_records(self) -> tuple[Vector, Vector]:
        """Risks by models that had not seen the record, and the share of records that has each."""
        learned_from = doubtful(np.abs(self.record_lifts).max(axis=1), np.zeros(len(self.value), dtype=bool))
        rest = self.left_over.sum(axis=0)
        risks = np.concatenate([learned_from, self.risk[rest > 0]])
        weights = np.concatenate([np.ones(len(learned_from)), rest[rest > 0]])
        return risks, weights / weights.sum()


def doubtful(risks: Vector, doubt: Mask) -> Vector:
    """Risks, infinite wherever there is doubt: not a number, or a cell that was never seen."""
    return np.where(doubt | np.isnan(risks), np.inf, risks)


def learned(
    counted: Counted, choice: EstimatorChoice, *, random_state: int = 0, progress: Progress = silent
) -> Learned:
    """Fit the chosen estimator to the records of a counted table, or take the saved model, and score every value."""
    table, notes = counted.table, []
    secret, value = records_of(table, np.random.default_rng(random_state))
    if len(value) < table.sum():
        verb = "learned from" if choice.model is None else "tested on"
        notes.append(f"{verb} {len(value):,} of {table.sum():,.0f} records, drawn at random; all others were scored")
    labels = np.array(labels_of(counted))
    if choice.model is None:
        progress("learning", None)
        from tacit.learn import estimator_named

        model = estimator_named(choice.estimator, random_state=random_state, progress=progress)
        whole = cells_of(counted.symbols, counted.question.table.columns, names=counted.symbols.columns)
        model.fit(whole.at(counted.symbols.codes[value]), labels[secret])
    else:
        model = loaded(choice.model, counted)
        notes.append(_origin(choice, model, counted))
    columns = _columns(counted, [str(label) for label in model.secrets_])
    progress("scoring", None)
    scores = scored(counted, model)
    learned_here, unvouched = choice.model is None, choice.model is not None and not choice.fresh
    record_lifts = np.asarray(model.out_of_fold_log_lift_) if learned_here else scores.lifts[value]
    progress("calibrating", None)
    evidence = _evidence(model, record_lifts, labels[secret], learned_here=learned_here, random_state=random_state)
    if scores.unmet.any():
        share = float(counted.joint.marginal[scores.unmet].sum())
        notes.append(
            f"{share:.1%} of the records have a cell unlike any the model has seen (a value, a missing cell, a number "
            "far out of range); doubt counts as risk, ∞ here"
        )
    return Learned(
        counted=counted,
        model=model,
        name=choice.name,
        learned_here=learned_here,
        unvouched=unvouched,
        **{field.name: getattr(scores, field.name) for field in fields(scores)},
        value=value,
        secret=columns[secret],
        record_lifts=record_lifts,
        # In the records it was trained on, a model always finds what it has learned.
        evidence=replace(evidence, verdict="cannot tell", p_value=math.nan) if unvouched else evidence,
        notes=tuple(notes),
    )


def _origin(choice: EstimatorChoice, model: Any, counted: Counted) -> Sentence | str:
    honest = (
        f"scored by {choice.name}: the numbers are honest only for records it was not trained on; on its own records "
        "they are in-sample and too confident"
    )
    if not choice.fresh:
        words = "{honest}. If none of these records was used to train it, say so ({fresh})"
        return sentence(words, honest=honest, fresh=Setting("fresh", True))
    if looks_learned_from(counted, model):
        return (
            f"{honest}. You said that these are fresh, but the shares of the secret are exactly those it was trained "
            "on: make sure that it is not the same table"
        )
    return f"{honest}. You said that these are fresh"


def looks_learned_from(counted: Counted, model: Any) -> bool:
    """Whether a model's prior is that of the table to the last digit, as it is if it was trained on it."""
    secrets = [str(label) for label in model.secrets_]
    shares = dict(zip(labels_of(counted), counted.joint.prior.tolist(), strict=True))
    return set(secrets) == set(shares) and bool(
        np.allclose([shares[label] for label in secrets], model.prior_, rtol=0, atol=1e-12)
    )


def _evidence(model: Any, record_lifts: Matrix, secrets: NDArray[Any], *, learned_here: bool, random_state: int) -> Any:
    from tacit.learn import evidence_of

    if learned_here:
        return evidence_of(model, secrets, random_state=random_state)
    # A saved model has no folds: what it says about these records stands in for them, as a single fold.
    sampled = SimpleNamespace(
        out_of_fold_log_lift_=record_lifts,
        fold_=np.zeros(len(record_lifts), dtype=np.int64),
        secrets_=model.secrets_,
        prior_=model.prior_,
    )
    # A model of counts gives minus infinity to values it has never seen; results that are not numbers count as unknown.
    with np.errstate(all="ignore"):
        return evidence_of(sampled, secrets, random_state=random_state)


def scored(counted: Counted, model: Any) -> ValueScores:
    """What a model says about every released value of a table."""
    cells, codes = _met_by(model, counted), counted.symbols.codes
    frames = (cells.at(codes[start : start + BATCH]) for start in range(0, len(codes), BATCH))
    parts = [
        (model.log_lift(frame), *model.log_lift_interval(frame, simultaneous=True), model.unseen(frame))
        for frame in frames
    ]
    lifts, low, high, strange = (np.concatenate(part) for part in zip(*parts, strict=True))
    return ValueScores(cells=cells, unmet=cells.unmet(codes) | strange.astype(bool), lifts=lifts, low=low, high=high)


def records_of(table: Matrix, rng: np.random.Generator, *, most: int | None = None) -> tuple[Codes, Codes]:
    """The secret and the released value of every record of a table of counts, in random order; at most ``most``."""
    most = MOST_RECORDS if most is None else most
    cells = np.flatnonzero(table)
    records = np.rint(table.ravel()[cells]).astype(np.int64)
    total = int(records.sum())
    if total > most:
        # numpy draws without replacement only below 10^9 records; above, a record is hardly ever drawn twice.
        few = total < 10**9
        records = (
            rng.multivariate_hypergeometric(records, most, method="marginals")
            if few
            else np.minimum(rng.multinomial(most, records / total), records)
        )
    s, x = np.divmod(rng.permutation(np.repeat(cells, records)), table.shape[1])
    return s, x


def labels_of(counted: Counted) -> tuple[str, ...]:
    """The values of the secret as text, in the order of the joint."""
    labels = counted.labels
    twice = {label for label in labels if labels.count(label) > 1}
    if twice:
        raise DataError(
            f"two values of the secret {', '.join(counted.question.secret)} both read '{min(twice)}': "
            "rename one of them"
        )
    return labels


def _columns(counted: Counted, secrets: Sequence[str]) -> Codes:
    place = {label: at for at, label in enumerate(secrets)}
    unknown = [label for label in labels_of(counted) if label not in place]
    if unknown:
        named = ", ".join(counted.question.secret)
        raise DataError(
            sentence(
                "the model does not know the value '{value}' of {named}; it knows {values}: learn anew from this table "
                "({auto}), or leave out or join such rare values",
                value=unknown[0],
                named=named,
                values=", ".join(sorted(place))[:200],
                auto=Setting("estimator", "auto"),
            )
        )
    return np.array([place[label] for label in labels_of(counted)], dtype=np.int64)


def loaded(path: Path, counted: Counted) -> Any:
    """A saved model that knows the released columns of a table, and no others."""
    from tacit.learn import load_model

    model = load_model(path)
    knows = [str(name) for name in getattr(model, "feature_names_in_", ())]
    lacking = [name for name in knows if name not in counted.question.released]
    besides = [name for name in counted.question.released if name not in knows]
    if lacking or besides:
        what = f"it also needs '{lacking[0]}'" if lacking else f"it does not know '{besides[0]}'"
        raise ArgumentError(
            sentence(
                "{path} was learned from the columns {knows}, and {what}: release the same columns ({released})",
                path=path,
                knows=", ".join(knows),
                what=what,
                released=Setting("released", knows),
            )
        )
    return model


def _met_by(model: Any, counted: Counted) -> LearnableCells:
    """The cells as the model reads them: its columns in its order, numbers where it learned numbers."""
    encoder = model.encoder_
    names = tuple(str(name) for name in model.feature_names_in_)
    kinds = dict(zip(names, encoder.kinds, strict=True))
    levels = zip(names, encoder.levels, strict=True)
    met = {name: frozenset(values) for name, values in levels if kinds[name] == "category"}
    return cells_of(counted.symbols, counted.question.table.columns, names=names, kinds=kinds, met=met)
