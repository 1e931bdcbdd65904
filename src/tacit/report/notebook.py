"""A result as one element of a notebook; its style neither leaks out nor is changed by the notebook's own."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import replace
from functools import cache
from typing import TYPE_CHECKING

from markupsafe import Markup

from tacit import document as doc
from tacit.errors import PLAIN
from tacit.report.page import body_of, source_of

if TYPE_CHECKING:
    from tacit.report.result import Result

# A document with more sections than the first number is folded under its opening, unless it says itself what to fold.
# One without an opening has its answer in the sections, of which the second number are shown.
MOST_OPEN, MOST_ANSWERS = 1, 6
_LEFT_OUT = "Notebooks are often passed on, so people's records are left out. write_report() writes them to a page."
# How notebooks state their colours; readers may have chosen others than for the rest of the screen.
DARK = ':is([data-jp-theme-light="false"], [theme="dark"], .vscode-dark, .vscode-high-contrast)'
LIGHT = '[data-jp-theme-light="true"], [theme="light"], .vscode-light'
# Notebooks style everything in them: all of it is reset, and our own rules are more specific than the reset.
_RESET = ".tacit.tacit.tacit.tacit :not(svg, svg *) { all: revert; }\n"
_OURS = ".tacit.tacit.tacit.tacit.tacit"


def fragment(result: Result, *, records: bool = False) -> str:
    """The result as one element with its own style, for a notebook; ``records`` includes people's records.

    Guarantees
    ----------
    It loads nothing from elsewhere. Every rule of its style applies only inside it. A long document is folded under
    its opening. Unless they are asked for, it shows no record of a table, neither the original nor as it would be
    released.
    """
    document = result.document() if records else _without_records(result.document())
    opened = _opened(document)
    # How to read it would be longer than a short answer; a page has it.
    document = document if opened is not None else replace(document, reading=())
    body = body_of(document, PLAIN, opened=opened)
    # Style and script are our own files; escaping would break them here.
    shell = Markup(
        '<div class="tacit-cell"><div class="tacit">\n<style>{}</style>\n{}\n<script>{}</script>\n</div></div>\n'
    )
    return shell.format(Markup(_style()), body, Markup(source_of("slider.js")))


def _opened(document: doc.Document) -> int | None:
    """How many sections are shown before the fold: up to the first that is folded on a page, too; None for all."""
    folded = [section.folded for section in document.sections if section.where != "terminal"]
    if True in folded:
        return folded.index(True)
    if not document.opening:
        return MOST_ANSWERS if len(folded) > MOST_ANSWERS else None
    return 0 if len(folded) > MOST_OPEN else None


def _without_records(document: doc.Document) -> doc.Document:
    sections = [replace(section, blocks=[*_unnamed(section.blocks)]) for section in document.sections]
    return replace(document, sections=sections)


def _unnamed(blocks: Iterable[doc.Block]) -> Iterator[doc.Block]:
    """The blocks without values that single people have: cards of risky values, and records before and after."""
    for block in blocks:
        match block:
            case doc.Cards() if any(card.pairs for card in block.cards):
                yield doc.Paragraph(_LEFT_OUT, "note", where=block.where)
            case doc.Figure(chart=doc.KeptByEpsilon() as chart) if chart.before:
                steps = [replace(step, rows=()) for step in chart.steps]
                yield replace(block, chart=replace(chart, before=(), steps=steps))
                yield doc.Paragraph(_LEFT_OUT, "note", where=block.where)
            case doc.Folded():
                yield replace(block, blocks=[*_unnamed(block.blocks)])
            case doc.Beside():
                yield replace(block, columns=[[*_unnamed(column)] for column in block.columns])
            case _:
                yield block


@cache
def _style() -> str:
    """The style of the page for an element as wide as a notebook makes it, in the notebook's colours."""
    page = re.sub(r"@media \((max-width: \d+px)\)", r"@container tacit-cell (\1)", source_of("style.css"))
    dark, colours = _dark(page)
    unsaid = f"html:not(:has({LIGHT})):not({LIGHT})"
    chosen = f"{DARK} .tacit {colours}\n@media (prefers-color-scheme: dark) {{ {unsaid} .tacit {colours} }}"
    style = page.replace(dark, chosen) + source_of("notebook.css")
    return _RESET + re.sub(r"\.tacit(?![\w-])", _OURS, style)


def _dark(style: str) -> tuple[str, str]:
    """The rule of dark colours, and the colours."""
    match = re.search(r"@media \(prefers-color-scheme: dark\) \{ \.tacit (\{[^}]*\}) \}", style)
    assert match is not None
    return match[0], match[1]
