"""An adversary who knows some true values of a person, has the whole file, and looks for the rows that fit."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from tacit.lenses.table.linkage.beliefs import lifts_of
from tacit.lenses.table.linkage.fitting import Fitting, Spelled, in_bins
from tacit.lenses.table.linkage.matching import Linked, linkage
from tacit.lenses.table.linkage.reading import LearnedColumn
from tacit.lenses.table.linkage.results import ColumnRead, LinkageFinding, LinkageScore
from tacit.lenses.table.question import TableQuestion
from tacit.lift import Mask, Matrix, Vector
from tacit.tables.counting import MAX_GROUPS, Counts, count, encoded
from tacit.tables.symbols import Codes, Symbols, in_order
from tacit.tables.table import Table

if TYPE_CHECKING:
    import pyarrow as pa

# People who are looked for, and records from which it is learned what values say of the secret.
PEOPLE = 5_000
LOOKED_AT = 200_000
# A column of more different values than this is guessed, from what is known alone, as its commonest value.
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
        What the release answered; its table is the original as the release tells it.
    release : Table
        The released rows, in the order of the original.
    known : sequence of str
        Columns whose true values the adversary knows, released or not. Without any: all released columns but the one
        that says most about the secret. All released columns are always tried, too.
    fittings : mapping, optional
        How the released levels of a column stand for its values; by default they are values, or bins of a cut.
    people : int
        How many people are looked for, evenly spaced over the table; at most half of the records looked at.

    Guarantees
    ----------
    Candidates are counted in the whole file. What values say of the secret was learned from people who are not looked
    for, so that nobody's own secret is known beforehand.
    """
    look = _Look.at(question, known, people)
    counts = count(release, question.released)
    after = _File.of(counts, {**standing(question, counts), **(fittings or {})}, look, question.table)
    original, before = question.as_given(), None
    if original.row_count() <= MAX_GROUPS:
        values = dict.fromkeys(question.released, Spelled())
        before = _File.of(count(original, question.released), values, look, original)
    return tuple(_finding(each, look, before, after) for each in _scenarios(question, known, look))


def standing(question: TableQuestion, released: Counts) -> dict[str, Fitting]:
    """How levels stand for values where values, or bins of them, are released.

    If a row is missing in every released column, rows were suppressed, and missing may be anything.
    """
    blank = bool(Symbols(released.columns, released.levels, released.codes).all_missing.any())
    bins = {made.column: in_bins(made, blank=blank) for made in question.cuts}
    return {name: bins.get(name, Spelled(blank=blank)) for name in question.released}


@dataclass(frozen=True, eq=False)
class _Read:
    """Some rows of a table: the levels of each column, and the number of each row's level."""

    levels: Mapping[str, tuple[Any, ...]]
    codes: Mapping[str, Codes]

    @classmethod
    def of(cls, rows: pa.Table) -> _Read:
        """From an Arrow table."""
        read = {name: encoded(rows.column(name), name) for name in rows.column_names}
        return cls({name: each[0] for name, each in read.items()}, {name: each[1] for name, each in read.items()})

    def records(self, name: str) -> Codes:
        """How many rows have each level."""
        return np.bincount(self.codes[name], minlength=len(self.levels[name]))

    def beside(self, names: Sequence[str]) -> Codes:
        """The codes of some columns, a column each."""
        return np.column_stack([self.codes[name] for name in names])

    def learned(self, table: Table) -> dict[str, LearnedColumn]:
        """How each column is learned from."""
        return {name: LearnedColumn.of(self.levels[name], self.records(name), table[name].kind) for name in self.codes}


