"""From a request to a question that can be counted: which column is secret, which are released, how they are cut."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, cast

from tacit.codes.code import CellCode
from tacit.codes.coding import PlacedTable, coded, placed
from tacit.codes.scales.encoding import told_at
from tacit.codes.scales.finding import find_scales
from tacit.codes.scales.making import NumberWish
from tacit.codes.scales.scale import Scale
from tacit.errors import ArgumentError, Command, DataError, Setting, sentence
from tacit.lenses.table.results import ColumnRole, Role
from tacit.lenses.table.roles.absent import notes_of_absent
from tacit.requests import Question
from tacit.tables.columns import Column
from tacit.tables.counting import distinct_counts
from tacit.tables.cutting import Cut, cut, cut_points
from tacit.tables.gathering import gathered
from tacit.tables.numbers import in_numbers
from tacit.tables.sources import open_table
from tacit.tables.table import Table

if TYPE_CHECKING:
    import pyarrow as pa

# A number column with more distinct values than this is cut unless the user says otherwise.
MANY_VALUES = 50
AUTOMATIC_BINS = 10
# Rows read before deciding whether a text column could be different in every row.
FIRST_LOOK = 2_000


@dataclass(frozen=True)
class TableQuestion:
    """A table with its columns' roles settled and its cuts made; ``table`` is what will be counted and released.

    ``automatic`` are the cuts of released columns that nobody asked for: the column and the note that says so.
    ``also`` are further secrets, each a column or a combination of columns; ``secret_values`` are the values that are
    secret if the rest of the column counts as one. ``known`` are columns that an adversary may know, ``use`` those
    that readers want, ``levels`` what columns may be told as, if the user said so; ``scales`` are these levels if the
    table is told at them. With a ``code``, the table is written in cells, and ``found`` has the cell of each record.
    With ``thresholds``, the secret is a number whose thresholds are bounded; its groups are only for the measures.
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
    secret_values: tuple[str, ...] = ()
    known: tuple[str, ...] = ()
    use: tuple[str, ...] = ()
    levels: Mapping[str, Any] = field(default_factory=dict)
    scales: tuple[Scale, ...] = ()
    code: CellCode | None = None
    thresholds: float | None = None
    found: PlacedTable | None = None

    @property
    def hidden(self) -> tuple[str, ...]:
        """Every column that is secret, alone or in combination."""
        return tuple(dict.fromkeys([*self.secret, *(name for each in self.also for name in each)]))

    def coded(self, code: CellCode, places: PlacedTable | None = None) -> TableQuestion:
        """The same question of the table written in cells, without columns that have no part in it.

        ``places`` has the cells of the records, if they are already known.
        """
        kept = {*self.released, *self.hidden, *self.use, self.weight}
        table = self.table.select([name for name in self.table.names if name in kept])
        places = placed(table, code) if places is None else places
        return replace(self, table=coded(table, code, places), code=code, found=places)

    def as_given(self) -> Table:
        """The table with no released column cut; a secret's cuts remain, because they say what is secret."""
        cuts = [cut for cut in self.cuts if cut.column in self.hidden]
        return _prepared(self.original, cuts, self.secret[0], self.secret_values, self.scales)

    def to_bound(self) -> Table:
        """The table in which cells are sought and proved: a number whose thresholds are bounded is not cut."""
        if self.thresholds is None:
            return self.as_given()
        cuts = [cut for cut in self.cuts if cut.column in self.hidden and cut.column != self.secret[0]]
        return in_numbers(_prepared(self.original, cuts, self.secret[0], ()), self.secret[0])

    def uncut(self) -> TableQuestion:
        """The same question at full resolution: only the secret's cuts, and those that were asked for, remain."""
        undone = {column for column, _ in self.automatic}
        cuts = tuple(cut for cut in self.cuts if cut.column not in undone)
        outdated = {note for _, note in self.automatic}
        return replace(
            self,
            table=_prepared(self.original, cuts, self.secret[0], self.secret_values, self.scales),
            cuts=cuts,
            roles=tuple(replace(role, cut=None) if role.name in undone else role for role in self.roles),
            notes=tuple(note for note in self.notes if note not in outdated),
            automatic=(),
        )


