"""Arrow IPC: files, Feather files and streams."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

from tacit.errors import SourceError
from tacit.tables.columns import check_names
from tacit.tables.engines import Engine
from tacit.tables.engines.duckdb.connections import answered
from tacit.tables.formats.format import Format, Opened, SourceFile, whole
from tacit.tables.formats.parts import as_dataset
from tacit.tables.table import Table

if TYPE_CHECKING:
    import duckdb
    import pyarrow as pa


class Arrow(Format):
    """Arrow IPC; a stream is read into memory, a file is read in place."""

    name = "arrow"
    title = "Arrow"
    several = True
    endings = (".arrow", ".ipc", ".feather")
    bytes_vary = True

    def open(self, file: SourceFile, engine: Engine) -> Opened:
        """The files, if they are intact: offsets that point outside a file would crash the process."""
        data: Any
        streams = [_checked(part) for part in file.parts]
        if len(streams) == 1 and streams[0] is not None:
            data = streams[0]
        elif any(each is not None for each in streams):
            raise SourceError(f"{file.name} holds Arrow streams, and only a single one is a table: write them as files")
        else:
            data = as_dataset(file, "ipc", "Arrow")
        check_names(data.schema.names, file.name)
        return Opened(engine.of_arrow(data), file.name)

    def write(self, relation: duckdb.DuckDBPyRelation, target: Path, like: Table) -> None:
        """Write a file; Feather is compressed, as is usual."""
        import pyarrow as pa

        packed = pa.ipc.IpcWriteOptions(compression="lz4" if target.suffix.lower() == ".feather" else None)

        def stream() -> None:
            reader = relation.to_arrow_reader(100_000)
            with pa.OSFile(str(target), "wb") as sink, pa.ipc.new_file(sink, reader.schema, options=packed) as writer:
                for batch in reader:
                    writer.write_batch(without_remains(batch))

        answered(stream)


def without_remains(batch: pa.RecordBatch) -> pa.RecordBatch:
    """The same cells, with zeros where one is missing.

    A missing cell takes up room like any other. The engine leaves there whatever the memory held before, which may be
    somebody's values; and Arrow files are written as the memory is.
    """
    import pyarrow as pa
    import pyarrow.compute as pc

    def cleaned(column: pa.Array) -> pa.Array:
        if not column.null_count:
            return column
        filled = column.is_valid()
        places = pc.subtract(pc.cumulative_sum(filled.cast(pa.int64())), 1)
        return column.drop_null().take(pc.if_else(filled, places, None))

    return pa.RecordBatch.from_arrays([cleaned(column) for column in batch.columns], schema=batch.schema)


def _checked(path: Path) -> pa.Table | None:
    """What a stream holds; None for a file, if it is intact."""
    import pyarrow as pa

    with whole(path, "Arrow"):
        with path.open("rb") as file:
            is_file = file.read(6) == b"ARROW1"
        with pa.memory_map(str(path)) as mapped:
            if not is_file:
                with pa.ipc.open_stream(mapped) as stream:
                    data = stream.read_all()
                data.validate(full=True)
                return data
            batches = pa.ipc.open_file(mapped)
            for at in range(batches.num_record_batches):
                batches.get_batch(at).validate(full=True)
    return None
