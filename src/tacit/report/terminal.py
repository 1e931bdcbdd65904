"""A document in the terminal: the answer in the first line, then the facts in the order a stranger needs them."""

from __future__ import annotations

import io
import shutil
from collections.abc import Iterator, Sequence
from functools import singledispatch
from typing import TYPE_CHECKING

from rich import box
from rich.cells import cell_len
from rich.console import Console, ConsoleOptions, Group, RenderableType, RenderResult
from rich.padding import Padding
from rich.segment import Segment
from rich.table import Column, Table as Grid
from rich.text import Text as Styled

from tacit import __version__, document as doc
from tacit.document import listed, printable, shorten
from tacit.errors import PLAIN, Part, Setting, Wording
from tacit.report.prose import Prose, told

if TYPE_CHECKING:
    from tacit.report.result import Result


Parts = Iterator[RenderableType]

_GRIDS = (doc.TableBlock, doc.Figure, doc.Facts, doc.Tiles)
# A longer word, such as a fingerprint, is broken where it must be.
_LONGEST_WORD = 16
# What is narrower than this cannot be read.
_NARROWEST = 6
_TONES = {"bad": "bold red", "good": "bold green", "doubt": "bold yellow"}
_PARAGRAPHS = {"note": "dim", "warning": "yellow", "lead": "", "claim": "", "plain": ""}
_CELLS = {
    "big": "bold",
    "bold": "bold",
    "quiet": "dim",
    "bad": "red",
    "doubt": "yellow",
    "toward": "red",
    "away": "cyan",
}


def to_text(
    result: Result,
    *,
    bits: bool = False,
    width: int | None = None,
    wording: Wording | None = None,
    full: bool = False,
) -> str:
    """The result as plain text without colour codes.

    Parameters
    ----------
    result : Result
        What a verb found.
    bits : bool
        Give information quantities in bits instead of nats.
    width : int, optional
        Columns to fill; by default those of the terminal, at most 120.
    wording : Wording, optional
        How settings and commands are spelled; by default as in Python.
    full : bool
        Show folded sections, too.
    """
    columns = width or min(shutil.get_terminal_size((100, 24)).columns, 120)
    out = io.StringIO()
    console = Console(file=out, width=columns, color_system=None, legacy_windows=False)
    _print(result, console, wording or Wording(bits=bits), full)
    # Rich pads rows to the width; trailing spaces only make a piped report harder to compare.
    return "\n".join(line.rstrip() for line in out.getvalue().splitlines()) + "\n"


def show(
    result: Result,
    console: Console | None = None,
    *,
    bits: bool = False,
    wording: Wording | None = None,
    full: bool = False,
) -> None:
    """Print the result to a console: in colour where it is a terminal, as plain text where it is not."""
    out = console or Console()
    if out.is_terminal:
        _print(result, out, wording or Wording(bits=bits), full)
    else:
        out.file.write(to_text(result, bits=bits, width=out.width, wording=wording, full=full))


def _print(result: Result, console: Console, wording: Wording, full: bool) -> None:
    for part in _document(result.document(), wording, full):
        console.print(part, highlight=False, markup=False, crop=not isinstance(part, Prose))


def _document(document: doc.Document, wording: Wording, full: bool) -> Parts:
    badge = document.badge
    answer = Styled(f"{badge.symbol} {badge.words.upper()}", style=_TONES[badge.tone])
    yield answer.append(f"  {told(document.headline, wording)}", style="bold default")
    yield from _blocks(document.opening, wording)
    sections = [section for section in document.sections if section.where != "page"]
    for section in sections:
        if full or not section.folded:
            kind = f" ({section.kind})" if section.kind else ""
            if section.title:
                yield Padding(Styled(f"{told(section.title, wording)}{kind}", style="bold"), (1, 0, 0, 0))
            yield from _blocks(section.blocks, wording)
    folded = [told(section.title, wording) for section in sections if section.folded]
    if folded and not full:
        ends = f"'{folded[0]}'" + (f" to '{folded[-1]}'" if len(folded) > 1 else "")
        all_of_it = "as_text(full=True)" if wording.setting is PLAIN.setting else Setting("full", True).told(wording)
        more = f"There is more, from {ends}: see it with {all_of_it}."
        yield Padding(Styled(more, style="dim"), (1, 0, 0, 0))
    made_from = " · ".join(told(each, wording) for each in (f"Tacit {__version__}", *document.footer))
    yield Padding(Styled(made_from, style="dim"), (0 if folded and not full else 1, 0, 0, 0))


