"""The lines of a verification about rows: the original, treated by the rules once more, must give the release."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

from tacit.codes.coding import CELL, atom_codes, cells_of_groups, counts_by_cell, told_counts
from tacit.lenses.table.tabulating import Counted
from tacit.lift import Mask, log_lift
from tacit.release.certificate import IN_CELLS, CountedCertificate
from tacit.release.checks import Check
from tacit.release.rules import ReleaseRules
from tacit.tables.counting import count, counted_before
from tacit.tables.pairing import Pairs, counted_beside, numbers_apart, paired, rows_apart, spelled_apart, spelled_oddly
from tacit.tables.rewriting import drawn_numbers
from tacit.tables.symbols import Symbols
from tacit.tables.table import Table

if TYPE_CHECKING:
    import pyarrow as pa

# At most this many rows are compared in memory; if their types differ, their symbols decide.
FEW_ROWS = 200_000
# The key if nothing is drawn: a treatment always takes one, and then does not use it.
_NO_KEY = bytes(32)
_NUMBER = "number"


@dataclass(frozen=True)
class RowComparison:
    """A release set against its original; ``rules`` are those by which it was made, if they are known."""

    original: Counted
    data: Table
    certificate: CountedCertificate
    rules: ReleaseRules | None

    @cached_property
    def outputs(self) -> Symbols:
        """The released values that the file holds."""
        released = self.certificate.released
        return count(self.data, released).symbols(released)[0]

    @cached_property
    def pairs(self) -> Pairs:
        """How often each secret and value of the original became which output."""
        question = self.original.question
        secrets = self.original.counts.symbols(question.secret)[0]
        return paired(question.table, self.data, secrets=secrets, values=self.original.symbols, outputs=self.outputs)

    @cached_property
    def merged(self) -> Mask:
        """The values that are not always released unchanged: by the rules, or else as the rows show it.

        In the latter case these are the values that changed, those they changed into, and those that are too risky.
        """
        original, certificate = self.original, self.certificate
        if certificate.mechanism.replacement == IN_CELLS:
            return np.zeros(original.joint.shape[1], dtype=bool)
        if self.rules is not None:
            return self.rules.treatment.touched(original.symbols.positions_in(self.rules.symbols))
        pairs, changed = self.pairs, np.zeros(original.joint.shape[1], dtype=bool)
        moved = pairs.value != pairs.output_as_value
        changed[pairs.value[moved]] = True
        changed[pairs.output_as_value[moved & (pairs.output_as_value >= 0)]] = True
        return changed | certificate.bounds.beyond_ceiling(log_lift(original.joint)).any(axis=0)


def made_again(original: Counted, data: Table, rules: ReleaseRules, key: bytes | None) -> Table:
    """What the rules make of the original, in the columns of the data."""
    return rules.applied(original.question.table.select(data.names), key or _NO_KEY, present=original.symbols)


def rows_that_differ(original: Counted, data: Table, rules: ReleaseRules, key: bytes | None) -> int:
    """How many rows differ from the original treated by the rules, drawing with the key of the release.

    Guarantees
    ----------
    0 only if every cell of every row of the data is counted as what the rules make of the original.
    """
    again = made_again(original, data, rules, key)
    few = data.row_count() <= FEW_ROWS
    if _rows_of(again).equals(_rows_of(data)) if few else _drawn_alike(original, data, rules, key):
        return 0
    written = count(data, data.names).symbols(data.names)[0]
    return rows_apart(again, data, written)


def _drawn_alike(original: Counted, data: Table, rules: ReleaseRules, key: bytes | None) -> bool:
    """Whether every row has the symbol that the rules draw for it; False also where that cannot be told by numbers."""
    if rules.as_coded or {*data.names} != {*rules.symbols.columns}:
        return False
    table, draws = original.question.table.select(data.names), rules.treatment.draw_tables()
    numbers = drawn_numbers(table, rules.symbols, draws, key=key or _NO_KEY, name=_NUMBER)
    return numbers is not None and numbers_apart(numbers, _NUMBER, data, rules.symbols) == 0


def written_as_counted(original: Counted, data: Table, rules: ReleaseRules) -> bool | None:
    """Whether the data holds, row by row, the cells of the original, and as often with each secret as was counted.

    None if one pass through both cannot tell: if something was drawn or is written as numbers, if values have too many
    combinations, or if the table is small.

    Guarantees
    ----------
    True only if every cell of every row of the data, read alongside the original, is what the code of the rules makes
    of it, and if the secrets of these rows, as counted in the original, give the records that the claim rests on.
    """
    question, code = original.question, rules.code
    shown = [name for name in data.names if name not in question.released]
    if (
        code is None
        or not rules.as_coded
        or code.numbers
        or shown
        or question.weight is not None
        or data.row_count() <= FEW_ROWS
    ):
        return None
    source, released = question.original, code.columns
    earlier = counted_before(source, [*question.hidden, *released])
    if earlier is None:
        # There may be as many combinations as rows.
        return None
    pairs = counted_beside(source, released, data, released)
    if pairs is None:
        return None
    before, after = pairs.columns[: len(released)], pairs.columns[len(released) :]
    if not pairs.by(before).agrees(earlier.by(released)):
        return False
    cell, of_known = (cells_of_groups(code, *each, source.name) for each in ((pairs, before), (earlier, released)))
    for column, texts in zip(after, code.texts, strict=True):
        if not (pairs.values(column) == np.array(texts, dtype=object)[cell]).all():
            return False
    # The rows are read side by side without the secrets; how often these occur was counted in the same file.
    data.remembered.append(replace(pairs.by(after), columns=released))
    by_cell = counts_by_cell(earlier, question.hidden, of_known)
    again = told_counts(source, code, by_cell, atom_codes(by_cell, [CELL])[:, 0])
    return again.agrees(original.counts)


def _rows_of(table: Table) -> pa.Table:
    """All rows in their order, each column in one piece."""
    import pyarrow as pa

    return pa.concat_tables(list(table.batches(table.names, FEW_ROWS))).combine_chunks()


def check_of_rows_made_again(rows: RowComparison, rules: ReleaseRules, key: bytes | None, *, same: bool) -> Check:
    """Every row is made again and compared with the release, unless making it again gave the ``same`` file."""
    differ = 0 if same else rows_that_differ(rows.original, rows.data, rules, key)
    if not same and not differ:
        differ = spelled_apart(made_again(rows.original, rows.data, rules, key), rows.data)
    how = "drawn again with the key of the release" if rules.treatment.drawn else "made again"
    return Check("every row is as the rules make it", differ == 0, f"{how}: {differ:,} records differ")


def check_of_merging(rows: RowComparison) -> Check:
    """Without the rules, if nothing was drawn: merged records all look the same, and no other says more than it did."""
    looks = len(np.unique(rows.pairs.output[rows.merged[rows.pairs.value]]))
    odd = spelled_oddly(rows.data.select(rows.certificate.released))
    detail = f"{odd:,} records hold a number that protect does not write" if odd else f"they carry {looks:,} values"
    return Check("merged records all look the same", looks < 2 and not odd, detail)
