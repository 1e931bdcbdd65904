"""The answer of a verb: a frozen value that becomes a document, and so text, page, JSON or notebook cell."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any, ClassVar

from tacit.document import Document
from tacit.errors import PLAIN, Wording


@dataclass(frozen=True, repr=False)
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

    def as_text(self, *, full: bool = False, bits: bool = False) -> str:
        """The answer as plain text; ``full`` also shows what is folded, ``bits`` uses bits instead of nats."""
        from tacit.report.terminal import to_text

        return to_text(self, full=full, bits=bits)

    def __str__(self) -> str:
        return self.as_text()

    def __repr__(self) -> str:
        from tacit.report.prose import told

        document = self.document()
        answer = f"{document.badge.words}. {told(document.headline)}"
        return f"<{type(self).__name__}: {answer} print() shows the answer, as_text(full=True) all of it>"

    def __init_subclass__(cls, **words: Any) -> None:
        """Keep the short representation: a data class would spell out every field."""
        super().__init_subclass__(**words)
        if "__repr__" not in cls.__dict__:
            cls.__repr__ = Result.__repr__  # type: ignore[method-assign]

    def _repr_html_(self) -> str:
        from tacit.report.notebook import fragment

        # A plain string: joined to Markup, other strings would be escaped.
        return str(fragment(self))
