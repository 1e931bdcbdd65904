"""What a whole column shows about its values: the order of day and month, lost zeros, two in a cell, countries."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace

from tacit.person.link.attributes import listed
from tacit.person.link.forms.evidence import (
    FIRST_CELLS,
    MOST_COUNTRIES,
    TWO_IN_A_CELL,
    ColumnEvidence,
    ColumnReading,
)
from tacit.person.link.forms.missing import day_orders, divided, in_order_of_days
from tacit.person.link.forms.normal import sql_form
from tacit.person.model.forms.phones import OWN_DIGITS
from tacit.tables.engines import Store

# Numbers that a spreadsheet writes for the days from 1927 to 2063, and the one for 1970-01-01.
_SERIAL = r"[1-5]\d{4}(\.0+)?"
_SERIAL_1970 = 25_569
_SECONDS = r"-?\d{9,10}(\.0+)?"
_SHORT, _LONG = r"\d{3,4}(\.0+)?", r"[1-9]\d{4}(-?\d{4})?(\.0+)?"
_TOGETHER = r"\d{7,8}"
# What separates two values in a cell, the more certain first; and below, what each of them must have.
_BETWEEN = {
    "phone": (r"\s*[;|&,\n]\s*|\s+/\s+|\s+(?:or|and|und|oder|ou|o|y)\s+", r"\s*[;|&,/\n]\s*"),
    "email": (r"\s*[;|,\n]\s*|\s+/\s+|\s+(?:or|and|und|oder|ou|o|y)\s+",),
}
_WHOLE = {
    "phone": f"length(regexp_replace(p, '[^0-9]', '', 'g')) >= {OWN_DIGITS}",
    "email": "regexp_matches(p, '[^ ]@[^ ]')",
}
_MAY_BE_TWO = {
    "phone": rf"length({{0}}) > {2 * OWN_DIGITS} AND regexp_matches({{0}}, '[;|&,/\n]| (?:or|and|und|oder|ou|o|y) ')",
    "email": "(contains({0}, ';') OR contains({0}, ',') OR contains({0}, '|') OR contains({0}, ' ') OR "
    "contains({0}, chr(10))) AND regexp_matches({0}, '@(.|\\n)*@')",
}


@dataclass(frozen=True)
class ColumnCells:
    """Where the cells of a column are (``rows``, SQL), and the text of each (``value``, SQL).

    ``several`` if a cell may hold several values, each with its own row; ``undecided`` if the column holds days and
    nothing shows whether the month comes first. ``written`` is the unchanged cell, including N/A, which is faster.
    """

    rows: str
    value: str
    several: bool = False
    undecided: bool = False
    written: str | None = None

    def counts(self, store: Store, *, first: int | None = None, **patterns: str) -> dict[str, int]:
        """How many of the cells, or of the ``first``, are not empty (``cells``), and match each pattern."""
        limit = "" if first is None else f" LIMIT {first}"
        some = f"SELECT {self.value} AS v FROM {self.rows} WHERE {self.value} IS NOT NULL{limit}"
        matching = "".join(
            f", count(CASE WHEN regexp_full_match(trim(v), '{pattern}') THEN 1 END) AS {name}"
            for name, pattern in patterns.items()
        )
        (totals,) = store.ask(f"SELECT count(*) AS cells{matching} FROM ({some}) s").to_pylist()
        return dict(totals)

    def begins_with(self, store: Store, pattern: str) -> bool:
        """Whether the first cells that are not empty all match; if not, the column need not be read."""
        totals = self.counts(store, first=FIRST_CELLS, those=pattern)
        return totals["cells"] == totals["those"] > 0


def column_reading(
    store: Store, cells: ColumnCells, form: str, country: str | None, beside: str | None = None
) -> ColumnReading:
    """How the cells of a whole column with values of a ``form`` are read, in a ``country`` if known.

    ``beside`` is SQL for the country that the record of a cell names. What the first cells rule out is not counted.
    """
    evidence = ColumnEvidence()
    if form.startswith("date"):
        evidence = _day_evidence(store, cells)
    elif form == "zip" and country is None and cells.begins_with(store, f"{_SHORT}|{_LONG}"):
        evidence = ColumnEvidence(cells.counts(store, short=_SHORT, long=_LONG))
    elif form in TWO_IN_A_CELL and _some_apart(store, cells, form):
        evidence = ColumnEvidence({"apart": 1})
    if beside is not None:
        apart = bool(evidence.counts.get("apart"))
        names = _names_beside(store, _apart(store, cells, form).rows if apart else cells.rows, beside)
        evidence += ColumnEvidence(apart=names) if apart else ColumnEvidence(countries=names)
    return evidence.reading(form, country)


def column_evidence(store: Store, cells: ColumnCells, form: str, beside: str | None = None) -> ColumnEvidence:
    """What a part of a column shows, to be added to what the others show; parameters as for :func:`column_reading`."""
    counts: dict[str, int] = {}
    leading = 0
    countries: Mapping[str, int] = {}
    apart: Mapping[str, int] = {}
    if form.startswith("date"):
        counts = cells.counts(store, serials=_SERIAL, seconds=_SECONDS, without=_TOGETHER)
        orders = day_orders(store, cells.rows, cells.value)
        parted = day_orders(store, cells.rows, divided(cells.value)) if counts.pop("without") else orders
        counts |= orders | {f"/{name}": count for name, count in parted.items()}
        some = f"SELECT {cells.value} AS v FROM {cells.rows} WHERE {cells.value} IS NOT NULL LIMIT {FIRST_CELLS}"
        match = store.ask(f"SELECT regexp_full_match(trim(v), '{_TOGETHER}') AS m FROM ({some}) s")
        those = [*match.column("m").to_pylist(), False]
        leading = those.index(False)
    elif form == "zip":
        counts = cells.counts(store, short=_SHORT, long=_LONG)
    elif form in TWO_IN_A_CELL:
        counts = {"apart": int(_some_apart(store, cells, form))}
    if beside is not None:
        countries = _names_beside(store, cells.rows, beside, most=None)
        if form in TWO_IN_A_CELL:
            apart = _names_beside(store, _apart(store, cells, form).rows, beside, most=None)
    return ColumnEvidence(counts, leading, countries, apart)


def as_read(store: Store, cells: ColumnCells, form: str, reading: ColumnReading) -> ColumnCells:
    """The cells of a column, read in this way."""
    value = cells.value
    if reading.numbers is not None:
        number = f"CAST(CAST(trim({value}) AS DOUBLE) AS BIGINT)"
        days = f"{number} - {_SERIAL_1970}" if reading.numbers == "serials" else f"floor({number} / 86400.0)"
        return replace(cells, value=f"CAST(DATE '1970-01-01' + CAST({days} AS INTEGER) AS STRING)")
    if reading.day_first is not None:
        divided_value = divided(value) if reading.divided else value
        return replace(cells, value=in_order_of_days(divided_value, day_first=reading.day_first))
    if reading.padded:
        padded = f"lpad(split_part(trim({value}), '.', 1), 5, '0')"
        whole = f"CASE WHEN regexp_full_match(trim({value}), '{_SHORT}') THEN {padded} ELSE {value} END"
        return replace(cells, value=whole)
    return _apart(store, cells, form) if reading.apart else replace(cells, undecided=reading.undecided)


def _day_evidence(store: Store, cells: ColumnCells) -> ColumnEvidence:
    """What a column of days shows, as far as its first cells do not rule it out."""
    counts: dict[str, int] = {}
    if cells.begins_with(store, f"{_SERIAL}|{_SECONDS}"):
        counts = cells.counts(store, serials=_SERIAL, seconds=_SECONDS)
        if counts["cells"] in (counts["serials"], counts["seconds"]):
            return ColumnEvidence(counts)
    first = cells.counts(store, first=FIRST_CELLS, those=_TOGETHER)
    parted = 0 < first["cells"] == first["those"]
    orders = day_orders(store, cells.rows, divided(cells.value) if parted else cells.value)
    shown = {f"/{name}" if parted else name: count for name, count in orders.items()}
    return ColumnEvidence({"cells": first["cells"], **shown}, first["those"] if parted else 0)


def _some_apart(store: Store, cells: ColumnCells, form: str) -> bool:
    """Whether some cells hold two values: "0160 1234567 / 089 7654321"."""
    written, may_be_two = cells.written or cells.value, _MAY_BE_TWO[form].format("said")
    if not store.ask(
        f"SELECT 1 AS x FROM (SELECT {written} AS said FROM {cells.rows}) s WHERE {may_be_two} LIMIT 1"
    ).num_rows:
        return False
    rows = _apart(store, cells, form).rows
    return bool(store.ask(f"SELECT 1 AS x FROM {rows} WHERE part <> said LIMIT 1").num_rows)


def _apart(store: Store, cells: ColumnCells, form: str) -> ColumnCells:
    """Each value of a cell by itself."""
    may_be_two = _MAY_BE_TWO[form].format("said")
    cell_rows = f"SELECT *, {cells.value} AS said FROM {cells.rows}"
    cases = ""
    for between in _BETWEEN[form]:
        parts = f"string_split_regex(trim(said), {store.text(between)})"
        whole = f"len({parts}) > 1 AND len(list_filter({parts}, lambda p: NOT ({_WHOLE[form]}))) = 0"
        cases += f" WHEN {whole} THEN {parts}"
    each = f"unnest(CASE WHEN NOT ({may_be_two}) THEN [said]{cases} ELSE [said] END) AS part"
    rows = f"(SELECT *, {each} FROM ({cell_rows}) s WHERE said IS NOT NULL) t"
    return ColumnCells(rows, "part", several=True)


def _names_beside(store: Store, rows: str, country: str, most: int | None = 10 * MOST_COUNTRIES) -> Mapping[str, int]:
    """The names in a column of countries, and how often each occurs; the ``most`` frequent."""
    limit = "" if most is None else f" ORDER BY n DESC, 1 LIMIT {most}"
    names = store.ask(
        f"SELECT {country} AS name, count(*) AS n FROM {rows} WHERE {country} IS NOT NULL GROUP BY 1{limit}"
    )
    return dict(zip(*(names.column(name).to_pylist() for name in ("name", "n")), strict=True))


def in_their_countries(
    store: Store, cells: ColumnCells, form: str, reading: ColumnReading, country: str, kept: str
) -> ColumnCells:
    """Telephones and postcodes, each read in the country that a column (``country``, SQL) of its record names.

    ``kept`` are the other columns that are wanted. What the engine is not sure of stays unchanged.
    """
    if not reading.countries:
        return cells
    rows = f"SELECT {kept}, {cells.value} AS value, {country} AS country FROM {cells.rows}"
    parts = [
        f"SELECT {kept}, coalesce(form, value) AS own FROM ("
        + sql_form(store, f"SELECT * FROM ({rows}) r WHERE country IN ({listed(store, some)})", form, own)
        + ") f"
        for own, some in reading.countries
    ]
    known = listed(store, [name for _, some in reading.countries for name in some])
    others = f"SELECT {kept}, value AS own FROM ({rows}) r WHERE country IS NULL OR country NOT IN ({known})"
    return ColumnCells(f"({' UNION ALL '.join([*parts, others])}) c", "own", cells.several)
