"""A learned answer for when chance swamps the counts: an estimate, from as many records as are affordable."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from tacit.document import Progress, silent
from tacit.lenses.table.learned.cells import cells_of
from tacit.lenses.table.learned.learning import labels_of, records_of
from tacit.lenses.table.tabulating import Counted

ESTIMATOR = "auto"
# Records times values of the secret with which learning takes a few seconds on one core.
AFFORDABLE = 24_000
# The same for records times released columns; with more than a few columns, trees would take most of the time.
AFFORDABLE_VALUES, FEW_COLUMNS = 480_000, 40
# All learners with five folds take about four times as long. On four tables that were tried, these find up to two
# percentage points less (37.9% instead of 39.5% at worst), so what is learned errs downwards. Asking for the estimator
# gets all of it.
LEARNERS, FOLDS = ("linear", "trees"), 3
LINEAR_ALONE = (
    f"With more than {FEW_COLUMNS} columns only a linear model was tried, which misses what columns say only together."
)
# With fewer records, nothing that is learned can be told from chance.
FEWEST = 50


@dataclass(frozen=True)
class QuickEvidence:
    """What models say about records they had not seen (``apart``, evidence), and from how many they learned."""

    apart: Any
    records: int


def is_affordable(table: Counted) -> bool:
    """Whether learning is cheap enough to do unasked: not with weights, too many secrets, or two that read alike."""
    apart = len(set(table.labels)) == len(table.labels)
    return table.question.weight is None and apart and _most(table) >= FEWEST <= table.n_records


def is_wide(table: Counted) -> bool:
    """Whether there are so many columns that only the linear model is learned."""
    return len(table.symbols.columns) > FEW_COLUMNS


def learned_quickly(table: Counted, *, random_state: int = 0, progress: Progress = silent) -> QuickEvidence | None:
    """Fit the estimator to a sample of the records of a counted table, and test it on held-out records.

    None if all records drawn have the same secret.

    Guarantees
    ----------
    That of ``evidence_of``: if the secret is independent of the records, the verdict is "leak" in at most 5% of tables.
    """
    # Not the estimator itself: to load scikit-learn takes longer than all the rest of a small audit.
    from tacit.learn.crossfitting.training import evidence_by

    progress("learning, where counting cannot tell", None)
    secret, value = records_of(table.table, np.random.default_rng(random_state), most=_most(table))
    labels = np.array(labels_of(table))[secret]
    if len(set(labels)) < 2:
        return None
    # Estimators refuse infinity. Nobody asked for one here, and what was counted stands without.
    cells = cells_of(table.symbols, table.question.table.columns, names=table.symbols.columns).finite()
    # Intervals of single records would take a second round of learning, and are not needed here.
    learners = LEARNERS[:1] if is_wide(table) else LEARNERS
    frame = cells.at(table.symbols.codes[value])
    evidence = evidence_by(learners, frame, labels, folds=FOLDS, random_state=random_state, progress=progress)
    return QuickEvidence(evidence, len(value))


def _most(table: Counted) -> int:
    return min(AFFORDABLE // table.joint.shape[0], max(FEWEST, AFFORDABLE_VALUES // len(table.symbols.columns)))
