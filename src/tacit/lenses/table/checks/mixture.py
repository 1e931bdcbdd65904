"""The lines of a verification about the rows of a mixture: is every output drawn as the rules say?"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.sparse import csr_array, vstack

from tacit.lift import TOO_UNLIKELY, ChanceTest, Mask, Vector, pearson_test, sums_test
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
        size = len(rules.symbols)
        # A wholly missing value and a suppressed one look the same; values that are no symbol (-1) are suppressed.
        written = np.append(np.where(rules.symbols.all_missing, size, np.arange(size)), size)
        channel = vstack([rules.treatment.channel, csr_array(([1.0], ([0], [size])), shape=(1, size + 1))]).tocsr()
        sources, source = np.unique(np.stack([pairs.secret, pairs.value]), axis=1, return_inverse=True)
        flows = channel[values.positions_in(rules.symbols)[sources[1]] % (size + 1)].tocoo()
        shape = (sources.shape[1], size + 1)
        called_for = csr_array((flows.data, (flows.coords[0], written[flows.coords[1]])), shape=shape).tocoo()
        place = np.where(outputs.all_missing, size, outputs.positions_in(rules.symbols))
        became, source = np.append(place, -1)[pairs.output], source.reshape(-1)
        known = became >= 0
        drawn = csr_array((pairs.records[known], (source[known], became[known])), shape=shape)
        cell_source, output = (part.astype(np.int64) for part in called_for.coords)
        observed = np.asarray(drawn[cell_source, output], dtype=np.float64).reshape(-1)
        records = np.bincount(source, pairs.records, len(sources[1]))
        return cls(
            source=cell_source,
            output=output,
            secret=sources[0][cell_source],
            p=called_for.data,
            observed=observed,
            expected=records[cell_source] * called_for.data,
            stray=int(pairs.records.sum() - observed.sum()),
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
