"""Files of Stata, SPSS and SAS: read by pyreadstat, in batches, into a private copy. They are read, never written."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

from tacit.errors import DataError, EngineError, SourceError
from tacit.tables.columns import check_names
from tacit.tables.engines import Engine
from tacit.tables.engines.duckdb.connections import private_file
from tacit.tables.formats.format import Format, Opened, SourceFile

if TYPE_CHECKING:
    import pyarrow as pa

_ROWS = 100_000
# Whole numbers that a float holds exactly.
_EXACT = float(1 << 53)
_READERS = {
    ".dta": "read_dta",
    ".sav": "read_sav",
    ".zsav": "read_sav",
    ".por": "read_por",
    ".sas7bdat": "read_sas7bdat",
    ".xpt": "read_xport",
}
_EMPTY_IS_MISSING = (".dta", ".sas7bdat", ".xpt")


class Statistics(Format):
    """A file of Stata, SPSS or SAS.

    A column of only whole numbers is read as integers. A column whose values each have their own label is read as its
    labels. Whatever a file calls missing is missing.
    """

    name = "statistics"
    title = "a Stata, SPSS or SAS file"
    endings = tuple(_READERS)
    options = ("encoding",)
    written = False

    def open(self, file: SourceFile, engine: Engine) -> Opened:
        """The rows in a private copy, with notes on what became of labels and kinds of missing."""
        try:
            import pyreadstat
        except ImportError as error:
            words = "reading Stata, SPSS and SAS files needs pyreadstat: pip install 'tacit[files]'"
            raise EngineError(words) from error
        reader = getattr(pyreadstat, _READERS[file.path.suffix.lower()])
        how = {"encoding": file.encoding} if file.encoding else {}
        with _readable(file.name, (pyreadstat.PyreadstatError, pyreadstat.ReadstatError)):
            missing = _declared_missing(reader, file.path, how)
            draft = private_file(engine, ".parquet")
            facts, labels = _drafted(pyreadstat, reader, file.path, how, draft)
        labelled = {name: facts.labelled(name, labels[name]) for name in labels if name in facts.values}
        used = {name: words for name, words in labelled.items() if words is not None}
        copy = private_file(engine, ".parquet")
        names = _finished(draft, copy, facts, used)
        draft.unlink()
        check_names(names, file.name)
        notes = []
        if used:
            notes.append(f"read by their value labels: {', '.join(used)}")
        if left := [name for name in labelled if name not in used]:
            notes.append(f"read by their numbers, because not every value has a label of its own: {', '.join(left)}")
        if missing:
            notes.append(f"all kinds of missing count as one in {', '.join(missing)}")
        return Opened(engine.of_parquet((copy,), names, {}), file.name, notes=notes)


class _Facts:
    """What is learned about columns while reading: which hold only whole numbers, and the values of labelled ones."""

    def __init__(self) -> None:
        self.whole: dict[str, bool] = {}
        self.values: dict[str, set[Any]] = {}

    def see(self, name: str, column: pa.Array, labelled: bool) -> None:
        import pyarrow as pa
        import pyarrow.compute as pc

        if pa.types.is_floating(column.type):
            exact = pc.and_(pc.equal(pc.floor(column), column), pc.less(pc.abs(column), _EXACT))
            self.whole[name] = self.whole.get(name, True) and pc.all(exact).as_py() is not False
        if labelled:
            self.values.setdefault(name, set()).update(pc.drop_null(pc.unique(column)).to_pylist())

    def labelled(self, name: str, labels: Mapping[Any, str]) -> dict[Any, str] | None:
        """The labels of the values that occur, if each has one of its own."""
        if not self.values[name] or not self.values[name] <= set(labels):
            return None
        words = {value: labels[value] for value in self.values[name]}
        return words if len(set(words.values())) == len(words) else None


def _declared_missing(reader: Any, path: Path, how: Mapping[str, Any]) -> list[str]:
    """The columns that declare their own kinds of missing; the reader of SAS transport files knows none."""
    try:
        _, meta = reader(path, metadataonly=True, user_missing=True, output_format="dict", **how)
    except TypeError:
        return []
    return list(dict.fromkeys([*meta.missing_ranges, *meta.missing_user_values]))


def _drafted(
    pyreadstat: Any, reader: Any, path: Path, how: Mapping[str, Any], draft: Path
) -> tuple[_Facts, dict[str, dict[Any, str]]]:
    """Write the rows as they are read; returns what was learned about columns, and the labels."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    facts, writer = _Facts(), None
    batch, meta = reader(path, row_limit=_ROWS, output_format="dict", **how)
    labels = dict(meta.variable_value_labels)
    schema, at = None, 0
    while True:
        columns = {name: _filled(pa.array(values, from_pandas=True), path) for name, values in batch.items()}
        if schema is None:
            schema = pa.schema([(name, _typed(each, meta, name)) for name, each in columns.items()])
            writer = pq.ParquetWriter(draft, schema)
        cast = [columns[field.name].cast(field.type) for field in schema]
        for field, column in zip(schema, cast, strict=True):
            facts.see(field.name, column, field.name in labels)
        assert writer is not None
        writer.write_table(pa.Table.from_arrays(cast, schema=schema))
        rows = len(cast[0]) if cast else 0
        if rows < _ROWS:
            break
        at += rows
        batch, _ = reader(path, row_offset=at, row_limit=_ROWS, output_format="dict", **how)
        if not batch or not len(next(iter(batch.values()))):
            break
    writer.close()
    return facts, labels


