"""The scales of one table for another: the same atoms, and texts that are true of it too."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from tacit.codes.scales.calendar import number_of_moment, start_of
from tacit.codes.scales.kinds.dates import DateScale
from tacit.codes.scales.kinds.numbers import NumberScale
from tacit.codes.scales.looking import NumberFacts, number_facts
from tacit.codes.scales.scale import Scale
from tacit.tables.table import Table


def fitted_scales(table: Table, scales: Sequence[Scale]) -> tuple[Scale, ...]:
    """Scales for a table that they were not found in, such as the next batch.

    Guarantees
    ----------
    The atoms stay, and every value keeps its atom. An end that the table passes is no longer told: "80 to 90" becomes
    "80 and over". Numbers that are not whole any more are told as "80 to under 90".
    """
    numbers = {scale.column: None for scale in scales if isinstance(scale, NumberScale)}
    dates = {scale.column: scale.layout for scale in scales if isinstance(scale, DateScale)}
    facts = number_facts(table, {**numbers, **dates})
    return tuple(_fitted(scale, facts.get(scale.column)) for scale in scales)


def _fitted(scale: Scale, facts: NumberFacts | None) -> Scale:
    if facts is None or facts.low != facts.low:
        return scale
    if isinstance(scale, NumberScale):
        return replace(
            scale,
            whole=scale.whole and facts.whole,
            least=None if scale.least is not None and facts.low < scale.least else scale.least,
            most=None if scale.most is not None and facts.high > scale.most else scale.most,
        )
    assert isinstance(scale, DateScale)
    begins, ends = (number_of_moment("hour", start_of(scale.unit, at)) for at in (scale.first, scale.last + 1))
    return replace(
        scale, open_start=scale.open_start or facts.low < begins, open_end=scale.open_end or facts.high >= ends
    )
