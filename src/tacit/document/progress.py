"""How a verb says how far it has got: which step it is at, and how much of that step is done.

Nobody knows how long the later steps will take: a time left is for the current step only, at its pace so far, and given
only if the step reports its share.
"""

from __future__ import annotations

from collections.abc import Callable

__all__ = ["Progress", "silent", "step_words"]

Progress = Callable[[str, float | None], None]

# Earlier than this, in seconds or as a share of the step, the time left would be a guess.
SETTLED_SECONDS, SETTLED_SHARE = 3.0, 0.02


def silent(stage: str, share: float | None) -> None:
    """The progress of those who do not watch."""


def step_words(stage: str, share: float | None, seconds: float = 0.0) -> str:
    """A step, how much of it is done, and what is left of it at the pace of the ``seconds`` since it began."""
    words = stage if share is None else f"{stage}: {share:.0%} of this step"
    if share is None or seconds < SETTLED_SECONDS or not SETTLED_SHARE <= share <= 1:
        return words
    return f"{words}, about {_duration(seconds * (1 - share) / share)} left of it"


def _duration(seconds: float) -> str:
    if seconds < 90:
        return f"{max(1, round(seconds))} s"
    return f"{round(seconds / 60)} min" if seconds < 7200 else f"{round(seconds / 3600)} h"
