"""The parts of values that are compared to decide whether two records are one person's, and how near they are."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from tacit.person.model.kinds import usual
from tacit.tables.engines import Store

# The first and the last word of a name, the numbers of a day: each may be mistyped by itself.
_NAME_PARTS: Final = {
    "given": "nullif(split_part({0}, ' ', 1), '')",
    "surname": "nullif(CASE WHEN contains({0}, ' ') THEN split_part({0}, ' ', -1) END, '')",
}
_DAY: Final = "regexp_full_match({0}, '[0-9]{{4}}-[0-9]{{2}}-[0-9]{{2}}')"
_DAY_PARTS: Final = {
    "year": f"CASE WHEN {_DAY} THEN {{0}}[1:4] END",
    "month": f"CASE WHEN {_DAY} THEN {{0}}[6:7] END",
    "day": f"CASE WHEN {_DAY} THEN {{0}}[9:10] END",
}


def _edits(most: int) -> str:
    """SQL for whether two texts differ by at most this many characters, where a swap counts once.

    The engine is slow at counting them, so quick necessary conditions come first. One edit leaves everything before and
    after it unchanged, so that half of what is not edited is a beginning or an end of both texts.
    """
    near = f"abs(strlen({{0}}) - strlen({{1}})) <= {most}"
    half = "(least(length({0}), length({1})) - 2) // 2"
    alike = f"{half} <= 0 OR left({{0}}, {half}) = left({{1}}, {half}) OR right({{0}}, {half}) = right({{1}}, {half})"
    if most > 1:
        alike = f"levenshtein({{0}}, {{1}}) <= {2 * most}"
    return f"CASE WHEN {near} THEN CASE WHEN {alike} THEN damerau_levenshtein({{0}}, {{1}}) <= {most} END END"


# Words differ by sound and typing, numbers and codes by a character.
_WORDS: Final = (
    "jaro_winkler_similarity({0}, {1}) >= 0.8",
    f"CASE WHEN jaro_winkler_similarity({{0}}, {{1}}) >= 0.92 THEN true ELSE {_edits(1)} END",
)
_SIGNS: Final = (f"CASE WHEN length({{0}}) > 1 THEN {_edits(1)} END",)
_CODES: Final = (_edits(2), _edits(1))


@dataclass(frozen=True)
class Field:
    """A part of the values of a label that is compared by itself.

    Attributes
    ----------
    name : str
        The name of its column.
    label : str
    value : str
        SQL that computes it from the column of the label.
    levels : tuple of str
        SQL for how near two values are: at least the first level, the second, ...; above them all is equality.
    beside : str, optional
        Another field that may be swapped with this one: given name and surname.
    """

    name: str
    label: str
    value: str
    levels: tuple[str, ...]
    beside: str | None = None

    @property
    def equal(self) -> int:
        """The level of equality; 0 is the level of different values."""
        return len(self.levels) + 1

    def level(self, left: str, right: str) -> str:
        """SQL for the level of two records; -1 where one of them has no value."""
        one, other = f"{left}.{self.name}", f"{right}.{self.name}"
        cases = [f"WHEN {one} IS NULL OR {other} IS NULL THEN -1", f"WHEN {one} = {other} THEN {self.equal}"]
        if self.beside is not None:
            swapped = f"{one} = {right}.{self.beside} AND {other} = {left}.{self.beside}"
            cases.append(f"WHEN {swapped} THEN {self.equal - 1}")
        for level in range(len(self.levels), 0, -1):
            cases.append(f"WHEN {self.levels[level - 1].format(one, other)} THEN {level}")
        return f"CASE {' '.join(cases)} ELSE 0 END"


def fields_of(labels: Sequence[str]) -> list[Field]:
    """The fields of these labels; for labels whose names say nothing, the whole value."""
    fields: list[Field] = []
    for place, label in enumerate(labels):
        own, kind = f"c{place}", usual(label)
        if kind == "name":
            beside = {"given": f"{own}_surname", "surname": f"{own}_given"}
            for part, value in _NAME_PARTS.items():
                fields.append(Field(f"{own}_{part}", label, value.format(own), _WORDS, beside[part]))
        elif kind == "dob":
            fields += [Field(f"{own}_{part}", label, value.format(own), _SIGNS) for part, value in _DAY_PARTS.items()]
        else:
            levels = _WORDS if kind in ("given", "middle", "surname", "address", "city", "employer") else _CODES
            short = kind in ("zip", "house", "birth_year", "birth_month", "birth_day", "gender")
            fields.append(Field(f"{own}_whole", label, own, _SIGNS if short else levels))
    return fields


def columns_of(store: Store, fields: Sequence[Field]) -> str:
    """SQL for the columns of all fields."""
    return ", ".join(f"{field.value} AS {store.identifier(field.name)}" for field in fields)
