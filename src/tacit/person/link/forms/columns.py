"""What a whole column shows about its values: the order of day and month, lost zeros, two in a cell, countries."""

from __future__ import annotations

from dataclasses import dataclass, replace

from tacit.person.link.attributes import listed
from tacit.person.link.forms.missing import day_order, divided, in_order_of_days
from tacit.person.link.forms.normal import sql_form
from tacit.person.model.forms.codes import FIVE_DIGITS
from tacit.person.model.forms.countries import country_named
from tacit.person.model.forms.phones import OWN_DIGITS
from tacit.tables.engines import Store

# Numbers that a spreadsheet writes for the days from 1927 to 2063, and the one for 1970-01-01.
_SERIAL = r"[1-5]\d{4}(\.0+)?"
_SERIAL_1970 = 25_569
_SECONDS = r"-?\d{9,10}(\.0+)?"
_SHORT, _LONG = r"\d{3,4}(\.0+)?", r"[1-9]\d{4}(-?\d{4})?(\.0+)?"
# How many cells are examined to see whether a column may hold numbers.
FIRST_CELLS = 100
# The largest share of a column of postcodes that may have lost a 0.
MOST_SHORT = 0.5
# For how many countries telephones are read by their numbering plans; the others are nearly right without.
MOST_COUNTRIES = 20
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

    def begins_with(self, store: Store, pattern: str) -> bool:
        """Whether the first cells that are not empty all match; if not, the column need not be read."""
        first = f"SELECT {self.value} AS v FROM {self.rows} WHERE {self.value} IS NOT NULL LIMIT {FIRST_CELLS}"
        (totals,) = store.ask(
            f"SELECT count(*) AS n, count(CASE WHEN regexp_full_match(trim(v), '{pattern}') THEN 1 END) AS those "
            f"FROM ({first}) s"
        ).to_pylist()
        return bool(totals["n"] == totals["those"] > 0)


def as_the_column_says(store: Store, cells: ColumnCells, form: str, country: str | None) -> ColumnCells:
    """The cells of a column with values of a ``form``, in a ``country`` if known, read as the whole column suggests."""
    if form.startswith("date"):
        return _days(store, cells, {"date-day-first": True, "date-month-first": False}.get(form))
    if form == "zip":
        return _postcodes(store, cells, country)
    return _apart(store, cells, form) if form in _BETWEEN else cells


def _days(store: Store, cells: ColumnCells, day_first: bool | None) -> ColumnCells:
    """Numbers as days, if all are; days in digits with the year first, if the column shows which is the month."""
    value = cells.value
    if cells.begins_with(store, f"{_SERIAL}|{_SECONDS}"):
        counts = ", ".join(
            f"count(CASE WHEN regexp_full_match(trim(v), '{pattern}') THEN 1 END) AS {name}"
            for name, pattern in (("serials", _SERIAL), ("seconds", _SECONDS))
        )
        (totals,) = store.ask(
            f"SELECT count(v) AS n, {counts} FROM (SELECT {value} AS v FROM {cells.rows}) s"
        ).to_pylist()
        if totals["n"] in (totals["serials"], totals["seconds"]):
            number = f"CAST(CAST(trim({value}) AS DOUBLE) AS BIGINT)"
            days = f"{number} - {_SERIAL_1970}" if totals["serials"] else f"floor({number} / 86400.0)"
            return replace(cells, value=f"CAST(DATE '1970-01-01' + CAST({days} AS INTEGER) AS STRING)")
    if cells.begins_with(store, r"\d{7,8}"):
        value = divided(value)
    first, both = day_order(store, cells.rows, value)
    first = day_first if first is None else first
    ordered = cells.value if first is None else in_order_of_days(value, day_first=first)
    return replace(cells, value=ordered, undecided=both and first is None)


