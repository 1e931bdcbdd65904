"""A result as one element of a notebook, whose style neither leaks out of it nor is changed by the notebook's own."""

from __future__ import annotations

import re
from functools import cache
from typing import TYPE_CHECKING

from markupsafe import Markup

from tacit.document import Document
from tacit.errors import Wording
from tacit.report.page import body_of, source_of

if TYPE_CHECKING:
    from tacit.report.result import Result

# A document of more sections than this is folded under its answer, if it does not say itself what to fold.
MOST_OPEN = 1
# What notebooks say of their colours; their readers may have chosen others than for the rest of the screen.
DARK = ':is([data-jp-theme-light="false"], [theme="dark"], .vscode-dark, .vscode-high-contrast)'
LIGHT = '[data-jp-theme-light="true"], [theme="light"], .vscode-light'
# Notebooks style whatever is in them: all of it is taken back, and our own rules weigh more than that does.
_RESET = ".tacit.tacit.tacit.tacit :not(svg, svg *) { all: revert; }\n"
_OURS = ".tacit.tacit.tacit.tacit.tacit"


def fragment(result: Result, *, bits: bool = False, wording: Wording | None = None) -> str:
    """The result as one element with its own style, for a notebook.

    Guarantees
    ----------
    It asks for nothing from elsewhere. Every rule of its style is about what is inside it. A long document is folded
    under what it says first.
    """
    document = result.document()
    body = body_of(document, wording or Wording(bits=bits), opened=_opened(document))
    # Style and script are our own files, written where escaping would break them.
    shell = Markup(
        '<div class="tacit-cell"><div class="tacit">\n<style>{}</style>\n{}\n<script>{}</script>\n</div></div>\n'
    )
    return shell.format(Markup(_style()), body, Markup(source_of("slider.js")))


def _opened(document: Document) -> int | None:
    """How many sections are shown before the fold: up to the first that is folded on a page, too; None for all."""
    folded = [section.folded for section in document.sections if section.where != "terminal"]
    if True in folded:
        return folded.index(True)
    return 0 if len(folded) > MOST_OPEN else None


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
    found = re.search(r"@media \(prefers-color-scheme: dark\) \{ \.tacit (\{[^}]*\}) \}", style)
    assert found is not None
    return found[0], found[1]
