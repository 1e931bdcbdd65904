"""The public face of a room: its names load on first use, so that importing a room brings in none of its libraries."""

from __future__ import annotations

import ast
import sys
from collections.abc import Callable
from importlib import import_module


def face(room: str) -> tuple[Callable[[str], object], Callable[[], list[str]], list[str]]:
    """``__getattr__``, ``__dir__`` and ``__all__`` of a room.

    A room declares what is public once, as imports that only type checkers run (``if TYPE_CHECKING: from x import A as
    A``). They are read here, so a program finds the same names as a type checker.
    """
    homes = _imports(room)

    def load(name: str) -> object:
        if name not in homes:
            raise AttributeError(f"module '{room}' has no attribute '{name}'")
        value = getattr(import_module(homes[name]), name)
        setattr(sys.modules[room], name, value)
        return value

    names = sorted(homes)
    return load, lambda: names, names


def _imports(room: str) -> dict[str, str]:
    """The names that a room imports for type checkers, and from where."""
    spec = sys.modules[room].__spec__
    assert spec is not None
    source = getattr(spec.loader, "get_source")(room)  # noqa: B009
    blocks = [node for node in ast.parse(source).body if isinstance(node, ast.If)]
    imports = [each for block in blocks if ast.unparse(block.test) == "TYPE_CHECKING" for each in block.body]
    return {
        alias.name: str(each.module) for each in imports if isinstance(each, ast.ImportFrom) for alias in each.names
    }
