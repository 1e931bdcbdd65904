"""What each value of a secret costs: how much of each column could be told if only that value were secret."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tacit.codes.search.growing import grow
from tacit.codes.search.records import GroupedRecords, SecretBound
from tacit.codes.tree import ColumnAtoms
from tacit.document import Progress, silent
from tacit.lenses.table.linkage.people import LEAST
from tacit.lenses.table.results import SecretPrice, SecretPrices
from tacit.lenses.table.tabulating import Counted, spoken
from tacit.lift import Matrix, entropy

# If a secret has more values than this, often only a few of them matter.
FEW_VALUES = 6
# Only this many of the commonest values are priced: each takes a search of every column.
MOST_PRICED = 30


def secret_prices(counted: Counted, *, epsilon: float, progress: Progress = silent) -> SecretPrices | None:
    """What each released column could tell by itself if all values of the secret are bounded, or only one of them.

    None if the secret has few values, consists of several columns, is cut from numbers, or has its values named.

    Guarantees
    ----------
    What is kept is what cells of one column keep, found with the search that ``protect`` uses, on the values as
    counted. A released value is named only if at least ``least`` records have it.
    """
    question, joint = counted.question, counted.joint
    named = (
        len(question.secret) > 1 or question.secret_values or question.secret[0] in {c.column for c in question.cuts}
    )
    if joint.shape[0] <= FEW_VALUES or named:
        return None
    progress("pricing the values of the secret", None)
    columns = [_ColumnCounts.of(counted, at) for at in range(len(question.released))]
    bound = SecretBound(2, epsilon, epsilon)
    prices = []
    for s in np.argsort(-joint.prior, kind="stable")[:MOST_PRICED].tolist():
        alone = [each.apart(s) for each in columns]
        kept = {each.name: each.kept(bound) for each in alone}
        lift, column, value = max((each.loudest() for each in alone), key=lambda leak: leak[0])
        prices.append(SecretPrice(counted.labels[s], float(joint.prior[s]), lift, column, value, kept))
    return SecretPrices(
        column=question.secret[0],
        n_values=joint.shape[0],
        epsilon=epsilon,
        least=LEAST,
        together={each.name: each.kept(SecretBound(joint.shape[0], epsilon, epsilon)) for each in columns},
        prices=tuple(sorted(prices, key=lambda each: each.mean_kept)),
    )


@dataclass(frozen=True, eq=False)
class _ColumnCounts:
    """How much weight each value of one column has with each value of the secret, and how many records."""

    name: str
    levels: tuple[Any, ...]
    atoms: ColumnAtoms
    weight: Matrix
    records: NDArray[np.int64]

    @classmethod
    def of(cls, counted: Counted, at: int) -> _ColumnCounts:
        """One of the released columns."""
        symbols, name = counted.symbols, counted.symbols.columns[at]
        codes, levels, kind = symbols.codes[:, at], symbols.levels[at], counted.question.table[name]
        ordered = bool(kind.order) or kind.kind in ("number", "time")
        weight = np.array([np.bincount(codes, row, len(levels)) for row in counted.table])
        records = np.bincount(codes, counted.people[:-1], len(levels)).astype(np.int64)
        return cls(name, levels, ColumnAtoms(len(levels), ordered), weight, records)

    def apart(self, secret: int) -> _ColumnCounts:
        """The same with one value of the secret, and all others as one."""
        apart = self.weight[secret]
        weight = np.stack([apart, self.weight.sum(axis=0) - apart])
        return _ColumnCounts(self.name, self.levels, self.atoms, weight, self.records)

    def kept(self, bound: SecretBound) -> float:
        """The share of the column's entropy that cells of it keep within the bound."""
        secret, atom = np.nonzero(self.weight > 0)
        weight = self.weight[secret, atom]
        # The number of records of a released value is known; with weights, that of each pair is not.
        records = np.ceil(self.records[atom] * weight / self.weight.sum(axis=0)[atom]).astype(np.int64)
        groups = GroupedRecords.of(atom[:, None], secret, records=records, weight=weight)
        leaf = grow(groups, [self.atoms], [bound], least=LEAST).leaf_of(np.arange(self.atoms.size)[:, None])
        sizes = self.weight.sum(axis=0)
        cells = np.bincount(leaf, sizes)
        whole = entropy(sizes / sizes.sum())
        return min(1.0, max(0.0, entropy(cells[cells > 0] / sizes.sum()) / whole)) if whole > 0 else 1.0

    def loudest(self) -> tuple[float, str, str]:
        """The largest log-lift of the first value of the secret, and the column and value (of ``least`` records)."""
        shares = self.weight[0] / np.maximum(self.weight.sum(axis=0), 1e-300)
        shares[self.records < LEAST] = 0.0
        at = int(np.argmax(shares))
        prior = self.weight[0].sum() / self.weight.sum()
        with np.errstate(divide="ignore"):
            return float(np.log(shares[at] / prior)), self.name, spoken(self.levels[at])
