"""Arrow IPC: files, Feather files and streams."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from tacit.tables.columns import check_names
from tacit.tables.engines import Engine
from tacit.tables.engines.duckdb.connections import answered
from tacit.tables.formats.format import Format, Opened, whole
from tacit.tables.table import Table

if TYPE_CHECKING:
    import duckdb


class Arrow(Format):
    """Arrow IPC; a stream is read whole, a file where it is."""

    name = "arrow"
    endings = (".arrow", ".ipc", ".feather")
    bytes_vary = True

    def open(self, path: Path, engine: Engine, *, table: str | None, delimiter: str | None) -> Opened:
        """The file, if it is whole: offsets that lead out of it would end the process."""
        import pyarrow as pa
        import pyarrow.dataset as ds

        with whole(path, "Arrow"):
            with path.open("rb") as file:
                is_file = file.read(6) == b"ARROW1"
            with pa.memory_map(str(path)) as mapped:
                if is_file:
                    batches = pa.ipc.open_file(mapped)
                    for at in range(batches.num_record_batches):
                        batches.get_batch(at).validate(full=True)
                    data = ds.dataset(path, format="ipc")
                else:
                    with pa.ipc.open_stream(mapped) as stream:
                        data = stream.read_all()
                    data.validate(full=True)
            names = data.schema.names
        check_names(names, str(path))
        return Opened(engine.of_arrow(data), str(path))

    def write(self, relation: duckdb.DuckDBPyRelation, target: Path, like: Table) -> None:
        """A file; Feather is compressed as its writers do."""
        import pyarrow as pa

        packed = pa.ipc.IpcWriteOptions(compression="lz4" if target.suffix.lower() == ".feather" else None)

        def stream() -> None:
            reader = relation.to_arrow_reader(100_000)
            with pa.OSFile(str(target), "wb") as sink, pa.ipc.new_file(sink, reader.schema, options=packed) as writer:
                for batch in reader:
                    writer.write_batch(batch)

        answered(stream)
