"""Cells proved for the people that the records were drawn from: some records grow the tree, the others prove it.

Which part a record is dealt to follows from its place in the table, by fixed arithmetic, so that whoever verifies a
release can deal, and prove, again.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, cast

import numpy as np
from numpy.typing import NDArray

from tacit.codes.asking import CodeRequest, counted_atoms, grouped_records, uses_of
from tacit.codes.code import CellCode
from tacit.codes.descent import Ints
from tacit.codes.scales.finding import find_scales
from tacit.codes.scales.kinds.every import AnyScale
from tacit.codes.scales.kinds.listed import ListedScale
from tacit.codes.search.pruning import pruned, without
from tacit.codes.search.records import GroupedRecords, SecretBound
from tacit.codes.searching import grown, naming_no_few
from tacit.codes.tree import CellTree
from tacit.document import Count, Progress, silent
from tacit.errors import ArgumentError, NotCertifiedError, Setting, sentence
from tacit.lift import CertifiedCells, CountedClaim, Matrix, NodeClaim, ThresholdClaim, certified_cells
from tacit.tables.columns import ROW, Column
from tacit.tables.counting import Counts
from tacit.tables.table import Table

if TYPE_CHECKING:
    import narwhals as nw

PART = "__tacit_part__"
# The share of the records that grow the tree.
TO_CHOOSE = 0.3
# The fewest records that a cell has in the part that grows it: smaller ones prove nothing.
LEAST_TO_CHOOSE = 20
# A chosen cell is this many standard errors, squared, away from its bounds, so that it can be proved.
DOUBT = 4.0
# A prime below 2^31, so that squares fit into 64 bits; a record's place is scrambled modulo this.
_PRIME, _STEP, _SHIFT = 2_147_483_647, 1_103_515_245, 12_345


@dataclass(frozen=True, eq=False)
class ProvedCode:
    """A code whose cells are proved, the finer one that was grown, and the proof."""

    code: CellCode
    design: CellCode
    proof: CertifiedCells


def prove_code(table: Table, request: CodeRequest, *, confidence: float, progress: Progress = silent) -> ProvedCode:
    """The finest cells that one part of the records proves, of a tree grown on the other.

    Guarantees
    ----------
    Those of :func:`tacit.lift.certified_cells`, if the records are independent draws whose order in the table does not
    depend on them; and, counted on the whole table, those of :func:`tacit.codes.fitting.fit_code`.
    """
    if request.weight is not None:
        words = "{confidence} counts records, and weighted ones prove nothing: leave out {weight}"
        raise ArgumentError(sentence(words, confidence=Setting("confidence"), weight=Setting("weight")))
    progress("looking at the columns", None)
    dealt = dealt_to_parts(table)
    scales = _scales(dealt, table, request)
    progress("counting", None)
    counts = counted_atoms(dealt, scales, request, PART)
    records, bounds, part = *grouped_records(counts, request), _parts(counts)
    if len(np.unique(part)) < 2:
        words = "{records} cannot be split into some that choose cells and others that prove them: leave out {setting}"
        count = Count(int(records.records.sum()), "record")
        raise NotCertifiedError(sentence(words, records=count, setting=Setting("confidence")))
    progress("choosing cells", None)
    use = uses_of(counts, request)
    # What is common in the first part is at least as common in the table.
    scales, places = naming_no_few(scales, _to_choose(records, part), request.least)
    records = records.moved(places)
    least, chosen = max(request.least, LEAST_TO_CHOOSE), _to_choose(records, part)
    doubted = [replace(bound, doubt=DOUBT) for bound in bounds]
    tree = grown(chosen, doubted, scales, request, least=least, use=None if use is None else use[part == 0])
    design = CellCode(scales, tree, request.known)
    return _proved(design, records, bounds, part, request, confidence)


def prove_again(table: Table, design: CellCode, request: CodeRequest, *, confidence: float) -> ProvedCode:
    """The same proof for a tree that was grown before: this is how a release is verified."""
    counts = counted_atoms(dealt_to_parts(table), design.scales, request, PART)
    return _proved(design, *grouped_records(counts, request), _parts(counts), request, confidence)


def _proved(
    design: CellCode,
    records: GroupedRecords,
    bounds: Sequence[SecretBound],
    part: Ints,
    request: CodeRequest,
    confidence: float,
) -> ProvedCode:
    tree = design.tree
    leaf = tree.leaf_of(records.codes)
    claims: list[NodeClaim] = []
    for secret, bound in zip(records.secrets, bounds, strict=True):
        if bound.floor is not None:
            claims.append(_of_thresholds(tree, leaf, np.asarray(secret), records.records, part, bound, bound.floor))
            continue
        design_counts, test_counts = (
            _at_nodes(tree, leaf[here], secret[here], records.records[here], bound.n_secrets)
            for here in (part == 0, part == 1)
        )
        claims.append(CountedClaim(design_counts, test_counts, bound.low, bound.high, bounded=bound.bounded))
    known = tree.known if request.known else None
    proof = certified_cells(tree.parent, claims, confidence=confidence, known=known)
    above = np.zeros(len(tree), bool)
    above[proof.cells] = True
    for level in reversed(tree.levels[1:]):
        np.logical_or.at(above, tree.parent[level], above[level])
    # A coarser code of proved cells is proved with them, so the table's own bounds may be kept on top.
    kept = pruned(without(tree, above), records, bounds, least=request.least)
    return ProvedCode(design.with_tree(kept).reduced(), design, proof)


def _of_thresholds(
    tree: CellTree, leaf: Ints, secret: Ints, records: Ints, part: Ints, bound: SecretBound, floor: float
) -> ThresholdClaim:
    """The claim about a number: for each record its rank, which has the same thresholds, and its leaf."""
    design, test = (np.repeat(np.flatnonzero(part == side), records[part == side]) for side in (0, 1))
    values = secret.astype(np.float64)
    sides = {"low": bound.low, "high": bound.high, "floor": floor}
    return ThresholdClaim(tree.parent, values[design], leaf[design], values[test], leaf[test], **sides)


def _at_nodes(tree: CellTree, leaf: Ints, secret: NDArray[np.integer], records: Ints, n_secrets: int) -> Matrix:
    """Records of each secret at every node."""
    counts = np.zeros((len(tree), n_secrets))
    np.add.at(counts, (leaf, secret), records)
    for level in reversed(tree.levels[1:]):
        np.add.at(counts, tree.parent[level], counts[level])
    return counts


def dealt_to_parts(table: Table) -> Table:
    """The table with a column that deals its records to the part that chooses (0) and the part that proves (1)."""
    rows, names = table.plainly(table.names)
    with table.reading():
        rows = table.engine.indexed(rows).with_columns(_part().alias("part"))
        rows = table.engine.renamed(rows, [*names, "part", ROW], [*table.names, PART, ROW])
    return table.with_rows(rows, [*table.columns, Column(PART, "number", "Int64")])


def _part() -> nw.Expr:
    """Which part a record is dealt to: its place, multiplied and squared modulo a prime, as if drawn at random."""
    import narwhals as nw

    stirred = (nw.col(ROW).cast(nw.Int64) % _PRIME * _STEP + _SHIFT) % _PRIME
    stirred = (stirred * stirred + _STEP) % _PRIME
    stirred = (stirred * stirred + _SHIFT) % _PRIME
    return nw.when(stirred < int(TO_CHOOSE * _PRIME)).then(nw.lit(0, nw.Int64)).otherwise(nw.lit(1, nw.Int64))


def _scales(dealt: Table, table: Table, request: CodeRequest) -> tuple[AnyScale, ...]:
    """Scales of the part that chooses; those that list values also have the values of the other part.

    Only the first part then decides where a cut may be. A value that it lacks goes where its neighbours go.
    """
    first = find_scales(_only(dealt), request.columns, request.levels)
    whole = find_scales(table, request.columns, request.levels)
    scales: list[Any] = []
    for own, every in zip(first, whole, strict=True):
        if isinstance(own, ListedScale) or type(own) is not type(every):
            scales.append(every)
        else:
            scales.append(replace(cast("Any", own), has_missing=every.has_missing))
    return cast("tuple[AnyScale, ...]", tuple(scales))


def _only(dealt: Table) -> Table:
    """The records of the part that chooses."""
    import narwhals as nw

    rows, names = dealt.plainly(dealt.names)
    with dealt.reading():
        rows = rows.filter(nw.col(names[dealt.names.index(PART)]) == 0)
        return dealt.with_rows(dealt.engine.renamed(rows, [*names, ROW], [*dealt.names, ROW]), dealt.columns)


def _parts(counts: Counts) -> Ints:
    """The part that the records of each group were dealt to."""
    at = counts.columns.index(PART)
    return np.array(counts.levels[at], np.int64)[counts.codes[:, at]]


def _to_choose(records: GroupedRecords, part: Ints) -> GroupedRecords:
    here = part == 0
    return GroupedRecords(
        records.codes[here], records.records[here], records.weight[here], tuple(each[here] for each in records.secrets)
    )
