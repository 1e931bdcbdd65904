"""Whose secret could be guessed: an adversary learns from some of the records and guesses the secrets of the others."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tacit.lenses.table.kept.information import numbered
from tacit.lenses.table.kept.values import Codes, Floats, distinct_texts
from tacit.lenses.table.question import TableQuestion
from tacit.lift.shuffles import Groupings

# Numbers of people are stated out of this many.
OF = 1_000
# How many evenly spaced records are used at most; and, for a wide table, how many values (records times columns), but
# never fewer records than the last number, because fewer show nothing.
MOST_RECORDS, MOST_VALUES, FEWEST_RECORDS = 20_000, 800_000, 1_000
# Records are dealt into this many parts; those of each part are guessed from what the others show.
PARTS = 4
# How many secrets are guessed: the commonest ones.
MOST_SECRETS = 50
# A share among few records is drawn towards the overall share as if by this many more records.
DRAWN = 5.0


def guessed_by(columns: Sequence[Codes], secret: Codes) -> float:
    """The share of records whose secret is guessed right from what others with the same values have.

    The adversary uses whole rows (the commonest secret of those who share one), or weighs columns one by one (naive
    Bayes), or always guesses the commonest secret: whichever guesses better. It learns from other records than it
    guesses, so rows that are all different tell nothing by themselves.

    Parameters
    ----------
    columns : sequence of arrays of int
        The values of each column, from -1 on.
    secret : array of int
        Which secret each record has, from 0 on.

    Guarantees
    ----------
    A lower bound, up to chance: somebody with better models guesses more. The same records give the same number.
    """
    return Guesser.of(dict(enumerate(columns)), secret).right()


@dataclass(frozen=True, eq=False)
class Guesser:
    """The adversary of :func:`guessed_by`, which can also say what replacing a column by another would change.

    ``label`` is each record's secret, the commonest first; ``parts`` are the records dealt out.
    """

    columns: Mapping[Any, Codes]
    label: Codes
    parts: tuple[_Part, ...]

    @classmethod
    def of(cls, columns: Mapping[Any, Codes], secret: Codes) -> Guesser:
        """From columns by any names, with values from -1 on, and secrets from 0 on."""
        part = np.random.default_rng(0).permutation(len(secret)) % PARTS
        order = np.argsort(-np.bincount(secret), kind="stable")
        label = np.argsort(order)[secret]
        secrets = min(int(label.max()) + 1, MOST_SECRETS)
        groups = Groupings.of([codes + 1 for codes in columns.values()])
        parts = []
        for each in range(min(PARTS, len(secret))):
            train = (part != each) & (label < secrets)
            prior = np.bincount(label[train], minlength=secrets) / max(int(train.sum()), 1)
            dealt = _Part(train, prior, np.flatnonzero(part == each), np.zeros((0, 0)))
            logs = np.tile(dealt.log_prior, (len(dealt.test), 1))
            parts.append(replace(dealt, belief=logs + dealt.scores(groups, label)))
        return cls(columns, label, tuple(parts))

    def right(self, changed: Any = None, to: Codes | None = None) -> float:
        """The share of records guessed right, with a column changed to another, or left out."""
        columns = [codes for name, codes in self.columns.items() if changed is None or name != changed]
        columns += [] if to is None else [to]
        rows = numbered(columns) if columns else np.zeros_like(self.label)
        less = Groupings.of([] if changed is None else [self.columns[changed] + 1])
        more = Groupings.of([] if to is None else [to + 1])
        right = np.zeros(3)
        for part in self.parts:
            shown = _shares(rows, self.label, part.train, part.prior)
            belief = part.belief - part.scores(less, self.label) + part.scores(more, self.label)
            guesses = (np.zeros(len(part.test), np.int64), shown[rows[part.test]].argmax(axis=1), belief.argmax(axis=1))
            right += [int((guess == self.label[part.test]).sum()) for guess in guesses]
        return float(right.max() / len(self.label))


@dataclass(frozen=True, eq=False)
class _Part:
    """Records whose secrets are guessed (``test``) from others (``train``); ``belief``: what columns say one by one."""

    train: NDArray[np.bool_]
    prior: Floats
    test: Codes
    belief: Floats

    @property
    def log_prior(self) -> Floats:
        return np.asarray(np.log(np.maximum(self.prior, 1e-12)))

    def scores(self, groups: Groupings, label: Codes) -> Floats:
        """What columns, taken one by one (naive Bayes), add to the log of P(secret | record)."""
        secrets = len(self.prior)
        shown = np.zeros((len(label), secrets))
        shown[self.train, label[self.train]] = 1.0
        scores = np.zeros((len(self.test), secrets))
        for block, _ in groups.blocks:
            shares = _drawn(np.asarray(block.T @ shown), self.prior)
            scores += block[self.test] @ (np.log(np.maximum(shares, 1e-12)) - self.log_prior)
        return scores


def _shares(values: Codes, label: Codes, train: NDArray[np.bool_], prior: Floats) -> Floats:
    """P(secret | value) of every value (values x secrets), from the records in ``train``."""
    size, secrets = int(values.max(initial=0)) + 1, len(prior)
    counts = np.bincount(values[train] * secrets + label[train], minlength=size * secrets).reshape(size, secrets)
    return _drawn(counts, prior)


def _drawn(counts: NDArray[Any], prior: Floats) -> Floats:
    """Shares from counts (values x secrets), drawn towards the overall shares."""
    return np.asarray((counts + DRAWN * prior) / (counts.sum(axis=1, keepdims=True) + DRAWN))


def alone(rows: Codes) -> float:
    """The share of records whose row no other record has."""
    return float((np.bincount(rows) == 1).sum() / len(rows))


def most_records(columns: int) -> int:
    """How many records are used of a table with this many columns."""
    return max(FEWEST_RECORDS, min(MOST_RECORDS, MOST_VALUES // max(columns, 1)))


def secrets_of(question: TableQuestion, most: int = MOST_RECORDS) -> Codes:
    """Which secret each of the records used has, from 0 on."""
    rows = question.as_given().sample(question.secret, most)
    return numbered([distinct_texts(column)[1] for column in rows.columns])
