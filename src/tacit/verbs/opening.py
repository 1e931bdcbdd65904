"""Sources that are opened once for a whole verb: remote ones, and those whose encoding was given."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from tacit.errors import ArgumentError, Setting, sentence
from tacit.requests import AttackRequest, CheckRequest, Question, VerifyRequest
from tacit.tables import Table, open_table
from tacit.tables.sources import is_elsewhere

Asked = Question | VerifyRequest | AttackRequest | CheckRequest


def opened(source: Any, request: Asked, *, pinned: bool = False) -> Any:
    """The source as a table, if it should be read once; with ``pinned``, in a fixed order.

    A file is left to its lens, unless its encoding was given. A local file is never fetched, whatever was asked.
    A table that was opened before may hold other rows by now, and is counted again.
    """
    if isinstance(source, Table) and request.encoding is None:
        return source.afresh()
    if source is None or (request.encoding is None and not is_elsewhere(source)):
        return source
    if not isinstance(source, str | Path):
        words = "{encoding} is for files: leave it out"
        raise ArgumentError(sentence(words, encoding=Setting("encoding", request.encoding)))
    table = open_table(
        source, engine=request.engine, memory=request.memory, encoding=request.encoding, remote=request.remote
    )
    return table.pinned() if pinned else table
