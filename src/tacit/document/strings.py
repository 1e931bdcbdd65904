"""Strings that came from the data: safe to print, and short enough to read."""

from __future__ import annotations

import unicodedata
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from tacit.errors import Wording

__all__ = ["Code", "DataValue", "FilePath", "listed", "printable", "shorten"]


def printable(value: Any) -> str:
    """A data value as text that cannot steer a terminal or reorder a line.

    Control and bidirectional override characters are shown as ``�``: a value such as ``ESC[2J`` must not clear the
    screen of whoever reads the report.
    """
    text = "(missing)" if value is None else str(value)
    if text.isascii() and text.isprintable():
        return text
    return "".join(_safe_character(c) for c in text)


def _safe_character(c: str) -> str:
    if c in "\n\r\t\u2028\u2029":
        return " "
    # A joiner is part of many scripts and emoji, and steers nothing.
    return "�" if unicodedata.category(c) in ("Cc", "Cf", "Cs") and c not in "\u200c\u200d" else c


def shorten(value: Any, length: int) -> str:
    """A data value in at most ``length`` characters."""
    text = printable(value)
    return text if len(text) <= length else text[: max(1, length - 1)].rstrip() + "…"


def listed(names: Iterable[object], *, limit: int = 12) -> str:
    """Names in a row, cut after ``limit`` with how many were left out."""
    shown = [shorten(name, 40) for name in names]
    rest = len(shown) - limit
    return ", ".join(shown[:limit]) + (f" and {rest} more" if rest > 0 else "")


@dataclass(frozen=True)
class DataValue:
    """A value of the data in at most ``length`` characters; a page has the whole of it on hover."""

    value: Any
    length: int = 40

    def told(self, wording: Wording) -> str:
        """The same for every reader."""
        return shorten(self.value, self.length)


@dataclass(frozen=True)
class FilePath:
    """A path; a page, which may be passed on, shows only its last part, not the folders of the machine."""

    path: str

    def told(self, wording: Wording) -> str:
        """The whole path."""
        return printable(self.path)

    @property
    def name(self) -> str:
        """The last part."""
        return printable(self.path).replace("\\", "/").rstrip("/").rpartition("/")[2]


@dataclass(frozen=True)
class Code:
    """A fingerprint, or anything else to be read letter by letter."""

    text: str

    def told(self, wording: Wording) -> str:
        """As it is."""
        return printable(self.text)
