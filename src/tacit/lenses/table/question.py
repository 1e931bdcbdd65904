"""From words to a question that can be counted: which column is secret, which are released, and how they are cut."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Literal

from tacit.errors import ArgumentError, DataError, Setting, sentence
from tacit.lenses.table.results import ColumnRole
from tacit.tables.columns import Column
from tacit.tables.counting import distinct_counts
from tacit.tables.cutting import Cut, cut, cut_points
from tacit.tables.sources import open_table
from tacit.tables.table import Table

if TYPE_CHECKING:
    import pyarrow as pa

Names = str | Sequence[str] | None
Bins = Mapping[str, int | Sequence[float]]

# A number column with more distinct values than this is cut unless the user says otherwise.
MANY_VALUES = 50
AUTOMATIC_BINS = 10
MOST_BINS = 100
# Rows looked at before deciding whether a text column could be different in every row.
FIRST_LOOK = 2_000


@dataclass(frozen=True)
class TableQuestion:
    """A table with its columns' roles settled and its cuts made; ``table`` is what will be counted and released.

    ``automatic`` are the cuts of released columns that nobody asked for: the column and the note that says so.
    ``also`` are further secrets, each a column or a combination of columns.
    """

    original: Table
    table: Table
    secret: tuple[str, ...]
    released: tuple[str, ...]
    weight: str | None
    cuts: tuple[Cut, ...]
    roles: tuple[ColumnRole, ...]
    notes: tuple[str, ...]
    automatic: tuple[tuple[str, str], ...] = ()
    also: tuple[tuple[str, ...], ...] = ()

    @property
    def hidden(self) -> tuple[str, ...]:
        """Every column that is secret, alone or in combination."""
        return tuple(dict.fromkeys([*self.secret, *(name for each in self.also for name in each)]))

    def uncut(self) -> TableQuestion:
        """The same question at full resolution: only the secret's cuts, and those that were asked for, remain."""
        undone = {column for column, _ in self.automatic}
        cuts = tuple(made for made in self.cuts if made.column not in undone)
        said = {note for _, note in self.automatic}
        return replace(
            self,
            table=cut(self.original, cuts) if cuts else self.original,
            cuts=cuts,
            roles=tuple(replace(role, cut=None) if role.name in undone else role for role in self.roles),
            notes=tuple(note for note in self.notes if note not in said),
            automatic=(),
        )


def names(value: Names) -> tuple[str, ...]:
    """One name or several, as a tuple."""
    if value is None:
        return ()
    return (value,) if isinstance(value, str) else tuple(value)


def ask(
    source: Any,
    *,
    secret: Names,
    released: Names = None,
    drop: Names = None,
    bins: Bins | None = None,
    weight: str | None = None,
    keep_ids: Names = None,
    also: Sequence[tuple[str, ...]] = (),
    engine: str = "duckdb",
) -> TableQuestion:
    """Settle the roles of the columns of ``source``.

    Columns that are not named are released, and the notes say so. A number column with many distinct values is cut
    into tenths. A column that is different in every row identifies people: it must be dropped, cut or confirmed.
    """
    table = source if isinstance(source, Table) else open_table(source, engine=engine)
    secrets, dropped = names(secret), names(drop)
    if not secrets:
        raise ArgumentError(
            sentence(
                "no secret column was named; say which column must not be learned ({secret})",
                secret=Setting("secret", "COLUMN"),
            )
        )
    _refuse_twice(secrets, "secret")
    _refuse_twice(names(released), "released")
    wishes = dict(bins or {})
    hidden = tuple(dict.fromkeys([*secrets, *(name for each in also for name in each)]))
    table.require([*hidden, *names(released), *dropped, *wishes, *names(keep_ids), *names(weight)])
    shown = _released(table, hidden, names(released), dropped, weight)
    notes = []
    if released is None:
        notes.append(f"released columns were not named, so all others count as released: {', '.join(shown)}")
    by_name = {column.name: column for column in table.columns}
    used = [by_name[name] for name in (*hidden, *shown)]
    table.require_countable([column.name for column in used])
    head = table.head([column.name for column in used], FIRST_LOOK)
    if head.num_rows == 0:
        raise DataError(f"{table.name} has no rows: there is nothing to measure")
    distinct = _distinct(table, [column for column in used if column.name not in wishes], head)
    _refuse_ids(table, used, distinct, head, confirmed={*wishes, *names(keep_ids)})
    cuts, automatic = _cuts(table, used, wishes, {n: d for n, d in distinct.items() if n not in names(keep_ids)})
    roles = _roles(table, hidden, shown, weight, distinct, cuts)
    return TableQuestion(
        original=table,
        table=cut(table, cuts) if cuts else table,
        secret=secrets,
        released=shown,
        weight=weight,
        cuts=cuts,
        roles=roles,
        notes=(*notes, *(note for _, note in automatic)),
        automatic=tuple((column, note) for column, note in automatic if column in shown),
        also=tuple(also),
    )


