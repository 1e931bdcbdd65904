"""Guess what each column is, by its name, its values, and the levels found in it. Every guess has a reason."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from tacit.codes.scales.finding import find_scales
from tacit.codes.scales.kinds.dates import DateScale
from tacit.codes.scales.kinds.numbers import NumberScale
from tacit.codes.scales.scale import Scale
from tacit.document import Progress, silent
from tacit.errors import DataError
from tacit.lenses.facts import SourceFacts
from tacit.lenses.table.answers.columns import AMOUNTS, ColumnKind, ColumnsResult, GuessedColumn, audit_command
from tacit.lenses.table.roles.names import (
    SECRET_KINDS,
    is_identifier,
    is_known_to_neighbours,
    is_place,
    personal_in,
    secret_in,
)
from tacit.tables.sources import open_table
from tacit.tables.table import Table
from tacit.tables.writing import suffix_for

if TYPE_CHECKING:
    import pyarrow as pa

# Rows read: more would not make a guess better.
LOOKED_AT = 50_000
# A value is shown as an example if at least this many records have it.
SHARED = 10
EXAMPLES = 3
# Numbers with at most this many different values are taken to be codes.
FEW_NUMBERS = 10
# With this share of different values, nearly every row can be told apart; if the name says identifier, half is enough.
NEARLY_ALL, HALF = 0.95, 0.5
# Texts with this many words on average were written, not chosen from a list.
WORDS = 4
_ILLNESS_CODE = re.compile(r"[A-TV-Z][0-9][0-9AB](\.?[0-9A-TV-Z]{1,4})?")
# A number with the sign of a currency, or with a comma or point before its last digits.
_MONEY = "(?:[£$€¥]|EUR|USD|GBP|CHF)"
_DIGITS = r"[-+]?\d{1,3}(?:[., '\u00a0\u202f]?\d{3})*"
_AMOUNT = re.compile(rf"-?{_MONEY}\s?{_DIGITS}(?:[.,]\d+)?|{_DIGITS}(?:[.,]\d+)?\s?{_MONEY}|{_DIGITS}[.,]\d{{1,2}}")
_CANNOT = "holds lists or bytes, which cannot be counted"


def guessed_columns(
    source: Any, *, engine: str = "duckdb", memory: str | None = None, progress: Progress = silent
) -> ColumnsResult:
    """Guess the roles of the columns of a table: what identifies, what is a date, a place, a number, a likely secret.

    Guarantees
    ----------
    At most 50,000 rows are read. A likely secret is guessed from the name, or from values that look like codes of
    illnesses, and the reason says which. No value that fewer than ten records have is in the result.
    """
    progress("looking at the columns", None)
    table = source if isinstance(source, Table) else open_table(source, engine=engine, memory=memory)
    records = table.row_count()
    if records == 0:
        raise DataError(f"{table.name} has no rows: there is nothing to look at")
    countable = [column.name for column in table.columns if column.kind != "other"]
    sample = table.sample(countable, LOOKED_AT) if countable else None
    scales = {} if sample is None else _scales(_sampled(table, sample))
    columns = tuple(
        _guess(_Seen.of(column.name, sample.column(column.name), scales.get(column.name)))
        if sample is not None and column.name in countable
        else GuessedColumn(column.name, "text", 0, 0, (), False, _CANNOT, ())
        for column in table.columns
    )
    return _result(table, columns, records=records, looked_at=0 if sample is None else sample.num_rows)


def _result(table: Table, columns: Sequence[GuessedColumn], *, records: int, looked_at: int) -> ColumnsResult:
    secrets = sorted((each for each in columns if each.likely_secret), key=_urgency)
    secret = tuple(each.name for each in secrets[:1])
    drop = tuple(each.name for each in columns if each.kind in ("identifier", "text") and each.name not in secret)
    known = tuple(
        each.name
        for each in columns
        if is_known_to_neighbours(each.name) and each.kind != "constant" and each.name not in (*secret, *drop)
    )
    return ColumnsResult(
        source=SourceFacts(table.name, table.format, records, float(records), None),
        columns=tuple(columns),
        proposed_secret=secret,
        proposed_drop=drop,
        proposed_known=known,
        command=audit_command(table.address or "TABLE", secret, drop),
        looked_at=looked_at,
        written=suffix_for(table),
    )


def _urgency(column: GuessedColumn) -> int:
    """The rank of a likely secret among the kinds of secrets; one recognised only by its values comes last."""
    kind = secret_in(column.name)
    return len(SECRET_KINDS) if kind is None else SECRET_KINDS.index(kind)


def _sampled(table: Table, sample: pa.Table) -> Table:
    """The sampled rows as a table, whose columns keep the kinds they have in the whole table."""
    opened = open_table(sample)
    return replace(opened, columns=tuple(replace(each, kind=table[each.name].kind) for each in opened.columns))


def _scales(table: Table) -> dict[str, Scale]:
    """The levels at which each column may be told; columns whose values have none are left out."""
    try:
        return {scale.column: scale for scale in find_scales(table, table.names)}
    except DataError:
        if len(table.names) == 1:
            return {}
        return {name: scale for each in table.names for name, scale in _scales(table.select([each])).items()}


@dataclass(frozen=True, eq=False)
class _Seen:
    """What was seen of one column: how often its values occur, the most frequent first; its levels, if it has any."""

    name: str
    rows: int
    values: tuple[Any, ...]
    times: tuple[int, ...]
    scale: Scale | None

    @classmethod
    def of(cls, name: str, column: pa.ChunkedArray, scale: Scale | None) -> _Seen:
        """Counted; an empty text is missing."""
        counted = column.combine_chunks().value_counts()
        pairs = zip(counted.field(0).to_pylist(), counted.field(1).to_pylist(), strict=True)
        kept = sorted(
            ((value, n) for value, n in pairs if value is not None and str(value).strip()), key=lambda pair: -pair[1]
        )
        return cls(name, len(column), tuple(v for v, _ in kept), tuple(n for _, n in kept), scale)

    @property
    def present(self) -> int:
        return sum(self.times)

    @property
    def apart(self) -> float:
        """Different values per row that has one."""
        return len(self.values) / max(self.present, 1)

    @property
    def texts(self) -> tuple[str, ...]:
        """The values that are texts, unless the column holds numbers or dates."""
        if isinstance(self.scale, NumberScale | DateScale):
            return ()
        return tuple(value for value in self.values if isinstance(value, str))


def _guess(facts: _Seen) -> GuessedColumn:
    kind, reason = _kind(facts)
    named, coded = secret_in(facts.name), _are_illnesses(facts.texts)
    secret = kind not in ("identifier", "constant") and (named is not None or coded)
    if secret:
        reason = f"named like {named}" if named else "values like codes of illnesses"
    scale = facts.scale
    return GuessedColumn(
        name=facts.name,
        kind=kind,
        distinct=len(facts.values),
        missing=facts.rows - facts.present,
        levels=() if scale is None or kind in ("identifier", "constant") else tuple(each.name for each in scale.levels),
        likely_secret=secret,
        reason=reason,
        examples=tuple(str(v) for v, n in zip(facts.values[:EXAMPLES], facts.times, strict=False) if n >= SHARED),
    )


def _kind(facts: _Seen) -> tuple[ColumnKind, str]:
    """What the values are, and what shows it."""
    many, scale = facts.present > SHARED, facts.scale
    personal = personal_in(facts.name)
    if personal is not None and facts.values:
        return "identifier", f"named like {personal}"
    if len(facts.values) < 2:
        return "constant", "no value at all" if not facts.values else "the same value in every row"
    if facts.texts and many and _words(facts.texts) >= WORDS and facts.apart > HALF:
        return "text", "sentences"
    if len(facts.values) > FEW_NUMBERS and _nearly_all(_AMOUNT, facts.texts):
        return "text", AMOUNTS
    if isinstance(scale, DateScale):
        return "date", "dates" if scale.layout == "typed" else f"dates written {scale.layout}"
    if is_identifier(facts.name) and many and facts.apart > HALF:
        return "identifier", "named like an identifier"
    if many and facts.apart >= NEARLY_ALL and (facts.texts or (_whole(facts) and facts.apart == 1)):
        every = "every row" if facts.apart == 1 else "nearly every row"
        return "identifier", f"a different value in {every}"
    if is_place(facts.name):
        return "place", "named like a place"
    if isinstance(scale, NumberScale) and len(facts.values) > FEW_NUMBERS:
        return "number", "whole numbers" if scale.whole else "numbers"
    return "category", "few numbers" if isinstance(scale, NumberScale) else "values repeat"


def _whole(facts: _Seen) -> bool:
    return isinstance(facts.scale, NumberScale) and all(float(value).is_integer() for value in facts.values)


def _words(texts: Sequence[str]) -> float:
    return sum(len(text.split()) for text in texts) / len(texts)


def _are_illnesses(texts: Sequence[str]) -> bool:
    """Whether there are several texts, nearly all written like ICD codes."""
    return len(texts) >= 5 and _nearly_all(_ILLNESS_CODE, texts)


def _nearly_all(pattern: re.Pattern[str], texts: Sequence[str]) -> bool:
    return bool(texts) and sum(bool(pattern.fullmatch(text.strip())) for text in texts) >= NEARLY_ALL * len(texts)
