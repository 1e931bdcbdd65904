"""DuckDB: connections, its SQL, and the engine made of them."""

from tacit.tables.engines.duckdb.connections import answered, connect, memory_limit, reading
from tacit.tables.engines.duckdb.engine import DuckDBEngine, DuckDBStore
from tacit.tables.engines.duckdb.sql import copied, identifier, pattern, text

__all__ = [
    "DuckDBEngine",
    "DuckDBStore",
    "answered",
    "connect",
    "copied",
    "identifier",
    "memory_limit",
    "pattern",
    "reading",
    "text",
]
