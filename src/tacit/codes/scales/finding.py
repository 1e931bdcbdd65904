"""Find the scale of every column, automatically or as asked."""

from __future__ import annotations

import math
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from tacit.codes.scales.calendar import UNITS, Unit
from tacit.codes.scales.files import hierarchy_scale
from tacit.codes.scales.kinds.beginnings import BeginningScale, start_between
from tacit.codes.scales.kinds.categories import CategoryScale
from tacit.codes.scales.kinds.listed import listed_values, typed
from tacit.codes.scales.kinds.lists import ListScale
from tacit.codes.scales.kinds.numbers import EXACT
from tacit.codes.scales.kinds.prefixes import PrefixScale, are_codes
from tacit.codes.scales.kinds.whole import WholeScale
from tacit.codes.scales.looking import (
    SAMPLE_ROWS,
    NumberEnds,
    TextFacts,
    code_facts,
    has_missing,
    many_values,
    number_ends,
    sampled_numbers,
    sampled_texts,
    text_facts,
    too_many,
)
from tacit.codes.scales.making import NumberWish, date_scale, number_scale
from tacit.codes.scales.moments import Layout, layout_of
from tacit.codes.scales.scale import Scale
from tacit.errors import ArgumentError, DataError, Setting, sentence
from tacit.requests.levels import LevelWish
from tacit.tables.columns import Column
from tacit.tables.counting import count, counted_before, few_combinations
from tacit.tables.numbers import INFINITE, MINUS_INFINITE, MISSING, NUMBER, number_of
from tacit.tables.table import Table

if TYPE_CHECKING:
    import pyarrow as pa

# Fewer codes than this are told one by one; more categories than this are told in the order of the alphabet.
FEW_CODES = 6
MOST_CATEGORIES = 100
# Texts with too many values to list are told in at most this many stretches of their order.
MOST_BEGINNINGS = 256
_NUMBER = re.compile(f"{NUMBER}|{INFINITE}|{MINUS_INFINITE}|{MISSING}")
# 007 is a code: as a number it would lose its zeros.
_NOUGHT = re.compile("0[0-9]")
_CODE_NAMES = re.compile(r"zip|post(al)?_?code|^plz|^icd|^nace|^isco|^naics", re.IGNORECASE)


@dataclass(frozen=True)
class _Numbers:
    wish: NumberWish


@dataclass(frozen=True)
class _Dates:
    layout: Layout
    unit: Unit | None


@dataclass(frozen=True)
class _Codes:
    length: int | None


@dataclass(frozen=True)
class _Values:
    """Whatever the values turn out to be, or each value on its own."""

    as_they_are: bool = False


@dataclass(frozen=True)
class _Whole:
    pass


@dataclass(frozen=True)
class _Ordered:
    words: tuple[str, ...]


@dataclass(frozen=True)
class _Filed:
    path: Path


Plan = _Numbers | _Dates | _Codes | _Values | _Whole | _Ordered | _Filed


def find_scales(
    table: Table,
    columns: Sequence[str],
    wishes: Mapping[str, LevelWish] | None = None,
    *,
    least: int = 10,
    beside: Sequence[str] = (),
) -> tuple[Scale, ...]:
    """The scale of each column.

    Parameters
    ----------
    table : Table
    columns : sequence of str
    wishes : mapping, optional
        Column to its levels, as ``Question.levels`` keeps them.
    least : int
        The fewest records that will share a cell. The ends of a scale reveal no number that fewer records have.
    beside : sequence of str
        Columns that will be counted with these: if combinations seem few, they are counted now, once and for all.

    Guarantees
    ----------
    The same table gives the same scales on every engine. Every value of the table has an atom.
    """
    wishes = wishes or {}
    for name in wishes:
        if name not in columns:
            words = "column '{name}' has levels but is not released ({levels})"
            raise ArgumentError(sentence(words, name=name, levels=Setting("levels")))
    table.require_countable(columns)
    sample = table.sample(columns, SAMPLE_ROWS)
    every = [*columns, *beside]
    if sample.num_rows < table.row_count() and counted_before(table, every) is None and few_combinations(sample):
        count(table, every)
    texts, plans, ends = _first_look(table, columns, wishes, sample)
    for name in [name for name, each in ends.items() if math.isnan(each.low) and table[name].dtype == "String"]:
        # Only "nan", "" and the like, which are missing among numbers; here they are values.
        plans[name] = _Values()
        del ends[name]
    looked = [name for name, plan in plans.items() if isinstance(plan, _Values | _Ordered | _Filed)]
    many = many_values(table, looked, sample)
    for name in many:
        if plans[name] != _Values() or table[name].dtype != "String":
            raise too_many(table, name)
    listed = text_facts(table, [name for name in looked if name not in many], sample)
    absent = has_missing(table, many) if many else {}
    scales: list[Scale] = []
    for name, plan in plans.items():
        if name in absent:
            scales.append(beginnings(name, texts[name], absent[name]))
            continue
        if name not in ends:
            scales.append(_listed(table, name, plan, listed.get(name)))
            continue
        numbers = sampled_numbers(sample.column(name), _layout(plan))
        if isinstance(plan, _Dates):
            scales.append(date_scale(name, numbers, ends[name], plan.layout, plan.unit, least=least))
        else:
            assert isinstance(plan, _Numbers)
            scales.append(number_scale(name, numbers, ends[name], plan.wish, least=least))
    return tuple(scales)