@dataclass(frozen=True, eq=False)
class _Look:
    """The records looked at: who is looked for, who is learned from, their true values and their secrets."""

    true: _Read
    columns: Mapping[str, LearnedColumn]
    secret: Codes
    looked_for: Codes
    others: Mask

    @classmethod
    def at(cls, question: TableQuestion, known: Sequence[str], people: int) -> _Look:
        """Evenly spaced records of the table as it is given."""
        table = question.as_given()
        names = tuple(dict.fromkeys([*question.secret, *question.released, *known]))
        true = _Read.of(table.sample(names, LOOKED_AT))
        secret = in_order(true.beside(question.secret))[1]
        n = len(secret)
        wanted = max(1, min(people, n // 2))
        looked_for = np.arange(wanted) * n // wanted
        others = np.ones(n, dtype=bool)
        others[looked_for] = False
        return cls(true, true.learned(table), secret, looked_for, others)

    @cached_property
    def prior(self) -> Vector:
        """P(s) among all records looked at."""
        return np.asarray(np.bincount(self.secret) / len(self.secret))

    def said(self, names: Sequence[str]) -> Codes:
        """The values of every record in some columns, as they are learned from."""
        codes = [self.columns[name].codes(self.true.levels[name])[self.true.codes[name]] for name in names]
        return np.column_stack(codes)

    def believed(self, names: Sequence[str], of: Codes, prior: Vector) -> Matrix:
        """P(of | values in some columns) of everybody looked for, learned from the others."""
        said = self.said(names)
        return lifts_of(said[self.looked_for], said[self.others], of[self.others], prior) * prior


@dataclass(frozen=True, eq=False)
class _File:
    """A file as the adversary has it: its different rows, which are true of whom, and what its levels stand for.

    ``told`` are the records looked at as this file would tell them, if it told the truth.
    """

    counts: Counts
    own: Codes
    fittings: Mapping[str, Fitting]
    columns: Mapping[str, LearnedColumn]
    told: _Read

    @classmethod
    def of(cls, counts: Counts, fittings: Mapping[str, Fitting], look: _Look, truth: Table) -> _File:
        """Of the different rows of a file; ``truth`` is the original as this file tells it."""
        told = _Read.of(truth.sample(counts.columns, LOOKED_AT))
        different, which = in_order(told.beside(counts.columns)[look.looked_for])
        seen = Symbols(counts.columns, tuple(told.levels[name] for name in counts.columns), different)
        own = seen.positions_in(Symbols(counts.columns, counts.levels, counts.codes))[which]
        return cls(counts, own, fittings, told.learned(truth), told)

    def levels(self, name: str) -> tuple[tuple[Any, ...], Codes]:
        """The levels of a column, and that of each row."""
        at = self.counts.columns.index(name)
        return self.counts.levels[at], self.counts.codes[:, at]

    def linked(self, known: Sequence[str], others: Sequence[str], belief: Matrix, look: _Look) -> Linked:
        """Everybody looked for, linked to this file by the columns that are known and released."""
        people, released, fits = [], [], []
        for name in known:
            codes = look.true.codes[name][look.looked_for]
            values, which = np.unique(codes, return_inverse=True)
            levels, rows = self.levels(name)
            kinds, fit = self.fittings[name].matching(levels, [look.true.levels[name][value] for value in values])
            people.append(which.reshape(-1))
            released.append(kinds[rows])
            fits.append(fit)
        said, lifts = self._sayings(others, look)
        return linkage(
            _stacked(people, len(look.looked_for)),
            _stacked(released, len(self.counts.records)),
            fits,
            records=self.counts.records,
            own=self.own,
            others=_stacked([self.levels(name)[1] for name in others], len(self.counts.records)),
            said=said,
            belief=belief,
            lifts=lifts,
        )

    def _sayings(self, others: Sequence[str], look: _Look) -> tuple[Codes, Matrix]:
        """What each row says of the secret by the columns that are not known: a row of the lifts."""
        if not others:
            return np.zeros(len(self.counts.records), np.int64), np.ones((1, len(look.prior)))
        said, learned = [], []
        for name in others:
            levels, rows = self.levels(name)
            said.append(self.columns[name].codes(levels)[rows])
            learned.append(self.columns[name].codes(self.told.levels[name])[self.told.codes[name]])
        asked, which = in_order(np.column_stack(said) + 1)
        lifts = lifts_of(asked - 1, np.column_stack(learned)[look.others], look.secret[look.others], look.prior)
        return which, lifts

    def read(self, found: Linked, at: int, name: str, look: _Look) -> tuple[Mask, Mask]:
        """Of whom a column was read as the very value it has, and of whom all candidates have a single value."""
        shares = look.true.records(name).astype(np.float64)
        meanings, alone = self.fittings[name].meanings(self.levels(name)[0], look.true.levels[name], shares)
        level = found.read[:, at]
        true = look.true.codes[name][look.looked_for]
        right = (level >= 0) & (meanings[level] == true)
        return right, (level >= 0) & found.agreed[:, at] & alone[level]


def _stacked(columns: Sequence[Codes], rows: int) -> Codes:
    return np.column_stack(columns) if columns else np.zeros((rows, 0), np.int64)


def _scenarios(question: TableQuestion, known: Sequence[str], look: _Look) -> list[tuple[tuple[str, ...], ...]]:
    """What is known, and which released columns are then left to be read."""
    released = question.released
    tried = [tuple(known)] if known else []
    if not known and len(released) > 1:
        telling = max(released, key=lambda name: _information(look, name))
        tried = [tuple(name for name in released if name != telling)]
    if all(set(each) != set(released) for each in tried):
        tried.append(released)
    return [(each, tuple(name for name in released if name not in each)) for each in tried]


def _information(look: _Look, name: str) -> float:
    """Mutual information of a column and the secret, less its bias by chance (Miller and Madow)."""
    values, column = np.unique(look.said([name]), return_inverse=True)
    n, shape = len(look.secret), (len(values), len(look.prior))
    cells = np.bincount(column.reshape(-1) * shape[1] + look.secret, minlength=shape[0] * shape[1]) / n
    joint = cells.reshape(shape)
    expected = joint.sum(axis=1, keepdims=True) * joint.sum(axis=0)
    some = joint > 0
    plug_in = float((joint[some] * np.log(joint[some] / expected[some])).sum())
    return plug_in - (shape[0] - 1) * (shape[1] - 1) / (2 * n)


def _finding(scenario: tuple[tuple[str, ...], ...], look: _Look, before: _File | None, after: _File) -> LinkageFinding:
    known, others = scenario
    released = [name for name in known if name in after.counts.columns]
    belief = look.believed(known, look.secret, look.prior)
    secret = look.secret[look.looked_for]
    files = [None if file is None else file.linked(released, others, belief, look) for file in (before, after)]
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
            _column_read(name, at, known, look, (before, original), (after, linked_after))
            for at, name in enumerate(others)
        ),
    )


