"""Running text in the terminal: it fits, and commands in it can be copied."""

from __future__ import annotations

from dataclasses import dataclass

import pytest

from tacit.cli.wording import COMMAND_LINE
from tacit.document import Bullets, Document, Paragraph, badge
from tacit.errors import Command, sentence
from tacit.report import Result, to_text

COMMAND = Command("audit", "cases.xlsx", secret="race", drop=["Case No.", "Legal cost in pounds"])


@dataclass(frozen=True)
class Advice(Result):
    """A command by itself, and one in a sentence."""

    def document(self) -> Document:
        words = "A neighbour may know something of a person. Try {}, then look at what stays; and so on."
        blocks = Paragraph(sentence("{}", COMMAND), label="Make it"), Bullets([sentence(words, COMMAND)])
        return Document("advice", "", badge("holds"), "It is so.", blocks)


@pytest.mark.parametrize("width", [40, 80, 120])
def test_a_command_is_in_one_line_and_everything_else_fits(width: int) -> None:
    command = COMMAND.told(COMMAND_LINE)
    lines = to_text(Advice(), width=width, wording=COMMAND_LINE).splitlines()
    assert sum(command in line for line in lines) == 2
    rest = [line for line in lines if command not in line or len(command) < width - 2]
    assert max(map(len, rest)) <= width
    assert "\ue000" not in "".join(lines)


def test_a_sentence_goes_on_under_its_bullet_after_a_command() -> None:
    lines = to_text(Advice(), width=40, wording=COMMAND_LINE).splitlines()
    bullet = next(at for at, line in enumerate(lines) if line.startswith("• "))
    assert lines[bullet + 1 : bullet + 5] == [
        "  person. Try",
        f"  {COMMAND.told(COMMAND_LINE)}",
        "  then look at what stays; and so on.",
        "",
    ]
