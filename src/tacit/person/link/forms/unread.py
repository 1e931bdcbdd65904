"""Values that cannot be compared with the truth because of how they are written, counted in the engine."""

from __future__ import annotations

from typing import Final

from tacit.person.link.attributes import Attributes, one
from tacit.person.model.forms import as_day
from tacit.person.model.forms.days import day_parts
from tacit.person.model.values import is_suppressed

# Letters of which Latin letters say only roughly how they sound.
SCRIPTS: Final = "Arabic Hebrew Thai Hangul Hiragana Katakana Devanagari Han"
_BY_SOUND: Final = "".join(rf"\p{{{script}}}" for script in SCRIPTS.split())
# Days that are looked at one by one.
MOST_DAYS: Final = 5_000


def _different(attributes: Attributes) -> str:
    return attributes.coded.values if attributes.coded is not None else attributes.name


def strange_days(formed: Attributes, label: str) -> int:
    """How many different values of a label, in normal form, say nothing of a day; the first are looked at."""
    store = formed.store
    rows = store.ask(
        f"SELECT DISTINCT value FROM {_different(formed)} WHERE label = {store.text(label)} AND NOT "
        rf"regexp_full_match(value, '\d{{4}}-\d\d-\d\d') LIMIT {MOST_DAYS}"
    )
    return sum(not _says_when(value) for value in rows.column("value").to_pylist())


def _says_when(value: str) -> bool:
    # 03/04/1990 is one of two days, whichever comes first.
    return as_day(value, day_first=True) is not None or bool(day_parts(value)) or is_suppressed(value)


def spelled_by_sound(read: Attributes, label: str) -> int:
    """How many different values of a label, as read, are in letters that Latin ones follow only by their sound."""
    store = read.store
    foreign = f"CASE WHEN strlen(value) <> length(value) THEN regexp_matches(value, {store.text(f'[{_BY_SOUND}]')}) END"
    rows = f"SELECT value FROM {_different(read)} WHERE label = {store.text(label)}"
    return int(one(store, f"SELECT count(DISTINCT value) FROM ({rows}) v WHERE {foreign}"))
