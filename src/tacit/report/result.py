"""The answer of a verb: a frozen value that says itself as a document, and so as text, page, JSON or notebook cell."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any, ClassVar

from tacit.document import Document
from tacit.errors import PLAIN, Wording


@dataclass(frozen=True)
class Result:
    """What one verb found. ``has_unit``: whether it holds amounts of information, in nats or bits."""

    has_unit: ClassVar[bool] = True

    def document(self) -> Document:
        """The answer in sections; every kind of result has its own."""
        raise TypeError(f"no report for {type(self).__name__}; it has no document")

    def to_dict(self) -> dict[str, Any]:
        """The whole result in strict JSON types."""
        from tacit.report.json import plain

        return {"result": type(self).__name__, **plain(self)}

    def write_report(self, path: str | Path, *, wording: Wording = PLAIN) -> Path:
        """Write the result as one self-contained page, whole or not at all, and return its path."""
        from tacit.report.page import write_report

        return write_report(self, path, wording=wording)

    def __str__(self) -> str:
        from tacit.report.terminal import to_text

        return to_text(self)

    def _repr_html_(self) -> str:
        from tacit.report.notebook import fragment

        # A plain string: whoever joins it to others would have those escaped.
        return str(fragment(self))
