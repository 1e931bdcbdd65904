"""Numbers into the README of an experiment: marked sections that its run.py writes, and Markdown tables."""

from __future__ import annotations

import re
from collections.abc import Sequence
from pathlib import Path
from typing import Any


def fill(page: Path, texts: dict[str, str]) -> None:
    """Put texts between their markers in a page."""
    content = page.read_text(encoding="utf-8")
    for name, block in texts.items():
        marks = re.compile(rf"(<!-- {name}: written by run.py -->\n).*?(<!-- end of {name} -->)", re.DOTALL)
        if not marks.search(content):
            raise ValueError(f"{page} has no marked section '{name}'")
        content = marks.sub(lambda found, block=block: f"{found[1]}\n{block}\n\n{found[2]}", content)
    page.write_text(content, encoding="utf-8")


def table(head: Sequence[str], rows: Sequence[Sequence[Any]]) -> str:
    """A Markdown table."""
    lines = [head, ["---"] * len(head), *rows]
    return "\n".join("| " + " | ".join(str(cell) for cell in cells) + " |" for cells in lines)
