"""How large the groups of records with the same values are: who is alone, and whose group has a single secret."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from tacit.errors import ArgumentError
from tacit.tables.counting import Counts, count, counted_before, counted_here
from tacit.tables.rewriting import scores
from tacit.tables.table import Table

if TYPE_CHECKING:
    import narwhals as nw

    from tacit.tables.engines.protocol import Rows

_SECRET, _RARITY = "__tacit_secret__", "__tacit_rarity__"


@dataclass(frozen=True)
class GroupSizes:
    """The groups of records that share their values in some columns.

    Attributes
    ----------
    people, groups : int
        Records, each counted as one person whatever it weighs, and groups.
    unique : int
        People whose combination of values nobody else has.
    smallest : int
        Size of the smallest group: the k of k-anonymity.
    few : int
        People in groups of fewer than ``least``.
    fewest_secrets : int or None
        Different secrets in the group that has fewest: the l of (distinct) l-diversity. None where no secret was named.
    one_secret : int or None
        People in groups whose members all have the same secret: whoever finds the group knows the secret.
    largest_lift : float or None
        How many times as common a secret is in a group as overall, at most.
    """

    people: int
    groups: int
    unique: int
    smallest: int
    few: int
    fewest_secrets: int | None = None
    one_secret: int | None = None
    largest_lift: float | None = None


def group_sizes(table: Table, columns: Sequence[str], secret: Sequence[str] = (), *, least: int = 10) -> GroupSizes:
    """Count the groups of records that agree on ``columns``, in the engine; a single row comes back.

    Parameters
    ----------
    table : Table
    columns : sequence of str
        At least one.
    secret : sequence of str
        Column(s) whose different values are counted within a group.
    least : int
        Groups of fewer people than this are ``few``.

    Guarantees
    ----------
    The result is the same on every engine. Missing is a value of its own; NaN is missing; -0.0 is 0.0. There is no
    limit to the number of groups but the engine's.
    """
    import narwhals as nw

    columns, secret = list(columns), list(secret)
    if not columns:
        raise ArgumentError("name at least one column to group by")
    table.require_countable([*columns, *secret])
    earlier = counted_before(table, [*columns, *secret]) or counted_here(table, [*columns, *secret])
    if earlier is not None:
        return _here(earlier, columns, secret, least)
    if not secret:
        rows, names = _rows(table, columns)
        groups = rows.group_by(*names).agg(nw.len().alias("n"))
        return GroupSizes(*map(int, _summed(table, groups, _sizes(least))))
    rows, (*names, number, rarity) = _rows(_with_rarity(table, secret), [*columns, _SECRET, _RARITY])
    by_secret = rows.group_by(*names, number).agg(nw.len().alias("m"), nw.col(rarity).max().alias("r"))
    groups = by_secret.group_by(*names).agg(
        nw.col("m").sum().alias("n"),
        nw.len().alias("secrets"),
        (nw.col("m") * nw.col("r")).max().alias("most"),
    )
    exposed = nw.when(nw.col("secrets") == 1).then(nw.col("n")).otherwise(nw.lit(0))
    lift = nw.col("most") / nw.col("n")
    diverse = [nw.col("secrets").min().alias("l"), exposed.sum().alias("one"), lift.max().alias("lift")]
    *whole, largest = _summed(table, groups, [*_sizes(least), *diverse])
    people, groups_found, unique, smallest, few, fewest, one = map(int, whole)
    return GroupSizes(people, groups_found, unique, smallest, few, fewest, one, float(largest))


def _here(counts: Counts, columns: Sequence[str], secret: Sequence[str], least: int) -> GroupSizes:
    """The same for a table whose rows were counted in this process."""
    group, records = counts.symbols(columns)[1], counts.records
    size = np.bincount(group, records).astype(np.int64)
    sizes = GroupSizes(
        int(size.sum()), len(size), int((size == 1).sum()), int(size.min()), int(size[size < least].sum())
    )
    if not secret:
        return sizes
    which = counts.symbols(secret)[1]
    rarity = size.sum() / np.bincount(which, records)
    # Groups are in order, and each has every secret of its people once.
    most = np.maximum.reduceat(records * rarity[which], np.flatnonzero(np.diff(group, prepend=-1)))
    secrets = np.bincount(group)
    return replace(
        sizes,
        fewest_secrets=int(secrets.min()),
        one_secret=int(size[secrets == 1].sum()),
        largest_lift=float((most / size).max()),
    )


def _sizes(least: int) -> list[nw.Expr]:
    import narwhals as nw

    size = nw.col("n")
    unique = nw.when(size == 1).then(size).otherwise(nw.lit(0))
    few = nw.when(size < least).then(size).otherwise(nw.lit(0))
    return [
        size.sum().alias("people"),
        nw.len().alias("groups"),
        unique.sum().alias("unique"),
        size.min().alias("smallest"),
        few.sum().alias("few"),
    ]


def _summed(table: Table, groups: Rows, aggregates: Sequence[nw.Expr]) -> list[Any]:
    answer = table.collected(groups.select(*aggregates)).to_pylist()[0]
    # For a table without rows an engine gives no sums.
    return [0 if value is None else value for value in answer.values()]


def _rows(table: Table, columns: Sequence[str]) -> tuple[Rows, list[str]]:
    """The columns as c0, c1, ..., with NaN as missing and -0.0 as 0.0, so that the engine agrees; and those names."""
    import narwhals as nw

    rows, names = table.plainly(columns)
    floats = [n for n, column in zip(names, columns, strict=True) if table[column].dtype.startswith("Float")]
    if not floats:
        return rows, names
    zero = [nw.when(nw.col(name) == 0).then(nw.lit(0.0)).otherwise(nw.col(name)).alias(name) for name in floats]
    without_nan = [nw.when(~nw.col(name).is_nan()).then(nw.col(name)).alias(name) for name in floats]
    return rows.with_columns(*without_nan).with_columns(*zero), names


def _with_rarity(table: Table, secret: Sequence[str]) -> Table:
    """The table with the number of each row's secret, and its rarity: all records per record with that secret."""
    counts = count(table, secret)
    symbols, which = counts.symbols(secret)
    records = np.bincount(which, weights=counts.records, minlength=len(symbols))
    return scores(table, symbols, {_SECRET: np.arange(len(symbols)), _RARITY: records.sum() / records})
