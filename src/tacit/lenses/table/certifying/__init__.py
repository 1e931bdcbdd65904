"""From what was counted to what is certified: facts and measures of a table's release, and what is said about it."""

from __future__ import annotations

from tacit.lenses.table.certifying.facts import (
    channel_made,
    facts_of,
    given_joint,
    measures_of,
    utility_of,
    whole_file_of,
)

__all__ = ["channel_made", "facts_of", "given_joint", "measures_of", "utility_of", "whole_file_of"]
