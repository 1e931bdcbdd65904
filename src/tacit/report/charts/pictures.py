"""Pictures for a page: images and heat maps as PNG inside the page, and the colour scales that explain them.

PNG is written here, in a few lines, so that a page of images from an npz needs no library for pictures.
"""

from __future__ import annotations

import base64
import struct
import zlib
from collections.abc import Sequence
from typing import Any

import numpy as np
from markupsafe import Markup
from numpy.typing import NDArray

from tacit.document import ContactSheet, HeatMaps, SheetRow, shorten
from tacit.document.quantities import number, setting, unit_name
from tacit.errors import Wording
from tacit.report.charts.svg import nice_top

Pixels = NDArray[np.uint8]
Heat = NDArray[np.float64]

# From nothing to most: light grey, yellow, orange, dark red; it darkens throughout, so it can be read without colour.
HEAT = ((238, 240, 243), (253, 222, 135), (245, 146, 62), (199, 48, 38), (103, 8, 30))
# From against to for: blue, light grey, red.
SIGNED = ((24, 79, 149), (106, 163, 213), (238, 240, 243), (232, 122, 88), (158, 20, 32))
_OVERLAY = 0.72


def png(pixels: Pixels) -> bytes:
    """Grey (h, w) or colour (h, w, 3) pixels as a PNG file."""
    height, width = pixels.shape[:2]
    colour = 0 if pixels.ndim == 2 else 2
    rows = np.ascontiguousarray(pixels).reshape(height, -1)
    data = np.hstack([np.zeros((height, 1), np.uint8), rows]).tobytes()
    header = struct.pack(">IIBBBBB", width, height, 8, colour, 0, 0, 0)
    return (
        b"\x89PNG\r\n\x1a\n" + _chunk(b"IHDR", header) + _chunk(b"IDAT", zlib.compress(data, 9)) + _chunk(b"IEND", b"")
    )


def _chunk(name: bytes, data: bytes) -> bytes:
    return struct.pack(">I", len(data)) + name + data + struct.pack(">I", zlib.crc32(name + data))


def picture(pixels: Pixels, words: str, *, width: int, class_: str = "picture") -> Markup:
    """An image of the page, with words for those who do not see it; its pixels stay square and sharp."""
    height = round(width * pixels.shape[0] / pixels.shape[1])
    return Markup('<img class="{}" src="data:image/png;base64,{}" alt="{}" title="{}" width="{}" height="{}">').format(
        class_, base64.b64encode(png(pixels)).decode(), words, words, width, height
    )


def coloured(values: Heat, *, top: float, colours: Sequence[tuple[int, int, int]] = HEAT) -> Pixels:
    """A grid of values as colours: from 0 to ``top`` or, for signed colours, from ``-top`` to ``top``."""
    low = -top if colours is SIGNED else 0.0
    place = np.clip((values - low) / (top - low), 0.0, 1.0) * (len(colours) - 1)
    stops = np.arange(len(colours))
    channels = [np.interp(place, stops, [colour[c] for colour in colours]) for c in range(3)]
    return np.rint(np.stack(channels, axis=-1)).astype(np.uint8)


def overlaid(image: Pixels, heat: Heat, *, top: float) -> Pixels:
    """A heat map laid over its image: the image in grey where nothing is said, the colour where much is."""
    grey = image.astype(np.float64) if image.ndim == 2 else image @ np.array([0.299, 0.587, 0.114])
    size = image.shape[0] // heat.shape[0], image.shape[1] // heat.shape[1]
    spread = heat.repeat(size[0], axis=0).repeat(size[1], axis=1)
    colour = coloured(spread, top=top).astype(np.float64)
    weight = (_OVERLAY * np.sqrt(np.clip(spread / top, 0, 1)))[..., None]
    # A dark image would swallow the colours.
    lifted = (60 + grey * 0.76)[..., None]
    return np.rint((1 - weight) * lifted + weight * colour).astype(np.uint8)


