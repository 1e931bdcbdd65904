"""Correct the counts of a drawn release: what was observed, corrected by the channel that the release publishes."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from tacit.errors import ArgumentError, SourceError
from tacit.lenses.table.results import CorrectedColumn, CorrectedValue
from tacit.lift import Vector, correction, counts_before
from tacit.loading import file_sha256
from tacit.release.certificate import CountedCertificate, read_certificate
from tacit.release.channel import ColumnChannel, PublishedChannel
from tacit.release.data import why_not_certified
from tacit.release.directory import CHANNEL
from tacit.requests.settings import AnyPath
from tacit.tables import correction_sql
from tacit.tables.counting import count
from tacit.tables.sources import open_table
from tacit.tables.table import Table


def corrected_counts(release: AnyPath, column: str, *, engine: str = "duckdb") -> CorrectedColumn:
    """How many records of the original had each value of a column, from a drawn release and its published channel.

    ``corrected_counts("release", "ward")`` counts the column in the released data and undoes, on average, what the
    draw did to it.

    Parameters
    ----------
    release : path
        The directory that ``protect`` wrote; nothing in ``private/`` is read.
    column : str
        A released column.
    engine : str
        As in ``audit``.

    Raises
    ------
    SourceError
        If the data or the channel is not what was certified.

    Guarantees
    ----------
    Every corrected count whose standard error is finite is unbiased over the draw; it may therefore lie below 0. The
    standard error is that of the draw only, and errs on the high side.
    """
    folder = Path(release)
    certificate, channel = read_certificate(folder), channel_in(folder)
    if column not in channel.symbols.columns:
        released = ", ".join(channel.symbols.columns)
        raise ArgumentError(f"column '{column}' is not released in {folder}; released: {released}")
    own = channel.columns[channel.symbols.columns.index(column)]
    if why_not_certified(folder, certificate) is not None:
        raise SourceError(f"{folder / certificate.output.file} is not what was certified: get the whole release again")
    return corrected_column(own, open_table(folder / certificate.output.file, engine=engine))


def channel_in(folder: Path) -> PublishedChannel:
    """The channel of a release, if something was drawn in it and the file is the one that was certified."""
    certificate = read_certificate(folder)
    if not isinstance(certificate, CountedCertificate):
        raise ArgumentError(f"{folder} is a release of {certificate.kind}: it has no counts to correct")
    claimed = certificate.output.channel_sha256
    if claimed is None:
        raise ArgumentError(
            f"nothing was drawn in {folder}, so there is nothing to correct: count the released values, each of which "
            "stands for all that were merged into it"
        )
    path = folder / CHANNEL
    if not path.exists() or file_sha256(path) != claimed:
        raise SourceError(f"{path} is not the channel that was certified with the release: get the whole release again")
    return PublishedChannel.load(path)


def corrected_column(channel: ColumnChannel, data: Table) -> CorrectedColumn:
    """The corrected counts of one column of released data."""
    matrix, observed = channel.matrix, _observed(channel, data)
    records, errors = counts_before(matrix, observed, stationary=channel.stationary)
    corrections, values = correction(matrix, stationary=channel.stationary), channel.values.levels[0]
    # An output that cannot be an input, such as a suppressed cell, counts among the others.
    tallies = np.append(observed[: channel.inputs], observed[channel.inputs :].sum())
    corrected = tuple(
        CorrectedValue(
            value=None if other else values[at],
            other=other,
            observed=int(tallies[at]),
            records=float(records[at]),
            standard_error=float(errors[at]),
        )
        for at in range(channel.inputs + 1)
        for other in (at == channel.inputs,)
    )
    sql = correction_sql(
        channel.column,
        outputs=values,
        names=[each.name if tellable else None for each, tellable in zip(corrected, corrections.told, strict=True)],
        weights=corrections.weights,
        variances=corrections.variances,
    )
    return CorrectedColumn(channel.column, corrected, sql)


def _observed(channel: ColumnChannel, data: Table) -> Vector:
    """How many records of the release have each output of a column's channel, all other values last."""
    counts = count(data, [channel.column])
    symbols, value = counts.symbols([channel.column])
    place = symbols.positions_in(channel.values)[value]
    others = len(channel.values)
    records = np.bincount(np.where(place < 0, others, place), counts.records, others + 1)
    return np.asarray(records, dtype=np.float64)
