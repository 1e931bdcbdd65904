"""Whose secret could be guessed: an adversary learns from some of the records and guesses the secrets of the others."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from tacit.lenses.table.kept.information import numbered
from tacit.lenses.table.kept.values import Codes, Floats, distinct_texts
from tacit.lenses.table.question import TableQuestion

# People are told of so many.
OF = 1_000
# So many records are looked at, evenly spaced; of a wide table so many values, records times columns. Fewer than
# the fewest show nothing.
MOST_RECORDS, MOST_VALUES, FEWEST_RECORDS = 20_000, 800_000, 1_000
# Records are dealt to so many parts; those of each are guessed by what the others show.
PARTS = 4
# Secrets that are guessed: the commonest ones.
MOST_SECRETS = 50
# A share among few records is drawn towards that of all as by so many records.
DRAWN = 5.0


def guessed_by(columns: Sequence[Codes], secret: Codes) -> float:
    """The share of records whose secret is guessed right from what others with the same values have.

    The adversary has whole rows (the commonest secret of those who share one), or weighs columns one by one (naive
    Bayes), or goes by the commonest secret of all: whichever guesses better. What is guessed by was learned from other
    records, so that rows which are all different tell nothing by themselves.

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
    rows = numbered(columns) if columns else np.zeros_like(secret)
    part = np.random.default_rng(0).permutation(len(secret)) % PARTS
    order = np.argsort(-np.bincount(secret), kind="stable")
    label = np.argsort(order)[secret]
    secrets = min(int(label.max()) + 1, MOST_SECRETS)
    right = np.zeros(3)
    for each in range(min(PARTS, len(secret))):
        seen = (part != each) & (label < secrets)
        prior = np.bincount(label[seen], minlength=secrets) / max(int(seen.sum()), 1)
        test = np.flatnonzero(part == each)
        guesses = (
            np.zeros(len(test), np.int64),
            _shares(rows, label, seen, prior)[rows[test]].argmax(axis=1),
            _naive(columns, label, seen, prior, test).argmax(axis=1),
        )
        right += [int((guess == label[test]).sum()) for guess in guesses]
    return float(right.max() / len(secret))


def _shares(values: Codes, label: Codes, seen: Codes, prior: Floats) -> Floats:
    """P(secret | value) of every value (values x secrets), from the records that are seen."""
    size, secrets = int(values.max(initial=0)) + 1, len(prior)
    counts = np.bincount(values[seen] * secrets + label[seen], minlength=size * secrets).reshape(size, secrets)
    return np.asarray((counts + DRAWN * prior) / (counts.sum(axis=1, keepdims=True) + DRAWN))


def _naive(columns: Sequence[Codes], label: Codes, seen: Codes, prior: Floats, test: Codes) -> Floats:
    """The log of P(secret | record) up to a constant, as if columns told about the secret one by one."""
    logs = np.log(np.maximum(prior, 1e-12))
    belief = np.tile(logs, (len(test), 1))
    for column in columns:
        belief += (np.log(np.maximum(_shares(column + 1, label, seen, prior), 1e-12)) - logs)[column[test] + 1]
    return belief


def alone(rows: Codes) -> float:
    """The share of records whose row no other has."""
    return float((np.bincount(rows) == 1).sum() / len(rows))


def most_records(columns: int) -> int:
    """How many records of a table of so many columns are looked at."""
    return max(FEWEST_RECORDS, min(MOST_RECORDS, MOST_VALUES // max(columns, 1)))


def secrets_of(question: TableQuestion, most: int = MOST_RECORDS) -> Codes:
    """Which secret each of the records that are looked at has, from 0 on."""
    rows = question.as_given().sample(question.secret, most)
    return numbered([distinct_texts(column)[1] for column in rows.columns])
