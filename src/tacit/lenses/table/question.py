"""From words to a question that can be counted: which column is secret, which are released, and how they are cut."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from tacit.errors import ArgumentError, DataError, Setting, sentence
from tacit.lenses.table.results import ColumnRole, Role
from tacit.requests import Question
from tacit.tables.columns import Column
from tacit.tables.counting import distinct_counts
from tacit.tables.cutting import Cut, cut, cut_points
from tacit.tables.sources import open_table
from tacit.tables.table import Table

if TYPE_CHECKING:
    import pyarrow as pa

# A number column with more distinct values than this is cut unless the user says otherwise.
MANY_VALUES = 50
AUTOMATIC_BINS = 10
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


def ask(question: Question, *, also: Sequence[tuple[str, ...]] = (), cuts: Sequence[Cut] = ()) -> TableQuestion:
    """Settle the roles of the columns of a table: ``also`` are further secrets, ``cuts`` those of an earlier release.

    Columns that are not named are released, and the notes say so. A number column with many distinct values is cut
    into tenths. A column that is different in every row identifies people: it must be dropped, cut or confirmed.
    """
    table = question.source
    if not isinstance(table, Table):
        table = open_table(table, engine=question.engine)
    secret, keep_ids = tuple(question.secret or ()), tuple(question.keep_id or ())
    if not secret:
        words = "no secret column was named; say which column must not be learned ({secret})"
        raise ArgumentError(sentence(words, secret=Setting("secret", "COLUMN")))
    hidden = tuple(dict.fromkeys([*secret, *(name for each in also for name in each)]))
    weight = () if question.weight is None else (question.weight,)
    wishes = {**(question.bins or {}), **{made.column: made.edges for made in cuts}}
    table.require([*hidden, *(question.released or ()), *(question.drop or ()), *wishes, *keep_ids, *weight])
    table.require(list(question.levels or {}))
    shown = _released(table, question, hidden)
    notes = []
    if question.released is None:
        notes.append(f"released columns were not named, so all others count as released: {', '.join(shown)}")
    used = [table[name] for name in (*hidden, *shown)]
    table.require_countable([column.name for column in used])
    head = table.head([column.name for column in used], FIRST_LOOK)
    if head.num_rows == 0:
        raise DataError(f"{table.name} has no rows: there is nothing to measure")
    distinct = _distinct(table, [column for column in used if column.name not in wishes], head)
    _refuse_ids(table, used, distinct, head, confirmed={*wishes, *keep_ids})
    made, automatic = _cuts(table, used, wishes, {n: d for n, d in distinct.items() if n not in keep_ids})
    roles: dict[str, Role] = {
        **dict.fromkeys(weight, "weight"),
        **dict.fromkeys(shown, "released"),
        **dict.fromkeys(hidden, "secret"),
    }
    labels = {each.column: each.labels for each in made}
    return TableQuestion(
        original=table,
        table=cut(table, made) if made else table,
        secret=secret,
        released=shown,
        weight=question.weight,
        cuts=made,
        roles=tuple(
            ColumnRole(name, roles.get(name, "dropped"), distinct.get(name), labels.get(name)) for name in table.names
        ),
        notes=(*notes, *(note for _, note in automatic)),
        automatic=tuple((column, note) for column, note in automatic if column in shown),
        also=tuple(also),
    )


def _released(table: Table, question: Question, hidden: tuple[str, ...]) -> tuple[str, ...]:
    released, weight = tuple(question.released or ()), question.weight
    if weight is not None and weight in (*hidden, *released):
        raise ArgumentError(
            f"column '{weight}' is named as the weight and as secret or released; it can be one of them"
        )
    for name in released:
        if name in hidden:
            raise ArgumentError(f"column '{name}' is named both secret and released; a released secret hides nothing")
    apart = {*hidden, *(question.drop or ()), weight}
    shown = released or tuple(name for name in table.names if name not in apart)
    if not shown:
        words = "no released column is left in {table}: name at least one ({released})"
        raise ArgumentError(sentence(words, table=table.name, released=Setting("released", "COLUMN")))
    return shown


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
            name = column.name
            ways = {
                "drop": Setting("drop", name),
                "bins": Setting("bins", {name: 10}),
                "keep": Setting("keep_id", name),
            }
            words = (
                "column '{name}' of {table} is different in every one of the {rows:,} rows, so it identifies them: "
                "leave it out ({drop}), cut it ({bins}) or confirm that it is to be released as it is ({keep})"
            )
            raise DataError(sentence(words, name=name, table=table.name, rows=rows, **ways))


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
    if column.kind != "number":
        words = "column '{name}' holds {kind}, not numbers; only numbers can be cut ({bins})"
        raise ArgumentError(sentence(words, name=column.name, kind=column.kind, bins=Setting("bins")))
    return cut_points(table, column.name, wish) if isinstance(wish, int) else Cut(column.name, tuple(wish))
