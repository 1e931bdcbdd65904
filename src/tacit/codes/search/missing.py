"""Missing values that few records have are cut off first, so that the texts of all others need not mention them."""

from __future__ import annotations

import numpy as np

from tacit.codes.search.cuts import CutRules, missing_cuts
from tacit.codes.search.frontier import Frontier
from tacit.codes.search.growth import Growth

# If a larger share of the records lacks a column, it waits its turn: being missing then tells enough to be chosen.
MOST_APART = 0.03


def missing_apart(growth: Growth, frontier: Frontier, rules: CutRules) -> list[Frontier]:
    """Cut off missing values of each ordered column where they may be a part of their own; the resulting frontiers.

    Records that lack one column are not searched for what else they lack: there are few of them.
    """
    whole, apart = [frontier], list[Frontier]()
    lacking = [at for at in rules.open if rules.columns[at].missing]
    missing = {at: frontier.records[frontier.codes[at] == rules.columns[at].size - 1].sum() for at in lacking}
    for column in sorted(lacking, key=lambda at: float(missing[at])):
        left = list[Frontier]()
        for each in whole:
            best = missing_cuts(each, rules, column, most=MOST_APART)
            if not best.has_cut.any():
                left.append(each)
                continue
            children = growth.cut(each, best, best.has_cut)
            present = np.arange(len(children)) % 2 == 0
            left.append(children.of_nodes(present))
            apart.append(children.of_nodes(~present))
            if not best.has_cut.all():
                left.append(each.of_nodes(~best.has_cut))
        whole = left
    return [*whole, *apart]
