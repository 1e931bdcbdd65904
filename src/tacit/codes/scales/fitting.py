"""The scales of one table for another: the same atoms, and texts that are true of it too."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from tacit.codes.scales.calendar import number_of_moment, start_of
from tacit.codes.scales.kinds.dates import DateScale
from tacit.codes.scales.kinds.numbers import NumberScale
from tacit.codes.scales.looking import NumberEnds, number_ends
from tacit.codes.scales.scale import Scale
from tacit.tables.table import Table


def fitted_scales(table: Table, scales: Sequence[Scale]) -> tuple[Scale, ...]:
    """Scales for a table that they were not found in, such as the next batch.

    Guarantees
    ----------
    The atoms stay, and every value keeps its atom. An end that the table exceeds is no longer told: "80 to 90" becomes
    "80 and over". Numbers that are no longer all whole are told as "80 to under 90".
    """
    numbers = {scale.column: None for scale in scales if isinstance(scale, NumberScale)}
    dates = {scale.column: scale.layout for scale in scales if isinstance(scale, DateScale)}
    ends = number_ends(table, {**numbers, **dates})
    return tuple(_fitted(scale, ends.get(scale.column)) for scale in scales)


def _fitted(scale: Scale, ends: NumberEnds | None) -> Scale:
    if ends is None or ends.low != ends.low:
        return scale
    if isinstance(scale, NumberScale):
        return replace(
            scale,
            whole=scale.whole and ends.whole,
            least=None if scale.least is not None and ends.low < scale.least else scale.least,
            most=None if scale.most is not None and ends.high > scale.most else scale.most,
        )
    assert isinstance(scale, DateScale)
    begins, after = (number_of_moment("hour", start_of(scale.unit, at)) for at in (scale.first, scale.last + 1))
    return replace(
        scale, open_start=scale.open_start or ends.low < begins, open_end=scale.open_end or ends.high >= after
    )
