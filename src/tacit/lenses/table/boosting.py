"""What boosted trees of scikit-learn can learn from columns with missing numbers."""

from __future__ import annotations

import numpy as np

from tacit.learn.arrays import Floats

# The fewest records of a leaf.
LEAF = 20


def that_can_split(values: Floats) -> Floats:
    """The columns, with 0 throughout for those that have fewer numbers than a leaf has records.

    No split of such a column is allowed, so nothing is lost; scikit-learn fails on one that is missing in every record
    it learns from, and it keeps some records from itself.
    """
    return np.where((~np.isnan(values)).sum(axis=0) < LEAF, 0.0, values)
