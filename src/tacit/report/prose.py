"""Running text in a terminal: lines as wide as the terminal, and commands that can be copied."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from rich.cells import cell_len
from rich.console import Console, ConsoleOptions, RenderResult
from rich.text import Text as Styled

from tacit.document import Text, printable
from tacit.errors import PLAIN, Command, Part, Sentence, Wording

# Stands for a space at which no line may end.
_JOINT = "\ue000"


def told(text: Text, wording: Wording = PLAIN) -> str:
    """A text in the words of one reader, and safe to print."""
    return printable(text.told(wording) if isinstance(text, Part) else text)


@dataclass(frozen=True)
class Prose:
    """A text in lines as wide as the terminal, after a label or a bullet.

    Guarantees
    ----------
    A command stays on one line, too long if need be: broken in two it could not be copied.
    """

    text: Text
    wording: Wording
    label: str = ""
    style: str = ""
    bullet: str = ""

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        """The lines, the first with the bullet and the others under its text."""
        room = options.max_width - cell_len(self.bullet)
        start = self.bullet
        for piece in self._pieces(room):
            whole = " " not in piece and _JOINT in piece
            lines = [piece] if whole else [line.plain.rstrip() for line in Styled(piece).wrap(console, room)]
            for line in lines:
                words = f"{start}{line.replace(_JOINT, ' ')}"
                yield Styled(words, style=self.style, no_wrap=True, overflow="ignore")
                start = " " * cell_len(self.bullet)

    def _pieces(self, room: int) -> Iterator[str]:
        """What is wrapped separately: commands that no line can hold, and what is before and after them."""
        piece = self.label
        for part in self.text.parts if isinstance(self.text, Sentence) else (self.text,):
            words = told(part, self.wording)
            if isinstance(part, Command):
                words = words.replace(" ", _JOINT)
                if cell_len(words) > room:
                    yield from filter(None, [piece.rstrip(), words])
                    piece = ""
                    continue
            piece += words if piece else words.lstrip(" .,;:")
        if piece:
            yield piece
