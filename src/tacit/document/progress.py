"""How a verb says how far it is."""

from __future__ import annotations

from collections.abc import Callable

__all__ = ["Progress", "silent"]

Progress = Callable[[str, float | None], None]


def silent(stage: str, share: float | None) -> None:
    """The progress of those who do not watch."""
