"""How much a test tries: what a run of minutes allows, or, with ``--long``, all that there is patience for."""

from __future__ import annotations

from hypothesis import settings


def many(quick: int, long: int) -> int:
    """So many rounds of a loop, examples or records: ``long`` of them under ``make test-long``, else ``quick``."""
    return long if settings.get_current_profile_name().startswith("long") else quick
