"""How a verb says how far it is: which step it is at, and the share of that step alone.

Nobody knows how long the steps that are to come will take, so no time left is worked out from it.
"""

from __future__ import annotations

from collections.abc import Callable

__all__ = ["Progress", "silent", "step_words"]

Progress = Callable[[str, float | None], None]


def silent(stage: str, share: float | None) -> None:
    """The progress of those who do not watch."""


def step_words(stage: str, share: float | None) -> str:
    """A step and how much of it is done."""
    return stage if share is None else f"{stage}: {share:.0%} of this step"
