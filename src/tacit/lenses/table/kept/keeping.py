"""What a reader keeps, measured: of each column, of whole rows, of associations between columns, of uses."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import combinations
from typing import TYPE_CHECKING

import numpy as np

from tacit.errors import ColumnError, DataError
from tacit.learn.arrays import Codes, Floats
from tacit.lenses.table.kept.information import cramers_v, entropy_of, kept_share, numbered
from tacit.lenses.table.kept.levels import LevelDictionary
from tacit.lenses.table.kept.reading import ReleasedColumn
from tacit.lenses.table.kept.uses import IN_TURN, NAMED, use_scores
from tacit.lenses.table.kept.values import ColumnValues, ValueGroups
from tacit.release.kept import (
    MOST_IN_TURN,
    AssociationChange,
    ColumnKept,
    InformationKept,
    ReaderKeeps,
    Uses,
    UseScore,
)

if TYPE_CHECKING:
    import pyarrow as pa

# Associations are measured between this many of the first columns.
MOST_ASSOCIATED = 40
# This many rows suffice to measure an association.
MOST_ASSOCIATED_ROWS = 20_000
_ROWS_AT_ONCE = 5_000


def kept_of(
    original: pa.Table,
    release: pa.Table,
    *,
    released: Sequence[str],
    kinds: Mapping[str, str],
    dictionary: LevelDictionary | None = None,
    use: Sequence[str] | None = None,
    information: InformationKept | None = None,
    scored: bool = True,
    random_state: int = 0,
) -> ReaderKeeps:
    """What a reader of a release keeps of the original table.

    Parameters
    ----------
    original, release : pa.Table
        The same rows before and after release, in the same order; all rows have equal weight.
    released : sequence of str
        The columns of the release to measure.
    kinds : mapping
        The kind of each column of the original: text, number, boolean or time.
    dictionary : mapping, optional
        For each column, what its levels stand for: text to (low, high), or to a tuple of values for texts. Levels that
        it does not list are read by their words.
    use : sequence of str, optional
        Columns of the original to predict, released or not. By default, each released column in turn, if there are few.
    information : InformationKept, optional
        What released rows tell about original rows, if it is known exactly: for a drawn release, from its channel.
    scored : bool
        Whether models are trained for the scores of uses; nothing else depends on it.
    random_state : int
        Seed of the shuffles, the split and the models.

    Returns
    -------
    ReaderKeeps
        ``kept`` of a column is I(column; released row) / H(column), both less chance, or the same for the column's own
        released cell if that is more (rows that are all different tell nothing by counting). Columns are taken
        coarsely: at most 20 values, numbers in tenths of the original. ``shift`` is the total variation between the
        shares of these groups and those that a reader works out from the release only. Associations are Cramér's V
        of these groups, corrected for chance; a level is spread over its groups by the same shares. All of it is
        plug-in.
    """
    if original.num_rows != release.num_rows or not original.num_rows:
        raise DataError(f"the original has {original.num_rows:,} rows and the release {release.num_rows:,}")
    for name in use or ():
        if name not in original.column_names:
            raise ColumnError(name, original.column_names)
    measured = dict.fromkeys([*released, *(use or ())])
    values = {name: ColumnValues.of(name, original.column(name), kinds[name]) for name in measured}
    columns = {
        name: ReleasedColumn.of(values[name], release.column(name), (dictionary or {}).get(name, {}))
        for name in released
    }
    groups = {name: ValueGroups.coarse(values[name]) for name in released}
    rows = numbered([column.codes for column in columns.values()])
    kept = kept_shares(columns, groups, rows, random_state=random_state)
    scores, uses = _scores(values, columns, use, random_state) if scored else ((), "in turn")
    return ReaderKeeps(
        columns=tuple(ColumnKept(name, kept[name], _shift(columns[name], groups[name])) for name in released),
        information=information or _information([values[name].codes for name in released], rows),
        association_error=_associations(columns, groups),
        use=scores,
        uses=uses,
        rows_used=original.num_rows,
    )


def kept_shares(
    columns: Mapping[str, ReleasedColumn], groups: Mapping[str, ValueGroups], rows: Codes, *, random_state: int = 0
) -> dict[str, float]:
    """What is kept of each column, as :func:`kept_of` says; ``rows`` tells released rows apart."""
    rng = np.random.default_rng(random_state)
    return {name: round(_kept(column, groups[name], rows, rng), 4) for name, column in columns.items()}


def _kept(column: ReleasedColumn, groups: ValueGroups, rows: Codes, rng: np.random.Generator) -> float:
    originals = groups.rows(column.original)
    own = kept_share(originals, column.symbols(groups), rng)
    return max(own, kept_share(originals, rows, rng)) if own < 1 else own


def _shift(column: ReleasedColumn, groups: ValueGroups) -> float:
    """Total variation between the original shares of the groups and those that a reader works out."""
    originals = groups.rows(column.original)
    before = np.bincount(originals, minlength=groups.size) / len(originals)
    after = np.bincount(groups.of, column.shares, groups.size)
    return round(float(np.clip(np.abs(after - before).sum() / 2, 0.0, 1.0)), 4)


def _information(originals: Sequence[Codes], rows: Codes) -> InformationKept:
    return InformationKept(round(entropy_of(rows), 4), round(entropy_of(numbered(originals)), 4), "plug-in")


def _associations(columns: Mapping[str, ReleasedColumn], groups: Mapping[str, ValueGroups]) -> AssociationChange | None:
    names = list(columns)[:MOST_ASSOCIATED]
    if len(names) < 2:
        return None
    starts = np.cumsum([0, *(groups[name].size for name in names)])
    step = -(-len(columns[names[0]].codes) // MOST_ASSOCIATED_ROWS)
    before = _together([(np.eye(groups[n].size), groups[n].rows(columns[n].original)[::step]) for n in names])
    after = _together([(columns[n].spread(groups[n]), columns[n].codes[::step]) for n in names])
    moved = {}
    for i, j in combinations(range(len(names)), 2):
        at = np.s_[starts[i] : starts[i + 1], starts[j] : starts[j + 1]]
        moved[names[i], names[j]] = abs(cramers_v(before[at]) - cramers_v(after[at]))
    worst = max(moved, key=lambda pair: moved[pair])
    largest = min(1.0, round(moved[worst], 4))
    return AssociationChange(min(1.0, round(float(np.mean(list(moved.values()))), 4)), largest, len(moved), worst)


def _together(columns: Sequence[tuple[Floats, Codes]]) -> Floats:
    """How often any two groups, of any two columns, share a row; a row may belong in part to several groups."""
    width, n = sum(shares.shape[1] for shares, _ in columns), len(columns[0][1])
    total = np.zeros((width, width))
    for start in range(0, n, _ROWS_AT_ONCE):
        block = np.hstack([shares[codes[start : start + _ROWS_AT_ONCE]] for shares, codes in columns])
        total += block.T @ block
    return total


def _scores(
    values: Mapping[str, ColumnValues],
    columns: Mapping[str, ReleasedColumn],
    use: Sequence[str] | None,
    random_state: int,
) -> tuple[tuple[UseScore, ...], Uses]:
    if use:
        return use_scores(values, columns, use, effort=NAMED, random_state=random_state), "named"
    if len(columns) > MOST_IN_TURN:
        return (), "too many columns"
    scores = use_scores(values, columns, list(columns), effort=IN_TURN, random_state=random_state)
    return scores, "in turn"