def scale_bar(top: float, unit: str, *, colours: Sequence[tuple[int, int, int]] = HEAT, width: int = 200) -> Markup:
    """The colours with the values they stand for."""
    both = colours is SIGNED
    strip = np.linspace(-top if both else 0.0, top, 128)[None, :]
    ends = (
        (f"−{setting(top)}", "0", f"+{setting(top)} {unit}")
        if both
        else ("0", setting(top / 2), f"{setting(top)} {unit}")
    )
    words = f"colour scale from {ends[0]} to {ends[2]}"
    bar = picture(coloured(strip, top=top, colours=colours), words, width=width, class_="bar-strip")
    return Markup('<div class="colour-bar">{}<div><span>{}</span><span>{}</span><span>{}</span></div></div>').format(
        bar, *ends
    )


def round_top(values: Heat, *, share: float = 1.0) -> float:
    """Where a colour scale ends: a round number at the largest value, or at a high quantile of many."""
    return nice_top(float(np.quantile(np.abs(values), share))) if values.size else 1.0


def draw_maps(chart: HeatMaps, wording: Wording, width: float) -> Markup:
    """Every panel with its colour scale and its caption."""
    grids = [np.array(panel.grid, dtype=float) for panel in chart.panels]
    shared = [grid for grid, panel in zip(grids, chart.panels, strict=True) if panel.signed]
    signed_top = round_top(np.array(shared)) if shared else 1.0
    unit, figures = unit_name(wording), []
    for grid, panel in zip(grids, chart.panels, strict=True):
        top, colours = (signed_top, SIGNED) if panel.signed else (round_top(grid), HEAT)
        best = np.unravel_index(np.abs(grid).argmax(), grid.shape)
        most = f"Most: {number(float(grid[best]))} {unit} at row {best[0] + 1}, column {best[1] + 1}"
        shown = picture(coloured(grid, top=top, colours=colours), f"{panel.caption}. {most}", width=int(width))
        figures.append(_captioned(shown + scale_bar(top, unit, colours=colours, width=int(width)), panel.caption))
    return Markup('<div class="maps">{}</div>').format(Markup("").join(figures))


def draw_sheet(chart: ContactSheet, wording: Wording, width: float) -> Markup:
    """A table of pictures; below it the colour scale of each row that has heat over it."""
    if not chart.heads:
        shown = [pixels for row in chart.rows for pixels in _pictures(row, 1.0, width)]
        return Markup('<div class="released">{}</div>').format(Markup("").join(shown))
    rows, bars = [], []
    for row in chart.rows:
        top = round_top(np.array(row.heat, dtype=float), share=0.995) if row.heat else 1.0
        cells = Markup("").join(Markup("<td>{}</td>").format(shown) for shown in _pictures(row, top, width))
        rows.append(Markup('<tr><th scope="row">{}</th>{}</tr>').format(row.name, cells))
        if row.heat:
            bars.append(_captioned(scale_bar(top, unit_name(wording)), f"{row.name}: what each adds"))
    heads = Markup("").join(Markup('<th scope="col">{}</th>').format(shorten(head, 14)) for head in chart.heads)
    return Markup(
        '<div class="scroll"><table class="sheet"><thead><tr><th></th>{}</tr></thead><tbody>{}</tbody></table></div>'
        '<div class="maps">{}</div>'
    ).format(heads, Markup("").join(rows), Markup("").join(bars))


def _pictures(row: SheetRow, top: float, width: float) -> list[Markup]:
    pixels: list[Any] = list(row.pictures)
    if row.heat:
        heats = [np.array(heat, dtype=float) for heat in row.heat]
        pixels = [overlaid(each, heat, top=top) for each, heat in zip(pixels, heats, strict=True)]
    return [picture(each, words, width=int(width)) for each, words in zip(pixels, row.words, strict=True)]


def _captioned(shown: Markup, caption: str) -> Markup:
    return Markup("<figure>{}<figcaption>{}</figcaption></figure>").format(shown, caption)
