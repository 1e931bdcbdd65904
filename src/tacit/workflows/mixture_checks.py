"""The lines of a verification about the rows of a mixture: is every output drawn as the rules say?"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from tacit.lift.joint import Mask, Vector
from tacit.lift.region import sums
from tacit.tables.pairing import Codes, Pairs
from tacit.tables.symbols import Symbols
from tacit.workflows.results import Check
from tacit.workflows.rules import Rules
from tacit.workflows.treatment import Mixing

# An honest release fails a line about once in a million.
TOO_UNLIKELY = 1e-6
# Below so many expected records a cell is counted together with others: Pearson's statistic is about normal cells.
FEWEST_EXPECTED = 5.0


@dataclass(frozen=True, eq=False)
class Draws:
    """What was drawn for the records of each secret and value, beside what the channel calls for.

    A *source* is a pair of secret and value. Cells are the outputs that each source may have: ``source`` and ``output``
    of a cell, its probability ``p``, the records ``observed`` and those ``expected``. ``stray`` counts records with an
    output that their value cannot have.
    """

    source: Codes
    output: Codes
    secret: Codes
    p: Vector
    observed: Vector
    expected: Vector
    stray: int

    @classmethod
    def of(cls, pairs: Pairs, values: Symbols, outputs: Symbols, rules: Rules) -> Draws:
        """Lay the rows of a release beside the channel of its rules."""
        assert isinstance(rules.treatment, Mixing)
        channel, size = rules.treatment.channel, len(rules.symbols)
        place = outputs.positions_in(rules.symbols)
        place[outputs.all_missing] = size
        became = np.append(place, -1)[pairs.output]
        sources, source = np.unique(np.stack([pairs.secret, pairs.value]), axis=1, return_inverse=True)
        source = source.reshape(-1)
        records = np.bincount(source, pairs.records, sources.shape[1])
        row = values.positions_in(rules.symbols)[sources[1]]
        known = np.flatnonzero(row >= 0)
        flows = channel[row[known]].tocoo()
        at, written = (part.astype(np.int64) for part in flows.coords)
        # A wholly missing value and a suppressed one look the same.
        written = np.append(np.where(rules.symbols.all_missing, size, np.arange(size)), size)[written]
        cell_source = np.concatenate([known[at], np.flatnonzero(row < 0)])
        cell_output = np.concatenate([written, np.full(int((row < 0).sum()), size)])
        key, where = np.unique(cell_source * (size + 1) + cell_output, return_inverse=True)
        p = sums(where.reshape(-1), np.concatenate([flows.data, np.ones(int((row < 0).sum()))]), len(key))
        found = np.searchsorted(key, source * (size + 1) + became)
        fits = (became >= 0) & (key[np.minimum(found, len(key) - 1)] == source * (size + 1) + became)
        observed = np.bincount(found[fits], pairs.records[fits], len(key)).astype(np.float64)
        cell_source, cell_output = np.divmod(key, size + 1)
        return cls(
            source=cell_source,
            output=cell_output,
            secret=sources[0][cell_source],
            p=p,
            observed=observed,
            expected=records[cell_source] * p,
            stray=int(pairs.records[~fits].sum()),
        )

    def cells_p_value(self) -> float:
        """Chance of a Pearson statistic as large, over all sources; 1 where no cell expects enough records.

        Its mean and variance are exact, and a gamma distribution that has them has its tail.
        """
        from scipy.stats import gamma

        source, observed, expected = self._pooled()
        totals, n_cells = np.bincount(source, expected), np.bincount(source)
        freedom = float(np.maximum(n_cells - 1, 0).sum())
        if freedom == 0:
            return 1.0
        statistic = float(((observed - expected) ** 2 / expected).sum())
        inverse = np.bincount(source, totals[source] / expected)
        used = n_cells > 1
        k = n_cells[used].astype(np.float64)
        extra = (inverse[used] - k**2 - 2 * k + 2) / totals[used]
        variance = 2 * freedom + float(extra.sum())
        return float(gamma.sf(statistic, freedom**2 / variance, scale=variance / freedom))

    def _pooled(self) -> tuple[Codes, Vector, Vector]:
        """Cells with those that expect few records put together, source by source."""
        few = self.expected < FEWEST_EXPECTED
        n = int(self.source.max()) + 1
        rest = (
            np.bincount(self.source[few], self.expected[few], n),
            np.bincount(self.source[few], self.observed[few], n),
        )
        enough = np.flatnonzero(rest[0] >= FEWEST_EXPECTED)
        source = np.concatenate([self.source[~few], enough])
        observed = np.concatenate([self.observed[~few], rest[1][enough]])
        expected = np.concatenate([self.expected[~few], rest[0][enough]])
        # What is left of a source is too little for a cell of its own: it is counted with the last that has one.
        left = np.flatnonzero((rest[0] > 0) & (rest[0] < FEWEST_EXPECTED))
        last = np.full(n, -1)
        last[source] = np.arange(len(source))
        into = last[left]
        np.add.at(observed, into[into >= 0], rest[1][left[into >= 0]])
        np.add.at(expected, into[into >= 0], rest[0][left[into >= 0]])
        return source, observed, expected

    def outputs_p_value(self) -> tuple[float, bool]:
        """Bound on the chance of counts of secret and output as extreme, and whether any could be too extreme.

        Records are drawn on their own, so that every count is a sum of independent draws: Chernoff's bound holds for
        it, however few they are, and the bounds of all counts are added up.
        """
        pair = np.stack([self.secret, self.output])
        _, where = np.unique(pair, axis=1, return_inverse=True)
        where = where.reshape(-1)
        n = int(where.max()) + 1
        mean, seen = sums(where, self.expected, n), sums(where, self.observed, n)
        # The most that could carry the output: every record that may.
        most = sums(where, self.expected / self.p, n)
        random = most - mean > 1e-9
        if not random.any():
            return 1.0, True
        tests = 2 * int(random.sum())
        worst = _chernoff(seen[random], mean[random], most[random])
        extreme = np.minimum(
            _chernoff(most[random], mean[random], most[random]),
            _chernoff(np.zeros(int(random.sum())), mean[random], most[random]),
        )
        return min(float(worst.min()) * tests, 1.0), bool(extreme.min() * tests < TOO_UNLIKELY)


def _chernoff(seen: Vector, mean: Vector, most: Vector) -> NDArray[np.float64]:
    """Bound on the chance of a sum of ``most`` independent draws of this mean being as far off, on its side."""
    share, level = np.clip(seen / most, 0, 1), mean / most
    with np.errstate(divide="ignore", invalid="ignore"):
        up = np.where(share > 0, share * np.log(share / level), 0.0)
        down = np.where(share < 1, (1 - share) * np.log((1 - share) / (1 - level)), 0.0)
    return np.asarray(np.exp(-most * np.maximum(up + down, 0.0)))


def checks_of_mixture(pairs: Pairs, values: Symbols, outputs: Symbols, rules: Rules, touched: Mask) -> list[Check]:
    """Kept records are unchanged, others became what they could, as often as they should, for every secret alike."""
    draws = Draws.of(pairs, values, outputs, rules)
    moved = int(pairs.records[~touched[pairs.value] & (pairs.value != pairs.output_as_value)].sum())
    checks = [
        Check("kept records are unchanged", moved == 0, f"{moved:,} records differ whose value is never mixed"),
        Check("outputs are those of the rules", draws.stray == 0, f"{draws.stray:,} records carry an output of others"),
    ]
    name = "draws follow the rules for every secret"
    if not rules.treatment.drawn:
        return [*checks, Check(name, draws.stray == 0, "nothing is drawn: every value has one output")]
    by_cell = draws.cells_p_value()
    by_output, power = draws.outputs_p_value()
    worst = min(by_cell, by_output)
    if worst > TOO_UNLIKELY and not power:
        mixed = touched[pairs.value]
        few, spread = int(pairs.records[mixed].sum()), len(np.unique(pairs.value[mixed]))
        return [
            *checks,
            Check(
                name,
                None,
                f"{few:,} mixed records of {spread:,} values are too few to tell; --replacement merge can be checked",
            ),
        ]
    told = f"p-value {worst:.2g}; below {TOO_UNLIKELY:g} they would be called others"
    return [*checks, Check(name, worst > TOO_UNLIKELY, told)]
