"""A document as one self-contained HTML page: no network, no file beside it, readable without JavaScript."""

from __future__ import annotations

import base64
import hashlib
from collections.abc import Iterable
from functools import cache, partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from jinja2 import Environment, PackageLoader, StrictUndefined
from markupsafe import Markup, escape

from tacit import __version__, document as doc
from tacit.document import printable
from tacit.errors import Command, Part, Sentence, Setting, Wording
from tacit.report import charts
from tacit.report.charts.terms import hue

if TYPE_CHECKING:
    from tacit.report.result import Result


_WIDE, _NARROW = 860, 360


def to_html(result: Result, *, bits: bool = False, wording: Wording | None = None) -> str:
    """The result as a whole page that opens from a file.

    Guarantees
    ----------
    The page loads nothing: its policy forbids every request, and only the one script written here may run. It shows
    what the result's document says and nothing else, and only the last part of a path.
    """
    document = result.document()
    body = body_of(document, wording or Wording(bits=bits))
    return (
        _environment()
        .get_template("page.html")
        .render(
            document=document,
            body=body,
            style=Markup(style_sheet()),
            script=Markup(source_of("slider.js")),
            policy=policy("<img " in body),
        )
    )


def policy(has_pictures: bool = True) -> str:
    """What a page may do: run the one script that is written here, by its hash, and load nothing."""
    script = base64.b64encode(hashlib.sha256(source_of("slider.js").encode()).digest()).decode()
    pictures = " img-src data:;" if has_pictures else ""
    return (
        f"default-src 'none'; style-src 'unsafe-inline';{pictures} script-src 'sha256-{script}'; base-uri 'none'; "
        "form-action 'none'"
    )


def write_report(result: Result, path: str | Path, *, bits: bool = False, wording: Wording | None = None) -> Path:
    """Write the page of :func:`to_html` to ``path`` and return it.

    Guarantees
    ----------
    The page appears whole or not at all; one that was there stays until then. What the system refuses is a
    ``SourceError`` that names the file.
    """
    from tacit.tables.writing import os_errors, whole_file

    target = Path(path)
    page = to_html(result, bits=bits, wording=wording)
    with whole_file(target) as draft, os_errors(target):
        draft.write_text(page, encoding="utf-8")
    return target


def style_sheet() -> str:
    """The style of a page, for elements within one of the class ``tacit``."""
    return source_of("style.css")


@cache
def _environment() -> Environment:
    return Environment(
        loader=PackageLoader("tacit.report"),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )


def source_of(name: str) -> str:
    """The text of one of our own files that a page is made of."""
    loader = _environment().loader
    assert loader is not None
    return loader.get_source(_environment(), name)[0]


def body_of(document: doc.Document, wording: Wording, *, opened: int | None = None) -> Markup:
    """The document, written by the macros of ``blocks.html``, each named after the block it writes.

    With ``opened``, all sections after that many are folded under one line.
    """

    def blocks(shown: Iterable[doc.Block]) -> Markup:
        written = (getattr(macros, type(block).__name__)(block) for block in shown if block.where != "terminal")
        return Markup("").join(written)

    context = {
        "tell": partial(_markup, wording=wording),
        "blocks": blocks,
        "draw": partial(_drawn, wording=wording),
        "style": _style,
        "short": doc.DataValue,
        "nats": doc.Nats,
        "share": doc.Share,
        "hue": hue,
        "version": __version__,
    }
    macros: Any = _environment().get_template("blocks.html").make_module(context)
    return Markup(macros.document(document, opened))


def _style(value: Any) -> str:
    return value.style if isinstance(value, doc.Cell) else ""


def _markup(value: Any, wording: Wording) -> Markup:
    """Anything that a document may hold, as markup: data is escaped, and long data is whole on hover."""
    if type(value) is str:
        # Most values are plain strings; asking whether each is a part would take longer than writing it.
        return escape(printable(value))
    match value:
        case doc.Cell():
            small = Markup("<small>{}</small>").format(_markup(value.small, wording)) if value.small else ""
            return _markup(value.value, wording) + small
        case doc.Badge():
            return Markup('<span class="verdict {}"><span aria-hidden="true">{}</span> {}</span>').format(
                value.tone, value.symbol, value.words
            )
        case doc.Chart():
            return _drawn(value, wording)
        case Sentence():
            return Markup("").join(_markup(part, wording) for part in value.parts)
        case doc.DataValue():
            whole, shown = printable(value.value), value.told(wording)
            return escape(whole) if shown == whole else Markup('<span title="{}">{}</span>').format(whole, shown)
        case doc.FilePath():
            return escape(value.name)
        case Command():
            words = [word.name if isinstance(word, doc.FilePath) else word for word in value.words]
            shown = Command(value.verb, *words, **value.settings).told(wording)
            return Markup("<code>{}</code>").format(printable(shown))
        case doc.Code() | Setting():
            return Markup("<code>{}</code>").format(printable(value.told(wording)))
        case Part():
            return escape(printable(value.told(wording)))
    return escape(printable(value))


def _drawn(chart: doc.Chart, wording: Wording) -> Markup:
    """A chart, for a wide and for a narrow page unless it is small; the style sheet shows one of them."""
    if chart.width is not None:
        return charts.draw(chart, wording)
    wide, narrow = (charts.draw(chart, wording, width=width) for width in (_WIDE, _NARROW))
    both = Markup('<div class="wide">{}</div><div class="narrow">{}</div>').format(wide, narrow)
    control = charts.controls(chart, wording)
    return Markup('<div class="trade">{}{}</div>').format(both, control) if control else both
