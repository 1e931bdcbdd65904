"""Every kind of scale, for fields that a release writes and reads."""

from __future__ import annotations

from tacit.codes.scales.kinds.beginnings import BeginningScale
from tacit.codes.scales.kinds.categories import CategoryScale
from tacit.codes.scales.kinds.dates import DateScale
from tacit.codes.scales.kinds.hierarchies import HierarchyScale
from tacit.codes.scales.kinds.lists import ListScale
from tacit.codes.scales.kinds.numbers import NumberScale
from tacit.codes.scales.kinds.prefixes import PrefixScale
from tacit.codes.scales.kinds.stretches import StretchScale
from tacit.codes.scales.kinds.whole import WholeScale

AnyScale = (
    NumberScale
    | DateScale
    | StretchScale
    | PrefixScale
    | BeginningScale
    | HierarchyScale
    | ListScale
    | CategoryScale
    | WholeScale
)
