"""How much a test tries: what a run of minutes allows, or, with ``--long``, all that there is patience for."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TypeVar

from hypothesis import settings

Case = TypeVar("Case")


def many(quick: int, long: int) -> int:
    """So many rounds of a loop, examples or records: ``long`` of them under ``make test-long``, else ``quick``."""
    return long if settings.get_current_profile_name().startswith("long") else quick


def few(cases: Iterable[Case], keep: int = 1) -> list[Case]:
    """Parameters that prove one sentence: at most ``keep`` of them, evenly spread, or all under ``make test-long``."""
    every = list(cases)
    return every[:: many(-(-len(every) // keep), 1)]
