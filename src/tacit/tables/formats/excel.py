"""Excel and OpenDocument sheets: one sheet of a workbook, its first row the names. They are read, never written."""

from __future__ import annotations

import logging
import zipfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from datetime import date
from pathlib import Path
from typing import TYPE_CHECKING, Any

from tacit.errors import DataError, EngineError, SourceError
from tacit.loading import DAMAGE, MOST_BYTES, MOST_UNPACKED
from tacit.tables.columns import check_names
from tacit.tables.engines import Engine
from tacit.tables.formats.format import Format, Opened, SeveralTables, SourceFile

if TYPE_CHECKING:
    import pyarrow as pa
# A cell of less than a day is shown as a time of day; the reader gives it the day before days begin.
_NO_DAY = date(1899, 12, 31)


class Excel(Format):
    """A sheet of a workbook, ``people.xlsx::sheet``; it is held in memory."""

    name = "excel"
    title = "Excel"
    endings = (".xlsx", ".xlsm", ".xlsb", ".xls", ".ods")
    options = ("table",)
    written = False

    def open(self, file: SourceFile, engine: Engine) -> Opened:
        """The sheet of that name, or the only one that holds anything.

        The type of a column is that of all its cells, or text if they differ. Rows that are wholly empty, as at the end
        of many sheets, are left out.
        """
        try:
            import fastexcel
        except ImportError as error:
            raise EngineError("reading Excel files needs fastexcel: pip install 'tacit[files]'") from error
        path, table = file.path, file.table
        _refuse_bomb(path, file.name)
        # Their warnings are repeated in the error, if there is one, or are about columns that hold nothing.
        for each in ("calamine", "fastexcel"):
            logging.getLogger(each).setLevel(logging.ERROR)
        with _whole(path, file.name, fastexcel.FastExcelError):
            book = fastexcel.read_excel(str(path))
            sheet = _chosen(file.name, book, table)
            names = _header(book, sheet)
            data = book.load_sheet(sheet, schema_sample_rows=None).to_arrow()
        _refuse_nameless(names, f"{file.name}, sheet '{sheet}'")
        check_names(names, f"{file.name}::{sheet}")
        return Opened(engine.of_arrow(_plain(data, names)), f"{file.name}::{sheet}")


def _refuse_bomb(path: Path, shown: str) -> None:
    """A workbook may be a zip archive, which may unpack to far more than its own size."""
    size = path.stat().st_size
    # If it is not an archive, or a damaged one, the reader refuses it.
    with suppress(*DAMAGE), zipfile.ZipFile(path) as archive:
        size = max(size, sum(member.file_size for member in archive.infolist()) * MOST_BYTES // MOST_UNPACKED)
    if size > MOST_BYTES:
        raise SourceError(f"{shown} is too large for a workbook: save the sheet as CSV")


def _chosen(path: str, book: Any, table: str | None) -> str:
    names: list[str] = list(book.sheet_names)
    if table is not None:
        if table not in names:
            raise SourceError(f"{path} has no sheet '{table}'; it has {', '.join(names)}")
        return table
    filled = [name for name in names if _header(book, name)]
    if not filled:
        raise SourceError(f"{path} is empty: a sheet needs a row of column names")
    if len(filled) > 1:
        raise SeveralTables(path, "sheets", filled)
    return filled[0]


def _header(book: Any, sheet: str) -> tuple[str, ...]:
    """The first row, unchanged: the reader would rename names that occur twice."""
    first = book.load_sheet(sheet, header_row=None, n_rows=1, dtypes="string").to_arrow()
    if not first.num_rows:
        return ()
    return tuple(str(column[0].as_py() or "") for column in first.columns)


def _refuse_nameless(names: Sequence[str], where: str) -> None:
    nameless = [number for number, name in enumerate(names, start=1) if not name.strip()]
    # A title fills only a few cells of the row, where column names would fill all.
    if 2 * len(nameless) > len(names):
        words = "Row 1 looks like a title: delete it, or give every column a name in it"
        raise DataError(f"{where}: {words}")
    if nameless:
        words = "give it one in the first row, or, if that row is a title, delete it"
        raise DataError(f"{where}: column {nameless[0]} has no name; {words}")


def _plain(data: pa.RecordBatch, names: Sequence[str]) -> pa.Table:
    """Columns of only whole numbers as integers, of only midnights as dates, and of hours of no day as times of day.

    Sheets have no such types.
    """
    import pyarrow as pa
    import pyarrow.compute as pc

    columns = [_narrowed(column) for column in data.columns]
    table = pa.Table.from_arrays(columns, list(names))
    empty = [pc.is_null(column) for column in table.columns]
    blank = empty[0]
    for each in empty[1:]:
        blank = pc.and_(blank, each)
    return table.filter(pc.invert(blank))


def _narrowed(column: Any) -> Any:
    import pyarrow as pa

    if pa.types.is_floating(column.type):
        # This cast fails if anything would be lost; the one to dates below would drop a time of day silently.
        with suppress(pa.ArrowInvalid):
            return column.cast(pa.int64())
    if pa.types.is_timestamp(column.type):
        days = column.cast(pa.date32())
        if days.cast(column.type).equals(column):
            return days
        return column.cast(pa.time64("us")) if set(days.unique().to_pylist()) <= {_NO_DAY, None} else column
    return column


@contextmanager
def _whole(path: Path, shown: str, refusal: type[Exception]) -> Iterator[None]:
    """Within it, an error or a panic of the reader becomes one line that names the file."""
    kind = "OpenDocument" if path.suffix.lower() == ".ods" else "Excel"
    try:
        yield
    except refusal as error:
        if "password" in str(error).lower():
            raise SourceError(f"{shown} is locked with a password: save it without one") from error
        raise SourceError(f"{shown} is not an intact {kind} file: save it again") from error
    except BaseException as error:
        # The reader is written in Rust, and its panics do not derive from Exception.
        if type(error).__name__ != "PanicException":
            raise
        raise SourceError(f"{shown} is not an intact {kind} file: save it again") from error
