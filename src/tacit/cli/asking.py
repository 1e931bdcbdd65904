"""If no secret was named and somebody is at the terminal: ask which column it is, and what to leave out."""

from __future__ import annotations

import sys
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import click

from tacit.document import printable

if TYPE_CHECKING:
    from tacit.lenses.table.answers.columns import ColumnsResult


def can_ask(words: Mapping[str, Any]) -> bool:
    """Whether somebody reads the answer and can type one."""
    readable = words.get("format_") == "text" and not words.get("quiet")
    return readable and sys.stdin.isatty() and sys.stdout.isatty()


def asked_for_roles(roles: ColumnsResult) -> dict[str, Any]:
    """The secret and the columns to leave out, as the user chose them; the guesses are the defaults."""
    names = [column.name for column in roles.columns]
    guess = next(iter(roles.proposed_secret), None)

    def column(text: str) -> str:
        if text not in names:
            raise click.BadParameter(f"there is no column '{text}'")
        return text

    secret = click.prompt("\nWhich column must not be learned?", default=guess, value_proc=column)
    drop = [name for name in roles.proposed_drop if name != secret]
    shown = ", ".join(map(printable, drop))
    if not drop or not click.confirm(f"Leave out {shown}?", default=True):
        return {"secret": secret}
    return {"secret": secret, "drop": drop}
