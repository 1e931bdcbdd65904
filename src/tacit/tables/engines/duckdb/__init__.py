"""DuckDB: connections, its SQL, and the engine made of them."""

from tacit.tables.engines.duckdb.connections import connect
from tacit.tables.engines.duckdb.engine import DuckDBEngine

__all__ = ["DuckDBEngine", "connect"]
