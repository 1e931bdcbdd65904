"""A result as text, JSON or one self-contained HTML page.

Importing this room lets results show themselves: ``print(result)`` and the last line of a notebook cell. Rich and
Jinja load on first use.
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from tacit.workflows.results import RENDERERS, Result

if TYPE_CHECKING:
    from rich.console import Console

__all__ = ["show", "to_html", "to_json", "to_text", "write_report"]


def to_text(result: Result, *, bits: bool = False, width: int | None = None) -> str:
    """The result as plain text; see :func:`tacit.report.text.to_text`."""
    from tacit.report import text

    return text.to_text(result, bits=bits, width=width)


def show(result: Result, console: Console | None = None, *, bits: bool = False) -> None:
    """Print the result, in colour where the console is a terminal."""
    from tacit.report import text

    text.show(result, console, bits=bits)


def to_json(result: Result, *, bits: bool = False) -> str:
    """The result as one object of strict JSON; see :func:`tacit.report.strict_json.to_json`."""
    from tacit.report import strict_json

    return strict_json.to_json(result, bits=bits)


def to_html(result: Result, *, bits: bool = False) -> str:
    """The result as one self-contained page; see :func:`tacit.report.html.to_html`."""
    from tacit.report import html

    return html.to_html(result, bits=bits)


def write_report(result: Result, path: str | Path, *, bits: bool = False) -> Path:
    """Write the page of :func:`to_html` to ``path`` and return it."""
    from tacit.report import html

    return html.write_report(result, path, bits=bits)


def _fragment(result: Result) -> str:
    from tacit.report import html

    return html.fragment(result)


RENDERERS["text"] = to_text
RENDERERS["html"] = _fragment
RENDERERS["page"] = to_html
