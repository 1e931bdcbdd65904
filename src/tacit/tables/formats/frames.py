"""Frames: pandas, Polars, Arrow and narwhals through Arrow; the frames of an engine stay on it."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import TYPE_CHECKING, Any

from tacit.errors import DataError, EngineError, Setting, SourceError, sentence
from tacit.tables.columns import check_names
from tacit.tables.engines import ENGINES, Engine, engine_class
from tacit.tables.formats.format import Opened

if TYPE_CHECKING:
    import pyarrow as pa


def open_frame(source: Any, engine: Engine) -> tuple[Opened, Engine]:
    """A frame on the engine that was asked for, or on its own."""
    import narwhals as nw

    native = nw.to_native(source, pass_through=True)
    module = _module(native)
    for own in map(engine_class, ENGINES):
        if module in own.modules:
            return _on_its_own(native, own, engine)
    name = frame_name(native)
    data = as_arrow(native)
    check_names(data.schema.names, name)
    with engine.reading(name):
        return Opened(engine.of_arrow(data), name), engine


def _on_its_own(native: Any, own: type[Engine], engine: Engine) -> tuple[Opened, Engine]:
    # The first engine is the default.
    if engine.name not in (own.name, next(iter(ENGINES))):
        raise EngineError(
            sentence(f"a {own.frames} runs on {own.title}: leave {{engine}} out", engine=Setting("engine", engine.name))
        )
    own_engine, name = own(engine.memory), f"the {own.frames}"
    check_names(native.columns, name)
    with own_engine.reading(name):
        return Opened(own_engine.of_frame(native), name), own_engine


def framing(source: Any) -> Callable[[pa.Table], Any]:
    """A function from an Arrow table to the kind of frame that ``source`` is; for a file or ``Table``, it stays Arrow.

    The function does not keep a frame in memory alive. It does keep a DuckDB relation or a Spark DataFrame, which says
    where the new frame belongs.
    """
    import narwhals as nw

    native = nw.to_native(source, pass_through=True)
    for own in map(engine_class, ENGINES):
        if _module(native) in own.modules:
            return partial(_on_engine, own, native, f"the {own.frames}")
    frame = nw.from_native(native, pass_through=True)
    if not isinstance(frame, nw.DataFrame | nw.LazyFrame):
        return in_arrow
    return partial(_frame_of, frame.implementation, isinstance(frame, nw.LazyFrame), native is not source)


def in_arrow(data: pa.Table) -> pa.Table:
    """An Arrow table, unchanged."""
    return data


def _on_engine(own: type[Engine], like: Any, name: str, data: pa.Table) -> Any:
    with own().reading(name):
        return own.frame_of(data, like)


def _frame_of(backend: Any, lazy: bool, wrapped: bool, data: pa.Table) -> Any:
    import narwhals as nw

    frame: Any = nw.from_arrow(data, backend=backend)
    frame = frame.lazy() if lazy else frame
    return frame if wrapped else frame.to_native()


def frame_name(source: Any) -> str:
    """What messages call a frame: its kind, because its values are personal."""
    import narwhals as nw

    module = _module(nw.to_native(source, pass_through=True))
    own = [engine.frames for engine in map(engine_class, ENGINES) if module in engine.modules]
    return f"the {own[0]}" if own else f"the {module} frame"


def _module(native: Any) -> str:
    return type(native).__module__.split(".")[0]


def as_arrow(native: Any) -> pa.Table:
    """A pandas, Polars or Arrow frame as an Arrow table, sharing its memory where the layout allows."""
    import pyarrow as pa

    module, name = _module(native), frame_name(native)
    try:
        if module == "pandas" and hasattr(native, "columns"):
            check_names([str(column) for column in native.columns], name)
            return pa.Table.from_pandas(native, preserve_index=False).replace_schema_metadata(None)
        if module == "polars" and hasattr(native, "collect_schema"):
            frame = native.collect() if hasattr(native, "collect") else native
            return frame.to_arrow()
        if module == "pyarrow":
            return native.read_all() if isinstance(native, pa.RecordBatchReader) else pa.table(native)
    except (pa.ArrowException, TypeError) as error:
        reason = str(error).splitlines()[0]
        raise DataError(f"{name} has a column of mixed or unknown type ({reason}): make it one type") from error
    kind = f"{type(native).__module__}.{type(native).__qualname__}"
    raise SourceError(f"cannot open a {kind}: give a path, a DataFrame, an Arrow table or a DuckDB relation")