def _blocks(blocks: Sequence[doc.Block], wording: Wording) -> Parts:
    before: doc.Block | None = None
    for block in blocks:
        if block.where == "page":
            continue
        # Two tables one under the other, or a table under facts, would read as one.
        apart = isinstance(block, doc.TableBlock | doc.Figure) and isinstance(before, _GRIDS)
        for part in _block(block, wording):
            yield Padding(part, (1, 0, 0, 0)) if apart else part
            before, apart = block, False


def _mark(badge: doc.Badge) -> Styled:
    return Styled(f"{badge.symbol} {badge.words}", style=_TONES[badge.tone])


@singledispatch
def _block(block: doc.Block, wording: Wording) -> Parts:
    """What the terminal shows of a block; nothing of one that it cannot show."""
    return iter(())


@_block.register
def _paragraph(block: doc.Paragraph, wording: Wording) -> Parts:
    label = f"{block.label}: " if block.label else ""
    yield Prose(block.text, wording, label=label, style=_PARAGRAPHS[block.style])


@_block.register
def _heading(block: doc.Heading, wording: Wording) -> Parts:
    yield Padding(Styled(told(block.text, wording), style="bold"), (1, 0, 0, 0))


@_block.register
def _bullets(block: doc.Bullets, wording: Wording) -> Parts:
    shown = block.items[: block.shown]
    for item in shown:
        yield Prose(item, wording, bullet="• ")
    yield from _rest(len(block.items) - len(shown), block.more)


def _rest(n: int, things: str) -> Parts:
    if n > 0 and things:
        more = f"1 more {things.removesuffix('s')} is" if n == 1 else f"{n} more {things} are"
        yield Styled(f"{more} in the JSON and in the HTML report.", style="dim")


@_block.register
def _facts(block: doc.Facts, wording: Wording) -> Parts:
    grid = Grid.grid(padding=(0, 2))
    grid.add_column(style="dim", no_wrap=True)
    grid.add_column(overflow="fold")
    for name, value in block.rows:
        grid.add_row(Styled(told(name, wording)), _cell(value, wording))
    yield Padding(grid, (1, 0, 0, 0))


@_block.register
def _tiles(block: doc.Tiles, wording: Wording) -> Parts:
    tiles = block.of("terminal")
    yield from _facts(doc.Facts([(tile.name, doc.Cell(tile.value, tile.note)) for tile in tiles]), wording)


@_block.register
def _figure(block: doc.Figure, wording: Wording) -> Parts:
    yield from _blocks(block.numbers, wording)


@_block.register
def _folded(block: doc.Folded, wording: Wording) -> Parts:
    yield from _heading(doc.Heading(block.summary), wording)
    yield from _blocks(block.blocks, wording)


@_block.register
def _beside(block: doc.Beside, wording: Wording) -> Parts:
    for column in block.columns:
        yield from _blocks(column, wording)


class _Fitted(Grid):
    """A table no wider than the line: the widest columns are folded first, down to their longest words, and words are
    broken only if those do not fit either. Rich would cut off the end of the line."""

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        # Each column but the last is followed by its padding and the blank that separates it from the next.
        room = options.max_width - 2 * len(self.columns) + 1
        widths = [_widest(column) for column in self.columns]
        segments = [part for part in super().__rich_console__(console, options) if isinstance(part, Segment)]
        if max(map(Segment.get_line_length, Segment.split_lines(segments)), default=0) > options.max_width:
            folding = [at for at, column in enumerate(self.columns) if not column.no_wrap]
            for least in ([self.columns[at].min_width or 0 for at in folding], [_NARROWEST] * len(folding)):
                self._narrow(widths, dict(zip(folding, least, strict=True)), room)
            for column, width in zip(self.columns, widths, strict=True):
                column.width, column.min_width = width, None
        yield from super().__rich_console__(console, options)

    @staticmethod
    def _narrow(widths: list[int], least: dict[int, int], room: int) -> None:
        """Make the widest columns narrower, but none narrower than its least, until they fit."""
        while sum(widths) > room:
            wide = [at for at, fewest in least.items() if widths[at] > fewest]
            if not wide:
                return
            widths[max(wide, key=lambda at: widths[at])] -= 1


