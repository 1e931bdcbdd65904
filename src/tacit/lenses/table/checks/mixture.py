"""The lines of a verification about the rows of a mixture: is every output drawn as the rules say?"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from tacit.lift import TOO_UNLIKELY, ChanceTest, Mask, Vector, pearson_test, sums, sums_test
from tacit.release.checks import Check
from tacit.release.rules import ReleaseRules
from tacit.release.treatment import Mixing
from tacit.tables.pairing import Pairs
from tacit.tables.symbols import Codes, Symbols


@dataclass(frozen=True, eq=False)
class OutputDraws:
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
    def of(cls, pairs: Pairs, values: Symbols, outputs: Symbols, rules: ReleaseRules) -> OutputDraws:
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

    def by_cell(self) -> ChanceTest:
        """Whether the cells of every source are drawn as often as they should be."""
        return pearson_test(self.source, self.observed, self.expected)

    def by_output(self) -> ChanceTest:
        """Whether every pair of secret and output is."""
        _, pair = np.unique(np.stack([self.secret, self.output]), axis=1, return_inverse=True)
        return sums_test(pair.reshape(-1), self.observed, self.expected, self.p)


def checks_of_mixture(
    pairs: Pairs, values: Symbols, outputs: Symbols, rules: ReleaseRules, touched: Mask
) -> list[Check]:
    """Kept records are unchanged, others became what they could, as often as they should, for every secret alike."""
    draws = OutputDraws.of(pairs, values, outputs, rules)
    moved = int(pairs.records[~touched[pairs.value] & (pairs.value != pairs.output_as_value)].sum())
    checks = [
        Check("kept records are unchanged", moved == 0, f"{moved:,} records differ whose value is never mixed"),
        Check("outputs are those of the rules", draws.stray == 0, f"{draws.stray:,} records carry an output of others"),
    ]
    name = "draws follow the rules for every secret"
    if not rules.treatment.drawn:
        return [*checks, Check(name, draws.stray == 0, "nothing is drawn: every value has one output")]
    by_output = draws.by_output()
    test = ChanceTest(min(draws.by_cell().p_value, by_output.p_value), by_output.decisive)
    told = f"p-value {test.p_value:.2g}; below {TOO_UNLIKELY:g} they would be called others"
    if test.passed is None:
        mixed = touched[pairs.value]
        few, spread = int(pairs.records[mixed].sum()), len(np.unique(pairs.value[mixed]))
        told = f"{few:,} mixed records of {spread:,} values are too few to tell; 'merge' can be checked"
    return [*checks, Check(name, test.passed, told)]
