"""A document as terminal text, one self-contained page, JSON or a notebook cell. It knows nothing else.

Rich and Jinja load on first use.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

from tacit.report.result import Result

if TYPE_CHECKING:
    from tacit.report.json import plain, to_json
    from tacit.report.page import fragment, to_html, write_report
    from tacit.report.terminal import show, to_text

__all__ = ["Result", "fragment", "plain", "show", "to_html", "to_json", "to_text", "write_report"]

_HOMES = {
    "fragment": "page",
    "plain": "json",
    "show": "terminal",
    "to_html": "page",
    "to_json": "json",
    "to_text": "terminal",
    "write_report": "page",
}


def __getattr__(name: str) -> Any:
    if name not in _HOMES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(f"{__name__}.{_HOMES[name]}"), name)
