"""Whose secret could be guessed: an adversary learns from some of the records and guesses the secrets of the others."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from tacit.learn.arrays import Codes, Floats
from tacit.lenses.table.kept.information import numbered
from tacit.lenses.table.kept.values import distinct_texts
from tacit.tables.counting import TooManyValues, count
from tacit.tables.table import Table

# Numbers of people are stated out of this many.
OF = 1_000
# How many evenly spaced records are used at most; and, for a wide table, how many values (records times columns), but
# never fewer records than the last number, because fewer show nothing.
MOST_RECORDS, MOST_VALUES, FEWEST_RECORDS = 20_000, 800_000, 1_000
# Among evenly spaced records no secret has a share that differs by more than this from its share of all, or others are
# used.
ALIKE = 0.05
# Records are dealt into this many parts; those of each part are guessed from what the others show.
PARTS = 4
# How many secrets are guessed: the commonest ones.
MOST_SECRETS = 50
# A share among few records is drawn towards the overall share as if by this many more records.
DRAWN = 5.0


@dataclass(frozen=True, eq=False)
class Guesser:
    """An adversary who guesses the secret of each record from what others with the same values have.

    They use whole rows (the commonest secret of those who share one), or weigh columns one by one (naive Bayes), or
    always guess the commonest secret: whichever guesses better. They learn from other records than they guess, so rows
    that are all different tell nothing by themselves.

    ``label`` is each record's secret, the commonest first; records are dealt into parts, and those of each ``part`` are
    guessed from the others, in which secrets have shares (``prior``, parts x secrets). ``belief`` (records x secrets)
    is what columns say one by one.

    Guarantees
    ----------
    What is guessed right is a lower bound, up to chance: somebody with better models guesses more. The same records
    give the same number.
    """

    columns: Mapping[Any, Codes]
    label: Codes
    part: Codes
    prior: Floats
    belief: Floats

    @classmethod
    def of(cls, columns: Mapping[Any, Codes], secret: Codes) -> Guesser:
        """From columns by any names, with values from -1 on, and secrets from 0 on."""
        part = np.random.default_rng(0).permutation(len(secret)) % PARTS
        order = np.argsort(-np.bincount(secret), kind="stable")
        label = np.argsort(order)[secret]
        secrets, parts = min(int(label.max()) + 1, MOST_SECRETS), min(PARTS, len(secret))
        bare = cls(columns, label, part, np.zeros((parts, secrets)), np.zeros((0, 0)))
        elsewhere = bare._elsewhere(np.zeros_like(label))[:, 0]
        dealt = replace(bare, prior=elsewhere / np.maximum(elsewhere.sum(axis=1, keepdims=True), 1))
        return dealt.knowing(columns)

    def knowing(self, columns: Mapping[Any, Codes]) -> Guesser:
        """The same adversary with other columns: the same records are dealt into the same parts."""
        return replace(self, columns=columns, belief=self.log_prior[self.part] + self._scores(columns.values()))

    def right(self, changed: Any = None, to: Codes | None = None) -> float:
        """The share of records guessed right, with a column changed to another, or left out."""
        columns = [codes for name, codes in self.columns.items() if changed is None or name != changed]
        columns += [] if to is None else [to]
        rows = numbered(columns) if columns else np.zeros_like(self.label)
        belief = self.belief - self._scores([] if changed is None else [self.columns[changed]])
        belief = belief + self._scores([] if to is None else [to])
        # One after the other: the commonest secret, what those with the same row have, and columns one by one.
        guesses = (np.zeros_like(self.label), self._commonest(rows), belief.argmax(axis=1))
        return float(max(int((guess == self.label).sum()) for guess in guesses) / len(self.label))

    @property
    def log_prior(self) -> Floats:
        """The log of the shares of secrets."""
        return np.asarray(np.log(np.maximum(self.prior, 1e-12)))

    def _elsewhere(self, values: Codes) -> Codes:
        """How many records outside each part have each value and secret (parts x values x secrets)."""
        (parts, secrets), size = self.prior.shape, int(values.max(initial=0)) + 1
        some = np.flatnonzero(self.label < secrets) if self.label.max() >= secrets else slice(None)
        place = (self.part[some] * size + values[some]) * secrets + self.label[some]
        counts = np.bincount(place, minlength=parts * size * secrets).reshape(parts, size, secrets)
        return np.asarray(counts.sum(axis=0) - counts)

    def _shares(self, values: Codes) -> Floats:
        """P(secret | value) outside each part, drawn towards the overall shares (parts x values x secrets)."""
        counts = self._elsewhere(values)
        return np.asarray((counts + DRAWN * self.prior[:, None]) / (counts.sum(axis=2, keepdims=True) + DRAWN))

    def _commonest(self, rows: Codes) -> Codes:
        """The commonest secret, outside each record's part, of those who have the same row."""
        shares = self._shares(rows)
        parts, size, secrets = shares.shape
        if parts * size <= len(rows):
            return np.asarray(shares.argmax(axis=2)[self.part, rows])
        return np.asarray(shares.reshape(-1, secrets).take(self.part * size + rows, axis=0).argmax(axis=1))

    def _scores(self, columns: Iterable[Codes]) -> Floats:
        """What columns, taken one by one (naive Bayes), add to the log of P(secret | record)."""
        scores, log_prior = np.zeros((len(self.label), self.prior.shape[1])), self.log_prior[:, None]
        for codes in columns:
            logs = np.log(np.maximum(self._shares(codes + 1), 1e-12)) - log_prior
            place = self.part * logs.shape[1] + codes + 1
            scores += logs.reshape(-1, logs.shape[2]).take(place, axis=0)
        return scores


def alone(rows: Codes) -> float:
    """The share of records whose row no other record has."""
    return float((np.bincount(rows) == 1).sum() / len(rows))


def most_records(columns: int) -> int:
    """How many records are used of a table with this many columns."""
    return max(FEWEST_RECORDS, min(MOST_RECORDS, MOST_VALUES // max(columns, 1)))


def some_records(table: Table, secret: Sequence[str], most: int) -> Table:
    """At most so many records, evenly spaced; or spread without a period, where secrets have other shares among these.

    Where rows take turns, a case and its control, every second one would be a control.
    """
    spaced = table.thinned(most)
    if spaced is table:
        return table
    try:
        every, some = _secret_shares(table, secret), _secret_shares(spaced, secret)
    except TooManyValues:
        return spaced
    unlike = max(abs(share - some.get(label, 0.0)) for label, share in every.items()) > ALIKE
    # Rows that are spread may be a few more than were asked for.
    return table.spread(max(1, most * 49 // 50)).held(most) if unlike else spaced


def _secret_shares(table: Table, secret: Sequence[str]) -> dict[Any, float]:
    counts = count(table, secret)
    shares = counts.records / counts.records.sum()
    return dict(zip(counts.symbols(secret)[0].labels(), shares.tolist(), strict=True))


def secrets_of(table: Table, secret: Sequence[str], most: int = MOST_RECORDS) -> Codes:
    """Which secret each of the records used has, from 0 on."""
    rows = table.sample(secret, most)
    return numbered([distinct_texts(column)[1] for column in rows.columns])
