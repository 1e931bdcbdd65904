"""What can be asked about a person. An action is a file here and a line in :data:`ACTIONS`.

The file ``NAME.py`` has the function ``person_NAME``; its settings are its keyword parameters, each annotated with its
description (:func:`tacit.person.actions.asking.ask`). The docstring of the file is the help of the command, and
``EXAMPLES`` are settings worth trying. These files load nothing heavy until they are called.
"""

from __future__ import annotations

import importlib
import inspect
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Annotated, Any, get_args, get_origin

from tacit.requests.settings import SettingFacts

# Every action with its short help, in the order of a help text.
ACTIONS: Mapping[str, str] = {
    "audit": "How much is out, who learns it, what to do.",
    "release": "Which option of a release leaks least?",
    "dip": "What does a search bring up?",
    "remove": "Which source to have removed first?",
    "decoy": "Plan false records (opt-in).",
    "verify_next": "What would the adversary check next?",
    "population": "Every person of a table at once.",
}


@dataclass(frozen=True)
class PersonAction:
    """An action: its name, a one-line summary, and its file."""

    name: str
    summary: str

    @cached_property
    def _module(self) -> Any:
        return importlib.import_module(f"tacit.person.actions.{self.name}")

    @property
    def about(self) -> str:
        """What it answers, in paragraphs."""
        return inspect.cleandoc(self._module.__doc__)

    @property
    def examples(self) -> tuple[Mapping[str, Any], ...]:
        """Settings worth trying."""
        return tuple(self._module.EXAMPLES)

    @property
    def run(self) -> Callable[..., Any]:
        """The function: a case first, then settings by keyword."""
        run: Callable[..., Any] = getattr(self._module, f"person_{self.name}")
        return run

    @cached_property
    def settings(self) -> dict[str, SettingFacts]:
        """Its settings other than the case, by name."""
        annotations = {name: each.annotation for name, each in inspect.signature(self.run).parameters.items()}
        return {name: get_args(each)[1] for name, each in annotations.items() if get_origin(each) is Annotated}


def action(name: str) -> PersonAction:
    """The action of that name."""
    return PersonAction(name, ACTIONS[name])


__all__ = ["ACTIONS", "PersonAction", "action"]
