"""Figures as self-contained SVG files, the same byte for byte for the same results."""

from __future__ import annotations

import io
import re
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

STYLE = {
    "svg.fonttype": "none",
    "svg.hashsalt": "tacit",
    "font.family": ["sans-serif"],
    "font.size": 9,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.grid": True,
    "grid.color": "#e3e6ea",
    "axes.axisbelow": True,
    "legend.frameon": False,
    "axes.prop_cycle": "cycler('color', ['#2f62c9', '#c2781d', '#b3261e', '#8a63c4', '#14713d', '#0f7c8a'])",
}


class Drawing:
    """The SVG of a figure, once it has been drawn."""

    svg: str = ""


@contextmanager
def drawn(*, panels: int = 1, width: float = 8.6, height: float = 3.4) -> Iterator[tuple[Any, Drawing]]:
    """The axes of a figure to draw on, in a row, and where its SVG will be."""
    from matplotlib import rc_context
    from matplotlib.figure import Figure

    drawing = Drawing()
    with rc_context(STYLE):
        figure = Figure(figsize=(width, height), layout="constrained")
        yield figure.subplots(1, panels, squeeze=False)[0], drawing
        text = io.StringIO()
        figure.savefig(text, format="svg", metadata={"Date": None, "Creator": None})
        drawing.svg = re.sub(r"[ \t]+$", "", text.getvalue(), flags=re.MULTILINE)
