"""The engines, each behind one protocol; a new one is one file, and one line in ``tacit.requests.names``."""

from __future__ import annotations

from importlib import import_module

from tacit.errors import ArgumentError
from tacit.requests.names import ENGINES
from tacit.tables.engines.protocol import Engine, Store

__all__ = ["ENGINES", "Engine", "Store", "engine_class", "store_on"]


def engine_class(name: str) -> type[Engine]:
    """The class of an engine; the engine itself is imported when it is first used."""
    if name not in ENGINES:
        raise ArgumentError(f"no engine '{name}': use {' or '.join(ENGINES)}")
    module, kind = ENGINES[name].split(":")
    chosen: type[Engine] = getattr(import_module(module), kind)
    return chosen


def store_on(engine: str, name: str = "the records") -> Store:
    """A new store on an engine, for SQL that all engines read."""
    return engine_class(engine)().store(name)
