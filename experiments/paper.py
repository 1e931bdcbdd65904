"""The shape of an experiment: results of a run, a page filled from them, and what became of every item of the paper.

A paper is a folder with ``data.py`` (what goes in), ``run.py`` (``run(quick=..., say=...)``, whose results are JSON)
and ``page.py`` (``page(results)``); the prose is ``page.md``, with a marker ``{{name}}`` for everything that comes from
results.
"""

from __future__ import annotations

import json
import math
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal

Say = Callable[[str], None]
Results = Mapping[str, Any]
Outcome = Literal["reproduced", "corrected", "not available"]


@dataclass(frozen=True)
class Item:
    """One figure, table, theorem or claim of a paper: what is printed, what we got, and why they differ."""

    name: str
    printed: str
    ours: str
    outcome: Outcome
    why: str = ""

    @classmethod
    def checked(cls, name: str, printed: str, ours: str, *, holds: bool, why: str) -> Item:
        """A claim that results decide: reproduced if it holds, else corrected, for the reason given."""
        return cls(name, printed, ours, "reproduced") if holds else cls(name, printed, ours, "corrected", why)

    def __post_init__(self) -> None:
        """Nothing is corrected, or not available, without a reason."""
        if self.outcome != "reproduced" and not self.why:
            raise ValueError(f"{self.name} is {self.outcome}, and nobody says why")


@dataclass(frozen=True)
class Page:
    """What results say: texts for the markers of the prose, figures as SVG, and the items of the paper."""

    texts: Mapping[str, str]
    items: Sequence[Item]
    figures: Mapping[str, str] = field(default_factory=dict)

    def filled(self, prose: str) -> str:
        """The prose with every marker replaced; a marker without a text, or a text without a marker, is an error."""
        texts = {**self.texts, "items": items_table(self.items)}
        markers = set(re.findall(r"\{\{(\w+)\}\}", prose))
        if markers != set(texts):
            raise ValueError(f"markers and texts differ: {sorted(markers ^ set(texts))}")
        return re.sub(r"\{\{(\w+)\}\}", lambda marker: texts[marker[1]], prose)


def table(head: Sequence[str], rows: Sequence[Sequence[Any]]) -> str:
    """A Markdown table."""
    lines = [head, ["---"] * len(head), *rows]
    return "\n".join("| " + " | ".join(str(cell).replace("|", "\\|") for cell in cells) + " |" for cells in lines)


def items_table(items: Sequence[Item]) -> str:
    """What became of every item."""
    rows = [(item.name, item.printed, item.ours, f"**{item.outcome}**", item.why) for item in items]
    return table(("item", "printed", "ours", "outcome", "why they differ"), rows)


def plain(value: Any) -> Any:
    """A value in JSON's own types: six digits, infinity by name."""
    if isinstance(value, Mapping):
        return {str(key): plain(item) for key, item in value.items()}
    if isinstance(value, (list, tuple)):
        return [plain(item) for item in value]
    if hasattr(value, "tolist"):
        return plain(value.tolist())
    if isinstance(value, float):
        return float(f"{value:.6g}") if math.isfinite(value) else str(value)
    return value


def save(results: Results, path: Path) -> None:
    """Results as a file that reads well in a diff."""
    path.write_text(json.dumps(plain(results), indent=1) + "\n", encoding="utf-8")


def load(path: Path) -> Results:
    """Results from their file, infinity as a number again."""

    def numbers(each: dict[str, Any]) -> dict[str, Any]:
        return {key: _infinite(item) for key, item in each.items()}

    results: Results = json.loads(path.read_text("utf-8"), object_hook=numbers)
    return results


def _infinite(value: Any) -> Any:
    if isinstance(value, list):
        return [_infinite(item) for item in value]
    return float(value) if value in ("inf", "-inf", "nan") else value
