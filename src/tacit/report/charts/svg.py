"""The few pieces of SVG that charts are made of: escaped elements, scales with round ticks, axes and legends."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from unicodedata import east_asian_width

from markupsafe import Markup, escape

from tacit.document.quantities import setting
from tacit.document.strings import printable, shorten

# A generous width of one character at the 12 px of chart text, so that labels stay apart in any font.
_CHARACTER = 7.4
# Room at the right of a plot for what is infinite.
TAIL = 52.0


def element(name: str, *children: object, **attributes: object) -> Markup:
    """An SVG element; ``class_`` is ``class``.

    Children and attributes are made printable and escaped unless they are markup already.
    """
    shown = "".join(
        f' {key.rstrip("_").replace("_", "-")}="{_written(value)}"'
        for key, value in attributes.items()
        if value is not None
    )
    inner = "".join(_written(child) for child in children)
    # Every part was escaped by _written, so joining them as plain text is safe, and ten times as fast as formatting.
    return Markup(f"<{name}{shown}>{inner}</{name}>")


def _written(value: object) -> Markup:
    if isinstance(value, float):
        return Markup(f"{value:.2f}".rstrip("0").rstrip("."))
    return value if isinstance(value, Markup) else escape(printable(value))


def text(content: object, x: float, y: float, **attributes: object) -> Markup:
    """Text at a point."""
    return element("text", content, x=float(x), y=float(y), **attributes)


def text_width(content: str) -> float:
    """About how many pixels a label takes; characters of East Asian scripts count double."""
    return sum(2 * _CHARACTER if east_asian_width(c) in "WF" else _CHARACTER for c in content)


def fitted(value: object, pixels: float) -> str:
    """A data value shortened to a number of pixels."""
    shown = shorten(value, max(2, int(pixels / _CHARACTER)))
    while len(shown) > 2 and text_width(shown) > pixels:
        shown = shorten(value, len(shown) - 1)
    return shown


def hover(content: object) -> Markup:
    """What is shown when the pointer rests on the parent element."""
    return element("title", content)


def line(x1: float, y1: float, x2: float, y2: float, **attributes: object) -> Markup:
    """A straight line."""
    return element("line", x1=float(x1), y1=float(y1), x2=float(x2), y2=float(y2), **attributes)


def rectangle(x: float, y: float, width: float, height: float, *children: object, **attributes: object) -> Markup:
    """A rectangle; sizes below zero count as zero."""
    sizes = {"width": max(0.0, float(width)), "height": max(0.0, float(height))}
    return element("rect", *children, x=float(x), y=float(y), **sizes, **attributes)


def drawing(width: float, height: float, label: str, *children: object, class_: str = "chart") -> Markup:
    """A whole picture, with a label for those who do not see it."""
    return element(
        "svg",
        *children,
        xmlns="http://www.w3.org/2000/svg",
        viewBox=f"0 0 {width:.0f} {height:.0f}",
        width=f"{width:.0f}",
        height=f"{height:.0f}",
        role="img",
        aria_label=label,
        class_=class_,
    )


@dataclass(frozen=True)
class PixelScale:
    """A linear map from values in ``[low, high]`` to pixels from ``start`` to ``end``; values outside are clamped."""

    low: float
    high: float
    start: float
    end: float

    def __call__(self, value: float) -> float:
        inside = min(max(value, self.low), self.high)
        return self.start + (inside - self.low) / (self.high - self.low) * (self.end - self.start)

    def ticks(self, about: int) -> list[float]:
        """Round values within the scale, roughly ``about`` of them."""
        step = nice_step((self.high - self.low) / max(1, about))
        first = math.ceil(self.low / step - 1e-9)
        last = math.floor(self.high / step + 1e-9)
        return [k * step for k in range(first, last + 1)]


def nice_step(rough: float) -> float:
    """The next of 1, 2, 2.5 or 5 times a power of ten."""
    power = 10.0 ** math.floor(math.log10(rough))
    return next(nice * power for nice in (1, 2, 2.5, 5, 10) if nice * power >= rough * (1 - 1e-9))


def nice_top(value: float, *, about: int = 5) -> float:
    """A round number at or above ``value`` for an axis to end at; 1 if there is nothing to show."""
    if not math.isfinite(value) or value <= 0:
        return 1.0
    step = nice_step(value / about)
    return math.ceil(value / step - 1e-9) * step


@dataclass(frozen=True)
class Plot:
    """A picture with room for axes; ``tail`` is a slot at the right for what is infinite."""

    width: float
    height: float
    left: float = 52
    right: float = 16
    top: float = 30
    bottom: float = 46
    tail: float = 0

    def across(self, low: float, high: float) -> PixelScale:
        """The scale of the horizontal axis."""
        return PixelScale(low, high, self.left, self.width - self.right - self.tail)

    def up(self, low: float, high: float) -> PixelScale:
        """The scale of the vertical axis."""
        return PixelScale(low, high, self.height - self.bottom, self.top)

    @property
    def floor(self) -> float:
        """Where the horizontal axis lies."""
        return self.height - self.bottom

    @property
    def tail_middle(self) -> float:
        """The middle of the slot for what is infinite."""
        return self.width - self.right - self.tail / 2


class Room:
    """Which parts of a picture are taken, so that no label runs into another, nor into what is drawn."""

    def __init__(self) -> None:
        self.taken: list[tuple[float, float, float, float]] = []

    def keep(self, left: float, right: float, top: float, bottom: float) -> None:
        """Nothing may be written here."""
        self.taken.append((left, right, top, bottom))

    def take(self, x: float, y: float, label: str) -> bool:
        """Whether a label that begins at x and stands on y fits; if so, its place is taken."""
        box = (x, x + text_width(label), y - 10, y + 3)
        free = not any(
            box[0] < right and left < box[1] and box[2] < bottom and top < box[3]
            for left, right, top, bottom in self.taken
        )
        if free:
            self.keep(*box)
        return free


def horizontal_axis(
    plot: Plot,
    scale: PixelScale,
    title: str,
    *,
    show: Callable[[float], str] = setting,
    ticks: Iterable[float] | None = None,
    grid: bool = False,
) -> Markup:
    """A labelled axis under the plot, with light lines up through it if ``grid``.

    ``ticks`` are round values unless they are given; of labels that would run into each other the first is written.
    """
    parts = [line(scale.start, plot.floor, scale.end, plot.floor, class_="axis")]
    room = Room()
    for tick in scale.ticks(max(4, round((scale.end - scale.start) / 90))) if ticks is None else ticks:
        x, label = scale(tick), show(tick)
        if grid:
            parts.append(line(x, plot.top, x, plot.floor, class_="grid"))
        parts.append(line(x, plot.floor, x, plot.floor + 4, class_="axis"))
        if room.take(x - text_width(label) / 2 - 4, plot.floor + 17, f"{label} "):
            parts.append(text(label, x, plot.floor + 17, text_anchor="middle", class_="tick"))
    if plot.tail:
        parts.append(line(scale.end + 14, plot.floor, plot.width - plot.right, plot.floor, class_="axis"))
        parts.append(text("∞", plot.tail_middle, plot.floor + 17, text_anchor="middle", class_="tick infinite"))
    shown = fitted(title, plot.width - 4)
    half = text_width(shown) / 2
    middle = max(half, min((scale.start + scale.end) / 2, plot.width - half))
    parts.append(text(shown, middle, plot.height - 8, text_anchor="middle", class_="axis-title"))
    return element("g", *parts)


def vertical_axis(
    plot: Plot, scale: PixelScale, title: str, *, show: Callable[[float], str], lift: float = 0
) -> Markup:
    """A labelled axis at the left with light lines across; its title is written level, ``lift`` pixels above it."""
    parts = [text(title, 2, plot.top - 14 - lift, class_="axis-title")]
    for tick in scale.ticks(4):
        y = scale(tick)
        parts.append(line(plot.left, y, plot.width - plot.right, y, class_="grid"))
        parts.append(text(show(tick), plot.left - 6, y + 4, text_anchor="end", class_="tick"))
    return element("g", *parts)


def level_mark(plot: Plot, scale: PixelScale, limit: float | None, room: Room | None = None) -> Markup:
    """A dashed line across the plot at a limit, if there is one, with its name under it."""
    if limit is None:
        return Markup()
    y, edge = scale(limit), plot.width - plot.right
    if room is not None:
        room.keep(plot.left, edge, y - 1, y + 1)
        room.keep(edge - 70, edge, y, y + 17)
    label = text(f"limit {setting(limit)}", edge, y + 15, text_anchor="end", class_="mark-label")
    return line(plot.left, y, edge, y, class_="mark line") + label


def dot(x: float, y: float, radius: float, words: str = "", **attributes: object) -> Markup:
    """A point, and what it is on hover."""
    return element("circle", *([hover(words)] if words else []), cx=float(x), cy=float(y), r=radius, **attributes)


def legend(entries: Sequence[tuple[str, str]], x: float, y: float, *, width: float) -> tuple[Markup, float]:
    """Swatches of classes with their words, in rows no wider than ``width``; also the height they take."""
    parts, at, row = [], x, 0
    for class_, label in entries:
        needed = 18 + text_width(label) + 14
        if at > x and at + needed - 14 > x + width:
            at, row = x, row + 1
        top = y + 18 * row
        swatch = (
            line(at, top + 5, at + 12, top + 5, class_=class_)
            if "line" in class_
            else rectangle(at, top, 12, 10, class_=class_)
        )
        parts += [swatch, text(label, at + 18, top + 9, class_="legend")]
        at += needed
    return element("g", *parts), 18.0 * (row + 1)


def path(points: Iterable[tuple[float, float]]) -> str:
    """The path of a broken line through points."""
    return "M" + " L".join(f"{x:.2f} {y:.2f}" for x, y in points)


def callout(label: str, at: tuple[float, float], plot: Plot) -> Markup:
    """A point that stands out, with its label next to it."""
    x, y = at
    wide = text_width(label)
    right = x + 12 + wide < plot.width - 4
    beside = x + 12 if right else max(x - 12, wide + 4)
    anchor = "start" if right else "end"
    return element(
        "g",
        dot(x, y, 7.0, label, class_="point chosen"),
        text(label, beside, max(y - 10, plot.top + 14), text_anchor=anchor, class_="mark-label"),
    )