def require_scales(table: Table, columns: Sequence[str], wishes: Mapping[str, LevelWish] | None = None) -> None:
    """Refuse the numbers and dates that :func:`find_scales` refuses in any of all rows, in one pass; nothing else."""
    _first_look(table, columns, wishes or {}, table.sample(columns, SAMPLE_ROWS))


def _first_look(
    table: Table, columns: Sequence[str], wishes: Mapping[str, LevelWish], sample: pa.Table
) -> tuple[dict[str, list[str]], dict[str, Plan], dict[str, NumberEnds]]:
    """The texts in a sample, how each column is to be read, and the ends of numbers and dates in the whole table."""
    texts = {name: sampled_texts(sample.column(name)) for name in columns if table[name].dtype == "String"}
    plans = {name: _plan(table[name], wishes.get(name), texts.get(name, [])) for name in columns}
    ends = number_ends(table, {n: _layout(plan) for n, plan in plans.items() if isinstance(plan, _Numbers | _Dates)})
    for name, each in ends.items():
        if isinstance(plans[name], _Numbers):
            _refuse_inexact(table[name], each)
    return texts, plans, ends


def beginnings(name: str, texts: Sequence[str], missing: bool) -> BeginningScale:
    """Very many texts in stretches of their order, each with about equally many of the sampled texts.

    A stretch begins at the shortest beginning nearby, and never at one of the sampled texts as a whole: it may be
    somebody's.
    """
    ordered = sorted(texts)
    ends = np.linspace(0, len(ordered), 2 * MOST_BEGINNINGS + 1).astype(int)[1:-1]
    heads = set[str]()
    for low, high in zip(ends[::2].tolist(), ends[2::2].tolist(), strict=False):
        near = [start_between(ordered[at - 1], ordered[at]) for at in range(max(low, 1), high)]
        heads |= {min(near, key=len)} if near else set()
    return BeginningScale(name, tuple(sorted(heads - set(ordered))), None, missing)


def _refuse_inexact(column: Column, extremes: NumberEnds) -> None:
    """Ranges are between floats: numbers that a float cannot hold might fall into the wrong range."""
    ends = [abs(end) for end in (extremes.low, extremes.high) if math.isfinite(end)]
    if column.dtype.startswith("Float") or max(ends, default=0.0) < EXACT:
        return
    words = (
        "column '{name}' holds whole numbers of 16 digits or more, which cannot be distinguished as numbers: make it "
        "text, or leave it out ({drop})"
    )
    raise DataError(sentence(words, name=column.name, drop=Setting("drop", column.name)))


def _layout(plan: Plan) -> Layout | None:
    return plan.layout if isinstance(plan, _Dates) else None


def _plan(column: Column, wish: Any, texts: Sequence[str]) -> Plan:
    """How the column is to be read."""
    if isinstance(wish, NumberWish):
        return _Numbers(wish)
    if isinstance(wish, int | float):
        return _Numbers(NumberWish(step=float(wish)))
    if isinstance(wish, tuple):
        return _Ordered(wish) if isinstance(wish[0], str) else _Numbers(NumberWish(edges=wish))
    if isinstance(wish, Path):
        return _Filed(wish)
    if wish in UNITS:
        return _Dates(_layout_of(column, wish, texts), wish)
    if isinstance(wish, str) and wish.startswith("prefix"):
        return _Codes(int(wish.partition(":")[2] or 0) or None)
    if wish == "whole":
        return _Whole()
    if wish == "values":
        _refuse_dates(column)
        return _Values(as_they_are=True)
    return _likely_plan(column, wish == "any", texts)


def _refuse_dates(column: Column) -> None:
    """Each day or moment on its own would be named in the published levels."""
    if column.dtype == "Date" or column.dtype.startswith("Datetime"):
        words = "column '{name}' holds dates, which are written in stretches, not one by one: choose {day} or coarser"
        raise ArgumentError(sentence(words, name=column.name, day=Setting("levels", {column.name: "day"})))


