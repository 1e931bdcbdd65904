"""What few records lack is cut off first, so that the texts of all others need not name it."""

from __future__ import annotations

import numpy as np

from tacit.codes.search.cuts import CutRules, missing_cuts
from tacit.codes.search.frontier import Frontier
from tacit.codes.search.growth import Growth

# A column that more of the records lack is cut when it is its turn: it tells enough to have one.
MOST_APART = 0.03


def missing_apart(growth: Growth, frontier: Frontier, rules: CutRules) -> list[Frontier]:
    """Cut off what is missing of each ordered column where it may stand by itself; the frontiers that are left.

    Records that lack one column are not searched for what else they lack: there are few of them.
    """
    whole, apart = [frontier], list[Frontier]()
    lacking = [at for at in rules.open if rules.columns[at].missing]
    missing = {at: frontier.records[frontier.codes[at] == rules.columns[at].size - 1].sum() for at in lacking}
    for column in sorted(lacking, key=lambda at: float(missing[at])):
        left = list[Frontier]()
        for each in whole:
            best = missing_cuts(each, rules, column, most=MOST_APART)
            if not best.found.any():
                left.append(each)
                continue
            children = growth.cut(each, best, best.found)
            present = np.arange(len(children)) % 2 == 0
            left.append(children.of_nodes(present))
            apart.append(children.of_nodes(~present))
            if not best.found.all():
                left.append(each.of_nodes(~best.found))
        whole = left
    return [*whole, *apart]
