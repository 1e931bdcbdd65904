"""ORC: typed columns, read in place and written by Arrow."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from tacit.tables.columns import check_names
from tacit.tables.engines import Engine
from tacit.tables.engines.duckdb.connections import answered
from tacit.tables.formats.format import Format, Opened, SourceFile
from tacit.tables.formats.parts import as_dataset
from tacit.tables.table import Table

if TYPE_CHECKING:
    import duckdb


class Orc(Format):
    """ORC, one file or several."""

    name = "orc"
    title = "ORC"
    endings = (".orc",)
    several = True
    bytes_vary = True

    def open(self, file: SourceFile, engine: Engine) -> Opened:
        """The files, if they are intact and have the same columns."""
        data = as_dataset(file, "orc", "ORC")
        check_names(data.schema.names, file.name)
        return Opened(engine.of_arrow(data), file.name)

    def write(self, relation: duckdb.DuckDBPyRelation, target: Path, like: Table) -> None:
        """Write stripe by stripe: ORC allows at most 2 GB of text in one. It has no unsigned integers."""
        import pyarrow as pa
        import pyarrow.orc as orc

        def stream() -> None:
            reader = relation.to_arrow_reader(100_000)
            with orc.ORCWriter(str(target), compression="zstd") as writer:
                for batch in reader:
                    writer.write(pa.Table.from_batches([batch]))

        answered(stream)
