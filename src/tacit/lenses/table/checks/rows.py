"""The lines of a verification about rows: kept ones are unchanged, and what was drawn for others ignores the secret."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace

import numpy as np

from tacit.lenses.table.checks.mixture import checks_of_mixture
from tacit.lenses.table.tabulating import Counted
from tacit.lift import TOO_UNLIKELY, ChanceTest, Mask, crosstab, independence_test
from tacit.release.certificate import IN_CELLS, CountedCertificate
from tacit.release.checks import Check
from tacit.release.rules import ReleaseRules
from tacit.release.treatment import Mixing
from tacit.tables.counting import count
from tacit.tables.cutting import Cut, cut
from tacit.tables.pairing import Pairs, paired
from tacit.tables.symbols import Symbols
from tacit.tables.table import Table

MOST_ROWS, MOST_COLUMNS = 64, 2048


@dataclass(frozen=True)
class RowComparison:
    """A release laid beside its original, row by row; ``merged`` are the values not always released as they are."""

    original: Counted
    data: Table
    pairs: Pairs
    outputs: Symbols
    merged: Mask


def checks_of_rows(certificate: CountedCertificate, rules: ReleaseRules | None, rows: RowComparison) -> list[Check]:
    """Records that are kept are kept, and those that are not tell nothing of any secret."""
    values, pairs, merged = rows.original.symbols, rows.pairs, rows.merged
    if rules is not None and isinstance(rules.treatment, Mixing):
        further = [
            replace(checks_of_mixture(each, values, rows.outputs, rules, merged)[-1], name=f"draws ignore {name}")
            for name, each in _further_pairs(rows)
        ]
        return [*checks_of_mixture(pairs, values, rows.outputs, rules, merged), *further]
    if certificate.mechanism.mixes:
        return [Check("draws follow the rules for every secret", None, "needs private/rules.json")]
    if certificate.mechanism.replacement == IN_CELLS:
        strangers = int(pairs.records[pairs.value != pairs.output_as_value].sum())
        told = f"the original, written in the published cells again: {strangers:,} records differ"
        return [Check("every record has the values of its cell", strangers == 0, told)]
    from_merged = merged[pairs.value]
    touched = int(pairs.records[~from_merged & (pairs.value != pairs.output_as_value)].sum())
    seen = pairs.output_as_value >= 0
    strayed = np.zeros(len(pairs.records), dtype=bool)
    strayed[seen] = from_merged[seen] & ~merged[pairs.output_as_value[seen]]
    stray = int(pairs.records[strayed].sum())
    kept = float(rows.original.joint.marginal[~merged].sum())
    drawn = certificate.mechanism.replacement not in ("merge", "suppress")
    beside = [("secret and value", pairs), *_further_pairs(rows)]
    return [
        Check(
            "kept records are unchanged", touched == 0, f"{kept:.1%} of the weight is kept; {touched:,} records differ"
        ),
        Check("merged records stay apart", stray == 0, f"{stray:,} merged records carry a kept value"),
        *(_independence(f"replacement ignores {name}", each, merged, drawn=drawn) for name, each in beside),
    ]


def _further_pairs(rows: RowComparison) -> Iterator[tuple[str, Pairs]]:
    """The rows beside each further secret, and beside each secret and the weight of the record, light or heavy.

    Draws that ignore one secret may tell another; and draws that follow the weight move shares of weight, not counts.
    """
    original, question = rows.original, rows.original.question
    values, outputs = original.symbols, rows.outputs
    for columns in question.also:
        secrets = original.counts.symbols(columns)[0]
        beside = paired(question.table, rows.data, secrets=secrets, values=values, outputs=outputs)
        yield ", ".join(columns), beside
    if question.weight is None:
        return
    usual = float(original.table.sum() / original.n_records)
    table = cut(question.table, [Cut(question.weight, (usual,))])
    for columns in (question.secret, *question.also):
        both = (*columns, question.weight)
        secrets = count(table, both).symbols(both)[0]
        beside = paired(table, rows.data, secrets=secrets, values=values, outputs=outputs)
        yield f"{', '.join(columns)} and the weight", beside


def _independence(name: str, pairs: Pairs, merged: Mask, *, drawn: bool) -> Check:
    """Among merged records the new value must not depend on the secret, nor on the value it replaced."""
    from_merged = merged[pairs.value]
    if len(np.unique(pairs.output[from_merged])) < 2:
        return Check(name, True, "merged records all look the same")
    if not drawn:
        return Check(name, False, "merged records should all look the same, and do not")
    output, records = pairs.output[from_merged] % MOST_COLUMNS, pairs.records[from_merged]
    # A few groups of each show dependence as well as all values do, and keep the table small.
    sources = [source[from_merged] % MOST_ROWS for source in (pairs.secret, pairs.value)]
    tests = [independence_test(crosstab(source, output, records)) for source in sources]
    test = ChanceTest(min(each.p_value for each in tests), all(each.decisive for each in tests))
    told = f"p-value {test.p_value:.2g}; below {TOO_UNLIKELY:g} it would be called dependent"
    if test.passed is None:
        few = f"{int(records.sum()):,} merged records are too few to tell"
        told = f"{few}; the replacements 'merge' and 'suppress' can be checked"
    return Check(name, test.passed, told)
