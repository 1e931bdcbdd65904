"""A document: what a verb says before it is shown. Sections of blocks, made of texts, quantities, badges and charts.

A block is for the terminal and the page alike unless it says ``where`` it belongs.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal

from tacit.document.badges import Badge
from tacit.document.charts import Chart
from tacit.document.quantities import Kind
from tacit.errors import Part, Sentence

__all__ = [
    "Beside",
    "Block",
    "Bullets",
    "Card",
    "Cards",
    "Cell",
    "Chips",
    "Definition",
    "Definitions",
    "Document",
    "Facts",
    "Figure",
    "Folded",
    "Heading",
    "Paragraph",
    "Row",
    "Section",
    "TableBlock",
    "TableColumn",
    "Text",
    "Tile",
    "Tiles",
    "notes_section",
    "rows_of",
]

Text = str | Part
Where = Literal["page", "terminal"]
Said = Kind | Literal["proved", "not proved"]


@dataclass(frozen=True, kw_only=True)
class Block:
    """One thing in a section; ``where`` keeps it to one medium."""

    where: Where | None = None


@dataclass(frozen=True)
class Paragraph(Block):
    """A few sentences. ``label`` stands before them; a "note" is quiet, a "lead" loud, a "claim" set apart."""

    text: Text
    style: Literal["plain", "note", "lead", "claim", "warning"] = "plain"
    label: str = ""


@dataclass(frozen=True)
class Heading(Block):
    """A title within a section."""

    text: Text


@dataclass(frozen=True)
class Bullets(Block):
    """Sentences with a point before each. Of many the terminal shows some, and how many more there are.

    ``folded`` is what the page says over a list that opens on a click.
    """

    items: Sequence[Text]
    shown: int | None = None
    more: str = ""
    folded: str = ""
    open: bool = False


@dataclass(frozen=True)
class Chips(Block):
    """Names and values side by side; the terminal lists them in its facts."""

    pairs: Sequence[tuple[str, object]]
    where: Where | None = field(default="page", kw_only=True)


@dataclass(frozen=True)
class Facts(Block):
    """Names and values in two columns."""

    rows: Sequence[tuple[Text, Text | Badge]]
    quiet: bool = False


@dataclass(frozen=True)
class Definition:
    """A term, what it means, and of what kind the statement is."""

    term: Text
    meaning: Text
    kind: Said | None = None


@dataclass(frozen=True)
class Definitions(Block):
    """Terms and what they mean."""

    items: Sequence[Definition]


@dataclass(frozen=True)
class Tile:
    """A number to be seen first, with its name above and a note below."""

    name: Text
    value: Text
    note: Text = ""


@dataclass(frozen=True)
class Tiles(Block):
    """A row of tiles; the terminal says the same in facts."""

    tiles: Sequence[Tile]
    where: Where | None = field(default="page", kw_only=True)


@dataclass(frozen=True)
class Cell:
    """A cell with more to it: ``small`` stands under it, and it may be loud, bold, quiet or in the colour of a tone."""

    value: Text | Badge | Chart
    small: Text = ""
    style: Literal["", "big", "bold", "quiet", "bad", "doubt", "toward", "away"] = ""


InCell = Text | Badge | Chart | Cell


@dataclass(frozen=True)
class TableColumn:
    """A column of a table; one of numbers is ranged right. In the terminal it has at ``least`` so many characters."""

    name: Text
    numeric: bool = False
    where: Where | None = None
    least: int | None = None


@dataclass(frozen=True)
class Row:
    """A row; the page writes ``note`` across a line below it. Of several rows one may be the chosen one."""

    cells: Sequence[InCell]
    chosen: bool = False
    note: Text = ""


@dataclass(frozen=True)
class TableBlock(Block):
    """Rows under columns: each a :class:`Row` or its cells, each a :class:`TableColumn` or its name.

    A name that begins with ``>`` is of a column of numbers.

    ``folded`` is what the page says over a table that opens on a click. The terminal shows the rows ``shown``, and how
    many more there are if ``more`` says what they are; beside a chosen row it writes ``mark``.
    """

    columns: Sequence[Any]
    rows: Sequence[Any]
    folded: str = ""
    open: bool = False
    shown: Sequence[int] | None = None
    more: str = ""
    mark: str = "◀ here"
    look: Literal["", "measures"] = ""

    @property
    def heads(self) -> list[TableColumn]:
        """The columns in full."""
        return [
            each if isinstance(each, TableColumn) else TableColumn(_without_mark(each), numeric=each.startswith(">"))
            for each in self.columns
        ]

    @property
    def lines(self) -> list[Row]:
        """The rows in full."""
        return [each if isinstance(each, Row) else Row(each) for each in self.rows]


def _without_mark(name: str) -> Text:
    first, *rest = name.parts if isinstance(name, Sentence) else (name,)
    return Sentence.of([first.removeprefix(">") if isinstance(first, str) else first, *rest])


@dataclass(frozen=True)
class Figure(Block):
    """A chart, and its numbers as blocks: folded on the page; the terminal, which draws nothing, shows those alone."""

    chart: Chart
    numbers: Sequence[Block] = ()
    open: bool = False


@dataclass(frozen=True)
class Card:
    """One of the riskiest values, or of the best things to do: what it is, why, the facts about it, a small chart.

    It is named by a ``title`` or by the ``pairs`` of a value. ``terms`` is the chart in words, for the terminal.
    """

    pairs: Sequence[tuple[str, object]]
    text: Text
    facts: Sequence[tuple[str, Text]]
    chart: Chart | None = None
    terms: Text = ""
    title: Text = ""


@dataclass(frozen=True)
class Cards(Block):
    """Cards in order of rank; the terminal shows the first few."""

    cards: Sequence[Card]
    shown: int = 5


@dataclass(frozen=True)
class Folded(Block):
    """Blocks under a line that opens on a click."""

    summary: Text
    blocks: Sequence[Block]
    open: bool = False


@dataclass(frozen=True)
class Beside(Block):
    """Blocks side by side where there is room."""

    columns: Sequence[Sequence[Block]]


@dataclass(frozen=True)
class Section:
    """Blocks under a title; ``kind`` says whether its numbers are exact, plug-in or estimates."""

    title: Text
    blocks: Sequence[Block]
    kind: Said | None = None
    where: Where | None = None


@dataclass(frozen=True)
class Document:
    """The answer of a verb.

    ``name`` says what it is of, ``badge`` and ``headline`` are the answer, ``opening`` is what comes before the
    sections. ``reading`` explains the terms of the page, ``footer`` says what it was made from.
    """

    kind: str
    name: Text
    badge: Badge
    headline: Text
    opening: Sequence[Block] = ()
    sections: Sequence[Section] = ()
    reading: Sequence[tuple[str, str]] = ()
    footer: Sequence[Text] = ()


def notes_section(notes: Sequence[str], *, where: Where | None = None) -> Iterable[Section]:
    """The notes of a result, if there are any."""
    if notes:
        yield Section("Notes", (Bullets(notes),), where=where)


def rows_of(table: Iterable[Sequence[InCell]]) -> tuple[Row, ...]:
    """Rows of nothing but cells."""
    return tuple(Row(tuple(cells)) for cells in table)
