"""An adversary who knows some true values of a person, has the whole file, and looks for the rows that fit."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from tacit.lenses.table.linkage.beliefs import lifts_of
from tacit.lenses.table.linkage.fitting import Fitting, Spelled, in_bins
from tacit.lenses.table.linkage.looking import LOOKED_AT, LookedAt, RowsRead
from tacit.lenses.table.linkage.matching import AskedOfPeople, LinkedPeople, linkage
from tacit.lenses.table.linkage.reading import LearnedColumn
from tacit.lenses.table.linkage.results import ColumnRead, LinkageFinding, LinkageScore
from tacit.lenses.table.question import TableQuestion
from tacit.lift import Mask, Matrix
from tacit.tables.counting import MAX_GROUPS, Counts, count
from tacit.tables.symbols import Codes, Symbols, in_order
from tacit.tables.table import Table

# How many people are looked for.
PEOPLE = 5_000
# In a column with more different values than this, the guess from what is known alone is the commonest value.
MOST_GUESSED = 100


def linked(
    question: TableQuestion,
    release: Table,
    known: Sequence[str] = (),
    *,
    fittings: Mapping[str, Fitting] | None = None,
    people: int = PEOPLE,
) -> tuple[LinkageFinding, ...]:
    """How well the original and its release can be linked by somebody who knows some columns.

    Parameters
    ----------
    question : TableQuestion
        What the release answered; its table is the original as the release writes it.
    release : Table
        The released rows, in the order of the original.
    known : sequence of str
        Columns whose true values the adversary knows, released or not. By default, all released columns but the one
        that says most about the secret. All released columns together are always tried, too.
    fittings : mapping, optional
        How the released levels of a column stand for its values; by default they are values, or bins of a cut.
    people : int
        How many people are looked for, evenly spaced over the table; at most half of the records sampled.

    Guarantees
    ----------
    Candidates are counted in the whole file. What values say about the secret is learned from people who are not
    looked for, so nobody's own secret is known beforehand.
    """
    look = LookedAt.at(question, known, people)
    counts = count(release, question.released)
    after = _File.of(counts, {**standing(question, counts), **(fittings or {})}, look, question.table)
    original, before = question.as_given(), None
    if original.row_count() <= MAX_GROUPS:
        values = dict.fromkeys(question.released, Spelled())
        before = _File.of(count(original, question.released), values, look, original)
    return tuple(_finding(*each, look, before, after) for each in _scenarios(question, known, look))


def standing(question: TableQuestion, released: Counts) -> dict[str, Fitting]:
    """How levels stand for values, if values or bins of them are released.

    If a row is missing in every released column, rows were suppressed, and missing may be anything.
    """
    blank = bool(Symbols(released.columns, released.levels, released.codes).all_missing.any())
    bins = {cut.column: in_bins(cut, blank=blank) for cut in question.cuts}
    return {name: bins.get(name, Spelled(blank=blank)) for name in question.released}


@dataclass(frozen=True, eq=False)
class _File:
    """A file as the adversary has it: its different rows, which of them is true of whom, and what its levels stand for.

    ``read_rows`` are the sampled records as this file would write them if it told the truth.
    """

    counts: Counts
    own: Codes
    fittings: Mapping[str, Fitting]
    columns: Mapping[str, LearnedColumn]
    read_rows: RowsRead

    @classmethod
    def of(cls, counts: Counts, fittings: Mapping[str, Fitting], look: LookedAt, truth: Table) -> _File:
        """From the different rows of a file; ``truth`` is the original as this file would write it."""
        read_rows = RowsRead.of(truth.sample(counts.columns, LOOKED_AT))
        different, which = in_order(read_rows.beside(counts.columns)[look.looked_for])
        symbols = Symbols(counts.columns, tuple(read_rows.levels[name] for name in counts.columns), different)
        own = symbols.positions_in(Symbols(counts.columns, counts.levels, counts.codes))[which]
        return cls(counts, own, fittings, read_rows.learned(truth), read_rows)

    def levels(self, name: str) -> tuple[tuple[Any, ...], Codes]:
        """The levels of a column, and the level of each row."""
        at = self.counts.columns.index(name)
        return self.counts.levels[at], self.counts.codes[:, at]

    def linked(
        self, known: Sequence[str], guesses: Mapping[str, _Guess], belief: Matrix, look: LookedAt
    ) -> LinkedPeople:
        """Everybody who is looked for, linked to this file by the columns that are known and released."""
        people, released, fits = [], [], []
        for name in known:
            codes = look.true.codes[name][look.looked_for]
            values, which = np.unique(codes, return_inverse=True)
            levels, rows = self.levels(name)
            kinds, fit = self.fittings[name].matching(levels, [look.true.levels[name][value] for value in values])
            people.append(which.reshape(-1))
            released.append(kinds[rows])
            fits.append(fit)
        questions = [AskedOfPeople(belief, *self._sayings(list(guesses), look))]
        for name, guess in guesses.items():
            levels, rows = self.levels(name)
            kinds, fit = self.fittings[name].matching(levels, look.true.levels[name] if guess.few else ())
            questions.append(AskedOfPeople(guess.believed, kinds[rows], fit.astype(np.float64)))
        return linkage(
            _stacked(people, len(look.looked_for)),
            _stacked(released, len(self.counts.records)),
            fits,
            records=self.counts.records,
            own=self.own,
            others=_stacked([self.levels(name)[1] for name in guesses], len(self.counts.records)),
            questions=questions,
        )

    def _sayings(self, others: Sequence[str], look: LookedAt) -> tuple[Codes, Matrix]:
        """What each row says about the secret in the columns that are not known: a row of the lifts, and the lifts."""
        if not others:
            return np.zeros(len(self.counts.records), np.int64), np.ones((1, len(look.prior)))
        sayings, learned = [], []
        for name in others:
            levels, rows = self.levels(name)
            sayings.append(self.columns[name].codes(levels)[rows])
            learned.append(self.columns[name].codes(self.read_rows.levels[name])[self.read_rows.codes[name]])
        questions, which = in_order(np.column_stack(sayings) + 1)
        lifts = lifts_of(questions - 1, np.column_stack(learned)[look.others], look.secret[look.others], look.prior)
        return which, lifts

    def read(self, linked_people: LinkedPeople, at: int, name: str, guess: _Guess, look: LookedAt) -> tuple[Mask, Mask]:
        """For whom a column was read as exactly its true value, and for whom all candidates have a single value."""
        values, shares = look.true.levels[name], look.true.records(name).astype(np.float64)
        meanings, alone = self.fittings[name].meanings(self.levels(name)[0], values, shares)
        level = linked_people.read[:, at]
        value = np.where((level >= 0) & (meanings[level] >= 0), meanings[level], guess.value)
        if guess.few:
            value = linked_people.guess(at + 1)
        right = np.asarray(value == look.true.codes[name][look.looked_for])
        return right, np.asarray((level >= 0) & linked_people.agreed[:, at] & alone[level])


@dataclass(frozen=True, eq=False)
class _Guess:
    """A column as guessed from what is known alone; if it has ``few`` values, how far each is believed.

    If it has many, the commonest is guessed and, with a file, the likeliest level of the rows that fit.
    """

    value: Codes
    believed: Matrix
    few: bool

    @classmethod
    def of(cls, name: str, known: Sequence[str], look: LookedAt) -> _Guess:
        """For everybody who is looked for."""
        people, shares = len(look.looked_for), look.true.records(name) / len(look.secret)
        if len(shares) > MOST_GUESSED:
            return cls(np.full(people, shares.argmax()), np.zeros((people, 0)), few=False)
        believed = look.believed(known, look.true.codes[name], shares)
        return cls(believed.argmax(axis=1), believed, few=True)


def _stacked(columns: Sequence[Codes], rows: int) -> Codes:
    return np.column_stack(columns) if columns else np.zeros((rows, 0), np.int64)


def _scenarios(
    question: TableQuestion, known: Sequence[str], look: LookedAt
) -> list[tuple[tuple[str, ...], tuple[str, ...]]]:
    """What is known, and which released columns are then left to be read."""
    released = question.released
    tried = [tuple(known)] if known else []
    if not known and len(released) > 1:
        telling = max(released, key=lambda name: look.information(name))
        tried = [tuple(name for name in released if name != telling)]
    if all(set(each) != set(released) for each in tried):
        tried.append(released)
    return [(each, tuple(name for name in released if name not in each)) for each in tried]


def _finding(
    known: tuple[str, ...], others: tuple[str, ...], look: LookedAt, before: _File | None, after: _File
) -> LinkageFinding:
    released = [name for name in known if name in after.counts.columns]
    belief = look.believed(known, look.secret, look.prior)
    secret = look.secret[look.looked_for]
    guesses = {name: _Guess.of(name, known, look) for name in others}
    files = [None if file is None else file.linked(released, guesses, belief, look) for file in (before, after)]
    original, linked_after = files
    assert linked_after is not None
    return LinkageFinding(
        known=known,
        people=len(secret),
        learned_from=int(look.others.sum()),
        prior_guess=float(look.prior.max()),
        knowing=float((belief.argmax(axis=1) == secret).mean()),
        before=None if original is None else _score(original, secret),
        after=_score(linked_after, secret),
        columns=tuple(
            _column_read(name, at, guess, look, (before, original), (after, linked_after))
            for at, (name, guess) in enumerate(guesses.items())
        ),
    )


def _score(linked_people: LinkedPeople, secret: Codes) -> LinkageScore:
    return LinkageScore(
        found=float(linked_people.found.mean()),
        found_right=_share(linked_people.right, linked_people.found),
        candidates=float(linked_people.candidates.mean()),
        nobody=float((linked_people.candidates == 0).mean()),
        secret_right=float((linked_people.guess() == secret).mean()),
    )


def _share(of: Mask, among: Mask) -> float | None:
    return float(of[among].mean()) if among.any() else None


def _column_read(
    name: str,
    at: int,
    guess: _Guess,
    look: LookedAt,
    before: tuple[_File | None, LinkedPeople | None],
    after: tuple[_File, LinkedPeople],
) -> ColumnRead:
    right, agreed = after[0].read(after[1], at, name, guess, look)
    original = None
    if before[0] is not None and before[1] is not None:
        original = float(before[0].read(before[1], at, name, guess, look)[0].mean())
    return ColumnRead(
        name=name,
        knowing=float((look.true.codes[name][look.looked_for] == guess.value).mean()),
        before=original,
        after=float(right.mean()),
        agreed=float(agreed.mean()),
        agreed_right=_share(right, agreed),
    )