def _postcodes(store: Store, cells: ColumnCells, country: str | None) -> ColumnCells:
    """Postcodes of five digits, with the 0 that a spreadsheet dropped from some (then none begins with a 0)."""
    if country is not None or not cells.begins_with(store, f"{_SHORT}|{_LONG}"):
        return cells  # the country decides, or zeros were kept
    value = cells.value
    (totals,) = store.ask(
        f"SELECT count(v) AS n, count(CASE WHEN regexp_full_match(trim(v), '{_SHORT}') THEN 1 END) AS short, "
        f"count(CASE WHEN regexp_full_match(trim(v), '{_LONG}') THEN 1 END) AS long FROM "
        f"(SELECT {value} AS v FROM {cells.rows}) s WHERE v IS NOT NULL"
    ).to_pylist()
    if totals["short"] + totals["long"] != totals["n"] or not 0 < totals["short"] <= MOST_SHORT * totals["n"]:
        return cells
    padded = f"lpad(split_part(trim({value}), '.', 1), 5, '0')"
    whole = f"CASE WHEN regexp_full_match(trim({value}), '{_SHORT}') THEN {padded} ELSE {value} END"
    return replace(cells, value=whole)


def _apart(store: Store, cells: ColumnCells, form: str) -> ColumnCells:
    """Each value of a cell by itself, if some cells hold two: "0160 1234567 / 089 7654321"."""
    written, may_be_two = cells.written or cells.value, _MAY_BE_TWO[form].format("said")
    if not store.ask(
        f"SELECT 1 AS x FROM (SELECT {written} AS said FROM {cells.rows}) s WHERE {may_be_two} LIMIT 1"
    ).num_rows:
        return cells
    cell_rows = f"SELECT *, {cells.value} AS said FROM {cells.rows}"
    cases = ""
    for between in _BETWEEN[form]:
        parts = f"string_split_regex(trim(said), {store.text(between)})"
        whole = f"len({parts}) > 1 AND len(list_filter({parts}, lambda p: NOT ({_WHOLE[form]}))) = 0"
        cases += f" WHEN {whole} THEN {parts}"
    each = f"unnest(CASE WHEN NOT ({may_be_two}) THEN [said]{cases} ELSE [said] END) AS part"
    rows = f"(SELECT *, {each} FROM ({cell_rows}) s WHERE said IS NOT NULL) t"
    if not store.ask(f"SELECT 1 AS x FROM {rows} WHERE part <> said LIMIT 1").num_rows:
        return cells
    return ColumnCells(rows, "part", several=True)


def in_their_countries(store: Store, cells: ColumnCells, form: str, country: str, kept: str) -> ColumnCells:
    """Telephones and postcodes, each read in the country that a column (``country``, SQL) of its record names.

    ``kept`` are the other columns that are wanted. What the engine is not sure of stays unchanged.
    """
    names = store.ask(
        f"SELECT {country} AS name FROM {cells.rows} WHERE {country} IS NOT NULL GROUP BY 1 ORDER BY count(*) DESC, 1 "
        f"LIMIT {10 * MOST_COUNTRIES}"
    ).column("name")
    called: dict[str, list[str]] = {}
    for name in names.to_pylist():
        own = country_named(name)
        if (
            own is not None
            and (form != "zip" or own in FIVE_DIGITS)
            and (own in called or len(called) < MOST_COUNTRIES)
        ):
            called.setdefault(own, []).append(name)
    if not called:
        return cells
    rows = f"SELECT {kept}, {cells.value} AS value, {country} AS country FROM {cells.rows}"
    parts = [
        f"SELECT {kept}, coalesce(form, value) AS own FROM ("
        + sql_form(store, f"SELECT * FROM ({rows}) r WHERE country IN ({listed(store, some)})", form, own)
        + ") f"
        for own, some in called.items()
    ]
    known = listed(store, [name for some in called.values() for name in some])
    others = f"SELECT {kept}, value AS own FROM ({rows}) r WHERE country IS NULL OR country NOT IN ({known})"
    return ColumnCells(f"({' UNION ALL '.join([*parts, others])}) c", "own", cells.several)
