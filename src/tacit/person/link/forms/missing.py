"""In SQL: which texts mean that a value is missing, and whether the days of a column begin with day or month."""

from __future__ import annotations

import re

from tacit.person.model.forms.days import LAST_OF_THIS_CENTURY
from tacit.person.model.forms.texts import BLANK, NAMES, NO_DAY, NOTHING
from tacit.tables.engines import Store

# Every character that Python treats as a space; by default engines trim only the ordinary one.
SPACES = "".join(chr(code) for code in range(1, 0x3001) if chr(code).isspace())
# Longer texts are values.
LONGEST_NOTHING = max(map(len, NOTHING))
# Days in numbers, of which the first or the second may be the month; those without separators are divided first.
_NUMBERS = r"(\d{1,2})[-/ ](\d{1,2})[-/ ](\d{4}|\d{2})"
_TOGETHER = r"^(\d{1,2})(\d{2})((?:1[89]|20)\d{2})$"


def unless_nothing(store: Store, cell: str, text: str, *, name: bool = False) -> str:
    """SQL for a text, or null if it means that a value is missing; ``cell`` is SQL for the whole cell."""
    # A text that begins with a digit is a value, unless it is the day that a database writes for none.
    words = f"({cell} < '0' OR {cell} >= ':') AND length({cell}) <= {LONGEST_NOTHING}"
    missing = nothing(store, cell, name=name)
    # A CASE of its own, as an OR would evaluate both sides for every cell, and a pattern of its own, which is short.
    days = store.text(f"(?i){NO_DAY}[{SPACES}]*")
    none = f"{cell} < '01' AND {cell} >= '00' AND regexp_full_match({cell}, {days})"
    return f"CASE WHEN {words} AND {missing} THEN NULL WHEN {none} THEN NULL ELSE {text} END"


def nothing(store: Store, text: str, *, name: bool = False) -> str:
    """SQL for whether a text, apart from spaces, means that a value is missing; in a ``name``, Null is a value."""
    words = "|".join(re.escape(word) for word in sorted(NOTHING))
    spaces = f"[{SPACES}]*"
    missing = f"regexp_full_match({text}, {store.text(f'(?i){spaces}(?:{words}|{BLANK}|{NO_DAY}){spaces}')})"
    named = store.text(f"{spaces}(?:{'|'.join(NAMES)}){spaces}")
    return f"({missing} AND NOT regexp_full_match({text}, {named}))" if name else missing


def day_orders(store: Store, cells: str, value: str) -> dict[str, int]:
    """How many days in numbers show, by one above 12, that the ``day`` or the ``month`` comes first, and how many could
    be read in ``either`` order."""
    first, second = (f"try_cast({_part('v', place)} AS INTEGER)" for place in (1, 2))
    (totals,) = store.ask(
        "SELECT count(*) FILTER (WHERE a > 12 AND b <= 12) AS day, count(*) FILTER (WHERE b > 12 AND a <= 12) AS month,"
        " count(*) FILTER (WHERE a <= 12 AND b <= 12 AND a <> b) AS either FROM (SELECT "
        f"{first} AS a, {second} AS b FROM (SELECT trim({value}) AS v FROM {cells}) s "
        f"WHERE regexp_full_match(v, '{_NUMBERS}')) n"
    ).to_pylist()
    return dict(totals)


def in_order_of_days(value: str, *, day_first: bool) -> str:
    """SQL for the text of a cell, with days in numbers as 1990-04-03; any other text stays."""
    year, month, day = (_part(f"trim({value})", place) for place in (3, *((2, 1) if day_first else (1, 2))))
    century = f"CASE WHEN length({year}) = 4 THEN '' WHEN {year} <= '{LAST_OF_THIS_CENTURY}' THEN '20' ELSE '19' END"
    written = f"{century} || {year} || '-' || lpad({month}, 2, '0') || '-' || lpad({day}, 2, '0')"
    read = f"CAST(try_cast({written} AS DATE) AS STRING)"
    return f"CASE WHEN regexp_full_match(trim({value}), '{_NUMBERS}') THEN coalesce({read}, {value}) ELSE {value} END"


def divided(value: str) -> str:
    """SQL for 21041936 as 21/04/1936; other texts without spaces around them."""
    return rf"regexp_replace(trim({value}), '{_TOGETHER}', '\1/\2/\3')"


def _part(text: str, place: int) -> str:
    """SQL for a number of a day in numbers."""
    return f"regexp_extract({text}, '^{_NUMBERS}$', {place})"