def _filled(column: pa.Array, path: Path) -> pa.Array:
    """The column; in Stata and SAS, which have no other missing text, an empty text is missing."""
    import pyarrow as pa
    import pyarrow.compute as pc

    if path.suffix.lower() not in _EMPTY_IS_MISSING or not pa.types.is_string(column.type):
        return column
    return pc.if_else(pc.equal(column, ""), None, column)


def _typed(column: pa.Array, meta: Any, name: str) -> pa.DataType:
    """The type of a column by its first rows; if all of these are missing, the type the file declares."""
    import pyarrow as pa

    if not pa.types.is_null(column.type):
        return pa.float64() if pa.types.is_integer(column.type) else column.type
    return pa.string() if meta.readstat_variable_types[name] == "string" else pa.float64()


def _finished(draft: Path, copy: Path, facts: _Facts, labels: Mapping[str, Mapping[Any, str]]) -> list[str]:
    """Write the rows again, with integers as such and labels in place of numbers; returns the names."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    def kind(field: pa.Field) -> pa.DataType:
        if field.name in labels:
            return pa.string()
        return pa.int64() if facts.whole.get(field.name) else field.type

    with pq.ParquetFile(draft) as source:
        schema = pa.schema([(field.name, kind(field)) for field in source.schema_arrow])
        with pq.ParquetWriter(copy, schema) as writer:
            for batch in source.iter_batches(_ROWS):
                columns = [
                    _labels_of(column, labels[field.name]) if field.name in labels else column.cast(field.type)
                    for field, column in zip(schema, batch.columns, strict=True)
                ]
                writer.write_table(pa.Table.from_arrays(columns, schema=schema))
    return list(schema.names)


def _labels_of(column: pa.Array, labels: Mapping[Any, str]) -> pa.Array:
    import pyarrow as pa
    import pyarrow.compute as pc

    values = list(labels)
    places = pc.index_in(column, pa.array(values, column.type))
    return pc.take(pa.array([labels[value] for value in values], pa.string()), places)


@contextmanager
def _readable(path: str, refusals: tuple[type[Exception], ...]) -> Iterator[None]:
    """Within it, an error of the reader becomes one line that names the file."""
    import pyarrow as pa

    try:
        yield
    except refusals as error:
        reason = str(error).splitlines()[0] if str(error) else "it is damaged"
        raise SourceError(f"{path} cannot be read as a Stata, SPSS or SAS file ({reason}): save it again") from error
    except (OverflowError, pa.ArrowInvalid, UnicodeDecodeError, ValueError) as error:
        raise DataError(f"{path} has a date outside the years 1 to 9999, or a value of another type: fix it") from error
