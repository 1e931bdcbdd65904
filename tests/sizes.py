"""How much a test tries: what a run of minutes allows, or, with ``--long``, all that there is patience for."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TypeVar

from hypothesis import settings

Case = TypeVar("Case")


def many(quick: int, long: int) -> int:
    """So many rounds of a loop, examples or records: ``long`` of them under ``make test-long``, else ``quick``."""
    return long if settings.get_current_profile_name().startswith("long") else quick


def few(cases: Sequence[Case], keep: int = 1) -> Sequence[Case]:
    """Parameters that prove one sentence: the first ``keep`` of them, or all under ``make test-long``.

    Put those first that reach most of the code.
    """
    return cases[: many(keep, len(cases))]
