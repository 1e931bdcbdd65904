"""Where a secret was never met although it should have been: there the pair may never occur.

Models are smooth. Where a secret ends (nobody under 18 is a driver) they claim a little of it beyond the end, and the
spread over models does not show that they are wrong together. But if E records of a secret are to be expected in a
region, at least one is met there with probability 1 - e^-E.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from tacit.learn.arrays import Codes, Flags, Floats

# The chance that a region is called empty by chance: for each secret and each kind of region.
LEVEL = 0.025
# The most bins of a column, and the most parts of the other column when two are looked at together.
MOST_BINS, MOST_BANDS = 64, 8
# More records than this refute hardly more; more columns would take long: by twos, and one by one.
MOST_RECORDS, MOST_PAIRED, MOST_COLUMNS = 20_000, 30, 500


@dataclass(frozen=True)
class Absences:
    """For single columns, and columns beside bands of another, the bins in which a secret should have been met.

    ``cuts`` are those of numbers, and the codes of a category; bin 0 is for missing cells. The entries of ``columns``
    are a column and the one that gives the bands (-1: none); ``empty`` is bands x bins x secrets.
    """

    cuts: tuple[Floats, ...]
    columns: tuple[tuple[int, int], ...]
    empty: tuple[NDArray[np.bool_], ...]
    secrets: int

    @classmethod
    def of(cls, ordinal: Floats, categorical: Flags, claims: Floats, secret: Codes) -> Absences:
        """``claims`` are posteriors of the records by models that did not see them.

        In a range or level of one column, and for two levels, the secret should be met as often as everywhere: where
        counting shows that it is much rarer, it does not show that it occurs at all. In other regions of two columns it
        should be met as often as claimed.

        Guarantees
        ----------
        The bins hold no record of the secret among those that were looked at. If secrets are independent of the
        records, or claims right, some region of either kind is called empty with probability at most 2.5% for each
        secret.
        """
        rows = np.linspace(0, len(secret) - 1, min(len(secret), MOST_RECORDS)).astype(np.int64)
        ordinal, claims = ordinal[rows], claims[rows]
        secrets, width = claims.shape[1], ordinal.shape[1]
        cuts = tuple(_cuts(cells, coded) for cells, coded in zip(ordinal.T, categorical, strict=True))
        bins = [_bins(cells, own) for cells, own in zip(ordinal.T, cuts, strict=True)]
        hit = secret[rows, None] == np.arange(secrets)
        everywhere = np.broadcast_to(hit.mean(axis=0), hit.shape)
        singles = [(c, -1) for c in range(width)] if width <= MOST_COLUMNS else []
        pairs = [
            (c, other) for c in range(width if width <= MOST_PAIRED else 0) for other in range(width) if c != other
        ]
        # Two levels are a value as natural as one; other regions of two columns are many, and most are small.
        levels = [(c, other) for c, other in pairs if categorical[c] and categorical[other]]
        columns, empty = [], []
        for tried, chances in ((singles + levels, everywhere), (pairs, claims)):
            weights = np.hstack([hit, chances])
            sizes = {(c, other): (_bands_of(cuts, other), len(cuts[c]) + 2) for c, other in tried}
            # One region may begin at every bin of every band.
            threshold = np.log(max(1, sum(bands * size for bands, size in sizes.values())) / LEVEL)
            for (c, other), (bands, size) in sizes.items():
                band = _bands(bins[other], cuts[other]) if other >= 0 else 0
                sums = _sums(band * size + bins[c], weights, bands * size).reshape(bands, size, 2, secrets)
                hits, expected = sums[:, :, 0], sums[:, :, 1]
                never_met = (hits == 0) & (_together(hits, expected, ordered=not categorical[c]) >= threshold)
                if never_met.any():
                    columns.append((c, other))
                    empty.append(never_met)
        return cls(cuts, tuple(columns), tuple(empty), secrets)

    def __call__(self, ordinal: Floats) -> Flags:
        """Records x secrets: where a secret should have been met, and was not."""
        absent = np.zeros((len(ordinal), self.secrets), dtype=bool)
        bins = {c: _bins(ordinal[:, c], self.cuts[c]) for c in {c for both in self.columns for c in both if c >= 0}}
        for (c, other), empty in zip(self.columns, self.empty, strict=True):
            absent |= empty[_bands(bins[other], self.cuts[other]) if other >= 0 else 0, bins[c]]
        return absent


def _cuts(cells: Floats, coded: bool) -> Floats:
    """Values with about equally many records between any two; of a category, its codes."""
    there = cells[~np.isnan(cells)]
    if coded:
        return np.arange(min(int(there.max(initial=0)), MOST_BINS) + 1, dtype=np.float64)
    values = np.unique(there)
    if len(values) > MOST_BINS:
        values = np.unique(np.quantile(there, np.linspace(0, 1, MOST_BINS + 1)[1:-1], method="lower"))
    return values


def _bins(cells: Floats, cuts: Floats) -> Codes:
    """0 if missing; else one more than the number of cuts below the cell."""
    return np.where(np.isnan(cells), 0, np.searchsorted(cuts, cells) + 1)


def _bands_of(cuts: tuple[Floats, ...], column: int) -> int:
    return min(len(cuts[column]) + 2, MOST_BANDS) if column >= 0 else 1


def _bands(bins: Codes, cuts: Floats) -> Codes:
    """Neighbouring bins put together: ranges of a number, levels of about the same frequency."""
    size = len(cuts) + 2
    if size <= MOST_BANDS:
        return bins
    return bins * MOST_BANDS // size


def _sums(cells: Codes, weights: Floats, size: int) -> Floats:
    ones = sparse.csc_array((np.ones(len(cells)), cells, np.arange(len(cells) + 1)), shape=(size, len(cells)))
    return np.asarray(ones @ weights)


def _together(hits: Floats, expected: Floats, *, ordered: bool) -> Floats:
    """What is expected in each bin, or, of a number, in the whole run of neighbouring bins without a hit.

    Missing cells (the first bin) are no number's neighbours.
    """
    if not ordered:
        return expected
    run = np.cumsum(hits > 0, axis=1, dtype=np.int64)
    run[:, 1:] += 1
    shape = (hits.shape[0], hits.shape[1] + 2, hits.shape[2])
    band, _, secret = np.indices(hits.shape)
    place = np.ravel_multi_index((band, run, secret), shape)
    total = np.bincount(place.ravel(), np.where(hits > 0, 0.0, expected).ravel(), int(np.prod(shape)))
    return np.asarray(total[place], dtype=np.float64)
