"""Excel files for tests, written by hand: a workbook is a zip of a few texts."""

from __future__ import annotations

import zipfile
from collections.abc import Mapping, Sequence
from datetime import date, datetime
from pathlib import Path
from xml.sax.saxutils import escape

_MAIN = "http://schemas.openxmlformats.org/spreadsheetml/2006/main"
_PACKAGE = "http://schemas.openxmlformats.org/package/2006"
_OFFICE = "http://schemas.openxmlformats.org/officeDocument/2006/relationships"
Cell = str | float | bool | date | None


def write_workbook(path: Path, sheets: Mapping[str, Sequence[Sequence[Cell]]], *, packed: bool = True) -> Path:
    """A workbook whose sheets have these rows; None is an empty cell."""
    numbered = list(enumerate(sheets, start=1))
    names = "".join(f'<sheet name="{escape(name)}" sheetId="{n}" r:id="r{n}"/>' for n, name in numbered)
    links = "".join(
        f'<Relationship Id="r{n}" Type="{_OFFICE}/worksheet" Target="worksheets/sheet{n}.xml"/>' for n, _ in numbered
    )
    links += f'<Relationship Id="s" Type="{_OFFICE}/styles" Target="styles.xml"/>'
    types = "".join(
        f'<Override PartName="/xl/{name}.xml" '
        f'ContentType="application/vnd.openxmlformats-officedocument.spreadsheetml.{kind}+xml"/>'
        for name, kind in [
            ("workbook", "sheet.main"),
            ("styles", "styles"),
            *((f"worksheets/sheet{n}", "worksheet") for n, _ in numbered),
        ]
    )
    formats = '<cellXfs count="2"><xf numFmtId="0"/><xf numFmtId="14" applyNumberFormat="1"/></cellXfs>'
    parts = {
        "[Content_Types].xml": f'<Types xmlns="{_PACKAGE}/content-types"><Default Extension="rels" '
        f'ContentType="application/vnd.openxmlformats-package.relationships+xml"/>{types}</Types>',
        "_rels/.rels": f'<Relationships xmlns="{_PACKAGE}/relationships"><Relationship Id="w" '
        f'Type="{_OFFICE}/officeDocument" Target="xl/workbook.xml"/></Relationships>',
        "xl/workbook.xml": f'<workbook xmlns="{_MAIN}" xmlns:r="{_OFFICE}"><sheets>{names}</sheets></workbook>',
        "xl/_rels/workbook.xml.rels": f'<Relationships xmlns="{_PACKAGE}/relationships">{links}</Relationships>',
        "xl/styles.xml": f'<styleSheet xmlns="{_MAIN}">{formats}</styleSheet>',
        **{f"xl/worksheets/sheet{n}.xml": _sheet(sheets[name]) for n, name in numbered},
    }
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED if packed else zipfile.ZIP_STORED) as archive:
        for name, text in parts.items():
            archive.writestr(name, f'<?xml version="1.0" encoding="UTF-8"?>{text}')
    return path


def _sheet(rows: Sequence[Sequence[Cell]]) -> str:
    written = "".join(
        f'<row r="{r}">{"".join(_cell(f"{_letters(c)}{r}", cell) for c, cell in enumerate(row))}</row>'
        for r, row in enumerate(rows, start=1)
    )
    return f'<worksheet xmlns="{_MAIN}"><sheetData>{written}</sheetData></worksheet>'


def _letters(column: int) -> str:
    return (_letters(column // 26 - 1) if column >= 26 else "") + chr(ord("A") + column % 26)


def _cell(place: str, cell: Cell) -> str:
    if cell is None:
        return ""
    if isinstance(cell, bool):
        return f'<c r="{place}" t="b"><v>{int(cell)}</v></c>'
    if isinstance(cell, date):
        since = datetime(cell.year, cell.month, cell.day, getattr(cell, "hour", 0)) - datetime(1899, 12, 30)
        return f'<c r="{place}" s="1"><v>{since.total_seconds() / 86_400!r}</v></c>'
    if isinstance(cell, str):
        return f'<c r="{place}" t="inlineStr"><is><t xml:space="preserve">{escape(cell)}</t></is></c>'
    return f'<c r="{place}"><v>{cell!r}</v></c>'
