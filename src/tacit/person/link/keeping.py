"""Attributes kept in a file of the engine's own, which is only ever read once it is written."""

from __future__ import annotations

import hashlib
from pathlib import Path

from tacit.person.link.attributes import Attributes
from tacit.tables.engines import Store

TABLE = "attributes"


def write_attributes(held: Attributes, path: Path) -> None:
    """Write attributes to a new file."""
    store, name = held.store, _called(path)
    store.run(f"ATTACH {store.text(str(path))} AS {name}")
    try:
        store.run(f"CREATE TABLE {name}.{TABLE} AS FROM {held.name}")
    finally:
        store.run(f"DETACH {name}")


def read_attributes(
    store: Store, path: Path, *, records: int, several: frozenset[str], labels: tuple[str, ...], formed: frozenset[str]
) -> Attributes:
    """Attributes that were written, left where they are; several processes may read one file."""
    name = _called(path)
    store.run(f"ATTACH IF NOT EXISTS {store.text(str(path))} AS {name} (READ_ONLY)")
    held = Attributes(store, f"{name}.{TABLE}", records, several, formed, kept=True)
    # Known beforehand, and as if they had been looked for.
    held.__dict__["labels"] = labels
    return held


def _called(path: Path) -> str:
    """A file has one name in an engine, whoever asks for it."""
    return f"tacit_kept_{hashlib.sha256(str(path.absolute()).encode()).hexdigest()[:24]}"
