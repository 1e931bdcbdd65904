"""What a reader keeps of a table in its engine: measured on samples of the same rows, and the entropy of all rows."""

from __future__ import annotations

import math
from collections.abc import Sequence

from tacit.lenses.table.kept.keeping import kept_of
from tacit.lenses.table.kept.levels import LevelDictionary
from tacit.lift import entropy
from tacit.release.kept import InformationKept, ReaderKeeps
from tacit.tables.counting import counted_before
from tacit.tables.numbers import as_number
from tacit.tables.table import Table

MOST_ROWS = 50_000


def kept_of_tables(
    original: Table,
    release: Table,
    *,
    released: Sequence[str],
    dictionary: LevelDictionary | None = None,
    use: Sequence[str] | None = None,
    released_entropy: float | None = None,
    whole: float | None = None,
    weight: str | None = None,
    scored: bool = True,
    random_state: int = 0,
) -> ReaderKeeps:
    """What a reader of ``release`` keeps of ``original``, from at most 50,000 evenly spaced rows of both.

    Guarantees
    ----------
    The information kept is that of all rows, counted in the engine, and exact: if nothing was drawn, it is the entropy
    of the released rows; otherwise it is ``released_entropy``, the mutual information of the channel in nats.
    Everything else is measured on the sampled rows, which count equally, whatever ``weight`` says. ``whole`` is the
    entropy of the original's rows, if it is known.
    """
    names = list(dict.fromkeys([*released, *(use or ())]))
    if whole is None:
        # The release of a weighted table has no weights.
        whole = rows_entropy(original, released, weight=None if released_entropy is None else weight)
    released_entropy = rows_entropy(release, released) if released_entropy is None else released_entropy
    return kept_of(
        original.sample(names, MOST_ROWS),
        release.sample(list(released), MOST_ROWS),
        released=released,
        kinds={column.name: column.kind for column in original.columns},
        dictionary=dictionary,
        use=use,
        information=InformationKept(round(released_entropy, 4), round(whole, 4), "exact"),
        scored=scored,
        random_state=random_state,
    )


def rows_entropy(table: Table, columns: Sequence[str], *, weight: str | None = None) -> float:
    """Entropy in nats of the rows of some columns, counted in the engine."""
    import narwhals as nw

    table.require_countable(list(columns))
    earlier = counted_before(table, columns) if weight is None else None
    if earlier is not None:
        return entropy(earlier.records / earlier.records.sum()) if len(earlier.records) else 0.0
    rows, names = table.plainly(columns)
    size = nw.len().cast(nw.Float64)
    if weight is not None:
        rows = table.picked([*columns, weight], [*names, "w"])
        rows = rows.with_columns(as_number("w", table[weight]).alias("w"))
        size = nw.col("w").sum()
    groups = rows.group_by(*names).agg(size.alias("n"))
    groups = groups if weight is None else groups.filter(nw.col("n") > 0)
    sums = groups.select(nw.col("n").sum().alias("n"), (nw.col("n") * nw.col("n").log()).sum().alias("nlogn"))
    answer = table.collected(sums).to_pylist()[0]
    total = float(answer["n"] or 0.0)
    return max(0.0, math.log(total) - float(answer["nlogn"]) / total) if total > 0 else 0.0