def ask(
    question: Question,
    *,
    also: Sequence[tuple[str, ...]] = (),
    cuts: Sequence[Cut] = (),
    in_cells: bool = False,
    thresholds: float | None = None,
) -> TableQuestion:
    """Settle the roles of the columns of a table: ``also`` are further secrets, ``cuts`` those of an earlier release.

    If the table will be written ``in_cells``, no released column is cut first. Columns that are not named are
    released, and the notes say so. A number column with many distinct values is cut into tenths. A column that is
    different in every row identifies people: it must be dropped, cut or confirmed. With ``thresholds``, the secret is
    a number whose thresholds are to be bounded.
    """
    table = question.source
    if not isinstance(table, Table):
        table = open_table(table, engine=question.engine)
    secret, keep_ids = _secret(question), tuple(question.keep_id or ())
    hidden = tuple(dict.fromkeys([*secret, *(name for each in also for name in each)]))
    if question.secret_values and any(secret[0] in each for each in also):
        # All values but the named ones count as one, so nothing would bound them one by one.
        words = (
            "{secret} names values of '{name}', so its other values are one: leave it out of {also}, or name no values"
        )
        raise ArgumentError(sentence(words, secret=Setting("secret"), name=secret[0], also=Setting("also")))
    wishes = {**(question.bins or {}), **{cut.column: cut.edges for cut in cuts}}
    levels = {**{name: _grouped(wish) for name, wish in wishes.items()}, **(question.levels or {})}
    weight = () if question.weight is None else (question.weight,)
    named = [*(question.released or ()), *(question.drop or ()), *(question.known or ()), *(question.use or ())]
    table.require([*hidden, *named, *levels, *keep_ids, *weight])
    shown = _released(table, question, hidden)
    if thresholds is not None:
        _refuse_thresholds(table, secret, question.secret_values, also)
    table.require_countable([*hidden, *shown])
    unnamed = f"released columns were not named, so all others count as released: {', '.join(shown)}"
    notes = [unnamed] if question.released is None else []
    # If only some values are secret, their column needs neither a cut nor a check.
    used = [table[name] for name in (*hidden, *shown) if not (question.secret_values and name == secret[0])]
    # A table that is not written in cells is written at the levels that were asked for.
    scales = () if in_cells else _scales(table, question, shown)
    uncut = set(shown) if in_cells else {scale.column for scale in scales}
    numbers = secret if thresholds is not None else ()
    distinct = _looked_at(table, used, wishes, uncut, confirmed={*levels, *keep_ids, *numbers})
    cuttable = [column for column in used if column.name not in uncut]
    all_cuts, automatic = _cuts(table, cuttable, wishes, {n: d for n, d in distinct.items() if n not in keep_ids})
    about = _about_secret(secret, automatic, in_cells, thresholds)
    return TableQuestion(
        original=table,
        table=_prepared(table, all_cuts, secret[0], question.secret_values, scales),
        secret=secret,
        released=shown,
        weight=question.weight,
        cuts=all_cuts,
        roles=_roles(table, distinct, all_cuts, weight=weight, released=shown, secret=hidden),
        notes=(*table.notes, *notes, *notes_of_absent(table, used), *(note for _, note in automatic), *about),
        automatic=tuple((column, note) for column, note in automatic if column in shown),
        also=tuple(also),
        secret_values=question.secret_values,
        known=tuple(question.known or ()),
        use=tuple(question.use or ()),
        levels={name: wish for name, wish in levels.items() if name in shown},
        scales=scales,
        thresholds=thresholds,
    )


def _secret(question: Question) -> tuple[str, ...]:
    if not question.secret:
        words = "no secret column was named; say which column must not be learned ({secret}). {columns} lists them"
        raise ArgumentError(sentence(words, secret=Setting("secret", "COLUMN"), columns=Command("audit", "TABLE")))
    return tuple(question.secret)


def _scales(table: Table, question: Question, shown: Sequence[str]) -> tuple[Scale, ...]:
    """The levels at which released columns are to be told."""
    wishes: dict[str, Any] = {name: wish for name, wish in (question.levels or {}).items() if name in shown}
    return find_scales(table, list(wishes), wishes) if wishes else ()


def _about_secret(
    secret: tuple[str, ...], automatic: Sequence[tuple[str, str]], in_cells: bool, thresholds: float | None
) -> list[str]:
    """What a claim about a number is about: its thresholds or its groups."""
    if thresholds is not None:
        words = "every threshold of '{name}' is bounded; its groups are used only for the measures and the ledger"
        return [sentence(words, name=secret[0])]
    if not in_cells or len(secret) > 1 or secret[0] not in [column for column, _ in automatic]:
        return []
    words = "the claim is about groups of '{name}'; {thresholds} bounds every threshold instead"
    return [sentence(words, name=secret[0], thresholds=Setting("thresholds", 0.1))]


def _refuse_thresholds(
    table: Table, secret: tuple[str, ...], values: tuple[str, ...], also: Sequence[tuple[str, ...]]
) -> None:
    """Only a single column of numbers has thresholds, and it may not be a further secret as well."""
    settings = {"thresholds": Setting("thresholds"), "secret": Setting("secret")}
    if len(secret) > 1 or values or table[secret[0]].kind != "number":
        words = "{thresholds} takes a secret that is one column of numbers: leave it out, or name another {secret}"
        raise ArgumentError(sentence(words, **settings))
    if any(secret[0] in each for each in also):
        words = "column '{name}' is bounded at its thresholds and in {also} by its values: leave out one of the two"
        raise ArgumentError(sentence(words, name=secret[0], also=Setting("also")))