def _released(
    table: Table, secret: tuple[str, ...], released: tuple[str, ...], dropped: tuple[str, ...], weight: str | None
) -> tuple[str, ...]:
    if weight is not None and weight in (*secret, *released):
        raise ArgumentError(
            f"column '{weight}' is named as the weight and as secret or released; it can be one of them"
        )
    for name in released:
        if name in secret:
            raise ArgumentError(f"column '{name}' is named both secret and released; a released secret hides nothing")
        if name in dropped:
            raise ArgumentError(f"column '{name}' is named both released and dropped")
    apart = {*secret, *dropped, *names(weight)}
    shown = released or tuple(column.name for column in table.columns if column.name not in apart)
    if not shown:
        raise ArgumentError(
            sentence(
                "no released column is left in {table}: name at least one ({released})",
                table=table.name,
                released=Setting("released", "COLUMN"),
            )
        )
    return shown


def _refuse_twice(columns: tuple[str, ...], role: str) -> None:
    for name in columns:
        if columns.count(name) > 1:
            raise ArgumentError(f"column '{name}' is named twice as {role}: name it once")


def _distinct(table: Table, used: Sequence[Column], head: pa.Table) -> dict[str, int]:
    """Distinct values of the columns for which the number matters; a plain category needs no extra pass."""

    def matters(column: Column) -> bool:
        values = head.column(column.name).drop_null()
        different = len(values.unique())
        return different > MANY_VALUES if column.kind == "number" else 0 < different == len(values)

    wanted = [column.name for column in used if matters(column)]
    return distinct_counts(table, wanted) if wanted else {}


def _refuse_ids(
    table: Table, used: Sequence[Column], distinct: Mapping[str, int], head: pa.Table, *, confirmed: set[str]
) -> None:
    suspects = [column for column in used if column.name in distinct and column.name not in confirmed]
    rows = table.row_count() if suspects else 0
    for column in suspects:
        # A measured quantity is often different in every row without naming anyone; it gets cut. A whole number is not.
        measured = column.kind == "number" and not _whole(head.column(column.name))
        if distinct[column.name] >= rows > 1 and not measured:
            raise DataError(
                sentence(
                    "column '{column}' of {table} is different in every one of the {rows:,} rows, so it identifies "
                    "them: leave it out ({drop}), cut it ({bins}) or confirm that it is to be released as it is "
                    "({keep})",
                    column=column.name,
                    table=table.name,
                    rows=rows,
                    drop=Setting("drop", column.name),
                    bins=Setting("bins", {column.name: 10}),
                    keep=Setting("keep_id", column.name),
                )
            )


def _whole(values: pa.ChunkedArray) -> bool:
    return all(float(value).is_integer() for value in values.drop_null().to_pylist())


def _cuts(
    table: Table, used: Sequence[Column], wishes: Mapping[str, int | Sequence[float]], distinct: Mapping[str, int]
) -> tuple[tuple[Cut, ...], list[tuple[str, str]]]:
    """The cuts to make, and of those that nobody asked for the column and a note."""
    cuts: list[Cut] = []
    automatic: list[tuple[str, str]] = []
    for column in used:
        name = column.name
        if name in wishes:
            cuts.append(_wished(table, column, wishes[name]))
        elif column.kind == "number" and distinct.get(name, 0) > MANY_VALUES:
            cuts.append(cut_points(table, name, AUTOMATIC_BINS))
            note = sentence(
                "column '{name}' has {distinct:,} distinct numbers and was cut into {groups} groups of about equal "
                "size; choose your own with {bins} or {edges}",
                name=name,
                distinct=distinct[name],
                groups=len(cuts[-1].labels),
                bins=Setting("bins", {name: 10}),
                edges=Setting("bins", {name: [18, 30, 65]}),
            )
            automatic.append((name, note))
    unknown = set(wishes) - {column.name for column in used}
    if unknown:
        raise ArgumentError(f"column '{min(unknown)}' is to be cut but is neither secret nor released")
    return tuple(cuts), automatic


def _wished(table: Table, column: Column, wish: int | Sequence[float]) -> Cut:
    """The cut that was asked for: so many groups of equal size, or at these edges."""
    name = column.name
    if column.kind != "number":
        raise ArgumentError(
            sentence(
                "column '{name}' holds {kind}, not numbers; only numbers can be cut ({bins})",
                name=name,
                kind=column.kind,
                bins=Setting("bins"),
            )
        )
    groups = wish if isinstance(wish, int) else len(wish) + 1
    # One group is what edges say of a column of a single value; nobody asks for that by a number.
    if not (2 if isinstance(wish, int) else 1) <= groups <= MOST_BINS:
        raise ArgumentError(
            sentence(
                "column '{name}' cannot be cut into {groups} groups ({bins}): choose between 2 and {most}",
                name=name,
                groups=groups,
                bins=Setting("bins", {name: groups}),
                most=MOST_BINS,
            )
        )
    return cut_points(table, name, wish) if isinstance(wish, int) else Cut(name, tuple(map(float, wish)))


def _roles(
    table: Table,
    secret: tuple[str, ...],
    released: tuple[str, ...],
    weight: str | None,
    distinct: Mapping[str, int],
    cuts: Sequence[Cut],
) -> tuple[ColumnRole, ...]:
    labels = {made.column: made.labels for made in cuts}
    roles = []
    for name in table.names:
        if name in (*secret, *released):
            role: Literal["secret", "released"] = "secret" if name in secret else "released"
            roles.append(ColumnRole(name, role, distinct.get(name), cut=labels.get(name)))
        else:
            roles.append(ColumnRole(name, "weight" if name == weight else "dropped", None))
    return tuple(roles)
