"""Small tables that a case file names: pairs of a value and what goes with it, and names of columns."""

from __future__ import annotations

import json
from collections.abc import Iterable
from pathlib import Path

import yaml

from tacit.errors import DataError
from tacit.person.answers.kept import kept_bytes, place_state
from tacit.person.case.schema import CaseReader
from tacit.person.sources.places import Address, Place, has_parts
from tacit.person.sources.source import SourceFormat

COLUMNS = "columns.json"


def pairs_in(reader: CaseReader, node: yaml.Node, what: str, key: str = "", wanted: str = "") -> list[tuple[str, str]]:
    """Two columns of the table that a node names, as text, without rows that have an empty cell; none after a mistake.

    The columns named ``key`` and ``wanted`` if it has both, otherwise its first two.
    """
    from tacit.person.link.wide import text_columns
    from tacit.tables.sources import open_table

    path = reader.file(node, what)
    if path is None:
        return []
    with reader.refusals(node, what):
        table = open_table(path)
        columns = [key, wanted] if key in table.names and wanted in table.names else list(table.names[:2])
        if len(columns) < 2:
            raise DataError(f"{path} has one column where two are needed: a value, and what goes with it")
        rows = text_columns(table, columns)
        pairs = zip(rows.column("c0").to_pylist(), rows.column("c1").to_pylist(), strict=True)
        return [(one, other) for one, other in pairs if one is not None and other is not None]
    return []


def columns_of(
    reader: CaseReader,
    node: yaml.Node,
    path: Place,
    what: str,
    format_: SourceFormat = "table",
    engine: str = "duckdb",
) -> tuple[str, ...]:
    """The columns of a table; none after a mistake. An unchanged file is not opened again, nor an address twice.

    Only an address is opened on the ``engine``, because only there it may have a reader.
    """
    from tacit.person.sources.formats import columns_in

    with reader.refusals(node, what):
        if isinstance(path, Address):
            if path not in reader.addressed:
                # If it cannot be opened, it is not tried again.
                reader.addressed[path] = ()
                reader.addressed[path] = columns_in(path, format_, engine)
            return reader.addressed[path]
        there = path.is_file() or has_parts(path)
        place, stamp = f"{format_} {path.resolve()}", tuple(place_state(path)) if there else None
        if place not in _columns:
            _columns.update(_kept(reader.path))
        known = _columns.get(place)
        if stamp is None or known is None or known[0] != stamp:
            known = _columns[place] = stamp, columns_in(path, format_)
        return known[1]
    return ()


# By format and path: the state of the files there, and their columns.
_columns: dict[str, tuple[tuple[int, ...] | None, tuple[str, ...]]] = {}


def columns_seen(paths: Iterable[Path]) -> str:
    """What was seen of these files, in the form that :func:`columns_of` reads."""
    wanted = {str(path.resolve()) for path in paths}
    return json.dumps({place: columns for place, columns in _columns.items() if place.split(" ", 1)[1] in wanted})


def _kept(case: Path) -> dict[str, tuple[tuple[int, ...], tuple[str, ...]]]:
    try:
        noted = json.loads(kept_bytes(case, COLUMNS))
        return {place: (tuple(stamp), tuple(map(str, names))) for place, (stamp, names) in noted.items() if stamp}
    except (OSError, ValueError, TypeError, AttributeError):
        return {}
