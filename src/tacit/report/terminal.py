"""The pieces that every answer in the terminal is made of."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from rich import box
from rich.console import RenderableType
from rich.padding import Padding
from rich.table import Table
from rich.text import Text

from tacit.report.words import Badge, printable

_STYLES = {"bad": "bold red", "good": "bold green", "doubt": "bold yellow"}


def answer(verdict: Badge, headline: str) -> Text:
    """The verdict and the headline, the first line of every answer."""
    told = Text(f"{verdict.symbol} {verdict.words.upper()}", style=_STYLES[verdict.tone])
    return told.append(f"  {printable(headline)}", style="bold default")


def heading(title: str) -> Padding:
    """A title with room above it."""
    return Padding(Text(title, style="bold"), (1, 0, 0, 0))


def line(text: str, *, style: str = "") -> Text:
    """One line of text."""
    return Text(text, style=style)


def mark(verdict: Badge) -> Text:
    """A verdict with its symbol."""
    return Text(f"{verdict.symbol} {verdict.words}", style=_STYLES[verdict.tone])


def facts(rows: Sequence[tuple[str, str]], *, style: str = "") -> Padding:
    """Names and values in two columns."""
    grid = Table.grid(padding=(0, 2))
    grid.add_column(style="dim", no_wrap=True)
    grid.add_column(overflow="fold")
    for name, value in rows:
        grid.add_row(Text(name), Text(value, style=style))
    return Padding(grid, (1, 0, 0, 0))


def table(*headers: str) -> Table:
    """A table; a header that begins with ``>`` is of a column of numbers, ranged right."""
    made = Table(box=box.SIMPLE_HEAD, show_edge=False, header_style="bold dim", padding=(0, 1, 0, 0))
    for header in headers:
        numeric = header.startswith(">")
        # Folding keeps the whole of a long hash or name; an ellipsis would drop its end.
        made.add_column(
            Text(header.lstrip(">")), justify="right" if numeric else "left", no_wrap=numeric, overflow="fold"
        )
    return made


def bullets(lines: Iterable[str]) -> Table:
    """Lines with a point before each."""
    grid = Table.grid(padding=(0, 1))
    for told in lines:
        grid.add_row("•", Text(printable(told)))
    return grid


def notes(told: Sequence[str]) -> Iterator[RenderableType]:
    """The notes of a result, if there are any."""
    if told:
        yield heading("Notes")
        yield bullets(told)