def _looked_at(
    table: Table, used: Sequence[Column], wishes: Mapping[str, Any], uncut: set[str], *, confirmed: set[str]
) -> dict[str, int]:
    """How many distinct values columns have, where that matters; a column that identifies people is refused."""
    unknown = set(wishes) - {column.name for column in used}
    if unknown:
        raise ArgumentError(f"column '{min(unknown)}' is to be cut but is neither secret nor released")
    head = table.head([column.name for column in used], FIRST_LOOK)
    if head.num_rows == 0:
        raise DataError(f"{table.name} has no rows: there is nothing to measure")
    distinct = _distinct(table, [column for column in used if column.name not in wishes], uncut, head)
    _refuse_ids(table, used, distinct, head, confirmed=confirmed)
    return distinct


def _roles(
    table: Table, distinct: Mapping[str, int], cuts: Sequence[Cut], **of: tuple[str, ...]
) -> tuple[ColumnRole, ...]:
    """What every column is: ``of`` says which columns have each role; the last role that names a column counts."""
    roles: dict[str, Role] = {name: cast("Role", role) for role, names in of.items() for name in names}
    labels = {each.column: each.labels for each in cuts}
    return tuple(
        ColumnRole(name, roles.get(name, "dropped"), distinct.get(name), labels.get(name)) for name in table.names
    )


def _grouped(wish: Any) -> Any:
    """A cut as the levels of cells take it, where a bare number would be a step and not a number of groups."""
    return NumberWish(groups=wish) if isinstance(wish, int) else wish


def _prepared(
    table: Table, cuts: Sequence[Cut], secret: str, values: tuple[str, ...], scales: Sequence[Scale] = ()
) -> Table:
    """The table with its cuts made, told at its levels, and with all values that are not secret gathered into one."""
    table = cut(table, cuts) if cuts else table
    table = told_at(table, scales) if scales else table
    return gathered(table, secret, values) if values else table


def _released(table: Table, question: Question, hidden: tuple[str, ...]) -> tuple[str, ...]:
    released, weight = tuple(question.released or ()), question.weight
    if weight is not None and weight in (*hidden, *released):
        raise ArgumentError(
            f"column '{weight}' is named as the weight and as secret or released; it can be only one of them"
        )
    for role in ("known", "use"):
        for name in getattr(question, role) or ():
            if name in hidden:
                words = "column '{name}' is named in {role} and is a further secret: it can be only one of them"
                raise ArgumentError(sentence(words, name=name, role=Setting(role)))
    for name in released:
        if name in hidden:
            raise ArgumentError(f"column '{name}' is named both secret and released; a released secret hides nothing")
    apart = {*hidden, *(question.drop or ()), weight}
    shown = released or tuple(name for name in table.names if name not in apart)
    if not shown:
        words = "no released column is left in {table}: name at least one ({released})"
        raise ArgumentError(sentence(words, table=table.name, released=Setting("released", "COLUMN")))
    return shown


def _distinct(table: Table, used: Sequence[Column], uncut: set[str], head: pa.Table) -> dict[str, int]:
    """How many distinct values columns have, where that matters; a plain category needs no extra pass.

    For columns that will not be cut, it matters only whether they identify people; numbers that occur twice or have a
    fraction do not.
    """

    def matters(column: Column) -> bool:
        values = head.column(column.name).drop_null()
        different = len(values.unique())
        if column.kind != "number":
            return 0 < different == len(values)
        return different > MANY_VALUES and (column.name not in uncut or (different == len(values) and _whole(values)))

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
                "leave it out ({drop})"
                + (", cut it ({bins})" if column.kind == "number" else "")
                + " or confirm that you want to release it unchanged ({keep})"
            )
            raise DataError(sentence(words, name=name, table=table.name, rows=rows, **ways))


def _whole(values: pa.ChunkedArray) -> bool:
    return all(float(value).is_integer() for value in values.drop_null().to_pylist())


def _cuts(
    table: Table, used: Sequence[Column], wishes: Mapping[str, int | Sequence[float]], distinct: Mapping[str, int]
) -> tuple[tuple[Cut, ...], list[tuple[str, str]]]:
    """The cuts to make, and a column and a note for each that nobody asked for."""
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
    return tuple(cuts), automatic


def _wished(table: Table, column: Column, wish: int | Sequence[float]) -> Cut:
    """The cut that was asked for: a number of groups of equal size, or the edges themselves."""
    if column.kind != "number":
        words = "column '{name}' holds {kind}, not numbers; only numbers can be cut ({bins})"
        raise ArgumentError(sentence(words, name=column.name, kind=column.kind, bins=Setting("bins")))
    return cut_points(table, column.name, wish) if isinstance(wish, int) else Cut(column.name, tuple(wish))