def _score(found: Linked, secret: Codes) -> LinkageScore:
    return LinkageScore(
        found=float(found.found.mean()),
        found_right=_share(found.right, found.found),
        candidates=float(found.candidates.mean()),
        nobody=float((found.candidates == 0).mean()),
        secret_right=float((found.guess == secret).mean()),
    )


def _share(of: Mask, among: Mask) -> float | None:
    return float(of[among].mean()) if among.any() else None


def _column_read(
    name: str,
    at: int,
    known: tuple[str, ...],
    look: _Look,
    before: tuple[_File | None, Linked | None],
    after: tuple[_File, Linked],
) -> ColumnRead:
    right, agreed = after[0].read(after[1], at, name, look)
    original = None
    if before[0] is not None and before[1] is not None:
        original = float(before[0].read(before[1], at, name, look)[0].mean())
    return ColumnRead(
        name=name,
        knowing=_guessed(name, known, look),
        before=original,
        after=float(right.mean()),
        agreed=float(agreed.mean()),
        agreed_right=_share(right, agreed),
    )


def _guessed(name: str, known: tuple[str, ...], look: _Look) -> float:
    """How often a column is guessed right from what is known alone."""
    codes, shares = look.true.codes[name], look.true.records(name) / len(look.secret)
    guess: Any = int(shares.argmax())
    if len(shares) <= MOST_GUESSED:
        guess = look.believed(known, codes, shares).argmax(axis=1)
    return float((codes[look.looked_for] == guess).mean())
