"""Parquet: typed columns, and the codec they are compressed with."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from tacit.tables.columns import check_names
from tacit.tables.engines import Engine
from tacit.tables.engines.duckdb.connections import answered
from tacit.tables.engines.duckdb.layouts import parquet_codec
from tacit.tables.formats.format import Format, Opened, whole
from tacit.tables.table import Table

if TYPE_CHECKING:
    import duckdb

_CODECS = ("snappy", "gzip", "zstd", "brotli", "lz4", "lz4_raw", "uncompressed")


class Parquet(Format):
    """Parquet; the codec is kept."""

    name = "parquet"
    endings = (".parquet", ".pq")
    bytes_vary = True

    def open(self, path: Path, engine: Engine, *, table: str | None, delimiter: str | None) -> Opened:
        """The file, if it is whole."""
        import pyarrow.parquet as pq

        with whole(path, "Parquet"), pq.ParquetFile(path) as file:
            names = list(file.schema_arrow.names)
        check_names(names, str(path))
        return Opened(engine.of_parquet(path, names), str(path), codec=parquet_codec(path))

    def write(self, relation: duckdb.DuckDBPyRelation, target: Path, like: Table) -> None:
        codec = like.codec if like.codec in _CODECS else "zstd"
        answered(lambda: relation.write_parquet(str(target), compression=codec))
