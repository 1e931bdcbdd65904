"""Which released value to write for every output, so that as many records as possible stay unchanged."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy.sparse import csr_array

from tacit.errors import ArgumentError
from tacit.lift.joint import Channel, Joint, Labels, Vector, check_fits
from tacit.lift.measures import Distribution

# Up to this many cells the best assignment is found; above, a greedy one that keeps at least half as much.
_LARGEST_EXACT = 4_000_000


def assignment(channel: Channel, joint: Distribution) -> Labels:
    """A released value for each output, all different, that leaves as many records as possible unchanged.

    Returns
    -------
    array of int
        The index of the released value to write for each output. Renaming outputs changes no measure.

    Guarantees
    ----------
    No two outputs get the same value. Up to 4 million cells no other assignment leaves more records unchanged; above,
    none leaves more than twice as many unchanged.
    """
    joint = Joint.of(joint)
    sparse: Any = getattr(channel, "sparse", None)
    table = csr_array(channel.matrix) if sparse is None else sparse
    check_fits(table.shape[0], joint.shape[1])
    if table.shape[1] > table.shape[0]:
        raise ArgumentError(
            f"the channel has {table.shape[1]} outputs, more than the {table.shape[0]} released values to name them"
        )
    return assign(table, joint.marginal)


def assign(table: csr_array, marginal: Vector) -> Labels:
    """The same for a sparse channel and the marginal of the released values."""
    flows = csr_array(table)
    flows.data = flows.data * np.repeat(marginal, np.diff(flows.indptr))
    if table.shape[0] * table.shape[1] <= _LARGEST_EXACT:
        from scipy.optimize import linear_sum_assignment

        values, outputs = linear_sum_assignment(flows.toarray(), maximize=True)
        return np.asarray(values[np.argsort(outputs)])
    return _greedy(flows)


def _greedy(flows: csr_array) -> Labels:
    """Largest flow first; a flow is taken if neither its value nor its output is."""
    table = flows.tocoo()
    values, outputs = table.coords
    order = np.argsort(-table.data, kind="stable")
    values, outputs = values[order], outputs[order]
    n_values, n_outputs = flows.shape
    labels = np.full(n_outputs, -1, dtype=np.intp)
    used = np.zeros(n_values, dtype=np.bool_)
    while len(values):
        at = np.arange(len(values))
        first_value, first_output = np.full(n_values, len(values)), np.full(n_outputs, len(values))
        np.minimum.at(first_value, values, at)
        np.minimum.at(first_output, outputs, at)
        # A flow that is first for both its value and its output is one that the loop, one by one, would have taken.
        wins = (first_value[values] == at) & (first_output[outputs] == at)
        labels[outputs[wins]], used[values[wins]] = values[wins], True
        left = ~used[values] & (labels[outputs] < 0)
        values, outputs = values[left], outputs[left]
    labels[labels < 0] = np.flatnonzero(~used)[: int((labels < 0).sum())]
    return labels