def _widest(column: Column) -> int:
    return max(cell_len(line) for cell in (column.header, *column.cells) for line in str(cell).split("\n"))


@_block.register
def _table(block: doc.TableBlock, wording: Wording) -> Parts:
    heads, lines = block.heads, block.lines
    columns = [k for k, column in enumerate(heads) if column.where != "page"]
    grid = _Fitted(box=box.SIMPLE_HEAD, show_edge=False, header_style="bold dim", padding=(0, 1, 0, 0))
    places = range(len(lines)) if block.shown is None else block.shown
    shown = [lines[k] for k in places if k < len(lines)]
    cells = [[_cell(row.cells[k], wording) for k in columns] for row in shown]
    for at, k in enumerate(columns):
        word = max((cell_len(word) for row in cells for word in row[at].plain.split()), default=0)
        _add_column(grid, heads[k], wording, word=word)
    marked = any(row.chosen for row in lines)
    if marked:
        grid.add_column("", no_wrap=True)
    for row, told_cells in zip(shown, cells, strict=True):
        mark = [Styled(block.mark if row.chosen else "", style="bold")] if marked else []
        grid.add_row(*told_cells, *mark)
    yield grid
    yield from _rest(len(lines) - len(shown), block.more)


def _add_column(grid: Grid, column: doc.TableColumn, wording: Wording, *, word: int) -> None:
    # Rich would break a word where numbers take the room; ``word`` is the longest of the column.
    # A header may be broken where its writer says; folding keeps the whole of a long hash or name.
    lines = (column.title.told(wording) if isinstance(column.title, Part) else column.title).split("\n")
    grid.add_column(
        Styled("\n".join(map(printable, lines))),
        justify="right" if column.numeric else "left",
        no_wrap=column.numeric,
        min_width=max(column.least or 0, min(word, _LONGEST_WORD)),
        overflow="fold",
    )


def _cell(cell: doc.Text | doc.Badge | doc.Chart | doc.Cell, wording: Wording) -> Styled:
    whole = cell if isinstance(cell, doc.Cell) else doc.Cell(cell)
    if isinstance(whole.value, doc.Badge):
        return _mark(whole.value)
    if isinstance(whole.value, doc.Chart):
        return Styled("")
    small = f" ({told(whole.small, wording)})" if whole.small else ""
    return Styled(f"{told(whole.value, wording)}{small}", style=_CELLS.get(whole.style, ""))


@_block.register
def _cards(block: doc.Cards, wording: Wording) -> Parts:
    for rank, card in enumerate(block.cards[: block.shown], start=1):
        yield Padding(_card(rank, card, wording), (1 if rank > 1 else 0, 0, 0, 0))
    yield from _rest(len(block.cards) - block.shown, block.more)


def _card(rank: int, card: doc.Card, wording: Wording) -> RenderableType:
    grid = Grid.grid(padding=(0, 1))
    grid.add_column(justify="right", style="dim")
    grid.add_column(overflow="fold")
    named = told(card.title, wording) or listed(
        f"{shorten(name, 24)}={shorten(value, 24)}" for name, value in card.pairs
    )
    facts = " · ".join(f"{name[:1].lower()}{name[1:]} {told(value, wording)}" for name, value in card.facts)
    lines = [Styled(told(card.text, wording)), Styled(facts)]
    if card.terms:
        lines.append(Styled(told(card.terms, wording), style="dim"))
    grid.add_row(f"{rank}.", Styled(named, style="bold"))
    grid.add_row("", Group(*lines))
    return grid


@_block.register
def _posts(block: doc.MarkedPosts, wording: Wording) -> Parts:
    for post in block.posts[: block.shown]:
        strong = [f"{printable(p.text)} ×{told(doc.LiftFactor(p.moved))}" for p in post.telling()]
        times = f"{told(doc.LiftFactor(post.risk))} times as likely ({told(doc.Nats(post.risk), wording)})"
        line = Styled(times, style="bold")
        line.append(f"  {shorten(post.secret, 24)} {told(doc.Share(post.posterior))}", style="bold default")
        line.append(f"  {', '.join(strong) or post.without_telling}\n", style="default")
        for piece in post.pieces:
            marked = piece.secret == post.secret and piece.strength > 1
            line.append(printable(piece.text), style="reverse" if marked else "dim")
        yield line
