"""Plain cells, or finer cells that are mixed; the table was written in cells before it was counted."""

from __future__ import annotations

import numpy as np

from tacit.lenses.table.mechanisms.goal import ReleaseGoal
from tacit.lenses.table.mechanisms.mixtures import climbed
from tacit.lenses.table.mechanisms.plan import Candidate
from tacit.lenses.table.mechanisms.watchdog import one_set
from tacit.lenses.table.tabulating import Counted
from tacit.release.certificate import IN_CELLS, MIXTURE
from tacit.release.treatment import Merging, Mixing


def cells(counted: Counted, goal: ReleaseGoal) -> Candidate:
    """Every cell as it stands: nothing else is merged, and nothing is drawn."""
    made_by = {"name": "cells", "replacement": IN_CELLS, "method": "tree of cuts"}
    return Candidate(Merging(np.zeros(counted.joint.shape[1], dtype=bool), None), 0.0, made_by)


def mixed_cells(counted: Counted, goal: ReleaseGoal) -> Candidate:
    """Cells that are sometimes written as one of a few others, as rarely as the bounds allow."""
    channel = climbed(counted, goal, "optimal")
    made_by = {"name": "cells+mix", "replacement": MIXTURE, "method": channel.proof}
    beside = {**one_set(counted, goal).beside, "loss_bound": channel.loss_bound}
    return Candidate(Mixing.of(channel.sparse, channel.labels), channel.nmil, made_by, beside)