def _layout_of(column: Column, unit: str, texts: Sequence[str]) -> Layout:
    layout = _dated(column, texts)
    if layout is None:
        words = (
            "column '{column}' holds no dates that can be read unambiguously, so {levels} is impossible: leave it out"
        )
        raise ArgumentError(sentence(words, column=column.name, levels=Setting("levels", {column.name: unit})))
    return layout


def _dated(column: Column, texts: Sequence[str]) -> Layout | None:
    if column.dtype == "Date" or column.dtype.startswith("Datetime"):
        return "typed" if column.dtype == "Date" or "time_zone=None" in column.dtype else "UTC"
    return layout_of(texts) if column.dtype == "String" else None


def _likely_plan(column: Column, any_value: bool, texts: Sequence[str]) -> Plan:
    layout = _dated(column, texts)
    if layout is not None:
        return _Dates(layout, None)
    numbers = column.kind == "number" if column.dtype != "String" else _are_numbers(column, texts)
    return _Numbers(NumberWish(any_value=any_value)) if numbers else _Values()


def _are_numbers(column: Column, texts: Sequence[str]) -> bool:
    """Whether texts are numbers, and not codes made of digits."""
    if not texts or not all(_NUMBER.fullmatch(text) for text in texts) or any(_NOUGHT.match(text) for text in texts):
        return False
    sizes = {len(text) for text in texts}
    digits = len(sizes) == 1 and all(text.isascii() and text.isdigit() for text in texts)
    if not digits or sizes == {1}:
        return True
    years = all("1800" <= text <= "2200" for text in texts) and sizes == {4}
    # In a typed table, somebody chose to make the column text; in a CSV everything is text.
    made_text = column.kind == "text" and min(sizes) > 2 and not years
    return not (made_text or (_CODE_NAMES.search(column.name) and not years))


def _listed(table: Table, name: str, plan: Plan, facts: TextFacts | None) -> Scale:
    """The scale of a column that is looked up value by value."""
    if isinstance(plan, _Whole):
        return WholeScale(name)
    if isinstance(plan, _Codes):
        return _codes(table, name, plan.length)
    assert facts is not None
    if isinstance(plan, _Filed):
        return hierarchy_scale(name, facts, plan.path)
    if isinstance(plan, _Ordered):
        return _in_order(table, name, facts, plan.words)
    assert isinstance(plan, _Values)
    texts = [value for value in facts.values if isinstance(value, str)]
    if plan.as_they_are:
        return _as_they_are(name, facts, texts)
    if len(texts) == len(facts.values) > FEW_CODES and are_codes(texts):
        sizes = {len(text) for text in texts}
        return PrefixScale(name, tuple(sorted(texts)), None, sizes.pop() if len(sizes) == 1 else None, facts.missing)
    type_, values = listed_values(facts.values, name)
    many = len(values) > MOST_CATEGORIES or type_ not in ("text", "boolean")
    return (ListScale if many else CategoryScale)(name, type_, values, facts.missing)


def _as_they_are(name: str, facts: TextFacts, texts: Sequence[str]) -> Scale:
    """Each value is an atom: numbers, whatever their type, in order, and other texts without one."""
    numbers = bool(texts) and all(_NUMBER.fullmatch(text) for text in texts)
    ordered = sorted(texts, key=lambda text: (number_of(text), text)) if numbers else facts.values
    type_, values = listed_values(ordered, name)
    return (CategoryScale if type_ in ("text", "boolean") and not numbers else ListScale)(
        name, type_, values, facts.missing
    )


def _codes(table: Table, name: str, length: int | None) -> Scale:
    dtype = table[name].dtype
    if dtype != "String" and "Int" not in dtype:
        words = "column '{name}' holds {dtype}, not codes, so {levels} is impossible: make it text first"
        raise ArgumentError(sentence(words, name=name, dtype=dtype, levels=Setting("levels", {name: "prefix"})))
    facts = code_facts(table, name, length)
    return PrefixScale(name, tuple(sorted(facts.values)), length, facts.length, facts.missing)


def _in_order(table: Table, name: str, facts: TextFacts, words: tuple[str, ...]) -> Scale:
    ordered = typed(words, facts.values, name)
    unlisted = len(set(facts.values) - set(ordered))
    if unlisted:
        unknown = "column '{name}' of {table} has {number:,} values that are not in its order: add them"
        raise ArgumentError(sentence(unknown, name=name, table=table.name, number=unlisted))
    return ListScale(name, *listed_values(ordered, name), facts.missing)
