"""Parquet: typed columns, and the codec they are compressed with."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from tacit.tables.columns import check_names
from tacit.tables.engines import Engine
from tacit.tables.engines.duckdb.connections import answered
from tacit.tables.engines.duckdb.layouts import parquet_codec
from tacit.tables.formats.format import Format, Opened, SourceFile, whole
from tacit.tables.formats.parts import same_columns
from tacit.tables.table import Table

if TYPE_CHECKING:
    import duckdb

_CODECS = ("snappy", "gzip", "zstd", "brotli", "lz4", "lz4_raw", "uncompressed")


class Parquet(Format):
    """Parquet; the codec is kept."""

    name = "parquet"
    title = "Parquet"
    several = True
    endings = (".parquet", ".pq")
    bytes_vary = True
    enumerated = True

    def open(self, file: SourceFile, engine: Engine) -> Opened:
        """The files, if they are intact and have the same columns."""
        import pyarrow.parquet as pq

        schemas = []
        for part in file.parts:
            with whole(part, "Parquet"), pq.ParquetFile(part) as opened:
                schemas.append(opened.schema_arrow)
        same_columns(file, [[(each.name, str(each.type)) for each in schema] for schema in schemas])
        names = [name for name in schemas[0].names if name not in file.partitions]
        check_names([*names, *file.partitions], file.name)
        rows = engine.of_parquet(file.parts, names, file.partitions)
        return Opened(rows, file.name, codec=parquet_codec(file.parts[0]))

    def groups(self, path: Path) -> list[int]:
        import pyarrow.parquet as pq

        with whole(path, "Parquet"):
            paper = pq.read_metadata(path)
        return [paper.row_group(at).num_rows for at in range(paper.num_row_groups)]

    def write(self, relation: duckdb.DuckDBPyRelation, target: Path, like: Table) -> None:
        codec = like.codec if like.codec in _CODECS else "zstd"
        # DuckDB marks a column in which it knows of no missing value, and what it knows depends on where the rows come
        # from. Beside a row that might be there it knows nothing, so that the same rows give the same bytes.
        nothing = f"SELECT {', '.join('NULL' for _ in relation.columns)} FROM range(0)"
        rows = relation.query("released", f"FROM released UNION ALL {nothing}")
        answered(lambda: rows.write_parquet(str(target), compression=codec))
