"""How the command line spells the settings and commands that a sentence names."""

from __future__ import annotations

import shlex
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from tacit.errors import Wording


def option(name: str) -> str:
    """``epsilon_low`` as ``--epsilon-low``."""
    return f"--{name.replace('_', '-')}"


def _setting(name: str, value: Any) -> str:
    if value is None or value is True:
        return option(name)
    if isinstance(value, Mapping):
        return " ".join(f"{option(name)} {shlex.quote(f'{_text(key)}={_text(item)}')}" for key, item in value.items())
    return f"{option(name)} {shlex.quote(_text(value))}"


def _text(value: Any) -> str:
    if isinstance(value, (list, tuple)):
        return ",".join(_quoted(_text(item)) for item in value)
    return f"{value:g}" if isinstance(value, float) else str(value)


def _quoted(name: str) -> str:
    """A name in a list; one that could be taken for two, or for a value, is put in double quotes."""
    doubled = name.replace('"', '""')
    return f'"{doubled}"' if any(sign in name for sign in ',="') or name != name.strip() else name


def _command(verb: str, words: Sequence[str], settings: Mapping[str, Any]) -> str:
    arguments = [*map(shlex.quote, words), *(_setting(name, value) for name, value in settings.items())]
    return " ".join(["tacit", verb, *arguments])


COMMAND_LINE = Wording(setting=_setting, command=_command)


def wording(*, bits: bool = False) -> Wording:
    """The words of the command line, in nats or bits."""
    return replace(COMMAND_LINE, bits=bits)
