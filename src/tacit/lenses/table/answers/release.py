"""The answer of ``protect``: a release that was written, and its certificate."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from tacit import document as doc
from tacit.errors import sentence
from tacit.lenses.glossary import DEFINITIONS, DIRECTION, INFINITE
from tacit.lenses.histograms import histogram_numbers
from tacit.lenses.papers import Rows, Sections, assumptions, certificate_section, claim, notes
from tacit.lenses.released import ReleasedTable
from tacit.lenses.table.answers.correcting import corrected_section
from tacit.lenses.table.answers.keeping import keeping_section, telling_section, using_section
from tacit.lenses.table.answers.promised import (
    epsilon_tiles,
    is_on_curve,
    mechanism_words,
    next_section,
    not_promised,
    promise,
    setting,
    together_words,
    unchanged_words,
    verdict_of,
)
from tacit.lenses.table.answers.trade_off import trade_off
from tacit.lenses.table.reading.countable import CountableValues
from tacit.lenses.table.reading.exact import exactly
from tacit.lenses.table.results import CorrectedColumn
from tacit.release.certificate import CountedCertificate, MeasureChange
from tacit.release.levels import ColumnLevels, read_code

# How many columns the terminal names.
_NAMED = 6
# A measure may meet its promise to the last bit; rounding must not call that a breach.
_SLACK = 1e-9


@dataclass(frozen=True)
class ProtectResult(ReleasedTable):
    """A release that was written, and its certificate.

    ``corrected`` are the counts of its columns with few values, ``levels`` how columns are told in cells. ``countable``
    says of how many of their values ``tacit.read`` gives an estimate; it is empty where ``tacit.read`` refuses the
    release. ``original`` is the name that its owner gave to the table, if it has one.
    """

    certificate: CountedCertificate
    headline: str
    diagnosis: str | None
    curve: tuple[doc.CurvePoint, ...]
    before: doc.RiskHistogram | None
    after: doc.RiskHistogram
    notes: tuple[str, ...]
    corrected: tuple[CorrectedColumn, ...] = ()
    levels: tuple[ColumnLevels, ...] = ()
    countable: tuple[CountableValues, ...] = ()
    original: str | None = None

    def _typed(self, data: Any) -> Any:
        code = read_code(Path(self.out)) if self.levels else None
        return data if code is None else exactly(data, code)

    def document(self) -> doc.Document:
        """The promise, what readers keep and what to do next; folded, everything it rests on.

        Guarantees
        ----------
        The page is part of the release: it shows the certificate, the headline, the curve and shares of records. The
        notes, the diagnosis, the paths and what to do next are the owner's, and only for the terminal.
        """
        return doc.Document(
            kind="release",
            name=sentence("Tacit release of {}", doc.FilePath(self.data_file)),
            badge=verdict_of(self.certificate),
            headline=self.headline,
            opening=(
                replace(claim(self.certificate), where="page"),
                promise(self.certificate),
                *_why(self),
                doc.Paragraph(not_promised(self.certificate), "note", where="terminal"),
                _tiles(self),
            ),
            sections=[
                *(section for write in SECTIONS for section in write(self)),
                *(replace(section, folded=True) for write in FOLDED for section in write(self)),
            ],
            reading=DEFINITIONS,
            footer=(doc.FilePath(self.data_file),),
        )


def _why(result: ProtectResult) -> tuple[doc.Block, ...]:
    """What the owner needs to know first, only in the terminal."""
    return (doc.Paragraph(result.diagnosis, "warning", label="Why", where="terminal"),) if result.diagnosis else ()


def _tiles(result: ProtectResult) -> doc.Tiles:
    """What is shown first; what is only for the terminal here, the page shows in its certificate."""
    certificate = result.certificate
    tiles = [
        result.place_tile(f"data in {result.data_file}"),
        doc.Tile("Secret", doc.listed(certificate.secret), where="terminal"),
        doc.Tile("Released", doc.listed(certificate.released, limit=_NAMED), where="terminal"),
        *(replace(tile, where="page") for tile in (*epsilon_tiles(certificate), *_kept_tiles(certificate))),
    ]
    if certificate.left_out:
        tiles.append(doc.Tile("Left out", doc.listed(certificate.left_out, limit=_NAMED), where="terminal"))
    if certificate.composition is not None:
        tiles.append(doc.Tile("Together", together_words(certificate.composition), where="terminal"))
    return doc.Tiles(tiles)


def _kept_tiles(certificate: CountedCertificate) -> list[doc.Tile]:
    """What is kept: for a release in cells, of the original table; for others, of the table after its cuts."""
    utility = certificate.utility
    if certificate.in_cells:
        # What is kept of whole rows is shown with what the reader keeps.
        kept = None if certificate.keeps is None else certificate.keeps.mean_kept
        cells = doc.Count(certificate.mechanism.values)
        return [
            doc.Tile("Kept per column", doc.Share(kept), "on average, of the original"),
            doc.Tile("Cells", cells, "ranges and groups of values"),
        ]
    unchanged = sentence("expected; {} of cells", doc.Share(utility.cells_unchanged))
    return [
        doc.Tile("Loss (NMIL)", doc.Share(utility.nmil), "of the information left by the cuts; lower is better"),
        doc.Tile("Rows unchanged", doc.Share(utility.rows_unchanged), unchanged),
    ]


def _changes(result: ProtectResult) -> Sections:
    """Every measure before and after, and the promise about it."""
    measures = result.certificate.measures
    columns = ("Measure", ">Before", ">After", ">Epsilon promises\nat most", "Kept?")
    rows = [(*_change(m), doc.measured(m.promise, m.unit, with_unit=False), _kept(m)) for m in measures]
    infinite = any(math.isinf(m.before or 0.0) or math.isinf(m.after) for m in measures)
    promise = "The promise is what epsilon implies for the measure, whatever the data."
    if result.certificate.thresholds is not None:
        promise = "Measured on groups of the secret, about which a bound on its thresholds promises nothing."
    blocks = (
        doc.Paragraph(f"{DIRECTION} {promise}"),
        doc.TableBlock(columns, rows),
        *((doc.Paragraph(INFINITE, "note"),) if infinite else ()),
    )
    return (doc.Section("What leaks, before and after", blocks, kind="plug-in"),)


def _change(m: MeasureChange) -> tuple[doc.Cell, ...]:
    return (
        doc.Cell(m.title, style="bold"),
        doc.Cell(doc.measured(m.before, m.unit, with_unit=False)),
        doc.Cell(doc.measured(m.after, m.unit), style="big"),
    )


def _kept(m: MeasureChange) -> doc.Badge | doc.Cell:
    if m.promise is None:
        return doc.Cell("no promise", style="quiet")
    return doc.badge("within" if m.after <= m.promise * (1 + _SLACK) + 1e-12 else "beyond")


def _risks(result: ProtectResult) -> Sections:
    if result.certificate.thresholds is not None:
        # Risks are about groups of the secret, about which epsilon says nothing.
        return ()
    layers = [doc.Layer("after", result.after, "outline")]
    if result.before is not None:
        layers.insert(0, doc.Layer("before", result.before))
    epsilon = result.certificate.epsilon
    line = doc.Line(epsilon, sentence("epsilon {}", doc.Nats(epsilon, "setting", unit=False)))
    figure = doc.Figure(doc.Histogram(tuple(layers), (line,)), histogram_numbers(tuple(layers)))
    title = "How risky are the records, before and after?"
    return (doc.Section(title, (figure,), kind="plug-in", where="page"),)


def _cost(result: ProtectResult) -> Sections:
    certificate, utility = result.certificate, result.certificate.utility
    if certificate.in_cells:
        return (doc.Section("How it was made", (doc.Paragraph(mechanism_words(certificate), label="Mechanism"),)),)
    words = sentence(
        "The release keeps {} of {} of information about the original values; {} are unchanged, and no column's shares "
        "are expected to move by more than {}.",
        doc.Nats(utility.mutual_information, unit=False),
        doc.Nats(utility.entropy),
        unchanged_words(certificate),
        doc.Share(utility.column_shift),
    )
    prose = (doc.Paragraph(words), doc.Paragraph(sentence("{}.", mechanism_words(certificate)), label="Mechanism"))
    if not is_on_curve(certificate):
        return (doc.Section("What it costs", prose),)
    figure = trade_off(
        result.curve,
        epsilon=certificate.epsilon,
        mark=(certificate.attained_epsilon, utility.nmil),
        label="this release",
    )
    return (doc.Section("What it costs, and what another epsilon would cost", (*prose, figure)),)


def _keeps(result: ProtectResult) -> Sections:
    """What the reader keeps of the original table."""
    keeps = result.certificate.keeps
    nowhere = [each.column for each in result.levels if len(each.levels) < 2]
    return () if keeps is None else (keeping_section(keeps, nowhere, result.countable),)


def _using(result: ProtectResult) -> Sections:
    """What the release is good for, and what became of rows, shares and associations."""
    keeps = result.certificate.keeps
    return () if keeps is None else (using_section(keeps),)


def _next(result: ProtectResult) -> Sections:
    out = None if result.held is not None else result.out
    return (next_section(result.certificate, out=out, original=result.original),)


def _columns_told(result: ProtectResult) -> Sections:
    mixed = result.certificate.mechanism.mixes
    return (telling_section(result.levels, mixed=mixed),) if result.levels else ()


def _corrected(result: ProtectResult) -> Sections:
    return corrected_section(result.corrected)


def _readings(result: ProtectResult) -> Sections:
    readings = [
        sentence("This table is the population (exact): {}", reading.sentence)
        if reading.name == "population"
        else sentence(
            "This table is a sample ({}): {}", "proved" if reading.confidence else "not proved", reading.sentence
        )
        for reading in result.certificate.readings
    ]
    holds = {True: "holds", False: "does not hold"}
    lines: Rows = [
        ("Row by row", doc.badge(holds[result.certificate.holds])),
        ("The whole file", doc.badge(holds[result.certificate.file.holds])),
    ]
    certificate = result.certificate
    numbers = [
        (tile.name, doc.Cell(tile.value, tile.note))
        for tile in (*epsilon_tiles(certificate), *_kept_tiles(certificate))
    ]
    blocks = (
        replace(claim(certificate), where="terminal"),
        doc.Facts(lines),
        doc.Facts(numbers, where="terminal"),
        doc.Bullets(readings),
    )
    return (doc.Section("How to read the claim", blocks),)


def _certificate(result: ProtectResult) -> Sections:
    """The certificate, field by field: the public facts about the release."""
    c = result.certificate
    rows: Rows = [("secret", doc.listed(c.secret, limit=60)), ("released", doc.listed(c.released, limit=60))]
    if c.left_out:
        rows.append(("left out", doc.listed(c.left_out, limit=60)))
    if c.secret_values:
        rows.append(("secret values", doc.listed(c.secret_values, limit=60)))
    if c.thresholds is not None:
        rows.append(("thresholds", sentence("every one with {} of all on its side", doc.Share(c.thresholds))))
    if c.known:
        rows.append(("may be known", doc.listed(c.known, limit=60)))
    for cut in c.cuts:
        name = sentence("cut: {}", doc.DataValue(cut.column, 24))
        rows.append((name, f"at {doc.listed([f'{edge:g}' for edge in cut.edges], limit=40)}"))
    rows += [("holds", verdict_of(c)), ("kind", c.kind)]
    rows += [(tile.name, doc.Cell(tile.value, tile.note)) for tile in epsilon_tiles(c)]
    rows.append(("delta claimed", doc.Number(c.delta, "setting")))
    if math.isfinite(c.epsilon_max):
        rows.append(("epsilon max", setting(c.epsilon_max)))
    if c.composition:
        rows.append(("together", together_words(c.composition)))
    check = "Anyone with the original table can check the claim: Tacit verifies this release against it."
    return certificate_section(c, rows, "mechanism", "file", check=check)


# The order of the answer, and of what is folded. A new section is a function and a line here.
SECTIONS = (_keeps, _next)
FOLDED = (_using, _columns_told, _changes, _risks, _cost, _corrected, _readings, assumptions, _certificate, notes)
