"""A document: what a verb says before it is shown. Sections of blocks, made of texts, quantities, badges and charts.

A block is for the terminal and the page alike unless it says ``where`` it belongs.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any, Literal

from tacit.document.badges import Badge
from tacit.document.charts import Chart
from tacit.errors import Part, Sentence

__all__ = [
    "Beside",
    "Block",
    "Bullets",
    "Card",
    "Cards",
    "Cell",
    "CellStyle",
    "Document",
    "Facts",
    "Figure",
    "Folded",
    "Heading",
    "InCell",
    "Paragraph",
    "Row",
    "Section",
    "TableBlock",
    "TableColumn",
    "Text",
    "Tile",
    "Tiles",
    "notes_section",
]

Text = str | Part
Where = Literal["page", "terminal"]
CellStyle = Literal["", "big", "bold", "quiet", "bad", "doubt", "toward", "away"]


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
    """Sentences with a bullet before each. Of many, the terminal shows some, and how many more there are.

    ``folded`` is the line of the page under which the list opens on a click.
    """

    items: Sequence[Text]
    shown: int | None = None
    more: str = ""
    folded: str = ""
    open: bool = False


@dataclass(frozen=True)
class Cell:
    """A cell with more to it: ``small`` stands under it, and it may be loud, bold, quiet or in the colour of a tone."""

    value: Text | Badge | Chart
    small: Text = ""
    style: CellStyle = ""


InCell = Text | Badge | Chart | Cell


@dataclass(frozen=True)
class Facts(Block):
    """Names and values in two columns."""

    rows: Sequence[tuple[Text, InCell]]


@dataclass(frozen=True)
class Tile:
    """What should be seen first: a number with its name and a note; ``where`` keeps it to one medium."""

    name: Text
    value: Text
    note: Text = ""
    where: Where | None = None


@dataclass(frozen=True)
class Tiles(Block):
    """Tiles in a row, in the terminal one under the other; each a :class:`Tile` or its name, value and note."""

    rows: Sequence[Any]

    def of(self, medium: Where) -> list[Tile]:
        """The tiles that a medium shows."""
        tiles = [each if isinstance(each, Tile) else Tile(*each) for each in self.rows]
        return [tile for tile in tiles if tile.where in (None, medium)]


@dataclass(frozen=True)
class TableColumn:
    """A column of a table. A name that begins with ``>`` marks numbers, which are aligned right.

    In the terminal the column is at least ``least`` characters wide.
    """

    name: str
    where: Where | None = None
    least: int | None = None

    @property
    def numeric(self) -> bool:
        """Whether it is aligned right."""
        return self.name.startswith(">")

    @property
    def title(self) -> Text:
        """The name without its mark."""
        first, *rest = self.name.parts if isinstance(self.name, Sentence) else (self.name,)
        return Sentence.of([first.removeprefix(">") if isinstance(first, str) else first, *rest])


@dataclass(frozen=True)
class Row:
    """A row; the page writes ``note`` across a line below it. One of several rows may be the chosen one."""

    cells: Sequence[InCell]
    chosen: bool = False
    note: Text = ""


@dataclass(frozen=True)
class TableBlock(Block):
    """Rows under columns: each a :class:`Row` or its cells, each a :class:`TableColumn` or its name.

    ``folded`` is the line of the page under which the table opens on a click. The terminal shows the rows ``shown``,
    and how many more there are if ``more`` names them; after a chosen row it writes ``mark``.
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
        return [each if isinstance(each, TableColumn) else TableColumn(each) for each in self.columns]

    @property
    def lines(self) -> list[Row]:
        """The rows in full."""
        return [each if isinstance(each, Row) else Row(each) for each in self.rows]


@dataclass(frozen=True)
class Figure(Block):
    """A chart, and its numbers as blocks: folded on the page; the terminal, which draws nothing, shows only these."""

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
    more: str = "values"


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
    """Blocks under a title; ``kind`` says whether its numbers are exact, plug-in or estimates.

    A ``folded`` one opens on a click; the terminal shows it if everything was asked for.
    """

    title: Text
    blocks: Sequence[Block]
    kind: Literal["exact", "plug-in", "estimate"] | None = None
    where: Where | None = None
    folded: bool = False


@dataclass(frozen=True)
class Document:
    """The answer of a verb.

    ``name`` says what it is about, ``badge`` and ``headline`` are the answer, ``opening`` is what comes before the
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
